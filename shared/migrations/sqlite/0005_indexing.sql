-- While an index is filled for the first time: how many pages it will have, 0 until they are counted. NULL once it is filled, as
-- all that were made before are taken to be.

ALTER TABLE indexes ADD COLUMN pages_expected INTEGER;

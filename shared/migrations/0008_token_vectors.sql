-- Nothing to change: the vectors of tokens are in the vector store. Both catalogs count their versions alike.
SELECT 1;

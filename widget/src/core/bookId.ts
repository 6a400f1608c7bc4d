// Apart from wire.ts, because every page with the script loads it.

/** The ids that books of a server may have. */
export const BOOK_ID = /^[a-z][a-z0-9-]{0,31}$/;

//! Keeps an index equal to a book: reads changes from a source, plans them, and commits them page by page.

pub mod source;
pub mod ingest;
pub mod question_writer;

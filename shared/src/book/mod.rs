//! Reading a Docusaurus book: Markdown and MDX to documents with front matter, blocks, anchors and URLs. Pure.

mod settings;

mod js_literals;
mod pages;
mod front_matter;
mod permalink;
mod jsx;
mod lines;
mod mdx;
mod slug;
mod markdown;
mod lesson;
mod document;

pub use document::{
    Document, Inputs, MAX_PAGE_BYTES, READER_VERSION, SkipReason, document_id, fingerprint, hex,
    missing_inputs, read_document,
};
pub use front_matter::{FrontMatter, FrontMatterError};
pub use lesson::{Lesson, UNKNOWN};
pub use markdown::{Block, BlockKind};
pub use pages::{PageFile, default_source, list_pages, page_file, source_in};
pub use settings::{CURRENT_VERSION, SETTINGS_FILES, SiteSettings};
pub use slug::slug;

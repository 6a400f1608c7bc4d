//! Reads a book, from the sources of a Docusaurus site or from the HTML of a built site: its pages become documents with front matter,
//! blocks, anchors and URLs. Pure.

mod line_starts;
mod script;
mod paths;
mod front_matter;
mod skip_reason;
mod decoding;
mod webpage;
mod facets;
mod dialect;
mod settings;

mod build_paths;
mod pages;
mod missing;
mod inputs;
mod fingerprint;
mod labels;
mod blog;
mod permalink;
mod jsx;
mod html;
mod omission;
mod placeholder;
mod lines;
mod directive;
mod mdx_code_block;
mod spans;
mod shortcode;
mod magic_comments;
mod twoslash;
mod compiled_files;
mod modules;
mod imports;
mod heading_tag;
mod openapi;
mod slug;
mod block;
mod escape;
mod mdx;
#[cfg(test)]
mod rendering;
mod markdown;
mod links;
mod placement;
mod body;
mod titles;
mod document;

pub mod chunk;
pub mod questions;

mod no_text;
mod category;
mod built;
mod dead_links;
mod reader;
mod page_markdown;

pub use block::{Block, BlockKind, Mark, MarkKind, Nesting};
pub use build_paths::locale_folders;
pub use built::{list_script_pages, url_in_build, urls_of_source};
pub use category::{category_files_among, generated_urls, makes_page};
pub use dead_links::PageLinks;
pub use decoding::with_line_feeds;
pub use document::{Document, document_id};
pub use escape::{
    LinePosition, ListMarkers, MarkdownPiece, Pieces, Wrap, escaped, fence_info, fence_of, fenced,
    heading, heading_text, href, marked_text, marker_length, table,
};
pub use facets::{FacetKind, FacetValue, Facets};
pub use fingerprint::{READER_VERSION, etag, fingerprint, fingerprint_by_etags, hex};
pub use front_matter::{FrontMatter, FrontMatterError};
pub use inputs::{Input, InputUse, Inputs, TextFile, is_too_much};
pub use labels::is_label_file;
pub use placement::{Placement, UNKNOWN};

pub use links::{follow_links, linked_sources};
pub use missing::{OTHER_GENERATORS, hidden_docs, is_markdown, missing_docs, other_missing_docs};
pub use omission::{Omission, OmissionReason};
pub use page_markdown::page_markdown;
pub use pages::{
    PageFile, default_source, is_category_path, list_pages, may_hold_pages, page_file, pages_among,
    shown_in, translations,
};
pub use paths::{decoded_url, is_outside, joined, private_name};
pub use reader::{imported_by_name, missing_inputs, read_document};
pub use settings::{
    Appearance, CURRENT_VERSION, ColorMode, ContentKind, DEFAULT_INSTANCE, Instance, MadeFolder,
    MarkdownFormat, Origin, SETTINGS_FILES, SITEMAP, Setting, SettingsError, SiteSettings,
    build_folder, instance_of_version, is_front_page, is_settings_file, origin_of_version,
    settings_files_named_in, settings_text, version_in_site,
};
pub use skip_reason::{MAX_PAGE_BYTES, SkipReason};
pub use slug::slug;
pub use titles::shortened_title;

//! Pages read from the HTML of a built site.
//!
//! A site may be a build as a whole, of any generator: each of its HTML files is a page. A Docusaurus site may have a build in addition to its
//! sources, for the pages that the sources lack: those that Docusaurus or a plugin makes by running scripts. They are the pages of an
//! [instance](crate::settings::Instance) of their own, whose folder is the build's.

mod elements;
mod file;
mod leaf;
mod listing;
mod math;
mod tabs;
mod content;
mod site;
mod beside;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod generator_tests;
#[cfg(test)]
mod code_tests;

use std::collections::{BTreeMap, BTreeSet};

use crate::document::{Document, document_id};
use crate::front_matter::FrontMatter;
use crate::inputs::Inputs;
use crate::pages::PageFile;
use crate::permalink::page_names;
use crate::placement::Placement;
use crate::questions::page_questions;
use crate::settings::SiteSettings;
use crate::skip_reason::{MAX_HEADINGS, SkipReason};
use crate::titles::{first_title, shortened_title};

use crate::webpage::Head;
use content::{Content, read_content};
use elements::Address;

pub(super) use beside::script_url;
pub use beside::{list_script_pages, url_in_build, urls_of_source};
pub(super) use site::{canonical_files, twin_file, url_of_file};

/// Reads the HTML of a page.
///
/// # Errors
/// A [`SkipReason`]: this page is not indexed; other pages are not affected.
pub(super) fn read_built_page(
    settings: &SiteSettings,
    site: &str,
    page: &PageFile,
    html: &str,
    inputs: &Inputs,
) -> Result<Document, SkipReason> {
    let head = Head::read(html);
    let names = page_names(
        settings.instance(&page.instance),
        &page.relative,
        &FrontMatter::default(),
    );
    let url = site::url_of(settings, page, &head, inputs)?;
    let address = Address {
        url: &url,
        file: &url_of_file(settings, page),
    };
    let content = read_content(html, address);
    if content.headings() > MAX_HEADINGS {
        return Err(SkipReason::TooManyHeadings);
    }
    if let Some((file, html)) = site::twin_page(settings, page, inputs)
        && read_content(&html, address).has_text_of(&content)
    {
        return Err(SkipReason::Copy(file));
    }
    let mut file = page.clone();
    let mut locales = settings.locales.iter();
    if let Some(locale) = locales.find(|it| head.language.as_ref() == Some(it)) {
        file.locale.clone_from(locale);
    }
    let heading = settings
        .is_build
        .then(|| first_title(&content.blocks))
        .flatten();
    let title = heading.or_else(|| title_of(&head.title, &content, settings.title.as_deref()));
    let title = shortened_title(&title.unwrap_or(names.title));
    let mut warnings = Vec::new();
    let questions = page_questions(settings, page, &content.blocks, inputs, &mut warnings);
    Ok(Document {
        id: document_id(site, &page.source),
        fallback_urls: BTreeMap::new(),
        url,
        file,
        title,
        front_matter: FrontMatter {
            description: head.description,
            ..FrontMatter::default()
        },
        facets: BTreeMap::new(),
        date: None,
        placement: Placement::default(),
        blocks: content.blocks,
        omissions: content.omissions,
        questions,
        warnings,
        text_files: BTreeSet::new(),
    })
}

/// Returns the page's title: that of the HTML head without the site's title, which Docusaurus appends; else the first heading of level 1; else the
/// site's title.
fn title_of(whole: &str, content: &Content, site: Option<&str>) -> Option<String> {
    let own = site
        .and_then(|site| before_site(whole, site))
        .unwrap_or(whole);
    let titles = [
        Some(own.to_owned()),
        first_title(&content.blocks),
        Some(whole.to_owned()),
    ];
    let mut titles = titles.into_iter().flatten();
    titles.find(|title| !title.is_empty())
}

/// Returns the part of a title before the site's title and the `titleDelimiter`. Empty if it is only the site's title; `None` without the delimiter,
/// because the page's own title may end with the site's.
fn before_site<'a>(whole: &'a str, site: &str) -> Option<&'a str> {
    let before = whole.strip_suffix(site)?.trim_end();
    let own = before.trim_end_matches(|c: char| !c.is_alphanumeric() && !c.is_whitespace());
    let has_delimiter = own.len() < before.len();
    (has_delimiter || before.is_empty()).then(|| own.trim_end())
}

//! Reads a page as a document, and names the other files that this needs.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::block::{Block, BlockKind};
use crate::blog::{post_authors, post_date};
use crate::body::{Body, MAX_PARTIAL_DEPTH, Reading};
use crate::built::{canonical_files, read_built_page, twin_file};
use crate::category::{read_category_page, sidebars_file};
use crate::decoding::decode;
use crate::document::{Document, document_id};
use crate::facets::page_facets;
use crate::front_matter::{FrontMatter, SplitPage, split_front_matter};
use crate::imports::{is_guess, is_shown_text_file};
use crate::inputs::{InputUse, Inputs, content_of, is_too_much};
use crate::labels::{author_names, is_label_file, label_files, tag_labels};
use crate::links::Origin;
use crate::no_text::reason_for_no_text;
use crate::omission::{Omission, OmissionReason};
use crate::pages::{PageFile, is_category_path, is_original, shown_in, translations};
use crate::permalink::{page_names, page_url};
use crate::placement::{Placement, placement_of};
use crate::questions::{page_questions, question_files};
use crate::settings::{ContentKind, SiteSettings};
use crate::skip_reason::{MAX_HEADINGS, MAX_INPUTS, SkipReason};
use crate::titles::{
    category_files, category_label, first_title, folder_titles, has_content_title, index_files,
    shortened_title, show_title,
};

/// Returns the paths of files that may affect the page but are not in `inputs` yet, with their uses: partials, category labels, translations.
///
/// Call it again with the requested files until it returns nothing. It requests at most one file more than a page may need, which shows that the
/// limit is exceeded.
#[must_use]
pub fn missing_inputs(
    settings: &SiteSettings,
    page: &PageFile,
    bytes: &[u8],
    inputs: &Inputs,
) -> BTreeMap<String, InputUse> {
    if is_too_much(inputs) {
        return BTreeMap::new();
    }
    let instance = settings.instance(&page.instance);
    if instance.is_built {
        let html = String::from_utf8_lossy(bytes);
        return question_files(settings, page)
            .into_iter()
            .chain(canonical_files(settings, page, &html))
            .chain(twin_file(page))
            .filter(|path| !inputs.contains_key(path))
            .map(|path| (path, InputUse::Lookup))
            .collect();
    }
    if is_category_path(&page.relative) {
        return question_files(settings, page)
            .into_iter()
            .chain(sidebars_file(settings, page))
            .filter(|path| !inputs.contains_key(path))
            .map(|path| (path, InputUse::Lookup))
            .collect();
    }
    let mut wanted = imported_files(settings, page, bytes, inputs);
    for path in named_files(settings, page, inputs) {
        wanted.entry(path).or_insert(InputUse::Lookup);
    }
    wanted.retain(|path, _| !inputs.contains_key(path));
    let room = MAX_INPUTS + 1 - inputs.len();
    wanted.into_iter().take(room).collect()
}

/// Returns the files that belong to a page by their names: questions, labels of its folder, translations.
fn named_files(settings: &SiteSettings, page: &PageFile, inputs: &Inputs) -> BTreeSet<String> {
    let mut files: BTreeSet<String> = question_files(settings, page).into_iter().collect();
    if settings.instance(&page.instance).kind == ContentKind::Docs {
        files.extend(category_files(&page.source));
        let are_known = files.iter().all(|path| inputs.contains_key(path));
        if are_known && category_label(&page.source, inputs).is_none() {
            files.extend(index_files(&page.source));
        }
    }
    if is_original(settings, page) {
        files.extend(translations(settings, page));
    }
    files
}

/// Returns those of a page's inputs that it or one of its partials imports by name. The others are looked for because of the page's own path, such as
/// labels and translations, or are possible files of a module whose import has no extension.
#[must_use]
pub fn imported_by_name<'a>(
    settings: &SiteSettings,
    page: &PageFile,
    inputs: &'a BTreeSet<String>,
) -> Vec<&'a str> {
    if settings.instance(&page.instance).is_built || is_category_path(&page.relative) {
        return Vec::new();
    }
    let mut looked_for = named_files(settings, page, &Inputs::new());
    looked_for.extend(index_files(&page.source));
    inputs
        .iter()
        .filter(|path| !looked_for.contains(*path))
        .filter(|path| !is_label_file(settings, page, path) && !is_guess(path, inputs))
        .map(String::as_str)
        .collect()
}

/// Returns the files that a page and its partials import, and those with the labels that its front matter may name.
fn imported_files(
    settings: &SiteSettings,
    page: &PageFile,
    bytes: &[u8],
    inputs: &Inputs,
) -> BTreeMap<String, InputUse> {
    let reading = Reading { settings, inputs };
    let mut files = BTreeMap::new();
    let mut seen = BTreeSet::new();
    let mut queue = VecDeque::from([(page.source.clone(), bytes, 0)]);
    while let Some((source, bytes, depth)) = queue.pop_front() {
        // An unreadable file has no partials.
        let Ok(text) = decode(bytes) else { continue };
        let Ok(split) = split_front_matter(&text) else {
            continue;
        };
        if depth == 0 {
            let labels = label_files(settings, page, &split.front_matter);
            files.extend(labels.into_iter().map(|path| (path, InputUse::Lookup)));
        }
        let partials = reading.partials(&source, &split);
        for (name, path) in partials.paths {
            if !is_shown_text_file(&name)
                && seen.insert(path.clone())
                && depth < MAX_PARTIAL_DEPTH
                && let Some(bytes) = content_of(inputs, &path)
            {
                queue.push_back((path, bytes, depth + 1));
            }
        }
        for (path, usage) in partials.wanted {
            let known = files.entry(path).or_insert(usage);
            *known = usage.max(*known);
        }
    }
    files
}

/// Reads a page. `site` names the book; `inputs` holds the files that [`missing_inputs`] asked for.
///
/// # Errors
/// A [`SkipReason`]: this page is not indexed; other pages are not affected.
pub fn read_document(
    settings: &SiteSettings,
    site: &str,
    page: &PageFile,
    bytes: &[u8],
    inputs: &Inputs,
) -> Result<Document, SkipReason> {
    let text = decode(bytes)?;
    let document = if settings.instance(&page.instance).is_built {
        read_built_page(settings, site, page, &text, inputs)
    } else if is_category_path(&page.relative) {
        read_category_page(settings, site, page, &text, inputs)
    } else {
        read_source_page(settings, site, page, &text, inputs)
    }?;
    match reason_for_no_text(&text, &document) {
        Some(reason) => Err(SkipReason::NoText(reason)),
        None => Ok(document),
    }
}

fn read_source_page(
    settings: &SiteSettings,
    site: &str,
    page: &PageFile,
    text: &str,
    inputs: &Inputs,
) -> Result<Document, SkipReason> {
    let instance = settings.instance(&page.instance);
    let split = split_front_matter(text)?;
    let front_matter = read_front_matter(settings, page, &split.front_matter, inputs)?;
    if is_too_much(inputs) {
        return Err(SkipReason::TooMuchImported);
    }
    let names = page_names(instance, &page.relative, &front_matter);
    let mut locales = shown_in(settings, page, |path| content_of(inputs, path).is_some());
    let locale = locales.next().unwrap_or(&page.locale);
    let url = page_url(settings, page, locale, &names.slug);
    let fallback_urls = locales.map(|locale| {
        let url = page_url(settings, page, locale, &names.slug);
        (locale.to_owned(), url)
    });
    let file = PageFile {
        locale: locale.to_owned(),
        ..page.clone()
    };
    let origin = Origin {
        settings,
        page: &file,
        url: &url,
    };
    let mut body = read_body(text, &split, inputs, &origin)?;
    let title = front_matter
        .title
        .clone()
        .or_else(|| has_content_title(split.body).then(|| first_title(&body.blocks))?)
        .unwrap_or(names.title);
    let title = shortened_title(&title);
    let title_line = split.title_line.unwrap_or(1);
    show_title(&mut body, instance.kind, &title, title_line, &front_matter);
    let questions = page_questions(settings, page, &body.blocks, inputs, &mut body.warnings);
    let facets = page_facets(&settings.facets, &front_matter, &mut body.warnings);
    let (placement, date) = match instance.kind {
        ContentKind::Docs => {
            let folder = folder_titles(&page.source, inputs);
            let placement = placement_of(&page.relative, &title, &front_matter, &folder);
            (placement, None)
        }
        ContentKind::Blog => (
            Placement::default(),
            post_date(&front_matter, &page.relative),
        ),
        ContentKind::Pages => (Placement::default(), None),
    };
    Ok(Document {
        id: document_id(site, &page.source),
        url,
        fallback_urls: fallback_urls.collect(),
        file,
        title,
        date,
        placement,
        blocks: body.blocks,
        omissions: body.omissions,
        questions,
        warnings: body.warnings,
        text_files: body.text_files,
        facets,
        front_matter,
    })
}

/// Reads the text after the front matter, and records the front matter as omitted.
fn read_body(
    text: &str,
    split: &SplitPage<'_>,
    inputs: &Inputs,
    origin: &Origin<'_>,
) -> Result<Body, SkipReason> {
    let reading = Reading {
        settings: origin.settings,
        inputs,
    };
    let raw_lines: Vec<&str> = text.lines().collect();
    let mut body = Body::default();
    body.read(&origin.page.source, split, &raw_lines, &reading, origin, 0);
    body.list_contents();
    if split.lines_before > 0 {
        body.omissions.push(Omission {
            start_line: 1,
            end_line: split.lines_before,
            reason: OmissionReason::FrontMatter,
            text: raw_lines[..split.lines_before as usize].join("\n"),
        });
    }
    let headings = body.blocks.iter().filter(|block| block.is_heading());
    if headings.count() > MAX_HEADINGS {
        return Err(SkipReason::TooManyHeadings);
    }
    // A partial that is used repeatedly causes the same problem each time.
    let mut known = BTreeSet::new();
    body.warnings
        .retain(|warning| known.insert(warning.clone()));
    body.warnings.extend(body.missing_files());
    body.warnings.extend(heading_warnings(&body.blocks));
    Ok(body)
}

/// Checks a page's front matter, and adds the names of its authors and the labels of its tags.
fn read_front_matter(
    settings: &SiteSettings,
    page: &PageFile,
    front_matter: &FrontMatter,
    inputs: &Inputs,
) -> Result<FrontMatter, SkipReason> {
    if front_matter.draft {
        return Err(SkipReason::Draft);
    }
    let missing = missing_fields(front_matter, &settings.require_front_matter);
    if !missing.is_empty() {
        return Err(SkipReason::MissingFields(missing));
    }
    let mut front_matter = front_matter.clone();
    if settings.instance(&page.instance).kind == ContentKind::Blog {
        let names = author_names(settings, page, inputs);
        front_matter.authors = post_authors(&front_matter, &names);
    }
    let labels = tag_labels(settings, page, inputs);
    for tag in &mut front_matter.tags {
        if let Some(label) = labels.get(tag) {
            tag.clone_from(label);
        }
    }
    Ok(front_matter)
}

fn missing_fields(front_matter: &FrontMatter, required: &[String]) -> Vec<String> {
    required
        .iter()
        .filter(|field| {
            front_matter.values(field).is_empty() && !front_matter.other.contains_key(*field)
        })
        .cloned()
        .collect()
}

/// The most warnings of one kind per page; more would not help the author.
const MAX_HEADING_WARNINGS: usize = 20;

fn heading_warnings(blocks: &[Block]) -> Vec<String> {
    let mut warnings = Vec::new();
    let mut previous = 0;
    for block in blocks {
        if let BlockKind::Heading { level, .. } = block.kind {
            if previous > 0 && level > previous + 1 {
                warnings.push(format!(
                    "line {}: heading level {level} follows level {previous}",
                    block.start_line
                ));
            }
            previous = level;
        }
    }
    let more = warnings.len().saturating_sub(MAX_HEADING_WARNINGS);
    if more > 0 {
        warnings.truncate(MAX_HEADING_WARNINGS);
        warnings.push(format!("{more} more headings skip a level"));
    }
    warnings
}

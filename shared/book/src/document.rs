//! A page as a document: names, place in the book, blocks.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use jiff::civil::Date;
use md5::Md5;
use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::block::{Block, BlockKind};
use super::blog::{post_authors, post_date};
use super::body::{Body, MAX_PARTIAL_DEPTH, Reading};
use super::built::{canonical_files, read_built_page};
use super::front_matter::{FrontMatter, SplitPage, split_front_matter};
use super::imports::is_shown_text_file;
use super::inputs::{
    InputUse, Inputs, MAX_INPUT_BYTES, MAX_INPUTS, TextFile, content_of, is_too_much,
};
use super::labels::{author_names, label_files, tag_labels};
use super::links::Origin;
use super::omission::{Omission, OmissionReason};
use super::pages::{PageFile, source_in};
use super::permalink::{page_names, page_url};
use super::placement::{Placement, placement_of};
use super::questions::{PageQuestions, page_questions, question_files};
use super::settings::{ContentKind, SiteSettings};
use super::titles::{
    category_files, category_label, first_title, folder_titles, has_content_title, index_files,
    shortened_title, show_title,
};

/// The largest page in bytes: 5 MiB, far above any handwritten page.
pub const MAX_PAGE_BYTES: usize = 5 * 1024 * 1024;

/// The version of the reader. Raise it if the same bytes are read differently, so that pages are read again.
pub const READER_VERSION: u32 = 13;

const DOCUMENT_NAMESPACE: Uuid = Uuid::from_u128(0x6b0f_4d9e_51a1_5c0e_9a55_b00c_4a6e_0001);

/// A page of the book.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// UUIDv5 of the site's name and the source path.
    pub id: Uuid,
    /// The source file.
    pub file: PageFile,
    /// The final URL path, not percent-encoded.
    pub url: String,
    /// URLs of locales that show this page for lack of a translation, by locale.
    pub fallback_urls: BTreeMap<String, String>,
    /// The title.
    pub title: String,
    /// The front matter.
    pub front_matter: FrontMatter,
    /// The date of a blog post, from its front matter or else its path; `None` for other pages.
    pub date: Option<Date>,
    /// Module, chapter and lesson, for docs only.
    pub placement: Placement,
    /// The visible content, in order.
    pub blocks: Vec<Block>,
    /// Content of the file that is in no block, with the reason.
    pub omissions: Vec<Omission>,
    /// The questions of its sections, by anchor.
    pub questions: PageQuestions,
    /// Problems that did not prevent reading the page.
    pub warnings: Vec<String>,
    /// Other files whose text the page shows.
    pub text_files: BTreeSet<TextFile>,
}

impl Document {
    /// Returns the page's URL path in a locale; `None` if the locale has a translation of its own.
    #[must_use]
    pub fn url_in(&self, locale: &str) -> Option<&str> {
        if self.file.locale == locale {
            return Some(&self.url);
        }
        self.fallback_urls.get(locale).map(String::as_str)
    }
}

/// The reason that a file gives no document.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SkipReason {
    /// `draft: true`.
    #[error("it is a draft")]
    Draft,
    /// A file of HTML that is only a part of a page, such as a template.
    #[error("it has no <title>, so it is only a part of a page")]
    Untitled,
    /// A built page that asks not to be found.
    #[error("its `robots` tag says `noindex`")]
    NoIndex,
    /// A built page that only leads to another one.
    #[error("it is a redirect")]
    Redirect,
    /// A built page that only leads to others: the site's search, an index, or a list that Docusaurus generated.
    #[error("it is a search page or a list of other pages")]
    Finder,
    /// A built page with another canonical page of the same site.
    #[error("it is a copy of {0}")]
    Copy(String),
    /// Invalid front matter.
    #[error("{0}")]
    FrontMatter(#[from] super::front_matter::FrontMatterError),
    /// Front matter lacks fields that the site requires.
    #[error("front matter lacks {}", .0.join(", "))]
    MissingFields(Vec<String>),
    /// Not UTF-8.
    #[error("line {line}: it is not UTF-8 text")]
    NotUtf8 {
        /// The first line with invalid bytes.
        line: usize,
    },
    /// More than [`MAX_PAGE_BYTES`].
    #[error("it has more than {MAX_PAGE_BYTES} bytes")]
    TooLarge,
    /// More than [`MAX_INPUTS`] other files, or more than [`MAX_INPUT_BYTES`] in them.
    #[error(
        "it needs more than {MAX_INPUTS} other files, or more than {MAX_INPUT_BYTES} bytes of them"
    )]
    TooMuchImported,
    /// More than [`MAX_HEADINGS`].
    #[error("it has more than {MAX_HEADINGS} headings")]
    TooManyHeadings,
}

impl SkipReason {
    /// True if the site itself leaves the page out, so that nothing is wrong with it.
    #[must_use]
    pub fn is_by_site(&self) -> bool {
        use SkipReason::{Copy, Draft, Finder, NoIndex, Redirect, Untitled};
        matches!(
            self,
            Draft | Untitled | NoIndex | Redirect | Finder | Copy(_)
        )
    }
}

/// The most headings of a page: each is a section to embed.
pub(super) const MAX_HEADINGS: usize = 10_000;

/// Returns the document id of a source path in a site.
#[must_use]
pub fn document_id(site: &str, source: &str) -> Uuid {
    Uuid::new_v5(&DOCUMENT_NAMESPACE, format!("{site}\n{source}").as_bytes())
}

/// Returns the paths of files that may affect the page but are not in `inputs` yet, with their uses: partials, category labels, translations.
///
/// Call it again with the requested files until it returns nothing. It requests at most one file more than a page may need, which shows that the
/// limit is
/// exceeded.
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
    if page.locale == settings.default_locale {
        let locales = settings.locales.iter();
        let sources = locales.map(|locale| source_in(settings, page, locale));
        files.extend(sources.filter(|source| *source != page.source));
    }
    files
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
    let instance = settings.instance(&page.instance);
    if instance.is_built {
        return read_built_page(settings, site, page, bytes, inputs);
    }
    let text = decode(bytes)?;
    let split = split_front_matter(&text)?;
    let front_matter = read_front_matter(settings, page, &split.front_matter, inputs)?;
    if is_too_much(inputs) {
        return Err(SkipReason::TooMuchImported);
    }
    let names = page_names(instance, &page.relative, &front_matter);
    let url = page_url(settings, page, &page.locale, &names.slug);
    let origin = Origin {
        settings,
        page,
        url: &url,
    };
    let mut body = read_body(&text, &split, inputs, &origin)?;
    let title = front_matter
        .title
        .clone()
        .or_else(|| has_content_title(split.body).then(|| first_title(&body.blocks))?)
        .unwrap_or(names.title);
    let title = shortened_title(&title);
    let title_line = split.title_line.unwrap_or(1);
    show_title(&mut body, instance.kind, &title, title_line, &front_matter);
    let questions = page_questions(settings, page, &body.blocks, inputs, &mut body.warnings);
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
        fallback_urls: fallback_urls(settings, page, &names.slug, inputs),
        file: page.clone(),
        title,
        date,
        placement,
        blocks: body.blocks,
        omissions: body.omissions,
        questions,
        warnings: body.warnings,
        text_files: body.text_files,
        front_matter,
    })
}

/// Reads what follows the front matter, which is omitted.
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

/// Returns a hash of the page's bytes, everything it uses, and the reader's version. If it is unchanged, the page need not be read
/// again.
#[must_use]
pub fn fingerprint(reading_key: &str, bytes: &[u8], inputs: &Inputs) -> String {
    let etags: Vec<(&str, Option<String>)> = inputs
        .iter()
        .map(|(path, input)| (path.as_str(), input.content().map(etag)))
        .collect();
    let etags = etags.iter().map(|(path, etag)| (*path, etag.as_deref()));
    fingerprint_by_etags(reading_key, &etag(bytes), etags)
}

/// Returns the [`fingerprint`] from [`etag`]s: the page's, and those of the other files it used or looked for, by path; `None` for a
/// file that does not exist.
pub fn fingerprint_by_etags<'a>(
    reading_key: &str,
    page: &str,
    inputs: impl Iterator<Item = (&'a str, Option<&'a str>)>,
) -> String {
    let mut hash = Sha256::new();
    hash.update(READER_VERSION.to_le_bytes());
    let files = inputs.flat_map(|(path, etag)| [path, etag.unwrap_or_default()]);
    for text in [reading_key, page].into_iter().chain(files) {
        // Hashing the length as well makes different lists of texts distinct.
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text);
    }
    hex(&hash.finalize())
}

/// Returns the `ETag` that S3 gives to an object with these bytes: their MD5 in hexadecimal. Objects uploaded in parts or encrypted
/// with a KMS key have another one.
#[must_use]
pub fn etag(bytes: &[u8]) -> String {
    hex(&Md5::digest(bytes))
}

/// Formats bytes as lower-case hexadecimal digits.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("writing to a string cannot fail");
        text
    })
}

/// Decodes a file's text: removes the byte order mark and normalises line ends to `\n`.
pub(super) fn decode(bytes: &[u8]) -> Result<String, SkipReason> {
    if bytes.len() > MAX_PAGE_BYTES {
        return Err(SkipReason::TooLarge);
    }
    let text = std::str::from_utf8(bytes).map_err(|error| SkipReason::NotUtf8 {
        line: 1 + bytes[..error.valid_up_to()]
            .iter()
            .filter(|byte| **byte == b'\n')
            .count(),
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    // CommonMark replaces NUL in the same way; Postgres rejects it.
    Ok(with_line_feeds(text).replace('\0', "\u{fffd}"))
}

/// Normalises line ends to `\n`. A lone `\r` is a line end too, as in Markdown.
#[must_use]
pub fn with_line_feeds(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}

fn missing_fields(front_matter: &FrontMatter, required: &[String]) -> Vec<String> {
    required
        .iter()
        .filter(|field| !has_field(front_matter, field))
        .cloned()
        .collect()
}

fn has_field(front_matter: &FrontMatter, field: &str) -> bool {
    match field {
        "id" => front_matter.id.is_some(),
        "title" => front_matter.title.is_some(),
        "sidebar_position" => front_matter.sidebar_position.is_some(),
        "sidebar_label" => front_matter.sidebar_label.is_some(),
        "description" => front_matter.description.is_some(),
        "duration_minutes" => front_matter.duration_minutes.is_some(),
        "proficiency_level" => front_matter.proficiency_level.is_some(),
        "layer" => front_matter.layer.is_some(),
        "hardware_tier" => front_matter.hardware_tier.is_some(),
        "tier_1_path" => front_matter.tier_1_path.is_some(),
        "learning_objectives" => !front_matter.learning_objectives.is_empty(),
        "keywords" => !front_matter.keywords.is_empty(),
        "tags" => !front_matter.tags.is_empty(),
        "prerequisites" => !front_matter.prerequisites.is_empty(),
        "chapter" => front_matter.chapter.is_some(),
        "module" => front_matter.module.is_some(),
        "lesson" => front_matter.lesson.is_some(),
        other => front_matter.other.contains_key(other),
    }
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

fn fallback_urls(
    settings: &SiteSettings,
    page: &PageFile,
    slug: &str,
    inputs: &Inputs,
) -> BTreeMap<String, String> {
    if page.locale != settings.default_locale {
        return BTreeMap::new();
    }
    settings
        .locales
        .iter()
        .filter(|locale| **locale != settings.default_locale)
        .filter(|locale| {
            let source = source_in(settings, page, locale);
            !settings.translates(locale) || content_of(inputs, &source).is_none()
        })
        .map(|locale| (locale.clone(), page_url(settings, page, locale, slug)))
        .collect()
}

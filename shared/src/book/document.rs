//! A page as a document: names, place in the book, blocks.

use std::collections::{BTreeMap, BTreeSet};

use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::front_matter::{FrontMatter, SplitPage, split_front_matter};
use super::lesson::{FolderTitles, Lesson, lesson_of};
use super::markdown::{Block, BlockKind, parse_blocks};
use super::mdx::{Flavor, imported_partials, partial_name, prepare};
use super::pages::{PageFile, default_source};
use super::permalink::{page_names, page_url};
use super::settings::SiteSettings;
use super::slug::Slugger;

/// The largest page that is read, in bytes: 5 MiB, far above any page a person wrote.
pub const MAX_PAGE_BYTES: usize = 5 * 1024 * 1024;

/// The version of this reading; a change of what is read from the same bytes must raise it, so that pages are read again.
pub const READER_VERSION: u32 = 1;

/// How deep partials may import partials.
const MAX_PARTIAL_DEPTH: usize = 8;

/// The namespace of document ids: UUIDv5 of the project's name in the DNS namespace's manner.
const DOCUMENT_NAMESPACE: Uuid = Uuid::from_u128(0x6b0f_4d9e_51a1_5c0e_9a55_b00c_4a6e_0001);

/// A page of the book, read.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// UUIDv5 of the site's name and the source path.
    pub id: Uuid,
    /// The file it was read from.
    pub file: PageFile,
    /// The final URL path, not percent-encoded.
    pub url: String,
    /// URLs of locales that show this page because they have no translation of it, by locale.
    pub fallback_urls: BTreeMap<String, String>,
    /// The title.
    pub title: String,
    /// The front matter.
    pub front_matter: FrontMatter,
    /// Module, chapter and lesson.
    pub lesson: Lesson,
    /// What a reader sees, in order.
    pub blocks: Vec<Block>,
    /// What was wrong and did not matter enough to skip the page.
    pub warnings: Vec<String>,
}

/// Why a file gives no document.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SkipReason {
    /// `draft: true`.
    #[error("it is a draft")]
    Draft,
    /// Front matter that cannot be read.
    #[error("{0}")]
    FrontMatter(#[from] super::front_matter::FrontMatterError),
    /// Front matter without fields the site demands.
    #[error("front matter lacks {}", .0.join(", "))]
    MissingFields(Vec<String>),
    /// Bytes that are no text.
    #[error("line {line}: it is not UTF-8 text")]
    NotUtf8 {
        /// The first line with bytes that are no text.
        line: usize,
    },
    /// More than [`MAX_PAGE_BYTES`].
    #[error("it has more than {MAX_PAGE_BYTES} bytes")]
    TooLarge,
}

/// The other files that reading a page used or looked for, by path; `None` was looked for and is absent.
pub type Inputs = BTreeMap<String, Option<Vec<u8>>>;

/// The id of a source path in a site.
#[must_use]
pub fn document_id(site: &str, source: &str) -> Uuid {
    Uuid::new_v5(&DOCUMENT_NAMESPACE, format!("{site}\n{source}").as_bytes())
}

/// The paths that reading a page may use and that `inputs` does not hold yet: partials, category labels, translations.
///
/// Called again with what it asked for, until it asks for nothing more.
#[must_use]
pub fn missing_inputs(
    settings: &SiteSettings,
    page: &PageFile,
    bytes: &[u8],
    inputs: &Inputs,
) -> BTreeSet<String> {
    let mut wanted: BTreeSet<String> = category_files(&page.source).into_iter().collect();
    for locale in &settings.locales {
        let source = super::pages::source_in(settings, page, locale);
        if page.locale == settings.default_locale && source != page.source {
            wanted.insert(source);
        }
    }
    let mut queue = vec![(page.source.clone(), bytes.to_vec(), 0)];
    while let Some((source, bytes, depth)) = queue.pop() {
        let text = String::from_utf8_lossy(&bytes);
        for path in imported_partials(&text).into_values() {
            let path = resolve_import(&source, &path);
            if let (Some(Some(bytes)), true) = (inputs.get(&path), depth < MAX_PARTIAL_DEPTH) {
                queue.push((path.clone(), bytes.clone(), depth + 1));
            }
            wanted.insert(path);
        }
    }
    wanted.retain(|path| !inputs.contains_key(path));
    wanted
}

/// The files that may hold the label of a page's folder, most likely first.
fn category_files(source: &str) -> Vec<String> {
    let folder = source.rsplit_once('/').map_or("", |(folder, _)| folder);
    ["_category_.json", "_category_.yml"]
        .map(|name| join(folder, name))
        .to_vec()
}

fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() {
        name.to_owned()
    } else {
        format!("{folder}/{name}")
    }
}

/// The path of an import relative to the site: `./_x.mdx` beside the page, `@site/…` from the site's root.
fn resolve_import(source: &str, import: &str) -> String {
    if let Some(path) = import.strip_prefix("@site/") {
        return path.to_owned();
    }
    let mut parts: Vec<&str> = source.split('/').collect();
    parts.pop();
    for part in import.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            name => parts.push(name),
        }
    }
    parts.join("/")
}

/// Reads a page. `site` names the book, `inputs` holds what [`missing_inputs`] asked for.
///
/// # Errors
/// A [`SkipReason`]: the page is not indexed, and no other page is concerned.
pub fn read_document(
    settings: &SiteSettings,
    site: &str,
    page: &PageFile,
    bytes: &[u8],
    inputs: &Inputs,
) -> Result<Document, SkipReason> {
    let text = decode(bytes)?;
    let split = split_front_matter(&text)?;
    let front_matter = split.front_matter.clone();
    if front_matter.draft {
        return Err(SkipReason::Draft);
    }
    let missing: Vec<String> = missing_fields(&front_matter, &settings.require_front_matter);
    if !missing.is_empty() {
        return Err(SkipReason::MissingFields(missing));
    }
    let plain = front_matter.plain_markdown
        || (settings.detect_format && page.source.to_lowercase().ends_with(".md"));
    let flavor = if plain { Flavor::Markdown } else { Flavor::Mdx };
    let raw_lines: Vec<&str> = text.lines().collect();
    let mut blocks = read_blocks(&page.source, &split, &raw_lines, flavor, inputs, 0);
    let names = page_names(settings, &page.relative, &front_matter);
    let title = front_matter
        .title
        .clone()
        .or_else(|| content_title(&blocks))
        .unwrap_or_else(|| {
            let id = names.doc_id.rsplit('/').next();
            id.unwrap_or(&names.doc_id).to_owned()
        });
    let warnings = heading_warnings(&blocks);
    let shows_title = front_matter
        .other
        .get("hide_title")
        .is_none_or(|hide| hide != true);
    if content_title(&blocks).is_none() && front_matter.title.is_some() && shows_title {
        blocks.insert(0, title_block(&title, split.title_line.unwrap_or(1)));
    }
    let folder = folder_titles(&page.source, inputs);
    let lesson = lesson_of(&page.relative, &title, &front_matter, &folder);
    Ok(Document {
        id: document_id(site, &page.source),
        url: page_url(settings, &page.locale, &page.version, &names.slug),
        fallback_urls: fallback_urls(settings, page, &names.slug, inputs),
        file: page.clone(),
        title,
        lesson,
        blocks,
        warnings,
        front_matter,
    })
}

/// The hash that says whether a page must be read again: of its bytes, all it used, and the reader's version.
#[must_use]
pub fn fingerprint(settings_hash: &str, bytes: &[u8], inputs: &Inputs) -> String {
    let mut hash = Sha256::new();
    hash.update(READER_VERSION.to_le_bytes());
    hash.update(settings_hash.as_bytes());
    hash.update(Sha256::digest(bytes));
    for (path, content) in inputs {
        hash.update(path.as_bytes());
        match content {
            Some(content) => hash.update(Sha256::digest(content)),
            None => hash.update([0]),
        }
    }
    hex(&hash.finalize())
}

/// Lower-case hexadecimal digits of some bytes.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("writing to a string cannot fail");
        text
    })
}

/// The text of a file: without byte order mark, line ends as `\n`.
fn decode(bytes: &[u8]) -> Result<String, SkipReason> {
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
    // As CommonMark says of NUL; Postgres takes none.
    Ok(text.replace("\r\n", "\n").replace('\0', "\u{fffd}"))
}

fn missing_fields(front_matter: &FrontMatter, required: &[String]) -> Vec<String> {
    let has = |field: &str| match field {
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
        "prerequisites" => !front_matter.prerequisites.is_empty(),
        "chapter" => front_matter.chapter.is_some(),
        "module" => front_matter.module.is_some(),
        "lesson" => front_matter.lesson.is_some(),
        other => front_matter.other.contains_key(other),
    };
    required
        .iter()
        .filter(|field| !has(field))
        .cloned()
        .collect()
}

/// Reads the blocks of a page or partial, partials within it in the place they are used.
fn read_blocks(
    source: &str,
    split: &SplitPage<'_>,
    raw_lines: &[&str],
    flavor: Flavor,
    inputs: &Inputs,
    depth: usize,
) -> Vec<Block> {
    let partials = imported_partials(split.body);
    let prepared = prepare(split.body, split.lines_before + 1, flavor, &partials);
    let blocks = parse_blocks(&prepared, raw_lines, flavor, &mut Slugger::default());
    let mut inlined = Vec::with_capacity(blocks.len());
    for block in blocks {
        if block.kind != BlockKind::Partial {
            inlined.push(block);
            continue;
        }
        let bytes = partial_name(&block.text)
            .and_then(|name| partials.get(name))
            .and_then(|path| inputs.get(&resolve_import(source, path)))
            .and_then(Option::as_deref);
        if let (Some(bytes), true) = (bytes, depth < MAX_PARTIAL_DEPTH) {
            let path = &partials[partial_name(&block.text).unwrap_or_default()];
            let partial = read_partial(&resolve_import(source, path), bytes, flavor, inputs, depth);
            // A partial's lines are those of another file: its blocks stand on the line that uses it.
            inlined.extend(partial.into_iter().map(|inner| Block {
                start_line: block.start_line,
                end_line: block.end_line,
                ..inner
            }));
        }
    }
    inlined
}

/// Reads the blocks of a partial; its heading ids are computed in it alone.
fn read_partial(
    source: &str,
    bytes: &[u8],
    flavor: Flavor,
    inputs: &Inputs,
    depth: usize,
) -> Vec<Block> {
    let Ok(text) = decode(bytes) else {
        return Vec::new();
    };
    let Ok(split) = split_front_matter(&text) else {
        return Vec::new();
    };
    let raw_lines: Vec<&str> = text.lines().collect();
    read_blocks(source, &split, &raw_lines, flavor, inputs, depth + 1)
}

/// The title in the content: a level 1 heading that nothing stands before.
fn content_title(blocks: &[Block]) -> Option<String> {
    let first = blocks.first()?;
    matches!(first.kind, BlockKind::Heading { level: 1, .. }).then(|| first.text.clone())
}

/// The heading that Docusaurus shows for a title that stands in the front matter alone.
fn title_block(title: &str, line: u32) -> Block {
    Block {
        kind: BlockKind::Heading {
            level: 1,
            anchor: None,
        },
        text: title.to_owned(),
        markdown: format!("# {title}"),
        start_line: line,
        end_line: line,
    }
}

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
    warnings
}

fn folder_titles(source: &str, inputs: &Inputs) -> FolderTitles {
    let category_label = category_files(source).iter().find_map(|path| {
        let bytes = inputs.get(path)?.as_deref()?;
        let fields: serde_json::Value =
            serde_saphyr::from_str(std::str::from_utf8(bytes).ok()?).ok()?;
        fields["label"].as_str().map(str::to_owned)
    });
    FolderTitles {
        category_label,
        index_title: None,
    }
}

fn fallback_urls(
    settings: &SiteSettings,
    page: &PageFile,
    slug: &str,
    inputs: &Inputs,
) -> BTreeMap<String, String> {
    if page.source != default_source(settings, page) {
        return BTreeMap::new();
    }
    let translated = |locale: &str| {
        let source = super::pages::source_in(settings, page, locale);
        inputs.get(&source).is_some_and(Option::is_some)
    };
    settings
        .locales
        .iter()
        .filter(|locale| **locale != settings.default_locale && !translated(locale))
        .map(|locale| {
            (
                locale.clone(),
                page_url(settings, locale, &page.version, slug),
            )
        })
        .collect()
}

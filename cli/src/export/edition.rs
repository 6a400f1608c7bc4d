//! Editions of a book: for each locale, the default versions together and every other version separately.

use std::collections::BTreeMap;

use bookrag::book::{ContentKind, Document, SiteSettings};

use super::place::{ExportPath, Places};

/// A page in one locale.
pub(super) struct Page<'a> {
    pub(super) document: &'a Document,
    pub(super) locale: &'a str,
    /// The URL path of the page.
    pub(super) url: &'a str,
    /// Where its Markdown is written.
    pub(super) place: ExportPath,
}

/// Pages of one locale that are listed together.
pub(super) struct Edition<'a> {
    pub(super) locale: &'a str,
    /// `29.x`, or `2.0 of api` for docs other than the default ones; `None` for the default versions of all docs.
    pub(super) version: Option<String>,
    /// The folder below the locale's base URL; empty, or with a trailing slash.
    folder: String,
    /// In the order of the book.
    pub(super) pages: Vec<Page<'a>>,
}

impl Edition<'_> {
    /// Returns the path of a file in its folder, relative to the locale's base URL.
    pub(super) fn file(&self, name: &str) -> String {
        format!("{}{name}", self.folder)
    }
}

/// Returns a locale's editions, the default versions first, and the pages without a file, with the reason.
pub(super) fn editions<'a>(
    settings: &'a SiteSettings,
    places: &Places<'_>,
    locale: &'a str,
    documents: &[&'a Document],
) -> (Vec<Edition<'a>>, Vec<String>) {
    let mut shown: Vec<(&Document, &str)> = documents
        .iter()
        .filter_map(|document| Some((*document, document.url_in(locale)?)))
        .collect();
    shown.sort_by_cached_key(|(document, _)| order(settings, document));
    let mut without_file = Vec::new();
    let mut taken = BTreeMap::new();
    let mut editions: BTreeMap<(usize, usize, String), Edition<'_>> = BTreeMap::new();
    for (document, url) in shown {
        let source = &document.file.source;
        let Some(place) = places.of_page(locale, url) else {
            without_file.push(format!("{source}: its URL {url} is no path of a file"));
            continue;
        };
        if let Some(other) = taken.insert(place.file.clone(), source) {
            without_file.push(format!("{source}: {other} has the URL {url} as well"));
            taken.insert(place.file, other);
            continue;
        }
        let (key, version, folder) = edition_of(settings, document);
        let edition = editions.entry(key).or_insert_with(|| Edition {
            locale,
            version,
            folder,
            pages: Vec::new(),
        });
        edition.pages.push(Page {
            document,
            locale,
            url,
            place,
        });
    }
    (editions.into_values().collect(), without_file)
}

type EditionKey = (usize, usize, String);

/// Returns the sort key of a page's edition, the name of its version, and its folder.
fn edition_of(
    settings: &SiteSettings,
    document: &Document,
) -> (EditionKey, Option<String>, String) {
    let file = &document.file;
    let docs = settings.instance(&file.instance);
    let version = docs.version_path(&file.version);
    if version.is_empty() {
        return ((0, 0, String::new()), None, String::new());
    }
    let route = [docs.route_base_path.as_str(), version];
    let folder: String = route
        .iter()
        .flat_map(|part| part.split('/'))
        .filter(|part| !part.is_empty())
        .flat_map(|part| [part, "/"])
        .collect();
    let all_docs = settings
        .instances
        .iter()
        .filter(|it| it.kind == ContentKind::Docs);
    let name = if all_docs.count() > 1 {
        format!("{version} of {}", docs.id)
    } else {
        version.to_owned()
    };
    // Newest first.
    let age = docs
        .versions
        .iter()
        .position(|known| *known == file.version);
    let age = age.map_or(0, |age| age + 1);
    let instance = instance_place(settings, document);
    ((1 + instance, age, folder.clone()), Some(name), folder)
}

fn instance_place(settings: &SiteSettings, document: &Document) -> usize {
    let mut ids = settings.instances.iter().map(|it| it.id.as_str());
    let place = ids.position(|id| id == document.file.instance);
    place.unwrap_or(settings.instances.len())
}

/// Sorts before all numbered names of a folder.
const FIRST: i64 = -1;
/// Sorts after all numbered names.
const LAST: i64 = i64::MAX;

/// The sort key of a page: its docs, its module and chapter, then its folders and name, numbers first.
type Order = (usize, [i64; 2], Vec<(i64, String)>);

fn order(settings: &SiteSettings, document: &Document) -> Order {
    let placement = &document.placement;
    let in_folder = document.file.relative.contains('/');
    let module = if in_folder { LAST } else { FIRST };
    let numbers = [
        placement.module_number.unwrap_or(module),
        placement.chapter_number.unwrap_or(LAST),
    ];
    let mut names: Vec<(i64, String)> = document
        .file
        .relative
        .split('/')
        .map(|name| (number_before(name).unwrap_or(LAST), name.to_owned()))
        .collect();
    if let Some((number, name)) = names.last_mut() {
        let stem = name.rsplit_once('.').map_or(&**name, |(stem, _)| stem);
        let is_index = ["index", "readme"].contains(&stem.to_lowercase().as_str());
        #[expect(
            clippy::cast_possible_truncation,
            reason = "sidebar positions are small numbers"
        )]
        let position = document
            .front_matter
            .sidebar_position
            .map(|position| (position * THOUSANDTHS) as i64);
        *number = position.unwrap_or(if is_index { FIRST } else { *number });
    }
    (instance_place(settings, document), numbers, names)
}

/// Sidebar positions may be fractions.
const THOUSANDTHS: f64 = 1_000.0;

/// Returns the number at the start of a name, in thousandths like sidebar positions.
fn number_before(name: &str) -> Option<i64> {
    let digits = name.bytes().take_while(u8::is_ascii_digit).count();
    let number: i64 = name[..digits].parse().ok()?;
    number.checked_mul(1_000)
}

//! Lists an edition's pages: `llms.txt`, the lists it is split into, and one file with the text of all pages.

use std::collections::{BTreeMap, BTreeSet};

use bookrag::book::{BlockKind, Document, escaped, slug};

use super::edition::{Edition, Page};
use super::place::ExportPath;
use super::{Book, FULL, INDEX};

/// The longest list, in characters: agents truncate longer ones (<https://agentdocsspec.com>, `llms-txt-size`).
const MAX_CHARS: usize = 50_000;
/// Characters reserved for the parts of a list other than its entries.
const MAX_HEAD_CHARS: usize = 2_000;
/// The longest description of a page, in characters.
const MAX_DESCRIPTION_CHARS: usize = 160;
/// The folder of the lists that an edition's list is split into.
const PARTS: &str = "llms";
/// The heading of pages outside of folders.
const PAGES: &str = "Pages";
/// Separates the titles of module and chapter.
const SEPARATOR: &str = " › ";

type Section = (String, Vec<String>);

impl Book<'_> {
    /// Returns the lists of an edition, by path. `editions` are all editions of its locale.
    pub(super) fn indexes(
        &self,
        edition: &Edition<'_>,
        editions: &[Edition<'_>],
    ) -> BTreeMap<String, String> {
        let (head, others) = (self.index_head(edition), self.others(edition, editions));
        let chapters = self.chapters(edition);
        let whole = written(&head, chapters.iter().chain(&others));
        if whole.chars().count() < MAX_CHARS {
            return BTreeMap::from([(self.place(edition, INDEX).file, whole)]);
        }
        let mut files = BTreeMap::new();
        let mut names = BTreeSet::new();
        let mut entries = Vec::new();
        for (title, pages) in &chapters {
            let parts = divided(pages);
            for (number, part) in parts.iter().enumerate() {
                let title = match number {
                    0 => title.clone(),
                    number => format!("{title} ({})", number + 1),
                };
                let place = self.place(edition, &part_name(&title, &mut names));
                let entry = self.link_to(&title, &place.url);
                entries.push(format!("- {entry}: {} pages", part.len()));
                let section = (title, part.to_vec());
                files.insert(place.file, written(&head, [&section].into_iter()));
            }
        }
        let chapters = ("Chapters".to_owned(), entries);
        let whole = written(&head, [&chapters].into_iter().chain(&others));
        files.insert(self.place(edition, INDEX).file, whole);
        files
    }

    /// Returns where an edition's file is.
    fn place(&self, edition: &Edition<'_>, name: &str) -> ExportPath {
        self.places.of(edition.locale, &edition.file(name))
    }

    /// Returns an entry that links the list of an edition.
    fn link_to_list(&self, edition: &Edition<'_>, text: &str) -> String {
        let place = self.place(edition, INDEX);
        format!("- {}", self.link_to(text, &place.url))
    }

    fn index_head(&self, edition: &Edition<'_>) -> String {
        let title = self.edition_title(edition);
        let mut head = format!(
            "# {title}\n\n> The pages of {title} as Markdown, each at the address of the page with `.md` at its end (`index.md` after a slash)."
        );
        if let Some(api) = self.api {
            head.push_str(&format!(
                " `GET {api}/api/v1/ask?q=QUESTION` answers a question as Markdown. Agents search and read over the Model Context Protocol at `{api}/mcp`."
            ));
        }
        head.push_str(&self.stamp);
        head
    }

    fn edition_title(&self, edition: &Edition<'_>) -> String {
        let version = edition.version.as_ref();
        let version = version.map(|version| format!(", version {version}"));
        escaped(&format!("{}{}", self.title, version.unwrap_or_default()))
    }

    /// Returns the pages by module and chapter, in the order of the book.
    fn chapters(&self, edition: &Edition<'_>) -> Vec<Section> {
        let mut chapters: Vec<Section> = Vec::new();
        let mut known = BTreeMap::new();
        for page in listed(edition) {
            let titles = page.document.placement.titles();
            let title = if titles.is_empty() {
                PAGES.to_owned()
            } else {
                titles.join(SEPARATOR)
            };
            let at = *known.entry(title.clone()).or_insert(chapters.len());
            if at == chapters.len() {
                chapters.push((title, Vec::new()));
            }
            chapters[at].1.push(self.entry(page));
        }
        chapters
    }

    /// Returns the titles of an edition's modules and chapters, in the order of the book.
    pub(super) fn chapter_titles(&self, edition: &Edition<'_>) -> impl Iterator<Item = String> {
        let chapters = self.chapters(edition).into_iter();
        chapters.map(|(title, _)| title)
    }

    fn entry(&self, page: &Page<'_>) -> String {
        let title = self.link_to(&page.document.title, &page.place.url);
        match description(page.document) {
            Some(description) => format!("- {title}: {description}"),
            None => format!("- {title}"),
        }
    }

    /// Links the lists of other editions and the file with all text.
    fn others(&self, edition: &Edition<'_>, editions: &[Edition<'_>]) -> Vec<Section> {
        let versions = editions
            .iter()
            .filter(|other| !std::ptr::eq(*other, edition))
            .map(|other| match &other.version {
                None => self.link_to_list(other, "Default version"),
                Some(name) => self.link_to_list(other, &format!("Version {name}")),
            });
        let locales = self
            .locales
            .iter()
            .filter(|other| other.locale != edition.locale)
            .map(|other| self.link_to_list(other, &format!("Language {}", other.locale)));
        let full = self.place(edition, FULL);
        let full = self.link_to("All pages in one file", &full.url);
        let sections = [
            ("Other versions", versions.collect()),
            ("Other languages", locales.collect()),
            ("Optional", vec![format!("- {full}")]),
        ];
        sections
            .into_iter()
            .filter(|(_, entries): &(_, Vec<_>)| !entries.is_empty())
            .map(|(title, entries)| (title.to_owned(), entries))
            .collect()
    }

    /// Returns the beginning of the file with the text of all pages.
    pub(super) fn full_head(&self, edition: &Edition<'_>) -> String {
        let title = self.edition_title(edition);
        let index = self.place(edition, INDEX);
        let index = self.link_to(INDEX, &index.url);
        let stamp = &self.stamp;
        format!("# {title}\n\n> All pages of {title} in one file; {index} lists them.{stamp}\n")
    }

    /// Returns a page's text for the file with the text of all pages.
    pub(super) fn in_full(&self, page: &Page<'_>, text: &str) -> String {
        let page = self.link_to("the page", page.url);
        format!("\n---\n\n> The text of {page}.\n\n{text}")
    }
}

/// Returns the pages that are listed.
fn listed<'a, 'b>(edition: &'b Edition<'a>) -> impl Iterator<Item = &'b Page<'a>> {
    let pages = edition.pages.iter();
    pages.filter(|page| !page.document.front_matter.unlisted)
}

fn written<'a>(head: &str, sections: impl Iterator<Item = &'a Section>) -> String {
    let sections = sections
        .map(|(title, entries)| format!("\n## {}\n\n{}\n", escaped(title), entries.join("\n")));
    format!("{head}\n{}", sections.collect::<String>())
}

/// Splits entries so that each list stays below the limit.
fn divided(entries: &[String]) -> Vec<&[String]> {
    let mut parts = Vec::new();
    let (mut from, mut length) = (0, MAX_HEAD_CHARS);
    for (at, entry) in entries.iter().enumerate() {
        let entry = entry.chars().count() + 1;
        if at > from && length + entry >= MAX_CHARS {
            parts.push(&entries[from..at]);
            (from, length) = (at, MAX_HEAD_CHARS);
        }
        length += entry;
    }
    parts.push(&entries[from..]);
    parts
}

/// Returns a path that no other part has.
fn part_name(title: &str, names: &mut BTreeSet<String>) -> String {
    let name = slug(title);
    let name: String = name
        .split('-')
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join("-");
    let mut numbers = 2..;
    let mut unique = name.clone();
    while unique.is_empty() || !names.insert(unique.clone()) {
        let number: usize = numbers.next().unwrap_or_default();
        unique = format!("{name}-{number}");
    }
    format!("{PARTS}/{unique}.txt")
}

/// Returns the page's description, else the beginning of its text.
fn description(document: &Document) -> Option<String> {
    let text = match &document.front_matter.description {
        Some(description) => description,
        None => first_paragraph(document)?,
    };
    let mut short = String::new();
    for word in text.split_whitespace() {
        if short.chars().count() + word.chars().count() >= MAX_DESCRIPTION_CHARS {
            short.push('…');
            break;
        }
        if !short.is_empty() {
            short.push(' ');
        }
        short.push_str(word);
    }
    (!short.is_empty()).then(|| escaped(&short))
}

fn first_paragraph(document: &Document) -> Option<&String> {
    let mut blocks = document.blocks.iter();
    blocks
        .find(|block| block.kind == BlockKind::Paragraph && !block.names_admonition())
        .map(|block| &block.text)
}

//! A page's place in the book: module, chapter and lesson.

use std::sync::LazyLock;

use regex::{Captures, Regex};
use serde::{Deserialize, Serialize};

use crate::front_matter::FrontMatter;
use crate::permalink::strip_number_prefix;

/// The text for missing titles.
pub const UNKNOWN: &str = "Unknown";

/// A page's module, chapter and lesson.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Placement {
    /// The module's title, without its number.
    pub module: Option<String>,
    /// The module's number.
    pub module_number: Option<i64>,
    /// The chapter's title, without its number.
    pub chapter: Option<String>,
    /// The chapter's number.
    pub chapter_number: Option<i64>,
    /// The lesson's title, without its number.
    pub lesson: Option<String>,
    /// The lesson's number in its chapter.
    pub lesson_number: Option<i64>,
}

impl Placement {
    /// Returns the citation label: `[Module 1, Chapter 2, Lesson 3]`, with the known numbers; `None` without a lesson number.
    #[must_use]
    pub fn label(&self) -> Option<String> {
        self.lesson_number?;
        let parts: Vec<String> = [
            ("Module", self.module_number),
            ("Chapter", self.chapter_number),
            ("Lesson", self.lesson_number),
        ]
        .into_iter()
        .filter_map(|(name, number)| Some(format!("{name} {}", number?)))
        .collect();
        Some(format!("[{}]", parts.join(", ")))
    }

    /// Returns the titles of module and chapter with their numbers: `Module 1: Foundations`.
    #[must_use]
    pub fn titles(&self) -> Vec<String> {
        let titles = [
            ("Module", self.module_number, &self.module),
            ("Chapter", self.chapter_number, &self.chapter),
        ];
        let titles = titles.map(|(name, number, title)| match (number, title) {
            (Some(number), Some(title)) => Some(format!("{name} {number}: {title}")),
            (Some(number), None) => Some(format!("{name} {number}")),
            (None, title) => title.clone(),
        });
        titles.into_iter().flatten().collect()
    }

    /// Returns `1.2.3` for module, chapter and lesson; `None` without a lesson number.
    #[must_use]
    pub fn id(&self) -> Option<String> {
        let lesson = self.lesson_number?;
        let parts: Vec<_> = [self.module_number, self.chapter_number, Some(lesson)]
            .into_iter()
            .flatten()
            .map(|number| number.to_string())
            .collect();
        Some(parts.join("."))
    }
}

/// The titles of a page's folder, from files in it.
#[derive(Debug, Clone, Default)]
pub(super) struct FolderTitles {
    /// The `label` in its `_category_.json`, `_category_.yml` or `_category_.yaml`.
    pub category_label: Option<String>,
    pub index_title: Option<String>,
}

static NUMBERED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)^(module|chapter|lesson|part|unit|week|section)\s*(\d+)(?:\.(\d+))?\s*[:.–—-]?\s*(.*)$")
        .expect("the pattern is a constant")
});
static NUMBERED_FOLDER: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)(module|chapter|lesson)[-_ ]?(\d+)(?:\.(\d+))?[-_ ]*(.*)$")
        .expect("the pattern is a constant")
});
static LEADING_NUMBER: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^(\d+)[-_. ]").expect("the pattern is a constant"));

/// A title and its number: within `1`, `Lesson 1.2: Nodes` is `2` and `Nodes`.
#[derive(Debug, Default, PartialEq)]
struct Numbered {
    number: Option<i64>,
    within: Option<i64>,
    title: Option<String>,
}

fn numbered(text: &str) -> Numbered {
    let text = text.trim();
    if let Ok(number) = text.parse() {
        return Numbered {
            number: Some(number),
            ..Numbered::default()
        };
    }
    let Some(captures) = NUMBERED.captures(text) else {
        return Numbered {
            title: Some(text.to_owned()).filter(|title| !title.is_empty()),
            ..Numbered::default()
        };
    };
    let title = captures.get(4).map_or("", |title| title.as_str()).trim();
    Numbered {
        number: number_in(&captures, 3).or_else(|| number_in(&captures, 2)),
        within: number_in(&captures, 3).and(number_in(&captures, 2)),
        title: Some(title.to_owned()).filter(|title| !title.is_empty()),
    }
}

fn number_in(captures: &Captures<'_>, group: usize) -> Option<i64> {
    captures.get(group)?.as_str().parse().ok()
}

/// Determines a page's place from its front matter, or else its path, or else its sidebar position.
#[must_use]
pub(super) fn placement_of(
    relative: &str,
    title: &str,
    front_matter: &FrontMatter,
    folder: &FolderTitles,
) -> Placement {
    let [module, chapter, lesson] = [
        &front_matter.module,
        &front_matter.chapter,
        &front_matter.lesson,
    ]
    .map(|field| field.as_deref().map(numbered).unwrap_or_default());
    let titled = NUMBERED
        .captures(title)
        .filter(|captures| captures[1].eq_ignore_ascii_case("lesson"))
        .map(|_| numbered(title))
        .unwrap_or_default();
    let path = PathNumbers::read(relative);
    let in_chapter = front_matter.chapter.is_some() || path.chapter.is_some();
    let sidebar_number = sidebar_number(front_matter).filter(|_| in_chapter && !is_index(relative));
    let folder_label = folder.category_label.as_ref();
    let folder_label = folder_label.or(folder.index_title.as_ref());
    let lesson_number = lesson.number.or(titled.number).or(path.lesson);
    Placement {
        module: module.title.or(path.module_title),
        module_number: module.number.or(path.module),
        chapter: chapter
            .title
            .or_else(|| numbered(folder_label?).title)
            .or_else(|| folder_in_words(relative)),
        chapter_number: chapter.number.or(titled.within).or(path.chapter),
        lesson: lesson
            .title
            .or(titled.title)
            .or_else(|| lesson_number.map(|_| title.to_owned())),
        lesson_number: lesson_number.or(sidebar_number),
    }
}

fn sidebar_number(front_matter: &FrontMatter) -> Option<i64> {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "sidebar positions are small numbers"
    )]
    let number = front_matter.sidebar_position? as i64;
    (number > 0).then_some(number)
}

fn is_index(relative: &str) -> bool {
    let name = file_name(relative).to_lowercase();
    name.starts_with("index.") || name.starts_with("readme.")
}

fn file_name(relative: &str) -> &str {
    relative.rsplit('/').next().unwrap_or(relative)
}

/// Converts the page's folder to words: `02-ros2-basics` gives `Ros2 basics`.
fn folder_in_words(relative: &str) -> Option<String> {
    let folder = relative.rsplit_once('/')?.0.rsplit('/').next()?;
    let name = NUMBERED_FOLDER
        .captures(folder)
        .and_then(|captures| captures.get(4))
        .map(|rest| rest.as_str())
        .filter(|rest| !rest.is_empty())
        .unwrap_or_else(|| strip_number_prefix(folder));
    let words = name.replace(['-', '_'], " ");
    let mut chars = words.trim().chars();
    let first = chars.next()?;
    Some(first.to_uppercase().chain(chars).collect())
}

/// The numbers in a path such as `module-1-ros2/chapter-2-nodes/lesson-3-topics.md`.
#[derive(Debug, Default)]
struct PathNumbers {
    module: Option<i64>,
    module_title: Option<String>,
    chapter: Option<i64>,
    lesson: Option<i64>,
}

impl PathNumbers {
    fn read(relative: &str) -> Self {
        let mut numbers = Self::default();
        for part in relative.split('/') {
            let part = part.rsplit_once('.').map_or(part, |(stem, _)| stem);
            let Some(captures) = NUMBERED_FOLDER.captures(part) else {
                continue;
            };
            let number = number_in(&captures, 3).or_else(|| number_in(&captures, 2));
            match captures[1].to_lowercase().as_str() {
                "module" => {
                    numbers.module = number;
                    let words = captures[4].replace(['-', '_'], " ");
                    numbers.module_title = Some(words).filter(|words| !words.is_empty());
                }
                "chapter" => numbers.chapter = number,
                _ => numbers.lesson = number,
            }
        }
        if numbers.lesson.is_none() && numbers.chapter.is_some() && relative.contains('/') {
            numbers.lesson = LEADING_NUMBER
                .captures(file_name(relative))
                .and_then(|captures| captures[1].parse().ok());
        }
        numbers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lesson(relative: &str, title: &str, fields: &str) -> Placement {
        let text = format!("---\n{fields}\n---\n");
        let page = crate::front_matter::split_front_matter(&text).expect("valid front matter");
        placement_of(
            relative,
            title,
            &page.front_matter,
            &FolderTitles::default(),
        )
    }

    #[test]
    fn numbers_come_from_front_matter_first() {
        let found = lesson(
            "module-9-x/chapter-8-y/z.md",
            "Lesson 1.2: Reading Soil",
            "module: 'Module 1: Foundations'\nchapter: 'Chapter 1: Sensing'",
        );
        assert_eq!(
            found.label().as_deref(),
            Some("[Module 1, Chapter 1, Lesson 2]")
        );
        assert_eq!(found.chapter.as_deref(), Some("Sensing"));
        assert_eq!(found.lesson.as_deref(), Some("Reading Soil"));
        let numbers = lesson("a.md", "T", "chapter: 5\nlesson: 3");
        assert_eq!(
            (numbers.chapter_number, numbers.lesson_number),
            (Some(5), Some(3))
        );
    }

    #[test]
    fn else_from_the_path_and_else_there_are_none() {
        let found = lesson(
            "module-1-ros2/chapter-2-nodes/lesson-3-topics.md",
            "Topics",
            "a: 1",
        );
        assert_eq!(
            found.label().as_deref(),
            Some("[Module 1, Chapter 2, Lesson 3]")
        );
        assert_eq!(found.chapter.as_deref(), Some("Nodes"));
        assert_eq!(found.module.as_deref(), Some("ros2"));
        let plain = lesson("guides/mocking.md", "Mocking", "a: 1");
        assert_eq!(
            (plain.label(), plain.chapter.as_deref()),
            (None, Some("Guides"))
        );
    }
}

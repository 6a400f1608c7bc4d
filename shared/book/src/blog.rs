//! Blog posts: date, slug and authors from file names and front matter.

use std::slice;
use std::sync::LazyLock;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::Offset;
use regex::Regex;
use serde_json::Value;

use crate::front_matter::{FrontMatter, text};
use crate::labels::Labels;

/// Docusaurus's `DATE_FILENAME_REGEX`: the last date in a path, with the text before and after it.
static DATED_PATH: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"^(?<folder>.*)(?<date>[0-9]{4}[-/][0-9]{1,2}[-/][0-9]{1,2})[-/]?(?<text>.*?)(?:/index)?.mdx?$",
    )
    .expect("the pattern is a constant")
});
static UNDATED_PATH: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?:/index)?\.mdx?$").expect("the pattern is a constant"));
static LEADING_DATE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^([0-9]{4})[-/]([0-9]{1,2})[-/]([0-9]{1,2})(?:[^0-9]|$)")
        .expect("the pattern is a constant")
});

#[derive(Debug, PartialEq, Eq)]
pub(super) struct PostPath {
    /// The URL path below the blog's route.
    pub(super) slug: String,
    /// The title of a post whose file sets none.
    pub(super) title: String,
    pub(super) date: Option<Date>,
}

impl PostPath {
    /// Parses a path: `2024-05-03-title.md`, `2024/05/03/title/index.md`, `title.mdx`.
    pub(super) fn read(relative: &str) -> Self {
        let Some(dated) = DATED_PATH.captures(relative) else {
            let title = UNDATED_PATH.replace(relative, "").into_owned();
            return Self {
                slug: format!("/{title}"),
                title,
                date: None,
            };
        };
        let (folder, date, title) = (&dated["folder"], &dated["date"], &dated["text"]);
        Self {
            slug: format!("/{}/{folder}{title}", date.replace('-', "/")),
            title: title.to_owned(),
            date: day(date),
        }
    }
}

/// Returns a post's date in UTC, from its front matter or else its path.
pub(super) fn post_date(front_matter: &FrontMatter, relative: &str) -> Option<Date> {
    let date = front_matter.other.get("date").and_then(Value::as_str);
    date.and_then(day).or_else(|| PostPath::read(relative).date)
}

/// Returns the names of a post's authors: an author is a name, a key in `names`, or a mapping with either. A key without a name stands for
/// itself.
pub(super) fn post_authors(front_matter: &FrontMatter, names: &Labels) -> Vec<String> {
    ["authors", "author"]
        .into_iter()
        .filter_map(|field| front_matter.other.get(field))
        .flat_map(|authors| match authors {
            Value::Array(authors) => authors.as_slice(),
            author => slice::from_ref(author),
        })
        .filter_map(|author| author_name(author, names))
        .collect()
}

fn author_name(author: &Value, names: &Labels) -> Option<String> {
    if let Some(name) = author.get("name") {
        return text(name);
    }
    let key = text(author.get("key").unwrap_or(author))?;
    Some(names.get(&key).cloned().unwrap_or(key))
}

/// Parses `2024-05-03`, `2024/5/3` or a timestamp that begins so; a timestamp with an offset is converted to UTC.
fn day(text: &str) -> Option<Date> {
    if let Ok(moment) = text.parse::<Timestamp>() {
        return Some(Offset::UTC.to_datetime(moment).date());
    }
    let parts = LEADING_DATE.captures(text)?;
    Date::new(
        parts[1].parse().ok()?,
        parts[2].parse().ok()?,
        parts[3].parse().ok()?,
    )
    .ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::BlockKind;
    use crate::inputs::Inputs;
    use crate::pages::page_file;
    use crate::reader::read_document;
    use crate::settings::SiteSettings;

    fn front_matter(fields: &str) -> FrontMatter {
        let page = format!("---\n{fields}\n---\n");
        let split = crate::front_matter::split_front_matter(&page);
        split.expect("valid front matter").front_matter
    }

    #[test]
    fn a_path_gives_slug_title_and_date_as_docusaurus_reads_it() {
        for (path, slug, title, date) in [
            (
                "2024-05-03-a-b.md",
                "/2024/05/03/a-b",
                "a-b",
                Some("2024-05-03"),
            ),
            (
                "2024-05-03-a/index.mdx",
                "/2024/05/03/a",
                "a",
                Some("2024-05-03"),
            ),
            ("2024/05/03/a.md", "/2024/05/03/a", "a", Some("2024-05-03")),
            (
                "2024/5/3-a/index.md",
                "/2024/5/3/a",
                "a",
                Some("2024-05-03"),
            ),
            (
                "news/2024-05-03-a.md",
                "/2024/05/03/news/a",
                "a",
                Some("2024-05-03"),
            ),
            ("2024-05-03.md", "/2024/05/03/", "", Some("2024-05-03")),
            (
                "2024-05-03/index.md",
                "/2024/05/03/index",
                "index",
                Some("2024-05-03"),
            ),
            ("2024-13-45-a.md", "/2024/13/45/a", "a", None),
            ("a.md", "/a", "a", None),
            ("b/a/index.mdx", "/b/a", "b/a", None),
            ("index.md", "/index", "index", None),
        ] {
            let expected = PostPath {
                slug: slug.to_owned(),
                title: title.to_owned(),
                date: date.map(|date| date.parse().expect("a date")),
            };
            assert_eq!(PostPath::read(path), expected, "{path}");
        }
    }

    #[test]
    fn the_date_of_the_front_matter_goes_before_that_of_the_path() {
        for (fields, date) in [
            ("date: 2021-09-01", "2021-09-01"),
            ("date: '2021-9-1 10:30'", "2021-09-01"),
            ("date: 2021-09-01T23:30:00-02:00", "2021-09-02"),
            ("date: 2021/09/01", "2021-09-01"),
            ("date: soon", "2024-05-03"),
            ("title: a", "2024-05-03"),
        ] {
            let found = post_date(&front_matter(fields), "2024-05-03-a.md");
            assert_eq!(found.map(|it| it.to_string()).as_deref(), Some(date));
        }
        assert_eq!(post_date(&front_matter("title: a"), "a.md"), None);
    }

    fn read(path: &str, text: &str) -> (String, Option<Date>, Vec<String>) {
        let config = "module.exports = {presets: ['classic']}".to_owned();
        let files = [("docusaurus.config.js".to_owned(), config)];
        let settings = SiteSettings::read(&files.into(), true).expect("valid settings");
        let page = page_file(&settings, path).expect("a post");
        let inputs = Inputs::new();
        let post = read_document(&settings, "", &page, text.as_bytes(), &inputs);
        let post = post.expect("a post that can be read");
        let headings = post.blocks.iter().filter_map(|block| match &block.kind {
            BlockKind::Heading { level, anchor, .. } => {
                let anchor = anchor.as_deref().unwrap_or_default();
                Some(format!("{level} {} #{anchor}", block.text))
            }
            _ => None,
        });
        (post.title.clone(), post.date, headings.collect())
    }

    #[test]
    fn a_post_shows_one_title_whose_id_is_free() {
        for (text, title, headings) in [
            ("# A\n\n## A\n", "A", ["1 A #", "2 A #a"]),
            (
                "---\ntitle: B\n---\n# A\n\n## A\n",
                "B",
                ["1 B #", "2 A #a"],
            ),
            ("Text.\n\n# A\n\n## A\n", "post", ["1 post #", "2 A #a"]),
            ("---\ntitle: B\n---\n## A\n", "B", ["1 B #", "2 A #a"]),
        ] {
            let read = read("blog/2024-05-03-post.md", text);
            let date = Date::new(2024, 5, 3).ok();
            let headings = headings.map(str::to_owned).to_vec();
            assert_eq!(read, (title.to_owned(), date, headings), "{text}");
        }
    }

    #[test]
    fn authors_are_names_or_keys() {
        for (fields, names) in [
            ("authors: ada", &["ada"][..]),
            (
                "authors: [ada, {key: b, name: Bob}, {key: c}]",
                &["ada", "Bob", "c"],
            ),
            ("authors: {name: Ada L.}", &["Ada L."]),
            ("author: Ada", &["Ada"]),
            ("title: a", &[]),
        ] {
            let found = post_authors(&front_matter(fields), &Labels::new());
            assert_eq!(found, names, "{fields}");
        }
    }
}

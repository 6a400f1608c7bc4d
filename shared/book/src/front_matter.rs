//! The YAML block at the top of a page.

use std::collections::BTreeMap;

use serde_json::Value;

/// The front matter of a page: known fields with their types, and all others unchanged.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FrontMatter {
    /// `id`: replaces the last part of the document's id and URL.
    pub id: Option<String>,
    /// `title`.
    pub title: Option<String>,
    /// `slug`: replaces the URL below the version's root, or its last part.
    pub slug: Option<String>,
    /// `sidebar_position`.
    pub sidebar_position: Option<f64>,
    /// `sidebar_label`.
    pub sidebar_label: Option<String>,
    /// `description`.
    pub description: Option<String>,
    /// `duration_minutes`: the reading time stated by the author.
    pub duration_minutes: Option<f64>,
    /// `proficiency_level`, for example `B1` or `beginner`.
    pub proficiency_level: Option<String>,
    /// `layer`: the teaching layer, for example `L1`.
    pub layer: Option<String>,
    /// `hardware_tier`: the least equipment that a reader needs, 1 to 4.
    pub hardware_tier: Option<i64>,
    /// `tier_1_path`: the alternative for readers with tier 1 equipment.
    pub tier_1_path: Option<String>,
    /// `learning_objectives`.
    pub learning_objectives: Vec<String>,
    /// `keywords`.
    pub keywords: Vec<String>,
    /// `tags`: their labels.
    pub tags: Vec<String>,
    /// The names of a blog post's authors, or their keys where no name is known; none for other pages.
    pub authors: Vec<String>,
    /// `prerequisites`.
    pub prerequisites: Vec<String>,
    /// `chapter`: `Chapter 1: Sensing`, or a number.
    pub chapter: Option<String>,
    /// `module`: `Module 1: Foundations`, or a number.
    pub module: Option<String>,
    /// `lesson`: a number or a title.
    pub lesson: Option<String>,
    /// `draft`: excluded from production builds.
    pub draft: bool,
    /// `unlisted`: built, but in no list.
    pub unlisted: bool,
    /// `parse_number_prefixes`: `false` keeps number prefixes of the file and its folders.
    pub parse_number_prefixes: Option<bool>,
    /// `mdx.format`: `mdx`, `md` or `detect`.
    pub format: Option<String>,
    /// Every other field.
    pub other: BTreeMap<String, Value>,
}

/// The most characters of [`FrontMatter::search_words`], several times what search engines use of a description. Every chunk of
/// the page has them.
const MAX_SEARCH_WORDS: usize = 1_000;

/// The known fields with one text or number.
const TEXT_FIELDS: [&str; 13] = [
    "chapter",
    "description",
    "duration_minutes",
    "hardware_tier",
    "id",
    "layer",
    "lesson",
    "module",
    "proficiency_level",
    "sidebar_label",
    "sidebar_position",
    "tier_1_path",
    "title",
];

impl FrontMatter {
    /// Returns the author's own search terms: `keywords`, `tags`, `description` and authors, 1,000 characters at most.
    #[must_use]
    pub fn search_words(&self) -> String {
        let names = self.keywords.iter().chain(&self.tags);
        let words: Vec<&str> = names
            .chain(&self.description)
            .chain(&self.authors)
            .map(|words| words.trim())
            .filter(|words| !words.is_empty())
            .collect();
        words.join("\n").chars().take(MAX_SEARCH_WORDS).collect()
    }

    /// Returns the fields that expressions such as `{frontMatter.title}` show, by these expressions: texts and numbers.
    pub(super) fn shown_fields(&self) -> BTreeMap<String, String> {
        let others = self
            .other
            .iter()
            .filter(|(_, value)| value.is_string() || value.is_number());
        TEXT_FIELDS
            .into_iter()
            .chain(others.map(|(field, _)| field.as_str()))
            .filter_map(|field| {
                let value = self.values(field).pop()?;
                Some((format!("frontMatter.{field}"), value))
            })
            .collect()
    }

    /// Returns the values of a field as text; none if it is missing or a mapping.
    #[must_use]
    pub fn values(&self, field: &str) -> Vec<String> {
        let one = match field {
            "keywords" => return self.keywords.clone(),
            "learning_objectives" => return self.learning_objectives.clone(),
            "prerequisites" => return self.prerequisites.clone(),
            "tags" => return self.tags.clone(),
            "chapter" => self.chapter.clone(),
            "description" => self.description.clone(),
            "duration_minutes" => self.duration_minutes.map(|minutes| minutes.to_string()),
            "hardware_tier" => self.hardware_tier.map(|tier| tier.to_string()),
            "id" => self.id.clone(),
            "layer" => self.layer.clone(),
            "lesson" => self.lesson.clone(),
            "module" => self.module.clone(),
            "proficiency_level" => self.proficiency_level.clone(),
            "sidebar_label" => self.sidebar_label.clone(),
            "sidebar_position" => self.sidebar_position.map(|position| position.to_string()),
            "tier_1_path" => self.tier_1_path.clone(),
            "title" => self.title.clone(),
            other => {
                return self
                    .other
                    .get(other)
                    .cloned()
                    .map(texts)
                    .unwrap_or_default();
            }
        };
        one.into_iter().collect()
    }
}

/// The error in a page's front matter.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("front matter, line {line}: {reason}")]
pub struct FrontMatterError {
    /// The line in the file, from 1.
    pub line: u32,
    /// Why the front matter is not used.
    pub reason: String,
}

/// A page split into front matter and body.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SplitPage<'a> {
    pub front_matter: FrontMatter,
    /// The text after the front matter.
    pub body: &'a str,
    /// The number of lines before `body`.
    pub lines_before: u32,
    /// The line of the `title:` field, from 1.
    pub title_line: Option<u32>,
}

/// Splits a page (without byte order mark, with `\n` line ends) into front matter and body.
///
/// # Errors
/// If the block is not closed, not YAML or not a mapping; with the line.
pub(super) fn split_front_matter(text: &str) -> Result<SplitPage<'_>, FrontMatterError> {
    let mut lines = text.split_inclusive('\n');
    let no_front_matter = SplitPage {
        front_matter: FrontMatter::default(),
        body: text,
        lines_before: 0,
        title_line: None,
    };
    if lines.next().is_none_or(|line| line.trim_end() != "---") {
        return Ok(no_front_matter);
    }
    let start = text.find('\n').map_or(text.len(), |at| at + 1);
    let mut end = start;
    let mut lines_before = 1;
    let mut title_line = None;
    for line in lines {
        lines_before += 1;
        if line.trim_end() == "---" {
            let front_matter = parse(&text[start..end])?;
            return Ok(SplitPage {
                front_matter,
                body: &text[end + line.len()..],
                lines_before,
                title_line,
            });
        }
        if line.starts_with("title:") {
            title_line.get_or_insert(lines_before);
        }
        end += line.len();
    }
    Err(FrontMatterError {
        line: 1,
        reason: "the block that `---` opens is never closed".to_owned(),
    })
}

fn parse(yaml: &str) -> Result<FrontMatter, FrontMatterError> {
    if yaml.trim().is_empty() {
        return Ok(FrontMatter::default());
    }
    let value: Value = serde_saphyr::from_str(yaml).map_err(|error| FrontMatterError {
        // The block starts on the file's second line.
        line: error
            .location()
            .map_or(1, |at| u32::try_from(at.line()).unwrap_or(u32::MAX))
            .saturating_add(1),
        reason: first_line(&error.without_snippet().to_string()),
    })?;
    match value {
        Value::Object(fields) => Ok(fields.into_iter().collect::<BTreeMap<_, _>>().into()),
        Value::Null => Ok(FrontMatter::default()),
        _ => Err(FrontMatterError {
            line: 2,
            reason: "it is not a list of `field: value`".to_owned(),
        }),
    }
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().trim().to_owned()
}

impl From<BTreeMap<String, Value>> for FrontMatter {
    fn from(mut fields: BTreeMap<String, Value>) -> Self {
        Self {
            id: fields.remove("id").as_ref().and_then(text),
            title: fields.remove("title").as_ref().and_then(text),
            slug: fields.remove("slug").as_ref().and_then(text),
            sidebar_position: fields.remove("sidebar_position").as_ref().and_then(number),
            sidebar_label: fields.remove("sidebar_label").as_ref().and_then(text),
            description: fields.remove("description").as_ref().and_then(text),
            duration_minutes: fields.remove("duration_minutes").as_ref().and_then(number),
            proficiency_level: fields.remove("proficiency_level").as_ref().and_then(text),
            layer: fields.remove("layer").as_ref().and_then(text),
            #[expect(
                clippy::cast_possible_truncation,
                reason = "tiers are small whole numbers"
            )]
            hardware_tier: fields
                .remove("hardware_tier")
                .as_ref()
                .and_then(number)
                .map(|tier| tier as i64),
            tier_1_path: fields.remove("tier_1_path").as_ref().and_then(text),
            learning_objectives: fields
                .remove("learning_objectives")
                .map(texts)
                .unwrap_or_default(),
            keywords: fields.remove("keywords").map(texts).unwrap_or_default(),
            tags: fields.remove("tags").map(tags).unwrap_or_default(),
            authors: Vec::new(),
            prerequisites: fields
                .remove("prerequisites")
                .map(texts)
                .unwrap_or_default(),
            chapter: fields.remove("chapter").as_ref().and_then(text),
            module: fields.remove("module").as_ref().and_then(text),
            lesson: fields.remove("lesson").as_ref().and_then(text),
            draft: fields.remove("draft").as_ref().is_some_and(flag),
            unlisted: fields.remove("unlisted").as_ref().is_some_and(flag),
            parse_number_prefixes: fields
                .remove("parse_number_prefixes")
                .as_ref()
                .and_then(Value::as_bool),
            format: fields.remove("mdx").and_then(|mdx| text(&mdx["format"])),
            other: fields,
        }
    }
}

pub(super) fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        _ => None,
    }
}

/// True for `true`, and for the string `"true"` in any case.
fn flag(value: &Value) -> bool {
    text(value).is_some_and(|text| text.eq_ignore_ascii_case("true"))
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

/// Reads a list of texts, or a single comma-separated string.
fn texts(value: Value) -> Vec<String> {
    match value {
        Value::Array(items) => items
            .iter()
            .filter_map(|item| match item {
                // Learning objectives may be mappings; only their texts are visible.
                Value::Object(fields) => fields.values().find_map(text),
                other => text(other),
            })
            .collect(),
        Value::String(list) => list
            .split(',')
            .map(|item| item.trim().to_owned())
            .filter(|item| !item.is_empty())
            .collect(),
        other => text(&other).into_iter().collect(),
    }
}

/// Returns the labels of tags. Each tag is a label, or a mapping with one.
fn tags(value: Value) -> Vec<String> {
    match value {
        Value::Array(items) => {
            let labels = items
                .iter()
                .map(|item| item.get("label").unwrap_or(item))
                .filter_map(text);
            labels.collect()
        }
        other => texts(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_without_front_matter_is_all_body() {
        let page = split_front_matter("# Title\n---\n").expect("no front matter");
        assert_eq!(page.body, "# Title\n---\n");
        assert_eq!(page.lines_before, 0);
    }

    #[test]
    fn fields_are_typed_and_unknown_ones_kept() {
        let text = "---\ntitle: A\nhardware_tier: 2\nkeywords: [a, b]\nfoo: {x: 1}\n---\nbody";
        let page = split_front_matter(text).expect("valid front matter");
        assert_eq!(page.front_matter.title.as_deref(), Some("A"));
        assert_eq!(page.front_matter.hardware_tier, Some(2));
        assert_eq!(page.front_matter.keywords, ["a", "b"]);
        assert_eq!(page.front_matter.other["foo"]["x"], 1);
        assert_eq!((page.body, page.lines_before), ("body", 6));
        assert_eq!(page.title_line, Some(2));
    }

    #[test]
    fn a_page_is_filed_under_its_keywords_tags_and_description() {
        let words = |fields: &str| {
            let text = format!("---\n{fields}\n---\n");
            let page = split_front_matter(&text).expect("valid front matter");
            page.front_matter.search_words()
        };
        let fields = "keywords: [a, b c]\ntags: [d, {label: E, permalink: /e}]\ndescription: ' f '";
        assert_eq!(words(fields), "a\nb c\nd\nE\nf");
        assert_eq!(words("keywords: a, b\ntags: c\ndescription: ''"), "a\nb\nc");
        assert_eq!(words("title: a"), "");
        let long = format!("description: {}", "ü".repeat(2 * MAX_SEARCH_WORDS));
        assert_eq!(words(&long).chars().count(), MAX_SEARCH_WORDS);
    }

    #[test]
    fn bad_yaml_names_its_line_in_the_file() {
        let error = split_front_matter("---\ntitle: ok\nmodule: \"unclosed\nx: 1\n---\n")
            .expect_err("an unclosed quote");
        assert!((3..=5).contains(&error.line), "{error}");
        let unclosed = split_front_matter("---\ntitle: a\n").expect_err("never closed");
        assert_eq!(unclosed.line, 1);
    }
}

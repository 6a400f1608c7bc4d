//! The arguments and results of all tools, from which their schemas are generated.

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use rmcp::schemars::{self, JsonSchema};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use answer::Outcome;
use store::catalog::{Freshness, IndexRow};

/// The arguments of `search`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub(super) struct SearchArguments {
    /// What to look for, in a reader's words: a question, an error message, the name of an option. 1 to 2,000 characters.
    #[schemars(required, with = "String")]
    pub(super) query: Option<String>,
    /// The version of the book to search. Without it, the one that the site shows first.
    pub(super) version: Option<String>,
    /// The locale to search, such as `en`. Without it, the site's own.
    pub(super) locale: Option<String>,
    /// The values of pages' facets to search, such as `plan:pro,language:go`. An unknown facet or value is an error that lists the known ones.
    pub(super) facets: Option<String>,
    /// How many sections to return, 1 to 20. Without it, 5.
    #[serde(default, deserialize_with = "crate::api::whole_number")]
    #[schemars(range(min = 1, max = 20))]
    pub(super) limit: Option<usize>,
}

/// The arguments of `fetch`.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct FetchArguments {
    /// The id of a section, a page or a chunk, as another tool returned it; or the address of a page; or `next` of a former fetch.
    #[schemars(required, with = "String")]
    pub(super) id: Option<String>,
}

/// The arguments of `ask`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub(super) struct AskArguments {
    /// The question, 1 to 2,000 characters. It must be understandable on its own: earlier questions are not remembered.
    #[schemars(required, with = "String")]
    pub(super) question: Option<String>,
    /// The version of the book to answer from. Without it, the one that the site shows first.
    pub(super) version: Option<String>,
    /// The locale to answer from, such as `en`. Without it, the site's own.
    pub(super) locale: Option<String>,
    /// The values of pages' facets to answer from, such as `plan:pro,language:go`. An unknown facet or value is an error that lists the known ones.
    pub(super) facets: Option<String>,
}

/// The arguments of `outline`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub(super) struct OutlineArguments {
    /// The id or address of a page or section to list the headings of, or a path to list the pages below, such as `/docs/guides`; or `next` of a
    /// former outline. Without it, all pages.
    pub(super) under: Option<String>,
    /// The version of the book. Without it, that of `under`, or the one that the site shows first.
    pub(super) version: Option<String>,
    /// The locale, such as `en`. Without it, that of `under`, or the site's own.
    pub(super) locale: Option<String>,
}

/// The arguments of `report`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub(super) struct ReportArguments {
    /// The question that was answered wrongly or not at all, 1 to 2,000 characters.
    #[schemars(required, with = "String")]
    pub(super) question: Option<String>,
    /// What is wrong or missing, and how you know, 1 to 2,000 characters. No secrets and nothing about the user.
    #[schemars(required, with = "String")]
    pub(super) problem: Option<String>,
    /// The `message_id` of the answer, if `ask` returned one.
    pub(super) message_id: Option<String>,
    /// The id or address of the page or section that is wrong, or where the answer is missing.
    pub(super) page: Option<String>,
}

/// The confirmation of a report.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Reported {
    /// True: the report is stored for the authors of the book.
    pub(super) received: bool,
}

/// When the index was made that a result is from.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(inline)]
pub(super) struct Index {
    /// The last change of a page, or the last comparison with all files of the book that left nothing to change. RFC 3339.
    updated_at: String,
    /// The commit that the book's repository was at then, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    commit: Option<String>,
}

impl Index {
    pub(super) fn of(index: &IndexRow) -> Option<Self> {
        let Freshness { updated_at, commit } = index.freshness()?;
        Some(Self { updated_at, commit })
    }
}

/// The matching sections, best first.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct Found {
    pub(super) results: Vec<FoundSection>,
    /// Why there are no results.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) message: Option<String>,
    /// When the index was made, and from which commit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) index: Option<Index>,
}

/// A matching section.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(inline)]
pub(super) struct FoundSection {
    /// The id for `fetch`, which returns the section with its subsections.
    pub(super) id: String,
    /// The id of the book, if the server has several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) book: Option<String>,
    /// The page's title and the section's heading.
    pub(super) title: String,
    /// The part of the section that matches; ends with `…` if it was cut.
    pub(super) text: String,
    /// The address to cite, with the heading's anchor.
    pub(super) url: String,
    /// The source file.
    pub(super) source: String,
    /// The lines of the source file: `first-last`.
    pub(super) lines: String,
    /// The tokens of the text.
    pub(super) tokens: usize,
    /// How well it matches, 0 to 1; of one book, scores can be compared.
    pub(super) score: f64,
}

/// The text of a section, a page or a chunk.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Fetched {
    pub(super) id: String,
    /// The id of the book, if the server has several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) book: Option<String>,
    /// The page's title, and the section's heading.
    pub(super) title: String,
    /// Markdown. Each heading is followed by its anchor: `## Heading {#anchor}`.
    pub(super) text: String,
    /// The address to cite.
    pub(super) url: String,
    /// The source file.
    pub(super) source: String,
    /// The lines of the source file that the text spans: `first-last`.
    pub(super) lines: String,
    /// The tokens of the whole text.
    pub(super) tokens: usize,
    /// The id to fetch the rest of the text; absent if this is all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) next: Option<String>,
    /// When the index was made, and from which commit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) index: Option<Index>,
}

/// An answer from the book.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Answered {
    /// The id of the book, if the server has several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) book: Option<String>,
    /// True if the book answers the question. If false, `answer` says so, perhaps with quotes of what comes closest: they may answer or not.
    pub(super) answerable: bool,
    /// `answered`, `uncertain` if the quotes may answer it, or `not_covered`.
    #[schemars(with = "String")]
    pub(super) outcome: Outcome,
    /// Markdown; `[1]` is the citation with this number.
    pub(super) answer: String,
    /// The answer's id for `report`; absent if questions are not logged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) message_id: Option<String>,
    /// The sections that the answer is taken from.
    pub(super) citations: Vec<Cited>,
    /// The sentences of a chat model that no cited section supports.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) unsupported: Vec<String>,
    /// The closest sections that are not cited.
    pub(super) nearest: Vec<Nearest>,
    /// When the index was made, and from which commit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) index: Option<Index>,
}

/// A section that an answer is taken from.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(inline)]
pub(super) struct Cited {
    /// The number of its marker in the answer.
    pub(super) n: usize,
    /// The id for `fetch`.
    pub(super) id: String,
    /// The page's title and the section's heading.
    pub(super) title: String,
    /// The beginning of the cited text, verbatim.
    pub(super) quote: String,
    /// The address to cite.
    pub(super) url: String,
    /// The source file.
    pub(super) source: String,
    /// The lines of the source file: `first-last`.
    pub(super) lines: String,
}

/// A page or section that comes close.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(inline)]
pub(super) struct Nearest {
    /// The id for `fetch`.
    pub(super) id: String,
    pub(super) title: String,
    pub(super) url: String,
    /// The words of the section that fit the question best; absent for a page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) text: Option<String>,
}

/// Pages and headings in the book's order.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Outline {
    /// The id of the book, if the server has several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) book: Option<String>,
    pub(super) entries: Vec<Entry>,
    /// The value of `under` for the rest; absent if this is all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) next: Option<String>,
    /// When the index was made, and from which commit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) index: Option<Index>,
}

/// A page or a heading.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(inline)]
pub(super) struct Entry {
    /// The id for `fetch`, which returns the page, or the section with its subsections.
    pub(super) id: String,
    pub(super) title: String,
    /// 1 for a page, 2 to 6 for the headings on it.
    pub(super) level: usize,
    /// The approximate number of tokens that `fetch` returns for it.
    pub(super) tokens: u64,
}

/// The books of a server that has several.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct BookList {
    pub(super) books: Vec<OneOfBooks>,
}

/// A book of several.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(inline)]
pub(super) struct OneOfBooks {
    /// The id, for the argument `books`.
    pub(super) id: String,
    pub(super) title: String,
    /// Where its pages are; absent if that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) url: Option<String>,
}

/// The tool that lists the books, and the argument that names some of them, on a server with several.
pub(super) const BOOKS: &str = "books";

/// The names of the tools, in listed order.
pub(super) const NAMES: [&str; 5] = ["search", "fetch", "ask", "outline", "report"];

/// Returns the tools, in the order of [`NAMES`], for a book with this title.
pub(super) fn tools(book: &str) -> Vec<Tool> {
    let descriptions = [
        format!(
            "Searches {book} and returns the sections that match, with text, address and lines. Use it before answering anything about \
             {book} from memory, and for names of options, functions and error messages."
        ),
        format!(
            "Returns the full text of a section, a page or a chunk of {book} as Markdown. Ids come from search, ask and outline; the \
             address of a page is an id as well. A long text comes in parts: fetch `next`."
        ),
        format!(
            "Answers a question from {book} alone, with citations. `answerable` is false if {book} does not cover the question: then tell \
             the user so instead of guessing."
        ),
        format!(
            "Lists the pages of {book}, or the headings of a page, with ids and token counts, to choose what to fetch."
        ),
        format!(
            "Tells the authors of {book} that an answer or a page is wrong, or that {book} does not say something it should. Use it once you \
             know better, for example from the code or from what happened. It changes no answer."
        ),
    ];
    let tools = [
        Tool::new(NAMES[0], "", empty())
            .with_input_schema::<SearchArguments>()
            .with_output_schema::<Found>(),
        Tool::new(NAMES[1], "", empty())
            .with_input_schema::<FetchArguments>()
            .with_output_schema::<Fetched>(),
        Tool::new(NAMES[2], "", empty())
            .with_input_schema::<AskArguments>()
            .with_output_schema::<Answered>(),
        Tool::new(NAMES[3], "", empty())
            .with_input_schema::<OutlineArguments>()
            .with_output_schema::<Outline>(),
        Tool::new(NAMES[4], "", empty())
            .with_input_schema::<ReportArguments>()
            .with_output_schema::<Reported>(),
    ];
    let titles = [
        "Search the docs",
        "Read a section or page",
        "Ask the docs",
        "List pages and headings",
        "Report a wrong or missing answer",
    ];
    let named = tools.into_iter().zip(titles).zip(descriptions);
    let tools = named.map(|((tool, title), description)| listed(tool, title, description));
    tools.collect()
}

/// Returns the tools for several books with these titles: those of one with an argument that names books, and one that lists them.
pub(super) fn tools_of_library(books: &str) -> Vec<Tool> {
    let mut tools = tools(books);
    let argument = json!({
        "type": "array",
        "items": {"type": "string"},
        "description": "The ids of the books to use. Without it, all public ones: a question is answered from the nearest.",
    });
    for tool in &mut tools {
        let schema = Arc::make_mut(&mut tool.input_schema);
        if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
            properties.insert(BOOKS.to_owned(), argument.clone());
        }
    }
    let list = Tool::new(BOOKS, "", empty())
        .with_input_schema::<NoArguments>()
        .with_output_schema::<BookList>();
    let description = "Lists the books with ids and titles, to name them in `books`.";
    tools.push(listed(list, "List the books", description.to_owned()));
    tools
}

/// The arguments of [`BOOKS`].
#[derive(Debug, Deserialize, JsonSchema)]
struct NoArguments {}

/// Returns a tool as it is listed.
fn listed(tool: Tool, title: &str, description: String) -> Tool {
    let annotations = annotations(&tool.name, title);
    let mut tool = tool.with_title(title).with_annotations(annotations);
    tool.input_schema = Arc::new(standard(&tool.input_schema));
    tool.output_schema = tool.output_schema.map(|schema| Arc::new(standard(&schema)));
    tool.description = Some(description.into());
    tool
}

/// Removes the formats of Rust's integers from a schema: no standard defines them, and validators warn of them.
fn standard(schema: &JsonObject) -> JsonObject {
    fn value(of: &Value) -> Value {
        match of {
            Value::Object(fields) => Value::Object(standard(fields)),
            Value::Array(values) => Value::Array(values.iter().map(value).collect()),
            other => other.clone(),
        }
    }
    schema
        .iter()
        .filter(|(name, of)| *name != "format" || !of.is_string())
        .map(|(name, of)| (name.clone(), value(of)))
        .collect()
}

fn empty() -> Arc<JsonObject> {
    Arc::default()
}

/// Returns the annotations of a tool, which accesses only the book. All but `report` only read.
fn annotations(name: &str, title: &str) -> ToolAnnotations {
    let reads_only = name != NAMES[4];
    ToolAnnotations::with_title(title)
        .read_only(reads_only)
        .destructive(false)
        .idempotent(reads_only)
        .open_world(false)
}

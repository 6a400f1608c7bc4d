//! Pages that docusaurus-plugin-openapi-docs generates, one for each operation of an API: what their components show, as Markdown.
//!
//! A component gets its properties as JSON in the page, or `require`s a file beside it; the front matter holds the operation again, so that file
//! is not read. Older versions of the plugin write each parameter and each field of a schema as a component of its own.

mod json;
mod lines;
mod operation;
mod schema;
#[cfg(test)]
mod tests;

use super::front_matter::FrontMatter;
use super::jsx::{Attribute, AttributeValue, Tag, attributes, only_string};

use json::Json;
use lines::Lines;
use operation::{Operation, PageOperation};
use schema::{Direction, Property};

/// The most Markdown that the components of one page may make, in bytes: a line of the page can stand for the whole operation, any number
/// of times.
const MAX_SHOWN_BYTES: usize = 5 * 1024 * 1024;

/// The most JSON of operations that is read for the components of one page, in bytes, for the same reason.
const MAX_READ_BYTES: usize = 64 * 1024 * 1024;

/// Where parameters may stand, in the order in which Docusaurus shows them, and its headings.
const PLACES: [(&str, &str); 4] = [
    ("path", "Path Parameters"),
    ("query", "Query Parameters"),
    ("header", "Header Parameters"),
    ("cookie", "Cookie Parameters"),
];

/// A generated page, as far as it was read.
pub(super) struct Generated {
    /// `None` if the front matter does not hold it.
    operation: Option<PageOperation>,
    /// The path and method of the callback that the components belong to.
    callback: Option<(String, String)>,
    /// True once the page showed its method and path. Versions without that give the responses no heading.
    shows_endpoint: bool,
    bytes_to_show: usize,
    bytes_to_read: usize,
}

/// What a component shows.
pub(super) struct Shown {
    /// Lines of Markdown.
    pub(super) lines: Vec<String>,
    /// False if it shows more than these lines.
    pub(super) is_whole: bool,
}

/// A value that a component is given.
enum Given {
    Known(Json),
    /// It stands in another file.
    Elsewhere,
    /// It is known when the page runs.
    Computed,
}

impl Generated {
    /// Reads the front matter of a page. `None` if no plugin generated the page.
    pub(super) fn of(front_matter: &FrontMatter) -> Option<Self> {
        let fields = &front_matter.other;
        let describes_schema = fields.get("schema").is_some_and(|schema| schema == true);
        (fields.contains_key("api") || describes_schema).then(|| Self {
            operation: PageOperation::of(front_matter),
            callback: None,
            shows_endpoint: false,
            bytes_to_show: MAX_SHOWN_BYTES,
            bytes_to_read: MAX_READ_BYTES,
        })
    }

    /// Returns what the component shows whose tag is `source`. `None` if the tag is not one of the plugin's components that show more than
    /// their content. `plain` makes Markdown without tags of Markdown with tags.
    pub(super) fn shown(
        &mut self,
        tag: &Tag<'_>,
        source: &str,
        plain: &mut dyn FnMut(&str) -> String,
    ) -> Option<Shown> {
        if tag.closing {
            return None;
        }
        let given = attributes(source);
        let mut lines = Lines::new(self.bytes_to_show, plain);
        match tag.name {
            "MethodEndpoint" => self.endpoint(&given, &mut lines),
            "ParamsDetails" => {
                let parameters = self.find(&given, "parameters", |one| &one.parameters);
                show(&mut lines, parameters, parameters_of);
            }
            "RequestSchema" => {
                let title = text_of(&given, "title").unwrap_or_else(|| "Body".to_owned());
                let body = self.find(&given, "body", |one| &one.request_body);
                show(&mut lines, body, |lines, body| {
                    request_body(lines, &title, body);
                });
            }
            "StatusCodes" => {
                self.responses_heading(&given, &mut lines);
                let responses = self.find(&given, "responses", |one| &one.responses);
                show(&mut lines, responses, status_codes);
            }
            "ApiTabs" => self.responses_heading(&given, &mut lines),
            "Schema" => show(&mut lines, value_of(&given, "schema"), |lines, schema| {
                lines.fields_of(0, schema, Direction::Response);
            }),
            "ParamsItem" => show(&mut lines, value_of(&given, "param"), parameter),
            "SchemaItem" if text_of(&given, "name").is_some() => schema_item(&mut lines, &given),
            "ResponseSamples" => {
                let language = text_of(&given, "language").unwrap_or_default();
                show(
                    &mut lines,
                    value_of(&given, "responseExample"),
                    |lines, code| {
                        lines.code(&language, code.text().unwrap_or_default());
                    },
                );
            }
            _ => return None,
        }
        let (shown, bytes_left) = lines.finish();
        self.bytes_to_show = bytes_left;
        Some(shown)
    }

    /// Shows the method and path. The components below that of a callback belong to it.
    fn endpoint(&mut self, given: &[Attribute<'_>], lines: &mut Lines<'_>) {
        self.shows_endpoint = true;
        let (Some(method), Some(path)) = (text_of(given, "method"), text_of(given, "path")) else {
            lines.is_whole = false;
            return;
        };
        lines.endpoint(&method, &path);
        let is_callback = text_of(given, "context").is_some_and(|context| context == "callback");
        self.callback = is_callback.then_some((path, method));
    }

    fn responses_heading(&self, given: &[Attribute<'_>], lines: &mut Lines<'_>) {
        let (label, id) = match self.callback {
            None => ("Responses", "responses"),
            Some(_) => ("Callbacks Responses", "callbacks-responses"),
        };
        let label = text_of(given, "label").unwrap_or_else(|| label.to_owned());
        let id = text_of(given, "id").unwrap_or_else(|| id.to_owned());
        lines.heading(2, Some(id).filter(|_| self.shows_endpoint), &label);
    }

    /// Returns what a component is given: in the page, else by the operation, or by the callback that the page is at.
    fn find(
        &mut self,
        given: &[Attribute<'_>],
        name: &str,
        of_operation: impl Fn(&Operation) -> &Json,
    ) -> Given {
        let known = value_of(given, name);
        let (Given::Elsewhere, Some(page)) = (&known, &self.operation) else {
            return known;
        };
        let Some(left) = self.bytes_to_read.checked_sub(page.bytes) else {
            return Given::Computed;
        };
        self.bytes_to_read = left;
        let operation = match &self.callback {
            None => Some(&page.operation),
            Some(callback) => page.operation.callbacks.get(callback),
        };
        operation.map_or(Given::Computed, |operation| {
            Given::Known(of_operation(operation).clone())
        })
    }
}

/// Shows a value, or says that it could not be read.
fn show(lines: &mut Lines<'_>, given: Given, show: impl FnOnce(&mut Lines<'_>, &Json)) {
    match given {
        Given::Known(Json::Null) => {}
        Given::Known(value) => show(lines, &value),
        Given::Elsewhere | Given::Computed => lines.is_whole = false,
    }
}

/// Returns the value of an attribute; [`Json::Null`] if it is not there.
fn value_of(given: &[Attribute<'_>], name: &str) -> Given {
    let requires = |expression: &str| expression.contains("require(");
    let found = given.iter().find(|attribute| attribute.name == name);
    match found.map(|attribute| attribute.value) {
        Some(AttributeValue::Quoted(text) | AttributeValue::Bare(text)) => {
            Given::Known(Json::Text(text.to_owned()))
        }
        Some(AttributeValue::Expression(expression)) => {
            let expression = expression.trim();
            if expression == "undefined" {
                return Given::Known(Json::Null);
            }
            match Json::parse(expression).or_else(|| only_string(expression).map(Json::Text)) {
                Some(value) => Given::Known(value),
                None if requires(expression) => Given::Elsewhere,
                None => Given::Computed,
            }
        }
        Some(AttributeValue::Absent) => Given::Known(Json::Null),
        None => {
            let mut spreads = given.iter().filter(|attribute| attribute.name.is_empty());
            match spreads.next().map(|spread| spread.value) {
                Some(AttributeValue::Expression(spread)) if requires(spread) => Given::Elsewhere,
                Some(_) => Given::Computed,
                None => Given::Known(Json::Null),
            }
        }
    }
}

/// Returns the value of an attribute that is a text.
fn text_of(given: &[Attribute<'_>], name: &str) -> Option<String> {
    match value_of(given, name) {
        Given::Known(value) => value.text().map(str::to_owned),
        _ => None,
    }
}

fn parameters_of(lines: &mut Lines<'_>, parameters: &Json) {
    for (place, heading) in PLACES {
        let mut here = parameters
            .items()
            .iter()
            .filter(|parameter| parameter.get("in").text() == Some(place))
            .peekable();
        if here.peek().is_some() {
            lines.heading(3, None, heading);
        }
        for one in here {
            parameter(lines, one);
        }
    }
}

fn parameter(lines: &mut Lines<'_>, parameter: &Json) {
    lines.property(
        0,
        &Property {
            name: parameter.get("name").text().unwrap_or_default(),
            schema: parameter.get("schema"),
            description: parameter.get("description").text(),
            example: parameter.get("example"),
            is_required: parameter.get("required").is_true(),
            is_deprecated: parameter.get("deprecated").is_true(),
        },
    );
}

fn request_body(lines: &mut Lines<'_>, title: &str, body: &Json) {
    let content = body.get("content");
    if content.fields().is_empty() {
        return;
    }
    lines.heading(3, None, title);
    let required = if body.get("required").is_true() {
        ", required"
    } else {
        ""
    };
    lines.markdown(0, body.get("description").text().unwrap_or_default());
    lines.content(content, required, Direction::Request);
}

fn status_codes(lines: &mut Lines<'_>, responses: &Json) {
    for (code, response) in responses.fields() {
        lines.status(code, response.get("description").text().unwrap_or_default());
        for (name, header) in response.get("headers").fields() {
            let schema = header.get("schema");
            let description = header.get("description").text();
            lines.property(
                0,
                &Property {
                    description,
                    ..Property::of(name, schema)
                },
            );
        }
        lines.content(response.get("content"), "", Direction::Response);
    }
}

/// Shows a field of a schema, as older versions write it: type and limits are texts.
fn schema_item(lines: &mut Lines<'_>, given: &[Attribute<'_>]) {
    let Given::Known(mut schema) = value_of(given, "schema") else {
        lines.is_whole = false;
        return;
    };
    if schema.is_null() {
        let text = |name| text_of(given, name).map_or(Json::Null, Json::Text);
        schema = Json::Fields(vec![
            ("type".to_owned(), text("schemaName")),
            ("description".to_owned(), text("schemaDescription")),
            ("default".to_owned(), text("defaultValue")),
        ]);
    }
    let name = text_of(given, "name").unwrap_or_default();
    let is_required = match value_of(given, "required") {
        Given::Known(required) => {
            let named = |one: &Json| one.text() == Some(&name);
            required.is_true() || required.items().iter().any(named)
        }
        _ => false,
    };
    lines.property(
        0,
        &Property {
            is_required,
            ..Property::of(&name, &schema)
        },
    );
}

//! Lists of parameters and of schema fields.

use std::collections::BTreeSet;

use super::json::Json;
use super::lines::{Lines, code, value};
use crate::lines::escaped;

/// Fields nested deeper are omitted.
const MAX_DEPTH: usize = 8;

/// Limits of a value: the schema's field, and the text before and after the value.
const LIMITS: [(&str, &str, &str); 8] = [
    ("minLength", ">= ", " characters"),
    ("maxLength", "<= ", " characters"),
    ("minimum", ">= ", ""),
    ("maximum", "<= ", ""),
    ("exclusiveMinimum", "> ", ""),
    ("exclusiveMaximum", "< ", ""),
    ("minItems", ">= ", ""),
    ("maxItems", "<= ", ""),
];

/// Whether a schema describes a request or a response; some fields occur in only one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    Request,
    Response,
}

pub(super) struct Property<'a> {
    pub(super) name: &'a str,
    pub(super) schema: &'a Json,
    pub(super) description: Option<&'a str>,
    pub(super) example: &'a Json,
    pub(super) is_required: bool,
    pub(super) is_deprecated: bool,
}

impl<'a> Property<'a> {
    /// Creates a property that is described by its schema alone.
    pub(super) fn new(name: &'a str, schema: &'a Json) -> Self {
        Self {
            name,
            schema,
            description: schema.get("description").text(),
            example: schema.get("example"),
            is_required: false,
            is_deprecated: schema.get("deprecated").is_true(),
        }
    }
}

impl Lines<'_> {
    /// Adds a parameter, header or field, without nested fields.
    pub(super) fn property(&mut self, depth: usize, property: &Property<'_>) {
        let schema = property.schema;
        let mut head = format!("{} {}", code(property.name), escaped(&type_name(schema)));
        let flags = [
            (schema.get("nullable").is_true(), ", nullable"),
            (property.is_required, ", required"),
            (property.is_deprecated, ", deprecated"),
        ];
        head.extend(
            flags
                .iter()
                .filter(|(is_set, _)| *is_set)
                .map(|(_, flag)| *flag),
        );
        let constant = labelled("Constant value", value(schema.get("const")));
        let default = match schema.get("items") {
            Json::Null => schema.get("default"),
            items => items.get("default"),
        };
        let after = vec![
            labelled("Default value", value(default)),
            labelled("Example", value(property.example)),
        ];
        let before = vec![head, possible_values(schema), constant];
        self.item(depth, before, property.description, after);
    }

    /// Adds the fields of a schema, including nested ones.
    pub(super) fn fields_of(&mut self, depth: usize, schema: &Json, direction: Direction) {
        if self.is_full() || depth > MAX_DEPTH {
            let has_fields = ["properties", "items", "allOf", "oneOf", "anyOf"]
                .iter()
                .any(|field| !schema.get(field).is_null());
            self.is_whole &= !has_fields;
            return;
        }
        for part in schema.get("allOf").items() {
            self.fields_of(depth, part, direction);
        }
        let hidden = match direction {
            Direction::Request => "readOnly",
            Direction::Response => "writeOnly",
        };
        let required = schema.get("required").items().iter();
        let required: BTreeSet<&str> = required.filter_map(Json::text).collect();
        for (name, field) in schema.get("properties").fields() {
            if !field.get(hidden).is_true() {
                let is_required = required.contains(name.as_str());
                let property = Property::new(name, field);
                self.property(
                    depth,
                    &Property {
                        is_required,
                        ..property
                    },
                );
                self.fields_of(depth + 1, field, direction);
            }
        }
        let additional = schema.get("additionalProperties");
        if !additional.fields().is_empty() {
            self.property(depth, &Property::new("property name*", additional));
            self.fields_of(depth + 1, additional, direction);
        }
        for kind in ["oneOf", "anyOf"] {
            for option in schema.get(kind).items() {
                let title = option.get("title").text();
                let name = title.map_or_else(|| type_name(option), str::to_owned);
                let head = format!("{kind}: {}", escaped(&name));
                self.item(
                    depth,
                    vec![head],
                    option.get("description").text(),
                    Vec::new(),
                );
                self.fields_of(depth + 1, option, direction);
            }
        }
        let items = schema.get("items");
        if !items.is_null() {
            self.fields_of(depth, items, direction);
        }
    }

    pub(super) fn content(&mut self, content: &Json, note: &str, direction: Direction) {
        for (media_type, media) in content.fields() {
            let schema = match media.get("schema") {
                Json::Null => media,
                schema => schema,
            };
            let name = escaped(&type_name(schema));
            self.paragraph(format!("{} {name}{note}", code(media_type)));
            self.markdown(0, schema.get("description").text().unwrap_or_default());
            self.fields_of(0, schema, direction);
        }
    }
}

fn labelled(label: &str, text: String) -> String {
    if text.is_empty() {
        return text;
    }
    format!("{label}: {text}")
}

fn possible_values(schema: &Json) -> String {
    let listed = schema.get("enum").items().iter();
    let of_items = schema.get("items").get("enum").items().iter();
    let mut values: Vec<String> = listed.chain(of_items).map(value).collect();
    for (field, before, after) in LIMITS {
        if let Json::Number(limit) = schema.get(field) {
            values.push(code(&format!("{before}{limit}{after}")));
        }
    }
    let pattern = value(schema.get("pattern"));
    if !pattern.is_empty() {
        values.push(format!("Value must match regular expression {pattern}"));
    }
    values.retain(|value| !value.is_empty());
    labelled("Possible values", values.join(", "))
}

/// Returns the type of a schema in the theme's notation: `string`, `integer<int64>`, `object[]`. For a recursive schema the plugin writes a text
/// instead.
fn type_name(schema: &Json) -> String {
    if let Some(circular) = schema.text() {
        return circular.to_owned();
    }
    let items = schema.get("items");
    if !items.is_null() {
        return format!("{}[]", type_name(items));
    }
    let types = schema.get("type");
    let names: Vec<&str> = types.items().iter().filter_map(Json::text).collect();
    let name = match types.text() {
        Some(name) => name.to_owned(),
        None => names.join(" | "),
    };
    match schema.get("format").text() {
        Some(format) if name.is_empty() => format.to_owned(),
        Some(format) => format!("{name}<{format}>"),
        None if !name.is_empty() => name,
        None if !schema.get("enum").is_null() => "string".to_owned(),
        None if schema.fields().is_empty() => "any".to_owned(),
        None => "object".to_owned(),
    }
}

//! The operation that a generated page describes, from its front matter.

use std::collections::BTreeMap;
use std::io::Read;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::read::ZlibDecoder;
use serde_json::Value;

use super::json::Json;
use crate::front_matter::FrontMatter;

/// The largest operation, in bytes of JSON: 5 MiB, as for a page. A few bytes of zlib can expand to any size.
const MAX_OPERATION_BYTES: u64 = 5 * 1024 * 1024;

/// An operation, or a callback request of one.
#[derive(Debug)]
pub(super) struct Operation {
    pub(super) parameters: Json,
    pub(super) request_body: Json,
    pub(super) responses: Json,
    pub(super) callbacks: BTreeMap<(String, String), Operation>,
}

#[derive(Debug)]
pub(super) struct PageOperation {
    pub(super) operation: Operation,
    pub(super) bytes: usize,
}

impl PageOperation {
    /// Returns the operation in a generated page's front matter: base64 of zlib-compressed JSON, or plain JSON. `None` if it is
    /// unreadable.
    pub(super) fn from_front_matter(front_matter: &FrontMatter) -> Option<Self> {
        let json = match front_matter.other.get("api")? {
            Value::String(packed) => inflate(packed)?,
            api => api.to_string(),
        };
        Some(Self {
            operation: Operation::of_json(Json::parse(&json)?),
            bytes: json.len(),
        })
    }
}

impl Operation {
    fn of_json(json: Json) -> Self {
        let mut operation = Self {
            parameters: Json::Null,
            request_body: Json::Null,
            responses: Json::Null,
            callbacks: BTreeMap::new(),
        };
        let Json::Fields(fields) = json else {
            return operation;
        };
        for (name, value) in fields {
            match name.as_str() {
                "parameters" => operation.parameters = value,
                "requestBody" => operation.request_body = value,
                "responses" => operation.responses = value,
                "callbacks" => operation.callbacks = callbacks(value),
                _ => {}
            }
        }
        operation
    }
}

fn callbacks(json: Json) -> BTreeMap<(String, String), Operation> {
    let paths = into_fields(json)
        .into_iter()
        .flat_map(|(_, paths)| into_fields(paths));
    let mut callbacks = BTreeMap::new();
    for (path, methods) in paths {
        for (method, operation) in into_fields(methods) {
            callbacks.insert((path.clone(), method), Operation::of_json(operation));
        }
    }
    callbacks
}

fn into_fields(json: Json) -> Vec<(String, Json)> {
    match json {
        Json::Fields(fields) => fields,
        _ => Vec::new(),
    }
}

fn inflate(packed: &str) -> Option<String> {
    let bytes = STANDARD.decode(packed.trim()).ok()?;
    let mut text = String::new();
    let mut decoder = ZlibDecoder::new(bytes.as_slice()).take(MAX_OPERATION_BYTES + 1);
    decoder.read_to_string(&mut text).ok()?;
    (text.len() as u64 <= MAX_OPERATION_BYTES).then_some(text)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::ZlibEncoder;

    use super::*;

    fn packed(text: &[u8]) -> FrontMatter {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(text).expect("memory has room");
        let bytes = encoder.finish().expect("memory has room");
        let api = Value::String(STANDARD.encode(bytes));
        FrontMatter {
            other: BTreeMap::from([("api".to_owned(), api)]),
            ..FrontMatter::default()
        }
    }

    #[test]
    fn an_operation_is_inflated_up_to_a_size() {
        let read = PageOperation::from_front_matter(&packed(
            br#"{"parameters":[{"name":"b"},{"name":"a"}]}"#,
        ));
        let names = read.expect("the operation is whole").operation.parameters;
        let names: Vec<_> = names
            .items()
            .iter()
            .map(|one| one.get("name").text())
            .collect();
        assert_eq!(names, [Some("b"), Some("a")]);
        let mut bomb = br#"{"parameters":["#.to_vec();
        bomb.resize(20 * 1024 * 1024, b' ');
        assert!(PageOperation::from_front_matter(&packed(&bomb)).is_none());
    }

    #[test]
    fn an_operation_that_cannot_be_read_is_none() {
        for api in ["", "eJy", "é", "YWJj"] {
            let front_matter = FrontMatter {
                other: BTreeMap::from([("api".to_owned(), Value::String(api.to_owned()))]),
                ..FrontMatter::default()
            };
            assert!(
                PageOperation::from_front_matter(&front_matter).is_none(),
                "{api}"
            );
        }
        let deep = "[".repeat(100_000);
        assert!(PageOperation::from_front_matter(&packed(deep.as_bytes())).is_none());
    }
}

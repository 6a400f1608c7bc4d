//! Functions that a model may call to look something up in the book before it writes.
//!
//! Both APIs use the same messages and descriptions: Cohere adopted `OpenAI`'s.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Prompt;

/// The most characters of an argument.
const MAX_ARGUMENT: usize = 500;
/// The most bytes of a call's arguments, with room for an argument in which each character is escaped, and for unknown ones.
const MAX_ARGUMENTS_BYTES: usize = 16 * MAX_ARGUMENT;
/// The arguments of a refused call.
const NO_ARGUMENTS: &str = "{}";

/// The functions that a model may call before it writes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Functions {
    /// How often the model may still call one.
    pub left: usize,
    /// The calls so far with their results, one list for each response of the model.
    pub rounds: Vec<Vec<Called>>,
}

/// A call as the model wrote it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FunctionCall {
    /// Connects the call with its result.
    pub id: String,
    /// The function's name.
    pub name: String,
    /// The arguments, as JSON.
    pub arguments: String,
}

/// A call with its result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Called {
    /// The call.
    pub call: FunctionCall,
    /// The text that the model gets.
    pub result: String,
}

impl Called {
    /// Creates a call that was refused. It goes back to the model without its arguments, which may be of any size and not even JSON.
    #[must_use]
    pub fn refused(call: FunctionCall, problem: String) -> Self {
        Self {
            call: FunctionCall {
                arguments: NO_ARGUMENTS.to_owned(),
                ..call
            },
            result: problem,
        }
    }
}

/// What a model wants to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lookup {
    /// Passages about these words.
    Search(String),
    /// The page of the passage with this number.
    PageOf(usize),
    /// The page at this path.
    PageAt(String),
}

impl FunctionCall {
    /// Returns what the model wants to read.
    ///
    /// # Errors
    /// A sentence for the model if the function or an argument is unknown.
    pub fn lookup(&self) -> Result<Lookup, String> {
        if self.arguments.len() > MAX_ARGUMENTS_BYTES {
            return Err("The arguments are too long. Nothing was looked up.".to_owned());
        }
        let (argument, lookup) = match self.name.as_str() {
            "search" => ("query", self.search()),
            "fetch" => ("page", self.fetch()),
            _ => return Err("There is no such function. Nothing was looked up.".to_owned()),
        };
        lookup.ok_or_else(|| {
            format!(
                "`{argument}` must be a text of 1 to {MAX_ARGUMENT} characters. Nothing was looked up."
            )
        })
    }

    /// Reads the arguments of `search`; `None` if they are invalid.
    fn search(&self) -> Option<Lookup> {
        #[derive(Deserialize)]
        struct Search {
            query: String,
        }
        let Search { query } = serde_json::from_str(&self.arguments).ok()?;
        checked(&query).map(Lookup::Search)
    }

    /// Reads the arguments of `fetch`; `None` if they are invalid.
    fn fetch(&self) -> Option<Lookup> {
        #[derive(Deserialize)]
        struct Fetch {
            page: Value,
        }
        let Fetch { page } = serde_json::from_str(&self.arguments).ok()?;
        let page = match page {
            Value::String(page) => checked(&page)?,
            Value::Number(page) => page.to_string(),
            _ => return None,
        };
        let number = page.trim_start_matches('[').trim_end_matches(']').parse();
        Some(number.map_or(Lookup::PageAt(page), Lookup::PageOf))
    }
}

/// Trims an argument; `None` if it is empty or too long.
fn checked(argument: &str) -> Option<String> {
    let argument = argument.trim();
    let is_valid = !argument.is_empty() && argument.chars().count() <= MAX_ARGUMENT;
    is_valid.then(|| argument.to_owned())
}

/// Returns the descriptions of the functions; `None` if the model was never given any.
pub(super) fn descriptions(prompt: &Prompt) -> Option<Value> {
    let functions = &prompt.functions;
    if functions.left == 0 && functions.rounds.is_empty() {
        return None;
    }
    Some(json!([
        description(
            "search",
            "Finds further passages of the book. Use other words than the question's: those that the book may use.",
            "query",
            "The words to search for, or a question, in the book's language",
        ),
        description(
            "fetch",
            "Reads on in the page of a passage, or reads a page that a passage links to.",
            "page",
            "The number of the passage, or the link's address",
        ),
    ]))
}

/// Describes a function with one argument, as both APIs expect it.
fn description(name: &str, description: &str, argument: &str, meaning: &str) -> Value {
    json!({"type": "function", "function": {
        "name": name,
        "description": description,
        "parameters": {
            "type": "object",
            "properties": {argument: {"type": "string", "description": meaning}},
            "required": [argument],
        },
    }})
}

/// A message to a model.
#[derive(Debug, Serialize)]
pub(super) struct Message<'a> {
    role: &'static str,
    content: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<&'a str>,
}

impl<'a> Message<'a> {
    fn new(role: &'static str, content: &'a str) -> Self {
        Self {
            role,
            content: Some(content),
            tool_calls: Vec::new(),
            tool_call_id: None,
        }
    }
}

/// Returns a prompt's messages: the rules, the question with its passages, and the calls with their results.
pub(super) fn messages(prompt: &Prompt) -> Vec<Message<'_>> {
    let mut messages = vec![
        Message::new("system", &prompt.system),
        Message::new("user", &prompt.user),
    ];
    for round in &prompt.functions.rounds {
        let calls = round.iter().map(|called| {
            let FunctionCall {
                id,
                name,
                arguments,
            } = &called.call;
            json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}})
        });
        messages.push(Message {
            role: "assistant",
            content: None,
            tool_calls: calls.collect(),
            tool_call_id: None,
        });
        messages.extend(round.iter().map(|called| Message {
            tool_call_id: Some(&called.call.id),
            ..Message::new("tool", &called.result)
        }));
    }
    messages
}

/// Joins the streamed parts of calls.
#[derive(Debug, Default)]
pub(super) struct CallReader {
    calls: Vec<(Option<usize>, FunctionCall)>,
}

/// A part of a call in a stream.
#[derive(Debug, Deserialize)]
pub(super) struct CallPart {
    /// Which call it belongs to; some servers leave it out or count from 0 in each part.
    index: Option<usize>,
    id: Option<String>,
    function: Option<FunctionPart>,
}

#[derive(Debug, Default, Deserialize)]
struct FunctionPart {
    name: Option<String>,
    arguments: Option<String>,
}

impl CallReader {
    /// Reads a part. One with a name begins a call, unless it repeats the id of the last one.
    pub(super) fn push(&mut self, part: CallPart) {
        let FunctionPart { name, arguments } = part.function.unwrap_or_default();
        let id = part.id.filter(|id| !id.is_empty());
        let last_id = self.calls.last().map(|(_, last)| &last.id);
        let repeats_last = id.is_some() && id.as_ref() == last_id;
        if let Some(name) = name.filter(|name| !name.is_empty() && !repeats_last) {
            let call = FunctionCall {
                id: id.unwrap_or_else(|| format!("call_{}", self.calls.len())),
                name,
                arguments: String::new(),
            };
            self.calls.push((part.index, call));
        }
        let call = self
            .calls
            .iter_mut()
            .rfind(|(index, _)| *index == part.index);
        if let Some((_, call)) = call {
            call.arguments.push_str(&arguments.unwrap_or_default());
        }
    }

    /// Returns the calls; `None` without any.
    pub(super) fn finish(self) -> Option<Vec<FunctionCall>> {
        let calls: Vec<_> = self.calls.into_iter().map(|(_, call)| call).collect();
        (!calls.is_empty()).then_some(calls)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(name: &str, arguments: &str) -> FunctionCall {
        FunctionCall {
            id: "a".to_owned(),
            name: name.to_owned(),
            arguments: arguments.to_owned(),
        }
    }

    #[test]
    fn a_call_names_words_a_passage_or_a_page() {
        let wanted = |name: &str, arguments: &str| call(name, arguments).lookup();
        let search = Lookup::Search("node names".to_owned());
        assert_eq!(wanted("search", r#"{"query": " node names "}"#), Ok(search));
        for page in [r#""3""#, r#""[3]""#, "3"] {
            let arguments = format!(r#"{{"page": {page}, "more": 1}}"#);
            assert_eq!(wanted("fetch", &arguments), Ok(Lookup::PageOf(3)));
        }
        let page = Lookup::PageAt("/docs/nodes".to_owned());
        assert_eq!(wanted("fetch", r#"{"page": "/docs/nodes"}"#), Ok(page));
    }

    #[test]
    fn a_call_that_names_nothing_is_told_why() {
        let long = format!(r#"{{"query": "{}"}}"#, "x".repeat(MAX_ARGUMENT + 1));
        let beside = format!(
            r#"{{"query": "nodes", "more": "{}"}}"#,
            "x".repeat(MAX_ARGUMENTS_BYTES)
        );
        for (name, arguments) in [
            ("search", beside.as_str()),
            ("search", ""),
            ("search", "{"),
            ("search", r#"{"query": " "}"#),
            ("search", r#"{"query": ["rm -rf"]}"#),
            ("search", &long),
            ("fetch", r#"{"page": null}"#),
            ("fetch", r#"{"query": "a"}"#),
            ("shell", r#"{"query": "a"}"#),
        ] {
            let told = call(name, arguments).lookup().unwrap_err();
            assert!(told.ends_with("Nothing was looked up."), "{told}");
            let prompt = Prompt {
                functions: Functions {
                    left: 1,
                    rounds: vec![vec![Called::refused(call(name, arguments), told)]],
                },
                ..Prompt::default()
            };
            let sent = json!(messages(&prompt)[2].tool_calls);
            assert_eq!(sent[0]["function"]["arguments"], "{}", "{arguments}");
        }
    }

    #[test]
    fn calls_are_read_from_the_parts_of_several_servers() {
        let read = |parts: &[Value]| {
            let mut reader = CallReader::default();
            for part in parts {
                reader.push(serde_json::from_value(part.clone()).unwrap());
            }
            let calls = reader.finish().unwrap_or_default();
            let pairs = calls.into_iter().map(|call| (call.id, call.arguments));
            pairs.collect::<Vec<_>>()
        };
        let part = |index: Value, id: Value, name: Value, arguments: &str| json!({"index": index, "id": id, "function": {"name": name, "arguments": arguments}});
        let null = || Value::Null;
        let pair = |id: &str, arguments: &str| (id.to_owned(), arguments.to_owned());
        // Interleaved, as `OpenAI` may send them.
        let calls = read(&[
            part(json!(0), json!("a"), json!("search"), ""),
            part(json!(1), json!("b"), json!("fetch"), "{"),
            part(json!(0), null(), null(), "{1"),
            part(json!(1), null(), null(), "}"),
            part(json!(0), null(), null(), "}"),
        ]);
        assert_eq!(calls, [pair("a", "{1}"), pair("b", "{}")]);
        // Whole calls, all with the first index and without ids.
        let whole = part(json!(0), null(), json!("search"), "{}");
        let calls = read(&[whole.clone(), whole]);
        assert_eq!(calls, [pair("call_0", "{}"), pair("call_1", "{}")]);
        // Id and name in every part, without an index.
        let calls = read(&[
            part(null(), json!("a"), json!("search"), "{"),
            part(null(), json!("a"), json!("search"), "}"),
        ]);
        assert_eq!(calls, [pair("a", "{}")]);
        // Arguments of no call.
        assert_eq!(read(&[part(json!(0), null(), null(), "{}")]), []);
    }
}

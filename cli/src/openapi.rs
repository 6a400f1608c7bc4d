//! Generates the API description (`docs/openapi.json`): routes are listed here, schemas are derived from the types.

use std::collections::BTreeMap;

use bookrag::api::{
    BooksData, ChatData, ChatRequest, Completion, CompletionRequest, Envelope, FeedbackRequest,
    ModelList, PageData, QuestionsData, Receipt, SearchData, SearchRequest,
};
use health::Health;
use serde_json::{Map, Value, json};
use utoipa::{PartialSchema, ToSchema};

/// Other paths of `/api/v1/chat`.
const CHAT_ALIASES: [&str; 2] = ["/api/query", "/api/chat"];

/// Returns the description as JSON of `OpenAPI` 3.1.
#[must_use]
pub fn document() -> Value {
    let mut shapes = Shapes::default();
    let chat = shapes.chat_request();
    let answer = shapes.enveloped::<ChatData>();
    let search = shapes.named::<SearchRequest>();
    let results = shapes.enveloped::<SearchData>();
    let feedback = shapes.named::<FeedbackRequest>();
    let health = shapes.enveloped::<Health>();
    let receipt = shapes.enveloped::<Receipt>();
    let failure = shapes.failure();
    let ok = |schema: &Value| json!({"description": "The request succeeded", "content": {"application/json": {"schema": schema}}});
    let answered = json!({
        "description": "The answer, or a refusal if the book does not cover the question. Server-sent events if `Accept` names `text/event-stream`",
        "headers": {"X-Conversation-Id": {
            "description": "The id of the conversation, sent before the first event. Present if the server stores conversations",
            "schema": {"type": "string", "format": "uuid"},
        }},
        "content": {
            "application/json": {"schema": answer},
            "text/event-stream": {"schema": {
                "type": "string",
                "description": "`token {token}` and `citation {…}` events, then one `done {…}` or `error {code, message}`. `progress {stage, sections}` comes first if a model takes more than two seconds to begin, `progress {stage, subject}` if it looks something up. Comment lines keep the connection open",
            }},
        },
    });
    let post = |id: &str, summary: &str, body: &Value, success: Value| {
        json!({"post": {
            "operationId": id,
            "summary": summary,
            "requestBody": {"required": true, "content": {"application/json": {"schema": body}}},
            "responses": responses(success, &failure),
        }})
    };
    let asked = post("chat", "Ask the book a question", &chat, answered.clone());
    let mut searched = post("search", "Search the book", &search, ok(&results));
    searched["get"] = json!({
        "operationId": "searchByUrl",
        "summary": "Search the book",
        "parameters": search_parameters(),
        "responses": responses_of_get(ok(&results), &failure),
    });
    let page = page_path(&shapes.enveloped::<PageData>(), &failure);
    let questions = questions_path(&ok(&shapes.enveloped::<QuestionsData>()), &failure);
    let books = books_path(ok(&shapes.enveloped::<BooksData>()), &failure);
    let healthy = health_path(ok(&health), &failure);
    let mut paths = Map::new();
    paths.insert("/api/v1/chat".to_owned(), asked);
    for (number, alias) in CHAT_ALIASES.into_iter().enumerate() {
        let id = format!("chatAlias{}", number + 1);
        let aliased = post(&id, "Alias of `/api/v1/chat`", &chat, answered.clone());
        paths.insert(alias.to_owned(), aliased);
    }
    paths.insert("/api/v1/ask".to_owned(), ask_path(&failure));
    paths.insert("/api/v1/search".to_owned(), searched);
    paths.insert("/api/v1/page".to_owned(), page);
    paths.insert("/api/v1/questions".to_owned(), questions);
    paths.insert("/api/v1/books".to_owned(), books);
    let summary = "Rate an answer";
    let judged = post("feedback", summary, &feedback, ok(&receipt));
    paths.insert("/api/v1/feedback".to_owned(), judged);
    paths.insert("/api/v1/conversations/{id}".to_owned(), json!({"delete": {
        "operationId": "deleteConversation",
        "summary": "Delete a stored conversation",
        "parameters": [
            {"name": "id", "in": "path", "required": true, "schema": {"type": "string", "format": "uuid"}},
            {"name": "X-Session-Id", "in": "header", "schema": {"type": "string", "maxLength": 200},
                "description": "The `session_id` that was sent with the questions of the conversation"},
        ],
        "responses": responses(ok(&receipt), &failure),
    }}));
    paths.insert("/api/v1/health".to_owned(), healthy);
    paths.extend(openai_paths(&mut shapes));
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "bookrag",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Answers questions from one Docusaurus book, and cites the heading and lines behind each claim. Every JSON response under `/api` has the same envelope: `success`, `data`, `error`, `meta`.",
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "paths": paths,
        "components": {
            "schemas": shapes.schemas,
            "securitySchemes": {"bearer": {
                "type": "http", "scheme": "bearer", "bearerFormat": "JWT",
                "description": "Required if the operator set BOOKRAG_AUTH_SECRET or BOOKRAG_AUTH_PUBLIC_KEY",
            }},
        },
        "security": [{}, {"bearer": []}],
    })
}

/// Describes chat completions, whose errors have a different schema.
fn openai_paths(shapes: &mut Shapes) -> Map<String, Value> {
    let (request, completion) = (
        shapes.named::<CompletionRequest>(),
        shapes.named::<Completion>(),
    );
    let models = shapes.named::<ModelList>();
    let failure = json!({
        "type": "object",
        "required": ["error"],
        "properties": {"error": {
            "type": "object",
            "required": ["message", "type", "param", "code"],
            "properties": {
                "message": {"type": "string"},
                "type": {"type": "string", "enum": ["invalid_request_error", "authentication_error", "rate_limit_error", "server_error"]},
                "param": {"type": ["string", "null"], "description": "The invalid field of the request"},
                "code": {"type": "string"},
            },
        }},
    });
    let failure = shapes.add("OpenAiError".to_owned(), failure);
    let completed = json!({
        "description": "The answer, or a refusal if the book does not cover the question. Server-sent events if `stream` is true",
        "content": {
            "application/json": {"schema": completion},
            "text/event-stream": {"schema": {
                "type": "string",
                "description": "`chat.completion.chunk` objects with the text, then the footnotes. The chunk with `finish_reason` holds `citations` and `outcome`. `[DONE]` ends the stream; if the answer breaks off, an `error` object comes instead",
            }},
        },
    });
    let listed = json!({"description": "The list of models", "content": {"application/json": {"schema": models}}});
    let paths = json!({
        "/v1/chat/completions": {"post": {
            "operationId": "createChatCompletion",
            "summary": "Ask the book a question (OpenAI-compatible)",
            "requestBody": {"required": true, "content": {"application/json": {"schema": request}}},
            "responses": responses(completed, &failure),
        }},
        "/v1/models": {"get": {
            "operationId": "listModels",
            "summary": "List the book as the only model (OpenAI-compatible)",
            "responses": responses_of_get(listed, &failure),
        }},
    });
    match paths {
        Value::Object(paths) => paths,
        _ => Map::new(),
    }
}

/// Describes pages, which are Markdown for clients that accept it.
fn page_path(page: &Value, failure: &Value) -> Value {
    let read = json!({
        "description": "The page or section. Text that readers of the site cannot see is left out",
        "headers": {
            "Vary": {"description": "Includes `accept`", "schema": {"type": "string"}},
            "Link": {"description": "With Markdown: the page on the site, `rel=\"canonical\"`", "schema": {"type": "string"}},
            "X-Robots-Tag": {"description": "With Markdown: `noindex`", "schema": {"type": "string"}},
        },
        "content": {
            "application/json": {"schema": page},
            "text/markdown": {"schema": {"type": "string", "description": "The text alone, if `Accept` names `text/markdown` and does not prefer JSON"}},
        },
    });
    json!({"get": {
        "operationId": "page",
        "summary": "Read a page or a section as Markdown",
        "parameters": [{
            "name": "url", "in": "query", "required": true, "schema": {"type": "string", "minLength": 1, "maxLength": 2000},
            "description": "The URL of a page, or its path such as `/docs/frost`; with an anchor, one section and those below it. The `url` of citations and search results works here",
        }],
        "responses": responses_of_get(read, failure),
    }})
}

fn questions_path(success: &Value, failure: &Value) -> Value {
    json!({"get": {
        "operationId": "questions",
        "summary": "List questions that a reader may ask",
        "parameters": [
            {"name": "page_url", "in": "query", "schema": {"type": "string", "maxLength": 2000},
                "description": "The URL or path of the page the reader is on, whose questions come first; it selects the locale and version"},
            {"name": "locale", "in": "query", "schema": {"type": "string"}, "description": "Questions of this locale, such as `en`"},
            {"name": "version", "in": "query", "schema": {"type": "string"},
                "description": "Questions of this version, such as `2.0`, or `api@2.0` for the docs plugin with the id `api`"},
            {"name": "limit", "in": "query", "schema": {"type": "integer", "minimum": 1, "maximum": 10},
                "description": "The number of questions, 4 by default"},
        ],
        "responses": responses(success.clone(), failure),
    }})
}

fn books_path(success: Value, failure: &Value) -> Value {
    json!({"get": {
        "operationId": "books",
        "summary": "List the books of a server that has several",
        "responses": responses(success, failure),
    }})
}

fn ask_path(failure: &Value) -> Value {
    let answer = json!({
        "description": "The answer with its sources as footnotes, and links to further sections",
        "headers": {"X-Robots-Tag": {"description": "`noindex`", "schema": {"type": "string"}}},
        "content": {"text/markdown": {"schema": {"type": "string"}}},
    });
    let text = json!({"type": "string", "maxLength": 2000});
    json!({"get": {
        "operationId": "ask",
        "summary": "Ask the book a question in an address; the answer is Markdown",
        "parameters": [
            {"name": "q", "in": "query", "required": true, "schema": {"type": "string", "minLength": 1, "maxLength": 2000}, "description": "The question"},
            {"name": "page_url", "in": "query", "schema": text,
                "description": "The URL or path of the page the reader is on; it selects the locale and version"},
            {"name": "locale", "in": "query", "schema": {"type": "string"}, "description": "Answer from this locale, such as `en`"},
            {"name": "version", "in": "query", "schema": {"type": "string"},
                "description": "Answer from this version, such as `2.0`, or `api@2.0` for the docs plugin with the id `api`"},
            facets_parameter(),
        ],
        "responses": responses_of_get(answer, failure),
    }})
}

/// Describes health. Its 503 has the same schema as its success.
fn health_path(success: Value, failure: &Value) -> Value {
    let schema = success["content"]["application/json"]["schema"].clone();
    json!({"get": {
        "operationId": "health",
        "summary": "Check that the service answers, and with `deep=true` its stores, models and index",
        "security": [],
        "parameters": [
            {"name": "deep", "in": "query", "schema": {"type": "boolean", "default": false},
                "description": "True to query the stores and models. By default they are not queried, so that an idle database can sleep; a component is then `unchecked` unless it was checked within the last minute"},
        ],
        "responses": {
            "200": success,
            "400": {"description": "`deep` is not a boolean", "content": {"application/json": {"schema": failure}}},
            "403": {"description": FOREIGN_PAGE, "content": {"application/json": {"schema": failure}}},
            "503": {"description": "The service cannot answer questions", "content": {"application/json": {"schema": schema}}},
        },
    }})
}

const FOREIGN_PAGE: &str = "A page that may not call the API caused the request";

/// Describes a success and every error of a `GET`.
fn responses_of_get(success: Value, failure: &Value) -> Value {
    let mut responses = responses(success, failure);
    responses["403"] =
        json!({"description": FOREIGN_PAGE, "content": {"application/json": {"schema": failure}}});
    responses
}

/// Describes a success and every error of a request.
fn responses(success: Value, failure: &Value) -> Value {
    let failed = |description: &str| json!({"description": description, "content": {"application/json": {"schema": failure}}});
    let wait = json!({"Retry-After": {"description": "Seconds to wait before the next request", "schema": {"type": "integer", "minimum": 1}}});
    let later = |description: &str| {
        let mut response = failed(description);
        response["headers"] = wait.clone();
        response
    };
    json!({
        "200": success,
        "400": failed("The request is invalid; `error.field` names the field"),
        "401": failed("The bearer token is missing or invalid"),
        "404": failed("The resource does not exist"),
        "405": failed("The route does not support this method"),
        "413": failed("The body is larger than 64 KiB"),
        "415": failed("The Content-Type is not application/json"),
        "429": later("The client exceeded its rate limit"),
        "500": failed("Internal error"),
        "503": later("A dependency is unavailable, or the server is overloaded"),
    })
}

fn search_parameters() -> Value {
    let text = |most: u32| json!({"type": "string", "maxLength": most});
    let number = |most: u32| json!({"type": "integer", "minimum": 1, "maximum": most});
    json!([
        {"name": "q", "in": "query", "required": true, "schema": {"type": "string", "minLength": 1, "maxLength": 2000},
            "description": "The text to search for"},
        {"name": "top_k", "in": "query", "schema": number(20), "description": "The number of results, 5 by default"},
        {"name": "page_url", "in": "query", "schema": text(2000),
            "description": "The URL or path of the page the reader is on; it selects the locale and version"},
        {"name": "hardware_tier", "in": "query", "schema": number(4),
            "description": "The reader's hardware tier; sections that need a higher one are left out"},
        {"name": "locale", "in": "query", "schema": {"type": "string"}, "description": "Search this locale, such as `en`"},
        {"name": "version", "in": "query", "schema": {"type": "string"},
            "description": "Search this version, such as `2.0`, or `api@2.0` for the docs plugin with the id `api`"},
        {
            "name": "kind",
            "in": "query",
            "explode": false,
            "schema": {"type": "array", "items": {"type": "string", "enum": ["docs", "blog", "page"]}},
            "description": "Search pages of these kinds only, separated by commas",
        },
        facets_parameter(),
    ])
}

fn facets_parameter() -> Value {
    json!({"name": "facets", "in": "query", "schema": {"type": "string"},
        "description": "Facets that the site declares, separated by commas: `plan:pro,language:go`"})
}

/// Schemas by type name.
#[derive(Default)]
struct Shapes {
    schemas: BTreeMap<String, Value>,
}

impl Shapes {
    /// Adds the schemas of a type and its parts, and returns a reference.
    fn named<T: ToSchema>(&mut self) -> Value {
        let mut parts = Vec::new();
        T::schemas(&mut parts);
        for (name, schema) in parts {
            self.schemas.insert(name, json!(schema));
        }
        self.add(T::name().into_owned(), json!(T::schema()))
    }

    /// Adds a type's envelope under a name of its own, and returns a reference.
    fn enveloped<T: ToSchema>(&mut self) -> Value {
        let mut parts = Vec::new();
        Envelope::<T>::schemas(&mut parts);
        for (name, schema) in parts {
            self.schemas.insert(name, json!(schema));
        }
        self.named::<T>();
        let name = format!("{}Envelope", T::name());
        self.add(name, json!(Envelope::<T>::schema()))
    }

    /// Adds the envelope of an error, which has no data.
    fn failure(&mut self) -> Value {
        let mut schema = json!(Envelope::<Receipt>::schema());
        schema["properties"]["data"] = json!({"type": "null"});
        schema["properties"]["error"] = json!({"$ref": "#/components/schemas/ErrorBody"});
        schema["required"] = json!(["success", "error", "meta"]);
        self.add("ErrorEnvelope".to_owned(), schema)
    }

    /// Adds the question, and which mode requires a selection: derived schemas cannot express conditions.
    fn chat_request(&mut self) -> Value {
        let reference = self.named::<ChatRequest>();
        let request = self.schemas.get_mut(&*ChatRequest::name());
        let request = request.expect("the shape was just added");
        request["if"] =
            json!({"properties": {"mode": {"const": "selected_text"}}, "required": ["mode"]});
        request["then"] = json!({
            "properties": {"selected_text": {"type": "string", "pattern": "\\S"}},
            "required": ["selected_text"],
        });
        reference
    }

    fn add(&mut self, name: String, schema: Value) -> Value {
        let reference = json!({"$ref": format!("#/components/schemas/{name}")});
        self.schemas.insert(name, schema);
        reference
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// If set, the test writes the file instead of comparing it.
    const UPDATE: &str = "BOOKRAG_TEST_UPDATE";

    #[test]
    fn the_description_that_is_checked_in_is_the_one_the_types_make() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/openapi.json");
        let made = serde_json::to_string_pretty(&document()).expect("JSON") + "\n";
        if std::env::var_os(UPDATE).is_some() {
            std::fs::write(&file, &made).expect("docs/openapi.json is written");
        }
        let written = std::fs::read_to_string(&file).expect("docs/openapi.json is there");
        assert!(
            made == written,
            "docs/openapi.json is not what the types make; {UPDATE}=1 cargo test -p bookrag-cli --lib openapi writes it"
        );
    }

    #[test]
    fn every_shape_that_is_named_is_there() {
        let document = document();
        let text = document.to_string();
        let names = text.split("#/components/schemas/").skip(1);
        let mut count = 0;
        for name in names.map(|rest| rest.split('"').next().unwrap_or_default()) {
            assert!(
                document["components"]["schemas"][name].is_object(),
                "{name}"
            );
            count += 1;
        }
        assert!(count > 10, "{count}");
    }
}

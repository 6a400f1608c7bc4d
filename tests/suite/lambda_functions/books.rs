//! A deployment of several books: ingest, query and search with a database, a folder and collections for each.

use std::sync::Arc;
use std::time::Duration;

use bookrag::config::{BookSettings, Config, Environment};
use bookrag::context::{delete_book, postgres_catalog};
use bookrag_tests::{
    backends::Backends,
    events::{Change, RestRequest, Sender, s3_notification, sqs_batch_of_text},
    moto::Moto,
};
use serde_json::{Value, json};

use super::{Lambda, assert_failure};

const BUCKET: &str = "books";
const BOOKS: &str =
    "garden https://garden.example, kitchen https://kitchen.example, cellar private";
const SECRET: &str = "a secret of thirty-two bytes or more, at least";

/// Words that only one of the books has.
const WORDS: [(&str, &str); 3] = [
    ("garden", "wrench"),
    ("kitchen", "dough"),
    ("cellar", "barrel"),
];

/// The servers of a deployment with three books, of which the bucket has the files.
struct World {
    backends: Backends,
    moto: Arc<Moto>,
}

impl World {
    async fn start(database: &str) -> Self {
        let world = Self {
            backends: Backends::start(database).await,
            moto: Arc::new(Moto::start().await),
        };
        world.moto.create_bucket(BUCKET).await;
        for (path, text) in [
            (
                "garden/docs/wheels.md",
                "# Wheels\n\nTighten the wheels with the blue wrench.\n",
            ),
            (
                "kitchen/docs/bread.md",
                "# Bread\n\nLet the dough rise for two hours.\n",
            ),
            (
                "cellar/docs/wine.md",
                "# Wine\n\nThe barrel of wine is tapped in autumn.\n",
            ),
        ] {
            world.put(path, text).await;
        }
        world
    }

    async fn put(&self, path: &str, text: &str) {
        self.moto.put(BUCKET, &format!("site/{path}"), text).await;
    }

    fn environment(&self) -> Vec<(&'static str, String)> {
        let mut environment = self.backends.ingest_environment();
        environment.extend(self.moto.environment());
        environment.retain(|(name, _)| *name != "BOOKRAG_SITE");
        environment.extend([
            ("BOOKRAG_SOURCE", format!("s3://{BUCKET}/site/")),
            ("BOOKRAG_BOOKS", BOOKS.to_owned()),
            ("BOOKRAG_AUTH_SECRET", SECRET.to_owned()),
        ]);
        environment
    }

    /// Starts a function; as in a deployment, ingest does not know of the sign-in.
    async fn start_function(&self, name: &str) -> Lambda {
        let mut environment = self.environment();
        environment.retain(|(variable, _)| name != "ingest" || *variable != "BOOKRAG_AUTH_SECRET");
        Lambda::start(name, &environment).await
    }
}

async fn ask(query: &Lambda, path: &str, body: Value) -> Value {
    let response = query.send(RestRequest::post_json(path, &body)).await;
    assert_eq!(response.status, 200, "{}", response.json());
    response.json()["data"].clone()
}

/// Returns a token that is signed with [`SECRET`] by HMAC-SHA-256 and valid until 2100: `{"alg":"HS256","typ":"JWT"}` and `{"exp":4102444800}`.
fn token() -> String {
    let parts = [
        "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9",
        "eyJleHAiOjQxMDI0NDQ4MDB9",
        "riYKgLc9yKFJEFyCwbarJEucJFt4oq4r5fvuysqIOt8",
    ];
    format!("Bearer {}", parts.join("."))
}

#[tokio::test]
async fn books_of_a_deployment_are_filled_asked_and_kept_apart() {
    let world = World::start("lambda_books").await;
    let ingest = world.start_function("ingest").await;
    // Creates the databases.
    let prepared = ingest
        .invoke(json!({ "command": "prepare" }))
        .await
        .payload();
    for (book, _) in WORDS {
        assert!(prepared[book]["schema_version"].is_u64(), "{prepared}");
    }
    let reconciled = ingest
        .invoke(json!({ "command": "reconcile" }))
        .await
        .payload();
    for (book, _) in WORDS {
        assert_eq!(reconciled[book]["files_changed"], 1, "{reconciled}");
    }
    let one = json!({ "command": "status", "book": "kitchen" });
    assert_eq!(ingest.invoke(one).await.payload()["documents"], 1);

    // An event concerns the book whose folder has the file.
    world
        .put(
            "kitchen/docs/oven.md",
            "# Oven\n\nThe oven is heated for an hour.\n",
        )
        .await;
    let key = "site/kitchen/docs/oven.md";
    let event = s3_notification(Sender::S3, Change::Created, BUCKET, &[key]);
    let batch = sqs_batch_of_text(&[event.to_string(), "not JSON".to_owned()]);
    let failed = ingest.invoke(batch).await.payload();
    assert_eq!(
        failed["batchItemFailures"].as_array().unwrap().len(),
        1,
        "{failed}"
    );
    let counted = |book: &str| json!({ "command": "status", "book": book });
    assert_eq!(
        ingest.invoke(counted("kitchen")).await.payload()["documents"],
        2
    );
    assert_eq!(
        ingest.invoke(counted("garden")).await.payload()["documents"],
        1
    );

    let query = world.start_function("query").await;
    for (question, book, page) in [
        (
            "How are the wheels tightened with the wrench?",
            "garden",
            "https://garden.example/docs/wheels",
        ),
        (
            "How long does the dough rise?",
            "kitchen",
            "https://kitchen.example/docs/bread",
        ),
    ] {
        let data = ask(&query, "/api/v1/chat", json!({ "query": question })).await;
        assert_eq!(data["book"]["id"], book, "{data}");
        let cited = data["citations"][0]["url"].as_str().unwrap();
        assert!(cited.starts_with(page), "{data}");
    }
    for (book, own) in &WORDS[..2] {
        for (_, word) in WORDS.iter().filter(|(_, word)| word != own) {
            let scoped = ask(
                &query,
                &format!("/books/{book}/api/v1/chat"),
                json!({ "query": word }),
            )
            .await;
            assert!(
                !scoped["answer"].as_str().unwrap().contains(word),
                "{scoped}"
            );
            assert_eq!(scoped["book"], Value::Null);
        }
    }
}

#[tokio::test]
async fn a_private_book_does_not_exist_without_a_token() {
    let world = World::start("lambda_books_private").await;
    let ingest = world.start_function("ingest").await;
    for command in ["prepare", "reconcile"] {
        let done = ingest.invoke(json!({ "command": command })).await;
        assert!(done.payload().is_object(), "{command}");
    }
    let (query, search) = (
        world.start_function("query").await,
        world.start_function("search").await,
    );
    let question = json!({ "query": "When is the barrel of wine tapped?" });
    let data = ask(&query, "/api/v1/chat", question.clone()).await;
    assert_ne!(data["book"]["id"], "cellar", "{data}");
    assert!(!data.to_string().contains("barrel of wine"), "{data}");
    let found = search
        .send(RestRequest::post_json("/api/v1/search", &question))
        .await;
    assert!(!found.json().to_string().contains("cellar"));
    let listed = search
        .send(RestRequest::new("GET", "/api/v1/books"))
        .await
        .json();
    assert_eq!(
        listed["data"]["books"].as_array().unwrap().len(),
        2,
        "{listed}"
    );

    // It is refused like a book that does not exist, whatever is asked of it.
    for path in [
        "/api/v1/chat",
        "/mcp",
        "/v1/chat/completions",
        "/api/v1/feedback",
    ] {
        let mut refusals = Vec::new();
        for book in ["cellar", "nothing"] {
            let request = RestRequest::post_json(&format!("/books/{book}{path}"), &question);
            let response = query.send(request).await;
            assert_failure(&response, 404, "not_found", None);
            refusals.push(response.json()["error"].to_string().replace(book, "BOOK"));
        }
        assert_eq!(refusals[0], refusals[1]);
    }
    // Programs are told where to sign in, for each id alike.
    let issuer = ("BOOKRAG_AUTH_ISSUER", "https://sign-in.example".to_owned());
    let mut environment = world.environment();
    environment.push(issuer);
    let well_known = "/.well-known/oauth-protected-resource";
    let base = "https://a1b2c3d4e5.execute-api.eu-central-1.amazonaws.com/dev";
    let told = Lambda::start("query", &environment).await;
    let metadata = Lambda::start("search", &environment).await;
    for book in ["cellar", "nothing"] {
        let path = format!("/books/{book}/mcp");
        let refused = told.send(RestRequest::post_json(&path, &question)).await;
        assert_failure(&refused, 401, "unauthorized", None);
        let challenge = format!("Bearer resource_metadata=\"{base}{well_known}{path}\"");
        assert_eq!(refused.header("www-authenticate"), Some(&*challenge));
        let request = RestRequest::new("GET", &format!("{well_known}{path}"));
        let metadata = metadata.send(request).await.json();
        assert_eq!(metadata["resource"], format!("{base}{path}"), "{metadata}");
        assert_eq!(
            metadata["authorization_servers"][0],
            "https://sign-in.example"
        );
    }

    let named = json!({ "query": question["query"], "books": ["cellar"] });
    let refused = query
        .send(RestRequest::post_json("/api/v1/chat", &named))
        .await;
    assert_failure(&refused, 400, "invalid_request", Some("books"));

    let with_token = |request: RestRequest| request.header("Authorization", &token());
    let request = RestRequest::post_json("/books/cellar/api/v1/chat", &question);
    let answer = query.send(with_token(request)).await.json();
    assert!(
        answer["data"]["answer"]
            .as_str()
            .unwrap()
            .contains("autumn"),
        "{answer}"
    );
    let listed = search
        .send(with_token(RestRequest::new("GET", "/api/v1/books")))
        .await
        .json();
    assert_eq!(
        listed["data"]["books"].as_array().unwrap().len(),
        3,
        "{listed}"
    );
}

#[tokio::test]
async fn a_deleted_book_leaves_nothing_and_the_others_alone() {
    let world = World::start("lambda_books_deleted").await;
    let ingest = world.start_function("ingest").await;
    for command in ["prepare", "reconcile"] {
        let done = ingest.invoke(json!({ "command": command })).await;
        assert!(done.payload().is_object(), "{command}");
    }
    let query = world.start_function("query").await;
    let of_cellar = RestRequest::post_json(
        "/books/cellar/api/v1/chat",
        &json!({ "query": "When is the barrel of wine tapped?" }),
    );
    let answer = query
        .send(of_cellar.header("Authorization", &token()))
        .await;
    assert_eq!(answer.status, 200, "{}", answer.json());

    let variables = world.environment().into_iter();
    let variables = variables.map(|(name, value)| (name.to_owned(), value));
    let config = Config::read(Environment::Local, &variables.collect()).unwrap();
    let of_book = |id: &str| {
        config.of_book(&BookSettings {
            id: id.parse().unwrap(),
            origins: Vec::new(),
            is_private: false,
        })
    };
    let collection_of = async |id: &str| {
        let book = of_book(id);
        let url = book.database_url.clone().unwrap();
        let catalog = postgres_catalog(&book, &url, Duration::from_secs(5)).unwrap();
        catalog.live_index().await.unwrap().unwrap().collection
    };
    let index = &world.backends.index;
    let [of_cellar, of_kitchen, of_garden] = [
        collection_of("cellar").await,
        collection_of("kitchen").await,
        collection_of("garden").await,
    ];
    // A database of the same name that is not the book's: another program's, and another deployment's.
    let name = world.backends.database_url().rsplit('/').next().unwrap();
    let create = format!("CREATE DATABASE {name}_foreign");
    world.backends.execute(&create).await;
    let mut moved = of_book("cellar");
    moved.collection = "another_deployment_cellar".to_owned();
    for book in [of_book("foreign"), moved] {
        let refused = delete_book(&book).await;
        assert!(refused.is_err(), "{refused:?}");
    }
    assert!(index.has_collection(&of_cellar).await.unwrap());

    // As after an interruption: the collection is gone, and the functions still use the database.
    index.drop_collection(&of_cellar).await.unwrap();
    let deleted = delete_book(&of_book("cellar")).await.unwrap();
    assert!(deleted.database.unwrap().ends_with("_cellar"));
    assert!(deleted.collections.is_empty());
    assert_eq!(
        delete_book(&of_book("cellar")).await.unwrap(),
        bookrag::context::DeletedBook::default()
    );

    let deleted = delete_book(&of_book("kitchen")).await.unwrap();
    assert_eq!(deleted.collections, [of_kitchen.as_str()]);
    assert!(deleted.database.unwrap().ends_with("_kitchen"));
    assert!(!index.has_collection(&of_kitchen).await.unwrap());

    assert!(index.has_collection(&of_garden).await.unwrap());
    let status = json!({ "command": "status", "book": "garden" });
    assert_eq!(ingest.invoke(status).await.payload()["documents"], 1);
}

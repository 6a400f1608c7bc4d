//! Direct events and commands, without a queue.

use std::time::Duration;

use bookrag_tests::{
    backends::Backends,
    chat_model::{API_KEY, ChatModel, Reply},
    events::{Change, event_bridge},
};
use serde_json::json;

use super::{BUCKET, World};
use crate::lambda_functions::Lambda;

#[tokio::test]
async fn events_without_a_queue_converge_their_object() {
    let world = World::start("lambda_ingest_events").await;
    world.put("docs/a.md", "# A\n\nApples.\n").await;
    world.put("docs/b.md", "# B\n\nBeets.\n").await;
    world.converge(Change::Created, "docs/a.md").await;
    let event = event_bridge(Change::Created, BUCKET, "site/docs/b.md");
    assert_eq!(
        world.lambda.invoke(event).await.payload(),
        json!({ "files": 1 })
    );
    assert_eq!(world.sources().await, ["docs/a.md", "docs/b.md"]);

    // The event only names the file; the kind of change it reports is ignored.
    world.put("docs/a.md", "# A\n\nApricots.\n").await;
    world.converge(Change::Removed, "docs/a.md").await;
    assert!(world.text("docs/a.md").await.contains("Apricots"));
    world.delete("docs/a.md").await;
    world.converge(Change::Created, "docs/a.md").await;
    assert_eq!(world.sources().await, ["docs/b.md"]);
    world.delete("docs/b.md").await;
    let event = event_bridge(Change::Marked, BUCKET, "site/docs/b.md");
    assert_eq!(
        world.lambda.invoke(event).await.payload(),
        json!({ "files": 1 })
    );
    assert_eq!(world.sources().await, Vec::<String>::new());
    let status = world
        .lambda
        .invoke(json!({ "command": "status" }))
        .await
        .payload();
    assert_eq!(
        (&status["documents"], &status["index"]["chunks"]),
        (&json!(0), &json!(0))
    );
}

#[tokio::test]
async fn a_bucket_that_mirrors_a_repository_is_read_from_the_site_in_it() {
    let world = World::start("lambda_ingest_beside").await;
    let config = "module.exports = {presets: [['classic', {docs: {path: '../docs'}}]]}";
    world.put("website/docusaurus.config.js", config).await;
    world
        .converge(Change::Created, "website/docusaurus.config.js")
        .await;
    assert_eq!(world.sources().await, Vec::<String>::new());
    let page = "import Part from '../shared/_part.mdx'\n\n# A\n\n<Part/>\n";
    world.put("docs/a.mdx", page).await;
    world.put("shared/_part.mdx", "Apples.\n").await;
    world.put("website/blog/2024-05-03-b.md", "# B\n").await;
    world.converge(Change::Created, "docs/a.mdx").await;
    world
        .converge(Change::Created, "website/blog/2024-05-03-b.md")
        .await;
    let sources = ["../docs/a.mdx", "blog/2024-05-03-b.md"];
    assert_eq!(world.sources().await, sources);
    world.put("shared/_part.mdx", "Apricots.\n").await;
    world.converge(Change::Created, "shared/_part.mdx").await;
    assert!(world.text("../docs/a.mdx").await.contains("Apricots"));
    world.delete("docs/a.mdx").await;
    world.converge(Change::Removed, "docs/a.mdx").await;
    assert_eq!(world.sources().await, ["blog/2024-05-03-b.md"]);
}

#[tokio::test]
async fn other_files_converge_the_pages_they_concern() {
    let world = World::start("lambda_ingest_inputs").await;
    let page = "import Part from './_part.mdx';\n\n# Lesson\n\nText.\n\n<Part />\n";
    let translation = "i18n/ur/docusaurus-plugin-content-docs/current/lesson.mdx";
    world
        .put("bookrag.toml", "base_url = '/'\nlocales = ['en', 'ur']\n")
        .await;
    world.put("docs/lesson.mdx", page).await;
    world.put("docs/_part.mdx", "Wear gloves.\n").await;
    world.put("docs/other.md", "# Other\n\nText.\n").await;
    world.put(translation, "# Sabaq\n\nMatn.\n").await;
    let report = world
        .lambda
        .invoke(json!({ "command": "reconcile" }))
        .await
        .payload();
    assert_eq!(report["files_changed"], 3, "{report}");
    assert!(world.text("docs/lesson.mdx").await.contains("gloves"));

    world.put("docs/_part.mdx", "Wear goggles.\n").await;
    world.converge(Change::Created, "docs/_part.mdx").await;
    let text = world.text("docs/lesson.mdx").await;
    assert!(
        text.contains("goggles") && !text.contains("gloves"),
        "{text}"
    );

    // Docusaurus builds no page from a translation whose original is deleted.
    world.delete("docs/lesson.mdx").await;
    world.converge(Change::Removed, "docs/lesson.mdx").await;
    assert_eq!(world.sources().await, ["docs/other.md"]);
    world.put("docs/lesson.mdx", page).await;
    world.converge(Change::Created, "docs/lesson.mdx").await;
    assert_eq!(
        world.sources().await,
        ["docs/lesson.mdx", "docs/other.md", translation]
    );

    world
        .put(
            "bookrag.toml",
            "base_url = '/book/'\nexclude = ['other.md', '_*.mdx']\n",
        )
        .await;
    world.converge(Change::Created, "bookrag.toml").await;
    assert_eq!(world.sources().await, ["docs/lesson.mdx"]);
    let url = world.documents().await[0].row.url.clone();
    assert_eq!(url, "/book/docs/lesson");
    let index = world.backends.catalog.live_index().await.unwrap().unwrap();
    assert_eq!(index.site.base_url, "/book/");
    assert!(world.lambda.function.logs().contains("bookrag.toml"));
}

#[tokio::test]
async fn a_file_of_questions_converges_its_page() {
    let world = World::start("lambda_ingest_questions").await;
    world.put("bookrag.toml", "base_url = '/'\n").await;
    world.converge(Change::Created, "bookrag.toml").await;
    world.put("docs/a.md", "# A\n\nText.\n").await;
    world.converge(Change::Created, "docs/a.md").await;
    let without = world.payload_hashes("docs/a.md").await;
    let questions = "bookrag.questions/docs/a.md.txt";
    world.put(questions, "#\nwhy does it blink?\n").await;
    world.converge(Change::Created, questions).await;
    assert_ne!(world.payload_hashes("docs/a.md").await, without);
    world.delete(questions).await;
    world.converge(Change::Removed, questions).await;
    assert_eq!(world.payload_hashes("docs/a.md").await, without);
}

#[tokio::test]
async fn objects_of_every_docs_instance_are_converged() {
    let world = World::start("lambda_ingest_instances").await;
    let (older, current) = ("api_versioned_docs/version-1.0/valve.md", "api/valve.md");
    world
        .put(
            "bookrag.toml",
            "locales = ['en', 'ur']\n[docs.api]\ndocs_path = 'api'\n",
        )
        .await;
    for page in ["docs/a.md", current, older] {
        world.put(page, "# Valve\n\nIt opens slowly.\n").await;
        world.converge(Change::Created, page).await;
    }
    // There is no page yet, because the list of versions is unknown.
    assert_eq!(world.sources().await, [current, "docs/a.md"]);
    world.put("api_versions.json", "[\"1.0\"]").await;
    world.converge(Change::Created, "api_versions.json").await;
    assert_eq!(world.sources().await, [current, older, "docs/a.md"]);
    let translation = "i18n/ur/docusaurus-plugin-content-docs-api/version-1.0/valve.md";
    world
        .put(translation, "# Valve\n\nAhista khulta hai.\n")
        .await;
    world.converge(Change::Created, translation).await;
    assert_eq!(
        world.sources().await,
        [current, older, "docs/a.md", translation]
    );
    let versions = world
        .documents()
        .await
        .into_iter()
        .map(|document| document.row.version);
    assert_eq!(
        versions.collect::<Vec<_>>(),
        ["api@current", "api@1.0", "current", "api@1.0"]
    );

    world.delete("api_versions.json").await;
    world.converge(Change::Removed, "api_versions.json").await;
    assert_eq!(world.sources().await, [current, "docs/a.md"]);
}

#[tokio::test]
async fn objects_of_pages_and_posts_are_converged() {
    let world = World::start("lambda_ingest_kinds").await;
    let config = "module.exports = {presets: ['classic'], i18n: {defaultLocale: 'en', locales: ['en', 'ur']}}";
    world.put("docusaurus.config.js", config).await;
    let pages = [
        "blog/2024-05-03-release.md",
        "docs/a.md",
        "i18n/ur/docusaurus-plugin-content-blog/2024-05-03-release.md",
        "src/pages/faq.md",
    ];
    for page in pages.into_iter().chain(["src/components/b.md"]) {
        world.put(page, "# Valve\n\nIt opens slowly.\n").await;
        world.converge(Change::Created, page).await;
    }
    assert_eq!(world.sources().await, pages);
    let documents = world.documents().await.into_iter();
    let rows: Vec<_> = documents
        .map(|document| format!("{} {}", document.row.version, document.row.url))
        .collect();
    assert_eq!(
        rows,
        [
            "blog/default@current /blog/2024/05/03/release",
            "current /docs/a",
            "blog/default@current /ur/blog/2024/05/03/release",
            "pages/default@current /faq",
        ]
    );

    let without = config.replace("'classic'", "['classic', {blog: false}]");
    world.put("docusaurus.config.js", &without).await;
    world
        .converge(Change::Created, "docusaurus.config.js")
        .await;
    assert_eq!(world.sources().await, ["docs/a.md", "src/pages/faq.md"]);
}

#[tokio::test]
async fn commands_reconcile_the_book_and_count_it() {
    let world = World::start("lambda_ingest_commands").await;
    let command = |name: &str| world.lambda.invoke(json!({ "command": name }));
    let empty = command("status").await.payload();
    assert_eq!(
        (&empty["pages"], &empty["index"]["chunks"]),
        (&json!(0), &json!(0))
    );
    let nothing = command("reconcile").await;
    assert!(
        nothing.error().message.starts_with("no page found"),
        "{nothing:?}"
    );

    world.put("docs/a.md", "# A\n\nApples.\n").await;
    world
        .put("docs/bad.md", "---\ntitle: [\n---\nText.\n")
        .await;
    let report = command("reconcile").await.payload();
    assert_eq!(report["status"], "success", "{report}");
    assert_eq!(
        (&report["files_seen"], &report["total_chunks"]),
        (&json!(2), &json!(1))
    );
    assert_eq!(report["skipped"][0]["source"], "docs/bad.md", "{report}");
    let status = command("status").await.payload();
    assert_eq!(
        (
            &status["index"]["chunks"],
            &status["index"]["pending_points"]
        ),
        (&json!(1), &json!(0))
    );
    assert_eq!(status["index"]["spec"]["dimensions"], 64, "{status}");

    // An upload names its commit when it is complete, and a comparison finds the index equal to it.
    let commit = async || {
        let live = world.backends.catalog.live_index().await.unwrap().unwrap();
        live.freshness().unwrap().commit
    };
    assert_eq!(commit().await, None);
    let hash = "7f3c2a1b".repeat(5);
    world.put("bookrag-commit.txt", &format!("{hash}\n")).await;
    world.put("docs/a.md", "# A\n\nApricots.\n").await;
    let pending = command("status").await.payload();
    assert!(pending["index"].is_object(), "{pending}");
    assert_eq!(commit().await, None, "a page is pending");
    world.converge(Change::Created, "docs/a.md").await;
    let equal = command("status").await.payload();
    assert!(equal["index"].is_object(), "{equal}");
    assert_eq!(commit().await.as_deref(), Some("7f3c2a1"));

    let unknown = command("delete").await;
    assert_eq!(unknown.error().error_type, "Event");
    assert!(unknown.error().message.contains("reconcile"), "{unknown:?}");
    let unknown = world.lambda.invoke(json!({ "source": "aws.events" })).await;
    assert_eq!(unknown.error().error_type, "Event");
}

#[tokio::test]
async fn ingest_serves_nothing_without_a_source() {
    let backends = Backends::start("lambda_ingest_start").await;
    let lambda = Lambda::start("ingest", &backends.ingest_environment()).await;
    let failed = lambda.invoke(json!({ "command": "status" })).await;
    let error = failed.error();
    assert_eq!(error.error_type, "NotStarted");
    assert!(
        error.message.contains("BOOKRAG_SOURCE is not set"),
        "{error:?}"
    );
}

#[tokio::test]
async fn questions_are_written_for_an_events_pages_and_a_reconcile_continues() {
    let by_line = |request: &serde_json::Value| {
        let prompt = request["messages"][1]["content"].as_str().unwrap();
        let place = prompt.lines().nth(1).unwrap().to_owned();
        Reply::Text(vec![format!("{place} is ripe")], Duration::ZERO)
    };
    let model = ChatModel::start(Reply::function(by_line)).await;
    let mut variables = model.environment();
    // Embeddings have a server of their own.
    variables.retain(|(name, _)| !name.starts_with("OPENAI_") && !name.contains("QUESTIONS"));
    variables.push(("BOOKRAG_CHAT_BASE_URL", model.base_url()));
    variables.push(("BOOKRAG_CHAT_API_KEY", API_KEY.to_owned()));
    variables.push(("BOOKRAG_CHAT_PRICE", "1/1".to_owned()));
    variables.push(("BOOKRAG_QUESTIONS_BUDGET", "0.5".to_owned()));
    let variables = variables.iter();
    let variables: Vec<_> = variables
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    let world = World::start_with("lambda_ingest_written", &variables).await;
    world.put("docs/a.md", "# A\n\nApples.\n").await;
    world.put("docs/b.md", "# B\n\nBeets.\n").await;
    world.converge(Change::Created, "docs/a.md").await;
    assert_eq!(model.requests().len(), 1);
    let reconcile = json!({ "command": "reconcile" });
    let report = world.lambda.invoke(reconcile.clone()).await.payload();
    assert_eq!(report["files_changed"], 1, "{report}");
    assert_eq!(model.requests().len(), 2);
    let report = world.lambda.invoke(reconcile).await.payload();
    assert_eq!(report["files_changed"], 0, "{report}");
    assert_eq!(model.requests().len(), 2);
    let catalog = &world.backends.catalog;
    let index = catalog.live_index().await.unwrap().unwrap();
    let site = &index.spec.site;
    let written = catalog.written_questions(site, None).await.unwrap();
    assert_eq!(written.len(), 2);
    assert!(
        written["docs/b.md"].contains("\nB is ripe\n"),
        "{written:?}"
    );
}

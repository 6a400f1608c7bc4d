//! The custom resource of a deployment.

use bookrag::{
    catalog::{Catalog, PostgresCatalog, PostgresOptions, SCHEMA_VERSION, TlsOptions},
    context::INGEST_INDEX_TIMEOUT,
};
use bookrag_tests::postgres::Postgres;
use bookrag_tests::proxy::{Fault, Proxy, Target, When};
use serde_json::{Value, json};

use super::{BUCKET, World};

/// A request of `CloudFormation`. Its response is put into the test's bucket instead of `CloudFormation`'s own.
fn resource(world: &World, request: &str) -> Value {
    let bucket = format!("{}/{BUCKET}", world.moto.environment()[0].1);
    json!({
        "RequestType": request,
        "ResponseURL": format!("{bucket}/{request}"),
        "StackId": "arn:aws:cloudformation:eu-central-1:123456789012:stack/bookrag/1",
        "RequestId": "8c1e5a51-8f3f-4f5c-9d0f-3d1c7d6f1b11",
        "ResourceType": "AWS::CloudFormation::CustomResource",
        "LogicalResourceId": "Prepared",
        "PhysicalResourceId": "bookrag-prepared",
        "ResourceProperties": { "ServiceToken": "arn", "Version": "2" },
    })
}

async fn told(world: &World, request: &str) -> Value {
    let answer = world.moto.client().get_object().bucket(BUCKET).key(request);
    let answer = answer.send().await.unwrap().body.collect().await.unwrap();
    serde_json::from_slice(&answer.into_bytes()).unwrap()
}

#[tokio::test]
async fn a_deployment_creates_the_tables() {
    let database = Postgres::shared()
        .await
        .create_database("lambda_ingest_deployed")
        .await;
    let catalog = PostgresCatalog::new(PostgresOptions {
        url: database.clone().into(),
        direct_url: None,
        tls: TlsOptions::default(),
        statement_timeout: INGEST_INDEX_TIMEOUT,
        connect_timeout: INGEST_INDEX_TIMEOUT,
        pool_size: 1,
    });
    let catalog = Catalog::Postgres(catalog.unwrap());
    catalog.ping().await.unwrap_err();
    let variables = [("DATABASE_URL", database.as_str())];
    let world = World::start_with("lambda_ingest_deployment", &variables).await;
    for request in ["Create", "Update", "Delete"] {
        let event = resource(&world, request);
        let answer = world.lambda.invoke(event).await.payload();
        assert_eq!(answer["Status"], "SUCCESS", "{request}: {answer}");
        assert_eq!(answer["LogicalResourceId"], "Prepared");
        assert_eq!(told(&world, request).await, answer);
        catalog.ping().await.unwrap();
    }
    let command = json!({ "command": "prepare" });
    let answer = world.lambda.invoke(command).await.payload();
    assert_eq!(answer, json!({ "schema_version": SCHEMA_VERSION }));
}

/// Returns the URL of a database that does not exist.
async fn no_database() -> String {
    let url = Postgres::shared().await.url();
    url.replace("/postgres", "/no_such_database")
}

#[tokio::test]
async fn a_deployment_that_cannot_work_fails_with_the_reason() {
    let no_database = no_database().await;
    for (name, value, reason) in [
        ("DATABASE_URL", no_database.as_str(), "DATABASE_URL: "),
        ("QDRANT_URL", "http://127.0.0.1:9", "vector store"),
        ("OPENAI_API_KEY", "another-key", "embedder"),
    ] {
        let database = format!("lambda_ingest_wrong_{}", name.to_lowercase());
        let world = World::start_with(&database, &[(name, value)]).await;
        let event = resource(&world, "Create");
        let answer = world.lambda.invoke(event).await.payload();
        assert_eq!(answer["Status"], "FAILED", "{name}: {answer}");
        let told = told(&world, "Create").await;
        let text = told["Reason"].as_str().unwrap();
        assert!(
            text.contains(reason) && !text.contains("another-key"),
            "{name}: {text}"
        );
    }
}

#[tokio::test]
async fn a_deployment_tries_both_urls_of_the_database() {
    let pooled = no_database().await;
    let direct = Postgres::shared().await;
    let direct = direct.create_database("lambda_ingest_direct").await;
    for (pooled, direct, reason) in [
        (&pooled, &direct, "DATABASE_URL: "),
        (&direct, &pooled, "DATABASE_URL_DIRECT: "),
    ] {
        let database = format!("lambda_ingest_both_{}", reason.len());
        let variables = [
            ("DATABASE_URL", pooled.as_str()),
            ("DATABASE_URL_DIRECT", direct.as_str()),
        ];
        let world = World::start_with(&database, &variables).await;
        let answer = world.lambda.invoke(resource(&world, "Create")).await;
        let answer = answer.payload();
        assert_eq!(answer["Status"], "FAILED", "{answer}");
        let text = answer["Reason"].as_str().unwrap();
        assert!(text.starts_with(reason), "{text}");
    }
}

#[tokio::test]
async fn a_deployment_waits_for_a_database_that_wakes_up() {
    let name = "lambda_ingest_asleep";
    let url = Postgres::shared().await.create_database(name).await;
    let proxy = Proxy::start(Target::postgres(&url)).await;
    proxy.set(Fault::CutOn {
        bytes: name.into(),
        when: When::BeforeForward,
    });
    let address = proxy.address();
    let url = format!("postgresql://rag@{address}/{name}?sslmode=disable");
    let variables = [("DATABASE_URL", url.as_str())];
    let world = World::start_with("lambda_ingest_awake", &variables).await;
    let event = resource(&world, "Create");
    let answer = world.lambda.invoke(event).await.payload();
    assert_eq!(answer["Status"], "SUCCESS", "{answer}");
    assert_eq!(proxy.fault(), Fault::None, "no connection was cut");
}

#[tokio::test]
async fn a_failed_start_is_reported_and_does_not_block_a_stacks_deletion() {
    for (name, value) in [
        ("BOOKRAG_EMBEDDER", "word2vec"),
        ("QDRANT_URL", ""),
        (
            "DATABASE_URL",
            "postgres://user@db.invalid/x?sslmode=disable",
        ),
    ] {
        let database = format!("lambda_ingest_start_{}", name.to_lowercase());
        let world = World::start_with(&database, &[(name, value)]).await;
        for (request, status) in [("Create", "FAILED"), ("Delete", "SUCCESS")] {
            let event = resource(&world, request);
            let answer = world.lambda.invoke(event).await.payload();
            assert_eq!(answer["Status"], status, "{name}: {answer}");
            assert_eq!(told(&world, request).await, answer);
            if status == "FAILED" {
                assert!(answer["Reason"].to_string().contains(name), "{answer}");
            }
        }
        let failed = world.lambda.invoke(json!({ "command": "sweep" })).await;
        assert_eq!(failed.error().error_type, "NotStarted");
        assert!(failed.error().message.contains(name));
    }
}

#[tokio::test]
async fn a_foreign_response_url_is_refused() {
    let world = World::start("lambda_ingest_elsewhere").await;
    let mut event = resource(&world, "Create");
    event["ResponseURL"] = json!("http://169.254.169.254/latest/meta-data");
    let failed = world.lambda.invoke(event).await;
    assert_eq!(failed.error().error_type, "AnswerUrl");
}

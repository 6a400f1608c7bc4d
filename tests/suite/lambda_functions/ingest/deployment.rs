//! What a deployment asks of the function.

use bookrag::{
    catalog::{Catalog, PostgresCatalog, PostgresOptions, SCHEMA_VERSION},
    context::INGEST_INDEX_TIMEOUT,
};
use bookrag_tests::postgres::Postgres;
use serde_json::{Value, json};

use super::{BUCKET, World};

/// What `CloudFormation` sends; the answer is put into the bucket, as it is into one of `CloudFormation`'s.
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
async fn a_deployment_makes_the_tables() {
    let database = Postgres::shared()
        .await
        .create_database("lambda_ingest_deployed")
        .await;
    let catalog = PostgresCatalog::new(PostgresOptions {
        url: database.clone().into(),
        direct_url: None,
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

#[tokio::test]
async fn a_deployment_that_cannot_work_fails_with_the_reason() {
    for (name, value, reason) in [
        ("DATABASE_URL", "postgres://nobody@127.0.0.1:9/x", "catalog"),
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
async fn an_answer_is_sent_nowhere_else() {
    let world = World::start("lambda_ingest_elsewhere").await;
    let mut event = resource(&world, "Create");
    event["ResponseURL"] = json!("http://169.254.169.254/latest/meta-data");
    let failed = world.lambda.invoke(event).await;
    assert_eq!(failed.error().error_type, "AnswerUrl");
}

//! Prepares each deployment: migrates the catalog's tables and checks all configured backends. It is a resource of a `CloudFormation` stack, so a
//! failure stops the deployment and appears in the stack's events.
//!
//! Protocol: <https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/crpg-ref.html>

use std::future::Future;
use std::time::Duration;

use bookrag::catalog::CatalogError;
use bookrag::http::{HttpsUrl, put_json};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::events::Event;
use crate::{ConnectError, Function, HandlerError};

/// The resource's id. It is constant, so the resource is never replaced.
const PHYSICAL_ID: &str = "bookrag-prepared";
/// `CloudFormation` accepts answers of 4 KiB; the other fields take some hundred bytes.
const MAX_REASON_CHARACTERS: usize = 1_000;
/// Hosts of the presigned S3 URLs for answers.
const ANSWER_HOSTS: [&str; 2] = [".amazonaws.com", ".amazonaws.com.cn"];

/// Time limit for a database to respond. An idle serverless Postgres is stopped, so its first connections may time out.
const PATIENCE: Duration = Duration::from_mins(1);
/// The delay between two attempts to reach a database.
const PAUSE: Duration = Duration::from_secs(1);

/// A `CloudFormation` request to create, update or delete the resource.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct ResourceRequest {
    request_type: String,
    #[serde(rename = "ResponseURL")]
    response_url: String,
    stack_id: String,
    request_id: String,
    logical_resource_id: String,
    physical_resource_id: Option<String>,
}

impl Function {
    /// Migrates the catalog's tables, and checks everything configured: both database URLs, the vector store, the embedder.
    pub(crate) async fn prepare(&self) -> Result<Value, HandlerError> {
        let given_up = Instant::now() + PATIENCE;
        let migrated = awake(self.migrated_over, given_up, || self.catalog.migrate());
        let version = migrated.await?;
        awake("DATABASE_URL", given_up, || self.catalog.ping()).await?;
        self.index.check_version().await?;
        // Unlike the health check, this needs the key.
        self.index.has_collection(&self.collection).await?;
        self.embedder.ping().await?;
        tracing::info!(stage = "deploy", schema.version = version, "prepared");
        Ok(json!({ "schema_version": version }))
    }
}

/// Answers an event of a function that could not start.
///
/// `CloudFormation` gets the reason: without an answer it would wait until its timeout, and could not delete a stack whose creation failed. Every
/// other event fails with the reason.
///
/// # Errors
/// The reason, unless `CloudFormation` got it; or why the answer could not be sent.
pub async fn not_started(reason: &ConnectError, event: Value) -> Result<Value, HandlerError> {
    let failed = async { Err(HandlerError::NotStarted(reason.to_string())) };
    match Event::try_from(event) {
        Ok(Event::Resource(request)) => request.settle(failed).await,
        _ => failed.await,
    }
}

/// Retries a database call until it succeeds, fails permanently, or `given_up` is near. `setting` names its URL.
async fn awake<T, C>(
    setting: &'static str,
    given_up: Instant,
    call: impl Fn() -> C,
) -> Result<T, HandlerError>
where
    C: Future<Output = Result<T, CatalogError>>,
{
    loop {
        match call().await {
            Err(CatalogError::Unavailable(reason)) if Instant::now() + PAUSE < given_up => {
                tracing::warn!(
                    stage = "deploy",
                    setting,
                    reason,
                    "asking the database again"
                );
                sleep(PAUSE).await;
            }
            answer => {
                return answer.map_err(|source| HandlerError::Database { setting, source });
            }
        }
    }
}

impl ResourceRequest {
    /// Does the work and answers `CloudFormation`. A failure is reported to it, not to the invoker. Delete does no work and always succeeds, because
    /// nothing is deleted with the resource.
    pub(crate) async fn settle(
        self,
        work: impl Future<Output = Result<Value, HandlerError>>,
    ) -> Result<Value, HandlerError> {
        let url = self.answer_url()?;
        let done = match self.request_type.as_str() {
            "Delete" => Ok(json!({})),
            _ => work.await,
        };
        let answer = self.answer(&done);
        put_json(&url, &answer).await?;
        Ok(answer)
    }

    /// Returns the URL for the answer, which must be S3 or its local substitute.
    fn answer_url(&self) -> Result<HttpsUrl, HandlerError> {
        let stand_in = std::env::var("AWS_ENDPOINT_URL").ok();
        HttpsUrl::among(&self.response_url, &ANSWER_HOSTS, stand_in.as_deref())
            .ok_or(HandlerError::AnswerUrl)
    }

    fn answer(&self, prepared: &Result<Value, HandlerError>) -> Value {
        let id = self.physical_resource_id.as_deref().unwrap_or(PHYSICAL_ID);
        let mut answer = json!({
            "Status": "SUCCESS",
            "PhysicalResourceId": id,
            "StackId": self.stack_id,
            "RequestId": self.request_id,
            "LogicalResourceId": self.logical_resource_id,
        });
        match prepared {
            Ok(data) => answer["Data"] = data.clone(),
            Err(error) => {
                tracing::error!(stage = "deploy", error.kind = error.kind(), error = %error, "preparing failed");
                let reason: String = error
                    .to_string()
                    .chars()
                    .take(MAX_REASON_CHARACTERS)
                    .collect();
                answer["Status"] = json!("FAILED");
                answer["Reason"] = json!(reason);
            }
        }
        answer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(response_url: &str) -> ResourceRequest {
        let request = json!({
            "RequestType": "Create",
            "ResponseURL": response_url,
            "StackId": "stack",
            "RequestId": "request",
            "ResourceType": "Custom::Prepared",
            "LogicalResourceId": "Prepared",
            "ResourceProperties": { "ServiceToken": "arn", "Version": "1" },
        });
        serde_json::from_value(request).unwrap()
    }

    /// Calls a database that is unavailable for the first `sleeps` attempts; returns the result and the number of calls.
    async fn ask(sleeps: u32, given_up: Instant) -> (Result<u32, HandlerError>, u32) {
        let asked = std::cell::Cell::new(0);
        let answer = awake("DATABASE_URL", given_up, async || {
            asked.set(asked.get() + 1);
            match asked.get() {
                attempt if attempt > sleeps => Ok(attempt),
                _ => Err(CatalogError::Unavailable("it sleeps".to_owned())),
            }
        });
        (answer.await, asked.get())
    }

    #[tokio::test]
    async fn a_database_that_wakes_up_is_waited_for() {
        let (answer, asked) = ask(1, Instant::now() + PATIENCE).await;
        assert_eq!((answer.unwrap(), asked), (2, 2));
    }

    #[tokio::test]
    async fn patience_ends_and_a_refusal_is_not_waited_for() {
        let (answer, asked) = ask(9, Instant::now()).await;
        assert_eq!(asked, 1);
        let message = answer.unwrap_err().to_string();
        assert!(message.contains("DATABASE_URL"), "{message}");
        assert!(message.contains("it sleeps"), "{message}");

        let asked = std::cell::Cell::new(0);
        let refuses = async || {
            asked.set(asked.get() + 1);
            Err::<(), _>(CatalogError::Rejected("no such user".to_owned()))
        };
        let refused = awake("DATABASE_URL", Instant::now() + PATIENCE, refuses);
        refused.await.unwrap_err();
        assert_eq!(asked.get(), 1);
    }

    #[test]
    fn a_failure_is_told_with_its_reason() {
        let failed = Err(HandlerError::ReindexStuck);
        let answer = request("https://s3.amazonaws.com/x").answer(&failed);
        assert_eq!(answer["Status"], "FAILED");
        assert_eq!(answer["PhysicalResourceId"], PHYSICAL_ID);
        assert!(answer["Reason"].as_str().unwrap().len() > 10, "{answer}");
    }

    #[test]
    fn answers_go_to_s3_alone() {
        let goes = |url: &str| request(url).answer_url().is_ok();
        assert!(goes(
            "https://cloudformation-custom-resource-response-euwest1.s3-eu-west-1.amazonaws.com/a?X-Amz-Signature=b"
        ));
        for elsewhere in [
            "http://s3.amazonaws.com/plain",
            "https://amazonaws.com.example.org/",
            "https://example.org/.amazonaws.com",
            "https://user@169.254.169.254/",
            "https://evilamazonaws.com/",
            "file:///etc/passwd",
            "no address",
        ] {
            assert!(!goes(elsewhere), "{elsewhere}");
        }
    }
}

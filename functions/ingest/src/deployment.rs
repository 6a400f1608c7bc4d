//! What happens with each deployment: the catalog's tables are brought up to date, and all that is configured is looked for. As a
//! resource of a `CloudFormation` stack a failure stops the deployment, and its reason stands in the stack's events.
//!
//! Protocol: <https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/crpg-ref.html>

use bookrag::http::{HttpsUrl, put_json};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{Function, HandlerError};

/// What the resource is called: one thing, which is never replaced.
const PHYSICAL_ID: &str = "bookrag-prepared";
/// `CloudFormation` takes answers of 4 KiB; the rest of one is some hundred bytes.
const MAX_REASON_CHARACTERS: usize = 1_000;
/// Where answers are put: presigned addresses of S3.
const ANSWER_HOSTS: [&str; 2] = [".amazonaws.com", ".amazonaws.com.cn"];

/// `CloudFormation` wants the resource made, changed or deleted.
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
    /// Brings the catalog's tables up to date and asks all that is configured for an answer.
    pub(crate) async fn prepare(&self) -> Result<Value, HandlerError> {
        let version = self.catalog.migrate().await?;
        // Unlike its health this needs the key.
        self.index.has_collection(&self.collection).await?;
        self.embedder.ping().await?;
        tracing::info!(stage = "deploy", schema.version = version, "prepared");
        Ok(json!({ "schema_version": version }))
    }

    /// Answers `CloudFormation`; what fails is told to it, not to the invoker. With the resource nothing is deleted.
    pub(crate) async fn prepare_as_resource(
        &self,
        request: ResourceRequest,
    ) -> Result<Value, HandlerError> {
        let url = request.answer_url()?;
        let prepared = match request.request_type.as_str() {
            "Delete" => Ok(json!({})),
            _ => self.prepare().await,
        };
        let answer = request.answer(&prepared);
        put_json(&url, &answer).await?;
        Ok(answer)
    }
}

impl ResourceRequest {
    /// Where the answer goes: nowhere but to S3, or to what stands in for it.
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
                tracing::error!(stage = "deploy", error.kind = error.kind(), error = %error, "not prepared");
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

//! Requests of API Gateway's Lambda proxy integration (payload 1.0).

use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde_json::{Value, json};

use super::{ACCOUNT, CLIENT_IP, REGION};

const STAGE: &str = "dev";

/// A builder for the event of a REST API request.
#[derive(Debug, Clone)]
pub struct RestRequest {
    event: Value,
}

impl RestRequest {
    /// Starts a request for `path`, without the stage and a body, from 203.0.113.7, on stage `dev`.
    #[must_use]
    pub fn new(method: &str, path: &str) -> Self {
        let event = json!({
            "resource": "/{proxy+}",
            "path": path,
            "httpMethod": method,
            "headers": {},
            "multiValueHeaders": {},
            "queryStringParameters": null,
            "multiValueQueryStringParameters": null,
            "pathParameters": { "proxy": path.trim_start_matches('/') },
            "stageVariables": null,
            "requestContext": {
                "accountId": ACCOUNT,
                "apiId": "a1b2c3d4e5",
                "domainName": format!("a1b2c3d4e5.execute-api.{REGION}.amazonaws.com"),
                "domainPrefix": "a1b2c3d4e5",
                "extendedRequestId": "XYZ0aEXAMPLE=",
                "httpMethod": method,
                "identity": {
                    "accessKey": null,
                    "accountId": null,
                    "caller": null,
                    "cognitoAuthenticationProvider": null,
                    "cognitoAuthenticationType": null,
                    "cognitoIdentityId": null,
                    "cognitoIdentityPoolId": null,
                    "principalOrgId": null,
                    "sourceIp": CLIENT_IP,
                    "user": null,
                    "userAgent": "bookrag-tests",
                    "userArn": null
                },
                "path": format!("/{STAGE}{path}"),
                "protocol": "HTTP/1.1",
                "requestId": "c6af9ac6-7b61-11e6-9a41-93e8deadbeef",
                "requestTime": "02/Jan/2026:03:04:05 +0000",
                "requestTimeEpoch": 1_767_323_045_678_u64,
                "resourceId": "123456",
                "resourcePath": "/{proxy+}",
                "stage": STAGE
            },
            "body": null,
            "isBase64Encoded": false
        });
        let request = Self { event };
        let host = request.event["requestContext"]["domainName"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        request
            .header("Host", &host)
            .header("X-Forwarded-For", CLIENT_IP)
            .header("X-Forwarded-Proto", "https")
    }

    /// A POST of JSON, as the widget sends it.
    #[must_use]
    pub fn post_json(path: &str, body: &Value) -> Self {
        Self::new("POST", path)
            .header("Content-Type", "application/json")
            .body(&body.to_string())
    }

    /// Sets the stage.
    #[must_use]
    pub fn stage(mut self, stage: &str) -> Self {
        let path = self.event["path"].as_str().unwrap_or_default();
        self.event["requestContext"]["path"] = format!("/{stage}{path}").into();
        self.event["requestContext"]["stage"] = stage.into();
        self
    }

    /// Adds a header, or a second value to an existing one.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.add(["headers", "multiValueHeaders"], name, value);
        self
    }

    /// Adds an unescaped query parameter, or a second value to an existing one.
    #[must_use]
    pub fn query(mut self, name: &str, value: &str) -> Self {
        self.add(
            ["queryStringParameters", "multiValueQueryStringParameters"],
            name,
            value,
        );
        self
    }

    /// Sets the client's address as seen by API Gateway, also the last one in `X-Forwarded-For`.
    #[must_use]
    pub fn source_ip(mut self, address: &str) -> Self {
        self.event["requestContext"]["identity"]["sourceIp"] = address.into();
        self.event["headers"]["X-Forwarded-For"] = address.into();
        self.event["multiValueHeaders"]["X-Forwarded-For"] = json!([address]);
        self
    }

    /// Sets a text body.
    #[must_use]
    pub fn body(mut self, body: &str) -> Self {
        self.event["body"] = body.into();
        self.event["isBase64Encoded"] = false.into();
        self
    }

    /// Sets a binary body, sent as Base64.
    #[must_use]
    pub fn binary_body(mut self, body: &[u8]) -> Self {
        self.event["body"] = BASE64_STANDARD.encode(body).into();
        self.event["isBase64Encoded"] = true.into();
        self
    }

    /// Returns the event.
    #[must_use]
    pub fn into_event(self) -> Value {
        self.event
    }

    /// Adds a value to a map of last values and to the map of all values.
    fn add(&mut self, [last, all]: [&str; 2], name: &str, value: &str) {
        self.event[last][name] = value.into();
        match &mut self.event[all][name] {
            Value::Array(values) => values.push(value.into()),
            none => *none = json!([value]),
        }
    }
}

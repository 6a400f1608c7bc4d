//! The protocol, access and rate limits.

use axum::body::Body;
use axum::http::{Request, StatusCode, header};
use serde_json::json;

use super::{FORMER, FROST, MODERN, Served, entries, former, message};
use crate::api::{Limiter, Limits, MAX_BODY_BYTES, Route};
use crate::mcp::tools;

#[tokio::test]
async fn both_lifecycles_are_served_without_a_session() {
    let served = Served::book().await;
    let discovered = served.method("server/discover", json!({})).await;
    let versions = entries(&discovered, "supportedVersions");
    assert!(
        versions.contains(&json!(MODERN)) && versions.contains(&json!(FORMER)),
        "{discovered}"
    );
    assert!(
        discovered["instructions"]
            .as_str()
            .unwrap()
            .contains("Garden"),
        "{discovered}"
    );

    let params = json!({
        "protocolVersion": FORMER, "capabilities": {}, "clientInfo": {"name": "tests", "version": "1"},
    });
    let (status, answer) = served.send(former("initialize", params)).await;
    assert_eq!(status, StatusCode::OK);
    assert_eq!(
        answer["result"]["protocolVersion"],
        json!(FORMER),
        "{answer}"
    );
    // There is no session, so another instance may get the next message.
    let call = json!({"name": "fetch", "arguments": {"id": "/docs/frost"}});
    let (status, answer) = served.send(former("tools/call", call)).await;
    assert_eq!(status, StatusCode::OK);
    let text = answer["result"]["structuredContent"]["text"]
        .as_str()
        .unwrap();
    assert!(text.starts_with("# Frost"), "{answer}");
}

#[tokio::test]
async fn tools_have_a_fixed_order_and_all_but_report_only_read() {
    let served = Served::book().await;
    let listed = served.method("tools/list", json!({})).await;
    let tools = entries(&listed, "tools");
    let names: Vec<&str> = tools
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, tools::NAMES);
    for tool in &tools {
        let annotations = &tool["annotations"];
        let reads_only = tool["name"] != "report";
        assert_eq!(annotations["readOnlyHint"], json!(reads_only), "{tool}");
        assert_eq!(annotations["openWorldHint"], json!(false), "{tool}");
        for schema in ["inputSchema", "outputSchema"] {
            assert_eq!(tool[schema]["type"], json!("object"), "{tool}");
            // Not all clients resolve references.
            assert!(!tool[schema].to_string().contains("$ref"), "{tool}");
            assert!(!tool[schema].to_string().contains("\"uint"), "{tool}");
        }
    }
    assert_eq!(tools[0]["inputSchema"]["required"], json!(["query"]));
}

#[tokio::test]
async fn what_is_wrong_with_a_call_is_told_so_that_it_can_be_corrected() {
    let served = Served::book().await;
    for (tool, arguments, told) in [
        ("fetch", json!({"id": "/docs/nowhere"}), "/docs/nowhere"),
        (
            "fetch",
            json!({"id": "67e55044-10b1-426f-9247-bb680e5fe0c8"}),
            "67e55044",
        ),
        ("fetch", json!({"id": "/docs/frost#nowhere"}), "#nowhere"),
        ("fetch", json!({"id": "/docs/frost~99999"}), "ends before"),
        ("fetch", json!({}), "id must not be empty"),
        ("fetch", json!({"id": 7}), "id"),
        ("search", json!({"query": ""}), "1 to 2000 characters"),
        (
            "search",
            json!({"query": "frost", "limit": 21}),
            "limit must be 1 to 20, got 21",
        ),
        ("search", json!({"query": "frost", "version": "9.9"}), "9.9"),
        (
            "search",
            json!({"query": "frost", "facets": "plan"}),
            "facets must be names and values",
        ),
        (
            "ask",
            json!({"question": "What are the signs of frost?", "facets": "plan:pro"}),
            "got `plan`; the book has none",
        ),
        (
            "outline",
            json!({"version": "9.9"}),
            "known values are current",
        ),
        ("outline", json!({"under": "/blog"}), "/blog"),
        ("ask", json!({"question": "x".repeat(2_001)}), "2001"),
        (
            "report",
            json!({"question": "Why?"}),
            "problem must not be empty",
        ),
        (
            "report",
            json!({"question": "Why?", "problem": "x".repeat(2_001)}),
            "problem must have at most 2000 characters",
        ),
        (
            "report",
            json!({"question": "Why?", "problem": "It is wrong.", "message_id": "7"}),
            "message_id must be that of an answer",
        ),
    ] {
        let message = served.refusal(tool, arguments.clone()).await;
        assert!(message.contains(told), "{tool} {arguments}: {message}");
        assert!(message.chars().count() < 400, "{message}");
    }
    let (_, answer) = served
        .send(message(
            "/mcp",
            "tools/call",
            json!({"name": "delete", "arguments": {}}),
        ))
        .await;
    assert_eq!(answer["error"]["code"], json!(-32602), "{answer}");
    assert!(
        answer["error"]["message"]
            .as_str()
            .unwrap()
            .contains("search, fetch, ask, outline, report")
    );
}

#[tokio::test]
async fn pages_of_other_sites_may_not_call() {
    let served = Served::book().await;
    for (origin, status) in [
        ("https://garden.example", StatusCode::OK),
        ("https://evil.example", StatusCode::FORBIDDEN),
        ("http://localhost:8080", StatusCode::FORBIDDEN),
        ("null", StatusCode::FORBIDDEN),
    ] {
        let mut request = message("/mcp", "tools/list", json!({}));
        request
            .headers_mut()
            .insert(header::ORIGIN, origin.parse().unwrap());
        assert_eq!(served.send(request).await.0, status, "{origin}");
    }
}

#[tokio::test]
async fn a_question_counts_as_a_readers_question() {
    let limits = Limits {
        chat: Some(2),
        ..Limits::NONE
    };
    let served = Served::of_pages(&[("frost.md", FROST)], limits).await;
    let question = json!({"question": "What are the signs of frost?"});
    for _ in 0..2 {
        served.tool("ask", question.clone()).await;
    }
    let told = served.refusal("ask", question).await;
    assert!(told.contains("too many questions, please wait"), "{told}");
    served.tool("search", json!({"query": "frost"})).await;
    // Calls that need no model leave the chat limit untouched.
    let limiter = Limiter::new(served.retriever.catalog().clone(), limits);
    assert!(limiter.acquire(Route::Chat, "another client").await.is_ok());
}

#[tokio::test]
async fn a_message_is_bounded() {
    let served = Served::book().await;
    let huge = json!({"name": "fetch", "arguments": {"id": "x".repeat(MAX_BODY_BYTES)}});
    let (status, _) = served.send(message("/mcp", "tools/call", huge)).await;
    assert_eq!(status, StatusCode::PAYLOAD_TOO_LARGE);
    for (body, code) in [("{\"jsonrpc\"", -32_700), ("[]", -32_600), ("{}", -32_600)] {
        let broken = Request::post("/mcp")
            .header(header::HOST, "garden.example")
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::ACCEPT, "application/json, text/event-stream")
            .body(Body::from(body))
            .unwrap();
        let (status, answer) = served.send(broken).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{answer}");
        assert_eq!(answer["error"]["code"], code, "{answer}");
    }
    for tokens in ["0", "many", "1000000"] {
        let uri = format!("/mcp?max_tokens={tokens}");
        let (status, answer) = served.send(message(&uri, "tools/list", json!({}))).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{answer}");
    }
    let get = Request::get("/mcp")
        .header(header::HOST, "garden.example")
        .body(Body::empty())
        .unwrap();
    assert_eq!(served.send(get).await.0, StatusCode::METHOD_NOT_ALLOWED);
}

#[tokio::test]
async fn a_report_is_kept_without_its_question_and_counts_as_feedback() {
    let limits = Limits {
        feedback: Some(2),
        ..Limits::NONE
    };
    let served = Served::of_pages(&[("frost.md", FROST)], limits).await;
    let question = "What are the signs of frost?";
    let answered = served.tool("ask", json!({"question": question})).await;
    let report = json!({
        "question": question, "problem": "Wind is one, too.", "page": "/docs/frost#signs-of-frost", "message_id": answered["message_id"],
    });
    let reported = served.tool("report", report.clone()).await;
    assert_eq!(reported, json!({"received": true}));
    let day = std::time::Duration::from_hours(24);
    let insights = served.retriever.catalog().insights(day).await.unwrap();
    let [kept] = &insights.reports[..] else {
        panic!("{insights:?}");
    };
    assert_eq!(kept.problem, "Wind is one, too.");
    assert_eq!(kept.page.as_deref(), Some("/docs/frost#signs-of-frost"));
    // Its text is not kept unless the operator wants that.
    assert_eq!(kept.question, None);

    let mut unknown = report.clone();
    unknown["message_id"] = json!("67e55044-10b1-426f-9247-bb680e5fe0c8");
    let told = served.refusal("report", unknown).await;
    assert!(told.contains("message_id"), "{told}");
    let told = served.refusal("report", report).await;
    assert!(told.contains("too many judgements, please wait"), "{told}");
}

//! Ten thousand generated calls.

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

use super::{Served, message};
use book::chunk::count_tokens;

const CALLS: u32 = 10_000;

/// Texts for ids, questions and limits.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        prop::sample::select(vec![
            "/docs/frost",
            "/docs/frost#signs-of-frost",
            "/docs/compost",
            "/docs/compost~4000",
            "/docs/code",
            "/docs/code~7777",
            "/docs/",
            "/",
            "https://garden.example/docs/guides/start?x=1#a",
            "67e55044-10b1-426f-9247-bb680e5fe0c8",
            "What are the signs of frost?",
            "compost and sand",
            "read sensor",
            "current",
            "en",
            "",
        ])
        .prop_map(str::to_owned),
        "\\PC{0,30}",
        "[a-z~/#%0-9 ]{0,40}",
        "(frost|compost|sand|\"|line |[0-9]{1,3} ){1,60}",
        Just("é語🤖 ".repeat(700)),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        8 => text().prop_map(Value::from),
        2 => (0_u64..25).prop_map(Value::from),
        1 => Just(Value::Null),
        1 => Just(json!(-1.5)),
        1 => Just(json!(["frost"])),
        1 => Just(json!({"query": "frost"})),
    ]
}

/// A method with its parameters.
fn call() -> impl Strategy<Value = (&'static str, Value)> {
    let tool = prop::sample::select(vec![
        "search", "fetch", "ask", "outline", "report", "delete",
    ]);
    let field = prop::sample::select(vec![
        "query",
        "question",
        "id",
        "under",
        "limit",
        "version",
        "locale",
        "facets",
        "top_k",
        "problem",
        "page",
        "message_id",
        "other",
    ]);
    let arguments = prop::collection::btree_map(field, value(), 0..4);
    let called = (tool, arguments).prop_map(|(name, arguments)| {
        ("tools/call", json!({"name": name, "arguments": arguments}))
    });
    prop_oneof![
        8 => called,
        1 => text().prop_map(|text| ("resources/read", json!({"uri": format!("book://{text}")}))),
        1 => value().prop_map(|cursor| ("resources/list", json!({"cursor": cursor}))),
    ]
}

#[test]
fn no_call_is_answered_beyond_its_budget_or_with_a_failure_of_ours() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let served = runtime.block_on(Served::book());
    let mut runner = TestRunner::new(ProptestConfig::with_cases(CALLS));
    let budgets = prop::sample::select(vec![None, Some(1_000), Some(2_500)]);
    let checked = runner.run(&(call(), budgets), |((method, params), budget)| {
        let uri = budget.map_or("/mcp".to_owned(), |tokens: usize| {
            format!("/mcp?max_tokens={tokens}")
        });
        let request = message(&uri, method, params);
        let (status, answer) = runtime.block_on(served.send(request));
        prop_assert!(!status.is_server_error(), "{answer}");
        let is_internal = answer["error"]["code"] == json!(-32603);
        prop_assert!(!is_internal, "{answer}");
        let result = &answer["result"];
        let given = match method {
            // Models read only one of the two copies.
            "tools/call" => result["content"][0]["text"].to_string(),
            _ => result.to_string(),
        };
        let text = result["content"][0]["text"].as_str().unwrap_or(&given);
        let tokens = count_tokens(text);
        prop_assert!(tokens <= budget.unwrap_or(6_000), "{tokens} tokens: {text}");
        let error = answer["error"].to_string();
        prop_assert!(count_tokens(&error) < 1_000, "{error}");
        Ok(())
    });
    checked.unwrap();
}

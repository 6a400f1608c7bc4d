//! Coding agents report wrong and missing answers.

use serde_json::json;

use crate::support::Workshop;

#[test]
fn what_an_agent_reports_is_among_the_insights() {
    let workshop = Workshop::small();
    workshop.sync();
    let server = workshop.serve(&[]);
    let call = |name: &str, arguments| {
        let params = json!({"name": name, "arguments": arguments});
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        let (status, answer) = server.post("/mcp", &message);
        assert_eq!(
            (status, &answer["result"]["isError"]),
            (200, &json!(false)),
            "{answer}"
        );
        answer["result"]["structuredContent"].clone()
    };
    let question = "How do I tighten the wheels?";
    let answered = call("ask", json!({"question": question}));
    let problem = "The wrench is <red> now.";
    let report = json!({
        "question": question, "problem": problem, "page": "/docs/wheels", "message_id": answered["message_id"],
    });
    assert_eq!(call("report", report)["received"], true);

    let insights = workshop.json(&["insights"]);
    let reported = &insights["reports"][0];
    assert_eq!(reported["problem"], problem, "{insights}");
    // A server that only this machine reaches keeps questions.
    assert_eq!(reported["question"], question);
    assert_eq!(
        insights["not_helpful"], 0,
        "a report is no reader's judgement"
    );
    let page = server.get("/insights").1;
    assert!(page.contains("The wrench is &lt;red&gt; now."), "{page}");
    assert!(page.contains("reported by an agent"), "{page}");
    let printed = workshop.run(&["insights"]);
    let printed = String::from_utf8(printed.stdout).unwrap();
    assert!(printed.contains("reported by agents:"), "{printed}");
}

//! The results of tools and resources.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{Served, entries, message};
use crate::api::Limits;
use book::chunk::count_tokens;

#[tokio::test]
async fn what_a_search_returns_can_be_fetched_and_cited() {
    let served = Served::book().await;
    let found = served
        .tool("search", json!({"query": "What are the signs of frost?"}))
        .await;
    let best = &found["results"][0];
    assert_eq!(best["id"], json!("/docs/frost#signs-of-frost"), "{found}");
    assert_eq!(best["title"], json!("Frost – Signs of frost"));
    assert_eq!(
        best["url"],
        json!("https://garden.example/docs/frost#signs-of-frost")
    );
    assert_eq!(best["lines"], json!("5-7"));
    let fetched = served.tool("fetch", json!({"id": best["id"]})).await;
    assert_eq!(
        fetched["text"],
        json!(
            "## Signs of frost {#signs-of-frost}\n\nA clear sky, no wind and a low moon are `signs` of frost.\n\n\
             ### At dusk {#at-dusk}\n\nThe grass is dry."
        )
    );
    assert_eq!(fetched["url"], best["url"]);
    assert_eq!(fetched.get("next"), None);
}

#[tokio::test]
async fn the_shapes_are_those_of_connectors() {
    let served = Served::book().await;
    let found = served.tool("search", json!({"query": "compost"})).await;
    for result in entries(&found, "results") {
        for field in ["id", "title", "text", "url"] {
            assert!(
                !result[field].as_str().unwrap().is_empty(),
                "{field}: {result}"
            );
        }
        let fetched = served.tool("fetch", json!({"id": result["id"]})).await;
        for field in ["id", "title", "text", "url"] {
            assert!(
                !fetched[field].as_str().unwrap().is_empty(),
                "{field}: {fetched}"
            );
        }
        assert_eq!(fetched["id"], result["id"]);
    }
}

#[tokio::test]
async fn parts_of_a_text_are_the_whole_of_it() {
    let served = Served::book().await;
    for page in ["/docs/compost", "/docs/code"] {
        let whole = read_at(&served, page, "/mcp?max_tokens=100000").await;
        let parts = read_at(&served, page, "/mcp?max_tokens=1000").await;
        assert!(whole.len() == 1 && parts.len() > 2, "{} parts", parts.len());
        assert_eq!(parts.concat(), whole[0]);
        assert!(whole[0].len() > 10_000);
    }
}

/// Reads all parts of a text.
async fn read_at(served: &Served, page: &str, uri: &str) -> Vec<String> {
    let (mut parts, mut next) = (Vec::new(), Some(page.to_owned()));
    while let Some(id) = next {
        let params = json!({"name": "fetch", "arguments": {"id": id}});
        let (_, answer) = served.send(message(uri, "tools/call", params)).await;
        let fetched = &answer["result"]["structuredContent"];
        let text = fetched["text"]
            .as_str()
            .unwrap_or_else(|| panic!("{answer}"));
        assert!(!text.is_empty());
        parts.push(text.to_owned());
        next = fetched["next"].as_str().map(str::to_owned);
    }
    parts
}

#[tokio::test]
async fn an_answer_says_whether_it_is_one() {
    let served = Served::book().await;
    let answer = served
        .tool("ask", json!({"question": "What are the signs of frost?"}))
        .await;
    assert_eq!(answer["answerable"], json!(true), "{answer}");
    assert_eq!(answer["outcome"], json!("answered"));
    let cited = &answer["citations"][0];
    assert_eq!(cited["id"], json!("/docs/frost#signs-of-frost"), "{answer}");
    assert!(
        cited["quote"].as_str().unwrap().contains("clear sky"),
        "{answer}"
    );
    served.tool("fetch", json!({"id": cited["id"]})).await;

    let asked = json!({"question": "Who won the chess championship in Reykjavik?"});
    let refused = served.tool("ask", asked).await;
    assert_eq!(refused["answerable"], json!(false), "{refused}");
    for near in entries(&refused, "nearest") {
        served.tool("fetch", json!({"id": near["id"]})).await;
    }
}

#[tokio::test]
async fn an_outline_leads_to_every_listed_page_and_heading() {
    let served = Served::book().await;
    let pages = served.tool("outline", json!({})).await;
    let ids = |outline: &Value| -> BTreeSet<String> {
        let entries = entries(outline, "entries").into_iter();
        entries
            .map(|entry| entry["id"].as_str().unwrap().to_owned())
            .collect()
    };
    let all = [
        "/docs/code",
        "/docs/compost",
        "/docs/frost",
        "/docs/guides/start",
    ];
    assert_eq!(ids(&pages), all.map(str::to_owned).into());
    let below = served
        .tool("outline", json!({"under": "/docs/guides"}))
        .await;
    assert_eq!(ids(&below), ["/docs/guides/start".to_owned()].into());

    let headings = served
        .tool("outline", json!({"under": "/docs/frost"}))
        .await;
    let headings = entries(&headings, "entries");
    let levels: Vec<(&str, u64)> = headings
        .iter()
        .map(|entry| {
            (
                entry["title"].as_str().unwrap(),
                entry["level"].as_u64().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        levels,
        [
            ("Frost", 1),
            ("Signs of frost", 2),
            ("At dusk", 3),
            ("Sensors", 2)
        ]
    );
    for heading in &headings {
        let fetched = served.tool("fetch", json!({"id": heading["id"]})).await;
        let tokens = fetched["tokens"].as_u64().unwrap();
        // The listed count excludes headings, anchors and code marks.
        let listed = heading["tokens"].as_u64().unwrap();
        assert!(
            listed <= tokens && tokens < 3 * listed + 40,
            "{heading} {tokens}"
        );
    }
}

#[tokio::test]
async fn the_pages_are_resources_in_parts_of_the_budget() {
    let served = Served::book().await;
    let listed = served.method("resources/list", json!({})).await;
    let resources = entries(&listed, "resources");
    assert_eq!(resources.len(), 4, "{listed}");
    for resource in resources {
        assert_eq!(resource["mimeType"], json!("text/markdown"));
        let read = served
            .method("resources/read", json!({"uri": resource["uri"]}))
            .await;
        let text = read["contents"][0]["text"].as_str().unwrap();
        assert!(text.starts_with("# "), "{text}");
        assert!(count_tokens(&read.to_string()) <= 6_000);
    }
    let absent = message(
        "/mcp",
        "resources/read",
        json!({"uri": "book:///docs/nowhere"}),
    );
    let (_, answer) = served.send(absent).await;
    assert_eq!(answer["error"]["code"], json!(-32602), "{answer}");
    assert!(
        answer["error"]["message"]
            .as_str()
            .unwrap()
            .contains("/docs/nowhere")
    );
}

#[tokio::test]
async fn lists_beyond_the_budget_go_on_where_they_ended() {
    let names: Vec<String> = (0..120).map(|page| format!("page-{page:03}.md")).collect();
    let pages: Vec<(&str, &str)> = names
        .iter()
        .map(|name| (name.as_str(), "# A page\n\nText.\n"))
        .collect();
    let served = Served::of_pages(&pages, Limits::NONE).await;
    let (mut seen, mut under, mut parts) = (BTreeSet::new(), None, 0);
    loop {
        let params = json!({"name": "outline", "arguments": {"under": under}});
        let (_, answer) = served
            .send(message("/mcp?max_tokens=1000", "tools/call", params))
            .await;
        let outline = &answer["result"]["structuredContent"];
        for entry in entries(outline, "entries") {
            assert!(
                seen.insert(entry["id"].as_str().unwrap().to_owned()),
                "{entry} comes twice"
            );
        }
        parts += 1;
        under = outline["next"].as_str().map(str::to_owned);
        if under.is_none() {
            break;
        }
    }
    assert!(seen.len() == 120 && parts > 2, "{} in {parts}", seen.len());
    let (mut seen, mut cursor) = (0, None);
    loop {
        let params = cursor.map_or(json!({}), |cursor| json!({"cursor": cursor}));
        let (_, answer) = served
            .send(message("/mcp?max_tokens=1000", "resources/list", params))
            .await;
        seen += entries(&answer["result"], "resources").len();
        cursor = answer["result"]["nextCursor"].as_str().map(str::to_owned);
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(seen, 120);
}

#[tokio::test]
async fn a_chunk_is_fetched_by_the_id_that_the_api_gives_it() {
    let served = Served::book().await;
    let catalog = served.retriever.catalog();
    let index_id = served.retriever.index.index_id;
    let site = &served.retriever.index.site;
    let page = catalog.page_at(index_id, site, "/docs/frost").await;
    let page = page.unwrap().unwrap();
    let chunks = catalog.chunks(index_id, page.document_id).await.unwrap();
    assert!(chunks.len() > 2);
    for chunk in chunks {
        let fetched = served.tool("fetch", json!({"id": chunk.chunk_id})).await;
        let last = chunk.text.lines().last().unwrap();
        let last = last.trim_matches('`');
        assert!(
            fetched["text"]
                .as_str()
                .unwrap()
                .contains(last.split(' ').next().unwrap()),
            "{fetched}"
        );
    }
}

#[tokio::test]
async fn a_page_is_found_by_its_percent_encoded_address() {
    let heading = "# Page\n\nIt is here.\n\n## Über uns\n\nWe measure.\n";
    let pages = ["Ünïcode.md", "with space.md", "100%25.md", "deep er/a.md"];
    let served = Served::of_pages(&pages.map(|page| (page, heading)), Limits::NONE).await;
    for (id, url) in [
        ("/docs/%C3%9Cn%C3%AFcode", "/docs/Ünïcode"),
        (
            "/docs/%C3%9Cn%C3%AFcode#%C3%BCber-uns",
            "/docs/Ünïcode#über-uns",
        ),
        ("/docs/Ünïcode#%C3%BCber-uns", "/docs/Ünïcode#über-uns"),
        ("/docs/with%20space", "/docs/with space"),
        ("/docs/100%25", "/docs/100%25"),
        ("/docs/100%2525", "/docs/100%25"),
    ] {
        let fetched = served.tool("fetch", json!({ "id": id })).await;
        let expected = format!("https://garden.example{url}");
        assert_eq!(fetched["url"], json!(expected), "{id}: {fetched}");
    }
    let below = served
        .tool("outline", json!({"under": "/docs/deep%20er"}))
        .await;
    assert_eq!(below["entries"][0]["id"], json!("/docs/deep er/a"));
    let refused = served.refusal("fetch", json!({"id": "/docs/%C3%9C"})).await;
    assert!(refused.contains("nothing at"), "{refused}");
}

#[tokio::test]
async fn a_pipe_in_a_cell_does_not_end_it() {
    let page = "# Signs\n\nSome `a_b`.\n\n| Sign | `Code` |\n| --- | --- |\n| a\\|b | c\\\\ |\n| d_e | `f` |\n\nAnd more.\n";
    let served = Served::of_pages(&[("signs.md", page)], Limits::NONE).await;
    let fetched = served.tool("fetch", json!({"id": "/docs/signs"})).await;
    let text = fetched["text"].as_str().unwrap();
    let rows = text.lines().filter(|line| line.starts_with('|'));
    let rows: Vec<&str> = rows.collect();
    assert_eq!(rows.len(), 4, "{text}");
    assert_eq!(rows[2], "| a\\|b | c\\\\ |", "{text}");
    assert_eq!((rows[0], rows[3]), ("| Sign | `Code` |", "| d_e | `f` |"));
    assert!(
        text.contains("Some `a_b`.") && text.ends_with("And more."),
        "{text}"
    );
}

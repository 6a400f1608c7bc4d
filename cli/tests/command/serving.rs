//! Routes of `serve` besides answers.

use std::io::{Read, Write};
use std::net::TcpStream;
#[cfg(unix)]
use std::process::Command;

use bookrag_tests::collector::Collector;
use serde_json::{Value, json};

use crate::client::client;
use crate::support::Workshop;

#[test]
fn only_commands_may_start_a_run() {
    let workshop = Workshop::small();
    let server = workshop.serve(&[]);
    for headers in [
        &[][..],
        &[("x-forwarded-for", "203.0.113.9"), ("via", "1.1 nginx")],
        &[("sec-fetch-site", "cross-site")],
        &[("x-bookrag-secret", "")],
        &[("x-bookrag-secret", "00000000-0000-4000-8000-000000000000")],
    ] {
        let url = format!("{}/local/sync?allow_mass_deletion=true", server.url);
        let mut request = client().post(url);
        for (name, value) in headers {
            request = request.header(name, value);
        }
        assert_eq!(request.send().unwrap().status(), 403, "{headers:?}");
    }
    assert_eq!(workshop.sync()["status"], "success");
}

#[test]
fn every_path_of_the_api_answers_in_the_envelope() {
    let workshop = Workshop::small();
    let server = workshop.serve(&[]);
    for path in ["/api/v1/nothing", "/api/v1/chat/nothing"] {
        let (status, body) = server.get(path);
        assert_eq!(status, 404, "{path}");
        let body: Value = serde_json::from_str(&body).unwrap();
        assert_eq!(body["error"]["code"], "not_found", "{path}");
    }
}

#[test]
fn a_page_below_api_is_read() {
    let workshop = Workshop::small();
    std::fs::create_dir_all(workshop.site().join("other")).unwrap();
    workshop.write(
        "bookrag.toml",
        "[docs.other]\ndocs_path = 'other'\nroute_base_path = 'api'\n",
    );
    workshop.write("other/hooks.md", "# Hooks\n\nA hook runs late.\n");
    let server = workshop.serve(&[]);
    let (status, page) = server.get("/api/hooks");
    assert_eq!(status, 200, "{page}");
    assert!(page.contains("A hook runs late."), "{page}");
}

/// Other pages would spend the questions of their visitors.
#[test]
fn no_get_of_the_api_answers_a_foreign_page_or_counts_it() {
    let workshop = Workshop::small();
    let server = workshop.serve(&[]);
    let openapi: Value = serde_json::from_str(&server.get("/openapi.json").1).unwrap();
    let paths = openapi["paths"].as_object().unwrap().iter();
    let readable: Vec<&String> = paths
        .filter(|(_, methods)| methods["get"].is_object())
        .map(|(path, _)| path)
        .collect();
    assert!(readable.len() >= 4, "{readable:?}");
    for path in readable {
        for (name, value) in [
            ("origin", "https://evil.example"),
            ("sec-fetch-dest", "image"),
            ("sec-purpose", "prefetch"),
        ] {
            let request = client().get(format!("{}{path}?q=wheels", server.url));
            let response = request.header(name, value).send().unwrap();
            assert_eq!(response.status(), 403, "{path} {name}");
            assert!(!response.headers().contains_key("ratelimit"), "{path}");
        }
    }
}

#[test]
fn health_ends_with_0_while_a_server_answers() {
    let workshop = Workshop::small();
    let server = workshop.serve(&[]);
    let well = workshop.run(&["health", &server.url]);
    assert_eq!(well.status.code(), Some(0), "{well:?}");
    let told = String::from_utf8(well.stdout).unwrap();
    assert!(told.starts_with("unchecked\n"), "{told}");
    let deep = workshop.json(&["health", &server.url, "--deep"]);
    assert_eq!(deep["status"], "healthy", "{deep}");
    assert_eq!(deep["vector_store"]["kind"], "local", "{deep}");

    let url = server.url.clone();
    server.kill();
    let nobody = workshop.run(&["health", &url]);
    assert_eq!(nobody.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&nobody.stderr).contains(&url));
}

#[cfg(unix)]
#[test]
fn a_server_stops_cleanly_on_a_signal() {
    for signal in ["-TERM", "-INT"] {
        let workshop = Workshop::small();
        let mut server = workshop.serve(&[]);
        let process = server.process().to_string();
        let told = Command::new("kill").args([signal, &process]).status();
        assert!(told.unwrap().success());
        assert_eq!(server.wait(), Some(0), "{signal}");
    }
}

#[test]
fn programs_that_ask_for_markdown_get_the_page_as_markdown() {
    let workshop = Workshop::small();
    workshop.write(
        "docs/wheels.md",
        "# Wheels\n\nSee the [probe](./probe.md).\n",
    );
    let server = workshop.serve(&[]);
    let get = |path: &str, accept: &str| {
        let request = client().get(format!("{}{path}", server.url));
        let response = request.header("accept", accept).send().unwrap();
        let header = |name: &str| {
            let value = response.headers().get(name);
            value.map_or(String::new(), |value| value.to_str().unwrap().to_owned())
        };
        let headers = ["content-type", "vary", "link", "x-robots-tag"].map(header);
        (headers, response.text().unwrap())
    };
    let markdown = "# Wheels\n\nSee the [probe](/docs/probe).\n";
    for (path, accept) in [
        ("/docs/wheels", "text/markdown, text/html, */*"),
        ("/docs/wheels.md", "*/*"),
    ] {
        let ([content_type, vary, link, robots], text) = get(path, accept);
        assert_eq!(text, markdown, "{path}");
        assert_eq!(content_type, "text/markdown; charset=utf-8");
        assert_eq!(vary, "accept");
        assert_eq!(link, "</docs/wheels>; rel=\"canonical\"");
        assert_eq!(robots, "noindex");
    }
    let ([content_type, vary, link, robots], text) = get("/docs/wheels", "text/html,*/*;q=0.8");
    assert!(text.starts_with("<!doctype html>"), "{text}");
    assert_eq!(content_type, "text/html; charset=utf-8");
    assert_eq!((vary.as_str(), robots.as_str()), ("accept", ""));
    assert_eq!(
        link,
        "</docs/wheels.md>; rel=\"alternate\"; type=\"text/markdown\""
    );
    assert_eq!(
        get("/docs/none", "text/markdown").1,
        "There is no page of this documentation at this address.\n"
    );
}

#[test]
fn a_redirect_to_the_built_site_stays_on_its_host() {
    let workshop = Workshop::small();
    let server = workshop.serve(&["--site-url", "https://book.example/"]);
    let host = server.url.trim_start_matches("http://").to_owned();
    let mut stream = TcpStream::connect(&host).unwrap();
    let head =
        format!("GET //evil.example/x HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(
        answer.contains("location: https://book.example/evil.example/x\r\n"),
        "{answer}"
    );
}

#[test]
fn pictures_of_the_static_folder_are_served_and_no_other_files() {
    let workshop = Workshop::small();
    let folder = workshop.site().join("static/img");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("robot.svg"), "<svg/>").unwrap();
    std::fs::write(folder.join("notes.txt"), "notes").unwrap();
    std::fs::write(workshop.site().join("docs/plan.png"), "plan").unwrap();
    let server = workshop.serve(&[]);
    let response = client().get(format!("{}/img/robot.svg", server.url));
    let response = response.send().unwrap();
    assert_eq!(response.status(), 200);
    let header = |name: &str| response.headers()[name].to_str().unwrap().to_owned();
    assert_eq!(header("content-type"), "image/svg+xml");
    assert_eq!(header("x-content-type-options"), "nosniff");
    assert!(header("content-security-policy").contains("sandbox"));
    assert_eq!(response.text().unwrap(), "<svg/>");
    for path in [
        "/img/notes.txt",
        "/img/none.png",
        "/docs/plan.png",
        "/../docs/plan.png",
        "/%2e%2e/docs/plan.png",
    ] {
        assert_eq!(server.get(path).0, 404, "{path}");
    }
}

#[test]
fn two_pages_with_one_url_are_named_by_the_doctor_and_by_each_sync() {
    let workshop = Workshop::small();
    workshop.write(
        "docs/clash.md",
        "---\nslug: /probe\n---\n\nAnother probe.\n",
    );
    let diagnosis = workshop.json(&["doctor", "book"]);
    assert_eq!(diagnosis["shared_urls"][0]["at"], "/docs/probe");
    assert_eq!(
        diagnosis["shared_urls"][0]["what"],
        "docs/clash.md, docs/probe.md"
    );
    for _ in 0..2 {
        let warnings = workshop.sync()["warnings"].to_string();
        for part in ["docs/clash.md, docs/probe.md", "/docs/probe"] {
            assert!(warnings.contains(part), "{part} in {warnings}");
        }
    }
}

#[test]
fn pages_of_two_docs_instances_with_one_url_are_named() {
    let workshop = Workshop::small();
    std::fs::create_dir_all(workshop.site().join("other")).unwrap();
    workshop.write("bookrag.toml", "[docs.other]\ndocs_path = 'other'\n");
    workshop.write(
        "other/probe.md",
        "# Another probe\n\nIt is in other docs.\n",
    );
    let diagnosis = workshop.json(&["doctor", "book"]);
    assert_eq!(diagnosis["shared_urls"][0]["at"], "/docs/probe");
    assert_eq!(
        diagnosis["shared_urls"][0]["what"],
        "docs/probe.md, other/probe.md"
    );
    assert_eq!(diagnosis["editions"]["en, version other@current"], 1);
    let warnings = workshop.sync()["warnings"].to_string();
    assert!(
        warnings.contains("docs/probe.md, other/probe.md"),
        "{warnings}"
    );
}

#[test]
fn every_link_of_llms_txt_leads_to_a_text() {
    let workshop = Workshop::small();
    workshop.write("docs/draft.md", "---\nunlisted: true\n---\n\n# Hidden\n");
    let odd = ["Ünïcode", "with space", "what? is #1", "100%25"];
    for name in odd {
        workshop.write(&format!("docs/{name}.md"), "# Odd\n\nA name.\n");
    }
    let server = workshop.serve(&[]);
    let (status, index) = server.get("/llms.txt");
    assert_eq!(status, 200);
    assert!(index.starts_with("# Garden"), "{index}");
    assert!(!index.contains("Hidden"), "{index}");
    let links: Vec<&str> = index
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next())
        .collect();
    assert!(links.contains(&"/docs/probe.md"), "{links:?}");
    let whats = "/docs/what%3F%20is%20%231.md";
    assert!(links.contains(&whats), "{links:?}");
    assert_eq!(links.len(), 2 + odd.len() + 1, "{links:?}");
    assert!(links.contains(&"/llms-full.txt"), "{links:?}");
    for link in links {
        let response = client().get(format!("{}{link}", server.url));
        let response = response.send().unwrap();
        assert_eq!(response.status(), 200, "{link}");
        assert_eq!(response.headers()["x-robots-tag"], "noindex", "{link}");
    }
}

#[test]
fn llms_txt_is_at_the_roots_of_the_site_and_of_the_host() {
    let workshop = Workshop::small();
    let config = "module.exports = {title: 'Garden', baseUrl: '/garden/'};";
    workshop.write("docusaurus.config.js", config);
    let server = workshop.serve(&[]);
    let list = server.get("/garden/llms.txt");
    assert!(list.1.contains("(/garden/docs/probe.md)"), "{}", list.1);
    assert_eq!(server.get("/llms.txt"), list);
}

#[test]
fn a_run_renews_llms_txt() {
    let workshop = Workshop::small();
    let server = workshop.serve(&[]);
    assert!(!server.get("/llms.txt").1.contains("Cables"));
    workshop.write("docs/cables.md", "# Cables\n\nThey carry power.\n");
    workshop.sync();
    assert!(server.get("/llms.txt").1.contains("Cables"));
    assert!(server.get("/llms-full.txt").1.contains("They carry power."));
}

#[test]
fn the_api_is_described_where_it_is_served() {
    let workshop = Workshop::small();
    let server = workshop.serve(&[]);
    let described: Value = serde_json::from_str(&server.get("/openapi.json").1).unwrap();
    assert!(described["paths"]["/api/v1/chat"].is_object());
    let (status, page) = server.get("/api/reference");
    assert_eq!(status, 200);
    let files = page.split("\"/assets/").skip(1);
    let files: Vec<&str> = files.filter_map(|rest| rest.split('"').next()).collect();
    assert_eq!(files.len(), 2, "{page}");
    for file in files {
        let response = client().get(format!("{}/assets/{file}", server.url));
        let response = response.send().unwrap();
        assert_eq!(response.status(), 200, "{file}");
        assert_eq!(response.headers()["content-encoding"], "gzip");
        let policy = response.headers()["content-security-policy"].to_str();
        assert!(policy.unwrap().contains("script-src 'self'"), "{file}");
    }
}

#[test]
fn the_api_answers_pages_and_sections_as_json_and_as_markdown() {
    let workshop = Workshop::small();
    workshop.write(
        "docs/cables.md",
        "# Cables\n\nThey carry power. <!-- not shown -->\n\n## Cutting\n\nCut [the probe's](./probe.md) last.\n",
    );
    let server = workshop.serve(&[]);
    let get = |url: &str, accept: &str| {
        let request = client().get(format!("{}/api/v1/page?url={url}", server.url));
        request.header("accept", accept).send().unwrap()
    };
    let section = "## Cutting {#cutting}\n\nCut the probe's last.";
    let whole = format!("# Cables\n\nThey carry power.\n\n{section}");

    let response = get("/docs/cables", "text/markdown, */*");
    let header = |name: &str| response.headers()[name].to_str().unwrap().to_owned();
    assert_eq!(header("content-type"), "text/markdown; charset=utf-8");
    assert!(header("vary").contains("accept"), "{}", header("vary"));
    assert_eq!(header("link"), "</docs/cables>; rel=\"canonical\"");
    assert_eq!(header("x-robots-tag"), "noindex");
    assert_eq!(response.text().unwrap(), whole);

    let response = get("https://garden.example/docs/cables/%23cutting", "*/*");
    let varies = response.headers()["vary"].to_str().unwrap().to_owned();
    assert!(varies.contains("accept"), "{varies}");
    let body: Value = response.json().unwrap();
    let data = &body["data"];
    assert_eq!(data["text"], section, "{body}");
    assert_eq!(data["title"], "Cables – Cutting");
    assert_eq!(data["url"], "/docs/cables#cutting");
    assert_eq!(data["source"], "docs/cables.md");
    assert_eq!(data["end_line"], 7);

    for (url, status) in [("/docs/none", 404), ("", 400), ("/docs/cables%23no", 404)] {
        assert_eq!(get(url, "text/markdown").status(), status, "{url}");
    }
}

#[test]
fn spans_of_a_question_reach_a_collector() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let collector = runtime.block_on(Collector::start());
    let workshop = Workshop::small();
    let (name, address) = collector.environment();
    let variables = [(name, address.as_str()), ("OTEL_BSP_SCHEDULE_DELAY", "50")];
    let server = workshop.serve_with(&variables, &[]);
    let (status, answer) = server.post("/api/v1/chat", &json!({ "query": "soil moisture canary" }));
    assert_eq!(status, 200, "{answer}");
    let spans = runtime.block_on(collector.spans_with("POST /api/v1/chat"));
    let root = spans.iter().find(|span| span.name == "POST /api/v1/chat");
    let trace = &root.unwrap().trace_id;
    for name in ["embed", "vector_store.search", "catalog.join", "fuse"] {
        let named = spans.iter().find(|span| span.name == name);
        let named = named.unwrap_or_else(|| panic!("{name}: {spans:?}"));
        assert_eq!(named.trace_id, *trace, "{name}");
    }
    // A run over the book is no request.
    assert!(
        spans.iter().all(|span| span.trace_id == *trace),
        "{spans:?}"
    );
    for (_, body) in collector.requests() {
        assert!(!String::from_utf8_lossy(&body).contains("canary"));
    }
}

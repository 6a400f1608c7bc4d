//! Reading a book: `chunks`, its ledger, and `doctor`.

use std::fs;

use serde_json::Value;

use crate::support::Workshop;

fn lines(output: &[u8]) -> Vec<Value> {
    let text = std::str::from_utf8(output).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn every_piece_of_the_book_is_in_a_chunk_or_left_out_for_a_reason() {
    let workshop = Workshop::with_broken_page();
    let output = workshop.run(&["chunks", "book", "--ledger", "--json"]);
    assert!(output.status.success(), "{output:?}");
    let entries = lines(&output.stdout);
    assert!(entries.len() > 300, "{}", entries.len());
    for entry in &entries {
        if entry.get("skipped").is_some() {
            continue;
        }
        assert_eq!(entry["unaccounted"], serde_json::json!([]), "{entry}");
        let somewhere = !entry["chunks"].as_array().unwrap().is_empty();
        let for_a_reason = !entry["left_out"].as_array().unwrap().is_empty();
        assert!(somewhere || for_a_reason, "{entry}");
    }
    let skipped: Vec<_> = entries
        .iter()
        .filter_map(|entry| entry["skipped"].as_str())
        .collect();
    assert_eq!(
        skipped.len(),
        2,
        "the broken page and the draft: {skipped:?}"
    );
    // The default output is a summary for people.
    let output = workshop.run(&["chunks", "book", "--ledger"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("pieces in chunks, 0 lost"), "{text}");
}

#[test]
fn doctor_finds_no_fault_in_the_fixture_book() {
    let workshop = Workshop::new();
    let output = workshop.run(&["doctor", "book", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let diagnosis = &lines(&output.stdout)[0];
    for findings in [
        "not_read",
        "skipped",
        "warnings",
        "lost",
        "oversized",
        "shared_urls",
        "dead_links",
    ] {
        assert_eq!(diagnosis[findings], serde_json::json!([]), "{findings}");
    }
}

#[test]
fn doctor_says_what_was_read_from_where_and_what_is_wrong() {
    let workshop = Workshop::with_broken_page();
    let site = workshop.site();
    fs::write(site.join("bookrag.toml"), "route_base_path = 'guide'\n").unwrap();
    let config = site.join("docusaurus.config.js");
    let text = fs::read_to_string(&config).unwrap();
    let computed = text.replace("trailingSlash: false", "trailingSlash: slash()");
    assert_ne!(text, computed);
    fs::write(&config, computed).unwrap();
    fs::write(
        site.join("docs/twin.md"),
        "---\nslug: /letter-to-the-reader\n---\n# Twin\n",
    )
    .unwrap();
    fs::write(
        site.join("docs/lost-part.mdx"),
        "import Part from './_gone.mdx';\n\n# Lost\n\n<Part/>\n\n<Steps\n  of=\"it\" />\n",
    )
    .unwrap();

    let output = workshop.run(&["doctor", "book", "--json"]);
    assert_eq!(
        output.status.code(),
        Some(3),
        "a page is broken: {output:?}"
    );
    let diagnosis = &lines(&output.stdout)[0];
    let from = |name: &str| {
        let settings = diagnosis["settings"].as_array().unwrap();
        let setting = settings.iter().find(|setting| setting["name"] == name);
        setting.unwrap()["from"].as_str().unwrap().to_owned()
    };
    assert_eq!(from("route_base_path"), "bookrag.toml");
    assert_eq!(from("base_url"), "docusaurus.config.js");
    assert_eq!(from("exclude"), "default");
    let holds = |field: &str, words: &[&str]| {
        let text = diagnosis[field].to_string();
        for word in words {
            assert!(text.contains(word), "{field}: {text}");
        }
    };
    holds(
        "not_read",
        &["docusaurus.config.js", "trailing_slash", "bookrag.toml"],
    );
    holds("skipped", &["broken-front-matter.md", "line 3"]);
    holds("drafts", &["draft-frost-mode.md"]);
    holds(
        "shared_urls",
        &[
            "/garden-robotics/guide/letter-to-the-reader",
            "docs/twin.md",
        ],
    );
    holds(
        "warnings",
        &["lost-part.mdx", "line 5", "_gone.mdx does not exist"],
    );
    holds("components", &["lost-part.mdx, line 7", "<Steps of="]);
    assert_eq!(diagnosis["lost"], serde_json::json!([]));

    let output = workshop.run(&["doctor", "book"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("not read: docusaurus.config.js"), "{text}");
}

#[test]
fn pages_that_the_sites_build_makes_are_missed_by_doctor_and_sync() {
    let workshop = Workshop::new();
    let config = workshop.site().join("docusaurus.config.js");
    let text = fs::read_to_string(&config).unwrap();
    let plugin = "plugins: [['docusaurus-plugin-typedoc', { out: 'docs/types' }]],\n  themes: [";
    let changed = text.replacen("themes: [", plugin, 1);
    assert_ne!(text, changed);
    fs::write(&config, changed).unwrap();
    let page = "# Reference\n\nSee [types](types/index.md) and [a class](./types/classes/robot).\n";
    fs::write(workshop.site().join("docs/reference.md"), page).unwrap();
    let doctor = String::from_utf8(workshop.run(&["doctor", "book"]).stdout).unwrap();
    let warnings = workshop.sync()["warnings"].to_string();
    for told in [&doctor, &warnings] {
        for line in [
            "the plugin `docusaurus-plugin-typedoc` writes pages into `docs/types`",
            "1 link leads into `docs/types/` to no page of the book, such as to `docs/types/index.md` in docs/reference.md, line 3",
            "types/classes/robot` in docs/reference.md, line 3",
        ] {
            assert!(told.contains(line), "{line}: {told}");
        }
    }
}

#[test]
fn an_oversized_page_is_named_and_control_characters_are_removed() {
    let workshop = Workshop::new();
    let site = workshop.site();
    let headings = "# a\n\n".repeat(10_100);
    fs::write(site.join("docs/headings.md"), headings).unwrap();
    let imports: String = (0..1_100)
        .map(|n| format!("import P{n} from './_p{n}.mdx';\n"))
        .collect();
    fs::write(site.join("docs/imports.mdx"), imports + "\n# Imports\n").unwrap();
    fs::write(
        site.join("docs/escape.md"),
        "---\ntitle: \"\\e]0;PWNED\\a\\e[31mRed\"\n---\n\nA page\u{2028}of two.\n",
    )
    .unwrap();
    let output = workshop.run(&["chunks", "book"]);
    let (text, told) = (
        String::from_utf8(output.stdout).unwrap(),
        String::from_utf8(output.stderr).unwrap(),
    );
    assert!(text.contains("Red"), "{text}");
    // With `--jsonl`, the full output is one JSON object per line.
    let output = workshop.run(&["chunks", "book", "--jsonl"]);
    let chunks = lines(&output.stdout);
    let escape = chunks
        .iter()
        .find(|chunk| chunk["source"] == "docs/escape.md");
    let shown = escape.unwrap()["text"].as_str().unwrap();
    assert!(shown.contains('\u{2028}'), "{shown:?}");
    assert!(
        !text.contains('\u{1b}') && !text.contains("PWNED"),
        "{text}"
    );
    assert!(
        told.contains("docs/headings.md: it has more than 10000 headings"),
        "{told}"
    );
    assert!(
        told.contains("docs/imports.mdx: it needs more than 1000 other files"),
        "{told}"
    );
}

#[test]
fn pages_and_posts_are_read_beside_the_docs() {
    let workshop = Workshop::new();
    let write = |path: &str, text: &str| {
        let path = workshop.site().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let post = "---\ndate: 2024-05-04\n---\n# Pumps\n\nThey start earlier.\n\n<!-- truncate -->\n\nAnd they stop.\n";
    write("bookrag.toml", "blog.default.path = 'blog'\n");
    write("blog/2024-05-03-pumps.md", post);
    write("src/pages/faq.md", "# Questions\n\nWho waters the robot?\n");
    write(
        "src/pages/shop.js",
        "export default () => <p>Buy a robot</p>;\n",
    );
    let output = workshop.run(&["chunks", "book", "--json"]);
    let chunks = lines(&output.stdout);
    let of = |source: &str| {
        let chunks = chunks.iter().filter(|chunk| chunk["source"] == source);
        chunks.cloned().collect::<Vec<_>>()
    };
    let [post] = &of("blog/2024-05-03-pumps.md")[..] else {
        panic!("{output:?}");
    };
    assert_eq!(post["url"], "/garden-robotics/blog/2024/05/03/pumps");
    let text = post["text"].as_str().unwrap();
    assert!(text.contains("earlier") && text.contains("stop") && !text.contains("truncate"));
    assert_eq!(of("src/pages/faq.md")[0]["url"], "/garden-robotics/faq");
    let output = workshop.run(&["chunks", "book", "--ledger", "--json"]);
    let entries = lines(&output.stdout);
    let entries = entries.iter().filter(|it| it["skipped"].is_null());
    for entry in entries {
        assert_eq!(entry["unaccounted"], serde_json::json!([]), "{entry}");
    }
    let output = workshop.run(&["doctor", "book", "--json"]);
    let diagnosis = &lines(&output.stdout)[0];
    assert_eq!(
        diagnosis["script_pages"],
        serde_json::json!(["src/pages/shop.js"])
    );
    let output = workshop.run(&["doctor", "book"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("src/pages/shop.js: "), "{text}");

    // A built page, in the folder that `--build` or the settings name.
    let html =
        "<title>Shop</title><nav>Bar</nav><main><h2 id=\"buy\">Buy</h2><p>A robot.</p></main>";
    write("build/shop/index.html", html);
    let built = workshop.site().join("build");
    let built = built.to_str().unwrap();
    let shop = |arguments: &[&str]| {
        let output = workshop.run(arguments);
        let chunks = lines(&output.stdout).into_iter();
        let mut chunks = chunks.filter(|it| it["source"] == "build/shop/index.html");
        chunks.next()
    };
    assert_eq!(shop(&["chunks", "book", "--json"]), None);
    let named = shop(&["chunks", "book", "--json", "--build", built]).unwrap();
    assert_eq!(named["url"], "/garden-robotics/shop/#buy");
    assert_eq!(named["text"], "Buy\n\nA robot.");
    let output = workshop.run(&["chunks", "book", "--ledger", "--json", "--build", built]);
    for entry in lines(&output.stdout)
        .iter()
        .filter(|it| it["skipped"].is_null())
    {
        assert_eq!(entry["unaccounted"], serde_json::json!([]), "{entry}");
    }
    let output = workshop.run(&["chunks", "book", "--build", "not-built"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    write("bookrag.toml", "build = 'build'\n");
    assert_eq!(shop(&["chunks", "book", "--json"]), Some(named));

    write("bookrag.toml", "blog = false\npages = false\n");
    let output = workshop.run(&["chunks", "book", "--json"]);
    let sources = lines(&output.stdout);
    let is_doc = |chunk: &Value| chunk["source"].as_str().unwrap().starts_with("docs/");
    assert!(sources.iter().all(is_doc), "{output:?}");
}

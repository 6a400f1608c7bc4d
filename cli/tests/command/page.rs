//! The page to ask on, in a real browser.

use std::process::Command;

use crate::support::Workshop;

#[test]
fn a_reader_asks_by_keyboard_and_follows_a_citation() {
    let chromium = std::env::var("BOOKRAG_TEST_CHROMIUM");
    let modules = std::env::var("BOOKRAG_TEST_NODE_MODULES");
    let (Ok(chromium), Ok(modules)) = (chromium, modules) else {
        panic!(
            "BOOKRAG_TEST_CHROMIUM and BOOKRAG_TEST_NODE_MODULES are not set: run tests/run.sh, which installs both"
        );
    };
    let workshop = Workshop::new();
    let server = workshop.serve(&[]);
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/command/page.cjs");
    let output = Command::new("node")
        .arg(script)
        .env("NODE_PATH", modules)
        .env("CHROMIUM", chromium)
        .env("URL", &server.url)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}\n{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

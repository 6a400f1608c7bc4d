//! Invalid arguments exit with 2, and a command that does not start changes nothing.

use std::fs;

use crate::support::Workshop;

#[test]
fn wrong_usage_ends_with_2_with_and_without_a_server() {
    let workshop = Workshop::small();
    workshop.sync();
    let check = || {
        for arguments in [
            &["search", "wheels", "--top-k", "0"][..],
            &["ask", "wheels", "--top-k", "0"],
            &["search", "wheels", "--hardware-tier", "9"],
            &["ask", "wheels", "--hardware-tier", "9"],
            &["search", " "],
            &["ask", ""],
            &["sync", "nowhere"],
            &["doctor", "nowhere"],
            &["chunks", "nowhere"],
            &["serve", "nowhere"],
            &["serve", "book", "--site-url", "/"],
            &["serve", "book", "--site-url", "book.example"],
            &["serve", "book", "--site-url", "https://a@evil.example"],
            &["serve"],
            &[
                "serve",
                "book",
                "--port",
                "8081",
                "--listen",
                "127.0.0.1:8081",
            ],
            &["reset", "nowhere"],
            &["reset", "book"],
            &["serve", "s3://books/robots", "--watch"],
        ] {
            let refused = workshop.run(arguments);
            assert_eq!(refused.status.code(), Some(2), "{arguments:?}: {refused:?}");
        }
    };
    check();
    let _server = workshop.serve(&[]);
    check();
}

#[test]
fn a_folder_without_a_configuration_is_reported() {
    let workshop = Workshop::small();
    let config = workshop.site().join("docusaurus.config.js");
    let told = || String::from_utf8(workshop.run(&["sync", "book"]).stderr).unwrap();
    assert!(!told().contains("no docusaurus.config"));
    fs::remove_file(config).unwrap();
    assert!(told().contains("no docusaurus.config file") && told().contains("`docs`"));
}

#[test]
fn a_wrong_address_is_answered_with_a_right_one() {
    let workshop = Workshop::small();
    for (typed, example) in [
        ("18300", "127.0.0.1:18300"),
        ("18300", "--port 18300"),
        ("localhost:8080", "127.0.0.1:8080"),
    ] {
        let refused = workshop.run(&["serve", "book", "--listen", typed]);
        let said = String::from_utf8(refused.stderr).unwrap();
        assert!(said.contains(example), "{example} in {said}");
    }
}

//! What was typed wrong ends with 2, and what does not start changes nothing.

use std::fs;
use std::net::TcpListener;

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
fn a_server_that_does_not_start_leaves_the_current_book() {
    let workshop = Workshop::small();
    workshop.sync();
    let current = fs::read(workshop.data().join("current")).unwrap();
    let other = workshop.site().with_file_name("other");
    fs::create_dir(&other).unwrap();
    fs::write(other.join("page.md"), "# Page\n\nText.\n").unwrap();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let books = || fs::read_dir(workshop.data()).unwrap().count();
    let before = books();
    let refused = workshop.run(&["serve", "other", "--listen", &address]);
    assert_eq!(refused.status.code(), Some(1));
    let told = String::from_utf8(refused.stderr).unwrap();
    assert!(
        told.contains(&address) && told.contains("--listen"),
        "{told}"
    );
    assert_eq!(fs::read(workshop.data().join("current")).unwrap(), current);
    assert_eq!(books(), before);
}

#[test]
fn a_second_process_on_a_book_is_told_of_the_first() {
    let workshop = Workshop::small();
    let server = workshop.serve(&[]);
    let process = format!("process {} (bookrag serve)", server.process());
    let second = workshop.run(&["serve", "book", "--listen", "127.0.0.1:0"]);
    assert_eq!(second.status.code(), Some(1));
    let told = String::from_utf8(second.stderr).unwrap();
    assert!(
        told.contains(&process) && told.contains("stop it"),
        "{told}"
    );
}

#[test]
fn stores_are_not_offered_for_version_control() {
    let workshop = Workshop::small();
    workshop.sync();
    let ignore = fs::read_to_string(workshop.data().join(".gitignore")).unwrap();
    assert_eq!(ignore, "*\n");
}

#[test]
fn a_folder_without_a_configuration_is_told_of() {
    let workshop = Workshop::small();
    let config = workshop.site().join("docusaurus.config.js");
    let told = || String::from_utf8(workshop.run(&["sync", "book"]).stderr).unwrap();
    assert!(!told().contains("no docusaurus.config"));
    fs::remove_file(config).unwrap();
    assert!(told().contains("no docusaurus.config file") && told().contains("`docs`"));
}

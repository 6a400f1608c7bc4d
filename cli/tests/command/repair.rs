//! Changes made to the stores from outside are found and repaired.

use std::fs;

use rusqlite::Connection;
use serde_json::json;

use crate::support::Workshop;

fn lose_vectors(workshop: &Workshop) {
    let connection = Connection::open(workshop.store()).unwrap();
    connection.execute("DELETE FROM point_vectors", ()).unwrap();
}

#[test]
fn lost_vectors_are_stored_again() {
    let workshop = Workshop::small();
    let first = workshop.sync();
    assert_eq!(
        (&first["restored"], &first["stray_points"]),
        (&json!([]), &json!(0))
    );
    lose_vectors(&workshop);
    let repaired = workshop.sync();
    let pages = first["files_changed"].as_u64().unwrap();
    assert_eq!(
        repaired["restored"].as_array().unwrap().len() as u64,
        pages,
        "{repaired}"
    );
    assert_eq!(repaired["total_chunks"], first["total_chunks"]);
    let found = workshop.found("the soil moisture probe");
    assert!(!found.0.is_empty());

    let again = workshop.sync();
    assert_eq!(
        (&again["restored"], &again["embedded"]),
        (&json!([]), &json!(0))
    );
}

#[test]
fn a_lost_store_is_filled_again() {
    let workshop = Workshop::small();
    let first = workshop.sync();
    fs::remove_file(workshop.store()).unwrap();
    let told = String::from_utf8(workshop.run(&["search", "wrench"]).stderr).unwrap();
    assert!(told.contains("bookrag sync SITE"), "{told}");
    assert_eq!(workshop.sync()["embedded"], first["embedded"]);
    assert_eq!(workshop.found("blue wrench").0[0], "docs/wheels.md");
}

#[test]
fn the_doctor_finds_in_what_an_index_differs_and_repairs_it() {
    let workshop = Workshop::small();
    workshop.write("docs/intro.md", "# Beginning\n\nA robot waters the beds.\n");
    let before = workshop.json(&["doctor", "book"]);
    assert_eq!(before["index"], json!(null), "it was never indexed");
    workshop.sync();
    let well = workshop.json(&["doctor", "book"]);
    let status = &well["index"]["status"];
    assert_eq!(
        (&status["pending"], &well["index"]["stray_points"]),
        (&json!([]), &json!(0)),
        "{status}"
    );

    let page = workshop.site().join("docs/intro.md");
    fs::write(&page, "# Another beginning\n\nText.\n").unwrap();
    lose_vectors(&workshop);
    let ill = workshop.json(&["doctor", "book"]);
    assert_eq!(
        ill["index"]["status"]["pending"],
        json!([{ "source": "docs/intro.md", "change": "changed" }])
    );
    let lost = ill["index"]["lost_points"].as_object().unwrap();
    assert!(lost.len() > 1, "{lost:?}");
    let text = workshop.run(&["doctor", "book"]);
    assert_eq!(text.status.code(), Some(3));
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(
        text.contains("docs/intro.md: changed since it was indexed") && text.contains("has lost"),
        "{text}"
    );

    let repaired = workshop.json(&["doctor", "book", "--repair"]);
    assert_eq!(repaired["repair"]["files_changed"], 1, "{repaired}");
    let after = workshop.json(&["doctor", "book"]);
    assert_eq!(
        (
            &after["index"]["status"]["pending"],
            &after["index"]["lost_points"]
        ),
        (&json!([]), &json!({}))
    );
}

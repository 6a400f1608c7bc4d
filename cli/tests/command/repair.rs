//! What happened to the stores behind our back is found and mended.

use std::fs;

use serde_json::json;

use crate::support::Workshop;

#[test]
fn a_lost_vector_store_is_filled_again() {
    let workshop = Workshop::new();
    let first = workshop.sync();
    let chunks = first["total_chunks"].as_u64().unwrap();
    assert_eq!(
        (&first["restored"], &first["stray_points"]),
        (&json!([]), &json!(0))
    );

    fs::remove_dir_all(workshop.stores().join("vectors")).unwrap();
    let mended = workshop.sync();
    let pages = first["files_changed"].as_u64().unwrap();
    assert_eq!(
        mended["restored"].as_array().unwrap().len() as u64,
        pages,
        "{mended}"
    );
    assert_eq!(mended["total_chunks"].as_u64(), Some(chunks));
    let found = workshop.json(&["search", "calibrate the soil moisture probe"]);
    assert!(
        !found["data"]["results"].as_array().unwrap().is_empty(),
        "{found}"
    );

    let again = workshop.sync();
    assert_eq!(
        (&again["restored"], &again["embedded"]),
        (&json!([]), &json!(0))
    );
}

#[test]
fn a_lost_catalog_is_filled_again_and_leaves_no_stray_points() {
    let workshop = Workshop::new();
    let first = workshop.sync();
    for entry in fs::read_dir(workshop.stores()).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file()
            && path
                .file_name()
                .unwrap()
                .to_string_lossy()
                .starts_with("catalog")
        {
            fs::remove_file(path).unwrap();
        }
    }
    // So many points may be another catalog's: they are deleted when it is asked for.
    let again = workshop.sync();
    assert_eq!(
        (&again["stray_points"], &again["embedded"]),
        (&json!(0), &first["embedded"])
    );
    assert!(
        again["warnings"]
            .to_string()
            .contains("allow mass deletion: `--allow-mass-deletion`"),
        "{again}"
    );
    let mended = workshop.json(&["sync", "book", "--allow-mass-deletion"]);
    assert_eq!(mended["stray_points"], first["total_chunks"], "{mended}");
    let after = workshop.sync();
    assert_eq!(
        (&after["stray_points"], &after["embedded"]),
        (&json!(0), &json!(0))
    );
}

#[test]
fn the_doctor_finds_in_what_an_index_differs_and_repairs_it() {
    let workshop = Workshop::new();
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
    fs::remove_dir_all(workshop.stores().join("vectors")).unwrap();
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

//! The values that filters may have.

use super::Store;
use super::filtering::write_distinguished;
use super::rows::{COMMITTED, chunk, commit, live_index, write};
use super::searching::SOURCE;

/// An unlisted page: searches hide it, so its values are hidden too.
const UNLISTED: &str = "docs/unlisted.md";

pub(super) async fn the_values_of_a_field_are_listed_once(store: Store) {
    let catalog = &store.catalog;
    let index_id = live_index(catalog).await;
    write_distinguished(catalog, index_id).await;
    let mut unlisted = commit(
        index_id,
        UNLISTED,
        0,
        &[chunk(UNLISTED, 0, "a secret node")],
    );
    for chunk in unlisted.chunks.iter_mut().flatten() {
        chunk.payload.unlisted = true;
        "9.9".clone_into(&mut chunk.payload.version);
    }
    assert_eq!(write(catalog, &unlisted).await, COMMITTED);
    for (field, expected) in [
        ("locale", &["de", "en", "ur"][..]),
        ("version", &["1.0", "current"]),
        (
            "module",
            &["Simulation's “worlds”", "The Robotic Nervous System"],
        ),
        ("module_number", &["1", "2"]),
        ("chapter_number", &["1", "11"]),
        ("lesson_id", &["2.11.1"]),
        ("source", &[SOURCE, "versioned_docs/version-1.0/a b.md"]),
        ("facets.plan", &["pro", "team \u{201c}a\u{201d}"]),
        ("facets.release", &["2.5"]),
        ("no_such_field", &[]),
    ] {
        let mut values = catalog.values(index_id, field).await.unwrap();
        values.sort_unstable();
        assert_eq!(values, expected, "{field}");
        assert_eq!(catalog.values(index_id + 1, field).await.unwrap(), [""; 0]);
    }
}

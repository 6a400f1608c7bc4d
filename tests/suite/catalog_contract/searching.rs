//! Full-text search, the fallback for the vector store.

use bookrag::catalog::{Catalog, ChunkRow};
use bookrag::index::{ChunkPayload, Filters};
use bookrag::retrieve::Language;
use bookrag::words::terms_in;

use uuid::Uuid;

use super::Store;
use super::rows::{COMMITTED, chunk, commit, live_index, new_index, payload, write};

pub(super) const SOURCE: &str = "docs/a.md";
/// More than any test writes.
pub(super) const ALL: u32 = 100;

/// The point and payload of a found chunk.
pub(super) type Found = (Uuid, ChunkPayload);

fn found_chunk(row: &ChunkRow) -> Found {
    (row.point_id, payload(row))
}

pub(super) async fn search(
    catalog: &Catalog,
    index_id: i64,
    text: &str,
    filters: &Filters,
    limit: u32,
) -> Vec<Found> {
    let terms = terms_in(text, &[Language::ENGLISH]);
    let found = catalog.search_text(index_id, &terms, filters, limit).await;
    let found = found.unwrap().into_iter();
    found.map(|chunk| (chunk.point_id, chunk.payload)).collect()
}

/// Returns the texts found without filters.
async fn texts(catalog: &Catalog, index_id: i64, text: &str) -> Vec<String> {
    let found = search(catalog, index_id, text, &Filters::default(), ALL).await;
    found.into_iter().map(|(_, payload)| payload.text).collect()
}

/// Commits chunks with these texts.
pub(super) async fn write_texts<const COUNT: usize>(
    catalog: &Catalog,
    index_id: i64,
    texts: [&str; COUNT],
) -> [ChunkRow; COUNT] {
    let mut positions = 0..;
    let chunks = texts.map(|text| chunk(SOURCE, positions.next().unwrap_or_default(), text));
    let committed = write(catalog, &commit(index_id, SOURCE, 0, &chunks)).await;
    assert_eq!(committed, COMMITTED);
    chunks
}

pub(super) async fn chunks_are_found_by_their_words(store: Store) {
    let catalog = &store.catalog;
    let index_id = live_index(catalog).await;
    let [talk, code, path] = write_texts(
        catalog,
        index_id,
        [
            "Nodes talk over topics; Überraschung!",
            "`create_node(x)` makes a <Node>: node.",
            "See https://example.org/nodes/a.html or robots@example.org",
        ],
    )
    .await;
    let found = search(catalog, index_id, "node", &Filters::default(), ALL).await;
    assert_eq!(found, [&code, &talk, &path].map(found_chunk));
    for (text, expected) in [
        ("ode", vec![]),
        ("create_node", vec![&code, &talk, &path]),
        ("ÜBERRASCHUNG", vec![&talk]),
        ("robots in html", vec![&path]),
        ("quasar", vec![]),
        ("what is it?", vec![]),
        ("", vec![]),
    ] {
        let expected: Vec<&str> = expected.iter().map(|chunk| chunk.text.as_str()).collect();
        assert_eq!(texts(catalog, index_id, text).await, expected, "{text}");
    }
    let none = search(catalog, index_id, "node", &Filters::default(), 0).await;
    assert_eq!(none, []);
}

/// A query, a text, and whether the text has a form of the query's word or only a similar one.
const FORMS: [(&str, &str, bool); 40] = [
    ("battery", "Two batteries", true),
    ("batteries", "The battery", true),
    ("memory", "Memories", true),
    ("memories", "Out of memory", true),
    ("policy", "Policies of a topic", true),
    ("policies", "A policy", true),
    ("policy", "Call the police", false),
    ("library", "Libraries to link", true),
    ("libraries", "A library", true),
    ("query", "It queries", true),
    ("querying", "A query", true),
    ("body", "Rigid bodies", true),
    ("bodies", "A body", true),
    ("history", "Two histories", true),
    ("trajectory", "Plan trajectories", true),
    ("trajectories", "One trajectory", true),
    ("directory", "Directories", true),
    ("gravity", "Gravity", true),
    ("copy", "It copies", true),
    ("copied", "A copy", true),
    ("copying", "Copies", true),
    ("copy", "A copper wire", false),
    ("entry", "Entries", true),
    ("properties", "A property", true),
    ("study", "Studies", true),
    ("studied", "A study", true),
    ("rclpy", "import rclpy", true),
    ("fly", "It flies", true),
    ("flies", "To fly", true),
    ("fly", "A flow", false),
    ("scale", "Scaling", true),
    ("scaling", "To scale", true),
    ("scaling", "A scalar", false),
    ("capability", "Capable", true),
    ("capable", "Capabilities", true),
    ("calibrated", "Calibrating", true),
    ("nodes", "A node", true),
    ("node", "Nodding", false),
    ("running", "It runs", true),
    ("quasar", "Quarks", false),
];

pub(super) async fn a_word_is_found_in_its_other_forms(store: Store) {
    let catalog = &store.catalog;
    let index_id = live_index(catalog).await;
    write_texts(catalog, index_id, FORMS.map(|(_, text, _)| text)).await;
    for (word, text, is_found) in FORMS {
        let found = texts(catalog, index_id, word).await;
        let holds = found.iter().any(|found| found == text);
        assert_eq!(holds, is_found, "{word} in {text}");
    }
}

pub(super) async fn a_page_is_found_by_its_search_words(store: Store) {
    let catalog = &store.catalog;
    let index_id = live_index(catalog).await;
    let chunks =
        ["a node", "a topic"].map(|text| chunk(SOURCE, i32::from(text == "a topic"), text));
    let mut commit = commit(index_id, SOURCE, 0, &chunks);
    if let Some(last) = commit.chunks.as_mut().and_then(|chunks| chunks.last_mut()) {
        "cobots\nHRI".clone_into(&mut last.payload.search_words);
    }
    assert_eq!(write(catalog, &commit).await, COMMITTED);
    for (text, expected) in [
        ("cobot", &["a topic"][..]),
        ("hri", &["a topic"]),
        ("chatbots", &[]),
    ] {
        assert_eq!(texts(catalog, index_id, text).await, expected, "{text}");
    }
    let words = ["cobot", "node"].map(str::to_owned).into();
    let counted = catalog.document_frequencies(index_id, &words, Language::ENGLISH);
    let counted = counted.await.unwrap();
    assert_eq!((counted.with["cobot"], counted.with["node"]), (1, 1));
}

pub(super) async fn more_and_rarer_words_come_first(store: Store) {
    let catalog = &store.catalog;
    let index_id = live_index(catalog).await;
    let [often, node, topic, quasar, all] = write_texts(
        catalog,
        index_id,
        [
            "nodes and nodes and nodes",
            "the nodes",
            "a node, a topic",
            "a node, a quasar",
            "a node, a topic, a quasar",
        ],
    )
    .await;
    let last = chunk("docs/z.md", 0, "a node, a topic");
    let chunks = std::slice::from_ref(&last);
    write(catalog, &commit(index_id, "docs/z.md", 0, chunks)).await;
    let text = "The quasar, a node, the topic of a node";
    let found = search(catalog, index_id, text, &Filters::default(), ALL).await;
    assert_eq!(
        found,
        [&all, &quasar, &topic, &last, &often, &node].map(found_chunk)
    );
    let best = search(catalog, index_id, text, &Filters::default(), 3).await;
    assert_eq!(best, found[..3]);
}

pub(super) async fn only_letters_and_digits_of_a_term_are_searched(store: Store) {
    let catalog = &store.catalog;
    let index_id = live_index(catalog).await;
    let texts_written = ["it isn't a \\ 🤖robot 50% & !node", "节点 1.5"];
    write_texts(catalog, index_id, texts_written).await;
    for nothing in [
        "'", "\\", ":*", "&", "|", "!", "()", "<->", "🤖", "%", "_", "", " ", "\0", "½",
    ] {
        assert_eq!(
            texts(catalog, index_id, nothing).await,
            [""; 0],
            "{nothing}"
        );
    }
    for hostile in [
        "!node",
        "node':*",
        "node\\",
        "'node' | 'x",
        "NODE\0",
        "🤖robot",
        "isn't",
        "50%",
        "\u{7f}node\u{7f}",
    ] {
        let found = texts(catalog, index_id, &format!("{hostile} '")).await;
        assert_eq!(found, texts_written[..1], "{hostile}");
    }
    for word in ["节点", "1.5", "5"] {
        let found = texts(catalog, index_id, word).await;
        assert!(found.iter().any(|text| text == texts_written[1]), "{word}");
    }
    let many: Vec<String> = (1..=500).map(|number| "zu".repeat(number)).collect();
    assert_eq!(texts(catalog, index_id, &many.join(" ")).await, [""; 0]);
}

pub(super) async fn a_kept_point_keeps_its_payload(store: Store) {
    let catalog = &store.catalog;
    let index_id = live_index(catalog).await;
    let [mut kept] = write_texts(catalog, index_id, ["a node"]).await;
    let made = async || {
        let found = search(catalog, index_id, "node", &Filters::default(), ALL).await;
        found[0].1.created_at.clone()
    };
    let first = made().await;
    let later = "2026-02-01T12:00:00Z";
    let commit_later = |row: &ChunkRow, revision: i64| {
        let mut commit = commit(index_id, SOURCE, revision, std::slice::from_ref(row));
        for chunk in commit.chunks.iter_mut().flatten() {
            later.clone_into(&mut chunk.payload.created_at);
        }
        commit
    };
    let mut again = commit_later(&kept, 1);
    again.intents.clear();
    assert_eq!(write(catalog, &again).await, COMMITTED);
    assert_eq!(made().await, first);
    kept.point_id = chunk(SOURCE, 0, "a node").point_id;
    write(catalog, &commit_later(&kept, 2)).await;
    assert_eq!(made().await, later);
}

pub(super) async fn only_chunks_that_the_index_has_are_found(store: Store) {
    let catalog = &store.catalog;
    let index_id = live_index(catalog).await;
    let building = catalog.ensure_index(&new_index("window-500")).await;
    let building = building.unwrap().index_id;
    let [own] = write_texts(catalog, index_id, ["a node"]).await;
    let mut others = own.clone();
    others.point_id = chunk(SOURCE, 0, "a node").point_id;
    let chunks = std::slice::from_ref(&others);
    write(catalog, &commit(building, SOURCE, 0, chunks)).await;
    for (index_id, expected) in [(index_id, &own), (building, &others)] {
        let found = search(catalog, index_id, "node", &Filters::default(), ALL).await;
        assert_eq!(found, [found_chunk(expected)]);
    }
    let mut deletion = commit(index_id, SOURCE, 1, &[]);
    deletion.document.deleted = true;
    write(catalog, &deletion).await;
    assert_eq!(texts(catalog, index_id, "node").await, [""; 0]);
    assert_eq!(texts(catalog, building + 1, "node").await, [""; 0]);
}

pub(super) async fn a_chunk_whose_payload_cannot_be_read_is_left_out(store: Store) {
    let catalog = &store.catalog;
    let index_id = live_index(catalog).await;
    write_texts(catalog, index_id, ["one node", "two nodes"]).await;
    store
        .execute("UPDATE document_chunks SET payload = '{\"of\": \"another release\"}' WHERE text = 'one node'")
        .await;
    assert_eq!(texts(catalog, index_id, "node").await, ["two nodes"]);
}

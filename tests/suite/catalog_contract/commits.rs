//! The commit of a document, and reading it back.

use std::collections::HashSet;

use bookrag::catalog::{CatalogError, Commit, CommitOutcome, IndexState};

use super::Store;
use super::rows::{
    COMMITTED, chunk, commit, document, document_id, live_index, new_index, payload, points, write,
};

const SOURCE: &str = "docs/a.md";

pub(super) async fn a_commit_is_read_back_whole_by_another_process(store: Store) {
    let index_id = live_index(&store.catalog).await;
    let mut chunks = [chunk(SOURCE, 0, "it's\n`one`"), chunk(SOURCE, 1, "")];
    chunks[1].chapter_id = None;
    assert_eq!(
        write(&store.catalog, &commit(index_id, SOURCE, 0, &chunks)).await,
        COMMITTED
    );

    let reopened = store.reopened().await;
    let stored = reopened.document(index_id, SOURCE).await.unwrap().unwrap();
    assert_eq!(stored.row, document(SOURCE));
    assert_eq!((stored.revision, stored.chunk_count), (1, 2));
    assert_eq!(
        reopened.documents(index_id).await.unwrap(),
        std::slice::from_ref(&stored)
    );
    assert_eq!(
        reopened
            .chunks(index_id, document_id(SOURCE))
            .await
            .unwrap(),
        chunks
    );
    assert_eq!(reopened.pending_count(index_id).await.unwrap(), 0);
    let mut joined = reopened.join(index_id, &points(&chunks)).await.unwrap();
    joined.sort_by_key(|joined| joined.point_id != chunks[0].point_id);
    for (joined, chunk) in joined.iter().zip(&chunks) {
        assert_eq!(
            (joined.point_id, joined.position),
            (chunk.point_id, chunk.position)
        );
        assert_eq!(joined.payload, payload(chunk));
        assert_eq!(joined.committed_at, stored.last_indexed_at);
    }
    assert_eq!(joined.len(), 2);
    assert_eq!(
        reopened.document(index_id, "docs/b.md").await.unwrap(),
        None
    );
}

pub(super) async fn chunks_around_a_position_are_read_in_order(store: Store) {
    let catalog = &store.catalog;
    let index_id = live_index(catalog).await;
    let mut chunks: Vec<_> = (0..6)
        .map(|position| chunk(SOURCE, position, &format!("part {position}")))
        .collect();
    chunks.reverse();
    write(catalog, &commit(index_id, SOURCE, 0, &chunks)).await;
    let other = [chunk("docs/b.md", 2, "another page")];
    write(catalog, &commit(index_id, "docs/b.md", 0, &other)).await;
    chunks.reverse();
    let pages = [
        (1..=3, &chunks[1..4]),
        (4..=9, &chunks[4..]),
        (-3..=0, &chunks[..1]),
        (7..=9, &[]),
        (2..=2, &chunks[2..3]),
    ];
    let places: Vec<_> = pages
        .iter()
        .map(|(positions, _)| (document_id(SOURCE), positions.clone()))
        .collect();
    let around = catalog.around(index_id, &places).await.unwrap();
    assert_eq!(around.len(), pages.len());
    for (chunks, (_, expected)) in around.into_iter().zip(&pages) {
        let payloads: Vec<_> = chunks.into_iter().map(|chunk| chunk.payload).collect();
        assert_eq!(payloads, expected.iter().map(payload).collect::<Vec<_>>());
    }
    let elsewhere = catalog.around(index_id + 1, &places[..1]).await;
    assert_eq!(elsewhere.unwrap(), [[]]);
    assert_eq!(
        catalog.around(index_id, &[]).await.unwrap(),
        Vec::<Vec<_>>::new()
    );
}

/// A text is stored once, in its own column.
pub(super) async fn a_stored_payload_has_no_text(store: Store) {
    let catalog = &store.catalog;
    let index_id = live_index(catalog).await;
    let chunks = [chunk(SOURCE, 0, "a text of its own")];
    write(catalog, &commit(index_id, SOURCE, 0, &chunks)).await;
    let stored = store.value("SELECT payload FROM document_chunks").await;
    let stored: serde_json::Value = serde_json::from_str(&stored).unwrap();
    assert_eq!(stored.get("text"), None, "{stored}");
    assert_eq!(stored["created_at"], payload(&chunks[0]).created_at);
}

pub(super) async fn an_outdated_revision_conflicts_and_writes_nothing(store: Store) {
    let catalog = &store.catalog;
    let index_id = live_index(catalog).await;
    let chunks = [chunk(SOURCE, 0, "one")];
    // There is no row yet, so revision 1 cannot be its predecessor.
    let early = commit(index_id, SOURCE, 1, &[]);
    assert_eq!(
        catalog.commit(&early).await.unwrap(),
        CommitOutcome::Conflict
    );
    assert_eq!(catalog.document(index_id, SOURCE).await.unwrap(), None);

    write(catalog, &commit(index_id, SOURCE, 0, &chunks)).await;
    let before = catalog.document(index_id, SOURCE).await.unwrap();
    for revision in [0, 2] {
        let late = commit(index_id, SOURCE, revision, &[chunk(SOURCE, 0, "late")]);
        assert_eq!(write(catalog, &late).await, CommitOutcome::Conflict);
    }
    assert_eq!(catalog.document(index_id, SOURCE).await.unwrap(), before);
    assert_eq!(
        catalog.chunks(index_id, document_id(SOURCE)).await.unwrap(),
        chunks
    );
    // Intents of failed commits remain until the sweep.
    assert_eq!(catalog.pending_count(index_id).await.unwrap(), 2);
}

pub(super) async fn one_of_several_concurrent_first_commits_wins(store: Store) {
    let index_id = live_index(&store.catalog).await;
    one_wins(&store, index_id, 0).await;
}

pub(super) async fn one_of_several_concurrent_later_commits_wins(store: Store) {
    let index_id = live_index(&store.catalog).await;
    write(&store.catalog, &commit(index_id, SOURCE, 0, &[])).await;
    one_wins(&store, index_id, 1).await;
}

async fn one_wins(store: &Store, index_id: i64, revision: i64) {
    let texts = ["one", "two", "three", "four"];
    let writers = texts.map(|text| {
        let catalog = store.catalog.clone();
        let commit = commit(index_id, SOURCE, revision, &[chunk(SOURCE, 0, text)]);
        tokio::spawn(async move { (write(&catalog, &commit).await, commit) })
    });
    let mut winner: Option<Commit> = None;
    for writer in writers {
        match writer.await.unwrap() {
            (CommitOutcome::Committed { .. }, commit) => {
                assert!(winner.replace(commit).is_none(), "two writers won");
            }
            (outcome, _) => assert_eq!(outcome, CommitOutcome::Conflict),
        }
    }
    let chunks = store
        .catalog
        .chunks(index_id, document_id(SOURCE))
        .await
        .unwrap();
    let won = winner.expect("somebody wins").chunks.unwrap();
    let won: Vec<_> = won.into_iter().map(|chunk| chunk.row).collect();
    assert_eq!(chunks, won);
    assert_eq!(store.catalog.pending_count(index_id).await.unwrap(), 3);
}

pub(super) async fn a_commit_without_all_its_intents_conflicts_and_writes_nothing(store: Store) {
    let catalog = &store.catalog;
    let index_id = live_index(catalog).await;
    let chunks = [chunk(SOURCE, 0, "one"), chunk(SOURCE, 1, "two")];
    let document_id = document_id(SOURCE);
    catalog
        .add_intents(index_id, document_id, &[chunks[0].point_id])
        .await
        .unwrap();
    let commit = commit(index_id, SOURCE, 0, &chunks);
    assert_eq!(
        catalog.commit(&commit).await.unwrap(),
        CommitOutcome::Conflict
    );
    assert_eq!(catalog.document(index_id, SOURCE).await.unwrap(), None);
    assert_eq!(catalog.chunks(index_id, document_id).await.unwrap(), []);
    assert_eq!(
        catalog
            .dependents(index_id, "docs/_category_.json")
            .await
            .unwrap(),
        [""; 0]
    );
    assert_eq!(catalog.pending_count(index_id).await.unwrap(), 1);
    // Recording an intent twice is idempotent.
    assert_eq!(write(catalog, &commit).await, COMMITTED);
}

pub(super) async fn replaced_points_become_garbage_and_leave_the_join(store: Store) {
    let catalog = &store.catalog;
    let index_id = live_index(catalog).await;
    let old = [
        chunk(SOURCE, 0, "kept"),
        chunk(SOURCE, 1, "moved"),
        chunk(SOURCE, 2, "gone"),
    ];
    write(catalog, &commit(index_id, SOURCE, 0, &old)).await;

    let mut moved = old[1].clone();
    moved.point_id = chunk(SOURCE, 1, "moved").point_id;
    moved.start_line = 9;
    let new = [old[0].clone(), moved.clone()];
    let mut next = commit(index_id, SOURCE, 1, &new);
    next.intents = vec![moved.point_id];
    let CommitOutcome::Committed { garbage } = write(catalog, &next).await else {
        panic!("nobody else writes");
    };
    let replaced = points(&old[1..]);
    assert_eq!(
        garbage.iter().collect::<HashSet<_>>(),
        replaced.iter().collect()
    );
    assert_eq!(catalog.pending_count(index_id).await.unwrap(), 2);
    assert_eq!(
        catalog.chunks(index_id, document_id(SOURCE)).await.unwrap(),
        new
    );
    assert_eq!(catalog.join(index_id, &replaced).await.unwrap(), []);
    assert_eq!(
        catalog.join(index_id, &points(&new)).await.unwrap().len(),
        2
    );
}

pub(super) async fn kept_chunks_keep_when_they_were_created(store: Store) {
    let catalog = &store.catalog;
    let index_id = live_index(catalog).await;
    let kept = chunk(SOURCE, 0, "kept");
    write(
        catalog,
        &commit(index_id, SOURCE, 0, std::slice::from_ref(&kept)),
    )
    .await;
    let created = store.value("SELECT created_at FROM document_chunks").await;
    let new = chunk(SOURCE, 1, "new");
    let mut next = commit(index_id, SOURCE, 1, &[kept.clone(), new.clone()]);
    next.intents = vec![new.point_id];
    assert_eq!(write(catalog, &next).await, COMMITTED);
    let times = "FROM document_chunks WHERE position";
    assert_eq!(
        store.value(&format!("SELECT created_at {times} = 0")).await,
        created
    );
    assert_ne!(
        store.value(&format!("SELECT created_at {times} = 1")).await,
        created
    );
    assert_ne!(
        store.value(&format!("SELECT updated_at {times} = 0")).await,
        created
    );
}

pub(super) async fn a_commit_without_chunks_keeps_the_existing_ones(store: Store) {
    let catalog = &store.catalog;
    let index_id = live_index(catalog).await;
    let chunks = [chunk(SOURCE, 0, "last good")];
    write(catalog, &commit(index_id, SOURCE, 0, &chunks)).await;
    let mut skipped = commit(index_id, SOURCE, 1, &[]);
    skipped.chunks = None;
    skipped.document.skip_reason = Some("line 3: bad YAML".to_owned());
    assert_eq!(write(catalog, &skipped).await, COMMITTED);
    let stored = catalog.document(index_id, SOURCE).await.unwrap().unwrap();
    assert_eq!((stored.row, stored.revision), (skipped.document, 2));
    assert_eq!(
        catalog.chunks(index_id, document_id(SOURCE)).await.unwrap(),
        chunks
    );
}

pub(super) async fn a_deleted_document_is_a_tombstone(store: Store) {
    let catalog = &store.catalog;
    let index_id = live_index(catalog).await;
    let chunks = [chunk(SOURCE, 0, "one")];
    write(catalog, &commit(index_id, SOURCE, 0, &chunks)).await;
    let mut deletion = commit(index_id, SOURCE, 1, &[]);
    deletion.document.deleted = true;
    let garbage = points(&chunks);
    assert_eq!(
        write(catalog, &deletion).await,
        CommitOutcome::Committed { garbage }
    );
    assert_eq!(catalog.documents(index_id).await.unwrap(), []);
    let tombstone = catalog.document(index_id, SOURCE).await.unwrap().unwrap();
    assert!(tombstone.row.deleted);
    assert_eq!((tombstone.revision, tombstone.chunk_count), (2, 0));
    // A writer with the revision before the deletion conflicts; one with the tombstone's revision restores the document.
    let late = commit(index_id, SOURCE, 1, &[chunk(SOURCE, 0, "late")]);
    assert_eq!(write(catalog, &late).await, CommitOutcome::Conflict);
    let back = commit(index_id, SOURCE, 2, &[chunk(SOURCE, 0, "back")]);
    assert_eq!(write(catalog, &back).await, COMMITTED);
    assert_eq!(catalog.documents(index_id).await.unwrap().len(), 1);
}

pub(super) async fn pages_have_their_urls_until_they_are_deleted(store: Store) {
    let catalog = &store.catalog;
    let index_id = live_index(catalog).await;
    let sources = ["docs/a.md", "docs/b's.md", "docs/gone.md", "docs/other.md"];
    for source in sources {
        let mut commit = commit(index_id, source, 0, &[]);
        commit.document.url = format!("/book/{source}");
        write(catalog, &commit).await;
    }
    let mut deletion = commit(index_id, "docs/gone.md", 1, &[]);
    deletion.document.deleted = true;
    write(catalog, &deletion).await;
    let asked = ["docs/b's.md", "docs/none.md", "docs/gone.md", "docs/a.md"].map(str::to_owned);
    let urls = catalog.urls(index_id, &asked).await.unwrap();
    let expected =
        ["docs/a.md", "docs/b's.md"].map(|source| (source.to_owned(), format!("/book/{source}")));
    assert_eq!(urls, expected.into());
    assert_eq!(catalog.urls(index_id, &[]).await.unwrap(), [].into());
    let asked = ["/book/docs/b's.md", "/book/docs/gone.md", "/none"].map(str::to_owned);
    let known = catalog.known_urls(index_id, &asked).await.unwrap();
    assert_eq!(known, ["/book/docs/b's.md"]);
}

pub(super) async fn dependents_are_the_documents_that_used_a_file(store: Store) {
    let catalog = &store.catalog;
    let index_id = live_index(catalog).await;
    for source in ["docs/b.md", "docs/a.md", "docs/C.md"] {
        let mut commit = commit(index_id, source, 0, &[]);
        commit.inputs = ["docs/_p.mdx", source, "docs/_p.mdx"]
            .map(str::to_owned)
            .to_vec();
        write(catalog, &commit).await;
    }
    let dependents = async |path| catalog.dependents(index_id, path).await.unwrap();
    assert_eq!(
        dependents("docs/_p.mdx").await,
        ["docs/C.md", "docs/a.md", "docs/b.md"]
    );
    assert_eq!(dependents("docs/a.md").await, ["docs/a.md"]);
    assert_eq!(dependents("docs/_").await, [""; 0]);
    let inputs = async |sources: &[&str]| {
        let sources: Vec<String> = sources.iter().map(|it| (*it).to_owned()).collect();
        catalog.inputs(index_id, &sources).await.unwrap()
    };
    let found = inputs(&["docs/a.md", "docs/b.md", "docs/z.md"]).await;
    assert_eq!(found.keys().collect::<Vec<_>>(), ["docs/a.md", "docs/b.md"]);
    let of_a = Vec::from_iter(&found["docs/a.md"]);
    assert_eq!(of_a, ["docs/_p.mdx", "docs/a.md"]);
    let mut without = commit(index_id, "docs/a.md", 1, &[]);
    without.inputs = ["../b.md", "../a.md", "..c", "docs/../x"]
        .map(str::to_owned)
        .to_vec();
    write(catalog, &without).await;
    let outer = catalog.outer_inputs(index_id).await.unwrap();
    assert_eq!(outer, ["../a.md", "../b.md"]);
    without.inputs.clear();
    without.expected_revision = 2;
    write(catalog, &without).await;
    assert_eq!(dependents("docs/_p.mdx").await, ["docs/C.md", "docs/b.md"]);
    let found = inputs(&["docs/a.md", "docs/C.md"]).await;
    assert_eq!(found.keys().collect::<Vec<_>>(), ["docs/C.md"]);
    assert!(catalog.outer_inputs(index_id).await.unwrap().is_empty());
}

pub(super) async fn a_text_is_found_once_however_many_chunks_have_it(store: Store) {
    let catalog = &store.catalog;
    let index_id = live_index(catalog).await;
    let twice = [
        chunk(SOURCE, 0, "same"),
        chunk(SOURCE, 1, "same"),
        chunk(SOURCE, 2, "other"),
    ];
    write(catalog, &commit(index_id, SOURCE, 0, &twice)).await;
    let hashes = ["hash of same", "hash of none", "hash of other"].map(str::to_owned);
    let mut found = catalog.points_with_text(index_id, &hashes).await.unwrap();
    found.sort();
    let found_hashes: Vec<_> = found.iter().map(|(hash, _)| hash.as_str()).collect();
    assert_eq!(found_hashes, ["hash of other", "hash of same"]);
    assert_eq!(found[0].1, twice[2].point_id);
    assert!(points(&twice[..2]).contains(&found[1].1));
    assert_eq!(catalog.points_with_text(index_id, &[]).await.unwrap(), []);
}

pub(super) async fn a_retired_index_takes_no_commits(store: Store) {
    let catalog = &store.catalog;
    let index_id = live_index(catalog).await;
    store.execute("UPDATE indexes SET state = 'retired'").await;
    let commit = commit(index_id, SOURCE, 0, &[chunk(SOURCE, 0, "one")]);
    assert_eq!(write(catalog, &commit).await, CommitOutcome::Retired);
    assert_eq!(catalog.document(index_id, SOURCE).await.unwrap(), None);
    assert_eq!(catalog.pending_count(index_id).await.unwrap(), 1);
    assert_eq!(catalog.live_index().await.unwrap(), None);
    let found = catalog.ensure_index(&new_index("adaptive")).await.unwrap();
    assert_eq!(
        (found.index_id, found.state),
        (index_id, IndexState::Retired)
    );
}

pub(super) async fn an_unknown_index_is_refused(store: Store) {
    let catalog = &store.catalog;
    let unknown = live_index(catalog).await + 1;
    for failure in [
        catalog
            .commit(&commit(unknown, SOURCE, 0, &[]))
            .await
            .unwrap_err(),
        catalog
            .add_intents(
                unknown,
                document_id(SOURCE),
                &[chunk(SOURCE, 0, "one").point_id],
            )
            .await
            .unwrap_err(),
    ] {
        assert!(matches!(failure, CatalogError::Rejected(_)), "{failure}");
    }
    assert_eq!(catalog.documents(unknown).await.unwrap(), []);
}

pub(super) async fn documents_of_two_indexes_are_independent(store: Store) {
    let catalog = &store.catalog;
    let live = live_index(catalog).await;
    let building = catalog
        .ensure_index(&new_index("window-500"))
        .await
        .unwrap()
        .index_id;
    let old = chunk(SOURCE, 0, "one");
    let mut new = old.clone();
    new.point_id = chunk(SOURCE, 0, "one").point_id;
    for (index_id, chunk) in [(live, &old), (building, &new)] {
        let commit = commit(index_id, SOURCE, 0, std::slice::from_ref(chunk));
        assert_eq!(write(catalog, &commit).await, COMMITTED);
    }
    let mut deletion = commit(building, SOURCE, 1, &[]);
    deletion.document.deleted = true;
    write(catalog, &deletion).await;
    assert_eq!(
        catalog.chunks(live, document_id(SOURCE)).await.unwrap(),
        std::slice::from_ref(&old)
    );
    assert_eq!(catalog.documents(live).await.unwrap().len(), 1);
    assert_eq!(catalog.join(building, &[old.point_id]).await.unwrap(), []);
    assert_eq!(catalog.pending_count(live).await.unwrap(), 0);
}

pub(super) async fn a_document_of_a_thousand_chunks_is_committed(store: Store) {
    let index_id = live_index(&store.catalog).await;
    let chunks: Vec<_> = (0..1000)
        .map(|position| chunk(SOURCE, position, "text"))
        .collect();
    assert_eq!(
        write(&store.catalog, &commit(index_id, SOURCE, 0, &chunks)).await,
        COMMITTED
    );
    let stored = store
        .catalog
        .chunks(index_id, document_id(SOURCE))
        .await
        .unwrap();
    assert_eq!(stored, chunks);
}

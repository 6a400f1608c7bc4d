//! An alias is another name of a collection.

use std::fs;

use qdrant_client::qdrant::alias_operations::Action;
use qdrant_client::qdrant::collections_client::CollectionsClient;
use qdrant_client::qdrant::{
    AliasOperations, ChangeAliases, CountPointsBuilder, CreateAliasBuilder,
    CreateCollectionBuilder, CreateFieldIndexCollectionBuilder, DeleteAlias,
    DeleteFieldIndexCollectionBuilder, DeletePointsBuilder, Distance, FieldType, GetPointsBuilder,
    NamedVectors, PointStruct, Query, QueryBatchPointsBuilder, QueryPointsBuilder,
    RenameAliasBuilder, ScrollPointsBuilder, SetPayloadPointsBuilder, UpsertPointsBuilder, Value,
    Vector, VectorParamsBuilder, VectorsConfigBuilder,
};
use qdrant_client::{Payload, Qdrant, QdrantError};
use serde_json::json;
use tonic::Code;

use super::{BOOK, SIZE, chunk, client, count, count_all, filled, id, number, numbers, search};
use crate::engine::{Engine, EngineError};

/// The name that readers search by.
const LIVE: &str = "live";
/// Another collection, and its one point.
const NEXT: &str = "textbook_chunks_next";
const NEXT_POINT: u32 = 9;
/// How often an alias is moved while others search through it.
const MOVES: usize = 24;

/// Makes a collection with one point, where the book's first one is.
async fn fill_other(client: &Qdrant, name: &str) {
    let mut dense = VectorsConfigBuilder::default();
    dense.add_named_vector_params("dense", VectorParamsBuilder::new(SIZE, Distance::Cosine));
    let create = CreateCollectionBuilder::new(name).vectors_config(dense);
    client.create_collection(create).await.unwrap();
    let row = Vector::from(vec![1.0f32, 0.0, 0.0, 0.0]);
    let vectors = NamedVectors::default().add_vector("dense", row);
    let point = PointStruct::new(id(NEXT_POINT), vectors, Payload::new());
    let upserting = UpsertPointsBuilder::new(name, vec![point]);
    client.upsert_points(upserting).await.unwrap();
}

fn nearest(name: &str) -> QueryPointsBuilder {
    QueryPointsBuilder::new(name)
        .query(Query::new_nearest(vec![1.0f32, 0.0, 0.0, 0.0]))
        .using("dense")
        .limit(1)
}

/// The number of the point that a search by this name finds: 1 in the book, 9 in the other collection.
async fn found_by(client: &Qdrant, name: &str) -> Vec<u32> {
    numbers(&search(client, nearest(name)).await)
}

async fn point_alias(client: &Qdrant, alias: &str, collection: &str) {
    let create = CreateAliasBuilder::new(collection, alias);
    assert!(client.create_alias(create).await.unwrap().result);
}

fn create(alias: &str, collection: &str) -> AliasOperations {
    Action::from(CreateAliasBuilder::new(collection, alias).build()).into()
}

fn rename(old: &str, new: &str) -> AliasOperations {
    Action::from(RenameAliasBuilder::new(old, new).build()).into()
}

fn delete(alias: &str) -> AliasOperations {
    Action::from(DeleteAlias::from(alias)).into()
}

/// Sends several changes in one request, for which `Qdrant` has no method.
async fn change(engine: &Engine, actions: Vec<AliasOperations>) -> Result<(), Code> {
    let connecting = CollectionsClient::connect(engine.url().to_owned());
    let request = ChangeAliases {
        actions,
        timeout: None,
    };
    let changed = connecting.await.unwrap().update_aliases(request).await;
    changed.map(|_| ()).map_err(|status| status.code())
}

async fn assert_aliases(client: &Qdrant, expected: &[(&str, &str)]) {
    let listed = client.list_aliases().await.unwrap().aliases;
    let listed: Vec<_> = (listed.iter())
        .map(|alias| (alias.alias_name.as_str(), alias.collection_name.as_str()))
        .collect();
    assert_eq!(listed, expected);
}

fn code<T: std::fmt::Debug>(result: Result<T, QdrantError>) -> Code {
    match result.unwrap_err() {
        QdrantError::ResponseError { status } => status.code(),
        other => panic!("not an answer: {other}"),
    }
}

#[tokio::test]
async fn every_call_about_points_takes_an_alias() {
    let (_folder, engine, client) = filled().await;
    point_alias(&client, LIVE, BOOK).await;

    let added = chunk(4, vec![vec![0.0, 0.0, 0.0, 1.0]], "Added by it.", "Alias");
    let upserting = UpsertPointsBuilder::new(LIVE, vec![added]);
    client.upsert_points(upserting).await.unwrap();
    let deleting = DeletePointsBuilder::new(LIVE).points(vec![id(2)]);
    client.delete_points(deleting).await.unwrap();
    let payload = Payload::try_from(json!({"module": "Set"})).unwrap();
    let setting = SetPayloadPointsBuilder::new(LIVE, payload).points_selector(vec![id(3)]);
    client.set_payload(setting).await.unwrap();
    let indexing = CreateFieldIndexCollectionBuilder::new(LIVE, "text", FieldType::Keyword);
    client.create_field_index(indexing).await.unwrap();
    let forgetting = DeleteFieldIndexCollectionBuilder::new(LIVE, "has_code");
    client.delete_field_index(forgetting).await.unwrap();

    for name in [LIVE, BOOK] {
        let counting = CountPointsBuilder::new(name).exact(true);
        assert_eq!(count(&client, counting).await, 3);
        assert_eq!(found_by(&client, name).await, [1]);
        let batch = QueryBatchPointsBuilder::new(name, vec![nearest(name).build()]);
        let batch = client.query_batch(batch).await.unwrap().result;
        assert_eq!(numbers(&batch[0].result), [1]);
        let page = client.scroll(ScrollPointsBuilder::new(name)).await.unwrap();
        let ids = page.result.iter().map(|point| number(point.id.as_ref()));
        assert_eq!(ids.collect::<Vec<_>>(), [1, 3, 4]);
        let getting = GetPointsBuilder::new(name, vec![id(3)]).with_payload(true);
        let got = client.get_points(getting).await.unwrap().result;
        assert_eq!(got[0].payload["module"], Value::from("Set"));

        assert!(client.collection_exists(name).await.unwrap());
        let info = client.collection_info(name).await.unwrap().result.unwrap();
        assert_eq!(info.points_count, Some(3));
        assert!(info.payload_schema.contains_key("text"));
        assert!(!info.payload_schema.contains_key("has_code"));
    }
    engine.stop().await.unwrap();
}

#[tokio::test]
async fn an_alias_that_is_created_again_is_moved() {
    let (_folder, engine, client) = filled().await;
    fill_other(&client, NEXT).await;
    for (collection, found) in [(BOOK, 1), (NEXT, NEXT_POINT), (NEXT, NEXT_POINT), (BOOK, 1)] {
        point_alias(&client, LIVE, collection).await;
        assert_eq!(found_by(&client, LIVE).await, [found]);
        assert_aliases(&client, &[(LIVE, collection)]).await;
    }
    engine.stop().await.unwrap();
}

#[tokio::test]
async fn a_collection_lists_its_aliases_and_an_alias_has_none() {
    let (_folder, engine, client) = filled().await;
    fill_other(&client, NEXT).await;
    for (alias, collection) in [("b", BOOK), ("a", BOOK), ("c", NEXT)] {
        point_alias(&client, alias, collection).await;
    }
    assert_aliases(&client, &[("a", BOOK), ("b", BOOK), ("c", NEXT)]).await;
    for (name, expected) in [
        (BOOK, vec!["a", "b"]),
        (NEXT, vec!["c"]),
        ("a", vec![]),
        ("absent", vec![]),
    ] {
        let listed = client.list_collection_aliases(name).await.unwrap().aliases;
        let listed = listed.into_iter().map(|alias| alias.alias_name);
        assert_eq!(listed.collect::<Vec<_>>(), expected, "{name}");
    }
    engine.stop().await.unwrap();
}

#[tokio::test]
async fn changes_are_made_in_their_order_or_not_at_all() {
    let (folder, engine, client) = filled().await;
    fill_other(&client, NEXT).await;
    let actions = vec![
        create("first", BOOK),
        rename("first", LIVE),
        create("first", NEXT),
        create("second", BOOK),
        delete("second"),
        delete("absent"),
    ];
    assert_eq!(change(&engine, actions).await, Ok(()));
    let expected = [("first", NEXT), (LIVE, BOOK)];
    assert_aliases(&client, &expected).await;

    let nothing = AliasOperations { action: None };
    for (last, refusal) in [
        (rename("absent", "third"), Code::NotFound),
        (create("third", "absent"), Code::NotFound),
        (create(NEXT, BOOK), Code::AlreadyExists),
        (nothing, Code::InvalidArgument),
    ] {
        let actions = vec![delete(LIVE), rename("first", LIVE), last];
        assert_eq!(change(&engine, actions).await, Err(refusal));
        assert_aliases(&client, &expected).await;
        assert_eq!(found_by(&client, LIVE).await, [1]);
    }
    engine.stop().await.unwrap();
    let engine = Engine::start(&folder.0).await.unwrap();
    assert_aliases(&super::client(&engine), &expected).await;
    engine.stop().await.unwrap();
}

#[tokio::test]
async fn a_name_belongs_to_a_collection_or_to_an_alias() {
    let (_folder, engine, client) = filled().await;
    fill_other(&client, NEXT).await;
    point_alias(&client, LIVE, BOOK).await;
    let taken = client.create_collection(CreateCollectionBuilder::new(LIVE));
    assert_eq!(code(taken.await), Code::InvalidArgument);
    for (action, refusal) in [
        (create(BOOK, NEXT), Code::AlreadyExists),
        (create(BOOK, BOOK), Code::AlreadyExists),
        (rename(LIVE, NEXT), Code::AlreadyExists),
        // There is no alias of an alias.
        (create("other", LIVE), Code::NotFound),
        (create("", BOOK), Code::InvalidArgument),
        (rename(LIVE, "../outside"), Code::InvalidArgument),
    ] {
        assert_eq!(change(&engine, vec![action]).await, Err(refusal));
    }
    assert_aliases(&client, &[(LIVE, BOOK)]).await;
    engine.stop().await.unwrap();
}

#[tokio::test]
async fn a_collection_takes_its_aliases_along_and_is_not_deleted_by_one() {
    let (folder, engine, client) = filled().await;
    fill_other(&client, NEXT).await;
    for (alias, collection) in [("a", BOOK), (LIVE, BOOK), ("c", NEXT)] {
        point_alias(&client, alias, collection).await;
    }
    assert!(!client.delete_collection(LIVE).await.unwrap().result);
    assert_eq!(count_all(&client).await, 3);
    assert!(client.delete_collection(BOOK).await.unwrap().result);
    assert!(!client.delete_collection(BOOK).await.unwrap().result);
    assert_aliases(&client, &[("c", NEXT)]).await;
    assert_eq!(code(client.query(nearest(LIVE)).await), Code::NotFound);
    // The name is free again.
    fill_other(&client, LIVE).await;
    engine.stop().await.unwrap();
    let engine = Engine::start(&folder.0).await.unwrap();
    assert_aliases(&super::client(&engine), &[("c", NEXT)]).await;
    engine.stop().await.unwrap();
}

#[tokio::test]
async fn aliases_are_after_a_restart_as_they_were_left() {
    let (folder, engine, first) = filled().await;
    fill_other(&first, NEXT).await;
    for (alias, collection) in [("old", BOOK), (LIVE, BOOK), ("gone", NEXT)] {
        point_alias(&first, alias, collection).await;
    }
    let actions = vec![create(LIVE, NEXT), rename("old", "kept"), delete("gone")];
    assert_eq!(change(&engine, actions).await, Ok(()));
    engine.stop().await.unwrap();
    // What a process leaves that dies while it writes.
    fs::write(folder.0.join("aliases.json.new"), "{\"li").unwrap();
    for _ in 0..2 {
        let engine = Engine::start(&folder.0).await.unwrap();
        let later = client(&engine);
        assert_aliases(&later, &[("kept", BOOK), (LIVE, NEXT)]).await;
        assert_eq!(found_by(&later, LIVE).await, [NEXT_POINT]);
        assert_eq!(found_by(&later, "kept").await, [1]);
        point_alias(&later, LIVE, NEXT).await;
        engine.stop().await.unwrap();
    }
    fs::write(folder.0.join("aliases.json"), "{\"li").unwrap();
    // Damaged aliases are not forgotten in silence.
    let damaged = Engine::start(&folder.0).await;
    assert!(matches!(damaged, Err(EngineError::Damaged { .. })));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_search_while_an_alias_moves_finds_one_of_its_collections() {
    let (_folder, engine, client) = filled().await;
    fill_other(&client, NEXT).await;
    point_alias(&client, LIVE, BOOK).await;
    let searcher = client.clone();
    let searching = tokio::spawn(async move {
        let mut seen = Vec::new();
        for _ in 0..2 * MOVES {
            seen.extend(found_by(&searcher, LIVE).await);
        }
        seen
    });
    for round in 0..MOVES {
        let collection = if round % 2 == 0 { NEXT } else { BOOK };
        // In one change: nobody sees the alias gone.
        let actions = vec![delete(LIVE), create(LIVE, collection)];
        assert_eq!(change(&engine, actions).await, Ok(()));
    }
    let seen = searching.await.unwrap();
    assert_eq!(seen.len(), 2 * MOVES);
    assert!(seen.iter().all(|found| [1, NEXT_POINT].contains(found)));
    engine.stop().await.unwrap();
}

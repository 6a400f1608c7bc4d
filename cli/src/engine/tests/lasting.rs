//! What was acknowledged stays.

use std::fs;
use std::path::Path;

use qdrant_client::Payload;
use qdrant_client::qdrant::{
    CollectionStatus, Condition, CountPointsBuilder, CreateAliasBuilder, DeletePointsBuilder,
    Filter, Query, QueryPointsBuilder, SetPayloadPointsBuilder, UpsertPointsBuilder, Value,
    vectors_config,
};
use serde_json::json;

use super::{
    BOOK, SIZE, TestFolder, chunk, client, count, count_all, dense, filled, id, lexical, numbers,
    search,
};
use crate::engine::convert::collection::WAL_SEGMENT_BYTES;
use crate::engine::{Engine, EngineError};

/// An alias of the book.
const LIVE: &str = "live";

fn module(name: &str) -> Filter {
    Filter::must([Condition::matches("module", name.to_owned())])
}

#[tokio::test]
async fn deleted_points_are_gone_and_set_payload_is_found() {
    let (_folder, engine, client) = filled().await;
    client
        .delete_points(DeletePointsBuilder::new(BOOK).points(vec![id(1)]))
        .await
        .unwrap();
    assert_eq!(count_all(&client).await, 2);
    let payload = Payload::try_from(json!({"module": "NVIDIA"})).unwrap();
    client
        .set_payload(SetPayloadPointsBuilder::new(BOOK, payload).points_selector(module("Isaac")))
        .await
        .unwrap();
    let counting = |name| CountPointsBuilder::new(BOOK).filter(module(name));
    assert_eq!(count(&client, counting("Isaac")).await, 0);
    assert_eq!(count(&client, counting("NVIDIA")).await, 1);
    client
        .delete_points(DeletePointsBuilder::new(BOOK).points(module("NVIDIA")))
        .await
        .unwrap();
    let left = search(&client, dense(&[1.0, 0.0, 0.0, 0.0])).await;
    assert_eq!(numbers(&left), [2]);
    engine.stop().await.unwrap();
}

/// Starts an engine on a folder that a filled book was left in, whatever happened to the process.
async fn check_filled(folder: &Path) -> Engine {
    let engine = Engine::start(folder).await.unwrap();
    let client = client(&engine);
    assert_eq!(count_all(&client).await, 3);
    let found = search(&client, dense(&[1.0, 0.0, 0.0, 0.0])).await;
    assert_eq!(numbers(&found)[..2], [1, 2]);
    let found = search(&client, lexical("publishing")).await;
    assert_eq!(numbers(&found), [1]);
    let isaac = dense(&[1.0, 0.0, 0.0, 0.0]).filter(module("Isaac"));
    let found = search(&client, isaac.with_payload(true)).await;
    let text = Value::from("Isaac renders synthetic images.");
    assert_eq!(found[0].payload["text"], text);
    let aliased = QueryPointsBuilder::new(LIVE)
        .query(Query::new_nearest(vec![0.0f32, 0.0, 1.0, 0.0]))
        .using("dense")
        .limit(1);
    assert_eq!(numbers(&search(&client, aliased).await), [3]);

    let info = client.collection_info(BOOK).await.unwrap().result.unwrap();
    assert_eq!(info.status(), CollectionStatus::Green);
    assert_eq!(info.points_count, Some(3));
    assert_eq!(info.payload_schema.len(), 3);
    assert_eq!(info.payload_schema["module"].points, Some(3));
    let params = info.config.unwrap().params.unwrap();
    let Some(vectors_config::Config::ParamsMap(dense)) = params.vectors_config.unwrap().config
    else {
        panic!("no named vectors");
    };
    assert_eq!(dense.map["dense"].size, SIZE);
    assert!(dense.map["dense"].multivector_config.is_some());
    engine
}

#[tokio::test]
async fn everything_is_there_after_a_restart() {
    let (folder, engine, first) = filled().await;
    let alias = CreateAliasBuilder::new(BOOK, LIVE);
    first.create_alias(alias).await.unwrap();
    engine.stop().await.unwrap();
    let engine = check_filled(&folder.0).await;
    let second = client(&engine);
    // Changes of what was stored before the restart still count.
    let deleting = DeletePointsBuilder::new(BOOK).points(vec![id(3)]);
    second.delete_points(deleting).await.unwrap();
    assert_eq!(count_all(&second).await, 2);
    engine.stop().await.unwrap();
}

#[tokio::test]
async fn a_deleted_collection_does_not_come_back() {
    let (folder, engine, first) = filled().await;
    let alias = CreateAliasBuilder::new(BOOK, LIVE);
    first.create_alias(alias).await.unwrap();
    first.delete_collection(BOOK).await.unwrap();
    assert!(!first.collection_exists(BOOK).await.unwrap());
    assert!(first.list_aliases().await.unwrap().aliases.is_empty());
    engine.stop().await.unwrap();
    let engine = Engine::start(&folder.0).await.unwrap();
    let listed = client(&engine).list_collections().await.unwrap();
    assert!(listed.collections.is_empty());
    engine.stop().await.unwrap();
}

#[tokio::test]
async fn the_log_is_forgotten_and_later_changes_still_count() {
    let (folder, mut engine, mut client) = filled().await;
    let wal = folder.0.join("collections").join(BOOK).join("shard/wal");
    let text = "a long chunk ".repeat(WAL_SEGMENT_BYTES / 20);
    for round in 0..3 {
        for number in 10..14 {
            let point = chunk(number, vec![vec![0.0, 0.0, 0.0, 1.0]], &text, "Long");
            let upserting = UpsertPointsBuilder::new(BOOK, vec![point]);
            client.upsert_points(upserting).await.unwrap();
        }
        let deleting = DeletePointsBuilder::new(BOOK).points(vec![id(10 + round)]);
        client.delete_points(deleting).await.unwrap();
        engine.stop().await.unwrap();
        engine = Engine::start(&folder.0).await.unwrap();
        client = super::client(&engine);
        assert_eq!(count_all(&client).await, 6);
        let closed = fs::read_dir(&wal).unwrap().filter(|entry| {
            let name = entry.as_ref().unwrap().file_name();
            name.to_string_lossy().starts_with("closed-")
        });
        assert_eq!(closed.count(), 1);
    }
    engine.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn many_clients_write_and_search_at_once() {
    let (_folder, engine, client) = filled().await;
    let work = (0..8u32).map(|worker| {
        let client = client.clone();
        async move {
            for number in 0..8 {
                let row = vec![0.0, 0.0, 0.0, 1.0];
                let point = chunk(100 + worker * 8 + number, vec![row], "many", "Many");
                let upserting = UpsertPointsBuilder::new(BOOK, vec![point]);
                client.upsert_points(upserting).await.unwrap();
                let found = search(&client, dense(&[1.0, 0.0, 0.0, 0.0]).limit(2)).await;
                assert_eq!(numbers(&found), [1, 2]);
            }
        }
    });
    let tasks: Vec<_> = work.map(tokio::spawn).collect();
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(count_all(&client).await, 3 + 64);
    engine.stop().await.unwrap();
}

/// The files as they are after the last acknowledgement are all that a killed process leaves.
#[tokio::test]
async fn acknowledged_writes_outlive_the_process() {
    let (folder, engine, first) = filled().await;
    let alias = CreateAliasBuilder::new(BOOK, LIVE);
    first.create_alias(alias).await.unwrap();
    let left = TestFolder::new();
    copy_folder(&folder.0, &left.0);
    check_filled(&left.0).await.stop().await.unwrap();
    engine.stop().await.unwrap();
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_folder(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

#[tokio::test]
async fn a_folder_has_one_engine() {
    let folder = TestFolder::new();
    let engine = Engine::start(&folder.0).await.unwrap();
    let health = client(&engine).health_check().await.unwrap();
    assert!(health.title.contains("qdrant-edge"));
    let second = Engine::start(&folder.0).await.unwrap_err();
    assert!(matches!(second, EngineError::InUse { .. }));
    assert!(second.to_string().contains(&folder.0.display().to_string()));
    engine.stop().await.unwrap();
    let third = Engine::start(&folder.0).await.unwrap();
    third.stop().await.unwrap();
}

//! Filter values that do not exist, and books that are not completely indexed.

use serde_json::{Value, json};

use super::super::{Query, RetrieveError, Retriever, UnknownValue};
use super::{Page, book, found, unfinished_book};
use crate::degradation::Degradation;
use store::catalog::InstanceInfo;
use store::index::Filters;

/// Returns the rejected filter value if nothing is found because of it.
async fn unknown(retriever: &Retriever, limits: &Filters) -> Option<UnknownValue> {
    let query = Query::new("dew");
    let found = retriever.retrieve(query, limits, usize::MAX).await.unwrap();
    match retriever.check_limits(limits, &found).await {
        Ok(()) => None,
        Err(RetrieveError::Filter(value)) => Some(value),
        Err(error) => panic!("{error}"),
    }
}

#[tokio::test]
async fn a_value_that_the_book_does_not_have_is_named_with_those_it_has() {
    let retriever = book(&[("dew", 2, "Dew."), ("rain", 11, "Rain.")]).await;
    for (field, value, listed) in [
        ("locale", json!("fr"), "`en`, `ur`"),
        ("version", json!("99"), "`2.0`, `current`"),
        ("module", json!("Sim"), "`Basics`"),
        ("module", json!(7), "`1`"),
        ("chapter", json!("Sim"), "`The chapter 11`, `The chapter 2`"),
        ("chapter", json!(3), "`2`, `11`"),
        ("lesson", json!("1.2.3"), "none"),
        ("layer", json!("L9"), "`N/A`"),
        ("proficiency_level", json!("C2"), "`N/A`"),
        ("source", json!("a.md"), "`dew.md`, `rain.md`"),
    ] {
        let limits = filters(&json!({ field: value }));
        let unknown = unknown(&retriever, &limits).await.unwrap();
        let told = format!(
            "filters.{field} must be a value that the book has, got `{}`; the book has {listed}",
            unknown.value
        );
        assert_eq!(unknown.to_string(), told);
        assert_eq!(unknown.field, format!("filters.{field}"));
    }
    // These values exist in the book or in its settings.
    for known in [
        json!({"locale": "ur"}),
        json!({"version": "2.0"}),
        json!({"source": "rain.md"}),
        json!({"chapter": 11, "module": 1}),
        json!({"hardware_tier": 0}),
        json!({}),
    ] {
        let limits = filters(&known);
        assert_eq!(unknown(&retriever, &limits).await, None, "{known}");
    }
}

#[tokio::test]
async fn a_facet_that_the_site_does_not_declare_is_named_with_those_it_does() {
    let mut retriever = book(&[("dew", 2, "Dew.")]).await;
    for (declared, facets, told) in [
        (
            json!({}),
            json!({"plan": "pro"}),
            Some("got `plan`; the book has none"),
        ),
        (
            json!({"level": "text"}),
            json!({"plan": "pro"}),
            Some("got `plan`; the book has `level`"),
        ),
        (
            json!({"plan": "text"}),
            json!({"plan": "pro"}),
            Some("got `pro`; the book has none"),
        ),
        (json!({"release": "at most"}), json!({"release": "2"}), None),
        (
            json!({"release": "at most"}),
            json!({"release": "inf"}),
            Some("got `inf`; the book has none"),
        ),
    ] {
        retriever.index.site.facets = serde_json::from_value(declared).unwrap();
        let limits = filters(&json!({ "facets": facets }));
        let searched = limits
            .clone()
            .with_declared_facets(&retriever.index.site.facets);
        let found = retriever
            .retrieve(Query::new("dew"), &searched, 5)
            .await
            .unwrap();
        let error = retriever.check_limits(&limits, &found).await.err();
        let error = error.map(|error| error.to_string());
        assert_eq!(error.is_some(), told.is_some(), "{facets}: {error:?}");
        assert!(
            error.is_none_or(|error| error.ends_with(told.unwrap())),
            "{facets}"
        );
    }
}

#[tokio::test]
async fn a_version_that_no_docs_have_is_named_although_pages_of_others_are_found() {
    let mut retriever = book(&[("dew", 2, "Dew.")]).await;
    retriever.index.site.other_instances = vec![InstanceInfo {
        default_version: "api@3.0".to_owned(),
        ..InstanceInfo::default()
    }];
    let query = Query::new("dew");
    for (version, known) in [("api@4.0", false), ("api@3.0", true), ("2.0", true)] {
        let limits = filters(&json!({ "version": version }));
        let searched = Filters {
            versions_beside: vec!["current".to_owned()],
            ..limits.clone()
        };
        let found = retriever.retrieve(query, &searched, 5).await.unwrap();
        assert_eq!(found.candidates.len(), 1, "{version}");
        let checked = retriever.check_limits(&limits, &found).await;
        let error = checked.err().map(|error| error.to_string());
        assert_eq!(error.is_none(), known, "{version}: {error:?}");
        assert!(error.is_none_or(|error| error.ends_with("`2.0`, `api@3.0`, `current`")));
    }
}

fn filters(json: &Value) -> Filters {
    serde_json::from_value(json.clone()).unwrap()
}

#[tokio::test]
async fn long_values_and_long_lists_are_cut() {
    let names: Vec<String> = (10..40).map(|number| format!("page-{number}")).collect();
    let pages: Vec<Page> = names
        .iter()
        .map(|name| (name.as_str(), 1, "Dew."))
        .collect();
    let retriever = book(&pages).await;
    let limits = Filters {
        source: Some("x".repeat(5_000)),
        ..Filters::default()
    };
    let told = unknown(&retriever, &limits).await.unwrap().to_string();
    assert!(told.ends_with("`page-29.md` and 10 more"), "{told}");
    assert!(told.len() < 600, "{told}");
}

#[tokio::test]
async fn while_a_book_is_indexed_for_the_first_time_a_search_says_how_far_that_is() {
    let pages = [("dew", 1, "Dew."), ("rain", 1, "Rain.")];
    let mut retriever = unfinished_book(&pages).await;
    let index_id = retriever.index.index_id;
    let fr = Filters {
        locale: Some("fr".to_owned()),
        ..Filters::default()
    };
    for (expected, told) in [
        (Some(0), Some("2 pages so far")),
        (Some(63), Some("2 of 63 pages")),
        (Some(2), None),
        (None, None),
    ] {
        let expecting = retriever.catalog().expect_pages(index_id, expected);
        expecting.await.unwrap();
        retriever.index = retriever.catalog().live_index().await.unwrap().unwrap();
        assert_eq!(retriever.index.pages_expected, expected);
        let found = found(&retriever, Query::new("dew")).await;
        let progress = found.indexing.map(|progress| progress.to_string());
        assert_eq!(progress.as_deref(), told);
        assert_eq!(
            found.degraded.contains(&Degradation::Indexing),
            told.is_some()
        );
        // A page that is not indexed yet may have the value.
        let unknown = unknown(&retriever, &fr).await;
        assert_eq!(unknown.is_none(), told.is_some(), "{unknown:?}");
    }
}

#[tokio::test]
async fn a_kind_that_the_site_lacks_is_named_with_those_it_has() {
    let mut retriever = book(&[("dew", 2, "Dew.")]).await;
    retriever.index.site.other_instances = vec![InstanceInfo {
        default_version: "pages/default@current".to_owned(),
        ..InstanceInfo::default()
    }];
    let query = Query::new("dew");
    for (kind, found, error) in [
        (json!("docs"), 1, None),
        (json!(["blog", "docs"]), 1, None),
        (json!("page"), 0, None),
        (
            json!("blog"),
            0,
            Some(
                "filters.kind must be a value that the book has, got `blog`; the book has `docs`, `page`",
            ),
        ),
    ] {
        let limits = filters(&json!({ "kind": kind }));
        let searched = retriever.retrieve(query, &limits, 5).await.unwrap();
        assert_eq!(searched.candidates.len(), found, "{kind}");
        let checked = retriever.check_limits(&limits, &searched).await;
        let told = checked.err().map(|error| error.to_string());
        assert_eq!(told.as_deref(), error, "{kind}");
    }
}

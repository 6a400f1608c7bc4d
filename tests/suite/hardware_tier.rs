//! Hardware tiers: whatever tiers the pages of a book name, and however they change, a search finds everything that the
//! reader can follow, and nothing else.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use bookrag::embed::{Embedder, FakeEmbedder};
use bookrag::index::Filters;
use bookrag::ingest::{Report, RunStatus, SyncOptions, sync};
use bookrag::rerank::Reranker;
use bookrag::retrieve::{Backends as Retrieval, OffTopicCache, Query, QuestionCache, Retriever};
use bookrag_tests::backends::Backends;
use proptest::prelude::*;
use proptest::test_runner::{RngSeed, TestRunner};
use uuid::Uuid;

/// Each case creates an empty database and an empty store.
const CASES: u32 = 12;
const SEED: u64 = 20_261_122;
/// Limits the time for shrinking; a failure need not be minimal.
const MAX_SHRINKS: u32 = 24;
/// The tier of a page that names none.
const DEFAULT_TIER: i64 = 1;
/// A word in every section.
const WORD: &str = "marigold";

/// The tiers in a page's front matter, before and after an edit.
#[derive(Debug, Clone)]
struct Page {
    before: Option<i64>,
    after: Option<i64>,
}

impl Page {
    /// True if the edit changes which tiers find the page.
    fn moves(&self) -> bool {
        needed(self.before) != needed(self.after)
    }
}

fn page() -> impl Strategy<Value = Page> {
    let tier = || proptest::option::weighted(0.8, 1..=4_i64);
    (tier(), tier()).prop_map(|(before, after)| Page { before, after })
}

/// Few enough pages that both rankers return every permitted chunk.
fn book() -> impl Strategy<Value = Vec<Page>> {
    let pages = proptest::collection::vec(page(), 6..=12);
    pages.prop_filter("no page comes to need another tier", |pages| {
        pages.iter().any(Page::moves)
    })
}

fn needed(tier: Option<i64>) -> i64 {
    tier.unwrap_or(DEFAULT_TIER)
}

fn source(page: usize) -> String {
    format!("docs/page-{page}.md")
}

/// Writes a page whose text does not depend on its tier.
fn write(site: &Path, page: usize, tier: Option<i64>) {
    let tier = tier.map_or_else(String::new, |tier| format!("hardware_tier: {tier}\n"));
    let text = format!(
        "---\ntitle: The {WORD} on page {page}\n{tier}---\n\n## Sowing\n\nSow the {WORD} of page {page} in May.\n\n\
         ## Watering\n\nThe {WORD} of page {page} is watered in the evening.\n"
    );
    fs::write(site.join(source(page)), text).unwrap();
}

async fn ingest(backends: &Backends, site: &Path) -> Report {
    let mut ports = backends.ports(site);
    ports.embedder = Embedder::Fake(FakeEmbedder::new());
    let ingest = Backends::open(ports).await.unwrap();
    let report = sync(&ingest, SyncOptions::default(), |_| {}).await.unwrap();
    assert_eq!(report.status, RunStatus::Success, "{report}");
    report
}

/// Returns the number of found sections per page.
async fn found(backends: &Backends, hardware_tier: Option<i64>) -> BTreeMap<String, usize> {
    let retriever = Retriever {
        backends: Retrieval {
            embedder: Embedder::Fake(FakeEmbedder::new()),
            reranker: Reranker::None,
            vectors: backends.index.clone(),
            catalog: backends.catalog.clone(),
            off_topic: OffTopicCache::default(),
            questions: QuestionCache::default(),
        },
        index: backends.catalog.live_index().await.unwrap().unwrap(),
    };
    let filters = Filters {
        hardware_tier,
        ..Filters::default()
    };
    let retrieved = retriever
        .retrieve(Query::new(WORD), &filters, usize::MAX)
        .await;
    let retrieved = retrieved.unwrap();
    assert!(retrieved.degraded.is_empty(), "{:?}", retrieved.degraded);
    let mut found: BTreeMap<String, usize> = BTreeMap::new();
    for candidate in &retrieved.candidates {
        *found.entry(candidate.chunk.source.clone()).or_default() += 1;
    }
    found
}

/// Asserts that every tier finds all sections of the pages that need at most this tier.
async fn each_tier_finds_its_pages(
    backends: &Backends,
    tiers: &[Option<i64>],
) -> Result<(), TestCaseError> {
    let needs: BTreeMap<String, i64> = (0..)
        .zip(tiers)
        .map(|(page, tier)| (source(page), needed(*tier)))
        .collect();
    let whole = found(backends, None).await;
    prop_assert!(whole.keys().eq(needs.keys()), "{:?} is all", whole);
    for tier in 1..=4 {
        let mut expected = whole.clone();
        expected.retain(|page, _| needs[page] <= tier);
        let with_tier = found(backends, Some(tier)).await;
        prop_assert_eq!(with_tier, expected, "tier {} of {:?}", tier, needs);
    }
    Ok(())
}

async fn holds(pages: &[Page]) -> Result<(), TestCaseError> {
    let database = format!("hardware_tier_{}", Uuid::new_v4().simple());
    let backends = Backends::start(&database).await;
    let folder = tempfile::tempdir().unwrap();
    let site = folder.path();
    fs::create_dir(site.join("docs")).unwrap();

    for (number, page) in pages.iter().enumerate() {
        write(site, number, page.before);
    }
    let first = ingest(&backends, site).await;
    prop_assert_eq!(first.files_changed, pages.len());
    prop_assert!(first.embedded > 0, "nothing is embedded");
    let before: Vec<_> = pages.iter().map(|page| page.before).collect();
    each_tier_finds_its_pages(&backends, &before).await?;

    let mut edited = 0;
    for (number, page) in pages.iter().enumerate() {
        if page.before != page.after {
            write(site, number, page.after);
            edited += 1;
        }
    }
    let second = ingest(&backends, site).await;
    prop_assert_eq!(second.files_changed, edited);
    prop_assert_eq!(second.embedded, 0, "another tier is not another text");
    prop_assert!(second.vectors_reused >= edited);
    let after: Vec<_> = pages.iter().map(|page| page.after).collect();
    each_tier_finds_its_pages(&backends, &after).await
}

#[test]
fn a_tier_finds_exactly_the_pages_it_allows() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let mut runner = TestRunner::new(ProptestConfig {
        cases: CASES,
        rng_seed: RngSeed::Fixed(SEED),
        failure_persistence: None,
        max_shrink_iters: MAX_SHRINKS,
        ..ProptestConfig::default()
    });
    let law = |pages: Vec<Page>| runtime.block_on(holds(&pages));
    runner.run(&book(), law).unwrap();
}

//! Measures what a question and a command cost in Postgres as the book grows: `cargo bench -p bookrag-tests --bench catalog -- [CHUNKS]...`.
//!
//! Fills an index with made chunks of 80 terms, whose frequencies fall as those of words do, and prints the median time of each step in milliseconds.
//! By default with 10,000, 100,000 and 1,000,000 chunks, which takes some ten minutes and 4 GB of disk.

#![expect(clippy::unwrap_used, reason = "a failed step ends the benchmark")]
#![expect(clippy::print_stdout, reason = "a benchmark prints")]

mod made;

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use bookrag::catalog::{
    Catalog, CommitOutcome, NewChunk, PageSelection, PostgresCatalog, PostgresOptions, TlsOptions,
};
use bookrag::index::Filters;
use bookrag::retrieve::Language;
use bookrag_tests::postgres::Postgres;
use made::{CHUNKS_OF_A_PAGE, QUESTION, new_chunk, new_index, page};
use tokio_postgres::NoTls;
use uuid::Uuid;

const SIZES: [u64; 3] = [10_000, 100_000, 1_000_000];
/// Times that each step is measured.
const RUNS: u64 = 21;

/// Adds `$2` chunks to index `$1`. A chunk has 80 terms of 50,000, each less frequent than the one before.
const FILL: &str = "
    INSERT INTO documents (index_id, document_id, source, title, url, locale, version, lesson, revision, fingerprint, deleted, last_indexed_at)
    SELECT $1, md5('page' || page)::uuid, 'docs/' || page || '.md', 'Page ' || page, '/docs/' || page, 'en', 'current', '{}', 1, '', false, now()
    FROM generate_series(1, $2 / 20) AS page;
    INSERT INTO document_chunks (index_id, chunk_id, document_id, position, chapter, source_file, start_line, end_line, token_count,
        qdrant_point_id, text, text_hash, payload_hash, payload, terms)
    SELECT $1, md5('chunk' || chunk)::uuid, md5('page' || (chunk / 20 + 1))::uuid, chunk % 20, '', 'docs/' || (chunk / 20 + 1) || '.md', 1, 9, 120,
        (lpad(to_hex(chunk::bigint * 2654435761 % 4294967296), 8, '0') || repeat('0', 24))::uuid, repeat('word and word ', 50), md5('text' || chunk), '',
        '$3'::jsonb - 'text' || jsonb_build_object('module', 'Module ' || (chunk / 2000), 'source', 'docs/' || (chunk / 20 + 1) || '.md'),
        (SELECT array_to_tsvector(array_agg(DISTINCT 't' || floor(exp(random() * ln(50000)))::int))
         FROM generate_series(1, 80) WHERE chunk >= 0)
    FROM generate_series(0, $2 - 1) AS chunk;
    INSERT INTO index_counts (index_id, field, value, number)
    SELECT index_id, field, value, sum(number) FROM documents, counts_of_document(index_id, document_id)
    WHERE index_id = $1 GROUP BY index_id, field, value;
    CREATE INDEX document_chunks_terms ON document_chunks USING gin (terms);
    ANALYZE";

#[tokio::main]
async fn main() {
    let sizes: Vec<u64> = std::env::args()
        .skip(1)
        .filter_map(|argument| argument.parse().ok())
        .collect();
    let sizes = if sizes.is_empty() {
        SIZES.to_vec()
    } else {
        sizes
    };
    let server = Postgres::start().await;
    for chunks in sizes {
        let url = server.create_database(&format!("chunks_{chunks}")).await;
        measure(&url, chunks).await;
    }
}

async fn measure(url: &str, chunks: u64) {
    let catalog = Catalog::Postgres(
        PostgresCatalog::new(PostgresOptions {
            url: url.into(),
            direct_url: None,
            tls: TlsOptions::default(),
            statement_timeout: Duration::from_mins(2),
            connect_timeout: Duration::from_secs(5),
            pool_size: 2,
        })
        .unwrap(),
    );
    catalog.migrate().await.unwrap();
    let index = catalog.ensure_index(&new_index()).await.unwrap();
    let index_id = index.index_id;
    fill(url, index_id, chunks).await;
    let mut steps: Vec<(&str, Vec<Duration>)> = Vec::new();
    let language = Language::ENGLISH;
    let filters = Filters::default();
    let words: BTreeSet<String> = QUESTION.iter().map(|word| (*word).to_owned()).collect();
    let terms: Vec<String> = words.iter().cloned().collect();
    let mut record =
        |name: &'static str, time: Duration| match steps.iter_mut().find(|(step, _)| *step == name)
        {
            Some((_, times)) => times.push(time),
            None => steps.push((name, vec![time])),
        };
    for run in 0..RUNS {
        let points: Vec<Uuid> = (0..40)
            .map(|at| point((run * 7_919 + at * 104_729) % chunks))
            .collect();
        let started = Instant::now();
        let counted = catalog.document_frequencies(index_id, &words, language);
        assert!(counted.await.unwrap().chunks >= chunks);
        record("word frequencies", started.elapsed());
        let started = Instant::now();
        catalog.join(index_id, &points).await.unwrap();
        record("40 chunks", started.elapsed());
        let started = Instant::now();
        catalog.cached_answer(index_id, "key").await.unwrap();
        record("cached answer", started.elapsed());
        let started = Instant::now();
        catalog.values(index_id, "version").await.unwrap();
        record("values of a filter", started.elapsed());
        let started = Instant::now();
        let found = catalog.search_text(index_id, &terms, &filters, 40);
        assert!(!found.await.unwrap().is_empty());
        record("full text, Qdrant down", started.elapsed());
        let started = Instant::now();
        catalog.stats(index_id).await.unwrap();
        record("statistics", started.elapsed());
        let selection = PageSelection::default();
        let pages_in_all = chunks / CHUNKS_OF_A_PAGE;
        for (name, from) in [
            ("600 of all pages", 0),
            ("the last 600", pages_in_all.saturating_sub(600)),
        ] {
            let from = usize::try_from(from).unwrap();
            let started = Instant::now();
            let pages = catalog.listed_pages(index_id, selection, from, 600);
            assert!(pages.await.unwrap().len() >= 500);
            record(name, started.elapsed());
        }
        let page = page(index_id, 0, run);
        let intents = &page.intents;
        catalog
            .add_intents(index_id, page.document.document_id, intents)
            .await
            .unwrap();
        let started = Instant::now();
        let outcome = catalog.commit(&page).await.unwrap();
        assert!(matches!(outcome, CommitOutcome::Committed { .. }));
        record("commit of a page", started.elapsed());
        let started = Instant::now();
        catalog
            .known_points(index_id, Some(points[0]), 10_000)
            .await
            .unwrap();
        record("10,000 known points", started.elapsed());
    }
    execute(
        url,
        "UPDATE indexes SET state = 'retired', retired_at = now() - interval '1 day'",
    )
    .await;
    catalog.begin_drop(Duration::ZERO).await.unwrap();
    let started = Instant::now();
    catalog.finish_drop(index_id).await.unwrap();
    record("dropping the index", started.elapsed());
    for (step, mut times) in steps {
        times.sort_unstable();
        let median = times[times.len() / 2].as_secs_f64() * 1e3;
        println!("{chunks}\t{step}\t{median:.1} ms");
    }
}

async fn fill(url: &str, index_id: i64, chunks: u64) {
    let started = Instant::now();
    let NewChunk { payload, .. } = new_chunk(0, 0, 0);
    let fill = FILL.replace("$3", &serde_json::to_string(&payload).unwrap());
    let fill = fill.replace("$1", &index_id.to_string());
    let fill = fill.replace("$2", &chunks.to_string());
    execute(url, &format!("DROP INDEX document_chunks_terms;{fill}")).await;
    println!("{chunks}\tfilled in {} s", started.elapsed().as_secs());
}

async fn execute(url: &str, statements: &str) {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    tokio::spawn(connection);
    client.batch_execute(statements).await.unwrap();
}

/// Returns the point of a made chunk, as [`FILL`] does.
fn point(chunk: u64) -> Uuid {
    Uuid::from_u128(u128::from(chunk * 2_654_435_761 % (1 << 32)) << 96)
}

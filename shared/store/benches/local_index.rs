//! How fast the local index takes chunks, how much space they need, and how fast it is searched.
//!
//! `cargo bench -p engine --features embedded --bench local_index` prints a line for each size: chunks of generated text of about a
//! kilobyte with vectors of 384 numbers and those of 150 tokens, written a page at a time as ingest writes them, and searched by one
//! caller, with a question's tokens and without, and by fifty at once.

use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use book::Placement;
use book::chunk::SectionType;
use futures::future::join_all;
use models::embed::{
    Embedding, TOKEN_DIMENSIONS, TokenVector, TokenVectors, WeightedToken, rounded,
};
use store::catalog::{
    Catalog, ChunkRow, Commit, DocumentRow, IndexSpec, NewChunk, NewIndex, Retired, SiteInfo,
    SqliteCatalog,
};
use store::index::{ChunkPayload, Filters, LocalIndex, VectorQuery};
use text::{Language, terms_in};
use uuid::Uuid;

const SIZES: [usize; 2] = [5_000, 55_000];
const DIMENSIONS: usize = 384;
/// Chunks of a page.
const CHUNKS: usize = 11;
/// Words of a chunk, some six letters each.
const WORDS: usize = 150;
/// Different words of the book. How often each is used follows Zipf's law, as in any language.
const VOCABULARY: u64 = 20_000;
/// Words of a question, each of them a token.
const QUESTION: usize = 6;
const SEARCHES: usize = 300;
const CALLERS: usize = 50;
/// What each ranking contributes to a question.
const LIMIT: usize = 40;

/// Numbers that follow from a seed: `SplitMix64` (Steele, Lea and Flood, OOPSLA 2014).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// From 0 to 1.
    #[expect(clippy::cast_precision_loss, reason = "a random number needs no more")]
    fn fraction(&mut self) -> f32 {
        self.next() as f32 / u64::MAX as f32
    }

    fn vector(&mut self) -> Vec<f32> {
        (0..DIMENSIONS).map(|_| self.fraction() - 0.5).collect()
    }

    fn token(&mut self) -> TokenVector {
        rounded(&[0.0; TOKEN_DIMENSIONS].map(|_: f32| self.fraction() - 0.5))
    }

    fn embedding(&mut self) -> Embedding {
        let vector = self.vector();
        let tokens = (0..WORDS).map(|_| self.token());
        Embedding {
            tokens: TokenVectors::new(tokens),
            vector,
            questions: Vec::new(),
        }
    }

    fn question(&mut self) -> Question {
        let tokens = (0..QUESTION).map(|_| WeightedToken {
            vector: self.token(),
            weight: 1.0,
        });
        let tokens = tokens.collect();
        Question {
            text: self.text(QUESTION),
            vector: self.vector(),
            tokens,
        }
    }

    /// A word of the vocabulary: the rank's logarithm is spread evenly, which is Zipf's law.
    #[expect(clippy::cast_precision_loss, reason = "a small number")]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a rank"
    )]
    fn word(&mut self) -> String {
        let rank = (VOCABULARY as f32).powf(self.fraction()) as u64;
        let mut letters = Random(rank).next();
        let length = 4 + letters % 5;
        (0..length)
            .map(|place| {
                letters = letters.rotate_left(9);
                let alphabet = if place % 2 == 0 {
                    "bdfgklmnprstvz"
                } else {
                    "aeiou"
                };
                let place = usize::try_from(letters).unwrap_or(0) % alphabet.len();
                char::from(alphabet.as_bytes()[place])
            })
            .collect()
    }

    fn text(&mut self, words: usize) -> String {
        (0..words)
            .map(|_| self.word())
            .collect::<Vec<_>>()
            .join(" ")
    }
}

struct Question {
    text: String,
    vector: Vec<f32>,
    tokens: Vec<WeightedToken>,
}

struct Book {
    catalog: Catalog,
    index: LocalIndex,
    index_id: i64,
    collection: String,
}

impl Book {
    async fn open(path: &Path) -> Self {
        let sqlite = SqliteCatalog::open(path).await.expect("opened");
        let index = LocalIndex::from_catalog(&sqlite);
        let catalog = Catalog::Sqlite(sqlite);
        catalog.migrate().await.expect("migrated");
        let row = catalog.ensure_index(&new_index()).await.expect("an index");
        let ensuring = index.ensure_collection(&row.collection, DIMENSIONS);
        ensuring.await.expect("a collection");
        Self {
            catalog,
            index,
            index_id: row.index_id,
            collection: row.collection,
        }
    }

    async fn publish(&self, page: usize, random: &mut Random) {
        let source = format!("docs/module-{}/page-{page}.md", page % 10);
        let document_id = Uuid::new_v5(&Uuid::NAMESPACE_URL, source.as_bytes());
        let chunks: Vec<NewChunk> = (0..CHUNKS)
            .map(|place| new_chunk(&source, document_id, place, random.text(WORDS)))
            .collect();
        let intents: Vec<Uuid> = chunks.iter().map(|chunk| chunk.row.point_id).collect();
        let vectors = intents.iter().map(|point| (*point, random.embedding()));
        let vectors = vectors.collect();
        let adding = self
            .catalog
            .add_intents(self.index_id, document_id, &intents);
        adding.await.expect("intents");
        let upserting = self.index.upsert(&self.collection, vectors);
        upserting.await.expect("vectors");
        let commit = Commit {
            index_id: self.index_id,
            document: document(&source, document_id),
            expected_revision: 0,
            chunks: Some(chunks),
            intents,
            inputs: vec!["docs/_category_.json".to_owned()],
        };
        self.catalog.commit(&commit).await.expect("committed");
    }

    /// Milliseconds of a search.
    async fn search(&self, question: &Question, tokens: &[WeightedToken]) -> f64 {
        let filters = Filters {
            locale: Some("en".to_owned()),
            version: Some("current".to_owned()),
            ..Filters::default()
        };
        let query = VectorQuery {
            terms: &terms_in(&question.text, &[Language::ENGLISH]),
            vector: &question.vector,
            tokens,
            with_questions: true,
            filters: &filters,
            limit: LIMIT,
        };
        let started = Instant::now();
        let found = self.index.search(&self.collection, &query).await;
        black_box(found.expect("found"));
        started.elapsed().as_secs_f64() * 1e3
    }
}

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .expect("threads");
    eprintln!(
        "chunks  insert s  bytes a chunk  first ms   1 caller p50  p95 ms  without tokens p50   after a commit  {CALLERS} callers p50  p95 ms"
    );
    for size in SIZES {
        runtime.block_on(measure(size));
    }
}

async fn measure(size: usize) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("book.sqlite");
    let mut random = Random(7);
    let book = Book::open(&path).await;
    let pages = size / CHUNKS;
    // What is generated is not what is measured.
    let mut spent = 0.0;
    for page in 0..pages {
        let started = Instant::now();
        book.publish(page, &mut random).await;
        spent += started.elapsed().as_secs_f64();
    }
    let started = Instant::now();
    let mut other = Random(7);
    for _ in 0..pages * CHUNKS {
        black_box((other.text(WORDS), other.embedding()));
    }
    spent -= started.elapsed().as_secs_f64();
    drop(book);
    let bytes = std::fs::metadata(&path).expect("a file").len();

    let book = Book::open(&path).await;
    let questions: Vec<Question> = (0..SEARCHES).map(|_| random.question()).collect();
    let first = book.search(&questions[0], &questions[0].tokens).await;
    let (mut alone, mut without) = (Vec::new(), Vec::new());
    for question in &questions {
        alone.push(book.search(question, &question.tokens).await);
        without.push(book.search(question, &[]).await);
    }
    book.publish(pages, &mut random).await;
    let refreshed = book.search(&questions[0], &questions[0].tokens).await;
    let mut together = Vec::new();
    for questions in questions.chunks(CALLERS) {
        let searches = questions
            .iter()
            .map(|question| book.search(question, &question.tokens));
        together.extend(join_all(searches).await);
    }
    let chunks = pages * CHUNKS;
    eprintln!(
        "{chunks:>6}  {spent:>8.1}  {:>13}  {first:>8.1}  {:>13.2}  {:>6.2}  {:>18.2}  {refreshed:>15.1}  {:>14.1}  {:>6.1}",
        bytes / chunks as u64,
        percentile(&mut alone, 50),
        percentile(&mut alone, 95),
        percentile(&mut without, 50),
        percentile(&mut together, 50),
        percentile(&mut together, 95),
    );
}

fn percentile(values: &mut [f64], percent: usize) -> f64 {
    values.sort_by(f64::total_cmp);
    values[(values.len() - 1) * percent / 100]
}

fn new_index() -> NewIndex {
    NewIndex {
        spec: IndexSpec {
            site: "book".to_owned(),
            embedder: "generated".to_owned(),
            embedder_fingerprint: "generated".to_owned(),
            dimensions: DIMENSIONS,
            chunk_policy: "adaptive".to_owned(),
            embedded_text_version: 1,
            bm25: "local".to_owned(),
            token_vectors: None,
            question_vectors: None,
        },
        collection: "textbook_chunks_0123abcd".to_owned(),
        site: SiteInfo::default(),
        retired: Retired::Stays,
    }
}

fn document(source: &str, document_id: Uuid) -> DocumentRow {
    DocumentRow {
        document_id,
        source: source.to_owned(),
        title: "The title of a page".to_owned(),
        url: format!("/book/{source}"),
        locale: "en".to_owned(),
        version: "current".to_owned(),
        lesson_id: Some("1.2.3".to_owned()),
        placement: Placement::default(),
        fingerprint: "f".repeat(64),
        skip_reason: None,
        deleted: false,
    }
}

fn new_chunk(source: &str, document_id: Uuid, place: usize, text: String) -> NewChunk {
    let chunk_id = Uuid::new_v4();
    let (section, section_id) = (
        format!("Section number {place}"),
        format!("section-number-{place}"),
    );
    NewChunk {
        row: ChunkRow {
            chunk_id,
            position: i32::try_from(place).expect("a page's place"),
            chapter: "The chapter's title".to_owned(),
            chapter_id: Some(2),
            section: Some(section.clone()),
            section_id: Some(section_id.clone()),
            source_file: source.to_owned(),
            start_line: 1,
            end_line: 20,
            token_count: 300,
            point_id: Uuid::new_v4(),
            text: text.clone(),
            text_hash: format!("{:064x}", chunk_id.as_u128()),
            payload_hash: format!("{:064x}", chunk_id.as_u128()),
        },
        payload: ChunkPayload {
            chunk_id,
            document_id,
            text,
            marks: Vec::new(),
            breadcrumb: String::new(),
            links: Vec::new(),
            source: source.to_owned(),
            url: format!("/book/{source}"),
            module: "The title of a module".to_owned(),
            module_number: Some(1),
            chapter: "The chapter's title".to_owned(),
            chapter_number: Some(2),
            lesson: "The title of a page".to_owned(),
            lesson_number: Some(3),
            lesson_id: Some("1.2.3".to_owned()),
            title: "The title of a page".to_owned(),
            section: Some(section.clone()),
            section_id: Some(section_id),
            heading_path: vec!["The title of a page".to_owned(), section],
            section_type: [SectionType::Structural, SectionType::Instructional][place % 2],
            chunk_index: 0,
            chunk_count: 1,
            start_line: 1,
            end_line: 20,
            page: 1,
            token_count: 300,
            word_count: WORDS,
            has_code: place.is_multiple_of(3),
            has_equations: false,
            hardware_tier: 1,
            layer: "L1".to_owned(),
            proficiency_level: "A1".to_owned(),
            keywords: vec!["robots".to_owned()],
            search_words: String::new(),
            questions: Vec::new(),
            locale: vec!["en".to_owned()],
            fallback_urls: Vec::new(),
            version: "current".to_owned(),
            date: None,
            facets: std::collections::BTreeMap::new(),
            unlisted: false,
            created_at: "2026-01-31T12:00:00Z".to_owned(),
        },
    }
}

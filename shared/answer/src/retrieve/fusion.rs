//! Combines the scores of all rankers into one order.

use std::collections::{HashMap, HashSet};

use super::lexical::{ChunkTerms, QuestionTerm, bm25};
use super::names::Names;
use super::{ScoredChunk, Signals};
use book::ContentKind;
use models::embed::{NEAREST_CHUNKS, mean_of_best};

/// The weight of BM25 in the fused score; the cosine and the token score have the rest.
///
/// The convex combination of scaled scores ranks better than reciprocal rank fusion (Bruch, Gai and Ingber, ACM TOIS 2023);
/// `docs/decisions/0004-the-order-of-chunks.md` has this project's figures.
const LEXICAL_SHARE: f32 = 0.23;
/// The weight of the nearest question in the fused score of a chunk that has questions; BM25, which also reads them, has the rest. The cosine of the
/// text has no weight of its own then: fitted on 240 questions of real users with the measured site left out, it gets 0 on six of eight sites. But if
/// a text is nearer than its questions, the mean of both cosines counts, for readers who ask in its words.
const QUESTION_SHARE: f32 = 0.65;
/// The reranker's weight, relative to 1 for the fused score.
const RERANK_WEIGHT: f32 = 0.5;
/// The factor for headings without text: a reader who opens one finds nothing.
const EMPTY: f32 = 0.7;
/// The bonus for a chunk whose heading is a name that the question has. On 140 questions that name an option or a function the right section is first
/// in .95, without the bonus in .85.
const NAMED_BONUS: f32 = 0.2;
/// The factor for blog posts: documentation is kept up to date. A post has a shorter breadcrumb than its twin in
/// the docs, which raises its score by up to a tenth: of 63 pairs of equal sections about one book, .93 leaves 9 posts ahead and .85 none; of 90
/// about another, neither leaves any.
const POST: f32 = 0.85;
/// The bonus for a chunk if the page's keywords contain all words of the question: the embedder has not seen the keywords. With a word of each of 84
/// questions replaced by an unknown one that is a keyword of the right page, this page is first in .77 (.57 without the bonus); for the word alone
/// in .78 (.14).
const FILED_BONUS: f32 = 0.4;

/// The weights of the rankers and of recency. Each ranker's scores are scaled from 0 to 1 over the chunks found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Weights {
    cosine: f32,
    /// The weight of the token score. Without token vectors it is the cosine's.
    tokens: f32,
    /// The weight of the nearest question.
    question: f32,
    words: f32,
    /// The weight of being among the newest chunks.
    recency: f32,
}

impl Weights {
    /// BM25 alone, because the embedder does not support the question's language.
    pub(super) const WORDS: Self = Self::new(0.0, 0.0, 1.0, 0.0);
    /// The weights of a chunk that has questions, whatever the weights of other chunks.
    const ASKED: Self = Self {
        question: QUESTION_SHARE,
        ..Self::new(0.0, 0.0, 1.0 - QUESTION_SHARE, 0.0)
    };
    /// The weights of `BOOKRAG_RERANKER=weighted`.
    pub(super) const WEIGHTED: Self = Self::new(0.7, 0.0, 0.2, 0.1);

    /// Returns the default weights. `token_share` is the part of the token score in the weight that it shares with the cosine.
    pub(super) const fn with_token_share(token_share: f32) -> Self {
        let meaning = 1.0 - LEXICAL_SHARE;
        let tokens = meaning * token_share;
        Self::new(meaning - tokens, tokens, LEXICAL_SHARE, 0.0)
    }

    const fn new(cosine: f32, tokens: f32, words: f32, recency: f32) -> Self {
        Self {
            cosine,
            tokens,
            question: 0.0,
            words,
            recency,
        }
    }
}

/// Scores chunks by all rankers, sorts them best first, and keeps each heading once. `question` and `terms` are the terms of the question and of
/// each chunk, `names` the names in the question.
pub(super) fn fused(
    question: &[QuestionTerm],
    names: &Names,
    mut chunks: Vec<ScoredChunk>,
    terms: &[ChunkTerms],
    weights: Weights,
) -> (Vec<ScoredChunk>, Signals) {
    let lexical = bm25(question, terms);
    for ((found, score), coverage) in chunks
        .iter_mut()
        .zip(&lexical.scores)
        .zip(&lexical.coverage)
    {
        found.scores.lexical = *score;
        found.scores.coverage = *coverage;
        if weights == Weights::WORDS {
            found.scores.dense = None;
            found.scores.tokens = None;
            found.scores.question = None;
        }
    }
    let signals = signals(&chunks);
    combine(&mut chunks, weights);
    prefer(&mut chunks, &lexical.filed, names);
    sort(&mut chunks);
    keep_each_heading_once(&mut chunks);
    let has_words = chunks.iter().any(|found| found.scores.lexical > 0.0);
    if weights == Weights::WORDS && has_words {
        chunks.retain(|found| found.scores.lexical > 0.0);
    }
    let signals = Signals {
        margin: margin(chunks.iter().map(|found| found.scores.fused)),
        is_asked: chunks
            .first()
            .is_some_and(|first| first.scores.question.is_some()),
        ..signals
    };
    (chunks, signals)
}

/// Returns the signals of the rankers' scores.
fn signals(chunks: &[ScoredChunk]) -> Signals {
    let dense: Vec<f32> = chunks
        .iter()
        .filter_map(|found| found.scores.dense)
        .collect();
    let nearest = dense.iter().copied().reduce(f32::max);
    Signals {
        cosine: nearest.map(|nearest| nearest.max(0.0)),
        off_topic: None,
        z: None,
        coverage: chunks
            .iter()
            .map(|found| found.scores.coverage)
            .fold(0.0, f32::max),
        tokens: chunks
            .iter()
            .filter_map(|found| found.scores.tokens)
            .reduce(f32::max),
        margin: None,
        is_asked: false,
        nearness: mean_of_best(dense, NEAREST_CHUNKS),
    }
}

/// Computes each chunk's fused score: the weighted sum of its scores, each scaled to its range among the chunks.
fn combine(chunks: &mut [ScoredChunk], weights: Weights) {
    let cosines = range_of(chunks.iter().filter_map(|found| found.scores.dense));
    let tokens = range_of(chunks.iter().filter_map(|found| found.scores.tokens));
    // Questions and texts have cosines of one kind, so one range: the only question found may be near or far.
    let asked = chunks.iter().filter_map(|found| found.scores.question);
    let dense = chunks.iter().filter_map(|found| found.scores.dense);
    let questions = range_of(asked.chain(dense));
    let best_lexical = chunks
        .iter()
        .map(|found| found.scores.lexical)
        .fold(0.0, f32::max);
    let newest = chunks
        .iter()
        .map(|found| &found.chunk.created_at)
        .max()
        .cloned();
    for found in chunks {
        let scores = &mut found.scores;
        let weights = match scores.question {
            Some(_) => Weights::ASKED,
            None => weights,
        };
        let cosine = scaled(scores.dense, cosines);
        let of_tokens = tokens.map_or(cosine, |_| scaled(scores.tokens, tokens));
        let asked = scaled(scores.question, questions);
        let nearness = asked.max(f32::midpoint(asked, scaled(scores.dense, questions)));
        let is_newest = Some(&found.chunk.created_at) == newest.as_ref();
        scores.fused = weights.cosine * cosine
            + weights.tokens * of_tokens
            + weights.question * nearness
            + weights.words * share(scores.lexical, best_lexical)
            + weights.recency * f32::from(u8::from(is_newest));
    }
}

/// Raises chunks that the question names or whose page has its words as keywords, and lowers posts and empty headings. Scores stay in 0 to 1.
fn prefer(chunks: &mut [ScoredChunk], filed: &[f32], names: &Names) {
    let filed: Vec<f32> = chunks
        .iter()
        .zip(filed)
        .map(|(found, share)| share_that_counts(found, *share))
        .collect();
    let most_filed = filed.iter().copied().fold(0.0, f32::max);
    let most_named = if names.is_empty() { 0.0 } else { NAMED_BONUS };
    for (found, filed) in chunks.iter_mut().zip(filed) {
        let mut score = found.scores.fused;
        score = (score + FILED_BONUS * filed) / (1.0 + FILED_BONUS * most_filed);
        if found.is_bare_heading() {
            score *= EMPTY;
        }
        if found.chunk.kind() == ContentKind::Blog {
            score *= POST;
        }
        if names.are_in(found.section()) {
            score += NAMED_BONUS;
        }
        score /= 1.0 + most_named;
        found.scores.fused = score;
        found.scores.score = score;
    }
}

/// Returns the share of the question's words that are keywords of the chunk's page. If the section has questions, the share counts only if it is 1,
/// because the questions say more than a few keywords.
fn share_that_counts(found: &ScoredChunk, filed: f32) -> f32 {
    let is_whole = filed > 1.0 - 1e-3;
    match found.scores.question {
        Some(_) if !is_whole => 0.0,
        _ => filed,
    }
}

/// If two files have the same URL, only the better one is listed. In one file, headings without an anchor share the URL of the heading above; each
/// of them is listed.
fn keep_each_heading_once(chunks: &mut Vec<ScoredChunk>) {
    let mut owners: HashMap<String, String> = HashMap::new();
    let mut seen: HashSet<(String, String)> = HashSet::new();
    chunks.retain(|found| {
        let (url, source) = (found.url(None), &found.chunk.source);
        let owner = owners.entry(url.clone()).or_insert_with(|| source.clone());
        owner == source && seen.insert((url, found.section().to_owned()))
    });
}

/// Combines the reranker's scores of the first candidates with their fused scores. The other candidates stay behind them.
pub(super) fn reranked(candidates: &mut [ScoredChunk], scores: &[f32]) {
    if scores.is_empty() {
        return;
    }
    for (candidate, score) in candidates.iter_mut().zip(scores) {
        candidate.scores.rerank = Some(*score);
    }
    for candidate in candidates.iter_mut() {
        let scores = &mut candidate.scores;
        let reranked = RERANK_WEIGHT * scores.rerank.unwrap_or(0.0);
        scores.score = (scores.fused + reranked) / (1.0 + RERANK_WEIGHT);
    }
    sort(candidates);
}

/// Sorts best first; ties are in book order, so that results are reproducible.
pub(super) fn sort(candidates: &mut [ScoredChunk]) {
    candidates.sort_by(|a, b| {
        b.scores
            .score
            .total_cmp(&a.scores.score)
            .then_with(|| a.chunk.source.cmp(&b.chunk.source))
            .then(a.chunk.start_line.cmp(&b.chunk.start_line))
    });
}

/// Returns how far the first score exceeds the mean of the first ten; `None` with fewer scores.
fn margin(scores: impl Iterator<Item = f32>) -> Option<f32> {
    let scores: Vec<f32> = scores.take(NEAREST_CHUNKS).collect();
    let first = scores.first().filter(|_| scores.len() == NEAREST_CHUNKS)?;
    Some(first - mean_of_best(scores.clone(), NEAREST_CHUNKS)?)
}

/// Returns the smallest and the largest score; `None` if there are none.
fn range_of(scores: impl Iterator<Item = f32>) -> Option<(f32, f32)> {
    let ranges = scores.map(|score| (score, score));
    ranges.reduce(|(least, largest), (score, _)| (least.min(score), largest.max(score)))
}

/// Scales a score to 0 to 1 within a range; 0 without a score.
fn scaled(score: Option<f32>, range: Option<(f32, f32)>) -> f32 {
    match (score, range) {
        (Some(score), Some((least, largest))) => share(score - least, largest - least),
        _ => 0.0,
    }
}

/// Returns `part` / `whole`, 0 to 1; 0 if `whole` is 0.
fn share(part: f32, whole: f32) -> f32 {
    if whole > 0.0 {
        (part / whole).clamp(0.0, 1.0)
    } else {
        0.0
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::sync::Arc;

    use super::super::{Language, Scores, Words};
    use super::*;
    use proptest::prelude::*;
    use text::TermNumbers;

    const SCALED: Weights = Weights::with_token_share(0.5);

    const PAYLOAD: &str = r#"{
        "chunk_id": "00000000-0000-0000-0000-000000000000", "document_id": "00000000-0000-0000-0000-000000000000",
        "text": "TEXT", "source": "PAGE.md", "url": "/PAGE", "module": "Unknown", "module_number": null,
        "chapter": "Unknown", "chapter_number": null, "lesson": "N/A", "lesson_number": null, "lesson_id": null,
        "title": "PAGE", "section": null, "section_id": "ANCHOR", "heading_path": ["ANCHOR"],
        "section_type": "instructional", "chunk_index": 0, "chunk_count": 1, "start_line": 1, "end_line": 2, "page": 1,
        "token_count": 9, "word_count": 9, "has_code": false, "has_equations": false, "hardware_tier": 1,
        "layer": "N/A", "proficiency_level": "N/A", "keywords": [], "locale": ["en"], "fallback_urls": [],
        "version": "current", "unlisted": false, "created_at": "CREATED"
    }"#;

    /// Returns a chunk of `page` under the heading `anchor`, with a cosine.
    pub(crate) fn section(
        page: &str,
        anchor: &str,
        text: &str,
        cosine: f32,
        created_at: &str,
    ) -> ScoredChunk {
        let payload = PAYLOAD
            .replace("PAGE", page)
            .replace("ANCHOR", anchor)
            .replace("TEXT", text)
            .replace("CREATED", created_at);
        ScoredChunk {
            point_id: uuid::Uuid::nil(),
            position: Some(0),
            chunk: Arc::new(serde_json::from_str(&payload).unwrap()),
            scores: Scores {
                dense: Some(cosine),
                ..Scores::default()
            },
            category: None,
        }
    }

    fn fused_of(
        question: &str,
        chunks: Vec<ScoredChunk>,
        weights: Weights,
    ) -> (Vec<ScoredChunk>, Signals) {
        let words = Words::new(Language::ENGLISH);
        let mut numbers = TermNumbers::new(&words);
        let terms: Vec<ChunkTerms> = chunks
            .iter()
            .map(|found| ChunkTerms {
                filed: numbers.read(&found.chunk.search_words).len(),
                all: numbers.read(&found.chunk.searched_text()),
            })
            .collect();
        fused(
            &terms_of(&numbers.read(question)),
            &Names::default(),
            chunks,
            &terms,
            weights,
        )
    }

    fn terms_of(numbers: &[u32]) -> Vec<QuestionTerm> {
        let numbers = numbers.iter();
        numbers
            .map(|&number| QuestionTerm { number, idf: None })
            .collect()
    }

    fn order(weights: Weights, chunks: Vec<ScoredChunk>) -> Vec<String> {
        let question = "spin the node";
        let (chunks, _) = fused_of(question, chunks, weights);
        chunks.iter().map(|found| found.url(None)).collect()
    }

    #[test]
    fn each_way_of_weighing_has_its_order_and_a_heading_is_there_once() {
        let chunks = || {
            vec![
                section("far", "x", "spin the node", 0.1, "2026-01-01"),
                section("near", "x", "something else", 0.9, "2026-01-01"),
                section("near", "x", "the same heading again", 0.2, "2026-01-01"),
                section("new", "x", "node", 0.75, "2026-02-01"),
            ]
        };
        let scaled = order(SCALED, chunks());
        assert_eq!(scaled, ["/near#x", "/new#x", "/far#x"]);
        // A chunk without any of the words is no result.
        assert_eq!(order(Weights::WORDS, chunks()), ["/far#x", "/new#x"]);
        // 0.7 × (0.75 − 0.1) / (0.9 − 0.1) + 0.2 × BM25 + 0.1 is more than 0.7.
        assert_eq!(order(Weights::WEIGHTED, chunks())[0], "/new#x");
    }

    #[test]
    fn token_scores_decide_between_chunks_of_equal_cosine() {
        let of_tokens = |page: &str, cosine: f32, tokens: f32| {
            let mut found = section(page, "x", "text", cosine, "2026-01-01");
            found.scores.tokens = Some(tokens);
            found
        };
        let chunks = vec![
            of_tokens("about", 0.9, 0.2),
            of_tokens("answers", 0.9, 0.8),
            of_tokens("far", 0.1, 0.3),
        ];
        assert_eq!(order(SCALED, chunks)[0], "/answers#x");
    }

    #[test]
    fn a_page_that_is_filed_under_the_questions_word_comes_first() {
        for text in ["a text of its own", "a quark of its own"] {
            let mut filed = section("filed", "x", text, 0.5, "2026-01-01");
            "quark\nspin".clone_into(&mut Arc::make_mut(&mut filed.chunk).search_words);
            let chunks = vec![
                section("near", "x", "something near", 0.9, "2026-01-01"),
                filed,
                section("far", "x", "other", 0.1, "2026-01-01"),
            ];
            let (found, _) = fused_of("quark", chunks, SCALED);
            let mut scores = found.iter().map(|found| found.scores.score);
            assert!(scores.all(|score| (0.0..=1.0).contains(&score)));
            assert_eq!(found[0].url(None), "/filed#x", "{text}");
        }
    }

    fn post(page: &str, text: &str, cosine: f32, day: &str) -> ScoredChunk {
        let mut found = section(page, "x", text, cosine, "2026-01-01");
        let chunk = Arc::make_mut(&mut found.chunk);
        "blog/default@current".clone_into(&mut chunk.version);
        chunk.date = Some(day.to_owned());
        found
    }

    #[test]
    fn a_post_stays_behind_documentation_that_says_the_same() {
        let chunks = vec![
            post("post", "the node spins", 0.9, "2024-05-03"),
            section("docs", "x", "the node spins well", 0.9, "2026-01-01"),
            section("far", "x", "other", 0.1, "2026-01-01"),
        ];
        for question in [
            "how does the node spin?",
            "what's new about the node in 2024?",
        ] {
            let (found, _) = fused_of(question, chunks.clone(), SCALED);
            let mut scores = found.iter().map(|found| found.scores.score);
            assert!(scores.all(|score| (0.0..=1.0).contains(&score)));
            assert_eq!(found[0].chunk.title, "docs", "{question}");
        }
    }

    #[test]
    fn headings_that_share_an_anchor_are_each_there() {
        let mut without_anchor = section("page", "x", "spin the node again", 0.8, "2026-01-01");
        Arc::make_mut(&mut without_anchor.chunk).heading_path = vec!["Options".to_owned()];
        let chunks = vec![
            section("page", "x", "spin the node", 0.9, "2026-01-01"),
            without_anchor,
        ];
        assert_eq!(order(SCALED, chunks.clone()), ["/page#x", "/page#x"]);
        let mut of_another_file = chunks;
        Arc::make_mut(&mut of_another_file[1].chunk).source = "docs/twin.md".to_owned();
        assert_eq!(order(SCALED, of_another_file), ["/page#x"]);
    }

    #[test]
    fn a_heading_with_nothing_below_it_stays_behind_its_equal() {
        let bare = section("bare", "spin", "spin", 0.9, "2026-01-01");
        let full = section("full", "spin", "spin once a second", 0.9, "2026-01-01");
        let other = section("other", "x", "other", 0.1, "2026-01-01");
        let order = order(SCALED, vec![bare, full, other]);
        assert_eq!(order[0], "/full#spin");
    }

    proptest! {
        #[test]
        fn what_the_reranker_did_not_see_stays_behind(cosines in proptest::collection::vec(0.0_f32..1.0, 1..12), scores in proptest::collection::vec(0.0_f32..1.0, 0..6)) {
            let chunks: Vec<ScoredChunk> = cosines
                .iter()
                .enumerate()
                .map(|(number, cosine)| section(&format!("page-{number}"), "x", "text", *cosine, "2026"))
                .collect();
            let (mut chunks, _) = fused_of("q", chunks, SCALED);
            let scores = &scores[..scores.len().min(chunks.len())];
            let seen: Vec<String> = chunks[..scores.len()].iter().map(|found| found.url(None)).collect();
            reranked(&mut chunks, scores);
            prop_assert!(chunks.windows(2).all(|pair| pair[0].scores.score >= pair[1].scores.score));
            prop_assert!(chunks.iter().all(|found| (0.0..=1.0).contains(&found.scores.score)));
            prop_assert!(chunks[..scores.len()].iter().all(|found| seen.contains(&found.url(None))));
        }
    }
}

//! Quotes the book as an answer, or in place of one that a model did not write.

use crate::Prepared;
use crate::context::explanation::Explanation;
use crate::context::similarity::similarities;
use crate::decide::suggestions::next_sections;
use crate::quote::{Passage, Quote, Similarities, WHOLE_WORDS, extract, introduce};
use crate::retrieve::ScoredChunk;
use book::{escaped, href};

/// In doubt, the second best section is quoted, too, if its score is at least this share of the best one's. Of 78 doubtful answers to questions of
/// real users 38 reach it; the second section is the right one in 8 of these, and in 2 of the others.
const CLOSE: f32 = 0.95;

/// The most links to the sections below a quoted one.
const MAX_SUBSECTIONS: usize = 8;

impl Prepared {
    /// Quotes the best passage. After a sentence of doubt, the second best is quoted, too, if it is about as good.
    pub(super) fn quotes(&self, passages: &[Passage<'_>], is_doubted: bool) -> Vec<Quote> {
        let similarities = self.texts.similarities.as_ref();
        let question = &self.standalone;
        let best = self.quote(passages);
        if !is_doubted || best.is_empty() {
            return best;
        }
        let next = next_sections(question, passages, |it| cites(&best, it), similarities);
        let cited = passages.iter().find(|passage| cites(&best, passage));
        let least = cited.map_or(0.0, |cited| CLOSE * cited.candidate.scores.score);
        let second = next
            .first()
            .filter(|next| next.passage.candidate.scores.score >= least);
        let second = second.map_or_else(Vec::new, |section| self.quote(&[section.passage]));
        let gap = (!second.is_empty()).then(|| Quote::Text("\n\n".to_owned()));
        let introduction = Quote::Text(format!("{}\n\n", self.doubt(second.is_empty())));
        std::iter::once(introduction)
            .chain(best.iter().cloned())
            .chain(gap)
            .chain(second)
            .collect()
    }

    /// Quotes the first passage with text; only its first paragraph if that introduces selected text. If the section is short enough to be quoted
    /// whole, links to the sections below its heading follow.
    fn quote(&self, passages: &[Passage<'_>]) -> Vec<Quote> {
        if self.explanation == Some(Explanation::Introduction) {
            return passages.first().map_or_else(Vec::new, introduce);
        }
        let similarities = self.texts.similarities.as_ref();
        let continues = &self.sentences.continues;
        let mut quote = extract(&self.standalone, passages, similarities, continues);
        let quoted = passages.iter().find(|passage| cites(&quote, passage));
        let links = quoted.map_or_else(String::new, |quoted| self.links_below(quoted.candidate));
        if !links.is_empty() {
            let introduction = &self.sentences.below;
            quote.push(Quote::Text(format!("\n\n*{introduction}* {links}")));
        }
        quote
    }

    /// Returns links to the sections directly below a section's heading; empty if there are none, or the section is long.
    fn links_below(&self, section: &ScoredChunk) -> String {
        let around = &self.texts.around;
        if around.own_words(section) > WHOLE_WORDS {
            return String::new();
        }
        let below = around.subsections(section);
        let mut links: Vec<String> = below
            .iter()
            .take(MAX_SUBSECTIONS)
            .filter_map(|section| {
                let address = href::of(&section.url(self.locale.as_deref()))?;
                Some(format!("[{}]({address})", escaped(section.section())))
            })
            .collect();
        if below.len() > MAX_SUBSECTIONS {
            links.push("…".to_owned());
        }
        links.join(" · ")
    }

    /// Compares the lines of the sections that may be quoted with the question, if the index has token vectors.
    pub(super) async fn similarities(&self) -> Option<Similarities> {
        let quotable = self.texts.quotable.iter();
        let parts: Vec<_> = quotable
            .flat_map(|section| self.texts.around.parts(section))
            .collect();
        let retriever = &self.answerer.retriever;
        similarities(retriever, &self.retrieved.query_tokens, &parts).await
    }

    /// Returns a sentence of doubt, after a notice if the embedder does not support the question's language.
    fn doubt(&self, is_alone: bool) -> String {
        let sentences = &self.sentences;
        let introduction = if is_alone {
            &sentences.uncertain_alone
        } else {
            &sentences.uncertain
        };
        if self.is_read {
            introduction.clone()
        } else {
            format!("{} {introduction}", sentences.unread)
        }
    }
}

/// True if a quote cites a passage.
fn cites(quote: &[Quote], passage: &Passage<'_>) -> bool {
    quote.contains(&Quote::Citation(passage.n))
}

//! Quotes the book as an answer, or in place of one that a model did not write.

use crate::Prepared;
use crate::context::explanation::Explanation;
use crate::context::links::linked_pages;
use crate::context::similarity::similarities;
use crate::quote::{Passage, Quote, Similarities, WHOLE_WORDS, extract, introduce};
use crate::retrieve::ScoredChunk;
use book::{escaped, href};
use text::split;

/// The most words of a section that is quoted with a section that it links to. Of 240 questions of real users about eight sites 6 find such a
/// section first; in 2 of these the answer is in the other one.
const MAX_POINTER_WORDS: usize = 40;

/// The most links to the sections below a quoted one.
const MAX_SUBSECTIONS: usize = 8;

impl Prepared {
    /// Quotes the best passage, and the passage that it only leads to, after a sentence of doubt if the book may not answer.
    pub(super) fn quotes(&self, passages: &[Passage<'_>], is_doubted: bool) -> Vec<Quote> {
        let mut quotes = self.quote(passages);
        let Some(best) = passages.iter().find(|it| cites(&quotes, it)).copied() else {
            return quotes;
        };
        if is_doubted {
            let introduction = format!("{}\n\n", self.doubt());
            quotes.insert(0, Quote::Text(introduction));
        }
        if let Some(linked) = self.linked(best, passages) {
            quotes.push(Quote::Text("\n\n".to_owned()));
            quotes.append(&mut self.quote(&[linked]));
        }
        quotes
    }

    /// Returns the passage that a short one links to.
    fn linked<'a>(&self, short: Passage<'a>, passages: &[Passage<'a>]) -> Option<Passage<'a>> {
        let section = short.candidate;
        if self.explanation.is_some() || split(&section.chunk.text).count() > MAX_POINTER_WORDS {
            return None;
        }
        let links: Vec<String> = linked_pages(std::slice::from_ref(section)).collect();
        let mut others = passages.iter().filter(|it| it.n != short.n).copied();
        others.find(|other| links.contains(&other.candidate.url(self.locale.as_deref())))
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
    fn doubt(&self) -> String {
        let sentences = &self.sentences;
        if self.is_read {
            sentences.uncertain.clone()
        } else {
            format!("{} {}", sentences.unread, sentences.uncertain)
        }
    }
}

/// True if a quote cites a passage.
fn cites(quote: &[Quote], passage: &Passage<'_>) -> bool {
    quote.contains(&Quote::Citation(passage.n))
}

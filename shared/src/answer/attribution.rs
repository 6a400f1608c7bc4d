//! Which passages each sentence of a model is from, as the sentences come. Pure.

use super::code::CodeReader;
use crate::cite::{Best, Claim, CodeSource, Evidence, SentenceTracker, plain_sentence};

/// A sentence with fewer words, stop words aside, claims too little to be compared.
const MIN_WORDS: usize = 2;

/// What to show at a place of the text.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece {
    Text(String),
    /// The marker of a passage, and whether the passage says what the sentence says.
    Marker(usize, bool),
    /// A sentence begins.
    Begin,
    /// No passage says what the sentence says that ends here, nor do those that it cites.
    Unsupported(Vec<usize>),
    /// No passage has most lines of the code that ends here; this is the first that none has.
    UnsupportedCode(String),
}

/// What a model's whole answer is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Worth {
    /// It tells something that the passages say, or may say.
    Answer,
    /// It only repeats the question.
    Repetition,
    /// Most of it is from no passage, or it only says that the passages leave the question open.
    None,
}

/// Reads a model's sentences and puts the markers where they belong.
///
/// A marker stays if the passages that its sentence cites say what the sentence says, becomes that of the passage that does, or
/// is dropped. A sentence without a marker gets the marker of the passage that says it best. A lead-in (`…:`), a question and what
/// the passages leave open (`The passages do not say …`) claim nothing, but a lead-in has no number or name that no passage has.
/// Code is compared by its lines.
pub(super) struct Attribution {
    evidence: Evidence,
    question: Claim,
    sentences: SentenceTracker,
    /// White space after what was shown: a marker of this sentence may follow it.
    space: String,
    /// The passages that were shown for this sentence.
    cited: Vec<usize>,
    /// True if a marker was dropped since the last word.
    dropped: bool,
    /// Words of the sentences that were compared, and of those that no passage says.
    words: usize,
    unsupported_words: usize,
    /// The last line of what is no sentence.
    line: String,
    /// The sentence before in the same paragraph, if it claims something.
    before: Option<Claim>,
    code: CodeReader,
    /// Blocks of code that were compared, and those that are from no passage.
    blocks: usize,
    unsupported_blocks: usize,
    /// The passage that the first block of code is from.
    code_source: Option<usize>,
    /// True if a marker was shown.
    has_marker: bool,
    /// True if something tells more than the question does.
    tells: bool,
    /// True if a sentence only repeats the question.
    repeats: bool,
    /// True if a sentence says that the passages leave something open.
    denies: bool,
}

impl Attribution {
    pub(super) fn new(evidence: Evidence, question: &str) -> Self {
        Self {
            question: evidence.claim(question),
            evidence,
            sentences: SentenceTracker::default(),
            space: String::new(),
            cited: Vec::new(),
            dropped: false,
            words: 0,
            unsupported_words: 0,
            line: String::new(),
            before: None,
            code: CodeReader::default(),
            blocks: 0,
            unsupported_blocks: 0,
            code_source: None,
            has_marker: false,
            tells: false,
            repeats: false,
            denies: false,
        }
    }

    /// Reads text of a paragraph.
    pub(super) fn text(&mut self, text: &str) -> Vec<Piece> {
        let mut pieces = self.end_code_line();
        let mut shown = String::new();
        for c in text.chars() {
            if c.is_whitespace() {
                self.space.push(c);
                continue;
            }
            if self.sentences.has_ended_before(c, !self.space.is_empty()) {
                pieces.push(Piece::Text(std::mem::take(&mut shown)));
                pieces.extend(self.end_sentence());
            }
            let space = std::mem::take(&mut self.space);
            let closes = matches!(c, '.' | ',' | ';' | ':' | '!' | '?');
            if !(std::mem::take(&mut self.dropped) && closes) {
                space.chars().for_each(|c| self.sentences.push(c));
                shown.push_str(&space);
            }
            if self.sentences.sentence().is_empty() {
                pieces.extend([Piece::Text(std::mem::take(&mut shown)), Piece::Begin]);
            }
            self.sentences.push(c);
            shown.push(c);
        }
        pieces.push(Piece::Text(shown));
        pieces
    }

    /// Reads what is no sentence and ends one.
    pub(super) fn other(&mut self, text: String) -> Vec<Piece> {
        let mut pieces = self.end_sentence();
        self.before = None;
        match text.rsplit_once('\n') {
            Some((_, line)) => line.clone_into(&mut self.line),
            None => self.line.push_str(&text),
        }
        self.space.clear();
        // A table, a heading or code; a list's marks have no letters.
        self.tells |= text.contains(char::is_alphabetic);
        let ended = self.code.push(&text);
        pieces.push(Piece::Text(text));
        pieces.extend(ended.into_iter().filter_map(|lines| self.end_code(&lines)));
        pieces
    }

    /// Reads markers that stand side by side.
    pub(super) fn markers(&mut self, passages: &[usize]) -> Vec<Piece> {
        if passages.is_empty() {
            return Vec::new();
        }
        let markdown = self.sentences.sentence();
        // In a table or a heading it is for its line.
        let is_line = markdown.is_empty();
        let sentence = plain_sentence(if is_line { &self.line } else { markdown });
        let all = self
            .cited
            .iter()
            .chain(passages)
            .copied()
            .collect::<Vec<_>>();
        let claim = self.claim(&sentence);
        let support = self.evidence.support(&claim, &all);
        let is_claim = !is_line && claims(&sentence, &claim);
        if is_claim && support.is_close() {
            // Of many markers those that say it alone, if any does.
            let is_close = |n: &usize| self.evidence.support(&claim, &[*n]).is_close();
            let close: Vec<usize> = passages.iter().copied().filter(is_close).collect();
            return self.shown(if close.is_empty() { passages } else { &close }, true);
        }
        if !is_claim {
            let supported = !is_line || support.is_supported();
            return self.shown(passages, supported);
        }
        match self.evidence.best(&claim) {
            Best::Passage(best) => self.shown(&[best], true),
            _ if support.is_supported() => self.shown(passages, true),
            _ => {
                self.dropped = true;
                Vec::new()
            }
        }
    }

    /// What is left when the text has ended.
    pub(super) fn finish(&mut self) -> Vec<Piece> {
        let mut pieces = self.end_sentence();
        pieces.extend(self.end_code_line());
        // An answer of code alone has no sentence to cite its passage.
        if let Some(passage) = self.code_source.filter(|_| !self.has_marker) {
            let apart = Piece::Text("\n\n".to_owned());
            pieces.extend([apart, Piece::Marker(passage, true)]);
        }
        pieces
    }

    /// Judges the text when it has ended.
    pub(super) fn worth(&self) -> Worth {
        if self.is_mostly_unsupported() || (self.denies && !self.tells) {
            Worth::None
        } else if self.repeats && !self.tells {
            Worth::Repetition
        } else {
            Worth::Answer
        }
    }

    /// True if more than half of the words that were compared stand in sentences and code that no passage has, or more than half of
    /// several blocks of code are from no passage.
    fn is_mostly_unsupported(&self) -> bool {
        let is_code_elsewhere = self.blocks > 1 && self.unsupported_blocks * 2 > self.blocks;
        self.unsupported_words * 2 > self.words || is_code_elsewhere
    }

    fn shown(&mut self, passages: &[usize], supported: bool) -> Vec<Piece> {
        let new: Vec<usize> = passages
            .iter()
            .copied()
            .filter(|n| !self.cited.contains(n))
            .collect();
        if new.is_empty() {
            return Vec::new();
        }
        let space = std::mem::take(&mut self.space);
        self.has_marker = true;
        self.cited.extend(&new);
        let markers = new.into_iter().map(|n| Piece::Marker(n, supported));
        [Piece::Text(space)].into_iter().chain(markers).collect()
    }

    /// Ends the sentence: what it is from is known now.
    fn end_sentence(&mut self) -> Vec<Piece> {
        let markdown = self.sentences.end();
        let cited = std::mem::take(&mut self.cited);
        let sentence = plain_sentence(&markdown);
        let claim = self.claim(&sentence);
        self.before = None;
        self.weigh(&sentence, &claim);
        let words = sentence.split_whitespace().count();
        if !claims(&sentence, &claim) {
            if leads(&sentence) && claim.words() >= MIN_WORDS && self.evidence.lacks(&claim) {
                self.words += words;
                self.unsupported_words += words;
                return vec![Piece::Unsupported(cited)];
            }
            return Vec::new();
        }
        let source = self.source(&claim, &cited);
        self.words += words;
        self.before = Some(claim);
        match source {
            Source::Shown => Vec::new(),
            Source::Passage(best) => {
                self.has_marker = true;
                vec![Piece::Text(" ".to_owned()), Piece::Marker(best, true)]
            }
            Source::None => {
                self.unsupported_words += words;
                vec![Piece::Unsupported(cited)]
            }
        }
    }

    /// Notes if a sentence tells anything.
    fn weigh(&mut self, sentence: &str, claim: &Claim) {
        let is_denial = claim.is_denial();
        let is_repetition = claim.repeats(&self.question);
        self.denies |= is_denial;
        self.repeats |= is_repetition;
        self.tells |= !(sentence.is_empty() || is_open(sentence) || is_denial || is_repetition);
    }

    /// Ends the line of what is no sentence.
    fn end_code_line(&mut self) -> Vec<Piece> {
        let ended = self.code.interrupt();
        ended
            .and_then(|lines| self.end_code(&lines))
            .into_iter()
            .collect()
    }

    /// Compares the lines of a block of code.
    fn end_code(&mut self, lines: &[String]) -> Option<Piece> {
        let words: usize = lines
            .iter()
            .map(|line| line.split_whitespace().count())
            .sum();
        let source = self.evidence.source_of_code(lines);
        if source != CodeSource::Unknown {
            self.words += words;
            self.blocks += 1;
        }
        match source {
            CodeSource::Passage(passage) => {
                self.code_source.get_or_insert(passage);
                None
            }
            CodeSource::Elsewhere(line) => {
                self.unsupported_words += words;
                self.unsupported_blocks += 1;
                Some(Piece::UnsupportedCode(line))
            }
            CodeSource::Unknown => None,
        }
    }

    /// What a sentence claims, in its paragraph.
    fn claim(&self, sentence: &str) -> Claim {
        let claim = self.evidence.claim(sentence);
        match &self.before {
            Some(before) => claim.after(before),
            None => claim,
        }
    }

    /// What a sentence is from that cites these passages.
    fn source(&self, claim: &Claim, cited: &[usize]) -> Source {
        let support = self.evidence.support(claim, cited);
        if !cited.is_empty() && support.is_close() {
            return Source::Shown;
        }
        match self.evidence.best(claim) {
            Best::Passage(best) if cited.contains(&best) => Source::Shown,
            Best::Passage(best) => Source::Passage(best),
            Best::Uncertain if cited.is_empty() => Source::Shown,
            _ if !cited.is_empty() && support.is_supported() => Source::Shown,
            Best::Uncertain | Best::None => Source::None,
        }
    }
}

/// What a sentence is from.
enum Source {
    /// What is shown for it; nothing, if that is uncertain.
    Shown,
    /// The passage of this number.
    Passage(usize),
    /// No passage.
    None,
}

/// True if a sentence says something that a passage can say.
fn claims(sentence: &str, claim: &Claim) -> bool {
    !is_open(sentence) && !claim.is_denial() && claim.words() >= MIN_WORDS
}

/// True for a lead-in and a question.
fn is_open(sentence: &str) -> bool {
    leads(sentence) || sentence.ends_with(['?', '？'])
}

/// True for a sentence that leads to what follows.
fn leads(sentence: &str) -> bool {
    sentence.ends_with([':', '：'])
}

#[cfg(test)]
mod tests;

//! Attributes a model's sentences to passages while they stream. Pure.

use crate::cite::{Best, Claim, CodeSource, Evidence, SentenceTracker, plain_sentence, shortened};
use crate::guard::code::CodeReader;

/// A sentence with fewer words, not counting stop words, claims too little to be compared.
const MIN_WORDS: usize = 2;

/// A piece of the text to show.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ShownPiece {
    Text(String),
    /// A passage's marker, whether the passage supports the sentence, and the passage's sentence that shares most words with it.
    Marker(usize, bool, Option<String>),
    /// A sentence begins.
    Begin,
    /// The sentence that ends here is supported by no passage, including the ones it cites.
    Unsupported(Vec<usize>),
    /// No passage has most lines of the code block that ends here. Holds the first line that no passage has.
    UnsupportedCode(String),
    /// The lines that no passage has, of a code block whose other lines one has.
    AdaptedCode(Vec<String>),
}

/// The value of a model's whole text as an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum AnswerQuality {
    /// The text only repeats the question.
    Repetition,
    /// Most of the text is unsupported, or only says that the passages do not answer.
    None,
    /// The text makes claims, and most of it may be in the passages.
    Answer,
}

/// Reads a model's sentences and puts the markers where they belong.
///
/// A marker stays if the passages cited by its sentence support the sentence. Otherwise it is replaced by the marker of the passage that does, or
/// dropped. A trusted model knows which passage it has read: its marker is replaced only by that of a passage with nearly the same sentence, and
/// dropped only if the sentence has a number or name that the model did not read. A sentence without a marker gets the marker of the passage that
/// supports it best. Lead-ins (`…:`), questions and denials (`The passages do not say …`) claim nothing, but a lead-in may not contain a number or
/// name that no passage has. Code is compared line by line.
pub(crate) struct Attribution {
    evidence: Evidence,
    question: Claim,
    /// True for a trusted model. Its sentences are unsupported only if the cited passages lack a number, or all passages lack a name, and the
    /// question lacks it, too.
    is_trusted: bool,
    sentences: SentenceTracker,
    /// White space after the last shown text; a marker of this sentence may still be placed before it.
    space: String,
    /// The passages whose markers are shown in this sentence.
    cited: Vec<usize>,
    /// The passages that the model cites in this sentence, whether they are shown or not.
    named: Vec<usize>,
    dropped: bool,
    /// Words of the compared sentences, and of the unsupported ones among them.
    words: usize,
    unsupported_words: usize,
    /// The current line of text outside sentences, such as a table row or a heading, to which a marker there belongs.
    line: String,
    /// The previous sentence of the paragraph, if it claims something.
    before: Option<Claim>,
    code: CodeReader,
    /// The number of code blocks that were compared, and of those found in no passage.
    blocks: usize,
    unsupported_blocks: usize,
    /// The passage of the first code block.
    code_source: Option<usize>,
    has_marker: bool,
    /// Whether a sentence, table or code block so far is supported; `None` before one was checked.
    is_supported: Option<bool>,
    /// The best quality of a sentence, table or code block so far; `None` if there is none yet.
    best: Option<AnswerQuality>,
}

impl Attribution {
    pub(crate) fn new(evidence: Evidence, question: &str, is_trusted: bool) -> Self {
        Self {
            question: evidence.claim(question),
            evidence,
            is_trusted,
            sentences: SentenceTracker::default(),
            space: String::new(),
            cited: Vec::new(),
            named: Vec::new(),
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
            is_supported: None,
            best: None,
        }
    }

    /// Reads a paragraph's text.
    pub(crate) fn text(&mut self, text: &str) -> Vec<ShownPiece> {
        let mut pieces = self.end_code_line();
        let mut shown = String::new();
        for c in text.chars() {
            if c.is_whitespace() {
                self.space.push(c);
                continue;
            }
            if self.sentences.has_ended_before(c, !self.space.is_empty()) {
                pieces.push(ShownPiece::Text(std::mem::take(&mut shown)));
                pieces.extend(self.end_sentence());
            }
            let space = std::mem::take(&mut self.space);
            let closes = matches!(c, '.' | ',' | ';' | ':' | '!' | '?');
            if !(std::mem::take(&mut self.dropped) && closes) {
                space.chars().for_each(|c| self.sentences.push(c));
                shown.push_str(&space);
            }
            if self.sentences.sentence().is_empty() {
                pieces.extend([
                    ShownPiece::Text(std::mem::take(&mut shown)),
                    ShownPiece::Begin,
                ]);
            }
            self.sentences.push(c);
            shown.push(c);
        }
        pieces.push(ShownPiece::Text(shown));
        pieces
    }

    /// Reads text outside sentences, which also ends the current sentence.
    pub(crate) fn other(&mut self, text: String) -> Vec<ShownPiece> {
        let mut pieces = self.end_sentence();
        self.before = None;
        match text.rsplit_once('\n') {
            Some((_, line)) => line.clone_into(&mut self.line),
            None => self.line.push_str(&text),
        }
        self.space.clear();
        if is_row(&self.line) || text.lines().any(is_row) {
            self.best = Some(AnswerQuality::Answer);
            self.checked(true);
        }
        let ended = self.code.push(&text);
        pieces.push(ShownPiece::Text(text));
        pieces.extend(ended.into_iter().filter_map(|lines| self.end_code(&lines)));
        pieces
    }

    /// Reads adjacent markers.
    pub(crate) fn markers(&mut self, passages: &[usize]) -> Vec<ShownPiece> {
        if passages.is_empty() {
            return Vec::new();
        }
        self.named.extend(passages);
        let all: Vec<usize> = self.cited.iter().chain(passages).copied().collect();
        let markdown = self.sentences.sentence();
        if markdown.is_empty() {
            // In a table or a heading, the marker belongs to the line.
            let claim = self.claim(&plain_sentence(&self.line));
            let support = self.evidence.support(&claim, &all);
            return self.shown(&claim, passages, support.is_supported());
        }
        let sentence = plain_sentence(markdown);
        let claim = self.claim(&sentence);
        if !claims(&sentence, &claim) {
            return self.shown(&claim, passages, true);
        }
        let support = self.evidence.support(&claim, &all);
        if support.is_close() {
            self.checked(true);
            // Keep only the markers that support the sentence alone, if there are any.
            let mut close = passages.to_vec();
            close.retain(|n| self.evidence.support(&claim, &[*n]).is_close());
            let supporting = if close.is_empty() { passages } else { &close };
            return self.shown(&claim, supporting, true);
        }
        let best = self.evidence.best(&claim);
        match best {
            Best::Passage(best) if self.moves(&claim, best, &all) => {
                self.checked(true);
                self.shown(&claim, &[best], true)
            }
            _ if support.is_supported() || self.is_paraphrase(&claim, &all) => {
                if support.is_supported() || matches!(best, Best::Passage(_)) {
                    self.checked(true);
                }
                self.shown(&claim, passages, true)
            }
            _ => {
                self.dropped = true;
                Vec::new()
            }
        }
    }

    /// Returns the remaining pieces at the end of the text.
    pub(crate) fn finish(&mut self) -> Vec<ShownPiece> {
        let mut pieces = self.end_sentence();
        pieces.extend(self.end_code_line());
        // An answer that is only code has no sentence to carry the citation.
        if let Some(passage) = self.code_source.filter(|_| !self.has_marker) {
            let apart = ShownPiece::Text("\n\n".to_owned());
            pieces.extend([apart, ShownPiece::Marker(passage, true, None)]);
        }
        pieces
    }

    /// Returns what the whole text is worth. Call it after `finish`. A text without a sentence, a table or code is no answer.
    pub(crate) fn worth(&self) -> AnswerQuality {
        if self.is_mostly_unsupported() {
            AnswerQuality::None
        } else {
            self.best.unwrap_or(AnswerQuality::None)
        }
    }

    /// True if more than half of the compared words are in unsupported sentences and code, or if more than half of several code blocks are found in
    /// no passage.
    fn is_mostly_unsupported(&self) -> bool {
        let is_code_elsewhere = self.blocks > 1 && self.unsupported_blocks * 2 > self.blocks;
        self.unsupported_words * 2 > self.words || is_code_elsewhere
    }

    /// Returns whether the text so far has a supported sentence, table or code block and is not mostly unsupported; `None` before one was checked.
    pub(crate) fn is_supported(&self) -> Option<bool> {
        let is_supported = self.is_supported?;
        Some(is_supported && !self.is_mostly_unsupported())
    }

    fn checked(&mut self, is_supported: bool) {
        self.is_supported = self.is_supported.max(Some(is_supported));
    }

    fn shown(&mut self, claim: &Claim, passages: &[usize], supported: bool) -> Vec<ShownPiece> {
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
        let markers = new.into_iter().map(|n| self.marker(claim, n, supported));
        [ShownPiece::Text(space)]
            .into_iter()
            .chain(markers)
            .collect()
    }

    fn marker(&self, claim: &Claim, passage: usize, supported: bool) -> ShownPiece {
        let sentence = self.evidence.sentence(claim, passage);
        ShownPiece::Marker(passage, supported, sentence.map(shortened))
    }

    /// Ends the sentence, whose source can now be determined.
    fn end_sentence(&mut self) -> Vec<ShownPiece> {
        let sentence = plain_sentence(&self.sentences.end());
        let cited = std::mem::take(&mut self.cited);
        let named = std::mem::take(&mut self.named);
        let claim = self.claim(&sentence);
        self.before = None;
        self.best = self.best.max(self.worth_of(&sentence, &claim));
        let is_claim = claims(&sentence, &claim);
        let is_lead = leads(&sentence) && claim.words() >= MIN_WORDS;
        let source = if is_claim {
            self.source(&claim, &cited, &named)
        } else if is_lead && self.lacks(&claim, &named) {
            Source::None
        } else {
            return Vec::new();
        };
        let words = sentence.split_whitespace().count();
        self.words += words;
        let pieces = match source {
            Source::Paraphrase => Vec::new(),
            Source::Shown => {
                self.checked(true);
                Vec::new()
            }
            Source::Passage(best) => {
                self.checked(true);
                self.has_marker = true;
                vec![
                    ShownPiece::Text(" ".to_owned()),
                    self.marker(&claim, best, true),
                ]
            }
            Source::None => {
                self.checked(false);
                self.unsupported_words += words;
                vec![ShownPiece::Unsupported(cited)]
            }
        };
        self.before = is_claim.then_some(claim);
        pieces
    }

    /// Returns what one sentence is worth. `None` if it says nothing by itself.
    fn worth_of(&self, sentence: &str, claim: &Claim) -> Option<AnswerQuality> {
        if sentence.is_empty() {
            None
        } else if claim.is_denial() {
            Some(AnswerQuality::None)
        } else if claim.repeats(&self.question) {
            Some(AnswerQuality::Repetition)
        } else if is_open(sentence) {
            None
        } else {
            Some(AnswerQuality::Answer)
        }
    }

    /// Ends a line of text outside sentences.
    fn end_code_line(&mut self) -> Vec<ShownPiece> {
        let ended = self.code.interrupt();
        ended
            .and_then(|lines| self.end_code(&lines))
            .into_iter()
            .collect()
    }

    fn end_code(&mut self, lines: &[String]) -> Option<ShownPiece> {
        if lines.iter().any(|line| !line.trim().is_empty()) {
            self.best = Some(AnswerQuality::Answer);
        }
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
            CodeSource::Passage(passage, adapted) => {
                self.checked(true);
                self.code_source.get_or_insert(passage);
                (!adapted.is_empty()).then_some(ShownPiece::AdaptedCode(adapted))
            }
            CodeSource::Elsewhere(lines) if self.is_composed(&lines) => {
                Some(ShownPiece::AdaptedCode(lines))
            }
            CodeSource::Elsewhere(lines) => {
                self.checked(false);
                self.unsupported_words += words;
                self.unsupported_blocks += 1;
                let first = lines.into_iter().next();
                first.map(ShownPiece::UnsupportedCode)
            }
            CodeSource::Unknown => None,
        }
    }

    /// True if lines that no passage has may be the model's own use of what the passages describe: the model is trusted, and the passages or the
    /// question have the lines' numbers and names.
    fn is_composed(&self, lines: &[String]) -> bool {
        let code = lines.join(" ").replace('`', " ");
        self.is_paraphrase(&self.evidence.claim(&format!("`{code}`")), &[])
    }

    fn claim(&self, sentence: &str) -> Claim {
        let claim = self.evidence.claim(sentence);
        match &self.before {
            Some(before) => claim.after(before),
            None => claim,
        }
    }

    /// Finds the source of a sentence. The markers of `cited` are shown for it; `named` are the passages that the model cites.
    fn source(&self, claim: &Claim, cited: &[usize], named: &[usize]) -> Source {
        let support = self.evidence.support(claim, cited);
        if !cited.is_empty() && support.is_close() {
            return Source::Shown;
        }
        let is_uncited = cited.is_empty() && (named.is_empty() || !self.is_trusted);
        match self.evidence.best(claim) {
            Best::Passage(best) if cited.contains(&best) => Source::Shown,
            Best::Passage(best) if self.moves(claim, best, named) => Source::Passage(best),
            Best::Uncertain if is_uncited => Source::Shown,
            _ if !cited.is_empty() && support.is_supported() => Source::Shown,
            Best::Passage(_) if self.is_paraphrase(claim, named) => Source::Shown,
            _ if self.is_paraphrase(claim, named) => Source::Paraphrase,
            _ => Source::None,
        }
    }

    /// True if a sentence that no passage supports is taken for a paraphrase: the model is trusted, and what it read has the sentence's numbers and
    /// names.
    fn is_paraphrase(&self, claim: &Claim, cited: &[usize]) -> bool {
        self.is_trusted && !self.lacks(claim, cited)
    }

    /// True if the sources of a sentence lack one of its numbers or names. An untrusted model needs one passage that has all of them. For a trusted
    /// one, the question also counts; a number must be in a cited passage, if the sentence cites any, since most small numbers occur in some passage.
    fn lacks(&self, claim: &Claim, cited: &[usize]) -> bool {
        if !self.is_trusted {
            return self.evidence.lacks(claim);
        }
        self.evidence.lack_number(claim, cited, &self.question)
            || self.evidence.lack_name(claim, &[], &self.question)
    }

    /// True if the marker of `best`, the passage with most of a sentence's words, replaces those that the model wrote. For a trusted model, `best`
    /// must have nearly all of the words, and the cited passages must have few of them or lack a number or name.
    fn moves(&self, claim: &Claim, best: usize, named: &[usize]) -> bool {
        if !self.is_trusted || named.is_empty() {
            return true;
        }
        self.evidence.has_nearly_all_words(claim, best)
            && (self.evidence.has_few_words(claim, named)
                || self.evidence.lack_number(claim, named, &self.question)
                || self.evidence.lack_name(claim, named, &self.question))
    }
}

/// The source of a sentence.
enum Source {
    /// The passages already shown for it; possibly none, if the source is uncertain.
    Shown,
    Passage(usize),
    /// No passage with the sentence's words, but a trusted model wrote it.
    Paraphrase,
    None,
}

/// True if a sentence makes a claim that a passage can support.
fn claims(sentence: &str, claim: &Claim) -> bool {
    !is_open(sentence) && !claim.is_denial() && claim.words() >= MIN_WORDS
}

/// True for a lead-in or a question.
fn is_open(sentence: &str) -> bool {
    leads(sentence) || sentence.ends_with(['?', '？'])
}

/// True if a sentence introduces the text that follows it.
fn leads(sentence: &str) -> bool {
    sentence.ends_with([':', '：'])
}

/// True for a row of a table with text, in a list or a quote as well. Headings are no rows.
fn is_row(line: &str) -> bool {
    let row =
        line.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '>' | '-' | '.' | ' '));
    row.starts_with('|') && row.contains(char::is_alphanumeric)
}

#[cfg(test)]
mod tests;

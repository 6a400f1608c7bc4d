//! Attributes a model's sentences to passages while they stream. Pure.

use super::code::CodeReader;
use crate::cite::{Best, Claim, CodeSource, Evidence, SentenceTracker, plain_sentence};

/// A sentence with fewer words, not counting stop words, claims too little to be compared.
const MIN_WORDS: usize = 2;

/// A piece of the text to show.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece {
    Text(String),
    /// A passage's marker; true if the passage supports the sentence.
    Marker(usize, bool),
    /// A sentence begins.
    Begin,
    /// The sentence that ends here is supported by no passage, including the ones it cites.
    Unsupported(Vec<usize>),
    /// No passage has most lines of the code block that ends here. Holds the first line that no passage has.
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
/// A marker stays if the passages cited by its sentence support the sentence. Otherwise it is replaced by the marker of the passage that does, or
/// dropped. A sentence without a marker gets the marker of the passage that supports it best. Lead-ins (`…:`), questions and denials (`The passages
/// do not say …`) claim nothing, but a lead-in may not contain a number or name that no passage has. Code is compared line by line.
pub(super) struct Attribution {
    evidence: Evidence,
    question: Claim,
    sentences: SentenceTracker,
    /// White space after the last shown text; a marker of this sentence may still be placed before it.
    space: String,
    /// The passages already cited in this sentence.
    cited: Vec<usize>,
    dropped: bool,
    /// Words of the compared sentences, and of the unsupported ones among them.
    words: usize,
    unsupported_words: usize,
    /// The last line of text outside sentences.
    line: String,
    /// The previous sentence of the paragraph, if it claims something.
    before: Option<Claim>,
    code: CodeReader,
    /// Code blocks that were compared, and the ones found in no passage.
    blocks: usize,
    unsupported_blocks: usize,
    /// The passage of the first code block.
    code_source: Option<usize>,
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

    /// Reads a paragraph's text.
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

    /// Reads text outside sentences, which also ends the current sentence.
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

    /// Reads adjacent markers.
    pub(super) fn markers(&mut self, passages: &[usize]) -> Vec<Piece> {
        if passages.is_empty() {
            return Vec::new();
        }
        let markdown = self.sentences.sentence();
        // In a table or a heading, the marker belongs to the line.
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
            // Keep only the markers that support the sentence alone, if there are any.
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

    /// Returns the remaining pieces at the end of the text.
    pub(super) fn finish(&mut self) -> Vec<Piece> {
        let mut pieces = self.end_sentence();
        pieces.extend(self.end_code_line());
        // An answer that is only code has no sentence to carry the citation.
        if let Some(passage) = self.code_source.filter(|_| !self.has_marker) {
            let apart = Piece::Text("\n\n".to_owned());
            pieces.extend([apart, Piece::Marker(passage, true)]);
        }
        pieces
    }

<<<<<<< HEAD
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
=======
    /// True if more than half of the compared words are in unsupported sentences and code, or if more than half of several code blocks are found in
    /// no passage.
    pub(super) fn is_mostly_unsupported(&self) -> bool {
>>>>>>> slice-z2
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

    /// Ends the sentence, whose source can now be determined.
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

<<<<<<< HEAD
    /// Notes if a sentence tells anything.
    fn weigh(&mut self, sentence: &str, claim: &Claim) {
        let is_denial = claim.is_denial();
        let is_repetition = claim.repeats(&self.question);
        self.denies |= is_denial;
        self.repeats |= is_repetition;
        self.tells |= !(sentence.is_empty() || is_open(sentence) || is_denial || is_repetition);
    }

    /// Ends the line of what is no sentence.
=======
    /// Ends a line of text outside sentences.
>>>>>>> slice-z2
    fn end_code_line(&mut self) -> Vec<Piece> {
        let ended = self.code.interrupt();
        ended
            .and_then(|lines| self.end_code(&lines))
            .into_iter()
            .collect()
    }

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

    fn claim(&self, sentence: &str) -> Claim {
        let claim = self.evidence.claim(sentence);
        match &self.before {
            Some(before) => claim.after(before),
            None => claim,
        }
    }

    /// Finds the source of a sentence that cites these passages.
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

/// The source of a sentence.
enum Source {
    /// The passages already shown for it; possibly none, if the source is uncertain.
    Shown,
    Passage(usize),
    None,
}

/// True if a sentence makes a claim that a passage can support.
fn claims(sentence: &str, claim: &Claim) -> bool {
    !is_open(sentence) && !claim.is_denial() && claim.words() >= MIN_WORDS
}

/// True for a lead-in and a question.
fn is_open(sentence: &str) -> bool {
    leads(sentence) || sentence.ends_with(['?', '？'])
}

/// True if a sentence introduces the text that follows it.
fn leads(sentence: &str) -> bool {
    sentence.ends_with([':', '：'])
}

#[cfg(test)]
<<<<<<< HEAD
mod tests;
=======
mod tests {
    use super::*;

    const PASSAGES: [&str; 2] = [
        "Nodes\nNodes exchange messages on topics. A node of ROS 2 publishes at 10 Hz.",
        "Services\nA service answers one request; it does not stream.",
    ];

    /// Returns the text as shown, the unsupported sentences, and whether most of the text is unsupported.
    fn read(pieces: &[&str]) -> (String, Vec<String>, bool) {
        let passages = PASSAGES.map(str::to_owned);
        let mut attribution = Attribution::new(Evidence::new("Robots", passages, None));
        let mut shown = Vec::new();
        for piece in pieces {
            let numbers = piece
                .strip_prefix('⟦')
                .and_then(|piece| piece.strip_suffix('⟧'));
            match (numbers, piece.strip_prefix('#')) {
                (Some(numbers), _) => {
                    let numbers: Vec<usize> = numbers.split(',').flat_map(str::parse).collect();
                    shown.extend(attribution.markers(&numbers));
                }
                (None, Some(other)) => shown.extend(attribution.other(other.to_owned())),
                (None, None) => shown.extend(attribution.text(piece)),
            }
        }
        shown.extend(attribution.finish());
        let (mut text, mut start, mut unsupported) = (String::new(), 0, Vec::new());
        for piece in shown {
            match piece {
                Piece::Text(shown) => text.push_str(&shown),
                Piece::Marker(n, _) => text.push_str(&format!("[{n}]")),
                Piece::Begin => start = text.len(),
                Piece::Unsupported(_) => unsupported.push(text[start..].to_owned()),
                Piece::UnsupportedCode(line) => unsupported.push(line),
            }
        }
        (text, unsupported, attribution.is_mostly_unsupported())
    }

    #[test]
    fn sentences_without_markers_get_them() {
        assert_eq!(
            read(&["Nodes publish messages on", "⟦⟧", " topics"]).0,
            "Nodes publish messages on topics [1]"
        );
        let (text, unsupported, mostly) = read(&[
            "Nodes exchange",
            " messages on topics. A service",
            " answers one request. It is so: Is it?",
            "#\n\n- ",
            "Nodes publish at 10 Hz",
            "#\n\n```\nNodes\n```",
        ]);
        assert_eq!(
            text,
            "Nodes exchange messages on topics. [1] A service answers one request. [2] It is so: Is it?\n\n- Nodes publish at 10 Hz [1]\n\n```\nNodes\n```"
        );
        assert_eq!((unsupported, mostly), (Vec::<String>::new(), false));
    }

    #[test]
    fn markers_that_are_wrong_are_moved_or_dropped() {
        for (pieces, expected) in [
            (
                &["Nodes exchange messages on topics at 10 Hz ", "⟦2⟧", "."][..],
                "Nodes exchange messages on topics at 10 Hz [1].",
            ),
            (
                &["Nodes exchange messages on topics ", "⟦1⟧", ". So it is"][..],
                "Nodes exchange messages on topics [1]. So it is",
            ),
            (
                &["Nodes exchange messages on topics. ", "⟦1,2⟧", " A"][..],
                "Nodes exchange messages on topics. [1] A",
            ),
            (
                &["Nodes publish at 40 Hz ", "⟦1⟧", "."][..],
                "Nodes publish at 40 Hz.",
            ),
            (&["So ", "⟦2⟧", " it is."][..], "So [2] it is."),
        ] {
            assert_eq!(read(pieces).0, expected);
        }
    }

    #[test]
    fn what_the_passages_leave_open_is_neither_cited_nor_unsupported() {
        let denial = "The passages do not mention how Karpov won the chess match.";
        let (text, unsupported, mostly) = read(&[denial]);
        assert_eq!(
            (text.as_str(), unsupported, mostly),
            (denial, vec![], false)
        );
    }

    #[test]
    fn it_is_what_the_sentence_before_is_about_in_one_paragraph() {
        let (first, second) = ("A service answers one request.", "It takes messages.");
        let (text, ..) = read(&[first, " ", second]);
        assert_eq!(text, format!("{first} [2] {second} [2]"));
        let (text, ..) = read(&[first, "#\n\n", second]);
        assert_eq!(text, format!("{first} [2]\n\n{second} [1]"));
    }

    #[test]
    fn code_and_what_leads_to_it_are_compared_as_well() {
        let passages = ["Run it:\n```sh\nros2 run demo talker\nros2  topic list\n```".to_owned()];
        let read = |text: &str, code: &str| {
            let evidence = Evidence::new("Robots", passages.clone(), None);
            let mut attribution = Attribution::new(evidence);
            let mut pieces = attribution.text(text);
            pieces.extend(attribution.other(format!("\n\n```sh\n{code}\n```")));
            pieces.extend(attribution.finish());
            let unsupported =
                |piece: &&Piece| matches!(piece, Piece::Unsupported(_) | Piece::UnsupportedCode(_));
            let count = pieces.iter().filter(unsupported).count();
            (count, attribution.is_mostly_unsupported())
        };
        for (text, code, expected) in [
            ("Run it like this:", "ros2 run demo talker", (0, false)),
            (
                "Run it like this:",
                "# List\nros2 topic list\n\n}\nros2 node list",
                (0, false),
            ),
            ("Run it like this:", "npm init -y\nnpm publish", (1, true)),
            (
                "Add it to the `package.json` file:",
                "ros2 run demo talker",
                (1, true),
            ),
        ] {
            assert_eq!(read(text, code), expected, "{text} {code}");
        }
    }

    #[test]
    fn an_answer_of_code_alone_is_cited_by_its_lines() {
        for (lead, expected) in [
            ("Write:", "Write:\n\n```\nNodes exchange\n```\n\n[1]"),
            (
                "A service answers one request.",
                "A service answers one request. [2]\n\n```\nNodes exchange\n```",
            ),
        ] {
            assert_eq!(read(&[lead, "#\n\n```\nNodes exchange\n```"]).0, expected);
        }
    }

    #[test]
    fn what_no_passage_says_is_told() {
        let (text, unsupported, mostly) = read(&[
            "Nodes publish at 40 Hz ",
            "⟦1⟧",
            ". Then Karpov won the chess match. Nodes exchange messages.",
        ]);
        assert_eq!(
            text,
            "Nodes publish at 40 Hz. Then Karpov won the chess match. Nodes exchange messages. [1]"
        );
        assert_eq!(
            unsupported,
            [
                "Nodes publish at 40 Hz.",
                "Then Karpov won the chess match."
            ]
        );
        assert!(mostly);
        assert!(!read(&["Nodes exchange messages on topics. Karpov won."]).2);
    }
}
>>>>>>> slice-z2

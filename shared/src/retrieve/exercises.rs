//! Detects exercises, quizzes, objectives, takeaways and next steps: sections that repeat a question's words without answering it.

use std::sync::LazyLock;

use regex::Regex;

use crate::index::ChunkPayload;

/// A heading of such a section: a typical first word, possibly after a number such as `Chapter 3:` or `2.4`, or a typical ending.
static NAMED: LazyLock<Regex> = LazyLock::new(|| {
    let number = r"(?:(?:chapter|module|lesson|section|part|week)?\s*[a-z]?[\d.]*\s*[:.–—-]?\s*)?";
    let names = [
        "learning (?:objectives|outcomes|goals)",
        "objectives",
        "outcomes",
        "what you(?: will|'ll|'ve)? (?:learn|learned)",
        "(?:key )?takeaways?",
        "(?:check|test) your (?:understanding|knowledge)",
        "knowledge check",
        "(?:chapter |final |module )?quiz(?:zes)?",
        "self[- ](?:assessment|test|check)",
        "(?:practice |hands-on )?exercises?",
        "homework",
        "(?:review|discussion) questions",
        "next steps?",
        "what's next",
        "where to go (?:next|from here)",
        "further reading",
        "additional resources",
    ];
    let beginnings = names.join("|");
    let endings = r"\b(?:quiz|exercises|knowledge check|learning objectives)\W*$";
    pattern(&format!(r"(?i)^\W*{number}(?:{beginnings})\b|{endings}"))
});

/// A line with one option of a quiz: `- A) x`, `b. x`, `- [ ] x`.
static OPTION: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^\W{0,6}[\[(]?(?:[A-Ea-e][.)]|[ xX]?\])\s"));

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("the pattern is a constant")
}

/// The fewest questions in a section made of questions.
const MIN_QUESTIONS: usize = 3;

/// True if a chunk's heading names an exercise, or if its text consists of questions, in any language.
pub(super) fn is_exercise(chunk: &ChunkPayload) -> bool {
    let heading = chunk.heading_path.last().unwrap_or(&chunk.title);
    NAMED.is_match(&heading.replace('’', "'")) || is_made_of_questions(&chunk.text)
}

/// True if at least three sentences and a third of all are questions, or if most lines are questions and options, with two or more options for each
/// question.
fn is_made_of_questions(text: &str) -> bool {
    let mut in_code = false;
    let lines = text.lines().filter(|line| {
        let is_fence = line.trim_start().starts_with("```");
        in_code ^= is_fence;
        !(in_code || is_fence || line.trim().is_empty())
    });
    let (options, lines): (Vec<&str>, Vec<&str>) = lines.partition(|line| OPTION.is_match(line));
    let is_sentence = |part: &&str| part.contains(char::is_alphabetic);
    let sentences = lines.iter().flat_map(|line| sentences(line));
    let sentences: Vec<&str> = sentences.filter(is_sentence).collect();
    let asks = |sentence: &&&str| {
        let sentence =
            sentence.trim_end_matches(|c: char| c.is_whitespace() || "*_`)»\"”".contains(c));
        sentence.ends_with(['?', '؟', '？'])
    };
    let questions = sentences.iter().filter(asks).count();
    let mostly = questions >= MIN_QUESTIONS && 3 * questions >= sentences.len();
    let with_options = questions > 0
        && options.len() >= 2 * questions
        && 2 * (options.len() + questions) >= options.len() + lines.len();
    mostly || with_options
}

/// Splits a line after each full stop, exclamation or question mark before a space.
fn sentences(line: &str) -> impl Iterator<Item = &str> {
    let ends = ['.', '!', '?', '؟', '？', '。'];
    let mut before = ' ';
    line.split(move |c: char| {
        let is_end = c.is_whitespace() && ends.contains(&before);
        before = c;
        is_end
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::fusion::tests::section;
    use super::*;

    fn is(heading: &str, text: &str) -> bool {
        let mut found = section("page", "x", "", 0.0, "2026");
        let chunk = Arc::make_mut(&mut found.chunk);
        chunk.heading_path = vec!["Page".to_owned(), heading.to_owned()];
        text.clone_into(&mut chunk.text);
        is_exercise(chunk)
    }

    #[test]
    fn they_are_told_by_their_heading() {
        for heading in [
            "Quiz",
            "Chapter 3: Exercises",
            "4.2 Learning Objectives",
            "📚 What You’ll Learn",
            "Robot arms: knowledge check",
            "Next steps",
        ] {
            assert!(is(heading, "Text."), "{heading}");
        }
        for heading in [
            "Nodes",
            "Exercising a model",
            "Objective functions",
            "The quiz API",
        ] {
            assert!(!is(heading, "Text."), "{heading}");
        }
    }

    #[test]
    fn they_are_told_by_their_questions_in_any_language() {
        for text in [
            "1. What is a node?\n2. Why two? Explain.\n3. Where does it run?",
            "ما هي العقدة؟\nلماذا اثنتان؟\nأين تعمل؟",
            "什么是节点？\n为什么？\n在哪里？",
            "Which one spins?\n- A) the node\n- B) the topic\n- C) neither",
        ] {
            assert!(is("Part", text), "{text}");
        }
        for text in [
            "",
            "Why two? Because one waits. It spins.",
            "A node spins. It waits. It ends. It starts. Why? How? Where? It is so. It ends. It waits. It is.",
            "```\nwhat? why? how?\n```\nCode.",
            "- [ ] install it\n- [x] run it\nIt works then.",
        ] {
            assert!(!is("Part", text), "{text}");
        }
    }
}

//! Detects exercises, quizzes, objectives, takeaways and next steps: sections that repeat a question's words without answering it.

use std::sync::LazyLock;

use regex::Regex;

use crate::chunk::sentences;
use crate::index::ChunkPayload;

/// The names of such sections.
const NAMES: &str = "learning (?:objectives|outcomes|goals)|objectives|outcomes|what you(?: will|'ll|'ve)? (?:learn|learned)|(?:key )?takeaways?\
    |(?:check|test) your (?:understanding|knowledge)|knowledge check|quiz(?:zes)?|self[- ](?:assessment|test|check)\
    |(?:practice |hands-on )?exercises?|homework|(?:review|discussion) questions|next steps?|what's next|where to go (?:next|from here)\
    |further reading|additional resources";

/// A heading that is such a name, perhaps with a number, or before or after a colon: `2.4 Quiz`, `Module 3 quiz`, `Exercise 1: Publish`.
static NAMED: LazyLock<Regex> = LazyLock::new(|| {
    let number = r"(?:(?:chapter|module|lesson|section|part|week|final)?\s*[a-z]?[\d.]*\s+)?";
    pattern(&format!(
        r"(?i)^(?:.*[:–—-]\s+)?\W*{number}(?:{NAMES})(?:\s+[\d.]+)?\W*(?:[:–—-]\s.*|\(.*)?$"
    ))
});
/// A question that asks for such a section.
static ASKED: LazyLock<Regex> = LazyLock::new(|| pattern(&format!(r"(?i)\b(?:{NAMES})\b")));

/// A line with one option of a quiz: `- A) x`, `b. x`, `- [ ] x`.
static OPTION: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^\W{0,6}[\[(]?(?:[A-Ea-e][.)]|[ xX]?\])\s"));

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("the pattern is a constant")
}

/// The fewest questions in a section made of questions.
const MIN_QUESTIONS: usize = 3;

/// True if a chunk is an exercise, a list of objectives or the like, and the question does not ask for one.
#[must_use]
pub fn is_unasked_exercise(question: &str, chunk: &ChunkPayload) -> bool {
    let heading = chunk.heading_path.last().unwrap_or(&chunk.title);
    let is_exercise =
        NAMED.is_match(&heading.replace('’', "'")) || is_made_of_questions(&chunk.text);
    is_exercise && !ASKED.is_match(&question.replace('’', "'"))
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
        is_unasked_exercise("How?", chunk)
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
            "Exercise 1: Publish a topic",
            "Quiz 2",
            "Lesson 2 Exercises",
            "Module 3 Quiz",
        ] {
            assert!(is(heading, "Text."), "{heading}");
        }
        for heading in [
            "Nodes",
            "Exercising a model",
            "Objective functions",
            "Objectives and constraints",
            "Homework submission endpoint",
            "Outcomes table",
            "self-check command",
            "Create a quiz",
            "The quiz API",
        ] {
            assert!(!is(heading, "Text."), "{heading}");
        }
    }

    #[test]
    fn they_are_asked_for_by_a_word_of_their_name() {
        let section = |heading: &str| section("page", heading, "Text.", 0.0, "2026").chunk;
        let unasked =
            |question: &str, heading: &str| is_unasked_exercise(question, &section(heading));
        assert!(unasked("how is a topic published?", "Quiz: Topics"));
        assert!(!unasked("give me a quiz on topics", "Quiz: Topics"));
        assert!(!unasked(
            "objectives of nodes",
            "Chapter 3: Learning Objectives"
        ));
        assert!(!unasked("how is a topic published?", "Publishing a topic"));
        assert!(unasked("what is a destructuring assignment?", "Quiz"));
        assert!(!unasked("how is a topic published?", "Prerequisites"));
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

//! Rewrites a question that depends on the conversation, so that the search can use it alone.

use std::sync::Arc;
use std::time::Duration;

use super::anaphora::{asks_for_form, leans_back};
use crate::book::{Mark, MarkKind};
use crate::generate::{ChatModel, Ending, Exchange, rewrite_prompt};
use crate::index::ChunkPayload;
use crate::provider::ProviderError;
use crate::retrieve::ScoredChunk;

/// The longest rewritten question in tokens, and the time limit for rewriting.
const MAX_REWRITTEN_TOKENS: u32 = 120;
const DEADLINE: Duration = Duration::from_secs(4);
/// The longest rewritten question in characters; longer text is rejected.
const MAX_REWRITTEN_CHARACTERS: usize = 600;

/// Joins the earlier questions that a question depends on with the question, oldest first. This is searched for if no model rewrites. Questions that
/// ask for another form of an answer are left out, so that the sections of that answer are found.
pub(super) fn joined(question: &str, history: &[Exchange]) -> String {
    let before = history
        .iter()
        .rev()
        .map(|exchange| exchange.question.as_str());
    let mut asked = Vec::new();
    for (at, text) in [question].into_iter().chain(before).enumerate() {
        if !text.is_empty() && !asks_for_form(text) {
            asked.push(text);
        }
        // The question itself is known to depend on earlier ones.
        if at > 0 && !text.is_empty() && !leans_back(text) {
            break;
        }
    }
    if asked.is_empty() {
        return question.to_owned();
    }
    asked.reverse();
    asked.join("\n")
}

/// Returns the code of the sections, each block with its introducing paragraph; `None` if there is no code.
pub(super) fn code_of(sections: &[ScoredChunk]) -> Option<Vec<ScoredChunk>> {
    let code: Vec<ScoredChunk> = sections.iter().filter_map(code_of_section).collect();
    (!code.is_empty()).then_some(code)
}

fn code_of_section(section: &ScoredChunk) -> Option<ScoredChunk> {
    let chunk = &section.chunk;
    let blocks = || chunk.marks.iter().filter(|mark| !mark.is_inline());
    let mut kept: Vec<&Mark> = Vec::new();
    for (before, block) in [None].into_iter().chain(blocks().map(Some)).zip(blocks()) {
        if block.kind == MarkKind::Fence {
            let leads = before.filter(|before| before.kind == MarkKind::Paragraph);
            kept.extend(leads.into_iter().chain([block]));
        }
    }
    let mut code = ChunkPayload {
        text: String::new(),
        marks: Vec::new(),
        ..ChunkPayload::clone(chunk)
    };
    for block in &kept {
        let text = chunk.text.get(block.range())?;
        if !code.text.is_empty() {
            code.text.push_str("\n\n");
        }
        let at = code.text.len();
        let marks = chunk
            .marks
            .iter()
            .filter_map(|mark| mark.within(&block.range()));
        code.marks.extend(marks.map(|mark| mark.after(at)));
        code.text.push_str(text);
    }
    (!kept.is_empty()).then(|| ScoredChunk {
        chunk: Arc::new(code),
        ..section.clone()
    })
}

/// Asks a model for the standalone question.
pub(super) async fn rewritten(
    model: &ChatModel,
    question: &str,
    history: &[Exchange],
    fence: &str,
) -> Result<(String, Ending), ProviderError> {
    let prompt = rewrite_prompt(question, history, fence);
    let asked = model.complete(&prompt, MAX_REWRITTEN_TOKENS);
    let (text, ending) = tokio::time::timeout(DEADLINE, asked)
        .await
        .map_err(|_| ProviderError::Timeout)??;
    let text = text.trim().trim_matches('"').trim();
    let one_line = !text.is_empty() && !text.contains('\n');
    if !one_line || text.chars().count() > MAX_REWRITTEN_CHARACTERS {
        return Err(ProviderError::Malformed("no question".to_owned()));
    }
    Ok((text.to_owned(), ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_model_the_last_question_goes_before() {
        let exchange = |question: &str| Exchange {
            question: question.to_owned(),
            answer: Some("yes".to_owned()),
        };
        let joined = |question: &str, before: &[&str]| {
            let history: Vec<Exchange> = before.iter().map(|question| exchange(question)).collect();
            super::joined(question, &history)
        };
        for (question, before, searched) in [
            (
                "On Windows?",
                &["What is a node?", ""][..],
                "What is a node?\nOn Windows?",
            ),
            ("On Windows?", &[], "On Windows?"),
            ("Why?", &[], "Why?"),
            // A request for another form searches for the previous question.
            ("Why?", &["What is a node?"], "What is a node?"),
            ("In simpler words", &["What is a node?"], "What is a node?"),
            (
                "Show me the code",
                &["What is a node?", "Shorter, please"],
                "What is a node?",
            ),
            // Each question depends on the one before it.
            (
                "Show me the code",
                &[
                    "What is a map?",
                    "How do I write a test?",
                    "And in TypeScript?",
                ],
                "How do I write a test?\nAnd in TypeScript?",
            ),
            (
                "And in Rust?",
                &["How do I write a test?", "In simpler words"],
                "How do I write a test?\nAnd in Rust?",
            ),
        ] {
            assert_eq!(
                joined(question, before),
                searched,
                "{question} after {before:?}"
            );
        }
    }

    #[test]
    fn the_code_of_a_section_comes_with_what_leads_to_it() {
        let payload = include_str!("../generate/prompt/payload.json");
        let text = "Tests run.\n\nCall it:\n\n```js\nrun(`a`)\n```\n\n- more\n\n```sh\nnpm t\n```";
        let payload: ChunkPayload = serde_json::from_str(payload).unwrap();
        let mark = |kind, marked: &str| {
            let start = text.find(marked).unwrap();
            Mark::from((kind, start, start + marked.len()))
        };
        let section = |text: &str, marks: Vec<Mark>| ScoredChunk {
            point_id: uuid::Uuid::nil(),
            position: None,
            chunk: Arc::new(ChunkPayload {
                text: text.to_owned(),
                marks,
                ..payload.clone()
            }),
            scores: crate::retrieve::Scores::default(),
        };
        let prose = section("Only prose.", vec![(MarkKind::Paragraph, 0, 11).into()]);
        let marks = vec![
            mark(MarkKind::Paragraph, "Tests run."),
            mark(MarkKind::Paragraph, "Call it:"),
            mark(MarkKind::Code, "it"),
            mark(MarkKind::Fence, "```js\nrun(`a`)\n```"),
            mark(MarkKind::ListItem, "- more"),
            mark(MarkKind::Fence, "```sh\nnpm t\n```"),
        ];
        let code = code_of(&[prose.clone(), section(text, marks)]).unwrap();
        let [code] = &code[..] else {
            panic!("{code:?}");
        };
        let chunk = &code.chunk;
        assert_eq!(
            chunk.text,
            "Call it:\n\n```js\nrun(`a`)\n```\n\n```sh\nnpm t\n```"
        );
        let marked: Vec<&str> = chunk
            .marks
            .iter()
            .map(|mark| &chunk.text[mark.range()])
            .collect();
        assert_eq!(
            marked,
            [
                "Call it:",
                "it",
                "```js\nrun(`a`)\n```",
                "```sh\nnpm t\n```"
            ]
        );
        assert!(code_of(&[prose]).is_none());
    }
}

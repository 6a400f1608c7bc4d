//! Parses JavaScript and TypeScript: the site's config, imported modules, and the imports of pages.

use std::thread;

use oxc_allocator::Allocator;
use oxc_ast::ast::Program;
use oxc_parser::{Parser, ParserReturn};
use oxc_span::{LabeledSpan, SourceType};

use crate::line_starts::LineStarts;

/// The largest script in bytes. Large configs, with thousands of redirects, have about 200 kB.
const MAX_SCRIPT_BYTES: usize = 1024 * 1024;

/// Bytes and words of which each nested construct contains at least one. Their number limits the recursion of the parser and of the
/// code that reads its tree.
const NESTING_BYTES: &[u8] = b"([{<>`!~+-*/%=&|^?:.@";
const NESTING_WORDS: [&str; 22] = [
    "abstract",
    "as",
    "asserts",
    "await",
    "class",
    "delete",
    "do",
    "else",
    "for",
    "if",
    "in",
    "infer",
    "instanceof",
    "keyof",
    "new",
    "readonly",
    "satisfies",
    "typeof",
    "unique",
    "void",
    "while",
    "yield",
];

/// The deepest possible nesting; more would need too much stack. Thousands of redirects stay below.
const MAX_NESTING: usize = 128 * 1024;

/// The most open brackets, including those in strings and comments. For some constructs the parser's time grows with the square of
/// their depth.
const MAX_OPEN_BRACKETS: usize = 500;

/// Stack per level in bytes: twice the measured size, with and without optimisation.
const STACK_PER_LEVEL: usize = if cfg!(debug_assertions) { 16 } else { 4 } * 1024;

/// Stack for any text, in bytes.
const BASE_STACK: usize = 4 * 1024 * 1024;

/// The nesting up to which the calling thread's stack suffices.
const SHALLOW: usize = 32;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SyntaxError {
    pub(super) line: usize,
    pub(super) reason: String,
    /// True if the error is at the end of the text, so that more text could correct it.
    pub(super) is_at_end: bool,
}

impl SyntaxError {
    /// Returns an error of the whole file.
    fn from_reason(reason: String) -> Self {
        Self {
            line: 1,
            reason,
            is_at_end: false,
        }
    }
}

/// Returns the language of a file, by its extension: TypeScript, or JavaScript with JSX.
pub(super) fn language_of(path: &str) -> SourceType {
    let extension = path.rsplit('.').next().unwrap_or_default();
    match extension {
        "ts" | "mts" | "cts" => SourceType::ts().with_unambiguous(true),
        "tsx" => SourceType::tsx().with_unambiguous(true),
        _ => SourceType::unambiguous().with_jsx(true),
    }
}

/// Parses a text and applies `read` to the tree.
///
/// The parser is recursive, so deeply nested texts are parsed on a thread with a stack of the required size.
///
/// # Errors
/// The first syntax error, or that the text is too large.
pub(super) fn parse<T: Send>(
    text: &str,
    language: SourceType,
    read: impl for<'a> FnOnce(&'a Program<'a>) -> T + Send,
) -> Result<T, SyntaxError> {
    if text.len() > MAX_SCRIPT_BYTES {
        return Err(SyntaxError::from_reason(format!(
            "the file has more than {MAX_SCRIPT_BYTES} bytes"
        )));
    }
    let levels = nesting(text);
    if levels > MAX_NESTING {
        let reason =
            format!("the file has more than {MAX_NESTING} brackets, operators and keywords");
        return Err(SyntaxError::from_reason(reason));
    }
    if open_brackets(text) > MAX_OPEN_BRACKETS {
        return Err(SyntaxError::from_reason(format!(
            "it nests more than {MAX_OPEN_BRACKETS} brackets"
        )));
    }
    if levels <= SHALLOW {
        return parse_here(text, language, read);
    }
    thread::scope(|scope| {
        let builder = thread::Builder::new().stack_size(BASE_STACK + levels * STACK_PER_LEVEL);
        let parsing = builder.spawn_scoped(scope, || parse_here(text, language, read));
        let parsing = parsing
            .map_err(|error| SyntaxError::from_reason(format!("no memory to parse it: {error}")))?;
        parsing
            .join()
            .unwrap_or_else(|_| Err(SyntaxError::from_reason("the parser failed".to_owned())))
    })
}

fn parse_here<T>(
    text: &str,
    language: SourceType,
    read: impl for<'a> FnOnce(&'a Program<'a>) -> T,
) -> Result<T, SyntaxError> {
    let allocator = Allocator::default();
    let ParserReturn {
        program,
        diagnostics,
        ..
    } = Parser::new(&allocator, text, language).parse();
    if let Some(error) = diagnostics.errors().next() {
        let offset = error.labels.iter().next().map_or(0, LabeledSpan::offset);
        let end = text.trim_end().len();
        let mut labels = error.labels.iter();
        return Err(SyntaxError {
            line: LineStarts::new(text).line(offset as usize),
            reason: error.message.to_string(),
            is_at_end: labels.any(|label| (label.offset() + label.len()) as usize >= end),
        });
    }
    Ok(read(allocator.alloc(program)))
}

fn open_brackets(text: &str) -> usize {
    let (mut open, mut most) = (0_usize, 0);
    for byte in text.bytes() {
        match byte {
            b'(' | b'[' | b'{' | b'<' => open += 1,
            b')' | b']' | b'}' | b'>' => open = open.saturating_sub(1),
            _ => {}
        }
        most = most.max(open);
    }
    most
}

fn nesting(text: &str) -> usize {
    let bytes = text
        .bytes()
        .filter(|byte| NESTING_BYTES.contains(byte))
        .count();
    let words = text.split(|c: char| !c.is_ascii_alphabetic());
    bytes + words.filter(|word| NESTING_WORDS.contains(word)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_program(text: &str) -> bool {
        parse(text, language_of("a.js"), |_| ()).is_ok()
    }

    #[test]
    fn a_text_that_nests_deep_ends_no_process() {
        for level in [
            "[",
            "(",
            "{",
            "({a:",
            "!",
            "-",
            "typeof ",
            "new ",
            "a=>",
            "a=",
            "a?b:",
            "a**",
            "`${",
            "<a>",
            "if(a)",
            "else ",
            "while(a)",
            "do ",
            "async a=>",
            "function f(){",
            "class extends ",
            "a:",
            "for(;;)",
            "[...",
            "({...",
            "await ",
            "(a,b)=>",
            "(a=(",
            "a?(b):",
            "a<b<",
            "(a)?(",
            "{[",
            "import(",
            "f(",
            "a[",
            "@a ",
            "label: ",
        ] {
            for count in [100, 5_000] {
                let text = level.repeat(count);
                let _ = is_program(&text);
                let _ = parse(&text, language_of("a.ts"), |_| ());
                let _ = parse(&text, language_of("a.tsx"), |_| ());
            }
        }
        assert!(is_program(&format!(
            "x = {}1{}",
            "[".repeat(400),
            "]".repeat(400)
        )));
    }

    #[test]
    fn an_error_names_its_line() {
        let error = parse("const a = 1;\nconst b = ;\n", language_of("a.js"), |_| ()).unwrap_err();
        assert_eq!(error.line, 2, "{error:?}");
        assert!(!error.reason.is_empty());
    }

    #[test]
    fn both_kinds_of_modules_and_jsx_and_types_are_parsed() {
        assert!(is_program("module.exports = {a: 1}"));
        assert!(is_program(
            "import a from 'a'; export default () => <a b={1}>don't</a>"
        ));
        let types = "import type {A} from 'a'; const a = {b: 1} satisfies A; export default a as A";
        assert!(!is_program(types));
        assert!(parse(types, language_of("a.ts"), |_| ()).is_ok());
    }
}

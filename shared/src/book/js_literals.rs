//! Reads the plain literals of a `docusaurus.config.{js,ts}` without running it.
//!
//! Everything that is not a literal, or a name declared as one, reads as [`computed`]: there, and not known.

use std::cell::Cell;
use std::collections::HashMap;

use serde_json::{Map, Value};

/// How deep literals may nest; a deeper file is not a configuration.
const MAX_DEPTH: usize = 64;

/// How many tokens may be looked at, and values copied, for one file: hundreds of times what a real one takes. Past it
/// everything is computed.
const MAX_STEPS: usize = 10_000_000;

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Name(String),
    Literal(Value),
    Mark(char),
}

/// The value of an expression that only running the file would tell.
pub(super) fn computed() -> Value {
    serde_json::json!({ COMPUTED: true })
}

/// Whether a value is [`computed`].
pub(super) fn is_computed(value: &Value) -> bool {
    value.get(COMPUTED).is_some()
}

/// No field of a configuration has this name.
const COMPUTED: &str = "\u{0}computed";

/// Finds the configuration in the text of a config file: the object literal that holds `baseUrl`.
///
/// Returns `null` when there is none.
#[must_use]
pub(super) fn read_config(text: &str) -> Value {
    let tokens = tokenize(text);
    let steps = Cell::new(MAX_STEPS);
    let mut declared: HashMap<String, Declared> = HashMap::new();
    let mut config = Value::Null;
    let mut at = 0;
    while at < tokens.len() {
        let declaration = matches!(&tokens[at], Token::Name(word) if word == "const" || word == "let" || word == "var");
        if declaration
            && let Some(Token::Name(name)) = tokens.get(at + 1)
            && let Some(equals) = find_equals(&tokens, at + 2)
        {
            let mut parser = Parser {
                tokens: &tokens,
                at: equals + 1,
                declared: &declared,
                steps: &steps,
            };
            let value = parser.value(0);
            let end = parser.at;
            if value.get("baseUrl").is_some() {
                config = value.clone();
            }
            // A function's body is searched too: the configuration may be returned from it.
            if !is_computed(&value) {
                let size = size_of_value(&value);
                declared.insert(name.clone(), Declared { value, size });
                at = end.max(at + 1);
                continue;
            }
        } else if tokens[at] == Token::Mark('{') {
            let mut parser = Parser {
                tokens: &tokens,
                at,
                declared: &declared,
                steps: &steps,
            };
            let value = parser.value(0);
            if value.get("baseUrl").is_some() {
                return value;
            }
        }
        at += 1;
    }
    config
}

/// The `=` of a declaration, past a type annotation such as `: Config`.
fn find_equals(tokens: &[Token], from: usize) -> Option<usize> {
    /// Longer annotations are not written in configurations.
    const MAX_ANNOTATION_TOKENS: usize = 12;
    (from..tokens.len().min(from + MAX_ANNOTATION_TOKENS))
        .take_while(|&at| tokens[at] != Token::Mark(';'))
        .find(|&at| tokens[at] == Token::Mark('='))
}

struct Parser<'a> {
    tokens: &'a [Token],
    at: usize,
    declared: &'a HashMap<String, Declared>,
    steps: &'a Cell<usize>,
}

/// The value of a name, and how many values are in it.
struct Declared {
    value: Value,
    size: usize,
}

fn size_of_value(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(size_of_value).sum::<usize>(),
        Value::Object(fields) => 1 + fields.values().map(size_of_value).sum::<usize>(),
        Value::String(text) => 1 + text.len() / 16,
        _ => 1,
    }
}

impl Parser<'_> {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    /// Takes steps from those left. `false` when they are not enough.
    fn step(&self, count: usize) -> bool {
        let left = self.steps.get();
        self.steps.set(left.saturating_sub(count));
        left >= count
    }

    /// A copy of what a name was declared as.
    fn declared_as(&self, name: &str) -> Option<Value> {
        let declared = self.declared.get(name)?;
        self.step(declared.size).then(|| declared.value.clone())
    }

    fn eat(&mut self, mark: char) -> bool {
        let found = self.peek() == Some(&Token::Mark(mark));
        self.at += usize::from(found);
        found
    }

    /// Reads one value and skips what follows it in the same expression (`as const`, `.filter(…)`).
    fn value(&mut self, depth: usize) -> Value {
        if depth > MAX_DEPTH || !self.step(1) {
            self.skip_expression();
            return computed();
        }
        let value = match self.peek().cloned() {
            Some(Token::Mark('{')) => self.object(depth),
            Some(Token::Mark('[')) => self.array(depth),
            Some(Token::Mark('(')) => {
                self.at += 1;
                let inner = self.value(depth + 1);
                self.eat(')');
                inner
            }
            Some(Token::Literal(value)) => {
                self.at += 1;
                value
            }
            Some(Token::Name(name)) => {
                self.at += 1;
                self.declared_as(&name).unwrap_or_else(computed)
            }
            _ => computed(),
        };
        let rest = self.skip_expression();
        let type_only = matches!(rest.as_deref(), None | Some("as" | "satisfies"));
        if type_only { value } else { computed() }
    }

    fn object(&mut self, depth: usize) -> Value {
        self.at += 1;
        let mut fields = Map::new();
        while let Some(token) = self.peek().cloned() {
            match token {
                Token::Mark('}') => {
                    self.at += 1;
                    break;
                }
                Token::Mark(',') => self.at += 1,
                Token::Name(key) | Token::Literal(Value::String(key)) => {
                    self.at += 1;
                    if self.eat(':') {
                        let value = self.value(depth + 1);
                        fields.insert(key, value);
                    } else {
                        let shorthand = self.declared_as(&key);
                        match self.skip_expression().as_deref() {
                            // `{exclude}`, of a name that may have been imported.
                            None => drop(fields.insert(key, shorthand.unwrap_or_else(computed))),
                            Some("(") => drop(fields.insert(key, computed())),
                            // A statement: code, not a literal.
                            Some(_) => {}
                        }
                    }
                }
                // `{1: …}`, whose key is the number's shortest text.
                Token::Literal(Value::Number(key))
                    if self.tokens.get(self.at + 1) == Some(&Token::Mark(':')) =>
                {
                    self.at += 2;
                    let key = key.as_f64().unwrap_or_default().to_string();
                    let value = self.value(depth + 1);
                    fields.insert(key, value);
                }
                // A statement's end, or a bracket that closes nothing: code, not a literal.
                _ => {
                    self.skip_expression();
                    self.at += 1;
                }
            }
        }
        Value::Object(fields)
    }

    fn array(&mut self, depth: usize) -> Value {
        self.at += 1;
        let mut items = Vec::new();
        while let Some(token) = self.peek() {
            match token {
                Token::Mark(']') => {
                    self.at += 1;
                    break;
                }
                Token::Mark(',') => self.at += 1,
                Token::Mark(';' | '}' | ')') => self.at += 1,
                _ => items.push(self.value(depth + 1)),
            }
        }
        Value::Array(items)
    }

    /// Skips to the end of the expression: a `,`, `;` or closing bracket at its own depth. Returns the first word skipped.
    fn skip_expression(&mut self) -> Option<String> {
        let mut depth = 0_usize;
        let mut first = None;
        while let Some(token) = self.tokens.get(self.at) {
            if !self.step(1) {
                self.at = self.tokens.len();
                break;
            }
            match token {
                Token::Mark('{' | '[' | '(') => depth += 1,
                Token::Mark('}' | ']' | ')') if depth == 0 => break,
                Token::Mark('}' | ']' | ')') => depth -= 1,
                Token::Mark(',' | ';') if depth == 0 => break,
                _ => {}
            }
            // Without semicolons a declaration ends where the next statement begins.
            if depth == 0
                && matches!(token, Token::Name(word) if matches!(word.as_str(), "const" | "let" | "var" | "export" | "module" | "return"))
            {
                break;
            }
            first.get_or_insert_with(|| match token {
                Token::Name(word) => word.clone(),
                Token::Mark(mark) => mark.to_string(),
                Token::Literal(value) => value.to_string(),
            });
            self.at += 1;
        }
        first
    }
}

fn tokenize(text: &str) -> Vec<Token> {
    let chars: Vec<char> = text.chars().collect();
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < chars.len() {
        let next = chars.get(at + 1).copied();
        match chars[at] {
            '/' if next == Some('/') => {
                at = find(&chars, at, |c| c == '\n');
            }
            '/' if next == Some('*') => {
                at += 2;
                while at < chars.len() && !(chars[at] == '*' && chars.get(at + 1) == Some(&'/')) {
                    at += 1;
                }
                at += 2;
            }
            quote @ ('"' | '\'' | '`') => {
                let (value, end) = string(&chars, at + 1, quote);
                tokens.push(Token::Literal(value));
                at = end;
            }
            c if c.is_ascii_digit() => {
                let end = find(&chars, at, |c| {
                    !(c.is_ascii_alphanumeric() || c == '.' || c == '_')
                });
                let digits: String = chars[at..end].iter().filter(|c| **c != '_').collect();
                let number = digits.parse::<f64>().map_or(Value::Null, Value::from);
                tokens.push(Token::Literal(number));
                at = end;
            }
            c if c.is_alphabetic() || c == '_' || c == '$' => {
                let end = find(&chars, at, |c| {
                    !(c.is_alphanumeric() || c == '_' || c == '$')
                });
                let word: String = chars[at..end].iter().collect();
                tokens.push(match word.as_str() {
                    "true" => Token::Literal(Value::Bool(true)),
                    "false" => Token::Literal(Value::Bool(false)),
                    "null" | "undefined" => Token::Literal(Value::Null),
                    _ => Token::Name(word),
                });
                at = end;
            }
            c => {
                if !c.is_whitespace() {
                    tokens.push(Token::Mark(c));
                }
                at += 1;
            }
        }
    }
    tokens
}

fn find(chars: &[char], from: usize, stop: impl Fn(char) -> bool) -> usize {
    (from..chars.len())
        .find(|&at| stop(chars[at]))
        .unwrap_or(chars.len())
}

/// Reads a string up to its closing quote; a template with `${…}` is computed.
fn string(chars: &[char], from: usize, quote: char) -> (Value, usize) {
    let mut text = String::new();
    let mut has_code = false;
    let mut at = from;
    while at < chars.len() && chars[at] != quote {
        if chars[at] == '\\' {
            at += 1;
            match chars.get(at) {
                Some('n') => text.push('\n'),
                Some('t') => text.push('\t'),
                Some(c) => text.push(*c),
                None => {}
            }
        } else {
            has_code |= quote == '`' && chars[at] == '$' && chars.get(at + 1) == Some(&'{');
            text.push(chars[at]);
        }
        at += 1;
    }
    let value = if has_code {
        computed()
    } else {
        Value::String(text)
    };
    (value, at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_are_read_and_code_is_not_run() {
        let config = read_config(
            r"// baseUrl: '/wrong/'
            import {themes} from 'prism-react-renderer';
            const docs = {routeBasePath: 'guide', exclude: ['**/*.x.md']} as const;
            const config: Config = {
              title: 'A book', baseUrl: '/b/', url: process.env.URL || 'x', trailingSlash: false,
              i18n: {defaultLocale: 'en', locales: ['en', 'ur']},
              presets: [['classic', ({docs, theme: {customCss: require.resolve('./x.css')}} satisfies Preset.Options)]],
              themeConfig: {items: [...more, {label: `v${version}`}]},
            };
            export default config;",
        );
        assert_eq!(config["baseUrl"], "/b/");
        assert!(is_computed(&config["url"]));
        assert_eq!(config["trailingSlash"], false);
        assert_eq!(config["i18n"]["locales"][1], "ur");
        assert_eq!(config["presets"][0][1]["docs"]["routeBasePath"], "guide");
    }

    #[test]
    fn a_config_returned_from_a_function_is_found() {
        let config = read_config(
            "const f=()=>import('x').then(m=>m.default);\nmodule.exports=async function(){\n const docs={\"path\": \"docs\"};\n return {title:\"Ary\",baseUrl:\"/a/\",plugins:[['@docusaurus/plugin-content-docs',docs]]};\n};",
        );
        assert_eq!(config["baseUrl"], "/a/");
        assert_eq!(config["plugins"][0][1]["path"], "docs");
    }

    #[test]
    fn keys_may_be_numbers_as_versions_are() {
        let config = read_config(
            "export default {baseUrl: '/', versions: {1: {path: 'first'}, 2.0: {path: 'second'}, 3.10: {}}};",
        );
        let versions = &config["versions"];
        assert_eq!(versions["1"]["path"], "first");
        // As JavaScript spells these numbers.
        assert_eq!(versions["2"]["path"], "second");
        assert!(versions.get("3.1").is_some(), "{versions}");
    }

    #[test]
    fn garbage_reads_as_nothing() {
        for text in [
            "",
            "}}}}",
            "{{{{",
            "const x = ",
            "`${",
            "module.exports = require('x')",
        ] {
            assert_eq!(read_config(text), Value::Null, "{text}");
        }
        assert_eq!(read_config(&"[".repeat(100_000)), Value::Null);
        assert_eq!(read_config(&"({".repeat(1_000_000)), Value::Null);
        let laughs: String = (1..60)
            .map(|n| {
                format!(
                    "const a{n} = [{}];\n",
                    [format!("a{}", n - 1).as_str(); 9].join(",")
                )
            })
            .collect();
        assert_eq!(
            read_config(&format!("const a0 = ['x'];\n{laughs}")),
            Value::Null
        );
    }
}

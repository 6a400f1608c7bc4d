//! Reads the plain literals of a `docusaurus.config.{js,ts}` without running it.
//!
//! Everything that is not a literal, or a name declared as one, reads as `null`.

use std::collections::HashMap;

use serde_json::{Map, Value};

/// How deep literals may nest; a deeper file is not a configuration.
const MAX_DEPTH: usize = 64;

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Name(String),
    Literal(Value),
    Mark(char),
}

/// Finds the configuration in the text of a config file: the object literal that holds `baseUrl`.
///
/// Returns `null` when there is none.
#[must_use]
pub(super) fn read_config(text: &str) -> Value {
    let tokens = tokenize(text);
    let mut declared = HashMap::new();
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
            };
            let value = parser.value(0);
            let end = parser.at;
            if value.get("baseUrl").is_some() {
                config = value.clone();
            }
            // A function's body is searched too: the configuration may be returned from it.
            if !value.is_null() {
                declared.insert(name.clone(), value);
                at = end.max(at + 1);
                continue;
            }
        } else if tokens[at] == Token::Mark('{') {
            let mut parser = Parser {
                tokens: &tokens,
                at,
                declared: &declared,
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
    declared: &'a HashMap<String, Value>,
}

impl Parser<'_> {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn eat(&mut self, mark: char) -> bool {
        let found = self.peek() == Some(&Token::Mark(mark));
        self.at += usize::from(found);
        found
    }

    /// Reads one value and skips what follows it in the same expression (`as const`, `.filter(…)`).
    fn value(&mut self, depth: usize) -> Value {
        if depth > MAX_DEPTH {
            self.skip_expression();
            return Value::Null;
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
                self.declared.get(&name).cloned().unwrap_or(Value::Null)
            }
            _ => Value::Null,
        };
        let computed = self.skip_expression();
        let type_only = matches!(computed.as_deref(), None | Some("as" | "satisfies"));
        if type_only { value } else { Value::Null }
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
                        let shorthand = self.declared.get(&key).cloned();
                        if self.skip_expression().is_none()
                            && let Some(value) = shorthand
                        {
                            fields.insert(key, value);
                        }
                    }
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
        while let Some(token) = self.peek() {
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

/// Reads a string up to its closing quote; a template with `${…}` reads as `null`.
fn string(chars: &[char], from: usize, quote: char) -> (Value, usize) {
    let mut text = String::new();
    let mut computed = false;
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
            computed |= quote == '`' && chars[at] == '$' && chars.get(at + 1) == Some(&'{');
            text.push(chars[at]);
        }
        at += 1;
    }
    let value = if computed {
        Value::Null
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
        assert_eq!(config["url"], Value::Null);
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
        assert_eq!(read_config(&"({".repeat(2_000)), Value::Null);
    }
}

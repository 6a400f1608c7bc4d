//! The link targets that an answer may use.

use std::collections::HashSet;

use pulldown_cmark::{Event, Parser, Tag};

use super::address::{TextKind, addresses, trimmed};
use book::href;

/// HTML and JSX attributes that hold link targets.
const TARGETS: [&str; 3] = ["href=", "src=", "to="];

/// The addresses in the passages, and the book's own pages.
#[derive(Debug, Clone, Default)]
pub struct AllowedLinks {
    /// Absolute addresses including `www.` and mail addresses; they must match exactly.
    addresses: HashSet<String>,
    /// Paths and the book's absolute URLs, without anchor and trailing slash; any anchor is allowed.
    pages: HashSet<String>,
}

impl AllowedLinks {
    /// Collects the allowed targets. `texts` are the passages' Markdown, `pages` the paths or URLs of the book's pages. If `base_url` has a host, the
    /// paths are also allowed as absolute URLs.
    #[must_use]
    pub fn new<'a>(
        texts: impl Iterator<Item = &'a str>,
        pages: impl Iterator<Item = String>,
        base_url: &str,
    ) -> Self {
        let mut allowed = Self::default();
        for text in texts {
            allowed.add_addresses(text);
            allowed.add_targets(text);
        }
        let origin = origin(base_url);
        for page in pages {
            let path = if is_absolute(&page) || page.starts_with('/') {
                page
            } else {
                format!("{}/{page}", base_url.trim_end_matches('/'))
            };
            if let Some(origin) = origin.filter(|_| !is_absolute(&path)) {
                allowed.add_page(without_anchor(&format!("{origin}{path}")));
            }
            allowed.add_page(without_anchor(&path));
        }
        allowed
    }

    /// Returns the normalised target of a link. `None` if it is not allowed, or would not work wherever the answer is shown.
    pub(super) fn href(&self, target: &str) -> Option<String> {
        href::of(target).filter(|_| self.has_target(target))
    }

    /// True if a link target is allowed: an address, a page or path with an optional anchor, or an anchor.
    fn has_target(&self, target: &str) -> bool {
        if target.is_empty() || target.contains(ends_target) {
            return false;
        }
        let (page, anchor) = match target.split_once('#') {
            Some((page, anchor)) => (page, Some(anchor)),
            None => (target, None),
        };
        let has_anchor = anchor.is_none_or(is_anchor);
        if page.is_empty() {
            return has_anchor;
        }
        self.has_address(target) || (has_anchor && self.pages.contains(without_slash(page)))
    }

    /// True if a bare address in a text is allowed.
    pub(super) fn has_address(&self, address: &str) -> bool {
        let page = self.pages.contains(without_anchor(address));
        let anchor = address
            .split_once('#')
            .is_none_or(|(_, anchor)| is_anchor(anchor));
        self.addresses.contains(address) || (page && anchor && is_absolute(address))
    }

    fn add_addresses(&mut self, text: &str) {
        for kind in [TextKind::Prose, TextKind::Code] {
            for found in addresses(text, kind) {
                let address = &text[found];
                if is_allowed_scheme(address) {
                    self.add_target(address);
                }
            }
        }
        for word in text.split(|c: char| c.is_whitespace() || "<>\"'`()[]{}|,;*".contains(c)) {
            let word = trimmed(word);
            let mail = word.strip_prefix("mailto:").unwrap_or(word);
            if mail.contains('@') && !mail.contains('/') {
                self.addresses.insert(mail.to_owned());
            } else if word.contains('/') {
                self.add_path(word);
            }
        }
    }

    /// Adds the link targets of Markdown and HTML.
    fn add_targets(&mut self, text: &str) {
        let parser = Parser::new(text);
        for (_, definition) in parser.reference_definitions().iter() {
            self.add_target(&definition.dest);
        }
        for event in parser {
            if let Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) = event {
                self.add_target(&dest_url);
            }
        }
        for mark in TARGETS {
            for (at, _) in text.match_indices(mark) {
                let rest = &text[at + mark.len()..];
                if let Some(quote) = rest.chars().next().filter(|c| matches!(c, '"' | '\''))
                    && let Some(target) = rest[1..].split(quote).next()
                {
                    self.add_target(target);
                }
            }
        }
    }

    fn add_target(&mut self, target: &str) {
        if is_allowed_scheme(target) {
            self.addresses
                .extend([target, trimmed(target)].map(str::to_owned));
            // Answers contain the normalised form.
            self.addresses.extend(href::of(target));
        } else {
            self.add_path(target);
        }
    }

    fn add_path(&mut self, path: &str) {
        let page = without_anchor(path);
        let leads_away = path.starts_with("//") || path.contains([':', '\\']);
        if !page.is_empty() && !leads_away {
            self.add_page(page);
        }
    }

    fn add_page(&mut self, page: &str) {
        self.pages.insert(page.to_owned());
        // Answers contain the normalised form.
        self.pages.extend(href::of(page));
    }
}

/// True for a character that a link target does not contain unescaped.
fn ends_target(c: char) -> bool {
    c.is_whitespace() || c.is_control() || matches!(c, '<' | '>' | '"' | '\'' | '`' | '\\')
}

fn is_absolute(address: &str) -> bool {
    address.starts_with("https://") || address.starts_with("http://")
}

fn is_allowed_scheme(address: &str) -> bool {
    ["https://", "http://", "mailto:", "www."]
        .into_iter()
        .any(|scheme| {
            address
                .get(..scheme.len())
                .is_some_and(|start| start.eq_ignore_ascii_case(scheme))
        })
}

/// Returns `https://host` of an absolute URL.
fn origin(url: &str) -> Option<&str> {
    let host = url.find("://").filter(|_| is_absolute(url))? + 3;
    let end = url[host..].find('/').map_or(url.len(), |at| host + at);
    Some(&url[..end])
}

fn without_anchor(page: &str) -> &str {
    without_slash(page.split('#').next().unwrap_or(page))
}

fn without_slash(page: &str) -> &str {
    match page.strip_suffix('/') {
        Some("") | None => page,
        Some(page) => page,
    }
}

/// True if an anchor has only characters that heading ids use, and is not an address in disguise such as `#www.example.com`.
fn is_anchor(anchor: &str) -> bool {
    anchor
        .chars()
        .all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '%'))
        && !anchor.to_ascii_lowercase().contains("www.")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed() -> AllowedLinks {
        let text = "See [a](./a.md#x), [b](https://docs.ros.org/en/b_(c)/ \"t\"), <https://c.org>, https://d.org/x?y=1. \
            [r]: /docs/r\n<a href=\"/docs/h/\">h</a> write a@b.org, `/docs/t`, //evil.org and http:evil.org";
        let pages = ["/docs/a", "/docs/b/", "https://book.org/c"].map(str::to_owned);
        AllowedLinks::new(
            [text].into_iter(),
            pages.into_iter(),
            "https://book.org/docs/",
        )
    }

    #[test]
    fn what_stands_in_a_passage_or_is_a_page_is_allowed() {
        let allowed = allowed();
        let targets = [
            "./a.md",
            "./a.md#y",
            "https://docs.ros.org/en/b_(c)/",
            "https://c.org",
            "https://d.org/x?y=1",
            "/docs/r",
            "/docs/h",
            "/docs/t",
            "/docs/a",
            "/docs/a/",
            "/docs/a#b",
            "/docs/b",
            "https://book.org/docs/a#b",
            "https://book.org/c/",
            "#x",
        ];
        for target in targets {
            assert!(allowed.has_target(target), "{target}");
        }
        assert!(allowed.has_address("a@b.org"));
        assert!(allowed.has_address("https://book.org/docs/b/"));
    }

    #[test]
    fn what_only_resembles_it_is_not() {
        let allowed = allowed();
        let targets = [
            "",
            "https://c.org/more",
            "https://c.org.evil.org",
            "https://d.org/x?y=2",
            "https://d.org/x",
            "http://c.org",
            "/docs/a?q=1",
            "/docs/a#https://evil.org",
            "/docs",
            "//evil.org",
            "/\\evil.org",
            "http:evil.org",
            "docs/a",
            "/docs/../a",
            "HTTPS://C.ORG",
            "/docs/a\\",
            "#a/b",
            "#www.evil.org",
            "https://book.org",
            "javascript:x",
            "/docs/z",
        ];
        for target in targets {
            assert!(!allowed.has_target(target), "{target}");
        }
        assert!(!allowed.has_address("/docs/a"));
    }
}

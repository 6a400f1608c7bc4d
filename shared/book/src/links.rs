//! Resolves the addresses of a page's links and pictures as Docusaurus does.

use crate::block::{Mark, MarkKind};
use crate::pages::{PageFile, default_source, page_file};
use crate::paths::{decoded_url, joined};
use crate::permalink::resolve_path;
use crate::settings::SiteSettings;

/// The page that addresses are relative to.
pub(super) struct Origin<'a> {
    pub(super) settings: &'a SiteSettings,
    pub(super) page: &'a PageFile,
    pub(super) url: &'a str,
}

/// An address, split at its query or anchor.
pub(super) struct Address<'a> {
    pub(super) path: &'a str,
    rest: &'a str,
}

impl<'a> Address<'a> {
    pub(super) fn new(address: &'a str) -> Self {
        let end = address.find(['#', '?']).unwrap_or(address.len());
        let (path, rest) = address.split_at(end);
        // `pathname://` selects a file instead of a page with the same path.
        let path = path.strip_prefix("pathname://").unwrap_or(path);
        Self { path, rest }
    }

    /// True if the last name has an extension.
    pub(super) fn names_file(&self) -> bool {
        let name = self.path.rsplit('/').next().unwrap_or_default();
        name.trim_matches('.').contains('.')
    }

    fn names_page(&self) -> bool {
        [".md", ".mdx"]
            .iter()
            .any(|extension| self.path.ends_with(extension))
    }
}

impl Origin<'_> {
    /// Resolves the addresses of links and pictures for readers, and removes the marks of dead ones. `source` is the file with the text:
    /// the page, or a partial.
    pub(super) fn resolve(&self, source: &str, marks: &mut Vec<Mark>) {
        marks.retain_mut(|mark| match &mut mark.kind {
            MarkKind::Link(addresses) => {
                let address = addresses.first().map_or("", String::as_str);
                *addresses = self.link(source, address);
                !addresses.is_empty()
            }
            MarkKind::Picture(address) if !is_foreign(address) => {
                mark.kind = match self.asset(source, &Address::new(address)) {
                    Some(path) => MarkKind::Picture(path),
                    // The site serves the picture at an address that only its build determines.
                    None => MarkKind::Link(Vec::new()),
                };
                true
            }
            MarkKind::Picture(_) => false,
            _ => true,
        });
    }

    fn link(&self, source: &str, address: &str) -> Vec<String> {
        if address.starts_with("https://") || address.starts_with("http://") {
            return vec![address.to_owned()];
        }
        if is_foreign(address) {
            return Vec::new();
        }
        let parts = Address::new(address);
        if parts.names_page() {
            return self.pages(source, &parts);
        }
        let path = if parts.path.is_empty() {
            Some(self.url.to_owned())
        } else if parts.names_file() {
            self.asset(source, &parts)
        } else if parts.path.starts_with('/') {
            Some(self.rooted(parts.path))
        } else if parts.path.starts_with('@') {
            None
        } else {
            Some(resolve_path(parts.path, folder_of(self.url)))
        };
        path.map(|path| path + parts.rest).into_iter().collect()
    }

    /// Returns the source paths that a link to a Markdown file may refer to, in Docusaurus's order (`utils` 3.10, `markdownLinks`): beside the
    /// file, in the docs folder, in the site.
    fn pages(&self, source: &str, address: &Address<'_>) -> Vec<String> {
        let path = decoded_url(address.path);
        let mut sources = Vec::new();
        if let Some(path) = path.strip_prefix("@site/") {
            sources.push(joined("", path));
        } else {
            if !path.starts_with('/') {
                sources.push(beside(source, &path));
            }
            if !path.starts_with("./") && !path.starts_with("../") {
                let default = default_source(self.settings, self.page);
                for page in [&self.page.source, &default] {
                    let folder = page.strip_suffix(&*self.page.relative).unwrap_or_default();
                    sources.push(format!("{folder}{}", path.trim_start_matches('/')));
                }
                sources.push(path.trim_start_matches('/').to_owned());
            }
        }
        let mut pages: Vec<String> = Vec::new();
        for source in sources {
            let page = source + address.rest;
            let is_page = page_file(self.settings, Address::new(&page).path).is_some();
            if is_page && !pages.contains(&page) {
                pages.push(page);
            }
        }
        pages
    }

    /// Returns the path at which the site serves a file of its static folder; `None` for other files.
    fn asset(&self, source: &str, address: &Address<'_>) -> Option<String> {
        let path = address.path;
        if path.starts_with('/') {
            return Some(self.rooted(path));
        }
        let file = match path.strip_prefix("@site/") {
            Some(file) => file.to_owned(),
            None => beside(source, path),
        };
        let mut folders = self.settings.static_folders.iter();
        let path = folders.find_map(|folder| file.strip_prefix(&**folder)?.strip_prefix('/'))?;
        Some(self.rooted(path))
    }

    /// Returns the URL of a path from the site's root, below the base URL of the page's locale.
    fn rooted(&self, path: &str) -> String {
        let base = self.settings.locale_base_url(&self.page.locale);
        let path = resolve_path(path, "/");
        if path.starts_with(&base) {
            path
        } else {
            format!("{base}{}", path.trim_start_matches('/'))
        }
    }
}

/// Returns the source paths of the pages that marks link to.
pub fn linked_sources(marks: &[Mark]) -> impl Iterator<Item = &str> {
    let addresses = marks.iter().flat_map(|mark| match &mark.kind {
        MarkKind::Link(addresses) => addresses.as_slice(),
        _ => &[],
    });
    let paths = addresses.map(|address| Address::new(address).path);
    paths.filter(|path| is_source(path))
}

/// Replaces source paths in a section's links by URLs. `url_of` returns the URL of a source path's page. Links to anything that is not
/// a page of the book lose their address.
pub fn follow_links<'a>(
    marks: &mut [Mark],
    section: &str,
    url_of: impl Fn(&str) -> Option<&'a str>,
) {
    for mark in marks {
        if let MarkKind::Link(addresses) = &mut mark.kind {
            if addresses.is_empty() {
                addresses.push(section.to_owned());
            }
            let mut followed = addresses.iter().filter_map(|address| {
                let Address { path, rest } = Address::new(address);
                if is_source(path) {
                    Some(format!("{}{rest}", url_of(path)?))
                } else {
                    Some(address.clone())
                }
            });
            *addresses = followed.next().into_iter().collect();
        }
    }
}

/// True for the path of a source file, as opposed to a path of the site or a web address.
pub(super) fn is_source(path: &str) -> bool {
    !path.starts_with('/') && !path.contains("://")
}

fn is_foreign(address: &str) -> bool {
    let scheme = address.find(':').map_or("", |end| &address[..end]);
    let has_scheme = !scheme.is_empty() && !scheme.contains(['/', '#', '?']);
    (has_scheme && scheme != "pathname") || address.starts_with("//")
}

fn beside(source: &str, path: &str) -> String {
    joined(folder_of(source), path)
}

pub(super) fn folder_of(path: &str) -> &str {
    path.rfind('/').map_or("", |at| &path[..=at])
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::markdown::parse_blocks;
    use crate::mdx::tests::MDX;
    use crate::mdx::{PageValues, prepare};
    use crate::slug::Slugger;

    const CONFIG: &str = "export default { baseUrl: '/book/', \
        i18n: { defaultLocale: 'en', locales: ['en', 'ur'] } }";

    /// Resolves the target of a link or picture in `source`.
    fn resolved(source: &str, kind: MarkKind) -> Option<MarkKind> {
        let files = [
            ("docusaurus.config.js", CONFIG),
            ("versions.json", "[\"1.0\"]"),
        ];
        let files = files.map(|(name, text)| (name.to_owned(), text.to_owned()));
        let settings = SiteSettings::read(&BTreeMap::from(files), true).unwrap();
        let page = page_file(&settings, source).unwrap();
        let origin = Origin {
            settings: &settings,
            page: &page,
            url: "/book/docs/a/page",
        };
        let mut marks = vec![Mark {
            kind,
            start: 0,
            end: 1,
        }];
        origin.resolve(source, &mut marks);
        marks.pop().map(|mark| mark.kind)
    }

    #[test]
    fn links_lead_where_docusaurus_leads_them() {
        let translation = "i18n/ur/docusaurus-plugin-content-docs/current/a/page.md";
        for (source, address, expected) in [
            ("docs/a/page.md", "#x", vec!["/book/docs/a/page#x"]),
            ("docs/a/page.md", "./b.md#x", vec!["docs/a/b.md#x"]),
            ("docs/a/page.md", "../b.mdx", vec!["docs/b.mdx"]),
            ("docs/a/page.md", "b.md", vec!["docs/a/b.md", "docs/b.md"]),
            ("docs/a/page.md", "./b%20c.md", vec!["docs/a/b c.md"]),
            ("docs/a/page.md", "./b c.md", vec!["docs/a/b c.md"]),
            ("docs/a/page.md", "/a/b.md", vec!["docs/a/b.md"]),
            ("docs/a/page.md", "@site/docs/b.md", vec!["docs/b.md"]),
            ("docs/a/page.md", "b", vec!["/book/docs/a/b"]),
            ("docs/a/page.md", "../b/?q=1#x", vec!["/book/docs/b/?q=1#x"]),
            ("docs/a/page.md", "/docs/b#x", vec!["/book/docs/b#x"]),
            ("docs/a/page.md", "/book/docs/b", vec!["/book/docs/b"]),
            ("docs/a/page.md", "/files/x.pdf", vec!["/book/files/x.pdf"]),
            ("docs/a/page.md", "pathname:///x/", vec!["/book/x/"]),
            (
                "docs/a/page.md",
                "https://a.example/b.md",
                vec!["https://a.example/b.md"],
            ),
            (
                "versioned_docs/version-1.0/a/page.md",
                "./b.md",
                vec!["versioned_docs/version-1.0/a/b.md"],
            ),
            (
                translation,
                "a/b.md",
                vec![
                    "i18n/ur/docusaurus-plugin-content-docs/current/a/a/b.md",
                    "i18n/ur/docusaurus-plugin-content-docs/current/a/b.md",
                    "docs/a/b.md",
                ],
            ),
            (translation, "/docs/b", vec!["/book/ur/docs/b"]),
        ] {
            let link = resolved(source, MarkKind::Link(vec![address.to_owned()]));
            let expected = expected.into_iter().map(str::to_owned).collect();
            assert_eq!(link, Some(MarkKind::Link(expected)), "{address}");
        }
    }

    #[test]
    fn an_address_is_what_commonmark_reads() {
        for (page, expected) in [
            ("[a](<b c.md> \"d\")", "b c.md"),
            ("[a](b\\)c\\*.md)", "b)c*.md"),
            ("[a](b(c(d)).md 'e {f} <g>')", "b(c(d)).md"),
            ("[a](b&amp;c&#32;d.md)", "b&c d.md"),
            ("[a](\n  <b{c}.md>\n)", "b{c}.md"),
            ("[a][R]\n\n[r]: <b c.md>\n", "b c.md"),
            ("[a]\n\n> [A]: b\\_c.md (d)\n", "b_c.md"),
            ("[a *b*](c.md#d:e[f])", "c.md#d:e[f]"),
            ("[![a](b.png)](c.md)", "c.md"),
        ] {
            let prepared = prepare(page, 1, MDX, &BTreeMap::new(), PageValues::default());
            let lines: Vec<&str> = page.lines().collect();
            let parsed = parse_blocks(&prepared, &lines, MDX, &mut Slugger::default());
            let marks = parsed.blocks.iter().flat_map(|block| &block.marks);
            let links = marks.filter_map(|mark| match &mark.kind {
                MarkKind::Link(addresses) => Some(addresses.concat()),
                _ => None,
            });
            let links: Vec<String> = links.collect();
            assert_eq!(links, [expected], "{page}: {}", prepared.text);
        }
    }

    #[test]
    fn what_readers_cannot_follow_is_no_link() {
        for address in [
            "mailto:a@b.example",
            "javascript:alert(1)",
            "//evil.example",
            "./data.zip",
            "@site/src/x.js",
            "../../README.md",
        ] {
            let link = MarkKind::Link(vec![address.to_owned()]);
            assert_eq!(resolved("docs/a/page.md", link), None, "{address}");
        }
    }

    #[test]
    fn a_link_has_the_url_of_the_first_page_that_there_is() {
        let links = [
            vec!["docs/none.md#x", "docs/b.md#x"],
            vec!["/book/docs/c#y"],
            vec!["https://a.example/d.md"],
            vec!["docs/none.md"],
            vec![],
        ];
        let mut marks = links.map(|addresses| {
            let addresses = addresses.into_iter().map(str::to_owned).collect();
            Mark::from((MarkKind::Link(addresses), 0, 1))
        });
        let sources: Vec<&str> = linked_sources(&marks).collect();
        assert_eq!(sources, ["docs/none.md", "docs/b.md", "docs/none.md"]);
        follow_links(&mut marks, "/book/docs/a#own", |source| {
            (source == "docs/b.md").then_some("/book/docs/b")
        });
        let followed = marks.map(|mark| match mark.kind {
            MarkKind::Link(addresses) => addresses.concat(),
            _ => String::new(),
        });
        let expected = [
            "/book/docs/b#x",
            "/book/docs/c#y",
            "https://a.example/d.md",
            "",
            "/book/docs/a#own",
        ];
        assert_eq!(followed, expected);
    }

    #[test]
    fn only_pictures_of_the_static_folder_have_an_address() {
        for (address, expected) in [
            (
                "/img/x.png",
                Some(MarkKind::Picture("/book/img/x.png".to_owned())),
            ),
            (
                "@site/static/img/x.png",
                Some(MarkKind::Picture("/book/img/x.png".to_owned())),
            ),
            (
                "../../static/x.png",
                Some(MarkKind::Picture("/book/x.png".to_owned())),
            ),
            ("./x.png", Some(MarkKind::Link(Vec::new()))),
            ("@site/docs/x.png", Some(MarkKind::Link(Vec::new()))),
            ("https://evil.example/x.png", None),
            ("data:image/png;base64,AA", None),
        ] {
            let picture = MarkKind::Picture(address.to_owned());
            assert_eq!(resolved("docs/a/page.md", picture), expected, "{address}");
        }
    }
}

//! Derives a page's URL from its path and front matter, as Docusaurus does.

use std::sync::LazyLock;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use regex::Regex;

use crate::blog::PostPath;
use crate::front_matter::FrontMatter;
use crate::pages::PageFile;
use crate::settings::{ContentKind, Instance, SiteSettings};

static NUMBER_PREFIX: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^[0-9]+\s*[-_.]+\s*([^-_.\s].*)$").expect("the pattern is a constant")
});
/// The characters that JavaScript's `encodeURIComponent` replaces, and which Docusaurus encodes in the names of pages' files. `/` separates them.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'!')
    .remove(b'~')
    .remove(b'*')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')')
    .remove(b'/');

/// Dates and version numbers, which resemble number prefixes but are kept.
static NOT_A_PREFIX: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^[0-9]+[-_.][0-9]+").expect("the pattern is a constant"));

/// Removes the number prefix of a folder or file: `01-setup` becomes `setup`; `1.2-setup` is unchanged.
#[must_use]
pub(super) fn strip_number_prefix(name: &str) -> &str {
    if NOT_A_PREFIX.is_match(name) {
        return name;
    }
    NUMBER_PREFIX
        .captures(name)
        .and_then(|captures| captures.get(1))
        .map_or(name, |rest| rest.as_str())
}

/// A page's names as Docusaurus computes them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PageNames {
    pub title: String,
    /// The path below the version's root, with a leading slash.
    pub slug: String,
}

/// Computes the names of the page at `relative`, a path below its version's root (`a/01-b.md`).
#[must_use]
pub(super) fn page_names(
    instance: &Instance,
    relative: &str,
    front_matter: &FrontMatter,
) -> PageNames {
    let names = match instance.kind {
        ContentKind::Docs => return docs_names(instance, relative, front_matter),
        ContentKind::Pages => PageNames {
            title: file_stem(relative).to_owned(),
            slug: path_of_page(relative),
        },
        ContentKind::Blog => {
            let PostPath { slug, title, .. } = PostPath::read(relative);
            PageNames { title, slug }
        }
    };
    let slug = front_matter.slug.clone().unwrap_or(names.slug);
    PageNames { slug, ..names }
}

fn docs_names(docs: &Instance, relative: &str, front_matter: &FrontMatter) -> PageNames {
    let folder = relative.rsplit_once('/').map_or(".", |(folder, _)| folder);
    let stem = file_stem(relative);
    let has_prefixes = docs.number_prefixes && front_matter.parse_number_prefixes.unwrap_or(true);
    let without_prefix: fn(&str) -> &str = if has_prefixes {
        strip_number_prefix
    } else {
        |name| name
    };
    let base_id = front_matter.id.as_deref();
    let base_id = base_id.unwrap_or_else(|| without_prefix(stem)).to_owned();
    let folder_slug = if folder == "." {
        "/".to_owned()
    } else {
        let names: Vec<&str> = folder.split('/').map(without_prefix).collect();
        format!("/{}/", names.join("/"))
    };
    let slug = match &front_matter.slug {
        Some(slug) if slug.starts_with('/') => slug.clone(),
        Some(slug) => resolve_path(slug, &folder_slug),
        None if is_category_index(stem, folder) => folder_slug,
        None => resolve_path(&base_id, &folder_slug),
    };
    let title = base_id.rsplit('/').next().unwrap_or(&base_id).to_owned();
    PageNames { title, slug }
}

fn file_stem(relative: &str) -> &str {
    let name = relative.rsplit('/').next().unwrap_or(relative);
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

/// Returns the percent-encoded path of a page outside of the docs, from its file name; `index` gives that of its folder.
fn path_of_page(relative: &str) -> String {
    let relative = utf8_percent_encode(relative, ENCODED).to_string();
    let (path, _) = relative.rsplit_once('.').unwrap_or((&relative, ""));
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    match name.to_lowercase().as_str() {
        "index" if folder.is_empty() => "/".to_owned(),
        "index" => format!("/{folder}/"),
        _ => format!("/{path}"),
    }
}

/// True for a folder's index page: `index`, `readme` or the folder's own raw name, in any case.
fn is_category_index(stem: &str, folder: &str) -> bool {
    let stem = stem.to_lowercase();
    let own_folder = folder.rsplit('/').next().unwrap_or_default().to_lowercase();
    stem == "index" || stem == "readme" || stem == own_folder
}

/// Returns the final URL path of a page's slug in a locale: joins base URL, locale, route, version and slug. The trailing slash follows the
/// settings.
///
/// Like Docusaurus's own metadata, it is not percent-encoded, except for names of pages' files.
#[must_use]
pub(super) fn page_url(
    settings: &SiteSettings,
    page: &PageFile,
    locale: &str,
    slug: &str,
) -> String {
    let instance = settings.instance(&page.instance);
    let locale_base = settings.locale_base_url(locale);
    let base = normalize(&[locale_base.as_str()]);
    let url = normalize(&[
        locale_base.as_str(),
        instance.route_base_path.as_str(),
        instance.version_path(&page.version),
        slug,
    ]);
    match settings.trailing_slash {
        _ if url == "/" || url.trim_end_matches('/') == base.trim_end_matches('/') => url,
        None => url,
        Some(true) if url.ends_with('/') => url,
        Some(true) => url + "/",
        Some(false) => url.trim_end_matches('/').to_owned(),
    }
}

/// Joins URL parts with single slashes; keeps a trailing slash of the last part.
fn normalize(parts: &[&str]) -> String {
    let trailing = parts
        .iter()
        .rev()
        .find(|part| !part.is_empty())
        .is_some_and(|part| part.ends_with('/'));
    let mut url = String::new();
    for segment in parts.iter().flat_map(|part| part.split('/')) {
        if !segment.is_empty() {
            url.push('/');
            url.push_str(segment);
        }
    }
    if url.is_empty() || trailing {
        url.push('/');
    }
    url
}

/// Resolves a relative path against a folder that ends in a slash, like the npm package `resolve-pathname`.
pub(super) fn resolve_path(path: &str, folder: &str) -> String {
    let mut segments: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    let mut trailing = false;
    for part in path.split('/') {
        trailing = matches!(part, "" | "." | "..");
        match part {
            "" | "." => {}
            ".." => {
                segments.pop();
            }
            name => segments.push(name),
        }
    }
    let mut resolved = format!("/{}", segments.join("/"));
    if trailing && !resolved.ends_with('/') {
        resolved.push('/');
    }
    resolved
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pages::page_file;

    #[test]
    fn number_prefixes_are_those_docusaurus_strips() {
        for (name, expected) in [
            ("01-a", "a"),
            ("2-a", "a"),
            ("03.a", "a"),
            ("04 - a", "a"),
            ("05_a", "a"),
            ("014--a", "a"),
            ("99- a", "a"),
            ("1.2-a", "1.2-a"),
            ("7.0-a", "7.0-a"),
            ("2024-01-02-a", "2024-01-02-a"),
            ("11-", "11-"),
            ("12", "12"),
            ("13 a", "13 a"),
            ("3d-a", "3d-a"),
            ("1.1-intro", "1.1-intro"),
            ("۲۳-اردو", "۲۳-اردو"),
            ("25-۲۵", "۲۵"),
        ] {
            assert_eq!(strip_number_prefix(name), expected, "{name}");
        }
    }

    #[test]
    fn slugs_resolve_against_the_stripped_folder() {
        assert_eq!(resolve_path("rel/ative", "/a/"), "/a/rel/ative");
        assert_eq!(resolve_path("./x", "/a/b/"), "/a/b/x");
        assert_eq!(resolve_path("../x", "/a/b/"), "/a/x");
        assert_eq!(resolve_path("moved-index/", "/a/"), "/a/moved-index/");
    }

    #[test]
    fn a_url_has_the_route_and_versions_of_its_own_docs() {
        let toml = "locales = ['en', 'ur']\ntrailing_slash = true\nversions = ['2.0']\n[docs.api]\ndocs_path = 'api'\n\
            route_base_path = '/ref/api'\nversions = ['2.0', '1.0']\nversion_paths = { '1.0' = 'old' }\n";
        let files = [("bookrag.toml".to_owned(), toml.to_owned())];
        let settings = SiteSettings::read(&files.into(), true).unwrap();
        for (source, expected) in [
            ("docs/a.md", "/docs/next/a/"),
            ("versioned_docs/version-2.0/a.md", "/docs/a/"),
            ("api/a.md", "/ref/api/next/a/"),
            ("api_versioned_docs/version-2.0/a.md", "/ref/api/a/"),
            ("api_versioned_docs/version-1.0/a.md", "/ref/api/old/a/"),
        ] {
            let page = page_file(&settings, source).unwrap();
            assert_eq!(page_url(&settings, &page, "en", "/a"), expected);
            assert_eq!(
                page_url(&settings, &page, "ur", "/a"),
                format!("/ur{expected}")
            );
        }
    }

    #[test]
    fn a_page_beside_the_docs_has_the_path_of_its_file() {
        for (relative, expected) in [
            ("index.md", "/"),
            ("Index.mdx", "/"),
            ("a/index.md", "/a/"),
            ("01-a/02-b.md", "/01-a/02-b"),
            ("a/README.md", "/a/README"),
            ("a.b.md", "/a.b"),
            ("version 2.md", "/version%202"),
            ("\u{fc}/\u{e4}+b (c)&d.md", "/%C3%BC/%C3%A4%2Bb%20(c)%26d"),
        ] {
            assert_eq!(path_of_page(relative), expected);
        }
    }
}

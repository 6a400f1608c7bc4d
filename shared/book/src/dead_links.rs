//! Links that lead to no page of the book, such as to pages that a plugin makes when the site is built.

use std::collections::{BTreeMap, BTreeSet};

use crate::block::MarkKind;
use crate::built::script_url;
use crate::document::Document;
use crate::links::{Address, folder_of, is_source};
use crate::settings::{ContentKind, SiteSettings};

/// The most folders that are named.
const MAX_FOLDERS: usize = 5;

/// Links between the pages of a site, by the places that each may lead to: source paths in order, or one URL path without a slash at its end.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PageLinks(BTreeMap<Vec<String>, Uses>);

/// The links to one page.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Uses {
    count: usize,
    /// The place of the first one.
    first: String,
}

impl PageLinks {
    /// Returns the links of a page to docs. Translations, whose links are those of the original, and pages of a build have none.
    #[must_use]
    pub fn from_document(settings: &SiteSettings, document: &Document) -> Self {
        let mut links = Self::default();
        let file = &document.file;
        if file.locale != settings.default_locale || settings.instance(&file.instance).is_built {
            return links;
        }
        for block in &document.blocks {
            for mark in &block.marks {
                let MarkKind::Link(addresses) = &mark.kind else {
                    continue;
                };
                let places: Vec<String> = addresses
                    .iter()
                    .filter_map(|address| place_of(settings, address))
                    .collect();
                if !places.is_empty() {
                    let first = format!("{}, line {}", file.source, block.start_line);
                    links.add_uses(places, Uses { count: 1, first });
                }
            }
        }
        links
    }

    /// Adds the links of another page.
    pub fn add(&mut self, other: Self) {
        for (places, uses) in other.0 {
            self.add_uses(places, uses);
        }
    }

    fn add_uses(&mut self, places: Vec<String>, uses: Uses) {
        match self.0.get_mut(&places) {
            Some(known) => known.count += uses.count,
            None => drop(self.0.insert(places, uses)),
        }
    }

    /// Returns every place that a link may lead to.
    pub fn places(&self) -> impl Iterator<Item = &String> {
        self.0.keys().flatten()
    }

    /// Returns a line for each folder with links that lead to none of the `pages`, which are [places](Self::places), nor to the scripts of the site; the
    /// folders with the most links first.
    #[must_use]
    pub fn dead(
        &self,
        settings: &SiteSettings,
        pages: &BTreeSet<String>,
        scripts: &[String],
    ) -> Vec<String> {
        let scripts: BTreeSet<String> = scripts
            .iter()
            .filter_map(|path| script_url(settings, path))
            .collect();
        let mut folders: BTreeMap<&str, (usize, &str, &Uses)> = BTreeMap::new();
        for (places, uses) in &self.0 {
            let mut known = places.iter();
            if known.any(|place| pages.contains(place) || scripts.contains(place)) {
                continue;
            }
            let place = places[0].as_str();
            let folder = folders.entry(folder_of(place)).or_insert((0, place, uses));
            folder.0 += uses.count;
        }
        let mut folders: Vec<_> = folders.into_iter().collect();
        folders.sort_by_key(|(_, (count, ..))| std::cmp::Reverse(*count));
        let others = folders.split_off(folders.len().min(MAX_FOLDERS));
        let mut lines: Vec<String> = folders
            .into_iter()
            .map(|(folder, (count, place, uses))| {
                format!(
                    "{} into `{folder}` to no page of the book, such as to `{place}` in {}; if the site's build makes the page, run that step first",
                    links_lead(count),
                    uses.first
                )
            })
            .collect();
        if !others.is_empty() {
            let count = others.iter().map(|(_, (count, ..))| count).sum();
            let folders = others.len();
            lines.push(format!(
                "{} into {folders} other folders to no page of the book",
                links_lead(count)
            ));
        }
        lines
    }
}

fn links_lead(count: usize) -> String {
    match count {
        1 => "1 link leads".to_owned(),
        count => format!("{count} links lead"),
    }
}

/// Returns the place in the docs that a resolved address leads to; `None` for other addresses.
fn place_of(settings: &SiteSettings, address: &str) -> Option<String> {
    let address = Address::new(address);
    if is_source(address.path) {
        return Some(address.path.to_owned());
    }
    let below = address.path.strip_prefix(&settings.base_url)?;
    let below = below.trim_end_matches('/');
    let mut plugins = settings.instances.iter().filter(|it| !it.is_built);
    // The docs may be at the root, where other plugins have pages as well.
    let is_of_others = plugins
        .clone()
        .any(|it| it.kind == ContentKind::Blog && is_below(below, &it.route_base_path));
    let is_of_docs =
        plugins.any(|it| it.kind == ContentKind::Docs && is_below(below, &it.route_base_path));
    let is_page = is_of_docs && !is_of_others && !address.names_file();
    is_page.then(|| address.path.trim_end_matches('/').to_owned())
}

fn is_below(path: &str, route: &str) -> bool {
    let rest = path.strip_prefix(route);
    route.is_empty() || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inputs::Inputs;
    use crate::pages::page_file;
    use crate::reader::read_document;

    #[test]
    fn links_to_pages_that_the_book_lacks_are_told_by_folder() {
        let config = "export default {baseUrl: '/b/', presets: [['classic', {}]], i18n: {defaultLocale: 'en', locales: ['en', 'ur']}}";
        let files = [("docusaurus.config.js".to_owned(), config.to_owned())];
        let settings = SiteSettings::read(&files.into(), true).expect("valid settings");
        let mut links = PageLinks::default();
        let mut pages = BTreeSet::new();
        for (source, text) in [
            (
                "docs/a.md",
                "[b](./b.md) [b](b/#x) [api](api/index.md) [c](/docs/api/c?d) [pdf](/docs/a.pdf)\n\n[blog](/blog/tags) [root](/) [site](https://a.example/docs)",
            ),
            (
                "docs/b.md",
                "[c](api/c) [home](/docs/home) [m](missing.md#x)",
            ),
            (
                "i18n/ur/docusaurus-plugin-content-docs/current/b.md",
                "[x](x.md)",
            ),
        ] {
            let page = page_file(&settings, source).expect("a page");
            let document = read_document(&settings, "", &page, text.as_bytes(), &Inputs::new());
            let document = document.expect("the page can be read");
            links.add(PageLinks::from_document(&settings, &document));
            pages.extend([source.to_owned(), document.url]);
        }
        let told = links.dead(&settings, &pages, &[]);
        let expected = [
            "2 links lead into `/b/docs/api/` to no page of the book, such as to `/b/docs/api/c` in docs/a.md, line 1",
            "1 link leads into `/b/docs/` to no page of the book, such as to `/b/docs/home` in docs/b.md, line 1",
            "1 link leads into `docs/` to no page of the book, such as to `docs/missing.md` in docs/b.md, line 1",
            "1 link leads into `docs/api/` to no page of the book, such as to `docs/api/index.md` in docs/a.md, line 1",
        ]
        .map(|line| format!("{line}; if the site's build makes the page, run that step first"));
        assert_eq!(told, expected);
    }
    #[test]
    fn few_folders_and_no_scripts_are_told() {
        let config = "export default {presets: [['classic', {docs: {routeBasePath: '/'}}]]}";
        let files = [("docusaurus.config.js".to_owned(), config.to_owned())];
        let settings = SiteSettings::read(&files.into(), true).expect("valid settings");
        let links = (0..8).map(|at| format!("[a](/folder{at}/a) [b](/folder{at}/b)"));
        let text = format!("{}\n\n[price](/price)", links.collect::<Vec<_>>().join(" "));
        let page = page_file(&settings, "docs/a.md").expect("a page");
        let document = read_document(&settings, "", &page, text.as_bytes(), &Inputs::new());
        let links = PageLinks::from_document(&settings, &document.expect("a page"));
        let told = links.dead(
            &settings,
            &BTreeSet::new(),
            &["src/pages/price.tsx".to_owned()],
        );
        assert_eq!(told.len(), 6, "{told:?}");
        assert_eq!(
            told[5],
            "6 links lead into 3 other folders to no page of the book"
        );
    }
}

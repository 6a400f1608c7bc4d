//! The files that map keys of tags and authors to names: `tags.yml` and `authors.yml`.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::decoding::decode;
use crate::front_matter::{FrontMatter, text};
use crate::inputs::Inputs;
use crate::pages::{PageFile, default_source};
use crate::settings::SiteSettings;

/// Maps keys to names.
pub(super) type Labels = BTreeMap<String, String>;

/// Returns the files that may name the tags and authors of a page, those of its locale first. Empty if the page has neither.
pub(super) fn label_files(
    settings: &SiteSettings,
    page: &PageFile,
    front_matter: &FrontMatter,
) -> Vec<String> {
    let instance = settings.instance(&page.instance);
    let has_authors = ["authors", "author"]
        .iter()
        .any(|field| front_matter.other.contains_key(*field));
    let tags = instance.tags_file.as_ref();
    let tags = tags.filter(|_| !front_matter.tags.is_empty());
    let authors = instance.authors_file.as_ref().filter(|_| has_authors);
    let names = tags.into_iter().chain(authors);
    names
        .flat_map(|name| paths_of(settings, page, name))
        .collect()
}

/// True for a file that may name tags or authors of a page.
#[must_use]
pub fn is_label_file(settings: &SiteSettings, page: &PageFile, path: &str) -> bool {
    let instance = settings.instance(&page.instance);
    let mut names = [&instance.tags_file, &instance.authors_file]
        .into_iter()
        .flatten();
    names.any(|name| paths_of(settings, page, name).iter().any(|it| it == path))
}

/// Reads the tag names of the plugin that a page belongs to.
pub(super) fn tag_labels(settings: &SiteSettings, page: &PageFile, inputs: &Inputs) -> Labels {
    let file = settings.instance(&page.instance).tags_file.as_deref();
    labels(settings, page, inputs, file, "label")
}

/// Reads the author names of the plugin that a page belongs to.
pub(super) fn author_names(settings: &SiteSettings, page: &PageFile, inputs: &Inputs) -> Labels {
    let file = settings.instance(&page.instance).authors_file.as_deref();
    labels(settings, page, inputs, file, "name")
}

/// Reads the names from the first of the files that exists. A key has no name if its entry has none or the file is unreadable; readers then see
/// the key itself.
fn labels(
    settings: &SiteSettings,
    page: &PageFile,
    inputs: &Inputs,
    file: Option<&str>,
    field: &str,
) -> Labels {
    let paths = file.map(|file| paths_of(settings, page, file));
    let mut contents = paths
        .iter()
        .flatten()
        .filter_map(|path| inputs.get(path)?.content());
    let yaml = contents.next().and_then(|bytes| decode(bytes).ok());
    let entries = yaml.and_then(|yaml| serde_saphyr::from_str::<Value>(&yaml).ok());
    let Some(Value::Object(entries)) = entries else {
        return Labels::new();
    };
    entries
        .into_iter()
        .filter_map(|(key, entry)| Some((key, text(&entry[field])?)))
        .collect()
}

/// Returns the paths of a file beside the content of a page's locale, and of the default locale.
fn paths_of(settings: &SiteSettings, page: &PageFile, name: &str) -> Vec<String> {
    let sources = [page.source.clone(), default_source(settings, page)];
    let roots = sources.iter().map(|source| {
        let root = source.strip_suffix(&page.relative);
        root.unwrap_or_default()
    });
    let mut paths: Vec<String> = roots.map(|root| format!("{root}{name}")).collect();
    paths.dedup();
    paths
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::pages::page_file;
    use crate::reader::{missing_inputs, read_document};

    const CONFIG: &str = "module.exports = {i18n: {defaultLocale: 'en', locales: ['en', 'de']},
        presets: [['classic', {docs: {tags: 'words/tags.yml'}, blog: {authorsMapPath: 'team.yml', tags: false}}]]}";

    /// Returns the search words of a page, and the files that it requested.
    fn filed(
        source: &str,
        front_matter: &str,
        files: &[(&str, &str)],
    ) -> (String, BTreeSet<String>) {
        let config = [("docusaurus.config.js".to_owned(), CONFIG.to_owned())];
        let settings = SiteSettings::read(&config.into(), true).expect("valid settings");
        let page = page_file(&settings, source).expect("a page");
        let text = format!("---\n{front_matter}\n---\nText.\n");
        let wanted = missing_inputs(&settings, &page, text.as_bytes(), &Inputs::new());
        let files: BTreeMap<&str, &str> = files.iter().copied().collect();
        let content = |path: &String| {
            files
                .get(path.as_str())
                .map(|text| text.as_bytes().to_vec())
        };
        let inputs = wanted
            .keys()
            .map(|path| (path.clone(), content(path).into()));
        let inputs: Inputs = inputs.collect();
        let read = read_document(&settings, "", &page, text.as_bytes(), &inputs);
        let words = read
            .expect("a page that can be read")
            .front_matter
            .search_words();
        (words, wanted.into_keys().collect())
    }

    #[test]
    fn keys_stand_for_the_names_in_the_plugins_files() {
        let tags = ("docs/words/tags.yml", "api:\n  label: Interfaces\nplain:\n");
        let german = (
            "i18n/de/docusaurus-plugin-content-docs/current/words/tags.yml",
            "api: {label: Schnittstellen}",
        );
        let authors = (
            "blog/team.yml",
            "ada: {name: Ada L.}\nbob: {title: Chief}\n",
        );
        let translation = "i18n/de/docusaurus-plugin-content-docs/current/a.md";
        for (source, front_matter, files, words) in [
            (
                "docs/a.md",
                "tags: [api, plain, own]",
                &[tags][..],
                "Interfaces\nplain\nown",
            ),
            ("docs/a.md", "tags: [api]", &[], "api"),
            (
                "docs/a.md",
                "tags: [api]",
                &[("docs/words/tags.yml", "[")],
                "api",
            ),
            (
                translation,
                "tags: [api]",
                &[tags, german],
                "Schnittstellen",
            ),
            (translation, "tags: [api]", &[tags], "Interfaces"),
            (
                "blog/a.md",
                "tags: [api]\nauthors: [ada, bob, {key: ada, name: Countess}, {key: ada, title: x}, {name: Eve}]",
                &[tags, authors, ("blog/tags.yml", "api: {label: no}")],
                "api\nAda L.\nbob\nCountess\nAda L.\nEve",
            ),
        ] {
            assert_eq!(
                filed(source, front_matter, files).0,
                words,
                "{source}: {front_matter}"
            );
        }
    }

    #[test]
    fn a_page_without_tags_and_authors_looks_for_no_files_of_them() {
        let (_, wanted) = filed("docs/a.md", "title: a", &[]);
        assert!(
            !wanted.iter().any(|path| path.contains("tags")),
            "{wanted:?}"
        );
        let (_, wanted) = filed("blog/a.md", "tags: [a]", &[]);
        assert!(
            !wanted.contains("blog/tags.yml") && !wanted.contains("blog/team.yml"),
            "{wanted:?}"
        );
    }
}

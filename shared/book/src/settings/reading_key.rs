//! The settings that affect how pages are read, as one text that is part of fingerprints.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{DEFAULT_INSTANCE, Instance, SiteSettings};

/// The beginning of each key. Changing the number makes every page of every book be read again.
const FORMAT: &str = "reading settings 1\n";

impl SiteSettings {
    /// Returns all settings that affect how a page of an instance is read, as one text. Equal texts mean equal reading.
    ///
    /// The text is part of each document's fingerprint, so it is written field by field: one line `name=value` each, with the value as
    /// JSON, in the order below. It depends neither on the order of the structs' fields nor on a derive.
    #[must_use]
    pub fn reading_key(&self, instance: &str) -> String {
        // Exhaustive, so that a new setting must be classified here.
        let Self {
            title: _,
            url: _,
            base_url,
            instances: _,
            trailing_slash,
            default_locale,
            static_folders,
            locales,
            i18n_path,
            locale_places,
            markdown_format,
            math,
            comment_ids,
            emoji,
            magic_comments,
            require_front_matter,
            facets,
            keep_anchor_case,
            // A build has other pages than its sources.
            is_build: _,
            synonyms: _,
            made_folders: _,
            origins: _,
            appearance: _,
            warnings: _,
        } = self;
        let Instance {
            kind: _,
            id,
            route_base_path,
            path,
            number_prefixes,
            current_version,
            versions,
            last_version,
            version_paths,
            // The paths of the files looked for are part of the fingerprint.
            tags_file: _,
            authors_file: _,
            sidebars: _,
            admonitions,
            patterns,
            is_built: _,
            is_assumed: _,
        } = self.instance(instance);
        let places: Vec<Value> = locale_places
            .iter()
            .map(|(locale, place)| {
                json!([locale, place.folder, place.base_url, place.untranslated])
            })
            .collect();
        let version_paths: Vec<_> = version_paths.iter().collect();
        // Omitted unless a site sets them, so that the keys of other sites stay the same.
        let syntax = [
            (!emoji).then(|| ("emoji", json!(emoji))),
            (magic_comments.as_ref()).map(|comments| ("magic_comments", json!(comments))),
            (admonitions.as_ref()).map(|names| ("admonitions", json!(names))),
        ];
        // Omitted if there are none, so that the keys of sites that declare none stay the same.
        let facets = (!facets.is_empty()).then(|| ("facets", json!(facets)));
        // Omitted for the default instance, whose key must match that of releases that only read this one.
        let instance = (id != DEFAULT_INSTANCE).then(|| ("instance", json!(id)));
        let fields = [
            ("base_url", json!(base_url)),
            ("route_base_path", json!(route_base_path)),
            ("docs_path", json!(path)),
            ("trailing_slash", json!(trailing_slash)),
            ("number_prefixes", json!(number_prefixes)),
            ("default_locale", json!(default_locale)),
            ("static_folders", json!(static_folders)),
            ("locales", json!(locales)),
            ("i18n_path", json!(i18n_path)),
            ("locale_places", json!(places)),
            ("current_version", json!(current_version)),
            ("versions", json!(versions)),
            ("last_version", json!(last_version)),
            ("version_paths", json!(version_paths)),
            ("markdown_format", json!(markdown_format)),
            ("math", json!(math)),
            ("comment_ids", json!(comment_ids)),
            ("keep_anchor_case", json!(keep_anchor_case)),
            ("require_front_matter", json!(require_front_matter)),
            ("include", json!(patterns.include)),
            ("exclude", json!(patterns.exclude)),
        ];
        let lines = instance
            .into_iter()
            .chain(fields)
            .chain(facets)
            .chain(syntax.into_iter().flatten());
        let lines: String = lines
            .map(|(name, value)| format!("{name}={value}\n"))
            .collect();
        FORMAT.to_owned() + &lines
    }

    /// Returns the [reading key](Self::reading_key) of each instance, by id.
    #[must_use]
    pub fn reading_keys(&self) -> BTreeMap<&str, String> {
        let ids = self.instances.iter().map(|it| it.id.as_str());
        ids.map(|id| (id, self.reading_key(id))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(toml: &str, config: &str) -> SiteSettings {
        let files = [("bookrag.toml", toml), ("docusaurus.config.js", config)];
        let files = files.map(|(name, text)| (name.to_owned(), text.to_owned()));
        SiteSettings::read(&BTreeMap::from(files), true).unwrap()
    }

    fn key(toml: &str, config: &str) -> String {
        settings(toml, config).reading_key(DEFAULT_INSTANCE)
    }

    const CONFIG: &str = "export default { i18n: { defaultLocale: 'en', locales: ['en', 'ur'], \
         localeConfigs: { ur: { path: 'urdu', translate: false } } } }";

    #[test]
    fn the_key_of_given_settings_never_changes() {
        let toml = "title = 'Robots'\nversions = ['2.0', '1.0']\nversion_paths = { '1.0' = 'old' }\n\
            exclude = ['**/drafts/**']\nrequire_front_matter = ['title']\n";
        let expected = r#"reading settings 1
base_url="/"
route_base_path="docs"
docs_path="docs"
trailing_slash=null
number_prefixes=true
default_locale="en"
static_folders=["static"]
locales=["en","ur"]
i18n_path="i18n"
locale_places=[["ur","urdu",null,true]]
current_version=true
versions=["2.0","1.0"]
last_version=null
version_paths=[["1.0","old"]]
markdown_format="mdx"
math=false
comment_ids=false
keep_anchor_case=false
require_front_matter=["title"]
include=["**/*.{md,mdx}"]
exclude=["**/drafts/**"]
"#;
        assert_eq!(key(toml, CONFIG), expected);
    }

    #[test]
    fn each_setting_that_decides_what_is_read_changes_the_key() {
        let former = key("", CONFIG);
        for toml in [
            "base_url = '/book/'",
            "route_base_path = '/'",
            "docs_path = 'pages'",
            "trailing_slash = false",
            "number_prefixes = false",
            "markdown_format = 'md'",
            "math = true",
            "keep_anchor_case = true",
            "default_locale = 'ur'",
            "locales = ['en', 'de']",
            "versions = ['1.0']",
            "last_version = 'current'",
            "version_paths = { current = 'latest' }",
            "versions = ['1.0']\ncurrent_version = false",
            "include = ['**/*.mdx']",
            "exclude = ['**/drafts/**']",
            "require_front_matter = ['title']",
        ] {
            assert_ne!(key(toml, CONFIG), former, "{toml}");
        }
        let comments = CONFIG.replacen('{', "{ future: { v4: true },", 1);
        let translated = CONFIG.replace("translate: false", "translate: true");
        let folder = CONFIG.replace("'urdu'", "'ur'");
        let emoji = CONFIG.replacen('{', "{ markdown: { emoji: false },", 1);
        let admonitions =
            "{ presets: [['classic', { docs: { admonitions: { keywords: ['spec'] } } }]],";
        let admonitions = CONFIG.replacen('{', admonitions, 1);
        let magic = "{ themeConfig: { prism: { magicComments: [{ line: 'error' }] } },";
        let magic = CONFIG.replacen('{', magic, 1);
        for config in [comments, translated, folder, emoji, admonitions, magic] {
            assert_ne!(key("", &config), former, "{config}");
        }
        // The title is shown, but does not affect reading.
        assert_eq!(key("title = 'Robots'", CONFIG), former);
    }

    #[test]
    fn an_instance_is_in_no_key_but_its_own() {
        let alone = key("", CONFIG);
        let settings = |options: &str| {
            let toml = format!("[docs.api]\ndocs_path = 'api'\n{options}");
            settings(&toml, CONFIG)
        };
        let (former, changed) = (settings(""), settings("number_prefixes = false"));
        assert_eq!(former.reading_key(DEFAULT_INSTANCE), alone);
        assert_eq!(changed.reading_key(DEFAULT_INSTANCE), alone);
        assert_ne!(former.reading_key("api"), alone);
        assert_ne!(changed.reading_key("api"), former.reading_key("api"));
        let ids: Vec<&str> = former.reading_keys().into_keys().collect();
        assert_eq!(ids, ["api", "default"]);
    }
}

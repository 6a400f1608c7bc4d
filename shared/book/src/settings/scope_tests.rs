//! Tests of which settings stop reading if they are computed: those that decide which pages are docs, and no others.

use super::config_tests::{config, docs, excluded, try_config};
use super::*;

#[test]
fn a_computed_scope_of_the_docs_is_refused_and_names_what_to_write() {
    for options in [
        "{exclude: hidden}",
        "{...shared}",
        "{exclude: ['a.md'], ...shared}",
        "{[key]: ['a.md']}",
        "{exclude: ['a.md', ...hidden]}",
        "{exclude: process.env.CI ? ['a.md'] : []}",
        "{...(process.env.CI ? {exclude: []} : {})}",
        "{...(process.env.CI && {exclude: []})}",
        "{exclude: 'a.md'}",
        "options",
        "require('./docs')",
    ] {
        let error = docs(options).unwrap_err().to_string();
        assert!(
            error.starts_with("docusaurus.config.js, line 1: "),
            "{options}: {error}"
        );
        assert!(
            error.contains("bookrag.toml") && error.contains("\nexclude = ["),
            "{options}: {error}"
        );
    }
    for text in [
        "module.exports = require('./base')",
        "module.exports = withTheme({presets: [['classic', {docs: {}}]]})",
        "export default {...base}",
        "export const title = 'A'",
        "export default {presets: makePresets()}",
        "export default {presets: [['classic', {docs: false}]], plugins: [...instances]}",
        "export default class {}",
        "",
    ] {
        assert!(try_config("docusaurus.config.js", text).is_err(), "{text}");
    }
    let told = "docs_path = 'docs'\ninclude = ['**/*.md']\nexclude = ['secret/**']\n";
    let files = [
        ("docusaurus.config.js", "module.exports = require('./base')"),
        ("bookrag.toml", told),
    ];
    let files = files.map(|(name, text)| (name.to_owned(), text.to_owned()));
    let settings = SiteSettings::read(&BTreeMap::from(files), true).unwrap();
    assert_eq!(excluded(&settings), ["secret/**"]);
    let reported = |name: &str| {
        settings
            .warnings
            .iter()
            .any(|warning| warning.contains(&format!("`{name}`")))
    };
    for name in [
        "title",
        "base_url",
        "route_base_path",
        "trailing_slash",
        "number_prefixes",
        "locales",
        "last_version",
    ] {
        assert!(reported(name), "{name}: {:?}", settings.warnings);
    }
}

#[test]
fn what_does_not_concern_the_docs_stops_nothing() {
    for options in [
        "{...(process.env.CI ? {showLastUpdateTime: true} : {}), exclude: ['a.md']}",
        "{exclude: ['a.md'], ...(process.env.CI ? {editUrl: url} : {})}",
        "{exclude: ['a.md'], ...(process.env.CI && {editUrl: url})}",
        "{exclude: ['a.md'], remarkPlugins: [npm2yarn, ...more], sidebarPath: require.resolve('./s.js')}",
        "{...unknown, path: 'docs', include: ['**/*.md'], exclude: ['a.md']}",
        "process.env.CI ? {exclude: ['a.md'], editUrl: 'x'} : {exclude: ['a.md']}",
        "{exclude: false ? [] : ['a.md']}",
        "{exclude: null ?? ['a.md']}",
    ] {
        let settings = docs(options).unwrap_or_else(|error| panic!("{options}: {error}"));
        assert_eq!(excluded(&settings), ["a.md"], "{options}");
    }
    for text in [
        "module.exports = {presets: ['classic'], plugins: [function own() { return {}; }, ...more]}",
        "module.exports = {presets: [[require.resolve('@docusaurus/preset-classic'), {blog: false}]], plugins: [own]}",
        "module.exports = {themes: makeThemes(), plugins: [['@docusaurus/plugin-content-docs', {routeBasePath: 'a'}], own]}",
        "module.exports = {presets: [['classic', {docs: {}}], ['redocusaurus', options]]}",
    ] {
        config(text);
    }
}

//! Tests of options of which the config computes a part.

use std::collections::BTreeMap;

use super::SiteSettings;

fn site(config: &str, versions: &str) -> SiteSettings {
    let files = [
        ("docusaurus.config.js", format!("export default {config}")),
        ("versions.json", versions.to_owned()),
    ];
    let files = files.map(|(name, text)| (name.to_owned(), text));
    SiteSettings::read(&BTreeMap::from(files), true).unwrap()
}

fn docs(options: &str) -> SiteSettings {
    let config = format!("{{presets: [['classic', {{docs: {{{options}}}}}]]}}");
    site(&config, "[\"2.0\", \"1.0\"]")
}

/// Checks that one warning says that what is written is used.
fn assert_told(settings: &SiteSettings, name: &str) {
    let [warning] = settings.warnings.as_slice() else {
        panic!("{:#?}", settings.warnings);
    };
    let told = format!("may replace or extend `{name}`; what is written is used");
    assert!(warning.contains(&told), "{warning}");
}

#[test]
fn known_paths_of_versions_are_used_beside_computed_ones() {
    for versions in [
        "current: {path: 'x', label: name()}, ...(load())",
        "...load(), current: {path: 'x'}",
        "current: {path: 'x'}, ...(isNew() ? {'1.0': {path: 'old'}} : {})",
        "current: {path: 'x'}, '1.0': {path: load()}",
        "current: {path: 'x'}, [newest()]: {path: 'y'}",
    ] {
        let settings = docs(&format!("versions: {{{versions}}}"));
        let paths = settings.instances[0].version_paths.iter();
        let paths: Vec<(&str, &str)> = paths
            .map(|(name, path)| (name.as_str(), path.as_str()))
            .collect();
        assert_eq!(paths, [("current", "x")], "{versions}");
        assert_told(&settings, "version_paths");
    }
}

#[test]
fn known_items_of_lists_are_used_beside_computed_ones() {
    let settings = site("{i18n: {locales: ['en', 'fr', ...load()]}}", "[]");
    assert_eq!(settings.locales, ["en", "fr"]);
    assert_told(&settings, "locales");
    let settings = site(
        "{themeConfig: {prism: {magicComments: [{line: 'one'}, ...load(), {line: 'two'}]}}}",
        "[]",
    );
    let comments = settings.magic_comments.clone().unwrap_or_default();
    assert_eq!(comments, ["one", "two"]);
    assert_told(&settings, "themeConfig.prism.magicComments");
    let settings = docs("admonitions: {keywords: ['spec', ...load()], extendDefaults: false}");
    let names = settings.instances[0].admonitions.clone();
    assert_eq!(names, Some(vec!["spec".to_owned()]));
    assert_told(&settings, "admonitions");
}

#[test]
fn a_part_of_a_restriction_leaves_out_nothing() {
    let settings = docs("onlyIncludeVersions: ['2.0', ...load()]");
    assert_eq!(settings.instances[0].versions, ["2.0", "1.0"]);
    assert!(settings.warnings[0].contains("`onlyIncludeVersions` is computed"));
}

#[test]
fn options_of_which_nothing_is_known_are_computed() {
    for config in [
        "{i18n: {locales: [...load()]}}",
        "{presets: [['classic', {docs: {versions: {...load()}}}]]}",
    ] {
        let settings = site(config, "[]");
        assert!(settings.warnings[0].contains("is computed, and the config is not run"));
    }
}

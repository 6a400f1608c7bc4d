//! Tests of statements that change the config's lists and objects.

use super::*;

/// Reads a config of docs that exclude `a.md`, after statements that change its options `docs`.
fn after(statements: &str) -> Result<SiteSettings, SettingsError> {
    read(&format!(
        "const docs = {{exclude: ['a.md']}}, options = {{hidden: false}};
        const config = {{presets: [['classic', {{docs}}]]}};
        {statements}
        module.exports = config;"
    ))
}

fn read(config: &str) -> Result<SiteSettings, SettingsError> {
    let files = [("docusaurus.config.js".to_owned(), config.to_owned())];
    SiteSettings::read(&files.into(), true)
}

#[test]
fn a_change_that_certainly_runs_is_followed() {
    for (statements, expected) in [
        (
            "docs.exclude.push('b.md', ...['c.md']);",
            &["a.md", "b.md", "c.md"][..],
        ),
        (
            "docs.exclude.unshift('b.md', 'c.md');",
            &["b.md", "c.md", "a.md"],
        ),
        ("docs.exclude[0] = 'b.md';", &["b.md"]),
        ("docs.exclude[1] = 'b.md';", &["a.md", "b.md"]),
        (
            "Object.assign(docs, {exclude: ['b.md']}, {path: 'docs'});",
            &["b.md"],
        ),
        (
            "Object.assign(config.presets[0][1].docs, {exclude: []});",
            &[],
        ),
        (
            "const same = docs; same.exclude.push('b.md');",
            &["a.md", "b.md"],
        ),
        (
            "const {exclude} = Object.assign({}, {exclude: ['b.md']}); docs.exclude = exclude;",
            &["b.md"],
        ),
        (
            "if (process.env.NODE_ENV === 'production') docs.exclude.push('b.md'); else docs.exclude = hidden;",
            &["a.md", "b.md"],
        ),
        ("if (options.hidden) { docs.exclude = hidden; }", &["a.md"]),
        ("options.hidden && docs.exclude.push(hidden);", &["a.md"]),
        (
            "options.hidden || docs.exclude.push('b.md');",
            &["a.md", "b.md"],
        ),
    ] {
        let settings = after(statements).unwrap_or_else(|error| panic!("{statements}: {error}"));
        assert_eq!(
            settings.instances[0].patterns.exclude, expected,
            "{statements}"
        );
        assert!(
            settings.warnings.is_empty(),
            "{statements}: {:?}",
            settings.warnings
        );
    }
}

#[test]
fn a_change_that_may_run_leaves_the_value_open() {
    for statements in [
        "docs.exclude.push(hidden);",
        "docs.exclude.push(...hidden);",
        "docs.exclude[7] = 'b.md';",
        "docs.exclude.splice(0, 1);",
        "Object.assign(docs, hidden);",
        "if (process.env.CI) { docs.exclude.push('b.md'); }",
        "if (unknown) { docs.exclude.push('b.md'); }",
        "process.env.CI && Object.assign(docs, {exclude: []});",
        "if (unknown) { const same = docs; same.exclude = ['b.md']; }",
        "for (const name of names) { docs.exclude.push(name); }",
        "try { docs.exclude.push('b.md'); } catch {}",
        "function change() { docs.exclude.push('b.md'); }",
        "function change() { const same = docs; same.exclude.push('b.md'); }",
        "(docs || {}).exclude.push('b.md');",
        "(unknown ? docs : {}).exclude.push('b.md');",
    ] {
        let refused = after(statements).expect_err(statements);
        assert!(
            refused.reason.contains("exclude = ["),
            "{statements}: {refused}"
        );
    }
    for (condition, usual) in [
        ("process.env.CI", "exclude = [\"a.md\"]"),
        ("!process.env.CI", "exclude = [\"a.md\",\"b.md\"]"),
    ] {
        let refused = after(&format!("if ({condition}) docs.exclude.push('b.md');"));
        let refused = refused.expect_err(condition);
        assert!(refused.reason.contains(usual), "{condition}: {refused}");
    }
    let settings = after("config.title = 'A'; if (process.env.CI) config.title = 'B';");
    let settings = settings.expect("the title decides no page");
    assert_eq!(settings.title.as_deref(), Some("A"));
    let warning = &settings.warnings[0];
    assert!(
        warning.contains("`title` depends on the environment (\"A\" or \"B\")"),
        "{warning}"
    );
}

#[test]
fn a_plugin_that_is_perhaps_added_is_told_only_if_it_may_make_pages() {
    fn warnings(condition: &str, plugin: &str) -> Vec<String> {
        let config = format!(
            "let plugins = [[require.resolve('@docusaurus/plugin-content-docs'), {{id: 'api', path: 'api'}}]];
            if ({condition}) {{ plugins.push({plugin}); }}
            export default {{presets: ['classic'], plugins}};"
        );
        let settings = read(&config).expect("the docs are known");
        let docs = settings
            .instances
            .iter()
            .filter(|it| it.kind == ContentKind::Docs);
        assert_eq!(docs.count(), 2, "{condition}: {plugin}");
        settings.warnings
    }
    for condition in [
        "process.env.CI",
        "!process.env.CI",
        "load()",
        "process.env.NODE_ENV === 'production'",
    ] {
        for plugin in [
            "require.resolve('@docusaurus/plugin-sitemap')",
            "['@docusaurus/plugin-pwa', {debug: load()}]",
            "['./plugins/own', load()]",
            "function own() {}",
        ] {
            assert_eq!(
                warnings(condition, plugin),
                [""; 0],
                "{condition}: {plugin}"
            );
        }
    }
    for plugin in [
        "['@docusaurus/plugin-content-blog', {id: 'news'}]",
        "load()",
        "...load()",
    ] {
        let warnings = warnings("load()", plugin).join("\n");
        assert!(
            warnings.contains(", line 2: which plugins are used is computed"),
            "{plugin}: {warnings}"
        );
    }
}

#[test]
fn options_of_versions_that_set_no_path_need_no_value() {
    let config = "const versions = load() ? {versions: {stable: {badge: false}}} : {};
        module.exports = {presets: [['classic', {docs: {...versions}}]]};";
    let settings = read(config).expect("the docs are known");
    assert_eq!(settings.warnings, [""; 0]);
    let config = config.replace("badge: false", "path: 'old'");
    let settings = read(&config).expect("the docs are known");
    assert!(
        settings.warnings[0].contains("`version_paths`"),
        "{:?}",
        settings.warnings
    );
}

//! Tests of finding and reading content plugins.

use super::*;

fn try_read(files: &[(&str, &str)]) -> Result<SiteSettings, SettingsError> {
    let files = files.iter();
    let files = files.map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
    SiteSettings::read(&files.collect(), true)
}

fn site(config: &str, toml: &str) -> Result<SiteSettings, SettingsError> {
    let config = format!("module.exports = {{{config}}}");
    try_read(&[("docusaurus.config.js", &config), ("bookrag.toml", toml)])
}

fn instances(settings: &SiteSettings) -> Vec<[&str; 3]> {
    of_kind(settings, ContentKind::Docs)
}

fn of_kind(settings: &SiteSettings, kind: ContentKind) -> Vec<[&str; 3]> {
    let plugins = settings.instances.iter().filter(|it| it.kind == kind);
    plugins
        .map(|it| [&*it.id, &*it.path, &*it.route_base_path])
        .collect()
}

const DEFAULT: [&str; 3] = ["default", "docs", "docs"];
const API: [&str; 3] = ["api", "reference", "api/v1"];
const API_PLUGIN: &str = "['@docusaurus/plugin-content-docs', {id: 'api', path: './reference/', routeBasePath: '/api/v1'}]";

#[test]
fn each_docs_plugin_is_an_instance() {
    for (config, expected) in [
        (
            format!("presets: ['classic'], plugins: [{API_PLUGIN}]"),
            &[DEFAULT, API][..],
        ),
        (
            format!("plugins: [{API_PLUGIN}, 'content-docs']"),
            &[DEFAULT, API],
        ),
        (
            format!(
                "presets: [['classic', {{docs: {{id: 'guide', path: 'guide'}}}}]], plugins: [{API_PLUGIN}]"
            ),
            &[["guide", "guide", "docs"], API],
        ),
        // Only the first of two equal ids; Docusaurus rejects the second.
        (
            format!(
                "presets: ['classic'], plugins: [{API_PLUGIN}, ['content-docs', {{id: 'api'}}]]"
            ),
            &[DEFAULT, API],
        ),
        // Without a default docs plugin there are no default docs.
        (format!("plugins: [{API_PLUGIN}]"), &[API]),
        (
            format!("presets: [['classic', {{docs: false}}]], plugins: [{API_PLUGIN}]"),
            &[API],
        ),
        (
            format!("presets: ['@acme/preset'], plugins: [{API_PLUGIN}]"),
            &[DEFAULT, API],
        ),
        // A preset of an unknown kind may provide the docs.
        (
            "presets: [['classic', {docs: false}]]".to_owned(),
            &[DEFAULT],
        ),
    ] {
        let settings = site(&config, "").unwrap_or_else(|error| panic!("{config}: {error}"));
        assert_eq!(instances(&settings), expected, "{config}");
        assert!(
            settings.warnings.is_empty(),
            "{config}: {:?}",
            settings.warnings
        );
    }
}

#[test]
fn an_instance_has_its_own_options_and_versions() {
    let config = "module.exports = {presets: [['classic', {docs: {exclude: ['a.md']}}]], plugins: [['content-docs', {
        id: 'api', path: 'api', numberPrefixParser: false, include: ['**/*.mdx'], exclude: ['b.mdx'],
        lastVersion: 'current', onlyIncludeVersions: ['current', '1.5'], versions: {'1.5': {path: 'old'}}}]]}";
    let settings = try_read(&[
        ("docusaurus.config.js", config),
        ("versions.json", "[\"9.0\"]"),
        ("api_versions.json", "[\"2.0\", \"1.5\"]"),
    ])
    .unwrap();
    let [default, api, ..] = settings.instances.as_slice() else {
        panic!("{:?}", settings.instances);
    };
    assert_eq!(
        (&default.versions, &api.versions),
        (&vec!["9.0".to_owned()], &vec!["1.5".to_owned()])
    );
    assert_eq!(
        ["9.0", "current"].map(|version| default.version_path(version)),
        ["", "next"]
    );
    assert_eq!(
        ["1.5", "current"].map(|version| api.version_path(version)),
        ["old", ""]
    );
    assert!(default.number_prefixes && !api.number_prefixes);
    assert!(default.includes("b.mdx") && !default.includes("a.md"));
    assert!(api.includes("a.mdx") && !api.includes("b.mdx") && !api.includes("a.md"));
    let origin = |name: &str| {
        let setting = settings.origins.iter().find(|setting| setting.name == name);
        setting.map(|setting| format!("{} {}", setting.value, setting.origin))
    };
    assert_eq!(
        origin("versions").as_deref(),
        Some("[\"9.0\"] versions.json")
    );
    assert_eq!(
        origin("docs.api.versions").as_deref(),
        Some("[\"2.0\",\"1.5\"] api_versions.json")
    );
    assert_eq!(
        origin("docs.api.docs_path").as_deref(),
        Some("\"api\" docusaurus.config.js")
    );
}

#[test]
fn a_table_of_the_toml_sets_adds_or_leaves_out_an_instance() {
    let config = format!("presets: ['classic'], plugins: [{API_PLUGIN}]");
    let moved = ["api", "moved", "api/v1"];
    let more = ["more", "more", "docs"];
    for (toml, expected) in [
        ("[docs.api]\ndocs_path = 'moved'", &[DEFAULT, moved][..]),
        (
            "docs.api.docs_path = 'moved'\ntitle = 'A'",
            &[DEFAULT, moved],
        ),
        ("[docs.more]\ndocs_path = 'more'", &[DEFAULT, API, more]),
        ("[docs.api]\nenabled = false", &[DEFAULT]),
        ("docs.api = false", &[DEFAULT]),
        ("[docs]\napi = true", &[DEFAULT, API]),
        (
            "docs_path = 'docs'\n[docs.api]\nroute_base_path = '/'",
            &[DEFAULT, ["api", "reference", ""]],
        ),
    ] {
        let settings = site(&config, toml).unwrap_or_else(|error| panic!("{toml}: {error}"));
        assert_eq!(instances(&settings), expected, "{toml}");
        assert!(
            settings.warnings.is_empty(),
            "{toml}: {:?}",
            settings.warnings
        );
    }
    let only_api = format!("plugins: [{API_PLUGIN}]");
    let both = site(&only_api, "docs_path = 'docs'").unwrap();
    assert_eq!(instances(&both), [DEFAULT, API]);
    // A computed plugin may be the default docs only if no docs are known.
    let computed = format!("plugins: [{API_PLUGIN}, own]");
    assert_eq!(instances(&site(&computed, "").unwrap()), [API]);
    let error = site("plugins: [own]", "").unwrap_err().to_string();
    assert!(
        error.contains("\ndocs_path = ") && error.contains("`docs.default = false`"),
        "{error}"
    );
}

#[test]
fn what_cannot_be_an_instance_is_refused() {
    let config = format!("presets: ['classic'], plugins: [{API_PLUGIN}]");
    let only_api = format!("plugins: [{API_PLUGIN}]");
    let many: Vec<String> = (0..101)
        .map(|id| format!("docs.d{id}.docs_path = 'd'"))
        .collect();
    for (config, toml, reason) in [
        (&config, "title = 'A'\n[docs.api]\npath = 'x'", "path"),
        (
            &config,
            "docs.api = 'reference'",
            "a table of settings, or `false`",
        ),
        (
            &config,
            "[docs.default]\ndocs_path = 'x'",
            "stand at the top level",
        ),
        (
            &config,
            "docs.default = false\ndocs.api = false",
            "one must stay",
        ),
        (&config, "[docs.'a/b']\ndocs_path = 'x'", "`a/b`"),
        (&config, &many.join("\n"), "at most 100"),
        (&only_api, "docs.api = false", "one must stay"),
    ] {
        let error = site(config, toml).unwrap_err().to_string();
        assert!(error.contains(reason), "{toml}: {error}");
    }
    let unknown = site(&config, "docs.apis = false").unwrap();
    assert!(
        unknown.warnings[0].contains("`docs.apis` is not used"),
        "{:?}",
        unknown.warnings
    );
}

#[test]
fn what_the_config_computes_of_an_instance_is_told_with_its_name() {
    let plugin =
        |options: &str| format!("presets: ['classic'], plugins: [['content-docs', {options}]]");
    let told = "docs.api.docs_path = 'api'\ndocs.api.include = ['**/*.md']\ndocs.api.exclude = []";
    for options in [
        "{...shared, id: 'api'}",
        "{id: 'api', path: p, include: i, exclude: e}",
    ] {
        let error = site(&plugin(options), "").unwrap_err().to_string();
        let lines: Vec<&str> = error.lines().skip(1).collect();
        let names = ["docs_path", "include", "exclude"].map(|name| format!("docs.api.{name} = "));
        let named = names
            .iter()
            .all(|name| lines.iter().any(|line| line.starts_with(name)));
        assert!(named, "{options}: {error}");
        assert_eq!(
            instances(&site(&plugin(options), told).unwrap())[1][..2],
            ["api", "api"]
        );
        assert_eq!(
            instances(&site(&plugin(options), "docs.api = false").unwrap()),
            [DEFAULT]
        );
    }
    let settings = site(&plugin("{id: 'api', path: 'api', routeBasePath: r}"), "").unwrap();
    assert!(
        settings.warnings[0].contains("`docs.api.route_base_path` is computed"),
        "{:?}",
        settings.warnings
    );
    for (toml, warnings) in [("", 1), (told, 0)] {
        let settings = site(&plugin("{id: name, path: 'api'}"), toml).unwrap();
        assert_eq!(settings.warnings.len(), warnings, "{:?}", settings.warnings);
        assert!(
            settings
                .warnings
                .iter()
                .all(|warning| warning.contains("line 1: the `id`"))
        );
    }
}

#[test]
fn files_about_versions_are_settings() {
    for path in [
        "bookrag.toml",
        "versions.json",
        "docusaurus.config.mts",
        "api_versions.json",
        "a-1_b_versions.json",
        "versionsArchived.json",
    ] {
        assert!(is_settings_file(path), "{path}");
    }
    for path in [
        "docs/versions.json",
        "docs/api_versions.json",
        "versions.yml",
        "package.json",
    ] {
        assert!(!is_settings_file(path), "{path}");
    }
}

#[test]
fn a_version_is_told_from_those_of_other_instances() {
    for (instance, version, name) in [
        (DEFAULT_INSTANCE, "2.0", "2.0"),
        ("api", "2.0", "api@2.0"),
        ("api", "a@b", "api@a@b"),
    ] {
        assert_eq!(version_in_site(instance, version), name);
        assert_eq!(instance_of_version(name), instance);
    }
}

/// The kinds of plugins without versions, with the name, id, folder and route of the default one.
const UNVERSIONED: [(ContentKind, &str, [&str; 3]); 2] = [
    (
        ContentKind::Pages,
        "pages",
        ["pages/default", "src/pages", ""],
    ),
    (ContentKind::Blog, "blog", ["blog/default", "blog", "blog"]),
];

#[test]
fn plugins_of_pages_and_blogs_are_those_that_the_config_has() {
    for (kind, name, default) in UNVERSIONED {
        let more = [&*format!("{name}/more"), "more", "m"];
        let moved = [default[0], "p", default[2]];
        let plugin = format!(
            "['@docusaurus/plugin-content-{name}', {{id: 'more', path: './more/', routeBasePath: '/m'}}]"
        );
        for (config, expected) in [
            ("presets: ['classic']".to_owned(), vec![default]),
            (
                format!("presets: ['classic'], plugins: [{plugin}, () => ({{}})]"),
                vec![default, more],
            ),
            (
                format!("presets: [['classic', {{{name}: false}}]], plugins: [{plugin}]"),
                vec![more],
            ),
            (
                format!("presets: [['classic', {{{name}: {{path: 'p'}}}}]]"),
                vec![moved],
            ),
            (
                format!("presets: [['./own.js', {{{name}: {{}}}}]]"),
                vec![default],
            ),
            ("presets: ['./own.js']".to_owned(), vec![]),
            ("plugins: ['content-docs']".to_owned(), vec![]),
        ] {
            let settings = site(&config, "").unwrap_or_else(|error| panic!("{config}: {error}"));
            assert_eq!(of_kind(&settings, kind), expected, "{config}");
            assert!(
                settings.warnings.is_empty(),
                "{config}: {:?}",
                settings.warnings
            );
            let without = site(&config, &format!("{name} = false")).unwrap();
            assert!(of_kind(&without, kind).is_empty(), "{config}");
        }
        // A folder without a config has only docs.
        assert!(of_kind(&try_read(&[]).unwrap(), kind).is_empty());
    }
}

#[test]
fn a_table_of_the_toml_sets_adds_or_leaves_out_a_plugin_of_pages_or_a_blog() {
    for (kind, name, default) in UNVERSIONED {
        let news = [&*format!("{name}/news"), "n", default[2]];
        for (toml, expected) in [
            (
                "default.path = 'p'\ndefault.route_base_path = '/r/'",
                vec![[default[0], "p", "r"]],
            ),
            ("default = false", vec![]),
            ("default.enabled = false", vec![]),
            ("news.path = 'n'", vec![default, news]),
        ] {
            let toml: Vec<String> = toml.lines().map(|it| format!("{name}.{it}")).collect();
            let settings = site("presets: ['classic']", &toml.join("\n")).unwrap();
            assert_eq!(of_kind(&settings, kind), expected, "{toml:?}");
            assert!(settings.warnings.is_empty(), "{:?}", settings.warnings);
        }
        let unused = site("presets: ['classic']", &format!("{name}.news = false")).unwrap();
        let expected = format!("`{name}.news` is not used");
        let [warning] = unused.warnings.as_slice() else {
            panic!("{:?}", unused.warnings);
        };
        assert!(warning.contains(&expected), "{warning}");
        let odd = site("presets: ['classic']", &format!("{name}.'a/b'.path = 'x'"));
        let error = odd.unwrap_err().to_string();
        assert!(error.contains(name) && error.contains("`a/b`"), "{error}");
    }
}

#[test]
fn pages_of_which_files_are_computed_are_not_read_and_stop_nothing() {
    for (kind, name, default) in UNVERSIONED {
        let told = ["path = 'p'", "include = ['*.md']", "exclude = []"];
        let told = told.map(|line| format!("{name}.default.{line}\n")).concat();
        for options in [
            "options",
            "{path: folder}",
            "{exclude: [...excluded]}",
            "{...shared}",
        ] {
            let config = format!("presets: [['classic', {{{name}: {options}}}]]");
            let settings = site(&config, "").unwrap();
            assert!(of_kind(&settings, kind).is_empty(), "{options}");
            let [warning] = settings.warnings.as_slice() else {
                panic!("{options}: {:?}", settings.warnings);
            };
            let line = warning.contains("line 1: which files are pages");
            assert!(line && warning.contains(&format!("{name}.default.")));
            let settings = site(&config, &told).unwrap();
            assert_eq!(
                of_kind(&settings, kind),
                [[default[0], "p", default[2]]],
                "{options}"
            );
        }
    }
}

#[test]
fn a_build_is_a_plugin_of_pages_with_a_table_of_its_own() {
    let toml = "build = 'out'\npages = false\nblog = false\n";
    let built = site("presets: ['classic']", toml).expect("valid settings");
    assert_eq!(
        of_kind(&built, ContentKind::Pages),
        [["pages/build", "out", ""]]
    );
    assert_eq!(built.build_folder(), Some("out"));
    let toml = "build = 'out'\n[pages.build]\nexclude = ['old/**']\n";
    let limited = site("presets: ['classic']", toml).expect("valid settings");
    let plugin = limited.instance("pages/build");
    assert!(plugin.includes("a.html") && !plugin.includes("old/a.html"));
    let own = "presets: ['classic'], plugins: [['content-pages', {id: 'build'}]]";
    assert_eq!(site(own, "").expect("no build").build_folder(), None);
    let refused = site(own, "build = 'out'").expect_err("two plugins of one id");
    assert!(refused.reason.contains("`build`"), "{refused}");
}

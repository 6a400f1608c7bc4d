//! Tests of configs that are partly computed: what is read, what is told, and what stops.

use super::*;

const VERSIONS: (&str, &str) = ("versions.json", "[\"2.0\", \"1.0\"]");

fn read(files: &[(&str, &str)]) -> Result<SiteSettings, SettingsError> {
    let files = files
        .iter()
        .map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
    SiteSettings::read(&files.collect(), true)
}

fn site(config: &str) -> SiteSettings {
    let config = ("docusaurus.config.ts", config);
    read(&[VERSIONS, config]).unwrap_or_else(|error| panic!("{config:?}: {error}"))
}

fn docs(settings: &SiteSettings) -> Vec<(&str, &str, &str)> {
    let docs = settings.instances.iter();
    let docs = docs.filter(|it| it.kind == ContentKind::Docs);
    docs.map(|it| (&*it.id, &*it.path, &*it.route_base_path))
        .collect()
}

#[test]
fn a_plugin_that_is_computed_is_told_and_the_others_are_read() {
    let settings = site("
        const names = ['ast', 'utils'];
        async function local() {}
        export default {
          presets: [['classic', {docs: {id: 'rules', path: 'rules', routeBasePath: 'rules'}, blog: false}]],
          plugins: [
            './plugins/recent.ts',
            ...names.map(name => ['plugin-typedoc', {entryPoints: [`../${name}/index.ts`]}]),
            function own() { return {name: 'own'}; }, context => ({name: 'own'}), local,
            make(),
            ['@docusaurus/plugin-content-docs', {id: 'base', path: 'base', routeBasePath: '/'}],
            process.env.CI && ['@docusaurus/plugin-pwa', {debug: true}],
            ...(process.env.CI ? ['plugin-analytics'] : []),
          ].filter(Boolean),
        };");
    assert_eq!(
        docs(&settings),
        [("rules", "rules", "rules"), ("base", "base", "")]
    );
    let [warning] = settings.warnings.as_slice() else {
        panic!("{:?}", settings.warnings);
    };
    assert!(
        warning.starts_with("docusaurus.config.ts, line 10: which plugins"),
        "{warning}"
    );
}

#[test]
fn a_docs_plugin_that_a_condition_adds_is_told() {
    for plugin in [
        "process.env.NEXT && ['@docusaurus/plugin-content-docs', {id: 'next', path: 'next'}]",
        "...(process.env.NEXT ? [['@docusaurus/plugin-content-docs', {id: 'next', path: 'next'}]] : [])",
    ] {
        let text = format!("export default {{presets: ['classic'],\nplugins: [{plugin}]}}");
        let settings = site(&text);
        assert_eq!(docs(&settings), [("default", "docs", "docs")]);
        assert!(
            settings.warnings[0].contains(", line 2: which plugins"),
            "{:?}",
            settings.warnings
        );
    }
}

#[test]
fn calls_on_literals_have_values() {
    let expected = [("a", "docs-a", "a"), ("b", "docs-b", "b")];
    let plugin = "'@docusaurus/plugin-content-docs'";
    for plugins in [
        format!("['a', 'b'].map(id => [{plugin}, {{id, path: `docs-${{id}}`, routeBasePath: id}}])"),
        format!(
            "['a', 'b'].map(function (id) {{ const path = `docs-${{id}}`; return [{plugin}, {{id, path, routeBasePath: id}}]; }})"
        ),
        format!("['a', 'b'].flatMap(id => [[{plugin}, {{id, path: ['docs', id].join('-'), routeBasePath: id}}]])"),
        format!(
            "Object.entries({{a: 'docs-a', b: 'docs-b'}}).map(([id, path]) => [{plugin}, {{id, path, routeBasePath: id}}])"
        ),
        "[own('a'), own('b')]".to_owned(),
        "[own('a')].concat([own('b')])".to_owned(),
        "[[own('a')], own('b')].slice(0, 1).flat().concat([undefined, own('b'), null].filter(Boolean))".to_owned(),
        "['a', 'x', 'b'].filter(id => id !== 'x').map(id => arrow({id}))".to_owned(),
    ] {
        let settings = site(&format!(
            "function own(id, path = `docs-${{id}}`) {{ return [{plugin}, {{id, path, routeBasePath: id}}]; }}
            const arrow = ({{id, path = 'docs-' + id}}) => own(id, path);
            export default {{presets: [['classic', {{docs: false}}]], plugins: {plugins}}};"
        ));
        assert_eq!(docs(&settings), expected, "{plugins}");
        let warnings = &settings.warnings;
        assert!(warnings.is_empty(), "{plugins}: {warnings:?}");
    }
}

#[test]
fn a_call_whose_result_is_not_known_is_computed() {
    for exclude in [
        "['a'].map(async x => x)",
        "['a'].map((...x) => x[0])",
        "['a'].map(unknown)",
        "['a'].filter(x => unknown)",
        "names.map(x => x)",
        "own('a')",
        "['a'].sort()",
        "itself()",
    ] {
        let config = format!(
            "async function own(x) {{ return [x]; }}\nfunction itself() {{ return itself(); }}
            export default {{presets: [['classic', {{docs: {{exclude: {exclude}}}}}]]}}"
        );
        let error = read(&[("docusaurus.config.ts", &config)]).unwrap_err();
        assert!(error.reason.contains("\nexclude = "), "{exclude}: {error}");
    }
}

#[test]
fn settings_files_may_be_imported() {
    for import in [
        "import versions from './versions.json';",
        "const versions = require('./versions.json');",
    ] {
        let settings = site(&format!(
            "{import}
            export default {{presets: [['classic', {{docs: {{
              onlyIncludeVersions: ['current', ...versions.slice(0, 1)], lastVersion: versions[0]}}}}]]}}"
        ));
        assert_eq!(settings.instances[0].versions, ["2.0"], "{import}");
        assert_eq!(settings.instances[0].last_version.as_deref(), Some("2.0"));
        assert!(settings.warnings.is_empty(), "{:?}", settings.warnings);
    }
}

#[test]
fn a_variable_of_the_environment_with_a_default_has_that_value() {
    let settings = site(
        "
        const environment = process.env;
        export default {
          title: process.env.TITLE ?? 'A', baseUrl: environment.BASE || '/b/',
          trailingSlash: process.env.NODE_ENV === 'production',
        };",
    );
    assert_eq!(settings.title.as_deref(), Some("A"));
    assert_eq!(settings.base_url, "/b/");
    assert_eq!(settings.trailing_slash, Some(true));
    assert!(settings.warnings.is_empty(), "{:?}", settings.warnings);
}

#[test]
fn a_variable_of_the_environment_has_its_default_by_any_name() {
    for base_url in [
        "raw || '/b/'",
        "raw ?? '/b/'",
        "raw === undefined ? '/b/' : raw",
        "raw ? raw : '/b/'",
        "raw === undefined ? '/b/' : raw.endsWith('/') ? raw : raw + '/'",
        "!raw ? `/${own}` : `/${raw}/`",
        "BASE || '/b/'",
        "OWN",
        "process.env['BASE'] || '/b/'",
    ] {
        let settings = site(&format!(
            "const raw = process.env.BASE, own = raw ?? 'b/', {{BASE, OWN = '/b/'}} = process.env;
            export default {{baseUrl: {base_url}}};"
        ));
        assert_eq!(settings.base_url, "/b/", "{base_url}");
        assert!(
            settings.warnings.is_empty(),
            "{base_url}: {:?}",
            settings.warnings
        );
    }
    let settings = site("export default {title: process.env.CI ? load() : 'A'};");
    assert_eq!(settings.title.as_deref(), Some("A"));
    assert!(
        settings.warnings[0].contains("may replace or extend `title`"),
        "{:?}",
        settings.warnings
    );
}

#[test]
fn a_function_that_changes_pages_is_told() {
    for preprocessor in [
        "preprocessor: require('./pre')",
        "preprocessor: ({fileContent}) => fileContent",
        "preprocessor({fileContent}) { return fileContent; }",
    ] {
        let settings = site(&format!(
            "export default {{presets: ['classic'], markdown: {{\n{preprocessor}}}}};"
        ));
        let [warning] = settings.warnings.as_slice() else {
            panic!("{preprocessor}: {:?}", settings.warnings);
        };
        assert!(
            warning.starts_with(
                "docusaurus.config.ts, line 2: `markdown.preprocessor` changes the text"
            ),
            "{warning}"
        );
    }
    let without = site("export default {presets: ['classic'], markdown: {mermaid: true}};");
    assert_eq!(without.warnings, [""; 0]);
}

#[test]
fn a_setting_that_depends_on_the_environment_is_told_with_its_values() {
    let settings = site("
        const isPreview = process.env.PREVIEW === 'true';
        export default {
          baseUrl: isPreview ? '/preview/' : '/b/',
          presets: [['classic', {docs: {lastVersion: isPreview ? 'current' : undefined, routeBasePath: unknown ? 'a' : 'b'}}]],
        };");
    assert_eq!(settings.base_url, "/b/");
    assert_eq!(settings.instances[0].last_version, None);
    assert_eq!(settings.instances[0].route_base_path, "docs");
    for told in [
        "line 4: `base_url` depends on the environment (\"/b/\" or \"/preview/\"); without its variables it is \"/b/\", which is used",
        "line 5: `last_version` depends on the environment (not set or \"current\"); without its variables it is not set, which",
        "line 5: `route_base_path` is computed (\"a\" or \"b\"), and",
    ] {
        let mut warnings = settings.warnings.iter();
        assert!(
            warnings.any(|warning| warning.contains(told)),
            "{told}: {:#?}",
            settings.warnings
        );
    }
}

#[test]
fn what_a_refusal_names_is_a_bookrag_toml_that_works() {
    let plugin = "'@docusaurus/plugin-content-docs'";
    for config in [
        "{presets: [['classic', {docs: {exclude: hidden}}]]}".to_owned(),
        "{presets: [['classic', {docs: {exclude: process.env.CI ? ['a.md'] : []}}]]}".to_owned(),
        "{presets: [['classic', {docs: {exclude: ['a.md', ...(process.env.CI ? ['b.md'] : [])]}}]]}".to_owned(),
        "{presets: [['classic', {docs: {include: ['a.md'], ...shared}}]]}".to_owned(),
        "{presets: [['classic', {docs: process.env.CI ? false : {path: 'docs'}}]]}".to_owned(),
        "{presets: [['classic', {docs: options}]]}".to_owned(),
        "{presets: [['classic', {docs: {path: unknown ? 'a' : 'b'}}]]}".to_owned(),
        format!("{{presets: ['classic'], plugins: [[{plugin}, {{id: 'api', path: 'api', exclude: hidden, include: more}}]]}}"),
        format!("{{presets: ['classic'], plugins: [[{plugin}, {{...api, id: 'api'}}]]}}"),
        "{presets: makePresets()}".to_owned(),
        "{presets: [['classic', {docs: false}]], plugins: [...instances]}".to_owned(),
        "makeConfig()".to_owned(),
    ] {
        let config = format!("export default {config}");
        let config = ("docusaurus.config.js", config.as_str());
        let api = ("api_versions.json", "[\"3.0\"]");
        let files = [VERSIONS, api, config];
        let refused = read(&files).expect_err(config.1);
        let toml: Vec<&str> = refused.reason.lines().skip(1).collect();
        assert!(!toml.is_empty(), "{refused}");
        let toml = toml.join("\n");
        let told = read(&[VERSIONS, api, config, ("bookrag.toml", &toml)]);
        assert!(told.is_ok(), "{config:?}: {toml}: {told:?}");
    }
}

#[test]
fn versions_that_depend_on_the_environment_are_those_without_it() {
    for (option, versions, told) in [
        (
            "isPreview ? ['current', '2.0'] : undefined",
            &["2.0", "1.0"][..],
            "(not set or [\"current\", \"2.0\"]); without its variables it is not set, which is used",
        ),
        (
            "isPreview ? ['current', '2.0'] : ['current', '1.0']",
            &["1.0"],
            "without its variables it is [\"current\", \"1.0\"], which is used",
        ),
    ] {
        let config = format!(
            "const isPreview = process.env.PREVIEW === 'true';
            export default {{presets: [['classic', {{docs: {{
              onlyIncludeVersions: {option}}}}}]]}}"
        );
        let files = [VERSIONS, ("docusaurus.config.js", config.as_str())];
        let settings = read(&files).expect("both values are known");
        assert_eq!(settings.instances[0].versions, versions, "{option}");
        assert!(settings.instances[0].current_version, "{option}");
        let warning = settings.warnings.join("\n");
        let place =
            "docusaurus.config.js, line 3: `onlyIncludeVersions` depends on the environment";
        assert!(
            warning.starts_with(place) && warning.contains(told),
            "{warning}"
        );
        let toml = "versions = ['2.0']\ncurrent_version = false";
        let told = read(&[files[0], files[1], ("bookrag.toml", toml)]).expect("decided");
        assert_eq!(told.instances[0].versions, ["2.0"]);
        assert!(told.warnings.is_empty(), "{:?}", told.warnings);
    }
}

#[test]
fn a_condition_on_the_environment_is_true_or_false() {
    for (option, versions, current) in [
        (
            "disableVersioning: !!process.env.FAST",
            &["2.0", "1.0"][..],
            true,
        ),
        ("disableVersioning: process.env.ALL !== 'true'", &[], true),
        (
            "includeCurrentVersion: process.env.NEXT === 'true'",
            &["2.0", "1.0"],
            false,
        ),
        (
            "includeCurrentVersion: !process.env.STABLE",
            &["2.0", "1.0"],
            true,
        ),
    ] {
        let config = format!("export default {{presets: [['classic', {{docs: {{{option}}}}}]]}}");
        let settings = read(&[VERSIONS, ("docusaurus.config.js", &config)]).expect(option);
        assert_eq!(settings.instances[0].versions, versions, "{option}");
        assert_eq!(settings.instances[0].current_version, current, "{option}");
        let warning = settings.warnings.join("\n");
        assert!(warning.contains("depends on the environment"), "{warning}");
        let toml = "versions = ['1.0']\ncurrent_version = true";
        let told = [
            VERSIONS,
            ("docusaurus.config.js", &config),
            ("bookrag.toml", toml),
        ];
        let told = read(&told).expect("decided");
        assert_eq!(told.instances[0].versions, ["1.0"], "{option}");
        assert!(told.warnings.is_empty(), "{:?}", told.warnings);
    }
}

#[test]
fn a_refusal_proposes_the_value_without_the_environment() {
    let config = "export default {presets: [['classic', {docs: {
        exclude: ['a.md', ...(process.env.CI ? ['b.md'] : [])], path: process.env.CI ? 'built' : 'source'}}]]}";
    let refused = read(&[("docusaurus.config.js", config)]).unwrap_err();
    let toml: Vec<&str> = refused.reason.lines().skip(1).collect();
    assert_eq!(
        toml,
        [
            "docs_path = \"source\" # in the config: \"source\" or \"built\"",
            "exclude = [\"a.md\"]"
        ]
    );
}

#[test]
fn versions_that_docusaurus_would_not_build_are_refused() {
    for (options, toml, place, reason) in [
        (
            "lastVersion: '3.0'",
            "",
            "docusaurus.config.js, line 2: ",
            "its versions are 2.0, 1.0, current",
        ),
        (
            "lastVersion: 'current', includeCurrentVersion: false",
            "",
            "docusaurus.config.js, line 2: ",
            "its versions are 2.0, 1.0",
        ),
        (
            "",
            "title = 'A'\nlast_version = '3.0'",
            "bookrag.toml, line 2: ",
            "`3.0`",
        ),
        (
            "disableVersioning: true, includeCurrentVersion: false",
            "",
            "docusaurus.config.js, line 2: ",
            "no version",
        ),
    ] {
        let config =
            format!("module.exports = {{presets: [['classic', {{docs: {{\n{options}}}}}]]}}");
        let error = read(&[
            VERSIONS,
            ("docusaurus.config.js", &config),
            ("bookrag.toml", toml),
        ])
        .expect_err(options)
        .to_string();
        assert!(
            error.starts_with(place) && error.contains(reason),
            "{error}"
        );
    }
}

#[test]
fn what_may_be_replaced_decides_nothing() {
    for options in [
        "exclude: o.hide ? ['secret/**'] : []",
        "exclude: [o.hide && 'secret/**'].filter(Boolean)",
        "exclude: o.hide || ['secret/**']",
    ] {
        let config = format!(
            "const o = {{hide: false, ...load()}};
            module.exports = {{presets: [['classic', {{docs: {{{options}}}}}]]}}"
        );
        let refused = read(&[("docusaurus.config.js", &config)]).expect_err(options);
        assert!(refused.reason.contains("\nexclude = "), "{refused}");
    }
    let settings = site(
        "const o = {api: false, ...load()};
        module.exports = {presets: ['classic'], plugins: [o.api && ['@docusaurus/plugin-content-docs', {id: 'api'}]].filter(Boolean)}",
    );
    let told = settings.warnings.join("\n");
    assert!(
        told.contains("which plugins are used is computed"),
        "{told}"
    );
}

#[test]
fn plugins_that_may_be_replaced_are_not_known() {
    for config in [
        "{presets: ['classic'], ...load()}",
        "{presets: [['classic', {docs: false, ...load()}]]}",
        "{presets: ['classic'], plugins: [['@docusaurus/plugin-content-docs', {id: 'api', ...load(), path: 'api'}]]}",
    ] {
        let text = format!("module.exports = {config}");
        let read = read(&[("docusaurus.config.js", &text)]);
        let told = read.map_or_else(
            |error| error.reason,
            |settings| settings.warnings.join("\n"),
        );
        assert!(told.contains("computed"), "{config}: {told}");
    }
    let settings = site(
        "export default {future: {v4: true}, plugins: ['a'], ...load(), presets: ['classic']}",
    );
    let told = settings.warnings.join("\n");
    for part in [
        "which plugins are used is computed",
        "may replace or extend `future.v4`",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
}

#[test]
fn what_is_written_is_used_unless_the_config_computes_something_over_it() {
    let settings = site(
        "module.exports = {
  title: 'A', baseUrl: '/a/', i18n: {defaultLocale: 'ur', locales: ['ur']},
  ...overrides, ...more,
  trailingSlash: true,
  presets: [['classic', {docs: {routeBasePath: '/', ...options, path: 'docs', include: ['a.md'], exclude: []}}]],
};",
    );
    assert_eq!(settings.title.as_deref(), Some("A"));
    assert_eq!(settings.base_url, "/a/");
    assert_eq!(settings.trailing_slash, Some(true));
    assert_eq!(settings.instances[0].route_base_path, "");
    assert_eq!(
        (settings.default_locale.as_str(), settings.locales.len()),
        ("ur", 1)
    );
    let [replaced, ..] = settings
        .warnings
        .iter()
        .filter(|warning| warning.contains("may replace"))
        .collect::<Vec<_>>()[..]
    else {
        panic!("{:#?}", settings.warnings);
    };
    assert_eq!(
        replaced,
        "docusaurus.config.ts, line 3: what is computed here may replace or extend `title`, `base_url`, `default_locale`, `locales`; what is written is used; \
         otherwise write the value into bookrag.toml"
    );
}

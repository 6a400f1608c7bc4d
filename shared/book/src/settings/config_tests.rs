//! Tests of reading a config without running it.

use super::*;

pub(super) fn try_config(name: &str, text: &str) -> Result<SiteSettings, SettingsError> {
    SiteSettings::read(&BTreeMap::from([(name.to_owned(), text.to_owned())]), true)
}

pub(super) fn config(text: &str) -> SiteSettings {
    try_config("docusaurus.config.js", text).unwrap()
}

pub(super) fn docs(options: &str) -> Result<SiteSettings, SettingsError> {
    let text = format!(
        "module.exports = {{baseUrl: '/b/', presets: [['classic', {{docs: {options}}}]]}};"
    );
    try_config("docusaurus.config.js", &text)
}

pub(super) fn excluded(settings: &SiteSettings) -> &[String] {
    &settings.instances[0].patterns.exclude
}

#[test]
fn literals_are_read_and_code_is_not_run() {
    let settings = try_config(
        "docusaurus.config.ts",
        r"// baseUrl: '/wrong/'
        import {themes} from 'prism-react-renderer';
        const docs = {routeBasePath: 'guide', exclude: ['**/*.x.md']} as const;
        const name = 'b';
        const config: Config = {
          title: 'A b\u00f6ok', baseUrl: `/${name}/`, url: process.env.URL || 'x', trailingSlash: false,
          staticDirectories: [/[{]/.source],
          i18n: {defaultLocale: 'en', locales: ['en', 'ur']},
          presets: [['classic', ({docs, theme: {customCss: require.resolve('./x.css')}} satisfies Preset.Options)]],
          themeConfig: {items: [...more, {label: `v${version}`}], pattern: /[{'/]/},
        };
        export default config;",
    )
    .unwrap();
    assert_eq!(settings.title.as_deref(), Some("A böok"));
    assert_eq!(settings.base_url, "/b/");
    assert_eq!(settings.trailing_slash, Some(false));
    assert_eq!(settings.locales, ["en", "ur"]);
    assert_eq!(settings.instances[0].route_base_path, "guide");
    assert_eq!(excluded(&settings), ["**/*.x.md"]);
    assert!(settings.warnings.is_empty(), "{:?}", settings.warnings);
}

#[test]
fn pages_and_blogs_of_computed_presets_are_not_missing_silently() {
    let toml = "docs_path = 'docs'\nroute_base_path = 'docs'\ninclude = ['**/*.md']\nexclude = []\nversions = []\ncurrent_version = true";
    let text = "const presets = make();\nmodule.exports = {presets}";
    let files = [("bookrag.toml", toml), ("docusaurus.config.js", text)];
    let files = files.map(|(name, text)| (name.to_owned(), text.to_owned()));
    let settings = SiteSettings::read(&BTreeMap::from(files), true).unwrap();
    for kind in ["pages", "blog"] {
        let warns = |warning: &String| warning.contains(&format!("`{kind}.default.path`"));
        assert!(
            settings.warnings.iter().any(warns),
            "{:?}",
            settings.warnings
        );
    }
    let text = "module.exports = {presets: [['classic', {docs: false}]]}";
    assert!(config(text).warnings.is_empty());
}

#[test]
fn each_way_to_export_a_config_is_read() {
    let object = "{title: 'A', baseUrl: '/a/'}";
    for text in [
        format!("module.exports = {object}"),
        format!("(module.exports = {object});"),
        format!("const config = (async () => {{ return {object}; }})(); module.exports = config;"),
        "module.exports = ((title) => ({title, baseUrl: '/a/'}))('A');".to_owned(),
        format!("export default (async function () {{ return {object}; }})();"),
        format!("export default {object}"),
        format!("const config = {object}; export default config"),
        format!("const config = {object}; export {{config as default}}"),
        format!("const config = {object}; module.exports = config;"),
        format!("export default defineConfig({object})"),
        format!(
            "module.exports = async function() {{ const a = await import('a'); return {object}; }};"
        ),
        format!("export default function config() {{ return {object}; }}"),
        format!("module.exports = async () => ({object});"),
        format!(
            "async function create() {{ const config = {object}; return config; }} module.exports = create;"
        ),
        format!("const create = () => {{ return {object}; }}; export default create;"),
        format!(
            "async function create() {{ const config = {object}; return config; }} export default create();"
        ),
        format!("const create = async () => ({object}); export default await create();"),
        format!(
            "export default () => {{ if (process.env.CI) {{ return {object}; }} return {object}; }};"
        ),
        format!(
            "const f=()=>import('x').then(m=>{{return m.default}});\nmodule.exports=async function(){{return {object}}}"
        ),
    ] {
        let settings = config(&text);
        assert_eq!(settings.base_url, "/a/", "{text}");
        assert!(
            settings.warnings.is_empty(),
            "{text}: {:?}",
            settings.warnings
        );
    }
    let typed = try_config(
        "docusaurus.config.ts",
        &format!("const a: Config = {object}; export = a;"),
    );
    assert_eq!(typed.unwrap().base_url, "/a/");
}

#[test]
fn a_trailing_spread_a_computed_key_and_a_regular_expression_move_no_setting() {
    for odd in [
        "...(process.env.CI ? {a: 1} : {})",
        "...shared",
        "[key]: 1",
        "pattern: /[{]/",
        "get late() { return 1; }",
        "async load() { return {baseUrl: '/no/'}; }",
    ] {
        let docs =
            format!("{odd}, path: 'docs', include: ['*.md'], exclude: [], routeBasePath: 'r'");
        let settings = config(&format!(
            "module.exports = {{i18n: {{locales: ['en', 'ur']}}, \
             presets: [['classic', {{docs: {{{docs}}}, theme: {{{odd}}}}}]], themeConfig: {{a: 1, {odd}}}, baseUrl: '/b/'}}"
        ));
        assert_eq!(settings.instances[0].route_base_path, "r", "{odd}");
        assert_eq!(settings.base_url, "/b/", "{odd}");
        assert_eq!(settings.locales, ["en", "ur"], "{odd}");
        assert_eq!(settings.trailing_slash, None, "{odd}");
    }
}

#[test]
fn a_spread_of_known_objects_gives_their_fields() {
    let settings = config(
        "const shared = {exclude: ['secret/**'], path: 'docs'};
         const lists = ['a.md', ...['b.md']];
         module.exports = {presets: [['classic', {docs: {...shared, include: lists}}]]};",
    );
    assert_eq!(excluded(&settings), ["secret/**"]);
    assert_eq!(settings.instances[0].patterns.include, ["a.md", "b.md"]);
    let settings = docs("{exclude: ['a.md'], ...{exclude: ['b.md']}}").unwrap();
    assert_eq!(excluded(&settings), ["b.md"]);
}

#[test]
fn a_change_of_the_config_after_its_literal_is_seen() {
    let base = "const docs = {exclude: ['a.md'], routeBasePath: 'r'};
        const config = {title: 'A', baseUrl: '/a/', presets: [['classic', {docs}]]};";
    let after = |change: &str| {
        let text = format!("{base}\n{change}\nmodule.exports = config;");
        try_config("docusaurus.config.js", &text)
    };
    assert_eq!(
        after("config.title = 'B';").unwrap().title.as_deref(),
        Some("B")
    );
    assert_eq!(
        excluded(&after("docs.exclude = ['b.md'];").unwrap()),
        ["b.md"]
    );
    assert_eq!(
        excluded(&after("config.presets[0][1].docs.exclude = ['b.md'];").unwrap()),
        ["b.md"]
    );
    let prefixes = after("docs.numberPrefixParser = false;").unwrap();
    assert!(!prefixes.instances[0].number_prefixes);
    let prefixes = after("docs.numberPrefixParser = parser;").unwrap();
    assert!(
        prefixes.warnings[0].contains("`number_prefixes` is computed"),
        "{:?}",
        prefixes.warnings
    );
    for change in [
        "docs.exclude = hidden;",
        "if (process.env.CI) { docs.exclude = ['b.md']; }",
        "docs['exclude'] = hidden;",
        "docs[key] = [];",
        "Object.assign(config, require('./more'));",
        "config.presets = presets;",
        "docs.path = path;",
        "change(config);",
        "const made = Object.assign(docs, {exclude: []});",
        "async function other() { await change(config); }",
        "const same = docs; same.exclude = hidden;",
        "const part = config.presets[0]; part[1].docs.exclude.length = 0;",
        "for (const preset of config.presets) { preset[1].docs = {}; }",
        "delete docs.exclude;",
        "[docs.exclude] = lists;",
        "config.presets.find(preset => preset[0] === 'classic')[1].docs.exclude = ['b.md'];",
        "config.presets.forEach(([, options]) => { options.docs.exclude = ['b.md']; });",
        "config.presets.filter(Boolean).at(0)[1].docs.exclude = ['b.md'];",
        "const all = config.presets; all.map(change);",
        "Object.values(config.presets[0])[1].docs.exclude = ['b.md'];",
        "Object.entries(config.presets[0][1]).forEach(change);",
        "const copy = Object.assign({}, docs); copy.exclude.push('b.md');",
        "const same = docs || {}; same.exclude = ['b.md'];",
        "const same = process.env.CI ? docs : {}; same.exclude = ['b.md'];",
        "const same = config.presets && config.presets[0][1].docs; same.exclude = ['b.md'];",
        "(docs ?? {}).exclude = ['b.md'];",
    ] {
        assert!(after(change).is_err(), "{change}");
    }
    for change in [
        "console.log(config);",
        "const urls = config.baseUrl + 'x'; fetch(config.baseUrl);",
        "const names = docs.exclude.map(name => name);",
        "const shown = JSON.stringify(config);",
        "function other(config) { config.presets = []; config.push(1); }",
        "const alias = docs.exclude; console.log(alias.join());",
        "const more = docs.exclude.filter(Boolean).concat(['b.md']); docs.exclude.forEach(log);",
        "const parts = Object.entries(docs.exclude); const found = config.presets.includes('classic');",
        "const other = docs && {}; other.exclude = ['b.md'];",
        "config.ssrTemplate = makeTemplate(config); const sizes = measure(docs);",
        "const other = docs ? {} : []; other.exclude = ['b.md'];",
        "const shown = docs || {}; console.log(shown.exclude);",
    ] {
        let settings = after(change).unwrap_or_else(|error| panic!("{change}: {error}"));
        assert_eq!(excluded(&settings), ["a.md"], "{change}");
    }
    let exported =
        "module.exports = {title: 'A', presets: ['classic']}; module.exports.title = 'B';";
    assert_eq!(config(exported).title.as_deref(), Some("B"));
    assert!(
        try_config(
            "docusaurus.config.js",
            &format!("{exported} module.exports.presets = more;")
        )
        .is_err()
    );
    assert!(
        try_config(
            "docusaurus.config.js",
            "let c = {}; c = make(); export default c;"
        )
        .is_err()
    );
}

#[test]
fn a_path_joined_to_the_folder_of_the_config_is_known_for_the_docs_alone() {
    for (path, expected) in [
        ("path.join(__dirname, 'guide', 'docs')", "guide/docs"),
        ("path.resolve(__dirname, './guide/docs')", "guide/docs"),
        ("path.resolve(__dirname, '..', 'docs')", "../docs"),
        ("path.join(__dirname, '../../docs/')", "../../docs"),
    ] {
        let settings = docs(&format!("{{path: {path}}}"));
        assert_eq!(settings.unwrap().instances[0].path, expected, "{path}");
    }
    for options in [
        "{path: path.resolve(__dirname, '/docs')}",
        "{path: path.join(__dirname, name)}",
        "{path: path.join(root, 'docs')}",
        "{path: path.join(__dirname)}",
        "{exclude: [path.join(__dirname, 'docs/secret/**')]}",
    ] {
        assert!(docs(options).is_err(), "{options}");
    }
}

#[test]
fn items_that_are_handed_out_concern_only_their_own_list() {
    let settings = config(
        "const docs = {exclude: ['a.md']};
         const config = {
           title: 'A', presets: [['classic', {docs: process.env.CI ? docs : docs || {}}]],
           themeConfig: {navbar: {items: [{to: '/a'}, {to: '/b'}]}},
         };
         config.themeConfig.navbar.items.filter(item => item.to).forEach(item => { item.to = '/c'; });
         module.exports = config;",
    );
    assert_eq!(excluded(&settings), ["a.md"]);
    assert!(settings.warnings.is_empty(), "{:?}", settings.warnings);
}

#[test]
fn each_computed_setting_is_reported_with_its_line() {
    let settings = config(
        "const e = process.env;
module.exports = {
  title: e.TITLE,
  baseUrl: e.BASE + '/',
  trailingSlash: e.SLASH,
  markdown: {format: e.FORMAT, anchors: {maintainCase: e.CASE}, mdx1Compat: {comments: e.COMMENTS}},
  future: {v4: e.V4},
  i18n: {path: e.I18N, defaultLocale: e.LOCALE, locales: [e.LOCALE], localeConfigs: {ur: {path: e.A, baseUrl: e.B, translate: e.C}}},
  presets: [['classic', {docs: {
    routeBasePath: e.ROUTE, numberPrefixParser: () => {}, onlyIncludeVersions: versions, disableVersioning: e.D,
    includeCurrentVersion: e.CURRENT, lastVersion: e.LAST, versions: {[v]: {path: 'x'}},
  }}]],
};",
    );
    for (line, name) in [
        (3, "title"),
        (4, "base_url"),
        (5, "trailing_slash"),
        (6, "markdown_format"),
        (6, "keep_anchor_case"),
        (6, "markdown.mdx1Compat.comments"),
        (7, "future.v4"),
        (8, "i18n.path"),
        (8, "default_locale"),
        (8, "locales"),
        (8, "i18n.localeConfigs.ur.path"),
        (8, "i18n.localeConfigs.ur.baseUrl"),
        (8, "i18n.localeConfigs.ur.translate"),
        (10, "route_base_path"),
        (10, "number_prefixes"),
        (10, "onlyIncludeVersions"),
        (10, "disableVersioning"),
        (11, "current_version"),
        (11, "last_version"),
        (11, "version_paths"),
    ] {
        let start = format!("docusaurus.config.js, line {line}: `");
        let found = settings.warnings.iter().any(|warning| {
            warning.starts_with(&start)
                && warning.contains(&format!("`{name}`"))
                && warning.contains(" computed, and")
        });
        assert!(found, "{line}, {name}: {:#?}", settings.warnings);
    }
}

#[test]
fn keys_may_be_numbers_as_versions_are() {
    let settings = docs(
        "{versions: {1: {path: 'first'}, 2.0: {path: 'second'}, 3.10: {}, ['4']: {path: 'four'}}}",
    )
    .unwrap();
    // Keys in JavaScript's notation of these numbers.
    let paths: Vec<(&str, &str)> = settings.instances[0]
        .version_paths
        .iter()
        .map(|(a, b)| (a.as_str(), b.as_str()))
        .collect();
    assert_eq!(paths, [("1", "first"), ("2", "second"), ("4", "four")]);
}

#[test]
fn a_hostile_config_ends_soon() {
    for text in ["}}}}", "{{{{", "const x = ", "`${"] {
        assert!(try_config("docusaurus.config.js", text).is_err(), "{text}");
    }
    for text in [
        "[".repeat(100_000),
        "({".repeat(1_000_000),
        "(a=(".repeat(100_000),
        "a.".repeat(60_000) + "b",
    ] {
        assert!(try_config("docusaurus.config.js", &text).is_err());
    }
    for each in [
        "[{}]",
        "{x: {}, y: {}}",
        "{...{}, ...{}}",
        "{x: {}.x, y: 'long'}",
    ] {
        let mut text = "const a0 = ['x'];\n".to_owned();
        for n in 1..60 {
            let former = format!("a{}", n - 1);
            text += &format!(
                "const a{n} = {};\n",
                each.replace("{}", &former)
                    .replace("[a", &format!("[{former}, {former}, a"))
            );
        }
        let config = format!(
            "{text}\nmodule.exports = {{title: 'A', presets: [['classic', {{docs: {{exclude: a59}}}}]]}};"
        );
        assert!(
            try_config("docusaurus.config.js", &config).is_err(),
            "{each}"
        );
    }
    let calls = (0..40).map(|n| format!("const f{n} = x => [f{}(x), f{}(x)];", n + 1, n + 1));
    let calls: Vec<String> = calls.collect();
    let calls = format!(
        "{}\nexport default {{presets: [['classic', {{docs: {{exclude: f0(1)}}}}]]}}",
        calls.join("\n")
    );
    assert!(try_config("docusaurus.config.js", &calls).is_err());
    let itself =
        "const a = {...a, b: a}; module.exports = {title: 'A', presets: ['classic'], x: a}";
    assert_eq!(config(itself).title.as_deref(), Some("A"));
}

#[test]
fn comments_set_ids_as_in_docusaurus() {
    for (options, expected) in [
        ("", false),
        ("future: {v4: true}", true),
        ("future: {v4: {mdx1CompatDisabledByDefault: true}}", true),
        (
            "future: {v4: {removeLegacyPostBuildHeadAttribute: true}}",
            false,
        ),
        ("markdown: {mdx1Compat: {comments: false}}", true),
        (
            "future: {v4: true}, markdown: {mdx1Compat: {comments: true}}",
            false,
        ),
    ] {
        let settings = config(&format!("module.exports = {{ {options} }};"));
        assert_eq!(settings.comment_ids, expected, "{options}");
    }
}

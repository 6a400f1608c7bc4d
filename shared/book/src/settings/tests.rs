use super::*;

fn try_read(files: &[(&str, &str)]) -> Result<SiteSettings, SettingsError> {
    let files = files
        .iter()
        .map(|(name, text)| ((*name).to_owned(), (*text).to_owned()))
        .collect();
    SiteSettings::read(&files, true)
}

fn read(files: &[(&str, &str)]) -> SiteSettings {
    try_read(files).unwrap()
}

fn refused(files: &[(&str, &str)]) -> String {
    try_read(files).unwrap_err().to_string()
}

#[test]
fn an_empty_site_has_docusaurus_defaults() {
    let settings = read(&[]);
    assert_eq!(
        (
            settings.base_url.as_str(),
            settings.instances[0].route_base_path.as_str()
        ),
        ("/", "docs")
    );
    assert_eq!(settings.instances[0].version_path(CURRENT_VERSION), "");
    assert!(
        !settings.instances[0].includes("a/_hidden.md")
            && !settings.instances[0].includes("_dir/x.md")
    );
    assert!(
        !settings.instances[0].includes("x/__tests__/y.md")
            && settings.instances[0].includes("z.test.md")
    );
}

#[test]
fn the_build_in_the_settings_is_a_folder_within_the_site() {
    for folder in ["build", "./out/site"] {
        let settings = read(&[("bookrag.toml", &format!("build = '{folder}'"))]);
        let expected = folder.trim_start_matches("./");
        assert_eq!(settings.build_folder(), Some(expected));
    }
    for folder in ["../build", "a/../../b", "/etc", ".", ""] {
        let error = refused(&[("bookrag.toml", &format!("title = 'A'\nbuild = '{folder}'"))]);
        let place = "bookrag.toml, line 2: `build` must name a folder within the site";
        assert!(
            error.starts_with(place) && error.contains(&format!("got `{folder}`")),
            "{error}"
        );
    }
}

#[test]
fn a_sites_exclude_replaces_the_defaults() {
    let settings = read(&[(
        "docusaurus.config.js",
        "module.exports = {baseUrl: '/', presets: [['classic', {docs: {exclude: ['**/*.summary.md']}}]]}",
    )]);
    assert!(
        !settings.instances[0].includes("a/b.summary.md")
            && settings.instances[0].includes("_hidden.md")
    );
}

#[test]
fn toml_wins() {
    let config = ("docusaurus.config.js", "module.exports = {baseUrl: '/a/'}");
    let settings = read(&[config, ("bookrag.toml", "base_url = '/b'")]);
    assert_eq!(settings.base_url, "/b/");
    let config = (
        "docusaurus.config.js",
        "module.exports = {baseUrl: process.env.BASE}",
    );
    let settings = read(&[config, ("bookrag.toml", "base_url = '/b'")]);
    assert!(settings.warnings.is_empty(), "{:?}", settings.warnings);
}

#[test]
fn a_settings_file_that_cannot_be_parsed_is_refused_with_its_line() {
    for (name, text, line, reason) in [
        (
            "bookrag.toml",
            "title = 'A'\nbase_ulr = '/b'",
            2,
            "base_ulr",
        ),
        ("bookrag.toml", "title = 'A'\n\nexclude = [", 3, ""),
        ("bookrag.toml", "exclude = 'a.md'", 1, "string"),
        (
            "docusaurus.config.js",
            "module.exports = {\n  title: 'A'\n  baseUrl: '/',\n}",
            3,
            "`,`",
        ),
        ("docusaurus.config.ts", "const a: = 1;", 1, ""),
        (
            "docusaurus.config.js",
            "<<<<<<< HEAD\nmodule.exports = {}",
            1,
            "",
        ),
        ("versions.json", "[\"2.0\",\n\"1.0\"", 2, "list of names"),
        ("versions.json", "{\"2.0\": 1}", 1, "list of names"),
    ] {
        let error = refused(&[(name, text)]);
        assert!(
            error.starts_with(&format!("{name}, line {line}: ")),
            "{error}"
        );
        assert!(error.contains(reason), "{error}");
    }
}

#[test]
fn versions_take_their_paths() {
    let settings = read(&[("versions.json", "[\"2.0\", \"1.5\"]")]);
    assert_eq!(settings.instances[0].version_path("2.0"), "");
    assert_eq!(settings.instances[0].version_path("1.5"), "1.5");
    assert_eq!(settings.instances[0].version_path(CURRENT_VERSION), "next");
}

#[test]
fn each_setting_says_where_it_was_read() {
    let settings = read(&[
        (
            "docusaurus.config.ts",
            "export default {title: 'A', baseUrl: '/a/', trailingSlash: process.env.SLASH, presets: [['classic', {docs: {routeBasePath: 'guide'}}]]} satisfies Config",
        ),
        ("bookrag.toml", "title = 'B'"),
    ]);
    let origin = |name: &str| {
        let setting = settings.origins.iter().find(|setting| setting.name == name);
        setting.map(|setting| (setting.value.as_str(), setting.origin.to_string()))
    };
    assert_eq!(origin("title"), Some(("\"B\"", "bookrag.toml".to_owned())));
    assert_eq!(
        origin("route_base_path"),
        Some(("\"guide\"", "docusaurus.config.ts".to_owned()))
    );
    assert_eq!(
        origin("trailing_slash"),
        Some(("null", "default".to_owned()))
    );
    assert_eq!(settings.warnings.len(), 1, "{:?}", settings.warnings);
    assert!(settings.warnings[0].contains("`trailing_slash`"));
}

#[test]
fn versions_that_are_not_built_are_left_out() {
    let versions = ("versions.json", "[\"2.0\", \"1.5\", \"1.0\"]");
    let settings = read(&[
        versions,
        (
            "docusaurus.config.js",
            "module.exports = {baseUrl: '/', presets: [['classic', {docs: {includeCurrentVersion: false, onlyIncludeVersions: ['1.5', '1.0']}}]]}",
        ),
    ]);
    assert_eq!(settings.instances[0].versions, ["1.5", "1.0"]);
    assert!(!settings.instances[0].current_version);
    assert_eq!(settings.instances[0].version_path("1.5"), "");
    let disabled = "module.exports = {baseUrl: '/', presets: [['classic', {docs: {disableVersioning: true}}]]}";
    assert!(
        read(&[versions, ("docusaurus.config.js", disabled)]).instances[0]
            .versions
            .is_empty()
    );
}

#[test]
fn a_computed_choice_of_versions_has_no_effect_and_is_told() {
    let versions = ("versions.json", "[\"2.0\", \"1.0\"]");
    let all = "versions = [\"2.0\",\"1.0\"]";
    let current = "current_version = true";
    let (only, disabled, included) = (
        "onlyIncludeVersions: built",
        "disableVersioning: fast",
        "includeCurrentVersion: dev",
    );
    for (option, toml, told) in [
        (included, "", &["current_version"][..]),
        (included, all, &["current_version"]),
        (included, current, &[]),
        (only, "", &["onlyIncludeVersions"]),
        (only, all, &["onlyIncludeVersions"]),
        (only, current, &["onlyIncludeVersions"]),
        (disabled, "", &["disableVersioning"]),
        (disabled, all, &[]),
    ] {
        let config =
            format!("module.exports = {{presets: [['classic', {{docs: {{\n{option}}}}}]]}}");
        let config = ("docusaurus.config.js", config.as_str());
        let settings = read(&[versions, config, ("bookrag.toml", toml)]);
        let docs = &settings.instances[0];
        assert_eq!(docs.versions, ["2.0", "1.0"], "{option}, {toml}");
        assert!(docs.current_version, "{option}, {toml}");
        let warnings = settings.warnings.join("\n");
        assert_eq!(
            settings.warnings.len(),
            told.len(),
            "{option}, {toml}: {warnings}"
        );
        for name in told {
            let told = format!("docusaurus.config.js, line 2: `{name}` is computed");
            assert!(warnings.contains(&told), "{told}: {warnings}");
        }
    }
}

#[test]
fn a_version_of_the_docs_folder_may_be_named_with_the_others() {
    let versions = ("versions.json", "[\"current\", \"10.x\", \"9.x\"]");
    let config = "module.exports = {presets: [['classic', {docs: {lastVersion: 'current'}}]]}";
    let settings = read(&[versions, ("docusaurus.config.js", config)]);
    let docs = &settings.instances[0];
    assert_eq!(docs.versions, ["10.x", "9.x"]);
    assert!(docs.current_version);
    assert_eq!(docs.default_version(), "current");
    // Docusaurus builds a version that is named, whatever this option says.
    let config =
        "module.exports = {presets: [['classic', {docs: {includeCurrentVersion: false}}]]}";
    for (name, text) in [
        ("versions.json", "[\"current\"]"),
        ("bookrag.toml", "versions = ['current']"),
    ] {
        let settings = read(&[(name, text), ("docusaurus.config.js", config)]);
        let docs = &settings.instances[0];
        assert!(docs.current_version && docs.versions.is_empty(), "{name}");
    }
}

#[test]
fn files_about_versions_that_a_config_imports_are_named() {
    let config = "import versions from './versions.json';
        const options = require(\"./versions_config.json\"), other = require('./sidebars.json');
        import old from './data/versions.json'; // isn't read
        export default {presets: [['classic', {docs: {versions: options}}]]};";
    let named = settings_files_named_in(config);
    let expected = ["versions.json", "versions_config.json"].map(str::to_owned);
    assert_eq!(named, expected.into());
    let many: String = (0..100_000)
        .map(|at| format!("'./versions{}.json' ", at % 50))
        .collect();
    assert_eq!(settings_files_named_in(&many).len(), MAX_IMPORTED_FILES);
    let versions = ("versions_config.json", "{\"1.0\": {\"path\": \"old\"}}");
    let settings = read(&[("docusaurus.config.ts", config), versions]);
    assert_eq!(settings.instances[0].version_paths["1.0"], "old");
}

#[test]
fn the_toml_decides_what_a_computed_choice_of_versions_leaves_open() {
    let computed = "module.exports = {presets: [['classic', {docs: {
        onlyIncludeVersions: built, disableVersioning: fast, includeCurrentVersion: dev}}]]}";
    let versions = ("versions.json", "[\"2.0\", \"1.0\"]");
    let settings = read(&[
        versions,
        ("docusaurus.config.js", computed),
        (
            "bookrag.toml",
            "versions = ['1.0']\ncurrent_version = false",
        ),
    ]);
    assert_eq!(settings.instances[0].versions, ["1.0"]);
    assert!(!settings.instances[0].current_version);
    let warnings = &settings.warnings;
    assert!(warnings.is_empty(), "{warnings:?}");
    let literal =
        "module.exports = {presets: [['classic', {docs: {onlyIncludeVersions: ['1.0']}}]]}";
    let settings = read(&[
        versions,
        ("docusaurus.config.js", literal),
        ("bookrag.toml", "versions = ['2.0', '1.0']"),
    ]);
    assert_eq!(settings.instances[0].versions, ["1.0"]);
}

#[test]
fn a_pattern_that_cannot_be_read_is_refused_with_its_line() {
    let long = "x".repeat(1_001);
    let many = vec!["'x/**'"; 2_000].join(", ");
    for (patterns, reason) in [
        (format!("'a/**',\n'{long}'"), "has more than 1000 bytes"),
        (
            "'a/**',\n'secret/[**'".to_owned(),
            "unclosed character class",
        ),
        ("'a/**',\n'+(secret|x)/**'".to_owned(), "extended glob"),
        ("'a/**',\n'!b/**'".to_owned(), "is negated"),
        (format!("'a/**',\n{many}"), "is one of 2001"),
    ] {
        let config = format!(
            "module.exports = {{presets: [['classic', {{docs: {{exclude: [{patterns}]}}}}]]}};"
        );
        let refused = refused(&[("docusaurus.config.js", &config)]);
        assert!(
            refused.contains("docusaurus.config.js, line 2: "),
            "{refused}"
        );
        assert!(refused.contains(reason), "{refused}");
        assert!(refused.len() < 500, "{refused}");
    }
}

#[test]
fn more_versions_or_locales_than_any_site_has_are_refused() {
    let names: Vec<String> = (0..2_000).map(|n| format!("\"v{n}\"")).collect();
    let names = names.join(",");
    let config = format!("export default {{\ni18n: {{defaultLocale: 'v0', locales: [{names}]}}}}");
    for (file, text, line) in [
        ("versions.json", format!("[{names}]"), 1),
        ("bookrag.toml", format!("versions = [{names}]"), 1),
        ("docusaurus.config.js", config, 2),
    ] {
        let files = BTreeMap::from([(file.to_owned(), text)]);
        let error = SiteSettings::read(&files, true).unwrap_err();
        assert_eq!((error.file.as_str(), error.line), (file, line), "{error}");
        assert!(error.reason.contains(" 2000 "), "{error}");
    }
}

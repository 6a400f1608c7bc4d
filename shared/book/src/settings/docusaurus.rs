//! Reads the Docusaurus config.

use std::collections::{BTreeMap, BTreeSet};

use super::bookrag_toml::TomlDocs;
use super::build::{FRONT_PAGE, read_build};
use super::evaluate::read_config;
use super::origin::Picker;
use super::value::{ConfigMap, ConfigValue};
use super::{ContentKind, DEFAULT_INSTANCE, LocalePlace, SETTINGS_FILES, SettingsError, slashed};
use crate::paths::joined;

/// Returns the name and object of the first Docusaurus config that exists. The front page of a build stands for one.
pub(super) fn read_docusaurus_config(
    files: &BTreeMap<String, String>,
) -> Result<(&'static str, ConfigValue), SettingsError> {
    let mut names = SETTINGS_FILES
        .into_iter()
        .filter(|name| name.starts_with("docusaurus.config"));
    let Some(name) = names.find(|name| files.contains_key(*name)) else {
        let build = read_build(files).map(|config| (FRONT_PAGE, config));
        return Ok(build.unwrap_or(("", ConfigValue::Absent)));
    };
    let config = read_config(name, files)
        .map_err(|error| SettingsError::new(name, error.line, &error.reason))?;
    Ok((name, config))
}

/// The options of the default docs of a site without docs. Every site has a docs instance; the folder of this one is not shown.
pub(super) const NO_DOCS: ConfigValue = ConfigValue::Bool(false);

/// Returns the ids and options of docs plugins in the config's presets and plugins and in `bookrag.toml`, the default instance first.
///
/// If no docs plugin is found, a computed preset or plugin may be the default one, so its options are computed; with other docs, only a
/// computed preset may. A preset of another name may contain it, and a config without docs plugins is assumed to have it; both get default
/// options.
pub(super) fn docs_plugins(
    config: &ConfigValue,
    tables: &BTreeMap<String, TomlDocs>,
    picker: &mut Picker,
) -> Vec<(String, ConfigValue)> {
    let mut docs = DocsPlugins::default();
    docs.read_presets(config.get("presets"));
    let plugins = Entries::from_value(config.get("plugins"));
    docs.read_plugins(plugins.known);
    let DocsPlugins {
        mut found,
        mut computed,
        unnamed,
        has_unknown_preset,
        are_disabled,
    } = docs;
    let has_default = has_id(&found, DEFAULT_INSTANCE);
    let tells_no_more = tables
        .keys()
        .all(|id| id == DEFAULT_INSTANCE || has_id(&found, id));
    if has_default && tells_no_more {
        for line in unnamed {
            let warning = unknown_id(ContentKind::Docs, line, picker);
            picker.warnings.push(warning);
        }
    }
    if found.is_empty() {
        let plugin = plugins.computed.first();
        computed = computed.or(plugin.map(|line| ConfigValue::Computed(*line)));
    } else if tells_no_more && !plugins.computed.is_empty() {
        let warning = unknown_plugins(&plugins.computed, picker);
        picker.warnings.push(warning);
    }
    if !has_default && (computed.is_some() || has_unknown_preset || found.is_empty()) {
        let table = tables.get(DEFAULT_INSTANCE);
        let is_told = table.is_some_and(|table| table.docs_path.is_some());
        let none = are_disabled && !has_unknown_preset && !is_told;
        let options = computed.unwrap_or(if none { NO_DOCS } else { ConfigValue::Absent });
        found.push((DEFAULT_INSTANCE.to_owned(), options));
    }
    let told = tables.iter().filter(|(_, table)| table.docs_path.is_some());
    found.extend(told.map(|(id, _)| (id.clone(), ConfigValue::Absent)));
    // Stable sort: keeps the first of each id in the config's order.
    found.sort_by_key(|(id, _)| id != DEFAULT_INSTANCE);
    let mut known = BTreeSet::new();
    found.retain(|(id, _)| known.insert(id.clone()));
    found
}

fn has_id(plugins: &[(String, ConfigValue)], id: &str) -> bool {
    plugins.iter().any(|(known, _)| known == id)
}

/// The docs plugins of a config.
#[derive(Default)]
struct DocsPlugins {
    /// Their ids and options.
    found: Vec<(String, ConfigValue)>,
    /// The first part that may be a docs plugin and is computed.
    computed: Option<ConfigValue>,
    /// The lines of docs plugins whose ids are computed.
    unnamed: Vec<usize>,
    /// True if a preset of another name may contain a docs plugin.
    has_unknown_preset: bool,
    /// True if the classic preset disables its docs.
    are_disabled: bool,
}

impl DocsPlugins {
    fn read_presets(&mut self, presets: &ConfigValue) {
        let Entries { known, computed } = Entries::from_value(presets);
        self.computed = computed.first().map(|line| ConfigValue::Computed(*line));
        for (name, options) in known {
            match (is_named(&name, "classic"), options.get("docs")) {
                (_, docs @ ConfigValue::Map(_)) | (true, docs @ ConfigValue::Computed(_)) => {
                    let id = instance_id(docs).unwrap_or_else(|_| DEFAULT_INSTANCE.to_owned());
                    self.found.push((id, docs.clone()));
                }
                (true, ConfigValue::OneOf(alternatives)) => {
                    let options = alternatives.computed().clone();
                    self.found.push((DEFAULT_INSTANCE.to_owned(), options));
                }
                (false, ConfigValue::OneOf(alternatives)) => {
                    self.may_be(alternatives.computed());
                }
                (false, docs @ ConfigValue::Computed(_)) => self.may_be(docs),
                (true, ConfigValue::Absent) => {
                    let options = ConfigValue::Map(ConfigMap::new());
                    self.found.push((DEFAULT_INSTANCE.to_owned(), options));
                }
                (false, ConfigValue::Absent) => self.has_unknown_preset = true,
                (true, ConfigValue::Bool(false)) => self.are_disabled = true,
                _ => {}
            }
        }
    }

    fn read_plugins(&mut self, plugins: Vec<(ConfigValue, ConfigValue)>) {
        for (name, options) in plugins {
            if !is_named(&name, "content-docs") {
                continue;
            }
            match (instance_id(&options), options) {
                (Ok(id), ConfigValue::Absent) => {
                    self.found.push((id, ConfigValue::Map(ConfigMap::new())));
                }
                (Ok(id), options) => self.found.push((id, options)),
                (Err(line), _) => {
                    self.may_be(&ConfigValue::Computed(line));
                    self.unnamed.push(line);
                }
            }
        }
    }

    /// Notes that a computed part may be a docs plugin.
    fn may_be(&mut self, computed: &ConfigValue) {
        self.computed.get_or_insert_with(|| computed.clone());
    }
}

/// Returns the ids and options of the plugins of pages, or of the blogs: from the classic preset unless disabled, from other presets with
/// options for them, and from the config's plugins.
pub(super) fn unversioned_plugins(
    kind: ContentKind,
    config: &ConfigValue,
    picker: &mut Picker,
) -> Vec<(String, ConfigValue)> {
    let name = kind.name();
    let presets = Entries::from_value(config.get("presets"));
    let of_presets = presets
        .known
        .into_iter()
        .filter_map(|(preset, options)| match options.get(name) {
            options @ ConfigValue::Map(_) => Some(options.clone()),
            options @ (ConfigValue::Absent | ConfigValue::Computed(_) | ConfigValue::OneOf(_)) => {
                is_named(&preset, "classic").then(|| options.clone())
            }
            _ => None,
        })
        .map(|options| {
            let id = instance_id(&options).unwrap_or_else(|_| DEFAULT_INSTANCE.to_owned());
            (id, options)
        });
    let mut found: Vec<(String, ConfigValue)> = of_presets.collect();
    for (plugin, options) in Entries::from_value(config.get("plugins")).known {
        if !is_named(&plugin, &format!("content-{name}")) {
            continue;
        }
        match instance_id(&options) {
            Ok(id) => found.push((id, options)),
            Err(line) => {
                let warning = unknown_id(kind, line, picker);
                picker.warnings.push(warning);
            }
        }
    }
    if found.is_empty()
        && let Some(line) = presets.computed.first()
    {
        picker.warnings.push(format!(
            "{}, line {line}: presets are computed here, and the config is not run; if the site has a {name} plugin, its \
             files are read once bookrag.toml has `{name}.{DEFAULT_INSTANCE}.path`",
            picker.config_name
        ));
    }
    let mut known = BTreeSet::new();
    found.retain(|(id, _)| known.insert(id.clone()));
    found
}

fn unknown_id(kind: ContentKind, line: usize, picker: &Picker) -> String {
    let (file, name) = (picker.config_name, kind.name());
    format!(
        "{file}, line {line}: the `id` of this {name} plugin is computed, and the config is not run; its pages are read once \
         bookrag.toml has them as `{name}.ID`"
    )
}

/// Returns the id in a plugin's options.
///
/// # Errors
/// The line, if the id is computed.
fn instance_id(options: &ConfigValue) -> Result<String, usize> {
    match options.get("id") {
        ConfigValue::Text(id) => Ok(id.clone()),
        id => id
            .computed_line()
            .map_or_else(|| Ok(DEFAULT_INSTANCE.to_owned()), Err),
    }
}

/// A list of presets or plugins.
#[derive(Default)]
struct Entries {
    /// Names and options.
    known: Vec<(ConfigValue, ConfigValue)>,
    /// The lines of entries that may make pages, as far as is known.
    computed: Vec<usize>,
}

impl Entries {
    fn from_value(list: &ConfigValue) -> Self {
        let items = match list {
            ConfigValue::List(items) => items.as_slice(),
            ConfigValue::Computed(_) | ConfigValue::OneOf(_) => std::slice::from_ref(list),
            _ => &[],
        };
        let mut entries = Self::default();
        for item in items {
            match item {
                ConfigValue::Computed(line) => entries.computed.push(*line),
                // A plugin of the site itself.
                ConfigValue::Function(_) => {}
                ConfigValue::OneOf(alternatives) => {
                    let makes_pages =
                        item.may_be_replaced() || item.alternatives().iter().any(may_make_pages);
                    entries
                        .computed
                        .extend(makes_pages.then(|| alternatives.line()));
                }
                ConfigValue::List(_) => {
                    let (name, options) = (item.get("0").clone(), item.get("1").clone());
                    entries.known.push((name, options));
                }
                item => entries.known.push((item.clone(), ConfigValue::Absent)),
            }
        }
        entries.computed.dedup();
        entries
    }
}

/// True for an entry, or a list of entries, that may be a preset or a plugin of content.
fn may_make_pages(entry: &ConfigValue) -> bool {
    match entry {
        ConfigValue::Text(name) => name.contains("preset") || name.contains("content-"),
        ConfigValue::List(items) => match items.as_slice() {
            // A name with its options.
            [
                name @ ConfigValue::Text(_),
                ConfigValue::Map(_) | ConfigValue::Computed(_),
            ] => may_make_pages(name),
            items => items.iter().any(may_make_pages),
        },
        ConfigValue::Computed(_) | ConfigValue::OneOf(_) => true,
        _ => false,
    }
}

fn unknown_plugins(lines: &[usize], picker: &Picker) -> String {
    let lines: Vec<String> = lines.iter().map(usize::to_string).collect();
    let (file, line) = (picker.config_name, lines.join(", line "));
    format!(
        "{file}, line {line}: which plugins are used is computed here, and the config is not run; if one of them makes docs or a blog, \
         these are read once bookrag.toml has their folder (`docs.ID.docs_path`, `blog.ID.path`)"
    )
}

fn is_named(name: &ConfigValue, ending: &str) -> bool {
    matches!(name, ConfigValue::Text(name) if name.ends_with(ending))
}

/// The options of plugins that name the folder of the pages which they write, such as `out` of docusaurus-plugin-typedoc.
const OUTPUT_OPTIONS: [&str; 4] = ["out", "outDir", "outputDir", "docsPath"];

/// The deepest option that is looked at: docusaurus-plugin-openapi-docs has `config.API.outputDir`.
const MAX_OPTION_DEPTH: usize = 3;

/// A folder into which a plugin of the site writes pages.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct MadeFolder {
    /// The folder, relative to the site.
    pub folder: String,
    /// The plugin's name in the config.
    pub plugin: String,
}

/// Returns the folders that plugins name for their pages, as far as they are known.
pub(super) fn made_folders(config: &ConfigValue) -> Vec<MadeFolder> {
    let mut folders = BTreeSet::new();
    for (name, options) in Entries::from_value(config.get("plugins")).known {
        for folder in output_folders(&options, MAX_OPTION_DEPTH) {
            let plugin = name.path().unwrap_or_default();
            folders.insert(MadeFolder { folder, plugin });
        }
    }
    folders.into_iter().collect()
}

fn output_folders(options: &ConfigValue, depth: usize) -> Vec<String> {
    let ConfigValue::Map(options) = options else {
        return Vec::new();
    };
    let mut folders = Vec::new();
    for (name, option) in options.fields() {
        match option.path() {
            Some(path) if OUTPUT_OPTIONS.contains(&name.as_str()) => {
                folders.push(joined("", &path));
            }
            None if depth > 1 => folders.extend(output_folders(option, depth - 1)),
            _ => {}
        }
    }
    folders
}

/// Returns the warning that a function of the config changes the text of pages.
pub(super) fn preprocessor(markdown: &ConfigValue, file: &str) -> Option<String> {
    let ConfigValue::Map(markdown) = markdown else {
        return None;
    };
    let mut fields = markdown.fields();
    let (_, function) = fields.find(|(key, _)| *key == "preprocessor")?;
    let line = function.computed_line()?;
    Some(format!(
        "{file}, line {line}: `markdown.preprocessor` changes the text of pages before Docusaurus parses it, and the config is not run; pages are \
         read as they are in their files, with marks that only this function replaces; a built site has their final text"
    ))
}

pub(super) fn locale_places(
    locale_configs: &ConfigValue,
    base_url: &str,
    picker: &mut Picker,
) -> BTreeMap<String, LocalePlace> {
    let configs = picker.config_only("i18n.localeConfigs", locale_configs, |value| match value {
        ConfigValue::Map(map) => Some(map.clone()),
        _ => None,
    });
    let Some(configs) = configs else {
        return BTreeMap::new();
    };
    picker.config_only("i18n.localeConfigs", configs.rest(), |_| None::<()>);
    let mut places = BTreeMap::new();
    for (locale, config) in configs.fields() {
        let table = format!("i18n.localeConfigs.{locale}");
        let translate = picker.config_only(
            &format!("{table}.translate"),
            config.get("translate"),
            ConfigValue::bool,
        );
        let [base, folder] = ["baseUrl", "path"].map(|field| {
            let name = format!("{table}.{field}");
            picker.config_only(&name, config.get(field), ConfigValue::text)
        });
        let place = LocalePlace {
            untranslated: translate == Some(false),
            folder,
            // Relative to the site's own.
            base_url: base.map(|url| {
                let is_whole = url.starts_with('/');
                slashed(&if is_whole {
                    url
                } else {
                    format!("{base_url}{url}")
                })
            }),
        };
        places.insert(locale.clone(), place);
    }
    places
}

pub(super) fn version_paths(versions: &ConfigValue) -> Option<BTreeMap<String, String>> {
    let versions = match versions {
        ConfigValue::Map(versions) => versions,
        ConfigValue::OneOf(_) => {
            let mut alternatives = versions
                .alternatives()
                .iter()
                .map(|versions| match versions {
                    ConfigValue::Absent => Some(BTreeMap::new()),
                    versions => version_paths(versions),
                });
            let first = alternatives.next()??;
            // Only the paths matter.
            let are_equal = alternatives.all(|it| it.as_ref() == Some(&first));
            return (are_equal && !versions.may_be_replaced()).then_some(first);
        }
        _ => return None,
    };
    if *versions.rest() != ConfigValue::Absent {
        return None;
    }
    let mut paths = BTreeMap::new();
    for (name, options) in versions.fields() {
        match options.get("path") {
            ConfigValue::Text(path) => {
                paths.insert(name.clone(), path.trim_matches('/').to_owned());
            }
            ConfigValue::Absent => {}
            _ => return None,
        }
    }
    Some(paths)
}

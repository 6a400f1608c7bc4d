//! Records where each setting was read, and which settings could not be read.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use super::value::ConfigValue;
use super::{SettingsError, bookrag_toml};

/// What to do about a setting that the config computes.
const IN_TOML: &str = "write the value into bookrag.toml";

/// A setting as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// The name in `bookrag.toml`: `title`, `docs.api.exclude`.
    pub name: String,
    /// The value as JSON; `null` if not set.
    pub value: String,
    /// The place where it was read.
    pub origin: Origin,
}

/// The place where a setting was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// A file of the site.
    File(String),
    /// Docusaurus's default.
    Default,
}

impl Origin {
    /// Returns the origin of a setting in `bookrag.toml`.
    #[must_use]
    pub fn toml() -> Self {
        Self::File(bookrag_toml::NAME.to_owned())
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::File(name) => name,
            Self::Default => "default",
        })
    }
}

/// Where the config computes settings, and what to do about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct ComputedAt {
    line: usize,
    /// True if the config also writes the settings out, but a computed part may replace or extend them.
    are_written: bool,
    remedy: &'static str,
}

/// Takes each setting from the first source that has it, and records that source.
#[derive(Debug, Default)]
pub(super) struct Picker {
    pub(super) config_name: &'static str,
    /// The current table of `bookrag.toml` with a trailing dot: `docs.api.`. Empty at the top level.
    pub(super) table: String,
    pub(super) origins: Vec<Setting>,
    pub(super) warnings: Vec<String>,
    /// The names of settings that the config computes.
    computed: BTreeMap<ComputedAt, Vec<String>>,
    /// Computed settings that decide which pages are built: the line, and what to write into `bookrag.toml` instead.
    undecided: Vec<(usize, String)>,
}

impl Picker {
    /// Takes a setting from `bookrag.toml`, or else from the config, or else the default.
    pub(super) fn pick<T: Serialize>(
        &mut self,
        name: &str,
        toml: Option<T>,
        config: &ConfigValue,
        convert: impl Fn(&ConfigValue) -> Option<T>,
        default: T,
    ) -> T {
        let (value, origin) = match toml {
            Some(value) => (value, Origin::toml()),
            None => match self.of_config(name, config, convert, IN_TOML) {
                Some(value) => (value, self.config_origin()),
                None => (default, Origin::Default),
            },
        };
        self.found(name, &value, origin);
        value
    }

    /// Like [`Self::pick`], for an optional setting.
    pub(super) fn optional<T: Serialize>(
        &mut self,
        name: &str,
        toml: Option<T>,
        config: &ConfigValue,
        convert: impl Fn(&ConfigValue) -> Option<T>,
    ) -> Option<T> {
        self.pick(
            name,
            toml.map(Some),
            config,
            |value| convert(value).map(Some),
            None,
        )
    }

    /// Like [`Self::pick`], for a setting that decides which files are pages. A wrong value would show excluded pages, so [`Self::check`]
    /// rejects a computed one.
    pub(super) fn pick_scope<T: Serialize>(
        &mut self,
        name: &str,
        toml: Option<T>,
        config: &ConfigValue,
        convert: impl Fn(&ConfigValue) -> Option<T>,
        default: T,
    ) -> T {
        if toml.is_none() && *config != ConfigValue::Absent && convert(config).is_none() {
            let usual = config.usual().and_then(|usual| convert(&usual));
            let default = usual.unwrap_or(default);
            self.refuse(name, &default, config);
            return default;
        }
        self.pick(name, toml, config, convert, default)
    }

    /// Records that `bookrag.toml` must have a setting, because the config's option is unknown.
    pub(super) fn refuse(&mut self, name: &str, default: &impl Serialize, option: &ConfigValue) {
        let value = serde_json::to_string(default).unwrap_or_default();
        let line = option.computed_line().unwrap_or(1);
        let alternatives = match option.alternatives() {
            [] => String::new(),
            _ => format!(" # in the config: {option}"),
        };
        let line_to_write = format!("{}{name} = {value}{alternatives}", self.table);
        self.undecided.push((line, line_to_write));
    }

    /// Takes a setting that only the config may have.
    pub(super) fn config_only<T>(
        &mut self,
        name: &str,
        config: &ConfigValue,
        convert: impl Fn(&ConfigValue) -> Option<T>,
    ) -> Option<T> {
        self.of_config(name, config, convert, "write the value there")
    }

    /// Converts an option of the config. If it is computed, warns with the `remedy`, and returns its value without the environment and without computed
    /// parts, if it has one.
    pub(super) fn of_config<T>(
        &mut self,
        name: &str,
        config: &ConfigValue,
        convert: impl Fn(&ConfigValue) -> Option<T>,
        remedy: &'static str,
    ) -> Option<T> {
        let value = convert(config);
        if value.is_some() || *config == ConfigValue::Absent {
            return value;
        }
        let file = self.config_name;
        let name = format!("{}{name}", self.table);
        let usual = config.usual();
        let known = config.known().and_then(|known| convert(&known));
        let is_partly_known = usual.is_none() && known.is_some();
        let are_written = config.may_be_replaced() || is_partly_known;
        let is_told_with_others =
            are_written || (config.alternatives().is_empty() && usual.is_none());
        match (config.computed_line(), &usual) {
            (Some(line), _) if is_told_with_others => {
                let at = ComputedAt {
                    line,
                    are_written,
                    remedy,
                };
                self.computed.entry(at).or_default().push(name);
            }
            (Some(line), Some(usual)) => self.warnings.push(format!(
                "{file}, line {line}: `{name}` depends on the environment ({config}); without its variables it is {usual}, which is \
                 used; otherwise {remedy}"
            )),
            (Some(line), None) => self.warnings.push(format!(
                "{file}, line {line}: `{name}` is computed ({config}), and the config is not run; {remedy}"
            )),
            (None, _) => self.warnings.push(format!(
                "{file}: the value of `{name}` is of another kind; {remedy}"
            )),
        }
        known
    }

    /// Returns the warnings for the author.
    pub(super) fn into_warnings(self) -> Vec<String> {
        let file = self.config_name;
        let computed = self.computed.into_iter().map(|(at, names)| {
            let verb = if names.len() == 1 { "is" } else { "are" };
            let names = names.join("`, `");
            let ComputedAt { line, remedy, .. } = at;
            if at.are_written {
                format!(
                    "{file}, line {line}: what is computed here may replace or extend `{names}`; what is written is used; otherwise {remedy}"
                )
            } else {
                format!("{file}, line {line}: `{names}` {verb} computed, and the config is not run; {remedy}")
            }
        });
        computed.chain(self.warnings).collect()
    }

    pub(super) fn config_origin(&self) -> Origin {
        Origin::File(self.config_name.to_owned())
    }

    /// Checks that no setting that decides which pages are built is computed.
    ///
    /// # Errors
    /// If the config computes which pages are built.
    pub(super) fn check(&self) -> Result<(), SettingsError> {
        let Some((line, _)) = self.undecided.first() else {
            return Ok(());
        };
        let lines: Vec<&str> = self
            .undecided
            .iter()
            .map(|(_, line)| line.as_str())
            .collect();
        Err(SettingsError {
            file: self.config_name.to_owned(),
            line: *line,
            reason: format!(
                "which pages are built is computed here, and the config is not run. Write into bookrag.toml what the site \
                 uses (`docs.default = false` leaves out the default docs). Without the environment and with Docusaurus's defaults that is:\n{}",
                lines.join("\n")
            ),
        })
    }

    /// True if the config computes which files are pages of the current plugin. Adds a warning that they are not read.
    pub(super) fn leaves_out(&mut self) -> bool {
        let undecided = std::mem::take(&mut self.undecided);
        let Some((line, _)) = undecided.first() else {
            return false;
        };
        let settings: Vec<&str> = undecided.iter().map(|(_, line)| line.as_str()).collect();
        self.warnings.push(format!(
            "{}, line {line}: which files are pages is computed here, and the config is not run; they are not read unless bookrag.toml \
             says which. Docusaurus's defaults are: {}",
            self.config_name,
            settings.join("; ")
        ));
        true
    }

    /// Returns the error for the value of the setting `name`, at the first line with `text` of the file that it was read from.
    pub(super) fn refused(
        &self,
        name: &str,
        text: &str,
        reason: &str,
        files: &BTreeMap<String, String>,
    ) -> SettingsError {
        let name = format!("{}{name}", self.table);
        let setting = self.origins.iter().find(|setting| setting.name == name);
        let file = match setting.map(|setting| &setting.origin) {
            Some(Origin::File(file)) => file.as_str(),
            _ => bookrag_toml::NAME,
        };
        let mut lines = files.get(file).into_iter().flat_map(|text| text.lines());
        let line = lines.position(|line| line.contains(text)).unwrap_or(0) + 1;
        SettingsError::new(file, line, reason)
    }

    pub(super) fn note(&mut self, name: &str, value: &impl Serialize) {
        self.found(name, value, Origin::toml());
    }

    pub(super) fn found(&mut self, name: &str, value: &impl Serialize, origin: Origin) {
        self.origins.push(Setting {
            name: format!("{}{name}", self.table),
            value: serde_json::to_string(value).unwrap_or_default(),
            origin,
        });
    }
}

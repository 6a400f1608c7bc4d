//! Where each setting was read.

use std::fmt;

use serde::Serialize;
use serde_json::Value;

use super::super::js_literals::is_computed;

/// A setting as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// Its name in `bookrag.toml`.
    pub name: &'static str,
    /// Its value, as JSON; `null` when it is not set.
    pub value: String,
    /// Where it was read.
    pub origin: Origin,
}

/// Where a setting was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// A file of the site.
    File(&'static str),
    /// Nowhere: Docusaurus's default.
    Default,
}

impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::File(name) => name,
            Self::Default => "default",
        })
    }
}

/// Takes each setting from the first place that has it, and notes which that was.
#[derive(Debug, Default)]
pub(super) struct Picker {
    pub(super) config_name: &'static str,
    pub(super) origins: Vec<Setting>,
    pub(super) warnings: Vec<String>,
}

impl Picker {
    /// From `bookrag.toml`, else from the config, else the default.
    pub(super) fn pick<T: Serialize>(
        &mut self,
        name: &'static str,
        toml: Option<T>,
        config: &Value,
        convert: impl Fn(&Value) -> Option<T>,
        default: T,
    ) -> T {
        let (value, origin) = match (toml, self.of_config(name, config, convert)) {
            (Some(value), _) => (value, Origin::File("bookrag.toml")),
            (None, Some(value)) => (value, Origin::File(self.config_name)),
            (None, None) => (default, Origin::Default),
        };
        self.found(name, &value, origin);
        value
    }

    /// As [`Self::pick`], of a setting that may be absent.
    pub(super) fn optional<T: Serialize>(
        &mut self,
        name: &'static str,
        toml: Option<T>,
        config: &Value,
        convert: impl Fn(&Value) -> Option<T>,
    ) -> Option<T> {
        let convert = |value: &Value| convert(value).map(Some);
        self.pick(name, toml.map(Some), config, convert, None)
    }

    /// A list that only the config may have.
    pub(super) fn list_only(&mut self, name: &'static str, config: &Value) -> Option<Vec<String>> {
        let list = self.of_config(name, config, super::docusaurus::strings)?;
        self.found(name, &list, Origin::File(self.config_name));
        Some(list)
    }

    fn of_config<T>(
        &mut self,
        name: &str,
        config: &Value,
        convert: impl Fn(&Value) -> Option<T>,
    ) -> Option<T> {
        let value = convert(config).filter(|_| !is_computed(config));
        if value.is_none() && !config.is_null() {
            self.warnings.push(format!(
                "{}: the value of `{name}` is computed there or of another kind; put it in bookrag.toml",
                self.config_name
            ));
        }
        value
    }

    /// Notes a setting of `bookrag.toml`.
    pub(super) fn note(&mut self, name: &'static str, value: &impl Serialize) {
        self.found(name, value, Origin::File("bookrag.toml"));
    }

    pub(super) fn found(&mut self, name: &'static str, value: &impl Serialize, origin: Origin) {
        self.origins.push(Setting {
            name,
            value: serde_json::to_string(value).unwrap_or_default(),
            origin,
        });
    }
}

//! The value of an expression, as far as it is known without running it.

use std::collections::BTreeMap;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum ConfigValue {
    /// Not set: `undefined` or `null`.
    Absent,
    Bool(bool),
    Number(f64),
    Text(String),
    /// An absolute path, stored relative to the site.
    SitePath(String),
    List(Vec<ConfigValue>),
    Map(ConfigMap),
    /// An expression on this line, whose value is only known when the file runs.
    Computed(usize),
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct ConfigMap {
    fields: BTreeMap<String, ConfigValue>,
    /// The value of all other fields: absent, or computed after a spread of something unknown.
    rest: Box<ConfigValue>,
}

const ABSENT: ConfigValue = ConfigValue::Absent;

impl ConfigValue {
    /// Returns a field of an object. Fields of computed values are computed.
    pub(super) fn get(&self, key: &str) -> &Self {
        match self {
            Self::Map(map) => map.fields.get(key).unwrap_or(&map.rest),
            Self::List(items) => key
                .parse()
                .map_or(&ABSENT, |at: usize| items.get(at).unwrap_or(&ABSENT)),
            Self::Computed(_) => self,
            _ => &ABSENT,
        }
    }

    pub(super) fn text(&self) -> Option<String> {
        match self {
            Self::Text(text) => Some(text.clone()),
            _ => None,
        }
    }

    /// Returns a path relative to the site.
    pub(super) fn path(&self) -> Option<String> {
        match self {
            Self::SitePath(path) => Some(path.clone()),
            value => value.text(),
        }
    }

    pub(super) fn bool(&self) -> Option<bool> {
        match self {
            Self::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// Returns a list of texts; `None` if any item is not a text.
    pub(super) fn texts(&self) -> Option<Vec<String>> {
        match self {
            Self::List(items) => items.iter().map(Self::text).collect(),
            _ => None,
        }
    }

    /// Returns the line of the first computed value inside this one.
    pub(super) fn computed_line(&self) -> Option<usize> {
        match self {
            Self::Computed(line) => Some(*line),
            Self::List(items) => items.iter().find_map(Self::computed_line),
            Self::Map(map) => {
                let rest = map.rest.computed_line();
                rest.or_else(|| map.fields.values().find_map(Self::computed_line))
            }
            _ => None,
        }
    }

    /// True if the value may be changed through another name.
    pub(super) fn is_shared(&self) -> bool {
        matches!(self, Self::List(_) | Self::Map(_))
    }

    /// Returns the keys of the fields or items that may be changed through another name.
    pub(super) fn shared_items(&self) -> Vec<String> {
        match self {
            Self::List(items) => {
                let items = items.iter().enumerate();
                let shared = items.filter(|(_, item)| item.is_shared());
                shared.map(|(at, _)| at.to_string()).collect()
            }
            Self::Map(map) => {
                let shared = map.fields().filter(|(_, field)| field.is_shared());
                shared.map(|(key, _)| key.clone()).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Returns the truth value in JavaScript; `None` if computed.
    pub(super) fn truth(&self) -> Option<bool> {
        match self {
            Self::Absent => Some(false),
            Self::Bool(value) => Some(*value),
            Self::Number(value) => Some(*value != 0.0 && !value.is_nan()),
            Self::Text(text) => Some(!text.is_empty()),
            Self::SitePath(_) | Self::List(_) | Self::Map(_) => Some(true),
            Self::Computed(_) => None,
        }
    }

    /// Merges two possible values, between which the expression on `line` decides.
    pub(super) fn or(self, other: Self, line: usize) -> Self {
        match (self, other) {
            (one, other) if one == other => one,
            (Self::Map(one), Self::Map(other)) => Self::Map(one.or(other, line)),
            (Self::List(one), Self::List(other)) if one.len() == other.len() => {
                let items = one.into_iter().zip(other);
                Self::List(items.map(|(one, other)| one.or(other, line)).collect())
            }
            _ => Self::Computed(line),
        }
    }

    pub(super) fn set(&mut self, path: &[String], value: Self) {
        let Some((key, path)) = path.split_first() else {
            *self = value;
            return;
        };
        let line = value.computed_line().unwrap_or(1);
        match self {
            Self::Map(map) => {
                let rest = map.rest.clone();
                let field = map.fields.entry(key.clone()).or_insert(*rest);
                field.set(path, value);
            }
            Self::List(items) => match key.parse().ok().and_then(|at: usize| items.get_mut(at)) {
                Some(item) => item.set(path, value),
                None => *self = Self::Computed(line),
            },
            Self::Computed(_) => {}
            _ => *self = Self::Computed(line),
        }
    }

    pub(super) fn at(&self, path: &[String]) -> &Self {
        path.iter().fold(self, |value, key| value.get(key))
    }
}

impl ConfigMap {
    pub(super) fn new() -> Self {
        Self {
            fields: BTreeMap::new(),
            rest: Box::new(ABSENT),
        }
    }

    pub(super) fn fields(&self) -> impl Iterator<Item = (&String, &ConfigValue)> {
        self.fields.iter()
    }

    pub(super) fn rest(&self) -> &ConfigValue {
        &self.rest
    }

    pub(super) fn insert(&mut self, key: String, value: ConfigValue) {
        self.fields.insert(key, value);
    }

    /// Adds the fields of `value`, like a spread. A computed value may have any field.
    pub(super) fn spread(&mut self, value: ConfigValue) {
        match value {
            ConfigValue::Map(map) => {
                if *map.rest != ABSENT {
                    self.spread(*map.rest);
                }
                self.fields.extend(map.fields);
            }
            ConfigValue::Computed(line) => {
                for field in self.fields.values_mut() {
                    *field = ConfigValue::Computed(line);
                }
                *self.rest = ConfigValue::Computed(line);
            }
            // The fields of lists and texts are numbers; other values have none.
            _ => {}
        }
    }

    fn or(mut self, mut other: Self, line: usize) -> Self {
        let keys: Vec<String> = self
            .fields
            .keys()
            .chain(other.fields.keys())
            .cloned()
            .collect();
        let mut fields = BTreeMap::new();
        for key in keys {
            let one = self.fields.remove(&key);
            let two = other.fields.remove(&key);
            if one.is_none() && two.is_none() {
                continue;
            }
            let one = one.unwrap_or_else(|| (*self.rest).clone());
            let two = two.unwrap_or_else(|| (*other.rest).clone());
            fields.insert(key, one.or(two, line));
        }
        let rest = Box::new(self.rest.or(*other.rest, line));
        Self { fields, rest }
    }
}

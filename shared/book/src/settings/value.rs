//! The value of an expression, as far as it is known without running it.

mod alternatives;

use std::collections::BTreeMap;
use std::fmt;

use alternatives::Alternatives;
pub(super) use alternatives::Decision;

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
    /// One of these values, between which a condition decides.
    OneOf(Alternatives),
    /// A function, on this line.
    Function(usize),
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
            Self::OneOf(alternatives) => &alternatives.fields,
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
            Self::Computed(line) | Self::Function(line) => Some(*line),
            Self::OneOf(alternatives) => Some(alternatives.decision.line),
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
        let mut alternatives = self.alternatives().iter();
        matches!(self, Self::List(_) | Self::Map(_)) || alternatives.any(Self::is_shared)
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
            Self::SitePath(_) | Self::List(_) | Self::Map(_) | Self::Function(_) => Some(true),
            // Another value may replace a single one.
            Self::OneOf(alternatives) if alternatives.values.len() == 1 => None,
            Self::OneOf(alternatives) => {
                let mut truths = alternatives.values.iter().map(Self::truth);
                let first = truths.next()??;
                truths.all(|truth| truth == Some(first)).then_some(first)
            }
            Self::Computed(_) => None,
        }
    }

    pub(super) fn is_scalar(&self) -> bool {
        matches!(
            self,
            Self::Absent | Self::Bool(_) | Self::Number(_) | Self::Text(_)
        )
    }

    /// Returns a number that is a position in a list.
    pub(super) fn index(&self) -> Option<usize> {
        match self {
            Self::Number(number) => number.to_string().parse().ok(),
            _ => None,
        }
    }

    /// Returns the list that `Object.keys`, `Object.values` or `Object.entries` makes of a known object.
    pub(super) fn into_items_by(self, function: &str) -> Option<Self> {
        let map = match self {
            Self::Map(map) if *map.rest == ABSENT => map,
            _ => return None,
        };
        let items: Option<Vec<Self>> = map
            .fields
            .into_iter()
            .map(|(key, value)| match function {
                "keys" => Some(Self::Text(key)),
                "values" => Some(value),
                "entries" => Some(Self::List(vec![Self::Text(key), value])),
                _ => None,
            })
            .collect();
        items.map(Self::List)
    }

    /// Returns the number of fields or items.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::List(items) => items.len(),
            Self::Map(map) => map.fields.len(),
            _ => 0,
        }
    }

    pub(super) fn set(&mut self, path: &[String], value: Self) {
        let Some((key, path)) = path.split_first() else {
            *self = value;
            return;
        };
        match self {
            Self::Map(map) => {
                let rest = map.rest.clone();
                let field = map.fields.entry(key.clone()).or_insert(*rest);
                field.set(path, value);
            }
            Self::List(items) => match key.parse::<usize>() {
                Ok(at) if at < items.len() => items[at].set(path, value),
                Ok(end) if end == items.len() && path.is_empty() => items.push(value),
                _ => *self = Self::unknown_after(&value),
            },
            Self::Computed(_) => {}
            _ => *self = Self::unknown_after(&value),
        }
    }

    /// Returns what a value becomes if a part is set that it does not have: computed, on the line of the part.
    fn unknown_after(part: &Self) -> Self {
        Self::Computed(part.computed_line().unwrap_or(1))
    }

    /// Returns the part at a path; `None` if it is not written.
    pub(super) fn at_mut(&mut self, path: &[String]) -> Option<&mut Self> {
        path.iter().try_fold(self, |value, key| match value {
            Self::Map(map) => map.fields.get_mut(key),
            Self::List(items) => items.get_mut(key.parse::<usize>().ok()?),
            _ => None,
        })
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

    pub(super) fn values(&self) -> impl Iterator<Item = &ConfigValue> {
        let rest = Some(&*self.rest).filter(|rest| **rest != ABSENT);
        self.fields.values().chain(rest)
    }

    pub(super) fn rest(&self) -> &ConfigValue {
        &self.rest
    }

    pub(super) fn insert(&mut self, key: String, value: ConfigValue) {
        self.fields.insert(key, value);
    }

    /// Adds the fields of `value`, like a spread. A computed value may set any field; if it does not, the fields keep their written values.
    pub(super) fn spread(&mut self, value: ConfigValue) {
        match value {
            ConfigValue::Map(map) => {
                if *map.rest != ABSENT {
                    self.spread(*map.rest);
                }
                self.fields.extend(map.fields);
            }
            ConfigValue::OneOf(alternatives) => {
                let maps = alternatives.values.into_iter().map(|value| {
                    let mut map = self.clone();
                    map.spread(value);
                    map
                });
                let merged = maps.reduce(|one, other| one.or(other, alternatives.decision));
                *self = merged.unwrap_or_else(Self::new);
            }
            ConfigValue::Computed(line) => {
                *self = std::mem::replace(self, Self::new()).unless_replaced(line);
            }
            // The fields of lists and texts are numbers; other values have none.
            _ => {}
        }
    }
}

/// Writes a value for people.
impl fmt::Display for ConfigValue {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent => formatter.write_str("not set"),
            Self::Bool(value) => write!(formatter, "{value}"),
            Self::Number(value) => write!(formatter, "{value}"),
            Self::Text(text) | Self::SitePath(text) => write!(formatter, "{text:?}"),
            Self::List(items) => {
                let items: Vec<String> = items.iter().map(Self::to_string).collect();
                write!(formatter, "[{}]", items.join(", "))
            }
            Self::Map(map) => {
                let fields = map.fields.iter();
                let fields: Vec<String> = fields
                    .map(|(key, value)| format!("{key}: {value}"))
                    .collect();
                write!(formatter, "{{{}}}", fields.join(", "))
            }
            Self::OneOf(alternatives) => {
                let values: Vec<String> = alternatives.values.iter().map(Self::to_string).collect();
                formatter.write_str(&values.join(" or "))
            }
            Self::Function(_) => formatter.write_str("a function"),
            Self::Computed(_) => formatter.write_str("computed"),
        }
    }
}

//! Values that depend on a condition.

use std::collections::BTreeMap;

use super::{ABSENT, ConfigMap, ConfigValue};

/// The most alternatives that are told apart.
const MAX_ALTERNATIVES: usize = 4;

#[derive(Debug, Clone, PartialEq)]
pub(in super::super) struct Alternatives {
    pub(super) values: Vec<ConfigValue>,
    pub(super) decision: Decision,
    /// The value of each field.
    pub(super) fields: Box<ConfigValue>,
}

impl Alternatives {
    pub(in super::super) fn line(&self) -> usize {
        self.decision.line
    }

    /// Returns the computed value that stands for all alternatives.
    pub(in super::super) fn computed(&self) -> &ConfigValue {
        &self.fields
    }
}

/// The place where a condition decides between values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in super::super) struct Decision {
    pub(in super::super) line: usize,
    /// True if the first value applies if no variable of the environment is set.
    pub(in super::super) usual_first: bool,
}

impl Decision {
    pub(in super::super) fn at(line: usize) -> Self {
        let usual_first = false;
        Self { line, usual_first }
    }
}

impl ConfigValue {
    /// Returns the items that a spread of this value adds to a list. Those that a condition adds may be absent.
    pub(in super::super) fn into_items(self) -> Option<Vec<Self>> {
        let Alternatives {
            values, decision, ..
        } = match self {
            Self::List(items) => return Some(items),
            Self::OneOf(alternatives) => alternatives,
            _ => return None,
        };
        let mut items = Vec::new();
        for (at, value) in values.into_iter().enumerate() {
            let possible = match value {
                Self::List(possible) => possible,
                Self::Absent => Vec::new(),
                _ => return None,
            };
            let possible = possible.into_iter();
            items.extend(possible.map(|item| {
                if at == 0 {
                    item.or(ABSENT, decision)
                } else {
                    ABSENT.or(item, decision)
                }
            }));
        }
        Some(items)
    }

    /// Returns the values between which a condition decides.
    pub(in super::super) fn alternatives(&self) -> &[Self] {
        match self {
            Self::OneOf(alternatives) => &alternatives.values,
            _ => &[],
        }
    }

    /// Returns the value that applies if no variable of the environment is set; `None` if that is not known either.
    pub(in super::super) fn usual(&self) -> Option<Self> {
        (!self.has_unknown()).then(|| self.known()).flatten()
    }

    /// Returns the value that applies if no variable of the environment is set, without the fields and items that are unknown even then; `None` if all of
    /// it is unknown.
    pub(in super::super) fn known(&self) -> Option<Self> {
        let known = match self {
            Self::OneOf(alternatives) if alternatives.decision.usual_first => {
                return alternatives.values[0].known();
            }
            Self::OneOf(_) | Self::Function(_) | Self::Computed(_) => return None,
            Self::List(items) => {
                let items = items.iter().filter_map(Self::known);
                Self::List(items.filter(|item| *item != ABSENT).collect())
            }
            Self::Map(map) => {
                let fields = map.fields.iter();
                let fields = fields.filter_map(|(key, value)| Some((key.clone(), value.known()?)));
                Self::Map(ConfigMap {
                    fields: fields.collect(),
                    rest: Box::new(ABSENT),
                })
            }
            value => return Some(value.clone()),
        };
        (known.len() > 0 || !self.has_unknown()).then_some(known)
    }

    /// True if a part of the value is unknown even if no variable of the environment is set.
    fn has_unknown(&self) -> bool {
        match self {
            Self::OneOf(alternatives) if alternatives.decision.usual_first => {
                alternatives.values[0].has_unknown()
            }
            Self::OneOf(_) | Self::Function(_) | Self::Computed(_) => true,
            Self::List(items) => items.iter().any(Self::has_unknown),
            Self::Map(map) => map.rest.has_unknown() || map.fields.values().any(Self::has_unknown),
            _ => false,
        }
    }

    /// Returns the values of a field that something unknown on `line` may replace: first this value, then an unknown one. A list of anything but
    /// texts, such as the plugins, becomes unknown as a whole.
    pub(in super::super) fn unless_replaced(self, line: usize) -> Self {
        let is_plain = match self {
            Self::Map(map) => return Self::Map(map.unless_replaced(line)),
            Self::OneOf(_) if self.may_be_replaced() => return self,
            Self::List(_) => self.texts().is_some(),
            ref value => value.is_scalar() && *value != ABSENT,
        };
        let decision = Decision {
            line,
            usual_first: true,
        };
        let fields = Box::new(Self::Computed(line));
        if is_plain {
            let values = vec![self];
            Self::OneOf(Alternatives {
                values,
                decision,
                fields,
            })
        } else {
            *fields
        }
    }

    /// True if the value is known as it is written, but [something unknown may replace it](Self::unless_replaced).
    pub(in super::super) fn may_be_replaced(&self) -> bool {
        match self {
            Self::OneOf(alternatives) => alternatives.values.len() == 1,
            Self::List(items) => {
                let unknown = items.iter().filter(|it| it.computed_line().is_some());
                let mut unknown = unknown.peekable();
                unknown.peek().is_some() && unknown.all(Self::may_be_replaced)
            }
            _ => false,
        }
    }

    /// Merges two possible values, between which `decision` decides.
    pub(in super::super) fn or(self, other: Self, decision: Decision) -> Self {
        match (self, other) {
            (Self::Map(one), Self::Map(other)) => Self::Map(one.or(other, decision)),
            (Self::List(one), Self::List(other)) if one.len() == other.len() => {
                let items = one.into_iter().zip(other);
                Self::List(items.map(|(one, other)| one.or(other, decision)).collect())
            }
            // Only compared here, so that each part is compared once.
            (one, other) if one == other => one,
            (one, other) => Self::one_of(one, other, decision),
        }
    }

    fn one_of(one: Self, other: Self, decision: Decision) -> Self {
        let usual_first = match &one {
            Self::OneOf(alternatives) => alternatives.decision.usual_first,
            _ => true,
        } && decision.usual_first;
        let decision = Decision {
            usual_first,
            ..decision
        };
        let values = [one, other].into_iter().flat_map(|value| match value {
            Self::OneOf(alternatives) => alternatives.values,
            value => vec![value],
        });
        let mut known: Vec<Self> = Vec::new();
        for value in values {
            if matches!(value, Self::Computed(_)) || known.len() == MAX_ALTERNATIVES {
                return Self::Computed(decision.line);
            }
            if !known.contains(&value) {
                known.push(value);
            }
        }
        Self::OneOf(Alternatives {
            values: known,
            decision,
            fields: Box::new(Self::Computed(decision.line)),
        })
    }
}

impl ConfigMap {
    /// Returns the map in which something unknown on `line` may replace each field.
    pub(super) fn unless_replaced(self, line: usize) -> Self {
        let fields = self.fields.into_iter();
        Self {
            fields: fields
                .map(|(key, value)| (key, value.unless_replaced(line)))
                .collect(),
            rest: Box::new(ConfigValue::Computed(line)),
        }
    }

    pub(super) fn or(mut self, mut other: Self, decision: Decision) -> Self {
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
            fields.insert(key, one.or(two, decision));
        }
        let rest = Box::new(self.rest.or(*other.rest, decision));
        Self { fields, rest }
    }
}

//! Reads values from JSON, paying for each before it is kept: ten bytes of text may need a hundred times as much memory.

use std::fmt;

use oxc_span::Span;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::super::budget::{Budget, KEY_COST, MAP_COST, Paid, VALUE_COST};
use super::super::value::{ConfigMap, ConfigValue};

/// Returns the value of a text; `None` if it is not JSON.
///
/// # Errors
/// If it costs more than is left.
pub(super) fn read_json(text: &str, budget: &Budget, at: Span) -> Paid<Option<ConfigValue>> {
    budget.pay(text.len(), at)?;
    let mut reader = serde_json::Deserializer::from_str(text);
    let value = Json { budget, at }.deserialize(&mut reader);
    // Fails if the budget was exceeded, since nothing is left then; any other error only means that the text is not JSON.
    budget.pay(VALUE_COST, at)?;
    Ok(value.ok().filter(|_| reader.end().is_ok()))
}

#[derive(Clone, Copy)]
struct Json<'b> {
    budget: &'b Budget,
    at: Span,
}

impl Json<'_> {
    fn pay<E: Error>(self, cost: usize) -> Result<(), E> {
        let paid = self.budget.pay(cost, self.at);
        paid.map_err(|_| E::custom("it costs too much"))
    }
}

impl<'de> DeserializeSeed<'de> for Json<'_> {
    type Value = ConfigValue;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<ConfigValue, D::Error> {
        self.pay(VALUE_COST)?;
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Json<'_> {
    type Value = ConfigValue;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<ConfigValue, E> {
        Ok(ConfigValue::Absent)
    }

    fn visit_bool<E>(self, value: bool) -> Result<ConfigValue, E> {
        Ok(ConfigValue::Bool(value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<ConfigValue, E> {
        Ok(ConfigValue::Number(value))
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "all numbers of JavaScript are `f64`"
    )]
    fn visit_i64<E>(self, value: i64) -> Result<ConfigValue, E> {
        Ok(ConfigValue::Number(value as f64))
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "all numbers of JavaScript are `f64`"
    )]
    fn visit_u64<E>(self, value: u64) -> Result<ConfigValue, E> {
        Ok(ConfigValue::Number(value as f64))
    }

    fn visit_str<E>(self, value: &str) -> Result<ConfigValue, E> {
        Ok(ConfigValue::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<ConfigValue, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(self)? {
            list.push(item);
        }
        Ok(ConfigValue::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<ConfigValue, A::Error> {
        self.pay(MAP_COST)?;
        let mut map = ConfigMap::new();
        while let Some(key) = fields.next_key::<String>()? {
            self.pay(KEY_COST + key.len())?;
            map.insert(key, fields.next_value_seed(self)?);
        }
        Ok(ConfigValue::Map(map))
    }
}

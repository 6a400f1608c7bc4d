//! Reads the integers of a request.

use std::fmt;

use serde::de::{Error, Unexpected, Visitor};
use serde::{Deserialize, Deserializer};

/// Reads an optional integer: `7`, or `7.0`, which is the same number in JSON.
pub(crate) fn whole_number<'de, D>(deserializer: D) -> Result<Option<usize>, D::Error>
where
    D: Deserializer<'de>,
{
    let number = Option::<Whole>::deserialize(deserializer)?;
    Ok(number.map(|Whole(number)| number))
}

struct Whole(usize);

impl<'de> Deserialize<'de> for Whole {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Number;

        impl Visitor<'_> for Number {
            type Value = Whole;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a whole number from 0")
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<Whole, E> {
                let whole = usize::try_from(number).map(Whole);
                whole.map_err(|_| E::invalid_value(Unexpected::Unsigned(number), &self))
            }

            fn visit_f64<E: Error>(self, number: f64) -> Result<Whole, E> {
                // An integer is written without a decimal point.
                let whole = number.to_string().parse().map(Whole);
                whole.map_err(|_| E::invalid_value(Unexpected::Float(number), &self))
            }
        }

        deserializer.deserialize_u64(Number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Deserialize)]
    struct Request {
        #[serde(default, deserialize_with = "whole_number")]
        top_k: Option<usize>,
    }

    fn read(json: &str) -> Result<Option<usize>, String> {
        let read = serde_json::from_str(json).map(|Request { top_k }| top_k);
        read.map_err(|error| error.to_string())
    }

    #[test]
    fn a_whole_number_is_one_however_json_writes_it() {
        for (json, expected) in [
            (r#"{"top_k": 7}"#, Some(7)),
            (r#"{"top_k": 7.0}"#, Some(7)),
            (r#"{"top_k": 7e0}"#, Some(7)),
            (r#"{"top_k": null}"#, None),
            ("{}", None),
        ] {
            assert_eq!(read(json), Ok(expected), "{json}");
        }
    }

    #[test]
    fn what_is_no_whole_number_is_named() {
        for (json, named) in [
            (r#"{"top_k": 7.5}"#, "7.5"),
            (r#"{"top_k": -7}"#, "-7"),
            (r#"{"top_k": -7.0}"#, "-7.0"),
            (r#"{"top_k": 1e300}"#, "1e+300"),
            (r#"{"top_k": "7"}"#, "\"7\""),
            (r#"{"top_k": true}"#, "true"),
        ] {
            let error = read(json).unwrap_err();
            assert!(error.contains(named), "{error}");
            assert!(error.contains("a whole number from 0"), "{error}");
        }
    }

    #[test]
    fn a_number_of_a_url_is_read_as_well() {
        let uri = "/?top_k=7".parse().unwrap();
        let request: Request = crate::api::url_query(&uri).unwrap();
        assert_eq!(request.top_k, Some(7));
        let uri = "/?top_k=7.5".parse().unwrap();
        assert!(crate::api::url_query::<Request>(&uri).is_err());
    }
}

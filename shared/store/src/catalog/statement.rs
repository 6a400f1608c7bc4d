//! Statements that both databases run with the same parameters.

use uuid::Uuid;

/// A statement in the dialects of both databases.
#[derive(Debug, Clone, Copy)]
pub(super) struct Statement {
    /// Also the text in traces.
    pub(super) postgres: &'static str,
    #[cfg_attr(
        not(feature = "embedded"),
        expect(dead_code, reason = "SQLite is left out")
    )]
    pub(super) sqlite: &'static str,
    /// True if SQLite runs it on a connection that waits for no writer.
    #[cfg_attr(
        not(feature = "embedded"),
        expect(dead_code, reason = "SQLite is left out")
    )]
    pub(super) for_readers: bool,
}

impl Statement {
    /// Creates a statement that both databases understand.
    pub(super) const fn new(text: &'static str) -> Self {
        Self::in_dialects(text, text)
    }

    /// Creates a statement that the databases write differently.
    pub(super) const fn in_dialects(postgres: &'static str, sqlite: &'static str) -> Self {
        Self {
            postgres,
            sqlite: in_order(sqlite),
            for_readers: false,
        }
    }

    /// Returns the statement for readers, whom no writer may delay.
    pub(super) const fn for_readers(self) -> Self {
        Self {
            for_readers: true,
            ..self
        }
    }
}

/// Checks that `$1`, `$2` and so on first occur in this order: to SQLite they are names, which it numbers as they occur.
pub(super) const fn in_order(text: &'static str) -> &'static str {
    let bytes = text.as_bytes();
    let (mut position, mut parameters) = (0, 0);
    while position < bytes.len() {
        let is_parameter = bytes[position] == b'$';
        position += 1;
        let mut number = 0;
        while is_parameter && position < bytes.len() && bytes[position].is_ascii_digit() {
            number = 10 * number + (bytes[position] - b'0');
            position += 1;
        }
        assert!(number <= parameters + 1, "a parameter is out of order");
        if number > parameters {
            parameters = number;
        }
    }
    text
}

/// A parameter of a statement.
#[derive(Debug, Clone, Copy)]
pub(super) enum Parameter<'a> {
    Flag(bool),
    Number(i64),
    OptionalNumber(Option<i64>),
    Text(&'a str),
    OptionalText(Option<&'a str>),
    Texts(Option<&'a [String]>),
    Id(Uuid),
    Ids(&'a [Uuid]),
    /// A time this many microseconds ago. SQLite gets the time, Postgres the number.
    Ago(i64),
    /// The present, in SQLite only. It comes last, because Postgres has `now()` and no such parameter.
    Now,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_in_order_may_recur() {
        in_order("SELECT '$.' || $1 WHERE a = $2 AND b = $1 AND c = $3");
    }

    #[test]
    #[should_panic(expected = "out of order")]
    fn parameters_out_of_order_are_refused() {
        in_order("UPDATE a SET b = $2 WHERE c = $1");
    }
}

//! Times in JSON: RFC 3339 in UTC with three digits of milliseconds, so that they sort as text.

use jiff::Timestamp;
use jiff::fmt::temporal::DateTimePrinter;
use serde::Serializer;

const PRINTER: DateTimePrinter = DateTimePrinter::new().precision(Some(3));

/// Serializes a time, for `#[serde(serialize_with = …)]`.
pub fn time<S: Serializer>(at: &Timestamp, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(&PRINTER.timestamp_to_string(at))
}

/// Serializes an optional time the same way.
pub fn optional_time<S: Serializer>(at: &Option<Timestamp>, to: S) -> Result<S::Ok, S::Error> {
    match at {
        Some(at) => time(at, to),
        None => to.serialize_none(),
    }
}

#[cfg(test)]
mod tests {
    use serde::Serialize;

    use super::*;

    #[derive(Serialize)]
    struct Times {
        #[serde(serialize_with = "time")]
        one: Timestamp,
        #[serde(serialize_with = "optional_time")]
        other: Option<Timestamp>,
    }

    #[test]
    fn milliseconds_have_three_digits() {
        let check = |one: &str, expected: &str| {
            let times = Times { one: one.parse().unwrap(), other: None };
            assert_eq!(
                serde_json::to_string(&times).unwrap(),
                format!("{{\"one\":\"{expected}\",\"other\":null}}")
            );
        };
        check("2026-01-02T03:04:05Z", "2026-01-02T03:04:05.000Z");
        check("2026-01-02T03:04:05.64Z", "2026-01-02T03:04:05.640Z");
        check("2026-01-02T03:04:05.640999Z", "2026-01-02T03:04:05.640Z");
    }
}

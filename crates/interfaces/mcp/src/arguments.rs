//! The arguments of a call as a request of the app.

use app::{Error, Kind};
use rmcp::model::JsonObject;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The argument that continues a list.
pub(crate) const CURSOR: &str = "cursor";

/// Parses the arguments as a request; `null` means absent.
pub(crate) fn parse<T: DeserializeOwned>(mut arguments: JsonObject) -> Result<T, Error> {
    arguments.retain(|_, value| !value.is_null());
    serde_path_to_error::deserialize(Value::Object(arguments)).map_err(|error| {
        let is_of_all = error.path().to_string() == ".";
        let whose = if is_of_all { "the arguments are invalid: " } else { "" };
        Error::new(Kind::Usage, format!("{whose}{}", what_is_wrong(&error)))
            .hint("the tool's input schema names its arguments; its description ends with an example")
    })
}

/// What is wrong with a value, and where in it; an error of the whole value names the field itself.
pub(crate) fn what_is_wrong(error: &serde_path_to_error::Error<serde_json::Error>) -> String {
    let (place, why) = (error.path().to_string(), in_plain_words(&error.inner().to_string()));
    if place == "." { why } else { format!("`{place}`: {why}") }
}

/// The message of a parser with JSON's names of types for Rust's.
fn in_plain_words(message: &str) -> String {
    let message = message.replacen("unknown variant", "unknown value", 1).replacen(
        "invalid type: map",
        "invalid type: object",
        1,
    );
    let message = message.replacen("invalid type: sequence", "invalid type: array", 1);
    match message.rsplit_once("expected ") {
        Some((before, "usize" | "u64" | "u32" | "u16" | "u8")) => format!("{before}expected a whole number"),
        Some((before, "f64" | "f32")) => format!("{before}expected a number"),
        Some((before, "a map")) => format!("{before}expected an object"),
        Some((before, "a sequence")) => format!("{before}expected an array"),
        _ => message,
    }
}

/// Removes the cursor: how many items of the list are skipped.
pub(crate) fn take_cursor(arguments: &mut JsonObject) -> Result<usize, Error> {
    match arguments.remove(CURSOR) {
        None | Some(Value::Null) => Ok(0),
        // Models send an empty string for no cursor, and a number for a string of digits.
        Some(Value::String(text)) if text.is_empty() => Ok(0),
        Some(Value::String(text)) => text.parse().map_err(|_| unknown_cursor(&text)),
        Some(Value::Number(number)) if number.is_u64() => {
            number.to_string().parse().map_err(|_| unknown_cursor(&number.to_string()))
        }
        Some(other) => Err(unknown_cursor(&other.to_string())),
    }
}

/// Removes an integer that the tool itself needs.
pub(crate) fn take_number(arguments: &mut JsonObject, name: &str) -> Result<Option<usize>, Error> {
    read_number(arguments, name);
    match arguments.remove(name) {
        None | Some(Value::Null) => Ok(None),
        Some(given) => given
            .as_u64()
            .and_then(|number| usize::try_from(number).ok())
            .map(Some)
            .ok_or_else(|| Error::new(Kind::Usage, format!("`{name}`: {given} is not a whole number"))),
    }
}

/// Replaces a string of digits, as models send them, by the integer; anything else is left for the app to refuse.
pub(crate) fn read_number(arguments: &mut JsonObject, name: &str) {
    let number = arguments.get(name).and_then(Value::as_str).and_then(|text| text.parse::<u64>().ok());
    if let Some(number) = number {
        arguments.insert(name.to_owned(), number.into());
    }
}

fn unknown_cursor(text: &str) -> Error {
    Error::new(Kind::Usage, format!("`{text}` is not a cursor"))
        .hint("give the `next_cursor` of an answer, or none")
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only what is wrong with them is looked at")]
    struct Request {
        query: String,
        limit: Option<usize>,
        workers: Option<Vec<u32>>,
    }

    #[test]
    fn what_is_wrong_is_said_of_the_argument() {
        let check = |arguments: Value, expected: &str| {
            let given = arguments.as_object().unwrap().clone();
            let found = parse::<Request>(given).map_or_else(|error| error.message, |_| String::new());
            assert_eq!(found, expected, "{arguments}");
        };
        check(json!({"query": "x", "limit": null}), "");
        check(
            json!({"query": "x", "limit": "ten"}),
            "`limit`: invalid type: string \"ten\", expected a whole number",
        );
        check(
            json!({"query": "x", "workers": [1, -1]}),
            "`workers[1]`: invalid value: integer `-1`, expected a whole number",
        );
        check(json!({"query": "x", "workers": {}}), "`workers`: invalid type: object, expected an array");
        check(json!({"limit": 1}), "the arguments are invalid: missing field `query`");
        let unknown = parse::<Request>(json!({"query": "x", "depth": 1}).as_object().unwrap().clone());
        assert!(unknown.unwrap_err().message.contains("unknown field `depth`"));
    }
}

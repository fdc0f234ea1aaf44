//! The arguments of a call as a request of the app.

use app::{Error, Kind};
use rmcp::model::JsonObject;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The name of the place in a list from which it goes on.
pub(crate) const CURSOR: &str = "cursor";

/// The request that arguments make; `null` is as good as none.
pub(crate) fn parse<T: DeserializeOwned>(mut arguments: JsonObject) -> Result<T, Error> {
    arguments.retain(|_, value| !value.is_null());
    serde_json::from_value(Value::Object(arguments))
        .map_err(|error| Error::caused(Kind::Usage, "the arguments are invalid", &error))
}

/// Takes out the cursor: how many of the list are passed over.
pub(crate) fn take_cursor(arguments: &mut JsonObject) -> Result<usize, Error> {
    match arguments.remove(CURSOR) {
        None | Some(Value::Null) => Ok(0),
        Some(Value::String(text)) => text.parse().map_err(|_| unknown_cursor(&text)),
        Some(other) => Err(unknown_cursor(&other.to_string())),
    }
}

fn unknown_cursor(text: &str) -> Error {
    Error::new(Kind::Usage, format!("`{text}` is no cursor")).hint("give the `next_cursor` of an answer")
}

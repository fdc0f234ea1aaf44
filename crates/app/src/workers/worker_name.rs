//! Worker names in requests: a number, or a text.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer};

/// A worker's number, which models write as a number and people as text, or its session's id.
pub(crate) struct WorkerName;

#[derive(Deserialize)]
#[serde(untagged, expecting = "a worker's number, or its session's id")]
enum Written {
    Number(i64),
    Text(String),
}

impl From<Written> for String {
    fn from(written: Written) -> Self {
        match written {
            Written::Number(number) => number.to_string(),
            Written::Text(text) => text,
        }
    }
}

/// Reads the name of one worker.
pub(crate) fn one<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    Written::deserialize(from).map(String::from)
}

/// Reads the names of several workers.
pub(crate) fn several<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    Vec::<Written>::deserialize(from).map(|all| all.into_iter().map(String::from).collect())
}

impl JsonSchema for WorkerName {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "WorkerName".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": ["integer", "string"]})
    }
}

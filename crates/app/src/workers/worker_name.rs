//! Worker names in requests: a number, or a text.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer};

/// A worker's number, which models write as a number and people as text, or its session's id.
pub(crate) struct WorkerName;

#[derive(Deserialize)]
#[serde(untagged, expecting = "a worker's number, or its session's id")]
enum NumberOrText {
    Number(i64),
    Text(String),
}

impl From<NumberOrText> for String {
    fn from(written: NumberOrText) -> Self {
        match written {
            NumberOrText::Number(number) => number.to_string(),
            NumberOrText::Text(text) => text,
        }
    }
}

/// Reads the name of one worker.
pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    NumberOrText::deserialize(from).map(String::from)
}

/// Reads a list of names, or one name alone, as models write it.
pub(crate) fn deserialize_list<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "expected a list of workers' numbers, or of their sessions' ids")]
    enum List {
        One(NumberOrText),
        Several(Vec<NumberOrText>),
    }
    Ok(match List::deserialize(from)? {
        List::One(one) => vec![one.into()],
        List::Several(all) => all.into_iter().map(String::from).collect(),
    })
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

//! Text in JSON, or in JSON5 as OpenClaw accepts it.

use std::fmt;

use serde::de::{self, DeserializeOwned};
use serde::ser::{SerializeMap as _, SerializeSeq as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// JSON5's reader has no bound of its own to how deep it follows; `serde_json` stops at the same depth.
const DEEPEST: usize = 128;

/// Reads a text; fails with what is wrong with it.
pub(crate) fn parse<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    let text = text.trim_start_matches('\u{feff}');
    match serde_json::from_str(text) {
        Ok(value) => Ok(value),
        Err(_) => parse_json5(text),
    }
}

/// A text in JSON5 as JSON, its members in their order.
pub(crate) fn as_json(text: &str) -> Result<String, String> {
    let value: Ordered = parse_json5(text)?;
    serde_json::to_string_pretty(&value).map_err(|error| error.to_string())
}

fn parse_json5<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    if depth(text) > DEEPEST {
        return Err(format!("is nested deeper than {DEEPEST} levels"));
    }
    json5::from_str(text).map_err(|error| format!("is neither JSON nor JSON5: {error}"))
}

/// At least how deep a text nests; brackets within strings and comments count as well.
fn depth(text: &str) -> usize {
    let mut open = 0_usize;
    let mut deepest = 0;
    for byte in text.bytes() {
        match byte {
            b'[' | b'{' => open += 1,
            b']' | b'}' => open = open.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(open);
    }
    deepest
}

/// A value whose members keep their order.
enum Ordered {
    Null,
    Bool(bool),
    Number(serde_json::Number),
    Text(String),
    Array(Vec<Self>),
    Object(Vec<(String, Self)>),
}

impl<'de> Deserialize<'de> for Ordered {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(OrderedVisitor)
    }
}

struct OrderedVisitor;

impl<'de> de::Visitor<'de> for OrderedVisitor {
    type Value = Ordered;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Ordered, E> {
        Ok(Ordered::Null)
    }

    fn visit_none<E>(self) -> Result<Ordered, E> {
        Ok(Ordered::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Ordered, E> {
        Ok(Ordered::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Ordered, E> {
        Ok(Ordered::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Ordered, E> {
        Ok(Ordered::Number(value.into()))
    }

    /// JSON has no infinity.
    #[expect(clippy::cast_possible_truncation, reason = "it is within the range of whole numbers")]
    fn visit_f64<E>(self, value: f64) -> Result<Ordered, E> {
        if value.fract() == 0.0 && value.abs() < 9.0e15 {
            return Ok(Ordered::Number((value as i64).into()));
        }
        Ok(serde_json::Number::from_f64(value).map_or(Ordered::Null, Ordered::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Ordered, E> {
        Ok(Ordered::Text(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Ordered, E> {
        Ok(Ordered::Text(value))
    }

    fn visit_seq<A: de::SeqAccess<'de>>(self, mut values: A) -> Result<Ordered, A::Error> {
        let mut found = Vec::new();
        while let Some(value) = values.next_element()? {
            found.push(value);
        }
        Ok(Ordered::Array(found))
    }

    fn visit_map<A: de::MapAccess<'de>>(self, mut members: A) -> Result<Ordered, A::Error> {
        let mut found = Vec::new();
        while let Some(member) = members.next_entry()? {
            found.push(member);
        }
        Ok(Ordered::Object(found))
    }
}

impl Serialize for Ordered {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => to.serialize_unit(),
            Self::Bool(value) => to.serialize_bool(*value),
            Self::Number(value) => value.serialize(to),
            Self::Text(value) => to.serialize_str(value),
            Self::Array(values) => {
                let mut sequence = to.serialize_seq(Some(values.len()))?;
                values.iter().try_for_each(|value| sequence.serialize_element(value))?;
                sequence.end()
            }
            Self::Object(members) => {
                let mut map = to.serialize_map(Some(members.len()))?;
                members.iter().try_for_each(|(key, value)| map.serialize_entry(key, value))?;
                map.end()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json5_becomes_json_in_its_order() {
        let text = "// ours\n{z: 1, 'a': [.5, 1e3, null, true,], \"m\": {b: 'x\\\n y', a: -Infinity,},}";
        let json = as_json(text).unwrap();
        let compact: String = json.split_whitespace().collect();
        assert_eq!(compact, r#"{"z":1,"a":[0.5,1000,null,true],"m":{"b":"xy","a":null}}"#);
        assert!(as_json("{").is_err() && as_json(&"[".repeat(1000)).is_err());
    }
}

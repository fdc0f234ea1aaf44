//! Writes changed JSON back so that it differs from the original text in the changed values alone.
//!
//! `serde_json::Value` sorts the keys of objects and normalizes numbers and escapes; other programs own the files that
//! are rewritten here. So every value that is unchanged is copied as it was written, and keys keep their order.

use std::collections::HashMap;

use serde::ser::{Serialize, SerializeMap as _, SerializeSeq as _, Serializer};
use serde::{Deserialize, Deserializer, de};
use serde_json::ser::{CompactFormatter, Formatter, PrettyFormatter};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// The text of `after`, laid out as `original` is, which is the JSON text of the value before the change.
///
/// New keys follow those that were there; without an original the text is indented by two spaces.
pub(crate) fn rewrite(original: Option<&str>, after: &Value) -> serde_json::Result<String> {
    let Some(original) = original else {
        return serde_json::to_string_pretty(after).map(|text| text + "\n");
    };
    let body = original.trim();
    let raw: &RawValue = serde_json::from_str(body)?;
    let before: Value = serde_json::from_str(body)?;
    let merged = Node::merged(raw, &before, after)?;
    let text = match indent(body) {
        Some(indent) => written(&merged, PrettyFormatter::with_indent(indent.as_bytes()))?,
        None => written(&merged, CompactFormatter)?,
    };
    let (start, end) = original.split_once(body).unwrap_or_default();
    Ok(format!("{start}{text}{end}"))
}

/// A JSON value of which the unchanged parts are still the text of the original.
enum Node<'a> {
    /// Text of the original.
    Unchanged(&'a RawValue),
    /// A new value.
    New(&'a Value),
    /// An object of which a field was changed, in the order of the original.
    Object(Vec<(String, Node<'a>)>),
    /// An array of which an element was changed.
    Array(Vec<Node<'a>>),
}

impl<'a> Node<'a> {
    fn merged(raw: &'a RawValue, before: &Value, after: &'a Value) -> serde_json::Result<Self> {
        if before == after {
            return Ok(Self::Unchanged(raw));
        }
        match (before, after) {
            (Value::Object(before), Value::Object(after)) => Self::object(raw, before, after),
            (Value::Array(before), Value::Array(after)) => Self::array(raw, before, after),
            _ => Ok(Self::New(after)),
        }
    }

    fn object(
        raw: &'a RawValue,
        before: &Map<String, Value>,
        after: &'a Map<String, Value>,
    ) -> serde_json::Result<Self> {
        let Fields(fields) = serde_json::from_str(raw.get())?;
        let mut merged: Vec<(String, Self)> = Vec::with_capacity(after.len());
        // Of a key that occurs twice the last value counts.
        let last: HashMap<&str, usize> =
            fields.iter().enumerate().map(|(at, (key, _))| (key.as_str(), at)).collect();
        for (at, (key, raw)) in fields.iter().enumerate() {
            if let (Some(before), Some(after), true) =
                (before.get(key), after.get(key), last[key.as_str()] == at)
            {
                merged.push((key.clone(), Self::merged(raw, before, after)?));
            }
        }
        let new = after.iter().filter(|(key, _)| !before.contains_key(*key));
        merged.extend(new.map(|(key, value)| (key.clone(), Self::New(value))));
        Ok(Self::Object(merged))
    }

    /// Elements are only ever dropped from the front, changed in place and added at the end.
    fn array(raw: &'a RawValue, before: &[Value], after: &'a [Value]) -> serde_json::Result<Self> {
        let elements: Vec<&RawValue> = serde_json::from_str(raw.get())?;
        let dropped = after.first().and_then(|first| before.iter().position(|one| one == first)).unwrap_or(0);
        let known = || elements.iter().zip(before).skip(dropped);
        let merged = after.iter().zip(known().map(Some).chain(std::iter::repeat(None)));
        let merged = merged.map(|(after, known)| match known {
            Some((raw, before)) => Self::merged(raw, before, after),
            None => Ok(Self::New(after)),
        });
        merged.collect::<serde_json::Result<_>>().map(Self::Array)
    }
}

impl Serialize for Node<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Unchanged(raw) => raw.serialize(to),
            Self::New(value) => value.serialize(to),
            Self::Object(fields) => {
                let mut map = to.serialize_map(Some(fields.len()))?;
                fields.iter().try_for_each(|(key, value)| map.serialize_entry(key, value))?;
                map.end()
            }
            Self::Array(elements) => {
                let mut sequence = to.serialize_seq(Some(elements.len()))?;
                elements.iter().try_for_each(|element| sequence.serialize_element(element))?;
                sequence.end()
            }
        }
    }
}

/// The fields of an object in the order of the text, duplicate keys included.
struct Fields<'a>(Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Fields<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Visitor;

        impl<'de> de::Visitor<'de> for Visitor {
            type Value = Fields<'de>;

            fn expecting(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                out.write_str("an object")
            }

            fn visit_map<A: de::MapAccess<'de>>(self, mut map: A) -> Result<Fields<'de>, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(Fields(fields))
            }
        }

        from.deserialize_map(Visitor)
    }
}

/// What the first field or element is indented by; `None` where all is on one line.
fn indent(text: &str) -> Option<&str> {
    let (first, rest) = text.split_once('\n')?;
    let is_opening = matches!(first.trim_end(), "{" | "[");
    is_opening.then(|| &rest[..rest.len() - rest.trim_start_matches([' ', '\t']).len()])
}

fn written(node: &Node<'_>, formatter: impl Formatter) -> serde_json::Result<String> {
    let mut bytes = Vec::new();
    node.serialize(&mut serde_json::Serializer::with_formatter(&mut bytes, formatter))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const ORIGINAL: &str = r#"{
  "version": 3,
  "zeta": {"kept": [1, 2.50, 1e2], "as": "written \u00e9\/"},
  "alpha": {
    "second": 2,
    "first": 1
  },
  "list": [
    {
      "b": 1,
      "a": 12345678901234567890123
    },
    {
      "b": 2,
      "a": 2
    }
  ],
  "end": null
}
"#;

    #[track_caller]
    fn check(original: &str, change: impl FnOnce(&mut Value), expected: &str) {
        let mut value: Value = serde_json::from_str(original).unwrap();
        change(&mut value);
        assert_eq!(rewrite(Some(original), &value).unwrap(), expected);
    }

    #[test]
    fn only_changed_values_differ() {
        check(ORIGINAL, |_| (), ORIGINAL);
        let changed = ORIGINAL.replace(r#""second": 2"#, r#""second": 22"#);
        check(ORIGINAL, |all| all["alpha"]["second"] = 22.into(), &changed);
        let changed = ORIGINAL.replace(r#""b": 1"#, r#""b": "one""#);
        check(ORIGINAL, |all| all["list"][0]["b"] = "one".into(), &changed);
        let changed = ORIGINAL.replace("\"end\": null", "\"end\": null,\n  \"a new key\": true");
        check(ORIGINAL, |all| all["a new key"] = true.into(), &changed);
        let without_first = |all: &mut Value| drop(all["list"].as_array_mut().unwrap().remove(0));
        let first = "    {\n      \"b\": 1,\n      \"a\": 12345678901234567890123\n    },\n";
        check(ORIGINAL, without_first, &ORIGINAL.replace(first, ""));
    }

    #[test]
    fn the_layout_is_that_of_the_original() {
        let compact = r#"{"b":1,"a":{"y":1.0,"x":2}}"#;
        check(compact, |all| all["b"] = 3.into(), r#"{"b":3,"a":{"y":1.0,"x":2}}"#);
        let tabs = "{\n\t\"b\": 1,\n\t\"a\": 2\n}";
        check(tabs, |all| all["a"] = 3.into(), "{\n\t\"b\": 1,\n\t\"a\": 3\n}");
        assert_eq!(rewrite(None, &json!({"b": 1})).unwrap(), "{\n  \"b\": 1\n}\n");
    }

    proptest::proptest! {
        #[test]
        fn unchanged_text_is_copied(keys in proptest::collection::vec("[a-z\"é]{1,4}", 1..8), number: f64) {
            let fields: Vec<String> =
                keys.iter().map(|key| format!("  {}: {number:?}", serde_json::to_string(key).unwrap())).collect();
            let text = format!("{{\n{}\n}}", fields.join(",\n"));
            proptest::prop_assume!(number.is_finite());
            let value: Value = serde_json::from_str(&text).unwrap();
            proptest::prop_assert_eq!(rewrite(Some(&text), &value).unwrap(), text);
        }
    }
}

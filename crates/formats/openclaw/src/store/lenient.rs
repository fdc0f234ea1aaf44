//! Lenient fields of JSON: a field with an unexpected type counts as absent and does not affect others.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

/// Reads one field for `deserialize_with`; `None` where it is null or of another type.
pub(crate) fn field<'de, T: Lenient, D: Deserializer<'de>>(from: D) -> Result<Option<T>, D::Error> {
    let raw = <&RawValue>::deserialize(from)?;
    Ok(T::read(raw.get()))
}

/// A type that a field may have.
pub(crate) trait Lenient: Sized {
    /// The value of this JSON text.
    fn read(text: &str) -> Option<Self>;
}

macro_rules! as_serde_does {
    ($($kind:ty),*) => {$(
        impl Lenient for $kind {
            fn read(text: &str) -> Option<Self> {
                read_with_serde(text)
            }
        }
    )*};
}
pub(crate) use as_serde_does;

as_serde_does!(bool, f64, String);

/// Reads a text as `serde` does.
pub(crate) fn read_with_serde<T: DeserializeOwned>(text: &str) -> Option<T> {
    serde_json::from_str::<Option<T>>(text).ok().flatten()
}

/// Reads the text of an object; `serde` would also take a list for one.
pub(crate) fn read_object<T: DeserializeOwned>(text: &str) -> Option<T> {
    text.trim_start().starts_with('{').then(|| serde_json::from_str(text).ok()).flatten()
}

impl Lenient for i64 {
    /// JavaScript writes large and computed whole numbers with a fraction or an exponent.
    #[expect(clippy::cast_possible_truncation, reason = "it is within the range of whole numbers")]
    fn read(text: &str) -> Option<Self> {
        let number: f64 = read_with_serde(text)?;
        text.parse().ok().or_else(|| (number.abs() < 9.0e15).then_some(number.trunc() as Self))
    }
}

impl Lenient for BTreeMap<String, String> {
    fn read(text: &str) -> Option<Self> {
        let fields: BTreeMap<String, Box<RawValue>> = serde_json::from_str(text).ok()?;
        Some(fields.into_iter().filter_map(|(key, raw)| Some((key, String::read(raw.get())?))).collect())
    }
}

/// JSON that is kept as written and not parsed.
#[derive(Debug, Clone, Serialize)]
#[serde(transparent)]
pub struct OpaqueJson(Box<RawValue>);

impl OpaqueJson {
    /// Its text.
    pub fn get(&self) -> &str {
        self.0.get()
    }
}

impl PartialEq for OpaqueJson {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl Lenient for OpaqueJson {
    fn read(text: &str) -> Option<Self> {
        (text != "null").then(|| RawValue::from_string(text.to_owned()).ok().map(Self)).flatten()
    }
}

//! One line under construction: a JSON object that keeps its fields in order, because real readers look at
//! a line's first bytes.

use serde::Serialize;

/// Fields in order, each value already in JSON.
#[derive(Debug, Clone, Default)]
pub(super) struct Record(Vec<(String, String)>);

impl Record {
    pub(super) fn new() -> Self {
        Self::default()
    }

    /// With one more field.
    pub(super) fn with(mut self, key: &str, value: impl Serialize) -> Self {
        self.set(key, value);
        self
    }

    /// With one more field when there is a value.
    pub(super) fn with_some(self, key: &str, value: Option<impl Serialize>) -> Self {
        match value {
            Some(value) => self.with(key, value),
            None => self,
        }
    }

    /// With a field that is an object in a stated order.
    pub(super) fn nest(mut self, key: &str, inner: &Self) -> Self {
        self.put(key, inner.to_json());
        self
    }

    /// With a field that is a list of such objects.
    pub(super) fn nest_all(mut self, key: &str, inner: &[Self]) -> Self {
        let all: Vec<_> = inner.iter().map(Self::to_json).collect();
        self.put(key, format!("[{}]", all.join(",")));
        self
    }

    /// With all fields of another record.
    pub(super) fn join(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    /// Sets a field in its place, else at the end.
    pub(super) fn set(&mut self, key: &str, value: impl Serialize) {
        self.put(key, serde_json::to_string(&value).expect("a value that is JSON"));
    }

    /// A field that is a string.
    pub(super) fn text(&self, key: &str) -> Option<String> {
        let (_, json) = self.0.iter().find(|(name, _)| name == key)?;
        serde_json::from_str(json).ok()
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.0.iter().any(|(name, _)| name == key)
    }

    pub(super) fn to_json(&self) -> String {
        let fields: Vec<_> = self.0.iter().map(|(key, json)| format!("\"{key}\":{json}")).collect();
        format!("{{{}}}", fields.join(","))
    }

    fn put(&mut self, key: &str, json: String) {
        match self.0.iter_mut().find(|(name, _)| name == key) {
            Some((_, old)) => *old = json,
            None => self.0.push((key.to_owned(), json)),
        }
    }
}

//! The white space with which a JSON object is written, so that what is added looks like what is there.

use serde_json::Value;

/// The white space before a member and before the closing bracket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(super) inner: String,
    pub(super) outer: String,
}

impl Layout {
    /// That of an object with this white space before its first member and behind its last.
    pub(super) fn new(inner: &str, outer: &str) -> Self {
        Self { inner: inner.to_owned(), outer: outer.to_owned() }
    }

    /// That of a file as OpenClaw writes it: one member to a line, indented by two spaces.
    pub(crate) fn of_file() -> Self {
        Self { inner: "\n  ".to_owned(), outer: "\n".to_owned() }
    }

    /// That of a line: without any white space.
    pub(crate) fn of_line() -> Self {
        Self { inner: String::new(), outer: String::new() }
    }

    /// That of an object that is the value of a member laid out like this.
    pub(super) fn within(&self) -> Self {
        let inner = if self.inner.contains('\n') { self.inner.clone() + self.unit() } else { String::new() };
        Self { inner, outer: self.inner.clone() }
    }

    fn unit(&self) -> &'static str {
        if self.inner.ends_with('\t') { "\t" } else { "  " }
    }

    /// A value as it is written behind a key.
    pub(super) fn render(&self, value: &Value) -> serde_json::Result<String> {
        if !self.inner.contains('\n') {
            return serde_json::to_string(value);
        }
        let mut bytes = Vec::new();
        let formatter = serde_json::ser::PrettyFormatter::with_indent(self.unit().as_bytes());
        serde::Serialize::serialize(
            value,
            &mut serde_json::Serializer::with_formatter(&mut bytes, formatter),
        )?;
        // A line break within a string is escaped.
        Ok(String::from_utf8_lossy(&bytes).replace('\n', &self.inner))
    }

    pub(super) fn colon(&self) -> &'static str {
        if self.inner.contains('\n') { ": " } else { ":" }
    }
}

//! The text of a JSON object that is changed in place: what is not changed keeps every byte, order included.
//!
//! `serde_json` reads it; the places of its members are those of the values that it returns.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{self, Write};
use std::ops::Range;

use serde::de::{self, Deserializer as _};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// The text of an object, and what is to be changed in it.
#[derive(Debug, Clone)]
pub(crate) struct JsonObject<'a> {
    text: Cow<'a, str>,
    members: Vec<Member>,
    /// The last of the members with a name, which is the one that counts.
    by_key: HashMap<String, usize>,
    added: Vec<(String, String)>,
    /// The white space around a member where the text has none to copy.
    layout: Layout,
}

#[derive(Debug, Clone)]
struct Member {
    key: String,
    /// From behind the bracket or comma before it to the comma or white space behind it.
    whole: Range<usize>,
    value: Range<usize>,
    change: Change,
}

#[derive(Debug, Clone)]
enum Change {
    None,
    Removed,
    Value(String),
    /// Under another name, with the value it has.
    Key(String),
}

/// The white space before a member and before the closing bracket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Layout {
    inner: String,
    outer: String,
}

impl Layout {
    /// That of a file as OpenClaw writes it: one member to a line, indented by two spaces.
    pub(crate) fn of_file() -> Self {
        Self { inner: "\n  ".to_owned(), outer: "\n".to_owned() }
    }

    /// That of a line: without any white space.
    pub(crate) fn of_line() -> Self {
        Self { inner: String::new(), outer: String::new() }
    }

    /// That of an object that is the value of a member laid out like this.
    fn within(&self) -> Self {
        let inner = if self.inner.contains('\n') { self.inner.clone() + self.unit() } else { String::new() };
        Self { inner, outer: self.inner.clone() }
    }

    fn unit(&self) -> &'static str {
        if self.inner.ends_with('\t') { "\t" } else { "  " }
    }

    /// A value as it is written behind a key.
    fn render(&self, value: &Value) -> serde_json::Result<String> {
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

    fn colon(&self) -> &'static str {
        if self.inner.contains('\n') { ": " } else { ":" }
    }
}

impl<'a> JsonObject<'a> {
    /// Reads the text of an object; `layout` is for one that has no members yet.
    pub(crate) fn parse(text: impl Into<Cow<'a, str>>, layout: Layout) -> serde_json::Result<Self> {
        let text = text.into();
        let members = members(&text)?;
        Ok(Self::of_members(text, members, layout))
    }

    fn of_members(text: Cow<'a, str>, members: Vec<Member>, layout: Layout) -> Self {
        let by_key = members.iter().enumerate().map(|(at, member)| (member.key.clone(), at)).collect();
        let layout = match members.first() {
            Some(first) => {
                let before = &text[first.whole.start..];
                let inner = &before[..before.len() - before.trim_start().len()];
                let end = members.last().map_or(0, |last| last.whole.end);
                let behind = &text[end..];
                let outer = &behind[..behind.len() - behind.trim_start().len()];
                Layout { inner: inner.to_owned(), outer: outer.to_owned() }
            }
            None => layout,
        };
        Self { text, members, by_key, added: Vec::new(), layout }
    }

    /// An object without members.
    pub(crate) fn empty() -> Self {
        Self::of_members(Cow::Borrowed("{}"), Vec::new(), Layout::of_file())
    }

    /// Reads the text of a file; hands it back where it is none of an object.
    pub(crate) fn of_file(text: String) -> Result<Self, (serde_json::Error, String)> {
        match members(&text) {
            Ok(members) => Ok(Self::of_members(Cow::Owned(text), members, Layout::of_file())),
            Err(error) => Err((error, text)),
        }
    }

    /// The names of its members, in order; one that occurs twice is named where it counts.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &str> {
        let is_last = |(at, member): &(usize, &Member)| self.by_key.get(&member.key) == Some(at);
        let kept = self.members.iter().enumerate().filter(is_last);
        let kept = kept.filter_map(|(_, member)| match &member.change {
            Change::Removed => None,
            Change::Key(key) => Some(key.as_str()),
            Change::None | Change::Value(_) => Some(member.key.as_str()),
        });
        kept.chain(self.added.iter().map(|(key, _)| key.as_str()))
    }

    /// The text of a member's value.
    pub(crate) fn get(&self, key: &str) -> Option<&str> {
        if let Some((_, value)) = self.added.iter().find(|(known, _)| known == key) {
            return Some(value);
        }
        let named = |member: &Member| match &member.change {
            Change::Removed => false,
            Change::Key(name) => name == key,
            Change::None | Change::Value(_) => member.key == key,
        };
        let member = match self.by_key.get(key).map(|at| &self.members[*at]).filter(|member| named(member)) {
            Some(member) => member,
            // A member under another name than it had is rare.
            None => self
                .members
                .iter()
                .find(|member| matches!(&member.change, Change::Key(name) if name == key))?,
        };
        Some(match &member.change {
            Change::Value(text) => text,
            _ => &self.text[member.value.clone()],
        })
    }

    /// Sets a member to this text, at its place, or behind the others.
    pub(crate) fn set_text(&mut self, key: &str, value: String) {
        if let Some((_, text)) = self.added.iter_mut().find(|(known, _)| known == key) {
            *text = value;
            return;
        }
        match self.by_key.get(key).copied() {
            Some(at) => self.members[at].change = Change::Value(value),
            None => self.added.push((key.to_owned(), value)),
        }
    }

    /// Sets a member.
    pub(crate) fn set(&mut self, key: &str, value: &Value) -> serde_json::Result<()> {
        let text = self.layout.render(value)?;
        self.set_text(key, text);
        Ok(())
    }

    /// Removes a member; returns whether it was there.
    pub(crate) fn remove(&mut self, key: &str) -> bool {
        let was = self.get(key).is_some();
        self.added.retain(|(known, _)| known != key);
        for member in self.members.iter_mut().filter(|member| member.key == key) {
            member.change = Change::Removed;
        }
        was
    }

    /// Gives a member another name.
    pub(crate) fn rename(&mut self, from: &str, to: &str) {
        if let Some(at) = self.by_key.get(from).copied() {
            self.members[at].change = Change::Key(to.to_owned());
        }
    }

    /// The layout of an object that is a member's value.
    pub(crate) fn layout_within(&self) -> Layout {
        self.layout.within()
    }

    /// Enters what differs between two readings of this object. What neither reading knows stays as it is, also within
    /// objects that are the value of a member.
    pub(crate) fn enter(
        &mut self,
        before: &Map<String, Value>,
        after: &Map<String, Value>,
    ) -> serde_json::Result<()> {
        for key in before.keys().filter(|key| !after.contains_key(*key)) {
            self.remove(key);
        }
        // The two that every entry has come first in a new one.
        let first = ["sessionId", "updatedAt"].into_iter().filter_map(|key| after.get_key_value(key));
        let rest = after.iter().filter(|(key, _)| !matches!(key.as_str(), "sessionId" | "updatedAt"));
        for (key, value) in first.chain(rest) {
            let known = before.get(key);
            if known == Some(value) {
                continue;
            }
            if let (Some(Value::Object(known)), Value::Object(value)) = (known, value)
                && let Some(text) = self.get(key)
            {
                let mut inner = JsonObject::parse(text.to_owned(), self.layout.within())?;
                inner.enter(known, value)?;
                let text = inner.into_text();
                self.set_text(key, text);
                continue;
            }
            self.set(key, value)?;
        }
        Ok(())
    }

    /// Whether anything was changed.
    pub(crate) fn is_changed(&self) -> bool {
        !self.added.is_empty() || self.members.iter().any(|member| !matches!(member.change, Change::None))
    }

    /// Writes the text as it is now.
    pub(crate) fn write_to(&self, out: &mut dyn Write) -> io::Result<()> {
        let text = &*self.text;
        let open = text.find('{').map_or(0, |at| at + 1);
        out.write_all(&text.as_bytes()[..open])?;
        let mut is_first = true;
        let mut comma = |out: &mut dyn Write| {
            let is_behind = !std::mem::replace(&mut is_first, false);
            if is_behind { out.write_all(b",") } else { Ok(()) }
        };
        for member in &self.members {
            match &member.change {
                Change::Removed => {}
                Change::None => {
                    comma(out)?;
                    out.write_all(&text.as_bytes()[member.whole.clone()])?;
                }
                Change::Value(value) => {
                    comma(out)?;
                    out.write_all(&text.as_bytes()[member.whole.start..member.value.start])?;
                    out.write_all(value.as_bytes())?;
                    out.write_all(&text.as_bytes()[member.value.end..member.whole.end])?;
                }
                Change::Key(key) => {
                    comma(out)?;
                    self.write_key(out, key)?;
                    out.write_all(&text.as_bytes()[member.value.start..member.whole.end])?;
                }
            }
        }
        for (key, value) in &self.added {
            comma(out)?;
            self.write_key(out, key)?;
            out.write_all(value.as_bytes())?;
        }
        let end = self.members.last().map_or(open, |last| last.whole.end);
        let behind = &text[end..];
        match (self.members.is_empty(), is_first) {
            (false, false) | (true, true) => out.write_all(behind.as_bytes()),
            // It was empty, or is now.
            (true, false) => {
                out.write_all(self.layout.outer.as_bytes())?;
                out.write_all(behind.trim_start().as_bytes())
            }
            (false, true) => out.write_all(behind.trim_start().as_bytes()),
        }
    }

    fn write_key(&self, out: &mut dyn Write, key: &str) -> io::Result<()> {
        out.write_all(self.layout.inner.as_bytes())?;
        serde_json::to_writer(&mut *out, key)?;
        out.write_all(self.layout.colon().as_bytes())
    }

    /// The text as it is now.
    pub(crate) fn into_text(self) -> String {
        if !self.is_changed() {
            return self.text.into_owned();
        }
        let mut bytes = Vec::with_capacity(self.text.len());
        // Writing to memory cannot fail, and all parts are UTF-8.
        let _ = self.write_to(&mut bytes);
        String::from_utf8(bytes).unwrap_or_default()
    }
}

fn members(text: &str) -> serde_json::Result<Vec<Member>> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let found = reader.deserialize_map(Values)?;
    reader.end()?;
    let begin = text.as_ptr().addr();
    let mut start = text.find('{').map_or(0, |at| at + 1);
    let mut members: Vec<Member> = Vec::with_capacity(found.len());
    for (key, raw) in found {
        let from = raw.get().as_ptr().addr() - begin;
        let value = from..from + raw.get().len();
        // Between a value and the next member there are white space and a comma alone.
        let comma = text[value.end..].find(|c: char| !c.is_ascii_whitespace());
        let comma = comma.map_or(text.len(), |at| value.end + at);
        let is_last = !text[comma..].starts_with(',');
        let end = if is_last { value.end } else { comma };
        members.push(Member { key, whole: start..end, value, change: Change::None });
        start = comma + 1;
    }
    Ok(members)
}

/// The members of an object, their values not looked into.
struct Values;

impl<'de> de::Visitor<'de> for Values {
    type Value = Vec<(String, &'de RawValue)>;

    fn expecting(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("an object")
    }

    fn visit_map<A: de::MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(members)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(text: &str, change: impl FnOnce(&mut JsonObject<'_>), expected: &str) {
        let mut object = JsonObject::parse(text, Layout::of_file()).unwrap();
        change(&mut object);
        assert_eq!(object.into_text(), expected);
    }

    #[test]
    fn what_is_not_changed_keeps_every_byte() {
        let text = " {\n\t\"b\" :1.50 ,  \"a\": {\"é\":  \"\\u00e9\"},\n\"c\":[ 1 ] } \n";
        check(text, |_| (), text);
        check(text, |all| all.set("a", &json!(2)).unwrap(), &text.replace("{\"é\":  \"\\u00e9\"}", "2"));
        check(
            text,
            |all| {
                all.remove("b");
            },
            &text.replace("\n\t\"b\" :1.50 ,", ""),
        );
        check(
            text,
            |all| {
                all.remove("c");
            },
            &text.replace(",\n\"c\":[ 1 ]", ""),
        );
        check(
            text,
            |all| all.set("d", &json!([])).unwrap(),
            &text.replace("[ 1 ] }", "[ 1 ],\n\t\"d\": [] }"),
        );
        check(text, |all| all.rename("a", "x"), &text.replace("  \"a\":", "\n\t\"x\":"));
    }

    #[test]
    fn an_empty_object_is_laid_out_as_openclaw_does() {
        let expected = "{\n  \"a\": {\n    \"b\": [\n      1\n    ]\n  }\n}";
        check("{}", |all| all.set("a", &json!({"b": [1]})).unwrap(), expected);
        check(
            expected,
            |all| {
                all.remove("a");
            },
            "{}",
        );
        check("{\"a\":1}", |all| all.set("b", &json!({"c": 2})).unwrap(), "{\"a\":1,\"b\":{\"c\":2}}");
    }

    #[test]
    fn of_members_with_one_name_the_last_counts() {
        let text = r#"{"a": 1, "b": 2, "a": 3}"#;
        check(text, |all| all.set("a", &json!(4)).unwrap(), r#"{"a": 1, "b": 2, "a": 4}"#);
        check(
            text,
            |all| {
                all.remove("a");
            },
            r#"{ "b": 2}"#,
        );
        let object = JsonObject::parse(text, Layout::of_file()).unwrap();
        assert_eq!((object.keys().collect::<Vec<_>>(), object.get("a")), (vec!["b", "a"], Some("3")));
    }

    #[test]
    fn objects_within_are_changed_in_place_too() {
        let text = "{\n  \"a\": {\n    \"known\": 1,\n    \"unknown\": [ ]\n  }\n}";
        let map = |value: Value| value.as_object().cloned().unwrap();
        check(
            text,
            |all| {
                let after = json!({"a": {"known": 2, "new": true}});
                all.enter(&map(json!({"a": {"known": 1}})), &map(after)).unwrap();
            },
            "{\n  \"a\": {\n    \"known\": 2,\n    \"unknown\": [ ],\n    \"new\": true\n  }\n}",
        );
    }

    #[test]
    fn what_is_no_object_is_refused() {
        for bad in ["", "[]", "{", "{\"a\":}", "{} x", "null"] {
            assert!(JsonObject::parse(bad, Layout::of_file()).is_err(), "{bad}");
        }
    }

    proptest::proptest! {
        #[test]
        fn changes_read_back(
            keys in proptest::collection::vec("[a-c\"é]{0,2}", 0..8), gap in "[ \t\n]{0,3}", at: usize, number: i32,
        ) {
            let member = |key: &String| format!("{gap}{}{gap}:{gap}1{gap}", serde_json::to_string(key).unwrap());
            let text = format!("{{{}}}", keys.iter().map(member).collect::<Vec<_>>().join(","));
            let mut object = JsonObject::parse(text.clone(), Layout::of_file()).unwrap();
            proptest::prop_assert_eq!(object.clone().into_text(), text.clone());
            let mut expected: Map<String, Value> = serde_json::from_str(&text).unwrap();
            let key = keys.get(at % (keys.len() + 1)).cloned().unwrap_or_else(|| "new".into());
            if number % 2 == 0 {
                object.remove(&key);
                expected.remove(&key);
            } else {
                object.set(&key, &json!(number)).unwrap();
                expected.insert(key, json!(number));
            }
            let found: Map<String, Value> = serde_json::from_str(&object.into_text()).unwrap();
            proptest::prop_assert_eq!(found, expected);
        }
    }
}

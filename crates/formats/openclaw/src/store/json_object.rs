//! The text of a JSON object that is changed in place: what is not changed keeps every byte, order included.

use std::borrow::Cow;
use std::ops::Range;

use serde_json::{Map, Value};

use super::layout::Layout;
use super::member_ranges::ObjectRanges;
use super::object_members::{Members, ValuePlace};

/// The text of an object, and what is to be changed in it.
#[derive(Debug, Clone)]
pub(crate) struct JsonObject<'a> {
    text: Cow<'a, str>,
    members: Members,
}

impl<'a> JsonObject<'a> {
    /// Reads the text of an object; `layout` is for one that has no members yet.
    pub(crate) fn parse(text: impl Into<Cow<'a, str>>, layout: Layout) -> serde_json::Result<Self> {
        let text = text.into();
        let members = members(&text, layout)?;
        Ok(Self { text, members })
    }

    /// The names of its members, in order; one that occurs twice is named where it counts.
    #[cfg(test)]
    pub(crate) fn keys(&self) -> impl Iterator<Item = &str> {
        self.members.keys()
    }

    /// The text of a member's value.
    pub(crate) fn get(&self, key: &str) -> Option<&str> {
        self.members.value(key).map(|value| match value {
            ValuePlace::New(text) => text,
            ValuePlace::InText(range) => part(&self.text, &range),
        })
    }

    /// Sets a member to this text, at its place, or behind the others.
    pub(crate) fn set_text(&mut self, key: &str, value: String) {
        self.members.set(key, value);
    }

    /// Sets a member.
    pub(crate) fn set(&mut self, key: &str, value: &Value) -> serde_json::Result<()> {
        let text = self.members.layout().render(value)?;
        self.set_text(key, text);
        Ok(())
    }

    /// Removes a member; returns whether it was there.
    pub(crate) fn remove(&mut self, key: &str) -> bool {
        self.members.remove(key)
    }

    /// Gives a member another name.
    pub(crate) fn rename(&mut self, from: &str, to: &str) {
        self.members.rename(from, to);
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
                let mut inner = JsonObject::parse(text.to_owned(), self.members.layout().within())?;
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
        self.members.is_changed()
    }

    /// The text as it is now.
    pub(crate) fn into_text(self) -> String {
        if !self.is_changed() {
            return self.text.into_owned();
        }
        let mut bytes = Vec::with_capacity(self.text.len());
        // Writing to memory cannot fail, and all parts are UTF-8.
        let _ = self
            .members
            .write_to(&mut bytes, |range, out| out.write_all(part(&self.text, &range).as_bytes()));
        String::from_utf8(bytes).unwrap_or_default()
    }
}

/// The members of the object in a text; `layout` is for one that has none yet.
pub(super) fn members(text: &str, layout: Layout) -> serde_json::Result<Members> {
    let found = ObjectRanges::of_text(text)?;
    let layout = match found.members.first() {
        Some(_) => Layout::new(part(text, &found.inner), part(text, &found.outer)),
        None => layout,
    };
    Ok(Members::new(found, layout))
}

/// A part of a text in memory.
pub(super) fn part<'t>(text: &'t str, range: &Range<u64>) -> &'t str {
    let place = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
    text.get(place(range.start)..place(range.end)).unwrap_or_default()
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
    fn unchanged_members_keep_every_byte() {
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
    fn the_last_duplicate_member_wins() {
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
    fn text_that_is_not_an_object_is_refused() {
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

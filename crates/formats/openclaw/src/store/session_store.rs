//! The content of `sessions.json`: entries by key, in the order and with every byte of the file that nobody changed.

use std::borrow::Cow;
use std::io::{self, Write};

use model::AgentId;
use serde_json::{Map, Value};

use super::direct_spelling::DmMarkerFinder;
use super::entry::{DirectSpelling, Entry};
use super::json_object::JsonObject;
use super::session_key::SessionKey;
use super::store_error::StoreError;
use super::stored_object::StoredObject;

/// The entries that one agent's store holds.
#[derive(Debug, Clone)]
pub struct SessionStore {
    object: StoredObject,
    owner: AgentId,
    /// The agent to whom keys without an agent belong.
    is_default: bool,
}

impl SessionStore {
    /// An agent's part of a store.
    pub(crate) fn new(object: StoredObject, owner: AgentId, is_default: bool) -> Self {
        Self { object, owner, is_default }
    }

    /// The keys of the agent's sessions as the file has them, in its order.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.object.keys().filter(|key| self.is_own(key))
    }

    /// An entry: that of the key as it was given, else the only one whose key differs in case.
    ///
    /// It is read when it is asked for, which fails where the file was changed in place since the store was read.
    pub fn get(&self, key: &SessionKey) -> Result<Option<Entry>, StoreError> {
        let Some(name) = self.written(key)? else { return Ok(None) };
        Ok(self.object.get(&name)?.and_then(|text| Entry::parse(&text)))
    }

    /// The text of an entry, as the file has it. Fails as [`Self::get`] does.
    pub fn text(&self, key: &SessionKey) -> Result<Option<String>, StoreError> {
        let Some(name) = self.written(key)? else { return Ok(None) };
        Ok(self.object.get(&name)?.map(Cow::into_owned))
    }

    /// Sets an entry: what it does not change stays as the file has it.
    pub fn put(&mut self, key: &SessionKey, entry: &Entry) -> Result<(), StoreError> {
        self.check(key)?;
        let known = self.written(key)?;
        let name = known.as_deref().unwrap_or(key.as_str());
        let text = self.object.get(name)?;
        let entry_text = text.as_deref().filter(|text| Entry::parse(text).is_some());
        let new = entry.written(entry_text, self.object.layout_within(), self.direct_spelling()?);
        let new =
            new.map_err(|error| StoreError::Unwritable { key: key.to_string(), why: error.to_string() })?;
        if text.as_deref() != Some(new.as_str()) {
            self.object.set_text(name, new);
        }
        Ok(())
    }

    /// Sets fields of an entry, whatever they are; null removes one.
    pub fn put_fields(&mut self, key: &SessionKey, fields: &Map<String, Value>) -> Result<(), StoreError> {
        self.check(key)?;
        let name = self.written(key)?.unwrap_or_else(|| key.as_str().to_owned());
        let text = self.object.get(&name)?.map_or_else(|| "{}".to_owned(), Cow::into_owned);
        let change = || {
            let mut object = JsonObject::parse(text, self.object.layout_within())?;
            for (field, value) in fields {
                if value.is_null() {
                    object.remove(field);
                } else {
                    object.set(field, value)?;
                }
            }
            Ok(object.into_text())
        };
        let new = change().map_err(|error: serde_json::Error| StoreError::Unwritable {
            key: key.to_string(),
            why: error.to_string(),
        })?;
        self.object.set_text(&name, new);
        Ok(())
    }

    /// Removes an entry; returns what it was.
    pub fn remove(&mut self, key: &SessionKey) -> Result<Option<Entry>, StoreError> {
        self.check(key)?;
        let Some(name) = self.written(key)? else { return Ok(None) };
        let was = self.object.get(&name)?.and_then(|text| Entry::parse(&text));
        self.object.remove(&name);
        Ok(was)
    }

    /// The word for direct chats that this file uses.
    pub fn direct_spelling(&self) -> Result<DirectSpelling, StoreError> {
        if self.object.keys().any(|key| key.contains(":dm:")) {
            return Ok(DirectSpelling::Dm);
        }
        for key in self.object.keys() {
            let mut word = DmMarkerFinder::default();
            if self.object.any_piece(key, |piece| word.is_in(piece))? {
                return Ok(DirectSpelling::Dm);
            }
        }
        Ok(DirectSpelling::Direct)
    }

    /// Whether a key may be an entry of this store: another agent's may not.
    pub(crate) fn check(&self, key: &SessionKey) -> Result<(), StoreError> {
        match key.agent() {
            Some(agent) if agent != self.owner => {
                Err(StoreError::OtherAgent { key: key.to_string(), owner: agent, agent: self.owner.clone() })
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn owner(&self) -> &AgentId {
        &self.owner
    }

    pub(crate) fn is_changed(&self) -> bool {
        self.object.is_changed()
    }

    pub(crate) fn write_to(&self, out: &mut dyn Write) -> io::Result<()> {
        self.object.write_to(out)
    }

    fn is_own(&self, key: &str) -> bool {
        let agent = key.parse::<SessionKey>().ok().and_then(|key| key.agent());
        agent.map_or(self.is_default, |agent| agent == self.owner)
    }

    /// The key as the file has it: in the spelling that was given, else in the only one that differs in case.
    pub fn written(&self, key: &SessionKey) -> Result<Option<String>, StoreError> {
        if !self.is_own(key.as_str()) {
            return Ok(None);
        }
        if self.object.contains(key.given()) {
            return Ok(Some(key.given().to_owned()));
        }
        let keys = self.object.keys();
        Ok(only_spelling(key, keys)?.map(str::to_owned))
    }
}

/// The only one of some keys that is this one but for case; several are refused with their names.
pub(crate) fn only_spelling<'a>(
    key: &SessionKey,
    keys: impl Iterator<Item = &'a str>,
) -> Result<Option<&'a str>, StoreError> {
    let mut found = keys.filter(|known| known.trim().to_lowercase() == key.as_str());
    match (found.next(), found.next()) {
        (Some(one), Some(other)) => Err(StoreError::TwoSpellings {
            key: key.to_string(),
            one: one.to_owned(),
            other: other.to_owned(),
        }),
        (one, _) => Ok(one),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ChatType;

    const STORE: &str = "{\n  \"agent:main:Main\": {\n    \"sessionId\": \"s1\",\n    \"new\": {\"b\": 1, \"a\": 2}\n  },\n  \
        \"agent:coder:main\": {\"sessionId\": \"s2\"},\n  \"global\": {\"sessionId\": \"s3\"},\n  \"odd\": 7\n}";

    fn store(agent: &str, is_default: bool) -> SessionStore {
        SessionStore::new(
            StoredObject::of_text(STORE.to_owned()).unwrap(),
            agent.parse().unwrap(),
            is_default,
        )
    }

    fn key(text: &str) -> SessionKey {
        text.parse().unwrap()
    }

    fn text(store: &SessionStore) -> String {
        let mut bytes = Vec::new();
        store.write_to(&mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn an_agent_has_only_its_own_entries() {
        let mut main = store("main", true);
        assert_eq!(main.keys().collect::<Vec<_>>(), ["agent:main:Main", "global", "odd"]);
        assert_eq!(store("coder", false).keys().collect::<Vec<_>>(), ["agent:coder:main"]);
        let other = key("agent:coder:main");
        assert_eq!(main.get(&other), Ok(None));
        let refused = |error: Result<(), StoreError>| matches!(error, Err(StoreError::OtherAgent { .. }));
        assert!(refused(main.put(&other, &Entry::default())) && refused(main.remove(&other).map(drop)));
        assert!(refused(main.put(&key("agent:coder:new"), &Entry::default())));
        assert_eq!(text(&main), STORE);
    }

    #[test]
    fn the_exact_spelling_comes_first_and_two_others_are_refused() {
        let text = r#"{"agent:main:a:channel:C1": {"label": "upper"}, "agent:main:a:channel:c1": {"label": "lower"},
            "agent:main:a:channel:D1": {"label": "one"}}"#;
        let mut store =
            SessionStore::new(StoredObject::of_text(text.to_owned()).unwrap(), AgentId::main(), true);
        let check = |store: &SessionStore, text: &str, expected: Option<(&str, &str)>| {
            let found = store.get(&key(text)).ok().flatten().and_then(|entry| entry.label);
            let written = store.written(&key(text)).ok().flatten();
            assert_eq!(written.zip(found), expected.map(|(a, b)| (a.to_owned(), b.to_owned())), "{text}");
        };
        check(&store, "agent:main:a:channel:C1", Some(("agent:main:a:channel:C1", "upper")));
        check(&store, "agent:main:a:channel:c1", Some(("agent:main:a:channel:c1", "lower")));
        check(&store, "agent:main:a:channel:d1", Some(("agent:main:a:channel:D1", "one")));
        check(&store, "Agent:main:a:channel:c1", None);
        let refused = store.get(&key("Agent:main:a:channel:c1")).unwrap_err().to_string();
        assert!(refused.contains("channel:C1`") && refused.contains("channel:c1`"), "{refused}");
        let fields = Map::from_iter([("label".to_owned(), "x".into())]);
        assert!(store.put_fields(&key("AGENT:main:a:channel:c1"), &fields).is_err() && !store.is_changed());
        store.put_fields(&key("agent:main:a:channel:C1"), &fields).unwrap();
        check(&store, "agent:main:a:channel:C1", Some(("agent:main:a:channel:C1", "x")));
        check(&store, "agent:main:a:channel:c1", Some(("agent:main:a:channel:c1", "lower")));
    }

    #[test]
    fn entries_are_changed_in_place() {
        let mut main = store("main", true);
        let entry = main.get(&key("agent:main:main")).unwrap().unwrap();
        main.put(&key("agent:main:main"), &entry).unwrap();
        assert!(!main.is_changed());
        main.put(&key("agent:main:main"), &Entry { session_id: Some("s9".into()), ..entry }).unwrap();
        assert_eq!(text(&main), STORE.replace("s1", "s9"));
        let new =
            Entry { session_id: Some("s4".into()), chat_type: Some(ChatType::Direct), ..Entry::default() };
        main.put(&key("agent:main:x"), &new).unwrap();
        let added =
            ",\n  \"agent:main:x\": {\n    \"sessionId\": \"s4\",\n    \"chatType\": \"direct\"\n  }\n}";
        assert_eq!(text(&main), STORE.replace("s1", "s9").strip_suffix("\n}").unwrap().to_owned() + added);
        assert_eq!(main.remove(&key("AGENT:main:MAIN")).unwrap().unwrap().session_id.as_deref(), Some("s9"));
        assert_eq!(main.get(&key("agent:main:main")), Ok(None));
        // What is no entry is replaced by one.
        main.put(&key("odd"), &Entry { label: Some("l".into()), ..Entry::default() }).unwrap();
        assert!(text(&main).contains("\"odd\": {\n    \"label\": \"l\"\n  }"), "{}", text(&main));
    }

    #[test]
    fn a_file_keeps_its_spelling_of_the_chat_type() {
        let check = |text: &'static str, expected| {
            let object = StoredObject::of_text(text.to_owned()).unwrap();
            let store = SessionStore::new(object, AgentId::main(), true);
            assert_eq!(store.direct_spelling(), Ok(expected), "{text}");
        };
        check(r#"{"a": {"chatType": "dm"}}"#, DirectSpelling::Dm);
        check(r#"{"a": {"origin":{"chatType":"dm"}}}"#, DirectSpelling::Dm);
        check(r#"{"agent:main:slack:dm:u": {}}"#, DirectSpelling::Dm);
        check(r#"{"a": {"chatType": "direct", "label": "dm"}}"#, DirectSpelling::Direct);
        check("{}", DirectSpelling::Direct);
    }
}

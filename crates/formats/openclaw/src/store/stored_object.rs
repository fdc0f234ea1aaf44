//! The content of a store's file as an object that is changed in place: its members are known by their places, and the
//! text of one is read when it is asked for.
//!
//! A small text is held in memory. Of a large one the file is held open, and nothing but the keys is in memory.

use std::borrow::Cow;
use std::io::{self, Write};

use serde::de::IgnoredAny;

use super::json_object::{members, part};
use super::layout::Layout;
use super::member_ranges::{NoObject, ObjectRanges};
use super::object_members::{Members, ValuePlace};
use super::open_text::OpenText;
use crate::Problem;

/// The object in a store's file, and what is to be changed in it.
#[derive(Debug, Clone)]
pub(crate) struct StoredObject {
    text: Text,
    members: Members,
}

#[derive(Debug, Clone)]
enum Text {
    Memory(String),
    File(OpenText),
}

impl StoredObject {
    /// An object without members.
    pub(crate) fn empty() -> Self {
        let found =
            ObjectRanges { open: 1, members: Vec::new(), inner: 1..1, outer: 1..1, close: 1, length: 2 };
        Self { text: Text::Memory("{}".to_owned()), members: Members::new(found, Layout::of_file()) }
    }

    /// Reads a text; returns it with the error if it is not an object.
    pub(crate) fn of_text(text: String) -> Result<Self, (serde_json::Error, String)> {
        match members(&text, Layout::of_file()) {
            Ok(members) => Ok(Self { text: Text::Memory(text), members }),
            Err(error) => Err((error, text)),
        }
    }

    /// Reads a file once to its end, and holds it open.
    pub(crate) fn of_file(file: &OpenText) -> Result<Result<Self, NoObject>, Problem> {
        let found = ObjectRanges::of_reader(file.reader(0..file.length()));
        // What is written meanwhile is half old and half new.
        file.ensure_unchanged()?;
        let found = match found {
            Ok(found) => found,
            Err(failed) => return Ok(Err(failed)),
        };
        let layout = match found.members.first() {
            Some(_) => Layout::new(&file.read(found.inner.clone())?, &file.read(found.outer.clone())?),
            None => Layout::of_file(),
        };
        Ok(Ok(Self { text: Text::File(file.clone()), members: Members::new(found, layout) }))
    }

    /// The names of its members, in order; one that occurs twice is named where it counts.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &str> {
        self.members.keys()
    }

    /// Whether there is such a member.
    pub(crate) fn contains(&self, key: &str) -> bool {
        self.members.value(key).is_some()
    }

    /// The text of a member's value.
    pub(crate) fn get(&self, key: &str) -> Result<Option<Cow<'_, str>>, Problem> {
        let Some(value) = self.members.value(key) else { return Ok(None) };
        Ok(Some(match (value, &self.text) {
            (ValuePlace::New(text), _) => Cow::Borrowed(text),
            (ValuePlace::InText(range), Text::Memory(text)) => Cow::Borrowed(part(text, &range)),
            (ValuePlace::InText(range), Text::File(file)) => {
                let text = file.read(range)?;
                // A change within the same tick of the clock does not show in the file's state.
                serde_json::from_str::<IgnoredAny>(&text).map_err(|_| file.changed())?;
                Cow::Owned(text)
            }
        }))
    }

    /// Whether a member's value has such a piece; it may have any size, and is read piece by piece.
    pub(crate) fn any_piece(&self, key: &str, mut is_it: impl FnMut(&[u8]) -> bool) -> Result<bool, Problem> {
        let Some(value) = self.members.value(key) else { return Ok(false) };
        match (value, &self.text) {
            (ValuePlace::New(text), _) => Ok(is_it(text.as_bytes())),
            (ValuePlace::InText(range), Text::Memory(text)) => Ok(is_it(part(text, &range).as_bytes())),
            (ValuePlace::InText(range), Text::File(file)) => {
                let mut is_found = false;
                file.pieces(range, |piece| {
                    is_found = is_it(piece);
                    Ok::<_, Problem>(is_found)
                })?;
                Ok(is_found)
            }
        }
    }

    /// Sets a member to this text, at its place, or behind the others.
    pub(crate) fn set_text(&mut self, key: &str, value: String) {
        self.members.set(key, value);
    }

    /// Removes a member.
    pub(crate) fn remove(&mut self, key: &str) {
        self.members.remove(key);
    }

    /// The layout of an object that is a member's value.
    pub(crate) fn layout_within(&self) -> Layout {
        self.members.layout().within()
    }

    /// Whether anything was changed.
    pub(crate) fn is_changed(&self) -> bool {
        self.members.is_changed()
    }

    /// Writes the text as it is now. Where what was read cannot be read again, the error has a [`Problem`] within.
    pub(crate) fn write_to(&self, out: &mut dyn Write) -> io::Result<()> {
        match &self.text {
            Text::Memory(text) => {
                self.members.write_to(out, |range, out| out.write_all(part(text, &range).as_bytes()))
            }
            Text::File(file) => {
                let copy = |range, out: &mut dyn Write| {
                    file.pieces(range, |piece| out.write_all(piece).map(|()| false))
                };
                self.members.write_to(out, copy)?;
                Ok(file.ensure_unchanged()?)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;

    fn of_file(text: &str) -> StoredObject {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("sessions.json");
        std::fs::write(&path, text).unwrap();
        // The file is gone when it is read from, and still open.
        StoredObject::of_file(&OpenText::new(File::open(&path).unwrap(), &path).unwrap()).unwrap().unwrap()
    }

    fn written(object: &StoredObject) -> String {
        let mut bytes = Vec::new();
        object.write_to(&mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    proptest::proptest! {
        #[test]
        fn a_file_is_changed_like_a_text_in_memory(
            keys in proptest::collection::vec("[a-d]", 0..8), gap in "[ \t\n]{0,3}",
            changes in proptest::collection::vec(("[a-e]", 0_u8..3), 0..5), mark: bool,
        ) {
            let member = |key: &String| format!("{gap}\"{key}\"{gap}:{gap}[{gap}\"{key}ü\"]{gap}");
            let members: Vec<_> = keys.iter().map(member).collect();
            let text = format!("{gap}{{{}}}{gap}", members.join(","));
            let mut memory = StoredObject::of_text(text.clone()).unwrap();
            let mut file = of_file(&(if mark { "\u{feff}" } else { "" }.to_owned() + &text));
            for (key, change) in changes {
                for object in [&mut memory, &mut file] {
                    if change == 0 {
                        object.remove(&key);
                    } else {
                        object.set_text(&key, change.to_string());
                    }
                }
            }
            proptest::prop_assert_eq!(written(&memory), written(&file));
            proptest::prop_assert_eq!(memory.keys().collect::<Vec<_>>(), file.keys().collect::<Vec<_>>());
            for key in memory.keys() {
                proptest::prop_assert_eq!(memory.get(key).unwrap(), file.get(key).unwrap());
            }
            proptest::prop_assert_eq!(memory.layout_within(), file.layout_within());
        }
    }
}

//! The members of a JSON object by their places in its text, what is to be changed of them, and how the changed text is
//! written: what is not changed is copied. Where the text itself is, in memory or in a file, is the caller's.

use std::collections::HashMap;
use std::io::{self, Write};
use std::ops::Range;

use super::layout::Layout;
use super::member_ranges::{MemberRange, ObjectRanges};

/// The members of an object, and their changes.
#[derive(Debug, Clone)]
pub(crate) struct Members {
    list: Vec<Member>,
    /// The last of the members with a name, which is the one that counts.
    by_key: HashMap<String, usize>,
    added: Vec<(String, String)>,
    /// The white space around a member where the text has none to copy.
    layout: Layout,
    /// From the beginning of the text to behind the opening bracket.
    head: Range<u64>,
    /// From the closing bracket to the end of the text.
    tail: Range<u64>,
}

#[derive(Debug, Clone)]
struct Member {
    place: MemberRange,
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

/// Where the value of a member is.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ValuePlace<'a> {
    /// It is new, and this.
    New(&'a str),
    /// Here in the text.
    InText(Range<u64>),
}

impl Members {
    /// Members that were found, of an object laid out like this.
    pub(crate) fn new(found: ObjectRanges, layout: Layout) -> Self {
        let list: Vec<Member> =
            found.members.into_iter().map(|place| Member { place, change: Change::None }).collect();
        let by_key = list.iter().enumerate().map(|(at, member)| (member.place.key.clone(), at)).collect();
        let (head, tail) = (0..found.open, found.close..found.length);
        Self { list, by_key, added: Vec::new(), layout, head, tail }
    }

    /// The names of the members, in order; one that occurs twice is named where it counts.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &str> {
        let is_last = |(at, member): &(usize, &Member)| self.by_key.get(&member.place.key) == Some(at);
        let kept = self.list.iter().enumerate().filter(is_last);
        let kept = kept.filter_map(|(_, member)| match &member.change {
            Change::Removed => None,
            Change::Key(key) => Some(key.as_str()),
            Change::None | Change::Value(_) => Some(member.place.key.as_str()),
        });
        kept.chain(self.added.iter().map(|(key, _)| key.as_str()))
    }

    /// Where the value of a member is; `None` where there is no such member.
    pub(crate) fn value(&self, key: &str) -> Option<ValuePlace<'_>> {
        if let Some((_, value)) = self.added.iter().find(|(known, _)| known == key) {
            return Some(ValuePlace::New(value));
        }
        let named = |member: &Member| match &member.change {
            Change::Removed => false,
            Change::Key(name) => name == key,
            Change::None | Change::Value(_) => member.place.key == key,
        };
        let member = match self.by_key.get(key).map(|at| &self.list[*at]).filter(|member| named(member)) {
            Some(member) => member,
            // A member under another name than it had is rare.
            None => {
                self.list.iter().find(|member| matches!(&member.change, Change::Key(name) if name == key))?
            }
        };
        Some(match &member.change {
            Change::Value(text) => ValuePlace::New(text),
            _ => ValuePlace::InText(member.place.value.clone()),
        })
    }

    /// Sets a member to this text, at its place, or behind the others.
    pub(crate) fn set(&mut self, key: &str, value: String) {
        if let Some((_, text)) = self.added.iter_mut().find(|(known, _)| known == key) {
            *text = value;
            return;
        }
        match self.by_key.get(key).copied() {
            Some(at) => self.list[at].change = Change::Value(value),
            None => self.added.push((key.to_owned(), value)),
        }
    }

    /// Removes a member; returns whether it was there.
    pub(crate) fn remove(&mut self, key: &str) -> bool {
        let was = self.value(key).is_some();
        self.added.retain(|(known, _)| known != key);
        for member in self.list.iter_mut().filter(|member| member.place.key == key) {
            member.change = Change::Removed;
        }
        was
    }

    /// Gives a member another name.
    pub(crate) fn rename(&mut self, from: &str, to: &str) {
        if let Some(at) = self.by_key.get(from).copied() {
            self.list[at].change = Change::Key(to.to_owned());
        }
    }

    /// The layout of the object.
    pub(crate) fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Whether anything was changed.
    pub(crate) fn is_changed(&self) -> bool {
        !self.added.is_empty() || self.list.iter().any(|member| !matches!(member.change, Change::None))
    }

    /// Writes the text as it is now; `copy` writes a part of the text as it was.
    pub(crate) fn write_to(
        &self,
        out: &mut dyn Write,
        copy: impl FnMut(Range<u64>, &mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut copied = PatchedText { out, copy, pending: self.head.clone(), is_first: true };
        for Member { place, change } in &self.list {
            match change {
                Change::Removed => {}
                Change::None => copied.member(&place.whole)?,
                Change::Value(value) => {
                    copied.member(&(place.whole.start..place.value.start))?;
                    copied.write(value.as_bytes())?;
                    copied.range(place.value.end..place.whole.end)?;
                }
                Change::Key(key) => {
                    copied.comma()?;
                    copied.key(&self.layout, key)?;
                    copied.range(place.value.start..place.whole.end)?;
                }
            }
        }
        for (key, value) in &self.added {
            copied.comma()?;
            copied.key(&self.layout, key)?;
            copied.write(value.as_bytes())?;
        }
        let last = self.list.last().map(|last| last.place.whole.end);
        match (last, copied.is_first) {
            (Some(end), false) => copied.range(end..self.tail.end)?,
            (None, true) => copied.range(self.head.end..self.tail.end)?,
            // It was empty.
            (None, false) => {
                copied.write(self.layout.outer.as_bytes())?;
                copied.range(self.tail.clone())?;
            }
            // It is empty now.
            (Some(_), true) => copied.range(self.tail.clone())?,
        }
        copied.flush()
    }
}

/// Writes the changed text; adjacent parts of the old text are copied at once.
struct PatchedText<'a, C> {
    out: &'a mut dyn Write,
    copy: C,
    /// What is to be copied before anything else is written.
    pending: Range<u64>,
    /// Whether no member was written yet.
    is_first: bool,
}

impl<C: FnMut(Range<u64>, &mut dyn Write) -> io::Result<()>> PatchedText<'_, C> {
    /// Copies a member, or the beginning of one, and the comma before it.
    fn member(&mut self, range: &Range<u64>) -> io::Result<()> {
        // In the old text the comma alone is between two members.
        if !self.is_first && self.pending.end + 1 == range.start {
            self.pending.end = range.end;
            return Ok(());
        }
        self.comma()?;
        self.range(range.clone())
    }

    fn comma(&mut self) -> io::Result<()> {
        if std::mem::replace(&mut self.is_first, false) { Ok(()) } else { self.write(b",") }
    }

    fn key(&mut self, layout: &Layout, key: &str) -> io::Result<()> {
        self.write(layout.inner.as_bytes())?;
        self.write(&serde_json::to_vec(key)?)?;
        self.write(layout.colon().as_bytes())
    }

    fn range(&mut self, range: Range<u64>) -> io::Result<()> {
        if self.pending.end == range.start {
            self.pending.end = range.end;
            return Ok(());
        }
        self.flush()?;
        self.pending = range;
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.flush()?;
        self.out.write_all(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        let pending = self.pending.clone();
        self.pending.start = pending.end;
        if pending.is_empty() { Ok(()) } else { (self.copy)(pending, self.out) }
    }
}

//! Replays the changes of one file, to determine its content before the first and after the last of some changes.
//!
//! Pure rules. A file can change between two of a session's changes: by a formatter, a shell command, a person, or
//! because it was restored. Where a change can be made without that, it is left out; else it has to be taken over.
//! Changes before the first known content are undone in it, one by one, to find where they were made.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use super::read::{FileContent, FileEdit, Replacement, TextChange};

/// A file whose changes are replayed.
#[derive(Debug, Clone, Default)]
pub struct FileReplay {
    now: FileContent,
    /// Hashes of what it has been.
    earlier: HashSet<u64>,
    /// The content before the first and after the last chosen change.
    chosen: Option<(FileContent, FileContent)>,
    taken_over: u64,
    /// The changes since the content was last known.
    unplaced: Vec<Unplaced>,
    /// Chosen changes that no content shows.
    fragments: Vec<Replacement>,
}

/// A change that was made to unknown content.
#[derive(Debug, Clone)]
struct Unplaced {
    change: TextChange,
    is_chosen: bool,
}

impl Unplaced {
    fn fragment(&self) -> Vec<Replacement> {
        if self.is_chosen { fragment(&self.change) } else { Vec::new() }
    }
}

/// What became of one change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EditOutcome {
    /// The content before and after it.
    Replayed(FileContent, FileContent),
    /// What it changed is known, but not where in the file.
    Fragment(Vec<Replacement>),
}

impl FileReplay {
    /// Makes the next change; a chosen one is part of what [`chosen`](Self::chosen) answers.
    pub fn apply(&mut self, edit: &FileEdit, is_chosen: bool) -> EditOutcome {
        let before = self.before(edit, is_chosen);
        let Some(after) = after(&before, &edit.change) else {
            // What follows says itself what it finds.
            self.now = FileContent::Unknown;
            self.unplaced.push(Unplaced { change: edit.change.clone(), is_chosen });
            return EditOutcome::Fragment(fragment(&edit.change));
        };
        self.place_earlier(&before, is_chosen);
        self.advance(&before, FileContent::Text(after), is_chosen);
        EditOutcome::Replayed(before, self.now.clone())
    }

    fn advance(&mut self, before: &FileContent, after: FileContent, is_chosen: bool) {
        self.earlier.insert(hash(before));
        self.now = after;
        if is_chosen {
            match &mut self.chosen {
                Some((_, last)) => last.clone_from(&self.now),
                None => self.chosen = Some((before.clone(), self.now.clone())),
            }
        }
    }

    /// Finds the places of the changes that led to this content, from the last one back.
    fn place_earlier(&mut self, found: &FileContent, is_chosen: bool) {
        let unplaced = std::mem::take(&mut self.unplaced);
        let mut placed = Vec::new();
        let mut content = found.clone();
        for earlier in unplaced.iter().rev() {
            let Some(before) = undone(&content, &earlier.change) else { break };
            placed.push((std::mem::replace(&mut content, FileContent::Text(before)), earlier.is_chosen));
        }
        let is_covered =
            self.chosen.is_some() && (is_chosen || placed.iter().any(|(_, is_chosen)| *is_chosen));
        if !is_covered {
            let lost = unplaced.len() - placed.len();
            self.fragments.extend(unplaced.iter().take(lost).flat_map(Unplaced::fragment));
        }
        for (after, is_chosen) in placed.into_iter().rev() {
            self.advance(&content, after, is_chosen);
            content.clone_from(&self.now);
        }
    }

    /// The content before the first chosen change and after the last; `None` where none could be played.
    pub fn chosen(&self) -> Option<&(FileContent, FileContent)> {
        self.chosen.as_ref()
    }

    /// The chosen changes that [`chosen`](Self::chosen) does not show.
    pub fn fragments(&self) -> Vec<Replacement> {
        self.fragments.iter().cloned().chain(self.unplaced.iter().flat_map(Unplaced::fragment)).collect()
    }

    /// How often a chosen change needed what something else had changed in the file before it.
    pub fn taken_over(&self) -> u64 {
        self.taken_over
    }

    /// The content that a change is made to.
    fn before(&mut self, edit: &FileEdit, is_chosen: bool) -> FileContent {
        let (given, known) = (&edit.before, std::mem::take(&mut self.now));
        let is_continued = match (given, &known) {
            (FileContent::Unknown, _) => true,
            (_, FileContent::Unknown) => false,
            (given, known) if given == known => true,
            // Records call an empty file absent.
            (FileContent::Absent, FileContent::Text(known)) if known.is_empty() => true,
            (given, _) if self.earlier.contains(&hash(given)) => false,
            _ => fits_once(&known, &edit.change),
        };
        if is_continued {
            return known;
        }
        let is_restored = self.earlier.contains(&hash(given));
        let follows = is_chosen && self.chosen.is_some();
        self.taken_over += u64::from(follows && known != FileContent::Unknown && !is_restored);
        given.clone()
    }
}

/// Whether a change finds what it replaces, in one place only.
fn fits_once(content: &FileContent, change: &TextChange) -> bool {
    match (content, change) {
        (FileContent::Text(text), TextChange::Parts(parts)) => {
            let mut text = text.clone();
            parts.iter().all(|part| {
                let places = text.matches(part.old.as_str()).take(2).count();
                let fits = !part.old.is_empty() && (places == 1 || (part.everywhere && places > 0));
                text = replaced(&text, part).unwrap_or_default();
                fits
            })
        }
        // A whole file was written by someone who had seen what is in it.
        _ => false,
    }
}

/// The text after a change; `None` where it cannot be known.
fn after(before: &FileContent, change: &TextChange) -> Option<String> {
    let parts = match change {
        TextChange::Whole(text) => return (*before != FileContent::Unknown).then(|| text.clone()),
        TextChange::Parts(parts) => parts,
        TextChange::Cell(_) => return None,
    };
    let text = match before {
        FileContent::Unknown => return None,
        FileContent::Absent => String::new(),
        FileContent::Text(text) => text.clone(),
    };
    parts.iter().try_fold(text, |text, part| replaced(&text, part))
}

/// As Claude Code replaces: where a text is removed, the end of its line goes with it.
fn replaced(text: &str, part: &Replacement) -> Option<String> {
    if part.old.is_empty() {
        return text.is_empty().then(|| part.new.clone());
    }
    if !text.contains(&part.old) {
        return None;
    }
    let line = format!("{}\n", part.old);
    let takes_line = part.new.is_empty() && !part.old.ends_with('\n') && text.contains(&line);
    let old = if takes_line { &line } else { &part.old };
    Some(if part.everywhere { text.replace(old, &part.new) } else { text.replacen(old, &part.new, 1) })
}

/// The text before a change; `None` where it cannot be known.
fn undone(after: &FileContent, change: &TextChange) -> Option<String> {
    let (FileContent::Text(text), TextChange::Parts(parts)) = (after, change) else { return None };
    let before = parts.iter().rev().try_fold(text.clone(), |text, part| {
        let place = only_place(&text, &part.new)?;
        Some([&text[..place], &part.old, &text[place + part.new.len()..]].concat())
    })?;
    let before = FileContent::Text(before);
    let leads_there = fits_once(&before, change) && self::after(&before, change).as_ref() == Some(text);
    let FileContent::Text(before) = before else { return None };
    leads_there.then_some(before)
}

/// Where a part is in a text, once and not within a word.
fn only_place(text: &str, part: &str) -> Option<usize> {
    let mut places = text.match_indices(part);
    let (place, _) = places.next().filter(|_| !part.is_empty())?;
    let is_joined = |one: Option<char>, other: Option<char>| {
        [one, other].into_iter().all(|c| c.is_some_and(|c| c.is_alphanumeric() || c == '_'))
    };
    let (before, behind) = (&text[..place], &text[place + part.len()..]);
    let is_within = is_joined(before.chars().next_back(), part.chars().next())
        || is_joined(part.chars().next_back(), behind.chars().next());
    (places.next().is_none() && !is_within).then_some(place)
}

fn fragment(change: &TextChange) -> Vec<Replacement> {
    match change {
        TextChange::Parts(parts) => parts.clone(),
        TextChange::Whole(text) | TextChange::Cell(text) => {
            vec![Replacement { old: String::new(), new: text.clone(), everywhere: false }]
        }
    }
}

fn hash(content: &FileContent) -> u64 {
    let mut hasher = DefaultHasher::new();
    match content {
        FileContent::Unknown => 0_u8.hash(&mut hasher),
        FileContent::Absent => 1_u8.hash(&mut hasher),
        FileContent::Text(text) => text.hash(&mut hasher),
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> FileContent {
        FileContent::Text(text.to_owned())
    }

    fn edit(before: FileContent, old: &str, new: &str) -> FileEdit {
        let part = Replacement { old: old.to_owned(), new: new.to_owned(), everywhere: false };
        FileEdit { path: "/a".into(), before, change: TextChange::Parts(vec![part]) }
    }

    /// The content before and after all of the changes, and how often something else was taken over.
    #[track_caller]
    fn check(edits: &[FileEdit], expected: Option<(FileContent, FileContent)>, taken_over: u64) {
        let mut replay = FileReplay::default();
        for edit in edits {
            replay.apply(edit, true);
        }
        assert_eq!((replay.chosen().cloned(), replay.taken_over()), (expected, taken_over));
    }

    #[test]
    fn changes_follow_each_other() {
        let edits = [edit(text("a\nb\n"), "a", "A"), edit(text("A\nb\n"), "b", "B")];
        check(&edits, Some((text("a\nb\n"), text("A\nB\n"))), 0);
        check(&[edit(FileContent::Absent, "", "new\n")], Some((FileContent::Absent, text("new\n"))), 0);
        check(&[], None, 0);
    }

    #[test]
    fn changes_by_others_are_left_out_where_possible() {
        let edits = [edit(text("a\nb\nc\n"), "a", "A"), edit(text("A\nb\nformatted\n"), "b", "B")];
        check(&edits, Some((text("a\nb\nc\n"), text("A\nB\nc\n"))), 0);
        let edits = [edit(text("a\nb\n"), "a", "A"), edit(text("A\nother\n"), "other", "B")];
        check(&edits, Some((text("a\nb\n"), text("A\nB\n"))), 1);
    }

    #[test]
    fn a_file_that_was_emptied_is_no_new_one() {
        let mut replay = FileReplay::default();
        replay.apply(&edit(text("a"), "a", ""), false);
        replay.apply(&edit(FileContent::Absent, "", "b\n"), true);
        assert_eq!(replay.chosen(), Some(&(text(""), text("b\n"))));
    }

    #[test]
    fn a_restored_file_has_its_earlier_content() {
        let edits = [edit(text("a\nb\n"), "a", "wrong"), edit(text("a\nb\n"), "b", "B")];
        check(&edits, Some((text("a\nb\n"), text("a\nB\n"))), 0);
    }

    #[test]
    fn missing_content_is_taken_from_other_records() {
        let edits = [edit(text("a\nb\n"), "a", "A"), edit(FileContent::Unknown, "b", "B")];
        check(&edits, Some((text("a\nb\n"), text("A\nB\n"))), 0);
        let mut replay = FileReplay::default();
        let outcome = replay.apply(&edits[1], true);
        assert!(matches!(outcome, EditOutcome::Fragment(parts) if parts[0].new == "B"));
        assert_eq!(replay.chosen(), None);
    }

    #[test]
    fn a_change_is_placed_by_what_follows_it() {
        let unknown = |old, new| edit(FileContent::Unknown, old, new);
        let edits = [unknown("a", "A"), unknown("b", "B"), edit(text("A\nB\nc\n"), "c", "C")];
        check(&edits, Some((text("a\nb\nc\n"), text("A\nB\nC\n"))), 0);
        // Added and taken back.
        let edits = [unknown("a", "a\nb"), edit(text("a\nb\n"), "b\n", "")];
        check(&edits, Some((text("a\n"), text("a\n"))), 0);

        // What is there by chance is not where it was made.
        let found = Some((text("renewed\ng\n"), text("renewed\nG\n")));
        check(&[unknown("keep", "new"), edit(text("renewed\ng\n"), "g", "G")], found, 0);
        let found = Some((text("alpha\nx beta\ng\n"), text("alpha\nx beta\nG\n")));
        check(&[unknown("alpha", "beta"), edit(text("alpha\nx beta\ng\n"), "g\n", "G\n")], found, 0);

        let mut replay = FileReplay::default();
        for (number, edit) in
            [unknown("z", ""), unknown("a", "A"), edit(text("A\nb\n"), "b", "B")].iter().enumerate()
        {
            replay.apply(edit, number < 2);
        }
        assert_eq!(replay.chosen(), Some(&(text("a\nb\n"), text("A\nb\n"))));
        assert_eq!(replay.fragments().iter().map(|part| part.old.as_str()).collect::<Vec<_>>(), ["z"]);
    }

    #[test]
    fn a_change_between_two_contents_is_in_their_difference() {
        let lost = edit(FileContent::Unknown, "x", "");
        let mut replay = FileReplay::default();
        for edit in [edit(text("a\n"), "a", "A"), lost.clone(), edit(text("A2\n"), "A2", "B")] {
            replay.apply(&edit, true);
        }
        assert_eq!(replay.chosen(), Some(&(text("a\n"), text("B\n"))));
        assert_eq!(replay.fragments(), []);
        replay.apply(&edit(FileContent::Unknown, "y", "z"), true);
        assert_eq!(replay.fragments().len(), 1);
    }

    #[test]
    fn only_chosen_changes_are_returned() {
        let mut replay = FileReplay::default();
        replay.apply(&edit(text("a\nb\n"), "a", "A"), false);
        replay.apply(&edit(text("A\nb\n"), "b", "B"), true);
        assert_eq!(replay.chosen(), Some(&(text("A\nb\n"), text("A\nB\n"))));
    }

    #[test]
    fn a_removed_text_takes_the_end_of_its_line_along() {
        let part =
            |old: &str, new: &str, everywhere| Replacement { old: old.into(), new: new.into(), everywhere };
        let check = |part: Replacement, expected: Option<&str>| {
            assert_eq!(replaced("a\nb\na\n", &part).as_deref(), expected, "{part:?}");
        };
        check(part("b", "", false), Some("a\na\n"));
        check(part("a", "", true), Some("b\n"));
        check(part("a", "x", true), Some("x\nb\nx\n"));
        check(part("z", "x", false), None);
        check(part("", "x", false), None);
    }
}

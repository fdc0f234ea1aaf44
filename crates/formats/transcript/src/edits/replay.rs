//! Replays the changes of one file, to determine its content before the first and after the last of some changes.
//!
//! Pure rules. A file can change between two of a session's changes: by a formatter, a shell command, a person, or
//! because it was restored. Where a change can be made without that, it is left out; else it has to be taken over.

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
            return EditOutcome::Fragment(fragment(&edit.change));
        };
        self.earlier.insert(hash(&before));
        self.now = FileContent::Text(after);
        if is_chosen {
            match &mut self.chosen {
                Some((_, last)) => last.clone_from(&self.now),
                None => self.chosen = Some((before.clone(), self.now.clone())),
            }
        }
        EditOutcome::Replayed(before, self.now.clone())
    }

    /// The content before the first chosen change and after the last; `None` where none could be played.
    pub fn chosen(&self) -> Option<&(FileContent, FileContent)> {
        self.chosen.as_ref()
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

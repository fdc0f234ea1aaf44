//! What the picker lists: sessions, or prompts, and what is known of them.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use model::SessionId;

/// A session in the list.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(crate) struct Item {
    pub(crate) id: SessionId,
    pub(crate) title: String,
    /// What is before its title: that it is pinned, and its tags.
    pub(crate) signs: String,
    pub(crate) project: String,
    pub(crate) branch: String,
    pub(crate) at: Option<Timestamp>,
    pub(crate) cost: Option<f64>,
    /// The cited line of its own transcript.
    pub(crate) line: Option<u64>,
    /// Whether it waits for an answer.
    pub(crate) is_waiting: bool,
    /// Whether the cited line is the summary after a compaction.
    pub(crate) is_summary: bool,
    /// Whether it hardly matches the question.
    pub(crate) is_weak: bool,
    /// Whether it was deleted and has no copy: nobody can continue it.
    pub(crate) is_lost: bool,
    /// Where it began.
    pub(crate) directory: Option<PathBuf>,
    /// The prompt that is listed, where prompts are.
    pub(crate) prompt: Option<String>,
}

impl Item {
    /// A session of which nothing but its id is known.
    pub(crate) fn of(id: SessionId) -> Self {
        Self {
            id,
            title: String::new(),
            signs: String::new(),
            project: String::new(),
            branch: String::new(),
            at: None,
            cost: None,
            line: None,
            is_waiting: false,
            is_summary: false,
            is_weak: false,
            is_lost: false,
            directory: None,
            prompt: None,
        }
    }

    /// The directory it began in, where that is known and not there any more.
    pub(crate) fn gone_directory(&self) -> Option<&Path> {
        self.directory.as_deref().filter(|directory| !directory.is_dir())
    }
}

/// How far what is listed answers what is typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Progress {
    /// It is the answer.
    #[default]
    Answered,
    /// It is without the filter that is being typed, because nothing passes it.
    WithoutLastFilter,
    /// What is typed makes no sense; the remarks say why.
    Refused,
    /// The answer is awaited, and the one before it listed.
    Awaited,
}

/// Sessions to choose from, and remarks on them.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    pub(crate) items: Vec<Item>,
    /// How many there are in all.
    pub(crate) total: u64,
    /// What to say above them, a line each, most important first.
    pub(crate) remarks: Vec<String>,
    pub(crate) progress: Progress,
}

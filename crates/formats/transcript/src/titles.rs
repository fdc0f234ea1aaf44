//! Chooses a session's title among its names.

use std::borrow::Cow;
use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::record::Record;
use crate::speech::speech;
use crate::subject::Subject;
use crate::text::preview;

/// Summaries waiting for the record they are about.
const WAITING: usize = 128;
/// Records a summary may look back to.
const RECENT: usize = 64;

/// The names in a transcript; of each kind the last one counts, as in the CLI.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Titles {
    custom: Option<String>,
    ai: Option<String>,
    summary: Option<String>,
    last_prompt: Option<String>,
    queued: Option<String>,
    /// The first task that another agent gave.
    task: Option<String>,
    subject: Subject,
    /// Summaries whose record was not found yet: up to 2.1.42 a file may also contain those of other files.
    waiting: VecDeque<(u64, String)>,
    recent: VecDeque<u64>,
}

impl Titles {
    /// The person's own name for the session.
    pub fn custom_title(&self) -> Option<&str> {
        self.custom.as_deref()
    }

    /// The best name that is not simply a prompt.
    pub fn best_given(&self) -> Option<&str> {
        self.custom.as_deref().or(self.ai.as_deref()).or(self.summary.as_deref())
    }

    /// The best name: a given one, else what the first prompts are about, else the task that another agent gave.
    pub fn best(&self) -> Option<&str> {
        self.best_given().or(self.subject.title()).or(self.task.as_deref())
    }

    /// The text used in place of a first prompt where no record has one.
    pub fn fallback(&self) -> Option<&str> {
        self.queued.as_deref().or(self.last_prompt.as_deref())
    }

    /// Summaries of records that are not in this file: hashes of the records' ids, and the titles.
    pub fn waiting(&self) -> impl Iterator<Item = (u64, &str)> {
        self.waiting.iter().map(|(leaf, title)| (*leaf, title.as_str()))
    }

    /// Hashes of the ids of the file's last records, the newest last.
    pub fn recent(&self) -> impl DoubleEndedIterator<Item = u64> {
        self.recent.iter().copied()
    }

    pub(crate) fn custom(&mut self, title: Option<Cow<'_, str>>) {
        self.custom = title.and_then(|title| clean(&title));
    }

    pub(crate) fn ai(&mut self, title: Option<Cow<'_, str>>) {
        if let Some(title) = title.and_then(|title| clean(&title)) {
            self.ai = Some(title);
        }
    }

    pub(crate) fn last_prompt(&mut self, prompt: Option<Cow<'_, str>>) {
        if let Some(prompt) = prompt.and_then(|prompt| clean(&prompt)) {
            self.last_prompt = Some(prompt);
        }
    }

    /// What another agent asked for.
    pub(crate) fn task(&mut self, task: &str) {
        if self.task.is_none() {
            self.task = clean(task);
        }
    }

    /// A person's prompt, in the order of the transcript.
    pub(crate) fn prompt(&mut self, said: &str) {
        self.subject.consider(said);
    }

    pub(crate) fn queued(&mut self, record: &Record<'_>) {
        if self.queued.is_none() && record.operation() == Some("enqueue") {
            self.queued = record.content().and_then(|prompt| clean(&prompt));
        }
    }

    /// Adds a summary, which counts when the record it is about is in this file, before it or after it.
    pub(crate) fn summary(&mut self, title: Option<Cow<'_, str>>, leaf: Option<&str>) {
        let Some(title) = title.filter(|title| !title.starts_with("Invalid API key")).and_then(|t| clean(&t))
        else {
            return;
        };
        let leaf = xxh3_64(leaf.unwrap_or("").as_bytes());
        if self.recent.contains(&leaf) {
            self.summary = Some(title);
            return;
        }
        if self.waiting.len() == WAITING {
            self.waiting.pop_front();
        }
        self.waiting.push_back((leaf, title));
    }

    /// A record of this file has been seen.
    pub(crate) fn seen(&mut self, uuid: &str) {
        let uuid = xxh3_64(uuid.as_bytes());
        if self.recent.len() == RECENT {
            self.recent.pop_front();
        }
        self.recent.push_back(uuid);
        if let Some(at) = self.waiting.iter().position(|(leaf, _)| *leaf == uuid)
            && let Some((_, title)) = self.waiting.remove(at)
        {
            self.summary = Some(title);
        }
    }
}

/// A title on one line, without marks; `None` when nothing is left.
fn clean(text: &str) -> Option<String> {
    speech(text).map(|said| preview(&said.text)).filter(|title| !title.is_empty())
}

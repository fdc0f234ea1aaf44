//! The life cycle of a session: create, configure, reset, delete; and rules for sessions that spawn others.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::agent_store::{AgentStore, Updated};
use super::claude_mapping::clear;
use super::conversation_log::{LogTarget, append};
use super::entry::Entry;
use super::new_line::NewLine;
use super::record_updates::{new_id, put};
use super::reset_policy::{Freshness, ResetPolicy};
use super::session_key::SessionKey;
use super::store_error::StoreError;
use crate::Problem;
use crate::lock::LockTimes;

/// What happens to the transcript of a session that is reset or removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OldTranscript {
    /// It is kept beside the others as `….reset.<time>` or `….deleted.<time>`.
    #[default]
    Archive,
    /// It is deleted.
    Delete,
}

/// How a session is reset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResetOptions {
    /// Whether its settings and what is known of its chat are kept.
    pub keep_metadata: bool,
    /// What becomes of the transcript.
    pub transcript: OldTranscript,
}

impl Default for ResetOptions {
    fn default() -> Self {
        Self { keep_metadata: true, transcript: OldTranscript::default() }
    }
}

/// A session that was reset or removed.
#[derive(Debug, Clone, PartialEq)]
pub struct EndedSession {
    /// The entry as it was.
    pub before: Entry,
    /// The entry as it is now; `None` where it was removed.
    pub after: Option<Entry>,
    /// Where the transcript is now; `None` where there is none any more.
    pub archived: Option<PathBuf>,
}

/// Whether an answer was mirrored into a transcript.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mirrored {
    /// It was, into this file.
    Done(PathBuf),
    /// It was not, and why, in OpenClaw's words.
    Refused(String),
}

impl AgentStore {
    /// The session with this key, created if it is missing.
    pub fn create(
        &self,
        key: &SessionKey,
        fields: &Entry,
        clock: &dyn Fn() -> Timestamp,
    ) -> Result<Updated<Entry>, StoreError> {
        let id = new_id();
        self.update(clock, |store, now| match store.get(key)? {
            Some(known) => Ok(known),
            None => put(store, key, None, fields, now, &id),
        })
    }

    /// The session of a thread, with a transcript of its own.
    pub fn create_thread(
        &self,
        parent: &SessionKey,
        thread: &str,
        clock: &dyn Fn() -> Timestamp,
    ) -> Result<Updated<Entry>, StoreError> {
        let id = new_id();
        let session = id.parse().map_err(|error| StoreError::Outside(format!("{error}")))?;
        let file = self.transcript(&session, Some(thread)).to_string_lossy().into_owned();
        let fields = Entry { session_id: Some(id), session_file: Some(file), ..Entry::default() };
        self.create(&parent.thread(thread), &fields, clock)
    }

    /// Gives a session other settings.
    pub fn configure(
        &self,
        key: &SessionKey,
        settings: &Entry,
        clock: &dyn Fn() -> Timestamp,
    ) -> Result<Updated<Entry>, StoreError> {
        self.update_entry(key, clock, |_, _| Some(settings.clone()))
    }

    /// Makes a session that another one of this agent's starts, in the store of `into`, which may be this one.
    ///
    /// A sub-agent may not start one; under another agent's name it is made only where the configuration allows that.
    pub fn spawn(
        &self,
        parent: &SessionKey,
        into: &Self,
        label: Option<&str>,
        clock: &dyn Fn() -> Timestamp,
    ) -> Result<Updated<(SessionKey, Entry)>, StoreError> {
        let (own, other) = (self.agent(), into.agent());
        if parent.agent().is_some_and(|agent| agent != *own) {
            return Err(StoreError::OtherAgent {
                key: parent.to_string(),
                owner: parent.agent().unwrap_or_else(|| own.clone()),
                agent: own.clone(),
            });
        }
        if parent.is_subagent() {
            return Err(StoreError::MaySpawn("a sub-agent session may not start another one".to_owned()));
        }
        if !self.config.may_spawn_as(own.as_str(), other.as_str()) {
            let message = format!(
                "agent {own} may not start sessions of agent {other}: `subagents.allowAgents` does not name it"
            );
            return Err(StoreError::MaySpawn(message));
        }
        let key =
            SessionKey::subagent(other, &new_id()).map_err(|error| StoreError::Outside(error.to_string()))?;
        let fields = Entry {
            spawned_by: Some(parent.to_string()),
            label: label.map(str::to_owned),
            ..Entry::default()
        };
        let made = into.create(&key, &fields, clock)?;
        Ok(Updated { value: (key, made.value), notes: made.notes })
    }

    /// Whether a session continues with the next message, or is reset before it.
    pub fn freshness(&self, key: &SessionKey, entry: &Entry, now: Timestamp, zone: &TimeZone) -> Freshness {
        let channel = entry.channel.as_deref().or(entry.last_channel.as_deref());
        let policy = ResetPolicy::new(&self.config.reset, key, channel);
        let updated = entry.updated_at.and_then(|at| Timestamp::from_millisecond(at).ok());
        policy.freshness(updated.unwrap_or(Timestamp::UNIX_EPOCH), now, zone)
    }

    /// Whether a message, such as `/new`, asks for a reset.
    pub fn is_reset_trigger(&self, message: &str) -> bool {
        let message = message.trim().to_lowercase();
        let is_it = |trigger: &String| {
            let trigger = trigger.trim().to_lowercase();
            let rest = message.strip_prefix(&trigger);
            !trigger.is_empty()
                && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace))
        };
        self.config.reset.triggers.iter().any(is_it)
    }

    /// Gives a session a new conversation: a new id, no Claude session behind it, no counts. The old transcript is
    /// archived or deleted.
    pub fn reset(
        &self,
        key: &SessionKey,
        options: ResetOptions,
        clock: &dyn Fn() -> Timestamp,
    ) -> Result<Updated<EndedSession>, StoreError> {
        let id = new_id();
        let updated = self.update(clock, |store, now| {
            store.check(key)?;
            let before = store.get(key)?.ok_or_else(|| StoreError::NoSession { key: key.to_string() })?;
            let mut after = if options.keep_metadata { before.clone() } else { Entry::default() };
            start_new_conversation(&mut after);
            after.session_id = Some(id.clone());
            after.updated_at = Some(before.updated_at.unwrap_or(0).max(now.as_millisecond()));
            if options.keep_metadata {
                store.put(key, &after)?;
            } else {
                store.remove(key)?;
                store.put(key, &after)?;
            }
            Ok((before, after))
        })?;
        let (before, after) = updated.value;
        let archived = self.archive_transcript(&before, options.transcript, "reset", clock())?;
        Ok(Updated { value: EndedSession { before, after: Some(after), archived }, notes: updated.notes })
    }

    /// Removes a session. Its transcript is archived or deleted.
    pub fn delete(
        &self,
        key: &SessionKey,
        transcript: OldTranscript,
        clock: &dyn Fn() -> Timestamp,
    ) -> Result<Updated<EndedSession>, StoreError> {
        let updated = self.update(clock, |store, _| {
            store.remove(key)?.ok_or_else(|| StoreError::NoSession { key: key.to_string() })
        })?;
        let archived = self.archive_transcript(&updated.value, transcript, "deleted", clock())?;
        Ok(Updated {
            value: EndedSession { before: updated.value, after: None, archived },
            notes: updated.notes,
        })
    }

    /// Mirrors what was sent to a chat into the transcript of its session: the text, or the names of the files in its
    /// place.
    pub fn append_assistant_message(
        &self,
        key: &str,
        text: &str,
        media: &[String],
        directory: &Path,
        clock: &dyn Fn() -> Timestamp,
    ) -> Result<Mirrored, StoreError> {
        let refused = |reason: String| Ok(Mirrored::Refused(reason));
        if key.trim().is_empty() {
            return refused("missing sessionKey".to_owned());
        }
        let Some(text) = mirrored_text(text, media) else { return refused("empty text".to_owned()) };
        let unknown = || format!("unknown sessionKey: {}", key.trim());
        let Ok(parsed) = key.parse::<SessionKey>() else { return refused(unknown()) };
        let known = self.load().store.get(&parsed)?.and_then(|entry| Some((entry.session()?, entry)));
        let Some((session, entry)) = known else { return refused(unknown()) };
        self.ensure_writable()?;
        let path = self.transcript_of(&entry)?;
        let times = self.transcript_times();
        let target = LogTarget { path: &path, session: &session, directory, times };
        append(&target, &NewLine::Mirror { text }, clock)?;
        let named = path.to_string_lossy().into_owned();
        if entry.session_file.as_deref() != Some(named.as_str()) {
            self.update(clock, |store, _| {
                let Some(now) = store.get(&parsed)? else { return Ok(()) };
                store.put(&parsed, &Entry { session_file: Some(named.clone()), ..now })
            })?;
        }
        Ok(Mirrored::Done(path))
    }

    /// The times of a transcript's lock.
    pub fn transcript_times(&self) -> LockTimes {
        let lock = &self.config.write_lock;
        let (timeout, stale, max_hold) = (lock.acquire_timeout, lock.stale, lock.max_hold);
        // OpenClaw holds it while its agent works, perhaps in a container.
        LockTimes { timeout, stale, max_hold, unseen: stale, ..LockTimes::default() }
    }

    /// Archives or deletes the transcript of a conversation that is over, and what says which Claude session was behind
    /// it. Returns where it is now.
    pub(crate) fn archive_transcript(
        &self,
        entry: &Entry,
        how: OldTranscript,
        word: &str,
        now: Timestamp,
    ) -> Result<Option<PathBuf>, StoreError> {
        let Ok(path) = self.transcript_of(entry) else { return Ok(None) };
        Self::forget_claude_session(&path)?;
        let done = match how {
            OldTranscript::Delete => std::fs::remove_file(&path).map(|()| None),
            OldTranscript::Archive => {
                let time = format!("{now:.3}").replace(':', "-");
                let mut name = path.as_os_str().to_owned();
                name.push(format!(".{word}.{time}"));
                std::fs::rename(&path, &name).map(|()| Some(name.into()))
            }
        };
        match done {
            // A conversation without an answer has no transcript yet.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => {
                let next = "Make its folder writable.";
                Err(Problem::new(&path, format!("cannot be put away: {error}"), next).into())
            }
            Ok(archived) => Ok(archived),
        }
    }
}

/// Takes away what is of the conversation that is over.
fn start_new_conversation(entry: &mut Entry) {
    clear(entry);
    entry.session_file = None;
    entry.system_sent = entry.system_sent.map(|_| false);
    entry.aborted_last_run = entry.aborted_last_run.map(|_| false);
    for count in [&mut entry.input_tokens, &mut entry.output_tokens, &mut entry.total_tokens] {
        *count = None;
    }
    for count in [
        &mut entry.compaction_count,
        &mut entry.memory_flush_at,
        &mut entry.memory_flush_compaction_count,
        &mut entry.session_started_at,
    ] {
        *count = None;
    }
    entry.total_tokens_fresh = None;
    entry.skills_snapshot = None;
    entry.system_prompt_report = None;
}

/// What a transcript says of a message that was sent.
fn mirrored_text(text: &str, media: &[String]) -> Option<String> {
    let media: Vec<&String> = media.iter().filter(|url| !url.trim().is_empty()).collect();
    if media.is_empty() {
        let text = text.trim();
        return (!text.is_empty()).then(|| text.to_owned());
    }
    let names: Vec<String> = media.into_iter().filter_map(|url| file_name(url)).collect();
    Some(if names.is_empty() { "media".to_owned() } else { names.join(", ") })
}

/// The name of the file that a URL or path leads to.
fn file_name(url: &str) -> Option<String> {
    let url = url.trim();
    let plain = url.split('#').next().unwrap_or(url);
    let plain = plain.split('?').next().unwrap_or(plain);
    let is_url = plain.split_once("://").filter(|(scheme, _)| {
        !scheme.is_empty() && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+.-".contains(c))
    });
    let path = match is_url {
        Some((_, rest)) => rest.split_once('/').map_or("", |(_, path)| path),
        None => plain,
    };
    let name = path.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    if name.is_empty() || name == "." {
        return None;
    }
    Some(if is_url.is_some() { decoded(name).unwrap_or_else(|| name.to_owned()) } else { name.to_owned() })
}

/// As `decodeURIComponent` reads a text; `None` where that fails.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        rest = behind;
        if *first == b'%' {
            let digits = std::str::from_utf8(rest.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &rest[2..];
        } else {
            bytes.push(*first);
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_mirrored() {
        let check = |text: &str, media: &[&str], expected: Option<&str>| {
            let media: Vec<String> = media.iter().map(|url| (*url).to_owned()).collect();
            assert_eq!(mirrored_text(text, &media).as_deref(), expected, "{text} {media:?}");
        };
        check(" hi ", &[], Some("hi"));
        check(" ", &[], None);
        check("hi", &["https://example.com/a/im%20age.png?x#y", "/tmp/b.txt"], Some("im age.png, b.txt"));
        check("hi", &["https://example.com/"], Some("media"));
        check("hi", &["https://example.com", " "], Some("media"));
        check("hi", &["https://example.com/%zz"], Some("%zz"));
    }
}

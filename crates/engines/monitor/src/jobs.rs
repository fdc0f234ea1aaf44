//! Claude Code's background jobs, read from their files and processes.
//!
//! Files are checked only together with everything else: what such a session does at each moment is its activity,
//! which is reported at once.

use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;

use jiff::{SignedDuration, Timestamp};
use model::{BackgroundJob, BackgroundState, SessionId};
use system::FileStamp;
use transcript::{ConfigFolder, JobRecord, JobRoster};

use crate::registry::Registry;

/// How long after its start a job without a process may still be about to get one.
const STARTS_WITHIN: SignedDuration = SignedDuration::from_secs(5);

/// A background job, and where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundJob {
    /// The session that it runs.
    pub session: SessionId,
    /// What is known of it.
    pub job: BackgroundJob,
    /// The config folder whose daemon runs it.
    pub folder: ConfigFolder,
    /// The directory that it runs in.
    pub cwd: Option<PathBuf>,
}

/// Claude Code's background jobs of these config folders, one for each session.
pub fn background_jobs(folders: &[ConfigFolder], now: Timestamp) -> Vec<FoundJob> {
    let mut registry = Registry::new(folders.iter().map(ConfigFolder::live_registry).collect());
    registry.look(now);
    let mut jobs = Jobs::new(folders.to_vec());
    jobs.look(&registry, now);
    jobs.known.into_values().collect()
}

/// The background jobs as last seen.
#[derive(Debug, Default)]
pub(crate) struct Jobs {
    folders: Vec<ConfigFolder>,
    files: HashMap<PathBuf, (FileStamp, Option<JobRecord>)>,
    known: HashMap<SessionId, FoundJob>,
}

impl Jobs {
    pub(crate) fn new(folders: Vec<ConfigFolder>) -> Self {
        Self { folders, ..Self::default() }
    }

    /// The job that a session is.
    pub(crate) fn get(&self, session: &SessionId) -> Option<&BackgroundJob> {
        self.known.get(session).map(|found| &found.job)
    }

    /// Reads what has changed. A job that has not costs one `stat`.
    pub(crate) fn look(&mut self, registry: &Registry, now: Timestamp) {
        let mut before = std::mem::take(&mut self.files);
        let mut found = Vec::new();
        for folder in &self.folders {
            let paths = folder.job_files();
            let roster = if paths.is_empty() { JobRoster::default() } else { folder.job_roster() };
            for path in paths {
                let Ok(metadata) = fs::symlink_metadata(&path) else { continue };
                let stamp = FileStamp::from_metadata(&metadata);
                let known = before.remove(&path).filter(|(known, _)| *known == stamp);
                let (_, record) = known.unwrap_or_else(|| (stamp, JobRecord::read(&path)));
                let job = record.as_ref().and_then(|record| describe(record, folder, registry, &roster, now));
                found.extend(job.map(|job| (record.as_ref().and_then(|record| record.updated), job)));
                self.files.insert(path, (stamp, record));
            }
        }
        // Of several jobs of a session the latest counts.
        found.sort_by_key(|(updated, _)| *updated);
        self.known = found.into_iter().map(|(_, job)| (job.session.clone(), job)).collect();
    }
}

/// The job of a record; `None` if another process continues the session by now.
fn describe(
    record: &JobRecord,
    folder: &ConfigFolder,
    registry: &Registry,
    roster: &JobRoster,
    now: Timestamp,
) -> Option<FoundJob> {
    let process = registry.of_job(&record.id);
    if process.is_none() && registry.holds(&record.session) {
        return None;
    }
    let is_foreign = registry.is_foreign(&record.session);
    let is_held = process.is_some() || is_foreign || roster.holds(&record.id);
    Some(FoundJob {
        // It has another session after `/clear`.
        session: process.map_or(&record.session, |live| &live.session).clone(),
        job: job(record, process.and_then(|live| live.name.as_deref()), is_held, now),
        folder: folder.clone(),
        cwd: record.cwd.clone(),
    })
}

/// What a job is: `name` is what its process is called, and `is_held` whether it has one. As `claude agents --json`
/// decides it in 2.1.330.
fn job(record: &JobRecord, name: Option<&str>, is_held: bool, now: Timestamp) -> BackgroundJob {
    let is_new = record.created.is_some_and(|at| now.duration_since(at) < STARTS_WITHIN);
    let is_active = record.tempo.as_deref() == Some("active");
    let state = match record.state.as_str() {
        // A finished job that is given more work keeps its state until it finishes again.
        "done" if !(is_active && is_held) => BackgroundState::Done,
        "failed" if !(is_active && is_held) => BackgroundState::Failed,
        "stopped" if !(is_active && is_held) => BackgroundState::Stopped,
        "blocked" => BackgroundState::Blocked,
        _ if !is_held && !is_new => BackgroundState::Failed,
        _ if record.tempo.as_deref() == Some("blocked") => BackgroundState::Blocked,
        _ => BackgroundState::Working,
    };
    let name = name.map(transcript::preview).filter(|name| !name.is_empty());
    BackgroundJob {
        id: record.id.clone(),
        name: name.or_else(|| record.name.clone()).or_else(|| record.intent.clone()),
        state,
        needs: record.needs.clone().filter(|_| state == BackgroundState::Blocked),
        detail: record.detail.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: &str = "2026-11-23T15:20:00Z";

    fn record(state: &str, tempo: &str) -> JobRecord {
        JobRecord {
            id: "6dc62884".into(),
            session: "6dc62884-0a72-4f01-adb1-ec4a8f387298".parse().unwrap(),
            name: None,
            intent: Some("Ask me".into()),
            state: state.into(),
            tempo: Some(tempo.into()),
            needs: Some("answer: Which colour?".into()),
            detail: None,
            cwd: None,
            created: "2026-11-23T15:15:25Z".parse().ok(),
            updated: None,
        }
    }

    #[track_caller]
    fn check(state: &str, tempo: &str, is_held: bool, expected: BackgroundState) {
        let found = job(&record(state, tempo), None, is_held, NOW.parse().unwrap());
        assert_eq!(found.state, expected, "{state} {tempo} {is_held}");
        assert_eq!(found.needs.is_some(), expected == BackgroundState::Blocked);
    }

    #[test]
    fn the_state_follows_the_job_file() {
        use BackgroundState::{Blocked, Done, Failed, Stopped, Working};
        check("working", "active", true, Working);
        check("working", "idle", true, Working);
        check("resuming", "active", true, Working);
        check("working", "blocked", true, Blocked);
        check("blocked", "blocked", true, Blocked);
        check("blocked", "idle", true, Blocked);
        check("blocked", "blocked", false, Blocked);
        check("done", "idle", true, Done);
        check("done", "idle", false, Done);
        check("done", "active", true, Working);
        check("done", "active", false, Done);
        check("failed", "idle", true, Failed);
        check("stopped", "idle", false, Stopped);
        check("working", "active", false, Failed);
        check("working", "blocked", false, Failed);
    }

    #[test]
    fn a_job_that_was_just_started_has_no_process_yet() {
        let at = "2026-11-23T15:15:29Z".parse().unwrap();
        assert_eq!(job(&record("working", "active"), None, false, at).state, BackgroundState::Working);
    }

    #[test]
    fn the_name_is_that_of_its_process_then_its_own_then_its_prompt() {
        let named = |own: Option<&str>, process| {
            let record = JobRecord { name: own.map(Into::into), ..record("done", "idle") };
            job(&record, process, true, NOW.parse().unwrap()).name
        };
        assert_eq!(named(Some("colours"), Some("the question")).as_deref(), Some("the question"));
        assert_eq!(named(Some("colours"), None).as_deref(), Some("colours"));
        assert_eq!(named(None, None).as_deref(), Some("Ask me"));
    }

    #[test]
    fn an_unchanged_file_is_read_once_and_a_removed_job_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("jobs/6dc62884/state.json");
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let write = |state: &str| {
            let session = "6dc62884-0a72-4f01-adb1-ec4a8f387298";
            fs::write(&path, format!("{{\"sessionId\":\"{session}\",\"state\":\"{state}\"}}")).unwrap();
        };
        let mut jobs = Jobs::new(vec![ConfigFolder::new(folder.path())]);
        let registry = Registry::new(Vec::new());
        let session = record("", "").session;
        let mut look = || {
            jobs.look(&registry, NOW.parse().unwrap());
            jobs.get(&session).map(|job| job.state)
        };
        assert_eq!(look(), None);
        write("done");
        assert_eq!((look(), look()), (Some(BackgroundState::Done), Some(BackgroundState::Done)));
        write("stopped");
        assert_eq!(look(), Some(BackgroundState::Stopped));
        fs::remove_file(&path).unwrap();
        assert_eq!(look(), None);
    }

    #[test]
    fn the_process_of_a_job_names_it_and_another_one_takes_its_session_over() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("jobs/6dc62884/state.json");
        let sessions = folder.path().join("sessions");
        fs::create_dir_all(state.parent().unwrap()).unwrap();
        fs::create_dir_all(&sessions).unwrap();
        let session = record("", "").session;
        fs::write(
            &state,
            format!("{{\"sessionId\":\"{session}\",\"state\":\"stopped\",\"tempo\":\"idle\"}}"),
        )
        .unwrap();
        let held_by = |more: &str| {
            let pid = std::process::id();
            let live = format!("{{\"pid\":{pid},\"sessionId\":\"{session}\"{more}}}");
            fs::write(sessions.join("1.json"), live).unwrap();
            let found = background_jobs(&[ConfigFolder::new(folder.path())], NOW.parse().unwrap());
            found.first().map(|found| (found.job.name.clone(), found.job.state))
        };
        let own = r#","kind":"bg","jobId":"6dc62884","name":"colours""#;
        assert_eq!(held_by(own), Some((Some("colours".to_owned()), BackgroundState::Stopped)));
        assert_eq!(held_by(r#","kind":"interactive""#), None);
        fs::remove_file(sessions.join("1.json")).unwrap();
        let left = background_jobs(&[ConfigFolder::new(folder.path())], NOW.parse().unwrap());
        assert_eq!(left.len(), 1);
    }
}

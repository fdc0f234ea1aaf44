//! Determines the activity of sessions once, by the same rules as the monitor, without keeping state.

use std::collections::HashMap;
use std::path::Path;

use jiff::Timestamp;
use model::{Activity, BackgroundJob, Evidence, SessionId, State};
use transcript::ConfigFolder;

use crate::Timers;
use crate::hooks::{HookEvent, HookReader};
use crate::jobs::Jobs;
use crate::process::ProcessState;
use crate::registry::Registry;
use crate::session::RECENT;
use crate::session::Session;
use crate::worker_report::WorkerReport;

/// What is known about all sessions at one time.
#[derive(Debug)]
pub struct ActivityProbe {
    now: Timestamp,
    timers: Timers,
    registry: Registry,
    jobs: Jobs,
    processes: HashMap<SessionId, ProcessState>,
    hooks: HashMap<SessionId, Vec<HookEvent>>,
    report: HashMap<SessionId, WorkerReport>,
}

impl ActivityProbe {
    /// Reads the registries, the background jobs and the hooks' file.
    pub fn new(folders: &[ConfigFolder], hooks: &Path, timers: Timers, now: Timestamp) -> Self {
        let mut registry = Registry::new(folders.iter().map(ConfigFolder::live_registry).collect());
        let processes = registry.look(now).into_iter().collect();
        let mut jobs = Jobs::new(folders.to_vec());
        jobs.look(&registry, now);
        let mut of_session: HashMap<SessionId, Vec<HookEvent>> = HashMap::new();
        for hook in HookReader::new(hooks.to_owned()).read() {
            if now.duration_since(hook.at) <= RECENT {
                of_session.entry(hook.session.clone()).or_default().push(hook);
            }
        }
        Self { now, timers, registry, jobs, processes, hooks: of_session, report: HashMap::new() }
    }

    /// Adds the reports of workers about the sessions they hold.
    #[must_use]
    pub fn with_worker_reports(self, report: HashMap<SessionId, WorkerReport>) -> Self {
        Self { report, ..self }
    }

    /// The background job of Claude Code that a session is, if it is one.
    pub fn background_job(&self, id: &SessionId) -> Option<&BackgroundJob> {
        self.jobs.get(id)
    }

    /// The activity of a session whose last record was written at `last`. Its transcript is read only if the
    /// session is alive or was active recently.
    pub fn activity(&self, id: &SessionId, transcript: Option<&Path>, last: Option<Timestamp>) -> Activity {
        let process = self.processes.get(id);
        // A clock that is a little ahead made it; one that is years ahead says nothing about now.
        let is_recent = last.is_some_and(|at| self.now.duration_since(at).abs() <= RECENT);
        let report = self.report.get(id);
        if !is_recent && process.is_none() && report.is_none() && !self.hooks.contains_key(id) {
            let since = last.and_then(|at| at.checked_add(self.timers.silent).ok());
            return Activity::new(State::Idle, Evidence::Timer, since);
        }
        let mut session = Session::new(id.clone(), self.timers);
        if let Some(path) = transcript {
            let written = last.unwrap_or(self.now).min(self.now);
            session.take_up(&path.into(), u64::MAX, written, self.now);
        }
        for hook in self.hooks.get(id).into_iter().flatten() {
            session.tracker.hook(hook);
        }
        if let Some(process) = process {
            session.tracker.registry(process.clone(), self.now);
        }
        session.tracker.worker_report(report.cloned(), self.now);
        let quiet = self.registry.quiet_before_absence(self.timers);
        session.tracker.settle_absent(self.registry.is_foreign(id), quiet, self.now);
        session.tracker.activity(self.now)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// Bytes that this thread has read so far.
    #[expect(clippy::disallowed_methods, reason = "the kernel's own file is small")]
    fn bytes_read() -> u64 {
        let counters = fs::read_to_string("/proc/thread-self/io").unwrap();
        let line = counters.lines().find_map(|line| line.strip_prefix("rchar: ")).unwrap();
        line.parse().unwrap()
    }

    #[test]
    fn probing_a_long_session_reads_only_its_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s1.jsonl");
        let answer = format!(
            "{{\"type\":\"assistant\",\"message\":{{\"id\":\"m\",\"model\":\"x\",\"stop_reason\":\"end_turn\",\"content\":[{{\"type\":\"text\",\"text\":\"{}\"}}]}}}}\n",
            "x".repeat(10_000)
        );
        fs::write(&path, answer.repeat(500)).unwrap();
        let now: Timestamp = "2026-11-20T09:00:00Z".parse().unwrap();
        let glance = ActivityProbe::new(&[], &folder.path().join("hooks"), Timers::default(), now);
        let before = bytes_read();
        let activity = glance.activity(&"s1".parse().unwrap(), Some(&path), Some(now));
        let read = bytes_read() - before;
        assert_ne!(activity.state, State::Idle);
        assert!(read < 400_000, "{read}");
    }

    #[test]
    fn a_session_whose_clock_was_years_ahead_is_not_active_for_years() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s1.jsonl");
        fs::write(&path, "{\"type\":\"user\",\"timestamp\":\"2099-01-01T00:00:00Z\",\"message\":{\"role\":\"user\",\"content\":\"hi\"}}\n").unwrap();
        let now: Timestamp = "2026-11-20T09:00:00Z".parse().unwrap();
        let check = |last: &str, is_idle: bool| {
            let probe = ActivityProbe::new(&[], &folder.path().join("hooks"), Timers::default(), now);
            let last = Some(last.parse().unwrap());
            let state = probe.activity(&"s1".parse().unwrap(), Some(&path), last).state;
            assert_eq!(state == State::Idle, is_idle, "{last:?}: {state:?}");
        };
        check("2099-01-01T00:00:00Z", true);
        check("2026-11-20T09:01:00Z", false);
    }
}

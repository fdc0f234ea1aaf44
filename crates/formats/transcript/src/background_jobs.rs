//! Claude Code's own background jobs (`claude --bg`): `jobs/<id>/state.json`, and `daemon/roster.json`, in which its
//! daemon lists the processes that it started for them.
//!
//! What is read is what the files say; `monitor` decides what that means.

use std::borrow::Cow;
use std::fs;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use model::SessionId;

use crate::ConfigFolder;
use crate::json::{Raw, raw_fields};
use crate::registered_process::is_process;
use crate::text::preview;

/// The largest file of a job that is read, in bytes.
const CAP: u64 = 4 << 20;
/// How often a file that is being rewritten is read again.
const ATTEMPTS: usize = 5;
/// The most jobs that are looked for in a folder.
const MOST: usize = 2000;

/// What the file of a background job says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobRecord {
    /// The job's short id: the name of its folder.
    pub id: String,
    /// The session that it runs.
    pub session: SessionId,
    /// Its name, where a person or Claude Code gave it one.
    pub name: Option<String>,
    /// The beginning of its first prompt.
    pub intent: Option<String>,
    /// `working`, `blocked`, `done`, `failed`, `stopped`; others while its daemon starts it.
    pub state: String,
    /// `active`, `idle` or `blocked`.
    pub tempo: Option<String>,
    /// What it needs of a person.
    pub needs: Option<String>,
    /// What it says of itself.
    pub detail: Option<String>,
    /// The directory it runs in.
    pub cwd: Option<PathBuf>,
    /// When it was started.
    pub created: Option<Timestamp>,
    /// When its state was written.
    pub updated: Option<Timestamp>,
}

raw_fields! {
    struct Fields {
        session = "sessionId",
        name = "name",
        shown_intent = "displayIntent",
        intent = "intent",
        state = "state",
        tempo = "tempo",
        needs = "needs",
        detail = "detail",
        cwd = "cwd",
        created = "createdAt",
        updated = "updatedAt",
    }
}

/// A job's id may become an argument of `claude`: nothing else passes for one.
fn is_job_id(name: &str) -> bool {
    name.len() == 8 && name.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

impl ConfigFolder {
    /// The files of this folder's background jobs.
    pub fn job_files(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.root().join("jobs")).into_iter().flatten().filter_map(Result::ok);
        let folders = entries.filter(|entry| entry.file_name().to_str().is_some_and(is_job_id)).take(MOST);
        folders.map(|entry| entry.path().join("state.json")).collect()
    }

    /// The processes that the daemon of this folder says it started for jobs.
    pub fn job_roster(&self) -> JobRoster {
        let read = || {
            let bytes = system::read_small(&self.root().join("daemon/roster.json"), CAP).ok()?;
            let text = String::from_utf8_lossy(&bytes).into_owned();
            Raw::new(&text).get("workers").is_object().then_some(text)
        };
        JobRoster(read().unwrap_or_default())
    }
}

/// The daemon's list of processes.
#[derive(Debug, Clone, Default)]
pub struct JobRoster(String);

impl JobRoster {
    /// Whether the process that the daemon started for a job lives.
    pub fn holds(&self, job: &str) -> bool {
        let worker = Raw::new(&self.0).get("workers").get(job);
        let started = worker.get("procStart").text();
        let pid = worker.get("pid").count().and_then(|pid| u32::try_from(pid).ok());
        pid.is_some_and(|pid| pid > 0 && is_process(pid, started.as_deref()))
    }
}

impl JobRecord {
    /// Reads a file of [`ConfigFolder::job_files`]; `None` where it is no record of a job.
    pub fn read(path: &Path) -> Option<Self> {
        let id = path.parent()?.file_name()?.to_str().filter(|id| is_job_id(id))?;
        // The CLI may be writing it: read again.
        let read = || {
            let bytes = system::read_small(path, CAP).ok()?;
            let text = String::from_utf8_lossy(&bytes);
            Fields::read(&text).map(|fields| Self::from_fields(id, &fields))
        };
        (0..ATTEMPTS).find_map(|_| read()).flatten()
    }

    fn from_fields(id: &str, fields: &Fields<'_>) -> Option<Self> {
        let line = |field: Raw<'_>| field.text().map(|text| preview(&text)).filter(|text| !text.is_empty());
        let time = |field: Raw<'_>| field.plain().and_then(|time| time.parse().ok());
        Some(Self {
            id: id.to_owned(),
            session: fields.session.plain()?.parse().ok()?,
            name: line(fields.name),
            intent: line(fields.shown_intent).or_else(|| line(fields.intent)),
            state: fields.state.text().map(Cow::into_owned)?,
            tempo: fields.tempo.text().map(Cow::into_owned),
            needs: line(fields.needs),
            detail: line(fields.detail),
            cwd: fields.cwd.text().map(|cwd| PathBuf::from(&*cwd)),
            created: time(fields.created),
            updated: time(fields.updated),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As 2.1.330 writes it, shortened.
    const ASKING: &str = r#"{
  "state": "working",
  "detail": "Which colour?",
  "tempo": "blocked",
  "needs": "answer: Which colour? (Red · Blue)",
  "inFlight": {"tasks": 0, "queued": 0, "kinds": []},
  "output": null,
  "respawnFlags": [],
  "intent": "Ask me\nabout a colour",
  "sessionId": "6dc62884-0a72-4f01-adb1-ec4a8f387298",
  "daemonShort": "6dc62884",
  "cwd": "/home/ana/shop",
  "createdAt": "2026-11-23T15:15:25.000Z",
  "updatedAt": "2026-11-23T15:15:30.668Z",
  "firstTerminalAt": null,
  "backend": "daemon",
  "name": "colour question",
  "nameSource": "auto"
}"#;

    fn job(id: &str, content: &[u8]) -> (tempfile::TempDir, ConfigFolder, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("jobs").join(id).join("state.json");
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        let config = ConfigFolder::new(folder.path());
        (folder, config, path)
    }

    #[test]
    fn a_job_is_read() {
        let (_folder, config, path) = job("6dc62884", ASKING.as_bytes());
        assert_eq!(config.job_files(), std::slice::from_ref(&path));
        let read = JobRecord::read(&path).unwrap();
        assert_eq!((read.id.as_str(), read.session.short()), ("6dc62884", "6dc62884"));
        assert_eq!(
            (read.name.as_deref(), read.intent.as_deref()),
            (Some("colour question"), Some("Ask me about a colour"))
        );
        assert_eq!((read.state.as_str(), read.tempo.as_deref()), ("working", Some("blocked")));
        assert_eq!(read.needs.as_deref(), Some("answer: Which colour? (Red · Blue)"));
        assert_eq!(read.cwd.as_deref(), Some(Path::new("/home/ana/shop")));
        assert_eq!(read.created, "2026-11-23T15:15:25Z".parse().ok());
    }

    #[test]
    fn invalid_job_files_are_ignored() {
        let session = r#""sessionId":"6dc62884-0a72-4f01-adb1-ec4a8f387298""#;
        for content in [
            b"".as_slice(),
            b"[]",
            b"{\"state\":\"working\"}",
            b"\xff\xfe{}",
            &ASKING.as_bytes()[..200],
            format!("{{{session}}}").as_bytes(),
            format!("{{{session},\"state\":7}}").as_bytes(),
            br#"{"sessionId":"../../x","state":"done"}"#,
        ] {
            let (_folder, _, path) = job("6dc62884", content);
            assert_eq!(JobRecord::read(&path), None, "{}", String::from_utf8_lossy(content));
        }
        let odd =
            format!("{{{session},\"state\":\"done\",\"name\":7,\"needs\":\"\",\"createdAt\":\"soon\"}}");
        let (_folder, _, path) = job("6dc62884", odd.as_bytes());
        let read = JobRecord::read(&path).unwrap();
        assert_eq!((read.name, read.needs, read.created), (None, None, None));
    }

    #[test]
    fn folders_with_other_names_are_skipped() {
        for name in ["--resume", "6DC62884", "6dc6288", "6dc628845", "pins.json"] {
            let (_folder, config, path) = job(name, ASKING.as_bytes());
            assert_eq!((config.job_files(), JobRecord::read(&path)), (Vec::new(), None), "{name}");
        }
        assert_eq!(ConfigFolder::new("/nonexistent").job_files(), Vec::<PathBuf>::new());
    }

    #[test]
    fn the_roster_names_processes_that_live() {
        let (folder, config, _) = job("6dc62884", b"");
        let write = |text: &str| {
            fs::create_dir_all(folder.path().join("daemon")).unwrap();
            fs::write(folder.path().join("daemon/roster.json"), text).unwrap();
            config.job_roster()
        };
        let (pid, start) =
            (std::process::id(), system::ProcessStat::read(std::process::id()).unwrap().started);
        let lives = format!(r#"{{"workers":{{"6dc62884":{{"pid":{pid},"procStart":"{start}"}}}}}}"#);
        assert!(write(&lives).holds("6dc62884"));
        assert!(!write(&lives).holds("7da14cf4"));
        assert!(!write(&lives.replace(&start, "1")).holds("6dc62884"));
        for odd in ["", "{", r#"{"workers":[]}"#, r#"{"workers":{"6dc62884":{"pid":0}}}"#] {
            assert!(!write(odd).holds("6dc62884"), "{odd}");
        }
    }
}

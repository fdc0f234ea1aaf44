//! The made-up sessions of `--demo`: unpacked into a scratch folder, with dates that end now.
//!
//! They were written for this project; no person, program or company in them exists.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::Path;

use jiff::fmt::temporal::DateTimePrinter;
use jiff::{SignedDuration, Timestamp};

use crate::{Config, Error, Kind};

/// The moment at which the made-up sessions end.
const WRITTEN: &str = "2026-01-15T12:00:00Z";
/// The project most of them belong to.
pub(crate) const PROJECT: &str = "harbor-api";
/// The file that says when the sessions were unpacked.
const UNPACKED: &str = "unpacked";
/// Times as Claude Code writes them.
const JSON_TIME: DateTimePrinter = DateTimePrinter::new().precision(Some(3));
/// For how long they are fresh enough.
const FRESH: SignedDuration = SignedDuration::from_hours(24);

impl Config {
    /// A configuration that knows only the made-up sessions; unpacks them when that has not been done today.
    pub fn demo(self, now: Timestamp) -> Result<Self, Error> {
        let folder = self.scratch.join(format!("backstory-demo-{}", rustix::process::geteuid().as_raw()));
        prepare(&folder, now).map_err(|error| {
            Error::caused(
                Kind::Unavailable,
                format!("cannot unpack the made-up sessions into {}", folder.display()),
                &error,
            )
            .hint("set TMPDIR to a folder you can write to")
        })?;
        Ok(Self {
            home: folder.join("home"),
            state: folder.join("state"),
            claude_folders: vec![folder.join("claude")],
            openclaw_folders: vec![folder.join("openclaw")],
            is_demo: true,
            api_key: None,
            ..self
        })
    }
}

fn prepare(folder: &Path, now: Timestamp) -> io::Result<()> {
    make(folder)?;
    // The name can be guessed: in a folder of somebody else's nothing is written.
    let found = fs::symlink_metadata(folder)?;
    if !found.is_dir() || found.uid() != rustix::process::geteuid().as_raw() {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, "it belongs to somebody else"));
    }
    if found.mode() & 0o077 != 0 {
        // Others may have put links in it.
        fs::remove_dir_all(folder)?;
        make(folder)?;
    }
    if !is_fresh(&folder.join(UNPACKED), now) {
        unpack(folder, now)?;
    }
    Ok(())
}

fn make(folder: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        other => other,
    }
}

fn is_fresh(marker: &Path, now: Timestamp) -> bool {
    let text = system::read_small(marker, 100).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    let at = text.and_then(|text| text.parse::<Timestamp>().ok());
    at.is_some_and(|at| at <= now && now.duration_since(at) < FRESH)
}

fn unpack(folder: &Path, now: Timestamp) -> io::Result<()> {
    let later =
        WRITTEN.parse::<Timestamp>().map_or(SignedDuration::ZERO, |written| now.duration_since(written));
    for (path, content) in FILES {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap_or(folder))?;
        fs::write(path, moved(content, later))?;
    }
    fs::write(folder.join(UNPACKED), now.to_string())
}

/// The text with every time in it moved.
fn moved(text: &str, later: SignedDuration) -> String {
    let mut out = String::with_capacity(text.len());
    // Between two quotes is a whole JSON string, or what separates two strings.
    for (at, part) in text.split('"').enumerate() {
        if at > 0 {
            out.push('"');
        }
        match part.parse::<Timestamp>().and_then(|time| time.checked_add(later)) {
            Ok(time) => out.push_str(&JSON_TIME.timestamp_to_string(&time)),
            Err(_) => out.push_str(part),
        }
    }
    out
}

/// Where each file is unpacked to, and what is in it.
const FILES: &[(&str, &str)] = &[
    (
        "claude/projects/-home-sam-code-harbor-api/1ba1de03-4b78-5244-9858-2706428e076f.jsonl",
        include_str!("../../demo/token-refresh.jsonl"),
    ),
    (
        "claude/projects/-home-sam-code-harbor-api/80048f3c-7d0f-54dd-996d-d569f78d3a62.jsonl",
        include_str!("../../demo/token-refresh-fork.jsonl"),
    ),
    (
        "claude/projects/-home-sam-code-harbor-api/7716132d-3f5d-5688-9ea3-601cc410800c.jsonl",
        include_str!("../../demo/flaky-test.jsonl"),
    ),
    (
        "claude/projects/-home-sam-code-harbor-api/991d246a-17fc-5019-a3ac-da05c0f12716.jsonl",
        include_str!("../../demo/migration.jsonl"),
    ),
    (
        "claude/projects/-home-sam-code-harbor-api/991d246a-17fc-5019-a3ac-da05c0f12716/subagents/agent-a1f0c3d27be94e518.jsonl",
        include_str!("../../demo/migration-explore.jsonl"),
    ),
    (
        "claude/projects/-home-sam-code-tidepool-web/4a8d8dd8-8a0b-5f4e-bc7e-48f75401c04c.jsonl",
        include_str!("../../demo/dark-mode.jsonl"),
    ),
    (
        "claude/projects/-home-sam-code-tidepool-web/f8e7ff83-cb6e-5784-9f34-4394d5e1d87f.jsonl",
        include_str!("../../demo/date-display-ja.jsonl"),
    ),
    (
        "claude/projects/-home-sam-code-lantern-cli/c02761b4-5111-5f9f-8a8d-dbd246eedfb5.jsonl",
        include_str!("../../demo/release-notes.jsonl"),
    ),
    (
        "claude/projects/-home-sam-code-lantern-cli/f09a7119-c1b9-55c4-b751-6e91e70fa2ef.jsonl",
        include_str!("../../demo/config-refactor.jsonl"),
    ),
    (
        "claude/projects/-home-sam-code-tidepool-web/0f41c62e-fe5a-5c78-9791-40484ae1a98b.jsonl",
        include_str!("../../demo/dialog-a11y.jsonl"),
    ),
    (
        "claude/projects/-home-sam-code-harbor-api/d8275f59-792d-5605-b6d8-63308c2015ad.jsonl",
        include_str!("../../demo/rate-limit.jsonl"),
    ),
    ("openclaw/agents/main/claude-code-sessions.json", include_str!("../../demo/openclaw-registry.json")),
    (
        "claude/projects/-home-sam-code-harbor-api/991d246a-17fc-5019-a3ac-da05c0f12716/subagents/agent-a1f0c3d27be94e518.meta.json",
        include_str!("../../demo/migration-explore.meta.json"),
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_move_and_nothing_else() {
        let later = SignedDuration::from_hours(24);
        let text = r#"{"timestamp":"2026-01-15T12:00:00.500Z","said":"at \"noon\" of 2026-01-15T12:00:00Z"}"#;
        let expected =
            r#"{"timestamp":"2026-01-16T12:00:00.500Z","said":"at \"noon\" of 2026-01-15T12:00:00Z"}"#;
        assert_eq!(moved(text, later), expected);
    }

    #[test]
    fn the_sessions_end_now_and_are_unpacked_once_a_day() {
        let scratch = tempfile::tempdir().unwrap();
        let folder = scratch.path().join("demo");
        let now: Timestamp = "2030-05-05T05:05:05Z".parse().unwrap();
        prepare(&folder, now).unwrap();
        let first = folder.join(FILES[0].0);
        fs::write(&first, "touched").unwrap();
        let is_touched = || fs::metadata(&first).unwrap().len() == 7;
        prepare(&folder, now + SignedDuration::from_hours(23)).unwrap();
        assert!(is_touched());
        prepare(&folder, now + SignedDuration::from_hours(25)).unwrap();
        assert!(!is_touched());
    }

    #[test]
    fn nothing_is_written_through_links_that_others_could_have_put_there() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};
        let scratch = tempfile::tempdir().unwrap();
        let (folder, precious) = (scratch.path().join("demo"), scratch.path().join("precious"));
        fs::write(&precious, "mine").unwrap();
        fs::create_dir(&folder).unwrap();
        symlink(&precious, folder.join(UNPACKED)).unwrap();
        symlink(scratch.path(), folder.join("claude")).unwrap();
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).unwrap();
        prepare(&folder, Timestamp::UNIX_EPOCH).unwrap();
        assert_eq!(fs::metadata(&precious).unwrap().len(), 4);
        assert!(!scratch.path().join("projects").exists() && folder.join("claude/projects").is_dir());
        assert_eq!(fs::metadata(&folder).unwrap().mode() & 0o777, 0o700);
    }
}

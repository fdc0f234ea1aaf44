//! Reads the tasks that were started in a session, and the commits that resulted.
//!
//! A prompt starts a task where it is the first or follows a long silence; prompts in between continue it.

use std::io;
use std::path::Path;

use jiff::Timestamp;

use crate::message::{Part, Role, message};
use crate::reader::Reader;
use crate::record::Record;

/// The seconds of silence after which a prompt starts a task.
const SILENCE: i64 = 30 * 60;
/// How much of a tool's output is searched, in bytes.
const OUTPUT_CAP: usize = 64 << 10;

/// A prompt that begins something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartedTask {
    /// The record's id: a fork's copy has the same.
    pub uuid: Option<String>,
    /// When it was typed.
    pub at: Timestamp,
    /// The text of the prompt.
    pub task: String,
    /// The working directory.
    pub cwd: String,
    /// The branch that was checked out.
    pub branch: Option<String>,
    /// Whether the session began with it.
    pub is_first: bool,
}

/// A commit, as git reported it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedCommit {
    /// The record's id: a fork's copy has the same.
    pub uuid: Option<String>,
    /// The beginning of its hash.
    pub hash: String,
    /// The subject of the commit.
    pub subject: String,
    /// The working directory.
    pub cwd: String,
}

/// The tasks and commits of a session, in the order of the file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WorkLog {
    /// The prompts that start a task.
    pub begun: Vec<StartedTask>,
    /// The commits that were made.
    pub commits: Vec<LoggedCommit>,
}

/// Reads which tasks a transcript starts and which commits it makes; what cannot be read is skipped.
pub fn work_log(path: &Path) -> io::Result<WorkLog> {
    let mut reader = Reader::open(path)?;
    let mut work_log = WorkLog::default();
    let mut last: Option<Timestamp> = None;
    while let Some(line) = reader.next_line()? {
        let Ok(record) = line.record() else { continue };
        if record.is_sidechain() {
            continue;
        }
        let text = record.tool_use_result().get("stdout").text().unwrap_or_default();
        work_log.commits.extend(commits_in(&text).map(|(hash, subject)| LoggedCommit {
            uuid: record.uuid().map(str::to_owned),
            hash: hash.to_owned(),
            subject: subject.to_owned(),
            cwd: record.cwd().unwrap_or_default().into_owned(),
        }));
        let Some(at) = record.timestamp() else { continue };
        let silence = last.is_none_or(|last| at.as_second() - last.as_second() > SILENCE);
        if silence {
            work_log.begun.extend(spoken_text(&record).map(|task| StartedTask {
                uuid: record.uuid().map(str::to_owned),
                at,
                task,
                cwd: record.cwd().unwrap_or_default().into_owned(),
                branch: record.branch().map(std::borrow::Cow::into_owned),
                is_first: work_log.begun.is_empty(),
            }));
        }
        if message(&record).is_some() {
            last = Some(at);
        }
    }
    Ok(work_log)
}

/// The prompt in a record, unless it is a command.
fn spoken_text(record: &Record<'_>) -> Option<String> {
    let message = message(record).filter(|message| message.role == Role::User)?;
    let texts = message.parts.iter().filter_map(|part| match part {
        Part::Text(text) => Some(text.as_ref()),
        _ => None,
    });
    let text = texts.collect::<Vec<_>>().join("\n");
    (!text.trim().is_empty() && !crate::is_command(&text)).then_some(text)
}

/// The commits that git reports in a tool's output: the beginnings of their hashes and their subjects.
pub(crate) fn commits_in(output: &str) -> impl Iterator<Item = (&str, &str)> {
    output[..output.floor_char_boundary(OUTPUT_CAP)].lines().filter_map(commit)
}

/// Whether a command's output may report commits of the repository that is worked on. Tests make repositories of their
/// own, which are gone a moment later: in a temporary folder, by `git init`, or within a run of tests.
pub(crate) fn works_on_repository(command: &str, directory: &Path) -> bool {
    const COMMITTING: [&str; 6] = ["commit", "merge", "cherry-pick", "revert", "rebase", "pull"];
    const TEMPORARY: [&str; 4] = ["/tmp/", "/private/tmp/", "/var/folders/", "$TMPDIR"];
    let is_made = command.contains("git init") || command.contains("mktemp");
    let goes_away =
        command.split_whitespace().zip(command.split_whitespace().skip(1)).any(|(word, place)| {
            let place = place.trim_matches(['"', '\'', ';', '&']);
            let is_temporary = TEMPORARY.iter().any(|folder| format!("{place}/").starts_with(folder));
            matches!(word, "cd" | "-C") && is_temporary && !Path::new(place).starts_with(directory)
        });
    let only_tests = command.contains("test") && !COMMITTING.iter().any(|word| command.contains(word));
    !(is_made || goes_away || only_tests)
}

/// The hash and the subject in `[main 1a2b3c4] Subject`, which git prints of a commit.
fn commit(line: &str) -> Option<(&str, &str)> {
    let (head, subject) = line.strip_prefix('[')?.split_once("] ")?;
    let hash = head.rsplit(' ').next()?;
    let is_hash = (7..=40).contains(&hash.len()) && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    (is_hash && head.contains(' ') && !subject.trim().is_empty()).then(|| (hash, subject.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commits_in_test_repositories_are_ignored() {
        let check = |command: &str, expected: bool| {
            assert_eq!(works_on_repository(command, Path::new("/tmp/home/shop")), expected, "{command}");
        };
        check("git commit -m 'Fix the test'", true);
        check("scripts/release", true);
        check("cd /tmp/home/shop/web && git commit -m x", true);
        check("cargo test && git commit -am done", true);
        check("cd /tmp/try && git commit -m x", false);
        check("git -C \"/tmp/try\" commit -m x", false);
        check("git init && git commit -m x", false);
        check("go test ./... -v", false);
    }

    #[test]
    fn commits_are_read_from_the_output_of_git() {
        let check = |line: &str, expected: Option<(&str, &str)>| assert_eq!(commit(line), expected, "{line}");
        check("[main 1a2b3c4] Tokens last an hour", Some(("1a2b3c4", "Tokens last an hour")));
        check("[fix/a (root-commit) 1a2b3c4d5e] First", Some(("1a2b3c4d5e", "First")));
        check("[detached HEAD 1a2b3c4] x", Some(("1a2b3c4", "x")));
        check("[INFO abcdefg] not a hash", None);
        check("[1a2b3c4] no branch", None);
        check("[main 1a2b3c4] ", None);
        check("main 1a2b3c4 x", None);
    }
}

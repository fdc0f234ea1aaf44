//! One question to another program: bounded in time and size, and ended with all it started.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use crate::RepoContext;

/// How much of an answer is read, in bytes; a repository with more to say is cut short, and says so.
const CAP: u64 = 8 << 20;
/// How much of a complaint is read, in bytes.
const COMPLAINT: u64 = 4 << 10;

/// Variables that would make git look at another repository, or write where it is only asked.
const NOT_INHERITED: [&str; 14] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_COMMON_DIR",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
    "GIT_CEILING_DIRECTORIES",
    "GIT_EXTERNAL_DIFF",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_PARAMETERS",
    "GIT_TRACE",
    "GH_REPO",
];

/// What a program answered.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    /// Whether it ended well.
    pub(crate) success: bool,
    /// What it printed.
    pub(crate) bytes: Vec<u8>,
    /// Whether there was more.
    pub(crate) cut: bool,
    /// What it complained of, its first line.
    pub(crate) complaint: String,
}

impl Answer {
    /// What it printed as one line of text, where it ended well.
    pub(crate) fn line(&self) -> Option<String> {
        let text = String::from_utf8_lossy(&self.bytes);
        self.success.then(|| text.trim_end_matches('\n').to_owned())
    }
}

/// Why there is no answer.
#[derive(Debug)]
pub(crate) enum Silence {
    /// There is no such program.
    Missing,
    /// It took longer than it may.
    Late(Duration),
    /// The system would not run it.
    Failed(io::Error),
}

/// A program that is to be asked in the place's directory; nothing of its environment leads it elsewhere.
pub(crate) fn program(context: &RepoContext, name: &str) -> Result<Command, Silence> {
    if !context.directory.is_absolute() {
        let why = format!("{} is no absolute path", context.directory.display());
        return Err(Silence::Failed(io::Error::new(io::ErrorKind::InvalidInput, why)));
    }
    let search_path = search_path(&context.tools.search_path).ok_or(Silence::Missing)?;
    let mut command = Command::new(name);
    command.current_dir(&context.directory).env("PATH", search_path);
    for name in NOT_INHERITED {
        command.env_remove(name);
    }
    command.envs([
        ("GIT_OPTIONAL_LOCKS", "0"),
        ("GIT_TERMINAL_PROMPT", "0"),
        ("GIT_PAGER", "cat"),
        ("LC_ALL", "C"),
        ("GH_PROMPT_DISABLED", "1"),
        ("GH_NO_UPDATE_NOTIFIER", "1"),
        ("NO_COLOR", "1"),
    ]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    Ok(command)
}

/// Where programs are looked for: an empty or relative entry would be a folder of the repository.
fn search_path(path: &OsStr) -> Option<OsString> {
    let absolute = std::env::split_paths(path).filter(|folder| folder.is_absolute());
    std::env::join_paths(absolute).ok().filter(|path| !path.is_empty())
}

/// Runs a program made by [`program`], and hears what it says.
pub(crate) fn ask(mut command: Command, limit: Duration) -> Result<Answer, Silence> {
    // Its own group, so that what it starts ends with it.
    let mut child = command.process_group(0).spawn().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Silence::Missing,
        _ => Silence::Failed(error),
    })?;
    let heard = listen(&mut child, limit);
    if heard.is_none() {
        end_group(&child);
    }
    let status = child.wait().map_err(Silence::Failed)?;
    heard.map(|heard| heard.answer(status)).ok_or(Silence::Late(limit))
}

struct Heard {
    bytes: Vec<u8>,
    cut: bool,
    complaint: Vec<u8>,
}

impl Heard {
    fn answer(self, status: ExitStatus) -> Answer {
        let complaint =
            String::from_utf8_lossy(&self.complaint).lines().next().unwrap_or_default().to_owned();
        // One that says more than is read is ended by the closed pipe: what it said counts.
        Answer { success: status.success() || self.cut, bytes: self.bytes, cut: self.cut, complaint }
    }
}

/// Both outputs up to their caps; `None` when they do not end in time.
fn listen(child: &mut Child, limit: Duration) -> Option<Heard> {
    let began = Instant::now();
    let out = reader(child.stdout.take(), CAP);
    let err = reader(child.stderr.take(), COMPLAINT);
    let mut bytes = out.recv_timeout(limit).ok()?;
    let cut = bytes.len() as u64 > CAP;
    bytes.truncate(usize::try_from(CAP).unwrap_or(usize::MAX));
    if cut {
        end_group(child);
    }
    let left = limit.saturating_sub(began.elapsed());
    let complaint = err.recv_timeout(left).ok()?;
    Some(Heard { bytes, cut, complaint })
}

fn reader(source: Option<impl Read + Send + 'static>, cap: u64) -> mpsc::Receiver<Vec<u8>> {
    let (sender, received) = mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(source) = source {
            // A pipe that breaks has said what it had to say.
            let _ = source.take(cap + 1).read_to_end(&mut bytes);
        }
        // Nobody listens any more when it took too long.
        let _ = sender.send(bytes);
    });
    received
}

fn end_group(child: &Child) {
    let group = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw);
    if let Some(group) = group {
        // It may have ended by itself just now.
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_program_is_looked_for_in_the_repository() {
        let check = |path: &str, expected: Option<&str>| {
            assert_eq!(search_path(path.as_ref()).as_deref(), expected.map(OsStr::new), "{path}");
        };
        check("/usr/bin:/bin", Some("/usr/bin:/bin"));
        check(":/usr/bin::.:bin:../x:/bin:", Some("/usr/bin:/bin"));
        check(".", None);
        check("", None);
    }
}

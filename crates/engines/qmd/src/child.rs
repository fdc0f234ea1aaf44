//! One run of qmd: bounded in time and size, and ended with all it started.

use std::io::{self, Read};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// How much of an answer is read, in bytes.
const CAP: u64 = 8 << 20;
/// How much of a complaint is read, in bytes; qmd's own is followed by a trace.
const COMPLAINT: u64 = 64 << 10;

/// An installed qmd.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Qmd {
    /// The program.
    pub program: PathBuf,
    /// How long one command may take.
    pub limit: Duration,
}

/// What a run printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Said {
    /// Whether it ended well.
    pub(crate) success: bool,
    /// Its answer.
    pub(crate) out: String,
    /// Its complaints and progress.
    pub(crate) err: String,
}

impl Qmd {
    /// Runs one command, and gives back what it said or why it said nothing.
    pub(crate) fn run(&self, arguments: &[&str]) -> Result<Said, String> {
        let mut command = Command::new(&self.program);
        command.args(arguments).env("NO_COLOR", "1");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // Its own group, so that what it starts ends with it: its launcher starts another program.
        let mut child = command
            .process_group(0)
            .spawn()
            .map_err(|error| format!("{} cannot be started: {error}", self.program.display()))?;
        let heard = listen(&mut child, self.limit);
        end_group(&child);
        // Ended or not: a child is waited for, so that none is left behind.
        let status = child.wait();
        let (out, err) = heard.ok_or_else(|| format!("no answer within {} ms", self.limit.as_millis()))?;
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Ok(Said { success: status.is_ok_and(|status| status.success()), out: text(out), err: text(err) })
    }

    /// Reads the collections' files again, and embeds them: `qmd update`, then `qmd embed`.
    ///
    /// Both take as long as they take; what they say goes to standard error, for whoever waits to see.
    pub fn index(&self) -> Result<(), String> {
        ["update", "embed"].into_iter().try_for_each(|name| self.run_visibly(name))
    }

    fn run_visibly(&self, name: &str) -> Result<(), String> {
        let mut command = Command::new(&self.program);
        command.arg(name).stdin(Stdio::null()).stdout(io::stderr()).stderr(io::stderr());
        match command.status() {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(format!("`qmd {name}` failed ({status}); what it said stands above")),
            Err(error) => Err(format!("{} cannot be started: {error}", self.program.display())),
        }
    }
}

/// Both outputs up to their caps; `None` when they do not end in time.
fn listen(child: &mut Child, limit: Duration) -> Option<(Vec<u8>, Vec<u8>)> {
    let began = Instant::now();
    let out = reader(child.stdout.take(), CAP);
    let err = reader(child.stderr.take(), COMPLAINT);
    let said = out.recv_timeout(limit).ok()?;
    if said.len() as u64 >= CAP {
        end_group(child);
    }
    let complaint = err.recv_timeout(limit.saturating_sub(began.elapsed())).ok()?;
    Some((said, complaint))
}

/// Hands over the beginning of a pipe, and drains the rest so that nobody waits for a reader.
fn reader(source: Option<impl Read + Send + 'static>, cap: u64) -> mpsc::Receiver<Vec<u8>> {
    let (sender, received) = mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut source) = source {
            // A pipe that breaks has said what it had to say.
            let _ = source.by_ref().take(cap).read_to_end(&mut bytes);
            if (bytes.len() as u64) < cap {
                let _ = sender.send(bytes);
                return;
            }
            // Nobody listens any more when it took too long.
            let _ = sender.send(bytes);
            let _ = io::copy(&mut source, &mut io::sink());
        }
    });
    received
}

fn end_group(child: &Child) {
    let group = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw);
    if let Some(group) = group {
        // It has ended by itself where all went well.
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::Path;

    use super::*;

    /// A program of a few words of shell that plays qmd.
    pub(crate) fn script(folder: &Path, text: &str, limit: Duration) -> Qmd {
        let program = folder.join("qmd");
        fs::write(&program, format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        Qmd { program, limit }
    }

    #[test]
    fn whatever_it_does_it_is_over_in_time() {
        let scratch = tempfile::tempdir().unwrap();
        let check = |text: &str, limit: u64, expected: Result<(bool, &str), &str>| {
            let found = script(scratch.path(), text, Duration::from_millis(limit)).run(&["query"]);
            let found = found.as_ref().map(|said| (said.success, said.out.as_str()));
            assert_eq!(found.map_err(String::as_str), expected, "{text}");
        };
        check("echo \"$1\"", 20_000, Ok((true, "query\n")));
        check("echo no >&2; exit 3", 20_000, Ok((false, "")));
        check("sleep 600 & wait", 300, Err("no answer within 300 ms"));
        check("trap '' TERM; while :; do :; done", 300, Err("no answer within 300 ms"));
        let gone = Qmd { program: "/nowhere/qmd".into(), limit: Duration::from_secs(1) };
        assert!(gone.run(&[]).unwrap_err().starts_with("/nowhere/qmd cannot be started"));
    }

    #[test]
    fn one_that_never_stops_talking_is_cut_off() {
        let scratch = tempfile::tempdir().unwrap();
        let said = script(scratch.path(), "yes", Duration::from_mins(1)).run(&[]).unwrap();
        assert_eq!(said.out.len() as u64, CAP);
    }
}

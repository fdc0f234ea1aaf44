//! Runs other programs within limits: on their time, on their output, and on what they leave running.

use std::io::{self, Read, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::{Duration, Instant};

use rustix::io::retry_on_intr;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

/// What a command may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommandLimits {
    /// The time until it has exited and closed its output.
    pub time: Duration,
    /// How many bytes of its standard output are read; a command that prints more is killed.
    pub stdout: u64,
    /// How many bytes of its standard error are kept, the rest is discarded; 0 connects it to `/dev/null`.
    pub stderr: u64,
}

/// What a command printed, and how it ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandOutput {
    /// How it ended; killed, where it printed too much.
    pub status: ExitStatus,
    /// Its standard output, up to the limit.
    pub stdout: Vec<u8>,
    /// Whether it printed more than the limit, and was killed for that.
    pub is_truncated: bool,
    /// The beginning of its standard error, up to the limit.
    pub stderr: Vec<u8>,
}

/// Why a command has no output.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// There is no such program, or no such directory to run it in.
    #[error("cannot be started")]
    NotFound(#[source] io::Error),
    /// The system refused to start it or to wait for it.
    #[error("cannot be run")]
    Failed(#[source] io::Error),
    /// It did not exit, or did not close its output, within this time.
    #[error("did not end within {} ms", .0.as_millis())]
    TimedOut(Duration),
}

/// What the threads around a running command report.
enum Event {
    Stdout { bytes: Vec<u8>, is_truncated: bool },
    Stderr(Vec<u8>),
    Exited,
}

/// Runs a command to its end, with `input` on its standard input, or none.
///
/// It leads a process group of its own, which is killed at the end, however the command ended: nothing that it started
/// in its group outlives it. Directory and environment are those that `command` gives; its standard streams are
/// replaced.
pub fn run_command(
    mut command: Command,
    input: Option<Vec<u8>>,
    limits: CommandLimits,
) -> Result<CommandOutput, CommandError> {
    let began = Instant::now();
    command.stdin(if input.is_some() { Stdio::piped() } else { Stdio::null() });
    command.stdout(Stdio::piped());
    command.stderr(if limits.stderr > 0 { Stdio::piped() } else { Stdio::null() });
    let mut child = command.process_group(0).spawn().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => CommandError::NotFound(error),
        _ => CommandError::Failed(error),
    })?;
    let output = collect(&mut child, input, limits, began);
    // Before it is waited for: until then its number, which is the group's, cannot be given to another process.
    kill_group(&child);
    let status = child.wait().map_err(CommandError::Failed)?;
    let (stdout, is_truncated, stderr) = output.ok_or(CommandError::TimedOut(limits.time))?;
    Ok(CommandOutput { status, stdout, is_truncated, stderr })
}

/// The output, once it is complete and the command has exited; `None` when that takes too long.
fn collect(
    child: &mut Child,
    input: Option<Vec<u8>>,
    limits: CommandLimits,
    began: Instant,
) -> Option<(Vec<u8>, bool, Vec<u8>)> {
    let (sender, events) = mpsc::channel();
    let mut pending = start_threads(child, input, limits, &sender);
    let (mut stdout, mut was_truncated, mut stderr) = (Vec::new(), false, Vec::new());
    while pending > 0 {
        match events.recv_timeout(limits.time.saturating_sub(began.elapsed())).ok()? {
            Event::Stdout { bytes, is_truncated } => {
                (stdout, was_truncated) = (bytes, is_truncated);
                if is_truncated {
                    kill_group(child);
                }
            }
            Event::Stderr(bytes) => stderr = bytes,
            Event::Exited => {}
        }
        pending -= 1;
    }
    Some((stdout, was_truncated, stderr))
}

/// Starts a thread for each thing that has to be waited for, and returns how many will report. Those that are still
/// waiting when the time is over end with the process group; nobody receives what they report then.
fn start_threads(
    child: &mut Child,
    input: Option<Vec<u8>>,
    limits: CommandLimits,
    events: &Sender<Event>,
) -> usize {
    if let (Some(input), Some(mut stdin)) = (input, child.stdin.take()) {
        // A command that exits without reading its input has its own reason, which its output gives.
        thread::spawn(move || drop(stdin.write_all(&input)));
    }
    let mut count = 1;
    let exited = events.clone();
    let pid = Pid::from_child(child);
    thread::spawn(move || {
        wait_without_reaping(pid);
        let _ = exited.send(Event::Exited);
    });
    if let Some(source) = child.stdout.take() {
        let events = events.clone();
        thread::spawn(move || {
            let (bytes, is_truncated, _) = read_up_to(source, limits.stdout);
            let _ = events.send(Event::Stdout { bytes, is_truncated });
        });
        count += 1;
    }
    if let Some(source) = child.stderr.take() {
        let events = events.clone();
        thread::spawn(move || {
            let (bytes, _, mut rest) = read_up_to(source, limits.stderr);
            // Drained, because a full pipe would block the command.
            let _ = io::copy(&mut rest, &mut io::sink());
            let _ = events.send(Event::Stderr(bytes));
        });
        count += 1;
    }
    count
}

/// The beginning of a pipe, whether there was more, and the pipe.
fn read_up_to<R: Read>(mut source: R, limit: u64) -> (Vec<u8>, bool, R) {
    let mut bytes = Vec::new();
    // A pipe that breaks has delivered what it had.
    let _ = source.by_ref().take(limit.saturating_add(1)).read_to_end(&mut bytes);
    let is_truncated = bytes.len() as u64 > limit;
    bytes.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    (bytes, is_truncated, source)
}

/// Returns when the process has exited; its exit status is left for [`Child::wait`].
fn wait_without_reaping(pid: Pid) {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    // It fails only where the process was reaped already.
    let _ = retry_on_intr(|| waitid(WaitId::Pid(pid), options));
}

fn kill_group(child: &Child) {
    // It is already gone where all went well.
    let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_mins(1);
    const SHORT: Duration = Duration::from_millis(300);

    fn shell(script: &str, time: Duration) -> Result<CommandOutput, CommandError> {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]);
        run_command(command, None, CommandLimits { time, stdout: 1000, stderr: 10 })
    }

    #[test]
    fn output_and_status_are_reported() {
        let check = |script: &str, code: i32, stdout: &str, stderr: &str| {
            let output = shell(script, LONG).unwrap();
            assert_eq!(output.status.code(), Some(code), "{script}");
            assert_eq!(
                (&*output.stdout, &*output.stderr),
                (stdout.as_bytes(), stderr.as_bytes()),
                "{script}"
            );
            assert!(!output.is_truncated, "{script}");
        };
        check("echo out; echo err >&2", 0, "out\n", "err\n");
        check("exit 3", 3, "", "");
        check("cat", 0, "", "");
        check("exec >&- 2>&-; exit 4", 4, "", "");
        // More than fits into a pipe: who does not read it is waited for.
        check("head -c 200000 /dev/zero >&2; echo done", 0, "done\n", &"\0".repeat(10));
    }

    #[test]
    fn input_is_written_and_may_be_left_unread() {
        let run = |script: &str, input: Vec<u8>| {
            let mut command = Command::new("/bin/sh");
            command.args(["-c", script]);
            let output =
                run_command(command, Some(input), CommandLimits { time: LONG, stdout: 1 << 20, stderr: 0 });
            output.unwrap().stdout
        };
        assert_eq!(run("cat; echo error >&2", vec![b'x'; 300_000]), vec![b'x'; 300_000]);
        assert_eq!(run("echo done", vec![b'x'; 300_000]), b"done\n");
    }

    #[test]
    fn missing_and_unrunnable_programs_are_distinguished() {
        let run = |program: &str| {
            run_command(Command::new(program), None, CommandLimits { time: LONG, stdout: 1, stderr: 1 })
        };
        assert!(matches!(run("/nowhere/program"), Err(CommandError::NotFound(_))));
        assert!(matches!(run("/"), Err(CommandError::Failed(_))));
    }

    #[test]
    fn a_command_that_does_not_end_is_killed() {
        for script in [
            "sleep 600",
            // Something in the background holds the output.
            "sleep 600 &",
            "trap '' TERM INT HUP; while :; do :; done",
            // Nobody waits for output any more, but it has not exited.
            "exec >&- 2>&-; sleep 600",
        ] {
            let error = shell(script, SHORT).unwrap_err();
            assert!(matches!(error, CommandError::TimedOut(SHORT)), "{script}: {error}");
        }
    }

    #[test]
    fn output_without_end_is_cut_off() {
        let output = shell("yes", LONG).unwrap();
        assert_eq!((output.stdout.len(), output.is_truncated, output.status.success()), (1000, true, false));
        let output = shell("trap '' TERM PIPE; while :; do echo y; done", LONG).unwrap();
        assert!(output.is_truncated);
        let exact = shell("head -c 1000 /dev/zero", LONG).unwrap();
        assert_eq!((exact.stdout.len(), exact.is_truncated, exact.status.success()), (1000, false, true));
    }

    #[test]
    fn nothing_in_its_group_outlives_a_command() {
        let output = shell("sleep 600 >/dev/null 2>&1 & echo $!", LONG).unwrap();
        assert!(output.status.success());
        let pid: i32 = String::from_utf8(output.stdout).unwrap().trim().parse().unwrap();
        // Killed, it may not have been reaped yet by whoever adopted it.
        let has_ended = || {
            let stat = crate::read_small(std::path::Path::new(&format!("/proc/{pid}/stat")), 4096);
            stat.map_or(true, |stat| String::from_utf8_lossy(&stat).contains(") Z "))
        };
        let began = Instant::now();
        while !has_ended() {
            assert!(began.elapsed() < LONG, "{pid} is still running");
            thread::yield_now();
        }
    }
}

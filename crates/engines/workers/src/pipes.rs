//! A started process and its pipes. Each pipe has its own thread, so that a full or slow one does not block
//! the others; all output goes to one channel.

use std::io::{self, Read, Write as _};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel};
use std::thread;

use rustix::process::Signal;

use crate::handle::Input;
use crate::lines::{Line, Lines};
use crate::{MARK_VARIABLE, ProcessIdentity};

/// Maximum length of an output line in bytes; longer lines are skipped.
const MAX_LINE: usize = 32 << 20;

/// A running process.
#[derive(Debug)]
pub(crate) struct Pipes {
    /// Identity of the process, which leads its own process group.
    pub(crate) identity: ProcessIdentity,
    input: Option<Sender<String>>,
}

impl Pipes {
    /// Starts a command; its output and its end are sent to `inputs`.
    pub(crate) fn start(mut command: Command, inputs: &SyncSender<Input>) -> io::Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mark = command
            .get_envs()
            .find(|(name, _)| *name == MARK_VARIABLE)
            .and_then(|(_, mark)| mark?.to_str().map(str::to_owned));
        let mut child = command.spawn()?;
        let identity = ProcessIdentity::from_pid(child.id())
            .unwrap_or(ProcessIdentity { pid: child.id(), started: None });
        let (input, lines) = channel();
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let started = spawn_thread("worker-in", move || pipes.0.map_or((), |stdin| write(stdin, &lines)))
            .and_then(|()| {
                let inputs = inputs.clone();
                spawn_thread("worker-out", move || pipes.1.map_or((), |out| read(out, &inputs, Input::Line)))
            })
            .and_then(|()| {
                let inputs = inputs.clone();
                let read = move |out| read(out, &inputs, Input::Stderr);
                spawn_thread("worker-err", move || pipes.2.map_or((), read))
            });
        let started = started.and_then(|()| {
            let inputs = inputs.clone();
            spawn_thread("worker-end", move || wait(child, mark.as_deref(), &inputs))
        });
        if let Err(error) = started {
            identity.signal_group(Signal::KILL);
            return Err(error);
        }
        Ok(Self { identity, input: Some(input) })
    }

    /// Writes a line. A failure is ignored, since the end of the process explains it.
    pub(crate) fn write(&self, line: String) {
        if let Some(input) = &self.input {
            let _ = input.send(line);
        }
    }

    /// Closes the process's input.
    pub(crate) fn close(&mut self) {
        self.input = None;
    }
}

fn spawn_thread(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    thread::Builder::new().name(name.to_owned()).stack_size(256 << 10).spawn(work).map(drop)
}

fn write(mut stdin: ChildStdin, lines: &Receiver<String>) {
    while let Ok(line) = lines.recv() {
        if stdin.write_all(line.as_bytes()).and_then(|()| stdin.flush()).is_err() {
            return;
        }
    }
}

fn read(pipe: impl Read, inputs: &SyncSender<Input>, wrap: fn(Vec<u8>) -> Input) {
    let mut lines = Lines::new(pipe, MAX_LINE);
    while let Ok(Some(line)) = lines.next_line() {
        let input = match line {
            Line::Whole(line) => wrap(line),
            Line::TooLong => Input::TooLong,
        };
        if inputs.send(input).is_err() {
            return;
        }
    }
    let _ = inputs.send(Input::PipeClosed);
}

fn wait(mut child: Child, mark: Option<&str>, inputs: &SyncSender<Input>) {
    let ended = child.wait().ok();
    if let Some(mark) = mark {
        ProcessIdentity::kill_marked(mark);
    }
    let _ = inputs.send(Input::Exited(ended));
}

/// Describes how a process ended.
pub(crate) fn describe_exit(ended: Option<ExitStatus>) -> String {
    use std::os::unix::process::ExitStatusExt as _;
    match ended.map(|status| (status.code(), status.signal())) {
        Some((Some(code), _)) => format!("exit code {code}"),
        Some((None, Some(signal))) => format!("signal {signal}"),
        _ => "nobody knows how".to_owned(),
    }
}

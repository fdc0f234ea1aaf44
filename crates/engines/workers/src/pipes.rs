//! A started process and its three pipes. Each pipe has a thread of its own, so that none that is full or slow holds
//! up the others; all that comes of them goes to one place.

use std::io::{self, Read, Write as _};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel};
use std::thread;

use rustix::process::Signal;

use crate::handle::Input;
use crate::lines::{Line, Lines};
use crate::{Life, MARK};

/// The longest line that is taken in, in bytes; longer ones are counted and passed over.
const LONGEST: usize = 32 << 20;

/// A process that runs.
#[derive(Debug)]
pub(crate) struct Pipes {
    /// Which one it is; it leads its group.
    pub(crate) life: Life,
    input: Option<Sender<String>>,
}

impl Pipes {
    /// Starts a command; all that it says and becomes goes to `inputs`.
    pub(crate) fn start(mut command: Command, inputs: &SyncSender<Input>) -> io::Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mark = command
            .get_envs()
            .find(|(name, _)| *name == MARK)
            .and_then(|(_, mark)| mark?.to_str().map(str::to_owned));
        let mut child = command.spawn()?;
        let life = Life::of(child.id()).unwrap_or(Life { pid: child.id(), began: None });
        let (input, lines) = channel();
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let started = named("worker-in", move || pipes.0.map_or((), |stdin| write(stdin, &lines)))
            .and_then(|()| {
                let inputs = inputs.clone();
                named("worker-out", move || pipes.1.map_or((), |out| read(out, &inputs, Input::Line)))
            })
            .and_then(|()| {
                let inputs = inputs.clone();
                named("worker-err", move || pipes.2.map_or((), |out| read(out, &inputs, Input::Complaint)))
            });
        let started = started.and_then(|()| {
            let inputs = inputs.clone();
            named("worker-end", move || wait(child, mark.as_deref(), &inputs))
        });
        if let Err(error) = started {
            life.signal(Signal::KILL);
            return Err(error);
        }
        Ok(Self { life, input: Some(input) })
    }

    /// Gives it a line; one that has closed its input has its own reason, which its end tells.
    pub(crate) fn write(&self, line: String) {
        if let Some(input) = &self.input {
            let _ = input.send(line);
        }
    }

    /// Says that nothing more comes.
    pub(crate) fn close(&mut self) {
        self.input = None;
    }
}

fn named(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
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
    let mut lines = Lines::new(pipe, LONGEST);
    while let Ok(Some(line)) = lines.next_line() {
        let input = match line {
            Line::Whole(line) => wrap(line),
            Line::TooLong => Input::TooLong,
        };
        if inputs.send(input).is_err() {
            return;
        }
    }
    let _ = inputs.send(Input::Silent);
}

fn wait(mut child: Child, mark: Option<&str>, inputs: &SyncSender<Input>) {
    let ended = child.wait().ok();
    if let Some(mark) = mark {
        Life::end_left_behind(mark);
    }
    let _ = inputs.send(Input::Exited(ended));
}

/// How a process ended, in words.
pub(crate) fn how(ended: Option<ExitStatus>) -> String {
    use std::os::unix::process::ExitStatusExt as _;
    match ended.map(|status| (status.code(), status.signal())) {
        Some((Some(code), _)) => format!("exit code {code}"),
        Some((None, Some(signal))) => format!("signal {signal}"),
        _ => "nobody knows how".to_owned(),
    }
}

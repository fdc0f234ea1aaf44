//! Access to a worker from other processes: a Unix socket in Backstory's private state folder. Events go out
//! and commands come in, one JSON value per line.

use std::fs::{self, File, Permissions};
use std::io::{self, Write as _};
use std::net::Shutdown;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::handle::WorkerHandle;
use crate::lines::{Line as Bytes, Lines};
use crate::recover::pause;
use crate::{Command, Event, QueuePolicy, WorkerId};

/// Maximum length of a line in bytes.
const MAX_LINE: usize = 32 << 20;
/// Maximum number of connected clients.
const MAX_CLIENTS: usize = 32;
/// Maximum number of threads that send events, including those whose clients have left.
const MAX_SENDERS: usize = 512;
/// How long to wait for a client that does not read.
const WRITE_TIMEOUT: Duration = Duration::from_secs(10);
/// How long to wait at the end for clients to receive the last events.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);
/// How long to wait for the answer to a command; a queued worker may be ending an orphan first.
const ANSWER_TIMEOUT: Duration = Duration::from_mins(1);
/// Maximum length of a socket path in bytes, with some margin.
const MAX_SOCKET_NAME: usize = 100;

/// The answer to a command.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "snake_case")]
enum Answer {
    Done,
    Refused { why: String },
}

/// A line from a worker: an event or the answer to a command.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
#[expect(clippy::large_enum_variant, reason = "a line is taken apart as soon as it is read")]
enum Line {
    Event(Event),
    Answer(Answer),
}

/// An open socket; removed when dropped.
#[derive(Debug)]
pub(crate) struct WorkerSocket {
    path: PathBuf,
    state: Arc<State>,
}

#[derive(Debug, Default)]
struct State {
    closed: AtomicBool,
    clients: Mutex<Vec<Arc<Client>>>,
    /// Number of threads that send events; one whose client has left notices at the next event.
    senders: AtomicUsize,
}

/// A connected client.
#[derive(Debug)]
struct Client {
    stream: UnixStream,
    /// Whether the client has sent a command; such clients are not disconnected to make room.
    has_asked: AtomicBool,
}

impl State {
    fn clients(&self) -> MutexGuard<'_, Vec<Arc<Client>>> {
        self.clients.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a client. If there are too many, the first that has only listened is disconnected; returns false
    /// if there is none.
    fn add(&self, client: &Arc<Client>) -> bool {
        let mut clients = self.clients();
        if self.senders.load(Ordering::Acquire) >= MAX_SENDERS {
            return false;
        }
        if clients.len() >= MAX_CLIENTS {
            let Some(at) = clients.iter().position(|other| !other.has_asked.load(Ordering::Acquire)) else {
                return false;
            };
            // Where it is closed already, there is nothing to close.
            let _ = clients.remove(at).stream.shutdown(Shutdown::Both);
        }
        clients.push(Arc::clone(client));
        true
    }

    fn remove(&self, client: &Arc<Client>) {
        self.clients().retain(|other| !Arc::ptr_eq(other, client));
    }
}

/// Opens a worker's socket.
pub(crate) fn open(home: &Path, handle: &WorkerHandle) -> io::Result<WorkerSocket> {
    let path = path(home, handle.id);
    let folder = path.parent().unwrap_or(home);
    system::create_private_folder(folder)?;
    fs::set_permissions(folder, Permissions::from_mode(0o700))?;
    // Ids are never reused, so an existing socket was left by a process that was killed.
    match fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let listener = by_short_name(&path, |name| UnixListener::bind(name))?;
    fs::set_permissions(&path, Permissions::from_mode(0o600))?;
    let state = Arc::new(State::default());
    let (handle, shared) = (handle.clone(), Arc::clone(&state));
    thread::Builder::new()
        .name("worker-socket".to_owned())
        .spawn(move || accept(&listener, &handle, &shared))?;
    Ok(WorkerSocket { path, state })
}

impl Drop for WorkerSocket {
    fn drop(&mut self) {
        self.state.closed.store(true, Ordering::Release);
        // A connection wakes the accepting thread; after that no client can connect.
        let _ = by_short_name(&self.path, |name| UnixStream::connect(name));
        let _ = fs::remove_file(&self.path);
        let began = Instant::now();
        while !self.state.clients().is_empty() && began.elapsed() < CLOSE_TIMEOUT {
            pause();
        }
    }
}

fn accept(listener: &UnixListener, handle: &WorkerHandle, state: &Arc<State>) {
    for client in listener.incoming() {
        if state.closed.load(Ordering::Acquire) {
            return;
        }
        let Ok(stream) = client else { continue };
        let client = Arc::new(Client { stream, has_asked: AtomicBool::new(false) });
        if state.add(&client) && serve(&client, handle, state).is_err() {
            state.remove(&client);
        }
    }
}

fn serve(client: &Arc<Client>, handle: &WorkerHandle, state: &Arc<State>) -> io::Result<()> {
    client.stream.set_write_timeout(Some(WRITE_TIMEOUT))?;
    let out = Arc::new(Mutex::new(client.stream.try_clone()?));
    let (answers, commanded, sender_client) = (Arc::clone(&out), handle.clone(), Arc::clone(client));
    let (commands, here) = (client.stream.try_clone()?, Arc::clone(state));
    thread::Builder::new().name("worker-commands".to_owned()).spawn(move || {
        serve_commands(commands, &commanded, &answers, &sender_client);
        here.remove(&sender_client);
    })?;
    let senders = Arc::clone(state);
    let (events, state, client) =
        (handle.listen(QueuePolicy::DropAndCount), Arc::clone(state), Arc::clone(client));
    let tell = move || {
        for event in events {
            if send(&out, &*event).is_err() {
                break;
            }
        }
        // Where it is closed already, there is nothing to close.
        let _ = client.stream.shutdown(Shutdown::Both);
        state.remove(&client);
        state.senders.fetch_sub(1, Ordering::AcqRel);
    };
    senders.senders.fetch_add(1, Ordering::AcqRel);
    let spawned = thread::Builder::new().name("worker-events".to_owned()).spawn(tell).map(drop);
    if spawned.is_err() {
        senders.senders.fetch_sub(1, Ordering::AcqRel);
    }
    spawned
}

/// Executes a client's commands until it disconnects.
fn serve_commands(commands: UnixStream, handle: &WorkerHandle, out: &Mutex<UnixStream>, client: &Client) {
    let mut lines = Lines::new(commands, MAX_LINE);
    while let Ok(Some(line)) = lines.next_line() {
        client.has_asked.store(true, Ordering::Release);
        let command = match line {
            Bytes::Whole(line) => serde_json::from_slice::<Command>(&line).map_err(|error| error.to_string()),
            Bytes::TooLong => Err("it is too long".to_owned()),
        };
        let command = command.map_err(|why| format!("this is no command: {why}"));
        let done = command.and_then(|command| handle.command(command));
        let answer = match done {
            Ok(()) => Answer::Done,
            Err(why) => Answer::Refused { why },
        };
        if send(out, &answer).is_err() {
            return;
        }
    }
}

fn send(out: &Mutex<UnixStream>, value: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    out.lock().unwrap_or_else(PoisonError::into_inner).write_all(&line)
}

/// A connection to a worker of another process.
#[derive(Debug)]
pub struct RemoteWorker {
    /// Recent events, then new ones; closed when the worker or its process ends.
    pub events: Receiver<Arc<Event>>,
    commands: UnixStream,
    answers: Receiver<Answer>,
}

impl RemoteWorker {
    /// Connects to a worker; fails if no process runs it.
    pub fn connect(home: &Path, id: WorkerId) -> io::Result<Self> {
        let commands = by_short_name(&path(home, id), |name| UnixStream::connect(name))?;
        let said = commands.try_clone()?;
        let (tell, events) = channel();
        let (answer, answers) = channel();
        thread::Builder::new().name("worker-remote".to_owned()).spawn(move || {
            let mut lines = Lines::new(said, MAX_LINE);
            while let Ok(Some(line)) = lines.next_line() {
                let Bytes::Whole(line) = line else { continue };
                // The listener may be gone; answers are still waited for.
                match serde_json::from_slice(&line) {
                    Ok(Line::Event(event)) => drop(tell.send(Arc::new(event))),
                    Ok(Line::Answer(done)) => drop(answer.send(done)),
                    // A later Backstory's word that we do not know.
                    Err(_) => {}
                }
            }
        })?;
        Ok(Self { events, commands, answers })
    }

    /// Takes the receiver of events.
    pub fn listen(&mut self) -> Receiver<Arc<Event>> {
        std::mem::replace(&mut self.events, channel().1)
    }

    /// Executes a command, or returns a message saying why not.
    pub fn command(&self, command: &Command) -> Result<(), String> {
        let over = || "the worker has ended".to_owned();
        let mut line = serde_json::to_vec(command).map_err(|error| error.to_string())?;
        line.push(b'\n');
        (&self.commands).write_all(&line).map_err(|_| over())?;
        match self.answers.recv_timeout(ANSWER_TIMEOUT) {
            Ok(Answer::Done) => Ok(()),
            Ok(Answer::Refused { why }) => Err(why),
            Err(RecvTimeoutError::Timeout) => Err("the worker does not answer".to_owned()),
            Err(RecvTimeoutError::Disconnected) => Err(over()),
        }
    }
}

impl Drop for RemoteWorker {
    /// Closes the connection: otherwise the reading thread and its listeners would wait for the worker's end.
    fn drop(&mut self) {
        // One that has ended has hung up already.
        let _ = self.commands.shutdown(Shutdown::Both);
    }
}

/// Sends one command to a worker of any process.
pub(crate) fn send_command(home: &Path, id: WorkerId, command: &Command) -> io::Result<Result<(), String>> {
    Ok(RemoteWorker::connect(home, id)?.command(command))
}

fn path(home: &Path, id: WorkerId) -> PathBuf {
    home.join("workers").join(format!("{id}.sock"))
}

/// Calls `work` with a path short enough for a socket: through the open folder if necessary.
fn by_short_name<T>(path: &Path, work: impl FnOnce(&Path) -> io::Result<T>) -> io::Result<T> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return work(path) };
    if path.as_os_str().len() < MAX_SOCKET_NAME || !Path::new("/proc/self/fd").exists() {
        return work(path);
    }
    let folder = File::open(folder)?;
    work(&Path::new(&format!("/proc/self/fd/{}", folder.as_raw_fd())).join(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_and_answers_are_distinguished() {
        let check = |line: &str, expected: &str| {
            let found = match serde_json::from_str(line) {
                Ok(Line::Event(_)) => "event",
                Ok(Line::Answer(Answer::Done)) => "done",
                Ok(Line::Answer(Answer::Refused { .. })) => "refused",
                Err(_) => "unknown",
            };
            assert_eq!(found, expected, "{line}");
        };
        check(&serde_json::to_string(&Event::Note { text: "x".into() }).unwrap(), "event");
        check(&serde_json::to_string(&Answer::Done).unwrap(), "done");
        check(&serde_json::to_string(&Answer::Refused { why: "no".into() }).unwrap(), "refused");
        check(r#"{"event":"from_the_future"}"#, "unknown");
    }

    #[test]
    fn a_long_socket_path_works() {
        let scratch = tempfile::tempdir().unwrap();
        let folder = scratch.path().join("long/".repeat(30));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("1.sock");
        let _listener = by_short_name(&path, |name| UnixListener::bind(name)).unwrap();
        assert!(by_short_name(&path, |name| UnixStream::connect(name)).is_ok());
    }
}

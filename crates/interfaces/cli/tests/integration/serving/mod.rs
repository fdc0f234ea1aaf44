//! `serve`: the program itself, asked over real sockets.

mod annotations;
mod api;
mod attacks;
mod chat;
mod claude_server;
mod client;
mod crash;
mod crewhub;
mod cron;
mod dashboard;
mod doors;
mod events;
mod fixed_agents;
mod fork;
mod lifecycle;
mod permissions;
mod refusals;
mod schemathesis;
mod waiting;

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread::{self, JoinHandle};

use serde_json::Value;
use testkit::ScratchHome;

use client::Asking;

/// A running server.
pub(crate) struct Server {
    child: Child,
    stdout: BufReader<ChildStdout>,
    /// What it writes to standard error, read as it comes; none where nobody reads it.
    stderr: Option<JoinHandle<String>>,
    /// `127.0.0.1:…`
    pub(crate) address: String,
    /// The token of its link, which a browser exchanges.
    pub(crate) link: String,
    /// A named token that may do everything.
    pub(crate) token: String,
}

impl Server {
    /// Starts the program in a home, on a free port.
    pub(crate) fn start(home: &ScratchHome, arguments: &[&str]) -> Self {
        Self::of(home, home.command(env!("CARGO_BIN_EXE_backstory")), arguments)
    }

    /// Starts the server that a command of the program begins.
    pub(crate) fn of(home: &ScratchHome, command: Command, arguments: &[&str]) -> Self {
        Self::spawn(home, command, arguments, Stdio::piped())
    }

    /// Starts the program with a standard error of the test's.
    pub(crate) fn with_stderr(home: &ScratchHome, arguments: &[&str], stderr: Stdio) -> Self {
        Self::spawn(home, home.command(env!("CARGO_BIN_EXE_backstory")), arguments, stderr)
    }

    fn spawn(home: &ScratchHome, mut command: Command, arguments: &[&str], stderr: Stdio) -> Self {
        let token = admin(home);
        command.args(["serve", "--port", "0", "--print-link"]).args(arguments);
        let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(stderr).spawn();
        let mut child = child.expect("the program");
        let stderr = child.stderr.take().map(|mut stderr| {
            thread::spawn(move || {
                let mut text = String::new();
                let _ = stderr.read_to_string(&mut text);
                text
            })
        });
        let mut stdout = BufReader::new(child.stdout.take().expect("its output"));
        let mut first = String::new();
        stdout.read_line(&mut first).expect("its first line");
        let Some((_, place)) = first.trim_end().rsplit_once("http://") else {
            panic!("it does not listen: {first}{}", text_of(stderr));
        };
        let (address, link) = place.split_once("/?token=").expect("a link with a token");
        let (address, link) = (address.to_owned(), link.to_owned());
        Self { child, stdout, stderr, address, link, token }
    }

    /// A request with a token that may do everything.
    pub(crate) fn ask(&self, method: &str, path: &str) -> Asking {
        self.bare(method, path).header("Authorization", &format!("Bearer {}", self.token))
    }

    /// A request without any credential.
    pub(crate) fn bare(&self, method: &str, path: &str) -> Asking {
        Asking::new(&self.address, method, path).header("Host", &self.address)
    }

    /// What a question is answered with, which has to succeed.
    #[track_caller]
    pub(crate) fn get(&self, path: &str) -> Value {
        self.ask("GET", path).send().succeeded()
    }

    /// What is answered when something is to be done, which has to succeed.
    #[track_caller]
    pub(crate) fn post(&self, path: &str, body: &Value) -> Value {
        self.ask("POST", path).json(body).send().succeeded()
    }

    /// Asks it to stop, and returns its exit code and what it complained.
    pub(crate) fn stop(mut self) -> (Option<i32>, String) {
        signal(&self.child, "-TERM");
        let complaint = text_of(self.stderr.take());
        let code = self.child.wait().expect("its end").code();
        let mut rest = String::new();
        let _ = self.stdout.read_to_string(&mut rest);
        (code, complaint + &rest)
    }

    /// Ends it without a word.
    pub(crate) fn kill(mut self) {
        self.child.kill().and_then(|()| self.child.wait()).expect("its end");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn text_of(stderr: Option<JoinHandle<String>>) -> String {
    stderr.map_or_else(String::new, |reading| reading.join().expect("its standard error"))
}

fn signal(child: &Child, signal: &str) {
    let status = Command::new("kill").args([signal, &child.id().to_string()]).status();
    assert!(status.expect("kill").success());
}

/// A new token of the tests' own, which may do everything.
#[expect(clippy::disallowed_methods, reason = "the program reads the clock, too")]
fn admin(home: &ScratchHome) -> String {
    const NAME: &str = "tests";
    let config = app::Config { state: home.state_dir(), ..app::Config::default() };
    let tokens = serve::Tokens::open(&config).expect("a folder of tokens");
    // That of a server before this one.
    let _ = tokens.revoke(NAME);
    tokens.add(NAME, serve::TokenScope::Admin, jiff::Timestamp::now()).expect("a token").token
}

/// A token that `serve token add` prints.
pub(crate) fn token(home: &ScratchHome, name: &str, scope: &str) -> String {
    let mut command = home.command(env!("CARGO_BIN_EXE_backstory"));
    command.args(["serve", "token", "add", name, "--scope", scope]);
    testkit::claude::Run::of(command).succeeded().answer().to_owned()
}

/// Ends a token as `serve token revoke` does.
pub(crate) fn revoke(home: &ScratchHome, name: &str) {
    let mut command = home.command(env!("CARGO_BIN_EXE_backstory"));
    command.args(["serve", "token", "revoke", name]);
    let _ = testkit::claude::Run::of(command).succeeded();
}

/// What a browser gets for a link.
pub(crate) struct Browser {
    /// `backstory=…`, as it sends it.
    pub(crate) cookie: String,
    /// What its pages send beside it.
    pub(crate) key: String,
}

impl Browser {
    /// Signs in with the link that the server printed.
    pub(crate) fn sign_in(server: &Server) -> Self {
        Self::of(&server.bare("GET", &format!("/?token={}", server.link)).send())
    }

    /// What the answer to a link gives it.
    #[track_caller]
    pub(crate) fn of(answer: &client::Answer) -> Self {
        assert_eq!(answer.status, 303, "{answer:?}");
        let cookie = answer.header("set-cookie").and_then(|set| set.split(';').next()).expect("a cookie");
        let key = answer.header("location").and_then(|place| place.strip_prefix("/#key=")).expect("a key");
        Self { cookie: cookie.to_owned(), key: key.to_owned() }
    }

    /// The secret in its cookie.
    pub(crate) fn secret(&self) -> &str {
        self.cookie.strip_prefix("backstory=").expect("its name")
    }

    /// A request of one of its pages.
    pub(crate) fn ask(&self, asking: Asking) -> Asking {
        asking.header("Cookie", &self.cookie).header("Backstory-Key", &self.key)
    }
}

/// A link that `serve link` prints, as a path of the server.
pub(crate) fn link(home: &ScratchHome, server: &Server, scope: &[&str]) -> String {
    let mut command = home.command(env!("CARGO_BIN_EXE_backstory"));
    command.args(["serve", "link"]).args(scope);
    let printed = testkit::claude::Run::of(command).succeeded();
    let place = format!("http://{}", server.address);
    printed.answer().strip_prefix(&place).expect("a link to the server").to_owned()
}

/// A made-up session in the home's history.
pub(crate) fn session(home: &ScratchHome, id: &str, project: &Path, prompt: &str, answer: &str) {
    testkit::Transcript::new(id).cwd(project).prompt(prompt).answer(answer).write_to(home);
}

//! A real terminal for programs that want one: `tmux`, with a server of its own.

use std::path::Path;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::{Claude, ModelServer, PATIENCE, ScratchHome};

/// A busy program shows what is typed within this time, if it takes it at all.
const ECHO: Duration = Duration::from_secs(5);

/// A terminal in which a program runs; both end when it is dropped.
pub struct Terminal {
    socket: String,
}

impl Terminal {
    /// Runs a command in a terminal of this size, with the command's own environment and directory.
    pub fn run(command: &Command, width: u16, height: u16) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let terminal = Self { socket: format!("backstory-test-{}-{number}", std::process::id()) };
        let directory = command.get_current_dir().unwrap_or(Path::new("/"));
        let mut tmux = terminal.tmux(&["-f", "/dev/null", "new-session", "-d"]);
        tmux.args(["-x", &width.to_string(), "-y", &height.to_string(), "-c"]).arg(directory);
        tmux.args(["--", "env", "-i"]);
        for (name, value) in command.get_envs() {
            let mut variable = name.to_owned();
            variable.push("=");
            variable.push(value.unwrap_or_default());
            tmux.arg(variable);
        }
        tmux.arg(command.get_program()).args(command.get_args());
        let output = tmux.output().expect("tmux: run `scripts/test` once, it installs it");
        assert!(output.status.success(), "tmux: {}", String::from_utf8_lossy(&output.stderr));
        terminal
    }

    /// Runs a command in another window of the same tmux, which is then the one that is seen; like what is started in
    /// tmux by hand, it knows in which.
    pub fn beside(&self, command: &Command) {
        let known = self.done(&["display-message", "-p", "#{socket_path},#{pid},0"]).stdout;
        let mut window = self.tmux(&["new-window"]);
        window.arg("-c").arg(command.get_current_dir().unwrap_or(Path::new("/")));
        window.args(["--", "env", "-i"]).arg(format!("TMUX={}", String::from_utf8_lossy(&known).trim()));
        for (name, value) in command.get_envs() {
            let mut variable = name.to_owned();
            variable.push("=");
            variable.push(value.unwrap_or_default());
            window.arg(variable);
        }
        window.arg(command.get_program()).args(command.get_args());
        let output = window.output().expect("tmux runs");
        assert!(output.status.success(), "tmux: {}", String::from_utf8_lossy(&output.stderr));
    }

    /// The text on the screen.
    pub fn screen(&self) -> String {
        let output = self.tmux(&["capture-pane", "-p"]).output().expect("tmux runs");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Whether a program has put a screen of its own in place of the one with the lines so far.
    pub fn has_another_screen(&self) -> bool {
        let output = self.tmux(&["display-message", "-p", "#{alternate_on}"]).output().expect("tmux runs");
        output.stdout.starts_with(b"1")
    }

    /// Types a line as a person does: the words, and a moment later the Enter key. A first letter right behind Escape
    /// is another key to a program; a person who sees that types the line again.
    #[track_caller]
    pub fn type_line(&self, words: &str) {
        let began = Instant::now();
        self.done(&["send-keys", "-l", words]);
        while !self.is_within(ECHO, |screen| screen.contains(words)) {
            assert!(began.elapsed() < PATIENCE, "`{words}` is not taken; the screen:\n{}", self.screen());
            self.key("C-u");
            self.done(&["send-keys", "-l", words]);
        }
        self.key("Enter");
    }

    /// Presses a key until the screen shows that it was taken: some dialogs take none in their first moments.
    #[track_caller]
    pub fn key_until(&self, name: &str, is_taken: impl Fn(&str) -> bool) {
        let began = Instant::now();
        self.key(name);
        while !self.is_within(ECHO, &is_taken) {
            assert!(began.elapsed() < PATIENCE, "{name} is not taken; the screen:\n{}", self.screen());
            self.key(name);
        }
    }

    /// Presses a key by tmux's name for it: `Enter`, `Escape`, `Down`, `q`.
    pub fn key(&self, name: &str) {
        self.done(&["send-keys", name]);
    }

    /// Pastes a text: to a program that wants to know, tmux says where the text begins and ends.
    pub fn paste(&self, text: &str) {
        self.done(&["set-buffer", "--", text]);
        self.done(&["paste-buffer", "-p"]);
    }

    /// Gives the terminal another size.
    pub fn resize(&self, width: u16, height: u16) {
        self.done(&["resize-window", "-x", &width.to_string(), "-y", &height.to_string()]);
    }

    /// Waits until `is_so` returns true for the screen.
    #[track_caller]
    pub fn until(&self, is_so: impl Fn(&str) -> bool) {
        assert!(self.is_within(PATIENCE, is_so), "not within {PATIENCE:?}; the screen:\n{}", self.screen());
    }

    /// Whether the screen is so before the time is over.
    #[expect(clippy::disallowed_methods, reason = "a screen tells nobody that it has changed")]
    fn is_within(&self, limit: Duration, is_so: impl Fn(&str) -> bool) -> bool {
        let began = Instant::now();
        while !is_so(&self.screen()) {
            if began.elapsed() >= limit {
                return false;
            }
            thread::sleep(Duration::from_millis(30));
        }
        true
    }

    fn done(&self, arguments: &[&str]) -> Output {
        self.tmux(arguments).output().expect("tmux runs")
    }

    fn tmux(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("tmux");
        command.args(["-L", &self.socket]).args(arguments);
        command
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // The server is this terminal's alone.
        let _ = self.tmux(&["kill-server"]).output();
    }
}

impl Claude {
    /// Opens it in a terminal in `directory`, past all that a first start asks, and waits for its prompt.
    pub fn open(
        &self,
        home: &ScratchHome,
        server: &ModelServer,
        directory: &Path,
        arguments: &[&str],
    ) -> Terminal {
        const KEY: &str = "sk-ant-not-a-key";
        let trusted = json!({"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true});
        let known = json!({
            "hasCompletedOnboarding": true,
            "theme": "dark",
            "customApiKeyResponses": {"approved": [&KEY[KEY.len().saturating_sub(20)..]], "rejected": []},
            "projects": {directory.display().to_string(): trusted},
        });
        home.write(".claude.json", known.to_string());
        let mut command = self.command(home, server);
        command.args(arguments).current_dir(directory);
        let terminal = Terminal::run(&command, 120, 40);
        terminal.until(|screen| screen.contains('❯'));
        terminal
    }
}

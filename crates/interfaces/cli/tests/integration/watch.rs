//! Sessions are watched while the real `claude` works, and its hooks are put in and taken out.

use std::fs::{self, OpenOptions};
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};

use serde_json::{Value, json};
use testkit::claude::Run;
use testkit::files::{bytes, wait_until};
use testkit::{Answer, Claude, Gate, PATIENCE, Script, Terminal};

use crate::desk::Desk;
use crate::hooks::hooks;

fn script(gate: &Gate) -> Script {
    let touch = json!({"command": "touch made-it && rm -rf build", "description": "Make it"});
    Script::new()
        .on("say hello", [Answer::held(gate).then_text("Hello.")])
        .on("touch it", [Answer::held(gate).then_tool("Bash", touch), Answer::text("Made.")])
}

/// `backstory watch` with its output in a pipe.
struct Watching {
    child: Child,
    lines: Receiver<String>,
}

impl Watching {
    fn start(desk: &Desk, arguments: &[&str]) -> Self {
        Self::of(desk.command(&[&["watch"], arguments].concat()))
    }

    fn of(mut command: Command) -> Self {
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || out.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        Self { child, lines }
    }

    /// The next line that is so.
    #[track_caller]
    fn until(&self, what: &str, mut is_it: impl FnMut(&str) -> bool) -> String {
        let mut heard = Vec::new();
        while let Ok(line) = self.lines.recv_timeout(PATIENCE) {
            if is_it(&line) {
                return line;
            }
            heard.push(line);
        }
        panic!("never came: {what}; but {heard:#?}");
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn what_a_session_does_is_told_in_lines_and_in_json() {
    let gate = Gate::new();
    let desk = Desk::new(Claude::newest(), script(&gate));
    let shop = desk.project("shop");
    let (plain, events) = (Watching::start(&desk, &[]), Watching::start(&desk, &["--json"]));
    events.until("the beginning", |line| line.starts_with(r#"{"event":"sessions-refresh""#));
    let terminal = desk.claude.open(&desk.home, &desk.server, shop.path(), &[]);
    terminal.type_line("say hello");
    gate.wait_until_reached();
    plain.until("thinking", |line| line.contains("thinking            -           registry"));
    // Claude says what it does before it has written the first line of the transcript.
    let is_listed = || desk.json(&["list"])["sessions"].as_array().is_some_and(|all| !all.is_empty());
    wait_until(desk.home.path(), "the session is listed", is_listed);
    let listed = desk.json(&["list"]);
    let activity = &listed["sessions"][0]["activity"];
    assert_eq!(
        (&activity["state"], &activity["evidence"]),
        (&json!("thinking"), &json!("registry")),
        "{listed}"
    );
    gate.open();
    plain.until("waiting", |line| {
        line.contains("shop") && line.contains("waiting_input       prompt      registry")
    });
    let state = |line: &str, state: &str| {
        let event: Value = serde_json::from_str(line).unwrap();
        event["event"] == "session-activity" && event["data"]["activity"] == state
    };
    events.until("thinking", |line| state(line, "thinking"));
    let reported = events.until("waiting", |line| state(line, "waiting_input"));
    let reported: Value = serde_json::from_str(&reported).unwrap();
    assert_eq!(
        reported["data"]["sessionKey"],
        format!("claude:{}", reported["data"]["sessionId"].as_str().unwrap())
    );
}

#[test]
fn a_worker_that_asks_is_seen_by_all_who_look() {
    for claude in [Claude::newest(), Claude::v2_1_100()] {
        let gate = Gate::new();
        let desk = Desk::new(claude, script(&gate));
        let shop = desk.project("shop");
        let events = Watching::start(&desk, &["--json"]);
        events.until("the beginning", |line| line.starts_with(r#"{"event":"sessions-refresh""#));
        let mut run = desk.command(&["run", "--fresh", "--detach", "--json", "touch it"]);
        run.current_dir(shop.path());
        let ready: Value = serde_json::from_str(&Run::of(run).succeeded().stdout).unwrap();
        let is = |line: &str, state: &str| {
            let event: Value = serde_json::from_str(line).unwrap();
            let data = &event["data"];
            let reported = (&event["event"], &data["state"], &data["evidence"], &data["sessionId"]);
            reported == (&json!("session-activity"), &json!(state), &json!("protocol"), &ready["session_id"])
        };
        events.until("thinking", |line| is(line, "thinking"));
        gate.open();
        let asked = events.until("asked", |line| is(line, "waiting_permission"));
        assert!(asked.contains(r#""toolName":"Bash""#) && asked.contains("Make it"), "{asked}");
        assert!(asked.contains(r#""needs":"permission""#), "{asked}");
        // Who looks once sees the same, as soon as claude has written its answer.
        let is_listed =
            || desk.json(&["list", "--running"])["sessions"].as_array().is_some_and(|all| !all.is_empty());
        wait_until(desk.home.path(), "the session is listed", is_listed);
        let listed = desk.json(&["list", "--running"])["sessions"][0].clone();
        let activity = &listed["activity"];
        let reported = [&activity["state"], &activity["evidence"], &activity["tool"], &activity["detail"]];
        assert_eq!(reported, ["waiting_permission", "protocol", "Bash", "Make it"], "{listed}");
        let asked = [&activity["needs"], &activity["asking"]];
        assert_eq!(asked, ["permission", "touch made-it && rm -rf build"], "{listed}");
        let status = desk.json(&["status", "shop"])["sessions"]["active"][0].clone();
        assert_eq!(status["activity"], *activity, "{status}");
        let board = Terminal::run(&desk.command(&["watch", "--notify", "off"]), 110, 20);
        board.until(|screen| {
            screen.contains("1 needs you") && screen.contains("Bash: touch made-it && rm -rf build")
        });

        let resumed = desk.backstory(&["resume", ready["session_id"].as_str().unwrap()]);
        assert_eq!(resumed.code, Some(6), "{}", resumed.stderr);
        assert!(resumed.stderr.contains("backstory attach"), "{}", resumed.stderr);
        let number = ready["worker"].to_string();
        let request = desk.json(&["workers"])["workers"][0]["requests"][0]["request"].clone();
        let _ = desk.backstory(&["answer", &number, request.as_str().unwrap(), "allow"]).succeeded();
        events.until("its rest", |line| is(line, "waiting_input"));
        let _ = desk.backstory(&["stop", &number]).succeeded();
        events.until("its end", |line| line.contains(r#""state":"ended""#));
        assert_eq!(desk.json(&["list", "--running"])["sessions"], json!([]));
    }
}

#[test]
fn events_that_the_system_lost_are_made_up_for_and_that_is_said() {
    let desk = Desk::new(Claude::newest(), Script::new());
    // Nobody looks by himself within this test.
    desk.home.write(".config/backstory/config.toml", "activity.poll_milliseconds = 3600000\n");
    let shop = desk.home.project_folder(desk.project("shop").path());
    let prompts = |session: usize, from: usize| -> String {
        let record = |at: usize| json!({"type": "user", "uuid": format!("u{session}-{at}"), "message": {"role": "user", "content": "Hello."}});
        let lines: Vec<String> = (from..from + 50).map(|at| record(at).to_string() + "\n").collect();
        lines.concat()
    };
    fs::create_dir_all(&shop).unwrap();
    let file = |session: usize| shop.join(format!("s{session}.jsonl"));
    for session in 0..10 {
        fs::write(file(session), prompts(session, 0)).unwrap();
    }
    let watching = Watching::start(&desk, &["--json"]);
    watching.until("the beginning", |line| line.starts_with(r#"{"event":"sessions-refresh""#));
    let signal = |name: &str| {
        let pid = watching.child.id().to_string();
        assert!(Command::new("kill").args([name, &pid]).status().unwrap().success());
    };
    signal("-STOP");
    let most = String::from_utf8(bytes(Path::new("/proc/sys/fs/inotify/max_queued_events"))).unwrap();
    // The same twice would be one event; some are taken before the process has stopped.
    for at in 0..most.trim().parse::<usize>().unwrap() * 2 {
        drop(fs::File::open(file(at % 2)).unwrap());
    }
    for session in 0..10 {
        OpenOptions::new()
            .append(true)
            .open(file(session))
            .and_then(|mut file| file.write_all(prompts(session, 50).as_bytes()))
            .unwrap();
    }
    fs::write(file(10), prompts(10, 0)).unwrap();
    signal("-CONT");
    let mut said = 0;
    let mut is_told = false;
    watching.until("all that was written, and that events were lost", |line| {
        let event: Value = serde_json::from_str(line).unwrap();
        said += usize::from(event["data"]["eventType"] == "user_message");
        is_told |= event["event"] == "watching" && event["data"]["reason"].is_string();
        said == 11 * 50 && is_told
    });
    // What comes last is heard last.
    let last = json!({"type": "user", "uuid": "last", "timestamp": "2099-01-01T00:00:00Z", "message": {"role": "user", "content": "Goodbye."}});
    let write = |mut file: fs::File| writeln!(file, "{last}");
    OpenOptions::new().append(true).open(file(0)).and_then(write).unwrap();
    watching.until("the last prompt", |line| {
        let is_prompt = line.contains("user_message");
        assert!(!is_prompt || line.contains("2099-01-01"), "one is reported twice: {line}");
        is_prompt
    });
}

#[test]
fn folders_that_the_system_does_not_watch_are_looked_at_and_that_is_said() {
    // In a namespace of one's own the limit may be set; where the system gives nobody one, all folders are watched.
    let limited = "echo 8 > /proc/sys/user/max_inotify_watches && exec \"$@\"";
    let unshared = ["-Ur", "sh", "-c", limited, "sh"];
    let has_limit =
        Command::new("unshare").args(unshared).arg("true").status().is_ok_and(|status| status.success());
    let desk = Desk::new(Claude::newest(), Script::new());
    let file = |number: usize| desk.home.config_dir().join(format!("projects/-p{number}/s{number}.jsonl"));
    let prompt = |number: usize, at: usize| {
        let record = json!({"type": "user", "uuid": format!("u{number}-{at}"), "message": {"role": "user", "content": "Hello."}});
        format!("{record}\n")
    };
    for number in 0..30 {
        fs::create_dir_all(file(number).parent().unwrap()).unwrap();
        fs::write(file(number), prompt(number, 0)).unwrap();
    }
    let command = desk.command(&["watch", "--json"]);
    let watching = if has_limit {
        let mut inside = desk.home.command("unshare");
        inside.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        inside.args(unshared).arg(command.get_program()).args(command.get_args());
        Watching::of(inside)
    } else {
        Watching::of(command)
    };
    let said = watching.until("how it looks", |line| line.starts_with(r#"{"event":"watching""#));
    let is_said = said.contains("folders are not watched") && said.contains("max_user_watches");
    assert_eq!(is_said, has_limit, "{said}");
    for number in 0..30 {
        OpenOptions::new()
            .append(true)
            .open(file(number))
            .and_then(|mut file| file.write_all(prompt(number, 1).as_bytes()))
            .unwrap();
    }
    let mut reported = Vec::new();
    watching.until("all that was written", |line| {
        let event: Value = serde_json::from_str(line).unwrap();
        if event["data"]["eventType"] == "user_message" {
            reported.push(event["data"]["sessionId"].as_str().unwrap().to_owned());
        }
        reported.len() == 30
    });
    reported.sort_unstable();
    reported.dedup();
    assert_eq!(reported.len(), 30);
}

#[test]
fn the_board_shows_who_needs_you_at_any_size() {
    let gate = Gate::new();
    gate.open();
    let desk = Desk::new(Claude::newest(), script(&gate));
    let shop = desk.project("shop");
    let claude = desk.claude.open(&desk.home, &desk.server, shop.path(), &["--permission-mode", "default"]);
    let board = Terminal::run(&desk.command(&["watch", "--notify", "off"]), 110, 20);
    board.until(|screen| screen.contains("waits for you"));
    claude.type_line("touch it");
    board.until(|screen| screen.contains("1 needs you") && screen.contains("Bash: touch made-it && rm"));
    board.resize(44, 8);
    board.until(|screen| screen.contains("needs permission") && screen.contains("Bash: touch made-it"));
    for (width, height) in [(60, 20), (80, 24)] {
        board.resize(width, height);
        board.until(|screen| screen.contains("Bash: touch made-it") && screen.contains("&& rm -rf build"));
    }
    board.resize(110, 20);
    for key in ["Enter", "q", "Escape"] {
        board.key("Enter");
        board.until(|screen| {
            screen.contains("touch it") && screen.contains("[press Enter, q or Esc to go back]")
        });
        board.key("Up");
        board.key("z");
        board.key(key);
        board.until(|screen| screen.contains("backstory watch"));
    }
    board.key("/");
    board.key("x");
    board.key("x");
    board.until(|screen| screen.contains("No matches"));
    board.key("Escape");
    board.until(|screen| screen.contains("needs permission"));
    board.key("?");
    board.until(|screen| screen.contains("continue a copy of it here"));
}

#[test]
fn the_board_goes_to_the_pane_of_a_session() {
    let gate = Gate::new();
    gate.open();
    let desk = Desk::new(Claude::newest(), script(&gate));
    let shop = desk.project("shop");
    let tmux = desk.claude.open(&desk.home, &desk.server, shop.path(), &[]);
    tmux.type_line("say hello");
    tmux.until(|screen| screen.contains("Hello."));
    tmux.beside(&desk.command(&["watch", "--notify", "off"]));
    tmux.until(|screen| screen.contains("backstory watch") && screen.contains("waits for you"));
    tmux.key("t");
    tmux.until(|screen| screen.contains("Hello.") && screen.contains('❯'));
    // From elsewhere, the terminal is named.
    let board = Terminal::run(&desk.command(&["watch", "--notify", "off"]), 110, 20);
    board.until(|screen| screen.contains("waits for you"));
    board.key("t");
    board.until(|screen| screen.contains("it is open in process") && screen.contains("/dev/pts/"));
}

#[test]
fn the_demonstration_plays_a_minute() {
    let desk = Desk::new(Claude::newest(), Script::new());
    let demo = |arguments: &[&str]| {
        let mut command = desk.command(&[&["watch", "--demo"], arguments].concat());
        command.env("TMPDIR", desk.home.path());
        command
    };
    let events = Watching::of(demo(&["--json"]));
    let board = Terminal::run(&demo(&["--notify", "off"]), 80, 24);
    board
        .until(|screen| screen.contains("asks you") && screen.contains("Should a token that was used twice"));
    board.until(|screen| screen.contains("2 need you") && screen.contains("npm install --save-dev"));
    events.until("the question", |line| line.contains(r#""needs":"answer""#));
    board.key("t");
    board.until(|screen| screen.contains("no process has it open"));
}

#[test]
fn a_free_session_is_continued_from_the_board_which_comes_back() {
    let gate = Gate::new();
    gate.open();
    let desk = Desk::new(Claude::newest(), script(&gate));
    let shop = desk.project("shop");
    let claude = desk.claude.open(&desk.home, &desk.server, shop.path(), &[]);
    claude.type_line("say hello");
    claude.until(|screen| screen.contains("Hello."));
    claude.type_line("/exit");
    let board = Terminal::run(&desk.command(&["watch", "--notify", "off"]), 110, 20);
    board.until(|screen| {
        screen.contains("say hello") && (screen.contains("idle") || screen.contains("ended"))
    });
    board.key("r");
    board.until(|screen| screen.contains("Hello.") && screen.contains('❯'));
    assert_eq!(desk.json(&["list", "--running"])["sessions"].as_array().unwrap().len(), 1);
    board.type_line("say hello");
    wait_until(desk.home.path(), "the answer is written", || {
        let listed = desk.json(&["list"]);
        listed["sessions"][0]["visible_messages"].as_u64().is_some_and(|count| count >= 4)
    });
    board.type_line("/exit");
    // What happened meanwhile was heard.
    board.until(|screen| screen.contains("backstory watch") && screen.contains("ended"));
    board.key("f");
    board.until(|screen| screen.contains('❯'));
    board.type_line("/exit");
    board.until(|screen| screen.contains("backstory watch"));
}

#[test]
fn the_terminal_is_as_it_was_however_the_board_is_left() {
    let desk = Desk::new(Claude::newest(), Script::new());
    let mut shell = desk.home.command("bash");
    let programs = desk.home.path().join("bin").display().to_string();
    symlink(env!("CARGO_BIN_EXE_backstory"), desk.home.path().join("bin/backstory")).unwrap();
    shell.args(["--norc", "--noprofile", "-i"]).env("PATH", format!("{programs}:/usr/bin:/bin"));
    shell.env("PS1", "$ ").current_dir(desk.home.path());
    let terminal = Terminal::run(&shell, 90, 20);
    let board = || terminal.until(|screen| screen.contains("No sessions in the last day"));
    let settings = |when: &str| {
        terminal.until(|_| !terminal.has_another_screen());
        terminal.type_line(&format!("stty -a > {when}; echo {when} $?"));
        terminal.until(|screen| screen.contains(&format!("\n{when} 0")));
        bytes(&desk.home.path().join(when))
    };
    let begin = || {
        terminal.type_line("backstory watch & echo $! > number; fg %1");
        board();
        String::from_utf8(bytes(&desk.home.path().join("number"))).unwrap().trim().to_owned()
    };
    let signal = |name: &str, number: &str| {
        assert!(Command::new("kill").args([name, number]).status().unwrap().success());
    };
    let before = settings("before");

    begin();
    terminal.key("C-z");
    terminal.until(|screen| screen.contains("Stopped"));
    assert_eq!(settings("stopped"), before);
    terminal.type_line("fg %1");
    board();
    terminal.key("q");
    assert_eq!(settings("left"), before);

    for name in ["-TERM", "-HUP", "-INT"] {
        signal(name, &begin());
        let when = format!("ended{name}");
        assert_eq!(settings(&when), before, "{name}");
    }
    let number = begin();
    signal("-TSTP", &number);
    terminal.until(|screen| screen.contains("Stopped"));
    assert_eq!(settings("held"), before);
    terminal.type_line("fg %1");
    board();
    terminal.key("C-c");
    assert_eq!(settings("interrupted"), before);
}

#[test]
fn a_terminal_that_is_closed_takes_the_board_with_it() {
    let desk = Desk::new(Claude::newest(), Script::new());
    let watch = desk.command(&["watch"]);
    let mut shell = desk.home.command("sh");
    shell.envs(watch.get_envs().filter_map(|(name, value)| Some((name, value?))));
    shell.args(["-c", "echo $$ > number; exec \"$@\"", "sh"]).current_dir(desk.home.path());
    shell.arg(watch.get_program()).args(watch.get_args());
    let terminal = Terminal::run(&shell, 90, 20);
    terminal.until(|screen| screen.contains("No sessions in the last day"));
    let number = String::from_utf8(bytes(&desk.home.path().join("number"))).unwrap();
    let process = Path::new("/proc").join(number.trim());
    assert!(process.exists());
    drop(terminal);
    wait_until(desk.home.path(), "its end", || !process.exists());
}

#[test]
fn hooks_of_2_1_100_say_what_its_registry_does_not() {
    let gate = Gate::new();
    gate.open();
    let desk = Desk::new(Claude::v2_1_100(), script(&gate));
    let shop = desk.project("shop");
    hooks(&desk, "install");
    let events = Watching::start(&desk, &["--json"]);
    let terminal = desk.claude.open(&desk.home, &desk.server, shop.path(), &["--permission-mode", "default"]);
    terminal.type_line("touch it");
    let asked = events
        .until("asked", |line| line.contains("session-activity") && line.contains("waiting_permission"));
    let asked: Value = serde_json::from_str(&asked).unwrap();
    assert_eq!(
        (&asked["data"]["evidence"], &asked["data"]["toolName"]),
        (&json!("hook"), &json!("Bash")),
        "{asked}"
    );
    let status = desk.json(&["hooks", "status"]);
    assert!(status["settings"][0]["last_heard"].is_string(), "{status}");
}

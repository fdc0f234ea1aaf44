//! `run` and all that reaches what it started, with the real `claude` against a scripted model.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::{Value, json};
use testkit::files::wait_until;
use testkit::{Answer, Claude, Gate, PATIENCE, Script, Terminal, Transcript};

use crate::desk::Desk;

fn touch(name: &str) -> Value {
    json!({"command": format!("touch {name} && rm -rf nothing"), "description": "Make a file"})
}

fn script() -> Script {
    Script::new()
        .on("say hello", [Answer::text("Hello there.")])
        .on("and again", [Answer::text("Hello again.")])
        .on("make a file", [Answer::text("I will.").then_tool("Bash", touch("made")), Answer::text("Made.")])
}

fn desk() -> Desk {
    Desk::new(Claude::newest(), script())
}

/// `backstory …`, run in a directory.
pub(crate) fn inside(desk: &Desk, place: &Path, words: &[&str]) -> testkit::claude::Run {
    let mut command = desk.command(words);
    command.current_dir(place);
    testkit::claude::Run::of(command)
}

pub(crate) fn workers(desk: &Desk) -> Vec<Value> {
    desk.json(&["workers"])["workers"].as_array().cloned().expect("workers")
}

pub(crate) fn worker(desk: &Desk, number: &str) -> Value {
    workers(desk)
        .into_iter()
        .find(|worker| worker["worker"].as_i64() == number.parse().ok())
        .expect("the worker")
}

#[track_caller]
pub(crate) fn until_status(desk: &Desk, number: &str, status: &str) -> Value {
    wait_until(desk.home.path(), &format!("worker {number} is {status}"), || {
        let is_it =
            |worker: &Value| worker["worker"].as_i64() == number.parse().ok() && worker["status"] == status;
        workers(desk).iter().any(is_it)
    });
    worker(desk, number)
}

pub(crate) fn detached(desk: &Desk, place: &Path, task: &str) -> String {
    let run = inside(desk, place, &["run", "--fresh", "--detach", "--json", task]).succeeded();
    let ready: Value = serde_json::from_str(&run.stdout).expect("JSON");
    ready["worker"].to_string()
}

#[test]
fn a_task_is_done_where_pick_says() {
    let desk = desk();
    let shop = desk.project("shop");
    let run = inside(&desk, shop.path(), &["run", "say hello"]).succeeded();
    assert!(run.stdout.contains("Hello there."), "{}", run.stdout);
    assert!(run.stderr.starts_with("fresh: "), "the decision and its reason: {}", run.stderr);
    let first = worker(&desk, "1");
    assert_eq!((&first["status"], &first["text"]), (&"finished".into(), &"Hello there.".into()), "{first}");
    assert!(first["cost_usd"].as_f64().is_some_and(|cost| cost > 0.0));
    let sessions = desk.json(&["list"])["sessions"].clone();
    assert_eq!(sessions[0]["session_id"], first["session_id"]);
    assert_eq!(sessions[0]["title"], "say hello");

    // The same branch, just now, the same words: it goes on there.
    let run = inside(&desk, shop.path(), &["run", "--json", "say hello and again"]).succeeded();
    let lines: Vec<Value> =
        run.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!((&lines[0]["event"], &lines[0]["start"]), (&"ready".into(), &"resume".into()), "{}", lines[0]);
    assert_eq!(lines[0]["session_id"], first["session_id"]);
    assert!(lines.iter().any(|line| line["event"] == "text" && line["text"] == "Hello again."));
    assert_eq!(lines.last().expect("a line")["event"], "ended");
}

#[test]
fn the_person_at_the_terminal_is_asked() {
    let desk = desk();
    let shop = desk.project("shop");
    let mut command = desk.command(&["run", "--fresh", "make a file"]);
    command.current_dir(shop.path());
    let terminal = Terminal::run(&command, 100, 30);
    terminal.until(|screen| screen.contains("Claude wants to use Bash") && screen.contains("x  deny"));
    terminal.type_line("y");
    wait_until(desk.home.path(), "the file", || shop.path().join("made").exists());
    wait_until(desk.home.path(), "its end", || worker(&desk, "1")["status"] == "finished");
}

#[test]
fn a_run_that_nobody_watches_may_deny_what_it_would_ask() {
    let desk = desk();
    let shop = desk.project("shop");
    let run = inside(&desk, shop.path(), &["run", "--fresh", "--on-permission", "deny", "make a file"]);
    let run = run.succeeded();
    assert!(
        run.stderr.contains("asks to use Bash") && run.stderr.contains("denied, because nobody"),
        "{}",
        run.stderr
    );
    assert!(!shop.path().join("made").exists());
    let last = desk.server.calls().pop().unwrap();
    assert!(last.body.to_string().contains("Nobody is there to allow this."), "the model is told why");
}

#[test]
fn what_nobody_answers_in_time_is_denied_and_said() {
    let desk = desk();
    let shop = desk.project("shop");
    let words = ["run", "--fresh", "--permission-timeout", "0", "make a file"];
    let run = inside(&desk, shop.path(), &words).succeeded();
    assert!(run.stderr.contains("denied, because nobody answered within 0 s"), "{}", run.stderr);
    assert!(!shop.path().join("made").exists());
}

#[test]
fn flags_behind_two_dashes_reach_claude() {
    let desk = desk();
    let shop = desk.project("shop");
    let words = ["run", "--fresh", "say hello", "--", "--append-system-prompt-file", "rules.md"];
    std::fs::write(shop.path().join("rules.md"), "Answer as a walrus.").expect("a file");
    let _ = inside(&desk, shop.path(), &words).succeeded();
    let asked = desk.server.calls().pop().expect("a call").body["system"].to_string();
    assert!(asked.contains("Answer as a walrus."), "{asked}");
    let refused = inside(&desk, shop.path(), &["run", "--fresh", "say hello", "--", "--output-format=json"]);
    assert!(refused.code == Some(2) && refused.stderr.contains("--output-format"), "{}", refused.stderr);
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the program reads the clock, too")]
fn a_person_is_asked_where_the_chance_leaves_it_open() {
    let desk = desk();
    let shop = desk.project("shop");
    let hours_ago = jiff::Timestamp::now() - jiff::SignedDuration::from_hours(5);
    Transcript::new("3601d36f-b6c0-4e4b-9000-7b07e25374f7")
        .cwd(shop.path())
        .at(&hours_ago.to_string())
        .prompt("paint the fence")
        .answer("Painted.")
        .write_to(&desk.home);
    let mut command = desk.command(&["run", "say hello to the login page"]);
    command.current_dir(shop.path());
    let terminal = Terminal::run(&command, 100, 30);
    terminal.until(|screen| screen.contains("Go on with 3601d36f") && screen.contains("paint the fence"));
    terminal.type_line("what?");
    terminal.until(|screen| screen.contains("Enter, r, k, ?, l, or a number from 1 to 1"));
    terminal.type_line("?");
    terminal.until(|screen| screen.contains("Ask (") && screen.contains("against: "));
    terminal.type_line("");
    terminal.until(|screen| screen.contains("Hello there."));
    wait_until(desk.home.path(), "its end", || worker(&desk, "1")["status"] == "finished");
    assert_ne!(worker(&desk, "1")["session_id"], "3601d36f-b6c0-4e4b-9000-7b07e25374f7");
    let next = desk.json(&["pick", "--repo", "shop", "and the fence again"]);
    assert_eq!(next["record"]["decisions"], 1, "what was answered is kept: {next}");
}

#[test]
fn a_worker_in_the_background_is_reached_from_anywhere() {
    let desk = desk();
    let shop = desk.project("shop");
    let number = detached(&desk, shop.path(), "make a file");
    until_status(&desk, &number, "waiting_permission");
    let workers = desk.backstory(&["workers"]).succeeded().stdout;
    assert!(workers.contains(&format!("answer {number} yes|")), "{workers}");
    let wrong = desk.backstory(&["answer", &number, "no-such", "allow"]);
    assert_eq!(wrong.code, Some(2), "{}", wrong.stderr);
    // It asks one thing, which needs no name.
    let shown = desk.backstory(&["answer", &number]).succeeded().stdout;
    assert!(shown.contains("wants to use Bash:") && shown.contains("yes|always|"), "{shown}");
    assert!(shown.contains("\nalways: Bash(touch made"), "{shown}");
    let unknown = desk.backstory(&["answer", &number, "directory"]);
    assert_eq!(unknown.code, Some(2), "{}", unknown.stderr);
    assert!(unknown.stderr.contains("`directory` is not offered for this"), "{}", unknown.stderr);
    let given = desk.backstory(&["answer", &number, "yes"]).succeeded();
    assert_eq!(given.stdout, format!("worker {number}: Bash is allowed\n"));
    until_status(&desk, &number, "idle");
    let late = desk.backstory(&["answer", &number, "yes"]);
    assert_eq!(late.code, Some(3), "{}", late.stderr);
    assert!(late.stderr.contains("does not ask anything now; it is idle"), "{}", late.stderr);
    assert!(shop.path().join("made").exists());

    // Another message goes to the same process.
    let pid = worker(&desk, &number)["pid"].clone();
    let sent = desk.json(&["send", &number, "and again"]);
    assert_eq!(sent["resumed"], false);
    wait_until(desk.home.path(), "the answer", || worker(&desk, &number)["turns"].as_u64() >= Some(3));
    let idle = until_status(&desk, &number, "idle");
    assert_eq!(idle["pid"], pid);

    let stopped = desk.json(&["stop", &number]);
    assert_eq!((&stopped["status"], &stopped["pid"]), (&"stopped".into(), &Value::Null));
    assert_eq!(worker(&desk, &number)["pid"], Value::Null);
    // It is over: the session is resumed for the next message.
    let sent = desk.json(&["send", &number, "say hello"]);
    assert_eq!((&sent["resumed"], &sent["session_id"]), (&true.into(), &idle["session_id"]));
    let next = sent["worker"].to_string();
    until_status(&desk, &next, "idle");
    let _ = desk.backstory(&["stop", &next]).succeeded();
    assert_eq!(desk.backstory(&["stop", &next]).code, Some(3));
}

#[test]
fn a_third_one_is_refused_and_one_that_waits_can_be_cancelled() {
    let gate = Gate::new();
    let script = script().on("work long", [Answer::held(&gate).then_text("Worked.")]);
    let desk = Desk::new(Claude::newest(), script);
    let shop = desk.project("shop");
    let first = detached(&desk, shop.path(), "work long");
    gate.wait_until_reached();
    let second = detached(&desk, shop.path(), "say hello");
    until_status(&desk, &second, "queued");
    let third = inside(&desk, shop.path(), &["run", "--fresh", "and again"]);
    assert_eq!(third.code, Some(6));
    let expected =
        format!("worker {first} is working in ~/shop and worker {second} is already waiting for it");
    assert!(desk.plain(&third.stderr).contains(&expected), "{}", third.stderr);
    let _ = desk.backstory(&["stop", &second]).succeeded();
    let fourth = detached(&desk, shop.path(), "say hello");
    gate.open();
    // The first is idle then, gives its directory back, and ends for the next one.
    until_status(&desk, &fourth, "idle");
    until_status(&desk, &first, "finished");
    let _ = desk.backstory(&["stop", &fourth]).succeeded();
}

#[test]
fn a_fork_leaves_the_session_and_its_worker_makes_way() {
    let desk = desk();
    let shop = desk.project("shop");
    let number = detached(&desk, shop.path(), "say hello");
    let session = until_status(&desk, &number, "idle")["session_id"].as_str().expect("an id").to_owned();
    let fork = inside(&desk, shop.path(), &["run", "--fork", &session, "and again"]).succeeded();
    assert!(fork.stdout.contains("Hello again."));
    // Idle, it has made way for the fork, which needed its directory.
    until_status(&desk, &number, "finished");
}

#[test]
fn what_cannot_run_is_said_with_what_to_do() {
    let check = |text: Option<&str>, mode: u32, expected: &[&str]| {
        let desk = desk();
        let shop = desk.project("shop");
        let claude = desk.home.path().join("bin/claude");
        std::fs::remove_file(&claude).expect("the installed one");
        if let Some(text) = text {
            desk.home.write("bin/claude", text);
            std::fs::set_permissions(&claude, std::fs::Permissions::from_mode(mode)).expect("its mode");
        }
        let mut command = desk.command(&["run", "--fresh", "say hello"]);
        let path = format!("{}/bin:/usr/bin:/bin", desk.home.path().display());
        command.current_dir(shop.path()).env("PATH", path);
        let run = testkit::claude::Run::of(command);
        assert_eq!(run.code, Some(1), "{}", run.stderr);
        for words in expected {
            assert!(run.stderr.contains(words), "{words}: {}", run.stderr);
        }
        assert!(workers(&desk).is_empty(), "nothing was begun");
    };
    check(None, 0o755, &["there is no program `claude` on your PATH", "npm install"]);
    check(Some("#!/bin/sh\n"), 0o644, &["there is no program `claude` on your PATH"]);
    let old = Some("#!/bin/sh\necho '1.0.60 (Claude Code)'\n");
    check(old, 0o755, &["claude 1.0.60 cannot be controlled", "npm install"]);
    check(Some("#!/bin/sh\nexit 1\n"), 0o755, &["does not report its version", "--version"]);
}

#[test]
fn a_question_that_is_open_stands_below_what_is_said_meanwhile() {
    let two = Answer::text("Two.").then_tool("Bash", touch("one")).then_tool("Bash", touch("two"));
    let script = Script::new().on("make two", [two, Answer::text("Both made.")]);
    let desk = Desk::new(Claude::newest(), script);
    let shop = desk.project("shop");
    let mut command = desk.command(&["run", "--fresh", "make two"]);
    command.current_dir(shop.path());
    let terminal = Terminal::run(&command, 60, 40);
    terminal.until(|screen| {
        let last = screen.trim_end().lines().next_back().unwrap_or_default().to_owned();
        screen.contains("→ Bash touch two") && (last.starts_with("Bash? [y/") || last == ">")
    });
    let screen = terminal.screen();
    assert!(!screen.contains("> →"), "nothing is said on the line of the question:\n{screen}");
    // Answered from elsewhere, it says so, and the other one is asked.
    let asking = until_status(&desk, "1", "waiting_permission");
    let id = asking["requests"][0]["request"].as_str().expect("a request");
    let _ = desk.backstory(&["answer", "1", &id[..8], "allow"]).succeeded();
    terminal.until(|screen| screen.contains("answered elsewhere: allowed"));
    terminal.until(|screen| screen.matches("Claude wants to use Bash").count() == 2);
    terminal.type_line("n use another way");
    wait_until(desk.home.path(), "its end", || worker(&desk, "1")["status"] == "finished");
    assert!(shop.path().join("one").exists() && !shop.path().join("two").exists());
}

#[test]
fn a_start_that_takes_long_is_told_to_people_and_not_to_programs() {
    let desk = desk();
    let shop = desk.project("shop");
    let real = desk.home.path().join("bin/claude");
    let slow = format!(
        "#!/bin/sh\ncase \"$*\" in *--version*) ;; *) sleep 4 ;; esac\nexec '{}' \"$@\"\n",
        real.display()
    );
    let slow = desk.home.write("slow/claude", slow);
    std::fs::set_permissions(&slow, std::fs::Permissions::from_mode(0o755)).expect("a program");
    let run = |words: &[&str]| {
        let mut command = desk.command(words);
        command.current_dir(shop.path()).env("BACKSTORY_CLAUDE_BINARY", &slow);
        testkit::claude::Run::of(command).succeeded()
    };
    let notice = &format!("waiting for claude to start, at most {} s", PATIENCE.as_secs());
    let person = run(&["run", "--fresh", "say hello"]);
    assert!(person.stderr.contains(notice) && !person.stdout.contains(notice), "{}", person.stderr);
    let program = run(&["run", "--fresh", "--json", "say hello"]);
    assert!(!program.stderr.contains(notice), "{}", program.stderr);
    assert!(
        program.stdout.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()),
        "{}",
        program.stdout
    );
}

#[test]
fn who_interrupts_twice_is_told_once_that_it_was_stopped() {
    let gate = Gate::new();
    let script = Script::new().on("wait", [Answer::text("I begin.\n").then_hold(&gate)]);
    let desk = Desk::new(Claude::newest(), script);
    let shop = desk.project("shop");
    let mut command = desk.command(&["run", "--fresh", "wait"]);
    command.current_dir(shop.path()).stdin(std::process::Stdio::null());
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let child = command.spawn().expect("backstory starts");
    gate.wait_until_reached();
    let pid = child.id().to_string();
    for _ in 0..2 {
        let sent = std::process::Command::new("kill").args(["-INT", &pid]).status().expect("kill");
        assert!(sent.success());
    }
    let run = testkit::claude::Run::from(child.wait_with_output().expect("its end"));
    gate.open();
    assert_eq!(run.code, Some(8), "{}{}", run.stdout, run.stderr);
    let all = run.stdout + &run.stderr;
    assert_eq!(all.matches("stopped").count(), 1, "{all}");
    assert_eq!(worker(&desk, "1")["status"], "stopped");
}

#[test]
fn ctrl_c_ends_a_run_whose_output_nobody_reads() {
    // More than a pipe holds.
    let long = "All work and no play makes a pipe full.\n".repeat(5000);
    let desk = Desk::new(Claude::newest(), Script::new().on("talk", [Answer::text(long)]));
    let shop = desk.project("shop");
    let mut command = desk.command(&["run", "--fresh", "talk"]);
    command.current_dir(shop.path()).stdin(std::process::Stdio::null());
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::null());
    let mut child = command.spawn().expect("backstory starts");
    // What is to be shown fills the pipe, so that nobody tells the worker to end.
    until_status(&desk, "1", "idle");
    let sent = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(sent.expect("kill").success());
    let status = child.wait().expect("its end");
    assert_eq!(status.code(), Some(130));
    assert_eq!(worker(&desk, "1")["status"], "stopped");
}

#[test]
fn words_are_shown_as_they_come_and_waiting_is_seen() {
    let (thinks, writes) = (Gate::new(), Gate::new());
    let answer = Answer::held(&thinks).then_text_held("One two thr", &writes, "ee and four.");
    let desk = Desk::new(Claude::newest(), Script::new().on("count", [answer]));
    let shop = desk.project("shop");
    let mut command = desk.command(&["run", "--fresh", "count"]);
    command.current_dir(shop.path());
    let terminal = Terminal::run(&command, 100, 30);
    // One line, that is replaced.
    let seconds = |screen: &str| screen.split("thinking… ").nth(1)?.split(' ').next()?.parse::<u32>().ok();
    terminal.until(|screen| seconds(screen) >= Some(4) && screen.matches("thinking…").count() == 1);
    thinks.open();
    terminal.until(|screen| {
        screen.contains("One two") && !screen.contains("thr") && !screen.contains("thinking…")
    });
    writes.open();
    terminal.until(|screen| screen.contains("One two three and four."));
    wait_until(desk.home.path(), "its end", || worker(&desk, "1")["status"] == "finished");
}

#[test]
fn a_program_is_told_the_pieces_of_a_text() {
    let answer = Answer::text("The key is ghp_16C7e42F292c6912E7710c838347Ae178B4a, and more.");
    let desk = Desk::new(Claude::newest(), Script::new().on("count", [answer]));
    let shop = desk.project("shop");
    let run = inside(&desk, shop.path(), &["run", "--fresh", "--json", "count"]).succeeded();
    let lines: Vec<Value> =
        run.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let of = |kind: &str| -> Vec<String> {
        let texts = lines.iter().filter(|line| line["event"] == kind);
        texts.map(|line| line["text"].as_str().expect("a text").to_owned()).collect()
    };
    assert_eq!(of("delta").concat(), of("text").concat(), "{}", run.stdout);
    assert!(of("text")[0].starts_with("The key is [redacted:"), "{}", run.stdout);
    assert!(!run.stdout.contains("ghp_16C7"), "{}", run.stdout);
}

#[test]
fn a_new_session_has_the_id_that_is_wanted_and_no_other_has() {
    const ID: &str = "3f0c6d0e-8f2b-4a57-9d0e-0c6f3a1b2c4d";
    let desk = desk();
    let shop = desk.project("shop");
    let run = |id: &str| inside(&desk, shop.path(), &["run", "--session-id", id, "say hello"]);
    let _ = run(ID).succeeded();
    assert_eq!(worker(&desk, "1")["session_id"], ID);
    assert!(desk.transcript(shop.path(), ID).exists());
    let again = run(ID);
    assert_eq!(again.code, Some(6), "{}", again.stderr);
    assert!(
        again.stderr.contains(&format!("backstory run --resume {} <task>", &ID[..8])),
        "{}",
        again.stderr
    );
    // Known by its transcript alone, it is there as well.
    std::fs::remove_dir_all(desk.home.state_dir()).expect("what Backstory keeps");
    assert_eq!(run(ID).code, Some(6));
    let no_id = run("my-session");
    assert_eq!(no_id.code, Some(2), "{}", no_id.stderr);
    let both = inside(&desk, shop.path(), &["run", "--session-id", ID, "--resume", ID, "say hello"]);
    assert_eq!(both.code, Some(2), "{}", both.stderr);
}

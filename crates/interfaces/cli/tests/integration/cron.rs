//! `cron`, with real daemons, the real `claude` and a scripted model.

use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use serde_json::{Value, json};
use testkit::files::{bytes, wait_until};
use testkit::held_claude::Start;
use testkit::{Answer, Claude, Script};

use crate::desk::{Desk, prompts};

fn desk() -> Desk {
    let touch = json!({"command": "touch made && rm -rf nothing", "description": "Make a file"});
    let script = Script::new()
        .on("say hello", [Answer::text("Hello there.")])
        .on("the tide is in", [Answer::text("Noted.")])
        .on("the tide is out", [Answer::text("Noted, too.")])
        .on("make a file", [Answer::text("I will.").then_tool("Bash", touch), Answer::text("Made.")]);
    Desk::new(Claude::newest(), script)
}

/// A daemon that is killed with the test.
pub(crate) struct Daemon {
    child: Child,
    said: PathBuf,
}

impl Daemon {
    /// Starts one, whose words go to a file of this name.
    pub(crate) fn start(desk: &Desk, name: &str) -> Self {
        let said = desk.home.write(name, "");
        let file = std::fs::File::create(&said).expect("a file for its words");
        let mut command = desk.command(&["cron", "daemon", "--json"]);
        command.stdin(Stdio::null()).stdout(file).stderr(Stdio::null());
        Self { child: command.spawn().expect("backstory starts"), said }
    }

    /// The number of its process.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The words of its events, in order.
    pub(crate) fn events(&self) -> Vec<String> {
        let text = String::from_utf8(bytes(&self.said)).expect("UTF-8");
        // A line may be in the middle of being written.
        let lines = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        lines.map(|line| line["event"].as_str().expect("a word").to_owned()).collect()
    }

    /// Kills the process without a chance to clean up, as `kill -9` does.
    pub(crate) fn kill(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        self.kill();
    }
}

fn add(desk: &Desk, place: &Path, words: &[&str]) -> Value {
    let mut command = desk.command(&[&["cron", "add", "--json"], words].concat());
    command.current_dir(place);
    let run = testkit::claude::Run::of(command).succeeded();
    serde_json::from_str(&run.stdout).expect("JSON")
}

/// The runs of a job, oldest first.
pub(crate) fn history(desk: &Desk, job: &str) -> Vec<Value> {
    let mut runs = desk.json(&["cron", "history", job])["runs"].as_array().cloned().expect("runs");
    runs.reverse();
    runs
}

/// Waits until the newest run of a job is so.
#[track_caller]
fn until_run(desk: &Desk, job: &str, field: &str, word: &str) -> Value {
    let newest = || history(desk, job).pop().unwrap_or_default();
    wait_until(desk.home.path(), &format!("{job}: {field} {word}"), || newest()[field] == word);
    newest()
}

fn workers(desk: &Desk) -> Vec<Value> {
    desk.json(&["workers"])["workers"].as_array().cloned().expect("workers")
}

fn transcript(desk: &Desk, place: &Path, run: &Value) -> PathBuf {
    desk.transcript(place, run["session_id"].as_str().expect("a session"))
}

#[test]
fn a_job_that_is_due_is_done_once_and_told() {
    let desk = desk();
    let shop = desk.project("shop");
    let added = add(&desk, shop.path(), &["greet", "--at", "in 1s", "--budget", "5", "say", "hello"]);
    assert_eq!(added["payload"]["message"], "say hello");
    assert!(added["next"].is_string(), "{added}");
    let listed = desk.backstory(&["cron", "list"]).succeeded();
    assert!(listed.stdout.contains("No daemon is running"), "{}", listed.stdout);

    let mut daemon = Daemon::start(&desk, "one");
    let run = until_run(&desk, "greet", "status", "over");
    assert_eq!((&run["outcome"], &run["trigger"]), (&"finished".into(), &"schedule".into()), "{run}");
    assert!(run["cost_usd"].as_f64().is_some_and(|cost| cost > 0.0), "{run}");
    assert_eq!(prompts(&transcript(&desk, shop.path(), &run)), ["say hello"]);
    assert_eq!(daemon.events()[0], "leads");
    let list = desk.json(&["cron", "list"]);
    assert_eq!((&list["daemon"], &list["jobs"][0]["next"]), (&true.into(), &Value::Null));
    assert_eq!(list["jobs"][0]["last_run"]["outcome"], "finished");
    let worker = &workers(&desk)[0];
    assert_eq!((&worker["status"], &worker["slot"]), (&"finished".into(), &Value::Null), "it holds nothing");

    // Another daemon finds nothing that it owes.
    daemon.kill();
    add(&desk, shop.path(), &["again", "--at", "in 100ms", "say hello"]);
    let next = Daemon::start(&desk, "two");
    until_run(&desk, "again", "outcome", "finished");
    assert_eq!((history(&desk, "greet").len(), workers(&desk).len()), (1, 2));
    assert_eq!(next.events()[0], "leads", "a killed one is followed at once");
}

#[test]
fn the_worker_of_a_job_that_is_run_by_hand_ends_without_anybody() {
    let desk = desk();
    let shop = desk.project("shop");
    let mut command = desk.command(&["cron", "add", "greet", "--every", "1d", "say", "hello"]);
    command.current_dir(shop.path());
    let added = testkit::claude::Run::of(command).succeeded().stdout;
    assert!(added.contains("task say hello"), "{added}");
    let _ = desk.backstory(&["cron", "run", "greet"]).succeeded();
    wait_until(desk.home.path(), "its worker is through", || {
        workers(&desk).first().is_some_and(|worker| worker["status"] == "finished")
    });
    let shown = desk.backstory(&["workers"]).succeeded().stdout;
    assert!(shown.contains('$'), "{shown}");
}

#[test]
fn of_two_daemons_one_fires() {
    let desk = desk();
    let shop = desk.project("shop");
    let mut one = Daemon::start(&desk, "one");
    wait_until(desk.home.path(), "one leads", || one.events() == ["leads"]);
    let two = Daemon::start(&desk, "two");
    wait_until(desk.home.path(), "two follows", || two.events() == ["follows"]);
    add(&desk, shop.path(), &["greet", "--at", "in 100ms", "say hello"]);
    until_run(&desk, "greet", "outcome", "finished");
    assert_eq!((history(&desk, "greet").len(), workers(&desk).len()), (1, 1));
    assert_eq!(two.events(), ["follows"]);

    one.kill();
    add(&desk, shop.path(), &["next", "--at", "in 100ms", "say hello"]);
    until_run(&desk, "next", "outcome", "finished");
    assert_eq!(two.events()[..2], ["follows", "leads"]);
    assert_eq!((history(&desk, "next").len(), workers(&desk).len()), (1, 2));
}

#[test]
fn what_is_disabled_is_done_by_hand_alone() {
    let desk = desk();
    let shop = desk.project("shop");
    add(&desk, shop.path(), &["off", "--at", "in 200ms", "say hello"]);
    let off = desk.json(&["cron", "disable", "off"]);
    assert_eq!((&off["enabled"], &off["next"]), (&false.into(), &Value::Null));
    add(&desk, shop.path(), &["on", "--at", "in 300ms", "say hello"]);
    let daemon = Daemon::start(&desk, "one");
    until_run(&desk, "on", "outcome", "finished");
    assert_eq!(history(&desk, "off").len(), 0);
    drop(daemon);

    // By hand, without any daemon.
    let run = desk.json(&["cron", "run", "off"]);
    assert_eq!(
        (&run["job"], &run["trigger"], &run["status"]),
        (&"off".into(), &"manual".into(), &"running".into())
    );
    // Nobody tells the worker that it is done but whoever looks.
    until_run(&desk, "off", "outcome", "finished");

    let gone = desk.json(&["cron", "remove", "off"]);
    assert_eq!(gone["name"], "off");
    assert_eq!(desk.backstory(&["cron", "run", "off"]).code, Some(3));
}

#[test]
fn a_daemon_that_is_killed_loses_and_doubles_nothing() {
    for phase in ["starting", "running", "waiting_permission"] {
        let desk = desk();
        let claude = desk.claude.install_holdable(&desk.home);
        let shop = desk.project("shop");
        let mut daemon = Daemon::start(&desk, "one");
        // A run is starting until the daemon knows which `claude` there is.
        let held = (phase == "starting").then(|| claude.hold(Start::Version));
        add(&desk, shop.path(), &["file", "--at", "in 100ms", "make a file"]);
        if let Some(held) = &held {
            held.wait_for_child_of(daemon.pid());
        }
        let newest = || history(&desk, "file").pop().unwrap_or_default();
        wait_until(desk.home.path(), phase, || match phase {
            "starting" | "running" => newest()["status"] == phase,
            _ => workers(&desk).iter().any(|worker| worker["status"] == phase),
        });
        daemon.kill();
        drop(held);

        let _next = Daemon::start(&desk, "two");
        wait_until(desk.home.path(), "it asks", || {
            workers(&desk).iter().any(|worker| worker["status"] == "waiting_permission")
        });
        let worker = workers(&desk).remove(0);
        let request = worker["requests"][0]["request"].as_str().expect("a request");
        let number = worker["worker"].to_string();
        let _ = desk.backstory(&["answer", &number, request, "allow"]).succeeded();
        let run = until_run(&desk, "file", "status", "over");
        assert_eq!(run["outcome"], "finished", "{phase}: {run}");
        assert_eq!((history(&desk, "file").len(), workers(&desk).len()), (1, 1), "{phase}");
        assert_eq!(prompts(&transcript(&desk, shop.path(), &run)), ["make a file"], "{phase}");
        assert!(shop.path().join("made").exists());
    }
}

#[test]
fn a_run_that_takes_too_long_or_cannot_begin_is_told() {
    let desk = desk();
    let shop = desk.project("shop");
    let _daemon = Daemon::start(&desk, "one");
    add(&desk, shop.path(), &["long", "--at", "in 100ms", "--timeout", "1", "make a file"]);
    let run = until_run(&desk, "long", "status", "over");
    assert_eq!(run["outcome"], "timed_out", "{run}");
    assert_eq!(workers(&desk)[0]["status"], "stopped");

    let gone = desk.home.dir("gone");
    add(&desk, &gone, &["lost", "--at", "in 1d", "say hello"]);
    std::fs::remove_dir(&gone).expect("an empty directory");
    let run = desk.backstory(&["cron", "run", "lost"]);
    assert_eq!(run.code, Some(1));
    assert!(
        desk.plain(&run.stderr).contains("job lost was not started: its directory ~/gone is gone"),
        "{}",
        run.stderr
    );
    let run = until_run(&desk, "lost", "outcome", "failed");
    assert!(run["message"].as_str().is_some_and(|text| text.contains("is gone")), "{run}");
}

#[test]
fn what_makes_no_sense_is_refused_with_what_would() {
    let desk = desk();
    let check = |words: &[&str], says: &str| {
        let run = desk.backstory(&[&["cron", "add"], words].concat());
        assert_eq!(run.code, Some(2), "{words:?}: {}", run.stderr);
        assert!(run.stderr.contains(says), "{words:?}: {}", run.stderr);
    };
    check(&["a", "task"], "--at");
    check(&["a", "--at", "in 1h", "--every", "1h", "task"], "cannot be used with");
    check(&["a", "--at", "2h", "task"], "is in the past");
    check(&["a", "--at", "in 2", "task"], "is not a valid duration");
    check(&["a", "--every", "10ms", "task"], "less than a second");
    check(&["a", "--cron", "61 * * * *", "task"], "is no cron expression");
    check(&["a", "--cron", "0 0 31 2 *", "task"], "never comes");
    check(&["a", "--cron", "0 9 * * *", "--tz", "Mars/Olympus", "task"], "no time zone");
    check(&["a b", "--every", "1h", "task"], "is no name for a job");
    check(&["a", "--every", "1h", "--permission-mode", "yolo", "task"], "unknown permission mode");
    check(&["a", "--every", "1h", "--agent", "../x", "task"], "is not an agent's name");
    check(&["a", "--every", "1h", "--repo", "/no/such", "task"], "is not a directory");
    let _ = desk.backstory(&["cron", "add", "a", "--every", "1h", "task"]).succeeded();
    check(&["a", "--every", "1h", "task"], "there is already a job `a`");
    assert_eq!(desk.json(&["cron", "list"])["jobs"].as_array().map(Vec::len), Some(1));
}

#[test]
fn a_clock_without_a_zone_is_the_persons() {
    let desk = desk();
    let mut command = desk.command(&["cron", "add", "--json", "nine", "--cron", "0 9 * * *", "task"]);
    command.env("TZ", "Europe/Zurich");
    let run = testkit::claude::Run::of(command).succeeded();
    let job: Value = serde_json::from_str(&run.stdout).expect("JSON");
    assert_eq!(job["schedule"]["tz"], "Europe/Zurich", "{job}");
}
#[test]
fn the_main_session_is_one_and_hears_of_events() {
    let desk = desk();
    let shop = desk.project("shop");
    add(&desk, shop.path(), &["in", "--at", "in 1d", "--event", "the tide is in"]);
    add(&desk, shop.path(), &["out", "--at", "in 1d", "--event", "the tide is out"]);
    add(&desk, shop.path(), &["greet", "--at", "in 1d", "say hello"]);
    let done = |job: &str| {
        let _ = desk.backstory(&["cron", "run", job]).succeeded();
        until_run(&desk, job, "outcome", "finished")
    };
    let (first, other) = (done("in"), done("greet"));
    let second = done("out");
    assert_eq!(first["session_id"], second["session_id"]);
    assert_ne!(first["session_id"], other["session_id"]);
    let said = prompts(&transcript(&desk, shop.path(), &first));
    assert_eq!(said, ["System event (in): the tide is in", "System event (out): the tide is out"]);

    // A worker that waits in it for more makes way.
    let id = first["session_id"].as_str().expect("an id");
    let mut command = desk.command(&["run", "--resume", id, "--detach", "say hello"]);
    command.current_dir(shop.path());
    let _ = testkit::claude::Run::of(command).succeeded();
    wait_until(desk.home.path(), "it is idle", || workers(&desk)[0]["status"] == "idle");
    let third = done("in");
    assert_eq!(third["session_id"], first["session_id"]);
    assert_eq!(prompts(&transcript(&desk, shop.path(), &first)).len(), 4);
}

#[test]
fn jobs_are_shown_as_a_person_reads_them() {
    let desk = desk();
    let shop = desk.project("shop");
    add(&desk, shop.path(), &["nightly", "--cron", "30 2 * * *", "--tz", "Europe/Zurich", "update", "it"]);
    add(&desk, shop.path(), &["tide", "--every", "90m", "--event", "is in"]);
    let bold = add(
        &desk,
        shop.path(),
        &["bold", "--every", "1d", "--permission-mode", "bypassPermissions", "do it"],
    );
    assert_eq!(bold["permission_mode"], "bypassPermissions");
    let _ = desk.backstory(&["cron", "disable", "tide"]).succeeded();
    let listed = desk.backstory(&["cron", "list"]).succeeded().stdout;
    for words in ["30 2 * * * (Europe/Zurich)", "every 1h 30m", "disabled", "No daemon is running"] {
        assert!(listed.contains(words), "{words}: {listed}");
    }
    let shown = desk.plain(&desk.backstory(&["cron", "enable", "bold"]).succeeded().stdout);
    assert!(shown.contains("in ~/shop") && shown.contains("without asking"), "{shown}");
    assert_eq!(desk.backstory(&["cron", "history"]).succeeded().stdout, "No runs yet.\n");
}

#[test]
fn a_job_whose_worker_waits_for_an_answer_says_so() {
    let desk = desk();
    let shop = desk.project("shop");
    add(&desk, shop.path(), &["files", "--every", "6h", "make a file"]);
    let begun = desk.backstory(&["cron", "run", "files"]).succeeded().stdout;
    assert!(begun.contains("watch it: backstory attach 1"), "{begun}");
    let asking = || workers(&desk).first().is_some_and(|worker| worker["status"] == "waiting_permission");
    wait_until(desk.home.path(), "the question", asking);
    let job = desk.json(&["cron", "list"])["jobs"][0].clone();
    let id = job["requests"][0]["request"].as_str().expect("a request").to_owned();
    let said = desk.backstory(&["cron", "list"]).succeeded().stdout;
    let short = &id[..8];
    assert!(said.contains("files: worker 1 asks to use Bash: touch made && rm -rf nothing"), "{said}");
    assert!(said.contains("backstory answer 1 yes|"), "one request needs no name: {said}");
    let _ = desk.backstory(&["answer", "1", short, "allow"]).succeeded();
    wait_until(desk.home.path(), "the file", || shop.path().join("made").exists());
    let ensure_label_free = || desk.json(&["cron", "list"])["jobs"][0]["requests"].is_null();
    wait_until(desk.home.path(), "nothing is asked any more", ensure_label_free);
}

#[test]
fn doctor_says_that_no_daemon_does_what_is_to_be_done() {
    let desk = desk();
    let shop = desk.project("shop");
    desk.claude(shop.path(), &["-p", "say hello"]);
    let advice = || {
        let report = desk.json(&["doctor"]);
        let findings = report["findings"].as_array().cloned().expect("findings");
        findings
            .into_iter()
            .find(|finding| finding["what"].as_str().is_some_and(|what| what.contains("daemon")))
    };
    assert_eq!(advice(), None, "there is no job");
    let mut command = desk.command(&["cron", "add", "hourly", "--every", "1h", "say hello"]);
    command.current_dir(shop.path());
    let said = testkit::claude::Run::of(command).succeeded().stdout;
    assert!(
        said.ends_with("No daemon is running, so no job will run. Start one: backstory cron daemon\n"),
        "{said}"
    );
    let found = advice().expect("advice");
    assert_eq!(found["severity"], "advice", "{found}");
    assert_eq!(found["what"], "a job is scheduled, but no daemon is running");
    assert_eq!(found["next_step"], "start one: backstory cron daemon");
    let mut daemon = Daemon::start(&desk, "daemon");
    wait_until(desk.home.path(), "it leads", || daemon.events().contains(&"leads".to_owned()));
    assert_eq!(advice(), None, "a daemon does it");
    daemon.kill();
    assert!(advice().is_some(), "killed, it does nothing");
    let _ = desk.backstory(&["cron", "disable", "hourly"]).succeeded();
    assert_eq!(advice(), None, "nothing is to be done");
}

//! Who has a work tree and a session: `pick` and `run` know Backstory's own workers, for a person and for an agent.

use serde_json::Value;
use testkit::files::{bytes, wait_until};
use testkit::{Answer, Claude, Gate, Script};

use crate::desk::{Desk, prompts};
use crate::run::{detached, inside, until_status, worker};

const TASK: &str = "paint the garden fence blue";
const MORE: &str = "paint the garden fence blue again";

fn script() -> Script {
    Script::new().on(MORE, [Answer::text("Blue twice.")]).on(TASK, [Answer::text("Blue.")])
}

fn json(desk: &Desk, shop: &std::path::Path, words: &[&str]) -> Value {
    let run = inside(desk, shop, &[words, &["--json"]].concat()).succeeded();
    serde_json::Deserializer::from_str(&run.stdout).into_iter().next().expect("a value").expect("JSON")
}

fn for_whom(agent: Option<&'static str>) -> Vec<&'static str> {
    agent.map_or_else(Vec::new, |agent| vec!["--agent", agent])
}

#[test]
fn a_task_waits_for_the_worker_that_runs_there() {
    let check = |agent: Option<&'static str>| {
        let gate = Gate::new();
        let script = script().on("work long", [Answer::held(&gate).then_text("Worked.")]);
        let desk = Desk::new(Claude::newest(), script);
        let shop = desk.project("shop");
        let of_agent = for_whom(agent);
        let run =
            |task: &str| json(&desk, shop.path(), &[&["run", "--detach", task], &of_agent[..]].concat());
        let first = run("work long");
        gate.wait_until_reached();
        let shown = desk.backstory(&["workers"]).succeeded().stdout;
        assert!(!shown.contains("$0.00"), "what its first turn costs is not known yet: {shown}");

        let picked = json(&desk, shop.path(), &[&["pick", TASK], &of_agent[..]].concat());
        assert_eq!(
            (&picked["action"], &picked["session_id"]),
            (&"queue".into(), &first["session_id"]),
            "{picked}"
        );
        let below = desk.home.dir("shop/src");
        assert_eq!(json(&desk, &below, &["pick", TASK])["action"], "queue", "the person waits for it, too");
        assert_eq!(json(&desk, desk.project("tide").path(), &["pick", TASK])["action"], "fresh");

        let second = run(TASK);
        assert_eq!((&second["behind"], &second["start"]), (&first["worker"], &"fresh".into()), "{second}");
        let third = inside(&desk, shop.path(), &[&["run", MORE], &of_agent[..]].concat());
        assert_eq!(third.code, Some(6), "{}", third.stderr);
        let expected = format!(
            "worker {} is working in ~/shop and worker {} is already waiting",
            first["worker"], second["worker"]
        );
        assert!(desk.plain(&third.stderr).contains(&expected), "{}", third.stderr);

        gate.open();
        let number = second["worker"].to_string();
        until_status(&desk, &number, "idle");
        let _ = desk.backstory(&["stop", &number]).succeeded();
    };
    check(None);
    check(Some("main"));
}

#[test]
fn an_idle_worker_makes_way_and_its_session_is_gone_on_with() {
    let check = |agent: Option<&'static str>| {
        let desk = Desk::new(Claude::newest(), script());
        let shop = desk.project("shop");
        let of_agent = for_whom(agent);
        let first =
            json(&desk, shop.path(), &[&["run", "--detach", "--fresh", TASK], &of_agent[..]].concat());
        let number = first["worker"].to_string();
        until_status(&desk, &number, "idle");

        let picked = json(&desk, shop.path(), &[&["pick", MORE], &of_agent[..]].concat());
        assert_eq!(
            (&picked["action"], &picked["session_id"]),
            (&"resume".into(), &first["session_id"]),
            "{picked}"
        );
        assert!(
            !picked["reason"].as_str().expect("a reason").contains("open in another process"),
            "{picked}"
        );
        let second = json(&desk, shop.path(), &[&["run", MORE], &of_agent[..]].concat());
        assert_eq!((&second["start"], &second["session_id"]), (&"resume".into(), &first["session_id"]));
        until_status(&desk, &number, "finished");
        let file = desk.transcript(shop.path(), first["session_id"].as_str().expect("an id"));
        if agent.is_none() {
            assert_eq!(prompts(&file), [TASK, MORE], "{}", String::from_utf8_lossy(&bytes(&file)));
        }
    };
    check(None);
    check(Some("main"));
}

#[test]
fn an_idle_worker_is_in_nobodys_way() {
    let desk = Desk::new(Claude::newest(), script().on("say hello", [Answer::text("Hello.")]));
    let shop = desk.project("shop");
    // An agent's idle worker keeps no person waiting, nor the agent where its session is not chosen.
    let first = json(&desk, shop.path(), &["run", "--detach", "--fresh", "--agent", "main", TASK]);
    let number = first["worker"].to_string();
    until_status(&desk, &number, "idle");
    let run = inside(&desk, shop.path(), &["run", "say hello"]).succeeded();
    assert!(run.stdout.contains("Hello."), "{}{}", run.stdout, run.stderr);
    until_status(&desk, &number, "finished");
}

#[test]
fn the_session_of_a_worker_is_named_for_one_that_works_and_free_for_one_that_is_idle() {
    let gate = Gate::new();
    let script = script().on("work long", [Answer::held(&gate).then_text("Worked.")]);
    let desk = Desk::new(Claude::newest(), script);
    let shop = desk.project("shop");
    let number = detached(&desk, shop.path(), "work long");
    let session = worker(&desk, &number)["session_id"].as_str().expect("an id").to_owned();
    // Before there is a transcript as well, or any session at all.
    let refused = || inside(&desk, shop.path(), &["run", "--resume", &session, MORE]);
    let early = refused();
    assert_eq!(early.code, Some(6), "{}", early.stderr);
    gate.wait_until_reached();
    let file = desk.transcript(shop.path(), &session);
    let is_said = || file.exists() && String::from_utf8_lossy(&bytes(&file)).contains("work long");
    wait_until(desk.home.path(), "its transcript", is_said);
    let refused = refused();
    assert_eq!(refused.code, Some(6), "{}", refused.stderr);
    for words in [
        format!("session {session} is in use by worker {number}"),
        format!("backstory send {number} <message>"),
        format!("backstory run --fork {} <task>", &session[..8]),
    ] {
        assert!(refused.stderr.contains(&words), "{words}: {}", refused.stderr);
    }
    gate.open();
    until_status(&desk, &number, "idle");
    let run = inside(&desk, shop.path(), &["run", "--resume", &session, MORE]).succeeded();
    assert!(run.stdout.contains("Blue twice."), "{}", run.stdout);
    assert_eq!(worker(&desk, &number)["status"], "finished");
}

#[test]
fn a_task_that_was_idle_and_is_not_known_to_have_begun_is_done_again_and_keeps_nobody_waiting() {
    let desk = Desk::new(Claude::newest(), script());
    let shop = desk.project("shop");
    let number = detached(&desk, shop.path(), TASK);
    let idle = until_status(&desk, &number, "idle");
    // At once: left alone, claude would write how it ended.
    let pids = ["host_pid", "pid"].map(|pid| idle[pid].to_string());
    let killed = std::process::Command::new("kill").arg("-KILL").args(pids).status();
    assert!(killed.expect("kill").success());
    std::fs::remove_file(desk.transcript(shop.path(), idle["session_id"].as_str().expect("an id")))
        .expect("its transcript");
    // Its first message is in no transcript: it is done again, beside the next task, and neither waits for ever.
    let run = inside(&desk, shop.path(), &["run", "--fresh", MORE]).succeeded();
    assert!(run.stdout.contains("Blue twice."), "{}{}", run.stdout, run.stderr);
    wait_until(desk.home.path(), "the first task is done again", || {
        let first = worker(&desk, &number);
        assert!(first["status"] != "failed" && first["status"] != "lost", "{first}");
        first["status"] == "idle" || first["status"] == "finished"
    });
    // It has ended for the next task, or ends now.
    let _ = desk.backstory(&["stop", &number]);
}

//! `kill -9` of every Backstory at fifty moments, while one task runs and another waits: afterwards none is lost, none is
//! done twice, no process is unknown, and nothing is locked.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::files::{bytes, wait_until};
use testkit::{Answer, Claude, Script};

use crate::desk::Desk;

/// Where the moments come from; printed, so that a failure can be played again.
const SEED: u64 = 0x5eed_2026;
const MOMENTS: usize = 50;
/// What may be happening when everything is killed; each is hit at least once.
const PHASES: [&str; 7] =
    ["asked", "queued", "starting", "running", "waiting_permission", "idle", "finished"];

#[test]
fn no_moment_loses_or_doubles_a_task() {
    println!("seed {SEED:#x}");
    let bash = json!({"command": "touch made && rm -rf nothing", "description": "Make a file"});
    let script = Script::new()
        .on("make a file", [Answer::text("I will.").then_tool("Bash", bash), Answer::text("Made.")])
        .on("say hello", [Answer::text("Hello.")]);
    let desk = Desk::new(Claude::newest(), script);
    let mut chance = SEED;
    let mut hit: BTreeMap<String, usize> = BTreeMap::new();
    for moment in 0..MOMENTS {
        chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let phase = PHASES[moment % PHASES.len()];
        let more = Duration::from_millis((chance >> 33) % 120);
        let found = round(&desk, moment, phase, more);
        println!("moment {moment}: {phase} and {more:?}, found {found:?}");
        *hit.entry(phase.to_owned()).or_default() += 1;
    }
    assert_eq!(hit.len(), PHASES.len(), "{hit:?}");
}

/// Two tasks in one directory, killed in a phase of the first (or the second), and put right by the next Backstory.
fn round(desk: &Desk, moment: usize, phase: &str, more: Duration) -> BTreeSet<String> {
    let shop = desk.project(&format!("shop-{moment}"));
    let place = shop.path();
    let tasks = [format!("{moment}a make a file"), format!("{moment}b say hello")];
    let mut callers = Vec::new();
    for task in &tasks {
        let mut command = desk.command(&["run", "--fresh", "--detach", task]);
        command.current_dir(place).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut caller = command.spawn().expect("backstory starts");
        if phase == "asked" {
            // Killed while it asks, before anybody knows of its task, or just after.
            pass(more);
        } else {
            caller.wait().expect("it ends");
        }
        callers.push(caller);
    }
    let is_there = |desk: &Desk| match phase {
        "asked" => true,
        "finished" => mine(desk, place).iter().any(|worker| worker["status"] != "queued"),
        other => mine(desk, place).iter().any(|worker| worker["status"] == other),
    };
    if phase == "idle" {
        answer_all(desk, place);
    }
    if matches!(phase, "running" | "starting") {
        // It may be over before it is seen: whatever comes then is a moment, too.
        let began = Instant::now();
        while !is_there(desk) && began.elapsed() < Duration::from_secs(2) {}
    } else {
        wait_until(desk.home.path(), &format!("moment {moment}: {phase}"), || {
            if phase == "idle" {
                answer_all(desk, place);
            }
            is_there(desk)
        });
    }
    pass(more);
    let all = mine(desk, place);
    let found = all.iter().filter_map(|worker| worker["status"].as_str().map(str::to_owned)).collect();
    for caller in &mut callers {
        // It may have ended by itself.
        let _ = caller.kill();
        let _ = caller.wait();
    }
    let living = all.iter().filter(|worker| !worker["place"].is_null());
    living.filter_map(|worker| worker["host_pid"].as_u64()).for_each(kill);
    put_right(desk, place, &tasks);
    found
}

/// The next Backstory runs what waits; what was begun and lost is told; then all is over and nothing is held.
fn put_right(desk: &Desk, place: &Path, tasks: &[String; 2]) {
    wait_until(desk.home.path(), "all is over", || {
        answer_all(desk, place);
        let all = mine(desk, place);
        for worker in &all {
            let number = worker["worker"].to_string();
            if worker["status"] == "lost" && worker["is_living"] == true {
                // Found, and known by its process: nobody can hear or answer it any more.
                worker["pid"].as_u64().into_iter().for_each(kill);
            }
            if worker["status"] == "idle" {
                // It may have ended by itself meanwhile.
                let _ = desk.backstory(&["stop", &number]);
            }
        }
        all.iter().all(|worker| worker["place"].is_null())
    });
    let all = mine(desk, place);
    for worker in &all {
        let task = worker["task"].as_str().expect("a task");
        let file = desk.transcript(place, worker["session_id"].as_str().expect("an id"));
        let said = if file.exists() { prompts(&file, task) } else { 0 };
        assert_eq!(said, 1, "how often {task} was said: {worker}");
        let alive = worker["pid"].as_u64().is_some_and(is_claude);
        assert!(!alive, "its process goes on: {worker}");
    }
    for task in tasks {
        let times = all.iter().filter(|worker| worker["task"] == task.as_str()).count();
        // One that was killed before it could ask has asked for nothing.
        assert!(times <= 1, "{task} stands {times} times in the table");
    }
    // Nothing is held: the directory takes the next task at once.
    let mut command = desk.command(&["run", "--fresh", "say hello"]);
    command.current_dir(place);
    let _ = testkit::claude::Run::of(command).succeeded();
}

fn mine(desk: &Desk, place: &Path) -> Vec<Value> {
    let all = desk.json(&["workers"])["workers"].as_array().cloned().expect("workers");
    let place = place.display().to_string();
    all.into_iter().filter(|worker| worker["directory"] == place.as_str()).collect()
}

fn answer_all(desk: &Desk, place: &Path) {
    for worker in mine(desk, place) {
        for request in worker["requests"].as_array().into_iter().flatten() {
            let (number, id) = (worker["worker"].to_string(), request["request"].as_str().expect("an id"));
            // It may have been killed meanwhile.
            let _ = desk.backstory(&["answer", &number, id, "allow"]);
        }
    }
}

fn kill(pid: u64) {
    assert_ne!(pid, u64::from(std::process::id()));
    let _ = Command::new("kill").args(["-KILL", &pid.to_string()]).stderr(Stdio::null()).status();
}

fn prompts(file: &Path, task: &str) -> usize {
    let text = String::from_utf8_lossy(&bytes(file)).into_owned();
    let said = format!("\"content\":\"{task}\"");
    text.lines().filter(|line| line.contains("\"type\":\"user\"") && line.contains(&said)).count()
}

fn is_claude(pid: u64) -> bool {
    let file = format!("/proc/{pid}/cmdline");
    Path::new(&file).exists() && String::from_utf8_lossy(&bytes(Path::new(&file))).contains("stream-json")
}

#[expect(clippy::disallowed_methods, reason = "a moment of a seeded length is what this test is about")]
fn pass(time: Duration) {
    std::thread::sleep(time);
}

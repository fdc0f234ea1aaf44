//! `kill -9` of every Backstory at fifty moments, while one task runs, another waits and a daemon does a job that is due:
//! afterwards none is lost, none is done twice, no process is unknown, and nothing is locked.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::files::{bytes, wait_until};
use testkit::{Answer, Claude, PATIENCE, Script};

use crate::cron::{Daemon, history};
use crate::desk::Desk;

/// Where the moments come from; printed, so that a failure can be played again.
const SEED: u64 = 0x5eed_2026;
const MOMENTS: usize = 50;
/// The same with those that make up for phases that were missed.
const MOST: usize = 80;
/// How many homes the moments are shared among, side by side: much of a round is waiting for a process.
const DESKS: usize = 3;
/// How often it is looked meanwhile.
const LOOK: Duration = Duration::from_millis(100);
/// Moments at which everything is killed; each is hit at least once.
const PHASES: [&str; 11] = [
    "asked",
    "queued",
    "starting",
    "running",
    "waiting_permission",
    "idle",
    "finished",
    "job due",
    "job starting",
    "job running",
    "job over",
];

#[test]
fn no_moment_loses_or_doubles_a_task() {
    println!("seed {SEED:#x}");
    let moments = Moments::default();
    let at_a_desk = || {
        let desk = Desk::new(Claude::newest(), script());
        let (shop, tide) = (desk.project("shop"), desk.home.dir("tide"));
        while let Some((moment, phase)) = moments.next() {
            let (began, more) = (Instant::now(), after(moment));
            let found = round(&desk, (shop.path(), &tide), moment, phase, more);
            println!("moment {moment}: {phase} and {more:?}, found {found:?} in {:?}", began.elapsed());
            moments.hit(found);
        }
        // After the last moment nothing is held either.
        let mut command = desk.command(&["run", "--fresh", "say hello"]);
        command.current_dir(shop.path());
        let _ = testkit::claude::Run::of(command).succeeded();
    };
    std::thread::scope(|scope| {
        let desks: Vec<_> = (0..DESKS).map(|_| scope.spawn(at_a_desk)).collect();
        for desk in desks {
            // The output of the desk says at which moment it was killed.
            desk.join().expect("no task is lost or doubled at this desk");
        }
    });
    let hit = moments.hit.into_inner().expect("no desk failed");
    println!("{hit:?}");
    for phase in PHASES {
        assert!(hit.contains_key(phase), "nothing was killed while {phase}: {hit:?}");
    }
}

/// The moments still to come, and in which phases something was killed at those before.
#[derive(Default)]
struct Moments {
    begun: AtomicUsize,
    hit: Mutex<BTreeMap<String, usize>>,
}

impl Moments {
    /// The next moment and its phase. Behind the last one come more of a phase that was over before it was seen.
    fn next(&self) -> Option<(usize, &'static str)> {
        let moment = self.begun.fetch_add(1, Ordering::Relaxed);
        if moment < MOMENTS {
            return Some((moment, PHASES[moment % PHASES.len()]));
        }
        let hit = self.hit.lock().expect("no desk failed");
        let missed = PHASES.into_iter().find(|phase| !hit.contains_key(*phase))?;
        (moment < MOST).then_some((moment, missed))
    }

    fn hit(&self, phases: BTreeSet<String>) {
        let mut hit = self.hit.lock().expect("no desk failed");
        for phase in phases {
            *hit.entry(phase).or_default() += 1;
        }
    }
}

/// How long after its phase has begun a moment comes: the same in every run, whichever desk it falls to.
fn after(moment: usize) -> Duration {
    let step =
        |chance: u64| chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    let chance = (0..=moment).fold(SEED, |chance, _| step(chance));
    Duration::from_millis((chance >> 33) % 120)
}

fn script() -> Script {
    let bash = json!({"command": "touch made && rm -rf nothing", "description": "Make a file"});
    Script::new()
        .on("make a file", [Answer::text("I will.").then_tool("Bash", bash), Answer::text("Made.")])
        .on("say hello", [Answer::text("Hello.")])
}

/// Two tasks in one directory and a job, killed in a phase of one of them, and put right by the next Backstory.
///
/// The directories are those of the moment before: what that had left held would keep these tasks from beginning.
fn round(
    desk: &Desk,
    (shop, tide): (&Path, &Path),
    moment: usize,
    phase: &str,
    more: Duration,
) -> BTreeSet<String> {
    let mut daemon = Daemon::start(desk, &format!("daemon-{moment}"));
    let job = Job { name: format!("job-{moment}"), task: format!("{moment}c say hello") };
    let mut tasks = vec![format!("{moment}a make a file")];
    // Now the second who wants the directory is a person, now it is the job, and nobody where a worker is to stay idle.
    let is_alone = phase == "idle";
    let wants_too = !is_alone && (moment.is_multiple_of(2) || phase == "asked");
    if wants_too {
        tasks.push(format!("{moment}b say hello"));
    }
    if wants_too || is_alone {
        job.add(desk, tide);
    }
    let mut callers = Vec::new();
    for task in &tasks {
        let mut command = desk.command(&["run", "--fresh", "--detach", task]);
        command.current_dir(shop).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut caller = command.spawn().expect("backstory starts");
        if phase == "asked" {
            // Killed while it asks, before anybody knows of its task, or just after: it asks in a few milliseconds.
            pass(more / 20);
            caller.kill().expect("it can be killed");
        } else {
            caller.wait().expect("it ends");
        }
        callers.push(caller);
    }
    if !wants_too && !is_alone {
        job.add(desk, shop);
    }
    if phase != "asked" {
        // The directory is free, or is given back by what is still ending: either way the task begins.
        wait_until(desk.home.path(), "the first task begins", || {
            let first = mine(desk, moment).into_iter().find(|worker| worker["task"] == tasks[0].as_str());
            first.expect("its worker")["status"] != "queued"
        });
    }
    reach(desk, moment, phase, &job);
    // A start is short: later than this it would be over.
    pass(if phase == "job starting" { more / 10 } else { more });
    daemon.kill();
    let all = mine(desk, moment);
    let mut found: BTreeSet<String> = all.iter().map(status).collect();
    let job_is = |run: &Value| format!("job {}", status(run));
    found.insert(history(desk, &job.name).first().map_or_else(|| "job due".to_owned(), job_is));
    if all.iter().filter(|worker| worker["task"] != job.task.as_str()).count() < tasks.len() {
        found.insert("asked".to_owned());
    }
    for caller in &mut callers {
        // It may have ended by itself.
        let _ = caller.kill();
        let _ = caller.wait();
    }
    let living = all.iter().filter(|worker| !worker["slot"].is_null());
    living.filter_map(|worker| worker["host_pid"].as_u64()).for_each(kill);

    let _next = Daemon::start(desk, &format!("next-{moment}"));
    put_right(desk, moment, &job);
    tasks.push(job.task);
    once(desk, moment, &tasks);
    found
}

/// Lets things go on until a phase. What is short may be over before it is seen: what comes then is a moment, too.
fn reach(desk: &Desk, moment: usize, phase: &str, job: &Job) {
    if phase == "job starting" {
        return wait_until(desk.home.path(), phase, || !history(desk, &job.name).is_empty());
    }
    let is_there = |all: &[Value]| match phase {
        "asked" | "job due" => true,
        "job running" => history(desk, &job.name).iter().any(|run| run["status"] != "starting"),
        "job over" => history(desk, &job.name).iter().any(|run| run["status"] == "over"),
        "finished" => all.iter().any(|worker| worker["status"] != "queued"),
        other => all.iter().any(|worker| worker["status"] == other),
    };
    let began = Instant::now();
    if matches!(phase, "running" | "starting") {
        while !is_there(&mine(desk, moment)) && began.elapsed() < Duration::from_secs(2) {}
        return;
    }
    wait_until(desk.home.path(), phase, || {
        let all = mine(desk, moment);
        match phase {
            "idle" => answer_all(desk, &all),
            "job over" => tend(desk, &all, job),
            _ => {}
        }
        // A busy machine may look too late: the phase is over then, and what comes now is a moment, too.
        let is_past = || history(desk, &job.name).iter().any(|run| run["status"] == "over");
        is_there(&all) || all.iter().all(is_over) && is_past()
    });
}

/// Whether nothing more comes of a worker.
fn is_over(worker: &Value) -> bool {
    let ends = ["finished", "failed", "stopped", "cancelled", "lost"];
    worker["status"].as_str().is_some_and(|status| ends.contains(&status))
}

/// A job that is due as soon as it is added.
struct Job {
    name: String,
    task: String,
}

impl Job {
    fn add(&self, desk: &Desk, place: &Path) {
        let mut command = desk.command(&["cron", "add", &self.name, "--at", "in 50ms", &self.task]);
        command.current_dir(place);
        let _ = testkit::claude::Run::of(command).succeeded();
    }
}

/// The next Backstory runs what waits; what was begun and lost is reported; then all is over.
fn put_right(desk: &Desk, moment: usize, job: &Job) {
    let began = Instant::now();
    let runs = loop {
        let (all, runs) = (mine(desk, moment), history(desk, &job.name));
        let is_done = |run: &Value| run["status"] == "over";
        if all.iter().all(|worker| worker["slot"].is_null()) && runs.iter().any(is_done) {
            break runs;
        }
        assert!(began.elapsed() < PATIENCE, "not over within {PATIENCE:?}: {all:#?}, {runs:#?}");
        tend(desk, &all, job);
        // Each look starts two processes, which take from those that are looked at.
        pass(LOOK);
    };
    assert_eq!(runs.len(), 1, "one moment is one run: {runs:?}");
    let outcome = runs[0]["outcome"].as_str().expect("an outcome");
    let is_explained = runs[0]["message"].as_str().is_some_and(|text| text.contains("killed in the middle"));
    assert!(outcome == "finished" || outcome == "failed" && is_explained, "{runs:?}");
}

/// Each task was said once, and nothing is left of it. The last one is the job's.
fn once(desk: &Desk, moment: usize, tasks: &[String]) {
    let all = mine(desk, moment);
    for worker in &all {
        let task = worker["task"].as_str().expect("a task");
        let place = Path::new(worker["directory"].as_str().expect("a directory"));
        let file = desk.transcript(place, worker["session_id"].as_str().expect("an id"));
        let said = if file.exists() { prompts(&file, task) } else { 0 };
        assert_eq!(said, 1, "how often {task} was said: {worker}");
        let alive = worker["pid"].as_u64().is_some_and(is_claude);
        assert!(!alive, "its process goes on: {worker}");
    }
    let times = |task: &String| all.iter().filter(|worker| worker["task"] == task.as_str()).count();
    for task in tasks {
        // One that was killed before it could ask has asked for nothing.
        assert!(times(task) <= 1, "{task} is {} times in the table", times(task));
    }
    assert_eq!(tasks.last().map(times), Some(1), "a job that is due is done, whoever is killed");
}

/// Does what a person does: answers, ends who waits for more (a daemon does that with the workers of jobs), and ends
/// what was found living and cannot be heard any more.
fn tend(desk: &Desk, all: &[Value], job: &Job) {
    answer_all(desk, all);
    for worker in all {
        if worker["is_living"] == true {
            worker["pid"].as_u64().into_iter().for_each(kill);
        }
        if worker["status"] == "idle" && worker["task"] != job.task.as_str() {
            // It may have ended by itself meanwhile.
            let _ = desk.backstory(&["stop", &worker["worker"].to_string()]);
        }
    }
}

/// The workers of this moment's tasks.
fn mine(desk: &Desk, moment: usize) -> Vec<Value> {
    let all = desk.json(&["workers"])["workers"].as_array().cloned().expect("workers");
    let marks = ["a", "b", "c"].map(|letter| format!("{moment}{letter} "));
    let is_ours = |worker: &Value| {
        worker["task"].as_str().is_some_and(|task| marks.iter().any(|mark| task.starts_with(mark)))
    };
    all.into_iter().filter(is_ours).collect()
}

fn status(of: &Value) -> String {
    of["status"].as_str().expect("a status").to_owned()
}

fn answer_all(desk: &Desk, all: &[Value]) {
    for worker in all {
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

#[expect(clippy::disallowed_methods, reason = "moments of a seeded length are what this test is about")]
fn pass(time: Duration) {
    std::thread::sleep(time);
}

//! `kill -9` of every Backstory while tasks run or wait and a daemon does a job that is due: afterwards none is lost, none is
//! done twice, no process is unknown, and nothing is locked.
//!
//! Every phase that has a name is held still and hit. A long run also kills at random moments behind each.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use testkit::files::{bytes, wait_until};
use testkit::held_claude::Start;
use testkit::{Answer, Claude, Gate, HeldClaude, HoldableClaude, Script, long};

use crate::cron::{Daemon, history};
use crate::desk::Desk;

/// Where the random moments come from.
const SEED: u64 = 0x5eed_2026;
/// How many homes the random moments are shared among, side by side: much of a round is waiting for a process.
const DESKS: usize = 3;

/// What goes on when everything is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// A caller asks for a task, and nobody else knows of it.
    Asked,
    /// One task waits for another one's directory.
    Queued,
    /// The task's `claude` was started and has not answered.
    Starting,
    /// The model works.
    Running,
    /// A person is to allow something.
    WaitingPermission,
    /// The turn is over, and its worker waits for more.
    Idle,
    /// The worker has ended, and another one has its directory.
    Finished,
    /// A job is due, and the daemon is busy with another one.
    JobDue,
    /// The daemon starts the job.
    JobStarting,
    /// The job's worker works.
    JobRunning,
    /// The job is done.
    JobOver,
}

const PHASES: [Phase; 11] = [
    Phase::Asked,
    Phase::Queued,
    Phase::Starting,
    Phase::Running,
    Phase::WaitingPermission,
    Phase::Idle,
    Phase::Finished,
    Phase::JobDue,
    Phase::JobStarting,
    Phase::JobRunning,
    Phase::JobOver,
];

#[test]
fn a_task_that_is_asked_for_when_all_is_killed() {
    check(Phase::Asked);
}

#[test]
fn a_task_that_is_queued_when_all_is_killed() {
    check(Phase::Queued);
}

#[test]
fn a_task_that_starts_when_all_is_killed() {
    check(Phase::Starting);
}

#[test]
fn a_task_that_runs_when_all_is_killed() {
    check(Phase::Running);
}

#[test]
fn a_task_that_waits_for_permission_when_all_is_killed() {
    check(Phase::WaitingPermission);
}

#[test]
fn a_task_that_is_idle_when_all_is_killed() {
    check(Phase::Idle);
}

#[test]
fn a_task_that_is_finished_when_all_is_killed() {
    check(Phase::Finished);
}

#[test]
fn a_job_that_is_due_when_all_is_killed() {
    check(Phase::JobDue);
}

#[test]
fn a_job_that_starts_when_all_is_killed() {
    check(Phase::JobStarting);
}

#[test]
fn a_job_that_runs_when_all_is_killed() {
    check(Phase::JobRunning);
}

#[test]
fn a_job_that_is_over_when_all_is_killed() {
    check(Phase::JobOver);
}

/// One round in which everything is killed while a phase is held.
fn check(phase: Phase) {
    let stage = Stage::new(1);
    let mut round = Round::start(&stage, 0, phase);
    round.hold();
    round.kill();
    round.release();
    let expected = round.tasks().into_iter().map(|task| (task, 1)).collect::<BTreeMap<_, _>>();
    round.put_right();
    let known = round.known_tasks();
    for (task, times) in expected {
        // Of one that was killed before it could ask nobody knows.
        let times = if phase == Phase::Asked && task == round.task('a', FILE) { 0 } else { times };
        assert_eq!(known.get(&task).copied().unwrap_or_default(), times, "how often there is {task}");
    }
    stage.say_hello();
}

#[test]
fn no_random_moment_loses_or_doubles_a_task() {
    let rounds = long::amount(1, 80);
    let begun = AtomicUsize::new(0);
    let at_a_desk = || {
        let stage = Stage::new(rounds);
        while let Some(moment) = Some(begun.fetch_add(1, Ordering::Relaxed)).filter(|moment| *moment < rounds)
        {
            let (phase, more) = (PHASES[moment % PHASES.len()], after(moment));
            println!("seed {SEED:#x}, moment {moment}: {more:?} after {phase:?}");
            let mut round = Round::start(&stage, moment, phase);
            round.hold();
            round.release();
            pass(more);
            round.kill();
            round.put_right();
            for (task, times) in round.known_tasks() {
                assert_eq!(times, 1, "how often there is {task}");
            }
            for job in &round.jobs {
                assert!(
                    round.known_tasks().contains_key(&job.task),
                    "{} is done, whoever is killed",
                    job.task
                );
            }
        }
        // After the last moment nothing is held either.
        stage.say_hello();
    };
    std::thread::scope(|scope| {
        let desks: Vec<_> = (0..DESKS.min(rounds)).map(|_| scope.spawn(at_a_desk)).collect();
        for desk in desks {
            // The output of the desk says at which moment it was killed.
            desk.join().expect("no task is lost or doubled at this desk");
        }
    });
}

/// How long after its phase a random moment comes: the same in every run, whichever desk it falls to.
fn after(moment: usize) -> Duration {
    let step =
        |chance: u64| chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    let chance = (0..=moment).fold(SEED, |chance, _| step(chance));
    Duration::from_millis((chance >> 33) % 120)
}

/// A home with two directories, a `claude` that can be held, and a model that waits where a round wants it.
struct Stage {
    desk: Desk,
    claude: HoldableClaude,
    shop: PathBuf,
    tide: PathBuf,
    /// A gate for each round.
    gates: Vec<Gate>,
}

const FILE: &str = "make a file";
const HELLO: &str = "say hello";

fn wait_at(moment: usize) -> String {
    format!("wait at gate {moment}.")
}

impl Stage {
    fn new(rounds: usize) -> Self {
        let gates: Vec<Gate> = (0..rounds).map(|_| Gate::new()).collect();
        let bash = json!({"command": "touch made && rm -rf nothing", "description": "Make a file"});
        let script = Script::new()
            .on(FILE, [Answer::text("I will.").then_tool("Bash", bash), Answer::text("Made.")])
            .on(HELLO, [Answer::text("Hello.")]);
        let script = gates.iter().enumerate().fold(script, |script, (moment, gate)| {
            script.on(&wait_at(moment), [Answer::held(gate).then_text("I waited.")])
        });
        let desk = Desk::new(Claude::newest(), script);
        let claude = desk.claude.install_holdable(&desk.home);
        let (shop, tide) = (desk.project("shop").path().to_owned(), desk.home.dir("tide"));
        Self { desk, claude, shop, tide, gates }
    }

    /// Nothing is locked: a task is done in the foreground.
    fn say_hello(&self) {
        let mut command = self.desk.command(&["run", "--fresh", HELLO]);
        command.current_dir(&self.shop);
        let _ = testkit::claude::Run::of(command).succeeded();
    }
}

/// Tasks in one directory and a job, killed in a phase of one of them, and put right by the next Backstory.
///
/// The directories are those of the round before: what that had left held would keep these tasks from beginning.
struct Round<'stage> {
    stage: &'stage Stage,
    moment: usize,
    phase: Phase,
    daemon: Daemon,
    callers: Vec<Child>,
    asked: Vec<String>,
    jobs: Vec<Job>,
    held: Option<HeldClaude>,
}

/// A job that is due as soon as it is added.
struct Job {
    name: String,
    task: String,
}

impl<'stage> Round<'stage> {
    fn start(stage: &'stage Stage, moment: usize, phase: Phase) -> Self {
        let daemon = Daemon::start(&stage.desk, &format!("daemon-{moment}"));
        wait_until(stage.desk.home.path(), "a daemon leads", || daemon.events() == ["leads"]);
        Self {
            stage,
            moment,
            phase,
            daemon,
            callers: Vec::new(),
            asked: Vec::new(),
            jobs: Vec::new(),
            held: None,
        }
    }

    /// Lets things go on until the phase, and keeps them in it.
    fn hold(&mut self) {
        let (shop, tide) = (&*self.stage.shop, &*self.stage.tide);
        let wait = wait_at(self.moment);
        match self.phase {
            Phase::Asked => {
                self.add_job('c', HELLO, tide);
                self.hold_claude(Start::Version);
                let caller = self.spawn('a', FILE);
                self.held.as_ref().expect("it is held").wait_for_child_of(caller);
            }
            Phase::Queued => {
                self.add_job('c', HELLO, tide);
                self.ask('a', FILE);
                self.until('a', "waiting_permission");
                self.ask('b', HELLO);
                self.until('b', "queued");
            }
            Phase::Starting => {
                self.add_job('c', HELLO, tide);
                self.hold_claude(Start::Work);
                self.ask('a', FILE);
                self.until('a', "starting");
                let process = self.worker('a').and_then(|worker| worker["pid"].as_u64()).expect("a process");
                let process = u32::try_from(process).expect("the number of a process");
                self.held.as_ref().expect("it is held").wait_for_process(process);
            }
            Phase::Running => {
                self.ask('a', &wait);
                self.gate().wait_until_reached();
                self.until('a', "running");
                self.add_job('c', HELLO, shop);
            }
            Phase::WaitingPermission => {
                self.ask('a', FILE);
                self.until('a', "waiting_permission");
                self.add_job('c', HELLO, shop);
            }
            Phase::Idle => {
                self.add_job('c', HELLO, tide);
                self.ask('a', HELLO);
                self.until('a', "idle");
            }
            Phase::Finished => {
                self.add_job('c', HELLO, tide);
                self.ask('a', FILE);
                self.until('a', "waiting_permission");
                self.ask('b', &wait);
                answer_all(&self.stage.desk, &self.workers());
                self.gate().wait_until_reached();
                self.until('a', "finished");
                self.until('b', "running");
            }
            Phase::JobDue => {
                self.ask('a', FILE);
                self.until('a', "waiting_permission");
                self.hold_claude(Start::Version);
                self.add_job('d', HELLO, shop);
                self.wait_for_daemon();
                self.add_job('c', HELLO, tide);
                self.until_job("is due", |job, runs| job["next"].is_null() && runs.is_empty());
            }
            Phase::JobStarting => {
                self.ask('a', FILE);
                self.until('a', "waiting_permission");
                self.hold_claude(Start::Version);
                self.add_job('c', HELLO, tide);
                self.wait_for_daemon();
                self.until_job("starts", |_, runs| is_last(runs, "starting"));
            }
            Phase::JobRunning => {
                self.ask('a', FILE);
                self.until('a', "waiting_permission");
                self.add_job('c', &wait, tide);
                self.gate().wait_until_reached();
                self.until_job("runs", |_, runs| is_last(runs, "running"));
            }
            Phase::JobOver => {
                self.ask('a', FILE);
                self.until('a', "waiting_permission");
                self.add_job('c', HELLO, tide);
                self.until_job("is over", |_, runs| is_last(runs, "over"));
            }
        }
    }

    fn hold_claude(&mut self, start: Start) {
        self.held = Some(self.stage.claude.hold(start));
    }

    /// Waits until the daemon asks a `claude` that is held.
    fn wait_for_daemon(&self) {
        self.held.as_ref().expect("it is held").wait_for_child_of(self.daemon.pid());
    }

    /// Lets go on what is held.
    fn release(&mut self) {
        self.held = None;
        self.gate().open();
    }

    fn gate(&self) -> &Gate {
        &self.stage.gates[self.moment]
    }

    /// Kills every Backstory: the daemon, the callers and the hosts of workers.
    fn kill(&mut self) {
        self.daemon.kill();
        let all = self.workers();
        for caller in &mut self.callers {
            // It may have ended by itself.
            let _ = caller.kill();
            let _ = caller.wait();
        }
        let living = all.iter().filter(|worker| !worker["slot"].is_null());
        living.filter_map(|worker| worker["host_pid"].as_u64()).for_each(kill);
    }

    /// Asks for a task in the shop, and does not wait for an answer; returns the caller's process.
    fn spawn(&mut self, letter: char, words: &str) -> u32 {
        let task = self.task(letter, words);
        let mut command = self.stage.desk.command(&["run", "--fresh", "--detach", &task]);
        command.current_dir(&self.stage.shop);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let caller = command.spawn().expect("backstory starts");
        let process = caller.id();
        self.callers.push(caller);
        self.asked.push(task);
        process
    }

    /// Asks for a task in the shop.
    fn ask(&mut self, letter: char, words: &str) {
        self.spawn(letter, words);
        let caller = self.callers.last_mut().expect("a caller");
        assert!(caller.wait().expect("it ends").success(), "{letter} is refused");
    }

    fn add_job(&mut self, letter: char, words: &str, place: &Path) {
        let job = Job { name: format!("job-{}{letter}", self.moment), task: self.task(letter, words) };
        let mut command = self.stage.desk.command(&["cron", "add", &job.name, "--at", "in 50ms", &job.task]);
        command.current_dir(place);
        let _ = testkit::claude::Run::of(command).succeeded();
        self.jobs.push(job);
    }

    fn task(&self, letter: char, words: &str) -> String {
        format!("{}{letter} {words}", self.moment)
    }

    /// Everything that was asked for in this round.
    fn tasks(&self) -> Vec<String> {
        self.asked.iter().chain(self.jobs.iter().map(|job| &job.task)).cloned().collect()
    }

    /// The workers of this round's tasks.
    fn workers(&self) -> Vec<Value> {
        let all = self.stage.desk.json(&["workers"])["workers"].as_array().cloned().expect("workers");
        let tasks = self.tasks();
        let is_ours = |worker: &Value| tasks.iter().any(|task| worker["task"] == task.as_str());
        all.into_iter().filter(is_ours).collect()
    }

    /// How often there is a worker for each task.
    fn known_tasks(&self) -> BTreeMap<String, usize> {
        let mut known = BTreeMap::new();
        for worker in self.workers() {
            *known.entry(worker["task"].as_str().expect("a task").to_owned()).or_default() += 1;
        }
        known
    }

    fn worker(&self, letter: char) -> Option<Value> {
        let begin = self.task(letter, "");
        let mut all = self.workers().into_iter();
        all.find(|worker| worker["task"].as_str().is_some_and(|task| task.starts_with(&begin)))
    }

    #[track_caller]
    fn until(&self, letter: char, status: &str) {
        wait_until(self.stage.desk.home.path(), &format!("{letter} is {status}"), || {
            self.worker(letter).is_some_and(|worker| worker["status"] == status)
        });
    }

    /// Waits until the newest job is so, with its runs.
    #[track_caller]
    fn until_job(&self, what: &str, is_so: impl Fn(&Value, &[Value]) -> bool) {
        let name = &self.jobs.last().expect("a job").name;
        wait_until(self.stage.desk.home.path(), &format!("{name} {what}"), || {
            let list = self.stage.desk.json(&["cron", "list"]);
            let mut jobs = list["jobs"].as_array().expect("jobs").iter();
            let job = jobs.find(|job| job["name"] == name.as_str()).expect("the job");
            is_so(job, &history(&self.stage.desk, name))
        });
    }

    /// The next Backstory runs what waits; what was begun and lost is reported; then all is over, and nothing is left.
    fn put_right(&self) {
        let desk = &self.stage.desk;
        let _next = Daemon::start(desk, &format!("next-{}", self.moment));
        wait_until(desk.home.path(), "all is over", || {
            let all = self.workers();
            let runs: Vec<_> = self.jobs.iter().map(|job| history(desk, &job.name)).collect();
            let is_over = all.iter().all(|worker| worker["slot"].is_null())
                && runs.iter().all(|runs| is_last(runs, "over"));
            if !is_over {
                self.tend(&all);
            }
            is_over
        });
        for job in &self.jobs {
            let runs = history(desk, &job.name);
            assert_eq!(runs.len(), 1, "one moment is one run: {runs:?}");
            let outcome = runs[0]["outcome"].as_str().expect("an outcome");
            let is_explained =
                runs[0]["message"].as_str().is_some_and(|text| text.contains("killed in the middle"));
            assert!(outcome == "finished" || outcome == "failed" && is_explained, "{runs:?}");
        }
        for worker in self.workers() {
            self.check_worker(&worker);
        }
    }

    /// Its task was said once, and nothing is left of it.
    fn check_worker(&self, worker: &Value) {
        let task = worker["task"].as_str().expect("a task");
        let place = Path::new(worker["directory"].as_str().expect("a directory"));
        let file = self.stage.desk.transcript(place, worker["session_id"].as_str().expect("an id"));
        let said = if file.exists() { prompts(&file, task) } else { 0 };
        assert_eq!(said, 1, "how often {task} was said: {worker}");
        let alive = worker["pid"].as_u64().is_some_and(is_claude);
        assert!(!alive, "its process goes on: {worker}");
    }

    /// Does what a person does: answers, ends who waits for more (a daemon does that with the workers of jobs), and ends
    /// what was found living and cannot be heard any more.
    fn tend(&self, all: &[Value]) {
        answer_all(&self.stage.desk, all);
        for worker in all {
            if worker["is_living"] == true {
                worker["pid"].as_u64().into_iter().for_each(kill);
            }
            let is_of_job = self.jobs.iter().any(|job| worker["task"] == job.task.as_str());
            if worker["status"] == "idle" && !is_of_job {
                // It may have ended by itself meanwhile.
                let _ = self.stage.desk.backstory(&["stop", &worker["worker"].to_string()]);
            }
        }
    }
}

fn is_last(runs: &[Value], expected: &str) -> bool {
    runs.last().is_some_and(|run| run["status"] == expected)
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

#[expect(clippy::disallowed_methods, reason = "moments of a seeded length are what a long run is about")]
fn pass(time: Duration) {
    std::thread::sleep(time);
}

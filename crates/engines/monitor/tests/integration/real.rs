//! The real `claude`, in a terminal and in print mode, against the scripted model: what it does is what
//! `docs/activity.md` says, in each class of release.

use std::collections::HashSet;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use model::{Activity, Evidence, SessionEvent};
use monitor::{Listener, Monitor, MonitorSettings, Timers, WorkerSource};
use serde_json::json;
use testkit::recording::{ChangeKind, Recorder, Seen};
use testkit::{Answer, Claude, Gate, ModelServer, PATIENCE, ScratchHome, Script, Terminal};
use transcript::ConfigFolder;

use crate::recorded;

/// The question on a terminal before a tool runs.
const PROCEED: &str = "Do you want to proceed?";

#[expect(clippy::disallowed_methods, reason = "what is watched is real, and so is its time")]
fn clock() -> Timestamp {
    Timestamp::now()
}

/// A home with a project, watched from before anything happens.
struct Stage {
    home: ScratchHome,
    server: ModelServer,
    monitor: Monitor,
    listener: Listener,
    reported: Vec<String>,
    last: Option<String>,
    /// All that was expected, in order.
    table: Vec<String>,
    created: usize,
    terminal: Option<Rc<Terminal>>,
    recorder: Recorder,
    killed: Vec<Seen>,
    clerk: JoinHandle<Vec<(Timestamp, Timestamp)>>,
}

impl Stage {
    fn new(script: Script) -> Self {
        let home = ScratchHome::new();
        let settings = MonitorSettings {
            folders: vec![ConfigFolder::new(home.config_dir())],
            hooks: Some(home.state_dir().join("hooks")),
            timers: Timers::default(),
            poll: Duration::from_secs(1),
            events: true,
            clock,
        };
        let recorder = Recorder::start(&home.config_dir());
        let monitor = Monitor::start(settings, WorkerSource::none()).unwrap();
        let (_, listener) = monitor.listen(100_000).unwrap();
        let (_, heard) = monitor.listen(100_000).unwrap();
        Self {
            home,
            server: ModelServer::start(script),
            monitor,
            listener,
            reported: Vec::new(),
            last: None,
            table: Vec::new(),
            created: 0,
            terminal: None,
            recorder,
            killed: Vec::new(),
            clerk: std::thread::spawn(move || heard_of_registry(&heard)),
        }
    }

    fn open(&mut self, claude: &Claude, arguments: &[&str]) -> Rc<Terminal> {
        let shop = self.home.repository("shop").path().to_owned();
        let terminal = Rc::new(claude.open(&self.home, &self.server, &shop, arguments));
        self.terminal = Some(Rc::clone(&terminal));
        terminal
    }

    /// Waits for an event.
    #[track_caller]
    fn until(&mut self, what: &str, is_it: impl Fn(&SessionEvent) -> bool) {
        let began = Instant::now();
        while began.elapsed() < PATIENCE {
            let Some(event) = self.listener.next(Duration::from_millis(100)).unwrap() else { continue };
            self.take(&event);
            if is_it(&event) {
                return;
            }
        }
        let screen = self.terminal.as_ref().map(|terminal| terminal.screen()).unwrap_or_default();
        panic!("not heard within {PATIENCE:?}: {what}; but {:#?}\n{screen}", self.reported);
    }

    /// Answers a dialog by a key, which is pressed again while the dialog is shown: it takes none in its first moments.
    /// Then waits for a state.
    #[track_caller]
    fn answer(&mut self, terminal: &Terminal, dialog: &str, key: &str, expected: &str) {
        const TRIES: u32 = 60;
        terminal.until(|screen| screen.contains(dialog));
        for _ in 0..TRIES {
            if terminal.screen().contains(dialog) {
                terminal.key(key);
            }
            let began = Instant::now();
            while began.elapsed() < Duration::from_secs(2) {
                let Some(event) = self.listener.next(Duration::from_millis(100)).unwrap() else { continue };
                self.take(&event);
                if word(&event).is_some_and(|word| word == expected) {
                    return;
                }
            }
        }
        panic!(
            "not within {TRIES} tries of {key}: {expected}; but {:#?}\n{}",
            self.reported,
            terminal.screen()
        );
    }

    /// Waits for a state, written as `state E tool (detail)`.
    #[track_caller]
    fn until_state(&mut self, expected: &str) {
        let words = expected.to_owned();
        self.until(expected, |event| word(event).is_some_and(|word| word == words));
    }

    fn take(&mut self, event: &Arc<SessionEvent>) {
        self.created += usize::from(event.name() == "session-created");
        if let Some(word) = word(event).filter(|word| self.last.as_ref() != Some(word)) {
            self.last = Some(word.clone());
            self.reported.push(word);
        }
    }

    /// All states since the last look: those in brackets may be too short to be seen.
    #[track_caller]
    fn check(&mut self, expected: &[&str]) {
        let reported = std::mem::take(&mut self.reported);
        let expected: Vec<String> = expected.iter().map(|state| (*state).to_owned()).collect();
        assert!(
            recorded::are_as_reported(&reported, &expected),
            "reported {reported:#?}, and not {expected:#?}"
        );
        self.table.extend(expected);
    }

    /// Kills the process that the registry names, as nothing could prepare for it.
    fn kill(&mut self) {
        self.recorder.catch_up();
        for record in transcript::live_records(&self.home.config_dir().join("sessions")) {
            let pid = record.file_stem().unwrap().to_string_lossy().into_owned();
            let status = std::process::Command::new("kill").args(["-KILL", &pid]).status().unwrap();
            assert!(status.success());
            let file = Path::new("sessions").join(record.file_name().unwrap());
            self.killed.push(Seen { at: clock(), file, what: ChangeKind::Killed });
        }
    }

    /// The end of the play: what was recorded beside it gives the same states, by the rules alone. How late the
    /// registry's signs were reported, and how late one heard of them who only waits for the system's events.
    #[track_caller]
    fn end(self) -> (Lateness, Lateness) {
        drop((self.listener, self.monitor));
        let heard = self.clerk.join().unwrap();
        let mut seen = [self.recorder.stop(), self.killed].concat();
        seen.sort_by_key(|seen| seen.at);
        let replayed = recorded::states(&seen);
        assert!(
            recorded::are_as_reported(&replayed, &self.table),
            "live {:#?}; replayed {replayed:#?}",
            self.table
        );
        lateness(&seen, &heard)
    }
}

/// How late things were reported, in milliseconds, the least first.
type Lateness = Vec<i64>;

/// When each state that the registry vouches for was reported, and since when it is so.
fn heard_of_registry(listener: &Listener) -> Vec<(Timestamp, Timestamp)> {
    let mut heard = Vec::new();
    while let Ok(event) = listener.next(PATIENCE) {
        if let Some(SessionEvent::SessionActivity(activity)) = event.as_deref()
            && activity.evidence == Evidence::Registry
        {
            heard.extend(activity.since.map(|since| (since, clock())));
        }
    }
    heard
}

fn lateness(seen: &[Seen], heard: &[(Timestamp, Timestamp)]) -> (Lateness, Lateness) {
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    let mut known = HashSet::new();
    for Seen { at, what, .. } in seen {
        let ChangeKind::Content(content) = what else { continue };
        let Some(since) = transcript::RegisteredProcess::parse_record(content.as_bytes())
            .and_then(|live| live.status_since)
        else {
            continue;
        };
        let reported = heard.iter().find(|(of, _)| *of == since).filter(|_| known.insert(since));
        if let Some((_, reported)) = reported {
            ours.push(reported.as_millisecond() - since.as_millisecond());
            theirs.push(at.as_millisecond() - since.as_millisecond());
        }
    }
    ours.sort_unstable();
    theirs.sort_unstable();
    (ours, theirs)
}

/// The 95th percentile.
fn p95(late: &Lateness) -> i64 {
    late[(late.len() * 95).div_ceil(100) - 1]
}

fn word(event: &SessionEvent) -> Option<String> {
    let SessionEvent::SessionActivity(event) = event else { return None };
    Some(recorded::word(&Activity {
        state: event.state,
        evidence: event.evidence,
        since: event.since,
        tool: event.tool_name.clone(),
        detail: event.detail.clone(),
        asking: None,
    }))
}

fn bash(command: &str) -> serde_json::Value {
    json!({"command": command, "description": "Do a thing"})
}

/// The answers of the model in all the scenes of a terminal.
fn script([thinking, streaming, cut, summing, last]: &[Gate; 5]) -> Script {
    let agent = |background: bool, prompt: &str| json!({"description": "Count", "prompt": prompt, "subagent_type": "general-purpose", "run_in_background": background});
    let question = json!({"questions": [{"question": "Which colour?", "header": "Colour", "multiSelect": false, "options": [
        {"label": "Blue", "description": "Calm"}, {"label": "Red", "description": "Loud"}]}]});
    Script::new()
        .on("say hello", [Answer::text("Hello.")])
        .on("think first", [Answer::held(thinking).then_text("Hello.")])
        .on("stream for long", [Answer::text("Some").then_hold(streaming).then_text(" more.")])
        .on("never end", [Answer::text("Some").then_hold(cut)])
        .on("be quiet", [Answer::held(last)])
        .on(
            "read a file",
            [Answer::tool("Bash", bash("python3 -c 'import time; time.sleep(1.5)'")), Answer::text("Read.")],
        )
        .on("touch it", [Answer::tool("Bash", bash("touch made-it && rm -rf build")), Answer::text("Made.")])
        .on("ask me", [Answer::tool("AskUserQuestion", question), Answer::text("So be it.")])
        .on("send somebody", [Answer::tool("Agent", agent(true, "go and look")), Answer::text("Sent.")])
        .on(
            "go and look",
            [Answer::tool("Bash", bash("python3 -c 'import time; time.sleep(2)'")), Answer::text("Looked.")],
        )
        .on("<summary>", [Answer::held(summing).then_text("<summary>They said hello.</summary>")])
}

#[test]
fn a_terminal_of_2_1_330() {
    let gates = [(); 5].map(|()| Gate::new());
    let [thinking, streaming, cut, summing, last] = &gates;
    let mut stage = Stage::new(script(&gates));
    let terminal =
        stage.open(&Claude::newest(), &["--permission-mode", "default", "--allowedTools", "Bash(python3:*)"]);
    stage.until_state("waiting_input R");
    stage.check(&["waiting_input R"]);

    terminal.type_line("think first");
    stage.until_state("thinking R");
    thinking.wait_until_reached();
    thinking.open();
    stage.until_state("waiting_input R");
    stage.check(&["thinking R", "[responding R]", "waiting_input R"]);

    terminal.type_line("stream for long");
    stage.until_state("thinking R");
    streaming.wait_until_reached();
    streaming.open();
    stage.until_state("waiting_input R");
    stage.check(&["thinking R", "[responding R]", "waiting_input R"]);

    terminal.type_line("read a file");
    stage.until_state("tool_use R Bash");
    stage.until_state("waiting_input R");
    stage.check(&["[thinking R]", "tool_use R Bash", "[thinking R]", "[responding R]", "waiting_input R"]);

    let asked = ["[thinking R]", "[tool_use R Bash]", "[waiting_permission R]", "waiting_permission R Bash"];
    terminal.type_line("touch it");
    stage.until_state("waiting_permission R Bash");
    stage.check(&asked);
    stage.answer(&terminal, PROCEED, "Enter", "waiting_input R");
    stage.check(&["[tool_use R Bash]", "[thinking R]", "[responding R]", "waiting_input R"]);

    terminal.type_line("touch it");
    stage.until_state("waiting_permission R Bash");
    stage.check(&asked);
    stage.answer(&terminal, PROCEED, "Escape", "waiting_input R");
    stage.check(&["waiting_input R"]);

    terminal.type_line("ask me");
    stage.until_state("waiting_input R AskUserQuestion");
    stage.check(&[
        "[thinking R]",
        "[tool_use R AskUserQuestion]",
        "[waiting_input R (question)]",
        "waiting_input R AskUserQuestion",
    ]);
    stage.answer(&terminal, "Which colour?", "Enter", "waiting_input R");
    stage.check(&[
        "[tool_use R AskUserQuestion]",
        "[waiting_input R (question)]",
        "[thinking R]",
        "[responding R]",
        "waiting_input R",
    ]);

    terminal.type_line("never end");
    stage.until_state("thinking R");
    cut.wait_until_reached();
    // Once: a second Escape would open the list of earlier messages.
    terminal.key("Escape");
    stage.until_state("waiting_input R");
    stage.check(&["thinking R", "waiting_input R"]);

    terminal.type_line("send somebody");
    stage.until("spawned", |event| event.name() == "subagent-spawned");
    stage.until("completed", |event| event.name() == "subagent-completed");
    stage.until_state("waiting_input R");
    stage.check(&[
        "[thinking R]",
        "[responding R]",
        "tool_use R Agent",
        "[thinking R]",
        "[responding R]",
        "[tool_use R Agent]",
        // On a busy machine the moment between the agent's end and its turn is long enough to be seen.
        "[waiting_input R]",
        "[thinking R]",
        "[responding R]",
        "waiting_input R",
    ]);

    branch(&mut stage, &terminal);

    terminal.type_line("/compact");
    stage.until_state("thinking R");
    summing.wait_until_reached();
    summing.open();
    stage.until_state("waiting_input R");
    stage.check(&["thinking R", "waiting_input R"]);

    terminal.type_line("/clear");
    stage.until_state("ended R");
    stage.until_state("waiting_input R");
    stage.check(&["[thinking R]", "[waiting_input R]", "ended R", "[thinking R]", "waiting_input R"]);

    terminal.type_line("be quiet");
    stage.until_state("thinking R");
    last.wait_until_reached();
    stage.kill();
    stage.until_state("lost R");
    // The command itself is a short turn of the new session.
    stage.check(&["[thinking R]", "[waiting_input R]", "thinking R", "lost R"]);
    assert_eq!(stage.created, 3, "the first session, its branch, and the one after /clear");

    let (ours, theirs) = stage.end();
    println!("signs of the registry, behind its own statusUpdatedAt: p95 {} ms of {ours:?}", p95(&ours));
    println!("one who only waits for the system's events: p95 {} ms of {theirs:?}", p95(&theirs));
    // A machine that is busy with other things makes both late.
    assert!(p95(&ours) <= p95(&theirs) + 100, "{ours:?}, beside {theirs:?}");
    assert!(ours.len() >= 15, "{ours:?}");
}

/// The process continues in a copy of the session.
fn branch(stage: &mut Stage, terminal: &Terminal) {
    terminal.type_line("/branch");
    stage.until_state("ended R");
    stage.until_state("waiting_input R");
    // The turn that tells of the sub-agent before may be heard late.
    let late = ["[thinking R]", "[responding R]", "[waiting_input R]"];
    let branched =
        ["[thinking R]", "[waiting_input X]", "[thinking R]", "ended R", "[thinking R]", "waiting_input R"];
    stage.check(&[&late[..], &branched].concat());
    terminal.type_line("say hello");
    stage.until_state("thinking R");
    stage.until_state("waiting_input R");
    stage.check(&["thinking R", "[responding R]", "waiting_input R"]);
}

#[test]
fn a_terminal_of_2_1_100() {
    let gates = [(); 5].map(|()| Gate::new());
    let [thinking, streaming, cut, ..] = &gates;
    let mut stage = Stage::new(script(&gates));
    let terminal = stage
        .open(&Claude::v2_1_100(), &["--permission-mode", "default", "--allowedTools", "Bash(python3:*)"]);
    stage.until_state("waiting_input R");
    stage.check(&["waiting_input R"]);

    terminal.type_line("think first");
    stage.until_state("thinking X");
    thinking.wait_until_reached();
    thinking.open();
    stage.until_state("waiting_input X");
    stage.check(&["thinking X", "waiting_input X"]);

    terminal.type_line("stream for long");
    stage.until_state("thinking X");
    streaming.wait_until_reached();
    streaming.open();
    stage.until_state("waiting_input X");
    stage.check(&["thinking X", "waiting_input X"]);

    terminal.type_line("read a file");
    stage.until_state("tool_use X Bash");
    stage.until_state("waiting_input X");
    // On a busy machine it takes longer than seven seconds.
    let slow = "[waiting_permission T Bash]";
    stage.check(&["[thinking X]", "tool_use X Bash", slow, "[thinking X]", "waiting_input X"]);

    terminal.type_line("touch it");
    stage.until_state("waiting_permission T Bash");
    stage.check(&["[thinking X]", "tool_use X Bash", "waiting_permission T Bash"]);
    stage.answer(&terminal, PROCEED, "Escape", "waiting_input X");
    stage.check(&["[thinking X]", "waiting_input X"]);

    terminal.type_line("ask me");
    stage.until_state("waiting_input X AskUserQuestion");
    stage.answer(&terminal, "Which colour?", "Enter", "waiting_input X");
    stage.check(&["[thinking X]", "waiting_input X AskUserQuestion", "[thinking X]", "waiting_input X"]);

    terminal.type_line("/branch");
    stage.until_state("ended R");
    stage.check(&["[waiting_input X]", "ended R"]);
    terminal.type_line("say hello");
    stage.until_state("waiting_input X");
    stage.check(&["[waiting_input X]", "[thinking X]", "[responding X]", "waiting_input X"]);

    terminal.type_line("never end");
    stage.until_state("thinking X");
    cut.wait_until_reached();
    // Once: a second Escape would open the list of earlier messages.
    terminal.key("Escape");
    stage.until_state("waiting_input X");
    stage.check(&["thinking X", "[responding X]", "waiting_input X"]);
    stage.kill();
    stage.until_state("lost R");
    stage.check(&["lost R"]);
    stage.end();
}

#[test]
fn print_mode() {
    for (claude, sign) in [(Claude::newest(), 'R'), (Claude::v2_1_100(), 'X')] {
        let mut stage = Stage::new(script(&[(); 5].map(|()| Gate::new())));
        let shop = stage.home.repository("shop").path().to_owned();
        run(&stage, &claude, &shop, "say hello", "Hello.");
        stage.until_state("ended R");
        let with = |state: &str| state.replace('?', &sign.to_string());
        let text = [
            "[waiting_input R]",
            "[thinking ?]",
            "[responding ?]",
            // The process may still be busy when its answer is complete.
            "[thinking ?]",
            "[waiting_input ?]",
            "ended R",
        ]
        .map(with);
        stage.check(&text.each_ref().map(String::as_str));
        run(&stage, &claude, &shop, "read a file", "Read.");
        let tool = [
            // Events of the run before may be reported late.
            "[waiting_input ?]",
            "[waiting_input R]",
            "[thinking ?]",
            "tool_use ? Bash",
            "[waiting_permission T Bash]",
            "[thinking ?]",
            "[responding ?]",
            "[thinking ?]",
            "[waiting_input ?]",
            "ended R",
        ];
        stage.until_state("ended R");
        let tool = tool.map(with);
        stage.check(&tool.each_ref().map(String::as_str));
    }
}

fn run(stage: &Stage, claude: &Claude, shop: &Path, words: &str, answer: &str) {
    let arguments = ["-p", words, "--allowedTools", "Bash"];
    let run = claude.run(&stage.home, &stage.server, shop, &arguments).succeeded();
    let calls: Vec<_> = stage.server.calls().iter().map(|call| (call.rule.clone(), call.prompt())).collect();
    assert_eq!(run.answer(), answer, "{calls:?}");
}

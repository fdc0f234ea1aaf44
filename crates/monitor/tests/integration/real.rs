//! The real `claude`, in a terminal and in print mode, against the scripted model: what it does is what
//! `docs/activity.md` says, in each class of release.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use model::{Evidence, SessionEvent, State};
use monitor::{Listener, Monitor, Settings, Timers};
use serde_json::json;
use testkit::{Answer, Claude, Gate, ModelServer, ScratchHome, Script, Terminal};
use transcript::ConfigFolder;

/// How long a state may take to come.
const PATIENCE: Duration = Duration::from_mins(1);

#[expect(clippy::disallowed_methods, reason = "what is watched is real, and so is its time")]
fn clock() -> Timestamp {
    Timestamp::now()
}

/// A home with a project, watched from before anything happens.
struct Stage {
    home: ScratchHome,
    server: ModelServer,
    _monitor: Monitor,
    listener: Listener,
    told: Vec<String>,
    last: Option<String>,
    delays: Vec<i64>,
    created: usize,
}

impl Stage {
    fn new(script: Script) -> Self {
        let home = ScratchHome::new();
        let settings = Settings {
            folders: vec![ConfigFolder::new(home.config_dir())],
            hooks: Some(home.state_dir().join("hooks")),
            timers: Timers::default(),
            poll: Duration::from_secs(1),
            events: true,
            clock,
        };
        let monitor = Monitor::start(settings).unwrap();
        let (_, listener) = monitor.listen(100_000).unwrap();
        Self {
            home,
            server: ModelServer::start(script),
            _monitor: monitor,
            listener,
            told: Vec::new(),
            last: None,
            delays: Vec::new(),
            created: 0,
        }
    }

    fn open(&self, claude: &Claude, arguments: &[&str]) -> Terminal {
        claude.open(&self.home, &self.server, self.home.repository("shop").path(), arguments)
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
        panic!("not heard within {PATIENCE:?}: {what}; but {:#?}", self.told);
    }

    /// Presses a key until a state comes: a dialog takes none in its first moments.
    #[track_caller]
    fn press_until(&mut self, terminal: &Terminal, key: &str, expected: &str) {
        const TRIES: u32 = 10;
        for _ in 0..TRIES {
            terminal.key(key);
            let began = Instant::now();
            while began.elapsed() < Duration::from_secs(2) {
                let Some(event) = self.listener.next(Duration::from_millis(100)).unwrap() else { continue };
                self.take(&event);
                if word(&event).is_some_and(|word| word == expected) {
                    return;
                }
            }
        }
        panic!("not by {TRIES} times {key}: {expected}; but {:#?}\n{}", self.told, terminal.screen());
    }

    /// Waits for a state, told as `state E tool (detail)`.
    #[track_caller]
    fn until_state(&mut self, expected: &str) {
        let words = expected.to_owned();
        self.until(expected, |event| word(event).is_some_and(|word| word == words));
    }

    fn take(&mut self, event: &Arc<SessionEvent>) {
        self.created += usize::from(event.name() == "session-created");
        if let (SessionEvent::SessionActivity(activity), Some(word)) = (&**event, word(event)) {
            if activity.evidence == Evidence::Registry
                && activity.state != State::Lost
                && activity.state != State::Ended
            {
                self.delays
                    .extend(activity.since.map(|since| clock().as_millisecond() - since.as_millisecond()));
            }
            if self.last.as_ref() != Some(&word) {
                self.last = Some(word.clone());
                self.told.push(word);
            }
        }
    }

    /// All states since the last look: those in brackets may be too short to be seen.
    #[track_caller]
    fn check(&mut self, expected: &[&str]) {
        let told = std::mem::take(&mut self.told);
        let mut left = told.as_slice();
        for state in expected {
            let may_be_missed = state.strip_prefix('[').and_then(|state| state.strip_suffix(']'));
            let is_it = |word: &&String| may_be_missed.unwrap_or(state) == word.as_str();
            if left.first().as_ref().is_some_and(is_it) {
                left = &left[1..];
            } else {
                assert!(may_be_missed.is_some(), "`{state}` is missing: {told:#?}");
            }
        }
        assert!(left.is_empty(), "not expected: {left:#?} in {told:#?}");
    }
}

fn word(event: &SessionEvent) -> Option<String> {
    let SessionEvent::SessionActivity(event) = event else { return None };
    let evidence = match event.evidence {
        Evidence::Protocol => 'P',
        Evidence::Registry => 'R',
        Evidence::Hook => 'H',
        Evidence::Transcript => 'X',
        Evidence::Timer => 'T',
    };
    let tool = event.tool_name.as_ref().map(|tool| format!(" {tool}")).unwrap_or_default();
    let detail = event.detail.as_ref().filter(|_| event.tool_name.is_none() || tool.is_empty());
    let detail = detail.map(|detail| format!(" ({detail})")).unwrap_or_default();
    Some(format!("{} {evidence}{tool}{detail}", event.state.word()))
}

fn bash(command: &str) -> serde_json::Value {
    json!({"command": command, "description": "Do a thing"})
}

/// What the model says in all the scenes of a terminal.
fn script([thinking, streaming, cut]: &[Gate; 3]) -> Script {
    let agent = |background: bool, prompt: &str| json!({"description": "Count", "prompt": prompt, "subagent_type": "general-purpose", "run_in_background": background});
    let question = json!({"questions": [{"question": "Which colour?", "header": "Colour", "multiSelect": false, "options": [
        {"label": "Blue", "description": "Calm"}, {"label": "Red", "description": "Loud"}]}]});
    Script::new()
        .on("say hello", [Answer::text("Hello.")])
        .on("think first", [Answer::held(thinking).then_text("Hello.")])
        .on("stream for long", [Answer::text("Some").then_hold(streaming).then_text(" more.")])
        .on("never end", [Answer::text("Some").then_hold(cut)])
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
        .on_compaction("They said hello.")
}

#[test]
fn a_terminal_of_2_1_329() {
    let gates = [Gate::new(), Gate::new(), Gate::new()];
    let [thinking, streaming, cut] = &gates;
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
    stage.check(&["thinking R", "tool_use R Bash", "[thinking R]", "[responding R]", "waiting_input R"]);

    let asked = ["[thinking R]", "[tool_use R Bash]", "[waiting_permission R]", "waiting_permission R Bash"];
    terminal.type_line("touch it");
    stage.until_state("waiting_permission R Bash");
    stage.check(&asked);
    terminal.until(|screen| screen.contains("Do you want to proceed?"));
    stage.press_until(&terminal, "Enter", "waiting_input R");
    stage.check(&["[tool_use R Bash]", "[thinking R]", "[responding R]", "waiting_input R"]);

    terminal.type_line("touch it");
    stage.until_state("waiting_permission R Bash");
    stage.check(&asked);
    terminal.until(|screen| screen.contains("Do you want to proceed?"));
    stage.press_until(&terminal, "Escape", "waiting_input R");
    stage.check(&["waiting_input R"]);

    terminal.type_line("ask me");
    stage.until_state("waiting_input R AskUserQuestion");
    stage.check(&[
        "[thinking R]",
        "[tool_use R AskUserQuestion]",
        "[waiting_input R (question)]",
        "waiting_input R AskUserQuestion",
    ]);
    terminal.until(|screen| screen.contains("Which colour?"));
    stage.press_until(&terminal, "Enter", "waiting_input R");
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
    stage.press_until(&terminal, "Escape", "waiting_input R");
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
        "[thinking R]",
        "[responding R]",
        "waiting_input R",
    ]);

    terminal.type_line("/compact");
    stage.until_state("waiting_input R");
    stage.check(&["thinking R", "waiting_input R"]);

    terminal.type_line("/clear");
    stage.until_state("ended R");
    stage.until_state("waiting_input R");
    stage.check(&["[thinking R]", "ended R", "[thinking R]", "waiting_input R"]);

    terminal.type_line("never end");
    stage.until_state("thinking R");
    kill(&stage.home);
    stage.until_state("lost R");
    // The gate was opened by the interrupt before: this turn may end before the blow falls.
    stage.check(&["thinking R", "[waiting_input R]", "lost R"]);
    assert_eq!(stage.created, 2, "the first session, and the one after /clear");

    stage.delays.sort_unstable();
    let p95 = stage.delays[stage.delays.len() * 95 / 100];
    println!(
        "registry signs: {} of them, p95 {p95} ms behind statusUpdatedAt: {:?}",
        stage.delays.len(),
        stage.delays
    );
}

#[test]
fn a_terminal_of_2_1_100() {
    let gates = [Gate::new(), Gate::new(), Gate::new()];
    let [thinking, streaming, cut] = &gates;
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
    stage.press_until(&terminal, "Escape", "waiting_input X");
    stage.check(&["[thinking X]", "waiting_input X"]);

    terminal.type_line("ask me");
    stage.until_state("waiting_input X AskUserQuestion");
    terminal.until(|screen| screen.contains("Which colour?"));
    stage.press_until(&terminal, "Enter", "waiting_input X");
    stage.check(&["[thinking X]", "waiting_input X AskUserQuestion", "[thinking X]", "waiting_input X"]);

    terminal.type_line("never end");
    stage.until_state("thinking X");
    cut.wait_until_reached();
    stage.press_until(&terminal, "Escape", "waiting_input X");
    stage.check(&["thinking X", "[responding X]", "waiting_input X"]);
    kill(&stage.home);
    stage.until_state("lost R");
}

#[test]
fn print_mode() {
    for (claude, sign) in [(Claude::newest(), 'R'), (Claude::v2_1_100(), 'X')] {
        let mut stage = Stage::new(script(&[Gate::new(), Gate::new(), Gate::new()]));
        let shop = stage.home.repository("shop").path().to_owned();
        run(&stage, &claude, &shop, "say hello", "Hello.");
        stage.until_state("ended R");
        let with = |state: &str| state.replace('?', &sign.to_string());
        let text =
            ["[waiting_input R]", "[thinking ?]", "[responding ?]", "[waiting_input ?]", "ended R"].map(with);
        stage.check(&text.each_ref().map(String::as_str));
        run(&stage, &claude, &shop, "read a file", "Read.");
        let tool = [
            // What the transcript told of the run before may be heard late.
            "[waiting_input ?]",
            "[waiting_input R]",
            "[thinking ?]",
            "tool_use ? Bash",
            "[waiting_permission T Bash]",
            "[thinking ?]",
            "[responding ?]",
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

/// Kills the process that the registry names, as nothing could prepare for it.
fn kill(home: &ScratchHome) {
    let records = transcript::live_records(&home.config_dir().join("sessions"));
    for record in records {
        let pid = record.file_stem().unwrap().to_string_lossy().into_owned();
        let status = std::process::Command::new("kill").args(["-KILL", &pid]).status().unwrap();
        assert!(status.success());
    }
}

//! The real `claude`, in a terminal and in print mode, against the scripted model: what it does is what
//! `docs/activity.md` says, in each class of release.

use std::path::Path;

use serde_json::json;
use testkit::{Answer, Claude, Gate, Script, Terminal};

use crate::stage::Stage;

/// The question on a terminal before a tool runs.
const PROCEED: &str = "Do you want to proceed?";

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
    stage.answer(&terminal, "Calm", "Enter", "waiting_input R");
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
    stage.end();
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
    stage.answer(&terminal, "Calm", "Enter", "waiting_input X");
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

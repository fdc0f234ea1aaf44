//! Records what a release of Claude Code does in a terminal, for `tests/data`: `cargo run -p backstory-monitor
//! --example record -- PROGRAM [print|branch] > crates/engines/monitor/tests/data/RELEASE.jsonl`
//!
//! In print mode where the release's terminal cannot be driven here; with `/branch` where the release has it.
//! The model is scripted. Left out is what the vendor wrote into a transcript and what no rule looks at.

#![expect(clippy::print_stdout, reason = "it is a program that prints")]
#![expect(clippy::disallowed_methods, reason = "a person takes time, and so does who plays one")]
#![expect(clippy::expect_used, reason = "a recording that fails is none")]

use std::thread::sleep;
use std::time::Duration;

use serde_json::{Value, json};
use testkit::recording::{ChangeKind, Seen, written};
use testkit::{Answer, Claude, Gate, ModelServer, Recorder, ScratchHome, Script, Terminal};

fn main() {
    let program = std::env::args_os().nth(1).expect("the program of a release");
    let (streaming, cut) = (Gate::new(), Gate::new());
    let bash = |command: &str| json!({"command": command, "description": "Do a thing"});
    let script = Script::new()
        .on(
            "say hello",
            [Answer::thinking("Hm.").then_text("Hello").then_hold(&streaming).then_text(" there.")],
        )
        .on(
            "read a file",
            [
                Answer::tool("Bash", bash("python3 -c 'import time; time.sleep(1.5)'")),
                Answer::text("Read it."),
            ],
        )
        .on(
            "touch it",
            [Answer::tool("Bash", bash("touch made-it && rm -rf build")), Answer::text("Made it.")],
        )
        .on("never end", [Answer::text("Some").then_hold(&cut)]);
    let home = ScratchHome::new();
    let server = ModelServer::start(script);
    let recorder = Recorder::start(&home.config_dir());
    let shop = home.repository("shop").path().to_owned();
    let claude = Claude::at("another", program.into());
    let how = std::env::args().nth(2).unwrap_or_default();
    if how == "print" {
        streaming.open();
        for words in ["say hello", "read a file"] {
            let _ = claude
                .run(&home, &server, &shop, &["-p", words, "--allowedTools", "Bash(python3:*)"])
                .succeeded();
        }
    } else {
        let asking = ["--permission-mode", "default", "--allowedTools", "Bash(python3:*)"];
        let terminal = claude.open(&home, &server, &shop, &asking);
        play(&terminal, &streaming, &cut);
        if how == "branch" {
            branch(&terminal);
        }
        terminal.type_line("/exit");
        sleep(Duration::from_secs(3));
    }
    let seen = recorder.stop();
    let kept: Vec<Seen> = seen.into_iter().filter_map(|seen| kept(seen, &home)).collect();
    print!("{}", written(&kept));
}

fn play(terminal: &Terminal, streaming: &Gate, cut: &Gate) {
    terminal.type_line("say hello");
    streaming.wait_until_reached();
    sleep(Duration::from_secs(2));
    streaming.open();
    terminal.until(|screen| screen.contains("there."));
    sleep(Duration::from_secs(1));
    terminal.type_line("read a file");
    terminal.until(|screen| screen.contains("Read it."));
    sleep(Duration::from_secs(1));
    terminal.type_line("touch it");
    terminal.until(|screen| screen.contains("Do you want"));
    // Longer than the silence that is taken for a permission.
    sleep(Duration::from_secs(9));
    terminal.key("Enter");
    terminal.until(|screen| screen.contains("Made it."));
    sleep(Duration::from_secs(1));
    terminal.type_line("never end");
    cut.wait_until_reached();
    sleep(Duration::from_secs(1));
    terminal.key("Escape");
    terminal.until(|screen| screen.contains("nterrupted"));
    sleep(Duration::from_secs(1));
}

/// The same process continues in a copy of the session.
fn branch(terminal: &Terminal) {
    terminal.type_line("/branch");
    terminal.until(|screen| screen.contains("Branched"));
    sleep(Duration::from_secs(1));
    terminal.type_line("say hello again");
    sleep(Duration::from_secs(4));
}

fn kept(mut seen: Seen, home: &ScratchHome) -> Option<Seen> {
    let place = home.path().display().to_string();
    let slug = place.replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    let plain = |text: &str| text.replace(&place, "/home/sam").replace(&slug, "-home-sam");
    seen.file = plain(&seen.file.to_string_lossy()).into();
    seen.what = match seen.what {
        ChangeKind::Added(lines) => {
            let kept: String =
                lines.lines().filter(|line| is_looked_at(line)).map(|line| plain(line) + "\n").collect();
            (!kept.is_empty()).then_some(ChangeKind::Added(kept))?
        }
        ChangeKind::Content(content) => ChangeKind::Content(plain(&content)),
        other => other,
    };
    Some(seen)
}

/// What the vendor put there is no record of what a session does.
fn is_looked_at(line: &str) -> bool {
    let record: Value = serde_json::from_str(line).expect("a record");
    let kind = record["type"].as_str().unwrap_or_default();
    matches!(
        kind,
        "user" | "assistant" | "progress" | "queue-operation" | "permission-mode" | "cost-state" | "summary"
    ) || (kind == "system" && record["content"].as_str().is_none_or(|text| text.len() < 200))
}

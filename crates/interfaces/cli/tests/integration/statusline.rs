//! The status line: installed and taken out again, and shown by the real `claude`.

use std::fs;
use std::io::Write as _;
use std::process::Stdio;

use serde_json::{Value, json};
use testkit::files::bytes;
use testkit::{Answer, Claude, Script};

use crate::desk::Desk;

fn settings(desk: &Desk) -> Value {
    serde_json::from_slice(&bytes(&desk.home.config_dir().join("settings.json"))).unwrap()
}

#[test]
fn it_is_put_in_on_request_and_what_was_there_comes_back() {
    let desk = Desk::new(Claude::newest(), Script::new());
    let file = desk.home.config_dir().join("settings.json");
    let theirs =
        "{\n  \"statusLine\": {\"type\": \"command\",  \"command\": \"date\"},\n  \"model\": \"opus\"\n}";
    fs::write(&file, theirs).unwrap();
    let dry = desk.backstory(&["statusline", "install", "--dry-run"]).succeeded();
    assert!(dry.stdout.contains("statusline") && dry.stdout.contains("- "), "{}", dry.stdout);
    let unasked = desk.backstory(&["statusline", "install"]);
    assert_eq!((unasked.code, bytes(&file)), (Some(2), theirs.as_bytes().to_vec()));
    let change = |what: &str| desk.backstory(&["statusline", what, "--yes"]).succeeded();
    let _ = change("uninstall");
    assert_eq!(bytes(&file), theirs.as_bytes(), "another's stays");
    let _ = change("install");
    assert!(settings(&desk)["statusLine"]["command"].as_str().unwrap().ends_with("# backstory"));
    assert!(change("install").stdout.contains("already up to date"));
    let _ = change("uninstall");
    assert_eq!(bytes(&file), theirs.as_bytes());
    // Also where the person changed something else in between.
    let _ = change("install");
    let changed = String::from_utf8(bytes(&file)).unwrap().replace("opus", "sonnet");
    fs::write(&file, changed).unwrap();
    let _ = change("uninstall");
    let expected = json!({"statusLine": {"type": "command", "command": "date"}, "model": "sonnet"});
    assert_eq!(settings(&desk), expected);
    fs::remove_file(&file).unwrap();
    let _ = change("install");
    let _ = change("uninstall");
    assert!(!file.exists());
}

#[test]
fn whatever_it_is_given_it_prints_a_line_or_nothing() {
    let desk = Desk::new(Claude::newest(), Script::new());
    let no_folder = desk.home.write("no-folder", "");
    let line = |payload: &[u8]| {
        let mut command = desk.home.command(env!("CARGO_BIN_EXE_backstory"));
        // Neither unusable settings nor an unusable state are its business.
        command.arg("statusline").env("BACKSTORY_NO_SUCH_SETTING", "1").env("BACKSTORY_HOME", &no_folder);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let _ = child.stdin.take().unwrap().write_all(payload);
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let deep = "[".repeat(100_000);
    for odd in [&b""[..], b"{", b"[]", b"null", b"\xff\xfe", deep.as_bytes()] {
        assert_eq!(line(odd), "");
    }
    let project = desk.project("shop");
    desk.hold("22222222-bbbb", project.path());
    let record = json!({"pid": std::process::id(), "sessionId": "22222222-bbbb", "cwd": project.path(), "status": "waiting"});
    desk.home.write(".claude/sessions/22222222-bbbb.json", record.to_string());
    let payload = |session: &str| {
        let transcript = desk.home.config_dir().join("projects/-x").join(format!("{session}.jsonl"));
        json!({"session_id": session, "transcript_path": transcript, "model": {"display_name": "Opus\n5"}})
            .to_string()
    };
    assert_eq!(line(payload("11111111-aaaa").as_bytes()), "Opus 5 · \u{1b}[33m1 waits: shop\u{1b}[0m\n");
    assert_eq!(line(payload("22222222-bbbb").as_bytes()), "Opus 5\n", "itself does not count");
}

#[test]
fn claude_code_shows_it() {
    let desk = Desk::new(Claude::newest(), Script::new().on("say hello", [Answer::text("Hello.")]));
    let shop = desk.project("shop");
    let _ = desk.backstory(&["statusline", "install", "--yes"]).succeeded();
    let terminal = desk.claude.open(&desk.home, &desk.server, shop.path(), &[]);
    terminal.type_line("say hello");
    terminal.until(|screen| {
        screen.contains("Hello.")
            && screen.lines().any(|line| line.contains(" · context ") && line.contains(" · $0."))
    });
    let screen = terminal.screen();
    assert!(screen.contains("cache until "), "{screen}");
}

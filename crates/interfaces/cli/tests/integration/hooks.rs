//! Backstory's hooks are put into Claude Code's settings and taken out, and harm nobody in between.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};

use serde_json::{Value, json};
use testkit::files::{bytes, wait_until};
use testkit::{Answer, Claude, Script};

use crate::desk::Desk;

pub(crate) fn hooks(desk: &Desk, what: &str) {
    assert_eq!(desk.backstory(&["hooks", what, "--yes"]).code, Some(0), "{what}");
}

#[test]
fn hooks_are_put_in_once_and_taken_out_without_a_trace() {
    let desk = Desk::new(Claude::newest(), Script::new());
    let file = desk.home.config_dir().join("settings.json");
    let settings = "{\n  \"model\":  \"opus\",\n  \"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"true\"}]}]}\n}";
    fs::write(&file, settings).unwrap();
    let dry = desk.backstory(&["hooks", "install", "--dry-run"]).succeeded();
    assert!(dry.stdout.contains("+ ") && dry.stdout.contains("SessionStart"), "{}", dry.stdout);
    assert_eq!(bytes(&file), settings.as_bytes());
    let unasked = desk.backstory(&["hooks", "install"]);
    assert_eq!((unasked.code, bytes(&file)), (Some(2), settings.as_bytes().to_vec()));

    hooks(&desk, "install");
    let installed = bytes(&file);
    let again = desk.backstory(&["hooks", "install", "--yes"]).succeeded();
    assert!(again.stdout.contains("already up to date"));
    assert_eq!(bytes(&file), installed);
    assert_eq!(desk.json(&["hooks", "status"])["settings"][0]["missing"], json!([]));

    hooks(&desk, "uninstall");
    assert_eq!(bytes(&file), settings.as_bytes());

    // What the person changed in between stays.
    hooks(&desk, "install");
    let changed = String::from_utf8(bytes(&file)).unwrap().replace("opus", "sonnet");
    fs::write(&file, changed).unwrap();
    hooks(&desk, "uninstall");
    let left: Value = serde_json::from_slice(&bytes(&file)).unwrap();
    let expected: Value = serde_json::from_str(&settings.replace("opus", "sonnet")).unwrap();
    assert_eq!(left, expected);

    // A file that was not there before is not there afterwards.
    fs::remove_file(&file).unwrap();
    hooks(&desk, "install");
    hooks(&desk, "uninstall");
    assert!(!file.exists());
}

#[test]
fn a_hook_never_fails_claude_whatever_became_of_backstory() {
    let desk = Desk::new(Claude::newest(), Script::new().on("say hello", [Answer::text("Hello.")]));
    let shop = desk.project("shop");
    hooks(&desk, "install");
    let state = desk.home.state_dir();
    let hooks = state.join("hooks/events.jsonl");
    assert_eq!(desk.claude(shop.path(), &["-p", "say hello"]), "Hello.");
    wait_until(desk.home.path(), "a hook has reported something", || hooks.exists());
    // Its state is a file, its program is gone.
    fs::remove_dir_all(&state).unwrap();
    fs::write(&state, "not a folder").unwrap();
    assert_eq!(desk.claude(shop.path(), &["-p", "say hello"]), "Hello.");
    let settings = desk.home.config_dir().join("settings.json");
    let gone = String::from_utf8(bytes(&settings))
        .unwrap()
        .replace(env!("CARGO_BIN_EXE_backstory"), "/gone/backstory");
    fs::write(&settings, gone).unwrap();
    assert_eq!(desk.claude(shop.path(), &["-p", "say hello"]), "Hello.");
}

#[test]
fn settings_of_every_kind_are_as_they_were_afterwards() {
    let desk = Desk::new(Claude::newest(), Script::new());
    let file = desk.home.config_dir().join("settings.json");
    let kinds = [
        "",
        "{}",
        "{\n\t\"env\": {\"A\": \"}{\"}\n}\n",
        "{\r\n  \"model\": \"opus\",\r\n  \"hooks\": {}\r\n}\r\n",
        "{\"hooks\":{\"Stop\":[]},\"hooks\":{\"Stop\":[{\"hooks\":[]}]}}",
        "{ \"a\\u0062\": \"\\ud83d\\ude00 日本\", \"hooks\" : { \"PreToolUse\" : [ ] } }",
    ];
    for settings in kinds {
        fs::write(&file, settings).unwrap();
        hooks(&desk, "install");
        let installed = bytes(&file);
        assert_eq!(desk.json(&["hooks", "status"])["settings"][0]["missing"], json!([]), "{settings}");
        hooks(&desk, "install");
        assert_eq!(bytes(&file), installed, "{settings}");
        hooks(&desk, "uninstall");
        assert_eq!(bytes(&file), settings.as_bytes());
    }
    for settings in ["{\n  // mine\n}", "{\"a\":", "[]", "{\"hooks\":[]}", "{\"a\":1,}"] {
        fs::write(&file, settings).unwrap();
        let run = desk.backstory(&["hooks", "install", "--yes"]);
        assert_eq!((run.code, bytes(&file)), (Some(1), settings.as_bytes().to_vec()), "{}", run.stderr);
        assert!(
            run.stderr.contains("settings.json") && run.stderr.contains("fix it first"),
            "{}",
            run.stderr
        );
    }
}

#[test]
fn a_file_that_is_linked_to_or_may_not_be_written() {
    let desk = Desk::new(Claude::newest(), Script::new());
    let file = desk.home.config_dir().join("settings.json");
    let elsewhere = desk.home.path().join("dotfiles.json");
    fs::remove_file(&file).unwrap();
    symlink("../dotfiles.json", &file).unwrap();
    // What it links to may not be there yet.
    for settings in [Some("{\"model\": \"opus\"}"), None] {
        let _ = fs::remove_file(&elsewhere);
        if let Some(settings) = settings {
            fs::write(&elsewhere, settings).unwrap();
        }
        hooks(&desk, "install");
        assert!(elsewhere.is_file() && fs::read_link(&file).is_ok());
        hooks(&desk, "uninstall");
        assert_eq!(
            elsewhere.exists().then(|| bytes(&elsewhere)),
            settings.map(|text| text.as_bytes().to_vec())
        );
    }
    fs::remove_file(&file).unwrap();
    fs::write(&file, "{}").unwrap();
    fs::set_permissions(&file, Permissions::from_mode(0o400)).unwrap();
    let run = desk.backstory(&["hooks", "install", "--yes"]);
    assert_eq!((run.code, bytes(&file)), (Some(1), b"{}".to_vec()));
    assert!(run.stderr.contains("settings.json is read-only"), "{}", run.stderr);
}

#[test]
fn a_project_named_from_within() {
    let desk = Desk::new(Claude::newest(), Script::new());
    let shop = desk.project("shop");
    let run = |what: &str| {
        let mut command = desk.command(&["hooks", what, "--project", ".", "--yes"]);
        command.current_dir(shop.path());
        let _ = testkit::claude::Run::of(command).succeeded();
    };
    let file = shop.path().join(".claude/settings.json");
    run("install");
    assert!(String::from_utf8(bytes(&file)).unwrap().contains("# backstory"));
    run("uninstall");
    assert!(!file.exists());
}

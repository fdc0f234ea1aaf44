//! Sessions that were indexed, and deleted before they were copied: every command knows them, and says the same of them.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};
use testkit::claude::Run;
use testkit::{ScratchHome, Terminal, Transcript};

const PROGRAM: &str = env!("CARGO_BIN_EXE_backstory");
const LOST: &str = "a318ad73-0f3c-4d0e-8a51-1c7d2b9e4a60";
const LIVE: &str = "b6b20c21-0f3c-4d0e-8a51-1c7d2b9e4a60";

fn command(home: &ScratchHome, arguments: &[&str]) -> Command {
    let mut command = home.command(PROGRAM);
    command.args(arguments).env("BACKSTORY_ARCHIVE_ENABLED", "false");
    command
}

fn run(home: &ScratchHome, arguments: &[&str]) -> Run {
    Run::of(command(home, arguments))
}

fn json_of(home: &ScratchHome, arguments: &[&str]) -> Value {
    let run = run(home, &[arguments, &["--json"]].concat()).succeeded();
    serde_json::from_str(&run.stdout).unwrap()
}

/// A home in which the session that says most of walruses was deleted; `is_listed` before that.
fn home(is_listed: bool) -> ScratchHome {
    let home = ScratchHome::new();
    let cwd = home.dir("shop");
    let lost = Transcript::new(LOST)
        .cwd(cwd.clone())
        .prompt("Count the walrus colony")
        .answer("The walrus colony has eleven walruses; every walrus was counted.");
    let file = lost.write_to(&home);
    Transcript::new(LIVE)
        .cwd(cwd)
        .minutes_later(60)
        .prompt("Describe the tides")
        .answer("They are high, and a walrus swims in them.")
        .write_to(&home);
    let _ = run(&home, &["index"]).succeeded();
    if is_listed {
        let _ = run(&home, &["list"]).succeeded();
    }
    fs::remove_file(file).unwrap();
    home
}

#[test]
fn a_deleted_session_comes_after_those_that_can_be_read_with_what_is_known_of_it() {
    let home = home(true);
    for _ in 0..2 {
        let found = json_of(&home, &["search", "walrus colony"]);
        let hits = found["hits"].as_array().unwrap();
        let ids: Vec<&str> = hits.iter().map(|hit| hit["session_id"].as_str().unwrap()).collect();
        assert_eq!(ids, [LIVE, LOST]);
        let lost = &hits[1];
        assert_eq!(
            (&lost["title"], &lost["origin"]),
            (&json!("Count the walrus colony"), &json!("ghost")),
            "{lost}"
        );
        assert_eq!((&lost["project"], &lost["file_missing"]), (&json!("shop"), &json!(true)), "{lost}");
        assert!(lost["last_modified"].is_string(), "{lost}");
        // The catalog forgets what it keeps of files that are there.
        let _ = run(&home, &["list"]).succeeded();
    }
    let said = run(&home, &["search", "walrus colony"]).succeeded().stdout;
    assert!(said.contains("Count the walrus colony") && said.contains("deleted, no copy"), "{said}");
    assert!(!said.contains(&format!("resume {}", &LOST[..8])), "{said}");
}

#[test]
fn a_session_of_which_only_the_index_knows_has_a_date_and_no_promise() {
    let home = home(false);
    let said = run(&home, &["search", "counted colony"]).succeeded().stdout;
    assert!(said.contains("deleted, no copy"), "{said}");
    assert!(!said.contains("backstory resume") && !said.contains("backstory fork"), "{said}");
}

#[test]
fn every_command_says_the_same_of_it() {
    let home = home(true);
    let id = &LOST[..8];
    home.write("bin/claude", "#!/bin/sh\necho '2.1.330 (Claude Code)'\n");
    let claude = home.path().join("bin/claude");
    fs::set_permissions(claude, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let commands: [&[&str]; 6] = [
        &["resume", id],
        &["resume", id, "--print"],
        &["restore", id],
        &["fork", id, "--print"],
        &["run", "go on", "--resume", id],
        &["run", "go on", "--fork", id],
    ];
    for arguments in commands {
        let refused = run(&home, arguments);
        assert!(refused.code.is_some_and(|code| code != 0), "{arguments:?}");
        let why = "Claude Code deleted its transcript before Backstory kept a copy";
        assert!(
            refused.stderr.contains(why) && refused.stderr.contains(LOST),
            "{arguments:?}: {}",
            refused.stderr
        );
        assert!(
            refused.stderr.contains(&format!("backstory show {id}")),
            "{arguments:?}: {}",
            refused.stderr
        );
    }
    for named in [id.to_owned(), LOST.to_owned(), format!("{id}:2")] {
        let shown = run(&home, &["show", &named]).succeeded().stdout;
        assert!(shown.contains("Count the walrus colony") && shown.contains("Not left:"), "{named}: {shown}");
    }
    let listed = json_of(&home, &["list", id]);
    assert_eq!(
        (&listed["sessions"][0]["session_id"], &listed["sessions"][0]["origin"]),
        (&json!(LOST), &json!("ghost"))
    );
    assert_eq!(
        json_of(&home, &["list", "--origin", "ghost"])["sessions"][0]["title"],
        "Count the walrus colony"
    );
    let _ = run(&home, &["forget", id, "--yes"]).succeeded();
    assert_eq!(json_of(&home, &["search", "colony"])["hits"].as_array().map(Vec::len), Some(0));
    assert_ne!(run(&home, &["show", id]).code, Some(0), "it is forgotten");
}

#[test]
fn the_picker_does_not_offer_to_resume_it() {
    let home = home(true);
    let mut picker = command(&home, &[]);
    picker.env("TERM", "xterm-256color");
    let terminal = Terminal::run(&picker, 100, 30);
    terminal.until(|screen| screen.contains("Describe the tides"));
    terminal.paste("counted");
    terminal.until(|screen| screen.contains("Count the walrus") && screen.contains("1 session"));
    let screen = terminal.screen();
    assert!(screen.contains("deleted, no copy") && !screen.contains("Enter resume"), "{screen}");
    terminal.key("Enter");
    terminal.until(|screen| screen.contains("deleted it before it was copied"));
}

//! A session that cannot be continued: the error says why, and what to do instead.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, Stdio};

use serde_json::json;
use testkit::files::wait_until;
use testkit::{Claude, Script, Transcript};

use crate::desk::Desk;

const ID: &str = "11111111-1111-4111-8111-111111111111";

#[test]
fn a_session_that_2_1_330_holds_is_refused() {
    check_held(Claude::newest());
}

#[test]
fn a_session_that_2_1_100_holds_is_refused() {
    check_held(Claude::v2_1_100());
}

fn check_held(claude: Claude) {
    let desk = Desk::new(claude, Script::new());
    let shop = desk.project("shop");
    let mut holder = open_session(&desk, shop.path());
    let pid = registered_pid(&desk);
    // Claude Code writes a little after it has answered.
    let file = desk.transcript(shop.path(), ID);
    wait_until(desk.home.path(), "its transcript", || file.exists());

    let refused = desk.backstory(&["resume", ID, "--print"]);

    assert_eq!(refused.code, Some(6));
    assert_eq!(
        desk.plain(&refused.stderr),
        format!(
            "error: session {ID} is open in process {pid} in ~/shop\n  \
             continue it there, or end that process first\n  \
             continue a fork of it: backstory fork {}\n",
            &ID[..8]
        )
    );
    drop(holder.stdin.take());
    holder.wait().expect("the end of claude");
    assert_eq!(desk.backstory(&["resume", ID, "--print"]).code, Some(0));
}

/// A `claude` that has answered once and waits for more.
fn open_session(desk: &Desk, shop: &std::path::Path) -> Child {
    let mut command = desk.claude.command(&desk.home, &desk.server);
    command.args(["-p", "--verbose", "--input-format", "stream-json", "--output-format", "stream-json"]);
    command.args(["--session-id", ID]).current_dir(shop).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().expect("claude");
    let message = json!({"type": "user", "message": {"role": "user", "content": "say hello"}});
    writeln!(child.stdin.as_mut().expect("its input"), "{message}").expect("a message");
    let lines = BufReader::new(child.stdout.take().expect("its output")).lines();
    let mut lines = lines.map_while(Result::ok);
    assert!(lines.any(|line| line.contains(r#""type":"result""#)), "the first turn ended");
    // Its output goes on being read, so that it never waits for a reader.
    std::thread::spawn(move || lines.count());
    child
}

fn registered_pid(desk: &Desk) -> String {
    let registry = fs::read_dir(desk.home.config_dir().join("sessions")).expect("a registry");
    let names = registry.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    let pids: Vec<_> = names.filter_map(|name| name.strip_suffix(".json").map(str::to_owned)).collect();
    assert_eq!(pids.len(), 1);
    pids[0].clone()
}

/// The output of `resume` for a session whose transcript names this directory.
fn refused(directory: &str) -> (Desk, String) {
    let desk = Desk::new(Claude::newest(), Script::new());
    Transcript::new(ID).cwd(directory).prompt("Hello").answer("Hi").write_to(&desk.home);
    let refused = desk.backstory(&["resume", ID, "--print"]);
    assert_eq!((refused.code, refused.stdout.as_str()), (Some(1), ""), "{}", refused.stderr);
    (desk, refused.stderr)
}

#[test]
fn a_hostile_directory_gives_no_command_that_a_shell_misreads() {
    let (_, said) = refused("/nonexist/back\\'; touch PWN; #");
    assert!(said.contains(r"mkdir -p '/nonexist/back'\\\''; touch PWN; #'"), "{said}");
    for name in ["/nonexist/\n'; touch PWN; #", "/nonexist/\u{202e}gpj"] {
        let (_, said) = refused(name);
        assert!(said.contains("create the directory") && !said.contains("mkdir"), "{said}");
    }
}

#[test]
fn a_directory_that_is_there_is_not_printed_where_shells_would_misread_it() {
    let desk = Desk::new(Claude::newest(), Script::new());
    let directory = desk.home.dir("a\nb");
    Transcript::new(ID).cwd(&directory).prompt("Hello").answer("Hi").write_to(&desk.home);
    for asked in [&["resume", ID, "--print"][..], &["fork", ID, "--print"]] {
        let refused = desk.backstory(asked);
        assert_eq!((refused.code, refused.stdout.as_str()), (Some(1), ""), "{}", refused.stderr);
        assert!(refused.stderr.contains("without --print, the same command runs it"), "{}", refused.stderr);
    }
}

#[test]
fn a_relative_directory_is_nowhere() {
    for directory in ["-", "-P", "--help", "sub", "=ls"] {
        let desk = Desk::new(Claude::newest(), Script::new());
        // The person is in a directory with such a folder, and it is a repository.
        desk.home.repository(directory.trim_start_matches('='));
        desk.home.dir(directory);
        Transcript::new(ID).cwd(directory).prompt("Hello").answer("Hi").write_to(&desk.home);
        let refused = desk.backstory(&["resume", ID, "--print"]);
        assert_eq!((refused.code, refused.stdout.as_str()), (Some(1), ""), "{directory}");
        assert!(refused.stderr.contains("which is not an absolute path"), "{}", refused.stderr);
        let listed = desk.json(&["list"]);
        assert_eq!(listed["sessions"][0]["cwd"], directory, "{listed}");
        assert_eq!(listed["sessions"][0]["repo_path"], directory, "{listed}");
    }
}

#[test]
fn who_may_not_go_on_with_an_open_session_is_told_commands_that_work() {
    let desk = Desk::new(Claude::newest(), Script::new());
    let shop = desk.project("shop");
    Transcript::new(ID).cwd(shop.path()).prompt("Hello").answer("Hi").write_to(&desk.home);
    let check = |kind: &str, there: &str| {
        let held = json!({"pid": std::process::id(), "sessionId": ID, "cwd": shop.path(), "kind": kind});
        desk.home.write(".claude/sessions/1.json", held.to_string());
        let pid = std::process::id();
        let sent = desk.backstory(&["send", ID, "go on"]);
        let expected = format!(
            "error: session {ID} is open in process {pid}\n  \
             let a worker continue a fork of it: backstory run --fork {} <task>\n  {there}\n",
            &ID[..8]
        );
        assert_eq!((sent.code, sent.stderr), (Some(6), expected));
        let resumed = desk.backstory(&["resume", ID, "--print"]);
        assert_eq!(resumed.code, Some(6));
        assert!(resumed.stderr.contains(&format!("\n  {there}\n")), "{}", resumed.stderr);
    };
    check("interactive", "continue it there, or end that process first");
    check("bg", &format!("continue it there: backstory attach {}", &ID[..8]));
}

#[test]
fn a_directory_that_is_gone_is_explained() {
    let desk = Desk::new(Claude::newest(), Script::new());
    Transcript::new(ID)
        .cwd(desk.home.path().join("my tree"))
        .prompt("Hello")
        .answer("Hi")
        .write_to(&desk.home);
    let refused = desk.backstory(&["resume", ID]);
    assert_eq!(refused.code, Some(1));
    insta::assert_snapshot!(desk.plain(&refused.stderr), @r"
    error: session 11111111-1111-4111-8111-111111111111 started in ~/my tree, which is gone
      if it was moved or renamed, follow it: backstory heal 11111111
      or create the directory, and repeat the command: mkdir -p '~/my tree'
      continue a fork of it elsewhere: backstory fork 11111111 --in <directory>
    ");
}

#[test]
fn a_claude_that_cannot_fork_is_named_with_one_that_can() {
    let desk = Desk::new(Claude::newest(), Script::new());
    let shop = desk.project("shop");
    Transcript::new(ID).cwd(shop.path()).prompt("Hello").answer("Hi").write_to(&desk.home);
    let why_not = || desk.json(&["fork", ID])["results"][0]["why_not"].clone();
    assert_eq!(why_not(), serde_json::Value::Null);

    let claude = desk.home.path().join("bin/claude");
    fs::remove_file(&claude).expect("the link to claude");
    let old = desk.home.write("bin/claude", "#!/bin/sh\necho '1.0.60 (Claude Code)'\n");
    fs::set_permissions(old, fs::Permissions::from_mode(0o755)).expect("a script");
    insta::assert_snapshot!(why_not(), @r#""claude 1.0.60 cannot fork a session; install 1.0.128 or newer: npm install -g @anthropic-ai/claude-code@latest""#);
    assert_eq!(desk.backstory(&["fork", ID]).code, Some(1));
}

#[test]
fn the_last_session_is_found_by_the_catalog() {
    let desk = Desk::new(Claude::newest(), Script::new());
    let shop = desk.project("shop");
    Transcript::new(ID).cwd(shop.path()).prompt("Hello").answer("Hi").write_to(&desk.home);
    let run = desk.backstory(&["resume", "--last", "--print", "--", "--model", "opus"]).succeeded();
    assert_eq!(desk.plain(run.answer()), format!("cd ~/shop && claude --resume={ID} --model opus"));
    let run = desk.backstory(&["fork", "--last", "--print"]).succeeded();
    assert_eq!(desk.plain(run.answer()), format!("cd ~/shop && claude --resume={ID} --fork-session"));
}

#[test]
fn another_config_folder_goes_along() {
    let desk = Desk::new(Claude::newest(), Script::new());
    let shop = desk.project("shop");
    let other = desk.home.dir("other");
    Transcript::new(ID).cwd(shop.path()).prompt("Hello").answer("Hi").write_in(
        &other.join("projects").join(desk.home.project_folder(shop.path()).file_name().expect("a name")),
    );
    let mut command = desk.command(&["resume", ID, "--print"]);
    command.env("BACKSTORY_CLAUDE_FOLDERS", &other);
    let run = testkit::claude::Run::of(command).succeeded();
    assert_eq!(
        desk.plain(run.answer()),
        format!("cd ~/shop && CLAUDE_CONFIG_DIR=~/other claude --resume={ID}")
    );
}

#[test]
fn made_up_sessions_cannot_be_continued() {
    let desk = Desk::new(Claude::newest(), Script::new());
    for command in ["resume", "fork"] {
        let refused = desk.backstory(&[command, "1ba1de03", "--print", "--demo"]);
        assert_eq!(refused.code, Some(1), "{}", refused.stderr);
        assert!(refused.stderr.contains("demo sessions are made up"), "{}", refused.stderr);
        assert!(refused.stderr.contains("backstory show <id> --demo"), "{}", refused.stderr);
        assert_eq!(refused.stdout, "");
    }
}

#[test]
fn no_answer_at_all_is_not_what_anybody_asks_for() {
    let desk = Desk::new(Claude::newest(), Script::new());
    for arguments in [["search", "x", "--limit", "0"], ["fork", "x", "--limit", "0"]] {
        let refused = desk.backstory(&arguments);
        assert_eq!(refused.code, Some(2), "{}", refused.stderr);
        assert!(refused.stderr.contains("must be at least 1"), "{}", refused.stderr);
    }
}

#[test]
fn a_slip_of_the_hand_is_answered_with_what_is_near() {
    let desk = Desk::new(Claude::newest(), Script::new());
    Transcript::new(ID)
        .cwd(desk.home.path().join("shop"))
        .prompt("Quarantine the lighthouse")
        .answer("Done")
        .write_to(&desk.home);
    let answer = desk.json(&["search", "lihgthouse", "--mode", "lexical"]);
    assert_eq!(answer["hits"][0]["session_id"], ID);
    let note = "no session has the word `lihgthouse`: searched for `lighthouse`";
    assert_eq!(answer["notes"], json!([note]), "as it is written, not as it is in the index");
    let printed = desk.backstory(&["search", "lihgthouse", "--mode", "lexical"]).succeeded();
    assert!(printed.stdout.contains(note), "{}", printed.stdout);
    // A word that there is was not misspelt.
    let answer = desk.json(&["search", "dune", "--mode", "lexical"]);
    assert_eq!((&answer["hits"], &answer["did_you_mean"]), (&json!([]), &json!(["done"])));
    let printed = desk.backstory(&["search", "dune", "--mode", "lexical"]).succeeded();
    assert!(printed.stdout.contains("Did you mean `done`?"), "{}", printed.stdout);
    assert!(desk.json(&["search", "zzyzx", "--mode", "lexical"]).get("did_you_mean").is_none());
}

//! `--demo`: each process has made-up sessions of its own, and leaves nothing.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use serde_json::Value;
use testkit::claude::Run;
use testkit::files::wait_until;
use testkit::{ScratchHome, Terminal};

use crate::serving::{Browser, Server};

fn backstory(home: &ScratchHome, arguments: &[&str]) -> Command {
    let mut command = home.command(env!("CARGO_BIN_EXE_backstory"));
    command.args(arguments).arg("--demo");
    command
}

/// What demos have in the folder for short-lived files.
fn remains(home: &ScratchHome) -> Vec<String> {
    let scratch = fs::read_dir(home.dir(".tmp")).unwrap();
    let folders = scratch
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.display().to_string().contains("-demo-"));
    let inside = folders.flat_map(|folder| fs::read_dir(folder).unwrap());
    inside.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

fn signal(child: &Child, signal: &str) {
    assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
}

/// A demo that goes on until it is ended.
fn watch(home: &ScratchHome) -> Child {
    let mut command = backstory(home, &["watch", "--json"]);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut first = String::new();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    output.read_line(&mut first).unwrap();
    assert!(first.contains("sessions-refresh"), "{first}");
    child.stdout = Some(output.into_inner());
    child
}

#[test]
fn two_demos_at_once_do_not_meet_and_nothing_remains() {
    let home = ScratchHome::new();
    let ids = |server: &Server| {
        let browser = Browser::sign_in(server);
        let rows = browser.ask(server.bare("GET", "/api/v1/rows")).send().succeeded();
        let rows = rows["rows"].as_array().unwrap().clone();
        rows.into_iter().map(|row| row["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let [one, two] = [(); 2].map(|()| Server::start(&home, &["--demo"]));
    let known = ids(&one);
    assert!(known.len() >= 10, "{known:?}");
    assert_eq!(remains(&home).len(), 2);
    let (code, complaint) = one.stop();
    assert_eq!(code, Some(0), "{complaint}");
    assert_eq!(ids(&two), known);
    // A command beside it has the same sessions, and what it printed leads on.
    let listed = Run::of(backstory(&home, &["list", "--json"])).succeeded();
    let listed: Value = serde_json::from_str(&listed.stdout).unwrap();
    let id = listed["sessions"][0]["session_id"].as_str().unwrap();
    assert!(known.iter().any(|known| known == id), "{id}");
    let _ = Run::of(backstory(&home, &["show", id])).succeeded();
    let (code, complaint) = two.stop();
    assert_eq!(code, Some(0), "{complaint}");
    assert_eq!(remains(&home), Vec::<String>::new());
}

#[test]
fn commands_on_one_terminal_share_a_demo_that_goes_with_it() {
    let home = ScratchHome::new();
    let program = env!("CARGO_BIN_EXE_backstory");
    let mut shell = home.command("sh");
    shell.env("PAGER", "cat");
    let script = format!(
        "'{program}' search 'refresh token' --demo > found; '{program}' show @1 --demo > shown; echo shown $?; \
         '{program}' pick 'fix the token refresh' --repo harbor-api --demo > picked; \
         '{program}' pick --why-not 1ba1de03 --repo harbor-api --demo > why; echo why $?; \
         setsid --wait '{program}' show @1 --demo; echo elsewhere $?; exec cat"
    );
    shell.args(["-c", &script]);
    let terminal = Terminal::run(&shell, 100, 40);
    terminal.until(|screen| screen.contains("elsewhere"));
    let screen = terminal.screen();
    for said in ["shown 0", "why 0", "elsewhere 3"] {
        assert!(screen.contains(said), "{said}: {screen}");
    }
    assert_eq!(remains(&home).len(), 1, "the terminal's");
    drop(terminal);
    // The next demo removes what nobody can come back to.
    wait_until(home.path(), "the terminal's demo is removed", || {
        let _ = Run::of(backstory(&home, &["list"])).succeeded();
        remains(&home).is_empty()
    });
}

#[test]
fn the_example_of_the_readme_chooses_the_session_it_belongs_to() {
    let home = ScratchHome::new();
    let readme = include_str!("../../../../../README.md");
    let task = readme.split_once("backstory run \"").and_then(|(_, rest)| rest.split_once('"')).unwrap().0;
    for task in [task, "fix token refresh"] {
        let picked = Run::of(backstory(&home, &["pick", task, "--repo", "harbor-api", "--json"])).succeeded();
        let picked: Value = serde_json::from_str(&picked.stdout).unwrap();
        let session = picked["session_id"].as_str().unwrap_or_default();
        assert!(picked["action"] == "resume" && session.starts_with("1ba1de03"), "{task}: {picked}");
    }
}

#[test]
fn a_signal_that_ends_a_demo_leaves_nothing() {
    for ending in ["-INT", "-TERM", "-HUP"] {
        let home = ScratchHome::new();
        let mut watching = watch(&home);
        assert_eq!(remains(&home).len(), 1);
        signal(&watching, ending);
        let status = watching.wait().unwrap();
        assert!(status.code().is_none(), "the signal ended it: {status}");
        assert_eq!(remains(&home), Vec::<String>::new(), "{ending}");
    }
}

#[test]
fn what_a_killed_demo_left_is_removed_by_the_next_and_nothing_else() {
    let home = ScratchHome::new();
    let (mut living, mut killed) = (watch(&home), watch(&home));
    killed.kill().unwrap();
    killed.wait().unwrap();
    assert_eq!(remains(&home).len(), 2);
    let _ = Run::of(backstory(&home, &["list"])).succeeded();
    assert_eq!(remains(&home).len(), 1);
    signal(&living, "-TERM");
    living.wait().unwrap();
    assert_eq!(remains(&home), Vec::<String>::new());
}

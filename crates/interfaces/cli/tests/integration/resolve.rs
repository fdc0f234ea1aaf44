//! Names that a person types: an id, which must not become another one, and a project in any of its forms.

use std::path::Path;

use serde_json::{Value, json};
use testkit::claude::Run;
use testkit::{Claude, Script, Transcript};

use crate::desk::Desk;

const PARSER: &str = "3601d36e-b6c0-4e4b-9000-7b07e25374f7";
const TIDES: &str = "e6d03ad1-0f3c-4d0e-8a51-1c7d2b9e4a60";
const UNKNOWN: &str = "99999999-b6c0-4e4b-9000-7b07e25374f7";

/// Two sessions in two repositories; one of them was started in a folder of its repository.
fn desk() -> Desk {
    let desk = Desk::new(Claude::newest(), Script::new());
    for (id, repository, folder, prompt) in [
        (PARSER, "harbor", "harbor/src", "Write a parser for step 4"),
        (TIDES, "mono", "mono", "Show the tides of the harbor"),
    ] {
        desk.project(repository);
        let cwd = desk.home.dir(folder);
        Transcript::new(id).cwd(cwd).prompt(prompt).answer("Done.").write_to(&desk.home);
    }
    desk
}

#[test]
fn what_looks_like_an_id_never_becomes_another_session() {
    let desk = desk();
    for (id, near) in [("3601d36f", Some(PARSER)), ("3601d36f-b6c0-4e4b", Some(PARSER)), (UNKNOWN, None)] {
        for command in
            [&["resume", id, "--print"][..], &["fork", id, "--print"], &["fork", id, "--json", "--auto-fork"]]
        {
            let refused = desk.backstory(command);
            assert_eq!(refused.code, Some(3), "{command:?}: {}{}", refused.stdout, refused.stderr);
            assert_eq!(refused.stdout, "", "{command:?}");
            assert_eq!(near.is_some_and(|near| refused.stderr.contains(near)), near.is_some(), "{command:?}");
        }
    }
    insta::assert_snapshot!(desk.backstory(&["resume", "3601d36f"]).stderr, @r"
    error: no session id starts with `3601d36f`
      did you mean 3601d36e-b6c0-4e4b-9000-7b07e25374f7?  Write a parser for step 4
      `backstory list` lists all sessions with their ids
      to look for it as a commit: backstory search 3601d36f
    ");
    assert_eq!(desk.home.transcripts().len(), 2, "nothing was forked");
}

#[test]
fn words_that_a_session_answers_poorly_are_not_enough_to_resume_it() {
    let desk = desk();
    let run = desk.backstory(&["resume", "write a parser for step 4", "--print"]).succeeded();
    assert!(run.stdout.contains(PARSER), "{}", run.stdout);
    let poor = desk.backstory(&["resume", "the parser of baroque lute music", "--print"]);
    assert_eq!((poor.code, poor.stdout.as_str()), (Some(4), ""), "{}", poor.stderr);
    assert!(
        poor.stderr.contains("only one session matches these words") && poor.stderr.contains(&PARSER[..8]),
        "{}",
        poor.stderr
    );
}

fn json(desk: &Desk, directory: &Path, arguments: &[&str]) -> Value {
    let mut command = desk.command(&[arguments, &["--json"]].concat());
    command.current_dir(directory);
    let run = Run::of(command).succeeded();
    serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {}", run.stdout))
}

#[test]
fn a_project_is_named_by_any_path_into_it_in_every_command() {
    let desk = desk();
    let home = desk.home.path();
    std::os::unix::fs::symlink(home.join("harbor"), home.join("link")).expect("a link");
    let whole = home.join("harbor/src").display().to_string();
    let slug = desk.home.project_folder(&home.join("harbor")).file_name().expect("a name").to_owned();
    let slug = slug.to_string_lossy();
    let end = format!("{}/harbor", home.file_name().expect("a name").display());
    let ids = |answer: &Value, list: &str| -> Vec<String> {
        let all = answer[list].as_array().cloned().unwrap_or_default();
        let id = |one: &Value| one.get("session_id").or(one.get("sessionId")).cloned();
        all.iter().filter_map(id).filter_map(|id| id.as_str().map(str::to_owned)).collect()
    };
    for (directory, named) in [
        ("", "./harbor"),
        ("", "harbor"),
        ("", "link/"),
        ("mono", "../harbor/src"),
        ("harbor/src", ".."),
        ("harbor", "."),
        ("mono", &whole),
        ("mono", &slug),
        ("mono", &end),
    ] {
        let at = home.join(directory);
        for (command, list) in [
            (&["list", "--project", named][..], "sessions"),
            (&["list", "--repo", named], "sessions"),
            (&["search", "parser", "--project", named], "hits"),
            (&["search", &format!("parser project:{named}")], "hits"),
            (&["fork", "parser", "--project-path", named], "results"),
            (&["memory", "search", "parser", "--min-score", "0", "--project", named], "results"),
        ] {
            assert_eq!(ids(&json(&desk, &at, command), list), [PARSER], "{command:?} in {directory}");
        }
        let folder = desk.home.path().join("md").display().to_string();
        let written = json(&desk, &at, &["export", "--markdown", &folder, "--project", named]);
        assert_eq!(written["failed"], json!([]), "{written}");
        assert_eq!(
            written["written"].as_u64().zip(written["unchanged"].as_u64()).map(|(new, old)| new + old),
            Some(1),
            "{named}"
        );
    }
    let flag = desk.backstory(&["list", "--project", "--json"]);
    assert_eq!(flag.code, Some(2), "{}", flag.stderr);
}

#[test]
fn a_fork_is_looked_for_by_words_or_by_meaning() {
    let desk = desk();
    let found = |mode: &str, words: &str| desk.backstory(&["fork", words, "--mode", mode, "--json"]).code;
    assert_eq!(found("lexical", "grammar"), Some(3), "nobody said that word");
    assert_eq!(found("lexical", "parser"), Some(0));
    assert_eq!(found("semantic", "parser"), Some(0));
    assert_eq!(found("never", "parser"), Some(2));
}

//! An index that is asked while transcripts are looked for still answers from all that is there.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use serde_json::Value;
use testkit::{ScratchHome, Transcript};

fn found(home: &ScratchHome, question: &str) -> Vec<String> {
    let mut command = home.command(env!("CARGO_BIN_EXE_backstory"));
    let output = command.args(["search", "--json", question]).output().unwrap();
    let answer: Value = serde_json::from_slice(&output.stdout).expect("an answer");
    let hits = answer["hits"].as_array().expect("hits");
    let mut ids: Vec<_> = hits.iter().map(|hit| hit["session_id"].as_str().unwrap().to_owned()).collect();
    ids.sort_unstable();
    ids
}

#[test]
fn what_is_said_between_two_searches_is_found_by_the_second() {
    let home = ScratchHome::new();
    let say =
        |id: &str| Transcript::new(id).prompt("feed the walrus").answer("The walrus ate.").write_to(&home);
    for (at, question) in
        ["walrus", "walrus origin:native", "walrus since:2020-01-01"].into_iter().enumerate()
    {
        let known = found(&home, question);
        assert_eq!(known.len(), at, "{question}");
        assert_eq!(found(&home, question), known, "nothing is new: {question}");
        say(&format!("{at}1111111-aaaa"));
        assert_eq!(found(&home, question).len(), at + 1, "{question}");
    }
}

#[test]
fn an_index_that_lacks_nothing_says_so() {
    let home = ScratchHome::new();
    Transcript::new("01111111-aaaa").prompt("feed the walrus").answer("It ate.").write_to(&home);
    let is_up_to_date = || {
        let output = home.command(env!("CARGO_BIN_EXE_backstory")).arg("index").output().unwrap();
        String::from_utf8_lossy(&output.stdout).starts_with("The index is up to date.\n")
    };
    assert_eq!([is_up_to_date(), is_up_to_date()], [false, true]);
}

#[test]
fn one_who_watches_in_json_gets_an_object_a_line() {
    let home = ScratchHome::new();
    let say = |id: &str| Transcript::new(id).prompt("feed the walrus").answer("It ate.").write_to(&home);
    say("01111111-aaaa");
    let mut command = home.command(env!("CARGO_BIN_EXE_backstory"));
    let mut child = command.args(["index", "--watch", "--json"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = || -> Value { serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap() };
    assert_eq!(next()["files"], 1);
    say("11111111-aaaa");
    assert_eq!(next()["files"], 1);
    child.kill().unwrap();
    child.wait().unwrap();
}

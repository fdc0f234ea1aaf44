//! Which session wrote it: `blame` of files, lines and commits, with real git.

use serde_json::{Value, json};
use testkit::{Repository, ScratchHome, Transcript};

const WRITER: &str = "11111111-1111-4111-8111-111111111111";
const COMMITTER: &str = "22222222-2222-4222-8222-222222222222";

fn backstory(home: &ScratchHome, repository: &Repository<'_>, arguments: &[&str]) -> (i32, String) {
    let mut command = home.command(env!("CARGO_BIN_EXE_backstory"));
    let output = command.current_dir(repository.path()).args(arguments).output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.code().unwrap(), String::from_utf8(text).unwrap())
}

/// The sessions that `blame` names, each with what it did, and the whole answer.
#[track_caller]
fn blamed(home: &ScratchHome, repository: &Repository<'_>, what: &str) -> (Vec<(String, String)>, Value) {
    let (code, out) = backstory(home, repository, &["blame", what, "--json"]);
    assert_eq!(code, 0, "{out}");
    let answer: Value = serde_json::from_str(&out).unwrap();
    crate::schemas::check("answers", "blame", &answer);
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let sessions = answer["sessions"].as_array().unwrap();
    let named = sessions.iter().map(|session| (text(&session["session_id"]), text(&session["sign"])));
    (named.collect(), answer)
}

/// One session writes a line, another commits it.
fn work(home: &ScratchHome) -> (Repository<'_>, String) {
    let repository = home.repository("shop");
    repository.commit("src/price.rs", "fn price() {\n}\n", "A price");
    let hash = repository.commit("src/price.rs", "fn price() {\n    round(basket);\n}\n", "Round the prices");
    let file = repository.path().join("src/price.rs").display().to_string();
    let edit = json!({"file_path": file, "old_string": "{\n}", "new_string": "{\n    round(basket);\n}"});
    Transcript::new(WRITER)
        .cwd(repository.path())
        .at("2026-03-02T09:00:00Z")
        .prompt("Round the prices")
        .tool("Edit", edit, "Updated.")
        .answer("Rounded.")
        .write_to(home);
    let printed = format!("[main {}] Round the prices\n 1 file changed", &hash[..7]);
    Transcript::new(COMMITTER)
        .cwd(repository.path())
        .at("2026-03-03T09:00:00Z")
        .prompt("Commit this")
        .tool("Bash", json!({"command": "git commit -am 'Round the prices'"}), &printed)
        .answer("Committed.")
        .write_to(home);
    (repository, hash)
}

#[test]
fn a_file_a_line_and_a_commit() {
    let home = ScratchHome::new();
    let (repository, hash) = work(&home);
    let is = |id: &str, sign: &str| (id.to_owned(), sign.to_owned());
    let (file, answer) = blamed(&home, &repository, "src/price.rs");
    assert_eq!((file, answer["file"].as_str()), (vec![is(WRITER, "changed_file")], Some("src/price.rs")));
    let (line, answer) = blamed(&home, &repository, "src/price.rs:2");
    assert_eq!(line, [is(WRITER, "wrote_line"), is(COMMITTER, "made_commit")]);
    assert_eq!(
        (answer["commit"]["sha"].as_str(), answer["text"].as_str()),
        (Some(&*hash), Some("    round(basket);"))
    );
    for name in [&hash[..7], &hash, "HEAD"] {
        assert_eq!(blamed(&home, &repository, name).0, [is(COMMITTER, "made_commit")], "{name}");
    }
    // The cited place shows the edit.
    let place = format!("{WRITER}:{}", blamed(&home, &repository, "src/price.rs:2").1["sessions"][0]["line"]);
    assert!(backstory(&home, &repository, &["show", &place, "--tools"]).1.contains("round(basket)"));
}

#[test]
fn a_line_that_is_not_committed_is_found_by_its_text() {
    let home = ScratchHome::new();
    let (repository, _) = work(&home);
    std::fs::write(repository.path().join("src/price.rs"), "\n\nfn price() {\n  round(basket);\n}\n")
        .unwrap();
    let (line, answer) = blamed(&home, &repository, "src/price.rs:4");
    assert_eq!(line, [(WRITER.to_owned(), "wrote_line".to_owned())]);
    assert!(answer["commit"].is_null(), "{answer}");
}

#[test]
fn what_nobody_wrote() {
    let home = ScratchHome::new();
    let (repository, _) = work(&home);
    let check = |what: &str, code: i32, text: &str| {
        let (found, out) = backstory(&home, &repository, &["blame", what]);
        assert!(found == code && out.contains(text), "{what}: {found} {out}");
    };
    check("README.md", 0, "No session changed README.md with its tools.");
    check("HEAD~1", 0, "No session is known to have made this commit.");
    check("src/price.rs:99", 0, "git does not say which commit the line is from");
    check("src/gone.rs:3", 3, "there is no file");
    check("nonsense", 3, "there is no file and no commit `nonsense` here");
    check("gone.rs", 0, "No session changed gone.rs with its tools.");
}

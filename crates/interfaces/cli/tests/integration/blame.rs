//! Which session wrote it: `blame` of files, lines and commits, with real git.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use testkit::transcript::Lineage;
use testkit::{Repository, ScratchHome, Transcript};

const WRITER: &str = "11111111-1111-4111-8111-111111111111";
const COMMITTER: &str = "22222222-2222-4222-8222-222222222222";

fn backstory(home: &ScratchHome, directory: &Path, arguments: &[&str]) -> (i32, String) {
    let mut command = home.command(env!("CARGO_BIN_EXE_backstory"));
    let output = command.current_dir(directory).args(arguments).output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.code().unwrap(), String::from_utf8(text).unwrap())
}

/// The sessions that `blame` names, each with what it did, and the whole answer.
#[track_caller]
fn blamed(home: &ScratchHome, directory: &Path, what: &str) -> (Vec<(String, String)>, Value) {
    let (code, out) = backstory(home, directory, &["blame", what, "--json"]);
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
        .at("2026-01-01T09:00:00Z")
        .prompt("Round the prices")
        .tool("Edit", edit, "Updated.")
        .answer("Rounded.")
        .write_to(home);
    let printed = format!("[main {}] Round the prices\n 1 file changed", &hash[..7]);
    Transcript::new(COMMITTER)
        .cwd(repository.path())
        .at("2026-01-02T03:00:00Z")
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
    let (file, answer) = blamed(&home, repository.path(), "src/price.rs");
    assert_eq!((file, answer["file"].as_str()), (vec![is(WRITER, "changed_file")], Some("src/price.rs")));
    let (line, answer) = blamed(&home, repository.path(), "src/price.rs:2");
    assert_eq!(line, [is(WRITER, "wrote_line"), is(COMMITTER, "made_commit")]);
    assert_eq!(
        (answer["commit"]["sha"].as_str(), answer["text"].as_str()),
        (Some(&*hash), Some("    round(basket);"))
    );
    for name in [&hash[..7], &hash, "HEAD"] {
        assert_eq!(blamed(&home, repository.path(), name).0, [is(COMMITTER, "made_commit")], "{name}");
    }
    // The cited place shows the edit.
    let place =
        format!("{WRITER}:{}", blamed(&home, repository.path(), "src/price.rs:2").1["sessions"][0]["line"]);
    assert!(backstory(&home, repository.path(), &["show", &place, "--tools"]).1.contains("round(basket)"));
}

#[test]
fn a_line_that_is_not_committed_is_found_by_its_text() {
    let home = ScratchHome::new();
    let (repository, _) = work(&home);
    fs::write(repository.path().join("src/price.rs"), "\n\nfn price() {\n  round(basket);\n}\n").unwrap();
    let (line, answer) = blamed(&home, repository.path(), "src/price.rs:4");
    assert_eq!(line, [(WRITER.to_owned(), "wrote_line".to_owned())]);
    assert!(answer["commit"].is_null(), "{answer}");
}

#[test]
fn what_nobody_wrote() {
    let home = ScratchHome::new();
    let (repository, _) = work(&home);
    let check = |what: &str, code: i32, text: &str| {
        let (found, out) = backstory(&home, repository.path(), &["blame", what]);
        assert!(found == code && out.contains(text), "{what}: {found} {out}");
    };
    check("README.md", 0, "No session changed README.md with its tools.");
    check("HEAD~1", 0, "No session is known to have made this commit.");
    check("src/price.rs:99", 3, "src/price.rs has no line 99: it has 3 lines");
    check("src/price.rs:4", 3, "src/price.rs has no line 4: it has 3 lines");
    check("src/price.rs:0", 3, "src/price.rs has no line 0: lines are counted from 1");
    check("src/gone.rs:3", 3, "there is no file");
    check("nonsense", 3, "there is no file and no commit `nonsense` here");
    check("gone.rs", 0, "No session changed gone.rs with its tools.");
}

/// Writes a session that writes a file of this name, and the file itself.
fn write(home: &ScratchHome, id: &str, directory: &Path, name: &str, text: &str) -> Transcript {
    let path = directory.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, text).unwrap();
    let session = Transcript::new(id)
        .cwd(directory)
        .at("2026-01-01T08:00:00Z")
        .prompt("Write it")
        .tool("Write", json!({"file_path": path, "content": text}), "Written.")
        .answer("Written.");
    session.write_to(home);
    session
}

#[test]
fn a_file_of_the_same_name_is_another_file() {
    let home = ScratchHome::new();
    let (one, other) = (home.repository("one/shop"), home.repository("other/shop"));
    // The first commit says which repositories are the same.
    other.git(["commit", "--quiet", "--amend", "--allow-empty", "-m", "Another beginning"]);
    write(&home, WRITER, one.path(), "web/package.json", "\"license\": \"MIT\"\n");
    one.commit("package.json", "\"license\": \"MIT\"\n", "By hand");
    other.commit("web/package.json", "\"license\": \"MIT\"\n", "By hand");
    let writer = [(WRITER.to_owned(), "changed_file".to_owned())];
    for (directory, what) in [
        (one.path(), "package.json"),
        (one.path(), "package.json:1"),
        (other.path(), "web/package.json"),
        (other.path(), "web/package.json:1"),
    ] {
        assert_eq!(blamed(&home, directory, what).0, [], "{what} in {}", directory.display());
    }
    assert_eq!(blamed(&home, one.path(), "web/package.json").0, writer);
    let clone = home.path().join("clone");
    one.git(["clone", "--quiet", ".", &clone.display().to_string()]);
    assert_eq!(blamed(&home, &clone, "web/package.json").0, writer, "a clone is the same repository");
    fs::remove_file(one.path().join("web/package.json")).unwrap();
    assert_eq!(blamed(&home, one.path(), "web/package.json").0, writer, "it still has its repository");
    fs::remove_dir_all(other.path().join("web")).unwrap();
    assert_eq!(blamed(&home, other.path(), "web/package.json").0, []);
    let (found, answer) = blamed(&home, other.path(), "web/package.json");
    assert_eq!((found, &answer["elsewhere"]), (Vec::new(), &json!(1)));
    let (_, out) = backstory(&home, other.path(), &["blame", "web/package.json"]);
    let hint =
        "1 session of other repositories changed a file of this path: backstory list --file web/package.json";
    assert!(out.contains(hint), "{out}");
    // Where there is no file of a name or path, it may be one of another repository.
    assert_eq!(blamed(&home, home.path(), "./web/package.json").0, writer);
    let (found, answer) = blamed(&home, home.path(), "package.json");
    assert_eq!(found, writer);
    assert!(answer["notes"][0].as_str().unwrap().starts_with("there is no such file here"), "{answer}");
}

#[test]
fn a_file_outside_of_a_repository_goes_by_its_whole_path() {
    let home = ScratchHome::new();
    let (one, other) = (home.dir("one"), home.dir("other"));
    write(&home, WRITER, &one, "src/main.rs", "fn start_it() {}");
    write(&home, COMMITTER, &other, "src/main.rs", "fn start_it() {}");
    let is = |sign: &str| vec![(WRITER.to_owned(), sign.to_owned())];
    assert_eq!(blamed(&home, &one, "src/main.rs").0, is("changed_file"));
    let (line, answer) = blamed(&home, &one, "src/main.rs:1");
    assert_eq!((line, answer["notes"].as_array()), (is("wrote_line"), None));
    fs::remove_dir_all(one.join("src")).unwrap();
    assert_eq!(blamed(&home, &one, "src/main.rs").0, is("changed_file"));
}

#[test]
fn what_is_edited_after_a_commit_did_not_write_it() {
    let home = ScratchHome::new();
    let repository = home.repository("shop");
    repository.commit("m.py", "def a():\n    return None\n", "By hand");
    Transcript::new(WRITER)
        .cwd(repository.path())
        .at("2026-03-02T09:00:00Z")
        .prompt("Let b return None")
        .tool(
            "Edit",
            json!({"file_path": repository.path().join("m.py"), "old_string": "pass", "new_string": "return None"}),
            "Updated.",
        )
        .write_to(&home);
    let is = |sign: &str| vec![(WRITER.to_owned(), sign.to_owned())];
    assert_eq!(blamed(&home, repository.path(), "m.py:2").0, is("changed_file"));
    fs::write(repository.path().join("m.py"), "def b():\n  return None\n").unwrap();
    assert_eq!(blamed(&home, repository.path(), "m.py:2").0, is("wrote_line"), "it is not committed");
}

#[test]
fn a_forks_copy_of_the_edit_wrote_nothing() {
    let home = ScratchHome::new();
    let repository = home.repository("shop");
    let edit = |new: &str| {
        let path = repository.path().join("p.txt");
        json!({"file_path": path, "old_string": "", "new_string": new})
    };
    let parent = write(&home, WRITER, repository.path(), "p.txt", "the parent wrote this\n");
    parent
        .fork(COMMITTER, Lineage::RequestSession)
        .prompt("Go on")
        .tool("Edit", edit("the fork wrote that"), "Updated.")
        .write_to(&home);
    fs::write(repository.path().join("p.txt"), "the parent wrote this\nthe fork wrote that\n").unwrap();
    let is = |id: &str| vec![(id.to_owned(), "wrote_line".to_owned())];
    assert_eq!(blamed(&home, repository.path(), "p.txt:1").0, is(WRITER));
    assert_eq!(blamed(&home, repository.path(), "p.txt:2").0, is(COMMITTER));
    let changed = |id: &str| (id.to_owned(), "changed_file".to_owned());
    assert_eq!(blamed(&home, repository.path(), "p.txt").0, [changed(COMMITTER), changed(WRITER)]);
}

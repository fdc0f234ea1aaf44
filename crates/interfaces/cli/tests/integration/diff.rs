//! What a session changed: the patch of `diff`, tried by real git.

use std::io::Write as _;
use std::process::Stdio;

use serde_json::{Value, json};
use testkit::{Repository, ScratchHome, Transcript};

const ID: &str = "11111111-1111-4111-8111-111111111111";
const BEFORE: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\neleven\ntwelve\n";

fn backstory(home: &ScratchHome, arguments: &[&str]) -> (i32, String, String) {
    let output = home.command(env!("CARGO_BIN_EXE_backstory")).args(arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

#[track_caller]
fn printed(home: &ScratchHome, arguments: &[&str]) -> String {
    let (code, out, problem) = backstory(home, arguments);
    assert_eq!(code, 0, "{arguments:?}: {problem}");
    out
}

/// An edit with the tool's own record of it, as Claude Code writes it.
fn edit(session: Transcript, file: &str, original: &str, old: &str, new: &str) -> Transcript {
    let input = json!({"file_path": file, "old_string": old, "new_string": new});
    session.tool("Edit", input, "The file has been updated.").field(
        "toolUseResult",
        json!({
            "filePath": file, "oldString": old, "newString": new, "originalFile": original, "replaceAll": false,
            "structuredPatch": [], "userModified": false,
        }),
    )
}

fn write(session: Transcript, file: &str, content: &str) -> Transcript {
    let input = json!({"file_path": file, "content": content});
    session.tool("Write", input, "File created successfully").field(
        "toolUseResult",
        json!({"type": "create", "filePath": file, "content": content, "structuredPatch": [], "originalFile": null}),
    )
}

/// Two turns and a sub-agent, over two files of the repository, a new one and one elsewhere.
fn work(home: &ScratchHome, repository: &Repository<'_>) {
    let path = |name: &str| repository.path().join(name).display().to_string();
    let (a, b) = (path("src/a.txt"), path("src/b c.txt"));
    let session = Transcript::new(ID).cwd(repository.path()).prompt("Shout the second number");
    let session = edit(session, &a, BEFORE, "two", "TWO").answer("Done.").prompt("Now the rest");
    let session = edit(session, &a, &BEFORE.replace("two", "TWO"), "eleven\n", "");
    let session = write(session, &path("src/new.txt"), "fresh\nlines");
    let session = write(session, "/elsewhere/plan.md", "a plan\n");
    let session = session.tool("Bash", json!({"command": "gofmt -w ."}), "").tool(
        "Bash",
        json!({"command": "git status"}),
        "clean",
    );
    let session = session.failed_tool(
        "Edit",
        json!({"file_path": a, "old_string": "zzz", "new_string": "y"}),
        "String to replace not found in file.",
    );
    let session = session.subagent("general-purpose", "Change b", "Change b", |agent| {
        edit(agent, &b, "b\n", "b", "B").answer("Changed.")
    });
    session.answer("All done.").write_to(home);
}

fn repository(home: &ScratchHome) -> Repository<'_> {
    let repository = home.repository("shop");
    repository.commit("src/a.txt", BEFORE, "Numbers");
    repository.commit("src/b c.txt", "b\n", "A letter");
    repository
}

/// Lets git apply a patch.
#[track_caller]
fn apply(home: &ScratchHome, repository: &Repository<'_>, patch: &str, more: &[&str]) {
    let mut git = home.command("git");
    git.current_dir(repository.path()).arg("apply").args(more).stdin(Stdio::piped());
    let mut child = git.spawn().unwrap();
    child.stdin.take().unwrap().write_all(patch.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success(), "git refuses:\n{patch}");
}

fn content(repository: &Repository<'_>, name: &str) -> String {
    String::from_utf8(testkit::files::bytes(&repository.path().join(name))).unwrap()
}

#[test]
fn git_applies_the_patch_and_takes_it_back() {
    let home = ScratchHome::new();
    let repository = repository(&home);
    work(&home, &repository);
    let patch = printed(&home, &["diff", "1111"]);
    assert!(
        patch.contains("left out because they are outside") && patch.contains("/elsewhere/plan.md"),
        "{patch}"
    );
    assert!(patch.contains("# 1 shell command may have changed files, too"), "{patch}");
    apply(&home, &repository, &patch, &[]);
    assert_eq!(content(&repository, "src/a.txt"), BEFORE.replace("two", "TWO").replace("eleven\n", ""));
    assert_eq!(content(&repository, "src/new.txt"), "fresh\nlines");
    assert_eq!(content(&repository, "src/b c.txt"), "B\n");
    apply(&home, &repository, &patch, &["-R"]);
    assert_eq!(repository.git(["status", "--porcelain"]), "");
}

#[test]
fn git_applies_what_filled_an_empty_file() {
    let home = ScratchHome::new();
    let repository = repository(&home);
    repository.commit("empty", "", "Nothing yet");
    let session = Transcript::new(ID).cwd(repository.path()).prompt("Fill it").note(
        "file-history-snapshot",
        json!({
            "snapshot": {"trackedFileBackups": {"empty": {"backupFileName": "5f@v1", "version": 1}}},
            "isSnapshotUpdate": true,
        }),
    );
    let file = repository.path().join("empty").display().to_string();
    edit(session, &file, "", "", "full\n").answer("Done.").write_to(&home);
    apply(&home, &repository, &printed(&home, &["diff", ID]), &[]);
    assert_eq!(content(&repository, "empty"), "full\n");
}

#[test]
fn one_turn_or_one_file_alone() {
    let home = ScratchHome::new();
    let repository = repository(&home);
    work(&home, &repository);
    apply(&home, &repository, &printed(&home, &["diff", ID, "--turn", "1"]), &[]);
    assert_eq!(content(&repository, "src/a.txt"), BEFORE.replace("two", "TWO"));
    // The second turn follows the first.
    apply(&home, &repository, &printed(&home, &["diff", ID, "--turn", "2", "--file", "src/a.txt"]), &[]);
    assert_eq!(content(&repository, "src/a.txt"), BEFORE.replace("two", "TWO").replace("eleven\n", ""));
    assert_eq!(content(&repository, "src/b c.txt"), "b\n");
    let outside = printed(&home, &["diff", ID, "--file", "plan.md"]);
    assert!(outside.contains("+a plan"), "{outside}");
    let (code, _, problem) = backstory(&home, &["diff", ID, "--turn", "3"]);
    assert!(code == 3 && problem.contains("there is no turn 3; the session has 2"), "{code} {problem}");
    let (code, _, problem) = backstory(&home, &["diff", ID, "--file", "README.md"]);
    assert!(code == 3 && problem.contains("changed no file `README.md`"), "{code} {problem}");
}

#[test]
fn a_list_by_turn() {
    let home = ScratchHome::new();
    work(&home, &repository(&home));
    insta::assert_snapshot!("diff_stat", printed(&home, &["diff", ID, "--stat"]));
    let answer: Value = serde_json::from_str(&printed(&home, &["diff", ID, "--json"])).unwrap();
    crate::schemas::check("answers", "diff", &answer);
    let files: Vec<(&str, bool, u64, u64)> = answer["files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| {
            let number = |name: &str| file[name].as_u64().unwrap();
            (file["path"].as_str().unwrap(), file["is_new"] == true, number("added"), number("removed"))
        })
        .collect();
    let expected = [
        ("/elsewhere/plan.md", true, 1, 0),
        ("src/a.txt", false, 1, 2),
        ("src/b c.txt", false, 1, 1),
        ("src/new.txt", true, 2, 0),
    ];
    assert_eq!(files, expected);
}

/// Older sub-agents' files hold no record of a result: what is not recorded is said, and git passes over it.
#[test]
fn a_change_whose_place_is_not_recorded_is_a_comment() {
    let home = ScratchHome::new();
    let repository = repository(&home);
    let file = repository.path().join("src/a.txt").display().to_string();
    let input = json!({"file_path": file, "old_string": "two", "new_string": "TWO"});
    let session = Transcript::new(ID).cwd(repository.path()).prompt("Shout");
    let session = session.tool("Edit", input, "Updated.").field("toolUseResult", Value::Null).answer("Done.");
    session.write_to(&home);
    let patch = printed(&home, &["diff", ID]);
    assert!(patch.contains("# -two\n# +TWO\n"), "{patch}");
    assert!(!patch.contains("diff --git"), "{patch}");
}

#[test]
fn what_was_added_and_taken_back_is_no_change() {
    let home = ScratchHome::new();
    let repository = repository(&home);
    let file = repository.path().join("src/b c.txt").display().to_string();
    let added = json!({"file_path": file, "old_string": "b", "new_string": "b\nc"});
    let session = Transcript::new(ID).cwd(repository.path()).prompt("Add c, and take it back");
    let session = session.tool("Edit", added, "Updated.").field("toolUseResult", Value::Null);
    edit(session, &file, "b\nc\n", "b\nc", "b").answer("Done.").write_to(&home);
    let patch = printed(&home, &["diff", ID]);
    assert!(patch.contains("in the end nothing differs") && !patch.contains("diff --git"), "{patch}");
    let stat = printed(&home, &["diff", ID, "--stat"]);
    assert!(stat.contains("1 file changed, +0 -0"), "{stat}");
}

#[test]
fn a_secret_leaves_in_no_patch() {
    let secret = format!("gh{}{}", "p_", "Zq7Lm2Xv9Kd4Rt6Wb1Nc8Ys3Hf5Jg0PaQeUi");
    let home = ScratchHome::new();
    let repository = repository(&home);
    let file = repository.path().join("src/key.txt").display().to_string();
    let session = Transcript::new(ID).cwd(repository.path()).prompt("Keep the key");
    write(session, &file, &format!("token = \"{secret}\"\n")).answer("Done.").write_to(&home);
    for arguments in [["diff", ID, "--stat"].as_slice(), &["diff", ID], &["diff", ID, "--json"]] {
        let out = printed(&home, arguments);
        assert!(!out.contains(&secret), "{out}");
    }
    assert!(printed(&home, &["diff", ID]).contains("secrets are replaced, so the patch may not apply"));
}

#[test]
fn a_session_that_changed_nothing() {
    let home = ScratchHome::new();
    Transcript::new(ID).prompt("What is two and two?").answer("Four.").write_to(&home);
    assert_eq!(printed(&home, &["diff", ID]), "Session 11111111 changed no files with its tools.\n");
}

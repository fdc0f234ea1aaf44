//! `handoff`: what one session leaves to the next.

use serde_json::{Value, json};
use testkit::{ScratchHome, Transcript};

pub(crate) const ID: &str = "11111111-1111-4111-8111-111111111111";

pub(crate) fn home() -> ScratchHome {
    let home = ScratchHome::new();
    let shop = home.dir("shop");
    let edit = |file: &str| json!({"file_path": shop.join(file), "old_string": "a", "new_string": "b"});
    let todos = json!({"todos": [
        {"content": "Rotate on refresh", "status": "completed", "activeForm": "Rotating"},
        {"content": "Write the migration", "status": "pending", "activeForm": "Writing"},
    ]});
    Transcript::new(ID)
        .cwd(&shop)
        .branch("fix/refresh")
        .at("2026-03-02T09:00:00Z")
        .prompt("The refresh token is used twice; make the second use fail")
        .answer("I looked at it. The root cause is a race between two refreshes.\n\n```sh\ncargo test refresh\n```")
        .prompt("Don't touch the billing tables because they are shared")
        .answer("Agreed, let's go with a rotating token instead of a lock.")
        .tool("Edit", edit("src/token.rs"), "Updated.")
        .tool("Edit", edit("src/token.rs"), "Updated.")
        .tool("Edit", edit("src/lib.rs"), "Updated.")
        .failed_tool("Bash", json!({"command": "cargo test"}), "error[E0425]: cannot find value `now`")
        .tool("Bash", json!({"command": "cargo test"}), "test result: ok")
        .failed_tool("Bash", json!({"command": "sqlx migrate run"}), "error: no such file: migrations")
        .tool("Bash", json!({"command": "git commit -m 'Rotate tokens'"}), "[fix/refresh 1a2b3c4] Rotate tokens\n 1 file changed")
        .tool("TodoWrite", todos, "Todos have been modified")
        .answer("The token rotates. Next step: write the migration.")
        .write_to(&home);
    home
}

#[track_caller]
pub(crate) fn printed(home: &ScratchHome, arguments: &[&str]) -> String {
    let output = home.command(env!("CARGO_BIN_EXE_backstory")).args(arguments).output().unwrap();
    let problem = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {problem}");
    String::from_utf8(output.stdout).unwrap()
}

fn section(answer: &Value, name: &str) -> Vec<String> {
    let sections = answer["sections"].as_array().unwrap();
    let found = sections.iter().find(|section| section["name"] == name);
    let lines = found.map_or(&[][..], |section| section["lines"].as_array().unwrap());
    lines.iter().map(|line| line["text"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_slash_command_alone_is_no_goal() {
    let home = ScratchHome::new();
    let session = Transcript::new(ID)
        .prompt("<command-name>/superpowers:brainstorm</command-name>")
        .answer("What shall we do?");
    session.prompt("End sessions when their terminal closes").answer("Done.").write_to(&home);
    let answer: Value = serde_json::from_str(&printed(&home, &["handoff", ID, "--json"])).unwrap();
    assert_eq!(section(&answer, "goal"), ["End sessions when their terminal closes"]);
    assert_eq!(section(&answer, "requests"), ["/superpowers:brainstorm"]);
}

#[test]
fn a_handoff_has_what_the_next_session_needs() {
    let home = home();
    insta::assert_snapshot!("handoff", printed(&home, &["handoff", "1111"]));
    let answer: Value = serde_json::from_str(&printed(&home, &["handoff", "1111", "--json"])).unwrap();
    assert_eq!(section(&answer, "open_ends"), ["Write the migration", "Next step: write the migration."]);
    let errors = section(&answer, "errors");
    assert_eq!(errors.len(), 1, "what was done again with success is no error: {errors:?}");
    assert!(errors[0].contains("sqlx migrate run"), "{errors:?}");
    assert_eq!(section(&answer, "files"), ["src/token.rs (2 changes)", "src/lib.rs (1 change)"]);
    // Every place opens.
    for section in answer["sections"].as_array().unwrap() {
        for line in section["lines"].as_array().unwrap() {
            printed(&home, &["show", line["place"].as_str().unwrap()]);
        }
    }
}

#[test]
fn only_what_failed_last_is_handed_over() {
    let home = ScratchHome::new();
    let bash = |command: &str| json!({"command": command});
    Transcript::new(ID)
        .cwd(home.dir("shop"))
        .prompt("Rotate the refresh token")
        .failed_tool("Bash", bash("which sqlx"), "sqlx: not found")
        .answer("It is not installed.")
        .prompt("go on without it")
        .failed_tool("Bash", bash("cargo test refresh"), "error[E0425]")
        .answer("One is missing.")
        .prompt("then add it")
        .tool("Bash", bash("cd shop && cargo test"), "test result: ok")
        .failed_tool("Bash", bash("git push"), "error: no upstream")
        .answer("The bug is more subtle. The remaining 20 ms is the start of git.")
        .prompt("thanks")
        .answer("You are welcome.")
        .write_to(&home);
    let answer: Value = serde_json::from_str(&printed(&home, &["handoff", "1111", "--json"])).unwrap();
    let errors = section(&answer, "errors");
    assert!(errors.len() == 1 && errors[0].contains("git push"), "{errors:?}");
    assert_eq!(section(&answer, "decisions"), [""; 0]);
    let mut long = Transcript::new(ID).cwd(home.dir("shop")).prompt("Rotate the refresh token");
    long = long.failed_tool("Bash", bash("which sqlx"), "sqlx: not found");
    for number in 0..20 {
        long = long.tool("Bash", bash(&format!("cat src/{number}.rs")), "fn rotate() {}");
    }
    long.failed_tool("Bash", bash("git push"), "error: no upstream").answer("Done.").write_to(&home);
    let answer: Value = serde_json::from_str(&printed(&home, &["handoff", "1111", "--json"])).unwrap();
    let errors = section(&answer, "errors");
    assert!(errors.len() == 1 && errors[0].contains("git push"), "{errors:?}");
}

#[test]
fn a_small_budget_is_kept() {
    let home = home();
    let answer: Value =
        serde_json::from_str(&printed(&home, &["handoff", "1111", "--tokens", "245", "--json"])).unwrap();
    assert!(answer["tokens"].as_u64().unwrap() <= 245, "{answer:#}");
    assert!(answer["left_out"].as_u64().unwrap() > 0, "{answer:#}");
    assert!(!section(&answer, "goal").is_empty(), "{answer:#}");
    // What is missing is said: above the lines of its section, and at the end.
    let text = answer["text"].as_str().unwrap();
    assert!(text.contains("\n## Decided (1 of 2)\n"), "{text}");
    assert!(text.trim_end().lines().last().unwrap().starts_with("No room for"), "{text}");
    let sections = answer["sections"].as_array().unwrap();
    assert!(sections.iter().any(|section| section["left_out"] == 1), "{answer:#}");
}

#[test]
fn a_commit_that_printed_nothing_is_handed_over() {
    let home = ScratchHome::new();
    Transcript::new(ID)
        .cwd(home.dir("shop"))
        .prompt("Rotate the refresh token")
        .tool("Bash", json!({"command": "git commit -qam 'Rotate tokens'"}), "")
        .tool("Bash", json!({"command": "git commit -qam 'Again'"}), "nothing to commit, working tree clean")
        .answer("Committed.")
        .write_to(&home);
    let answer: Value = serde_json::from_str(&printed(&home, &["handoff", "1111", "--json"])).unwrap();
    assert_eq!(section(&answer, "commits"), ["Rotate tokens (its hash was not printed)"]);
}

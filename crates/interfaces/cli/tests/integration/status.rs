//! `status` over a real repository and its sessions.

use serde_json::{Value, json};
use testkit::{Claude, Script, Transcript};

use crate::desk::Desk;

const IDS: [&str; 2] = ["11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"];

#[expect(clippy::disallowed_methods, reason = "the program under test reads the clock")]
fn minutes_ago(minutes: i64) -> String {
    (jiff::Timestamp::now() - jiff::SignedDuration::from_mins(minutes)).to_string()
}

#[test]
fn every_field_is_there() {
    let desk = Desk::new(Claude::newest(), Script::new());
    let shop = desk.project("shop");
    shop.commit("src/a.rs", "fn a() {}\n", "A function");
    desk.home.write("shop/src/a.rs", "fn b() {}\n");
    desk.home.write("shop/docs/specs/one.md", "");
    desk.home.write("shop/TODO.md", "");
    for number in 0..7 {
        let prompt = if number == 6 { "[openclaw:agent=main]\n\npaint" } else { "a question" };
        Transcript::new(&format!("{number}1111111-1111-4111-8111-111111111111"))
            .cwd(shop.path())
            .at(&minutes_ago(600 - number))
            .prompt(prompt)
            .answer("An answer.")
            .write_to(&desk.home);
    }
    Transcript::new("elsewhere").cwd(desk.home.dir("other")).prompt("x").answer("y").write_to(&desk.home);
    let status = desk.json(&["status", "shop"]);
    let keys = |value: &Value| {
        value.as_object().map(|all| all.keys().cloned().collect::<Vec<_>>()).unwrap_or_default()
    };
    assert_eq!(
        keys(&status),
        ["active_files", "docs", "git", "problems", "repo", "schedules", "sessions", "timestamp"]
    );
    assert_eq!(status["repo"], json!({"path": shop.path(), "name": "shop", "is_git_repo": true}));
    let git = &status["git"];
    assert_eq!(
        (git["current_branch"].as_str(), git["head_commit_message"].as_str()),
        (Some("main"), Some("A function"))
    );
    assert_eq!(git["head_commit_sha"], git["recent_commits"][0]["sha"]);
    assert_eq!(git["uncommitted_changes"], json!(["src/a.rs", "TODO.md", "docs/"]));
    assert_eq!((git["staged_changes"].clone(), git["stash_count"].as_u64()), (json!([]), Some(0)));
    assert_eq!(git["recent_commits"][1]["author"], "Ana Tester");
    let docs = json!({
        "has_claude_md": false, "has_specs": true, "spec_files": ["docs/specs/one.md"], "has_todo": true, "has_readme": true
    });
    assert_eq!(status["docs"], docs);
    let count = |name: &str| status["sessions"][name].as_array().map(Vec::len);
    assert_eq!((count("active"), count("recent"), count("own_recent")), (Some(0), Some(5), Some(3)));
    let own = desk.json(&["status", "shop", "--agent", "main"]);
    assert_eq!(own["sessions"]["own_recent"].as_array().map(Vec::len), Some(1));
    assert_eq!(own["sessions"]["own_recent"][0]["agent_id"], "main");
    assert_eq!(desk.json(&["status", "shop/src"])["repo"], status["repo"]);
}

#[test]
fn two_live_sessions_in_one_file_are_warned_of() {
    let desk = Desk::new(Claude::newest(), Script::new());
    let shop = desk.project("shop");
    let file = shop.path().join("README.md");
    let edit = json!({"file_path": file, "old_string": "a", "new_string": "b"});
    for id in IDS {
        Transcript::new(id)
            .cwd(shop.path())
            .at(&minutes_ago(10))
            .prompt("change the README")
            .tool("Edit", edit.clone(), "done")
            .write_to(&desk.home);
    }
    let active_files = |desk: &Desk| desk.json(&["status", "shop"])["active_files"].clone();
    assert_eq!(active_files(&desk), json!([]), "nobody is there");
    desk.hold(IDS[0], shop.path());
    assert_eq!(active_files(&desk)[0]["sessions"], json!([IDS[0]]));
    let plain = desk.backstory(&["status", "shop"]).succeeded().stdout;
    assert!(plain.contains("README.md") && !plain.contains("warning"), "{plain}");
    desk.hold(IDS[1], shop.path());
    assert_eq!(active_files(&desk)[0]["file"], json!(file));
    assert_eq!(active_files(&desk)[0]["sessions"].as_array().map(Vec::len), Some(2));
    let plain = desk.backstory(&["status", "shop"]).succeeded().stdout;
    assert!(plain.contains("warning: 2 running sessions are writing to"), "{plain}");
}

#[test]
fn a_directory_that_is_no_repository_has_a_status_too() {
    let desk = Desk::new(Claude::newest(), Script::new());
    desk.home.dir("plain");
    let status = desk.json(&["status", "plain"]);
    assert_eq!(status["repo"]["is_git_repo"], false);
    assert_eq!(status.get("github"), None);
    let plain = desk.backstory(&["status", "plain"]).succeeded().stdout;
    assert!(plain.contains("not a git repository"), "{plain}");
}

//! `day`: what was done on a day, by project.

use serde_json::Value;
use testkit::{ScratchHome, Transcript};

const IDS: [&str; 2] = ["11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"];

#[track_caller]
pub(crate) fn printed(home: &ScratchHome, arguments: &[&str]) -> String {
    let output = home.command(env!("CARGO_BIN_EXE_backstory")).args(arguments).output().unwrap();
    let problem = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {problem}");
    String::from_utf8(output.stdout).unwrap()
}

#[track_caller]
pub(crate) fn json(home: &ScratchHome, name: &str, arguments: &[&str]) -> Value {
    let answer = serde_json::from_str(&printed(home, &[arguments, &["--json"]].concat())).unwrap();
    crate::schemas::check("answers", name, &answer);
    answer
}

/// Two projects, a pause, a day later, a commit, and a prompt that is asked twice.
pub(crate) fn home() -> ScratchHome {
    let home = ScratchHome::new();
    let shop = home.dir("shop");
    let commit = serde_json::json!({"command": "git commit -m 'Round prices'"});
    let edit = serde_json::json!({
        "file_path": shop.join("src/price.rs"), "old_string": "a", "new_string": "b"
    });
    Transcript::new(IDS[0])
        .cwd(&shop)
        .branch("fix/rounding")
        .at("2026-03-02T09:00:00Z")
        .prompt("Round the prices in the basket")
        .minutes_later(4)
        .tool("Edit", edit, "Updated.")
        .tool("Bash", commit, "[fix/rounding 1a2b3c4] Round prices\n 1 file changed")
        .answer("Rounded.")
        .minutes_later(90)
        .prompt("/clear")
        .prompt("Run the tests again")
        .minutes_later(2)
        .answer("All pass.")
        .at("2026-03-03T10:00:00Z")
        .prompt("Now the taxes")
        .answer("Done.")
        .write_to(&home);
    Transcript::new(IDS[1])
        .cwd(home.dir("blog"))
        .at("2026-03-02T08:00:00Z")
        .prompt("run the  tests again")
        .minutes_later(1)
        .answer("They pass.")
        .write_to(&home);
    home
}

#[test]
fn a_day_by_project() {
    let home = home();
    insta::assert_snapshot!("day", printed(&home, &["day", "2026-03-02"]));
    insta::assert_snapshot!(
        "days",
        printed(&home, &["day", "--since", "2026-03-02", "--until", "2026-03-03"])
    );
    let answer = json(&home, "day_summary", &["day", "2026-03-02"]);
    let shop = &answer["projects"][0];
    assert_eq!(
        (shop["project"].as_str(), answer["projects"][1]["project"].as_str()),
        (Some("shop"), Some("blog"))
    );
    let session = &shop["sessions"][0];
    assert_eq!(session["commits"][0]["hash"], "1a2b3c4");
    assert_eq!(session["files"], serde_json::json!([{"path": "src/price.rs", "edits": 1}]));
    assert_eq!(session["prompts"].as_array().map(Vec::len), Some(2));
    let minutes = session["active_seconds"].as_i64().unwrap() / 60;
    assert!((6..10).contains(&minutes), "the pause does not count: {minutes}");
}

#[test]
fn a_day_without_work_names_the_last_one_before() {
    let home = home();
    assert_eq!(
        printed(&home, &["day", "2026-03-09"]),
        "Monday, 9 March 2026\nNo session was active. The last active day before: `backstory day 2026-03-03`\n"
    );
    let only = json(&home, "day_summary", &["day", "2026-03-02", "--project", "blog"]);
    assert_eq!(only["projects"].as_array().map(Vec::len), Some(1));
}

#[test]
fn without_any_session_it_is_said_where_they_are_looked_for() {
    let home = ScratchHome::new();
    for arguments in [&["day"][..], &["cost"], &["cost", "--blocks"], &["blame", "price.rs"]] {
        let said = printed(&home, arguments);
        assert!(said.starts_with("There are no sessions in "), "{arguments:?}: {said}");
    }
}

/// What a fork copied was done once.
#[test]
fn the_copy_in_a_fork_counts_once() {
    let home = ScratchHome::new();
    let original = Transcript::new(IDS[0]).at("2026-03-02T09:00:00Z").prompt("Paint it").answer("Painted.");
    original.write_to(&home);
    original
        .fork(IDS[1], testkit::transcript::Lineage::ForkedFrom)
        .prompt("In blue")
        .answer("Blue.")
        .write_to(&home);
    let answer = json(&home, "day_summary", &["day", "2026-03-02"]);
    let sessions = answer["projects"][0]["sessions"].as_array().unwrap();
    let prompts: Vec<&str> = sessions
        .iter()
        .flat_map(|session| session["prompts"].as_array().unwrap())
        .filter_map(|prompt| prompt["text"].as_str())
        .collect();
    assert_eq!(prompts, ["Paint it", "In blue"]);
    let asked = json(&home, "prompts", &["prompts", "paint"]);
    assert_eq!((asked["known"].as_u64(), asked["prompts"][0]["times"].as_u64()), (Some(2), Some(1)));
    assert_eq!(asked["prompts"][0]["session_id"], IDS[0]);
}

#[test]
fn a_month_is_all_of_its_days() {
    let home = ScratchHome::new();
    for arguments in
        [&["day", "january", "--json"][..], &["day", "--until", "january", "--since", "january", "--json"]]
    {
        let answer: Value = serde_json::from_str(&printed(&home, arguments)).unwrap();
        let (since, until) = (answer["since"].as_str().unwrap(), answer["until"].as_str().unwrap());
        assert!(since.ends_with("-01-01") && until.ends_with("-01-31"), "{arguments:?}: {answer}");
    }
    let answer: Value = serde_json::from_str(&printed(&home, &["day", "january", "2025", "--json"])).unwrap();
    assert_eq!((&answer["since"], &answer["until"]), (&"2025-01-01".into(), &"2025-01-31".into()));
}

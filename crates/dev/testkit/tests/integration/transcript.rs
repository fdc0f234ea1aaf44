//! The transcript builder writes what the named release writes.

use serde_json::{Value, json};
use testkit::files::records;
use testkit::transcript::Lineage;
use testkit::{ScratchHome, Snapshot, Transcript};

const ID: &str = "33333333-3333-4333-8333-333333333333";
const FORK: &str = "44444444-4444-4444-8444-444444444444";

fn conversation(version: &str) -> Transcript {
    Transcript::new(ID)
        .version(version)
        .cwd("/home/ana/shop")
        .prompt("Why does the login fail?")
        .thinking("The token may be stale.")
        .answer("Let me look.")
        .tool("Bash", json!({"command": "grep -rn refresh src"}), "src/token.rs:12")
        .answer("The refresh never runs.")
}

fn lines(transcript: &Transcript) -> Vec<Value> {
    records(&transcript.write_to(&ScratchHome::new()))
}

#[track_caller]
fn check_types(transcript: &Transcript, expected: &[&str]) {
    let all = lines(transcript);
    let types: Vec<_> = all.iter().map(|line| line["type"].as_str().unwrap_or_default()).collect();
    assert_eq!(types, expected);
}

#[test]
fn a_message_has_one_record_for_each_block() {
    check_types(
        &conversation("2.1.329"),
        &["user", "assistant", "assistant", "assistant", "user", "assistant"],
    );
    check_types(&conversation("1.0.0"), &["user", "assistant", "user", "assistant"]);
}

#[test]
fn blocks_of_one_message_share_its_ids_and_are_linked() {
    let all = lines(&conversation("2.1.329"));
    let message =
        |at: usize| (&all[at]["message"]["id"], &all[at]["requestId"], &all[at]["message"]["usage"]);
    assert_eq!(message(1), message(3));
    assert_ne!(message(1).0, message(5).0);
    for pair in all.windows(2) {
        assert_eq!(pair[1]["parentUuid"], pair[0]["uuid"]);
    }
}

#[test]
fn output_tokens_are_where_each_release_writes_them() {
    let outputs = |version: &str| {
        let all = lines(&conversation(version));
        [1, 2, 3].map(|at| all[at]["message"]["usage"]["output_tokens"].as_u64().unwrap_or_default())
    };
    assert_eq!(outputs("2.1.329"), [21, 21, 21]);
    assert_eq!(outputs("2.0.77"), [1, 1, 21]);
    assert_eq!(outputs("2.1.20"), [1, 1, 1]);
}

#[test]
fn the_same_calls_give_the_same_bytes() {
    assert_eq!(conversation("2.1.329").bytes(), conversation("2.1.329").bytes());
    let first = &lines(&conversation("2.1.329"))[0];
    assert_eq!(first["timestamp"], "2026-11-20T09:00:00.000Z");
}

#[test]
fn results_are_between_the_calls_of_a_message_in_new_releases() {
    let tools = |version: &str| {
        let both = [("Read", json!({"file_path": "/a"}), "a"), ("Read", json!({"file_path": "/b"}), "b")];
        Transcript::new(ID).version(version).prompt("Read both.").parallel_tools(both)
    };
    check_types(&tools("2.1.329"), &["user", "assistant", "user", "assistant", "user"]);
    check_types(&tools("2.1.59"), &["user", "assistant", "assistant", "user", "user"]);
}

#[test]
fn print_mode_queues_its_prompts_and_a_prompt_during_work_has_no_user_record() {
    let prints = Transcript::new(ID).entrypoint("sdk-cli").prompt("Hello.");
    check_types(&prints, &["queue-operation", "queue-operation", "user"]);
    let types = ["user", "assistant", "queue-operation", "queue-operation", "attachment"];
    check_types(&Transcript::new(ID).prompt("One.").answer("So.").queued("Two."), &types);
}

#[test]
fn a_compaction_begins_a_new_root_that_names_the_old_end() {
    let before = conversation("2.1.329");
    let all = lines(&before.clone().compaction("Login was looked into.").prompt("Go on."));
    let [.., boundary, summary, prompt] = &all[..] else { panic!("too few records") };
    assert_eq!(boundary["parentUuid"], Value::Null);
    assert_eq!(boundary["logicalParentUuid"].as_str(), before.last_uuid().as_deref());
    assert_eq!((&summary["isCompactSummary"], &summary["parentUuid"]), (&json!(true), &boundary["uuid"]));
    assert_eq!(prompt["parentUuid"], summary["uuid"]);
}

#[test]
fn a_line_begins_with_its_type_and_ends_with_the_given_newline() {
    let bytes = Transcript::new(ID).title("Login").junk("{\"silly\":true}").torn("{\"type\":\"us").bytes();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    assert!(text.starts_with("{\"type\":\"custom-title\",\"customTitle\":\"Login\""), "{text}");
    assert!(text.ends_with("\n{\"silly\":true}\n{\"type\":\"us"), "{text}");
}

fn with_subagent(version: &str) -> Vec<String> {
    let home = ScratchHome::new();
    Transcript::new(ID)
        .version(version)
        .prompt("Count.")
        .subagent("general-purpose", "Count files", "Count all files.", |agent| agent.answer("One."))
        .answer("There is one.")
        .write_to(&home);
    let folder = home.project_folder("/home/ana/project".as_ref());
    let files = Snapshot::read(&folder);
    files.paths().iter().map(|path| path.display().to_string()).collect()
}

#[test]
fn subagents_are_kept_where_the_release_keeps_them() {
    let inline = with_subagent("1.0.128");
    assert_eq!(inline, [format!("{ID}.jsonl")]);

    let beside = with_subagent("2.0.77");
    assert_eq!((beside.len(), beside[1].starts_with("agent-a")), (2, true), "{beside:?}");

    let folder = with_subagent("2.1.20");
    assert_eq!(
        (folder.len(), folder[0].starts_with(&format!("{ID}/subagents/agent-a"))),
        (2, true),
        "{folder:?}"
    );

    let with_meta = with_subagent("2.1.329");
    assert!(with_meta.len() == 3 && with_meta[1].ends_with(".meta.json"), "{with_meta:?}");
}

#[test]
fn a_fork_copies_the_conversation_and_carries_its_mark() {
    let parent = conversation("2.1.329");
    let mark = |lineage: Lineage, field: &str| {
        let fork = lines(&parent.fork(FORK, lineage).prompt("Another way?"));
        assert_eq!(fork.len(), 7);
        assert_eq!(fork[0]["uuid"], lines(&parent)[0]["uuid"]);
        assert_eq!(fork[6][field], if field == "sessionId" { json!(FORK) } else { Value::Null });
        (fork[0][field].clone(), fork[1][field].clone())
    };
    assert_eq!(mark(Lineage::RequestSession, "requestSessionId"), (Value::Null, json!(ID)));
    assert_eq!(mark(Lineage::ForkedFrom, "forkedFrom").0["sessionId"], ID);
    assert_eq!(mark(Lineage::SharedUuids, "sessionId"), (json!(FORK), json!(FORK)));
    assert_eq!(mark(Lineage::ParentsSessionId, "sessionId"), (json!(ID), json!(ID)));
}

#[test]
fn the_total_equals_the_exit_record() {
    let all =
        conversation("2.1.329").subagent("Explore", "Look", "Look around.", |agent| agent.answer("Seen."));
    let total = all.total_usage();
    let costs = lines(&all.exit(0.25)).pop().unwrap_or_default();
    assert_eq!(costs["totalCostUSD"], 0.25);
    assert_eq!(costs["modelUsage"]["claude-opus-5-5"]["outputTokens"], total.output);
}

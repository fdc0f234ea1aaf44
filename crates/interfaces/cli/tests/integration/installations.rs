//! Several installations of OpenClaw, agents and spellings side by side: what is shown and changed is what was named.

use serde_json::{Value, json};
use testkit::ScratchHome;
use testkit::claude::Run;
use testkit::transcript::Transcript;

const KEY: &str = "agent:main:main";

fn backstory(home: &ScratchHome, variables: &[(&str, &str)], arguments: &[&str]) -> Run {
    let mut command = home.command(env!("CARGO_BIN_EXE_backstory"));
    command.args(arguments).envs(variables.iter().copied());
    Run::of(command)
}

#[track_caller]
fn json_of(home: &ScratchHome, variables: &[(&str, &str)], arguments: &[&str]) -> Value {
    let run = backstory(home, variables, &[arguments, &["--json"]].concat()).succeeded();
    serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {}", run.stdout))
}

fn store(state: &str) -> String {
    format!("{state}/agents/main/sessions/sessions.json")
}

fn content(home: &ScratchHome, path: &str) -> Value {
    serde_json::from_slice(&testkit::files::bytes(&home.path().join(path))).unwrap()
}

fn keys(answer: &Value) -> Vec<&str> {
    answer["sessions"].as_array().unwrap().iter().map(|row| row["key"].as_str().unwrap()).collect()
}

#[test]
fn an_installation_that_is_named_is_the_only_one() {
    let home = ScratchHome::new();
    let usual = json!({KEY: {"sessionId": "s1", "label": "real", "updatedAt": 1}});
    home.write(&store(".openclaw"), usual.to_string());
    let profile = json!({KEY: {"sessionId": "s2", "label": "dev", "updatedAt": 1}});
    home.write(&store(".openclaw-dev"), profile.to_string());
    let test = home.path().join("test");
    let by_folder = [("OPENCLAW_STATE_DIR", test.to_str().unwrap())];
    let by_profile = [("OPENCLAW_PROFILE", "dev")];

    assert_eq!(json_of(&home, &by_folder, &["store", "list"])["count"], 0);
    assert_eq!(backstory(&home, &by_folder, &["store", "set", KEY, "label=oops"]).code, Some(3));
    let created =
        backstory(&home, &by_folder, &["store", "set", KEY, "label=new", "--create"]).succeeded().stdout;
    assert!(created.contains(&format!("In {}, agent main.", test.display())), "{created}");
    assert_eq!(content(&home, &store("test"))[KEY]["label"], "new");

    let shown = backstory(&home, &by_profile, &["store", "show", KEY]).succeeded().stdout;
    assert!(shown.contains("label: dev") && shown.contains(".openclaw-dev, agent main."), "{shown}");
    let reset = backstory(&home, &by_profile, &["store", "reset", KEY]).succeeded().stdout;
    assert!(reset.contains(".openclaw-dev, agent main."), "{reset}");
    let deleted = backstory(&home, &by_folder, &["store", "delete", KEY]).succeeded().stdout;
    assert!(deleted.contains(&format!("In {}, agent main.", test.display())), "{deleted}");
    let pruned = backstory(&home, &by_profile, &["store", "prune", "--enforce"]).succeeded().stdout;
    assert!(pruned.contains(".openclaw-dev, agent main."), "{pruned}");
    assert_eq!(content(&home, &store(".openclaw")), usual, "nobody named it");

    let listed = backstory(&home, &[], &["store", "list"]).succeeded().stdout;
    assert!(listed.contains(".openclaw, agent main."), "{listed}");
}

#[test]
fn the_claude_sessions_of_other_installations_are_left_out() {
    let home = ScratchHome::new();
    let cwd = home.dir("projects/web");
    for id in ["of-real", "of-test", "of-person"] {
        let transcript = Transcript::new(id).cwd(&cwd).prompt("tune it").answer("ok");
        let path = home.project_folder(&cwd).join(format!("{id}.jsonl"));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, transcript.bytes()).unwrap();
    }
    for (state, id, cost) in [(".openclaw", "of-real", 0.5), ("test", "of-test", 0.25)] {
        let entry = json!({"sessionId": id, "createdAt": "2026-02-20T10:00:00Z", "totalCostUsd": cost});
        let registry = json!({"sessions": {cwd.display().to_string(): entry}});
        home.write(&format!("{state}/agents/main/claude-code-sessions.json"), registry.to_string());
    }
    let test = home.path().join("test");
    let named = [("OPENCLAW_STATE_DIR", test.to_str().unwrap())];
    let check = |variables: &[(&str, &str)], arguments: &[&str], expected: &[&str]| {
        let answer = json_of(&home, variables, &[&["cc", "list"], arguments].concat());
        let sessions = answer["sessions"].as_array().unwrap();
        let mut found: Vec<&str> = sessions.iter().map(|one| one["sessionId"].as_str().unwrap()).collect();
        found.sort_unstable();
        assert_eq!(found, expected, "{arguments:?}");
    };
    check(&[], &[], &["of-real"]);
    check(&named, &[], &["of-test"]);
    check(&named, &["--all"], &["of-person", "of-test"]);
    check(&named, &["--repo", cwd.to_str().unwrap()], &["of-person", "of-test"]);
    assert_eq!(json_of(&home, &named, &["cc", "costs"])["totalCost"], 0.25);
    assert_eq!(backstory(&home, &named, &["cc", "info", "of-real"]).code, Some(3));
}

#[test]
fn a_key_is_the_one_that_is_written() {
    let home = ScratchHome::new();
    let (upper, lower) = ("agent:main:slack:channel:C0ABC", "agent:main:slack:channel:c0abc");
    let text = json!({
        upper: {"sessionId": "s1", "label": "upper", "updatedAt": 1},
        lower: {"sessionId": "s2", "label": "lower", "updatedAt": 2},
        "agent:main:slack:channel:D1": {"sessionId": "s3", "updatedAt": 3},
    });
    home.write(&store(".openclaw"), text.to_string());
    let listed = json_of(&home, &[], &["store", "list"]);
    let ids: Vec<_> = listed["sessions"].as_array().unwrap().iter().map(|row| &row["sessionId"]).collect();
    assert_eq!(ids, ["s3", "s2", "s1"]);
    for (key, label) in [(upper, "upper"), (lower, "lower")] {
        assert_eq!(json_of(&home, &[], &["store", "get", key])["label"], label);
        assert_eq!(json_of(&home, &[], &["store", "show", key])["key"], key);
    }
    let _ = backstory(&home, &[], &["store", "set", upper, "label=changed"]).succeeded();
    let now = content(&home, &store(".openclaw"));
    assert_eq!((&now[upper]["label"], &now[lower]["label"]), (&json!("changed"), &json!("lower")));

    let refused = backstory(&home, &[], &["store", "reset", "agent:main:slack:channel:C0abc"]);
    assert!(refused.stderr.contains(upper) && refused.stderr.contains(lower), "{}", refused.stderr);
    assert_eq!(refused.code, Some(4));
    let only = json_of(&home, &[], &["store", "show", "AGENT:main:slack:channel:d1"]);
    assert_eq!(only["key"], "agent:main:slack:channel:D1");
    let checked = backstory(&home, &[], &["store", "check"]);
    assert_eq!(checked.code, Some(7));
    assert!(checked.stdout.contains("in case only"), "{}", checked.stdout);
}

#[test]
fn agents_and_keys_that_there_are_not_are_answered_with_those_that_there_are() {
    let home = ScratchHome::new();
    home.write(&store(".openclaw"), json!({KEY: {"sessionId": "s1", "updatedAt": 1}}).to_string());
    let coder = json!({"agent:coder:main": {"sessionId": "s2", "updatedAt": 2}});
    home.write(".openclaw/agents/coder/sessions/sessions.json", coder.to_string());
    for command in ["list", "check", "lock", "prune"] {
        let refused = backstory(&home, &[], &["store", command, "--agent", "codre"]);
        assert_eq!(refused.code, Some(3), "{command}");
        assert!(refused.stderr.contains("there is no agent `codre`"), "{}", refused.stderr);
        assert!(refused.stderr.contains("similar agents: coder"), "{}", refused.stderr);
    }
    let unknown = backstory(&home, &[], &["store", "show", "agent:main:mian"]).stderr;
    assert!(unknown.contains(KEY), "{unknown}");

    let all = json_of(&home, &[], &["store", "list", "--all-agents"]);
    assert_eq!(
        (&all["path"], &all["allAgents"], keys(&all)),
        (&Value::Null, &json!(true), vec!["agent:coder:main", KEY])
    );
    assert_eq!(all["stores"].as_array().map(Vec::len), Some(2), "{all}");
    let said = backstory(&home, &[], &["store", "list", "--all-agents"]).succeeded().stdout;
    assert!(said.contains("agent main.") && said.contains("agent coder."), "{said}");
}

#[test]
fn what_is_set_is_normalized_as_openclaw_does() {
    let home = ScratchHome::new();
    let entry = json!({"sessionId": "s1", "lastTo": "#a", "updatedAt": 1});
    home.write(&store(".openclaw"), json!({KEY: entry}).to_string());
    let set = |fields: &[&str]| backstory(&home, &[], &[&["store", "set", KEY], fields].concat());
    let stored = || content(&home, &store(".openclaw"))[KEY].clone();
    let _ = set(&["lastChannel=\" Slack \"", "lastThreadId=7.9"]).succeeded();
    let now = stored();
    assert_eq!((&now["lastChannel"], &now["lastThreadId"]), (&json!("slack"), &json!(7)));
    assert_eq!(now["deliveryContext"], json!({"channel": "slack", "to": "#a", "threadId": 7}));
    let _ = set(&["deliveryContext={\"channel\": \"imsg\", \"to\": \" you \"}"]).succeeded();
    let now = stored();
    assert_eq!((&now["lastChannel"], &now["lastTo"]), (&json!("imessage"), &json!("you")));
    assert!(now["lastThreadId"].is_null(), "{now}");
    let _ = set(&["lastTo=null"]).succeeded();
    assert_eq!(stored()["deliveryContext"], json!({"channel": "imessage"}));
    let refused = set(&["sessionId=../../etc"]);
    assert!(refused.code == Some(2) && refused.stderr.contains("`sessionId`"), "{}", refused.stderr);
    assert_eq!(stored()["sessionId"], "s1");
}

#[test]
fn a_bare_request_for_a_new_conversation_succeeds() {
    let home = ScratchHome::new();
    let entry = json!({"sessionId": "s1", "sdkSessionId": "c1", "inputTokens": 5, "systemSent": true, "updatedAt": 1});
    home.write(&store(".openclaw"), json!({KEY: entry}).to_string());
    let said = backstory(&home, &[], &["send", KEY, "/new"]).succeeded().stdout;
    assert!(said.contains("has a new conversation") && said.contains(".openclaw, agent main."), "{said}");
    let now = content(&home, &store(".openclaw"))[KEY].clone();
    assert!(now["sessionId"] != "s1" && now["sdkSessionId"].is_null(), "{now}");
    // What OpenClaw has just reset has no transcript yet, which is no problem.
    let reset = json!({"sessionId": "s2", "inputTokens": 5, "systemSent": false, "updatedAt": 1});
    home.write(&store(".openclaw"), json!({KEY: reset}).to_string());
    let _ = backstory(&home, &[], &["store", "check"]).succeeded();
}

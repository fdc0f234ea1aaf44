//! The sessions of OpenClaw's agents: `store`, `cc`, `send` to a key, and the real OpenClaw of both generations beside it.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};

use serde_json::{Value, json};
use testkit::claude::Run;
use testkit::openclaw::offline_models;
use testkit::{Answer, Claude, ModelServer, OpenClaw, ScratchHome, Script};

use crate::desk::Desk;

const STORE: &str = ".openclaw/agents/main/sessions/sessions.json";

fn backstory(home: &ScratchHome, arguments: &[&str]) -> Run {
    let mut command = home.command(env!("CARGO_BIN_EXE_backstory"));
    command.args(arguments);
    Run::of(command)
}

#[track_caller]
fn read(run: &Run) -> Value {
    let from = run.stdout.find(['{', '[']).map_or("", |at| &run.stdout[at..]);
    serde_json::from_str(from).unwrap_or_else(|error| panic!("{error}: {}\n{}", run.stdout, run.stderr))
}

#[track_caller]
fn json(home: &ScratchHome, arguments: &[&str]) -> Value {
    read(&backstory(home, &[arguments, &["--json"]].concat()))
}

fn stored(home: &ScratchHome) -> Value {
    serde_json::from_slice(&testkit::files::bytes(&home.path().join(STORE))).unwrap()
}

#[test]
fn a_store_is_shown_and_changed() {
    let home = ScratchHome::new();
    home.write(
        ".openclaw/openclaw.json",
        r#"{session: {sendPolicy: {rules: [{action: "allow", match: {channel: "slack"}}, {action: "deny", match: {chatType: "group"}}]}}}"#,
    );
    let text = "{\n  \"agent:main:slack:group:1\": {\n    \"sessionId\": \"s1\",\n    \"zeta\": [ 1.50 ],\n    \
                \"channel\": \"slack\",\n    \"updatedAt\": 1\n  }\n}";
    home.write(STORE, text);
    let key = "agent:main:slack:group:1";
    assert_eq!(json(&home, &["store", "list"])["sessions"][0]["kind"], "group");
    assert!(backstory(&home, &["store", "list"]).succeeded().stdout.contains(key));
    assert_eq!(json(&home, &["store", "get", "AGENT:main:slack:group:1"])["zeta"], json!([1.5]));
    assert_eq!(backstory(&home, &["store", "get", key, "channel"]).succeeded().stdout, "slack\n");

    let _ =
        backstory(&home, &["store", "set", key, "label=mine", "own={\"a\": 1}", "channel=null"]).succeeded();
    let whole = String::from_utf8(testkit::files::bytes(&home.path().join(STORE))).unwrap();
    assert!(
        whole.contains("\"zeta\": [ 1.50 ],\n    \"updatedAt\": ") && !whole.contains("channel"),
        "{whole}"
    );
    let wrong = backstory(&home, &["store", "set", key, "sendPolicy=maybe"]);
    assert!(wrong.code == Some(2) && wrong.stderr.contains("`sendPolicy`"), "{}", wrong.stderr);
    assert_eq!(backstory(&home, &["store", "set", "agent:main:new", "label=x"]).code, Some(3));

    let _ = backstory(&home, &["store", "set", key, "channel=slack"]).succeeded();
    let policy = json(&home, &["store", "policy", key]);
    assert_eq!(
        (&policy["decision"], &policy["rule"], &policy["other_strategy"]),
        (&json!("deny"), &json!(2), &json!("allow"))
    );
    let mut command = home.command(env!("CARGO_BIN_EXE_backstory"));
    command.args(["store", "policy", key]).env("BACKSTORY_OPENCLAW_SEND_STRATEGY", "first-match");
    let said = Run::of(command).succeeded().stdout;
    assert!(said.starts_with("allow: rule 1 of session.sendPolicy decides"), "{said}");
    assert!(said.contains("warning: with the strategy deny-wins it would be: deny"), "{said}");

    assert_eq!(json(&home, &["store", "lock"])["is_locked"], false);
    assert_eq!(json(&home, &["store", "check"])["sessions"], 1);
    assert_eq!(json(&home, &["store", "reset", key, "--dry-run"])["is_done"], false);
    let reset = json(&home, &["store", "reset", key]);
    assert_eq!((&reset["old_session_id"], &reset["is_done"]), (&json!("s1"), &json!(true)));
    assert_eq!(stored(&home)[key]["label"], "mine");
    assert_eq!(json(&home, &["store", "prune", "--dry-run"])["pruned"], json!([]));
    let _ = backstory(&home, &["store", "delete", key]).succeeded();
    assert_eq!(stored(&home), json!({}));
    assert_eq!(backstory(&home, &["store", "delete", key]).code, Some(3));
}

#[test]
fn conversations_are_listed_and_opened() {
    let home = ScratchHome::new();
    home.write(
        STORE,
        r#"{"agent:main:main": {"sessionId": "11fe5fbc", "label": "Tour", "updatedAt": 1770000000000}}"#,
    );
    let said = "{\"type\":\"session\",\"version\":3,\"id\":\"11fe5fbc\"}\n{\"type\":\"message\",\"id\":\"a1\",\"message\":{\"role\":\"user\",\"content\":\"Hello there\"}}\n";
    home.write(".openclaw/agents/main/sessions/11fe5fbc.jsonl", said);
    let listed = json(&home, &["list", "--origin", "openclaw"]);
    let row = &listed["sessions"][0];
    assert_eq!(
        (&row["session_id"], &row["kind"], &row["title"], &row["agent_id"]),
        (&json!("11fe5fbc"), &json!("conversation"), &json!("Tour"), &json!("main")),
        "{listed}"
    );
    assert_eq!(json(&home, &["list"])["sessions"], json!([]));
    let shown = backstory(&home, &["show", "openclaw:main/11fe"]).succeeded().stdout;
    assert!(shown.contains("Hello there"), "{shown}");
    assert_eq!(backstory(&home, &["show", "openclaw:coder/11fe"]).code, Some(3));
    assert_eq!(backstory(&home, &["show", "openclaw:11fe"]).code, Some(2));
}

#[test]
fn a_message_to_a_key_begins_a_session_and_later_goes_on_with_it() {
    let script = Script::new()
        .on("say hello", [Answer::text("Hello there.")])
        .on("and again", [Answer::text("Again.")]);
    let desk = Desk::new(Claude::newest(), script);
    let shop = desk.project("shop");
    let key = "agent:main:main";
    let send = |message: &str| -> Value {
        let mut command = desk.command(&["send", key, message, "--json"]);
        command.current_dir(shop.path());
        read(&Run::of(command).succeeded())
    };
    let entry = || -> Value {
        let file = desk.home.path().join(".clawcode/agents/main/sessions/sessions.json");
        serde_json::from_slice::<Value>(&testkit::files::bytes(&file)).unwrap()[key].clone()
    };
    let first = send("say hello");
    let id = first["session_id"].clone();
    let kept = entry();
    assert_eq!((&kept["sdkSessionId"], &kept["cliSessionIds"]["claude-cli"]), (&id, &id), "{kept}");
    let conversation = kept["sessionId"].as_str().unwrap();
    let side = format!(".clawcode/agents/main/sessions/{conversation}.jsonl.claude-sdk.json");
    let side: Value = serde_json::from_slice(&testkit::files::bytes(&desk.home.path().join(side))).unwrap();
    assert_eq!(side["resumeSessionId"], id);

    let worker = first["worker"].to_string();
    testkit::files::wait_until(desk.home.path(), "the first answer", || {
        desk.json(&["workers"])["workers"][0]["status"] == "idle"
    });
    let _ = desk.backstory(&["stop", &worker]).succeeded();
    let second = send("and again");
    assert_eq!((&second["session_id"], &second["resumed"]), (&id, &json!(true)), "{second}");
    let _ = desk.backstory(&["stop", &second["worker"].to_string()]);

    let _ = backstory(&desk.home, &["store", "reset", key]).succeeded();
    let reset = entry();
    assert!(reset["sdkSessionId"].is_null() && reset["cliSessionIds"].is_null(), "{reset}");
    let third = send("say hello");
    assert_ne!(third["session_id"], id);
    assert_eq!(entry()["sdkSessionId"], third["session_id"]);
    let _ = desk.backstory(&["stop", &third["worker"].to_string()]);
}

/// The rows of a list without what changes by itself.
fn rows(answer: &Value) -> Vec<Value> {
    let mut rows = answer["sessions"].as_array().expect("sessions").clone();
    for row in &mut rows {
        row.as_object_mut().expect("a row").remove("ageMs");
    }
    rows
}

/// A process that counts up `theirs` of this entry with the function of OpenClaw, so many times.
fn counting(home: &ScratchHome, claw: &OpenClaw, key: &str, times: u32) -> Child {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tests/openclaw/session-store.mjs");
    let mut command = claw.scripted(home, &script);
    command.arg(claw.package()).arg(home.path().join(STORE)).args([key, &times.to_string()]);
    command.stdout(Stdio::piped()).spawn().expect("node")
}

#[test]
fn the_openclaw_of_the_json_era_and_we_read_and_write_the_same() {
    let (home, claw) = (ScratchHome::new(), OpenClaw::installed());
    home.write(".openclaw/openclaw.json", "{\"plugins\": {\"enabled\": false}}");
    for arguments in [
        &["store", "set", "agent:main:main", "label=ours", "thinkingLevel=high", "--create"][..],
        &["store", "set", "agent:main:discord:group:1", "chatType=group", "--create"],
        &["store", "set", "global", "systemSent=true", "--create"],
        &["store", "reset", "agent:main:discord:group:1"],
    ] {
        let _ = backstory(&home, arguments).succeeded();
    }

    // While it writes, we do; nothing of either is lost.
    let mut theirs = counting(&home, &claw, "agent:main:main", 60);
    let mut ours = 0;
    while theirs.try_wait().expect("a child").is_none() || ours == 0 {
        ours += 1;
        let field = format!("count={ours}");
        let _ = backstory(&home, &["store", "set", "agent:main:other", &field, "--create"]).succeeded();
    }
    let after = stored(&home);
    assert_eq!(after["agent:main:other"]["count"], ours);
    let main = &after["agent:main:main"];
    assert_eq!((&main["label"], &main["theirs"]), (&json!("ours"), &json!(60)), "{after}");

    let theirs = read(&claw.run(&home, &["sessions", "--json"]).succeeded());
    let ours = json(&home, &["store", "list"]);
    assert_eq!((&ours["path"], &ours["count"]), (&theirs["path"], &theirs["count"]));
    assert_eq!(rows(&ours), rows(&theirs));
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the lock is of now")]
fn the_openclaw_of_the_json_era_waits_for_our_lock() {
    let (home, claw) = (ScratchHome::new(), OpenClaw::installed());
    home.write(".openclaw/openclaw.json", "{}");
    let _ = backstory(&home, &["store", "set", "agent:main:main", "label=ours", "--create"]).succeeded();
    let before = stored(&home);
    let lock = format!("{STORE}.lock");
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis();
    home.write(&lock, json!({"pid": std::process::id(), "startedAt": now}).to_string());

    let mut theirs = counting(&home, &claw, "agent:main:main", 1);
    let mut said = BufReader::new(theirs.stdout.take().expect("its output")).lines().map(Result::unwrap);
    assert_eq!(said.next().as_deref(), Some("waits"));
    assert_eq!(stored(&home), before);
    std::fs::remove_file(home.path().join(&lock)).expect("the lock stayed");
    assert_eq!(said.find(|line| line != "waits").as_deref(), Some("done"));
    assert!(theirs.wait().expect("a child").success());
    assert_eq!(stored(&home)["agent:main:main"]["theirs"], 1);
}

#[test]
fn the_database_of_the_newest_openclaw_is_read_while_it_writes() {
    let (home, claw) = (ScratchHome::new(), OpenClaw::newest());
    let model = ModelServer::start(Script::new());
    home.write(".openclaw/openclaw.json", offline_models(&model).to_string());
    let words = ["agent", "--local", "--agent", "main", "--message", "where are the walrus embeddings?"];
    // Read all the time while it makes the database.
    std::thread::scope(|scope| {
        let theirs = scope.spawn(|| claw.run(&home, &words).succeeded());
        while !theirs.is_finished() {
            let _ = backstory(&home, &["store", "list", "--json"]).succeeded();
        }
        theirs.join().expect("it ran");
    });
    let theirs = read(&claw.run(&home, &["sessions", "--json"]).succeeded());
    let ours = json(&home, &["store", "list"]);
    assert_eq!((&ours["path"], &ours["count"]), (&theirs["path"], &theirs["count"]));
    for (ours, theirs) in rows(&ours).iter().zip(rows(&theirs)) {
        for (name, value) in ours.as_object().expect("a row") {
            assert_eq!(value, &theirs[name], "{name}: {theirs}");
        }
    }
    let id = ours["sessions"][0]["sessionId"].as_str().expect("an id");
    let listed = json(&home, &["list", "--origin", "openclaw"]);
    assert_eq!(
        (&listed["sessions"][0]["session_id"], &listed["sessions"][0]["kind"]),
        (&json!(id), &json!("conversation"))
    );
    assert!(listed.get("notes").is_none(), "{listed}");
    let shown = backstory(&home, &["show", &format!("openclaw:main/{id}")]).succeeded().stdout;
    assert!(shown.contains("where are the walrus embeddings?") && shown.contains("Understood."), "{shown}");
    let found = json(&home, &["search", "--source", "sessions", "walrus embeddings"]);
    assert_eq!(found["hits"][0]["session_id"], *id, "{found}");
    let refused = backstory(&home, &["store", "set", "agent:main:main", "label=x"]);
    assert!(
        refused.code == Some(1) && refused.stderr.contains("only OpenClaw may change"),
        "{}",
        refused.stderr
    );
    assert!(!home.path().join(STORE).exists());
}

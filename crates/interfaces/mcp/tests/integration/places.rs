//! What a hit cites is read where it stands: in a session, in a sub-agent's transcript, in a conversation of OpenClaw's, in
//! a note.

use serde_json::{Value, json};
use testkit::Transcript;

use crate::client::Client;
use crate::scene::{LONG, Scene, TIDES, TOKENS};

/// The hit for a question, and what is read around the place that it cites.
#[track_caller]
fn found(client: &mut Client, query: &str) -> (Value, Value) {
    let answer = client.call("search", json!({"query": query, "limit": 1}));
    let hit = answer["hits"][0].clone();
    let mut read = hit["read"].clone();
    read["limit"] = json!(1);
    let page = client.call("read_session", read);
    (hit, page)
}

#[test]
fn what_a_sub_agent_said_is_read_in_its_own_transcript() {
    let scene = Scene::new();
    let id = "66666666-4444-4444-8444-444444444444";
    Transcript::new(id)
        .cwd(scene.directory("web"))
        .prompt("Look at the birds")
        .subagent("explorer", "Count them", "Count the birds on the pier", |work| {
            work.answer("I look.").prompt("Which?").answer("Seven pelicans sit on the pier.")
        })
        .answer("There are some.")
        .write_to(&scene.home);
    let mut client = scene.client();
    let (hit, page) = found(&mut client, "seven pelicans");
    let agent = hit["subagent_id"].as_str().unwrap_or_else(|| panic!("{hit}"));
    assert_eq!(hit["read"], json!({"session": id, "subagent": agent, "around_offset": hit["offset"]}));
    assert!(page["quoted"][0].to_string().contains("Seven pelicans"), "{page}");
    assert_eq!((&page["session_id"], &page["is_last"]), (&json!(id), &json!(true)), "{page}");
    // From there it is read to its beginning.
    let (mut texts, mut before) = (String::new(), page["newer"].clone());
    while !before.is_null() {
        let page = client
            .call("read_session", json!({"session": id, "subagent": agent, "before": before, "limit": 2}));
        texts = page["quoted"].to_string() + &texts;
        before = page["older"].clone();
    }
    let order = ["Count the birds on the pier", "I look.", "Which?", "Seven pelicans"];
    let places: Vec<_> =
        order.iter().map(|text| texts.find(text).unwrap_or_else(|| panic!("{texts}"))).collect();
    assert!(places.is_sorted(), "{texts}");
    let line = client.call(
        "read_session",
        json!({"session": format!("{id}:{}", hit["line"]), "subagent": agent, "limit": 1}),
    );
    assert_eq!(line["quoted"], page["quoted"], "{line}");
    // The command of the plugin's packs.
    let uuid = &hit["uuid"].as_str().unwrap()[..8];
    let shown = scene.command(&["show", id, "--subagents", "--around", uuid]).output().unwrap();
    assert!(String::from_utf8_lossy(&shown.stdout).contains("Seven pelicans"), "{shown:?}");
    // A place is one of a file: in the session's own it leads nowhere, instead of elsewhere.
    let offset = hit["offset"].as_u64().unwrap();
    let elsewhere = client.fail("read_session", json!({"session": id, "around_offset": offset + 1}));
    assert!(elsewhere["next_steps"].to_string().contains("subagent"), "{elsewhere}");
    let unknown = client.fail("read_session", json!({"session": id, "subagent": "nobody"}));
    assert!(unknown["message"].as_str().unwrap().contains("no sub-agent `nobody`"), "{unknown}");
}

#[test]
fn a_conversation_of_openclaws_is_read_where_it_is_cited() {
    let scene = Scene::new();
    scene.home.write(".openclaw/openclaw.json", "{}");
    let line = |id: usize, text: &str| {
        let message =
            json!({"type": "message", "id": format!("m{id}"), "message": {"role": "user", "content": text}});
        format!("{message}\n")
    };
    let talk: String = (0..40).map(|number| line(number, &format!("Talk {number}"))).collect();
    scene.home.write(
        ".openclaw/agents/main/sessions/0b7c.jsonl",
        talk + &line(40, "The narwhal surfaced") + &line(41, "Bye"),
    );
    let mut client = scene.client();
    let (hit, page) = found(&mut client, "narwhal surfaced");
    assert_eq!(hit["read"], json!({"session": "0b7c", "around": "m40"}), "{hit}");
    assert!(hit.get("offset").is_none(), "bytes are no place in a conversation: {hit}");
    assert!(page["quoted"][0].to_string().contains("narwhal"), "{page}");
    let cited = client.call("read_session", json!({"session": format!("0b7c:{}", hit["line"]), "limit": 1}));
    assert_eq!(cited["quoted"], page["quoted"], "{cited}");
}

#[test]
fn a_note_is_read_where_it_is_cited() {
    let scene = Scene::new();
    scene.home.write(".openclaw/openclaw.json", "{}");
    let filler = "Nothing of note. ".repeat(40);
    let note = format!(
        "# Monday\n{filler}\n# Tuesday\nThe walrus sleeps in the cellar.\n{filler}\n# Friday\n{filler}\n"
    );
    let file = scene.home.path().join(".openclaw/workspace/memory/2026-01-15.md");
    scene.home.write(".openclaw/workspace/memory/2026-01-15.md", note);
    let mut client = scene.client();
    let (hit, page) = found(&mut client, "walrus cellar");
    assert_eq!((&hit["session_id"], &hit["source"]), (&Value::Null, &json!("memory")), "{hit}");
    assert_eq!(hit["read"]["session"], format!("{}:{}", file.display(), hit["line"]), "{hit}");
    let quoted = page["quoted"].to_string();
    assert!(
        quoted.contains("# Tuesday") && quoted.contains("walrus") && !quoted.contains("# Friday"),
        "{page}"
    );
    let whole =
        client.call("read_session", json!({"session": file.display().to_string()}))["quoted"].to_string();
    assert!(whole.contains("# Monday") && whole.contains("# Friday"), "{whole}");
    // No other file is one.
    for other in
        ["/etc/passwd".to_owned(), scene.home.path().join(".openclaw/openclaw.json").display().to_string()]
    {
        assert_eq!(client.fail("read_session", json!({"session": other}))["error"], "not_found", "{other}");
    }
    let mut limited = scene.client_with(&[("BACKSTORY_MCP_PROJECTS", "web")]);
    let hidden = limited.fail("read_session", json!({"session": file.display().to_string()}));
    assert_eq!(hidden["error"], "not_found", "{hidden}");
}

#[test]
fn further_places_of_a_hit_are_named_and_read() {
    let scene = Scene::new();
    let mut client = scene.client();
    let answer =
        client.call("search", json!({"query": "lighthouse question", "session": LONG, "all_hits": true}));
    let hit = &answer["hits"][0];
    assert!(hit["more"].as_u64().unwrap() > 1, "{hit}");
    let places = hit["places"].as_array().unwrap_or_else(|| panic!("{hit}"));
    assert!(places.len() > 1, "{hit}");
    for place in places.iter().take(3) {
        let mut read = place["read"].clone();
        read["limit"] = json!(1);
        let page = client.call("read_session", read);
        assert!(page["quoted"].to_string().contains("about the lighthouse"), "{place}: {page}");
    }
}

#[test]
fn the_persons_annotations_are_in_the_list() {
    let scene = Scene::new();
    let noted = scene.command(&["note", TIDES, "Ask the harbour master"]).output().unwrap();
    assert!(noted.status.success(), "{}", String::from_utf8_lossy(&noted.stderr));
    let mut client = scene.client();
    let listed = client.call("session_list", json!({"words": "tides harbor"}));
    assert_eq!(listed["sessions"][0]["annotations"]["note"], "Ask the harbour master", "{listed}");
    assert_eq!(client.call("session_list", json!({"words": ["tides", "token"]}))["sessions"], json!([]));
}

#[test]
fn copies_count_for_one_in_the_total() {
    let scene = Scene::new();
    scene.write_copies("Repair the foghorn of the lighthouse", "The foghorn sounds again.");
    let found = scene.client().call("search", json!({"query": "foghorn"}));
    assert_eq!((found["hits"].as_array().unwrap().len(), &found["total"]), (1, &json!(1)), "{found}");
}

#[test]
fn many_wrong_calls_all_say_what_to_do_instead() {
    let scene = Scene::new();
    let mut client = scene.client();
    for (tool, arguments) in [
        ("search", json!({})),
        ("search", json!({"query": ""})),
        ("search", json!({"query": "x", "session": "99999999"})),
        ("search", json!({"query": "agent:a/b x"})),
        ("search", json!({"query": "x", "since": "someday"})),
        ("read_session", json!({})),
        ("read_session", json!({"session": ""})),
        ("read_session", json!({"session": "99999999"})),
        ("read_session", json!({"session": "openclaw:main"})),
        ("read_session", json!({"session": "openclaw:main/none"})),
        ("read_session", json!({"session": TOKENS, "around": "none"})),
        ("read_session", json!({"session": TOKENS, "around_offset": 1})),
        ("read_session", json!({"session": TOKENS, "around_offset": 99_999_999})),
        ("read_session", json!({"session": TOKENS, "before": "x"})),
        ("read_session", json!({"session": TOKENS, "before": "1", "after": "2"})),
        ("read_session", json!({"session": format!("{TOKENS}:9999")})),
        ("session_list", json!({"sort": "size"})),
        ("session_list", json!({"words": 7})),
        ("project_status", json!({"repo": "no-such"})),
        ("project_status", json!({"repo": ".bashrc"})),
        ("pick_session", json!({"task": " "})),
        ("pick_session", json!({"task": "x", "budget_usd": -1})),
        ("smart_fork", json!({})),
        ("smart_fork", json!({"intent": "tides", "last": true})),
        ("smart_fork", json!({"intent": "tides", "min_score": 7})),
        ("smart_fork", json!({"intent": "tides", "fork_rank": 99})),
        ("smart_fork", json!({"intent": "tides", "fork_rank": 1, "fork_index": 3})),
        ("smart_fork", json!({"intent": "tides", "fork_rank": 1, "directory": "/no/such"})),
        ("spawn_worker", json!({})),
        ("spawn_worker", json!({"task": "x", "fork_session": true})),
        ("spawn_worker", json!({"task": "x", "session_id": "no-uuid"})),
        ("spawn_worker", json!({"task": "x", "resume_session_id": TIDES, "continue_session": true})),
        ("spawn_worker", json!({"task": "x", "project_path": "/no/such"})),
        ("spawn_worker", json!({"task": "x", "worktree": "a b", "project_path": "web"})),
        ("spawn_worker", json!({"task": "x", "model": "--flag"})),
        ("message_worker", json!({"workers": [], "message": "x"})),
        ("message_worker", json!({"workers": [99], "message": ""})),
        ("message_worker", json!({"workers": [99], "message": "x"})),
        ("message_worker", json!({"workers": [99], "message": "x".repeat(100_001)})),
        ("wait_workers", json!({"workers": []})),
        ("wait_workers", json!({"workers": [99]})),
        ("list_workers", json!({"status": "bogus"})),
        ("stop_worker", json!({"worker": 99})),
        ("worker_log", json!({"worker": "none"})),
    ] {
        client.fail(tool, arguments);
    }
    for (method, parameters) in [
        ("tools/call", json!({"name": "no_such", "arguments": {}})),
        ("prompts/get", json!({"name": "no_such"})),
        ("prompts/get", json!({"name": "recall", "arguments": {}})),
        ("resources/list", json!({"cursor": "x"})),
        ("resources/read", json!({"uri": "session://99999999"})),
        ("resources/read", json!({"uri": "session://"})),
        ("resources/read", json!({})),
        ("resources/subscribe", json!({"uri": "session://"})),
        ("tools/call", json!({"arguments": {}})),
        ("tools/list", json!({"_meta": {"io.modelcontextprotocol/protocolVersion": "2099-01-01"}})),
        ("initialize", json!({"protocolVersion": "2025-11-25"})),
        ("server/discover", json!({})),
        ("logging/setLevel", json!({"level": "debug"})),
        ("no/such", json!({})),
    ] {
        let error = client.ask(method, parameters)["error"].clone();
        let steps = error["data"]["next_steps"].as_array();
        assert!(steps.is_some_and(|steps| !steps.is_empty()), "{method}: {error}");
    }
}

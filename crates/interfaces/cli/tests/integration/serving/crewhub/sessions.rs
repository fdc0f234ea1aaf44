//! Sessions, what was said in them, and how they are gone on with.

use std::fs::OpenOptions;
use std::io::Write as _;

use serde_json::{Value, json};
use testkit::{ScratchHome, Transcript};

use super::{ID, KEY, check, home};
use crate::serving::Server;

const SESSION: &str = "key:text sessionId:text source:text connectionId:text agentId:text channel:text kind:text \
                       label:text status:text updatedAt:number createdAt:number lastActivity:number contextTokens:number \
                       projectPath:text activityDetail:text? activityToolName:text?";
const ARCHIVED: &str = "session_key:text session_id:text agent_id:text display_name:text minion_type:text model:text? \
                        channel:text started_at:text ended_at:text message_count:number status:text summary:text";

#[test]
fn sessions_and_their_history() {
    let home = home();
    let server = Server::start(&home, &[]);
    let path = "/api/sessions?active_minutes=5270400";
    let sessions = server.get(path)["sessions"].clone();
    assert_eq!(sessions.as_array().map(Vec::len), Some(1), "{sessions}");
    check(&sessions[0], SESSION);
    assert_eq!((&sessions[0]["key"], &sessions[0]["label"]), (&json!(KEY), &json!("paint the fence green")));
    // It was long ago.
    assert_eq!(server.get("/api/sessions?active_minutes=1")["sessions"], json!([]));
    let history = server.get(&format!("/api/sessions/{KEY}/history?limit=50"));
    assert_eq!((&history["count"], &history["format"]), (&json!(2), &json!("standard")));
    assert_eq!(history["messages"][0]["content"], json!([{"type": "text", "text": "paint the fence green"}]));
    check(&history["messages"][1], "role:text content:list timestamp:number metadata:object");
    // A browser writes the key with its escape.
    let escaped = server.get(&format!("/api/sessions/{}/history", KEY.replace(':', "%3A")));
    assert_eq!(escaped["count"], 2);
    let archived = server.get("/api/sessions/archived?limit=10&search=fence");
    check(&archived, "sessions:list total:number");
    check(&archived["sessions"][0], ARCHIVED);
    assert_eq!(archived["sessions"][0]["started_at"], "2020-02-02T12:00:00Z", "{archived}");
    assert_eq!(server.get("/api/sessions/archived?search=nothing")["total"], 0);
    check(
        &server.get(&format!("/api/chat/{KEY}/info")),
        "canChat:yes agentId:text agentName:text sessionKey:text source:text",
    );
    let none = server.get("/api/sessions/cc:nobody/history");
    assert_eq!(none, json!({"messages": [], "count": 0, "format": "standard"}));
    assert_eq!(server.ask("GET", "/api/sessions/claude:..%2Fx/history").send().failed(400), "usage");
    assert_eq!(server.ask("DELETE", &format!("/api/sessions/{KEY}")).send().failed(404), "not_found");
}

#[test]
fn a_chat_is_read_back_in_pieces() {
    let home = ScratchHome::new();
    let shop = home.dir("shop");
    let mut transcript = Transcript::new(ID).cwd(&shop);
    for number in 0..6 {
        transcript = transcript
            .prompt(&format!("question {number}"))
            .thinking("Hm.")
            .tool("Bash", json!({"command": format!("count {number}")}), "counted")
            .answer(&format!("answer {number}"));
    }
    transcript.write_to(&home);
    let server = Server::start(&home, &[]);
    let last = server.get(&format!("/api/chat/{KEY}/history?limit=5"));
    check(&last, "messages:list hasMore:yes oldestTimestamp:number");
    let messages = last["messages"].as_array().unwrap();
    assert_eq!(messages.len(), 5, "{last}");
    assert_eq!((&messages[4]["role"], &messages[4]["content"]), (&json!("assistant"), &json!("answer 5")));
    check(
        &messages[4],
        "id:text role:text content:text timestamp:number tokens:number tools:list contentSegments:list",
    );
    assert_eq!(messages[4]["tools"][0], json!({"name": "Bash", "status": "done", "label": "count 5"}));
    let kinds: Vec<_> =
        messages[4]["contentSegments"].as_array().unwrap().iter().map(|one| one["type"].clone()).collect();
    assert_eq!(kinds, ["thinking", "tool", "text"]);
    assert_eq!(messages[4]["contentSegments"][1]["tool"], messages[4]["tools"][0]);
    let before = last["oldestTimestamp"].as_i64().unwrap();
    let older = server.get(&format!("/api/chat/{KEY}/history?limit=5&before={before}"));
    let contents: Vec<_> =
        older["messages"].as_array().unwrap().iter().map(|one| one["content"].clone()).collect();
    assert_eq!(contents, ["question 1", "answer 1", "question 2", "answer 2", "question 3"]);
    // The same with a server that has not shown the last ones.
    server.kill();
    let server = Server::start(&home, &[]);
    let path = format!("/api/chat/{KEY}/history?limit=100&before={before}&raw=true");
    let older = server.get(&path);
    assert_eq!(
        (older["messages"].as_array().map(Vec::len), &older["hasMore"]),
        (Some(7), &json!(false)),
        "{older}"
    );
    assert_eq!(older["messages"][1]["thinking"], json!(["Hm."]));
    assert_eq!(older["messages"][1]["tools"][0]["result"], "counted");
}

#[test]
fn what_no_browser_could_show_is_cut_off() {
    let home = ScratchHome::new();
    let mut transcript = Transcript::new(ID).cwd(home.dir("shop"));
    for number in 0..24 {
        transcript = transcript.prompt(&format!("log {number}: {}", "ä".repeat(300_000))).answer("Read.");
    }
    transcript.write_to(&home);
    let server = Server::start(&home, &[]);
    // A chat has each text twice.
    for path in ["sessions", "chat"] {
        let body = server.ask("GET", &format!("/api/{path}/{KEY}/history?limit=100")).send().body;
        assert!(body.len() < 10 << 20 && body.contains("KiB more are not shown"), "{}", body.len());
        assert!(body.contains("log 23") && !body.contains("log 0:"), "{}", body.len());
    }
    for key in ["x:y", "agent:main:discord:1", "nothing"] {
        let history = format!("/api/chat/{key}/history");
        assert_eq!(server.ask("GET", &history).send().failed(403), "forbidden", "{key}");
    }
}

#[test]
fn a_chat_is_read_back_though_its_clock_went_back() {
    let home = ScratchHome::new();
    let mut transcript = Transcript::new(ID).cwd(home.dir("shop"));
    for number in 0..6 {
        // Two at the same time, then an hour earlier than the two before.
        let hour = 12 - number / 2;
        transcript =
            transcript.at(&format!("2026-02-02T{hour}:00:00Z")).prompt(&format!("question {number}"));
        transcript = transcript.at(&format!("2026-02-02T{hour}:00:00Z")).answer(&format!("answer {number}"));
    }
    transcript.write_to(&home);
    let server = Server::start(&home, &[]);
    let (mut contents, mut before) = (Vec::new(), String::new());
    for _ in 0..6 {
        let page = server.get(&format!("/api/chat/{KEY}/history?limit=2{before}"));
        let said = page["messages"].as_array().unwrap().iter().map(|one| one["content"].clone());
        contents.splice(0..0, said);
        before = format!("&before={}", page["oldestTimestamp"]);
    }
    let expected: Vec<String> =
        (0..6).flat_map(|number| [format!("question {number}"), format!("answer {number}")]).collect();
    assert_eq!(contents, expected);
}

#[test]
fn each_tool_has_its_own_result() {
    let home = ScratchHome::new();
    let shop = home.dir("shop");
    let file = Transcript::new(ID).cwd(&shop).prompt("clean up").write_to(&home);
    let record = |kind: &str, content: Value| {
        json!({"type": kind, "sessionId": ID, "cwd": shop, "timestamp": "2026-02-02T12:00:00Z",
               "message": {"role": kind, "content": content}})
    };
    let call =
        |id: &str, name: &str| json!({"type": "tool_use", "id": id, "name": name, "input": {"command": id}});
    let result = |id: &str, text: &str, is_error: bool| json!({"type": "tool_result", "tool_use_id": id, "content": text, "is_error": is_error});
    let records = [
        record("assistant", json!([call("t1", "Read"), call("t2", "Bash")])),
        record("user", json!([result("t2", "denied", true)])),
        record("user", json!([result("t1", "the file", false)])),
    ];
    let mut end = OpenOptions::new().append(true).open(&file).unwrap();
    for record in records {
        writeln!(end, "{record}").unwrap();
    }
    let server = Server::start(&home, &[]);
    let chat = server.get(&format!("/api/chat/{KEY}/history?raw=true"));
    let tools = &chat["messages"][1]["tools"];
    let shown = |tool: &Value| (tool["name"].clone(), tool["status"].clone(), tool["result"].clone());
    assert_eq!(shown(&tools[0]), (json!("Read"), json!("done"), json!("the file")), "{chat}");
    assert_eq!(shown(&tools[1]), (json!("Bash"), json!("error"), json!("denied")), "{chat}");
    let history = server.get(&format!("/api/sessions/{KEY}/history"));
    assert_eq!(history["messages"][1]["content"][1]["id"], "t2", "{history}");
    assert_eq!(history["messages"][2]["content"][0]["toolCallId"], "t2", "{history}");
}

#[test]
fn chat_is_refused_where_there_is_none() {
    let home = home();
    let server = Server::start(&home, &[]);
    let said = json!({"message": "hello"});
    let post = |key: &str, way: &str, said: &Value| {
        server.ask("POST", &format!("/api/chat/{key}/{way}")).json(said).send()
    };
    assert_eq!(post("agent:main:discord", "send", &said).failed(403), "forbidden");
    assert_eq!(post("agent:main:main", "send", &said).failed(503), "unavailable");
    assert_eq!(post(KEY, "send", &json!({"message": " "})).failed(400), "usage");
    // Its directory is there, and no `claude`.
    let answer = post(KEY, "send", &said).succeeded();
    assert_eq!((&answer["success"], &answer["response"]), (&json!(false), &Value::Null), "{answer}");
    check(&answer, "error:text tokens:number");
    assert_eq!(post(KEY, "send", &said).failed(429), "held");
    let killed = post(KEY, "kill", &json!({})).succeeded();
    assert_eq!(killed, json!({"success": false, "message": "No running process found for this session"}));
}

#[test]
fn a_session_is_continued_by_a_command() {
    let home = home();
    let server = Server::start(&home, &[]);
    assert_eq!(server.get("/api/handoff/targets")["targets"][0]["id"], "clipboard");
    let path = format!("/api/handoff/sessions/{KEY}");
    let command = format!("backstory resume {ID}");
    let to =
        |target: &str| server.ask("POST", &path).json(&json!({"target": target, "working_dir": "/x"})).send();
    let done = to("clipboard").succeeded();
    assert_eq!((&done["success"], &done["command"]), (&json!(true), &json!(command)), "{done}");
    assert_eq!(to("iterm").failed(400), "usage");
    assert_eq!(server.get(&path)["command"], command);
    // A browser that opens the address reads a page.
    let page = server.ask("GET", &path).header("Accept", "text/html,*/*;q=0.8").send();
    assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"), "{page:?}");
    assert!(page.body.contains(&format!("<code>{command}</code>")), "{page:?}");
    let unknown = path.replace(ID, "0bab4563-0000-4000-8000-000000000000");
    assert_eq!(server.ask("GET", &unknown).send().failed(404), "not_found");
    assert_eq!(server.ask("GET", "/api/backup/export").send().failed(503), "unavailable");
}

#[test]
fn what_is_archived_agrees_with_what_is_shown() {
    let home = home();
    let server = Server::start(&home, &[]);
    let id = KEY.strip_prefix("claude:").expect("an id");
    server.post("/api/agents", &json!({"id": "d2", "name": "Dev", "current_session_id": id}));
    let shown = server.get("/api/sessions?active_minutes=5270400")["sessions"][0].clone();
    let archived = server.get("/api/sessions/archived")["sessions"][0].clone();
    assert_eq!(
        (&archived["session_key"], &archived["agent_id"]),
        (&json!("cc:d2"), &json!("d2")),
        "{archived}"
    );
    assert_eq!(
        (&shown["key"], &shown["agentId"]),
        (&archived["session_key"], &archived["agent_id"]),
        "{shown}"
    );
    assert!(archived["model"].is_string() && archived["status"] == "archived", "{archived}");
}

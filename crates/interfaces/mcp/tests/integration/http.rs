//! The server by HTTP: who may ask, and that it answers as it does on standard input.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, Stdio};

use serde_json::{Value, json};
use testkit::{Answer, Claude, Gate, PATIENCE, Script};

use crate::client::text;
use crate::scene::{Scene, TOKENS};

/// How many sessions docs/mcp.md says are kept.
const MOST_SESSIONS: usize = 64;
/// What is told of a request while it is answered.
const PROGRESS: &str = "notifications/progress";

/// A server that listens.
pub(crate) struct Listening {
    child: Child,
    pub(crate) address: SocketAddr,
    /// How it is to be added to Claude Code.
    pub(crate) server: Value,
    pub(crate) token: String,
}

/// The token in the headers that `mcp --headers` prints.
fn token(scene: &Scene) -> String {
    let printed = scene.command(&["mcp", "--headers"]).output().unwrap();
    let headers: Value = serde_json::from_slice(&printed.stdout).unwrap();
    headers["Authorization"].as_str().and_then(|text| text.strip_prefix("Bearer ")).unwrap().to_owned()
}

/// What a server answered.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    headers: String,
    body: String,
}

impl Listening {
    pub(crate) fn start(scene: &Scene) -> Self {
        let mut command = scene.command(&["mcp", "--http", "127.0.0.1:0"]);
        let mut child = command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let mut line = || lines.next().unwrap().unwrap();
        let first = line();
        let address = first.strip_prefix("Listening on http://").and_then(|rest| rest.strip_suffix("/mcp"));
        let address = address.unwrap_or_else(|| panic!("{first}")).parse().unwrap();
        let second = line();
        let server =
            second.strip_prefix("claude mcp add-json backstory '").and_then(|rest| rest.strip_suffix('\''));
        let server: Value = serde_json::from_str(server.unwrap_or_else(|| panic!("{second}"))).unwrap();
        let token = token(scene);
        assert!(!first.contains(&token) && !second.contains(&token), "it would be in a log: {second}");
        Self { child, address, server, token }
    }

    /// A request with these headers and no others but what HTTP demands.
    pub(crate) fn post(&self, headers: &[(&str, &str)], body: &str) -> Reply {
        let host = format!("{}", self.address);
        let mut all = vec![("Host", host.as_str())];
        if let Some(other) = headers.iter().find(|(name, _)| *name == "Host") {
            all[0].1 = other.1;
        }
        all.extend(headers.iter().filter(|(name, _)| *name != "Host"));
        all.push(("Content-Type", "application/json"));
        all.push(("Accept", "application/json, text/event-stream"));
        self.send("POST /mcp", &all, body)
    }

    /// A request with these headers alone.
    fn send(&self, line: &str, headers: &[(&str, &str)], body: &str) -> Reply {
        let mut stream = self.sent(line, headers, body);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        Reply::parse(&String::from_utf8_lossy(&answer))
    }

    /// The same before its answer is read.
    fn sent(&self, line: &str, headers: &[(&str, &str)], body: &str) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let head: Vec<String> = headers.iter().map(|(name, value)| format!("{name}: {value}")).collect();
        let request = format!(
            "{line} HTTP/1.1\r\n{}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
            head.join("\r\n"),
            body.len()
        );
        // A server that refuses may not read it all.
        let _ = stream.write_all(request.as_bytes());
        stream
    }

    /// A request of a client that has the token.
    pub(crate) fn ask(&self, session: Option<&str>, message: Value) -> Reply {
        let bearer = format!("Bearer {}", self.token);
        let mut headers = vec![("Authorization", bearer.as_str())];
        headers.extend(session.map(|session| ("Mcp-Session-Id", session)));
        self.post(&headers, &message.to_string())
    }

    /// The lines of an answer that waits for a worker, and tells of it meanwhile.
    fn waiting(&self, session: &str, worker: &Value) -> impl Iterator<Item = String> + use<> {
        let wait = json!({"name": "wait_workers", "arguments": {"workers": [worker]}, "_meta": {"progressToken": 1}});
        let wait = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": wait}).to_string();
        let (host, bearer) = (self.address.to_string(), format!("Bearer {}", self.token));
        let headers = [
            ("Host", host.as_str()),
            ("Authorization", bearer.as_str()),
            ("Mcp-Session-Id", session),
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
        ];
        BufReader::new(self.sent("POST /mcp", &headers, &wait)).lines().map(Result::unwrap)
    }

    /// Begins a session; its id.
    pub(crate) fn begin(&self) -> String {
        let begun = self.ask(None, initialize());
        assert_eq!(begun.message()["result"]["serverInfo"]["name"], "backstory", "{begun:?}");
        let session = begun.header("mcp-session-id").unwrap_or_else(|| panic!("{begun:?}"));
        let told = self.ask(Some(&session), json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        assert_eq!(told.status, 202, "{told:?}");
        session
    }
}

/// The request that begins a session.
fn initialize() -> Value {
    let client = json!({"name": "raw", "version": "1"});
    let parameters = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
    json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": parameters})
}

impl Drop for Listening {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Reply {
    fn parse(text: &str) -> Self {
        let (headers, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no HTTP: {text}"));
        let status = headers.split_whitespace().nth(1).and_then(|status| status.parse().ok()).unwrap();
        let is_chunked = headers.to_lowercase().contains("transfer-encoding: chunked");
        let body = if is_chunked { joined(body) } else { body.to_owned() };
        Self { status, headers: headers.to_owned(), body }
    }

    fn header(&self, name: &str) -> Option<String> {
        let mut lines = self.headers.lines().filter_map(|line| line.split_once(": "));
        lines.find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.to_owned())
    }

    /// The last message in it, alone or in a stream of events.
    #[track_caller]
    pub(crate) fn message(&self) -> Value {
        let mut events = self.body.lines().filter_map(|line| line.strip_prefix("data:")).map(str::trim);
        let last = events.rfind(|data| !data.is_empty()).unwrap_or(&self.body);
        serde_json::from_str(last).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

/// A body that came in pieces.
fn joined(mut body: &str) -> String {
    let mut whole = String::new();
    while let Some((length, rest)) = body.split_once("\r\n") {
        let length =
            usize::from_str_radix(length.trim(), 16).unwrap_or_else(|_| panic!("no length: {length}"));
        if length == 0 {
            break;
        }
        whole.push_str(&rest[..length]);
        body = rest[length..].trim_start_matches("\r\n");
    }
    whole
}

#[test]
fn a_client_with_the_token_is_answered() {
    let scene = Scene::new();
    let server = Listening::start(&scene);
    let session = server.begin();
    let call = json!({"name": "search", "arguments": {"query": "refresh token race"}});
    let answer = server
        .ask(Some(&session), json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}));
    assert_eq!(
        answer.message()["result"]["structuredContent"]["hits"][0]["session_id"],
        TOKENS,
        "{answer:?}"
    );
    let lost =
        server.ask(Some("no-such-session"), json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}));
    assert_eq!(lost.status, 404, "{lost:?}");
    // Since 2026-07-28 there are no sessions.
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let bearer = format!("Bearer {}", server.token);
    let headers = [
        ("Authorization", bearer.as_str()),
        ("MCP-Protocol-Version", "2026-07-28"),
        ("Mcp-Method", "tools/list"),
    ];
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta}});
    let answer = server.post(&headers, &message.to_string());
    assert!(
        answer.message()["result"]["tools"].as_array().is_some_and(|tools| tools.len() >= 12),
        "{answer:?}"
    );
}

#[test]
fn everybody_else_is_refused() {
    let scene = Scene::new();
    let server = Listening::start(&scene);
    let client = json!({"name": "raw", "version": "1"});
    let parameters = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
    let initialize =
        json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": parameters}).to_string();
    let bearer = format!("Bearer {}", server.token);
    let check = |headers: &[(&str, &str)], expected: u16| {
        let reply = server.post(headers, &initialize);
        assert_eq!(reply.status, expected, "{headers:?}: {reply:?}");
    };
    let local = format!("http://{}", server.address);
    check(&[("Authorization", &bearer)], 200);
    check(&[("Authorization", &bearer), ("Origin", &local)], 200);
    check(&[], 401);
    check(&[("Authorization", "Bearer ")], 401);
    check(&[("Authorization", &bearer[..bearer.len() - 1])], 401);
    check(&[("Authorization", &server.token)], 401);
    check(&[("Authorization", &bearer), ("Host", "evil.example")], 403);
    check(&[("Authorization", &bearer), ("Host", "127.0.0.1:1")], 403);
    check(&[("Authorization", &bearer), ("Origin", "http://evil.example")], 403);
    check(&[("Authorization", &bearer), ("Origin", "null")], 403);
    let refused = server.post(&[], &initialize);
    assert_eq!(refused.header("www-authenticate").as_deref(), Some("Bearer"), "{refused:?}");
    let large = server.post(&[("Authorization", &bearer)], &format!("\"{}\"", "x".repeat(5 << 20)));
    assert_eq!(large.status, 413, "{large:?}");
    let broken = server.post(&[("Authorization", &bearer)], "{");
    assert_eq!((broken.status, &broken.message()["error"]["code"]), (400, &json!(-32700)), "{broken:?}");
    let batch = server.post(&[("Authorization", &bearer)], &format!("[{initialize}]"));
    assert_eq!((batch.status, &batch.message()["error"]["code"]), (400, &json!(-32600)), "{batch:?}");
    server.begin();
}

#[test]
fn every_refusal_is_an_error_of_the_protocol_with_a_next_step() {
    let scene = Scene::new();
    let server = Listening::start(&scene);
    let host = server.address.to_string();
    let bearer = format!("Bearer {}", server.token);
    let (plain, json) = (("Content-Type", "text/plain"), ("Content-Type", "application/json"));
    let both = ("Accept", "application/json, text/event-stream");
    let token = ("Authorization", bearer.as_str());
    let initialize = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}}"#;
    let check = |line: &str, headers: &[(&str, &str)], expected: u16, step: &str| {
        let reply = server.send(line, &[&[("Host", host.as_str())], headers].concat(), initialize);
        assert_eq!(reply.status, expected, "{line} {headers:?}: {reply:?}");
        let message = reply.message();
        assert!(message["jsonrpc"] == "2.0" && message["error"]["code"].is_i64(), "{message}");
        assert!(message["error"]["message"].as_str().is_some_and(|said| !said.is_empty()), "{message}");
        let steps = message["error"]["data"]["next_steps"].to_string();
        assert!(steps.contains(step), "{line} {headers:?}: {message}");
    };
    check("POST /mcp", &[json, both], 401, "Authorization: Bearer");
    check("POST /else", &[token, json, both], 404, "/mcp");
    check("POST /mcp", &[token, json, both, ("Mcp-Session-Id", "gone")], 404, "initialize");
    check(
        "POST /mcp",
        &[token, json, ("Accept", "text/html")],
        406,
        "Accept: application/json, text/event-stream",
    );
    check("POST /mcp", &[token, plain, both], 415, "Content-Type: application/json");
    check("PUT /mcp", &[token, json, both], 405, "POST");
    check("POST /mcp", &[token, json, both, ("Origin", "http://evil.example")], 403, "another site");
}

#[test]
fn the_token_is_kept_for_its_owner() {
    let scene = Scene::new();
    let first = Listening::start(&scene);
    let file = scene.home.state_dir().join("mcp-token");
    assert_eq!(text(&file), first.token);
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(Listening::start(&scene).token, first.token, "what was configured goes on to work");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    let refused = scene.command(&["mcp", "--http", "127.0.0.1:0"]).output().unwrap();
    assert_eq!(refused.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("other users can read"), "{refused:?}");
}

#[test]
fn no_other_machine_is_let_in() {
    let scene = Scene::new();
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:0"] {
        let refused = scene.command(&["mcp", "--http", address]).output().unwrap();
        assert_eq!(refused.status.code(), Some(2), "{refused:?}");
        assert!(String::from_utf8_lossy(&refused.stderr).contains("loopback"), "{refused:?}");
    }
}

#[test]
fn the_session_that_is_idle_longest_gives_way() {
    let scene = Scene::new();
    let server = Listening::start(&scene);
    let ping =
        |session: &str| server.ask(Some(session), json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}));
    let sessions: Vec<String> = (0..MOST_SESSIONS).map(|_| server.begin()).collect();
    assert_eq!(ping(&sessions[0]).status, 200, "it is not the one any more");
    let newest = server.begin();
    let gone = ping(&sessions[1]);
    assert_eq!(gone.status, 404, "{gone:?}");
    assert!(gone.message()["error"]["data"]["next_steps"].to_string().contains("initialize"), "{gone:?}");
    for session in [&sessions[0], &sessions[2], &sessions[MOST_SESSIONS - 1], &newest] {
        assert_eq!(ping(session).status, 200);
    }
}

#[test]
fn where_all_sessions_are_busy_no_other_begins() {
    let gate = Gate::new();
    let scene = Scene::with(Claude::newest(), Script::new().on("never end", [Answer::held(&gate)]));
    let mut client = scene.client();
    let worker = client.call("spawn_worker", json!({"task": "never end"}))["worker"].clone();
    let server = Listening::start(&scene);
    let sessions: Vec<String> = (0..MOST_SESSIONS).map(|_| server.begin()).collect();
    let mut waiting: Vec<_> = sessions.iter().map(|session| server.waiting(session, &worker)).collect();
    for lines in &mut waiting {
        assert!(lines.any(|line| line.contains(PROGRESS)), "it is being answered");
    }
    let refused = server.ask(None, initialize());
    let error = &refused.message()["error"];
    assert_eq!(refused.status, 503, "{refused:?}");
    assert!(error["message"].as_str().unwrap().contains("64"), "{error}");
    assert!(error["data"]["next_steps"][0].is_string(), "{error}");
    gate.open();
    for lines in waiting {
        lines.for_each(drop);
    }
    let _ = server.begin();
    client.call("stop_worker", json!({"worker": worker}));
}

#[test]
fn an_id_is_used_once_at_a_time_in_a_session() {
    let gate = Gate::new();
    let scene = Scene::with(Claude::newest(), Script::new().on("never end", [Answer::held(&gate)]));
    let mut client = scene.client();
    let worker = client.call("spawn_worker", json!({"task": "never end"}))["worker"].clone();
    let server = Listening::start(&scene);
    let (session, other) = (server.begin(), server.begin());
    let mut waiting = server.waiting(&session, &worker);
    assert!(waiting.any(|line| line.contains(PROGRESS)), "it is being answered");
    let ping =
        |session: &str| server.ask(Some(session), json!({"jsonrpc": "2.0", "id": 7, "method": "ping"}));
    let refused = ping(&session);
    let error = &refused.message()["error"];
    assert_eq!((refused.status, &error["code"]), (400, &json!(-32600)), "{refused:?}");
    assert!(error["message"].as_str().unwrap().contains("with this id was not answered"), "{error}");
    assert!(error["data"]["next_steps"].to_string().contains("an id of its own"), "{error}");
    assert_eq!(ping(&other).status, 200, "another session has ids of its own");
    gate.open();
    assert!(waiting.any(|line| line.contains("\"all_idle\":true")), "it is answered");
    waiting.for_each(drop);
    assert_eq!(ping(&session).status, 200, "it is free again");
    client.call("stop_worker", json!({"worker": worker}));
}

#[test]
fn what_is_wrong_with_a_call_is_said_with_and_without_a_session() {
    let scene = Scene::new();
    let server = Listening::start(&scene);
    let session = server.begin();
    let check = |session: Option<&str>, method: &str, parameters: Value, expected: (u16, i64), says: &str| {
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters});
        let reply = server.ask(session, message);
        let error = reply.message()["error"].clone();
        let told = error["message"].as_str().unwrap_or_default();
        assert_eq!((reply.status, error["code"].as_i64()), (expected.0, Some(expected.1)), "{reply:?}");
        assert!(told.contains(says), "{reply:?}");
        assert!(error["data"]["next_steps"][0].is_string(), "{reply:?}");
    };
    check(None, "initialize", json!({"capabilities": {}}), (400, -32602), "missing field `protocolVersion`");
    check(None, "server/discover", json!({}), (400, -32602), "`_meta` lacks");
    check(None, "no/such", json!({}), (404, -32601), "unknown method `no/such`");
    check(Some(&session), "no/such", json!({}), (200, -32601), "unknown method `no/such`");
    check(Some(&session), "tools/call", json!({"name": 7}), (200, -32602), "`name`: invalid type");
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    check(None, "tools/list", json!({"_meta": meta}), (400, -32020), "MCP-Protocol-Version header");
}

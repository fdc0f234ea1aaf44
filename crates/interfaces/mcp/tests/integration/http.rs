//! The server by HTTP: who may ask, and that it answers as it does on standard input.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, Stdio};

use serde_json::{Value, json};
use testkit::PATIENCE;

use crate::client::text;
use crate::scene::{Scene, TOKENS};

/// A server that listens.
pub(crate) struct Listening {
    child: Child,
    pub(crate) address: SocketAddr,
    pub(crate) token: String,
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
        let token = second.rsplit_once("Bearer ").unwrap().1.trim_end_matches('"').to_owned();
        Self { child, address, token }
    }

    /// A request with these headers and no others but what HTTP demands.
    pub(crate) fn post(&self, headers: &[(&str, &str)], body: &str) -> Reply {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let host = format!("{}", self.address);
        let mut all = vec![("Host", host.as_str())];
        if let Some(other) = headers.iter().find(|(name, _)| *name == "Host") {
            all[0].1 = other.1;
        }
        all.extend(headers.iter().filter(|(name, _)| *name != "Host"));
        let head: Vec<String> = all.iter().map(|(name, value)| format!("{name}: {value}")).collect();
        let head = head.join("\r\n");
        let request = format!(
            "POST /mcp HTTP/1.1\r\n{head}\r\nConnection: close\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        // A server that refuses may not read it all.
        let _ = stream.write_all(request.as_bytes());
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        Reply::parse(&String::from_utf8_lossy(&answer))
    }

    /// A request of a client that has the token.
    pub(crate) fn ask(&self, session: Option<&str>, message: Value) -> Reply {
        let bearer = format!("Bearer {}", self.token);
        let mut headers = vec![("Authorization", bearer.as_str())];
        headers.extend(session.map(|session| ("Mcp-Session-Id", session)));
        self.post(&headers, &message.to_string())
    }

    /// Begins a session; its id.
    pub(crate) fn begin(&self) -> String {
        let client = json!({"name": "raw", "version": "1"});
        let parameters = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
        let begun =
            self.ask(None, json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": parameters}));
        assert_eq!(begun.message()["result"]["serverInfo"]["name"], "backstory", "{begun:?}");
        let session = begun.header("mcp-session-id").unwrap_or_else(|| panic!("{begun:?}"));
        let told = self.ask(Some(&session), json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        assert_eq!(told.status, 202, "{told:?}");
        session
    }
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
    let large = server.post(&[("Authorization", &bearer)], &format!("\"{}\"", "x".repeat(5 << 20)));
    assert_eq!(large.status, 413, "{large:?}");
    let broken = server.post(&[("Authorization", &bearer)], "{");
    assert_eq!((broken.status, &broken.message()["error"]["code"]), (400, &json!(-32700)), "{broken:?}");
    let batch = server.post(&[("Authorization", &bearer)], &format!("[{initialize}]"));
    assert_eq!((batch.status, &batch.message()["error"]["code"]), (400, &json!(-32600)), "{batch:?}");
    server.begin();
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

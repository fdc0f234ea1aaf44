//! Hidden means hidden, however one asks: no answer of any face holds a part of a secret, and none tells two secrets apart.
//! Two homes that differ in nothing but the characters of their secrets are asked the same, for words beside a secret, for
//! its beginning and for parts of it, and have to say the same.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};
use testkit::{ScratchHome, Transcript, long};

use crate::secrets::files;
use crate::serving::Server;

/// Where the sessions were.
const CWD: &str = "/home/ana/shop";
/// So many characters of a secret in a row are in no answer.
const SHOWN: usize = 10;

/// A made-up secret, and the text it is planted in.
struct Planted {
    text: String,
    hidden: String,
}

/// Characters that look random, the same for the same seed.
fn random(seed: u64, length: usize, of: &str) -> String {
    let of: Vec<char> = of.chars().collect();
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        of[usize::try_from(state >> 33).unwrap() % of.len()]
    };
    (0..length).map(|_| next()).collect()
}

/// A secret of each kind of form, put together here so that nobody takes one for real.
fn planted(seed: u64) -> Vec<Planted> {
    const ALL: &str = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghjkmnpqrstuvwxyz23456789";
    let body = |n: u64, length: usize| random(seed * 100 + n, length, ALL);
    // With a digit and both cases, as a password that is no word.
    let password = |n: u64| format!("Zq9{}4b", body(n, 11));
    let plant =
        |before: String, hidden: String, after: &str| Planted { text: before + &hidden + after, hidden };
    let key = (0..12).map(|line| body(20 + line, 64)).collect::<Vec<_>>().join("\n");
    let rsa = ["RSA", "PRIVATE", "KEY"].join(" ");
    vec![
        plant(format!("gh{}", "p_"), body(1, 36), ""),
        plant(format!("sk-ant-{}", "api03-"), body(2, 93), "AA"),
        plant("password=".to_owned(), password(3), ""),
        plant(format!("eyJhbGciOiJIUzI1NiJ9.eyJ{}.", body(4, 30)), body(5, 43), ""),
        plant("postgres://bot:".to_owned(), password(6), "@db.quay.dev/shop"),
        plant(format!("-----BEGIN {rsa}-----\n"), key, &format!("\n-----END {rsa}-----")),
    ]
}

fn id(number: usize) -> String {
    format!("{number}{number}{number}{number}0000-aaaa-4aaa-8aaa-aaaaaaaaaaaa")
}

/// A home in which secrets are in every field of sessions that holds text.
fn home(secrets: &[Planted]) -> ScratchHome {
    let home = ScratchHome::new();
    for (number, secret) in (1..).zip(secrets) {
        let text = &secret.text;
        // The secret of a first message is cut there, too.
        let filler = "so that the mirror of the shop is green again ".repeat(4);
        let mut session = Transcript::new(&id(number))
            .cwd(CWD)
            .at(&format!("2026-03-0{number}T09:00:00Z"))
            .prompt(&format!("{} {text} zebra, and go on", &filler[..182]))
            .thinking(&format!("zebra {text} okapi"))
            .answer(&format!("The zebra has {text} now. Next step: okapi must not use {text}."))
            .tool(
                "Bash",
                json!({"command": format!("deploy zebra {text}")}),
                &format!("okapi {text} deployed"),
            )
            // A secret by the name of its field alone, whatever it looks like.
            .tool("mcp__vault__store", json!({"user": "okapi", "password": secret.hidden}), "stored zebra")
            .failed_tool("Bash", json!({"command": "deploy okapi"}), &format!("error: {text} zebra refused"))
            .queued(&format!("zebra then {text}"))
            .prompt(&format!("okapi {text} zebra"))
            .answer(&format!("{text} okapi"));
        if number == 1 {
            session = session.title(&format!("Rotate {text} for the okapi")).branch(&format!("fix-{text}"));
        }
        if number == 2 {
            session = session.ai_title(&format!("Replace {text} of the okapi"));
        }
        session.write_to(&home);
    }
    let token = &secrets[0].text;
    let note = format!("okapi note {token} zebra");
    for words in [["tag", &id(3), token], ["note", &id(4), &note], ["name", &id(5), &note]] {
        assert!(run(&home, &words).0.contains("[redacted:"), "{words:?}");
    }
    home
}

/// What the program prints, its complaints included, and its exit code.
fn run(home: &ScratchHome, arguments: &[&str]) -> (String, Option<i32>) {
    let output = home.command(env!("CARGO_BIN_EXE_backstory")).args(arguments).output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (String::from_utf8_lossy(&text).into_owned(), output.status.code())
}

/// A home whose faces are asked, and what is different about it for other reasons than its secrets.
struct Face {
    home: ScratchHome,
    server: Server,
    mcp: McpClient,
}

impl Face {
    fn new(secrets: &[Planted]) -> Self {
        let home = home(secrets);
        // One order of the sessions in both indexes.
        run(&home, &["index"]);
        let server = Server::start(&home, &[]);
        let mcp = McpClient::start(&home);
        Self { home, server, mcp }
    }

    fn run(&self, arguments: &[&str]) -> String {
        let (text, code) = run(&self.home, arguments);
        self.without_places(&format!("{text}{code:?}"))
    }

    fn get(&self, path: &str) -> String {
        let answer = self.server.ask("GET", path).send();
        // An entity tag is a function of the body with all its places.
        self.without_places(&format!("{} {}", answer.status, answer.body))
    }

    fn call(&mut self, method: &str, parameters: &Value) -> String {
        let answer = self.mcp.ask(method, parameters).to_string();
        self.without_places(&answer)
    }

    fn without_places(&self, text: &str) -> String {
        let path = self.home.path().display().to_string();
        let slug = self.home.project_folder(self.home.path());
        let slug = slug.file_name().unwrap().to_string_lossy().into_owned();
        text.replace(&path, "~").replace(&slug, "-slug").replace(&self.server.address, "address")
    }
}

/// A client of the MCP server.
struct McpClient {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    next: u64,
}

impl McpClient {
    fn start(home: &ScratchHome) -> Self {
        let mut command = home.command(env!("CARGO_BIN_EXE_backstory"));
        command.arg("mcp").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let input = child.stdin.take().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let mut client = Self { child, input, output, next: 0 };
        let about = json!({"name": "test", "version": "1"});
        client.ask(
            "initialize",
            &json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": about}),
        );
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        client
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.input, "{message}").unwrap();
    }

    fn ask(&mut self, method: &str, parameters: &Value) -> Value {
        self.next += 1;
        let number = self.next;
        self.send(&json!({"jsonrpc": "2.0", "id": number, "method": method, "params": parameters}));
        loop {
            let mut line = String::new();
            assert_ne!(self.output.read_line(&mut line).unwrap(), 0, "the server has ended");
            let mut answer: Value = serde_json::from_str(&line).unwrap();
            if answer["id"] == number {
                return answer["result"].take();
            }
        }
    }
}

impl Drop for McpClient {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Fails where ten characters of a secret are in a text.
#[track_caller]
fn assert_hidden(text: &str, secrets: &[Planted], asked: &str) {
    for secret in secrets {
        let characters: Vec<char> = secret.hidden.chars().collect();
        for part in characters.windows(SHOWN) {
            let part: String = part.iter().collect();
            // What was asked is repeated by some answers.
            assert!(!text.replace(asked, "").contains(&part), "{asked}: {part} in {text}");
        }
    }
}

/// Words beside the secrets, their beginnings, and parts of each.
fn questions(secrets: &[Planted]) -> Vec<String> {
    let mut questions =
        vec!["zebra".to_owned(), "okapi".to_owned(), "ghp_".to_owned(), "redacted".to_owned()];
    for Planted { text, hidden } in secrets {
        let characters: Vec<char> = hidden.chars().take(60).collect();
        // From its beginning to its end.
        let parts = characters.chunks(6).filter(|part| part.len() == 6).step_by(long::amount(3, 1));
        questions.extend(parts.map(|part| part.iter().collect()));
        questions.push(characters[..2].iter().collect());
        let line = text.lines().next().unwrap_or_default();
        questions.push(line.chars().take(24).collect());
    }
    questions
}

fn escaped(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect::<Vec<_>>().concat()
}

/// Asks both the same; what they say holds no secret and is equal.
fn check(faces: &mut [Face; 2], secrets: &[Vec<Planted>; 2], asked: &str, ask: impl Fn(&mut Face) -> String) {
    let [one, other] = faces;
    let (one, other) = (ask(one), ask(other));
    for secrets in secrets {
        assert_hidden(&one, secrets, asked);
        assert_hidden(&other, secrets, asked);
    }
    assert_eq!(one, other, "asked for {asked}, two secrets are told apart");
}

#[test]
fn no_face_tells_what_a_secret_is() {
    let secrets = [planted(1), planted(2)];
    let mut faces = [Face::new(&secrets[0]), Face::new(&secrets[1])];
    let mut check = |asked: &str, ask: &dyn Fn(&mut Face) -> String| check(&mut faces, &secrets, asked, ask);
    for question in questions(&secrets[0]) {
        let text = escaped(&question);
        for number in 1..=secrets[0].len() {
            check(&question, &|face| face.get(&format!("/api/v1/sessions/{}/find?text={text}", id(number))));
        }
        for path in [
            format!("/api/v1/sessions?words={text}"),
            format!("/api/v1/sessions?branch=fix-{text}"),
            format!("/api/v1/sessions?tag={text}"),
            format!("/api/v1/search?query={text}"),
            format!("/api/sessions/archived?search={text}"),
        ] {
            check(&question, &|face| face.get(&path));
        }
        for (tool, arguments) in
            [("session_list", json!({"words": [question]})), ("search", json!({"query": question}))]
        {
            let call = json!({"name": tool, "arguments": arguments});
            check(&question, &|face| face.call("tools/call", &call));
        }
    }
    // A process each: words beside a secret, a part of it, and all of it.
    let token = &secrets[0][0].text;
    for question in ["zebra", &token[8..16], token] {
        for arguments in [
            &["list", question][..],
            &["list", question, "--json"],
            &["list", "--branch", &format!("fix-{question}")],
            &["list", "--tag", question],
            &["search", question, "--json"],
            &["search", "--grep", question, "--json"],
            &["search", "--grep", &format!("github|{question}|to"), "--json"],
            &["show", question],
            &["show", &id(1), question],
            &["prompts", question, "--json"],
            &["tag", question, "--json"],
        ] {
            check(question, &|face| face.run(arguments));
        }
    }
}

#[test]
fn no_answer_of_any_face_holds_a_part_of_a_secret() {
    let secrets = planted(3);
    let mut face = Face::new(&secrets);
    let hidden = |text: &str, asked: &str| assert_hidden(text, &secrets, asked);
    let first = id(1);
    for arguments in [
        &["list", "--json"][..],
        &["list"],
        &["prompts"],
        &["show", &first, "--tools", "--thinking", "--all"],
        &["show", &first, "--json"],
        &["show", &first, "--export", "html"],
        &["before", &first],
        &["handoff", &first],
        &["diff", &first],
        &["cost", "--by", "session", "--json"],
        &["cost", "--by", "branch"],
        &["pick", "zebra okapi", "--json"],
        &["fork", "zebra okapi"],
        &["day", "2026-03-01"],
        &["doctor", "--secrets"],
        &["export", "--markdown", "documents"],
        &["tag"],
    ] {
        hidden(&face.run(arguments), &arguments.join(" "));
    }
    for number in 1..=secrets.len() {
        let session = id(number);
        for part in ["", "/blocks?whole=true", "/messages?tools=true&thinking=true", "/outline"] {
            hidden(&face.get(&format!("/api/v1/sessions/{session}{part}")), part);
        }
        let call = json!({"name": "read_session", "arguments": {"session": session}});
        hidden(&face.call("tools/call", &call), "read_session");
        hidden(&face.call("resources/read", &json!({"uri": format!("session://{session}")})), "a resource");
    }
    for path in [
        "/api/v1/rows",
        "/api/v1/sessions",
        "/api/v1/tags",
        "/api/v1/spending",
        "/api/v1/replay",
        "/api/sessions",
    ] {
        hidden(&face.get(path), path);
    }
    let mut stream = face.server.ask("GET", "/api/v1/events").listen();
    hidden(&format!("{:?}", stream.next()), "events");
    hidden(&face.call("resources/list", &json!({})), "resources");
    // The person's own notes and the copies are kept as they are; docs/redaction.md lists them.
    let kept = ["annotations", "archive"];
    for file in files(&face.home.state_dir()).into_iter().chain(files(&face.home.path().join("documents"))) {
        let inside = file.strip_prefix(face.home.state_dir()).unwrap_or(&file).display().to_string();
        if !kept.iter().any(|name| inside.starts_with(name)) {
            // The branch of a session is in the catalog as git has it.
            let of = usize::from(inside.starts_with("catalog") || inside.starts_with("overview"));
            // What a database has beside it goes when the server closes it.
            let Some(content) = testkit::files::bytes_if_there(&file) else { continue };
            assert_hidden(&String::from_utf8_lossy(&content), &secrets[of..], &inside);
        }
    }
}

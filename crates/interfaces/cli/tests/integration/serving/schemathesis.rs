//! schemathesis asks the API whatever its description allows, and what it does not: no answer is a failure of the server,
//! and none is undescribed. Hostile parameters and headers, which it does not think of, are tried on every question too.

use std::path::Path;
use std::process::Command;

use serde_json::Value;
use testkit::claude::Run;
use testkit::{PATIENCE, ScratchHome, long};

use super::Server;

/// What each answer is checked for.
const CHECKS: &str = "status_code_conformance,content_type_conformance,response_schema_conformance";

#[test]
fn every_answer_is_described_and_none_is_a_failure() {
    let home = ScratchHome::new();
    let shop = home.dir("shop");
    super::session(&home, "3601d36f-b6c0-4e4b-9000-7b07e25374f7", &shop, "paint the fence", "Done.");
    let server = Server::start(&home, &["--log"]);
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tests/tools/http/.venv/bin/st");
    assert!(program.exists(), "{} is missing: run scripts/test", program.display());
    let mut command: Command = home.command(program);
    command
        .args(["run", &format!("http://{}/api/v1/openapi.json", server.address)])
        .args(["--header", &format!("Authorization: Bearer {}", server.token)])
        .args(["--generation-deterministic", "--max-examples", &long::amount(4, 100).to_string()])
        .args(["--checks", CHECKS, "--request-timeout", &PATIENCE.as_secs().to_string()])
        // Streams have no end, and the token that asks is not to be revoked.
        .args(["--exclude-path-regex", "events$|/stream$", "--exclude-operation-id", "revoke_token"]);
    let run = Run::of(command);
    let (_, log) = server.stop();
    assert_eq!(run.code, Some(0), "{}{}", run.stdout, run.stderr);
    let answers = log.lines().filter(|line| line.contains(" /api/")).count();
    assert!(answers > 100, "{answers} answers\n{}", run.stdout);
    assert!(!log.lines().any(|line| line.contains(" 500 ")), "{log}");
}

/// What only a file says that no parameter may lead to.
const PLANTED: &str = "planted-outside-of-everything";

/// The same numbers in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, count: usize) -> usize {
        // xorshift64*
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        usize::try_from(self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33).unwrap() % count
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len())]
    }

    /// A value made of pieces that mean something somewhere.
    fn value(&mut self) -> String {
        const PIECES: [&str; 26] = [
            "..",
            "%2e%2e",
            "%2F",
            "%5c",
            "%00",
            "%0d%0a",
            "~",
            "-1",
            "0",
            "18446744073709551616",
            "1e309",
            "null",
            "true",
            "%c3%28",
            "%f0%9f%a6%ad",
            "'",
            "%22",
            "%3Cscript%3E",
            "*",
            ";",
            "%25",
            "3601d36f",
            "claude:",
            "openclaw:main%2F",
            "agent:main:main",
            "planted.txt",
        ];
        let count = self.below(5);
        let text: String = (0..count).map(|_| self.one(&PIECES)).collect();
        if self.below(50) == 0 { text + &"x".repeat(4000) } else { text }
    }

    /// The path of a route with values in the place of its parameters.
    fn path(&mut self, template: &str) -> String {
        let mut path = String::new();
        for part in template.split('/').skip(1) {
            path.push('/');
            let value = if part.starts_with('{') { self.value() } else { part.to_owned() };
            path += if value.is_empty() { "x" } else { &value };
        }
        path
    }
}

#[test]
fn no_hostile_parameter_or_header_is_a_failure_or_leads_to_a_file() {
    let home = ScratchHome::new();
    let shop = home.dir("shop");
    super::session(&home, "3601d36f-b6c0-4e4b-9000-7b07e25374f7", &shop, "paint the fence", "Done.");
    for place in ["planted.txt", ".claude/planted.txt", ".claude/projects/planted.txt", "shop/planted.txt"] {
        home.write(place, PLANTED);
    }
    let server = Server::start(&home, &[]);
    let described = server.get("/api/v1/openapi.json");
    let questions: Vec<(&String, Vec<&str>, &Value)> = described["paths"]
        .as_object()
        .unwrap()
        .iter()
        .filter(|(path, _)| !path.ends_with("events"))
        .filter_map(|(path, methods)| methods.get("get").map(|get| (path, names(get), &get["responses"])))
        .collect();
    assert!(questions.len() > 60, "{}", questions.len());
    let mut dice = Dice(0x5eed);
    // Each question in turn.
    for (template, names, responses) in questions.iter().cycle().take(long::amount(800, 10_000)) {
        let mut path = dice.path(template);
        for at in 0..dice.below(4) {
            let name =
                if names.is_empty() || dice.below(8) == 0 { "other" } else { names[dice.below(names.len())] };
            path.push(if at == 0 { '?' } else { '&' });
            path += &[name, "=", &dice.value()].concat();
        }
        let method = dice.one(&["GET", "GET", "GET", "HEAD"]);
        let mut asking = server.ask(method, &path);
        if dice.below(3) == 0 {
            let name = dice.one(&[
                "If-None-Match",
                "Last-Event-ID",
                "Accept-Encoding",
                "Range",
                "Accept",
                "X-Forwarded-Host",
            ]);
            asking = asking.header(name, &dice.value());
        }
        let answer = asking.send();
        assert!((200..500).contains(&answer.status) || answer.status == 503, "{method} {path}: {answer:?}");
        assert!(!answer.body.contains(PLANTED), "{method} {path}: {answer:?}");
        // What has not changed is no answer of its own.
        let is_described = answer.status == 304 || responses[answer.status.to_string()].is_object();
        assert!(is_described, "{method} {path}: {answer:?}");
        if answer.status >= 400 && method == "GET" {
            assert!(!answer.failed(answer.status).is_empty(), "{path}");
        }
    }
    assert_eq!(server.get("/health")["status"], "healthy");
}

/// The names of the parameters in a question's query.
fn names(question: &Value) -> Vec<&str> {
    let all = question["parameters"].as_array().into_iter().flatten();
    all.filter(|one| one["in"] == "query").filter_map(|one| one["name"].as_str()).collect()
}

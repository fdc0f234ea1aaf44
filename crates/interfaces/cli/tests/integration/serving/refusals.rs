//! The refusals that the description of the API promises: each operation is asked without a token, under another name, with
//! too small a scope, and with bodies and parameters that it cannot take.

use serde_json::Value;
use testkit::ScratchHome;

use super::client::{Answer, Asking};
use super::{Server, token};

/// An operation of the description.
struct Operation<'a> {
    method: String,
    /// Its path, with an id that nothing has in the place of each parameter.
    path: String,
    described: &'a Value,
}

impl Operation<'_> {
    fn all(document: &Value) -> Vec<Operation<'_>> {
        let paths = document["paths"].as_object().expect("paths");
        paths
            .iter()
            .flat_map(|(template, methods)| {
                let path = template.split('/').map(unknown).collect::<Vec<_>>().join("/");
                methods.as_object().expect("methods").iter().map(move |(method, described)| Operation {
                    method: method.to_uppercase(),
                    path: path.clone(),
                    described,
                })
            })
            .collect()
    }

    fn has_body(&self) -> bool {
        self.described["requestBody"].is_object()
    }

    /// Whether it needs no token.
    fn is_open(&self) -> bool {
        self.described["security"] == serde_json::json!([])
    }

    fn asking(&self, server: &Server, token: Option<&str>) -> Asking {
        let asking = server.bare(&self.method, &self.path);
        match token {
            Some(token) => asking.header("Authorization", &format!("Bearer {token}")),
            None => asking,
        }
    }

    /// Checks that an answer is a problem with a status that is described.
    #[track_caller]
    fn check(&self, what: &str, answer: &Answer, expected: &[u16]) {
        let Self { method, path, described } = self;
        assert!(expected.contains(&answer.status), "{what}: {method} {path}: {answer:?}");
        let status = answer.status.to_string();
        assert!(
            described["responses"][&status].is_object(),
            "{what}: {method} {path} does not describe {status}"
        );
        assert!(!answer.failed(answer.status).is_empty(), "{what}: {method} {path}");
    }
}

/// An id that nothing has, in the form that a parameter of a path has to have; any other part of the path as it is.
fn unknown(part: &str) -> &str {
    match part {
        "{key}" => "claude:3601d36f-b6c0-4e4b-9000-7b07e25374f7",
        "{offset}" | "{number}" => "0",
        _ if part.starts_with('{') => "3601d36f-b6c0-4e4b-9000-7b07e25374f7",
        _ => part,
    }
}

#[test]
fn every_operation_refuses_as_it_is_described() {
    let home = ScratchHome::new();
    let server = Server::start(&home, &[]);
    let (read, act) = (token(&home, "reader", "read"), token(&home, "actor", "act"));
    let document = server.get("/api/v1/openapi.json");
    let all = Operation::all(&document);
    assert!(all.len() > 150, "{}", all.len());
    let mut scoped = [0, 0];
    for operation in &all {
        let elsewhere = Asking::new(&server.address, &operation.method, &operation.path);
        operation.check("another Host", &elsewhere.header("Host", "evil.example").send(), &[403]);
        let nowhere = Asking::new(&server.address, &operation.method, &operation.path);
        operation.check("no Host", &nowhere.send(), &[400]);
        let page = operation.asking(&server, Some(&server.token)).header("Origin", "http://evil.example");
        operation.check("another origin", &page.send(), &[403]);
        if operation.is_open() {
            continue;
        }
        operation.check("no token", &operation.asking(&server, None).send(), &[401]);
        operation.check("another token", &operation.asking(&server, Some("guessed")).send(), &[401]);
        let needed = operation.described["x-scope"].as_str().expect("a scope");
        for (token, granted) in [(&read, &["read"][..]), (&act, &["read", "act"])] {
            if !granted.contains(&needed) {
                operation.check(
                    needed,
                    &operation.asking(&server, Some(token)).json(&serde_json::json!({})).send(),
                    &[403],
                );
            }
        }
        if operation.has_body() {
            for (token, count) in [&read, &act].into_iter().zip(&mut scoped) {
                // A request that is let in does nothing: its body is not JSON.
                let answer = operation.asking(&server, Some(token)).body("text/plain", "x").send();
                operation.check("a smaller scope", &answer, &[403, 415]);
                *count += usize::from(answer.status == 403);
            }
            let asking = || operation.asking(&server, Some(&server.token));
            operation.check("a text", &asking().body("text/plain", "{}").send(), &[415]);
            let packed = asking().header("Content-Encoding", "gzip").body("application/json", "{}");
            operation.check("a compressed body", &packed.send(), &[415]);
            operation.check("half a body", &asking().body("application/json", "{").send(), &[400]);
            let large = asking().body("application/json", vec![b' '; (1 << 20) + 1]);
            operation.check("a large body", &large.send(), &[413]);
        }
    }
    // A reader may ask some questions in a body, and an actor may not administer.
    assert!(scoped[0] > 30 && (3..scoped[0]).contains(&scoped[1]), "{scoped:?}");
}

#[test]
fn a_name_that_nothing_has_is_a_described_refusal_of_every_operation() {
    let home = ScratchHome::new();
    let server = Server::start(&home, &[]);
    let document = server.get("/api/v1/openapi.json");
    let named = |operation: &&Operation<'_>| operation.path.contains("3601d36f") && !operation.has_body();
    let all = Operation::all(&document);
    let mut refused = 0;
    for operation in all.iter().filter(named) {
        let answer = operation.asking(&server, Some(&server.token)).send();
        let status = answer.status.to_string();
        assert!(
            operation.described["responses"][&status].is_object(),
            "{} {}: {answer:?}",
            operation.method,
            operation.path
        );
        if answer.status >= 400 {
            operation.check("no such name", &answer, &[400, 404, 409, 503]);
            refused += 1;
        }
    }
    assert!(refused > 30, "{refused}");
}

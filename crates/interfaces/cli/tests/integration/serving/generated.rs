//! schemathesis asks the API whatever its description allows, and what it does not: no answer is a failure of the server,
//! and none is undescribed.

use std::path::Path;
use std::process::Command;

use testkit::ScratchHome;
use testkit::claude::Run;

use super::Server;

/// How long it asks, in seconds.
const SECONDS: &str = "45";
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
        .args(["--max-time", SECONDS, "--seed", "1", "--checks", CHECKS, "--request-timeout", "120"])
        // Streams have no end, and the token that asks is not to be revoked.
        .args(["--exclude-path-regex", "events$|/stream$", "--exclude-operation-id", "revoke_token"]);
    let run = Run::of(command);
    let (_, log) = server.stop();
    assert_eq!(run.code, Some(0), "{}{}", run.stdout, run.stderr);
    let answers = log.lines().filter(|line| line.contains(" /api/")).count();
    assert!(answers > 100, "{answers} answers\n{}", run.stdout);
    assert!(!log.lines().any(|line| line.contains(" 500 ")), "{log}");
}

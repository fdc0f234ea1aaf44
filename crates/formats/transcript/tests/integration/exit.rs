//! How a session was left, by what several releases write then.

use transcript::{Line, Summary, UsageCollector};

const PROMPT: &str = r#"{"type":"user","uuid":"u1","timestamp":"2026-11-20T09:00:00Z","message":{"role":"user","content":"Hello"}}"#;
const ANSWER: &str = r#"{"type":"assistant","uuid":"u2","message":{"id":"m","model":"claude-opus-5-5","content":[{"type":"text","text":"Hi"}]}}"#;
/// Up to 2.1.260 the command is in the conversation.
const EXIT: &str = r#"{"type":"user","uuid":"u3","message":{"role":"user","content":"<command-name>/exit</command-name>\n            <command-message>exit</command-message>\n            <command-args></command-args>"}}"#;
const BYE: &str = r#"{"type":"user","uuid":"u4","message":{"role":"user","content":"<local-command-stdout>Bye!</local-command-stdout>"}}"#;
const NO_RESPONSE: &str = r#"{"type":"assistant","uuid":"u5","message":{"id":"n","model":"<synthetic>","content":[{"type":"text","text":"No response requested."}]}}"#;
/// From 2.1.329 on it is not.
const TOTAL: &str = r#"{"type":"cost-state","totalCostUSD":0.1,"modelUsage":{}}"#;
const FILES: &str = r#"{"type":"file-history-snapshot","messageId":"x","snapshot":{"messageId":"x","trackedFileBackups":{},"timestamp":"2026-11-20T10:00:00Z"},"isSnapshotUpdate":false}"#;
const LAST_PROMPT: &str = r#"{"type":"last-prompt","lastPrompt":"Hello"}"#;

fn check(lines: &[&str], expected: bool) {
    let (mut summary, mut spent) = (Summary::new(&"a".parse().unwrap()), UsageCollector::default());
    for line in lines {
        summary.observe(Line::of(line.as_bytes()), &mut spent);
    }
    assert_eq!(summary.was_exited, expected, "{lines:#?}");
}

#[test]
fn an_exit_command_ends_the_session() {
    check(&[PROMPT, ANSWER], false);
    check(&[PROMPT, ANSWER, EXIT, BYE], true);
    check(&[PROMPT, ANSWER, &EXIT.replace("/exit", "/quit"), BYE], true);
    check(&[PROMPT, ANSWER, EXIT, BYE, FILES, NO_RESPONSE], true);
    check(&[PROMPT, ANSWER, EXIT, BYE, NO_RESPONSE, PROMPT], false);
    check(&[PROMPT, ANSWER, EXIT, BYE, ANSWER], false);
    check(&[PROMPT, ANSWER, &EXIT.replace("/exit", "/model")], false);
    check(&[EXIT, BYE, &EXIT.replace("/exit", "/model")], false);
    check(&[&PROMPT.replace("Hello", "what does /exit do?")], false);
    let sidechain = EXIT.replace("{\"type\"", "{\"isSidechain\":true,\"type\"");
    check(&[PROMPT, ANSWER, &sidechain], false);
    let by_system = r#"{"type":"system","subtype":"local_command","uuid":"c","content":"<command-name>/exit</command-name>"}"#;
    check(&[PROMPT, ANSWER, by_system], true);
}

#[test]
fn file_records_after_an_exit_do_not_reopen_the_session() {
    check(&[FILES, PROMPT, ANSWER, LAST_PROMPT, TOTAL, FILES, TOTAL], true);
    check(&[FILES, PROMPT, ANSWER, TOTAL, FILES, LAST_PROMPT, TOTAL], true);
    // Ctrl-C, Ctrl-D, a signal; `/clear`, a print.
    check(&[FILES, PROMPT, ANSWER, LAST_PROMPT, TOTAL, TOTAL], false);
    check(&[FILES, PROMPT, ANSWER, LAST_PROMPT, TOTAL], false);
    check(&[FILES, PROMPT, ANSWER, TOTAL, TOTAL, FILES, PROMPT, ANSWER], false);
    check(&[FILES, PROMPT, ANSWER, TOTAL, FILES, TOTAL, FILES, PROMPT], false);
    let update = FILES.replace("\"isSnapshotUpdate\":false", "\"isSnapshotUpdate\":true");
    check(&[FILES, PROMPT, ANSWER, TOTAL, &update, TOTAL], false);
}

//! The whole output of `list`, in a scratch home.

use testkit::ScratchHome;

fn run(home: &ScratchHome, arguments: &[&str]) -> String {
    let output = home.command(env!("CARGO_BIN_EXE_backstory")).args(arguments).output().unwrap();
    let part = |name: &str, bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes).replace(&home.path().display().to_string(), "[home]");
        let is_timeless = |line: &&str| !line.trim_start().starts_with("\"minutes_since_use\"");
        let text: String = text.split_inclusive('\n').filter(is_timeless).collect();
        if text.is_empty() { String::new() } else { format!("--- {name}\n{text}") }
    };
    let code = output.status.code().unwrap();
    format!("exit {code}\n{}{}", part("stdout", &output.stdout), part("stderr", &output.stderr))
}

/// One session of each origin, long ago: an age in years is left out of what is compared.
fn home() -> ScratchHome {
    let home = ScratchHome::new();
    session(&home, "11111111-aaaa", "web", "cli", "Make the build faster", "01-01");
    session(&home, "22222222-bbbb", "web", "claude-vscode", "Rename the theme module", "01-02");
    session(&home, "33333333-cccc", "api", "sdk-cli", "[openclaw:agent=main]\\n\\nFix the tests", "01-03");
    session(&home, "44444444-dddd", "api", "sdk-cli", "[openclaw:agent=ops]\\n\\nRotate the keys", "01-04");
    home.write(
        ".openclaw/agents/main/claude-code-sessions.json",
        r#"{"sessions":{"/code/api":{"sessionId":"33333333-cccc","createdAt":"2020-01-03T00:00:00Z",
            "totalCostUsd":0.42,"totalTurns":7,"taskHistory":[{"at":"2020-01-03T00:00:00Z","task":"Fix the tests"}]},
            "/code/old":{"sessionId":"55555555-eeee","createdAt":"2019-12-01T00:00:00Z","totalCostUsd":1.5}}}"#,
    );
    home
}

fn session(home: &ScratchHome, id: &str, project: &str, entrypoint: &str, prompt: &str, day: &str) {
    let envelope = format!(
        r#""cwd":"/code/{project}","sessionId":"{id}","version":"2.1.329","gitBranch":"main","entrypoint":"{entrypoint}","timestamp":"2020-{day}T00:00:00.000Z""#
    );
    let usage = r#"{"input_tokens":1000,"output_tokens":2000,"cache_read_input_tokens":50000}"#;
    home.write(
        &format!(".claude/projects/-code-{project}/{id}.jsonl"),
        format!(
            r#"{{"type":"user","uuid":"u-{id}","parentUuid":null,{envelope},"message":{{"role":"user","content":"{prompt}"}}}}
{{"type":"assistant","uuid":"a-{id}","parentUuid":"u-{id}",{envelope},"requestId":"r-{id}","message":{{"id":"m-{id}","model":"claude-sonnet-4-5-20250929","role":"assistant","content":[{{"type":"text","text":"Done."}}],"usage":{usage}}}}}
"#
        ),
    );
}

fn check(name: &str, arguments: &[&str]) {
    check_in(name, &home(), arguments);
}

fn check_in(name: &str, home: &ScratchHome, arguments: &[&str]) {
    insta::assert_snapshot!(name, run(home, arguments));
}

#[test]
fn sessions_of_every_origin() {
    check("sessions_of_every_origin", &["list"]);
}

/// On a narrow line the titles give way, and then the figures: never who began a session.
#[test]
fn long_titles_give_way() {
    let home = home();
    for (id, prompt) in [
        (
            "66666666-ffff",
            "Rewrite the importer so that it reads every file once and tells of each line it could not read",
        ),
        (
            "77777777-aaaa",
            "[openclaw:agent=reviewer]\\n\\nLook through the importer again and say what a stranger would trip over in it",
        ),
    ] {
        session(&home, id, "a-project-with-a-long-name", "cli", prompt, "01-05");
    }
    check_in("long_titles_in_a_pipe", &home, &["list"]);
    home.write(".backstory/welcomed", "");
    let program = env!("CARGO_BIN_EXE_backstory");
    for width in [60, 80] {
        let mut command = home.command("sh");
        command
            .args(["-c", &format!("'{program}' list; exec cat")])
            .env("BACKSTORY_ARCHIVE_ENABLED", "false");
        let terminal = testkit::Terminal::run(&command, width, 24);
        terminal.until(|screen| screen.contains("11111111"));
        insta::assert_snapshot!(format!("long_titles_in_{width}_columns"), terminal.screen().trim_end());
    }
}

#[test]
fn one_agent_as_json() {
    check("one_agent_as_json", &["list", "--agent", "main", "--project", "API", "--json"]);
}

#[test]
fn nothing_is_like_that() {
    check("nothing_is_like_that", &["list", "--branch", "none"]);
}

#[test]
fn a_time_that_is_none() {
    check("a_time_that_is_none", &["list", "--since", "soon"]);
}

#[test]
fn a_home_without_sessions() {
    insta::assert_snapshot!("a_home_without_sessions", run(&ScratchHome::new(), &["list"]));
}

#[test]
fn what_was_spent() {
    check("what_was_spent", &["cost", "--by", "project"]);
}

#[test]
fn one_session_as_markdown() {
    check("one_session_as_markdown", &["show", "1111", "--export", "md"]);
}

#[test]
fn a_session_that_only_the_registry_names() {
    check("a_session_that_only_the_registry_names", &["show", "5555"]);
}

/// Totals are kept between listings: what is kept must never outlive what it was reckoned from.
#[test]
fn tokens_follow_the_transcript() {
    let home = ScratchHome::new();
    let short = testkit::Transcript::new("11111111-aaaa").prompt("Count").answer("One");
    let long = short.clone().prompt("Go on").answer("Two");
    let output_tokens = || {
        let listed = home.command(env!("CARGO_BIN_EXE_backstory")).args(["list", "--json"]).output().unwrap();
        let json: serde_json::Value = serde_json::from_slice(&listed.stdout).unwrap();
        json["sessions"][0]["total_output_tokens"].as_u64().unwrap()
    };
    short.write_to(&home);
    assert_eq!(output_tokens(), short.total_usage().output);
    assert_eq!(output_tokens(), short.total_usage().output, "nothing changed");
    long.write_to(&home);
    assert_eq!(output_tokens(), long.total_usage().output);
    assert!(long.total_usage().output > short.total_usage().output);
}

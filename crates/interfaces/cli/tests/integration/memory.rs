//! `memory`, as a script that was written for OpenClaw's own command uses it.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use testkit::ScratchHome;
use testkit::claude::Run;
use testkit::transcript::Transcript;

const TALK: &str = ".openclaw/agents/main/sessions/0b7c.jsonl";

fn write(home: &ScratchHome, name: &str, text: &str) {
    let path = home.path().join(name);
    fs::create_dir_all(path.parent().expect("a folder")).expect("a new folder");
    fs::write(path, text).expect("a new file");
}

fn backstory(home: &ScratchHome, arguments: &[&str]) -> Run {
    let mut command = home.command(env!("CARGO_BIN_EXE_backstory"));
    command.args(arguments);
    Run::of(command)
}

fn answer(home: &ScratchHome, arguments: &[&str]) -> Value {
    let run = backstory(home, &[arguments, &["--json"]].concat()).succeeded();
    serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {}", run.stdout))
}

/// The sources of the results of a search, with the paths.
fn found(home: &ScratchHome, arguments: &[&str]) -> Vec<(String, String)> {
    let answer = answer(home, &[&["memory", "search", "--min-score", "0"], arguments].concat());
    let text = |result: &Value, key: &str| result[key].as_str().unwrap_or_default().to_owned();
    let results = answer["results"].as_array().expect("results");
    let mut found: Vec<_> =
        results.iter().map(|result| (text(result, "source"), text(result, "path"))).collect();
    found.sort();
    found
}

/// A home with notes, a conversation, and two Claude sessions, of which one works for the conversation.
fn home() -> ScratchHome {
    let home = ScratchHome::new();
    write(&home, ".openclaw/openclaw.json", "{}");
    write(
        &home,
        ".openclaw/workspace/memory/2026-01-15.md",
        "# Thursday\n\nThe walrus embeddings are done.\n",
    );
    write(
        &home,
        TALK,
        "{\"type\":\"message\",\"id\":\"a1\",\"message\":{\"role\":\"user\",\"content\":\"walrus embeddings by phone\"}}\n",
    );
    write(
        &home,
        ".openclaw/agents/main/sessions/sessions.json",
        r#"{"agent:main:main": {"sessionId": "0b7c", "cliSessionIds": {"claude-cli": "owned"}}}"#,
    );
    for (id, project) in [("owned", "web"), ("direct", "mine")] {
        let cwd = home.dir(&format!("projects/{project}"));
        let transcript = Transcript::new(id).cwd(&cwd).prompt("walrus embeddings").answer("ok");
        let path = home.project_folder(&cwd).join(format!("{id}.jsonl"));
        fs::create_dir_all(path.parent().expect("a folder")).expect("a new folder");
        fs::write(path, transcript.bytes()).expect("a transcript");
    }
    home
}

fn path_of(home: &ScratchHome, id: &str, project: &str) -> String {
    let cwd = home.path().join("projects").join(project);
    home.project_folder(&cwd).join(format!("{id}.jsonl")).display().to_string()
}

#[test]
fn a_script_for_openclaw_runs_with_another_word() {
    let home = home();
    let question = ["walrus embeddings"];
    let note = ("memory".to_owned(), "memory/2026-01-15.md".to_owned());
    let talk = ("sessions".to_owned(), "sessions/0b7c.jsonl".to_owned());
    let claude = |id: &str, project: &str| ("claude-sessions".to_owned(), path_of(&home, id, project));
    let (direct, owned) = (claude("direct", "mine"), claude("owned", "web"));
    assert_eq!(found(&home, &question), [direct.clone(), note.clone(), talk.clone()]);
    let all = [direct.clone(), owned.clone(), note.clone(), talk.clone()];
    assert_eq!(found(&home, &["walrus embeddings", "--include-owned"]), all);
    assert_eq!(found(&home, &["walrus embeddings", "--project", "mine"]), std::slice::from_ref(&direct));
    assert_eq!(found(&home, &["walrus embeddings #mine"]), std::slice::from_ref(&direct));
    assert_eq!(found(&home, &["walrus embeddings #nobody"]).len(), 3);
    // A conversation is of the project of the Claude session behind it, which is left out for it.
    assert_eq!(found(&home, &["walrus embeddings #web"]), std::slice::from_ref(&talk));
    assert_eq!(found(&home, &["walrus embeddings", "--project", "web"]), std::slice::from_ref(&talk));
    assert_eq!(found(&home, &["walrus", "--session", "agent:main:main"]), std::slice::from_ref(&talk));
    assert_eq!(found(&home, &["walrus", "--source", "memory", "--agent", "main"]), [note]);
    assert_eq!(found(&home, &["walrus", "--max-results", "1"]).len(), 1);
    let person = answer(&home, &["search", "walrus"]);
    assert_eq!(person["total"], json!(4), "the person's search hides nothing: {person}");
    fs::remove_file(home.path().join(TALK)).expect("the conversation");
    assert!(found(&home, &question).contains(&owned), "its owner is gone");
}

#[test]
fn a_result_tells_its_lines() {
    let home = home();
    let answer = answer(&home, &["memory", "search", "walrus", "--source", "memory", "--min-score", "0"]);
    let result = &answer["results"][0];
    assert_eq!((&result["startLine"], &result["endLine"]), (&json!(1), &json!(3)), "{result}");
    assert_eq!(result["snippet"], "# Thursday\n\nThe walrus embeddings are done.\n");
    let plain = backstory(&home, &["memory", "search", "walrus", "--source", "memory", "--min-score", "0"]);
    assert!(plain.succeeded().stdout.contains(" memory/2026-01-15.md:1-3\n# Thursday"));
    let none = backstory(&home, &["memory", "search", "qqqq", "--min-score", "0.9"]).succeeded();
    assert_eq!(none.stdout, "No matches.\n");
}

#[test]
fn openclaws_settings_count() {
    let home = home();
    let set = |block: &str| {
        let text = format!(r#"{{"agents": {{"defaults": {{"memorySearch": {block}}}}}}}"#);
        write(&home, ".openclaw/openclaw.json", &text);
    };
    let sources =
        || found(&home, &["walrus embeddings"]).into_iter().map(|(source, _)| source).collect::<Vec<_>>();
    set(r#"{"sources": ["memory", "claude-sessions"]}"#);
    assert_eq!(
        sources(),
        ["claude-sessions", "claude-sessions", "memory"],
        "no conversation hides its session"
    );
    set(r#"{"claudeSessions": {"enabled": false}}"#);
    assert_eq!(sources(), ["memory", "sessions"]);
    set(r#"{"claudeSessions": {"defaultProject": "web"}, "sources": ["claude-sessions"]}"#);
    assert_eq!(
        found(&home, &["walrus embeddings"]),
        [("claude-sessions".to_owned(), path_of(&home, "owned", "web"))]
    );
    set(r#"{"enabled": false}"#);
    assert_eq!(backstory(&home, &["memory", "search", "walrus"]).code, Some(5));

    let elsewhere = home.dir("elsewhere/-p");
    fs::write(
        elsewhere.join("far.jsonl"),
        Transcript::new("far").cwd("/p").prompt("walrus embeddings").bytes(),
    )
    .expect("a transcript");
    set(r#"{"sources": ["claude-sessions"], "claudeSessions": {"path": "~/elsewhere"}}"#);
    let far = found(&home, &["walrus embeddings"]);
    assert_eq!(far.len(), 1);
    assert!(Path::new(&far[0].1).ends_with("elsewhere/-p/far.jsonl"), "{far:?}");
}

#[test]
fn the_status_counts_what_is_indexed() {
    let home = home();
    let before = answer(&home, &["memory", "status"]);
    assert_eq!((&before[0]["agentId"], &before[0]["status"]["dirty"]), (&json!("main"), &json!(true)));
    let done = backstory(&home, &["memory", "index", "--force"]).succeeded();
    assert!(done.stdout.starts_with("Memory index updated: 4 files read"), "{}", done.stdout);
    let after = answer(&home, &["memory", "status", "--deep"]);
    let status = &after[0]["status"];
    assert_eq!((&status["dirty"], &status["files"]), (&json!(false), &json!(4)), "{status}");
    let counts = status["sourceCounts"].as_array().unwrap();
    assert!(counts.contains(&json!({"source": "memory", "files": 1, "chunks": 1})), "{status}");
    assert_eq!((&status["provider"], &status["model"]), (&json!("local"), &json!("built-in")));
    assert_eq!(after[0]["embeddingProbe"], json!({"ok": true}));
    assert_eq!((&after[0]["scan"]["totalFiles"], &after[0]["scan"]["issues"]), (&json!(4), &json!([])));
    assert_eq!(backstory(&home, &["memory", "status", "--agent", "nobody"]).code, Some(3));
}

#[test]
fn the_status_names_who_embeds() {
    let home = home();
    let with = |settings: &str| {
        home.write(".config/backstory/config.toml", settings);
        answer(&home, &["memory", "status", "--deep"])[0].clone()
    };
    let status = with("embedding.model = \"~/no-such-model\"\n");
    let folder = home.path().join("no-such-model").display().to_string();
    assert_eq!(
        (&status["status"]["provider"], &status["status"]["model"]),
        (&json!("local"), &json!(folder))
    );
    assert_eq!(status["embeddingProbe"]["ok"], json!(false), "{status}");
    assert_eq!(status["status"]["fallback"]["from"], "local", "{status}");
    let server = testkit::EmbeddingServer::start(Vec::new());
    let status = with(&format!("[embedding]\nmodel = \"{}\"\nendpoint_model = \"small-3\"\n", server.url()));
    assert_eq!(
        (&status["status"]["provider"], &status["status"]["model"]),
        (&json!("openai"), &json!("small-3"))
    );
    assert_eq!(status["embeddingProbe"], json!({"ok": true}), "{status}");
    assert_eq!(status["status"]["fallback"], json!(null));
    // What a source lacks is said; what is not searched is not counted.
    home.write(
        ".openclaw/openclaw.json",
        r#"{"agents": {"defaults": {"memorySearch": {"sources": ["memory"]}}}}"#,
    );
    fs::remove_file(home.path().join(".openclaw/workspace/memory/2026-01-15.md")).unwrap();
    let status = with("");
    assert_eq!(status["scan"]["totalFiles"], json!(0), "{status}");
    assert_eq!(status["scan"]["issues"].as_array().map(Vec::len), Some(1), "{status}");
    assert_eq!(
        status["status"]["sourceCounts"].as_array().map_or(9, Vec::len),
        0,
        "nothing is indexed: {status}"
    );
    let said = backstory(&home, &["memory", "status"]).succeeded().stdout;
    assert!(said.contains("no files of the source `memory`") && said.contains("built-in"), "{said}");
}

/// OpenClaw leaves out what scores below 0.35: a word that occurs must not.
#[test]
fn a_word_that_was_written_down_is_found_by_default() {
    let home = home();
    let day =
        |day| format!("## Day {day}\n\nMoved the crates of bay {day} to the quay and paid the crew.\n\n");
    let notes = (0..40).map(day).collect::<Vec<_>>().concat();
    write(
        &home,
        ".openclaw/workspace/MEMORY.md",
        &format!("# Remember\n\nThe heron nests under the second pier, leave it alone.\n\n{notes}"),
    );
    let ask =
        |question: &str| answer(&home, &["memory", "search", question])["results"].as_array().map(Vec::len);
    assert_eq!(ask("heron"), Some(1));
    assert_eq!(ask("price of saffron in Lisbon"), Some(0));
}

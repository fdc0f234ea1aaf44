//! No secret leaves: not in a search, a list, a conversation, an export or a ranking; nor is one indexed.

use std::fs::OpenOptions;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use testkit::{ScratchHome, Transcript};

/// Made up, and put together here so that nobody takes it for one.
fn secret() -> String {
    format!("gh{}{}", "p_", "Zq7Lm2Xv9Kd4Rt6Wb1Nc8Ys3Hf5Jg0PaQeUi")
}

fn home() -> ScratchHome {
    let home = ScratchHome::new();
    let prompt = format!("Push with {} to the mirror, please. It was zebra-striped before.", secret());
    let command = format!("git push https://sam:{}@git.example/mirror.git zebra", secret());
    Transcript::new("11111111-aaaa")
        .prompt(&prompt)
        .answer(&format!("I pushed with {}; the zebra branch is there.", secret()))
        .prompt(&format!("And again? export GITHUB_TOKEN={}", secret()))
        .answer(&command)
        .write_to(&home);
    home
}

fn run(home: &ScratchHome, arguments: &[&str]) -> std::process::Output {
    home.command(env!("CARGO_BIN_EXE_backstory")).args(arguments).output().unwrap()
}

/// The output of the whole program about the session, in each of its forms.
const ASKED: [&[&str]; 9] = [
    &["search", "zebra"],
    &["search", "--json", "zebra mirror"],
    &["list"],
    &["list", "--json"],
    &["show", "1111"],
    &["show", "1111", "--tools", "--thinking", "--export", "md"],
    &["show", "1111", "--export", "html"],
    &["show", "1111", "--json"],
    &["cost", "--by", "session"],
];

#[test]
fn no_answer_holds_a_secret() {
    let home = home();
    for asked in ASKED {
        let output = run(&home, asked);
        let text = [output.stdout, output.stderr].concat();
        let text = String::from_utf8_lossy(&text);
        assert!(output.status.success(), "{asked:?}: {text}");
        assert!(!text.contains(&secret()[4..]), "{asked:?}: {text}");
        assert!(text.contains("[redacted:") || asked[0] == "list" || asked[0] == "cost", "{asked:?}: {text}");
    }
    let json: Value = serde_json::from_slice(&run(&home, &["list", "--json"]).stdout).unwrap();
    let prompt = json["sessions"][0]["first_message"].as_str().unwrap();
    assert!(prompt.starts_with("Push with [redacted:github-token] to the mirror"), "{prompt}");
}

/// A transcript may hold anything in any of its fields.
#[test]
fn no_field_of_a_session_holds_a_secret() {
    let home = ScratchHome::new();
    let record = json!({
        "type": "user", "uuid": "u1", "sessionId": "22222222-aaaa", "cwd": "/home/ana/shop",
        "timestamp": "2026-11-20T09:00:00Z", "gitBranch": secret(), "slug": secret(), "version": secret(),
        "entrypoint": secret(), "permissionMode": secret(), "message": {"role": "user", "content": "hello"},
    });
    home.write(".claude/projects/-home-ana-shop/22222222-aaaa.jsonl", format!("{record}\n"));
    for asked in
        [&["list"][..], &["list", "--json"], &["show", "2222", "--json"], &["cost", "--by", "session"]]
    {
        let output = run(&home, asked);
        let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert!(output.status.success() && !text.contains(&secret()[4..]), "{asked:?}: {text}");
    }
    let json: Value = serde_json::from_slice(&run(&home, &["list", "--json"]).stdout).unwrap();
    for field in ["branch", "nickname", "version", "entrypoint"] {
        assert_eq!(json["sessions"][0][field], "[redacted:github-token]", "{field}: {json}");
    }
}

#[test]
fn a_hook_leaves_no_secret() {
    let home = ScratchHome::new();
    let payload = json!({
        "session_id": "22222222-aaaa", "hook_event_name": "PermissionRequest", "tool_name": "Bash",
        "tool_input": {"command": "./x", "description": "log in with password=hunter2X9"},
    });
    let folder = home.state_dir().join("hooks");
    let mut hook = home.command(env!("CARGO_BIN_EXE_backstory"));
    let mut hook = hook.arg("hook").arg(&folder).stdin(Stdio::piped()).spawn().unwrap();
    hook.stdin.take().unwrap().write_all(payload.to_string().as_bytes()).unwrap();
    assert!(hook.wait().unwrap().success());
    let kept = String::from_utf8(testkit::files::bytes(&folder.join("events.jsonl"))).unwrap();
    assert!(kept.contains("password=[redacted:password]") && !kept.contains("hunter2X9"), "{kept}");
}

#[test]
fn what_is_watched_holds_no_secret() {
    let home = home();
    let listed: Value = serde_json::from_slice(&run(&home, &["list", "--json"]).stdout).unwrap();
    let file = listed["sessions"][0]["file"].as_str().unwrap();
    let append = |line: &str| {
        let mut file = OpenOptions::new().append(true).open(file).unwrap();
        file.write_all(format!("{line}\n").as_bytes()).unwrap();
    };
    // Something was said just now.
    append(&json!({"type": "system", "uuid": "now", "timestamp": "2099-01-01T00:00:00.000Z"}).to_string());
    let mut watch = home.command(env!("CARGO_BIN_EXE_backstory"));
    watch.args(["watch", "--json"]).stdin(Stdio::null()).stdout(Stdio::piped());
    let mut watch = watch.spawn().unwrap();
    let mut lines = BufReader::new(watch.stdout.take().unwrap()).lines().map_while(Result::ok);
    let mut until = |what: &str| {
        let line = lines.find(|line| line.contains(what)).unwrap();
        assert!(!line.contains(&secret()[4..]), "{line}");
        line
    };
    // The state at the beginning, before anything was listed.
    let first = until("sessions-refresh");
    assert!(first.contains("11111111-aaaa") && first.contains("[redacted:github-token]"), "{first}");
    let description = format!("Push with {}", secret());
    let input = json!({"command": "git push", "description": description});
    let call = json!({"type": "tool_use", "id": "t1", "name": "Bash", "input": input});
    let message = json!({"role": "assistant", "content": [call], "stop_reason": "tool_use"});
    let record = json!({"type": "assistant", "uuid": "new", "message": message});
    append(&record.to_string());
    until(r#""eventType":"tool_use""#);
    until("session-activity");
    until("session-updated");
    watch.kill().unwrap();
    watch.wait().unwrap();
}

#[test]
fn marks_stand_where_the_words_are() {
    let home = home();
    let json: Value = serde_json::from_slice(&run(&home, &["search", "--json", "zebra"]).stdout).unwrap();
    let hit = &json["hits"][0];
    let snippet = hit["snippet"].as_str().unwrap();
    let marked = |mark: &Value| {
        let at = |end: usize| usize::try_from(mark[end].as_u64().unwrap()).unwrap();
        snippet[at(0)..at(1)].to_lowercase()
    };
    let marks: Vec<_> = hit["marks"].as_array().unwrap().iter().map(marked).collect();
    assert!(snippet.contains("[redacted:"), "{snippet}");
    assert!(!marks.is_empty() && marks.iter().all(|word| word == "zebra"), "{marks:?} in {snippet}");
}

#[test]
fn the_index_holds_no_secret() {
    let home = home();
    let found = |question: &str| {
        let json: Value =
            serde_json::from_slice(&run(&home, &["search", "--json", question]).stdout).unwrap();
        json["total"].as_u64().unwrap()
    };
    assert_eq!(found("zebra"), 1);
    assert_eq!(found(&secret()), 0, "the secret is a word of the index");
    assert_eq!(found(&secret()[4..]), 0, "the secret is a word of the index");
}

/// The files of Backstory's state that hold the secret.
fn kept_in(home: &ScratchHome) -> Vec<PathBuf> {
    let holds =
        |path: &PathBuf| String::from_utf8_lossy(&testkit::files::bytes(path)).contains(&secret()[4..]);
    files(&home.state_dir()).into_iter().filter(holds).collect()
}

#[test]
fn what_is_forgotten_is_gone() {
    let home = home();
    for asked in ASKED {
        run(&home, asked);
    }
    // `--show-secrets` needs what was said; docs/redaction.md says where it is kept.
    assert!(kept_in(&home).iter().all(|file| !file.starts_with(home.state_dir().join("index"))));
    std::fs::remove_dir_all(home.config_dir().join("projects")).unwrap();
    // What Claude Code deletes is kept until it is forgotten.
    for asked in [
        &["forget", "--before", "2100-01-01", "--yes"][..],
        &["list"],
        &["index"],
        &["list", "--json"],
        &["search", "zebra"],
        &["doctor"],
    ] {
        run(&home, asked);
    }
    assert_eq!(kept_in(&home), Vec::<PathBuf>::new());
}

#[test]
fn no_file_of_ours_has_a_word_of_a_forgotten_session() {
    let home = home();
    let id = "22222222-aaaa-4aaa-8aaa-aaaaaaaaaaaa";
    let words = ["xylophonicquasar", "swordfishpelican", id];
    Transcript::new(id).prompt("The xylophonicquasar.").answer("A swordfishpelican.").write_to(&home);
    let hooked = json!({
        "session_id": id, "hook_event_name": "PermissionRequest", "tool_name": "Bash",
        "tool_input": {"command": "./x", "description": "feed the swordfishpelican"},
    });
    let mut hook = home.command(env!("CARGO_BIN_EXE_backstory"));
    let mut hook =
        hook.arg("hook").arg(home.state_dir().join("hooks")).stdin(Stdio::piped()).spawn().unwrap();
    hook.stdin.take().unwrap().write_all(hooked.to_string().as_bytes()).unwrap();
    assert!(hook.wait().unwrap().success());
    for asked in
        [&["search", "xylophonicquasar"][..], &["list"], &["archive"], &["export", "--markdown", "docs"]]
    {
        run(&home, asked);
    }
    let found = |word: &str| {
        let ours = [home.state_dir(), home.path().join("docs")];
        let holds = |path: &PathBuf| {
            path.to_string_lossy().contains(word)
                || String::from_utf8_lossy(&testkit::files::bytes(path)).to_lowercase().contains(word)
        };
        ours.iter().flat_map(|folder| files(folder)).filter(holds).collect::<Vec<_>>()
    };
    assert!(words.iter().all(|word| !found(word).is_empty()));
    let forgotten = run(&home, &["forget", id, "--transcripts", "--yes"]);
    let said = String::from_utf8_lossy(&forgotten.stdout).into_owned();
    assert!(said.contains("Removed 1 exported document."), "{said}");
    let is_note = |path: &PathBuf| path.ends_with("archive/forgotten");
    for word in words {
        let left: Vec<PathBuf> = found(word).into_iter().filter(|path| !is_note(path)).collect();
        assert_eq!(left, Vec::<PathBuf>::new(), "{word}");
    }
}

/// All files below a folder.
pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

#[test]
fn secrets_are_shown_on_a_terminal_only() {
    let home = home();
    let refused = run(&home, &["show", "1111", "--show-secrets"]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(2), "{said}");
    assert!(refused.stdout.is_empty() && said.contains("only on your own terminal"), "{said}");
    for asked in [&["show", "1111", "--show-secrets"][..], &["search", "zebra", "--show-secrets"]] {
        let shown = on_a_terminal(&home, asked);
        let unwrapped: String = shown.split_whitespace().collect();
        assert!(unwrapped.contains(&secret()), "{asked:?}: {shown}");
    }
    assert!(!on_a_terminal(&home, &["show", "1111"]).contains(&secret()));
}

/// The output of the program on a terminal: `script` gives it one.
fn on_a_terminal(home: &ScratchHome, arguments: &[&str]) -> String {
    let line = format!("{} {}", env!("CARGO_BIN_EXE_backstory"), arguments.join(" "));
    let mut command: Command = home.command(Path::new("script"));
    let output =
        command.args(["-qec", &line, "/dev/null"]).env("PAGER", "cat").env("NO_COLOR", "1").output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.replace("\u{1b}[0m", "")
}

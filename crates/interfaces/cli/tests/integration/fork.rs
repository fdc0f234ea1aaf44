//! `fork <intent>` with qmd beside it: every line of what a smart fork has to do, shown with the real qmd, the real
//! `claude` and what goes wrong with them.
//!
//! | what has to hold | shown by |
//! |---|---|
//! | prefers `qmd query`, falls back to `vsearch`, then `search`, and says so | `the_chain_ends_where_qmd_can_answer` |
//! | a better step that works is taken, whatever noise it prints | `a_qmd_with_models_is_believed` |
//! | the answer is the one of the document, field by field | `the_response_example_field_by_field` |
//! | no qmd, or no collection: our index answers and says why | `without_qmd_the_index_answers_and_says_so` |
//! | slow, failing, or printing junk | `a_qmd_that_fails_in_any_way_costs_an_answer_never_the_command` |
//! | neither knows anything: guidance and the newest sessions | `where_nothing_is_found_there_is_guidance` |
//! | `auto_fork`, `fork_index` from 0, `fork_rank` from 1: a worker in a fork, the original as it was | `a_fork_by_rank_works_on_the_intent` |
//! | that worker has its directory, or waits for it; it asks, is answered and sent more | `a_fork_by_rank_is_a_worker_with_a_place_of_its_own` |
//! | a fork into another directory: a new copy that replaces nothing, gone afterwards, with two releases of `claude` | `resume.rs`, `check_forking_elsewhere`; `app/proceed/copy.rs` |
//! | `limit`, `min_score`, `project_path`, `include_snippets`, `collection` | `options_narrow_the_answer` |
//! | a session whose transcript is gone: `can_fork` is false, with a reason | `a_document_without_its_transcript_cannot_be_forked` |
//! | the id is read from the document where its name is another | the same |
//! | no `claude`, or one that cannot fork: `can_fork` is false, with a reason | `without_a_claude_nothing_can_be_forked` |
//! | the export, incremental, redacted, without what is gone | `the_collection_is_kept_up_by_writing_what_changed` |
//! | `qmd update` and `qmd embed` after it | `an_export_lets_qmd_index_what_is_new` |
//! | the line for `qmd collection add` works; an errand for cron | `what_doctor_prints_can_be_pasted` |

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use testkit::claude::Run;
use testkit::files::bytes;
use testkit::{Answer, Claude, Gate, Qmd, Script, Snapshot, Transcript};

use crate::desk::{Desk, prompts};
use crate::run::until_status;

const FORKING: &str = "60309e1e-c4ea-4d6d-8da1-21732781ce4d";
const TIDES: &str = "22222222-2222-4222-8222-222222222222";
const GONE: &str = "33333333-3333-4333-8333-333333333333";
const COLLECTION: &str = "claude-sessions";

/// A desk with two sessions, one of them about forking.
fn desk() -> Desk {
    desk_with(Script::new().otherwise(Answer::text("It is done.")))
}

fn desk_with(script: Script) -> Desk {
    let desk = Desk::new(Claude::newest(), script);
    desk.home.dir("tmp");
    desk.home.dir("harbor");
    session(
        &desk,
        FORKING,
        "tmp",
        "Add smart forking to claude-team",
        "A smart approach: models pay more attention.",
    );
    session(&desk, TIDES, "harbor", "Show the tides of the harbor", "The tide tables are drawn.");
    desk
}

fn session(desk: &Desk, id: &str, directory: &str, prompt: &str, answer: &str) -> PathBuf {
    Transcript::new(id)
        .cwd(desk.home.path().join(directory))
        .at("2026-01-07T00:11:47.756Z")
        .prompt(prompt)
        .answer(answer)
        .write_to(&desk.home)
}

/// The folder of the documents, exported and known to qmd.
fn collection(desk: &Desk) -> PathBuf {
    let folder = desk.home.path().join("md");
    let _ = desk.backstory(&["export", "--markdown", &folder.display().to_string()]).succeeded();
    let add = ["collection", "add", "md", "--name", COLLECTION, "--mask", "**/*.md"];
    let _ = qmd(desk, &add).succeeded();
    folder
}

fn qmd(desk: &Desk, arguments: &[&str]) -> Run {
    let mut command = desk.home.command(desk.home.path().join("bin/qmd"));
    command.args(arguments);
    Run::of(command)
}

/// Installs the real qmd, which may take its time: no test is about how long it needs on a busy machine.
fn install_qmd(desk: &Desk, first: &str) {
    Qmd::new().install(&desk.home, first);
}

/// A program of a few words of shell in qmd's place.
fn played(desk: &Desk, text: &str) {
    let program = desk.home.write("bin/qmd", format!("#!/bin/sh\n{text}\n"));
    fs::set_permissions(program, fs::Permissions::from_mode(0o755)).unwrap();
}

fn ids(answer: &Value) -> Vec<&str> {
    let results = answer["results"].as_array().into_iter().flatten();
    results.filter_map(|result| result["session_id"].as_str()).collect()
}

#[test]
fn the_chain_ends_where_qmd_can_answer() {
    let desk = desk();
    install_qmd(&desk, "");
    collection(&desk);
    let answer = desk.json(&["fork", "smart forking", "--engine", "qmd"]);
    assert_eq!((&answer["engine"], &answer["qmd_command"]), (&json!("qmd"), &json!("search")), "{answer}");
    assert_eq!(answer["fallback_used"], true);
    let why = answer["qmd_error"].as_str().unwrap();
    assert!(why.contains("qmd query: ") && why.contains("No model file found"), "{why}");
    assert!(why.contains("qmd vsearch: ") && why.contains("need embeddings"), "{why}");
    assert_eq!(ids(&answer), [FORKING]);
    let printed = desk.backstory(&["fork", "smart forking", "--collection", COLLECTION]).succeeded();
    assert!(printed.stdout.contains("Answered by search: qmd query: "), "{}", printed.stdout);
}

#[test]
fn a_qmd_with_models_is_believed() {
    let desk = desk();
    let found = format!(
        r##"[{{"docid":"#a","score":0.82,"file":"qmd://c/tmp/{FORKING}.md","title":"User","snippet":"smart"}}]"##
    );
    played(&desk, &format!("printf 'Expanding [1/2]…\\n'; cat <<'E'\n{found}\nE"));
    let answer = desk.json(&["fork", "smart forking", "--collection", COLLECTION]);
    assert_eq!(
        (&answer["qmd_command"], &answer["fallback_used"]),
        (&json!("query"), &json!(false)),
        "{answer}"
    );
    assert!(answer.get("qmd_error").is_none(), "{answer}");
    assert_eq!(answer["results"][0]["score"].as_f64().map(|score| (score * 100.0).round()), Some(82.0));
}

#[test]
fn the_response_example_field_by_field() {
    let desk = desk();
    install_qmd(&desk, "");
    let folder = collection(&desk);
    let answer =
        desk.json(&["fork", "Add smart forking to claude-team", "--collection", COLLECTION, "--auto-fork"]);
    assert_eq!(answer["query"], "Add smart forking to claude-team");
    let first = &answer["results"][0];
    let home = desk.home.path();
    let document = folder_of(&folder);
    assert_eq!(first["rank"], 1);
    assert!(first["score"].as_f64().is_some_and(|score| (0.0..=1.0).contains(&score)), "{first}");
    assert_eq!(first["session_id"], FORKING);
    assert_eq!(first["working_directory"], home.join("tmp").display().to_string());
    assert!(first["date"].as_str().is_some_and(|date| date.starts_with("2026-01-07T00:1")), "{first}");
    assert!(first["snippet"].as_str().is_some_and(|snippet| snippet.contains("smart forking")), "{first}");
    let source = first["source_path"].as_str().unwrap();
    assert!(source.eq_ignore_ascii_case(&format!("qmd://{COLLECTION}/{document}/{FORKING}.md")), "{source}");
    assert_eq!(first["jsonl_path"], desk.transcript(&home.join("tmp"), FORKING).display().to_string());
    let forked = &answer["forked_session"];
    assert_eq!(forked["resume_session_id"], FORKING);
    assert_eq!(forked["session_name"], "Add smart forking to claude-team");
    assert_eq!(forked["terminal_id"], Value::Null, "a fork without a terminal has none");
    let fields: Vec<&String> = forked.as_object().unwrap().keys().collect();
    assert_eq!(fields, ["resume_session_id", "session_id", "session_name", "terminal_id", "worker_id"]);
    stopped(&desk, &forked["worker_id"]);
}

/// Ends a worker once its turn is over.
fn stopped(desk: &Desk, worker: &Value) -> Value {
    let number = worker.to_string();
    let idle = until_status(desk, &number, "idle");
    let _ = desk.backstory(&["stop", &number]).succeeded();
    idle
}

/// The folder in the collection that holds the document about forking.
fn folder_of(folder: &Path) -> String {
    let holds = |path: &PathBuf| path.join(format!("{FORKING}.md")).exists();
    let found = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).find(holds).unwrap();
    found.file_name().unwrap().to_string_lossy().into_owned()
}

#[test]
fn without_qmd_the_index_answers_and_says_so() {
    let desk = desk();
    let answer = desk.json(&["fork", "smart forking", "--engine", "qmd"]);
    assert_eq!((&answer["engine"], &answer["fallback_used"]), (&json!("own"), &json!(true)), "{answer}");
    assert_eq!(answer["qmd_error"], "there is no program `qmd`");
    assert_eq!(ids(&answer)[0], FORKING);
    let quiet = desk.json(&["fork", "smart forking", "--engine", "auto"]);
    assert_eq!((&quiet["engine"], &quiet["fallback_used"]), (&json!("own"), &json!(false)), "{quiet}");
    install_qmd(&desk, "");
    let answer = desk.json(&["fork", "smart forking", "--engine", "auto"]);
    assert_eq!(answer["engine"], "own", "{answer}");
    assert_eq!(answer["qmd_error"], format!("qmd query: Collection not found: {COLLECTION}"));
}

#[test]
fn a_qmd_that_fails_in_any_way_costs_an_answer_never_the_command() {
    let desk = desk();
    let check_within = |limit: Option<&str>, text: &str, why: &str| {
        played(&desk, text);
        let mut command = desk.command(&["fork", "smart forking", "--engine", "qmd", "--json"]);
        command.envs(limit.map(|limit| ("BACKSTORY_FORK_QMD_TIMEOUT_MS", limit)));
        let run = Run::of(command).succeeded();
        let answer: Value = serde_json::from_str(&run.stdout).unwrap();
        assert_eq!((&answer["engine"], &answer["fallback_used"]), (&json!("own"), &json!(true)), "{text}");
        let reason = answer["qmd_error"].as_str().unwrap();
        assert!(reason.contains(why), "{text}: {reason}");
        assert_eq!(ids(&answer)[0], FORKING, "{text}");
    };
    let check = |text: &str, why: &str| check_within(None, text, why);
    check_within(Some("400"), "sleep 600", "no answer within 400 ms");
    check("kill -SEGV $$", "it failed and says nothing");
    check("echo '<html>'; exit 0", "it printed no answer that can be read");
    check("printf '\\033]0;gone\\007[{'; head -c 100000 /dev/zero", "it printed no answer that can be read");
    check("echo '[{\"file\":\"qmd://c/notes.md\"}]'", "no sessions were found");
    check("echo 'No results found.'", "no sessions were found");
    check("echo 'Error: sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789' >&2; exit 1", "[redacted:");
}

#[test]
fn where_nothing_is_found_there_is_guidance() {
    let desk = desk();
    let ask = |arguments: &[&str]| {
        let run = desk.backstory(&[&["fork", "zzyzx"], arguments, &["--json"]].concat());
        assert_eq!(run.code, Some(3), "{}", run.stderr);
        serde_json::from_str::<Value>(&run.stdout).unwrap_or_else(|error| panic!("{error}: {}", run.stdout))
    };
    let answer = ask(&["--engine", "qmd", "--limit", "1", "--min-score", "1"]);
    assert_eq!(answer["error"], "qmd_not_available");
    assert!(answer["message"].as_str().unwrap().contains("there is no program `qmd`"), "{answer}");
    let steps = answer["next_steps"].to_string();
    assert!(steps.contains("doctor --schedule") && steps.contains("export --markdown"), "{steps}");
    let recent = answer["fallback_sessions"].as_array().unwrap();
    assert_eq!(recent.len(), 1);
    assert!([FORKING, TIDES].contains(&recent[0]["session_id"].as_str().unwrap()));
    assert!(recent[0]["project_path"].is_string() && recent[0]["last_modified"].is_string(), "{answer}");
    let own = ask(&["--min-score", "1"]);
    assert_eq!(own["error"], "nothing_found");
    assert_eq!(own["fallback_sessions"].as_array().map(Vec::len), Some(2));
}

#[test]
fn a_fork_by_rank_works_on_the_intent() {
    for (flag, number) in [("--pick", "1"), ("--fork-rank", "1"), ("--fork-index", "0")] {
        let desk = desk();
        let projects = desk.home.config_dir().join("projects");
        let original = desk.transcript(&desk.home.path().join("tmp"), FORKING);
        let (before, old) = (Snapshot::read(&projects), bytes(&original));
        let answer = desk.json(&["fork", "smart forking", flag, number]);
        assert_eq!((&answer["forked_rank"], &answer["forked_index"]), (&json!(1), &json!(0)), "{answer}");
        let forked = &answer["forked_session"];
        let id = forked["session_id"].as_str().unwrap();
        assert_ne!(id, FORKING);
        let worker = stopped(&desk, &forked["worker_id"]);
        assert_eq!(
            (&worker["task"], &worker["session_id"]),
            (&json!("smart forking"), &json!(id)),
            "{worker}"
        );
        let fork = desk.transcript(&desk.home.path().join("tmp"), id);
        assert_eq!(prompts(&fork), ["Add smart forking to claude-team", "smart forking"]);
        assert_eq!(bytes(&original), old);
        let after = Snapshot::read(&projects);
        assert_eq!(before.differences(&after), [fork.strip_prefix(&projects).unwrap().to_path_buf()]);
    }
    let desk = desk();
    let run = desk.backstory(&["fork", "smart forking", "--pick", "99", "--json"]);
    assert_eq!(run.code, Some(2), "{}", run.stderr);
    let run = desk.backstory(&["fork", "smart forking", "--auto-fork", "--print"]).succeeded();
    assert_eq!(desk.plain(run.answer()), format!("cd ~/tmp && claude --resume={FORKING} --fork-session"));
}

#[test]
fn a_fork_without_a_terminal_is_a_worker() {
    let desk = desk();
    let run = desk.backstory(&["fork", "smart forking", "--auto-fork"]).succeeded();
    let number = run.stdout.split_whitespace().nth(1).unwrap_or_default().parse::<u64>().expect("a number");
    assert_eq!(stopped(&desk, &json!(number))["task"], "smart forking", "{}", run.stdout);
}

#[test]
fn a_fork_by_rank_is_a_worker_with_a_place_of_its_own() {
    let gate = Gate::new();
    let touch = json!({"command": "touch made && rm -rf nothing", "description": "Make a file"});
    let script = Script::new()
        .on("Add smart forking to claude-team, slowly", [Answer::held(&gate).then_text("Slow.")])
        .on("make a file", [Answer::tool("Bash", touch), Answer::text("Made.")])
        .otherwise(Answer::text("It is done."));
    let desk = desk_with(script);
    let fork =
        |words: &[&str]| desk.json(&[&["fork", "--auto-fork"], words].concat())["forked_session"].clone();
    let first = fork(&["Add smart forking to claude-team, slowly"]);
    gate.wait_until_reached();
    let second = fork(&["smart forking: make a file"]);
    let queued = until_status(&desk, &second["worker_id"].to_string(), "queued");
    assert_eq!(queued["directory"], desk.home.path().join("tmp").display().to_string());
    let third = desk.backstory(&["fork", "smart forking", "--auto-fork", "--json"]);
    assert_eq!(third.code, Some(6), "{}", third.stderr);
    let taken = format!(
        "worker {} is working in ~/tmp and worker {} is already waiting for it",
        first["worker_id"], second["worker_id"]
    );
    assert!(desk.plain(&third.stderr).contains(&taken), "{}", third.stderr);
    gate.open();
    // What it asks is answered as of any worker, and more can be said to it.
    let number = second["worker_id"].to_string();
    let asking = until_status(&desk, &number, "waiting_permission");
    let request = asking["requests"][0]["request"].as_str().unwrap();
    let _ = desk.backstory(&["answer", &number, request, "allow"]).succeeded();
    until_status(&desk, &number, "idle");
    assert!(desk.home.path().join("tmp/made").exists());
    assert_eq!(desk.json(&["send", &number, "and more"])["resumed"], false);
    stopped(&desk, &second["worker_id"]);

    // In another directory, and at a message.
    let file = desk.transcript(&desk.home.path().join("tmp"), FORKING);
    let at = testkit::files::records(&file)[0]["uuid"].as_str().unwrap().to_owned();
    let into = desk.home.dir("elsewhere");
    let cut = fork(&["smart forking", "--at", &at, "--in", &into.display().to_string()]);
    let worker = stopped(&desk, &cut["worker_id"]);
    assert_eq!(worker["directory"], into.display().to_string());
    let own = desk.transcript(&into, cut["session_id"].as_str().unwrap());
    assert_eq!(prompts(&own), ["Add smart forking to claude-team", "smart forking"]);

    let named = desk.backstory(&["fork", FORKING, "--pick", "1", "--json"]);
    assert_eq!(named.code, Some(2));
    assert!(
        named.stderr.contains(&format!("backstory run --fork {} <task>", &FORKING[..8])),
        "{}",
        named.stderr
    );
    let extra = desk.backstory(&["fork", "smart forking", "--pick", "1", "--json", "--", "--model", "m"]);
    assert_eq!(extra.code, Some(2), "{}", extra.stderr);
}

#[test]
fn options_narrow_the_answer() {
    let desk = desk();
    install_qmd(&desk, "");
    collection(&desk);
    for engine in ["own", "qmd"] {
        let ask = |arguments: &[&str]| {
            desk.json(&[&["fork", "smart tide tables", "--engine", engine], arguments].concat())
        };
        assert!(ids(&ask(&["--limit", "1"])).len() == 1);
        assert_eq!(ids(&ask(&["--project", "harbor"])), [TIDES], "{engine}");
        let path = desk.home.path().join("harbor").display().to_string();
        assert_eq!(ids(&ask(&["--project-path", &path])), [TIDES], "{engine}");
        assert_eq!(ask(&["--no-snippets"])["results"][0]["snippet"], Value::Null);
    }
    let wrong = |arguments: &[&str]| {
        let run = desk.backstory(&[&["fork", "tide"], arguments].concat());
        assert_eq!(run.code, Some(2), "{}", run.stderr);
    };
    wrong(&["--limit", "0"]);
    wrong(&["--min-score", "2"]);
    wrong(&["--collection", "--json"]);
    wrong(&["--collection", "a b"]);
    let other = desk.json(&["fork", "smart forking", "--collection", "other"]);
    assert_eq!(other["qmd_error"], "qmd query: Collection not found: other");
}

#[test]
fn a_document_without_its_transcript_cannot_be_forked() {
    let desk = desk();
    install_qmd(&desk, "");
    let text = format!(
        "- **Session ID:** {GONE}\n- **Working Directory:** /private/tmp\n- **Date:** 2026-01-07T00:11:47.756Z\n\n## User\n\nQuarantine the lighthouse\n"
    );
    desk.home.write("md/old/2026-01-07-lighthouse.md", text);
    collection(&desk);
    let answer = desk.json(&["fork", "quarantine lighthouse", "--collection", COLLECTION]);
    let first = &answer["results"][0];
    assert_eq!((&first["session_id"], &first["can_fork"]), (&json!(GONE), &json!(false)), "{answer}");
    assert!(first["why_not"].as_str().unwrap().contains("only qmd's document"), "{first}");
    assert_eq!(first["working_directory"], "/private/tmp");
    assert_eq!(first["date"], "2026-01-07T00:11:47.756Z");
    assert_eq!(first["jsonl_path"], Value::Null);
}

#[test]
fn without_a_claude_nothing_can_be_forked() {
    let desk = desk();
    let why = || desk.json(&["fork", "smart forking"])["results"][0].clone();
    assert_eq!(why()["can_fork"], true);
    let mut command = desk.command(&["fork", "smart forking", "--json"]);
    command.env("BACKSTORY_CLAUDE_BINARY", "no-such-claude");
    let answer: Value = serde_json::from_str(&Run::of(command).succeeded().stdout).unwrap();
    let first = &answer["results"][0];
    assert_eq!(first["can_fork"], false);
    assert!(first["why_not"].as_str().unwrap().contains("no program `no-such-claude`"), "{first}");
    fs::remove_file(desk.home.path().join("bin/claude")).unwrap();
    let old = desk.home.write("bin/claude", "#!/bin/sh\necho '1.0.60 (Claude Code)'\n");
    fs::set_permissions(old, fs::Permissions::from_mode(0o755)).unwrap();
    assert!(why()["why_not"].as_str().unwrap().contains("claude 1.0.60 cannot fork"));
}

#[test]
fn the_collection_is_kept_up_by_writing_what_changed() {
    let desk = desk();
    let secret = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789";
    let file = session(&desk, GONE, "tmp", &format!("The key is {secret}"), "Noted.");
    let folder = desk.home.path().join("md");
    let typed = folder.display().to_string();
    let export = |arguments: &[&str]| {
        let answer = desk.json(&[&["export", "--markdown", &typed], arguments].concat());
        let number = |name: &str| answer[name].as_u64().unwrap();
        assert_eq!(answer["failed"], json!([]), "{answer}");
        (number("written"), number("unchanged"), number("removed"))
    };
    assert_eq!(export(&[]), (3, 0, 0));
    let document = folder.join(folder_of(&folder)).join(format!("{GONE}.md"));
    let inode = |path: &Path| path.metadata().unwrap().ino();
    let old = inode(&document);
    assert_eq!(export(&[]), (0, 3, 0));
    assert_eq!(inode(&document), old, "an unchanged session is no write");
    let text = String::from_utf8(bytes(&document)).unwrap();
    assert!(text.starts_with(&format!("---\nSession ID: {GONE}\nWorking Directory: ")), "{text}");
    assert!(text.contains("\nDate: 2026-01-07T00:1") && text.contains("\n## User\n"), "{text}");
    assert!(!text.contains(secret) && text.contains("[redacted:"), "{text}");
    assert_eq!(document.metadata().unwrap().permissions().mode() & 0o777, 0o600);

    let grown =
        Transcript::new(GONE).cwd(desk.home.path().join("tmp")).prompt("Another").answer("Yes.").bytes();
    fs::write(&file, [bytes(&file), grown].concat()).unwrap();
    assert_eq!(export(&["--project", "harbor"]), (0, 1, 0));
    assert_eq!(export(&[]), (1, 2, 0));
    assert_ne!(inode(&document), old, "a changed one is written aside and renamed");
    fs::remove_file(&file).unwrap();
    assert_eq!(export(&["--keep-gone"]), (0, 2, 0));
    assert!(document.exists());
    assert_eq!(export(&[]), (0, 2, 1));
    assert!(!document.exists());
    let run = desk.backstory(&["export", "--markdown", "/proc/nowhere"]);
    assert_eq!(run.code, Some(1), "{}", run.stderr);
}

#[test]
fn an_export_of_which_nothing_came_fails() {
    let desk = desk();
    let folder = desk.home.dir("md");
    let file = |cwd: &str| {
        let slug = desk.home.project_folder(&desk.home.path().join(cwd));
        let name = slug.file_name().expect("a name").to_string_lossy().trim_start_matches('-').to_owned();
        folder.join(name)
    };
    fs::write(file("tmp"), "a file where the folder would be").expect("a file");
    let arguments = ["export", "--markdown", &folder.display().to_string()];
    let _ = desk.backstory(&arguments).succeeded();
    fs::remove_dir_all(file("harbor")).expect("the folder of the other");
    fs::write(file("harbor"), "another").expect("a file");
    for more in [&[][..], &["--json"]] {
        let run = desk.backstory(&[&arguments[..], more].concat());
        assert_eq!(run.code, Some(1), "{}", run.stdout);
        assert!(run.stderr.contains("could not export any of 2 documents"), "{}", run.stderr);
    }
}

#[test]
fn an_export_lets_qmd_index_what_is_new() {
    let desk = desk();
    let folder = desk.home.path().join("md").display().to_string();
    let run = desk.backstory(&["export", "--markdown", &folder, "--index"]);
    assert_eq!(run.code, Some(1));
    assert!(run.stderr.contains("there is no program `qmd`"), "{}", run.stderr);
    install_qmd(&desk, "[ \"$1\" = embed ] && echo \"embed asked\" >> \"$HOME/asked\"");
    collection(&desk);
    session(&desk, GONE, "tmp", "Quarantine the lighthouse", "Done.");
    let run = desk.backstory(&["export", "--markdown", &folder, "--index", "--json"]);
    let answer: Value = serde_json::from_str(&run.stdout).unwrap();
    // Without its model qmd cannot embed; that is said, and the words can be found all the same.
    assert_eq!(
        (run.code, &answer["written"], &answer["indexed"]),
        (Some(1), &json!(1), &json!(false)),
        "{run:?}"
    );
    assert!(answer["qmd_error"].as_str().unwrap().contains("`qmd embed` failed"), "{answer}");
    assert!(run.stderr.contains("1 new"), "{}", run.stderr);
    assert_eq!(bytes(&desk.home.path().join("asked")), b"embed asked\n");
    let found = qmd(&desk, &["search", "lighthouse", "-c", COLLECTION, "--json"]).succeeded();
    assert!(found.stdout.contains(GONE), "{}", found.stdout);
}

#[test]
fn what_doctor_prints_can_be_pasted() {
    let desk = desk();
    install_qmd(&desk, "");
    let schedule = desk.json(&["doctor", "--schedule"]);
    let shell = |line: &str| {
        let mut command = desk.home.command("/bin/sh");
        command.args(["-c", line]);
        Run::of(command)
    };
    let text = |name: &str| schedule[name].as_str().unwrap().to_owned();
    let _ = shell(&text("export")).succeeded();
    let _ = shell(&text("collection_add")).succeeded();
    assert!(qmd(&desk, &["collection", "list"]).succeeded().stdout.contains(COLLECTION));
    // As cron runs it: nothing of the person's environment but a home.
    let line = text("crontab");
    let command = line.strip_prefix("17 */6 * * * ").unwrap().replace(r"\%", "%");
    let mut cron = Command::new("/bin/sh");
    cron.env_clear().env("HOME", desk.home.path()).args(["-c", &command]).current_dir("/");
    let run = Run::of(cron);
    assert!(run.stdout.contains("0 written, 2 unchanged, 0 removed"), "{run:?}");
    assert!(run.stderr.contains("All collections updated"), "{run:?}");
    let printed = desk.backstory(&["doctor", "--schedule", "--markdown", "/srv/my notes"]).succeeded();
    assert!(
        printed.stdout.contains("qmd collection add '/srv/my notes' --name claude-sessions --mask '**/*.md'")
    );
    for part in ["crontab -e", "[Timer]", "ExecStart=", "<plist version=\"1.0\">"] {
        assert!(printed.stdout.contains(part), "{part}");
    }
}

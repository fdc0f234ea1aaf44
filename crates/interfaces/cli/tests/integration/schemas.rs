//! Whatever the program prints as JSON has its schema in docs/schema.json, and no field that the schema does not name.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use serde_json::{Value, json};
use testkit::ScratchHome;

const DOCUMENT: &str = include_str!("../../../../../docs/schema.json");

/// Every command that answers and ends, by the name of its answer.
const COMMANDS: &[(&str, &str)] = &[
    ("list", "list"),
    ("list", "list --branch no-such-branch"),
    ("search", "search token refresh"),
    ("search", "search walrus"),
    ("show", "show 1ba1de03 --all --tools --thinking --subagents"),
    ("show", "show 1ba1de03 --last 2"),
    ("blame", "blame README.md"),
    ("diff", "diff 1ba1de03"),
    ("day_summary", "day --since 4w"),
    ("annotate", "name 1ba1de03 Rotate the refresh token"),
    ("annotate", "tag 1ba1de03 release"),
    ("annotate", "note 1ba1de03 Ask Ana"),
    ("annotate", "pin 1ba1de03"),
    ("annotate", "hide 1ba1de03 --undo"),
    ("tags", "tag"),
    ("handoff", "handoff 1ba1de03"),
    ("prompts", "prompts token"),
    ("fork", "fork token refresh"),
    ("fork", "fork walrus"),
    ("pick", "pick fix the token refresh --repo harbor-api"),
    ("pick", "pick fix the token refresh --repo harbor-api --weights seed"),
    ("status", "status harbor-api"),
    ("cost", "cost --by day"),
    ("cost", "cost --by model"),
    ("cost", "cost --by hour"),
    ("cost", "cost --by agent-type"),
    ("cost", "cost --by pr"),
    ("cost_blocks", "cost --blocks"),
    ("day_summary", "today"),
    ("index", "index"),
    ("index", "index --dry-run"),
    ("memory_search", "memory search token refresh"),
    ("memory_search", "memory search walrus"),
    ("memory_status", "memory status --deep"),
    ("workers", "workers"),
    ("cron_list", "cron list"),
    ("cron_history", "cron history"),
    ("archive", "archive"),
    ("archive", "archive --status --check"),
    ("forget", "forget 1ba1de03 --dry-run"),
    ("hooks", "hooks status"),
    ("doctor", "doctor"),
    ("doctor_schedule", "doctor --schedule"),
    ("doctor_service", "doctor --service"),
    ("export", "export --markdown documents"),
    ("eval_mine", "eval --mine"),
    ("eval_retrieval", "eval retrieval --queries queries.jsonl --against lexical"),
    ("eval_selection", "eval selection --decisions decisions.jsonl"),
];

/// Fails where a value does not have the schema of this name: `part` is `answers` or `events`.
#[track_caller]
pub(crate) fn check(part: &str, name: &str, value: &Value) {
    let mut schemas: Value = serde_json::from_str(DOCUMENT).unwrap();
    let mut schema = schemas[part][name].take();
    assert!(schema.is_object(), "docs/schema.json has no schema for {part}.{name}");
    schema["$defs"] = schemas[part]["$defs"].take();
    close(&mut schema);
    let validator = jsonschema::draft202012::new(&schema).unwrap();
    let wrong: Vec<String> = validator
        .iter_errors(value)
        .map(|error| format!("{} at {}", error.masked(), error.instance_path()))
        .collect();
    assert!(wrong.is_empty(), "{part}.{name}: {}\n{value:#}", wrong.join("\n"));
}

/// Checks what a command printed, by its first words and its flags: `cron history` is `cron_history`.
#[track_caller]
pub(crate) fn check_answer(words: &[&str], value: &Value) {
    let schemas: Value = serde_json::from_str(DOCUMENT).unwrap();
    let flags = [
        ("--why-not", "why_not"),
        ("--schedule", "doctor_schedule"),
        ("--service", "doctor_service"),
        ("--secrets", "doctor_secrets"),
        ("--mine", "eval_mine"),
        ("--blocks", "cost_blocks"),
        ("today", "day_summary"),
    ];
    let flag = flags.iter().find(|(flag, _)| words.contains(flag)).map(|(_, name)| (*name).to_owned());
    let first_words = [words.iter().take(2).copied().collect::<Vec<_>>().join("_"), words[0].to_owned()];
    let name = flag.into_iter().chain(first_words).find(|name| schemas["answers"][name].is_object());
    check("answers", &name.unwrap(), value);
}

/// Lets the objects of a schema have no fields but those it names.
fn close(schema: &mut Value) {
    let Value::Object(parts) = schema else { return };
    for (keyword, part) in parts.iter_mut() {
        match (keyword.as_str(), part) {
            ("properties" | "$defs", Value::Object(all)) => {
                for (_, one) in all {
                    close(one);
                    if keyword == "properties" {
                        seal(one);
                    }
                }
            }
            ("anyOf" | "oneOf" | "allOf", Value::Array(all)) => all.iter_mut().for_each(close),
            ("items" | "additionalProperties", one) => {
                close(one);
                seal(one);
            }
            _ => {}
        }
    }
    if parts.contains_key("$defs") {
        seal(schema);
    }
}

/// Closes a schema that is used as a whole; one that is part of another has fields which only the other names.
fn seal(schema: &mut Value) {
    let Value::Object(parts) = schema else { return };
    if ["$ref", "properties", "anyOf", "oneOf", "allOf"].iter().any(|keyword| parts.contains_key(*keyword)) {
        parts.insert("unevaluatedProperties".to_owned(), false.into());
    }
}

fn home() -> ScratchHome {
    let home = ScratchHome::new();
    let query = json!({"id": "a", "kind": "right", "query": "token refresh", "relevant": {"1ba1de03-0000-4000-8000-000000000000": 1}});
    home.write("queries.jsonl", query.to_string());
    let decision = json!({"id": "a", "at": 1_795_187_760, "task": "fix the token refresh", "cwd": "/home/sam/harbor-api",
        "branch": "main", "action": "fresh", "session": null});
    home.write("decisions.jsonl", decision.to_string());
    home
}

#[test]
fn every_command_prints_what_its_schema_says() {
    let home = home();
    for (name, typed) in COMMANDS {
        let mut command = home.command(env!("CARGO_BIN_EXE_backstory"));
        let output = command.args(typed.split(' ')).args(["--demo", "--json"]).output().unwrap();
        let answer = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
            panic!("{typed}: {error}: {}", String::from_utf8_lossy(&output.stderr));
        });
        check("answers", name, &answer);
    }
}

#[test]
fn every_job_that_is_added_changed_and_removed_has_its_schema() {
    let home = home();
    let words = ["add tidy --every 6h tidy up", "disable tidy", "enable tidy", "list", "remove tidy"];
    for words in words {
        let mut command = home.command(env!("CARGO_BIN_EXE_backstory"));
        let output = command.arg("cron").args(words.split(' ')).arg("--json").output().unwrap();
        let answer = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|_| panic!("{words}: {}", String::from_utf8_lossy(&output.stderr)));
        check_answer(&["cron", words.split(' ').next().unwrap()], &answer);
    }
}

#[test]
fn every_event_of_watch_has_its_schema() {
    let events: Vec<Value> = serde_json::from_str(include_str!("../../../../../docs/events.json")).unwrap();
    for event in events {
        check("events", "watch", &event);
    }
    let home = home();
    let mut command = home.command(env!("CARGO_BIN_EXE_backstory"));
    let mut child = command.args(["watch", "--demo", "--json"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut first = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    check("events", "watch", &serde_json::from_str(&first).unwrap());
}

#[test]
fn a_field_that_no_schema_names_is_noticed() {
    let strange = json!({"workers": [], "strange": 1});
    assert!(std::panic::catch_unwind(|| check("answers", "workers", &strange)).is_err());
    let lacking = json!({});
    assert!(std::panic::catch_unwind(|| check("answers", "workers", &lacking)).is_err());
}

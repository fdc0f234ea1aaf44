//! `eval`: figures against labels, over sessions whose right answers are known.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use testkit::claude::Run;
use testkit::{ScratchHome, Transcript};

const TOKEN: &str = "11111111-1111-4111-8111-111111111111";
const PAINT: &str = "22222222-2222-4222-8222-222222222222";

fn backstory(home: &ScratchHome, arguments: &[&str]) -> Run {
    let mut command: Command = home.command(env!("CARGO_BIN_EXE_backstory"));
    command.args(arguments);
    Run::of(command)
}

fn answer(home: &ScratchHome, arguments: &[&str]) -> Value {
    let run = backstory(home, &[arguments, &["--json"]].concat()).succeeded();
    serde_json::from_str(&run.stdout).unwrap()
}

fn lines(home: &ScratchHome, name: &str, lines: &[Value]) -> String {
    let text = lines.iter().map(Value::to_string).collect::<Vec<_>>().join("\n");
    home.write(name, text).display().to_string()
}

fn home() -> ScratchHome {
    let home = ScratchHome::new();
    let session = |id: &str, time: &str, prompt: &str| {
        Transcript::new(id).at(time).prompt(prompt).answer("Done.").write_to(&home)
    };
    session(TOKEN, "2026-11-20T09:00:00Z", "fix the token refresh");
    session(PAINT, "2026-11-20T10:00:00Z", "paint every button green");
    home
}

#[test]
fn questions_are_scored_by_kind() {
    let home = home();
    let question = |id: &str, kind: &str, query: &str, relevant: Value| json!({"id": id, "kind": kind, "query": query, "relevant": relevant});
    let queries = lines(
        &home,
        "queries.jsonl",
        &[
            question("a", "right", "token refresh", json!({TOKEN: 1})),
            question("b", "right", "green button", json!({PAINT: 3})),
            question("c", "wrong", "green button", json!({"33333333-3333-4333-8333-333333333333": 1})),
            question("d", "empty", "…", json!({PAINT: 1})),
        ],
    );
    let out = home.path().join("ranked.jsonl").display().to_string();
    let asked = ["eval", "retrieval", "--queries", &queries, "--mode", "lexical"];
    let found = answer(&home, &[&asked[..], &["--out", &out]].concat());
    let means: Vec<(&str, f64, f64)> = found["kinds"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| {
            let mean = |figure: &str| one[figure]["mean"].as_f64().unwrap();
            (one["kind"].as_str().unwrap(), mean("ndcg_at_10"), mean("hit_at_1"))
        })
        .collect();
    assert_eq!(means, [("empty", 0.0, 0.0), ("right", 1.0, 1.0), ("wrong", 0.0, 0.0), ("all", 0.5, 0.5)]);
    assert_eq!(found["queries"][0]["ranked"][0], TOKEN);
    // What was written is what is compared with.
    let found = answer(&home, &[&asked[..], &["--against", &out]].concat());
    assert_eq!(found["kinds"][3]["difference"], json!({"mean": 0.0, "low": 0.0, "high": 0.0}));
    let shown = backstory(&home, &asked).succeeded().stdout;
    assert!(shown.contains("nDCG@10") && shown.contains("1.0000 [1.0000, 1.0000]"), "{shown}");
}

#[test]
fn places_are_compared_by_what_is_cited_and_by_what_opens_there() {
    let home = home();
    let shown = answer(&home, &["show", TOKEN]);
    let records: Vec<&str> = shown["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| message["uuid"].as_str().unwrap())
        .collect();
    let [prompt, done] = records[..] else { panic!("{shown}") };
    let question = |id: &str, session: &str, record: &str| json!({"id": id, "query": "token refresh", "session": session, "relevant": {record: 1}});
    let labels = [
        question("cited", TOKEN, prompt),
        question("opened", TOKEN, done),
        question("elsewhere", PAINT, done),
    ];
    let queries = lines(&home, "places.jsonl", &labels);
    let asked = ["eval", "retrieval", "--queries", &queries, "--passages", "--mode", "lexical"];
    let figures = |arguments: &[&str]| {
        let found = answer(&home, &[&asked[..], arguments].concat());
        let each: Vec<_> =
            found["queries"].as_array().unwrap().iter().map(|one| one["opened"].clone()).collect();
        let hits: Vec<_> =
            found["queries"].as_array().unwrap().iter().map(|one| one["hit"].as_f64().unwrap()).collect();
        (json!(each), hits)
    };
    assert_eq!(figures(&[]), (json!([true, true, true]), vec![1.0, 0.0, 0.0]));
    assert_eq!(figures(&["--in-session"]), (json!([true, true, false]), vec![1.0, 0.0, 0.0]));
    let shown = backstory(&home, &asked).succeeded().stdout;
    assert!(shown.contains("OPENED@1") && !shown.contains("DIFFERENCE"), "{shown}");
}

#[test]
fn choices_are_compared_with_what_was_done() {
    let home = home();
    let decision = |id: &str, at: i64, task: &str, action: &str, session: &str| {
        json!({"id": id, "at": at, "task": task, "cwd": "/home/ana/project", "branch": "main",
               "action": action, "session": session})
    };
    // 1795165200 is 2026-11-20T09:00:00Z.
    let decisions = lines(
        &home,
        "decisions.jsonl",
        &[
            decision("nothing yet", 1_795_165_100, "fix the token refresh", "fresh", TOKEN),
            decision("go on", 1_795_165_200 + 2400, "fix the token refresh", "resume", TOKEN),
        ],
    );
    let found = answer(&home, &["eval", "selection", "--decisions", &decisions]);
    let rule = |at: usize, figure: &str| found["rules"][at][figure]["mean"].as_f64();
    assert_eq!(found["decisions"][0]["candidates"], 0);
    assert_eq!(
        (rule(0, "accuracy"), rule(0, "exact"), rule(0, "right_first")),
        (Some(1.0), Some(1.0), Some(1.0))
    );
    assert_eq!((rule(1, "accuracy"), rule(1, "right_first")), (Some(0.5), Some(0.0)));
    assert_eq!((rule(2, "accuracy"), rule(2, "false_resumes")), (Some(1.0), Some(0.0)));
    assert_eq!((rule(3, "accuracy"), rule(3, "right_in_three")), (Some(1.0), Some(1.0)));
    assert!(!home.state_dir().join("decisions.sqlite").exists(), "no decision is kept");
}

#[test]
fn labels_that_make_no_sense_are_named() {
    let home = home();
    let check = |text: &str, says: &str| {
        let file = home.write("labels.jsonl", text);
        let run = backstory(&home, &["eval", "retrieval", "--queries", &file.display().to_string()]);
        assert!(run.stderr.contains(says), "{}", run.stderr);
    };
    check("{\"id\":\"a\",\"query\":\"x\"}\n{\"id\":", "labels.jsonl, line 2");
    let label = lines(&home, "nowhere.jsonl", &[json!({"id": "a", "query": "x", "relevant": {"r": 1}})]);
    let run = backstory(&home, &["eval", "retrieval", "--queries", &label, "--passages", "--in-session"]);
    assert!(run.stderr.contains("question `a` names no session"), "{}", run.stderr);
    let gone = Path::new("gone.jsonl").display().to_string();
    let run = backstory(&home, &["eval", "selection", "--decisions", &gone]);
    assert!(run.stderr.contains("cannot read gone.jsonl"), "{}", run.stderr);
    let empty = lines(&home, "empty.jsonl", &[]);
    let run = backstory(&home, &["eval", "selection", "--decisions", &empty]);
    assert!(run.stderr.contains("contains no decisions"), "{}", run.stderr);
}

#[test]
fn ones_own_history_is_its_own_label() {
    const SUBJECT: &str = "Tokens are refreshed before the hour is over";
    let home = ScratchHome::new();
    let shop = home.repository("shop");
    let hash = shop.commit("src/auth.rs", "fn refresh() {}\n", SUBJECT);
    let said = |hash: &str, subject: &str| {
        format!("[main {}] {subject}\n 1 file changed, 1 insertion(+)\n", &hash[..7])
    };
    let made = |session: Transcript, hash: &str, subject: &str| {
        let command = json!({"command": format!("git commit -m '{subject}'")});
        session.tool("Bash", command, &said(hash, subject)).answer("Done.")
    };
    let session =
        |id: &str, time: &str, prompt: &str| Transcript::new(id).cwd(shop.path()).at(time).prompt(prompt);
    let token = session(TOKEN, "2026-11-20T09:00:00Z", "the refreshed tokens come too late").answer("I see.");
    // One commit is in git, one was thrown away again, and one says next to nothing.
    let token = made(token, &hash, SUBJECT);
    let token = made(token, "0123456789", "This one was thrown away again")
        .minutes_later(40)
        .prompt("and the tests?");
    token.write_to(&home);
    // Whoever only says the subject did not make the commit.
    session(PAINT, "2026-11-20T10:00:00Z", SUBJECT).answer("Paint is green.").write_to(&home);

    let found = answer(&home, &["eval", "--mine"]);
    assert_eq!((found["sessions"].as_u64(), found["older_sessions"].as_u64()), (Some(2), Some(0)));
    let queries = found["retrieval"]["queries"].as_array().unwrap();
    let asked: Vec<_> = queries.iter().map(|one| (one["query"].as_str().unwrap(), &one["ranked"])).collect();
    assert_eq!(
        asked,
        [(SUBJECT, &json!([TOKEN]))],
        "what it says was blanked in both, the prompt's words were not"
    );
    let decisions = found["selection"]["decisions"].as_array().unwrap();
    let actual: Vec<_> = decisions
        .iter()
        .map(|one| (one["task"].as_str().unwrap(), one["action"].as_str().unwrap()))
        .collect();
    assert_eq!(
        actual,
        [("the refreshed tokens come too late", "fresh"), ("and the tests?", "resume"), (SUBJECT, "fresh"),]
    );
    let left = std::fs::read_dir(home.dir(".tmp")).unwrap().flatten();
    let left: Vec<_> =
        left.filter(|one| one.file_name().to_string_lossy().starts_with("backstory-eval")).collect();
    assert!(left.is_empty(), "the masked copy is gone: {left:?}");
    let shown = backstory(&home, &["eval", "--mine"]).succeeded().stdout;
    assert!(shown.contains("2 newest sessions") && shown.contains("newest of the same branch"), "{shown}");
    assert_eq!(backstory(&home, &["eval", "--json"]).code, Some(2));
}

//! The floor under the search: questions of every kind to sessions that were made up for them, and how well they have to
//! be answered at least. `crates/interfaces/cli/tests/labelled` holds both.

use serde::Deserialize;
use serde_json::{Value, json};
use testkit::claude::Run;
use testkit::{ScratchHome, Transcript};

const SESSIONS: &str = include_str!("../labelled/sessions.jsonl");
const QUERIES: &str = include_str!("../labelled/queries.jsonl");

/// The minimum for every kind of question: nDCG@10, and the share of first answers that are right. A little
/// below what is reached now, so that another word here and there does no harm.
const FLOORS: [(&str, f64, f64); 7] = [
    ("keyword", 0.95, 0.90),
    ("identifier", 0.95, 0.90),
    ("error", 0.95, 0.90),
    ("file", 0.95, 0.90),
    ("paraphrase", 0.65, 0.45),
    ("cjk", 0.90, 0.80),
    ("latin", 0.90, 0.80),
];

/// A session in few words.
#[derive(Deserialize)]
struct Written {
    id: String,
    project: String,
    turns: Vec<(String, String, Vec<Vec<String>>)>,
}

impl Written {
    fn transcript(&self, home: &ScratchHome, minute: i64) -> Transcript {
        let cwd = home.path().join(&self.project);
        let mut session = Transcript::new(&self.id).cwd(cwd).minutes_later(minute);
        for (prompt, answer, tools) in &self.turns {
            session = tools.iter().fold(session.prompt(prompt), used).answer(answer);
        }
        session
    }
}

fn used(session: Transcript, tool: &Vec<String>) -> Transcript {
    let [name, on, text, rest @ ..] = tool.as_slice() else { panic!("a tool without a text: {tool:?}") };
    let input = match name.as_str() {
        "Edit" => json!({"file_path": on, "old_string": "", "new_string": text}),
        "Write" => json!({"file_path": on, "content": text}),
        _ => json!({"command": on}),
    };
    match (name.as_str(), rest) {
        ("Bash", [_failed]) => session.failed_tool(name, input, text),
        ("Bash", _) => session.tool(name, input, text),
        _ => session.tool(name, input, "ok"),
    }
}

fn lines<T: for<'a> Deserialize<'a>>(text: &str) -> Vec<T> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect()
}

fn home() -> ScratchHome {
    let home = ScratchHome::new();
    for (minute, session) in (0..).zip(lines::<Written>(SESSIONS)) {
        session.transcript(&home, minute * 90).write_to(&home);
    }
    home
}

fn answer(home: &ScratchHome, arguments: &[&str]) -> Value {
    let mut command = home.command(env!("CARGO_BIN_EXE_backstory"));
    command.args(arguments).arg("--json");
    let run = Run::of(command).succeeded();
    serde_json::from_str(&run.stdout).unwrap()
}

#[test]
fn no_kind_of_question_is_answered_worse() {
    let home = home();
    let queries = home.write("queries.jsonl", QUERIES).display().to_string();
    let found = answer(&home, &["eval", "retrieval", "--queries", &queries, "--against", "lexical"]);
    let kinds = found["kinds"].as_array().unwrap();
    let kind = |name: &str| kinds.iter().find(|kind| kind["kind"] == name).unwrap();
    let missed = |name: &str| {
        let asked = found["queries"].as_array().unwrap().iter();
        let wrong = asked.filter(|one| one["kind"] == name && one["hit"] != 1.0);
        wrong.map(|one| format!("{} → {}", one["query"], one["ranked"])).collect::<Vec<_>>().join("\n")
    };
    for (name, ndcg, first) in FLOORS {
        let figure = |figure: &str| kind(name)[figure]["mean"].as_f64().unwrap();
        let (found_ndcg, found_first) = (figure("ndcg_at_10"), figure("hit_at_1"));
        eprintln!("{name:<12} nDCG@10 {found_ndcg:.3} of {ndcg:.2}, first {found_first:.3} of {first:.2}");
        assert!(found_ndcg >= ndcg && found_first >= first, "{name}:\n{}", missed(name));
    }
    let by_meaning = kind("paraphrase")["difference"]["low"].as_f64();
    assert!(by_meaning > Some(0.0), "meaning helps where no word is shared: {}", kind("paraphrase"));
    assert_eq!(kinds.len(), FLOORS.len() + 1, "every kind has its floor");
}

#[test]
fn what_nobody_ever_did_is_not_remembered() {
    let home = home();
    for query in lines::<Value>(QUERIES).iter().filter(|query| query["kind"] == "none") {
        let found = answer(&home, &["memory", "search", query["query"].as_str().unwrap()]);
        assert_eq!(found["results"], json!([]), "{query}");
    }
}

#[test]
fn the_labels_fit_the_sessions() {
    let sessions = lines::<Written>(SESSIONS);
    let queries = lines::<Value>(QUERIES);
    assert!(sessions.len() >= 40 && queries.len() >= 60, "{} {}", sessions.len(), queries.len());
    for query in &queries {
        let relevant = query["relevant"].as_object().unwrap();
        assert!(relevant.keys().all(|id| sessions.iter().any(|session| session.id == *id)), "{query}");
        assert_eq!(relevant.is_empty(), query["kind"] == "none", "{query}");
    }
}

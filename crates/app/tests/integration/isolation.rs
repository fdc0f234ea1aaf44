//! Where the sessions of several callers meet, in one work tree or with one record, each hears of its own alone.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use ::workers::store::{FILE, NewWorker};
use ::workers::{ProcessIdentity, SessionStart, WorkerSpec, WorkerState, WorkerStore};
use app::choose::pick::pick;
use app::choose::request::Request as PickRequest;
use app::eval;
use app::proceed::fork_request::{Answer as ForkAnswer, Request as ForkRequest, forks};
use app::search::{Request as SearchRequest, index, memory, search};
use app::sessions::list::{Request as ListRequest, list};
use app::workers::{run, start, stop};
use app::{Caller, Context, Engine, Error, Kind, NextStep, Progress, ProgressSink};
use model::SessionId;
use serde_json::{Value, json, to_value};

use crate::scene::{MAIN, OPS, PERSON, Scene, secret};

fn agent(name: &str) -> Caller {
    Caller::Agent(name.parse().unwrap())
}

fn write_program(scene: &Scene, name: &str, script: &str) {
    let file = scene.home().write(&format!("bin/{name}"), format!("#!/bin/sh\n{script}\n"));
    fs::set_permissions(file, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Lets a worker for `agent`, or for the person, work in the directory of the session that says `word`.
fn add_worker(scene: &Scene, agent: Option<&str>, word: &str, session: &str) -> (WorkerStore, i64) {
    add_worker_in(scene, agent, &scene.directory(word), session)
}

fn add_worker_in(scene: &Scene, agent: Option<&str>, slot: &Path, session: &str) -> (WorkerStore, i64) {
    let context = scene.context(Caller::Person, MAIN.1);
    fs::create_dir_all(&context.config().state).unwrap();
    let mut table = WorkerStore::open(&context.config().state.join(FILE)).unwrap();
    let slot = slot.canonicalize().unwrap();
    let id: SessionId = session.parse().unwrap();
    let spec = WorkerSpec {
        agent: agent.map(|agent| agent.parse().unwrap()),
        ..WorkerSpec::new(SessionStart::Fresh(id.clone()), slot.clone(), "Paint it".to_owned())
    };
    let host = ProcessIdentity::current();
    let wanted = NewWorker { spec: &spec, session: &id, slot: &slot, message: session, host: &host };
    table.add(&wanted, context.now).unwrap();
    let worker = table.by_session(&id).unwrap()[0].id;
    (table, worker)
}

const SOMEBODYS: &str = "44444444-dddd-4ddd-8ddd-444444444444";
const ANOTHERS: &str = "55555555-eeee-4eee-8eee-555555555555";

#[test]
fn a_hit_cites_a_file_that_the_caller_may_see() {
    let scene = Scene::new();
    for (id, word) in [PERSON, MAIN, OPS] {
        let record = json!({
            "uuid": "shared", "parentUuid": format!("u2-{word}"), "sessionId": id, "type": "user", "version": "2.1.329",
            "cwd": scene.directory(word), "timestamp": "2026-01-10T10:01:00.000Z", "isSidechain": false,
            "message": {"role": "user", "content": "polish the obelisk"},
        });
        scene.append((id, word), &record);
    }
    let request = SearchRequest { query: "obelisk".to_owned(), ..SearchRequest::default() };
    for (caller, own) in [("main", MAIN), ("ops", OPS)] {
        let hits = search(&scene.context(agent(caller), own.1), &request).unwrap().hits;
        let [hit] = &*hits else { panic!("{caller} has one session: {hits:?}") };
        assert_eq!(hit.file, scene.transcript(own), "{caller}");
        assert_eq!((&*hit.also_in, hit.line), (&[][..], 4), "{caller}");
        assert!(hit.snippet.as_ref().is_some_and(|snippet| snippet.contains("obelisk")), "{hit:?}");
        let request = memory::search::Request {
            query: "obelisk".to_owned(),
            min_score: Some(0.0),
            ..Default::default()
        };
        let found = memory::search::search(&scene.context(agent(caller), own.1), &request).unwrap().results;
        assert!(!found.is_empty() && found.iter().all(|one| one.file == scene.transcript(own)), "{found:?}");
    }
    let hits = search(&scene.context(Caller::Person, PERSON.1), &request).unwrap().hits;
    assert_eq!(hits.iter().map(|hit| hit.also_in.len()).collect::<Vec<_>>(), [2, 2, 2]);
}

#[test]
fn pick_queues_behind_another_agents_run_without_naming_it() {
    let task = PickRequest { task: "Tune it again".to_owned(), ..PickRequest::default() };
    let scene = Scene::new();
    add_worker(&scene, None, MAIN.1, SOMEBODYS);
    let answer =
        |scene: &Scene, caller| to_value(pick(&scene.context(caller, MAIN.1), &task).unwrap()).unwrap();
    let named = answer(&scene, Caller::Person);
    assert_eq!((&named["action"], &named["session_id"]), (&json!("queue"), &json!(SOMEBODYS)));
    let unnamed = answer(&scene, agent("main"));
    assert_eq!((&unnamed["action"], &unnamed["session_id"]), (&json!("queue"), &Value::Null));
    assert_eq!(
        unnamed["reason"],
        "another run is at work here, and only one run at a time may work in a directory"
    );
    assert!(!unnamed.to_string().contains(&SOMEBODYS[..8]), "{unnamed}");
}

#[test]
fn pick_sees_what_another_agent_runs_in_the_work_tree() {
    let scene = Scene::new();
    // It went on in the other's directory, and is open in this process.
    let directory = scene.directory(MAIN.1);
    let registry = json!({"sessions": {directory.to_string_lossy(): {
        "sessionId": SOMEBODYS, "createdAt": "2026-01-10T10:00:00.000Z", "lastResumedAt": "2026-01-10T10:05:00.000Z",
        "totalCostUsd": 0.1, "totalTurns": 1, "taskHistory": [],
    }}});
    scene.home().write(".openclaw/agents/ops/claude-code-sessions.json", registry.to_string());
    let record = json!({"uuid": "o1", "sessionId": SOMEBODYS, "type": "user", "parentUuid": null, "cwd": directory,
        "version": "2.1.329", "timestamp": "2026-01-10T10:01:00.000Z", "isSidechain": false,
        "message": {"role": "user", "content": "polish the obelisk"}});
    fs::write(scene.transcript((SOMEBODYS, MAIN.1)), format!("{record}\n")).unwrap();
    let live = json!({"pid": std::process::id(), "sessionId": SOMEBODYS, "cwd": directory, "status": "busy"});
    scene.home().write(".claude/sessions/1.json", live.to_string());
    let task = PickRequest { task: "Tune it again".to_owned(), ..PickRequest::default() };
    let answer = to_value(pick(&scene.context(agent("main"), MAIN.1), &task).unwrap()).unwrap();
    assert_eq!((&answer["action"], &answer["session_id"]), (&json!("queue"), &Value::Null), "{answer}");
    assert!(!answer.to_string().contains(&SOMEBODYS[..8]), "{answer}");
}

fn prepare(context: &Context, request: &str) -> Result<run::Ready, Error> {
    let request: start::Request = serde_json::from_str(request).unwrap();
    run::prepare(context, &request.task_spec().unwrap())
}

#[test]
fn a_new_session_id_must_be_unused_by_every_agent() {
    let scene = Scene::new();
    write_program(&scene, "claude", "echo '2.1.329 (Claude Code)'");
    let request = format!(r#"{{"task": "Tune it", "session_id": "{}"}}"#, PERSON.0);
    let refused = |caller| prepare(&scene.context(caller, MAIN.1), &request).unwrap_err();
    let (person, main) = (refused(Caller::Person), refused(agent("main")));
    assert_eq!((person.kind, person.next_steps.len()), (Kind::Held, 1));
    // That somebody has it is not said.
    let unknown = format!("{} cannot be the id of a new session", PERSON.0);
    assert_eq!((main.kind, main.message), (Kind::Usage, unknown));
    add_worker(&scene, None, PERSON.1, ANOTHERS);
    let request = request.replace(PERSON.0, ANOTHERS);
    let main = prepare(&scene.context(agent("main"), MAIN.1), &request).unwrap_err();
    assert_eq!(main.kind, Kind::Usage);
}

#[test]
fn a_refusal_names_no_worker_of_another() {
    let scene = Scene::new();
    write_program(&scene, "claude", "echo '2.1.329 (Claude Code)'");
    add_worker(&scene, None, MAIN.1, SOMEBODYS);
    add_worker(&scene, None, MAIN.1, ANOTHERS);
    let refused = |caller| {
        prepare(&scene.context(caller, MAIN.1), r#"{"task": "Tune it", "fresh": true}"#).unwrap_err()
    };
    let directory = scene.directory(MAIN.1).canonicalize().unwrap();
    let others = format!(
        "another worker is working in {} and another worker is already waiting for it; no third one can queue",
        directory.display()
    );
    let main = refused(agent("main"));
    assert_eq!((main.message, main.next_steps), (others, vec![NextStep::RunInWorkTree]));
    let person = refused(Caller::Person);
    assert!(person.message.starts_with("worker 1 is working in"), "{person}");
    assert!(person.next_steps.contains(&NextStep::Stop { worker: 2 }), "{person:?}");
}

#[test]
fn a_queued_worker_does_not_learn_the_number_of_another_agents_worker() {
    let scene = Scene::new();
    write_program(&scene, "claude", "echo '2.1.329 (Claude Code)'");
    add_worker(&scene, None, MAIN.1, SOMEBODYS);
    let request = r#"{"task": "Tune it", "fresh": true}"#;
    assert_eq!(prepare(&scene.context(agent("main"), MAIN.1), request).unwrap().behind, None);
}

/// A work tree for a task, of a repository in the directory of `main`.
fn work_tree(scene: &Scene) -> PathBuf {
    let root = scene.directory(MAIN.1);
    let git = |arguments: &[&str]| {
        let mut git = scene.home().command("git");
        git.current_dir(&root).args(["-c", "user.name=Ana", "-c", "user.email=ana@example.org"]);
        assert!(git.args(arguments).status().unwrap().success(), "{arguments:?}");
    };
    git(&["init", "-q"]);
    git(&["commit", "-q", "--allow-empty", "-m", "Begin"]);
    git(&["worktree", "add", "-q", "-b", "worktree-task-1", ".claude/worktrees/task-1"]);
    root.join(".claude/worktrees/task-1")
}

#[test]
fn a_work_tree_that_is_kept_names_no_worker_of_another() {
    let scene = Scene::new();
    let tree = work_tree(&scene);
    let (mut table, own) = add_worker_in(&scene, Some("main"), &tree, SOMEBODYS);
    let context = scene.context(agent("main"), MAIN.1);
    table.set_state(own, &WorkerState::Stopped, context.now).unwrap();
    let (_, other) = add_worker_in(&scene, None, &tree, ANOTHERS);
    let request = stop::Request { worker: own.to_string(), remove_worktree: true };
    let refused = |caller| stop::stop(&scene.context(caller, MAIN.1), &request).unwrap_err().message;
    assert!(refused(agent("main")).ends_with("another worker is working there"));
    assert!(refused(Caller::Person).ends_with(&format!("worker {other} is working there")));
}

#[test]
fn an_agent_sees_counts_of_its_own_sessions_only() {
    let scene = Scene::new();
    let main = scene.context(agent("main"), MAIN.1);
    let request = index::Request { dry_run: true, ..index::Request::default() };
    let left = index::index(&main, &request).unwrap();
    let own = fs::metadata(scene.transcript(MAIN)).unwrap().len();
    assert_eq!((left.pending_files, left.pending_bytes), (1, own));
    let hurried = main.clone();
    hurried.cancellation.answer_now();
    let question = SearchRequest { query: "tune".to_owned(), ..SearchRequest::default() };
    assert_eq!(search(&hurried, &question).unwrap().pending.files, 1);
    let main = scene.context(agent("main"), MAIN.1);
    let read = index::index(&main, &index::Request::default()).unwrap();
    assert_eq!((read.files, read.bytes, read.pending_files, read.sessions), (1, own, 0, 1));
    let everybodys =
        index::index(&scene.context(Caller::Person, MAIN.1), &index::Request::default()).unwrap();
    assert!(read.chunks > 0 && everybodys.sessions == 3, "{read:?} {everybodys:?}");
    assert!(0 < read.text_bytes && read.text_bytes < everybodys.text_bytes, "{read:?} {everybodys:?}");
    assert_eq!((read.index_bytes, read.unreadable_lines), (None, None), "these are of all sessions together");
    assert!(everybodys.index_bytes > Some(0) && everybodys.unreadable_lines == Some(0), "{everybodys:?}");
    let listed = list(&main, &ListRequest::default()).unwrap();
    assert_eq!((listed.known, listed.subagents_excluded), (1, 0));
    let status = memory::status::status(&main, &memory::status::Request::default()).unwrap();
    let status = to_value(status).unwrap();
    let claude = &status[0]["scan"]["sources"].as_array().unwrap();
    let claude = claude.iter().find(|scan| scan["source"] == "claude-sessions").unwrap();
    assert_eq!(claude["totalFiles"], 1, "{status}");
}

#[test]
fn progress_has_no_totals_of_other_agents_sessions() {
    let steps = |caller| {
        let scene = Scene::new();
        let steps = Arc::new(Mutex::new(Vec::new()));
        let sink = steps.clone();
        let progress = ProgressSink::new(move |step: Progress| sink.lock().unwrap().push(step));
        let context = Context { progress, ..scene.context(caller, MAIN.1) };
        index::index(&context, &index::Request::default()).unwrap();
        let steps = steps.lock().unwrap().clone();
        assert!(!steps.is_empty());
        steps
    };
    for step in steps(agent("main")) {
        assert_eq!((step.is_share, step.total, step.bytes, step.bytes_done), (true, 100, 0, 0), "{step:?}");
        assert!(step.done <= 100, "{step:?}");
    }
    let persons = steps(Caller::Person);
    assert!(persons.iter().all(|step| !step.is_share && step.bytes > 100), "{persons:?}");
}

#[test]
fn sub_agents_of_other_agents_are_not_counted() {
    let scene = Scene::new();
    let folder = scene.transcript(PERSON).with_extension("").join("subagents");
    fs::create_dir_all(&folder).unwrap();
    fs::copy(scene.transcript(PERSON), folder.join("agent-a1.jsonl")).unwrap();
    let counted =
        |caller| list(&scene.context(caller, MAIN.1), &ListRequest::default()).unwrap().subagents_excluded;
    assert_eq!((counted(Caller::Person), counted(agent("main"))), (1, 0));
}

#[test]
fn qmd_is_not_used_for_agents() {
    let scene = Scene::new();
    let called = scene.home().path().join("called");
    let found = json!([{"file": format!("qmd://claude-sessions/{}.md", PERSON.0), "score": 0.9, "snippet": "walrus"}]);
    write_program(&scene, "qmd", &format!("touch {}\ncat <<'END'\n{found}\nEND", called.display()));
    let request =
        ForkRequest { intent: "tune please".to_owned(), engine: Some(Engine::Qmd), ..ForkRequest::default() };
    let ids = |caller| match forks(&scene.context(caller, MAIN.1), &request).unwrap() {
        ForkAnswer::ForkSessions(found) => {
            found.results.iter().map(|one| one.session_id.to_string()).collect::<Vec<_>>()
        }
        ForkAnswer::Nothing(guidance) => panic!("{guidance:?}"),
    };
    assert_eq!(ids(agent("main")), [MAIN.0]);
    assert!(!called.exists(), "an agent's question is not passed on");
    assert_eq!(ids(Caller::Person), [PERSON.0]);
    assert!(called.exists());
}

#[test]
fn an_evaluation_report_holds_no_secret() {
    let scene = Scene::new();
    let context = scene.context(Caller::Person, MAIN.1);
    let query = json!({"id": "a", "query": format!("tune {}", secret()), "relevant": {MAIN.0: 1}});
    let queries = scene.home().write("queries.jsonl", query.to_string());
    let request = json!({"queries": queries, "mode": "lexical"});
    let ranked = eval::retrieval::retrieval(&context, &serde_json::from_value(request).unwrap()).unwrap();
    let decision = json!({
        "id": "a", "at": 1_768_046_400, "task": format!("use {}", secret()), "cwd": scene.directory(MAIN.1),
        "branch": format!("tune-{}", secret()), "action": "fresh", "session": null,
    });
    let decisions = scene.home().write("decisions.jsonl", decision.to_string());
    let request = serde_json::from_value(json!({ "decisions": decisions })).unwrap();
    let chosen = eval::selection::selection(&context, &request).unwrap();
    for answer in [to_value(ranked).unwrap(), to_value(chosen).unwrap()] {
        let text = answer.to_string();
        assert!(!text.contains(&secret()[4..]) && text.contains("[redacted:github-token]"), "{text}");
    }
}

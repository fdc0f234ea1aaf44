//! What the `claude` of an agent's worker gets from the bridge.

use app::bridge::{Bridge, Tool, announce, conversation, memory, sessions, status};
use app::sessions::list;
use app::sessions::page;
use app::workers::context_for_model;
use app::{App, Caller, Config, Context, Kind};
use jiff::Timestamp;
use serde_json::{Value, json};
use workers::store::{AddOutcome, NewWorker};
use workers::{ProcessIdentity, SessionStart, WorkerId, WorkerSpec, WorkerStore};

use crate::scene::{MAIN, OPS, PERSON, Scene, secret};

const NATIVE: &str = "44444444-dddd-4ddd-8ddd-444444444444";
const OTHER: &str = "55555555-eeee-4eee-8eee-555555555555";

/// A worker in the directory of agent main's session, which continues that session.
fn worker(scene: &Scene, agent: Option<&str>, budget_usd: Option<f64>) -> WorkerId {
    let context = scene.context(Caller::Person, MAIN.1);
    let session = MAIN.0.parse().unwrap();
    let task = format!("Tune the lighthouse with {}", secret());
    let mut spec =
        WorkerSpec::new(SessionStart::Resume(MAIN.0.parse().unwrap()), scene.directory(MAIN.1), task);
    spec.agent = agent.map(|agent| agent.parse().unwrap());
    spec.options.budget_usd = budget_usd;
    let mut table = WorkerStore::open(&context.config().state.join(workers::store::FILE)).unwrap();
    let (slot, host) = (scene.directory(MAIN.1), ProcessIdentity::current());
    let wanted = NewWorker { spec: &spec, session: &session, slot: &slot, message: "m1", host: &host };
    let AddOutcome::Ready(id) = table.add(&wanted, context.now).unwrap() else { panic!("it is queued") };
    id
}

fn open(scene: &Scene, id: WorkerId) -> (Context, Bridge) {
    let person = scene.context(Caller::Person, MAIN.1);
    let bridge = Bridge::open(&person, id).unwrap();
    (bridge.context(&person), bridge)
}

fn json(value: impl serde::Serialize) -> Value {
    serde_json::to_value(value).unwrap()
}

#[test]
fn the_budget_is_what_is_left() {
    let scene = Scene::new();
    let id = worker(&scene, Some("main"), Some(1.0));
    let (context, bridge) = open(&scene, id);
    let file = context.config().state.join(workers::store::FILE);
    let mut table = WorkerStore::open(&file).unwrap();
    let info = json(conversation::session_info(&context, &bridge).unwrap());
    assert_eq!(info["costAccumulatedUsd"], json!(0.0));
    // The turn that runs has not been settled: its messages are priced, 10 and 5 tokens at 3 and 15 dollars a million.
    let began: Timestamp = "2026-01-10T10:00:00Z".parse().unwrap();
    table.set_process(id, &ProcessIdentity::current(), began).unwrap();
    let info = json(conversation::session_info(&context, &bridge).unwrap());
    let cost = info["costAccumulatedUsd"].as_f64().unwrap();
    assert!((cost - 0.000_105).abs() < 1e-9, "{cost}");
    table.set_cost(id, 0.25, 3).unwrap();
    let info = json(conversation::session_info(&context, &bridge).unwrap());
    assert_eq!((&info["costAccumulatedUsd"], &info["budgetMaxUsd"]), (&json!(0.25), &json!(1.0)));
    assert_eq!((&info["budgetRemainingUsd"], &info["agentId"]), (&json!(0.75), &json!("main")));
    let all = json(conversation::conversation_context(&context, &bridge).unwrap());
    assert_eq!((&all["budgetRemaining"], &all["agentId"]), (&json!("$0.75"), &json!("main")));
    assert_eq!(all["task"], "Tune the lighthouse with [redacted:github-token]");
    assert_eq!(all["repo"], json!(scene.directory(MAIN.1)));
}

#[test]
fn without_a_budget_it_is_unlimited() {
    let scene = Scene::new();
    let (context, bridge) = open(&scene, worker(&scene, Some("main"), None));
    assert_eq!(conversation::conversation_context(&context, &bridge).unwrap().budget_remaining, "unlimited");
    assert_eq!(conversation::session_info(&context, &bridge).unwrap().budget_remaining_usd, None);
}

#[test]
fn an_agent_searches_only_its_own_memory() {
    let scene = Scene::new();
    scene.home().write(".openclaw/agents/main/memory/2026-01-09.md", format!("The LAMP key is {}", secret()));
    scene.home().write(".openclaw/agents/ops/memory/2026-01-09.md", "The lamp key of ops");
    let (context, bridge) = open(&scene, worker(&scene, Some("main"), None));
    let search = |query: &str| {
        let request = memory::Request { query: query.to_owned() };
        memory::search(&context, &bridge, &request).map(|answer| answer.results)
    };
    let found = search("lamp key").unwrap();
    assert_eq!(found[0].file, "memory/2026-01-09.md");
    assert_eq!(found[0].content, "The LAMP key is [redacted:github-token]");
    assert!(found.iter().all(|result| !result.content.contains("ops")), "{found:?}");
    assert!(search("zebra crossing").unwrap().is_empty());
    assert!(search("?!").unwrap().is_empty());
    assert_eq!(search(" ").unwrap_err().kind, Kind::Usage);
}

#[test]
fn an_agent_lists_its_own_and_native_sessions_of_its_repository() {
    let scene = Scene::new();
    scene.add_session(NATIVE, MAIN.1, "Paint the lighthouse");
    scene.add_session(OTHER, MAIN.1, "[openclaw:agent=ops]\n\nSell the lighthouse");
    let (context, bridge) = open(&scene, worker(&scene, Some("main"), None));
    let list = |include_native| {
        let request = sessions::Request { include_native };
        let answer = sessions::session_list(&context, &bridge, &request).unwrap();
        let ids = answer.sessions.iter().map(|session| (session.session_id.to_string(), session.source));
        (ids.collect::<Vec<_>>(), answer.total, answer.active_count)
    };
    let own = (MAIN.0.to_owned(), "openclaw");
    let native = (NATIVE.to_owned(), "native-only");
    assert_eq!(list(None), (vec![native, own.clone()], 2, 0));
    assert_eq!(list(Some(false)), (vec![own], 1, 0));
}

#[test]
fn the_status_has_both_shapes() {
    let scene = Scene::new();
    scene.add_session(OTHER, MAIN.1, "[openclaw:agent=ops]\n\nSell the lighthouse");
    scene.home().write("lighthouse/CLAUDE.md", "Be kind.");
    let (context, bridge) = open(&scene, worker(&scene, Some("main"), None));
    let found = json(status::project_status(&context, &bridge).unwrap());
    assert_eq!(found["repo"]["path"], json!(scene.directory(MAIN.1)));
    assert_eq!(found["docs"]["hasClaudeMd"], true);
    assert_eq!(found["docs"]["claudeMd"], true);
    for (nested, flat) in [
        ("/git/currentBranch", "branch"),
        ("/git/headCommitSha", "headCommit"),
        ("/git/uncommittedChanges", "uncommittedChanges"),
        ("/git/stagedChanges", "stagedChanges"),
        ("/git/stashCount", "stashCount"),
        ("/git/recentCommits", "recentCommits"),
        ("/sessions/active", "activeSessions"),
        ("/sessions/recent", "recentSessions"),
    ] {
        let nested = found.pointer(nested).unwrap_or_else(|| panic!("{nested} is missing: {found}"));
        assert_eq!(*nested, found[flat], "{flat}");
    }
    assert_eq!(found["recentSessions"][0]["sessionId"], MAIN.0);
    assert_eq!(found["sessions"]["ownRecent"][0]["sessionId"], MAIN.0);
    let text = found.to_string();
    assert!(!text.contains(OTHER) && !text.contains(&secret()[4..]), "{text}");
}

#[test]
fn a_worker_without_a_chat_cannot_announce() {
    let scene = Scene::new();
    let (context, bridge) = open(&scene, worker(&scene, Some("main"), None));
    let announce = |message: &str| {
        let request = announce::Request { message: message.to_owned() };
        announce::announce(&context, &bridge, &request).unwrap_err().kind
    };
    assert_eq!(announce("Done."), Kind::Unavailable);
    assert_eq!(announce(" "), Kind::Usage);
    assert_eq!(announce(&"x".repeat(20_000)), Kind::TooLarge);
}

#[test]
fn only_agents_have_a_bridge() {
    let scene = Scene::new();
    let person = scene.context(Caller::Person, MAIN.1);
    let of_person = worker(&scene, None, None);
    assert_eq!(Bridge::open(&person, of_person).unwrap_err().kind, Kind::Usage);
    assert_eq!(Bridge::open(&person, 99).unwrap_err().kind, Kind::NotFound);
}

#[test]
fn all_six_tools_are_there_by_default() {
    let scene = Scene::new();
    let (context, bridge) = open(&scene, worker(&scene, Some("main"), None));
    assert_eq!(bridge.tools(&context).unwrap(), Tool::ALL);
}

#[test]
fn a_model_inside_an_agents_worker_sees_what_that_agent_may() {
    let scene = Scene::new();
    let id = worker(&scene, Some("main"), None);
    let person = scene.context(Caller::Person, MAIN.1);
    let state = person.config().state.clone();
    WorkerStore::open(&state.join(workers::store::FILE))
        .unwrap()
        .set_process(id, &ProcessIdentity::current(), person.now)
        .unwrap();
    let asked = |change: &dyn Fn(&mut Config)| {
        let mut config = person.config().clone();
        change(&mut config);
        let app = App { config, ..App::clone(&person.app) };
        context_for_model(&Context { app: app.into(), ..person.clone() }).unwrap()
    };
    let main = Caller::Worker { worker: id, agent: Some("main".parse().unwrap()) };
    let mark = |state: &std::path::Path| Some(format!("{}#{id}", state.canonicalize().unwrap().display()));
    let by_mark = asked(&|config| config.worker_mark = mark(&state));
    let by_session = asked(&|config| config.claude_session = Some(MAIN.0.parse().unwrap()));
    let by_process = asked(&|config| config.parent_process = Some(std::process::id()));
    for context in [by_mark, by_session, by_process] {
        assert_eq!(context.caller, main);
        let seen = list::list(&context, &list::Request::default()).unwrap().sessions;
        assert!(seen.iter().all(|session| session.origin.agent().is_some()), "{seen:?}");
        for (session, _) in [PERSON, OPS] {
            let request = page::Request { session: session.to_owned(), ..page::Request::default() };
            assert_eq!(page::page(&context, &request).unwrap_err().kind, Kind::NotFound);
        }
    }
    let others = asked(&|config| config.claude_session = Some(PERSON.0.parse().unwrap()));
    let elsewhere = asked(&|config| config.worker_mark = mark(scene.home().path()));
    for context in [others, elsewhere, asked(&|_| {})] {
        assert_eq!(context.caller, Caller::Assistant);
    }
}

#[test]
fn a_model_inside_the_persons_worker_acts_for_the_person() {
    let scene = Scene::new();
    worker(&scene, None, None);
    let person = scene.context(Caller::Person, MAIN.1);
    let config = Config { claude_session: Some(MAIN.0.parse().unwrap()), ..person.config().clone() };
    let app = App { config, ..App::clone(&person.app) };
    let context = context_for_model(&Context { app: app.into(), ..person.clone() }).unwrap();
    assert_eq!(context.caller, Caller::Assistant);
}

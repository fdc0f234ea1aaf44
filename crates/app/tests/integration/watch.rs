//! One live handle, many subscribers.

use std::collections::HashSet;
use std::io::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use app::live::watch::{Live, Subscription};
use app::{Caller, Context, Secrets};
use model::{SessionEvent, SessionId};
use testkit::PATIENCE;

use crate::scene::{MAIN, OPS, PERSON, Scene, secret};

const SUBSCRIBERS: usize = 500;
/// How long one waits for an event before it is looked whether there are new facts.
const GLANCE: Duration = Duration::from_millis(50);

fn agent(name: &str) -> Caller {
    Caller::Agent(name.parse().unwrap())
}

/// Events until one of each session in `wanted` has come, in whatever order; all of them.
fn until(subscription: &mut Subscription, wanted: &[&str]) -> Vec<Arc<SessionEvent>> {
    let began = Instant::now();
    let mut events: Vec<Arc<SessionEvent>> = Vec::new();
    let is_of =
        |event: &SessionEvent, id: &str| event.session().is_some_and(|session| session.as_str() == id);
    while began.elapsed() < PATIENCE {
        let Some(event) = subscription.next(GLANCE).unwrap() else { continue };
        events.push(event);
        if wanted.iter().all(|id| events.iter().any(|event| is_of(event, id))) {
            return events;
        }
    }
    panic!("no event of one of {wanted:?}");
}

/// Waits until the sessions are listed; before that an agent's are not known.
fn listed(subscription: &mut Subscription) -> HashSet<String> {
    let began = Instant::now();
    while began.elapsed() < PATIENCE {
        if let Some(facts) = subscription.new_facts() {
            return facts.keys().map(SessionId::to_string).collect();
        }
        let _ = subscription.next(GLANCE).unwrap();
    }
    panic!("nothing is listed");
}

/// A prompt with a secret, written to sessions of two agents.
fn prompt(scene: &Scene) {
    for (id, word) in [OPS, MAIN] {
        let folder = scene.context(Caller::Person, word).config().claude_folders[0].join("projects");
        let path = walk(&folder).into_iter().find(|path| path.file_stem().unwrap() == id).unwrap();
        let line = serde_json::json!({"type": "assistant", "uuid": "u9", "parentUuid": format!("u2-{word}"),
            "sessionId": id, "timestamp": "2026-01-10T12:00:00.000Z", "message": {"id": "m9", "role": "assistant",
            "model": "claude-sonnet-4-5", "content": [{"type": "tool_use", "id": "t9", "name": "Bash",
            "input": {"command": "curl", "description": format!("Call with {}", secret())}}]}});
        let mut file = std::fs::File::options().append(true).open(path).unwrap();
        writeln!(file, "{line}").unwrap();
    }
}

fn walk(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let folders = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    folders.flat_map(|one| std::fs::read_dir(one).unwrap().map(|entry| entry.unwrap().path())).collect()
}

#[test]
fn five_hundred_subscribers_get_all_events_and_an_agent_only_its_own() {
    let scene = Scene::new();
    let person = scene.context(Caller::Person, PERSON.1);
    let live = Live::start(&person).unwrap();
    let mut subscriptions: Vec<Subscription> =
        (0..SUBSCRIBERS).map(|_| live.subscribe(&person).unwrap().1).collect();
    let (_, mut of_main) = live.subscribe(&scene.context(agent("main"), MAIN.1)).unwrap();
    let shown = Context { secrets: Secrets::Shown, ..person.clone() };
    let (_, mut with_secrets) = live.subscribe(&shown).unwrap();
    assert_eq!(listed(&mut of_main), HashSet::from([MAIN.0.to_owned()]));
    assert_eq!(listed(&mut subscriptions[0]).len(), 3);

    prompt(&scene);
    let first = until(&mut subscriptions[0], &[MAIN.0, OPS.0]);
    for subscription in &mut subscriptions[1..] {
        let events = until(subscription, &[MAIN.0]);
        let same = events.iter().zip(&first).all(|(one, other)| Arc::ptr_eq(one, other));
        assert!(same, "an event is redacted once for all subscribers");
    }
    for event in until(&mut of_main, &[MAIN.0]) {
        assert!(event.session().is_none_or(|session| session.as_str() == MAIN.0), "{event:?}");
    }
    let said = |events: &[Arc<SessionEvent>]| format!("{events:?}").contains(&secret()[4..]);
    assert!(!said(&first));
    assert!(said(&until(&mut with_secrets, &[MAIN.0])), "there is a secret to be redacted");
}

#[test]
fn a_snapshot_shows_an_agent_its_own_sessions() {
    let scene = Scene::new();
    let person = scene.context(Caller::Person, PERSON.1);
    let live = Live::start(&person).unwrap();
    let (_, mut subscription) = live.subscribe(&person).unwrap();
    listed(&mut subscription);
    prompt(&scene);
    until(&mut subscription, &[MAIN.0, OPS.0]);
    let seen = |context: &Context| {
        let sessions = live.snapshot(context).unwrap().sessions;
        sessions.into_iter().map(|info| info.session_id.to_string()).collect::<HashSet<_>>()
    };
    assert!(seen(&person).is_superset(&HashSet::from([MAIN.0.to_owned(), OPS.0.to_owned()])));
    assert_eq!(seen(&scene.context(agent("main"), MAIN.1)), HashSet::from([MAIN.0.to_owned()]));
}

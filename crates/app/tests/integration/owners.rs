//! Whose sessions agents work in: every face starts workers through the same function, whoever asks.

use app::workers::{run, start};
use app::{Caller, Kind};

use crate::scene::{MAIN, OPS, PERSON, Scene};

#[test]
fn a_worker_for_an_agent_does_not_continue_another_agents_session() {
    let scene = Scene::new();
    for caller in [Caller::Person, Caller::Assistant] {
        let context = scene.context(caller, MAIN.1);
        let attempt = |agent: &str, session: &str, is_fork: bool| {
            let named = Some(session.to_owned());
            let request = start::Request {
                task: "Tune it".to_owned(),
                agent: Some(agent.parse().unwrap()),
                resume: named.clone().filter(|_| !is_fork),
                fork: named.filter(|_| is_fork),
                ..start::Request::default()
            };
            request.task_spec().and_then(|spec| run::prepare(&context, &spec)).unwrap_err()
        };
        for is_fork in [false, true] {
            for (agent, session, owner) in [("main", OPS.0, "ops"), ("ops", MAIN.0, "main")] {
                let refused = attempt(agent, session, is_fork);
                let said = format!("belongs to agent {owner}, and this is agent {agent}");
                assert_eq!(refused.kind, Kind::Forbidden, "{refused}");
                assert!(refused.message.ends_with(&said), "{refused}");
            }
            // Its own and the person's are refused for another reason: there is no `claude` here.
            for session in [MAIN.0, PERSON.0] {
                assert_ne!(attempt("main", session, is_fork).kind, Kind::Forbidden);
            }
        }
    }
}

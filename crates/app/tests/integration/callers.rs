//! No caller gets a secret, and no agent another's session.

use std::fmt::Write as _;

use app::choose::pick::pick;
use app::choose::request::Request as PickRequest;
use app::choose::why_not::{Request as WhyNotRequest, why_not};
use app::proceed::fork::{Request as ForkRequest, fork};
use app::proceed::fork_request;
use app::proceed::resume::resume;
use app::repository::status;
use app::search::{Request as SearchRequest, embed, export_schedule, index, memory, search};
use app::sessions::blame::{Request as BlameRequest, blame};
use app::sessions::cost::{GroupBy, Request as CostRequest, cost};
use app::sessions::day::{Request as DayRequest, day};
use app::sessions::diff::{Request as DiffRequest, diff};
use app::sessions::list::{Request as ListRequest, list};
use app::sessions::lookup::{SessionRef, find_candidates};
use app::sessions::page::{Request as PageRequest, page};
use app::sessions::prompts::{Request as PromptsRequest, prompts};
use app::sessions::show::{Request as ShowRequest, ShownMessage, show};
use app::workers::{run, send, start, stop};
use app::{Caller, Context, Error, Kind, cron, doctor, live, workers};

use crate::scene::{MAIN, OPS, PERSON, Scene, secret};

/// The answers and errors of every public function, by its name.
fn all_answers(context: &Context) -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = Vec::new();
    let mut say = |name: &str, answer: String| all.push((name.to_owned(), answer));
    say("list", format!("{:?}", list(context, &ListRequest::default())));
    say("cost", format!("{:?}", cost(context, &CostRequest { by: GroupBy::Session, ..Default::default() })));
    say("prompts", format!("{:?}", prompts(context, &PromptsRequest::default())));
    let request = BlameRequest { what: "a/b.rs".to_owned(), ..Default::default() };
    say("blame", format!("{:?}", blame(context, &request)));
    let request = DayRequest { since: Some("2026-01-10".into()), ..Default::default() };
    say("day", format!("{:?}", day(context, &request)));
    say("status", format!("{:?}", status::status(context, &status::Request::default())));
    say("doctor", format!("{:?}", doctor::doctor(context, &doctor::Request::default())));
    say("workers", format!("{:?}", workers::list::list(context, &workers::list::Request::default())));
    say(
        "memory status",
        format!("{:?}", memory::status::status(context, &memory::status::Request::default())),
    );
    let question = memory::search::Request { query: "tune please".to_owned(), ..Default::default() };
    say("memory", format!("{:?}", memory::search::search(context, &question)));
    let request = PickRequest { task: "Tune it again please".to_owned(), ..Default::default() };
    say("pick", format!("{:?}", pick(context, &request)));
    for (id, word) in [PERSON, MAIN, OPS] {
        for question in [format!("{word} tune please"), format!("session:{id} tune")] {
            let request = SearchRequest { query: question, ..Default::default() };
            say("search", format!("{:?}", search(context, &request)));
        }
        let request = DiffRequest { session: id.to_owned(), ..Default::default() };
        say("diff", format!("{:?}", diff(context, &request)));
        say("show", shown(context, id).unwrap_or_else(|error| error.to_string()));
        let request =
            PageRequest { session: id.to_owned(), tools: true, thinking: true, ..Default::default() };
        say("page", format!("{:?}", page(context, &request)));
        say(
            "why not",
            format!(
                "{:?}",
                why_not(context, &WhyNotRequest { session: id.to_owned(), ..Default::default() })
            ),
        );
        let found = find_candidates(context, &SessionRef::Named(id.to_owned()), 5);
        say("lookup", format!("{found:?}"));
        for ranked in found.iter().flatten() {
            let Some(session) = &ranked.session else { continue };
            say("resume", format!("{:?}", resume(context, session, &[])));
            say("fork", format!("{:?}", fork(context, session, &ForkRequest::default())));
        }
        let request = start::Request {
            task: "Tune it".to_owned(),
            resume: Some(id.to_owned()),
            ..start::Request::default()
        };
        say("run", format!("{:?}", request.task_spec().and_then(|order| run::prepare(context, &order))));
        let message = send::Request { to: id.to_owned(), message: "Tune it".to_owned() };
        say("send", format!("{:?}", send::send(context, &message)));
        let ended = stop::Request { worker: id.to_owned(), remove_worktree: false };
        say("attach", format!("{:?}", workers::attach(context, id)));
        say("stop", format!("{:?}", stop::stop(context, &ended)));
    }
    say("last", format!("{:?}", find_candidates(context, &SessionRef::Last, 5)));
    all
}

/// Everything that `show` says of a session.
fn shown(context: &Context, id: &str) -> Result<String, Error> {
    let request =
        ShowRequest { session: id.to_owned(), thinking: true, tools: true, ..ShowRequest::default() };
    let conversation = show(context, request)?;
    let mut text = format!("{conversation:?}");
    conversation.each(|shown: ShownMessage| -> Result<(), Error> {
        let _ = write!(text, "{shown:?}");
        Ok(())
    })?;
    Ok(text)
}

fn agent(name: &str) -> Caller {
    Caller::Agent(name.parse().unwrap())
}

#[test]
fn no_answer_holds_a_secret() {
    let scene = Scene::new();
    for caller in [Caller::Person, agent("main")] {
        for (name, answer) in all_answers(&scene.context(caller.clone(), MAIN.1)) {
            assert!(!answer.contains(&secret()[4..]), "{name} for {caller:?}: {answer}");
        }
    }
}

#[test]
fn an_agent_finds_only_its_own_sessions() {
    let scene = Scene::new();
    let as_worker = Caller::Worker { worker: 7, agent: Some("main".parse().unwrap()) };
    for caller in [agent("main"), as_worker] {
        let answers = all_answers(&scene.context(caller.clone(), MAIN.1));
        check_silent(&answers, &[PERSON, OPS]);
        let says =
            |name: &str| answers.iter().any(|(asked, answer)| asked == name && answer.contains(MAIN.0));
        for name in ["list", "cost", "status", "search", "show", "page", "lookup", "last"] {
            assert!(says(name), "{name} for {caller:?} does not know the agent's own session");
        }
    }
}

#[test]
fn another_agents_session_is_refused_with_its_owner() {
    let scene = Scene::new();
    scene.home().write(
        ".openclaw/agents/ops/sessions/sessions.json",
        format!(r#"{{"agent:ops:main": {{"sessionId": "o2", "sdkSessionId": "{}"}}}}"#, OPS.0),
    );
    let as_worker = Caller::Worker { worker: 7, agent: Some("main".parse().unwrap()) };
    for caller in [agent("main"), as_worker] {
        let context = scene.context(caller, MAIN.1);
        for name in [OPS.0, &OPS.0[..13], "openclaw:ops/o2", "agent:ops:main"] {
            let check = |what: &str, refused: Option<Error>| {
                let refused = refused.unwrap_or_else(|| panic!("{what} of {name} is refused"));
                assert_eq!(refused.kind, Kind::Forbidden, "{what} of {name}: {refused}");
                assert!(
                    refused.message.ends_with("belongs to agent ops, and this is agent main"),
                    "{refused}"
                );
            };
            let named = SessionRef::Named(name.to_owned());
            check("resume and fork", find_candidates(&context, &named, 5).err());
            let wanted = fork_request::Request { intent: name.to_owned(), ..Default::default() };
            check("a search for forks", fork_request::forks(&context, &wanted).err());
            for (resume, fork) in [(Some(name), None), (None, Some(name))] {
                let request = start::Request {
                    task: "Tune it".to_owned(),
                    resume: resume.map(str::to_owned),
                    fork: fork.map(str::to_owned),
                    ..start::Request::default()
                };
                check("run", request.task_spec().and_then(|order| run::prepare(&context, &order)).err());
            }
            let message = send::Request { to: name.to_owned(), message: "Tune it".to_owned() };
            check("send", send::send(&context, &message).err());
        }
        // The person's are not there at all.
        let found = find_candidates(&context, &SessionRef::Named(PERSON.0.to_owned()), 5).unwrap_err();
        assert_eq!(found.kind, Kind::NotFound, "{found}");
    }
}

#[test]
fn the_session_behind_a_conversation_is_found_by_the_conversation_and_its_agents_own() {
    let scene = Scene::new();
    let context = scene.context(agent("main"), PERSON.1);
    let task = PickRequest { task: format!("Tune the {} again", PERSON.1), ..PickRequest::default() };
    assert_eq!(pick(&context, &task).unwrap().candidates, 0);
    scene.home().write(
        ".openclaw/agents/main/sessions/sessions.json",
        format!(
            r#"{{"agent:main:main": {{"sessionId": "o1", "cliSessionIds": {{"claude-cli": "{}"}}}},
                "agent:main:new": {{"sessionId": "o2"}}}}"#,
            PERSON.0
        ),
    );
    assert_eq!(pick(&context, &task).unwrap().candidates, 1);
    for caller in [Caller::Person, agent("main")] {
        let context = scene.context(caller, MAIN.1);
        let ids = |name: &str| {
            find_candidates(&context, &SessionRef::Named(name.to_owned()), 5)
                .map(|found| found[0].id.to_string())
                .map_err(|error| (error.kind, error.message))
        };
        assert_eq!(ids("openclaw:main/o1").as_deref(), Ok(PERSON.0));
        assert_eq!(ids("agent:main:main").as_deref(), Ok(PERSON.0));
        assert!(matches!(ids("openclaw:main/o"), Err((Kind::Ambiguous, _))));
        for name in ["openclaw:main/o2", "agent:main:new"] {
            let nothing = (Kind::NotFound, format!("there is no Claude session behind `{name}`"));
            assert_eq!(ids(name), Err(nothing));
        }
    }
}

/// Fails where an answer tells of one of these sessions.
#[track_caller]
fn check_silent(answers: &[(String, String)], sessions: &[(&str, &str)]) {
    for (name, answer) in answers {
        for (id, word) in sessions {
            // What was asked for may be repeated in the refusal.
            let is_told =
                answer.contains(&format!("Tune the {word}")) || answer.contains(&format!("{word} ["));
            let is_found =
                answer.contains(id) && !answer.starts_with("Err") && !answer.contains("no session");
            assert!(!is_told && !is_found, "{name} tells of {word}: {answer}");
        }
    }
}

#[test]
fn a_model_sees_only_the_projects_the_settings_allow() {
    for settings in [
        &[("BACKSTORY_MCP_DENY", "walrus:harpsichord")][..],
        &[("BACKSTORY_MCP_PROJECTS", "lighthouse")],
        &[("BACKSTORY_MCP_PROJECTS", "~/lighthouse")],
        &[("BACKSTORY_MCP_PROJECTS", "~"), ("BACKSTORY_MCP_DENY", "~/walrus:~/harpsichord")],
    ] {
        let scene = Scene::with(settings);
        for caller in [Caller::Assistant, Caller::Worker { worker: 7, agent: None }] {
            let answers = all_answers(&scene.context(caller.clone(), MAIN.1));
            check_silent(&answers, &[PERSON, OPS]);
            for name in ["list", "cost", "status", "search", "show", "page", "lookup", "last"] {
                let says = answers.iter().any(|(asked, answer)| asked == name && answer.contains(MAIN.0));
                assert!(says, "{name} for {caller:?} does not know what is left: {settings:?}");
            }
            let elsewhere = scene.context(caller, PERSON.1);
            check(status::status(&elsewhere, &status::Request::default()));
        }
        // The person's own command line has no limits.
        let person = all_answers(&scene.context(Caller::Person, MAIN.1));
        assert!(person.iter().any(|(name, answer)| name == "list" && answer.contains(PERSON.0)));
    }
}

#[test]
fn a_model_answers_permissions_only_if_the_settings_allow_it() {
    let reply = |reply: &str| {
        let json = format!(r#"{{"worker": 7, "request": "r", "reply": {reply}}}"#);
        serde_json::from_str::<workers::answer::Request>(&json).unwrap()
    };
    let ask = |setting: &str, text: &str| {
        let scene = Scene::with(&[("BACKSTORY_MCP_ANSWER_PERMISSIONS", setting)]);
        let context = scene.context(Caller::Assistant, MAIN.1);
        workers::answer::answer(&context, &reply(text)).unwrap_err().kind
    };
    let (once, always) = (r#"{"behavior": "allow"}"#, r#"{"behavior": "allow", "grant": "always"}"#);
    assert_eq!(ask("false", once), Kind::Forbidden);
    assert_eq!(ask("true", always), Kind::Forbidden);
    assert_eq!(ask("true", once), Kind::NotFound, "it may, but there is no such worker");
}

#[test]
fn the_person_finds_every_session() {
    let scene = Scene::new();
    let answers = all_answers(&scene.context(Caller::Person, PERSON.1));
    for name in ["list", "cost", "search", "show", "page", "lookup"] {
        for (id, word) in [PERSON, MAIN, OPS] {
            let knows = answers.iter().any(|(asked, answer)| asked == name && answer.contains(id));
            assert!(knows, "{name} does not know {word}");
        }
    }
}

#[track_caller]
fn check<T>(answer: Result<T, Error>) {
    let error = answer.err().expect("it is forbidden");
    assert_eq!(error.kind, Kind::Forbidden, "{error}");
}

#[test]
fn only_the_person_may_send_texts_away_or_start_unrestricted_workers() {
    let scene = Scene::new();
    for caller in [agent("main"), Caller::Worker { worker: 7, agent: None }, Caller::Assistant] {
        let context = scene.context(caller, MAIN.1);
        let request = embed::Request { model: Some("http://127.0.0.1:9/v1".to_owned()) };
        check(embed::embed(&context, &request, None, |_| false));
        let reply = r#"{"worker": "7", "request": "r", "reply": {"behavior": "allow", "grant": "always"}}"#;
        check(workers::answer::answer(&context, &serde_json::from_str(reply).unwrap()));
        let request = r#"{"task": "Tune it", "permission_mode": "bypassPermissions"}"#;
        let request: start::Request = serde_json::from_str(request).unwrap();
        check(run::prepare(&context, &request.task_spec().unwrap()));
        check(cron::list(&context, &cron::ListRequest::default()));
    }
}

#[test]
fn what_only_the_person_may_do_is_refused() {
    let scene = Scene::new();
    let context = scene.context(agent("main"), MAIN.1);
    check(cron::list(&context, &cron::ListRequest::default()));
    check(live::hooks::install(&context, &live::hooks::Scope::User));
    check(live::hooks::status(&context, &live::hooks::Request::default()));
    let rebuild = index::Request { rebuild: true, ..index::Request::default() };
    check(index::index(&context, &rebuild));
    check(export_schedule::schedule(&context, &export_schedule::Request::default()));
    let of_another = PickRequest {
        task: "Tune it".to_owned(),
        agent: Some("ops".parse().unwrap()),
        ..PickRequest::default()
    };
    check(pick(&context, &of_another));
}

#[test]
fn relative_paths_start_at_the_requests_directory() {
    let scene = Scene::new();
    let repositories = [PERSON, MAIN].map(|(_, word)| {
        let context = scene.context(Caller::Person, word);
        let task = PickRequest { task: "Tune it again".to_owned(), ..PickRequest::default() };
        let here = pick(&context, &task).unwrap().repo_path;
        let dot = PickRequest { repo: Some(".".to_owned()), ..task };
        assert_eq!(pick(&context, &dot).unwrap().repo_path, here);
        assert_eq!(here, scene.directory(word).canonicalize().unwrap());
        here
    });
    assert_ne!(repositories[0], repositories[1]);
}

#[test]
fn an_ambiguous_id_is_answered_with_titles_for_the_person_alone_and_without_secrets() {
    let scene = Scene::new();
    for id in ["55555551", "55555552"] {
        let message = format!("Rotate {} please", secret());
        scene.add_session(&format!("{id}-4444-4444-8444-444444444444"), PERSON.1, &message);
    }
    for (caller, has_title) in [(Caller::Person, true), (Caller::Assistant, false)] {
        let context = scene.context(caller, PERSON.1);
        for id in ["5555", "55555553"] {
            let request = ShowRequest { session: id.to_owned(), ..Default::default() };
            let error = format!("{:?}", show(&context, request).unwrap_err());
            assert!(error.contains("55555551"), "{error}");
            assert_eq!(error.contains("Rotate"), has_title, "{error}");
            assert!(!error.contains(&secret()), "{error}");
        }
    }
}

//! Sessions that go on: follow-ups, resumes, forks, interrupts, queues, and what other processes can do.

use serde_json::json;
use testkit::files::bytes;
use testkit::{Answer, Claude, Gate, Script};
use workers::store::{AddOutcome, SlotState};
use workers::{Command, Event, Limits, RemoteWorker, SessionStart, WorkerSpec, WorkerState};

use crate::stage::{Stage, id};

fn script() -> Script {
    Script::new()
        .on("say hello", [Answer::text("Hello.")])
        .on("and again", [Answer::text("Hello again.")])
        .on("another way", [Answer::text("Good morning.")])
}

fn prompts(stage: &Stage, session: &model::SessionId) -> String {
    String::from_utf8(bytes(&stage.transcript(session))).unwrap()
}

#[test]
fn a_session_is_started_resumed_and_forked() {
    for claude in [Claude::newest(), Claude::v2_1_197(), Claude::v2_1_100()] {
        let stage = Stage::new(&claude, script());
        let first = stage.spec("say hello");
        let session = first.session().unwrap().clone();
        let (result, state) = stage.play(&first);
        assert_eq!((result.text.as_str(), state.as_str()), ("Hello.", "finished"));
        let made = bytes(&stage.transcript(&session));

        let resumed = WorkerSpec { start: SessionStart::Resume(session.clone()), ..stage.spec("and again") };
        let (result, _) = stage.play(&resumed);
        assert_eq!(result.text, "Hello again.");
        assert!(result.cost_usd < result.session_cost_usd || claude.version() == "2.1.100", "{result:?}");
        let grown = bytes(&stage.transcript(&session));
        assert!(grown.starts_with(&made) && grown.len() > made.len());

        let to = id();
        let start = SessionStart::Fork { from: session.clone(), to: Some(to.clone()) };
        let (result, _) = stage.play(&WorkerSpec { start, ..stage.spec("another way") });
        assert_eq!(result.text, "Good morning.");
        assert_eq!(bytes(&stage.transcript(&session)), grown, "the original stays as it is");
        assert!(prompts(&stage, &to).contains("and again"), "the fork knows what was said");
    }
}

#[test]
fn a_command_that_claude_code_answers_itself_is_no_turn_without_an_end() {
    for claude in Claude::releases() {
        let stage = Stage::new(&claude, script());
        let mut actor = stage.start(&stage.spec("say hello"));
        actor.state("idle");
        for command in ["/help", "/status"] {
            actor.message(command).unwrap();
            actor.result();
            actor.state("idle");
        }
        actor.message("and again").unwrap();
        assert_eq!(actor.result().text, "Hello again.");
        actor.state("idle");
        actor.close();
    }
}

#[test]
fn only_an_agents_new_session_is_marked() {
    let stage = Stage::new(&Claude::newest(), script());
    let agent = Some("main".parse().unwrap());
    let first = WorkerSpec { agent: agent.clone(), ..stage.spec("say hello") };
    let session = first.session().unwrap().clone();
    let mut actor = stage.start(&first);
    actor.state("idle");
    actor.message("and again").unwrap();
    actor.result();
    actor.state("idle");
    actor.close();
    let resumed =
        WorkerSpec { start: SessionStart::Resume(session.clone()), agent, ..stage.spec("another way") };
    stage.play(&resumed);
    let text = prompts(&stage, &session);
    let marked = "[openclaw:agent=main]";
    assert!(text.contains(r#""content":"[openclaw:agent=main]\n\nsay hello""#), "{text}");
    let is_marked_prompt = |line: &&str| line.contains("\"type\":\"user\"") && line.contains(marked);
    assert_eq!(text.lines().filter(is_marked_prompt).count(), 1, "{text}");
    let plain = stage.spec("say hello");
    stage.play(&plain);
    assert!(!prompts(&stage, plain.session().unwrap()).contains(marked));
}

#[test]
fn a_follow_up_is_sent_during_a_turn() {
    for claude in Claude::releases() {
        let gate = Gate::new();
        let echo = json!({"command": "echo one", "description": "Say one"});
        let script = Script::new()
            .on("work long", [Answer::held(&gate).then_tool("Bash", echo), Answer::text("Worked.")])
            .on("one thing more", [Answer::text("And that.")]);
        let stage = Stage::new(&claude, script);
        let mut actor = stage.start(&stage.spec("work long"));
        gate.wait_until_reached();
        actor.message("one thing more").unwrap();
        assert_eq!(actor.message("and a third"), Err("a follow-up is already pending".into()));
        assert_eq!(
            stage.row(actor.handle.id).follow_up.map(|(_, text)| text).as_deref(),
            Some("one thing more")
        );
        gate.open();
        actor.state("idle");
        let said = stage.server.calls().iter().any(|call| call.body.to_string().contains("one thing more"));
        assert!(said, "the model was given it");
        assert_eq!(stage.row(actor.handle.id).follow_up, None);
        actor.close();
    }
}

#[test]
fn a_turn_is_interrupted_and_the_session_goes_on() {
    for claude in Claude::releases() {
        let gate = Gate::new();
        let script = script().on("never end", [Answer::text("I beg").then_hold(&gate).then_text("in.")]);
        let stage = Stage::new(&claude, script);
        let mut actor = stage.start(&stage.spec("never end"));
        gate.wait_until_reached();
        actor.handle.command(Command::Interrupt).unwrap();
        let result = actor.result();
        assert!(result.is_error, "{result:?}");
        actor.state("idle");
        actor.message("and again").unwrap();
        assert_eq!(actor.result().text, "Hello again.");
        actor.state("idle");
        assert_eq!(actor.close(), WorkerState::Finished { text: "Hello again.".into() });
        gate.open();
    }
}

#[test]
fn another_process_follows_answers_and_ends_a_worker() {
    let touch = json!({"command": "touch made && rm -rf nothing", "description": "Make a file"});
    let script = Script::new().on("make a file", [Answer::tool("Bash", touch), Answer::text("Made.")]);
    let stage = Stage::new(&Claude::newest(), script);
    let mut actor = stage.start(&stage.spec("make a file"));
    actor.asked();
    let remote = RemoteWorker::connect(&stage.config.home, actor.handle.id).unwrap();
    let request = remote
        .events
        .iter()
        .find_map(|event| match &*event {
            Event::Asked(request) => Some(request.request.clone()),
            _ => None,
        })
        .unwrap();
    let reply = crate::stage::allow();
    let wrong = remote.command(&Command::Answer { request: "no-such".into(), reply: reply.clone() });
    assert_eq!(wrong, Err(format!("`no-such` is not asked; what waits for an answer: {request}")));
    remote.command(&Command::Answer { request, reply }).unwrap();
    let idle = |event: &Event| matches!(event, Event::State(WorkerState::Idle { .. }));
    assert!(remote.events.iter().any(|event| idle(&event)));
    assert!(stage.shop.join("made").exists());
    remote.command(&Command::Stop).unwrap();
    assert!(remote.events.iter().any(|event| matches!(&*event, Event::Ended { .. })));
    assert_eq!(actor.end(), WorkerState::Stopped);
}

#[test]
fn idle_clients_do_not_prevent_the_end_of_a_worker() {
    let gate = Gate::new();
    let stage = Stage::new(&Claude::newest(), Script::new().otherwise(Answer::held(&gate)));
    let actor = stage.start(&stage.spec("never end"));
    gate.wait_until_reached();
    let connect = || RemoteWorker::connect(&stage.config.home, actor.handle.id).unwrap();
    let asks = connect();
    assert!(asks.command(&Command::SetModel { model: "haiku".into() }).is_ok());
    let idle: Vec<_> = (0..100).map(|_| connect()).collect();
    connect().command(&Command::Stop).unwrap();
    assert_eq!(actor.end(), WorkerState::Stopped);
    assert!(asks.events.iter().any(|event| matches!(&*event, Event::Ended { .. })), "it was not sent away");
    drop(idle);
    gate.open();
}

#[test]
fn a_directory_has_one_running_and_one_queued_worker() {
    let gate = Gate::new();
    let script = script().on("work long", [Answer::held(&gate).then_text("Worked.")]);
    let stage = Stage::new(&Claude::newest(), script);
    let first = stage.start(&stage.spec("work long"));
    gate.wait_until_reached();
    let mut second = stage.start(&stage.spec("say hello"));
    let behind = second.until("its place in the queue", |event| match event {
        Event::Queued { behind } => *behind,
        _ => None,
    });
    assert_eq!(behind, first.handle.id);
    let third = stage.add(&stage.spec("and again"));
    assert_eq!(third, AddOutcome::Full { running: first.handle.id, queued: second.handle.id });
    gate.open();
    first.close();
    assert_eq!(second.result().text, "Hello.");
    // Idle, it gives the directory back, and ends when the next one needs it.
    second.state("idle");
    assert_eq!(stage.row(second.handle.id).slot_state, Some(SlotState::Idle));
    let (result, _) = stage.play(&stage.spec("and again"));
    assert_eq!(result.text, "Hello again.");
    assert_eq!(second.end(), WorkerState::Finished { text: "Hello.".into() });
}

#[test]
fn a_queued_worker_can_be_cancelled() {
    let gate = Gate::new();
    let script = script().on("work long", [Answer::held(&gate).then_text("Worked.")]);
    let stage = Stage::new(&Claude::newest(), script);
    let first = stage.start(&stage.spec("work long"));
    gate.wait_until_reached();
    let second = stage.start(&stage.spec("say hello"));
    stage.table().cancel(second.handle.id, stage.row(second.handle.id).stats.created).unwrap();
    assert_eq!(second.end(), WorkerState::Stopped);
    let third = stage.start(&stage.spec("say hello"));
    third.handle.command(Command::Stop).unwrap();
    assert_eq!(third.end(), WorkerState::Stopped);
    gate.open();
    first.close();
    assert_eq!(stage.server.calls().iter().filter(|call| call.prompt().contains("say hello")).count(), 0);
}

#[test]
fn an_idle_worker_ends_when_its_time_is_over() {
    let mut stage = Stage::new(&Claude::newest(), script());
    stage.config.limits = Limits { idle: std::time::Duration::from_millis(200), ..stage.config.limits };
    let actor = stage.start(&stage.spec("say hello"));
    assert_eq!(actor.end(), WorkerState::Finished { text: "Hello.".into() });
}

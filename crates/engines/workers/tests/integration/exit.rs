//! How workers end that do not end well, and what is said of it.

use std::time::Duration;

use testkit::{Answer, Claude, Gate, Script};
use workers::{
    Command, FailureReason, Limits, ProcessIdentity, SessionStart, WorkerOptions, WorkerSpec, WorkerState,
};

use crate::stage::{Stage, id, wait_until};

fn failed(state: WorkerState) -> (FailureReason, String) {
    match state {
        WorkerState::Failed { reason: why, message } => (why, message),
        other => panic!("{other:?}"),
    }
}

fn each(check: fn(&Claude)) {
    for claude in Claude::releases() {
        check(&claude);
    }
}

#[test]
fn a_model_error_is_retried_and_then_reported() {
    each(|claude| {
        let stage = Stage::new(claude, Script::new().otherwise(Answer::refusal(529, "overloaded_error")));
        let (result, state) = stage.play(&stage.spec("say hello"));
        assert!(result.is_error, "{result:?}");
        let (why, message) = failed(state);
        assert_eq!(why, FailureReason::Api, "{message}");
        assert!(message.contains("529") || message.contains("verloaded"), "{message}");
        assert!(stage.server.calls().len() > 1, "it was tried again");
    });
}

#[test]
fn a_refused_request_is_a_failure() {
    each(|claude| {
        let stage =
            Stage::new(claude, Script::new().otherwise(Answer::refusal(400, "invalid_request_error")));
        let (result, state) = stage.play(&stage.spec("say hello"));
        assert_eq!((result.subtype.as_str(), result.is_error), ("success", true));
        assert_eq!(failed(state).0, FailureReason::Api);
    });
}

#[test]
fn a_declined_task_is_a_failure() {
    each(|claude| {
        let stage = Stage::new(claude, Script::new().otherwise(Answer::text("I").declined()));
        let (result, state) = stage.play(&stage.spec("say hello"));
        assert!(result.is_error, "{result:?}");
        let (why, message) = failed(state);
        assert_eq!(why, FailureReason::Api, "{message}");
        // Each release has words of its own for it, and all name the policy's page.
        assert!(message.contains("anthropic.com/legal/aup"), "{message}");
    });
}

#[test]
fn a_missing_session_is_reported() {
    each(|claude| {
        let stage = Stage::new(claude, Script::new());
        let spec = WorkerSpec { start: SessionStart::Resume(id()), ..stage.spec("say hello") };
        let (_, state) = stage.play_out(&spec);
        let (_, message) = failed(state);
        assert!(message.contains("No conversation found"), "{message}");
    });
}

#[test]
fn a_session_id_that_a_killed_process_has_used_is_replaced() {
    each(|claude| {
        let stage = Stage::new(claude, Script::new().on("say hello", [Answer::text("Hello.")]));
        let spec = stage.spec("say hello");
        let session = spec.session().unwrap().clone();
        let transcript = stage.transcript(&session);
        std::fs::create_dir_all(transcript.parent().unwrap()).unwrap();
        let queued =
            serde_json::json!({"type": "queue-operation", "operation": "enqueue", "sessionId": session});
        std::fs::write(&transcript, format!("{queued}\n")).unwrap();
        let (_, state) = stage.play(&spec);
        assert_eq!(state, WorkerState::Finished { text: "Hello.".into() });
        let used = stage.row(1).session;
        assert_ne!(used, session);
        assert!(stage.transcript(&used).is_file());
    });
}

#[test]
fn closing_lets_the_turn_finish() {
    each(|claude| {
        let gate = Gate::new();
        let script = Script::new().otherwise(Answer::text("I beg").then_hold(&gate).then_text("in."));
        let stage = Stage::new(claude, script);
        let actor = stage.start(&stage.spec("say hello"));
        gate.wait_until_reached();
        actor.handle.command(Command::Close).unwrap();
        // Nothing more can be said to it.
        assert!(actor.message("and again").is_err());
        gate.open();
        assert_eq!(actor.end(), WorkerState::Finished { text: "in.".into() });
    });
}

#[test]
fn a_killed_process_is_noticed() {
    each(|claude| {
        for (signal, expected) in [("TERM", "exit code 143"), ("KILL", "signal 9")] {
            let gate = Gate::new();
            let stage = Stage::new(claude, Script::new().otherwise(Answer::held(&gate)));
            let actor = stage.start(&stage.spec("never end"));
            gate.wait_until_reached();
            let process = stage.row(actor.handle.id).process.unwrap();
            std::process::Command::new("kill")
                .args([&format!("-{signal}"), &process.pid.to_string()])
                .status()
                .unwrap();
            let (why, message) = failed(actor.end());
            assert_eq!(why, FailureReason::Exit, "{message}");
            assert!(message.contains(expected), "{message}");
            gate.open();
        }
    });
}

#[test]
fn a_stopped_worker_takes_all_it_started_with_it() {
    each(|claude| {
        let tail = serde_json::json!({"command": "tail -f /dev/null & echo $! > sleeper; wait", "description": "Wait"});
        let stage = Stage::new(claude, Script::new().on("wait", [Answer::tool("Bash", tail)]));
        let spec = stage.with_options(
            "wait",
            WorkerOptions { allowed_tools: vec!["Bash".into()], ..WorkerOptions::default() },
        );
        let actor = stage.start(&spec);
        let file = stage.shop.join("sleeper");
        let sleeper = || std::fs::metadata(&file).ok().filter(|found| found.len() > 1);
        wait_until("the command runs", || sleeper().is_some());
        let pid: u32 = String::from_utf8(testkit::files::bytes(&file)).unwrap().trim().parse().unwrap();
        let process = stage.row(actor.handle.id).process.unwrap();
        let sleeper = ProcessIdentity::from_pid(pid).unwrap();
        actor.handle.command(Command::Stop).unwrap();
        assert_eq!(actor.end(), WorkerState::Stopped);
        assert!(!process.is_alive());
        wait_until("the command is gone", || !sleeper.is_alive());
    });
}

#[test]
fn a_message_waiting_at_a_stop_is_never_sent() {
    each(|claude| {
        let gate = Gate::new();
        let script = Script::new().on("work long", [Answer::text("I beg").then_hold(&gate).then_text("in.")]);
        let stage = Stage::new(claude, script.otherwise(Answer::text("And that.")));
        let spec = stage.spec("work long");
        let actor = stage.start(&spec);
        gate.wait_until_reached();
        actor.message("one thing more").unwrap();
        let queued = "\"operation\":\"enqueue\"";
        let file = stage.transcript(spec.session().unwrap());
        let text = || {
            let bytes = if file.exists() { testkit::files::bytes(&file) } else { Vec::new() };
            String::from_utf8_lossy(&bytes).into_owned()
        };
        let has_it = || text().lines().any(|line| line.contains(queued) && line.contains("one thing more"));
        wait_until("claude has the message", has_it);
        actor.handle.command(Command::Stop).unwrap();
        assert_eq!(actor.end(), WorkerState::Stopped);
        gate.open();
        let said = stage.server.calls().iter().any(|call| call.body.to_string().contains("one thing more"));
        assert!(!said, "the model was given it");
        let is_prompt = |line: &str| line.contains("\"type\":\"user\"") && line.contains("one thing more");
        assert!(!text().lines().any(is_prompt), "{}", text());
    });
}

#[test]
fn a_worker_that_ignores_an_interrupt_is_killed() {
    let text = "#!/bin/sh\ntrap '' TERM\nwhile :; do sleep 1; done\n";
    let mut stage = Stage::with_program(text);
    stage.config.limits =
        Limits { start: Duration::from_millis(300), grace: Duration::from_millis(300), ..Limits::default() };
    let actor = stage.start(&stage.spec("say hello"));
    let (why, message) = failed(actor.end());
    assert_eq!(
        (why, message.as_str()),
        (
            FailureReason::Silent,
            "claude did not answer within 0.3 s: see in a terminal whether `claude -p hello` does"
        )
    );
}

#[test]
fn a_process_that_closes_its_output_and_goes_on_is_ended() {
    let text = "#!/bin/sh\nexec 0<&-\nexec sleep 600\n";
    let mut stage = Stage::with_program(text);
    stage.config.limits = Limits { start: Duration::from_millis(300), ..Limits::default() };
    let actor = stage.start(&stage.spec("say hello"));
    assert_eq!(failed(actor.end()).0, FailureReason::Silent);
}

#[test]
fn silence_in_the_middle_of_a_turn_is_ended() {
    let gate = Gate::new();
    let mut stage = Stage::new(&Claude::newest(), Script::new().otherwise(Answer::held(&gate)));
    stage.config.limits = Limits { silence: Duration::from_secs(2), ..stage.config.limits };
    let actor = stage.start(&stage.spec("never end"));
    let (why, message) = failed(actor.end());
    assert_eq!((why, message.as_str()), (FailureReason::Silent, "claude said nothing for 2 s"));
    gate.open();
}

#[test]
fn a_program_that_cannot_be_run_is_named() {
    let check = |text: &str, mode: u32, expected: &str| {
        let stage = Stage::with_program(text);
        let path = &stage.config.program.path;
        std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
        let actor = stage.start(&stage.spec("say hello"));
        let (why, message) = failed(actor.end());
        assert_eq!(why, FailureReason::Start);
        assert!(message.contains(expected), "{message}");
    };
    check("#!/bin/sh\n", 0o644, "not-claude in ");
    check("#!/no/such/interpreter\n", 0o755, "No such file");
    check(
        "#!/bin/sh\necho 'error: unknown option --verbose' >&2\nexit 1\n",
        0o755,
        "exit code 1: error: unknown option",
    );
}

#[test]
fn invalid_output_is_ignored() {
    let text = r#"#!/bin/sh
echo 'Warning: not a frame'
printf '\000\377\n'
read hello
echo '{"type":"control_response","response":{"subtype":"success","request_id":"backstory-1"}}'
read message
head -c 40000000 /dev/zero | tr '\0' 'x'; echo
echo '{"type":"control_request","request_id":"q1","request":{"subtype":"from_the_future"}}'
read answer
echo "$answer" >&2
echo '{"type":"result","subtype":"success","is_error":false,"result":"Done","total_cost_usd":0.5,"num_turns":1}'
read nothing
"#;
    let stage = Stage::with_program(text);
    let mut actor = stage.start(&stage.spec("say hello"));
    assert_eq!(actor.result().text, "Done");
    actor.state("idle");
    let notes = |wanted: &str| {
        actor
            .heard
            .iter()
            .any(|event| matches!(&**event, workers::Event::Note { text } if text.contains(wanted)))
    };
    assert!(notes("Warning: not a frame") && notes("too long to be read"));
    assert!(notes("Unsupported control request subtype: from_the_future"));
    assert_eq!(actor.close(), WorkerState::Finished { text: "Done".into() });
}

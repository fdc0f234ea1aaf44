//! Every option reaches the real `claude` and does what it says.

use serde_json::{Value, json};
use testkit::files::bytes;
use testkit::{Answer, Claude, Script};
use workers::{Event, FailureReason, PermissionMode, SessionStart, WorkerOptions, WorkerSpec, WorkerState};

use crate::stage::Stage;

fn bash(command: &str) -> Value {
    json!({"command": command, "description": "Run it"})
}

fn each(check: fn(&Claude)) {
    for claude in Claude::releases() {
        check(&claude);
    }
}

#[test]
fn system_prompts_reach_the_model() {
    each(|claude| {
        let stage = Stage::new(claude, Script::new());
        let spec = stage.with_options(
            "shine",
            WorkerOptions {
                model: Some("claude-haiku-4-5".into()),
                effort: Some("low".into()),
                system_prompt: Some("--You are a lighthouse.".into()),
                append_system_prompt: Some("Never sleep.".into()),
                ..WorkerOptions::default()
            },
        );
        let (result, state) = stage.play(&spec);
        assert!(!result.is_error, "{result:?} {state:?}");
        let calls = stage.server.calls();
        let call = calls.iter().find(|call| call.prompt().contains("shine")).unwrap();
        assert!(call.model().starts_with("claude-haiku-4-5"), "{}", call.model());
        assert!(call.system().contains("--You are a lighthouse."), "{}", call.system());
        assert!(call.system().contains("Never sleep."));
    });
}

#[test]
fn what_is_appended_on_a_resume_is_seen_by_the_model() {
    each(|claude| {
        let stage = Stage::new(claude, Script::new());
        let first = stage.with_options(
            "one",
            WorkerOptions { append_system_prompt: Some("You are Ada.".into()), ..WorkerOptions::default() },
        );
        let session = first.session().unwrap().clone();
        stage.play(&first);
        let options =
            WorkerOptions { append_system_prompt: Some("You are Grace.".into()), ..WorkerOptions::default() };
        let second =
            WorkerSpec { start: SessionStart::Resume(session), ..stage.with_options("two", options) };
        let (result, _) = stage.play(&second);
        assert!(!result.is_error);
        let calls = stage.server.calls();
        let call = calls.iter().rfind(|call| call.prompt().contains("two")).unwrap();
        assert!(call.system().contains("You are Grace."), "{}", call.system());
    });
}

#[test]
fn tools_are_allowed_and_disallowed() {
    each(|claude| {
        let script = Script::new()
            .on("touch it", [Answer::tool("Bash", bash("git init by-rule")), Answer::text("Touched.")]);
        let stage = Stage::new(claude, script);
        let spec = stage.with_options(
            "touch it",
            WorkerOptions {
                allowed_tools: vec!["Bash(git init by-rule)".into(), "WebSearch".into()],
                disallowed_tools: vec!["Write".into(), "NotebookEdit".into()],
                ..WorkerOptions::default()
            },
        );
        let mut actor = stage.start(&spec);
        let asked = actor.until("the result", |event| match event {
            Event::Asked(_) => Some(true),
            Event::Result(_) => Some(false),
            _ => None,
        });
        assert!(!asked && stage.shop.join("by-rule/.git").exists(), "{asked} {:#?}", actor.heard);
        let calls = stage.server.calls();
        let call = calls.iter().find(|call| call.prompt().contains("touch it")).unwrap();
        let tools = call.body["tools"].to_string();
        assert!(!tools.contains("\"Write\"") && tools.contains("\"Edit\""), "{tools}");
        actor.close();
    });
}

#[test]
fn directories_settings_servers_names_and_agents_are_applied() {
    each(|claude| {
        let stage = Stage::new(claude, Script::new());
        let beside = stage.home.dir("beside");
        let agents = stage.home.path().join(".claude/agents/lamp.md");
        let definition = "---\nname: lamp\ndescription: A lamp\n---\nYou are a lamp.\n";
        stage.home.write(".claude/agents/lamp.md", definition);
        assert!(agents.exists());
        let spec = stage.with_options(
            "shine",
            WorkerOptions {
                add_directories: vec![beside],
                settings: Some(json!({"env": {"FROM_SETTINGS": "1"}}).to_string()),
                mcp_config: vec![
                    json!({"mcpServers": {"gone": {"command": "/no/such/program"}}}).to_string(),
                ],
                strict_mcp_config: true,
                name: Some("The lighthouse".into()),
                agent_definition: Some("lamp".into()),
                environment: [("FROM_SPEC".to_owned(), "1".to_owned())].into(),
                ..WorkerOptions::default()
            },
        );
        let (result, state) = stage.play(&spec);
        assert!(!result.is_error, "{result:?} {state:?}");
        let calls = stage.server.calls();
        let call = calls.iter().find(|call| call.prompt().contains("shine")).unwrap();
        assert!(call.system().contains("You are a lamp."), "{}", call.system());
        let transcript = String::from_utf8(bytes(&stage.transcript(spec.session().unwrap()))).unwrap();
        assert!(transcript.contains("The lighthouse"), "the session has its name");
    });
}

#[test]
fn permission_modes_are_applied() {
    each(|claude| {
        for mode in [PermissionMode::AcceptEdits, PermissionMode::Plan, PermissionMode::DontAsk] {
            let stage = Stage::new(claude, Script::new());
            let mut actor =
                stage.start(&stage.with_options(
                    "shine",
                    WorkerOptions { permission_mode: mode, ..WorkerOptions::default() },
                ));
            let found = actor.until("its start", |event| match event {
                Event::Started(started) => started.permission_mode.clone(),
                _ => None,
            });
            assert_eq!(found, mode.as_str());
            actor.result();
            actor.close();
        }
    });
}

#[test]
fn permissions_are_bypassed_only_by_explicit_choice() {
    each(|claude| {
        let script =
            Script::new().on("touch it", [Answer::tool("Bash", bash("touch unasked && rm -rf nothing"))]);
        let stage = Stage::new(claude, script);
        let spec = stage.with_options(
            "touch it",
            WorkerOptions {
                permission_mode: PermissionMode::BypassPermissions,
                // As root it is refused outside of a sandbox.
                environment: [("IS_SANDBOX".to_owned(), "1".to_owned())].into(),
                ..WorkerOptions::default()
            },
        );
        let (result, _) = stage.play(&spec);
        assert!(!result.is_error && stage.shop.join("unasked").exists(), "{result:?}");
    });
}

#[test]
fn a_budget_holds_over_all_runs_of_a_session() {
    each(|claude| {
        let script = Script::new().on("spend", [Answer::text("Spent.").output_tokens(2000)]);
        let stage = Stage::new(claude, script);
        let first = stage
            .with_options("spend", WorkerOptions { budget_usd: Some(0.0001), ..WorkerOptions::default() });
        let session = first.session().unwrap().clone();
        let (_, state) = stage.play_out(&first);
        let WorkerState::Failed { reason: FailureReason::Budget, message } = state else {
            panic!("{state:?}")
        };
        assert!(message.contains("budget is used up"), "{message}");
        // Nothing is left for another run, and none is started.
        let calls = stage.server.calls().len();
        let again = WorkerSpec { start: SessionStart::Resume(session), ..first };
        let (_, state) = stage.play_out(&again);
        assert!(matches!(state, WorkerState::Failed { reason: FailureReason::Budget, .. }), "{state:?}");
        assert_eq!(stage.server.calls().len(), calls);
    });
}

#[test]
fn an_option_claude_rejects_is_reported_with_its_message() {
    each(|claude| {
        let stage = Stage::new(claude, Script::new());
        let spec = stage.with_options(
            "shine",
            WorkerOptions { settings: Some("/no/such/settings.json".into()), ..WorkerOptions::default() },
        );
        let (_, state) = stage.play_out(&spec);
        let WorkerState::Failed { reason: FailureReason::Start, message } = state else {
            panic!("{state:?}")
        };
        assert!(message.contains("/no/such/settings.json"), "{message}");
    });
}

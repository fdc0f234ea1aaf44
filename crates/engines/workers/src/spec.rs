//! What a worker is to do, and how: everything that is decided before its process is started.

use std::collections::BTreeMap;
use std::path::PathBuf;

use model::{AgentId, SessionId};
use serde::{Deserialize, Serialize};

/// The longest text that an argument may be, in bytes: Linux takes no longer one.
const MAX_ARGUMENT_BYTES: usize = 120 << 10;

/// The longest label, in characters.
const MAX_LABEL_CHARS: usize = 200;

/// A worker that can be started.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WorkerSpec {
    /// How its conversation begins.
    pub start: SessionStart,
    /// The directory it works in.
    pub directory: PathBuf,
    /// Claude Code's config folder, where it is not the usual one.
    pub config_folder: Option<PathBuf>,
    /// What it is to do: its first message.
    pub task: String,
    /// The OpenClaw agent for whom it works.
    pub agent: Option<AgentId>,
    /// The name under which its session is found again in its work tree.
    #[serde(default)]
    pub label: Option<String>,
    /// Whether it ends by itself when it has done its task, and does not wait for more.
    #[serde(default)]
    pub once: bool,
    /// How it does it.
    #[serde(flatten)]
    pub options: WorkerOptions,
}

/// How a conversation begins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionStart {
    /// A new session under this id, which must be a UUID.
    Fresh(SessionId),
    /// The session goes on in its own file.
    Resume(SessionId),
    /// A copy of the session goes on under an id of its own.
    Fork {
        /// The session that is copied.
        from: SessionId,
        /// The copy's id, where it has to be known before; a UUID.
        to: Option<SessionId>,
    },
}

/// How a worker works: all that can be left as it is.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct WorkerOptions {
    /// The model, as `--model` takes it.
    pub model: Option<String>,
    /// How hard it thinks: `low`, `medium`, `high`, `xhigh`, `max`.
    pub effort: Option<String>,
    /// The system prompt in the place of the usual one.
    pub system_prompt: Option<String>,
    /// What stands behind the system prompt.
    pub append_system_prompt: Option<String>,
    /// What it may do without asking.
    pub permission_mode: PermissionMode,
    /// Tools it may use without asking, as rules of Claude Code.
    pub allowed_tools: Vec<String>,
    /// Tools it may not use.
    pub disallowed_tools: Vec<String>,
    /// MCP servers: files, or JSON.
    pub mcp_config: Vec<String>,
    /// Whether it has no other MCP servers than those.
    pub strict_mcp_config: bool,
    /// What the session may cost over all its runs, in US dollars.
    pub budget_usd: Option<f64>,
    /// More directories it may work in.
    pub add_directories: Vec<PathBuf>,
    /// The session's name.
    pub name: Option<String>,
    /// The agent definition it works as, as `--agent` takes it.
    pub agent_definition: Option<String>,
    /// Claude Code's settings: a file, or JSON.
    pub settings: Option<String>,
    /// More variables of its environment.
    pub environment: BTreeMap<String, String>,
}

/// What a worker may do without asking, in Claude Code's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum PermissionMode {
    /// What the settings allow; all else is asked.
    #[default]
    Default,
    /// Edits of files too.
    AcceptEdits,
    /// Nothing is changed before a plan is approved.
    Plan,
    /// What a classifier of Claude Code holds for harmless.
    Auto,
    /// What the settings allow; all else is refused without asking.
    DontAsk,
    /// Everything.
    BypassPermissions,
}

impl WorkerSpec {
    /// A worker with nothing set that need not be.
    pub fn new(start: SessionStart, directory: PathBuf, task: String) -> Self {
        let options = WorkerOptions::default();
        Self { start, directory, task, config_folder: None, agent: None, label: None, once: false, options }
    }

    /// The session it works in; `None` for a fork whose id `claude` chooses.
    pub fn session(&self) -> Option<&SessionId> {
        match &self.start {
            SessionStart::Fresh(id) | SessionStart::Resume(id) | SessionStart::Fork { to: Some(id), .. } => {
                Some(id)
            }
            SessionStart::Fork { to: None, .. } => None,
        }
    }

    /// The first message, as it is said: a new session of an agent begins with its mark.
    pub fn first_message(&self) -> String {
        match (&self.agent, &self.start) {
            (Some(agent), SessionStart::Fresh(_)) => {
                format!("[openclaw:agent={}]\n\n{}", agent.as_str(), self.task)
            }
            _ => self.task.clone(),
        }
    }

    /// What cannot be passed on to `claude`, in words; `None` where all can.
    pub fn validation_error(&self) -> Option<String> {
        if self.task.trim().is_empty() {
            return Some("the task is empty: say what is to be done".to_owned());
        }
        if let Some(label) = self.label.as_ref().filter(|label| !is_label(label)) {
            return Some(format!(
                "`{label}` is no label: it has 1 to {MAX_LABEL_CHARS} characters, in one line"
            ));
        }
        let texts = [
            ("the system prompt", &self.options.system_prompt),
            ("what is appended to the system prompt", &self.options.append_system_prompt),
            ("the settings", &self.options.settings),
        ];
        let named = texts.iter().filter_map(|(name, text)| Some((*name, text.as_deref()?)));
        let servers = self.options.mcp_config.iter().map(|text| ("the MCP configuration", text.as_str()));
        let long = named.chain(servers).find(|(_, text)| text.len() > MAX_ARGUMENT_BYTES);
        if let Some((name, text)) = long {
            let most = MAX_ARGUMENT_BYTES >> 10;
            return Some(format!(
                "{name} is {} kB long; at most {most} kB can be passed on",
                text.len() >> 10
            ));
        }
        let directories = self.options.add_directories.iter().map(|directory| directory.to_string_lossy());
        let mut words = directories.chain(self.options.mcp_config.iter().map(|text| text.as_str().into()));
        if let Some(word) = words.find(|word| word.starts_with('-')) {
            return Some(format!("`{word}` would be taken for a flag: write ./ before it"));
        }
        let budget = self.options.budget_usd.filter(|budget| !(budget.is_finite() && *budget > 0.0));
        budget.map(|_| "a budget is an amount of US dollars over zero".to_owned())
    }
}

fn is_label(text: &str) -> bool {
    let is_short = text.chars().count() <= MAX_LABEL_CHARS;
    is_short && !text.trim().is_empty() && !text.chars().any(char::is_control)
}

impl PermissionMode {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Default, Self::AcceptEdits, Self::Plan, Self::Auto, Self::DontAsk, Self::BypassPermissions];

    /// Claude Code's word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::AcceptEdits => "acceptEdits",
            Self::Plan => "plan",
            Self::Auto => "auto",
            Self::DontAsk => "dontAsk",
            Self::BypassPermissions => "bypassPermissions",
        }
    }

    /// The mode that goes by a word, Claude Code's newer and others' older words among them.
    pub fn from_name(word: &str) -> Option<Self> {
        match word {
            "manual" => Some(Self::Default),
            "full-auto" => Some(Self::BypassPermissions),
            _ => Self::ALL.into_iter().find(|mode| mode.as_str().eq_ignore_ascii_case(word)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(start: SessionStart) -> WorkerSpec {
        WorkerSpec::new(start, "/p".into(), "Fix it.".into())
    }

    #[test]
    fn only_a_new_session_of_an_agent_is_marked() {
        let id = || "a1".parse().unwrap();
        let check = |start: SessionStart, agent: Option<&str>, expected: &str| {
            let agent = agent.map(|agent| agent.parse().unwrap());
            assert_eq!(WorkerSpec { agent, ..spec(start) }.first_message(), expected);
        };
        check(SessionStart::Fresh(id()), Some("main"), "[openclaw:agent=main]\n\nFix it.");
        check(SessionStart::Fresh(id()), None, "Fix it.");
        check(SessionStart::Resume(id()), Some("main"), "Fix it.");
        check(SessionStart::Fork { from: id(), to: None }, Some("main"), "Fix it.");
    }

    #[test]
    fn what_cannot_be_passed_on_is_said_before() {
        let fresh = || spec(SessionStart::Fresh("a1".parse().unwrap()));
        let with = |options: WorkerOptions| WorkerSpec { options, ..fresh() };
        let check = |spec: WorkerSpec, expected: Option<&str>| {
            let found = spec.validation_error();
            let same = match (&found, expected) {
                (Some(found), Some(expected)) => found.contains(expected),
                (found, expected) => found.is_none() && expected.is_none(),
            };
            assert!(same, "{found:?}");
        };
        check(fresh(), None);
        check(WorkerSpec { task: " \n".into(), ..fresh() }, Some("the task is empty"));
        let long = Some("x".repeat(200 << 10));
        check(
            with(WorkerOptions { append_system_prompt: long, ..WorkerOptions::default() }),
            Some("200 kB long; at most 120 kB"),
        );
        let dashed = WorkerOptions { mcp_config: vec!["--resume".into()], ..WorkerOptions::default() };
        check(with(dashed), Some("would be taken for a flag"));
        check(
            with(WorkerOptions { budget_usd: Some(f64::NAN), ..WorkerOptions::default() }),
            Some("over zero"),
        );
        check(with(WorkerOptions { budget_usd: Some(0.5), ..WorkerOptions::default() }), None);
        let labelled = |label: &str| WorkerSpec { label: Some(label.to_owned()), ..fresh() };
        check(labelled("auth work"), None);
        check(labelled(" "), Some("is no label"));
        check(labelled("a\nb"), Some("is no label"));
        check(labelled(&"x".repeat(201)), Some("is no label"));
    }

    #[test]
    fn modes_have_their_words() {
        let check = |word: &str, expected: Option<PermissionMode>| {
            assert_eq!(PermissionMode::from_name(word), expected, "{word}");
        };
        for mode in PermissionMode::ALL {
            check(mode.as_str(), Some(mode));
        }
        check("manual", Some(PermissionMode::Default));
        check("acceptedits", Some(PermissionMode::AcceptEdits));
        check("full-auto", Some(PermissionMode::BypassPermissions));
        check("yolo", None);
    }

    #[test]
    fn a_spec_survives_being_kept() {
        let all = WorkerSpec {
            agent: Some("main".parse().unwrap()),
            label: Some("auth".to_owned()),
            options: WorkerOptions {
                environment: [("A".to_owned(), "b".to_owned())].into(),
                ..WorkerOptions::default()
            },
            ..spec(SessionStart::Fork { from: "a1".parse().unwrap(), to: Some("b2".parse().unwrap()) })
        };
        let kept = serde_json::to_string(&all).unwrap();
        assert_eq!(serde_json::from_str::<WorkerSpec>(&kept).unwrap(), all);
        // As it was kept before there were labels.
        let before = kept.replace("\"label\":\"auth\",", "");
        assert_ne!(before, kept);
        assert_eq!(serde_json::from_str::<WorkerSpec>(&before).unwrap().label, None);
    }
}

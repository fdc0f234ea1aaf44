//! The specification of a worker: everything decided before its process starts.

use std::collections::BTreeMap;
use std::path::PathBuf;

use model::{AgentId, SessionId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Maximum length of an argument in bytes; Linux accepts at most 128 KiB.
const MAX_ARGUMENT_BYTES: usize = 120 << 10;

/// Maximum length of a label in characters.
const MAX_LABEL_CHARS: usize = 200;

/// The specification of a worker.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema, Deserialize)]
pub struct WorkerSpec {
    /// How the session starts.
    pub start: SessionStart,
    /// Working directory.
    pub directory: PathBuf,
    /// Claude Code's config folder, unless it is the default one.
    pub config_folder: Option<PathBuf>,
    /// The task, sent as the first message.
    pub task: String,
    /// The OpenClaw agent on whose behalf it works.
    pub agent: Option<AgentId>,
    /// Label under which the session can be found again in its work tree.
    #[serde(default)]
    pub label: Option<String>,
    /// Whether the worker ends when its task is done instead of waiting for messages.
    #[serde(default)]
    pub once: bool,
    /// Whether it gets Backstory's MCP server with the tools of an OpenClaw agent.
    #[serde(default)]
    pub bridge: bool,
    /// Options for `claude`.
    #[serde(flatten)]
    pub options: WorkerOptions,
}

/// How a session starts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionStart {
    /// A new session with this id, a UUID.
    Fresh(SessionId),
    /// Resume the session in its own transcript.
    Resume(SessionId),
    /// Continue a copy of the session under a new id.
    Fork {
        /// The session to copy.
        from: SessionId,
        /// Id of the copy if it must be known in advance; a UUID.
        to: Option<SessionId>,
    },
}

/// Options for `claude`; each has a default.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema, Deserialize)]
pub struct WorkerOptions {
    /// The model, as `--model` takes it.
    pub model: Option<String>,
    /// Thinking effort: `low`, `medium`, `high`, `xhigh` or `max`.
    pub effort: Option<String>,
    /// Replacement for the system prompt.
    pub system_prompt: Option<String>,
    /// Text appended to the system prompt.
    pub append_system_prompt: Option<String>,
    /// What is allowed without asking.
    pub permission_mode: PermissionMode,
    /// Permission rules of tools allowed without asking.
    pub allowed_tools: Vec<String>,
    /// Permission rules of forbidden tools.
    pub disallowed_tools: Vec<String>,
    /// MCP servers: paths of files, or JSON.
    pub mcp_config: Vec<String>,
    /// Whether to ignore all other MCP servers.
    pub strict_mcp_config: bool,
    /// Maximum cost of the session over all its runs, in US dollars.
    pub budget_usd: Option<f64>,
    /// Additional directories to work in.
    pub add_directories: Vec<PathBuf>,
    /// Name of the session.
    pub name: Option<String>,
    /// Agent definition to use, as `--agent` takes it.
    pub agent_definition: Option<String>,
    /// Claude Code's settings: path of a file, or JSON.
    pub settings: Option<String>,
    /// Additional environment variables.
    pub environment: BTreeMap<String, String>,
    /// Further flags of the person's, as they were typed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<String>,
}

/// What a worker may do without asking, as named by Claude Code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum PermissionMode {
    /// What the settings allow; asks for everything else.
    #[default]
    Default,
    /// Allows edits of files as well.
    AcceptEdits,
    /// Nothing is changed until a plan is approved.
    Plan,
    /// Allows what Claude Code's classifier considers harmless.
    Auto,
    /// Allows what the settings allow and denies everything else.
    DontAsk,
    /// Allows every tool without asking.
    BypassPermissions,
}

impl WorkerSpec {
    /// A specification with default options.
    pub fn new(start: SessionStart, directory: PathBuf, task: String) -> Self {
        let options = WorkerOptions::default();
        Self {
            start,
            directory,
            task,
            config_folder: None,
            agent: None,
            label: None,
            once: false,
            bridge: false,
            options,
        }
    }

    /// The session; `None` for a fork whose id `claude` chooses.
    pub fn session(&self) -> Option<&SessionId> {
        match &self.start {
            SessionStart::Fresh(id) | SessionStart::Resume(id) | SessionStart::Fork { to: Some(id), .. } => {
                Some(id)
            }
            SessionStart::Fork { to: None, .. } => None,
        }
    }

    /// The first message; a new session of an agent begins with a mark naming the agent.
    pub fn first_message(&self) -> String {
        match (&self.agent, &self.start) {
            (Some(agent), SessionStart::Fresh(_)) => {
                format!("[openclaw:agent={}]\n\n{}", agent.as_str(), self.task)
            }
            _ => self.task.clone(),
        }
    }

    /// A message saying what cannot be passed to `claude`; `None` if the specification is valid.
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
        let given = [("model", &self.options.model), ("agent definition", &self.options.agent_definition)];
        let dashed = given.into_iter().find_map(|(what, name)| {
            let name = name.as_deref().filter(|name| name.starts_with('-') || name.trim().is_empty())?;
            Some(format!("`{name}` is no {what}"))
        });
        if dashed.is_some() {
            return dashed;
        }
        let budget = self.options.budget_usd.filter(|budget| !(budget.is_finite() && *budget > 0.0));
        budget.map(|_| "a budget is an amount of US dollars over zero".to_owned())
    }
}

fn is_label(text: &str) -> bool {
    let is_short = text.chars().count() <= MAX_LABEL_CHARS;
    is_short && !text.trim().is_empty() && !text.chars().any(char::is_control)
}

impl WorkerOptions {
    /// Whether a worker with these options does something without asking for it, beyond what the person's settings
    /// allow.
    pub fn acts_without_asking(&self) -> bool {
        self.permission_mode.acts_without_asking() || !self.allowed_tools.is_empty()
    }
}

impl PermissionMode {
    /// All modes.
    pub const ALL: [Self; 6] =
        [Self::Default, Self::AcceptEdits, Self::Plan, Self::Auto, Self::DontAsk, Self::BypassPermissions];

    /// Whether a worker in this mode changes things without being asked for them one by one.
    pub fn acts_without_asking(self) -> bool {
        matches!(self, Self::AcceptEdits | Self::Auto | Self::BypassPermissions)
    }

    /// Claude Code's name of the mode.
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

    /// Parses a name, including newer names of Claude Code and older ones of other programs.
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
    fn invalid_options_are_refused_before_the_start() {
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
        let model = |name: &str| with(WorkerOptions { model: Some(name.into()), ..WorkerOptions::default() });
        check(model("--dangerously-skip-permissions"), Some("is no model"));
        check(model(" "), Some("is no model"));
        check(model("claude-opus-4-6[1m]"), None);
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
    fn permission_modes_are_named_as_in_claude_code() {
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
    fn a_stored_spec_is_read_back() {
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

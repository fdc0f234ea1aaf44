//! The request of `run`: a task, the session for it, and the options of its worker.

use std::collections::BTreeMap;
use std::path::PathBuf;

use model::AgentId;
use schemars::JsonSchema;
use serde::Deserialize;
use workers::PermissionMode;

use crate::workers::host::detach;
use crate::workers::run::{Ready, TaskSession, TaskSpec, WorkerOptions, Worktree, prepare};
use crate::{Context, Error, Kind};

/// A task, the session for it, and the options of its worker.
///
/// At most one of `resume`, `fork`, `label` and a new session (`fresh`, `session_id`) can be given; without any, `pick`
/// chooses.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "RunRequest")]
pub struct Request {
    /// The first message of the session.
    pub task: String,
    /// A path or a project's name; by default the current directory's repository.
    pub repo: Option<String>,
    /// Start a new session.
    #[serde(default)]
    pub fresh: bool,
    /// Start a new session with this id, a UUID that no session has.
    pub session_id: Option<String>,
    /// Continue this session: its id, or the beginning of it.
    pub resume: Option<String>,
    /// Continue a fork of this session, which itself is not changed.
    pub fork: Option<String>,
    /// Fork at the message with this `uuid`, leaving out what came after it.
    pub at: Option<String>,
    /// Continue the session with this label, or start one.
    pub label: Option<String>,
    /// Run in the work tree with this name, on its own branch; it is created if missing.
    pub worktree: Option<String>,
    /// Run in a new work tree.
    #[serde(default)]
    pub new_worktree: bool,
    /// The OpenClaw agent that the task is for; the session is marked as that agent's.
    pub agent: Option<AgentId>,
    /// The model to use.
    pub model: Option<String>,
    /// How hard the model thinks.
    pub effort: Option<Effort>,
    /// What the worker may do without asking; `default` without it.
    #[schemars(with = "Option<PermissionMode>")]
    pub permission_mode: Option<String>,
    /// Tools that are allowed without asking, as Claude Code's permission rules: `Bash(git *)`.
    #[serde(default)]
    pub allowed_tools: Vec<String>,
    /// Tools that are forbidden, as Claude Code's permission rules.
    #[serde(default)]
    pub disallowed_tools: Vec<String>,
    /// The most the session may cost over all its runs, in US dollars.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub budget_usd: Option<f64>,
    /// Replaces Claude Code's system prompt.
    pub system_prompt: Option<String>,
    /// Text to append to the system prompt.
    pub append_system_prompt: Option<String>,
    /// A name for the session, which becomes its title.
    pub name: Option<String>,
    /// The agent definition to use.
    pub agent_definition: Option<String>,
    /// MCP servers: files, or JSON. They name programs to run, as the settings and the environment can, so that these
    /// come from the person's own command line only.
    #[serde(skip)]
    pub mcp_config: Vec<String>,
    /// Whether all other MCP servers are ignored.
    #[serde(skip)]
    pub strict_mcp_config: bool,
    /// Other directories that the worker may use.
    #[serde(skip)]
    pub add_directories: Vec<PathBuf>,
    /// Claude Code's settings: a file, or JSON.
    #[serde(skip)]
    pub settings: Option<String>,
    /// Environment variables for `claude`, besides the caller's.
    #[serde(skip)]
    pub environment: BTreeMap<String, String>,
}

/// How hard the model thinks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Effort {
    /// `--effort low`: the least thinking.
    Low,
    /// `--effort medium`
    Medium,
    /// `--effort high`
    High,
    /// `--effort xhigh`
    Xhigh,
    /// `--effort max`: the most thinking.
    Max,
}

/// Starts a worker in the background for a task.
pub fn start(context: &Context, request: &Request) -> Result<Ready, Error> {
    let ready = prepare(context, &request.task_spec()?)?;
    detach(context, ready.worker)?;
    Ok(ready)
}

impl Request {
    /// What is to be done, once the values are found to be valid.
    pub fn task_spec(&self) -> Result<TaskSpec, Error> {
        Ok(TaskSpec {
            task: self.task.clone(),
            repo: self.repo.clone(),
            session: self.task_session()?,
            chosen: None,
            label: self.label.clone(),
            worktree: self.worktree()?,
            agent: self.agent.clone(),
            options: self.options()?,
            once: false,
            message: None,
        })
    }

    fn task_session(&self) -> Result<TaskSession, Error> {
        let is_new = self.fresh || self.session_id.is_some();
        let ways = [is_new, self.resume.is_some(), self.fork.is_some(), self.label.is_some()];
        if ways.into_iter().filter(|is_given| *is_given).count() > 1 {
            let message =
                "only one session can be meant: a new one, one to resume, one to fork, or one with a label";
            return Err(Error::new(Kind::Usage, message).hint("leave out all but one of them"));
        }
        if self.at.is_some() && self.fork.is_none() {
            return Err(Error::new(Kind::Usage, "`at` names where a session is forked: give `fork`, too"));
        }
        Ok(match (&self.resume, &self.fork, &self.session_id) {
            (Some(id), _, _) => TaskSession::Resume(id.clone()),
            (_, Some(id), _) => TaskSession::Fork { session: id.clone(), at: self.at.clone() },
            (_, _, Some(id)) => TaskSession::Named(id.clone()),
            _ if self.fresh => TaskSession::Fresh,
            _ => TaskSession::Chosen,
        })
    }

    fn worktree(&self) -> Result<Option<Worktree>, Error> {
        let wanted = match (&self.worktree, self.new_worktree) {
            (Some(_), true) => {
                return Err(Error::new(
                    Kind::Usage,
                    "a new work tree and one with a name cannot both be meant",
                ));
            }
            (Some(name), false) => Some(Worktree::Named(name.clone())),
            (None, true) => Some(Worktree::New),
            (None, false) => None,
        };
        if wanted.is_some() && self.resume.is_some() {
            let message = "a session is resumed where it started, not in another work tree";
            return Err(Error::new(Kind::Usage, message).hint("continue a fork of it there"));
        }
        Ok(wanted)
    }

    fn options(&self) -> Result<WorkerOptions, Error> {
        Ok(WorkerOptions {
            model: self.model.clone(),
            effort: self.effort.map(|effort| effort.as_str().to_owned()),
            system_prompt: self.system_prompt.clone(),
            append_system_prompt: self.append_system_prompt.clone(),
            permission_mode: permission_mode(self.permission_mode.as_deref())?,
            allowed_tools: self.allowed_tools.clone(),
            disallowed_tools: self.disallowed_tools.clone(),
            mcp_config: self.mcp_config.clone(),
            strict_mcp_config: self.strict_mcp_config,
            budget_usd: self.budget_usd,
            add_directories: self.add_directories.clone(),
            name: self.name.clone(),
            agent_definition: self.agent_definition.clone(),
            settings: self.settings.clone(),
            environment: self.environment.clone(),
            flags: Vec::new(),
        })
    }
}

impl Effort {
    /// The name as Claude Code's flag takes it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Xhigh => "xhigh",
            Self::Max => "max",
        }
    }
}

/// The mode that a word names; the default one without a word.
pub(crate) fn permission_mode(word: Option<&str>) -> Result<PermissionMode, Error> {
    let Some(word) = word else { return Ok(PermissionMode::Default) };
    PermissionMode::from_name(word).ok_or_else(|| {
        let words: Vec<_> = PermissionMode::ALL.iter().map(|mode| mode.as_str()).collect();
        Error::new(Kind::Usage, format!("unknown permission mode `{word}`"))
            .hint(format!("the modes are {}", words.join(", ")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_way_to_choose_the_session_is_accepted() {
        let check = |fields: &str, expected: Option<&TaskSession>| {
            let json = format!(r#"{{"task": "x"{fields}}}"#);
            let request: Request = serde_json::from_str(&json).unwrap();
            assert_eq!(
                request.task_spec().ok().map(|task_spec| task_spec.session).as_ref(),
                expected,
                "{json}"
            );
        };
        let named = TaskSession::Named("n".to_owned());
        check("", Some(&TaskSession::Chosen));
        check(r#", "fresh": true"#, Some(&TaskSession::Fresh));
        check(r#", "fresh": true, "session_id": "n""#, Some(&named));
        let fork =
            |at: Option<&str>| TaskSession::Fork { session: "a".to_owned(), at: at.map(str::to_owned) };
        check(r#", "fork": "a", "worktree": "w""#, Some(&fork(None)));
        check(r#", "fork": "a", "at": "u""#, Some(&fork(Some("u"))));
        check(r#", "at": "u""#, None);
        check(r#", "resume": "a", "at": "u""#, None);
        check(r#", "resume": "a", "fork": "b""#, None);
        check(r#", "label": "a", "session_id": "n""#, None);
        check(r#", "resume": "a", "new_worktree": true"#, None);
        check(r#", "worktree": "w", "new_worktree": true"#, None);
    }

    #[test]
    fn mcp_servers_can_be_set_on_the_command_line_only() {
        for field in ["mcp_config", "settings", "environment", "add_directories"] {
            let json = format!(r#"{{"task": "x", "{field}": null}}"#);
            assert!(serde_json::from_str::<Request>(&json).is_err(), "{field}");
        }
    }
}

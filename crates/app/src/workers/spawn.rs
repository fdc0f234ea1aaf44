//! `spawn`: starts a background worker from a program's request, in a new, resumed, forked or the last session.

use catalog::SessionFilter;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::repository::target::with_project;
use crate::sessions::list::{self, list};
use crate::workers::run::{Ready, find_session};
use crate::workers::start::{self, Effort};
use crate::{Context, Error, Kind, NextStep};

/// A task for a worker in the background, and the session it is done in: a new one, unless one is named to resume or to
/// fork.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "SpawnRequest")]
#[expect(clippy::struct_excessive_bools, reason = "each is a parameter of its own")]
pub struct Request {
    /// The task; `prompt` is an alias.
    #[serde(alias = "prompt")]
    pub task: String,
    /// A path or a project's name; by default, or with `auto`, the current directory.
    pub project_path: Option<String>,
    /// Continue this session, named by its id or a prefix; with `project_path` it must belong to that project.
    pub resume_session_id: Option<String>,
    /// Continue a fork of that session instead, which leaves the session unchanged.
    #[serde(default)]
    pub fork_session: bool,
    /// Fork at the message with this `uuid`, leaving out what came after it.
    pub at: Option<String>,
    /// Continue the project's most recent session.
    #[serde(default)]
    pub continue_session: bool,
    /// Let Backstory choose between continuing a session of the project and starting a new one.
    #[serde(default)]
    pub choose_session: bool,
    /// The id for the new session, an unused UUID.
    pub session_id: Option<String>,
    /// Continue the session with this label, or start one.
    pub label: Option<String>,
    /// The new session's title.
    pub name: Option<String>,
    /// The model to use.
    pub model: Option<String>,
    /// How hard the model thinks.
    pub effort: Option<Effort>,
    /// Run in the work tree with this name, on its own branch; it is created if missing.
    pub worktree: Option<String>,
    /// Run in a new work tree.
    #[serde(default)]
    pub new_worktree: bool,
    /// The most the session may cost over all its runs, in US dollars.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub budget_usd: Option<f64>,
    /// Plan first, and ask before changing anything.
    #[serde(default)]
    pub plan: bool,
    /// Text to append to the system prompt.
    pub append_system_prompt: Option<String>,
}

/// Starts a worker in the background.
pub fn spawn(context: &Context, request: &Request) -> Result<Ready, Error> {
    request.check()?;
    request.check_project(context)?;
    let session = match (&request.resume_session_id, request.continue_session) {
        (Some(id), _) => Some(id.clone()),
        (None, true) => Some(request.last_session(context)?),
        (None, false) => None,
    };
    let (resume, fork) = if request.fork_session { (None, session) } else { (session, None) };
    let is_named = resume.is_some() || fork.is_some() || request.label.is_some() || request.choose_session;
    let order = start::Request {
        task: request.task.clone(),
        repo: request.project().map(str::to_owned),
        fresh: !is_named && request.session_id.is_none(),
        session_id: request.session_id.clone(),
        resume,
        fork,
        at: request.at.clone(),
        label: request.label.clone(),
        worktree: request.worktree.clone(),
        new_worktree: request.new_worktree,
        model: request.model.clone(),
        effort: request.effort,
        permission_mode: request.plan.then(|| "plan".to_owned()),
        budget_usd: request.budget_usd,
        append_system_prompt: request.append_system_prompt.clone(),
        name: request.name.clone(),
        ..start::Request::default()
    };
    start::start(context, &order)
}

impl Request {
    /// Refuses contradictory fields.
    fn check(&self) -> Result<(), Error> {
        let refuse = |message: &str| Err(Error::new(Kind::Usage, message));
        let is_old = self.resume_session_id.is_some() || self.continue_session;
        if self.resume_session_id.is_some() && self.continue_session {
            return refuse("`resume_session_id` and `continue_session` name two sessions: give one of them");
        }
        if self.fork_session && !is_old {
            return refuse("`fork_session` needs a session: give `resume_session_id` or `continue_session`");
        }
        if self.at.is_some() && !self.fork_session {
            return refuse("`at` names where a session is forked: give `fork_session`, too");
        }
        if self.session_id.is_some() && is_old {
            return refuse("`session_id` names a new session: leave it out to resume or fork another one");
        }
        if self.choose_session && (is_old || self.session_id.is_some() || self.label.is_some()) {
            return refuse("`choose_session` leaves the session to Backstory: name none beside it");
        }
        if self.label.is_some() && (is_old || self.session_id.is_some()) {
            return refuse("`label` names a session: name no other beside it");
        }
        Ok(())
    }

    /// Refuses a session of another project than the named one: a worker must not act in an unintended place.
    fn check_project(&self, context: &Context) -> Result<(), Error> {
        let (Some(id), Some(project)) = (&self.resume_session_id, self.project()) else { return Ok(()) };
        let session = find_session(context, id)?;
        let filter = SessionFilter { project: Some(project.to_owned()), ..SessionFilter::default() };
        if with_project(context, &filter, &std::iter::once(&session)).matches(&session) {
            return Ok(());
        }
        let is_in = session.cwd.as_deref().map(|cwd| format!(", but in {}", cwd.display()));
        let message = format!("session {id} is not in the project {project}{}", is_in.unwrap_or_default());
        Err(Error::new(Kind::Usage, message)
            .hint("leave out `project_path`: the worker goes where its session is")
            .hint("leave out `resume_session_id`: a new session of the project does the task"))
    }

    fn project(&self) -> Option<&str> {
        self.project_path.as_deref().filter(|path| *path != "auto")
    }

    /// The id of the project's most recently active session. Claude Code's own `--continue` would take
    /// whichever is the last when the worker starts, even another worker's.
    fn last_session(&self, context: &Context) -> Result<String, Error> {
        let here = || context.directory.to_string_lossy().into_owned();
        let project = self.project().map_or_else(here, str::to_owned);
        let request = list::Request { project: Some(project.clone()), ..list::Request::default() };
        let sessions = list(context, &request)?.sessions;
        let asking = context.asking_session();
        let is_other = |session: &&model::Session| asking.as_ref() != Some(&session.id);
        let kept = sessions.iter().filter(|session| session.file.is_some()).filter(is_other);
        let last = kept.max_by_key(|session| session.last_modified);
        last.map(|session| session.id.to_string()).ok_or_else(|| {
            let message = format!("there is no session of {project} to continue");
            Error::new(Kind::NotFound, message).next(NextStep::ListSessions)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contradictions_are_refused() {
        let check = |json: &str, is_valid: bool| {
            let mut arguments: serde_json::Value = serde_json::from_str(json).unwrap();
            arguments["prompt"] = "t".into();
            let request: Request = serde_json::from_value(arguments).unwrap();
            assert_eq!(request.check().is_ok(), is_valid, "{json}");
        };
        check("{}", true);
        check(r#"{"resume_session_id": "a"}"#, true);
        check(r#"{"resume_session_id": "a", "fork_session": true}"#, true);
        check(r#"{"continue_session": true, "fork_session": true}"#, true);
        check(r#"{"resume_session_id": "a", "fork_session": true, "at": "u"}"#, true);
        check(r#"{"resume_session_id": "a", "at": "u"}"#, false);
        check(r#"{"session_id": "n", "name": "x"}"#, true);
        check(r#"{"resume_session_id": "a", "continue_session": true}"#, false);
        check(r#"{"fork_session": true}"#, false);
        check(r#"{"resume_session_id": "a", "session_id": "n"}"#, false);
        check(r#"{"continue_session": true, "session_id": "n"}"#, false);
        check(r#"{"label": "l", "continue_session": true}"#, false);
        check(r#"{"choose_session": true, "label": "l"}"#, false);
    }
}

//! Claude Code's own background jobs: which one a person means, the `claude` that opens it, and stopping it.
//!
//! Only for the command line: the jobs are the person's, so models and pages see them but do not end them.

use std::time::{Duration, Instant};

use model::{BackgroundJob, SessionId};
use monitor::{FoundJob, background_jobs};
use schemars::JsonSchema;
use serde::Serialize;
use system::{CommandLimits, run_command};
use transcript::ConfigFolder;
use workers::{ClaudeTask, CommandLine};

use crate::proceed::location::holder;
use crate::proceed::{claude, location};
use crate::{Context, Error, Kind};

/// The shortest beginning of a session's id that names its job.
const MIN_PREFIX: usize = 4;
/// How long `claude stop` may take, and how much it may say.
const STOP_LIMITS: CommandLimits =
    CommandLimits { time: Duration::from_mins(1), stdout: 64 << 10, stderr: 64 << 10 };
/// How long a stopped job may take to release its session, and how often that is checked.
const RELEASE_TIMEOUT: Duration = Duration::from_secs(20);
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// A background job that was stopped.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct StoppedJob {
    /// The session that it ran, which can be resumed.
    pub session_id: SessionId,
    /// The job as it is now.
    pub background_job: BackgroundJob,
}

/// The background job that `text` names: its id, its session's id or the beginning of one, or its name.
pub fn find(context: &Context, text: &str) -> Result<Option<FoundJob>, Error> {
    if context.caller.agent().is_some() || context.config().is_demo {
        return Ok(None);
    }
    let folders: Vec<ConfigFolder> = context.config().claude_folders.iter().map(ConfigFolder::new).collect();
    let all = background_jobs(&folders, context.now);
    let is_id = |found: &&FoundJob| {
        text.len() >= MIN_PREFIX
            && (found.job.id.starts_with(text) || found.session.as_str().starts_with(text))
    };
    let is_name = |found: &&FoundJob| found.job.name.as_deref() == Some(text);
    let exact = all.iter().find(|found| found.job.id == text || found.session.as_str() == text);
    let mut named: Vec<&FoundJob> = exact.into_iter().collect();
    for rule in [&is_id as &dyn Fn(&&FoundJob) -> bool, &is_name] {
        if named.is_empty() {
            named = all.iter().filter(rule).collect();
        }
    }
    if let [_, _, ..] = named[..] {
        let message = format!("several background jobs are called `{text}`; give the id of one");
        let hint = |found: &&FoundJob| {
            format!("{}  {}", found.job.id, found.job.name.as_deref().unwrap_or("(no name)"))
        };
        return Err(named.iter().map(hint).fold(Error::new(Kind::Ambiguous, message), Error::hint));
    }
    Ok(named.first().map(|found| (*found).clone()))
}

/// The `claude attach` that opens a background job on the terminal.
pub fn attach(context: &Context, found: &FoundJob) -> Result<CommandLine, Error> {
    command_line(context, found, ClaudeTask::AttachJob(found.job.id.clone()))
}

/// Stops a background job, as `claude stop` does: its conversation is kept.
pub fn stop(context: &Context, found: &FoundJob) -> Result<StoppedJob, Error> {
    let id = &found.job.id;
    let command = command_line(context, found, ClaudeTask::StopJob(id.clone()))?;
    let output = run_command(command.command(), None, STOP_LIMITS)
        .map_err(|error| Error::caused(Kind::Unavailable, format!("`claude stop {id}`"), &error))?;
    if !output.status.success() {
        let said = if output.stderr.is_empty() { output.stdout } else { output.stderr };
        let said = context.secrets.redacted(String::from_utf8_lossy(&said));
        let message = format!("claude could not stop background job {id}: {}", said.trim());
        return Err(Error::new(Kind::Unavailable, message));
    }
    wait_for_release(context, &found.session);
    let now = find(context, found.session.as_str())?.map_or_else(|| found.job.clone(), |found| found.job);
    Ok(StoppedJob { session_id: found.session.clone(), background_job: now })
}

/// `claude stop` may return before the job's process has ended, which still holds the session then.
#[expect(clippy::disallowed_methods, reason = "another process's end cannot be waited for")]
fn wait_for_release(context: &Context, session: &SessionId) {
    let began = Instant::now();
    while holder(context, session).is_some() && began.elapsed() < RELEASE_TIMEOUT {
        std::thread::sleep(POLL_INTERVAL);
    }
}

fn command_line(context: &Context, found: &FoundJob, task: ClaudeTask) -> Result<CommandLine, Error> {
    let program = claude::required(context)?;
    // Its own work tree may be gone; the daemon knows where the job runs.
    let directory = found.cwd.as_ref().filter(|cwd| cwd.is_absolute() && cwd.is_dir());
    Ok(CommandLine {
        program: program.path,
        name: program.name,
        directory: directory.unwrap_or(&context.config().home).clone(),
        config_folder: location::custom_config_folder(context, &found.folder),
        task,
        extra: Vec::new(),
    })
}

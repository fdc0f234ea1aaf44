//! `run`: runs a task with a worker and follows it on the terminal, or leaves it in the background.

use std::collections::BTreeMap;
use std::io::{self, IsTerminal as _, Read as _, Write as _};
use std::path::PathBuf;
use std::time::Duration;

use anstyle::{AnsiColor, Style};
use app::workers::run::{Ready, RunEvent, here, prepare};
use app::workers::start::{Effort, Request};
use app::workers::stop::{self, stop};
use app::workers::{PermissionMode, WorkerState, detach};
use app::{Context, Error, Kind};
use model::AgentId;

use crate::exit::Failure;
use crate::json::json_line;
use crate::next_step::as_command;
use crate::output::{Output, is_read_by_a_person};
use crate::run::{Follow, OnPermission, Role, SlowNotice, follow, resolve_choice};
use crate::text::{safe, safe_lines};

/// The most that is read from standard input as a task, in bytes.
const MAX_TASK: u64 = 1 << 20;

/// Run a task in the session that `pick` chooses, or one you name.
///
/// Shows what Claude says and does, and asks you for permissions. What you type meanwhile is sent to Claude. Ctrl-C
/// interrupts the turn; a second Ctrl-C ends the worker. In each directory one worker runs and one more can wait.
#[derive(Debug, clap::Args)]
#[allow(clippy::struct_excessive_bools, reason = "each is a flag that is typed")]
pub(crate) struct Args {
    /// The task; `-` reads it from standard input.
    #[arg(value_name = "TASK", required = true)]
    task: Vec<String>,
    /// The repository: a path or a project's name [default: the current directory].
    #[arg(long, visible_alias = "project", value_name = "DIR | NAME", allow_hyphen_values = true, value_parser = super::project)]
    repo: Option<String>,
    /// Start a new session instead of letting `pick` choose.
    #[arg(long, conflicts_with_all = ["resume", "fork", "label"])]
    fresh: bool,
    /// Start a new session with this id, which must be unused.
    #[arg(long, value_name = "UUID", conflicts_with_all = ["resume", "fork", "label"])]
    session_id: Option<String>,
    /// Continue this session.
    #[arg(long, value_name = "ID", conflicts_with_all = ["fork", "label"])]
    resume: Option<String>,
    /// Continue a fork of this session; the session itself is not changed.
    #[arg(long, value_name = "ID", conflicts_with = "label")]
    fork: Option<String>,
    /// Fork at the message with this id, without anything after it.
    #[arg(long, value_name = "UUID", requires = "fork")]
    at: Option<String>,
    /// Continue the session with this name, or start it.
    #[arg(long, value_name = "NAME")]
    label: Option<String>,
    /// Run in a separate work tree on its own branch: the one with this name, or a new one.
    #[arg(long, value_name = "NAME", num_args = 0..=1, require_equals = true, conflicts_with = "resume")]
    #[allow(clippy::option_option, reason = "without it, with it, with a name")]
    worktree: Option<Option<String>>,
    /// Remove the work tree at the end if nothing would be lost.
    #[arg(long, requires = "worktree", conflicts_with = "detach")]
    remove_worktree: bool,
    /// Run in the background; `workers`, `attach`, `send`, `answer` and `stop` reach it from anywhere.
    #[arg(long)]
    detach: bool,
    /// What to do with requests for permission and questions where no terminal can show them.
    #[arg(long, value_name = "ACTION", default_value = "wait", conflicts_with = "detach")]
    on_permission: OnPermission,
    /// How many seconds a request waits for `answer` where no terminal can show it; then it is denied, and that is said.
    #[arg(long, value_name = "SECONDS", conflicts_with = "detach")]
    permission_timeout: Option<u64>,
    /// Print each event as one line of JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    options: OptionArgs,
    /// Further flags for `claude`, such as `--fallback-model haiku`.
    #[arg(last = true, value_name = "CLAUDE FLAGS", allow_hyphen_values = true)]
    flags: Vec<String>,
}

/// The options of the worker.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Worker options")]
struct OptionArgs {
    /// The model to use.
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// How hard the model thinks.
    #[arg(long, value_name = "LEVEL", value_parser = super::words::<Effort>(&["low", "medium", "high", "xhigh", "max"]))]
    effort: Option<Effort>,
    /// What it may do without asking: default, acceptEdits, plan, auto, dontAsk, bypassPermissions.
    #[arg(long, value_name = "MODE", default_value = "default")]
    permission_mode: String,
    /// Allow a tool without asking, as a Claude Code permission rule: `Bash(git *)`; may be repeated.
    #[arg(long = "allow", value_name = "RULE")]
    allowed_tools: Vec<String>,
    /// Forbid a tool; may be repeated.
    #[arg(long = "disallow", value_name = "RULE")]
    disallowed_tools: Vec<String>,
    /// The most the session may cost over all its runs, in US dollars.
    #[arg(long, value_name = "USD")]
    budget: Option<f64>,
    /// Replace Claude Code's system prompt.
    #[arg(long, value_name = "TEXT")]
    system_prompt: Option<String>,
    /// Append to the system prompt.
    #[arg(long, value_name = "TEXT")]
    append_system_prompt: Option<String>,
    /// Load MCP servers from a file or JSON; may be repeated.
    #[arg(long, value_name = "FILE | JSON")]
    mcp_config: Vec<String>,
    /// Use only the MCP servers of --mcp-config.
    #[arg(long)]
    strict_mcp_config: bool,
    /// Allow access to another directory; may be repeated.
    #[arg(long, value_name = "DIR")]
    add_dir: Vec<PathBuf>,
    /// The session's name.
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// The agent definition to use.
    #[arg(long, value_name = "NAME")]
    agent_definition: Option<String>,
    /// Claude Code's settings: a file or JSON.
    #[arg(long, value_name = "FILE | JSON")]
    settings: Option<String>,
    /// Set an environment variable; may be repeated.
    #[arg(long, value_name = "NAME=VALUE")]
    env: Vec<String>,
    /// The OpenClaw agent to run it for; the session is marked as that agent's.
    #[arg(long, value_name = "NAME")]
    agent: Option<AgentId>,
}

/// Starts the worker, then follows it or leaves it in the background.
pub(crate) fn run(context: &Context, args: &Args) -> Result<(), Failure> {
    if let Some(why) = app::workers::refused_flag(&args.flags) {
        return Err(Error::new(Kind::Usage, why)
            .hint("`backstory run --help` lists the options of a worker")
            .into());
    }
    let mut order = request(args)?.task_spec()?;
    order.options.flags.clone_from(&args.flags);
    let order = resolve_choice(context, order, args.json)?;
    let slow = (!args.json)
        .then(|| SlowNotice::start("choosing the session and checking the version of claude…".to_owned()));
    let ready = prepare(context, &order)?;
    drop(slow);
    if args.detach {
        detach(context, ready.worker)?;
        return if args.json { super::json(&ready) } else { detached(&ready) };
    }
    announce(&ready, args.json, order.options.permission_mode)?;
    let mut link = here(context, &ready)?;
    let (worker, on_permission) = (ready.worker, args.on_permission);
    let patience = args.permission_timeout.map(Duration::from_secs);
    let how = Follow { worker, role: Role::Owner, json: args.json, on_permission, patience };
    let followed = follow(context, &mut link, how);
    if followed.is_err() {
        // The output was closed (`| head`): the worker is not left behind.
        link.end();
    }
    if let Some(text) = link.wait_for_end() {
        // The task is done even if standard error is closed.
        let _ = writeln!(anstream::stderr(), "{}", safe(&text));
    }
    if args.remove_worktree {
        clean_up(context, ready.worker);
    }
    let state = followed?;
    if !args.json && matches!(state, Some(WorkerState::Finished { .. })) && is_read_by_a_person() {
        let dim = Style::new().dimmed();
        let id = ready.session_id.short();
        // Nothing can be printed if standard error is closed.
        let _ = writeln!(anstream::stderr(), "{dim}Continue it: backstory resume {id}{dim:#}");
    }
    ended(ready.worker, state.as_ref())
}

/// Removes the work tree, or prints why it is kept; neither changes the exit code.
fn clean_up(context: &Context, worker: i64) {
    let request = stop::Request { worker: worker.to_string(), remove_worktree: true };
    let text = match stop(context, &request) {
        Ok(ended) => match ended.removed_worktree {
            Some(removed) => format!("removed {}", removed.display()),
            None => return,
        },
        Err(error) => std::iter::once(error.message)
            .chain(error.next_steps.iter().map(as_command))
            .collect::<Vec<_>>()
            .join("\n  "),
    };
    let _ = writeln!(anstream::stderr(), "{}", safe_lines(&text));
}

/// The exit status for the end of a worker; how it ended was already printed.
fn ended(worker: i64, state: Option<&WorkerState>) -> Result<(), Failure> {
    match state {
        Some(WorkerState::Finished { .. }) => Ok(()),
        Some(_) => Err(Failure::Worker),
        None => {
            let mut out = anstream::stderr().lock();
            // Nothing can be printed if standard error is closed.
            let _ = writeln!(out, "worker {worker} ended without a result; see backstory workers");
            Err(Failure::Worker)
        }
    }
}

fn request(args: &Args) -> Result<Request, Failure> {
    let OptionArgs { model, system_prompt, append_system_prompt, name, settings, .. } = &args.options;
    let options = &args.options;
    Ok(Request {
        task: task(&args.task)?,
        repo: args.repo.clone(),
        fresh: args.fresh,
        session_id: args.session_id.clone(),
        resume: args.resume.clone(),
        fork: args.fork.clone(),
        at: args.at.clone(),
        label: args.label.clone(),
        worktree: args.worktree.clone().flatten(),
        new_worktree: args.worktree == Some(None),
        agent: options.agent.clone(),
        model: model.clone(),
        effort: options.effort,
        permission_mode: Some(options.permission_mode.clone()),
        allowed_tools: options.allowed_tools.clone(),
        disallowed_tools: options.disallowed_tools.clone(),
        budget_usd: options.budget,
        system_prompt: system_prompt.clone(),
        append_system_prompt: append_system_prompt.clone(),
        name: name.clone(),
        agent_definition: options.agent_definition.clone(),
        mcp_config: options.mcp_config.clone(),
        strict_mcp_config: options.strict_mcp_config,
        add_directories: options
            .add_dir
            .iter()
            .map(|dir| dir.canonicalize().unwrap_or_else(|_| dir.clone()))
            .collect(),
        settings: settings.clone(),
        environment: environment(&options.env)?,
    })
}

fn task(words: &[String]) -> Result<String, Failure> {
    if words != ["-"] {
        return Ok(words.join(" "));
    }
    let mut text = String::new();
    io::stdin().lock().take(MAX_TASK).read_to_string(&mut text)?;
    Ok(text)
}

fn environment(pairs: &[String]) -> Result<BTreeMap<String, String>, Error> {
    let variable = |text: &String| {
        let pair = text.split_once('=').filter(|(name, _)| !name.is_empty());
        pair.map(|(name, value)| (name.to_owned(), value.to_owned()))
            .ok_or_else(|| Error::new(Kind::Usage, format!("--env takes NAME=VALUE, not `{text}`")))
    };
    pairs.iter().map(variable).collect()
}

/// Prints the decision and the worker before the work starts.
fn announce(ready: &Ready, json: bool, mode: PermissionMode) -> Result<(), Failure> {
    if json {
        let mut out = Output::plain();
        writeln!(out, "{}", json_line(&RunEvent::Ready(ready))?)?;
        return Ok(out.finish()?);
    }
    let mut out = anstream::stderr().lock();
    let (dim, red) = (Style::new().dimmed(), AnsiColor::Red.on_default().bold());
    if let Some(decision) = &ready.decision {
        let title = decision.title.as_ref().map(|title| format!(" {}", safe(title))).unwrap_or_default();
        writeln!(out, "{dim}{}{title}: {}{dim:#}", decision.action.as_str(), safe(&decision.reason))?;
        if let Some(pack) = &decision.pack {
            let ids: Vec<&str> = pack.sessions.iter().map(|source| source.session_id.short()).collect();
            writeln!(out, "{dim}it starts with the last messages of {}{dim:#}", ids.join(", "))?;
        }
    }
    let place = safe(&ready.directory.display().to_string());
    writeln!(out, "{dim}worker {} · {} · {place}{dim:#}", ready.worker, ready.start)?;
    if mode == PermissionMode::BypassPermissions && io::stderr().is_terminal() {
        writeln!(out, "{red}It uses every tool without asking.{red:#}")?;
    }
    Ok(())
}

fn detached(ready: &Ready) -> Result<(), Failure> {
    let mut out = Output::plain();
    let number = ready.worker;
    let waits = ready.behind.map_or_else(String::new, |behind| format!(", behind worker {behind}"));
    writeln!(out, "worker {number} ({}{waits}), session {}", ready.start, ready.session_id)?;
    writeln!(out, "  watch it: backstory attach {number}; stop it: backstory stop {number}")?;
    Ok(out.finish()?)
}

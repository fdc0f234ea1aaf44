//! `cron add`: the arguments of a new job.

use std::path::PathBuf;

use app::cron::{self, JobInfo, JobOptions, JobSchedule, JobSpec, OverlapPolicy, Payload, SessionTarget};
use app::{Context, Error, Kind, Moment};
use jiff::{SignedDuration, Span, SpanRelativeTo};

#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("when").required(true))]
#[allow(clippy::struct_excessive_bools, reason = "each is a flag that is typed")]
pub(super) struct Args {
    /// The job's name.
    #[arg(value_name = "NAME")]
    name: String,
    /// The task.
    #[arg(value_name = "TASK", required = true)]
    text: Vec<String>,
    /// Run once, at this time: 2026-01-31T10:00, or 'in 20m'.
    #[arg(long, group = "when", value_name = "TIME | in SPAN")]
    at: Option<String>,
    /// Run repeatedly, at this interval: 30m, 6h.
    #[arg(long, group = "when", value_name = "SPAN")]
    every: Option<String>,
    /// Run at the times of a cron expression: `0 9 * * MON-FRI`.
    #[arg(long, group = "when", value_name = "EXPR")]
    cron: Option<String>,
    /// The time zone of the cron expression [default: yours].
    #[arg(long, value_name = "ZONE", requires = "cron")]
    tz: Option<String>,
    /// Send the text to the directory's main session as an event, instead of running it as a task in a new one.
    #[arg(long, conflicts_with_all = ["model", "thinking", "timeout"])]
    event: bool,
    /// Run it in the directory's main session instead of a new one.
    #[arg(long)]
    main: bool,
    /// The directory to run it in [default: the current directory].
    #[arg(long, visible_alias = "project", value_name = "DIR")]
    repo: Option<String>,
    /// If it is due while an earlier run is still going: skip it, queue one run, or allow both.
    #[arg(long, value_name = "WHAT", default_value = "skip", value_parser = ["skip", "queue", "allow"])]
    overlap: String,
    /// Do not make up for a missed run.
    #[arg(long)]
    no_catch_up: bool,
    /// The model to use.
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// How hard the model thinks.
    #[arg(long, visible_alias = "effort", value_name = "LEVEL", value_parser = ["low", "medium", "high", "xhigh", "max"])]
    thinking: Option<String>,
    /// End a run that takes longer than this many seconds.
    #[arg(long, value_name = "SECONDS")]
    timeout: Option<u64>,
    /// What it may do without asking: default, acceptEdits, plan, auto, dontAsk, bypassPermissions.
    #[arg(long, value_name = "MODE")]
    permission_mode: Option<String>,
    /// Allow a tool without asking, as a Claude Code permission rule: `Bash(git *)`; may be repeated.
    #[arg(long = "allow", value_name = "RULE")]
    allowed_tools: Vec<String>,
    /// The most a run's session may cost, in US dollars.
    #[arg(long, value_name = "USD")]
    budget: Option<f64>,
    /// The OpenClaw agent to run it for.
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Print JSON.
    #[arg(long)]
    pub(super) json: bool,
}

/// Adds the job to the schedule.
pub(super) fn add(context: &Context, add: &Args) -> Result<JobInfo, Error> {
    cron::add(context, new_job(context, add)?, add.repo.as_deref())
}

fn new_job(context: &Context, add: &Args) -> Result<JobSpec, Error> {
    let text = add.text.join(" ");
    let payload = if add.event {
        Payload::SystemEvent { text }
    } else {
        let (model, thinking) = (add.model.clone(), add.thinking.clone());
        Payload::AgentTurn { message: text, model, thinking, timeout_seconds: add.timeout }
    };
    Ok(JobSpec {
        name: add.name.clone(),
        schedule: when(context, add)?,
        payload,
        session_target: if add.event || add.main { SessionTarget::Main } else { SessionTarget::Isolated },
        directory: PathBuf::new(),
        overlap: match add.overlap.as_str() {
            "queue" => OverlapPolicy::Queue,
            "allow" => OverlapPolicy::Allow,
            _ => OverlapPolicy::Skip,
        },
        catch_up: !add.no_catch_up,
        options: JobOptions {
            permission_mode: add.permission_mode.clone(),
            allowed_tools: add.allowed_tools.clone(),
            budget_usd: add.budget,
            agent_id: add.agent.clone(),
        },
    })
}

fn when(context: &Context, add: &Args) -> Result<JobSchedule, Error> {
    if let Some(expr) = &add.cron {
        return Ok(JobSchedule::Cron { expr: expr.clone(), tz: add.tz.clone() });
    }
    if let Some(every) = &add.every {
        let every_ms = u64::try_from(span(every)?.as_millis()).map_err(|_| invalid_duration(every))?;
        return Ok(JobSchedule::Every { every_ms, anchor: context.now });
    }
    let text = add.at.as_deref().unwrap_or_default();
    let at = match text.strip_prefix("in ") {
        Some(ahead) => context.now.checked_add(span(ahead)?).map_err(|_| invalid_duration(ahead))?,
        None => Moment::from(text).at(context)?,
    };
    if at <= context.now {
        return Err(Error::new(Kind::Usage, format!("`{text}` is in the past"))
            .hint("give a time in the future, or how far ahead it is: --at 'in 20m'"));
    }
    Ok(JobSchedule::At { at })
}

/// Parses a duration in which a day has 24 hours and a week seven days.
fn span(text: &str) -> Result<SignedDuration, Error> {
    let span: Span = text.trim().parse().map_err(|_| invalid_duration(text))?;
    let span = span.to_duration(SpanRelativeTo::days_are_24_hours()).map_err(|_| invalid_duration(text))?;
    if span.is_positive() { Ok(span) } else { Err(invalid_duration(text)) }
}

fn invalid_duration(text: &str) -> Error {
    Error::new(Kind::Usage, format!("`{text}` is not a valid duration"))
        .hint("use a form like 90s, 30m, 6h, 2d or 1w")
}

//! `cron add`: the arguments of a new job.

use app::cron::OverlapPolicy;
use app::cron::add::Request;
use app::workers::start::Effort;
use model::AgentId;

use crate::commands::words;

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
    /// What to do when it is due while an earlier run is still going: skip it, queue one run, or allow both.
    #[arg(long, value_name = "WHAT", default_value = "skip", value_parser = words::<OverlapPolicy>(&["skip", "queue", "allow"]))]
    overlap: OverlapPolicy,
    /// Do not make up for missed runs.
    #[arg(long)]
    no_catch_up: bool,
    /// The model to use.
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// How hard the model thinks.
    #[arg(long, visible_alias = "effort", value_name = "LEVEL", value_parser = words::<Effort>(&["low", "medium", "high", "xhigh", "max"]))]
    thinking: Option<Effort>,
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
    agent: Option<AgentId>,
    /// Print JSON.
    #[arg(long)]
    pub(super) json: bool,
}

impl Args {
    /// The job that the arguments describe.
    pub(super) fn request(&self) -> Request {
        Request {
            name: self.name.clone(),
            task: self.text.join(" "),
            at: self.at.clone(),
            every: self.every.clone(),
            cron: self.cron.clone(),
            tz: self.tz.clone(),
            event: self.event,
            main: self.main,
            directory: self.repo.clone(),
            overlap: self.overlap,
            no_catch_up: self.no_catch_up,
            model: self.model.clone(),
            thinking: self.thinking,
            timeout_seconds: self.timeout,
            permission_mode: self.permission_mode.clone(),
            allowed_tools: self.allowed_tools.clone(),
            budget_usd: self.budget,
            agent: self.agent.clone(),
        }
    }
}

//! `cron`: scheduled jobs, and the daemon that runs them.

mod add;
mod print;

use std::sync::mpsc;
use std::time::Duration;

use app::cron::{self, HistoryRequest, JobInfo, JobRequest, ListRequest, RunOutcome, RunState};
use app::{Context, Error, Kind};

use crate::exit::Failure;
use crate::run::signals;

/// Run tasks on a schedule.
///
/// `cron daemon` runs the jobs that are due; if several daemons run, only one of them does. A job that was due while no daemon was running is run once.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Add a job.
    Add(Box<add::Args>),
    /// List the jobs.
    List(Json),
    /// Enable a job; runs missed while it was disabled are not made up for.
    Enable(Named),
    /// Disable a job without removing it.
    Disable(Named),
    /// Remove a job and its history.
    Remove(Named),
    /// Run a job now, regardless of its schedule.
    Run(Named),
    /// Show past runs, newest first.
    History(History),
    /// Run the jobs that are due until Ctrl-C; runs that have started keep going.
    Daemon(Json),
}

#[derive(Debug, clap::Args)]
struct Json {
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
struct Named {
    /// The job's name or number.
    #[arg(value_name = "JOB")]
    job: String,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl Named {
    fn request(&self) -> JobRequest {
        JobRequest { job: self.job.clone() }
    }
}

#[derive(Debug, clap::Args)]
struct History {
    /// Only runs of this job.
    #[arg(value_name = "JOB")]
    job: Option<String>,
    /// Show at most this many runs.
    #[arg(long, default_value_t = 20, value_parser = super::at_least_one)]
    limit: usize,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Runs the subcommand.
pub(crate) fn run(context: &Context, args: &Args) -> Result<(), Failure> {
    match &args.command {
        Command::Add(args) => {
            let job = cron::add(context, &args.request())?;
            print_job(context, &job, args.json)?;
            if !args.json && cron::jobs_without_daemon(context)? > 0 { print::no_daemon() } else { Ok(()) }
        }
        Command::List(args) => {
            let found = cron::list(context, &ListRequest::default())?;
            if args.json { super::json(&found) } else { print::jobs(context, &found) }
        }
        Command::Enable(named) => {
            print_job(context, &cron::switch(context, &named.request(), true)?, named.json)
        }
        Command::Disable(named) => {
            print_job(context, &cron::switch(context, &named.request(), false)?, named.json)
        }
        Command::Remove(named) => {
            let job = cron::remove(context, &named.request())?;
            if named.json { super::json(&job) } else { print::removed(&job) }
        }
        Command::Run(named) => run_now(context, named),
        Command::History(args) => {
            let request = HistoryRequest { job: args.job.clone(), limit: args.limit };
            let history = cron::history(context, &request)?;
            if args.json { super::json(&history) } else { print::runs(context, &history.runs) }
        }
        Command::Daemon(args) => daemon(context, args.json),
    }
}

fn print_job(context: &Context, job: &JobInfo, json: bool) -> Result<(), Failure> {
    if json { super::json(job) } else { print::job(context, job) }
}

/// Runs a job now. A run that could not be started is an error; the history has it too.
fn run_now(context: &Context, named: &Named) -> Result<(), Failure> {
    let run = cron::run(context, &named.request())?;
    if named.json {
        super::json(&run)?;
    }
    match &run.run.state {
        RunState::Over { outcome, message, .. } => {
            let kind = if *outcome == RunOutcome::Skipped { Kind::Held } else { Kind::Unavailable };
            let why = message.as_deref().unwrap_or("it ended immediately");
            Err(Error::new(kind, format!("job {} was not started: {why}", run.job)).into())
        }
        RunState::Waiting { .. } | RunState::Starting | RunState::Running { .. } if named.json => Ok(()),
        RunState::Waiting { .. } | RunState::Starting | RunState::Running { .. } => {
            print::runs(context, std::slice::from_ref(&run))?;
            print::started(&run)
        }
    }
}

fn daemon(context: &Context, json: bool) -> Result<(), Failure> {
    let (sender, interrupted) = mpsc::channel();
    signals(sender, |_| ())?;
    let mut sleep = |time: Duration| interrupted.recv_timeout(time) == Err(mpsc::RecvTimeoutError::Timeout);
    let mut report = |event| print::event(context, &event, json);
    Ok(cron::daemon(&context.for_other_processes(), &mut sleep, &mut report)?)
}

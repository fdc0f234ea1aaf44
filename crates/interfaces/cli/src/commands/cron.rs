//! `cron`: jobs that are done at set times.

mod add;
mod print;

use std::sync::mpsc;
use std::time::Duration;

use app::cron::{self, JobInfo, RunInfo, RunOutcome, RunState};
use app::{Context, Error, Kind};
use serde::Serialize;

use crate::exit::Failure;
use crate::run::signals;

/// Have tasks done at set times.
///
/// `cron daemon` does what is due; of several daemons one does. What came while none ran is made up for once.
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
    /// Do a job when it is due again; what came meanwhile is not made up for.
    Enable(Named),
    /// Leave a job alone, and keep it.
    Disable(Named),
    /// Remove a job and its history.
    Remove(Named),
    /// Do a job now, whatever its schedule says.
    Run(Named),
    /// Show what was done, newest first.
    History(History),
    /// Do what is due, until Ctrl-C; what was started goes on.
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

#[derive(Debug, clap::Args)]
struct History {
    /// Of this job only.
    #[arg(value_name = "JOB")]
    job: Option<String>,
    /// At most so many runs.
    #[arg(long, default_value_t = 20, value_parser = super::at_least_one)]
    limit: usize,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct HistoryJson {
    runs: Vec<RunInfo>,
}

/// Does what was typed.
pub(crate) fn run(context: &Context, args: &Args) -> Result<(), Failure> {
    match &args.command {
        Command::Add(args) => {
            let job = add::add(context, args)?;
            one(context, &job, args.json)?;
            if !args.json && cron::jobs_without_daemon(context)? > 0 { print::no_daemon() } else { Ok(()) }
        }
        Command::List(asked) => {
            let found = cron::list(context)?;
            if asked.json { super::json(&found) } else { print::jobs(context, &found) }
        }
        Command::Enable(named) => one(context, &cron::switch(context, &named.job, true)?, named.json),
        Command::Disable(named) => one(context, &cron::switch(context, &named.job, false)?, named.json),
        Command::Remove(named) => {
            let job = cron::remove(context, &named.job)?;
            if named.json { super::json(&job) } else { print::removed(&job) }
        }
        Command::Run(named) => by_hand(context, named),
        Command::History(asked) => {
            let runs = cron::history(context, asked.job.as_deref(), asked.limit)?;
            if asked.json { super::json(&HistoryJson { runs }) } else { print::runs(context, &runs) }
        }
        Command::Daemon(asked) => daemon(context, asked.json),
    }
}

fn one(context: &Context, job: &JobInfo, json: bool) -> Result<(), Failure> {
    if json { super::json(job) } else { print::job(context, job) }
}

/// What could not be started is a failure, and in the history.
fn by_hand(context: &Context, named: &Named) -> Result<(), Failure> {
    let run = cron::run(context, &named.job)?;
    if named.json {
        super::json(&run)?;
    }
    match &run.run.state {
        RunState::Over { outcome, message, .. } => {
            let kind = if *outcome == RunOutcome::Skipped { Kind::Held } else { Kind::Unavailable };
            let why = message.as_deref().unwrap_or("it ended at once");
            Err(Error::new(kind, format!("job {} was not begun: {why}", run.job)).into())
        }
        RunState::Waiting { .. } | RunState::Starting | RunState::Running { .. } if named.json => Ok(()),
        RunState::Waiting { .. } | RunState::Starting | RunState::Running { .. } => {
            print::runs(context, std::slice::from_ref(&run))?;
            print::begun(&run)
        }
    }
}

fn daemon(context: &Context, json: bool) -> Result<(), Failure> {
    let (ends, end) = mpsc::channel();
    signals(ends, |_| ())?;
    let mut sleeps = |time: Duration| end.recv_timeout(time) == Err(mpsc::RecvTimeoutError::Timeout);
    let mut tell = |event| print::event(context, &event, json);
    Ok(cron::daemon(context, &mut sleeps, &mut tell)?)
}

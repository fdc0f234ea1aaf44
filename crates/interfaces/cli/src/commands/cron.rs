//! `cron`: jobs that are done at set times.

mod add;
mod told;

use std::sync::mpsc;
use std::time::Duration;

use app::cron::{self, JobJson, Outcome, RunJson, RunState};
use app::{App, Error, Kind};
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
    runs: Vec<RunJson>,
}

/// Does what was typed.
pub(crate) fn run(app: &App, args: &Args) -> Result<(), Failure> {
    match &args.command {
        Command::Add(args) => {
            let job = add::add(app, args)?;
            one(app, &job, args.json)?;
            if !args.json && cron::forsaken(app)? > 0 { told::no_daemon() } else { Ok(()) }
        }
        Command::List(asked) => {
            let found = cron::list(app, &super::program()?, super::clock)?;
            if asked.json { super::json(&found) } else { told::jobs(app, &found) }
        }
        Command::Enable(named) => one(app, &cron::switch(app, &named.job, true)?, named.json),
        Command::Disable(named) => one(app, &cron::switch(app, &named.job, false)?, named.json),
        Command::Remove(named) => {
            let job = cron::remove(app, &named.job)?;
            if named.json { super::json(&job) } else { told::removed(&job) }
        }
        Command::Run(named) => by_hand(app, named),
        Command::History(asked) => {
            let (job, program) = (asked.job.as_deref(), super::program()?);
            let runs = cron::history(app, job, asked.limit, &program, super::clock)?;
            if asked.json { super::json(&HistoryJson { runs }) } else { told::runs(app, &runs) }
        }
        Command::Daemon(asked) => daemon(app, asked.json),
    }
}

fn one(app: &App, job: &JobJson, json: bool) -> Result<(), Failure> {
    if json { super::json(job) } else { told::job(app, job) }
}

/// What could not be started is a failure, and in the history.
fn by_hand(app: &App, named: &Named) -> Result<(), Failure> {
    let run = cron::run(app, &named.job, &super::program()?, super::clock)?;
    if named.json {
        super::json(&run)?;
    }
    match &run.run.state {
        RunState::Over { outcome, message, .. } => {
            let kind = if *outcome == Outcome::Skipped { Kind::Held } else { Kind::Unavailable };
            let why = message.as_deref().unwrap_or("it ended at once");
            Err(Error::new(kind, format!("job {} was not begun: {why}", run.job)).into())
        }
        RunState::Waiting { .. } | RunState::Starting | RunState::Running { .. } if named.json => Ok(()),
        RunState::Waiting { .. } | RunState::Starting | RunState::Running { .. } => {
            told::runs(app, std::slice::from_ref(&run))?;
            told::begun(&run)
        }
    }
}

fn daemon(app: &App, json: bool) -> Result<(), Failure> {
    let (ends, end) = mpsc::channel();
    signals(ends, |_| ())?;
    let mut sleeps = |time: Duration| end.recv_timeout(time) == Err(mpsc::RecvTimeoutError::Timeout);
    let mut tell = |event| told::event(app, &event, json);
    Ok(cron::daemon(app, &super::program()?, super::clock, &mut sleeps, &mut tell)?)
}

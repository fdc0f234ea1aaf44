//! The text output of `cron`.

use std::io::Write as _;

use anstyle::{AnsiColor, Style};
use app::Context;
use app::cron::{DaemonEvent, JobInfo, JobList, JobSchedule, Run, RunInfo, RunOutcome, RunState};
use app::workers::PermissionMode;
use jiff::{SignedDuration, Timestamp};

use crate::exit::Failure;
use crate::json::json_line;
use crate::output::Output;
use crate::run::request_line;
use crate::table::{Align, Cell, Column, table};
use crate::text::{dollars, safe};

const COLUMNS: [Column; 5] = [
    Column { head: "JOB", align: Align::TruncateEnd, max_width: 30 },
    Column { head: "WHEN", align: Align::TruncateEnd, max_width: 40 },
    Column { head: "NEXT", align: Align::Left, max_width: 20 },
    Column { head: "LAST", align: Align::TruncateEnd, max_width: 40 },
    Column { head: "DIRECTORY", align: Align::TruncateStart, max_width: 40 },
];

const NO_DAEMON: &str = "No daemon is running, so no job will run. Start one: backstory cron daemon";

/// Marks jobs that use every tool without asking.
const RED: Style = AnsiColor::Red.on_default().bold();

/// Prints the table of jobs, and what their workers wait to be answered.
pub(super) fn jobs(context: &Context, found: &JobList) -> Result<(), Failure> {
    let mut out = super::super::paged(context);
    if found.jobs.is_empty() {
        out.sentence("No jobs yet. Add one: backstory cron add <name> --cron '0 9 * * *' <task>")?;
        return Ok(out.finish()?);
    }
    let row = |job: &JobInfo| {
        let order = &job.job.spec;
        vec![
            name(job),
            Cell::new(&timing(context, &order.schedule)),
            Cell::new(&next(context, job)),
            Cell::new(&job.last_run.as_ref().map_or_else(|| "-".to_owned(), run_state)),
            Cell::new(&order.directory.display().to_string()),
        ]
    };
    let rows: Vec<_> = found.jobs.iter().map(row).collect();
    let width = out.width();
    table(&mut out, width, &COLUMNS, &rows)?;
    for job in &found.jobs {
        waiting(&mut out, job)?;
    }
    if !found.daemon {
        writeln!(out, "{NO_DAEMON}")?;
    }
    Ok(out.finish()?)
}

/// Prints that no daemon is running.
pub(super) fn no_daemon() -> Result<(), Failure> {
    let mut out = Output::plain();
    writeln!(out, "{NO_DAEMON}")?;
    Ok(out.finish()?)
}

/// Prints how to watch and stop a run that has just started.
pub(super) fn started(run: &RunInfo) -> Result<(), Failure> {
    let Some(worker) = run.run.state.worker() else { return Ok(()) };
    let mut out = Output::plain();
    writeln!(out, "  watch it: backstory attach {worker}; stop it: backstory stop {worker}")?;
    Ok(out.finish()?)
}

/// Prints one job.
pub(super) fn job(context: &Context, job: &JobInfo) -> Result<(), Failure> {
    let mut out = Output::plain();
    let order = &job.job.spec;
    writeln!(out, "{}  {}", safe(&order.name), safe(&timing(context, &order.schedule)))?;
    writeln!(out, "  in {}", safe(&order.directory.display().to_string()))?;
    writeln!(out, "  task {}", safe(order.payload.text()))?;
    if bypasses_permissions(job) {
        writeln!(out, "  {RED}it uses every tool without asking{RED:#}")?;
    }
    writeln!(out, "  next {}", next(context, job))?;
    if let Some(run) = &job.last_run {
        writeln!(out, "  last {} {}", clock(context, run.claimed), safe(&run_state(run)))?;
    }
    waiting(&mut out, job)?;
    Ok(out.finish()?)
}

/// Prints what the job's worker waits to be answered.
fn waiting(out: &mut Output, job: &JobInfo) -> Result<(), Failure> {
    let Some(worker) = job.last_run.as_ref().and_then(|run| run.state.worker()) else { return Ok(()) };
    for request in &job.requests {
        let line = request_line(worker, request, job.requests.len() == 1);
        writeln!(out, "{}: {line}", safe(&job.job.spec.name))?;
    }
    Ok(())
}

/// Prints that a job was removed.
pub(super) fn removed(job: &JobInfo) -> Result<(), Failure> {
    let mut out = Output::plain();
    writeln!(out, "Removed {}; runs that have started keep going.", safe(&job.job.spec.name))?;
    Ok(out.finish()?)
}

/// Prints runs, one per line.
pub(super) fn runs(context: &Context, runs: &[RunInfo]) -> Result<(), Failure> {
    let mut out = super::super::paged(context);
    if runs.is_empty() {
        writeln!(out, "No runs yet.")?;
    }
    for run in runs {
        writeln!(
            out,
            "{}  {}  {}",
            clock(context, run.run.claimed),
            safe(&run.job),
            safe(&run_state(&run.run))
        )?;
    }
    Ok(out.finish()?)
}

/// Prints an event of the daemon at once, as text or as a line of JSON.
pub(super) fn event(context: &Context, event: &DaemonEvent, json: bool) {
    let mut out = Output::plain();
    let line = if json { json_line(event).unwrap_or_default() } else { event_text(context, event) };
    // A daemon keeps running when its output is closed.
    let _ = writeln!(out, "{line}").and_then(|()| out.finish());
}

fn event_text(context: &Context, event: &DaemonEvent) -> String {
    let now = clock(context, context.read_clock());
    match event {
        DaemonEvent::Leads => format!("{now}  running jobs as they become due; Ctrl-C stops"),
        DaemonEvent::Follows => {
            format!("{now}  another daemon is running the jobs; this one takes over when that exits")
        }
        DaemonEvent::Run { run } => format!("{now}  {}  {}", safe(&run.job), safe(&run_state(&run.run))),
        DaemonEvent::Problem { message } => format!("{now}  {}", safe(message)),
    }
}

fn name(job: &JobInfo) -> Cell {
    let style = if bypasses_permissions(job) { RED } else { Style::new().bold() };
    Cell::styled(&job.job.spec.name, style)
}

fn bypasses_permissions(job: &JobInfo) -> bool {
    let mode = job.job.spec.options.permission_mode.as_deref().and_then(PermissionMode::from_name);
    mode == Some(PermissionMode::BypassPermissions)
}

fn timing(context: &Context, when: &JobSchedule) -> String {
    match when {
        JobSchedule::At { at } => format!("at {}", clock(context, *at)),
        JobSchedule::Every { every_ms, .. } => {
            format!("every {:#}", SignedDuration::from_millis(i64::try_from(*every_ms).unwrap_or(i64::MAX)))
        }
        JobSchedule::Cron { expr, tz } => format!("{expr} ({})", tz.as_deref().unwrap_or("local time")),
    }
}

fn next(context: &Context, job: &JobInfo) -> String {
    match job.next {
        Some(next) => clock(context, next),
        None if job.job.enabled => "never".to_owned(),
        None => "disabled".to_owned(),
    }
}

fn clock(context: &Context, time: Timestamp) -> String {
    time.to_zoned(context.zone()).strftime("%Y-%m-%d %H:%M").to_string()
}

/// The state of a run in a few words.
fn run_state(run: &Run) -> String {
    match &run.state {
        RunState::Waiting { reason: why, .. } => format!("waiting: {why}"),
        RunState::Starting => "starting".to_owned(),
        RunState::Running { worker, .. } => format!("running as worker {worker}"),
        RunState::Over { outcome, message, cost_usd, .. } => {
            let words = match outcome {
                RunOutcome::Finished => "finished",
                RunOutcome::Failed => "failed",
                RunOutcome::TimedOut => "timed out",
                RunOutcome::Skipped => "skipped",
            };
            let cost = cost_usd.map_or_else(String::new, |cost| format!(" ({})", dollars(cost)));
            let message = message.as_deref().map_or_else(String::new, |message| format!(": {message}"));
            format!("{words}{cost}{message}")
        }
    }
}

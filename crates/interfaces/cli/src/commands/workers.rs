//! `workers`: lists the workers that Backstory has started and their states.

use std::io::Write as _;

use anstyle::{AnsiColor, Style};
use app::Context;
use app::workers::list::{self, Answer};
use app::workers::{PermissionMode, WorkerInfo, WorkerState};

use crate::exit::Failure;
use crate::run::request_line;
use crate::table::{Align, Cell, Column, table};
use crate::text::{age, dollars};

/// List the workers: what each is doing, what waits for an answer, what it has cost.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

const COLUMNS: [Column; 7] = [
    Column { head: "NO", align: Align::Right, max_width: 8 },
    Column { head: "STATE", align: Align::Left, max_width: 18 },
    Column { head: "SINCE", align: Align::Right, max_width: 5 },
    Column { head: "COST", align: Align::Right, max_width: 9 },
    Column { head: "SESSION", align: Align::Left, max_width: 8 },
    Column { head: "DIRECTORY", align: Align::TruncateStart, max_width: 40 },
    Column { head: "TASK", align: Align::TruncateEnd, max_width: 80 },
];

/// Prints the workers and their pending requests.
pub(crate) fn run(context: &Context, args: &Args) -> Result<(), Failure> {
    let answer = list::list(context, &list::Request::default())?;
    if args.json { super::json(&answer) } else { print(context, &answer) }
}

fn print(context: &Context, answer: &Answer) -> Result<(), Failure> {
    let workers = &answer.workers;
    let mut out = super::paged(context);
    if workers.is_empty() {
        writeln!(out, "No workers yet. Start one: backstory run <task>")?;
        return Ok(out.finish()?);
    }
    let rows: Vec<_> = workers.iter().map(|worker| row(context, worker)).collect();
    let width = out.width();
    table(&mut out, width, &COLUMNS, &rows)?;
    for worker in workers {
        for request in waiting(&worker.state) {
            writeln!(out, "{}", request_line(worker.worker, request))?;
        }
    }
    Ok(out.finish()?)
}

fn waiting(state: &WorkerState) -> &[app::workers::PermissionRequest] {
    match state {
        WorkerState::WaitingPermission { requests } => requests,
        _ => &[],
    }
}

/// What the worker's turns have cost; unknown until the first one is over.
fn cost(worker: &WorkerInfo) -> String {
    let is_known = worker.facts.turns > 0 || worker.state.is_over();
    if is_known { dollars(worker.facts.cost_usd) } else { "-".to_owned() }
}

fn row(context: &Context, worker: &WorkerInfo) -> Vec<Cell> {
    let colour = |colour: AnsiColor| colour.on_default();
    let state = match worker.state {
        WorkerState::WaitingPermission { .. } => Cell::styled("asks you", colour(AnsiColor::Yellow).bold()),
        WorkerState::Failed { .. } | WorkerState::Lost { .. } => {
            Cell::styled(worker.state.as_str(), colour(AnsiColor::Red))
        }
        WorkerState::Running | WorkerState::Starting => {
            Cell::styled(worker.state.as_str(), colour(AnsiColor::Green))
        }
        _ => Cell::new(worker.state.as_str()),
    };
    let number = worker.worker.to_string();
    let number = if worker.permission_mode == PermissionMode::BypassPermissions {
        // Marks workers that use every tool without asking.
        Cell::styled(&number, colour(AnsiColor::Red).bold())
    } else {
        Cell::styled(&number, Style::new().bold())
    };
    vec![
        number,
        state,
        Cell::new(&age(context.now, Some(worker.facts.changed))),
        Cell::new(&cost(worker)),
        Cell::new(worker.session_id.short()),
        Cell::new(&worker.directory.display().to_string()),
        Cell::new(&worker.task),
    ]
}

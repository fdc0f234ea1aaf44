//! `workers`: lists the workers that Backstory has started and their states.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use app::Context;
use app::workers::list::{self, Answer};
use app::workers::{PermissionMode, WorkerInfo, WorkerState};
use jiff::Timestamp;

use crate::exit::Failure;
use crate::run::request_line;
use crate::table::{Align, Cell, Column, table};
use crate::text::{age, dollars, safe};
use crate::wrap::hanging;

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
    Column { head: "SESSION", align: Align::Left, max_width: 14 },
    Column { head: "DIRECTORY", align: Align::TruncateStart, max_width: 40 },
    Column { head: "TASK", align: Align::TruncateEnd, max_width: 80 },
];

/// Prints the workers and their pending requests.
pub(crate) fn run(context: &Context, args: &Args) -> Result<(), Failure> {
    let answer = list::list(context, &list::Request::default())?;
    if args.json { super::json(&answer) } else { print(context, &answer) }
}

fn print(context: &Context, answer: &Answer) -> Result<(), Failure> {
    let mut out = super::paged(context);
    let (width, wraps_at) = (out.width(), out.terminal_width());
    write(&mut out, (width, wraps_at), context.now, &answer.workers)?;
    Ok(out.finish()?)
}

/// Writes the workers in lines of a width; what they ask is broken only where a terminal has one.
fn write(
    out: &mut impl Write,
    (width, wraps_at): (usize, Option<usize>),
    now: Timestamp,
    workers: &[WorkerInfo],
) -> io::Result<()> {
    if workers.is_empty() {
        return writeln!(out, "No workers yet. Start one: backstory run <task>");
    }
    let rows: Vec<_> = workers.iter().map(|worker| row(now, worker)).collect();
    table(out, width, &COLUMNS, &rows)?;
    for worker in workers {
        if let Some(line) = in_force(worker) {
            writeln!(out, "{}", hanging(&line, wraps_at, 0, 4))?;
        }
        let requests = waiting(&worker.state);
        for request in requests {
            for line in request_line(worker.worker, request, requests.len() == 1).lines() {
                writeln!(out, "{}", hanging(line, wraps_at, 0, 4))?;
            }
        }
    }
    Ok(())
}

/// What a worker does without asking, where that is not Claude Code's default.
fn in_force(worker: &WorkerInfo) -> Option<String> {
    if worker.state.is_over() {
        return None;
    }
    let mode = match worker.permission_mode {
        PermissionMode::Default => None,
        PermissionMode::AcceptEdits => Some("accepts edits"),
        PermissionMode::Plan => Some("changes nothing before its plan is approved"),
        PermissionMode::Auto => Some("asks only where Claude Code's classifier does"),
        PermissionMode::DontAsk => Some("denies what it would have to ask"),
        PermissionMode::BypassPermissions => Some("uses every tool without asking"),
    };
    let allowed = (!worker.allowed.is_empty()).then(|| format!("is allowed: {}", worker.allowed.join("; ")));
    let all: Vec<String> = mode.map(str::to_owned).into_iter().chain(allowed).collect();
    (!all.is_empty()).then(|| safe(&format!("worker {} {}", worker.worker, all.join("; "))))
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

fn row(now: Timestamp, worker: &WorkerInfo) -> Vec<Cell> {
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
        Cell::new(&age(now, Some(worker.facts.changed))),
        Cell::new(&cost(worker)),
        Cell::new(worker.session_id.short()),
        Cell::new(&worker.directory.display().to_string()),
        Cell::new(&worker.task),
    ]
}

#[cfg(test)]
mod tests {
    use app::workers::{PermissionRequest, WorkerStats};
    use serde_json::{Value, json};

    use super::*;

    fn asking(tool: &str, input: Value) -> WorkerState {
        let request = PermissionRequest {
            request: "7f3a9c21-0000".to_owned(),
            tool: tool.to_owned(),
            input,
            description: None,
            reason: None,
            suggestions: Vec::new(),
            offers: Vec::new(),
            not_offered: Vec::new(),
            tool_use_id: None,
            agent: None,
        };
        WorkerState::WaitingPermission { requests: vec![request] }
    }

    fn worker(number: i64, task: &str, state: WorkerState) -> WorkerInfo {
        let changed: Timestamp = "2026-03-01T11:50:00Z".parse().unwrap();
        WorkerInfo {
            worker: number,
            session_id: "a1b2c3d4-0001-4000-8000-000000000001".parse().unwrap(),
            state,
            slot: None,
            directory: "/home/sam/work/harbor-api".into(),
            task: task.to_owned(),
            agent_id: None,
            permission_mode: PermissionMode::Default,
            allowed: Vec::new(),
            pid: Some(4711),
            host_pid: 4700,
            facts: WorkerStats {
                model: None,
                version: None,
                created: changed,
                started: Some(changed),
                changed,
                stopped: None,
                cost_usd: 0.42,
                turns: 3,
                budget_usd: None,
            },
            budget_used_pct: None,
            announcements: Vec::new(),
            frames: "/home/sam/frames".into(),
        }
    }

    #[test]
    fn what_is_in_force_is_said_of_workers_that_live() {
        let check = |mode, allowed: &[&str], state, expected: Option<&str>| {
            let allowed = allowed.iter().map(|words| (*words).to_owned()).collect();
            let worker = WorkerInfo { permission_mode: mode, allowed, ..worker(2, "Run the tests", state) };
            assert_eq!(in_force(&worker).as_deref(), expected);
        };
        let rule = "Bash(make), from now on in this project";
        check(PermissionMode::Default, &[], WorkerState::Running, None);
        check(PermissionMode::AcceptEdits, &[], WorkerState::Running, Some("worker 2 accepts edits"));
        check(
            PermissionMode::AcceptEdits,
            &[rule],
            WorkerState::Running,
            Some("worker 2 accepts edits; is allowed: Bash(make), from now on in this project"),
        );
        check(PermissionMode::BypassPermissions, &[rule], WorkerState::Stopped, None);
    }

    #[test]
    fn workers_and_what_they_ask() {
        let command = json!({"command": "cargo test --workspace --all-targets && git push --force-with-lease origin HEAD"});
        let question = json!({"questions": [{
            "question": "Which of the two stores should keep the refresh tokens?",
            "header": "Store",
            "options": [{"label": "Redis", "description": "fast"}, {"label": "Postgres", "description": "safe"}],
            "multiSelect": false,
        }]});
        let all = [
            worker(
                3,
                "Choose the store of the refresh tokens and migrate them",
                asking("AskUserQuestion", question),
            ),
            worker(2, "Run the tests and push", asking("Bash", command)),
            worker(1, "Rotate the refresh token of the gateway when it is used twice", WorkerState::Running),
        ];
        for width in [60, 80, 120] {
            let mut out = Vec::new();
            let now = "2026-03-01T12:00:00Z".parse().unwrap();
            write(&mut out, (width, Some(width)), now, &all).unwrap();
            let text = anstream::adapter::strip_str(std::str::from_utf8(&out).unwrap()).to_string();
            insta::assert_snapshot!(format!("workers_{width}"), text);
        }
    }
}

//! Asks the person when the choice of a session is uncertain: resume one, fork one, or start a fresh one.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

use anstyle::Style;
use app::choose::answer::{Answer, Considered};
use app::workers::run::{TaskSession, TaskSpec, choose, record_decision};
use app::{Context, Error, Kind};

use crate::exit::Failure;
use crate::output::error_width;
use crate::text::{age, fit, safe};
use crate::wrap::wrapped;

/// How many sessions are offered.
const OFFERED: usize = 5;
/// The width of lines where the terminal does not say its own, in cells.
const MAX_WIDTH: usize = 80;

/// The order with the person's choice where they have to be asked, otherwise unchanged.
pub(crate) fn resolve_choice(
    context: &Context,
    order: TaskSpec,
    is_quiet: bool,
) -> Result<TaskSpec, Failure> {
    let is_open = order.session == TaskSession::Chosen && order.label.is_none() && order.worktree.is_none();
    let is_attended = io::stdin().is_terminal() && io::stderr().is_terminal() && !is_quiet;
    if !is_open || !is_attended || order.task.trim().is_empty() {
        return Ok(order);
    }
    let answer = choose(context, &order)?;
    if !answer.ask {
        return Ok(TaskSpec { chosen: Some(answer), ..order });
    }
    let Some(how) = ask(context, &answer)? else { return Ok(TaskSpec { chosen: Some(answer), ..order }) };
    record_decision(context, &answer, &how);
    let chosen = match how {
        TaskSession::Fresh => Some(answer.fresh("you chose to start fresh")),
        _ => None,
    };
    Ok(TaskSpec { session: if chosen.is_some() { TaskSession::Chosen } else { how }, chosen, ..order })
}

/// Offers the best session in one line, and asks until the answer is valid; `None` if there is nothing to choose from.
fn ask(context: &Context, answer: &Answer) -> Result<Option<TaskSession>, Failure> {
    let offered: Vec<&Considered> =
        answer.scores.iter().filter(|one| one.is_eligible()).take(OFFERED).collect();
    let Some(first) = offered.first() else { return Ok(None) };
    let width = error_width().unwrap_or(MAX_WIDTH);
    let mut err = anstream::stderr().lock();
    let dim = Style::new().dimmed();
    let chance = answer.chance.map_or_else(String::new, |chance| format!("  {:.0}%", chance * 100.0));
    let question = format!("Go on with {}{chance}?", row(context, first));
    writeln!(err, "{}", fit(&question, width))?;
    let others = if offered.len() > 1 { ", l to list others" } else { "" };
    loop {
        write!(err, "Enter to start fresh, r to go on with it, k to fork it, ? to see why{others}: ")?;
        err.flush()?;
        let mut line = String::new();
        if io::stdin().lock().read_line(&mut line)? == 0 {
            return Err(Error::new(Kind::Usage, "nothing was chosen, so nothing was started").into());
        }
        match line.trim() {
            "?" => writeln!(err, "{dim}{}{dim:#}", wrapped(&safe(&answer.reason), width))?,
            "l" => list(&mut err, context, &offered, width)?,
            line => {
                if let Some(how) = parse_choice(line, &offered, first) {
                    return Ok(Some(how));
                }
                writeln!(err, "{dim}Enter, r, k, ?, l, or a number from 1 to {}{dim:#}", offered.len())?;
            }
        }
    }
}

/// Lists the sessions that can be chosen, each with its number.
fn list(
    err: &mut impl io::Write,
    context: &Context,
    offered: &[&Considered],
    width: usize,
) -> io::Result<()> {
    for (one, number) in offered.iter().zip(1..) {
        writeln!(err, "{}", fit(&format!("  {number}  {}", row(context, one)), width))?;
    }
    Ok(())
}

/// A session in one line: its id, age and title.
fn row(context: &Context, one: &Considered) -> String {
    let title = safe(one.title.as_deref().unwrap_or("(no title)"));
    format!("{}  {}  {title}", one.session_id.short(), age(context.now, one.last_active))
}

fn parse_choice(line: &str, offered: &[&Considered], first: &Considered) -> Option<TaskSession> {
    let id = |one: &Considered| one.session_id.to_string();
    match line {
        "" | "f" | "fresh" => Some(TaskSession::Fresh),
        "r" | "resume" => Some(TaskSession::Resume(id(first))),
        "k" | "fork" => Some(TaskSession::Fork { session: id(first), at: None }),
        number => {
            let at = number.parse::<usize>().ok()?.checked_sub(1)?;
            offered.get(at).map(|one| TaskSession::Resume(id(one)))
        }
    }
}

//! Asks the person when the choice of a session is uncertain: resume one, fork one, or start a fresh one.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

use anstyle::Style;
use app::choose::answer::{Answer, Considered};
use app::workers::run::{TaskSession, TaskSpec, choose, record_decision};
use app::{Context, Error, Kind};

use crate::exit::Failure;
use crate::text::{age, safe};

/// How many sessions are offered.
const OFFERED: usize = 5;

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
    if !answer.is_uncertain() {
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

/// Asks until the answer is valid; `None` if there is nothing to choose from.
fn ask(context: &Context, answer: &Answer) -> Result<Option<TaskSession>, Failure> {
    let offered: Vec<&Considered> =
        answer.scores.iter().filter(|one| one.is_eligible()).take(OFFERED).collect();
    let Some(first) = offered.first() else { return Ok(None) };
    let mut err = anstream::stderr().lock();
    let (bold, dim) = (Style::new().bold(), Style::new().dimmed());
    writeln!(err, "{dim}{}{dim:#}", safe(&answer.reason))?;
    for (one, number) in offered.iter().zip(1..) {
        let title = safe(one.title.as_deref().unwrap_or("(no title)"));
        let age = age(context.now, one.last_active);
        writeln!(err, "  {number}  {bold}{}{bold:#}  {age:>4}  {title}", one.session_id.short())?;
    }
    loop {
        write!(err, "Resume 1 (r), start fresh (f), fork 1 (k), or resume by number? [f] ")?;
        err.flush()?;
        let mut line = String::new();
        if io::stdin().lock().read_line(&mut line)? == 0 {
            return Err(Error::new(Kind::Usage, "nothing was chosen, so nothing was started").into());
        }
        match parse_choice(&line, &offered, first) {
            Some(how) => return Ok(Some(how)),
            None => writeln!(err, "{dim}r, f, k, or a number from 1 to {}{dim:#}", offered.len())?,
        }
    }
}

fn parse_choice(line: &str, offered: &[&Considered], first: &Considered) -> Option<TaskSession> {
    let id = |one: &Considered| one.session_id.to_string();
    match line.trim() {
        "" | "f" | "fresh" => Some(TaskSession::Fresh),
        "r" | "resume" => Some(TaskSession::Resume(id(first))),
        "k" | "fork" => Some(TaskSession::Fork { session: id(first), at: None }),
        number => {
            let at = number.parse::<usize>().ok()?.checked_sub(1)?;
            offered.get(at).map(|one| TaskSession::Resume(id(one)))
        }
    }
}

//! `list`: sessions from every source, running first, then newest.

use std::io::Write as _;

use anstyle::Style;
use app::sessions::list::{Answer, OriginName, Request, list};
use app::{Context, Moment};
use jiff::Timestamp;
use model::{AgentId, Origin, Session};

use crate::exit::Failure;
use crate::output::{Output, is_read_by_a_person};
use crate::progress::Followed;
use crate::table::{Align, Cell, Column, table};
use crate::text::{age, count, dollars, safe};

/// How many sessions are listed on a terminal without `--limit`.
const TERMINAL_LIMIT: usize = 50;

/// List sessions: running first, then newest.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only sessions of this repository: its name, Claude Code's folder name for it, or a path inside it.
    #[arg(long, visible_alias = "repo", value_name = "NAME", allow_hyphen_values = true, value_parser = super::project)]
    project: Option<String>,
    /// Only sessions last seen on this branch.
    #[arg(long, value_name = "BRANCH")]
    branch: Option<String>,
    /// Only sessions of this origin.
    #[arg(long, visible_alias = "source", value_parser = super::words::<OriginName>(&["openclaw", "native", "archived"]))]
    origin: Option<OriginName>,
    /// Only sessions of this OpenClaw agent.
    #[arg(long, value_name = "NAME")]
    agent: Option<AgentId>,
    /// Only sessions that are open in a running process.
    #[arg(long)]
    running: bool,
    /// Only sessions active since then: 2026-01-31, yesterday, monday, 36h, 2d, 3w.
    #[arg(long, value_name = "TIME")]
    since: Option<Moment>,
    /// Show at most this many sessions [default: 50 on a terminal, otherwise all].
    #[arg(long, value_name = "N", value_parser = super::at_least_one)]
    limit: Option<usize>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Prints the sessions that match.
pub(crate) fn run(context: &Context, args: &Args) -> Result<(), Failure> {
    let request = request(args);
    let followed = Followed::new(context);
    let answer = list(&followed, &request)?;
    drop(followed);
    if args.json {
        return super::json(&answer);
    }
    print(context, args, &answer)
}

fn request(args: &Args) -> Request {
    let for_a_person = !args.json && is_read_by_a_person();
    Request {
        project: args.project.clone(),
        branch: args.branch.clone(),
        origin: args.origin,
        agent: args.agent.clone(),
        running: args.running,
        since: args.since.clone(),
        limit: args.limit.or(for_a_person.then_some(TERMINAL_LIMIT)),
    }
}

const COLUMNS: [Column; 10] = [
    Column { head: "DOING", align: Align::Left, max_width: 16 },
    Column { head: "TITLE", align: Align::TruncateEnd, max_width: 80 },
    Column { head: PROJECT, align: Align::TruncateEnd, max_width: 20 },
    Column { head: BRANCH, align: Align::TruncateEnd, max_width: 20 },
    Column { head: "ORIGIN", align: Align::Left, max_width: 24 },
    Column { head: "AGE", align: Align::Right, max_width: 4 },
    Column { head: MESSAGES, align: Align::Right, max_width: 6 },
    Column { head: TOKENS, align: Align::Right, max_width: 6 },
    Column { head: COST, align: Align::Right, max_width: 10 },
    Column { head: "ID", align: Align::Left, max_width: 8 },
];
const PROJECT: &str = "PROJECT";
const BRANCH: &str = "BRANCH";
const MESSAGES: &str = "MSGS";
const TOKENS: &str = "TOKENS";
const COST: &str = "COST";

fn print(context: &Context, args: &Args, answer: &Answer) -> Result<(), Failure> {
    let mut out = super::paged(context);
    if answer.sessions.is_empty() {
        writeln!(out, "{}", empty_message(context, args, answer))?;
        write_notes(&mut out, answer)?;
        return Ok(out.finish()?);
    }
    let width = out.width();
    print_sessions(&mut out, width, &answer.sessions, context.now)?;
    write_notes(&mut out, answer)?;
    Ok(out.finish()?)
}

fn write_notes(out: &mut Output, answer: &Answer) -> Result<(), Failure> {
    let dim = Style::new().dimmed();
    for line in notes(answer) {
        writeln!(out, "{dim}{}{dim:#}", safe(&line))?;
    }
    Ok(())
}

/// Prints the table; on a narrow terminal the figures are left out first, because `--json` and `cost` have them.
fn print_sessions(
    out: &mut impl std::io::Write,
    width: usize,
    sessions: &[Session],
    now: Timestamp,
) -> std::io::Result<()> {
    let left_out: &[&str] = match width {
        100.. => &[],
        80.. => &[TOKENS],
        70.. => &[TOKENS, MESSAGES, COST, BRANCH],
        _ => &[TOKENS, MESSAGES, COST, BRANCH, PROJECT],
    };
    let is_shown = |column: &Column| !left_out.contains(&column.head);
    let columns: Vec<Column> = COLUMNS.into_iter().filter(is_shown).collect();
    let shown = |session| {
        let cells = COLUMNS.iter().zip(row(session, now)).filter(|(column, _)| is_shown(column));
        cells.map(|(_, cell)| cell).collect()
    };
    let rows: Vec<_> = sessions.iter().map(shown).collect();
    table(out, width, &columns, &rows)
}

fn row(session: &Session, now: Timestamp) -> [Cell; COLUMNS.len()] {
    [
        doing(session),
        Cell::new(session.title.as_deref().unwrap_or("(no title)")),
        Cell::new(session.project.as_deref().unwrap_or("-")),
        Cell::new(session.branch.as_deref().unwrap_or("-")),
        Cell::new(&origin(session)),
        Cell::new(&age(now, session.last_modified)),
        Cell::new(&count(session.message_count)),
        Cell::new(&count(session.usage.total())),
        Cell::new(&cost(session)),
        Cell::new(session.id.short()),
    ]
}

fn doing(session: &Session) -> Cell {
    let Some(activity) = &session.activity else { return Cell::styled("idle", Style::new().dimmed()) };
    let word = crate::watch::word(activity);
    Cell::styled(&word, crate::watch::style(activity))
}

/// The origin, for example `openclaw:main`; for a native session also how it was started, if not from a terminal.
fn origin(session: &Session) -> String {
    match (&session.origin, session.entrypoint.as_deref()) {
        (Origin::OpenClaw { agent, .. }, _) => format!("openclaw:{agent}"),
        (Origin::Archived, _) => "archived".to_owned(),
        (Origin::Native, None | Some("cli")) => "native".to_owned(),
        (Origin::Native, Some(entrypoint)) => {
            format!("native {}", entrypoint.strip_prefix("claude-").unwrap_or(entrypoint))
        }
    }
}

/// The cost from OpenClaw's registry, else our own estimate.
fn cost(session: &Session) -> String {
    match (session.registry_cost_usd, session.cost_usd) {
        (Some(known), _) => dollars(known),
        (None, Some(estimate)) => format!("~{}", dollars(estimate)),
        (None, None) => "-".to_owned(),
    }
}

fn notes(answer: &Answer) -> Vec<String> {
    let mut notes = Vec::new();
    if answer.more > 0 {
        notes.push(format!("{} more; use --limit to show more", answer.more));
    }
    if answer.problems > 0 {
        let problems = answer.problems;
        notes.push(format!("{problems} files or folders could not be read; `backstory doctor` lists them"));
    }
    notes.extend(answer.notes.iter().cloned());
    notes
}

fn empty_message(context: &Context, args: &Args, answer: &Answer) -> String {
    if args.origin == Some(OriginName::OpenClaw) {
        let states: Vec<_> =
            context.config().openclaw_folders.iter().map(|folder| folder.display().to_string()).collect();
        return match states.as_slice() {
            [] => "No OpenClaw state folder was found; set OPENCLAW_STATE_DIR to it.".to_owned(),
            _ => format!(
                "OpenClaw's agents in {} have not started any Claude Code sessions.",
                states.join(", ")
            ),
        };
    }
    if answer.known > 0 {
        return format!("No sessions match these filters; there are {} in all.", answer.known);
    }
    let folders: Vec<_> = context
        .config()
        .claude_folders
        .iter()
        .map(|folder| folder.join("projects").display().to_string())
        .collect();
    format!(
        "No sessions in {}.\nTry `backstory list --demo`, or set CLAUDE_CONFIG_DIR to the folder that holds yours.",
        folders.join(", ")
    )
}

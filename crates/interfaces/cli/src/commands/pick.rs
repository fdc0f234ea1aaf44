//! `pick`: chooses the session for a task and explains the choice.

use std::io::Write as _;

use anstyle::{AnsiColor, Style};
use app::choose::answer::{Action, Answer, Considered, Pack, ResumeCost};
use app::choose::pick::pick;
use app::choose::request::Request;
use app::choose::why_not::{self, WhyNot, why_not};
use app::{Context, Moment, RuleName};
use model::{AgentId, SessionId};

use crate::exit::Failure;
use crate::output::Output;
use crate::progress::Followed;
use crate::resumption;
use crate::table::{Align, Cell, Column, table};
use crate::text::{age, fit, safe};
use crate::wrap::{indented, wrapped};

/// How many sessions the text output lists.
const SHOWN: usize = 5;

/// Choose the session for a task, with the reason: resume one, start a new one, or wait.
///
/// The candidate is the newest session on the current branch, else the newest of all. Whether it is resumed depends on
/// the chance that you would continue it, judging by how long ago and where it was used, whether you left it with /exit,
/// how the task begins, which words the task and the session share, and how often you continue sessions. Between 30%
/// and 80% the answer is `ask`: offer the session, or start fresh where nobody can be asked.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The task.
    #[arg(value_name = "TASK", required_unless_present_any = ["label", "why_not"])]
    task: Vec<String>,
    /// The repository: a path or a project's name [default: the current directory].
    #[arg(long, visible_alias = "project", value_name = "DIR | NAME", allow_hyphen_values = true, value_parser = super::project)]
    repo: Option<String>,
    /// Only the session with this name.
    #[arg(long, value_name = "NAME")]
    label: Option<String>,
    /// Choose among the sessions of this OpenClaw agent [default: those not started by an agent].
    #[arg(long, value_name = "NAME")]
    agent: Option<AgentId>,
    /// The most a session may cost, in US dollars; one that has used 70% of it is not resumed.
    #[arg(long, value_name = "USD")]
    budget: Option<f64>,
    /// The branch [default: the one checked out].
    #[arg(long, value_name = "BRANCH")]
    branch: Option<String>,
    /// The rule: the chance that you would continue a session, or the five factors of OpenClaw's design [default: from
    /// the settings, else calibrated].
    #[arg(long, value_name = "RULE", value_parser = super::words::<RuleName>(&["calibrated", "seed"]))]
    weights: Option<RuleName>,
    /// Choose as of a past time, from what there was then: 2026-01-31T10:00, 2d.
    #[arg(long, value_name = "TIME")]
    as_of: Option<Moment>,
    /// Explain why the last decision here did not choose this session.
    #[arg(long, value_name = "ID")]
    why_not: Option<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Prints a choice, or explains the last one.
pub(crate) fn run(context: &Context, args: &Args) -> Result<(), Failure> {
    let task = args.task.join(" ");
    let only_explains = args.why_not.is_some() && task.is_empty() && args.label.is_none();
    let decided =
        if only_explains { None } else { Some(pick(&Followed::new(context), &request(args, task))?) };
    if let Some(id) = &args.why_not {
        let request = why_not::Request { session: id.clone(), repo: args.repo.clone() };
        let answer = why_not(context, &request)?;
        return if args.json { super::json(&answer) } else { explain(&answer) };
    }
    match decided {
        Some(answer) if args.json => super::json(&answer),
        Some(answer) => print(context, &answer),
        None => Ok(()),
    }
}

fn request(args: &Args, task: String) -> Request {
    Request {
        task,
        repo: args.repo.clone(),
        label: args.label.clone(),
        agent: args.agent.clone(),
        budget_usd: args.budget,
        branch: args.branch.clone(),
        weights: args.weights,
        as_of: args.as_of.clone(),
    }
}

fn print(context: &Context, answer: &Answer) -> Result<(), Failure> {
    let mut out = super::paged(context);
    let (bold, dim) = (Style::new().bold(), Style::new().dimmed());
    let width = out.width();
    let Headline { colour, word, session, title } = Headline::new(answer);
    let action = colour.on_default().bold();
    let session = session.map(|id| format!(" {id}")).unwrap_or_default();
    let title = title.map(|title| format!("  {}", safe(title))).unwrap_or_default();
    let used = word.len() + session.len();
    writeln!(
        out,
        "{action}{word}{action:#}{bold}{session}{bold:#}{}",
        fit(&title, width.saturating_sub(used))
    )?;
    writeln!(out, "{}", wrapped(&safe(&answer.reason), width))?;
    match answer.weights {
        "seed" => factors(&mut out, answer)?,
        _ => chances(&mut out, context, answer)?,
    }
    if let Some(cost) = &answer.resume_cost {
        print_resume_cost(&mut out, cost)?;
    }
    if let Some(pack) = &answer.pack {
        print_pack(&mut out, pack)?;
    }
    if let Some(id) = resumable(answer) {
        let demo = if context.config().is_demo { " --demo" } else { "" };
        writeln!(out, "\n{dim}Continue it: backstory resume {}{demo}{dim:#}", id.short())?;
    }
    if !answer.what_would_change.is_empty() {
        writeln!(out, "\nWhat would change it:")?;
        for line in &answer.what_would_change {
            writeln!(out, "{}", indented(&safe(line), width, 2))?;
        }
    }
    for line in notes(answer) {
        writeln!(out, "{dim}{}{dim:#}", wrapped(&safe(&line), width))?;
    }
    Ok(out.finish()?)
}

/// The first line of a choice.
struct Headline<'a> {
    colour: AnsiColor,
    word: &'static str,
    session: Option<&'a str>,
    title: Option<&'a str>,
}

impl<'a> Headline<'a> {
    fn new(answer: &'a Answer) -> Self {
        if let Some(offer) = &answer.offered {
            let (session, title) = (Some(offer.session_id.short()), offer.title.as_deref());
            return Self { colour: AnsiColor::Magenta, word: "ask: start fresh, or resume", session, title };
        }
        let (colour, word) = match answer.action {
            Action::Resume => (AnsiColor::Green, "resume"),
            Action::Queue => (AnsiColor::Yellow, "queue"),
            Action::Fresh if answer.pack.is_some() => (AnsiColor::Cyan, "fresh, with a brief"),
            Action::Fresh => (AnsiColor::Cyan, "fresh"),
        };
        let session = answer.session_id.as_ref().map(SessionId::as_str);
        Self { colour, word, session, title: answer.title.as_deref() }
    }
}

/// The session that the answer resumes or offers.
fn resumable(answer: &Answer) -> Option<&SessionId> {
    let offered = answer.offered.as_ref().map(|offer| &offer.session_id);
    offered.or(answer.session_id.as_ref().filter(|_| answer.action == Action::Resume))
}

/// Prints the candidate and the sessions after it with their chances (rule `calibrated`).
fn chances(out: &mut Output, context: &Context, answer: &Answer) -> Result<(), Failure> {
    const COLUMNS: [Column; 5] = [
        Column { head: "CHANCE", align: Align::Right, max_width: 6 },
        Column { head: "AGE", align: Align::Right, max_width: 4 },
        Column { head: "ID", align: Align::Left, max_width: 14 },
        Column { head: "BRANCH", align: Align::TruncateEnd, max_width: 24 },
        Column { head: "TITLE", align: Align::TruncateEnd, max_width: 80 },
    ];
    let now = answer.as_of.unwrap_or(context.now);
    let row = |one: &Considered| {
        let chance = one.score.map_or_else(String::new, |score| format!("{:.0}%", score * 100.0));
        vec![
            Cell::new(&chance),
            Cell::new(&age(now, one.last_active)),
            Cell::new(one.session_id.short()),
            Cell::new(one.branch.as_deref().unwrap_or_default()),
            Cell::new(one.title.as_deref().unwrap_or("(no title)")),
        ]
    };
    rows(out, answer, &COLUMNS, row)
}

/// Prints the best sessions with their factors (rule `seed`).
fn factors(out: &mut Output, answer: &Answer) -> Result<(), Failure> {
    const COLUMNS: [Column; 8] = [
        Column { head: "SCORE", align: Align::Right, max_width: 5 },
        Column { head: "BRANCH", align: Align::Right, max_width: 6 },
        Column { head: "RECENCY", align: Align::Right, max_width: 7 },
        Column { head: "RELEVANCE", align: Align::Right, max_width: 9 },
        Column { head: "HEALTH", align: Align::Right, max_width: 6 },
        Column { head: "CAPACITY", align: Align::Right, max_width: 8 },
        Column { head: "ID", align: Align::Left, max_width: 14 },
        Column { head: "TITLE AND WHY", align: Align::TruncateEnd, max_width: 120 },
    ];
    let number = |value: f64| Cell::new(&format!("{value:.2}"));
    let row = |one: &Considered| {
        let of = one.factors;
        let mut row =
            vec![number(one.score.unwrap_or_default()), number(of.branch_match), number(of.recency)];
        row.extend([of.task_relevance, of.session_health, of.context_capacity].map(number));
        let title = one.title.as_deref().unwrap_or("(no title)");
        row.extend([Cell::new(one.session_id.short()), Cell::new(&format!("{title}: {}", one.reason))]);
        row
    };
    rows(out, answer, &COLUMNS, row)
}

fn rows(
    out: &mut Output,
    answer: &Answer,
    columns: &[Column],
    row: impl Fn(&Considered) -> Vec<Cell>,
) -> Result<(), Failure> {
    if answer.scores.is_empty() {
        return Ok(());
    }
    let rows: Vec<Vec<Cell>> = answer.scores.iter().take(SHOWN).map(row).collect();
    let width = out.width();
    writeln!(out)?;
    table(out, width, columns, &rows)?;
    let dim = Style::new().dimmed();
    let shown = rows.len();
    let count = (answer.candidates > shown).then(|| format!("{shown} of {} sessions", answer.candidates));
    let rule = (shown > 1 && answer.weights != "seed").then(|| "only the first is a candidate".to_owned());
    let remarks: Vec<String> = count.into_iter().chain(rule).collect();
    if !remarks.is_empty() {
        writeln!(out, "{dim}{}{dim:#}", remarks.join("; "))?;
    }
    Ok(())
}

/// Prints the earlier sessions that the brief of a fresh one would quote.
fn print_pack(out: &mut Output, pack: &Pack) -> Result<(), Failure> {
    let (width, dim) = (out.width(), Style::new().dimmed());
    let head = format!(
        "A fresh session would start with the last messages of these (at most {} tokens):",
        pack.tokens
    );
    writeln!(out, "\n{}", wrapped(&head, width))?;
    for source in &pack.sessions {
        let title = source.title.as_deref().unwrap_or("(no title)");
        let line = format!("  {}  {}", source.session_id.short(), safe(title));
        writeln!(out, "{}", fit(&line, width))?;
    }
    writeln!(out, "{dim}`backstory run` includes them; --json shows the text{dim:#}")?;
    Ok(())
}

fn print_resume_cost(out: &mut Output, cost: &ResumeCost) -> Result<(), Failure> {
    let width = out.width();
    writeln!(out, "\n{}", wrapped(&safe(&resumption::sentences(cost)), width))?;
    for line in &cost.alternatives {
        writeln!(out, "{}", indented(&format!("cheaper: {}", safe(line)), width, 2))?;
    }
    for line in resumption::armed(cost) {
        writeln!(out, "{}", indented(&line, width, 2))?;
    }
    Ok(())
}

fn notes(answer: &Answer) -> Vec<String> {
    let mut notes = answer.notes.clone();
    if let Some(why) = &answer.relevance_fallback {
        notes.push(format!("relevance judged by shared words: {why}"));
    }
    if let Some(why) = &answer.save_error {
        notes.push(format!("the decision could not be saved: {why}"));
    }
    notes
}

fn explain(answer: &WhyNot) -> Result<(), Failure> {
    let mut out = Output::plain();
    let bold = Style::new().bold();
    let id = answer.session.session_id.as_str();
    writeln!(out, "{bold}{}{bold:#}: rank {} of {}", safe(id), answer.rank, answer.candidates)?;
    let width = out.width();
    for line in &answer.explanation {
        writeln!(out, "{}", indented(&safe(line), width, 2))?;
    }
    let decision =
        format!("Decision {}, for \"{}\": {}", answer.decision, safe(&answer.task), safe(&answer.reason));
    writeln!(out, "{}", wrapped(&decision, width))?;
    Ok(out.finish()?)
}

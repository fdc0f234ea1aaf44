//! `pick`: says which session a task should go to, and why.

use std::io::Write as _;

use anstyle::{AnsiColor, Style};
use app::pick::{Answer, Outlay, Request, pick};
use app::why_not::{WhyNot, why_not};
use app::{App, Error, Kind, moment};

use crate::exit::Failure;
use crate::output::Output;
use crate::print::{Cell, Column, Lies, table};
use crate::text::{count, dollars, safe};

/// How many sessions a person is shown.
const SHOWN: usize = 5;

/// Choose the session a task should go to: resume one, begin a new one, or wait; with the reason.
///
/// A session's score is the sum of five factors: the same branch, how lately it was used, how much it has to do with
/// the task, its health, and the room its context has. From the threshold on (0.60) it is resumed.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// What is to be done.
    #[arg(value_name = "TASK", required_unless_present_any = ["label", "why_not"])]
    task: Vec<String>,
    /// The repository: a path or a project's name [default: where you are].
    #[arg(long, visible_alias = "project", value_name = "DIR | NAME", allow_hyphen_values = true, value_parser = super::project)]
    repo: Option<String>,
    /// The session with this name, and no other.
    #[arg(long, value_name = "NAME")]
    label: Option<String>,
    /// Choose among the sessions of this OpenClaw agent [default: those no agent began].
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// What a session may cost in US dollars; one that has used 70 % of it is not resumed.
    #[arg(long, value_name = "USD")]
    budget: Option<f64>,
    /// The branch [default: the one that is checked out].
    #[arg(long, value_name = "BRANCH")]
    branch: Option<String>,
    /// Choose as it would have been then, from what there was: 2026-01-31T10:00, 2d.
    #[arg(long, value_name = "TIME")]
    as_of: Option<String>,
    /// Say why the last decision here did not take this session.
    #[arg(long, value_name = "ID")]
    why_not: Option<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Chooses, or explains the last choice.
pub(crate) fn run(app: &App, args: &Args) -> Result<(), Failure> {
    let task = args.task.join(" ");
    let decided = if task.is_empty() && args.label.is_none() {
        None
    } else {
        Some(pick(app, &request(app, args, task)?)?)
    };
    if let Some(id) = &args.why_not {
        let answer = why_not(app, args.repo.as_deref(), id)?;
        return if args.json { super::json(&answer) } else { explain(&answer) };
    }
    match decided {
        Some(answer) if args.json => super::json(&answer),
        Some(answer) => print(app, &answer),
        None => Ok(()),
    }
}

fn request(app: &App, args: &Args, task: String) -> Result<Request, Error> {
    let agent = args.agent.as_deref().map(str::parse).transpose();
    let budget = args.budget.map(|budget| match budget {
        budget if budget > 0.0 && budget.is_finite() => Ok(budget),
        _ => Err(Error::new(Kind::Usage, "--budget is an amount of US dollars over zero")),
    });
    Ok(Request {
        task,
        repo: args.repo.clone(),
        label: args.label.clone(),
        agent: agent.map_err(|error| Error::new(Kind::Usage, format!("--agent: {error}")))?,
        budget: budget.transpose()?,
        branch: args.branch.clone(),
        as_of: args.as_of.as_deref().map(|text| moment(app, text)).transpose()?,
        is_carried_out: false,
    })
}

fn print(app: &App, answer: &Answer) -> Result<(), Failure> {
    let mut out = super::paged(app);
    let (bold, dim) = (Style::new().bold(), Style::new().dimmed());
    let colour = match answer.action.word() {
        "resume" => AnsiColor::Green,
        "queue" => AnsiColor::Yellow,
        _ => AnsiColor::Cyan,
    };
    let action = colour.on_default().bold();
    let session = answer.session_id.as_ref().map(|id| format!(" {id}")).unwrap_or_default();
    writeln!(out, "{action}{}{action:#}{bold}{session}{bold:#}", answer.action.word())?;
    writeln!(out, "{}\n", safe(&answer.reason))?;
    scores(&mut out, answer)?;
    if let Some(outlay) = &answer.before_resume {
        before(&mut out, outlay)?;
    }
    if !answer.would_change.is_empty() {
        writeln!(out, "\nWhat would change it:")?;
        for line in &answer.would_change {
            writeln!(out, "  {}", safe(line))?;
        }
    }
    for line in notes(answer) {
        writeln!(out, "{dim}{}{dim:#}", safe(&line))?;
    }
    Ok(out.finish()?)
}

fn scores(out: &mut Output, answer: &Answer) -> Result<(), Failure> {
    const COLUMNS: [Column; 8] = [
        Column { head: "SCORE", lies: Lies::Right, most: 5 },
        Column { head: "BRANCH", lies: Lies::Right, most: 6 },
        Column { head: "RECENCY", lies: Lies::Right, most: 7 },
        Column { head: "RELEVANCE", lies: Lies::Right, most: 9 },
        Column { head: "HEALTH", lies: Lies::Right, most: 6 },
        Column { head: "CAPACITY", lies: Lies::Right, most: 8 },
        Column { head: "ID", lies: Lies::Left, most: 8 },
        Column { head: "WHY", lies: Lies::GivesWay, most: 100 },
    ];
    if answer.scores.is_empty() {
        return Ok(());
    }
    let number = |value: f64| Cell::new(&format!("{value:.2}"));
    let rows: Vec<Vec<Cell>> = answer
        .scores
        .iter()
        .take(SHOWN)
        .map(|one| {
            let factors = one.factors;
            let mut row = vec![number(one.score), number(factors.branch_match), number(factors.recency)];
            row.extend(
                [factors.task_relevance, factors.session_health, factors.context_capacity].map(number),
            );
            row.extend([Cell::new(one.session_id.short()), Cell::new(&one.reason())]);
            row
        })
        .collect();
    let width = out.width();
    table(out, width, &COLUMNS, &rows)?;
    let dim = Style::new().dimmed();
    if answer.candidates > rows.len() {
        writeln!(out, "{dim}{} of {} sessions{dim:#}", rows.len(), answer.candidates)?;
    }
    Ok(())
}

fn before(out: &mut Output, outlay: &Outlay) -> Result<(), Failure> {
    let price = outlay.cost_usd.map_or_else(|| "a price that is not known".to_owned(), dollars);
    let cache = if outlay.cached { "still cached" } else { "no longer cached" };
    writeln!(
        out,
        "\nBefore its first word it reads {} tokens again, {cache}: {price}. The context is {:.0} % full; {} tokens are \
         left before it is compacted.",
        count(outlay.tokens),
        outlay.window_used * 100.0,
        count(outlay.until_compaction)
    )?;
    for line in &outlay.cheaper {
        writeln!(out, "  cheaper: {}", safe(line))?;
    }
    Ok(())
}

fn notes(answer: &Answer) -> Vec<String> {
    let mut notes = answer.notes.clone();
    if let Some(why) = &answer.judge_fell_back {
        notes.push(format!("common words judged relevance: {why}"));
    }
    if let Some(why) = &answer.not_kept {
        notes.push(format!("the decision could not be kept: {why}"));
    }
    notes
}

fn explain(answer: &WhyNot) -> Result<(), Failure> {
    let mut out = Output::plain();
    let bold = Style::new().bold();
    let id = answer.session.session_id.as_str();
    writeln!(out, "{bold}{}{bold:#}: rank {} of {}", safe(id), answer.rank, answer.candidates)?;
    for line in &answer.because {
        writeln!(out, "  {}", safe(line))?;
    }
    writeln!(out, "Decision {}, for \"{}\": {}", answer.decision, safe(&answer.task), safe(&answer.reason))?;
    Ok(out.finish()?)
}

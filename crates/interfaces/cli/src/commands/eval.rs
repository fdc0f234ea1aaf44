//! `eval`: measures search and session choice against labels.

use std::io::Write as _;
use std::path::PathBuf;

use app::eval::mine::{self, mine};
use app::eval::own_bar::OwnBar;
use app::eval::retrieval::retrieval;
use app::eval::selection::{self, Alone, selection};
use app::eval::{ChoiceMetrics, Estimate, KindMetrics, RankingReport, retrieval as search};
use app::search::Mode;
use app::{Context, RuleName};
use clap::Subcommand;

use crate::exit::Failure;
use crate::output::Output;
use crate::progress::Followed;
use crate::table::{Align, Cell, Column, table};
use crate::text::counted;

/// Measure `search` and `pick`: on labelled questions and decisions, or on your own history.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true, arg_required_else_help = true)]
pub(crate) struct Args {
    /// Measure on your newest sessions (up to 256 MB): search for sessions by the subjects of their commits, and choose a
    /// session for every prompt that started a task. Commit messages are masked; nothing leaves the machine.
    #[arg(long)]
    mine: bool,
    /// Print JSON, with every question and decision.
    #[arg(long, requires = "mine")]
    json: bool,
    #[command(subcommand)]
    what: Option<What>,
}

#[derive(Debug, Subcommand)]
enum What {
    Retrieval(Retrieval),
    Selection(Selection),
}

/// Ask labelled questions and print nDCG@10, MRR@10, recall@5 and hit@1 by kind, with 95% confidence intervals.
#[derive(Debug, clap::Args)]
struct Retrieval {
    /// One {"id", "kind", "query", "relevant": {session: grade}} per line.
    #[arg(long, value_name = "FILE")]
    queries: PathBuf,
    /// Search by words (lexical), by meaning (semantic), or both (hybrid).
    #[arg(long, value_parser = super::words::<Mode>(&["hybrid", "lexical", "semantic"]), default_value = "hybrid")]
    mode: Mode,
    /// Compare the places that hits cite instead of sessions: "relevant" names records by their uuid.
    #[arg(long)]
    passages: bool,
    /// Ask each question only of the session in its label, {"session": ID}.
    #[arg(long, requires = "passages")]
    in_session: bool,
    /// Also show the difference from another mode, or from the answers in a file written by --out.
    #[arg(long, value_name = "MODE | FILE")]
    against: Option<String>,
    /// Write the sessions that were found, one {"id", "ranked"} per line.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Print JSON, with every question's figures.
    #[arg(long)]
    json: bool,
}

/// Decide labelled decisions again as `pick --as-of` would, and print how often they are right; no model is asked.
#[derive(Debug, clap::Args)]
struct Selection {
    /// One {"id", "at", "task", "cwd", "branch", "action", "session"} per line; `at` in seconds since 1970.
    #[arg(long, value_name = "FILE")]
    decisions: PathBuf,
    /// The rule: the chance that you would continue a session, or the five factors of OpenClaw's design [default: from
    /// the settings].
    #[arg(long, value_name = "RULE", value_parser = super::words::<RuleName>(&["calibrated", "seed"]))]
    weights: Option<RuleName>,
    /// With `--weights seed`: judge how relevant a session is to a task by common words or by the index.
    #[arg(long, value_parser = super::words::<selection::EvalJudge>(&["words", "index"]), default_value = "words")]
    judge: selection::EvalJudge,
    /// Print JSON, with every decision and its factors.
    #[arg(long)]
    json: bool,
}

/// Measures and prints the figures.
pub(crate) fn run(context: &Context, args: &Args) -> Result<(), Failure> {
    match &args.what {
        Some(What::Retrieval(args)) => run_retrieval(context, args),
        Some(What::Selection(args)) => run_selection(context, args),
        None => run_mine(context, args.json),
    }
}

fn run_mine(context: &Context, as_json: bool) -> Result<(), Failure> {
    let answer = mine(&Followed::interruptible(context), &mine::Request::default())?;
    if as_json {
        return super::json(&answer);
    }
    let (sessions, older_sessions) = (answer.sessions, answer.older_sessions);
    let mut out = Output::plain();
    writeln!(out, "{sessions} newest sessions; {older_sessions} older ones were left out")?;
    if answer.retrieval.kinds.is_empty() {
        writeln!(out, "No session made a commit that git still has, so there is nothing to search for.")?;
    }
    let record = answer.record;
    if record.decisions > 0 {
        writeln!(
            out,
            "Of your last {}, `pick` got {} right; always starting fresh would have got {} right.",
            counted(record.decisions, "decision"),
            record.right,
            record.fresh
        )?;
    } else {
        writeln!(out, "There is no record yet of what you did after pick gave its advice.")?;
    }
    out.finish()?;
    if !answer.retrieval.kinds.is_empty() {
        print_report(&answer.retrieval)?;
    }
    answer.selection.as_ref().map_or(Ok(()), print_selection)?;
    answer.own_bar.map_or(Ok(()), print_own_bar)
}

fn print_own_bar(bar: OwnBar) -> Result<(), Failure> {
    let mut out = Output::plain();
    let gain = bar.gain;
    let [mean, low, high] = [gain.mean, gain.low, gain.high].map(|share| share * 100.0);
    let advice = if bar.resume_chance < 1.0 { "" } else { ", that is, always starting fresh," };
    out.sentence(&format!(
        "For you `selection.resume_chance = {:.2}`{advice} would be right {mean:.1} [{low:.1}, {high:.1}] times more of 100.",
        bar.resume_chance
    ))?;
    Ok(out.finish()?)
}

fn run_retrieval(context: &Context, args: &Retrieval) -> Result<(), Failure> {
    let request = search::Request {
        queries: args.queries.clone(),
        mode: args.mode,
        passages: args.passages,
        in_session: args.in_session,
        against: args.against.clone(),
        out: args.out.clone(),
    };
    let report = retrieval(&Followed::interruptible(context), &request)?;
    if args.json { super::json(&report) } else { print_report(&report) }
}

fn print_report(report: &RankingReport) -> Result<(), Failure> {
    const FIGURES: [Column; 6] = [
        Column { head: "KIND", align: Align::TruncateEnd, max_width: 24 },
        Column { head: "QUERIES", align: Align::Right, max_width: 7 },
        Column { head: "nDCG@10", align: Align::Left, max_width: 24 },
        Column { head: "MRR@10", align: Align::Left, max_width: 24 },
        Column { head: "RECALL@5", align: Align::Left, max_width: 24 },
        Column { head: "HIT@1", align: Align::Left, max_width: 24 },
    ];
    const OPENED: Column = Column { head: "OPENED@1", align: Align::Left, max_width: 24 };
    const DIFFERENCE: Column = Column { head: "DIFFERENCE", align: Align::Left, max_width: 26 };
    let row = |one: &KindMetrics| {
        let figures = [one.ndcg_at_10, one.mrr_at_10, one.recall_at_5, one.hit_at_1];
        let mut row = vec![Cell::new(&one.kind), Cell::new(&one.queries.to_string())];
        row.extend(figures.iter().chain(&one.opened_at_1).map(|figure| Cell::new(&interval(figure))));
        row.extend(one.difference.map(|figure| Cell::new(&signed(&figure))));
        row
    };
    let rows: Vec<Vec<Cell>> = report.kinds.iter().map(row).collect();
    let mut columns = FIGURES.to_vec();
    let has = |what: fn(&KindMetrics) -> bool| report.kinds.iter().any(what);
    columns.extend(has(|one| one.opened_at_1.is_some()).then_some(OPENED));
    columns.extend(has(|one| one.difference.is_some()).then_some(DIFFERENCE));
    let mut out = Output::plain();
    table(&mut out, TABLE_WIDTH, &columns, &rows)?;
    if report.without_answer > 0 {
        let (of, all) = (report.answered_all_the_same, report.without_answer);
        writeln!(out, "{of} of {all} questions without a right answer got one anyway")?;
    }
    Ok(out.finish()?)
}

/// The width of tables, in cells: figures are not truncated on a narrow terminal.
const TABLE_WIDTH: usize = 200;

fn interval(figure: &Estimate) -> String {
    format!("{:.4} [{:.4}, {:.4}]", figure.mean, figure.low, figure.high)
}

fn signed(figure: &Estimate) -> String {
    format!("{:+.4} [{:+.4}, {:+.4}]", figure.mean, figure.low, figure.high)
}

fn run_selection(context: &Context, args: &Selection) -> Result<(), Failure> {
    let Selection { decisions, weights, judge, .. } = args;
    let request = selection::Request { decisions: decisions.clone(), judge: *judge, weights: *weights };
    let answer = selection(context, &request)?;
    if args.json { super::json(&answer) } else { print_selection(&answer) }
}

fn print_selection<'a>(answer: &'a selection::Answer) -> Result<(), Failure> {
    const COLUMNS: [Column; 6] = [
        Column { head: "RULE", align: Align::Left, max_width: 26 },
        Column { head: "ACCURACY", align: Align::Left, max_width: 20 },
        Column { head: "RIGHT SESSION", align: Align::Left, max_width: 20 },
        Column { head: "FALSE RESUMES", align: Align::Left, max_width: 20 },
        Column { head: "RANKED FIRST", align: Align::Left, max_width: 20 },
        Column { head: "IN TOP 3", align: Align::Left, max_width: 20 },
    ];
    let row = |(name, tally): (&str, &ChoiceMetrics)| {
        let ChoiceMetrics { accuracy, exact, false_resumes, right_first, right_in_three, .. } = tally;
        let figures =
            [Some(*accuracy), Some(*exact), *false_resumes, *right_first, *right_in_three].map(|figure| {
                let text = figure.map_or_else(|| "–".to_owned(), |figure| percent(&figure));
                Cell::new(&text)
            });
        [vec![Cell::new(name)], figures.to_vec()].concat()
    };
    let alone = |alone: &'a Option<Alone>| alone.as_ref().map(|alone| &alone.tally);
    let marked = [
        ("pick where it does not ask", alone(&answer.alone)),
        ("pick (quiet)", answer.quiet.as_ref()),
        ("pick (quiet), not asking", alone(&answer.quiet_alone)),
    ];
    let marked = marked.into_iter().filter_map(|(name, tally)| Some((name, tally?)));
    let rows: Vec<Vec<Cell>> =
        answer.rules.iter().map(|rule| (rule.name, &rule.tally)).chain(marked).map(row).collect();
    let mut out = Output::plain();
    table(&mut out, TABLE_WIDTH, &COLUMNS, &rows)?;
    let all = answer.decisions.len();
    writeln!(out, "{all} decisions; weights: {}; threshold {:.2}", answer.weights, answer.threshold)?;
    if let Some(alone) = answer.alone.as_ref().filter(|alone| alone.tally.decisions < all) {
        let (decided, share) = (alone.tally.decisions, percent(&alone.share));
        writeln!(out, "pick decided {decided} of them without asking: {share}")?;
    }
    Ok(out.finish()?)
}

fn percent(figure: &Estimate) -> String {
    let [mean, low, high] = [figure.mean, figure.low, figure.high].map(|share| share * 100.0);
    format!("{mean:.1}% [{low:.1}, {high:.1}]")
}

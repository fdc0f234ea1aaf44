//! `cost`: tokens and money by time, project, branch, model or session.

use std::io::Write as _;

use anstyle::AnsiColor;
use app::sessions::cost::{Answer, CostLine, GroupBy, Request, cost};
use app::{Context, Moment};

use crate::exit::Failure;
use crate::progress::Followed;
use crate::table::{Align, Cell, Column, table};
use crate::text::{count, dollars};

/// Add up tokens and their cost.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Prices are estimates from a table built into Backstory; tokens of models it does not know have no price.
Every message counts once, for the session it was first written to, even if that was forked or copied since.")]
pub(crate) struct Args {
    /// What to group by.
    #[arg(long, default_value = "day", value_name = "WHAT", value_parser = super::words::<GroupBy>(&["day", "week", "month", "project", "branch", "model", "session"]))]
    by: GroupBy,
    /// Only from this day on: 2026-01-31, 2d, 3w.
    #[arg(long, value_name = "TIME")]
    since: Option<Moment>,
    /// Only up to this day, inclusive.
    #[arg(long, value_name = "TIME")]
    until: Option<Moment>,
    /// Only sessions of this repository: its name, Claude Code's folder name for it, or a path inside it.
    #[arg(long, visible_alias = "repo", value_name = "NAME", allow_hyphen_values = true, value_parser = super::project)]
    project: Option<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// The width from which each line has a bar.
const BARS: usize = 100;
/// The longest bar, in cells.
const BAR: usize = 12;

/// Prints the totals.
pub(crate) fn run(context: &Context, args: &Args) -> Result<(), Failure> {
    let (since, until, project) = (args.since.clone(), args.until.clone(), args.project.clone());
    let request = Request { by: args.by, since, until, project };
    let followed = Followed::new(context);
    let answer = cost(&followed, &request)?;
    drop(followed);
    if args.json { super::json(&answer) } else { print(context, &answer) }
}

fn print(context: &Context, answer: &Answer) -> Result<(), Failure> {
    let mut out = super::paged(context);
    let mut rows: Vec<_> = answer.rows.iter().map(|line| row(answer.by, line)).collect();
    if rows.is_empty() {
        writeln!(out, "No usage in this period.")?;
        return Ok(out.finish()?);
    }
    let width = out.width();
    let with_bars = width >= BARS && rows.len() > 1;
    if with_bars {
        let most = answer.rows.iter().filter_map(|line| line.cost_usd).fold(0.0, f64::max);
        for (row, line) in rows.iter_mut().zip(&answer.rows) {
            row.push(Cell::styled(
                &bar(line.cost_usd.unwrap_or_default(), most),
                AnsiColor::Green.on_default(),
            ));
        }
    }
    rows.push(row(GroupBy::Day, &CostLine { key: "total".to_owned(), ..answer.total.clone() }));
    if with_bars {
        rows.iter_mut().last().into_iter().for_each(|total| total.push(Cell::default()));
    }
    let head = match answer.by {
        GroupBy::Day => "DAY",
        GroupBy::Week => "WEEK OF",
        GroupBy::Month => "MONTH",
        GroupBy::Project => "PROJECT",
        GroupBy::Branch => "BRANCH",
        GroupBy::Model => "MODEL",
        GroupBy::Session => "SESSION",
    };
    let number = |head| Column { head, align: Align::Right, max_width: 12 };
    let mut columns = vec![
        Column { head, align: Align::TruncateEnd, max_width: 60 },
        number("INPUT"),
        number("OUTPUT"),
        number("CACHE READ"),
        number("CACHE WRITE"),
        number("COST"),
    ];
    if with_bars {
        columns.push(Column { head: "", align: Align::Left, max_width: BAR });
    }
    table(&mut out, width, &columns, &rows)?;
    print_notes(&mut out, answer)?;
    Ok(out.finish()?)
}

fn row(by: GroupBy, line: &CostLine) -> Vec<Cell> {
    let name = match by {
        GroupBy::Session => format!("{}  {}", line.key.chars().take(8).collect::<String>(), line.label),
        GroupBy::Project if line.label.is_empty() => "(no project)".to_owned(),
        GroupBy::Project | GroupBy::Branch => line.label.clone(),
        GroupBy::Day | GroupBy::Week | GroupBy::Month if line.key.is_empty() => "(no day)".to_owned(),
        GroupBy::Day | GroupBy::Week | GroupBy::Month | GroupBy::Model => line.key.clone(),
    };
    let tokens = [line.input_tokens, line.output_tokens, line.cache_read_tokens, line.cache_creation_tokens];
    let cost = match line.cost_usd {
        Some(cost) if line.unpriced_tokens > 0 => format!("~{}+", dollars(cost)),
        Some(cost) => format!("~{}", dollars(cost)),
        None => "-".to_owned(),
    };
    let numbers = tokens.map(count).into_iter().chain([cost]);
    std::iter::once(name).chain(numbers).map(|text| Cell::new(&text)).collect()
}

/// A bar that is as long as a cost is beside the greatest one.
fn bar(cost: f64, most: f64) -> String {
    let share = if most > 0.0 { cost / most } else { 0.0 };
    let cells = (0..BAR).filter(|cell| (*cell as f64) < share * BAR as f64).count();
    "█".repeat(cells)
}

fn print_notes(out: &mut crate::output::Output, answer: &Answer) -> std::io::Result<()> {
    let dim = anstyle::Style::new().dimmed();
    if let Some(day) = answer.prices_as_of {
        writeln!(out, "{dim}estimated with the prices of {day}{dim:#}")?;
    }
    if answer.total.unpriced_tokens > 0 {
        let tokens = count(answer.total.unpriced_tokens);
        writeln!(out, "{dim}{tokens} tokens of models without a known price are not included (+){dim:#}")?;
    }
    Ok(())
}

//! `cost`: tokens and money by day, project, model or session.

use std::io::Write as _;

use app::sessions::cost::{Answer, By, CostLine, Request, cost};
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
    #[arg(long, default_value = "day", value_name = "WHAT", value_parser = super::words::<By>(&["day", "project", "model", "session"]))]
    by: By,
    /// Only from this day on: 2026-01-31, 2d, 3w.
    #[arg(long, value_name = "TIME")]
    since: Option<Moment>,
    /// Only up to this day, inclusive.
    #[arg(long, value_name = "TIME")]
    until: Option<Moment>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Prints the totals.
pub(crate) fn run(context: &Context, args: &Args) -> Result<(), Failure> {
    let request = Request { by: args.by, since: args.since.clone(), until: args.until.clone() };
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
    rows.push(row(By::Day, &CostLine { key: "total".to_owned(), ..answer.total.clone() }));
    let head = match answer.by {
        By::Day => "DAY",
        By::Project => "PROJECT",
        By::Model => "MODEL",
        By::Session => "SESSION",
    };
    let number = |head| Column { head, align: Align::Right, max_width: 12 };
    let columns = [
        Column { head, align: Align::TruncateEnd, max_width: 60 },
        number("INPUT"),
        number("OUTPUT"),
        number("CACHE READ"),
        number("CACHE WRITE"),
        number("COST"),
    ];
    let width = out.width();
    table(&mut out, width, &columns, &rows)?;
    print_notes(&mut out, answer)?;
    Ok(out.finish()?)
}

fn row(by: By, line: &CostLine) -> Vec<Cell> {
    let name = match by {
        By::Session => format!("{}  {}", line.key.chars().take(8).collect::<String>(), line.label),
        By::Project if line.label.is_empty() => "(no project)".to_owned(),
        By::Project => line.label.clone(),
        By::Day if line.key.is_empty() => "(no day)".to_owned(),
        By::Day | By::Model => line.key.clone(),
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

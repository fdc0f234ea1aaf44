//! `cost`: tokens and money by time, project, branch, pull request, model, agent or session, or by five-hour windows.

use std::io::Write as _;

use anstyle::AnsiColor;
use app::sessions::cost::{Answer, CostLine, GroupBy, Request, cost};
use app::sessions::usage_windows::{self, CostBlock, usage_windows};
use app::{Context, Moment};
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use crate::exit::Failure;
use crate::progress::Followed;
use crate::table::{Align, Cell, Column, table};
use crate::text::{count, dollars, duration, safe};

/// Add up tokens and their cost.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Prices are estimates from a table built into Backstory, or your own from the settings (`[prices.<model>]`);
tokens of models without a price are listed without one.
Every message counts once, for the session it was first written to, even if that was forked or copied since.")]
pub(crate) struct Args {
    /// What to group by.
    #[arg(long, default_value = "day", value_name = "WHAT", value_parser = super::words::<GroupBy>(&["hour", "day", "week", "month", "project", "branch", "pr", "model", "agent-type", "session"]))]
    by: GroupBy,
    /// Show the 5-hour windows of Claude subscriptions instead, with a projection for the active one.
    #[arg(long, conflicts_with = "by")]
    blocks: bool,
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
    if args.blocks {
        return blocks(context, &usage_windows::Request { since, until, project }, args.json);
    }
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
        GroupBy::Hour => "HOUR",
        GroupBy::Day => "DAY",
        GroupBy::Week => "WEEK OF",
        GroupBy::Month => "MONTH",
        GroupBy::Project => "PROJECT",
        GroupBy::Branch => "BRANCH",
        GroupBy::Pr => "PULL REQUEST",
        GroupBy::Model => "MODEL",
        GroupBy::AgentType => "AGENT",
        GroupBy::Session => "SESSION",
    };
    let mut columns = columns(head);
    if with_bars {
        columns.push(Column { head: "", align: Align::Left, max_width: BAR });
    }
    table(&mut out, width, &columns, &rows)?;
    let notes = PriceNotes {
        as_of: answer.prices_as_of,
        own: &answer.own_prices,
        unpriced_tokens: answer.total.unpriced_tokens,
    };
    notes.print(&mut out)?;
    Ok(out.finish()?)
}

fn columns(head: &'static str) -> Vec<Column> {
    let number = |head| Column { head, align: Align::Right, max_width: 12 };
    vec![
        Column { head, align: Align::TruncateEnd, max_width: 60 },
        number("INPUT"),
        number("OUTPUT"),
        number("CACHE READ"),
        number("CACHE WRITE"),
        number("COST"),
    ]
}

fn row(by: GroupBy, line: &CostLine) -> Vec<Cell> {
    let name = match by {
        GroupBy::Session => format!("{}  {}", line.key.chars().take(8).collect::<String>(), line.label),
        GroupBy::Project if line.label.is_empty() => "(no project)".to_owned(),
        GroupBy::Pr if line.label.is_empty() => "(no pull request)".to_owned(),
        GroupBy::Project | GroupBy::Branch | GroupBy::Pr => line.label.clone(),
        GroupBy::Hour if line.key.is_empty() => "(no hour)".to_owned(),
        GroupBy::Day | GroupBy::Week | GroupBy::Month if line.key.is_empty() => "(no day)".to_owned(),
        GroupBy::Hour
        | GroupBy::Day
        | GroupBy::Week
        | GroupBy::Month
        | GroupBy::Model
        | GroupBy::AgentType => line.key.clone(),
    };
    let tokens = [line.input_tokens, line.output_tokens, line.cache_read_tokens, line.cache_creation_tokens];
    numbers(name, tokens, price(line.cost_usd, line.unpriced_tokens))
}

fn numbers(name: String, tokens: [u64; 4], cost: String) -> Vec<Cell> {
    let numbers = tokens.map(count).into_iter().chain([cost]);
    std::iter::once(name).chain(numbers).map(|text| Cell::new(&text)).collect()
}

fn price(cost: Option<f64>, unpriced_tokens: u64) -> String {
    match cost {
        Some(cost) if unpriced_tokens > 0 => format!("~{}+", dollars(cost)),
        Some(cost) => format!("~{}", dollars(cost)),
        None => "-".to_owned(),
    }
}

/// A bar that is as long as a cost is beside the greatest one.
fn bar(cost: f64, most: f64) -> String {
    let share = if most > 0.0 { cost / most } else { 0.0 };
    let cells = (0..BAR).filter(|cell| (*cell as f64) < share * BAR as f64).count();
    "█".repeat(cells)
}

/// What to know of the prices.
struct PriceNotes<'a> {
    as_of: Option<Date>,
    own: &'a [String],
    unpriced_tokens: u64,
}

impl PriceNotes<'_> {
    fn print(&self, out: &mut crate::output::Output) -> std::io::Result<()> {
        let dim = anstyle::Style::new().dimmed();
        if let Some(day) = self.as_of {
            writeln!(out, "{dim}estimated with the prices of {day}{dim:#}")?;
        }
        if !self.own.is_empty() {
            let models = safe(&self.own.join(", "));
            writeln!(out, "{dim}with your own prices from the settings for {models}{dim:#}")?;
        }
        if self.unpriced_tokens > 0 {
            let tokens = count(self.unpriced_tokens);
            writeln!(
                out,
                "{dim}{tokens} tokens of models without a known price are not included (+){dim:#}"
            )?;
        }
        Ok(())
    }
}

/// Prints the windows; the active one with what is left of it.
fn blocks(context: &Context, request: &usage_windows::Request, json: bool) -> Result<(), Failure> {
    let followed = Followed::new(context);
    let answer = usage_windows(&followed, request)?;
    drop(followed);
    if json {
        return super::json(&answer);
    }
    let mut out = super::paged(context);
    if answer.blocks.is_empty() {
        writeln!(out, "No usage in this period.")?;
        return Ok(out.finish()?);
    }
    let zone = context.zone();
    let rows: Vec<_> = answer.blocks.iter().map(|block| block_row(block, &zone)).collect();
    let width = out.width();
    table(&mut out, width, &columns("BLOCK"), &rows)?;
    if let Some(active) = answer.blocks.iter().find(|block| block.is_active) {
        writeln!(out, "{}", active_block(active, context.now, &zone))?;
    }
    let unpriced_tokens = answer.blocks.iter().map(|block| block.unpriced_tokens).sum();
    let notes = PriceNotes { as_of: answer.prices_as_of, own: &answer.own_prices, unpriced_tokens };
    notes.print(&mut out)?;
    Ok(out.finish()?)
}

fn block_row(block: &CostBlock, zone: &TimeZone) -> Vec<Cell> {
    let active = if block.is_active { "  active" } else { "" };
    let start = block.start.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M");
    let name = format!("{start}–{}{active}", clock(block.end, zone));
    let tokens =
        [block.input_tokens, block.output_tokens, block.cache_read_tokens, block.cache_creation_tokens];
    numbers(name, tokens, price(block.cost_usd, block.unpriced_tokens))
}

/// What is left of the active window, and what it will have taken.
fn active_block(block: &CostBlock, now: Timestamp, zone: &TimeZone) -> String {
    let left = duration(block.end.duration_since(now).as_mins());
    let used = price(block.cost_usd, block.unpriced_tokens);
    let projected = block.projection.map_or_else(String::new, |found| {
        let cost = price(found.cost_usd, block.unpriced_tokens);
        let end = clock(block.end, zone);
        format!("; at this pace {cost} and {} tokens by {end}", count(found.tokens))
    });
    format!("active block: {used} used, {left} left{projected}")
}

fn clock(at: Timestamp, zone: &TimeZone) -> String {
    at.to_zoned(zone.clone()).strftime("%H:%M").to_string()
}

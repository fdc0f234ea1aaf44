//! `cost`: tokens and money by time, project, branch, pull request, model, agent or session, or by five-hour windows.

use std::io::Write as _;

use anstyle::AnsiColor;
use app::sessions::cost::{Answer, CostLine, GroupBy, Request, cost};
use app::sessions::lookup::looks_like_id;
use app::sessions::usage_windows::{self, CostBlock, usage_windows};
use app::{Context, Moment};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use model::SessionId;
use unicode_width::UnicodeWidthStr as _;

use super::session_cost;
use crate::exit::Failure;
use crate::output::Output;
use crate::progress::Followed;
use crate::table::{Align, Cell, Column, table};
use crate::text::{count, dollars, duration, safe};

/// Add up tokens and their cost.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Costs are estimates with list prices, or with your own from the settings (`[prices.<model>]`). Tokens of models without a price are listed without a cost.

Every message counts once, for the session it was first written to, even if that session was forked or copied since.")]
pub(crate) struct Args {
    /// Only this day, week, month or year: today, monday, last week, january, 2026-01-31. Or the id of a session, which is split by turn,
    /// model and sub-agent.
    #[arg(value_name = "DAY|ID", conflicts_with_all = ["since", "until"])]
    day: Vec<String>,
    /// What to group by; `block` stands for --blocks.
    #[arg(long, default_value = "day", value_name = "WHAT", value_parser = By::parser())]
    by: By,
    /// Show the 5-hour windows of Claude subscriptions instead, with a projection for the active one.
    #[arg(long, conflicts_with = "by")]
    blocks: bool,
    /// Only from this day or time on: 2026-01-31, yesterday, 'last week', 36h, 2d.
    #[arg(long, value_name = "TIME")]
    since: Option<Moment>,
    /// Only up to this day, inclusive, or before this time.
    #[arg(long, value_name = "TIME")]
    until: Option<Moment>,
    /// Only sessions of this repository: its name, Claude Code's folder name for it, or a path inside it.
    #[arg(long, visible_alias = "repo", value_name = "NAME", allow_hyphen_values = true, value_parser = super::project)]
    project: Option<String>,
    /// Show at most this many lines: the latest of a time, else the most expensive. The total is of all.
    #[arg(short = 'n', long, value_name = "N", value_parser = super::at_least_one)]
    limit: Option<usize>,
    /// Print JSON.
    #[arg(long, conflicts_with = "limit")]
    json: bool,
}

/// What the lines of the answer are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum By {
    Group(GroupBy),
    Block,
}

impl By {
    fn parser() -> impl TypedValueParser<Value = Self> {
        let groups =
            ["hour", "day", "week", "month", "project", "branch", "pr", "model", "agent-type", "session"];
        let blocks = PossibleValue::new("block").alias("blocks");
        let all = groups.into_iter().map(PossibleValue::new).chain([blocks]);
        PossibleValuesParser::new(all).try_map(|typed| match typed.as_str() {
            "block" | "blocks" => Ok(Self::Block),
            _ => super::word(typed).map(Self::Group),
        })
    }
}

/// The width from which each line has a bar.
const BARS: usize = 100;
/// The longest bar, in cells.
const BAR: usize = 12;

/// Prints the totals.
pub(crate) fn run(context: &Context, args: &Args) -> Result<(), Failure> {
    if let [id] = args.day.as_slice()
        && (looks_like_id(id) || id.starts_with('@'))
        && !is_day_in_digits(id)
    {
        return session_cost::run(context, id, args.json);
    }
    let day = super::moment(&args.day).map(|day| day.whole_day(context)).transpose()?;
    let (since, until) = (args.since.clone().or_else(|| day.clone()), args.until.clone().or(day));
    let project = args.project.clone();
    let by = match args.by {
        By::Group(by) if !args.blocks => by,
        _ => return blocks(context, &usage_windows::Request { since, until, project }, args),
    };
    let request = Request { by, since, until, project };
    let followed = Followed::new(context);
    let answer = cost(&followed, &request)?;
    drop(followed);
    if args.json { super::json(&answer) } else { print(context, super::paged(context), &answer, args.limit) }
}

/// Whether digits are a day of this century, such as 20260131: ids that look so are rare.
fn is_day_in_digits(text: &str) -> bool {
    text.len() == "20260131".len() && text.starts_with("20") && text.parse::<Date>().is_ok()
}

/// Prints what the sessions of some days, or of a project, used in them, as the answer to a question.
pub(super) fn print_sessions(
    context: &Context,
    out: Output,
    (since, until, project): (Option<Moment>, Option<Moment>, Option<String>),
    limit: Option<usize>,
) -> Result<(), Failure> {
    let request = Request { by: GroupBy::Session, since, until, project };
    print(context, out, &cost(context, &request)?, limit)
}

/// What is said where nothing was used.
fn nothing(context: &Context, notes: &[String]) -> Result<String, Failure> {
    let other = || match notes {
        [] => "No usage in this period; `backstory list` shows the sessions there are.".to_owned(),
        notes => format!("No usage: {}", safe(&notes.join("; "))),
    };
    Ok(super::without_sessions(context)?.unwrap_or_else(other))
}

/// The lines that are shown, and how many are left out: the last of a time, else the first.
fn shown<T>(all: &[T], is_time: bool, limit: Option<usize>) -> (&[T], usize) {
    let left_out = all.len().saturating_sub(limit.unwrap_or(usize::MAX));
    let lines = if is_time { &all[left_out..] } else { &all[..all.len() - left_out] };
    (lines, left_out)
}

fn say_more(out: &mut Output, left_out: usize) -> Result<(), Failure> {
    let dim = anstyle::Style::new().dimmed();
    if left_out > 0 {
        writeln!(out, "{dim}{left_out} more; use --limit to show more{dim:#}")?;
    }
    Ok(())
}

fn print(context: &Context, mut out: Output, answer: &Answer, limit: Option<usize>) -> Result<(), Failure> {
    let is_time = matches!(answer.by, GroupBy::Hour | GroupBy::Day | GroupBy::Week | GroupBy::Month);
    let (lines, left_out) = shown(&answer.rows, is_time, limit);
    let mut rows: Vec<_> = lines.iter().map(|line| row(answer.by, line)).collect();
    if rows.is_empty() {
        out.sentence(&nothing(context, &answer.notes)?)?;
        return Ok(out.finish()?);
    }
    let width = out.width();
    let with_bars = width >= BARS && rows.len() > 1;
    if with_bars {
        let most = lines.iter().filter_map(|line| line.cost_usd).fold(0.0, f64::max);
        for (row, line) in rows.iter_mut().zip(lines) {
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
    if width < NARROW || (width < BARS && rows.iter().any(|row| row[0].text().width() > NAMES)) {
        // The name and the price say more than how much was cached.
        columns.drain(CACHE);
        for row in &mut rows {
            row.drain(CACHE);
        }
    }
    if with_bars {
        columns.push(Column { head: "", align: Align::Left, max_width: BAR });
    }
    table(&mut out, width, &columns, &rows)?;
    say_more(&mut out, left_out)?;
    let notes = PriceNotes {
        as_of: answer.prices_as_of,
        own: &answer.own_prices,
        unpriced_tokens: answer.total.unpriced_tokens,
    };
    notes.print(&mut out)?;
    Ok(out.finish()?)
}

/// The longest name beside which the cache has columns on a terminal without bars.
const NAMES: usize = 28;
/// The width below which the cache has no columns, and which these are.
const NARROW: usize = 72;
const CACHE: std::ops::Range<usize> = 3..5;

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
        GroupBy::Session => {
            let id = line.key.parse::<SessionId>();
            let title = if line.label.is_empty() { "(no title)" } else { &line.label };
            format!("{}  {title}", id.as_ref().map_or(line.key.as_str(), SessionId::short))
        }
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
    fn print(&self, out: &mut Output) -> std::io::Result<()> {
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

/// From how many cells on a window's name has its year and minutes.
const ROOMY: usize = 76;

/// Prints the windows; the active one with what is left of it.
fn blocks(context: &Context, request: &usage_windows::Request, args: &Args) -> Result<(), Failure> {
    let followed = Followed::new(context);
    let answer = usage_windows(&followed, request)?;
    drop(followed);
    if args.json {
        return super::json(&answer);
    }
    let mut out = super::paged(context);
    if answer.blocks.is_empty() {
        out.sentence(&nothing(context, &answer.notes)?)?;
        return Ok(out.finish()?);
    }
    let (shown, left_out) = shown(&answer.blocks, true, args.limit);
    let zone = context.zone();
    let width = out.width();
    let rows: Vec<_> = shown.iter().map(|block| block_row(block, &zone, width)).collect();
    table(&mut out, width, &columns("BLOCK"), &rows)?;
    say_more(&mut out, left_out)?;
    if let Some(active) = answer.blocks.iter().find(|block| block.is_active) {
        writeln!(out, "{}", active_block(active, context.now, &zone))?;
    }
    let unpriced_tokens = answer.blocks.iter().map(|block| block.unpriced_tokens).sum();
    let notes = PriceNotes { as_of: answer.prices_as_of, own: &answer.own_prices, unpriced_tokens };
    notes.print(&mut out)?;
    Ok(out.finish()?)
}

fn block_row(block: &CostBlock, zone: &TimeZone, width: usize) -> Vec<Cell> {
    // A block begins at a full hour.
    let (start, end) = if width < ROOMY { ("%m-%d %H", "%H") } else { ("%Y-%m-%d %H:%M", "%H:%M") };
    let active = if block.is_active && width >= ROOMY { "  active" } else { "" };
    let at = |time: Timestamp, format: &str| time.to_zoned(zone.clone()).strftime(format).to_string();
    let name = format!("{}–{}{active}", at(block.start, start), at(block.end, end));
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

//! `cost ID`: what one session took, on one screen.

use std::io::{self, Write as _};

use anstyle::Style;
use app::Context;
use app::sessions::cost::CostLine;
use app::sessions::session_cost::{Answer, Request, TurnCost, session_cost};
use unicode_width::UnicodeWidthStr as _;

use crate::exit::Failure;
use crate::last_search;
use crate::output::Output;
use crate::progress::Followed;
use crate::text::{count, counted, dollars, duration, fit, safe};
use crate::wrap::wrapped;

/// How many of the most expensive turns are shown.
const TURNS: usize = 5;

/// Prints it.
pub(super) fn run(context: &Context, id: &str, json: bool) -> Result<(), Failure> {
    let session = last_search::session(context, id)?.into_owned();
    let followed = Followed::new(context);
    let answer = session_cost(&followed, &Request { session })?;
    drop(followed);
    if json {
        return super::json(&answer);
    }
    let mut out = super::paged(context);
    print(&mut out, &answer)?;
    Ok(out.finish()?)
}

fn print(out: &mut Output, answer: &Answer) -> io::Result<()> {
    let (bold, dim) = (Style::new().bold(), Style::new().dimmed());
    let width = out.width();
    let title = answer.title.as_deref().map_or_else(|| "(no title)".to_owned(), safe);
    let title = fit(&title, width.saturating_sub(answer.session_id.short().width() + 2));
    writeln!(out, "{dim}{}{dim:#}  {bold}{title}{bold:#}", answer.session_id.short())?;
    let time = answer.since.zip(answer.until).map(|(since, until)| until.duration_since(since).as_mins());
    let facts = [
        Some(price(answer.total.cost_usd)),
        time.filter(|minutes| *minutes > 0).map(duration),
        Some(counted(answer.turns.len(), "turn")),
        (answer.total.unpriced_tokens > 0)
            .then(|| format!("{} tokens without a price", count(answer.total.unpriced_tokens))),
    ];
    writeln!(out, "  {}", facts.into_iter().flatten().collect::<Vec<_>>().join("  "))?;
    let CostLine { input_tokens, output_tokens, cache_read_tokens, cache_creation_tokens, .. } = answer.total;
    let tokens = [
        ("cache read", cache_read_tokens),
        ("cache write", cache_creation_tokens),
        ("output", output_tokens),
        ("input", input_tokens),
    ];
    let tokens: Vec<String> =
        tokens.into_iter().map(|(what, tokens)| format!("{what} {}", count(tokens))).collect();
    writeln!(out, "  {dim}{}{dim:#}", tokens.join(" │ "))?;
    group(out, "models", &answer.models)?;
    if answer.spenders.len() > 1 {
        group(out, "spent by", &answer.spenders)?;
    }
    turns(out, answer)?;
    for line in wrapped(&why(answer), width.saturating_sub(2)).lines() {
        writeln!(out, "  {dim}{line}{dim:#}")?;
    }
    Ok(())
}

fn price(cost: Option<f64>) -> String {
    cost.map_or_else(|| "no price".to_owned(), |cost| format!("~{}", dollars(cost)))
}

/// The lines of a group behind its name.
fn group(out: &mut Output, name: &str, lines: &[CostLine]) -> io::Result<()> {
    const PRICE: usize = 9;
    let dim = Style::new().dimmed();
    for (at, line) in lines.iter().enumerate() {
        let name = if at == 0 { name } else { "" };
        let label = fit(&safe(&line.label), out.width().saturating_sub(16 + PRICE));
        writeln!(out, "  {dim}{name:<10}{dim:#} {:>PRICE$}  {label}", price(line.cost_usd))?;
    }
    Ok(())
}

/// The most expensive turns, in the order of their prices.
fn turns(out: &mut Output, answer: &Answer) -> io::Result<()> {
    let mut dearest: Vec<&TurnCost> = answer.turns.iter().filter(|turn| turn.cost_usd.is_some()).collect();
    dearest.sort_by(|one, other| {
        other.cost_usd.unwrap_or_default().total_cmp(&one.cost_usd.unwrap_or_default())
    });
    let dim = Style::new().dimmed();
    for (at, turn) in dearest.iter().take(TURNS).enumerate() {
        let name = if at == 0 { "turns" } else { "" };
        let place = turn.place.as_deref().unwrap_or_default();
        let agents = turn
            .subagents_usd
            .map(|cost| format!("  (sub-agents {})", price(Some(cost))))
            .unwrap_or_default();
        let room = out.width().saturating_sub(28 + place.width() + agents.width()).max(10);
        let prompt = fit(&safe(&turn.prompt), room);
        writeln!(
            out,
            "  {dim}{name:<10}{dim:#} {:>9}  {dim}{place}{dim:#}  {prompt}{agents}",
            price(turn.cost_usd)
        )?;
    }
    let more = dearest.len().saturating_sub(TURNS);
    if more > 0 {
        writeln!(out, "  {dim}{:<10} {more} more turns: --json has all of them{dim:#}", "")?;
    }
    Ok(())
}

/// What the price comes from.
fn why(answer: &Answer) -> String {
    let mut all = vec![format!("why: context reached {} tokens", count(answer.largest_context))];
    if !answer.compactions.is_empty() {
        all.push(format!("it was compacted {}", times(answer.compactions.len() as u64)));
    }
    if answer.pauses > 0 {
        let tokens = count(answer.rewritten_tokens);
        all.push(format!(
            "{} after more than 5 minutes wrote the cache again ({tokens} tokens)",
            counted(answer.pauses, "message")
        ));
    }
    all.join("; ")
}

fn times(number: u64) -> String {
    match number {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        more => format!("{more} times"),
    }
}

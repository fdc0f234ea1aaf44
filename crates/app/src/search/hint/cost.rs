//! Questions for what something cost.

use jiff::civil::Date;

use super::days::first_days;
use super::words::Words;
use super::{Hint, LooksLike};
use crate::NextStep;

pub(super) fn cost(words: &Words<'_>, today: Date) -> Option<Hint> {
    let bare = words.bare();
    if let Some(asked) = cost_of(words, &bare) {
        return Some(asked);
    }
    let is_price = |word: &str| matches!(word, "expensive" | "costliest" | "priciest" | "cheapest");
    let at = bare.iter().position(|word| is_price(word)).or_else(|| {
        let costs = bare.iter().position(|word| matches!(*word, "cost" | "costs" | "spent" | "spend"))?;
        let is_asked = bare.contains(&"most") || bare.windows(2).any(|pair| pair == ["how", "much"]);
        is_asked.then_some(costs)
    })?;
    let days = first_days(&bare, today);
    let (taken, since, until) = match days {
        Some((taken, since, until)) => (taken, Some(since.to_string()), Some(until.to_string())),
        None => (at..at, None, None),
    };
    let others = ["how", "much", "money", "dollars", bare[at]];
    let is_all = words.telling(&taken).split_whitespace().all(|word| others.contains(&word));
    let next_step = match bare[at] {
        "cheapest" => NextStep::ListCheapest { since, until },
        _ => NextStep::CostBySession { since, until },
    };
    is_all.then(|| Hint {
        looks_like: LooksLike::Cost,
        words: words.said(at..at + 1),
        next_step,
        is_all,
        searched: None,
    })
}

/// "How much did the review cost" asks for the cost of sessions that are about it.
fn cost_of(words: &Words<'_>, bare: &[&str]) -> Option<Hint> {
    let start = bare.windows(3).position(|three| three == ["how", "much", "did"])?;
    let end = bare.iter().rposition(|word| *word == "cost").filter(|end| *end > start + 3)?;
    let about =
        Words { bare: words.bare[start + 3..end].to_vec(), typed: words.typed[start + 3..end].to_vec() };
    let telling = about.telling_words()?;
    let next_step = NextStep::ListWords { words: telling, by_cost: true };
    let words = words.said(start..start + 2);
    Some(Hint { looks_like: LooksLike::Cost, words, next_step, is_all: false, searched: None })
}

//! The days that a question names.

use std::ops::Range;

use jiff::civil::Date;

use super::range::range;
use super::words::{LEADING, Words};
use super::{Hint, LooksLike};
use crate::NextStep;
use crate::moment::{Days, days, month, only_days, weekday};

/// The first days that a question names: which words do, the first day, and the last one.
pub(super) fn first_days(words: &[&str], today: Date) -> Option<(Range<usize>, Date, Date)> {
    (0..words.len()).find_map(|at| {
        let is_led = words.len() == 1 || at > 0 && LEADING.contains(&words[at - 1]);
        let rest = &words[at..];
        let found = range(rest, today)
            .or_else(|| since(rest, today).filter(|_| rest[0] == "since"))
            .or_else(|| days(rest, today, is_led))?;
        Some((at..at + found.words, found.first, found.after.yesterday().ok()?))
    })
}

/// The days from one on until today.
fn since(words: &[&str], today: Date) -> Option<Days> {
    let first = only_days(&words[1..], today)?;
    Some(Days { words: first.words + 1, first: first.first, after: today.tomorrow().ok()? })
}

pub(super) fn date(words: &Words<'_>, today: Date) -> Option<Hint> {
    let bare = words.bare();
    let Some((taken, since, until)) = first_days(&bare, today) else { return name_of_days(words, today) };
    let (since, until) = (since.to_string(), until.to_string());
    let telling = words.telling(&taken);
    let is_all = telling.is_empty();
    let next_step = if is_all {
        NextStep::ListBetween { since, until }
    } else {
        NextStep::SearchBetween { words: words.others(&taken), since, until }
    };
    let searched = (!is_all).then_some(telling);
    Some(Hint { looks_like: LooksLike::Date, words: words.said(taken), next_step, is_all, searched })
}

/// A question that is the name of a day or a month alone is searched for, too: it may be a product's.
fn name_of_days(words: &Words<'_>, today: Date) -> Option<Hint> {
    let [word] = words.bare()[..] else { return None };
    let is_name = word.len() > "march".len() && (weekday(word).is_some() || month(word).is_some());
    let found = only_days(&[word], today).filter(|_| is_name)?;
    let (since, until) = (found.first.to_string(), found.after.yesterday().ok()?.to_string());
    Some(Hint {
        looks_like: LooksLike::Date,
        words: words.said(0..1),
        next_step: NextStep::ListBetween { since, until },
        is_all: false,
        searched: None,
    })
}

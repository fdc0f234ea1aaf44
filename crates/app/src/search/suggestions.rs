//! What an answer has besides its hits: words that no session holds, and, where there are no hits, what there is instead.

use search::{SearchResults, Searcher};

use crate::retention::ghosts::{self, GhostHit};
use crate::search::found::Found;
use crate::search::index;
use crate::search::parsed_question::ParsedQuestion;
use crate::search::question::Suggestions;
use crate::search::relaxation::{SearchInputs, relaxed};
use crate::search::unknown_value;
use crate::{Context, Error};

/// Adds them to an answer. A caller who may not see every session gets no words of others.
pub(crate) fn add(
    answer: &mut Found,
    inputs: &SearchInputs<'_>,
    parsed: &ParsedQuestion,
    outcome: &SearchResults,
    searcher: &mut Searcher,
) -> Result<(), Error> {
    let SearchInputs { context, found, visible, .. } = *inputs;
    let question = &parsed.question;
    let failed = |error| index::failed(&error);
    let is_empty = outcome.hits.is_empty();
    if !is_empty && visible.is_none() {
        answer.unknown_words = searcher.unknown_words(&parsed.query).map_err(failed)?;
    }
    if question.suggestions == Suggestions::Omitted {
        return Ok(());
    }
    if is_empty {
        if visible.is_none() {
            answer.near = searcher.nearest_words(&parsed.query).map_err(failed)?;
        }
        answer.unknown_values = unknown_value::of_question(context, parsed, found, searcher)?;
        answer.ghosts = ghosts(context, parsed);
    }
    // While a filter is typed letter by letter, weak matches are left alone; only where nothing is left something is suggested.
    if question.may_only_filter && (is_empty || (outcome.likely == 0 && !context.asks_at_every_key())) {
        answer.relaxed = relaxed(inputs, parsed, searcher)?;
    }
    Ok(())
}

/// The sessions without a transcript in which the person wrote the words.
pub(crate) fn ghosts(context: &Context, parsed: &ParsedQuestion) -> Vec<GhostHit> {
    let words = &parsed.query.text;
    match parsed.question.of_ghosts() {
        Some(filter) if !words.is_empty() || filter.origin.is_some() => {
            ghosts::matching(context, words, &filter)
        }
        _ => Vec::new(),
    }
}

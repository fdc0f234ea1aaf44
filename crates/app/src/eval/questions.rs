//! Asks labelled questions as `search` does.

use measure::{LabelledQuery, RankedAnswer};
use search::RankedHit;

use crate::search::Mode;
use crate::search::find::find;
use crate::search::question::Question;
use crate::{Context, Error, Kind};

/// More answers than any figure looks at: a session that is named twice counts once.
const ASKED_FOR: usize = 20;

/// Where questions are asked.
#[derive(Debug, Clone, Copy)]
pub(super) enum Scope {
    /// Of all sessions.
    All,
    /// Each of the session that its label names.
    Session,
}

/// Asks every question; `take` says what the hits are called, and what the first one opens to.
pub(super) fn each(
    context: &Context,
    queries: &[LabelledQuery],
    mode: Mode,
    scope: Scope,
    take: impl Fn(&Context, &[RankedHit]) -> Result<(Vec<String>, Vec<String>), Error>,
) -> Result<Vec<RankedAnswer>, Error> {
    // What is indexed is measured: what is new meanwhile would be in some answers and not in others.
    let context = &Context { cancellation: context.cancellation.hurried_part(), ..context.clone() };
    let answer = |query: &LabelledQuery| {
        let (ranked, opened) = take(context, &hits(context, query, mode, scope)?)?;
        Ok(RankedAnswer { id: query.id.clone(), ranked, opened })
    };
    queries.iter().map(answer).collect()
}

fn hits(context: &Context, query: &LabelledQuery, mode: Mode, scope: Scope) -> Result<Vec<RankedHit>, Error> {
    let session = match scope {
        Scope::All => None,
        Scope::Session => query.session.clone(),
    };
    let question =
        Question { text: query.query.clone(), session, mode, limit: ASKED_FOR, ..Question::default() };
    match find(context, &question) {
        Ok(found) => Ok(found.hits.into_iter().map(|found| found.hit).collect()),
        // A question that cannot be asked finds nothing.
        Err(error) if matches!(error.kind, Kind::Usage | Kind::NotFound) => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

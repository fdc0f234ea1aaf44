//! The places that hits cite, and what a person sees who opens the first one.

use measure::{LabelledQuery, RankedAnswer};
use search::RankedHit;

use crate::eval::questions::{Scope, each};
use crate::search::Mode;
use crate::sessions::show::{self, show};
use crate::{Context, Error, Kind};

/// The records that are cited, each with the one that is named as its later place, and the messages around the first.
pub(super) fn answers(
    context: &Context,
    queries: &[LabelledQuery],
    mode: Mode,
    scope: Scope,
) -> Result<Vec<RankedAnswer>, Error> {
    each(context, queries, mode, scope, |context, hits| {
        let opened = hits.first().map(|first| opened(context, first)).transpose()?;
        Ok((hits.iter().flat_map(cited).collect(), opened.unwrap_or_default()))
    })
}

fn cited(hit: &RankedHit) -> impl Iterator<Item = String> {
    let later = hit.later.as_ref().and_then(|later| later.uuid.clone());
    hit.uuid.iter().cloned().chain(later)
}

/// The records that `show ID:LINE` shows.
fn opened(context: &Context, hit: &RankedHit) -> Result<Vec<String>, Error> {
    let request = show::Request {
        session: hit.session.to_string(),
        line: Some(hit.line),
        tool_names: true,
        ..show::Request::default()
    };
    let mut records = Vec::new();
    let shown = show(context, request).and_then(|conversation| {
        conversation.each(|message| {
            records.extend(message.uuid);
            Ok(())
        })
    });
    match shown {
        Ok(_) => Ok(records),
        // A hit whose transcript is gone, or whose line shows nothing, opens to nothing else.
        Err(error) if error.kind == Kind::NotFound => Ok(hit.uuid.iter().cloned().collect()),
        Err(error) => Err(error),
    }
}

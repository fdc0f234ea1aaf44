//! `search`: the sessions that answer a question, each with the line that does so best.

pub mod answer;
pub(crate) mod chosen;
pub mod embed;
pub mod export;
pub mod export_schedule;
pub(crate) mod find;
pub mod grep;
pub mod hint;
pub mod hit;
pub mod index;
pub mod intent;
pub mod last_results;
pub mod memory;
pub(crate) mod question;
pub(crate) mod repetitions;
pub mod request;
pub(crate) mod time_limit;

pub use answer::Answer;
pub use hint::Hint;
pub use hit::Hit;
pub use request::Request;
pub use search::{Mode, SourceKind};
pub use transcript::Role;

use crate::sessions::select::{Listing, all};
use crate::{Context, Error};

/// The score below which a match is weak. Of 310 labelled questions asked with `search --json`, 156 had their session
/// first; it scored less than this in 3. Of 41 questions about what no session holds, 29 found nothing above it.
pub const WEAK: f32 = 0.25;

/// Answers a question from the index, which is brought up to date first, for as long as the settings allow.
pub fn search(context: &Context, request: &Request) -> Result<Answer, Error> {
    let hint = hint_of(context, request)?;
    if hint.as_ref().is_some_and(|hint| hint.is_all) {
        return Ok(Answer { hint, ..Answer::of_no_words(request) });
    }
    let found = find::find(context, &request.question(context)?)?;
    Ok(Answer { hint, ..Answer::new(context, request, found) })
}

/// What a question asks for besides words; nothing where filters say it.
fn hint_of(context: &Context, request: &Request) -> Result<Option<Hint>, Error> {
    let is_filtered = request.since.is_some() || request.until.is_some() || request.branch.is_some();
    if is_filtered || request.file.is_some() || request.source.is_some() {
        return Ok(None);
    }
    let today = context.now.to_zoned(context.zone()).date();
    let mut listing = Ok(Listing::default());
    let hint = hint::hint(&request.query, today, || {
        listing = all(context);
        let sessions = listing.iter().flat_map(|listing| &listing.sessions);
        sessions.filter_map(|session| session.branch.as_deref()).collect()
    });
    listing.map(|_| hint)
}

/// Whether nothing was ever indexed here.
pub(crate) fn is_first(context: &Context) -> bool {
    !index::folder(context).join("files.sqlite").exists()
}

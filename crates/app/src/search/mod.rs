//! `search`: the sessions that answer a question, each with the line that does so best.

pub mod answer;
pub(crate) mod chosen;
pub mod embed;
pub mod export;
pub mod export_schedule;
pub(crate) mod find;
pub mod hit;
pub mod index;
pub mod intent;
pub mod memory;
pub(crate) mod question;
pub mod request;
pub(crate) mod time_limit;

pub use answer::Answer;
pub use hit::Hit;
pub use request::Request;
pub use search::{Mode, SourceKind};
pub use transcript::Role;

use crate::{Context, Error};

/// Answers a question from the index, which is brought up to date first, for as long as the settings allow.
pub fn search(context: &Context, request: &Request) -> Result<Answer, Error> {
    let found = find::find(context, &request.question(context)?)?;
    Ok(Answer::new(context, request, found))
}

/// Whether nothing was ever indexed here.
pub(crate) fn is_first(context: &Context) -> bool {
    !index::folder(context).join("files.sqlite").exists()
}

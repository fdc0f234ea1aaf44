//! A question that is an id, or a place as results cite it: `ID:LINE`.

use search::{CitedLine, LIKELY, cited_line};

use crate::retention::ghosts;
use crate::search::Mode;
use crate::search::answer::Answer;
use crate::search::find::find;
use crate::search::found::Answered;
use crate::search::request::Request;
use crate::sessions::resolve::{is_named, resolve};
use crate::sessions::select::all;
use crate::{Context, Error, Kind, Secrets};

/// The session with this id, or with an id that begins so, cited at the line that was typed; never one in which similar
/// words were said. Where there is none, digits may be those of a commit, which is found as it was written.
pub(super) fn by_id(
    context: &Context,
    request: &Request,
    id: &str,
    line: Option<u64>,
) -> Result<Answer, Error> {
    let listing = all(context)?;
    let sessions = listing.sessions.iter();
    if sessions.clone().any(|session| is_named(&session.id, id)) {
        let session = Some(id.to_owned());
        let named = Request { query: String::new(), session, ..request.clone() };
        let mut found = find(context, &named.question(context)?)?;
        let missing = match (line, found.hits.first_mut()) {
            (Some(line), Some(hit)) => cite(context, hit, line),
            _ => None,
        };
        let mut answer = Answer { query: request.query.clone(), ..Answer::new(context, &named, found) };
        answer.notes.extend(missing);
        return Ok(answer);
    }
    if let Some(ghost) = ghosts::named(context, id) {
        let ghosts = vec![ghost.hit(context)];
        return Ok(Answer { ghosts, known: listing.known, ..Answer::of_no_words(request) });
    }
    let unknown = match resolve(sessions, id, |title| context.title_in_error(title)) {
        Err(error) if error.kind == Kind::NotFound && !id.contains('-') => error.message,
        Err(error) => return Err(error),
        // No id begins so, as was seen above.
        Ok(_) => return Ok(Answer::of_no_words(request)),
    };
    let as_written = Request { mode: Mode::Lexical, deep: false, ..request.clone() };
    let mut found = find(context, &as_written.question(context)?)?;
    // What is like it in some letters is not it.
    found.hits.retain(|one| one.hit.confidence >= LIKELY);
    found.total = found.hits.len() as u64;
    let mut answer = Answer { did_you_mean: Vec::new(), ..Answer::new(context, &as_written, found) };
    answer.notes.insert(0, format!("{unknown}; it was looked for as a commit"));
    Ok(answer)
}

/// Cites this line of the session's transcript in place of its last text; a note where nothing is said there.
fn cite(context: &Context, answered: &mut Answered, line: u64) -> Option<String> {
    let file = answered.session.as_ref().and_then(|session| session.file.clone())?;
    let hit = &mut answered.hit;
    let shows_secrets = context.secrets == Secrets::Shown;
    let Ok(Some(cited)) = cited_line(&file, line, shows_secrets) else {
        let id = hit.session.short();
        return Some(format!("session {id} has no message at line {line}; its last text is cited"));
    };
    let CitedLine { offset, uuid, kind, at, snippet } = cited;
    (hit.file, hit.line, hit.offset, hit.subagent) = (file.to_path_buf(), line, offset, false);
    (hit.uuid, hit.kind, hit.at, hit.snippet) = (uuid, kind, at, snippet);
    hit.also_in.clear();
    hit.later = None;
    None
}

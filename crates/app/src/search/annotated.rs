//! Sessions that the person named, tagged or noted with the words of a question: they come first, whatever was said in them.

use catalog::SessionFilter;
use model::Annotations;
use search::Query;

use crate::search::find::find;
use crate::search::found::{Answered, Found};
use crate::search::question::Question;
use crate::search::request::Request;
use crate::{Context, Error};

/// How many sessions come first; words that more are annotated with name none of them.
const MOST: usize = 3;
/// The score and the confidence of a session that is meant by its annotations.
const MEANT: f32 = 1.0;

/// Puts the sessions first whose annotations have all the words.
pub(crate) fn put_first(context: &Context, request: &Request, found: &mut Found) -> Result<(), Error> {
    // What others have is nothing to an agent or to a model with limits.
    if context.is_limited() {
        return Ok(());
    }
    let query = Query::parse(&request.query);
    let mut meant = found.annotations.matching(&query.text);
    if meant.is_empty() || meant.len() > MOST {
        return Ok(());
    }
    let (mut first, others): (Vec<Answered>, Vec<Answered>) =
        std::mem::take(&mut found.hits).into_iter().partition(|one| meant.remove(&one.hit.session));
    let question = request.question(context)?.with_written_filters(context, &query)?;
    if !meant.is_empty() {
        let filter = SessionFilter { ids: Some(meant), ..question.filter.clone() };
        let newest = Question { text: String::new(), filter, limit: MOST, ..question.clone() };
        let newest = find(context, &newest)?.hits;
        found.total += newest.len() as u64;
        first.extend(newest);
    }
    if first.is_empty() {
        found.hits = others;
        return Ok(());
    }
    first.sort_by(|one, other| one.hit.session.as_str().cmp(other.hit.session.as_str()));
    for one in &mut first {
        (one.hit.score, one.hit.confidence) = (MEANT, MEANT);
        let annotations = one.session.as_ref().and_then(|session| session.annotations.as_deref());
        one.annotated = annotations.and_then(note_and_tags).map(|text| context.secrets.redacted(text.into()));
    }
    // What there is to say where nothing, or not every word, was found is not so any more.
    found.near.clear();
    found.unknown_words.clear();
    found.ghosts.clear();
    found.relaxed.clear();
    found.hits = first.into_iter().chain(others).take(question.limit).collect();
    Ok(())
}

/// What a person wrote of a session besides its name, which is its title: `note: to be merged  #release`.
fn note_and_tags(annotations: &Annotations) -> Option<String> {
    let note = annotations.note.as_ref().map(|note| format!("note: {note}"));
    let parts: Vec<String> =
        note.into_iter().chain(annotations.tags.iter().map(|tag| format!("#{tag}"))).collect();
    (!parts.is_empty()).then(|| parts.join("  "))
}

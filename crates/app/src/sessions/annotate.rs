//! `name`, `tag`, `note`, `pin` and `hide`: what the person annotates sessions with.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use catalog::{AnnotationError, AnnotationIndex, AnnotationStore};
use model::{Annotations, Session, SessionId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::{WRITABLE, is_not_permitted};
use crate::sessions::resolve::resolve;
use crate::sessions::{select, totals};
use crate::{Context, Error, Kind};

/// The longest name, in characters: longer ones fit no list.
const LONGEST_NAME: usize = 200;
/// The longest tag, in characters.
const LONGEST_TAG: usize = 40;
/// The longest note, in characters.
const LONGEST_NOTE: usize = 4000;

/// Which sessions to annotate, and with what; where nothing else is given the answer has their annotations as they are.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "AnnotateRequest")]
pub struct Request {
    /// The sessions, each by its id or a prefix of it.
    pub sessions: Vec<String>,
    /// The name in place of the title; an empty one removes it.
    pub name: Option<String>,
    /// Tags to add.
    pub add_tags: Vec<String>,
    /// Tags to remove.
    pub remove_tags: Vec<String>,
    /// The note; an empty one removes it.
    pub note: Option<String>,
    /// Whether the sessions are listed before others.
    pub pinned: Option<bool>,
    /// Whether the sessions are listed and found only on request.
    pub hidden: Option<bool>,
}

/// The sessions with their annotations.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "AnnotateAnswer")]
pub struct Answer {
    /// The sessions, in the order in which they were named.
    pub sessions: Vec<AnnotatedSession>,
}

/// A session and its annotations.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct AnnotatedSession {
    /// The session's id.
    pub session_id: SessionId,
    /// What it is called.
    pub title: Option<String>,
    /// Its annotations.
    pub annotations: Annotations,
}

/// The tags there are.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "TagsAnswer")]
pub struct Tags {
    /// The tags, in the order of the alphabet.
    pub tags: Vec<TagCount>,
}

/// A tag and how many sessions have it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TagCount {
    /// The tag.
    pub tag: String,
    /// How many sessions have it.
    pub sessions: u64,
}

/// Annotates sessions; each is named correctly or none is annotated.
pub fn annotate(context: &Context, request: &Request) -> Result<Answer, Error> {
    context.require_person("annotating sessions")?;
    let change = Change::new(request)?;
    let named =
        request.sessions.iter().map(|text| find_session(context, text)).collect::<Result<Vec<_>, _>>()?;
    let sessions = if change == Change::default() {
        require_readable(context)?;
        named
            .into_iter()
            .map(|session| (session.annotations.as_deref().cloned().unwrap_or_default(), session))
            .collect()
    } else {
        changed(context, named, &change)?
    };
    Ok(Answer {
        sessions: sessions
            .into_iter()
            .map(|(annotations, session)| annotated(context, session, annotations))
            .collect(),
    })
}

/// The tags of the sessions that the caller may see.
pub fn tags(context: &Context) -> Result<Tags, Error> {
    require_readable(context)?;
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for session in select::all(context)?.sessions {
        for tag in session.annotations.map(|annotations| annotations.tags).unwrap_or_default() {
            *counts.entry(tag).or_default() += 1;
        }
    }
    Ok(Tags { tags: counts.into_iter().map(|(tag, sessions)| TagCount { tag, sessions }).collect() })
}

/// Adds pins and tags that the person made elsewhere, also of sessions that are not there now. What is no tag becomes
/// one.
pub fn adopt(
    context: &Context,
    pinned: &[SessionId],
    tags: &BTreeMap<SessionId, Vec<String>>,
) -> Result<(), Error> {
    context.require_person("annotating sessions")?;
    let Some(path) = context.config().places().annotations else { return Ok(()) };
    let mut store = AnnotationStore::open(&path).map_err(|error| failed(&error))?;
    let sessions: BTreeSet<&SessionId> = pinned.iter().chain(tags.keys()).collect();
    for id in sessions {
        let change = Change {
            add_tags: tags.get(id).into_iter().flatten().filter_map(|text| nearest_tag(text)).collect(),
            pinned: pinned.contains(id).then_some(true),
            ..Change::default()
        };
        store
            .change(&Session::new(id.clone()), |annotations| change.apply(annotations))
            .map_err(|error| failed(&error))?;
    }
    Ok(())
}

/// The annotations of all sessions.
pub(crate) fn index(context: &Context) -> Result<AnnotationIndex, Error> {
    match context.config().places().annotations {
        Some(path) => AnnotationIndex::read(&path).map_err(|error| failed(&error)),
        None => Ok(AnnotationIndex::default()),
    }
}

/// Fails where the annotations cannot be read: then nobody knows that a session has none.
fn require_readable(context: &Context) -> Result<(), Error> {
    index(context).map(drop)
}

/// Removes all annotations of sessions.
pub(crate) fn forget(context: &Context, ids: &HashSet<SessionId>) -> Result<u64, Error> {
    match context.config().places().annotations.filter(|path| path.exists()) {
        Some(path) => AnnotationStore::open(&path)
            .and_then(|mut store| store.forget(ids))
            .map_err(|error| failed(&error)),
        None => Ok(0),
    }
}

fn find_session(context: &Context, text: &str) -> Result<Session, Error> {
    // A whole id is found without examining other sessions.
    if let Ok(id) = text.parse()
        && let Some(session) = totals::find(context, &id)?
    {
        return Ok(session);
    }
    let all = totals::with_totals(context)?.sessions;
    let sessions = all.iter().map(|entry| &*entry.session);
    resolve(sessions, text, |title| context.title_in_error(title)).cloned()
}

fn changed(
    context: &Context,
    sessions: Vec<Session>,
    change: &Change,
) -> Result<Vec<(Annotations, Session)>, Error> {
    let Some(path) = context.config().places().annotations else { return Ok(Vec::new()) };
    let mut store = AnnotationStore::open(&path).map_err(|error| failed(&error))?;
    let changed = sessions.into_iter().map(|session| {
        let annotations = store
            .change(&session, |annotations| change.apply(annotations))
            .map_err(|error| failed(&error))?;
        // Its title may be another one now.
        let session = find_session(context, session.id.as_str())?;
        Ok((annotations, session))
    });
    changed.collect()
}

fn annotated(context: &Context, mut session: Session, annotations: Annotations) -> AnnotatedSession {
    session.annotations = Some(Box::new(annotations));
    context.redact_session(&mut session);
    AnnotatedSession {
        session_id: session.id,
        title: session.title.as_deref().map(str::to_owned),
        annotations: session.annotations.map(|annotations| *annotations).unwrap_or_default(),
    }
}

fn failed(error: &AnnotationError) -> Error {
    let failed = Error::new(Kind::Unavailable, system::error_chain(error));
    if is_not_permitted(error) {
        failed.hint(WRITABLE)
    } else if error.is_damage() {
        failed.hint(
            "your next tag or note puts its newest backup in its place; if there is none, move the file away",
        )
    } else {
        failed
    }
}

/// A request that makes sense.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Change {
    /// An empty one removes it; so does an empty note.
    name: Option<String>,
    add_tags: Vec<String>,
    remove_tags: Vec<String>,
    note: Option<String>,
    pinned: Option<bool>,
    hidden: Option<bool>,
}

impl Change {
    fn new(request: &Request) -> Result<Self, Error> {
        let one_line = |text: &String| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let name = request.name.as_ref().map(one_line);
        Ok(Self {
            name: name.map(|name| require_length("a name", name, LONGEST_NAME)).transpose()?,
            add_tags: request.add_tags.iter().map(|tag| normalize_tag(tag)).collect::<Result<_, _>>()?,
            remove_tags: request
                .remove_tags
                .iter()
                .map(|tag| normalize_tag(tag))
                .collect::<Result<_, _>>()?,
            note: request
                .note
                .as_ref()
                .map(|note| require_length("a note", note.trim().to_owned(), LONGEST_NOTE))
                .transpose()?,
            pinned: request.pinned,
            hidden: request.hidden,
        })
    }

    fn apply(&self, annotations: &mut Annotations) {
        if let Some(name) = &self.name {
            annotations.name = (!name.is_empty()).then(|| name.clone());
        }
        if let Some(note) = &self.note {
            annotations.note = (!note.is_empty()).then(|| note.clone());
        }
        // What is shown of a tag names it, too.
        let is_removed = |known: &String| {
            let shown = redact::redact_beginning(known);
            self.remove_tags.iter().any(|tag| is_same(tag, known) || is_same(tag, &shown))
        };
        annotations.tags.retain(|known| !is_removed(known));
        for tag in &self.add_tags {
            if !annotations.has_tag(tag) {
                annotations.tags.push(tag.clone());
            }
        }
        annotations.tags.sort_by_key(|tag| tag.to_lowercase());
        annotations.pinned = self.pinned.unwrap_or(annotations.pinned);
        annotations.hidden = self.hidden.unwrap_or(annotations.hidden);
    }
}

/// A text of at most so many characters.
fn require_length(what: &str, text: String, longest: usize) -> Result<String, Error> {
    let length = text.chars().count();
    if length > longest {
        let message = format!("{what} may have {longest} characters; this one has {length}");
        return Err(Error::new(Kind::TooLarge, message));
    }
    Ok(text)
}

/// A tag as it is kept: one word, without the `#` that people write before it.
fn normalize_tag(typed: &str) -> Result<String, Error> {
    let tag = typed.trim().trim_start_matches('#');
    let is_word = !tag.is_empty() && !tag.contains(|c: char| c.is_whitespace() || c.is_control() || c == ',');
    if !is_word || tag.chars().count() > LONGEST_TAG {
        let message = format!(
            "`{typed}` is no tag: a tag is one word of at most {LONGEST_TAG} characters without commas"
        );
        return Err(Error::new(Kind::Usage, message));
    }
    Ok(tag.to_owned())
}

/// The tag that is most like a text of several words; `None` where nothing is left of it.
fn nearest_tag(text: &str) -> Option<String> {
    let is_between = |c: char| c.is_whitespace() || c.is_control() || matches!(c, ',' | '#');
    let words: Vec<&str> = text.split(is_between).filter(|word| !word.is_empty()).collect();
    let tag: String = words.join("-").chars().take(LONGEST_TAG).collect();
    (!tag.is_empty()).then_some(tag)
}

fn is_same(one: &str, other: &str) -> bool {
    one.to_lowercase() == other.to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(request: &Request, before: &Annotations, expected: &Annotations) {
        let mut annotations = before.clone();
        Change::new(request).unwrap().apply(&mut annotations);
        assert_eq!(annotations, *expected);
    }

    #[test]
    fn fields_that_are_not_given_stay_unchanged() {
        let before = Annotations {
            name: Some("Rotate tokens".into()),
            tags: vec!["auth".into()],
            pinned: true,
            ..Annotations::default()
        };
        check(&Request::default(), &before, &before);
        let request = Request {
            name: Some("  Rotate \n refresh tokens ".into()),
            add_tags: vec!["#Release".into(), "AUTH".into(), "later".into()],
            ..Request::default()
        };
        let expected = Annotations {
            name: Some("Rotate refresh tokens".into()),
            tags: vec!["auth".into(), "later".into(), "Release".into()],
            ..before.clone()
        };
        check(&request, &before, &expected);
        let request = Request {
            name: Some(String::new()),
            remove_tags: vec!["Auth".into()],
            pinned: Some(false),
            ..Request::default()
        };
        check(&request, &before, &Annotations::default());
    }

    #[test]
    fn invalid_tags_are_normalized() {
        for (text, tag) in [("auth", "auth"), (" #to  do,\nlater ", "to-do-later"), ("a#b", "a-b")] {
            assert_eq!(nearest_tag(text).as_deref(), Some(tag), "{text}");
            assert_eq!(normalize_tag(tag).unwrap(), tag);
        }
        assert_eq!(nearest_tag(&"x".repeat(50)).unwrap().len(), LONGEST_TAG);
        assert_eq!(nearest_tag(" ,# "), None);
    }

    #[test]
    fn names_and_notes_that_are_too_long_are_refused() {
        let refused = |request: Request| Change::new(&request).unwrap_err().message;
        let of_tag = |tag: &str| refused(Request { add_tags: vec![tag.into()], ..Request::default() });
        assert!(of_tag("two words").contains("`two words` is no tag"));
        assert!(of_tag("#").contains("is no tag"));
        assert!(of_tag("a,b").contains("is no tag"));
        let name = refused(Request { name: Some("a".repeat(201)), ..Request::default() });
        assert_eq!(name, "a name may have 200 characters; this one has 201");
    }
}

//! The conditions by which a person selects sessions. What they write is compared with text as it may leave: no condition
//! tells what a secret consists of.

use std::borrow::Cow;
use std::collections::HashSet;

use jiff::Timestamp;
use model::{AgentId, Annotations, Session, SessionId, folded};

use crate::project::SessionLocation;
use crate::scope::ProjectScope;

/// Conditions a session has to meet, all of them; the default lets every session through.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionFilter {
    /// A repository or project, by any of its names.
    pub project: Option<String>,
    /// The projects that may be seen at all.
    pub scope: ProjectScope,
    /// A branch, as it is shown; upper and lower case differ, as in git.
    pub branch: Option<String>,
    /// The word of an origin: `openclaw`, `native`, `archived`.
    pub origin: Option<String>,
    /// The OpenClaw agent that started the session.
    pub agent: Option<AgentId>,
    /// Only sessions held by a live process.
    pub running: bool,
    /// Only sessions that were active at this time or later.
    pub since: Option<Timestamp>,
    /// Only sessions that began before this time.
    pub until: Option<Timestamp>,
    /// Only sessions whose title, first message, project or branch contains each of these, [`folded`]; secrets are
    /// not searched.
    pub words: Vec<String>,
    /// Only these sessions.
    pub ids: Option<HashSet<SessionId>>,
    /// Only sessions that the person gave this tag.
    pub tag: Option<String>,
    /// Only sessions that the person pinned.
    pub pinned: bool,
    /// Only sessions whose context was compacted.
    pub compacted: bool,
    /// What to do with sessions that the person hid.
    pub hidden: Hidden,
}

/// What to do with hidden sessions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Hidden {
    /// They are treated like others.
    #[default]
    Included,
    /// They are left out.
    Excluded,
    /// Only they are wanted.
    Only,
}

impl SessionFilter {
    /// Whether a session meets every condition.
    pub fn matches(&self, session: &Session) -> bool {
        self.matches_location(&SessionLocation::of_session(session)) && self.matches_session(session)
    }

    /// Whether sessions there meet the conditions on where they were run.
    pub(crate) fn matches_location(&self, place: &SessionLocation<'_>) -> bool {
        self.scope.admits(place)
            && self
                .branch
                .as_deref()
                .is_none_or(|branch| place.branch.is_some_and(|known| shown(known) == branch))
            && self.project.as_deref().is_none_or(|name| place.is_named(name))
    }

    /// Whether a session meets all other conditions.
    pub(crate) fn matches_session(&self, session: &Session) -> bool {
        self.scope.admits_visited(&session.visited)
            && (!self.running || session.is_running)
            && (!self.compacted || session.compactions > 0)
            && self.origin.as_deref().is_none_or(|origin| session.origin.as_str() == origin)
            && self.agent.as_ref().is_none_or(|agent| session.origin.agent() == Some(agent))
            && self.since.is_none_or(|since| session.last_modified.is_some_and(|at| at >= since))
            && self.until.is_none_or(|until| start_time(session).is_some_and(|at| at < until))
            && self.ids.as_ref().is_none_or(|ids| ids.contains(&session.id))
            && self.words.iter().all(|word| mentions(session, word))
            && self.matches_annotations(session.annotations.as_deref())
    }

    fn matches_annotations(&self, annotations: Option<&Annotations>) -> bool {
        let is_hidden = annotations.is_some_and(|annotations| annotations.hidden);
        self.tag.as_deref().is_none_or(|tag| annotations.is_some_and(|annotations| has_tag(annotations, tag)))
            && (!self.pinned || annotations.is_some_and(|annotations| annotations.pinned))
            && match self.hidden {
                Hidden::Included => true,
                Hidden::Excluded => !is_hidden,
                Hidden::Only => is_hidden,
            }
    }
}

/// When a session began, as far as is known.
fn start_time(session: &Session) -> Option<Timestamp> {
    session.created.or(session.last_modified)
}

/// Whether a session's title, first message, project or branch contains a lower-case word.
fn mentions(session: &Session, word: &str) -> bool {
    let named = [&session.title, &session.first_message, &session.project, &session.branch];
    named.into_iter().flatten().any(|text| folded(&shown(text)).contains(word))
}

/// Whether a session has a tag that is shown so, whatever its case.
fn has_tag(annotations: &Annotations, tag: &str) -> bool {
    let wanted = folded(tag);
    annotations.tags.iter().any(|known| folded(&shown(known)) == wanted)
}

/// A text as it may leave; it may be the beginning of a longer one.
pub(crate) fn shown(text: &str) -> Cow<'_, str> {
    redact::redact_beginning(text)
}

#[cfg(test)]
mod tests {
    use model::Origin;

    use super::*;

    #[test]
    fn every_condition_has_to_be_met() {
        let session = Session {
            origin: Origin::OpenClaw { agent: "main".parse().unwrap(), label: None },
            project: Some("web".into()),
            branch: Some("fix".into()),
            last_modified: "2026-01-02T00:00:00Z".parse().ok(),
            annotations: Some(Box::new(Annotations {
                tags: vec!["release".into()],
                hidden: true,
                ..Annotations::default()
            })),
            ..Session::new("s".parse().unwrap())
        };
        let check = |filter: SessionFilter, expected: bool| {
            assert_eq!(filter.matches(&session), expected, "{filter:?}");
        };
        let any = SessionFilter::default;
        check(any(), true);
        check(SessionFilter { project: Some("WEB".into()), branch: Some("fix".into()), ..any() }, true);
        check(SessionFilter { project: Some("api".into()), branch: Some("fix".into()), ..any() }, false);
        check(SessionFilter { branch: Some("Fix".into()), ..any() }, false);
        let without = |name: &str| ProjectScope::new(&[], &[name.to_owned()], std::path::Path::new("/h"));
        check(SessionFilter { scope: without("api"), ..any() }, true);
        check(SessionFilter { scope: without("web"), ..any() }, false);
        check(SessionFilter { origin: Some("openclaw".into()), ..any() }, true);
        check(SessionFilter { origin: Some("native".into()), ..any() }, false);
        check(SessionFilter { agent: "MAIN".parse().ok(), ..any() }, true);
        check(SessionFilter { agent: "other".parse().ok(), ..any() }, false);
        check(SessionFilter { running: true, ..any() }, false);
        check(SessionFilter { since: "2026-01-02T00:00:00Z".parse().ok(), ..any() }, true);
        check(SessionFilter { since: "2026-01-03T00:00:00Z".parse().ok(), ..any() }, false);
        check(SessionFilter { tag: Some("Release".into()), ..any() }, true);
        check(SessionFilter { tag: Some("later".into()), ..any() }, false);
        check(SessionFilter { pinned: true, ..any() }, false);
        check(SessionFilter { hidden: Hidden::Excluded, ..any() }, false);
        check(SessionFilter { hidden: Hidden::Only, ..any() }, true);
    }
}

//! Which sessions a person asks for.

use jiff::Timestamp;
use model::{AgentId, Session};

use crate::project::Whereabouts;

/// Conditions a session has to meet, all of them; the default lets every session through.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// A repository or project, by any of its names.
    pub project: Option<String>,
    /// A branch; upper and lower case differ, as in git.
    pub branch: Option<String>,
    /// The word of an origin: `openclaw`, `native`, `archived`.
    pub origin: Option<String>,
    /// The OpenClaw agent.
    pub agent: Option<AgentId>,
    /// Only sessions that a live process holds.
    pub running: bool,
    /// Only sessions that were active at this time or later.
    pub since: Option<Timestamp>,
}

impl Filter {
    /// Whether a session meets every condition.
    pub fn lets_through(&self, session: &Session) -> bool {
        self.suits(&Whereabouts::of(session)) && self.suits_otherwise(session)
    }

    /// Whether sessions there meet the conditions on where they were run.
    pub(crate) fn suits(&self, place: &Whereabouts<'_>) -> bool {
        self.branch.as_deref().is_none_or(|branch| place.branch == Some(branch))
            && self.project.as_deref().is_none_or(|name| place.is_named(name))
    }

    /// Whether a session meets all other conditions.
    pub(crate) fn suits_otherwise(&self, session: &Session) -> bool {
        (!self.running || session.is_running)
            && self.origin.as_deref().is_none_or(|origin| session.origin.word() == origin)
            && self.agent.as_ref().is_none_or(|agent| session.origin.agent() == Some(agent))
            && self.since.is_none_or(|since| session.last_modified.is_some_and(|at| at >= since))
    }
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
            ..Session::blank("s".parse().unwrap())
        };
        let check = |filter: Filter, expected: bool| {
            assert_eq!(filter.lets_through(&session), expected, "{filter:?}");
        };
        let any = Filter::default;
        check(any(), true);
        check(Filter { project: Some("WEB".into()), branch: Some("fix".into()), ..any() }, true);
        check(Filter { project: Some("api".into()), branch: Some("fix".into()), ..any() }, false);
        check(Filter { branch: Some("Fix".into()), ..any() }, false);
        check(Filter { origin: Some("openclaw".into()), ..any() }, true);
        check(Filter { origin: Some("native".into()), ..any() }, false);
        check(Filter { agent: "MAIN".parse().ok(), ..any() }, true);
        check(Filter { agent: "other".parse().ok(), ..any() }, false);
        check(Filter { running: true, ..any() }, false);
        check(Filter { since: "2026-01-02T00:00:00Z".parse().ok(), ..any() }, true);
        check(Filter { since: "2026-01-03T00:00:00Z".parse().ok(), ..any() }, false);
    }
}

//! The place after which a list of sessions goes on: that of a session in the order of the list, so that new sessions and
//! removed ones neither repeat nor skip others.

use std::fmt::{self, Display};
use std::str::FromStr;

use model::{Session, SessionId};

use crate::problem::Problem;

/// The place of a session: running ones come first, then pinned ones, then the newest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cursor {
    is_running: bool,
    is_pinned: bool,
    /// Microseconds since 1970.
    modified: i64,
    id: SessionId,
}

impl Cursor {
    /// The place of this session.
    pub(super) fn of(session: &Session) -> Self {
        let modified = session.last_modified.map_or(i64::MIN, jiff::Timestamp::as_microsecond);
        let is_pinned = session.annotations.as_deref().is_some_and(|annotations| annotations.pinned);
        Self { is_running: session.is_running, is_pinned, modified, id: session.id.clone() }
    }

    /// Whether a session comes later in the list.
    pub(super) fn is_before(&self, session: &Session) -> bool {
        let other = Self::of(session);
        let key = |place: &Self| (!place.is_running, !place.is_pinned, std::cmp::Reverse(place.modified));
        (key(&other), &other.id) > (key(self), &self.id)
    }
}

impl Display for Cursor {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [running, pinned] = [self.is_running, self.is_pinned].map(u8::from);
        write!(out, "{running}{pinned}_{}_{}", self.modified, self.id)
    }
}

impl FromStr for Cursor {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Self, Problem> {
        let read = || {
            let mut parts = text.splitn(3, '_');
            let (is_running, is_pinned) = match parts.next()? {
                "00" => (false, false),
                "01" => (false, true),
                "10" => (true, false),
                "11" => (true, true),
                _ => return None,
            };
            let (modified, id) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
            Some(Self { is_running, is_pinned, modified, id })
        };
        read().ok_or_else(|| Problem::usage("this is no `cursor` that a page gave as its `next`"))
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use model::Annotations;

    use super::*;

    fn session(id: &str, is_running: bool, second: i64) -> Session {
        let last_modified = Timestamp::from_second(second).ok();
        Session { is_running, last_modified, ..Session::blank(id.parse().unwrap()) }
    }

    #[test]
    fn a_list_goes_on_behind_it() {
        let pinned = Annotations { pinned: true, ..Annotations::default() };
        let list = [
            session("b", true, 1),
            Session { annotations: Some(Box::new(pinned)), ..session("d", false, 2) },
            session("x_y", false, 9),
            session("a", false, 5),
            session("c", false, 5),
        ];
        for (at, one) in list.iter().enumerate() {
            let cursor: Cursor = Cursor::of(one).to_string().parse().unwrap();
            assert_eq!(cursor, Cursor::of(one));
            let later: Vec<_> =
                list.iter().filter(|other| cursor.is_before(other)).map(|one| &one.id).collect();
            assert_eq!(later, list[at + 1..].iter().map(|one| &one.id).collect::<Vec<_>>());
        }
        for text in ["", "10", "1_5_a", "20_5_a", "10_x_a", "10_5_", "10_5_../a", "00_5"] {
            assert!(text.parse::<Cursor>().is_err(), "{text}");
        }
    }
}

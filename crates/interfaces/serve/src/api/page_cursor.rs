//! The place after which a list of sessions goes on: that of a session in the order of the list, so that new sessions and
//! removed ones neither repeat nor skip others.

use std::cmp::Ordering;
use std::fmt::{self, Display};
use std::str::FromStr;

use app::sessions::list::SessionOrder;
use model::{Session, SessionId};

use crate::api::cursor_text::CursorText;
use crate::problem::Problem;

/// Every order, and its word in a cursor. Without one, running sessions come first, then pinned ones, then the newest.
const ORDERS: [(Option<SessionOrder>, &str); 7] = [
    (None, "default"),
    (Some(SessionOrder::Newest), "newest"),
    (Some(SessionOrder::Oldest), "oldest"),
    (Some(SessionOrder::Cost), "cost"),
    (Some(SessionOrder::Cheapest), "cheapest"),
    (Some(SessionOrder::Messages), "messages"),
    (Some(SessionOrder::Tokens), "tokens"),
];

/// The place of a session in an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cursor {
    order: Option<SessionOrder>,
    /// What decides, most important first: the lesser comes first.
    key: [i64; 3],
    id: SessionId,
}

impl Cursor {
    /// The place of this session.
    pub(super) fn of(session: &Session, order: Option<SessionOrder>) -> Self {
        // Microseconds since 1970.
        let modified = session.last_modified.map_or(i64::MIN, jiff::Timestamp::as_microsecond);
        let is_pinned = session.annotations.as_deref().is_some_and(|annotations| annotations.pinned);
        let number = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
        // The complement of a number comes first where the number is greater.
        let key = match order {
            None => [i64::from(!session.is_running), i64::from(!is_pinned), !modified],
            Some(SessionOrder::Newest) => [!modified, 0, 0],
            Some(SessionOrder::Oldest) => [modified, 0, 0],
            // Of numbers that are not negative, the greater has the greater bits.
            Some(SessionOrder::Cost) => {
                [!number(session.cost_usd.unwrap_or_default().max(0.0).to_bits()), 0, 0]
            }
            Some(SessionOrder::Cheapest) => {
                let cost = session.cost_usd.filter(|cost| *cost > 0.0).unwrap_or(f64::MAX);
                [number(cost.to_bits()), 0, 0]
            }
            Some(SessionOrder::Messages) => [!number(session.visible_messages), 0, 0],
            Some(SessionOrder::Tokens) => [!number(session.usage.total()), 0, 0],
        };
        Self { order, key, id: session.id.clone() }
    }

    /// The order whose place it is.
    pub(super) fn order(&self) -> Option<SessionOrder> {
        self.order
    }

    /// Whether a session comes later in the list.
    fn is_before(&self, session: &Session) -> bool {
        *self < Self::of(session, self.order)
    }
}

/// The sessions of a page: at most `limit` of those behind the cursor, and the cursor of the next page.
pub(super) fn page_of(
    sessions: Vec<Session>,
    cursor: Option<&Cursor>,
    order: Option<SessionOrder>,
    limit: usize,
) -> (Vec<Session>, Option<String>) {
    let is_later = |session: &Session| cursor.is_none_or(|cursor| cursor.is_before(session));
    let mut page: Vec<Session> = sessions.into_iter().filter(is_later).take(limit + 1).collect();
    let has_more = page.len() > limit;
    page.truncate(limit);
    let next = page.last().filter(|_| has_more).map(|last| Cursor::of(last, order).to_string());
    (page, next)
}

impl Ord for Cursor {
    /// Which of two places in the same order comes first; no two sessions have the same.
    fn cmp(&self, other: &Self) -> Ordering {
        (self.key, &self.id).cmp(&(other.key, &other.id))
    }
}

impl PartialOrd for Cursor {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Display for Cursor {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = ORDERS.iter().find(|(order, _)| *order == self.order);
        let order = known.map_or("default", |(_, word)| word).to_owned();
        CursorText { order, key: self.key, id: self.id.clone() }.fmt(out)
    }
}

impl FromStr for Cursor {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Self, Problem> {
        let read = || {
            let CursorText { order: word, key, id } = CursorText::read(text)?;
            let (order, _) = ORDERS.iter().find(|(_, known)| *known == word)?;
            Some(Self { order: *order, key, id })
        };
        read().ok_or_else(|| Problem::usage("this `cursor` is not the `next` of a page"))
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use model::Annotations;

    use super::*;

    fn session(id: &str, is_running: bool, second: i64) -> Session {
        let last_modified = Timestamp::from_second(second).ok();
        Session { is_running, last_modified, ..Session::new(id.parse().unwrap()) }
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
        check(None, &list);
        for text in
            ["", "default", "10_5_a", "older_0_0_0_a", "default_0_x_0_a", "default_0_0_0_", "cost_0_0_0_../a"]
        {
            assert!(text.parse::<Cursor>().is_err(), "{text}");
        }
    }

    #[track_caller]
    fn check(order: Option<SessionOrder>, list: &[Session]) {
        for (at, one) in list.iter().enumerate() {
            let cursor: Cursor = Cursor::of(one, order).to_string().parse().unwrap();
            assert_eq!(cursor, Cursor::of(one, order));
            let later: Vec<_> =
                list.iter().filter(|other| cursor.is_before(other)).map(|one| &one.id).collect();
            assert_eq!(later, list[at + 1..].iter().map(|one| &one.id).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_sorted_list_goes_on_behind_it() {
        let undated = |id: &str| Session { last_modified: None, ..session(id, false, 0) };
        let newest = [session("c", false, 9), session("a", true, 5), session("b", false, 5), undated("d")];
        check(Some(SessionOrder::Newest), &newest);
        check(Some(SessionOrder::Oldest), &[undated("d"), session("b", false, 5), session("c", true, 9)]);
        let cost = |id: &str, cost_usd| Session { cost_usd, ..session(id, false, 5) };
        check(
            Some(SessionOrder::Cost),
            &[cost("d", Some(12.5)), cost("c", Some(0.02)), cost("a", Some(0.0)), cost("b", None)],
        );
        let messages = |id: &str, visible_messages| Session { visible_messages, ..session(id, false, 5) };
        check(Some(SessionOrder::Messages), &[messages("b", u64::MAX), messages("c", 7), messages("a", 0)]);
        let tokens = |id: &str, output| {
            let mut one = session(id, false, 5);
            one.usage.output = output;
            one
        };
        check(Some(SessionOrder::Tokens), &[tokens("c", 100), tokens("a", 7), tokens("b", 7)]);
    }
}

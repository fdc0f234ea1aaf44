//! Which of several sessions that hold a message was there first.

use std::collections::HashMap;

use jiff::Timestamp;
use model::SessionId;

use crate::Spending;

/// The place of each session when parents go before forks, then the earliest start, then the id decides.
///
/// Depends on what the sessions say only, never on the order they are given in.
pub(crate) fn ranks(sessions: &[Spending<'_>]) -> Vec<usize> {
    let parents: HashMap<&SessionId, Option<&SessionId>> =
        sessions.iter().map(|session| (&session.session, session.forked_from.as_ref())).collect();
    let mut order: Vec<usize> = (0..sessions.len()).collect();
    order.sort_by_cached_key(|&at| {
        let session = &sessions[at];
        (
            generation(&session.session, &parents),
            session.started.unwrap_or(Timestamp::MAX),
            session.session.clone(),
        )
    });
    let mut ranks = vec![0; sessions.len()];
    for (rank, at) in order.into_iter().enumerate() {
        ranks[at] = rank;
    }
    ranks
}

/// How many of a session's ancestors are among the sessions; files that name each other in a circle end it.
fn generation(session: &SessionId, parents: &HashMap<&SessionId, Option<&SessionId>>) -> usize {
    let mut child = session;
    for generation in 0..parents.len() {
        match parents.get(child).copied().flatten() {
            Some(parent) if parents.contains_key(parent) => child = parent,
            _ => return generation,
        }
    }
    parents.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(id: &str, forked_from: &str, second: i64) -> Spending<'static> {
        Spending {
            session: id.parse().unwrap(),
            forked_from: forked_from.parse().ok(),
            started: Timestamp::from_second(second).ok().filter(|_| second >= 0),
            messages: &[],
            cost_state: None,
        }
    }

    fn check(sessions: &[Spending<'_>], expected: &str) {
        let ranks = ranks(sessions);
        let mut order: Vec<_> = sessions.iter().enumerate().collect();
        order.sort_by_key(|(at, _)| ranks[*at]);
        let order: Vec<_> = order.iter().map(|(_, session)| session.session.as_str()).collect();
        assert_eq!(order.join(" "), expected);
    }

    #[test]
    fn parents_then_time_then_name() {
        check(&[session("b", "", 1), session("a", "", 1), session("c", "", 0)], "c a b");
        check(&[session("a", "b", 0), session("b", "c", 5), session("c", "", 9)], "c b a");
        check(&[session("a", "gone", 2), session("b", "", 3), session("c", "", -1)], "a b c");
        check(&[session("a", "b", 2), session("b", "a", 1), session("c", "", 3)], "c b a");
        check(&[session("a", "a", 2), session("b", "", 3)], "b a");
        check(&[], "");
    }
}

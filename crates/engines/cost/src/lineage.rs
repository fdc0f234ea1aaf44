//! Determines which of several sessions that hold a message came first.

use std::collections::HashMap;

use jiff::Timestamp;
use model::SessionId;

use crate::spending::SessionSpending;

/// The rank of each session: parents before forks, then by start, then by id.
///
/// Depends only on the sessions, never on their order.
pub(crate) fn ranks(sessions: &[SessionSpending<'_>]) -> Vec<usize> {
    let generations = generations(sessions);
    let mut order: Vec<usize> = (0..sessions.len()).collect();
    order.sort_by_cached_key(|&at| {
        let session = &sessions[at];
        (generations[at], session.started.unwrap_or(Timestamp::MAX), session.session.clone())
    });
    let mut ranks = vec![0; sessions.len()];
    for (rank, at) in order.into_iter().enumerate() {
        ranks[at] = rank;
    }
    ranks
}

/// The number of ancestors of each session; sessions in a cycle of ancestors come last.
fn generations(sessions: &[SessionSpending<'_>]) -> Vec<usize> {
    let places: HashMap<&SessionId, usize> =
        sessions.iter().zip(0..).map(|(session, at)| (&session.session, at)).collect();
    let parent = |at: usize| sessions[at].forked_from.as_ref().and_then(|id| places.get(id).copied());
    let circle = sessions.len();
    let mut generations: Vec<Option<usize>> = vec![None; sessions.len()];
    for start in 0..sessions.len() {
        let mut path = Vec::new();
        let mut next = Some(start);
        while let Some(at) = next.filter(|at| generations[*at].is_none()) {
            // Until its ancestors are known; meeting it before that means a cycle.
            generations[at] = Some(circle);
            path.push(at);
            next = parent(at);
        }
        let mut ancestors = next.and_then(|at| generations[at]);
        for at in path.into_iter().rev() {
            let own = ancestors.map_or(0, |parent| if parent == circle { circle } else { parent + 1 });
            generations[at] = Some(own);
            ancestors = Some(own);
        }
    }
    generations.into_iter().map(|generation| generation.unwrap_or(circle)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(id: &str, forked_from: &str, second: i64) -> SessionSpending<'static> {
        SessionSpending {
            session: id.parse().unwrap(),
            forked_from: forked_from.parse().ok(),
            started: Timestamp::from_second(second).ok().filter(|_| second >= 0),
            messages: &[],
            subagents: &[],
            cost_state: None,
            earlier_totals: &[],
        }
    }

    fn check(sessions: &[SessionSpending<'_>], expected: &str) {
        let ranks = ranks(sessions);
        let mut order: Vec<_> = sessions.iter().enumerate().collect();
        order.sort_by_key(|(at, _)| ranks[*at]);
        let order: Vec<_> = order.iter().map(|(_, session)| session.session.as_str()).collect();
        assert_eq!(order.join(" "), expected);
    }

    #[test]
    fn messages_belong_to_the_parent_then_the_earliest_then_the_first_name() {
        check(&[session("b", "", 1), session("a", "", 1), session("c", "", 0)], "c a b");
        check(&[session("a", "b", 0), session("b", "c", 5), session("c", "", 9)], "c b a");
        check(&[session("a", "gone", 2), session("b", "", 3), session("c", "", -1)], "a b c");
        check(&[session("a", "b", 2), session("b", "a", 1), session("c", "", 3)], "c b a");
        check(&[session("a", "a", 2), session("b", "", 3)], "b a");
        check(&[], "");
    }
}

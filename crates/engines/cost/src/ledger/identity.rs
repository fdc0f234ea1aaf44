//! Decides which messages of several files are one API message.
//!
//! By the message's own id and its request's; a copy that lost the request's, by its own alone. Across requests only
//! where a sub-agent's file repeats what its session said, as side questions did: an id that names several messages of one
//! session says nothing.

use std::collections::BTreeMap;

use model::MessageUsage;

use super::SessionMessage;
use crate::spending::SessionSpending;

/// Whether a message occurs in other places.
#[derive(Clone)]
pub(super) enum Duplicates {
    /// The message occurs once.
    None,
    /// It is the first of these, by position.
    First(Vec<usize>),
    /// Another is the first.
    OfEarlier,
}

/// A message's place with its hashes: of its id, and of all that identifies it.
struct Held {
    id: u64,
    has_request: bool,
    key: u64,
    at: usize,
}

/// Groups equal messages. Positions are sorted rather than messages, because there may be a million.
pub(super) fn groups(sessions: &[SessionSpending<'_>], all: &[SessionMessage<'_>]) -> Vec<Duplicates> {
    let held = |(held, at): (&SessionMessage<'_>, usize)| {
        let MessageUsage { message, key, by_record, .. } = *held.message;
        let id = if by_record { key } else { message };
        Held { id, has_request: key != id, key, at }
    };
    let mut by_id: Vec<Held> = all.iter().zip(0..).map(held).collect();
    by_id.sort_unstable_by_key(|held| (held.id, held.has_request, held.key, held.at));
    let mut groups = vec![Duplicates::None; all.len()];
    for same_id in by_id.chunk_by(|one, other| one.id == other.id).filter(|same| same.len() > 1) {
        // Messages without a request come first and belong to the first request.
        let same = same_id.chunk_by(|one, other| !one.has_request || one.key == other.key);
        let mut same: Vec<Vec<usize>> = same.map(|same| same.iter().map(|held| held.at).collect()).collect();
        if same.len() > 1 && same_id.iter().any(|held| all[held.at].message.subagent) {
            join_repeated(sessions, all, &mut same);
        }
        for same in same.into_iter().filter(|same| same.len() > 1) {
            for at in &same {
                groups[*at] = Duplicates::OfEarlier;
            }
            let first = same[0];
            groups[first] = Duplicates::First(same);
        }
    }
    groups
}

/// Joins what sub-agents' files repeat of their session under other requests to what it repeats. `same` are the groups of
/// one id.
fn join_repeated(sessions: &[SessionSpending<'_>], all: &[SessionMessage<'_>], same: &mut [Vec<usize>]) {
    // By session and file: the groups in it; the session's own file is the first.
    let mut files: BTreeMap<usize, BTreeMap<Option<usize>, Vec<usize>>> = BTreeMap::new();
    for (group, members) in same.iter().enumerate() {
        for held in members.iter().map(|at| &all[*at]) {
            let file = held.message.subagent.then(|| file_of(&sessions[held.session], held.place));
            let groups = files.entry(held.session).or_default().entry(file).or_default();
            if groups.last() != Some(&group) {
                groups.push(group);
            }
        }
    }
    for files in files.into_values() {
        let is_clear = files.values().all(|groups| groups.len() == 1);
        let Some(own) = files.get(&None).filter(|_| is_clear).map(|groups| groups[0]) else { continue };
        for group in files.into_values().map(|groups| groups[0]).filter(|group| *group != own) {
            let repeated = std::mem::take(&mut same[group]);
            same[own].extend(repeated);
        }
    }
    for members in same {
        members.sort_unstable();
    }
}

/// Which of a session's sub-agents' files a message is in.
fn file_of(session: &SessionSpending<'_>, place: usize) -> usize {
    let is_its = |subagent: &model::SubagentMessages| subagent.messages.contains(&place);
    session.subagents.iter().position(is_its).unwrap_or(usize::MAX)
}

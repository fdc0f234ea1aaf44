//! What is made of all sessions where something has changed in a few of them: those are read, of the others the kept
//! cards tell.

use transcript::TranscriptFile;

use crate::assembly::{Read, assemble};
use crate::card::{Card, Setting};
use crate::describe::Describer;
use crate::kept_cards::{Changed, KeptCards};
use crate::reading::{Reading, wanted};
use crate::summary_cache::SummaryCache;
use crate::types::{Detail, Found, Places, Told, Work};

/// Where something has changed in more sessions than these, all are looked at, and all cards made anew.
const FEW: usize = 32;

/// What `tell` makes of the cards of all sessions in which nothing has changed, and of what `settle` makes of their
/// settings; and what `tell_changed` makes of the others.
///
/// An error, with what it took to find out, where that does not tell all: a session came or went, many have changed, or
/// what a changed one took depends on others, because it holds messages of theirs.
pub(crate) fn renewed<S, T: Send>(
    places: &Places,
    found: &Found,
    edition: Option<u64>,
    describer: &mut Describer,
    settle: impl Fn(&mut Describer, &Setting<'_>) -> S + Sync,
    tell: impl Fn(&TranscriptFile, &Card<'_>, &S) -> Option<T> + Sync,
    tell_changed: impl FnOnce(Vec<Read>, &mut Describer) -> Vec<T>,
) -> Result<(Vec<T>, Told), Work> {
    let kept = KeptCards::open(places, found).ok_or(Work::default())?;
    let cards = kept.told(found, edition, places.threads, describer, settle, tell);
    let (mut all, changed) = cards.ok_or(Work::default())?;
    let mut told = Told { problems: found.problems.clone(), ..Told::default() };
    if !changed.is_empty() {
        let detail = if edition.is_some() { Detail::Spending } else { Detail::Facts };
        let reads = read(places, found, changed, detail, &mut told).ok_or(told.work)?;
        all.extend(tell_changed(reads, describer));
    }
    Ok((all, told))
}

/// What the changed sessions hold now; `None` where that says not enough.
fn read(
    places: &Places,
    found: &Found,
    changed: Vec<Changed>,
    detail: Detail,
    told: &mut Told,
) -> Option<Vec<Read>> {
    let file = |changed: &Changed| &found.sessions[changed.at];
    let reckons = detail == Detail::Spending;
    // Sub-agents beside the sessions are nobody's before they are read, and what has moved is known again among all.
    let stands_alone =
        |one: &Changed| !(one.moved || reckons && one.shares) && one.agents <= file(one).subagents.len();
    if changed.len() > FEW || !changed.iter().all(stands_alone) {
        return None;
    }
    let few = Found { sessions: changed.iter().map(|one| file(one).clone()).collect(), ..Found::default() };
    let mut cache = SummaryCache::open(places.cache.as_deref());
    let Reading { facts, mut problems, replaced, work } =
        Reading::of_some(detail, wanted(&few), &mut cache, places.threads);
    told.work = work;
    told.problems.append(&mut problems);
    told.not_kept = cache.into_trouble();
    if few.sessions.iter().any(|file| replaced.iter().any(|path| **path == *file.path)) {
        return None;
    }
    let (reads, _) = assemble(facts, few.sessions, Vec::new());
    if reads.len() < changed.len() || (reckons && reads.iter().any(Read::holds_copies)) {
        return None;
    }
    let is_session = |(read, _): &(Read, Changed)| !read.is_foreign();
    let forked = |(read, changed): (Read, Changed)| read.forked_from(changed.forked_from);
    Some(reads.into_iter().zip(changed).filter(is_session).map(forked).collect())
}

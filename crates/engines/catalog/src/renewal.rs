//! Updates all sessions where only a few changed: those are read, the others come from the saved digests.

use transcript::TranscriptFile;

use crate::assembly::{ReadSession, assemble};
use crate::describe::Describer;
use crate::digest::{LaunchContext, SessionDigest};
use crate::kept_cards::{Changed, KeptCards};
use crate::reading::{ReadFacts, wanted};
use crate::summary_cache::SummaryCache;
use crate::types::{Detail, Discovery, IoStats, Locations, ReadProgress, ReadReport};

/// Where more sessions than these changed, everything is read and saved again.
const FEW: usize = 32;

/// Maps the saved digests of unchanged sessions with `map`, their launch contexts interned by `intern`, and the
/// changed sessions with `map_changed`.
///
/// Fails, with the I/O spent so far, where all transcripts have to be read: a session was added or removed, many
/// changed, or the cost of a changed one depends on others whose messages it holds. `progress` ends the reading by
/// returning false; the changed sessions are missing then.
#[expect(clippy::too_many_arguments, reason = "three of them are what is done with each kind of session")]
pub(crate) fn renewed<S, T: Send>(
    places: &Locations,
    found: &Discovery,
    pricing_version: Option<u64>,
    describer: &mut Describer,
    progress: &mut dyn FnMut(ReadProgress) -> bool,
    intern: impl Fn(&mut Describer, &LaunchContext<'_>) -> S + Sync,
    map: impl Fn(&TranscriptFile, &SessionDigest<'_>, &S) -> Option<T> + Sync,
    map_changed: impl FnOnce(Vec<ReadSession>, &mut Describer) -> Vec<T>,
) -> Result<(Vec<T>, ReadReport), IoStats> {
    let kept = KeptCards::open(places, found).ok_or(IoStats::default())?;
    let cards = kept.told(found, pricing_version, places.threads, describer, intern, map);
    let (mut all, changed) = cards.ok_or(IoStats::default())?;
    let mut report = ReadReport { problems: found.problems.clone(), ..ReadReport::default() };
    if !changed.is_empty() {
        let detail = if pricing_version.is_some() { Detail::Spending } else { Detail::Facts };
        let reads = read(places, found, changed, detail, progress, &mut report).ok_or(report.work)?;
        all.extend(map_changed(reads, describer));
    }
    Ok((all, report))
}

/// Reads the changed sessions; `None` where that is not sufficient.
fn read(
    places: &Locations,
    found: &Discovery,
    changed: Vec<Changed>,
    detail: Detail,
    progress: &mut dyn FnMut(ReadProgress) -> bool,
    report: &mut ReadReport,
) -> Option<Vec<ReadSession>> {
    let file = |changed: &Changed| &found.sessions[changed.at];
    let needs_usage = detail == Detail::Spending;
    // The session of a sub-agent file next to the sessions is unknown before the file is read, and moved files can
    // only be recognized among all.
    let is_alone =
        |one: &Changed| !(one.moved || needs_usage && one.shares) && one.agents <= file(one).subagents.len();
    if changed.len() > FEW || !changed.iter().all(is_alone) {
        return None;
    }
    let few =
        Discovery { sessions: changed.iter().map(|one| file(one).clone()).collect(), ..Discovery::default() };
    let mut cache = SummaryCache::open(places.cache.as_deref());
    let ReadFacts { facts, mut problems, replaced, work, is_interrupted } =
        ReadFacts::load_some(detail, wanted(&few), &mut cache, places.threads, progress);
    report.work = work;
    report.problems.append(&mut problems);
    report.not_kept = cache.into_trouble();
    if is_interrupted {
        return Some(Vec::new());
    }
    if few.sessions.iter().any(|file| replaced.iter().any(|path| **path == *file.path)) {
        return None;
    }
    let (reads, _) = assemble(facts, few.sessions, Vec::new());
    if reads.len() < changed.len() || (needs_usage && reads.iter().any(ReadSession::holds_copies)) {
        return None;
    }
    let is_session = |(read, _): &(ReadSession, Changed)| !read.is_foreign();
    let forked = |(read, changed): (ReadSession, Changed)| read.forked_from(changed.forked_from);
    Some(reads.into_iter().zip(changed).filter(is_session).map(forked).collect())
}

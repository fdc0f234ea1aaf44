//! Updates all sessions where only a few changed: those are read, the others come from the saved digests.

use model::{Session, SessionId};
use transcript::TranscriptFile;

use crate::assembly::{ReadSession, assemble};
use crate::describe::{Describer, InternedContext};
use crate::digest::{LaunchContext, SessionDigest};
use crate::kept_digests::{Changed, KeptDigests};
use crate::reading::{ReadFacts, file_requests};
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
pub(crate) fn renew<S, T: Send>(
    places: &Locations,
    found: &Discovery,
    pricing_version: Option<u64>,
    describer: &mut Describer,
    progress: &mut dyn FnMut(ReadProgress) -> bool,
    intern: impl Fn(&mut Describer, &LaunchContext<'_>) -> S + Sync,
    map: impl Fn(&TranscriptFile, &SessionDigest<'_>, &S) -> Option<T> + Sync,
    map_changed: impl FnOnce(Vec<ReadSession>, &mut Describer) -> Vec<T>,
) -> Result<(Vec<T>, ReadReport), IoStats> {
    let kept = KeptDigests::open(places, found).ok_or(IoStats::default())?;
    let digests = kept.map_unchanged(found, pricing_version, places.threads, describer, intern, map);
    let (mut all, changed) = digests.ok_or(IoStats::default())?;
    let mut report = ReadReport { problems: found.problems.clone(), ..ReadReport::default() };
    if !changed.is_empty() {
        let detail = if pricing_version.is_some() { Detail::Spending } else { Detail::Facts };
        let reads = read(places, found, changed, detail, progress, &mut report).ok_or(report.work)?;
        all.extend(map_changed(reads, describer));
    }
    Ok((all, report))
}

/// One session, from its saved digest or, where it alone has to be read again, from its transcript.
///
/// `None` where that is not sufficient: there is no such session, one was added or removed, or one that changed holds
/// messages of others.
pub(crate) fn renew_one(
    places: &Locations,
    found: &Discovery,
    id: &SessionId,
    pricing_version: u64,
    describer: &mut Describer,
    progress: &mut dyn FnMut(ReadProgress) -> bool,
    map: impl Fn(&TranscriptFile, &SessionDigest<'_>, &InternedContext) -> Session + Sync,
) -> Option<Renewed> {
    let kept = KeptDigests::open(places, found)?;
    let map = |file: &TranscriptFile, digest: &SessionDigest<'_>, held: &InternedContext| {
        (file.id == *id).then(|| map(file, digest, held))
    };
    let version = Some(pricing_version);
    let (mut all, mut changed) =
        kept.map_unchanged(found, version, places.threads, describer, Describer::intern, map)?;
    if changed.iter().any(|one| one.moved || one.shares) {
        return None;
    }
    if let Some(session) = all.pop() {
        return Some(Renewed::Kept(Box::new(session)));
    }
    changed.retain(|one| found.sessions[one.at].id == *id);
    let mut report = ReadReport::default();
    let read = read(places, found, changed, Detail::Spending, progress, &mut report)?.pop()?;
    Some(Renewed::Read(Box::new(read)))
}

/// A session that was asked for by itself.
pub(crate) enum Renewed {
    /// As its digest was saved.
    Kept(Box<Session>),
    /// As its transcript is now.
    Read(Box<ReadSession>),
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
        ReadFacts::load_some(detail, file_requests(&few), &mut cache, places.threads, progress);
    report.work = work;
    report.problems.append(&mut problems);
    report.not_kept = cache.into_error();
    if is_interrupted {
        return Some(Vec::new());
    }
    if few.sessions.iter().any(|file| replaced.iter().any(|path| **path == *file.path)) {
        return None;
    }
    let (reads, _) = assemble(facts, few.sessions, Vec::new());
    // Their summaries are titles of sessions that were not read.
    if reads.iter().any(ReadSession::names_others) {
        return None;
    }
    if reads.len() < changed.len() || (needs_usage && reads.iter().any(ReadSession::holds_copies)) {
        return None;
    }
    let is_session = |(read, _): &(ReadSession, Changed)| !read.is_foreign();
    let whole = |(read, changed): (ReadSession, Changed)| read.with_others(changed.others);
    Some(reads.into_iter().zip(changed).filter(is_session).map(whole).collect())
}

//! The whole catalog in one pass: find, read what is new, describe, relate, sort.

use std::collections::HashSet;
use std::mem;
use std::path::{Path, PathBuf};

use model::{MessageUsage, Session, SessionId};
use system::join;
use transcript::{OpenTranscript, TranscriptFile};

use crate::describe::Describer;
use crate::digest::SessionDigest;
use crate::discover::discover;
use crate::facts::Owner;
use crate::fresh::read_fresh_from;
use crate::overlay::SessionOverlay;
use crate::reading::{FileRequest, LoadedCache, ReadFacts};
use crate::summary_cache::SummaryCache;
use crate::types::{Catalog, CatalogEntry, Detail, Locations, ReadProgress, assemble_catalog, sort};

/// Describes some sessions by their own transcripts; their lineage and cost need [`read`].
pub fn describe_some(places: &Locations, files: &[&TranscriptFile]) -> Vec<Session> {
    let wanted = |file: &&TranscriptFile| FileRequest {
        path: file.path.to_path_buf(),
        stamp: file.stamp,
        owner: Owner::Session(file.id.clone()),
    };
    let mut cache = SummaryCache::open(places.cache.as_deref());
    let wanted = files.iter().map(wanted).collect();
    let reading = ReadFacts::load_some(Detail::Facts, wanted, &mut cache, places.threads, |_| true);
    let mut describer = Describer::new(places);
    let overlay = SessionOverlay::read(places);
    let facts = |file: &&&TranscriptFile| reading.facts.get(file.path.as_os_str());
    let sessions = files.iter().filter_map(|file| {
        let digest = SessionDigest::new(file, &facts(&file)?.summary);
        let mut session = describer.describe(file, &digest);
        overlay.apply(&mut session);
        Some(session)
    });
    sessions.collect()
}

/// The sessions that are wanted as they were described last, by transcripts that are gone; without their files.
pub fn last_known(places: &Locations, is_wanted: impl Fn(&SessionId) -> bool) -> Vec<LastKnown> {
    // Where nothing was ever listed, nothing is known.
    let Some(cache) = places.cache.as_deref().filter(|cache| cache.exists()) else { return Vec::new() };
    let gone = SummaryCache::open(Some(cache)).load_gone(is_wanted);
    if gone.is_empty() {
        return Vec::new();
    }
    let mut describer = Describer::new(places);
    let overlay = SessionOverlay::read(places);
    let mut seen = HashSet::new();
    let known = gone.into_iter().filter(|(id, ..)| seen.insert(id.clone())).map(|(id, path, facts)| {
        let file = TranscriptFile::new(id.clone(), path.as_path(), facts.stamp);
        let mut session = describer.describe(&file, &SessionDigest::new(&file, &facts.summary));
        overlay.apply(&mut session);
        LastKnown { session: Session { file: None, ..session }, transcript: path }
    });
    known.collect()
}

/// A session as it was described last, and the transcript by which it was.
#[derive(Debug, Clone, PartialEq)]
pub struct LastKnown {
    /// The session, without its file.
    pub session: Session,
    /// Where its transcript was.
    pub transcript: PathBuf,
}

/// The API messages in a session's own transcript, as far as it can be read.
pub fn messages(places: &Locations, id: &SessionId, transcript: &Path) -> Vec<MessageUsage> {
    let Ok(stamp) = OpenTranscript::open(transcript).and_then(|open| open.stamp()) else { return Vec::new() };
    let owner = Owner::Session(id.clone());
    let wanted = FileRequest { path: transcript.to_owned(), stamp, owner };
    let mut cache = SummaryCache::open(places.cache.as_deref());
    let mut reading = ReadFacts::load_some(Detail::Spending, vec![wanted], &mut cache, 1, |_| true);
    reading.facts.remove(transcript.as_os_str()).map(|facts| facts.messages).unwrap_or_default()
}

/// Reads the catalog; `progress` is called after every file that is read, and ends the reading by
/// returning false.
pub fn read(places: &Locations, detail: Detail, mut progress: impl FnMut(ReadProgress) -> bool) -> Catalog {
    // The cache is in another folder than the transcripts.
    let (found, kept) = join(|| discover(places), || LoadedCache::load(places.cache.as_deref(), detail));
    let mut fresh = read_fresh_from(kept, places, &found, detail, &mut progress);
    let overlay = SessionOverlay::read(places);
    let mut describer = Describer::new(places);
    let mut sessions = fresh.entries(&mut describer);
    for CatalogEntry { session, .. } in &mut sessions {
        overlay.apply(session);
    }
    sessions.extend(overlay.registry_only(&found, &mut describer));
    describer.remember();
    sort(&mut sessions);
    let unattached_messages = fresh.unattached_messages();
    Catalog {
        unattached_messages,
        ..assemble_catalog(&found, sessions, overlay.into_problems(), mem::take(&mut fresh.report))
    }
}

//! The whole catalog in one pass: find, read what is new, describe, relate, sort.

use std::mem;
use std::path::Path;

use model::{MessageUsage, Session, SessionId};
use system::{FileStamp, join};
use transcript::TranscriptFile;

use crate::card::Card;
use crate::describe::Describer;
use crate::discover::find;
use crate::facts::Owner;
use crate::fresh::fresh_from;
use crate::others::Others;
use crate::reading::{Kept, Reading, Wanted};
use crate::summary_cache::SummaryCache;
use crate::types::{Catalog, Detail, Entry, Places, Progress, sort, whole};

/// What some sessions' own transcripts say of them; where they come from and what they cost needs [`read`].
pub fn describe_some(places: &Places, files: &[&TranscriptFile]) -> Vec<Session> {
    let wanted = |file: &&TranscriptFile| Wanted {
        path: file.path.to_path_buf(),
        stamp: file.stamp,
        owner: Owner::Session(file.id.clone()),
    };
    let mut cache = SummaryCache::open(places.cache.as_deref());
    let reading =
        Reading::of_some(Detail::Facts, files.iter().map(wanted).collect(), &mut cache, places.threads);
    let mut describer = Describer::new(&places.global_files);
    let others = Others::read(places);
    let facts = |file: &&&TranscriptFile| reading.facts.get(file.path.as_os_str());
    let told = files.iter().filter_map(|file| {
        let card = Card::of(file.id.as_str(), &facts(&file)?.summary);
        let mut session = describer.describe(file, &card);
        others.tell(&mut session);
        Some(session)
    });
    told.collect()
}

/// The API messages in a session's own transcript, as far as it can be read.
pub fn messages(places: &Places, id: &SessionId, transcript: &Path) -> Vec<MessageUsage> {
    let Ok(found) = std::fs::metadata(transcript) else { return Vec::new() };
    let owner = Owner::Session(id.clone());
    let wanted = Wanted { path: transcript.to_owned(), stamp: FileStamp::from_metadata(&found), owner };
    let mut cache = SummaryCache::open(places.cache.as_deref());
    let mut reading = Reading::of_some(Detail::Spending, vec![wanted], &mut cache, 1);
    reading.facts.remove(transcript.as_os_str()).map(|facts| facts.messages).unwrap_or_default()
}

/// Reads the catalog; `progress` hears of every file that is read.
pub fn read(places: &Places, detail: Detail, mut progress: impl FnMut(Progress)) -> Catalog {
    // What is kept lies elsewhere than what is found.
    let (found, kept) = join(|| find(places), || Kept::load(places.cache.as_deref(), detail));
    let mut fresh = fresh_from(kept, places, &found, detail, &mut progress);
    let others = Others::read(places);
    let mut describer = Describer::new(&places.global_files);
    let mut sessions = fresh.entries(&mut describer);
    for Entry { session, .. } in &mut sessions {
        others.tell(session);
    }
    sessions.extend(others.alone(&found, &mut describer));
    sort(&mut sessions);
    let strays = fresh.strays();
    Catalog { strays, ..whole(&found, sessions, others.problems(), mem::take(&mut fresh.told)) }
}

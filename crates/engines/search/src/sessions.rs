//! The sessions of the index by number, and which of them hold a chunk.

use model::SessionId;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::files::{FileList, FileTotals};
use crate::source::SourceKind;

const NONE: u32 = u32::MAX;

/// The numbers of the sessions of each source, by their names.
type Numbers = [FxHashMap<SessionId, u32>; SourceKind::ALL.len()];

/// The sessions of the indexed files. They are stored in a file: raise [`crate::kept_sessions::FORMAT`] when a field
/// changes.
#[derive(Debug, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(PartialEq))]
pub(crate) struct Sessions {
    ids: Vec<SessionId>,
    sources: Vec<SourceKind>,
    files: u64,
    /// The session of each file, by the file's number.
    of_file: Vec<u32>,
    /// The other files that hold a record.
    shared: FxHashMap<u64, Vec<u64>>,
    /// For each file number, whether it owns records that other files hold.
    lends: Vec<bool>,
    spoken: Vec<u64>,
    mean_spoken: f32,
    chunks: u64,
    text: u64,
    /// Which sessions may be found; `None` for all.
    #[serde(skip)]
    admitted: Option<Vec<bool>>,
}

impl Sessions {
    /// The sessions of a list of files.
    pub(crate) fn from_list(list: &FileList) -> Result<Self, Error> {
        let mut sessions = Self::default();
        let mut numbers = Numbers::default();
        list.shares(|share| sessions.add(share, &mut numbers))?;
        sessions.lends = vec![false; sessions.of_file.len()];
        for shared in list.shared()? {
            if let Some(lends) = usize::try_from(shared.owner).ok().and_then(|at| sessions.lends.get_mut(at))
            {
                *lends = true;
            }
            sessions.shared.entry(shared.record).or_default().push(shared.file);
        }
        let total: u64 = sessions.spoken.iter().sum();
        sessions.mean_spoken = (total as f32 / sessions.speaking().max(1) as f32).max(1.0);
        Ok(sessions)
    }

    fn add(&mut self, share: FileTotals<'_>, numbers: &mut Numbers) {
        self.chunks += share.chunks;
        self.text += share.text;
        self.files += 1;
        let Ok(file) = usize::try_from(share.file) else { return };
        if self.of_file.len() <= file {
            self.of_file.resize(file + 1, NONE);
        }
        let Some(session) = share.session else { return };
        let numbers = &mut numbers[usize::from(share.source.number())];
        let number = if let Some(number) = numbers.get(session) {
            *number
        } else {
            let (Ok(id), Ok(number)) = (session.parse::<SessionId>(), u32::try_from(self.ids.len())) else {
                return;
            };
            self.ids.push(id.clone());
            self.sources.push(share.source);
            self.spoken.push(0);
            numbers.insert(id, number);
            number
        };
        self.of_file[file] = number;
        self.spoken[number as usize] += share.spoken;
    }

    /// Lets only these sessions be found.
    pub(crate) fn admit(&mut self, wanted: impl Fn(SourceKind, &SessionId) -> bool) {
        self.admitted =
            Some(self.sources.iter().zip(&self.ids).map(|(source, id)| wanted(*source, id)).collect());
    }

    /// Lets all sessions be found.
    pub(crate) fn admit_all(&mut self) {
        self.admitted = None;
    }

    /// Whether any session may be found.
    pub(crate) fn admits_any(&self) -> bool {
        self.admitted.as_ref().is_none_or(|admitted| admitted.contains(&true))
    }

    /// The sessions of one source that contain text.
    pub(crate) fn speaking_of(&self, source: SourceKind) -> impl Iterator<Item = &SessionId> {
        let all = self.sources.iter().zip(&self.ids).zip(&self.spoken);
        all.filter(move |((of, _), spoken)| **of == source && **spoken > 0).map(|((_, id), _)| id)
    }

    /// The source of a session.
    pub(crate) fn source(&self, session: usize) -> SourceKind {
        self.sources[session]
    }

    pub(crate) fn len(&self) -> usize {
        self.ids.len()
    }

    pub(crate) fn id(&self, session: usize) -> &SessionId {
        &self.ids[session]
    }

    /// Chunks that are found by their words, in all.
    pub(crate) fn chunks(&self) -> u64 {
        self.chunks
    }

    /// The length of all texts that are indexed, in bytes.
    pub(crate) fn text(&self) -> u64 {
        self.text
    }

    /// The number of sessions that contain text.
    pub(crate) fn speaking(&self) -> u64 {
        self.spoken.iter().filter(|spoken| **spoken > 0).count() as u64
    }

    /// The number of sessions that contain text and may be found.
    pub(crate) fn admitted_speaking(&self) -> usize {
        let all = self.spoken.iter().enumerate();
        all.filter(|(session, spoken)| **spoken > 0 && self.is_admitted(*session)).count()
    }

    /// The length of a session relative to the mean.
    pub(crate) fn relative_length(&self, session: usize) -> f32 {
        self.spoken[session] as f32 / self.mean_spoken
    }

    /// Whether a session may be found.
    pub(crate) fn is_admitted(&self, session: usize) -> bool {
        self.admitted.as_ref().is_none_or(|admitted| admitted[session])
    }

    /// Calls `each` with every session that holds a record and may be found.
    pub(crate) fn holders(
        &self,
        file: Option<u64>,
        record: impl Fn() -> Option<u64>,
        mut each: impl FnMut(usize),
    ) {
        self.all_holders(file, record, |session| {
            if self.is_admitted(session) {
                each(session);
            }
        });
    }

    /// Calls `each` with every session that holds a record, whether it may be found or not.
    pub(crate) fn all_holders(
        &self,
        file: Option<u64>,
        record: impl Fn() -> Option<u64>,
        mut each: impl FnMut(usize),
    ) {
        let Some(file) = file else { return };
        let owner = self.session_of(file);
        if let Some(owner) = owner {
            each(owner);
        }
        let lends = usize::try_from(file).ok().and_then(|at| self.lends.get(at));
        if lends != Some(&true) {
            return;
        }
        let others = record().and_then(|record| self.shared.get(&record)).into_iter().flatten();
        let mut given = owner;
        for session in others.filter_map(|file| self.session_of(*file)) {
            if given == Some(session) || owner == Some(session) {
                continue;
            }
            given = Some(session);
            each(session);
        }
    }

    /// The numbers of the files that may hold records of some sessions: their own, and those that lend any.
    pub(crate) fn files_of<'a>(&'a self, is_wanted: &'a [bool]) -> impl Iterator<Item = u64> + 'a {
        let files = (0..).zip(&self.of_file).zip(&self.lends);
        let wanted = files.filter(|((_, session), lends)| {
            **lends || is_wanted.get(**session as usize).is_some_and(|wanted| *wanted)
        });
        wanted.map(|((file, _), _)| file)
    }

    /// The other sessions that hold a record, whether they may be found or not.
    pub(crate) fn also_in(&self, session: usize, file: u64, record: u64) -> Vec<SessionId> {
        let others = self.shared.get(&record).into_iter().flatten().copied();
        let mut all: Vec<usize> =
            std::iter::once(file).chain(others).filter_map(|file| self.session_of(file)).collect();
        all.sort_unstable();
        all.dedup();
        all.into_iter().filter(|other| *other != session).map(|other| self.ids[other].clone()).collect()
    }

    /// The files that hold a record besides the one it was indexed for.
    pub(crate) fn files_with(&self, record: u64) -> impl Iterator<Item = u64> {
        self.shared.get(&record).into_iter().flatten().copied()
    }

    /// Files that are indexed.
    pub(crate) fn files(&self) -> u64 {
        self.files
    }

    fn session_of(&self, file: u64) -> Option<usize> {
        let number = *self.of_file.get(usize::try_from(file).ok()?)?;
        (number != NONE).then_some(number as usize)
    }
}

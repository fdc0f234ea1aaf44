//! Finds the file that owns each record: the first it was indexed for.

use rustc_hash::{FxHashMap, FxHashSet};
use tantivy::Searcher as Text;

use crate::columns::{Columns, NumberColumn};

/// How many records are looked up one by one; for more, loading all is faster.
const FEW: usize = 16;

/// The owners of records, extended while new files are indexed.
pub(crate) struct RecordOwners {
    known: FxHashMap<u64, u64>,
    /// The index as it was before the pass, while it has not been read whole.
    unread: Option<Unread>,
    /// Files that were taken out since: they own nothing.
    gone: FxHashSet<u64>,
}

struct Unread {
    text: Text,
    columns: Vec<Columns>,
    /// The number of records looked up.
    asked: usize,
}

impl RecordOwners {
    /// Starts with the records of an index.
    pub(crate) fn new(text: Text) -> tantivy::Result<Self> {
        let columns = Columns::open(&text)?;
        let unread = (text.num_docs() > 0).then_some(Unread { text, columns, asked: 0 });
        Ok(Self { known: FxHashMap::default(), unread, gone: FxHashSet::default() })
    }

    /// The owner of a record; `None` where it has none yet: from now on it is this file's.
    pub(crate) fn owner(&mut self, record: u64, file: u64) -> Option<u64> {
        if let Some(owner) = self.known.get(&record) {
            return Some(*owner);
        }
        let owner = self.unread_owner(record);
        self.known.insert(record, owner.unwrap_or(file));
        owner
    }

    /// Forgets what a file owned.
    pub(crate) fn forget(&mut self, file: u64) {
        self.known.retain(|_, owner| *owner != file);
        self.gone.insert(file);
    }

    fn unread_owner(&mut self, record: u64) -> Option<u64> {
        let unread = self.unread.as_mut()?;
        unread.asked += 1;
        if unread.asked > FEW {
            let unread = self.unread.take()?;
            self.known.reserve(usize::try_from(unread.text.num_docs()).unwrap_or_default());
            unread.each(|record, file| {
                if !self.gone.contains(&file) {
                    self.known.entry(record).or_insert(file);
                }
            });
            return self.known.get(&record).copied();
        }
        let mut owner = None;
        unread.each_of(record, |file| owner = owner.or(Some(file).filter(|file| !self.gone.contains(file))));
        owner
    }
}

impl Unread {
    /// Every chunk's record and file.
    fn each(&self, mut each: impl FnMut(u64, u64)) {
        for (columns, segment) in self.columns.iter().zip(self.text.segment_readers()) {
            columns.each(segment, [NumberColumn::Record], |document, [record]| {
                if let Some(file) = columns.file(document).filter(|_| record != 0) {
                    each(record, file);
                }
            });
        }
    }

    /// The files of one record's chunks.
    fn each_of(&self, wanted: u64, mut each: impl FnMut(u64)) {
        for (columns, segment) in self.columns.iter().zip(self.text.segment_readers()) {
            columns.each(segment, [NumberColumn::Record], |document, [record]| {
                if record == wanted {
                    columns.file(document).into_iter().for_each(&mut each);
                }
            });
        }
    }
}

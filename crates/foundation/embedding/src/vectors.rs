//! Finds the nearest of all vectors in a file, exactly: every row is looked at, on several threads.
//!
//! The file is read in blocks rather than mapped, so that a failing disk is an error and not the end of
//! the process.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering as Memory};

use pulp::NullaryFnOnce;

use crate::error::{Error, io_failed};
use crate::rows::{HEADER, Row, VectorKey, VectorModel, checksum};
use crate::vector::{QuantizedVector, Vector};

/// The approximate number of bytes read at a time, so that they fit into the processor's cache.
const BLOCK: usize = 256 << 10;

/// A file of vectors, open for reading: as many rows as were committed when it was opened.
#[derive(Debug)]
pub struct Vectors {
    path: PathBuf,
    file: File,
    model: VectorModel,
    rows: u64,
}

/// How a search treats a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowAction {
    /// Ignores the row.
    Skip,
    /// Reports the row if it is among the nearest.
    Rank,
    /// Reports the row in any case.
    Report,
}

/// A vector and how near it is to the question's.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Neighbor {
    /// The text the vector belongs to.
    pub key: VectorKey,
    /// The cosine of the angle between the two.
    pub cosine: f32,
}

/// The result of a search.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NearestVectors {
    /// The nearest of those to `Rank`, nearest first; of equals the smaller key.
    pub nearest: Vec<Neighbor>,
    /// All rows with the action `Report`, by key.
    pub reported: Vec<Neighbor>,
}

impl Vectors {
    /// Opens a file of which `rows` rows are valid.
    pub fn open(path: &Path, model: VectorModel, rows: u64) -> Result<Self, Error> {
        let file = File::open(path).map_err(io_failed("open", path))?;
        check_file(&file, path, model, rows)?;
        Ok(Self { path: path.to_owned(), file, model, rows })
    }

    /// The model of the vectors.
    pub fn model(&self) -> VectorModel {
        self.model
    }

    /// The number of valid rows.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Finds the `limit` nearest vectors to the question, among the rows that `look` ranks, with the given number of
    /// threads. A question of another length finds nothing.
    pub fn search(
        &self,
        question: &Vector,
        limit: usize,
        threads: usize,
        look: impl Fn(VectorKey) -> RowAction + Sync,
    ) -> Result<NearestVectors, Error> {
        if question.numbers().len() != self.model.dimensions {
            return Ok(NearestVectors::default());
        }
        let question = Question::new(&question.quantize());
        let next = AtomicU64::new(0);
        let scan = || self.scan(&question, limit, &next, &look);
        let lists = std::thread::scope(|scope| {
            let others: Vec<_> = (1..threads).map(|_| scope.spawn(scan)).collect();
            let own = scan();
            let joined = others
                .into_iter()
                .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            std::iter::once(own).chain(joined).collect::<Result<Vec<_>, _>>()
        })?;
        let mut found = NearestVectors::default();
        for list in lists {
            found.nearest.extend(list.nearest.into_iter().map(|Nearness(near)| near));
            found.reported.extend(list.reported);
        }
        found.nearest.sort_unstable_by_key(|near| Nearness(*near));
        found.nearest.truncate(limit);
        found.reported.sort_unstable_by_key(|near| near.key);
        Ok(found)
    }

    /// Visits every row with the given number of threads. Each thread starts with the value of `begin` and calls
    /// `each` with it, the row's key and its similarity to the question. With a question of another length, nothing
    /// is visited.
    pub fn each_near<T: Send>(
        &self,
        question: &Vector,
        threads: usize,
        begin: impl Fn() -> T + Sync,
        each: impl Fn(&mut T, VectorKey, f32) + Sync,
    ) -> Result<Vec<T>, Error> {
        if question.numbers().len() != self.model.dimensions {
            return Ok(Vec::new());
        }
        let question = Question::new(&question.quantize());
        let next = AtomicU64::new(0);
        let go = || {
            let processor = pulp::Arch::new();
            let (mut taken, mut block) = (begin(), Vec::new());
            while self.read_next(&next, &mut block)? {
                let (question, each) = (&question, &each);
                processor.dispatch(EachNear {
                    block: &block,
                    size: self.model.row(),
                    question,
                    taken: &mut taken,
                    each,
                });
            }
            Ok(taken)
        };
        std::thread::scope(|scope| {
            let others: Vec<_> = (1..threads).map(|_| scope.spawn(go)).collect();
            let own = go();
            let joined = others
                .into_iter()
                .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            std::iter::once(own).chain(joined).collect()
        })
    }

    /// Calls `each` with what every row is of, in order.
    pub fn each_key(&self, mut each: impl FnMut(VectorKey)) -> Result<(), Error> {
        self.each(|key, _| {
            each(key);
            Ok(())
        })
    }

    /// The checksum of all rows; every one of them is read.
    pub fn checksum(&self) -> Result<u64, Error> {
        let mut sum: u64 = 0;
        self.each(|_, row| {
            sum = sum.wrapping_add(checksum(row));
            Ok(())
        })?;
        Ok(sum)
    }

    /// Takes block after block until all are taken.
    fn scan(
        &self,
        question: &Question,
        limit: usize,
        next: &AtomicU64,
        look: &impl Fn(VectorKey) -> RowAction,
    ) -> Result<List, Error> {
        let processor = pulp::Arch::new();
        let mut list = List { limit, nearest: BinaryHeap::new(), reported: Vec::new() };
        let mut block = Vec::new();
        while self.read_next(next, &mut block)? {
            processor.dispatch(TakeUp {
                list: &mut list,
                block: &block,
                size: self.model.row(),
                question,
                look,
            });
        }
        Ok(list)
    }

    /// Calls `each` with every row, in order, and its bytes.
    pub(crate) fn each(
        &self,
        mut each: impl FnMut(VectorKey, &[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let next = AtomicU64::new(0);
        let mut block = Vec::new();
        while self.read_next(&next, &mut block)? {
            for bytes in block.chunks_exact(self.model.row()) {
                if let Some(row) = Row::parse(bytes) {
                    each(row.key, bytes)?;
                }
            }
        }
        Ok(())
    }

    /// Reads the next rows that no thread has taken; false when there are none.
    fn read_next(&self, next: &AtomicU64, block: &mut Vec<u8>) -> Result<bool, Error> {
        let size = self.model.row();
        let many = (BLOCK / size).max(1) as u64;
        let first = next.fetch_add(many, Memory::Relaxed);
        if first >= self.rows {
            return Ok(false);
        }
        // At most `many` rows, which are few.
        let rows = usize::try_from(many.min(self.rows - first)).unwrap_or_default();
        block.resize(rows * size, 0);
        self.file.read_exact_at(block, self.model.offset(first)).map_err(io_failed("read", &self.path))?;
        Ok(true)
    }
}

/// Checks that a file has this many rows of the model.
pub(crate) fn check_file(file: &File, path: &Path, model: VectorModel, rows: u64) -> Result<(), Error> {
    let length = file.metadata().map_err(io_failed("look at", path))?.len();
    if length < model.offset(rows) {
        return Err(Error::Damaged { path: path.to_owned() });
    }
    let mut header = [0; HEADER];
    file.read_exact_at(&mut header, 0).map_err(io_failed("read", path))?;
    if header != model.header() {
        return Err(Error::OtherModel { path: path.to_owned() });
    }
    Ok(())
}

/// The vector of a question, widened once for all rows.
struct Question {
    numbers: Vec<i16>,
    scale: f32,
}

impl Question {
    fn new(vector: &QuantizedVector) -> Self {
        Self {
            numbers: vector.numbers.iter().map(|number| i16::from(*number)).collect(),
            scale: vector.scale,
        }
    }

    #[expect(clippy::inline_always, reason = "only what is inlined is built for the processor at hand")]
    #[inline(always)]
    fn cosine(&self, row: &Row<'_>) -> f32 {
        let both = self.numbers.iter().zip(row.numbers);
        // Sixteen thousand products of two bytes do not overflow; looking for it would cost ten times as much.
        let product = both.fold(0i32, |sum, (one, other)| {
            sum.wrapping_add(i32::from(*one).wrapping_mul(i32::from(other.cast_signed())))
        });
        product as f32 * self.scale * row.scale
    }
}

/// A visit of every row of a block, compiled for the current processor's features. A struct, because a closure's
/// caller may not be inlined and would then be compiled for the baseline processor.
struct EachNear<'a, T, E> {
    block: &'a [u8],
    size: usize,
    question: &'a Question,
    taken: &'a mut T,
    each: &'a E,
}

impl<T, E: Fn(&mut T, VectorKey, f32)> NullaryFnOnce for EachNear<'_, T, E> {
    type Output = ();

    #[expect(clippy::inline_always, reason = "only what is inlined is built for the processor at hand")]
    #[inline(always)]
    fn call(self) {
        let rows = self.block.chunks_exact(self.size).filter_map(Row::parse);
        for row in rows.filter(|row| row.scale > 0.0) {
            (self.each)(self.taken, row.key, self.question.cosine(&row));
        }
    }
}

/// Collects the rows of a block into the list of the nearest.
struct TakeUp<'a, L> {
    list: &'a mut List,
    block: &'a [u8],
    size: usize,
    question: &'a Question,
    look: &'a L,
}

impl<L: Fn(VectorKey) -> RowAction> NullaryFnOnce for TakeUp<'_, L> {
    type Output = ();

    #[expect(clippy::inline_always, reason = "only what is inlined is built for the processor at hand")]
    #[inline(always)]
    fn call(self) {
        self.list.take_up(self.block, self.size, self.question, self.look);
    }
}

/// The nearest rows that one thread has found so far.
struct List {
    limit: usize,
    /// The farthest of them on top.
    nearest: BinaryHeap<Nearness>,
    reported: Vec<Neighbor>,
}

impl List {
    #[expect(clippy::inline_always, reason = "only what is inlined is built for the processor at hand")]
    #[inline(always)]
    fn take_up(
        &mut self,
        block: &[u8],
        size: usize,
        question: &Question,
        look: &impl Fn(VectorKey) -> RowAction,
    ) {
        for row in block.chunks_exact(size).filter_map(Row::parse).filter(|row| row.scale > 0.0) {
            let looked = look(row.key);
            if looked == RowAction::Skip {
                continue;
            }
            let near = Neighbor { key: row.key, cosine: question.cosine(&row) };
            // A damaged row is near to nothing.
            if !near.cosine.is_finite() {
                continue;
            }
            match looked {
                RowAction::Skip => {}
                RowAction::Report => self.reported.push(near),
                RowAction::Rank => self.rank(near),
            }
        }
    }

    fn rank(&mut self, near: Neighbor) {
        let near = Nearness(near);
        if self.nearest.len() < self.limit {
            self.nearest.push(near);
        } else if let Some(mut farthest) = self.nearest.peek_mut()
            && near < *farthest
        {
            *farthest = near;
        }
    }
}

/// Ordered by how near it is: the nearest first.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Nearness(Neighbor);

impl Eq for Nearness {}

impl Ord for Nearness {
    fn cmp(&self, other: &Self) -> Ordering {
        let (one, other) = (self.0, other.0);
        other.cosine.total_cmp(&one.cosine).then(one.key.cmp(&other.key))
    }
}

impl PartialOrd for Nearness {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

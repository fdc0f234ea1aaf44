//! Pages of a transcript's main chain, read from where they are: a page costs its own bytes, however long the file is,
//! unless the branch it is on has to be looked for far back.
//!
//! Towards the beginning the chain is followed from record to parent, as [`Chain`](crate::Chain) does for a whole file.
//! Towards the end the last record that was read decides which branch is main; from a record that it has left, the page
//! continues to the end of that record's branch.

use std::collections::HashSet;
use std::fmt;
use std::io;
use std::path::Path;
use std::str::FromStr;

use jiff::Timestamp;

use crate::chain::{Ancestor, Ancestors, ChainEnd, Node, hash, node, parallel, tip};
use crate::copies::is_written_before;
use crate::open_transcript::OpenTranscript;
use crate::reader::{Line, Reader};
use crate::recent::{line_start, record_start};
use crate::record::{Record, RecordKind};

/// How much is read first, in bytes.
const WINDOW: u64 = 128 << 10;
/// A page is returned below its limit rather than reading more than this, in bytes.
const ENOUGH: u64 = 512 << 10;
/// How much larger the next window is where one is too small.
const GROWTH: u64 = 4;
/// How far back a page looks for the branch that leads to its first record, in bytes.
const LEAD: u64 = 64 << 10;

/// A place between two records of a transcript, and the record that leads to it.
///
/// As text `1234-9f86d081884c7d65`, or `1234` where every record before the place may lead to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// Bytes from the beginning of the file.
    pub offset: u64,
    /// A hash of the id of the last record before the place on its branch; `None` for the last one of the file.
    tip: Option<u64>,
}

/// Consecutive items of the main chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page<T> {
    /// The items, oldest first.
    pub items: Vec<T>,
    /// Where the page before this one ends; `None` at the beginning of the transcript.
    pub older: Option<Position>,
    /// Where the page after this one begins; what is written later is found there.
    pub newer: Position,
    /// Whether nothing is written after this page yet.
    pub is_last: bool,
    /// How much was read, in bytes.
    pub bytes_read: u64,
}

/// The last `limit` items before a position, or before the end of the transcript.
///
/// `show` makes an item of a record, or nothing where it is not to be seen. Where the branch has to be looked for far
/// back, it is called again for the items of the page, so that no more of them are in memory.
pub fn page_before<T>(
    path: &Path,
    before: Option<Position>,
    limit: usize,
    mut show: impl FnMut(&Record<'_>, u64) -> Option<T>,
) -> io::Result<Page<T>> {
    let size = OpenTranscript::open(path)?.stamp()?.size;
    let end = before.map_or(size, |before| before.offset.min(size));
    let (mut window, mut bytes_read) = (WINDOW, 0);
    loop {
        let start = line_start(path, end.saturating_sub(window))?.min(end);
        let is_far = window > ENOUGH;
        let mut show_near = |record: &Record<'_>, offset: u64| {
            let shown = show(record, offset)?;
            Some(if is_far { None } else { Some(shown) })
        };
        let mut records = Records::read(path, start, end, Lookback::None, &mut show_near)?;
        bytes_read += end - start;
        // Where nothing names the record before the place, it may be a copy, too.
        let is_unnamed = before.is_some_and(|before| before.tip.is_none());
        let latest = records.latest.take().filter(|_| is_unnamed);
        records.compacted.extend(latest);
        if records.may_repeat(path, start)? {
            records = Records::read(path, start, end, Lookback::Whole, &mut show_near)?;
            bytes_read += end;
        }
        let is_whole = start == 0;
        if let Some(chain) = records.leading_to(before.and_then(|before| before.tip), is_whole) {
            let found = records.items.iter().filter(|item| chain.holds(item)).count();
            if found >= limit || is_whole || (found > 0 && window >= ENOUGH) {
                let newer = Position { offset: before.map_or(records.end, |_| end), tip: chain.tip };
                records.keep_last(&chain, limit);
                if is_far {
                    records.show_again(path, &mut show)?;
                }
                return Ok(records.last_page(newer, before.is_none(), bytes_read));
            }
        }
        window *= GROWTH;
    }
}

/// The first `limit` items after a position, fewer where a later record left their branch.
///
/// `show` makes an item of a record, or nothing where it is not to be seen.
pub fn page_after<T>(
    path: &Path,
    after: Position,
    limit: usize,
    mut show: impl FnMut(&Record<'_>, u64) -> Option<T>,
) -> io::Result<Page<T>> {
    let start = record_start(path, after.offset)?;
    // What leads to the first records of the page: blocks whose results follow, and branches that are left.
    let lead = line_start(path, start.saturating_sub(LEAD))?.min(start);
    let mut records = Records::read(path, lead, start, Lookback::None, &mut |_, _| None)?;
    if !records.nodes.iter().any(|node| Some(node.id) == after.tip) {
        records.insert_tip(after.tip);
    }
    let mut reader = Reader::open_at(path, start, 0)?;
    let mut is_last = true;
    while let Some(line) = reader.next_line()? {
        let end = line.offset + line.bytes.len() as u64;
        records.observe(line, &mut show);
        if records.items.len() >= limit || (!records.items.is_empty() && end - start >= ENOUGH) {
            is_last = false;
            break;
        }
    }
    let end = reader.offset();
    let is_last = is_last || reader.next_line()?.is_none();
    let main = records.leading_to(None, true).unwrap_or_default();
    let branch = records.left_branch(after.tip, &main).unwrap_or(main);
    let newer = Position { offset: end, tip: branch.tip.or(after.tip) };
    let items = records.items.into_iter().filter(|item| branch.holds(item)).map(|item| item.shown).collect();
    let older = (start > 0).then_some(Position { offset: start, tip: after.tip });
    Ok(Page { items, older, newer, is_last, bytes_read: end - lead })
}

/// The position after the record whose line begins at `offset`, or after the first one that follows.
pub fn position_after(path: &Path, offset: u64) -> io::Result<Position> {
    let mut reader = Reader::open_at(path, record_start(path, offset)?, 0)?;
    let tip = match reader.next_line()? {
        Some(line) => node(&line).map(|node| node.id),
        None => None,
    };
    Ok(Position { offset: reader.offset(), tip })
}

/// Where the line of the record begins whose id this is or begins with; reads the transcript up to there.
pub fn offset_of(path: &Path, uuid: &str) -> io::Result<Option<u64>> {
    let finder = memchr::memmem::Finder::new(uuid);
    let mut reader = Reader::open(path)?;
    while let Some(line) = reader.next_line()? {
        if finder.find(line.bytes).is_none() {
            continue;
        }
        let Ok(record) = line.record() else { continue };
        if record.uuid().is_some_and(|known| known.starts_with(uuid)) {
            return Ok(Some(line.offset));
        }
    }
    Ok(None)
}

/// How much of what is before the records that are read is looked at for copies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lookback {
    None,
    Whole,
}

/// The records of a part of a transcript.
struct Records<T> {
    nodes: Vec<Node>,
    /// Where the record of each node begins.
    offsets: Vec<u64>,
    items: Vec<Item<T>>,
    /// The offset after the last whole line.
    end: u64,
    /// The id of the latest record.
    latest: Option<String>,
    /// The records that a compaction directly behind them names as those before it.
    compacted: Vec<String>,
    /// Where the branch continues before the items that were kept.
    older: Option<Position>,
}

/// A record that is to be seen.
struct Item<T> {
    /// A hash of its id.
    id: Option<u64>,
    offset: u64,
    shown: T,
}

/// The records that lead to a position.
#[derive(Default)]
struct Branch {
    on: HashSet<u64>,
    /// The last of them.
    tip: Option<u64>,
    /// Where the first of them begins; records without an id are shown from there on.
    first: u64,
    /// Where it continues before the records that were read.
    older: Option<Position>,
}

impl Branch {
    fn holds<T>(&self, item: &Item<T>) -> bool {
        item.id.map_or(item.offset >= self.first, |id| self.on.contains(&id))
    }
}

impl<T> Default for Records<T> {
    fn default() -> Self {
        Self {
            nodes: Vec::new(),
            offsets: Vec::new(),
            items: Vec::new(),
            end: 0,
            latest: None,
            compacted: Vec::new(),
            older: None,
        }
    }
}

impl<T> Records<T> {
    fn read(
        path: &Path,
        start: u64,
        end: u64,
        lookback: Lookback,
        show: &mut impl FnMut(&Record<'_>, u64) -> Option<T>,
    ) -> io::Result<Self> {
        let mut reader = Reader::open_at(path, start, 0)?;
        if lookback == Lookback::Whole {
            reader.remember(path, Some(Timestamp::MAX));
        }
        let mut records = Self { end: start, ..Self::default() };
        while let Some(line) = reader.next_line()? {
            if line.offset >= end {
                break;
            }
            records.observe(line, show);
            records.end = reader.offset();
        }
        Ok(records)
    }

    fn observe(&mut self, line: Line<'_>, show: &mut impl FnMut(&Record<'_>, u64) -> Option<T>) {
        let node = node(&line);
        if let Some(node) = node {
            self.offsets.push(line.offset);
            self.nodes.push(node);
        }
        let Ok(record) = line.record() else { return };
        let follows = record.logical_parent().filter(|_| record.kind() == RecordKind::CompactBoundary);
        self.compacted.extend(self.latest.take_if(|latest| Some(latest.as_str()) == follows));
        self.latest = record.uuid().map(ToOwned::to_owned).or_else(|| self.latest.take());
        if let Some(shown) = show(&record, line.offset) {
            let id = record.uuid().map(hash);
            self.items.push(Item { id, offset: line.offset, shown });
        }
    }

    /// Whether a compaction wrote records again that are in the file before `start`.
    fn may_repeat(&self, path: &Path, start: u64) -> io::Result<bool> {
        for id in &self.compacted {
            if start > 0 && is_written_before(path, id, start)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The records that lead to the one with the id `last`, or to the last one. `None` where that one, which is
    /// before those that were read, decides; `is_whole` says that none are.
    fn leading_to(&self, last: Option<u64>, is_whole: bool) -> Option<Branch> {
        let named = last.map(|last| self.nodes.iter().rposition(|node| node.id == last));
        let next = match named {
            Some(None) if !is_whole => return None,
            Some(Some(at)) => Some(at),
            Some(None) | None => tip(&self.nodes),
        };
        let mut branch = Branch { tip: next.map(|at| self.nodes[at].id), ..Branch::default() };
        let mut walk = Ancestors::new(&self.nodes, next);
        while let Some(Ancestor { at, end }) = walk.step(&self.nodes) {
            branch.first = self.offsets[at];
            let tip = match end {
                Some(ChainEnd::Missing(parent)) if !is_whole => Some(parent),
                Some(ChainEnd::Before) if !is_whole => None,
                _ => continue,
            };
            branch.older = Some(Position { offset: branch.first, tip });
            break;
        }
        branch.on = walk.on;
        let parallel = parallel(&self.nodes, &branch.on);
        branch.on.extend(parallel);
        Some(branch)
    }

    /// The branch that continues a record that the main branch has left; `None` if nothing continues it.
    fn left_branch(&self, record: Option<u64>, main: &Branch) -> Option<Branch> {
        let record = record.filter(|record| !main.on.contains(record))?;
        let (mut below, mut last) = (HashSet::from([record]), None);
        for node in &self.nodes {
            if node.parent.is_some_and(|parent| below.contains(&parent)) {
                below.insert(node.id);
                last = Some(node.id);
            }
        }
        self.leading_to(Some(last?), true)
    }

    /// Puts the record that leads to those that follow behind those that were read.
    fn insert_tip(&mut self, tip: Option<u64>) {
        let Some(tip) = tip else { return };
        self.offsets.push(self.end);
        self.nodes.push(Node::of_id(tip));
    }
}

impl<T> Records<Option<T>> {
    /// Keeps the last items of a branch, and where it continues before them.
    fn keep_last(&mut self, branch: &Branch, limit: usize) {
        self.items.retain(|item| branch.holds(item));
        let cut = self.items.len().saturating_sub(limit);
        let kept = self.items.split_off(cut);
        let before = std::mem::replace(&mut self.items, kept);
        self.older = match self.items.first().filter(|_| cut > 0) {
            None => branch.older,
            Some(first) => {
                let parent =
                    self.nodes.iter().find(|node| Some(node.id) == first.id).and_then(|node| node.parent);
                let tip = before.last().and_then(|item| item.id).or(parent);
                Some(Position { offset: first.offset, tip })
            }
        };
    }

    /// Makes the items of their records again.
    fn show_again(
        &mut self,
        path: &Path,
        show: &mut impl FnMut(&Record<'_>, u64) -> Option<T>,
    ) -> io::Result<()> {
        for item in &mut self.items {
            let mut reader = Reader::open_at(path, item.offset, 0)?;
            let Some(line) = reader.next_line()? else { continue };
            item.shown = line.record().ok().and_then(|record| show(&record, item.offset));
        }
        Ok(())
    }

    fn last_page(self, newer: Position, is_last: bool, bytes_read: u64) -> Page<T> {
        let items = self.items.into_iter().filter_map(|item| item.shown).collect();
        Page { items, older: self.older, newer, is_last, bytes_read }
    }
}

impl Position {
    /// The place at an offset, to which every record before it may lead.
    pub fn at(offset: u64) -> Self {
        Self { offset, tip: None }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.tip {
            Some(tip) => write!(out, "{}-{tip:016x}", self.offset),
            None => write!(out, "{}", self.offset),
        }
    }
}

impl FromStr for Position {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.split_once('-') {
            Some((offset, tip)) => {
                Ok(Self { offset: offset.parse()?, tip: Some(u64::from_str_radix(tip, 16)?) })
            }
            None => Ok(Self { offset: text.parse()?, tip: None }),
        }
    }
}

//! The main chain of a transcript: the records that lead to its last one, without other branches.
//!
//! Parents run through every record in the tree, including those that are not read. At a compaction the chain
//! continues with the record before it, so that a person sees the whole history.

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::Path;

use xxhash_rust::xxh3::xxh3_64;

use crate::reader::{Line, Reader};
use crate::record::{Block, Record, RecordKind, SkipReason, link};

/// The ids on the main chain.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Chain {
    on: HashSet<u64>,
    branched: u64,
}

/// A record's place in the tree.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Node {
    /// A hash of its id.
    pub(crate) id: u64,
    /// A hash of its parent's id.
    pub(crate) parent: Option<u64>,
    /// Continue with the record before this one when the parent is not in the file.
    pub(crate) continues: bool,
    pub(crate) sidechain: bool,
    /// For a block of an API message, a hash of the message's id.
    pub(crate) message: Option<u64>,
    /// Whether it is the result of a tool.
    pub(crate) is_result: bool,
}

impl Node {
    /// A record of which only the id is known.
    pub(crate) fn of_id(id: u64) -> Self {
        Self { id, parent: None, continues: false, sidechain: false, message: None, is_result: false }
    }
}

impl Chain {
    /// Reads the tree of a transcript; keeps a few words for each record.
    pub fn read(path: &Path) -> io::Result<Self> {
        Ok(Self::from_nodes(&nodes(path)?))
    }

    /// Whether a record is on the main chain; records without an id always are.
    pub fn holds(&self, uuid: Option<&str>) -> bool {
        uuid.is_none_or(|uuid| self.on.contains(&hash(uuid)))
    }

    /// The number of records on other branches.
    pub fn branched(&self) -> u64 {
        self.branched
    }

    fn from_nodes(nodes: &[Node]) -> Self {
        let on = leading_to(nodes, tip(nodes));
        let main = nodes.iter().filter(|node| !node.sidechain);
        let branched = main.filter(|node| !on.contains(&node.id)).count() as u64;
        Self { on, branched }
    }
}

/// The index of the last record on the main chain.
pub(crate) fn tip(nodes: &[Node]) -> Option<usize> {
    nodes.iter().rposition(|node| !node.sidechain)
}

/// The places in the tree of all of a transcript's records.
pub(crate) fn nodes(path: &Path) -> io::Result<Vec<Node>> {
    let mut reader = Reader::open(path)?;
    let mut nodes = Vec::new();
    while let Some(line) = reader.next_line()? {
        nodes.extend(node(&line));
    }
    Ok(nodes)
}

/// The ids of the records that lead to the one at `last`, itself included, and of parallel ones: tools used in
/// parallel split the chain, and only one of them is followed by the next record.
pub(crate) fn leading_to(nodes: &[Node], last: Option<usize>) -> HashSet<u64> {
    let mut on = ancestors(nodes, last);
    let until = last.map_or(0, |last| last + 1);
    on.extend(blocks(&nodes[..until], &on));
    on.extend(results(nodes, &on));
    on
}

/// The ids of the records beside those that are `on` a chain: blocks of the same answers, and results of their tools.
pub(crate) fn parallel(nodes: &[Node], on: &HashSet<u64>) -> Vec<u64> {
    let mut all = blocks(nodes, on);
    let both = on.iter().chain(&all).copied().collect();
    all.extend(results(nodes, &both));
    all
}

fn blocks(nodes: &[Node], on: &HashSet<u64>) -> Vec<u64> {
    let held = |node: &&Node| on.contains(&node.id);
    let messages: HashSet<u64> = nodes.iter().filter(held).filter_map(|node| node.message).collect();
    let is_block = |node: &&Node| node.message.is_some_and(|id| messages.contains(&id));
    nodes.iter().filter(is_block).map(|node| node.id).collect()
}

fn results(nodes: &[Node], on: &HashSet<u64>) -> Vec<u64> {
    let is_below = |node: &&Node| node.is_result && node.parent.is_some_and(|parent| on.contains(&parent));
    nodes.iter().filter(is_below).map(|node| node.id).collect()
}

fn ancestors(nodes: &[Node], last: Option<usize>) -> HashSet<u64> {
    let mut walk = Ancestors::new(nodes, last);
    while walk.step(nodes).is_some() {}
    walk.on
}

/// The walk from a record to those before it.
///
/// Every break is bridged by the record before it in the file: a parent that is lost, a record that names itself or one
/// that it leads to, a compaction. Claude Code sends what was before such a break, too.
pub(crate) struct Ancestors {
    places: HashMap<u64, usize>,
    /// The records that were met.
    pub(crate) on: HashSet<u64>,
    next: Option<usize>,
}

/// A record that the walk has met, and why it can go no further, where it cannot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ancestor {
    pub(crate) at: usize,
    pub(crate) end: Option<ChainEnd>,
}

/// Why there is nothing before a record among those that were read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChainEnd {
    /// The conversation begins with it.
    Root,
    /// It goes on with whatever is before it in the file, and nothing of that was read.
    Before,
    /// Its parent was not read; records before it were.
    Missing(u64),
}

impl Ancestors {
    pub(crate) fn new(nodes: &[Node], last: Option<usize>) -> Self {
        // Of records with the same id the last counts, but for none before it.
        let places = nodes.iter().enumerate().map(|(at, node)| (node.id, at)).collect();
        Self { places, on: HashSet::new(), next: last }
    }

    /// Goes on to the next record.
    pub(crate) fn step(&mut self, nodes: &[Node]) -> Option<Ancestor> {
        let at = self.next?;
        let node = nodes[at];
        self.on.insert(node.id);
        let parent = node.parent.map(|parent| (parent, self.places.get(&parent).copied()));
        let (next, end) = match parent {
            Some((_, Some(place))) if !self.on.contains(&nodes[place].id) => (Some(place), None),
            Some((parent, None)) => (self.before(nodes, at), Some(ChainEnd::Missing(parent))),
            None if !node.continues => (None, Some(ChainEnd::Root)),
            Some((_, Some(_))) | None => {
                let before = self.before(nodes, at);
                (before, before.is_none().then_some(ChainEnd::Before))
            }
        };
        self.next = next;
        Some(Ancestor { at, end })
    }

    /// The record before this one in the file that was not met.
    fn before(&self, nodes: &[Node], at: usize) -> Option<usize> {
        nodes[..at].iter().rposition(|before| !before.sidechain && !self.on.contains(&before.id))
    }
}

/// The place in the tree of a line's record; `None` for lines outside of it and for copies.
pub(crate) fn node(line: &Line<'_>) -> Option<Node> {
    match line.record() {
        Ok(record) => node_of(&record),
        Err(SkipReason::Copy) => None,
        Err(_) => {
            let (uuid, parent) = link(line.bytes)?;
            Some(Node { parent: parent.map(hash), ..Node::of_id(hash(uuid)) })
        }
    }
}

/// The place in the tree of a record.
pub(crate) fn node_of(record: &Record<'_>) -> Option<Node> {
    let uuid = record.uuid().filter(|_| record.kind().is_in_tree())?;
    let continues = record.kind() == RecordKind::CompactBoundary;
    // A compaction that wrote records again names the last copy: nobody went back there.
    let named = record.parent().or_else(|| record.logical_parent().filter(|_| !record.follows_copies()));
    Some(Node {
        id: hash(uuid),
        parent: named.map(hash),
        continues,
        sidechain: record.is_sidechain(),
        message: record
            .message()
            .filter(|_| record.kind() == RecordKind::Assistant)
            .and_then(|message| Some(hash(message.id()?))),
        is_result: is_result(record),
    })
}

/// Whether a record is a tool result; not every version stores the tool's own result besides the block sent to the
/// model.
fn is_result(record: &Record<'_>) -> bool {
    let blocks = || {
        record.message().is_some_and(|message| {
            message.each_block().any(|block| matches!(block, Block::ToolResult { .. }))
        })
    };
    record.kind() == RecordKind::User && (record.has_tool_result() || blocks())
}

/// A hash that represents an id in comparisons.
pub(crate) fn hash(uuid: &str) -> u64 {
    xxh3_64(uuid.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chain(lines: &[&str]) -> Chain {
        let nodes: Vec<_> = lines.iter().filter_map(|line| node(&Line::of(line.as_bytes()))).collect();
        Chain::from_nodes(&nodes)
    }

    fn check(lines: &[&str], on: &str, branched: u64) {
        let chain = chain(lines);
        let held: String = ('a'..='z').filter(|id| chain.holds(Some(&id.to_string()))).collect();
        assert_eq!((held.as_str(), chain.branched()), (on, branched));
    }

    fn user(id: char, parent: Option<char>) -> String {
        let parent = parent.map_or("null".to_owned(), |parent| format!("\"{parent}\""));
        format!(r#"{{"type":"user","uuid":"{id}","parentUuid":{parent}}}"#)
    }

    #[test]
    fn the_last_record_decides_which_branch_is_main() {
        let (a, b, c, d) =
            (user('a', None), user('b', Some('a')), user('c', Some('a')), user('d', Some('c')));
        check(&[&a, &b, &c, &d], "acd", 1);
        check(&[&a, &b], "ab", 0);
        check(&[], "", 0);
    }

    #[test]
    fn a_compaction_goes_on_with_what_came_before_it() {
        let (a, b) = (user('a', None), user('b', Some('a')));
        let after = user('d', Some('c'));
        let named = r#"{"type":"system","subtype":"compact_boundary","uuid":"c","parentUuid":null,"logicalParentUuid":"b"}"#;
        check(&[&a, &b, named, &after], "abcd", 0);
        let elsewhere = r#"{"type":"system","subtype":"compact_boundary","uuid":"c","parentUuid":null,"logicalParentUuid":"x"}"#;
        check(&[&a, &b, elsewhere, &after], "abcd", 0);
    }

    #[test]
    fn a_missing_parent_is_bridged() {
        let (a, c) = (user('a', None), user('c', Some('b')));
        check(&[&a, "torn {", &c], "ac", 0);
    }

    #[test]
    fn sidechains_inside_the_file_are_no_branches() {
        let (a, b) = (user('a', None), user('b', Some('a')));
        let side = r#"{"type":"assistant","uuid":"s","parentUuid":null,"isSidechain":true}"#;
        check(&[&a, &b, side], "ab", 0);
    }

    #[test]
    fn tools_that_were_used_side_by_side_are_no_branches() {
        let block = |id: char, parent: char| {
            format!(
                r#"{{"type":"assistant","uuid":"{id}","parentUuid":"{parent}","message":{{"id":"m","content":[]}}}}"#
            )
        };
        let result = |id: char, parent: char| {
            format!(r#"{{"type":"user","uuid":"{id}","parentUuid":"{parent}","toolUseResult":"x"}}"#)
        };
        let blocks = [user('a', None), block('b', 'a'), block('c', 'b')];
        let ends = [
            [result('d', 'b'), result('e', 'c'), user('f', Some('e'))],
            [result('e', 'c'), result('d', 'b'), user('f', Some('d'))],
        ];
        for end in ends {
            let lines: Vec<_> = blocks.iter().chain(&end).map(String::as_str).collect();
            check(&lines, "abcdef", 0);
        }
    }

    #[test]
    fn circles_of_parents_are_bridged() {
        check(&[&user('a', Some('b')), &user('b', Some('a'))], "ab", 0);
        let own = [user('a', None), user('b', Some('b')), user('c', Some('b'))];
        check(&own.each_ref().map(String::as_str), "abc", 0);
        let of_two = [user('a', None), user('b', Some('c')), user('c', Some('b')), user('d', Some('c'))];
        check(&of_two.each_ref().map(String::as_str), "abcd", 0);
        let left = [user('a', None), user('b', Some('a')), user('c', Some('a')), user('d', Some('d'))];
        check(&left.each_ref().map(String::as_str), "acd", 1);
    }
}

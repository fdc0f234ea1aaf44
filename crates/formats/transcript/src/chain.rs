//! The main chain of a transcript: the records that lead to its last one, without other branches.
//!
//! Parents run through every record in the tree, including those that are not read. At a compaction the chain
//! continues with the record before it, so that a person sees the whole history.

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::Path;

use xxhash_rust::xxh3::xxh3_64;

use crate::reader::Reader;
use crate::record::{Block, Record, RecordKind, link, parse};

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
        nodes.extend(node(line.bytes));
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
    let places: HashMap<u64, usize> = nodes.iter().enumerate().map(|(at, node)| (node.id, at)).collect();
    let mut on = HashSet::new();
    let mut next = last;
    while let Some(at) = next {
        let node = nodes[at];
        // A cycle of parents ends where it closes.
        if !on.insert(node.id) {
            break;
        }
        let parent = node.parent.and_then(|parent| places.get(&parent).copied());
        next = parent.or_else(|| {
            let orphaned = node.continues || node.parent.is_some();
            orphaned.then(|| nodes[..at].iter().rposition(|before| !before.sidechain)).flatten()
        });
    }
    on
}

/// The place in the tree of a line's record; `None` for lines outside of it.
pub(crate) fn node(line: &[u8]) -> Option<Node> {
    let Ok(record) = parse(line) else {
        let (uuid, parent) = link(line)?;
        return Some(Node { parent: parent.map(hash), ..Node::of_id(hash(uuid)) });
    };
    node_of(&record)
}

/// The place in the tree of a record.
pub(crate) fn node_of(record: &Record<'_>) -> Option<Node> {
    let uuid = record.uuid().filter(|_| record.kind().is_in_tree())?;
    Some(Node {
        id: hash(uuid),
        parent: record.parent().or_else(|| record.logical_parent()).map(hash),
        continues: record.kind() == RecordKind::CompactBoundary,
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
        let nodes: Vec<_> = lines.iter().filter_map(|line| node(line.as_bytes())).collect();
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
    fn a_cycle_of_parents_terminates() {
        check(&[&user('a', Some('b')), &user('b', Some('a'))], "ab", 0);
    }
}

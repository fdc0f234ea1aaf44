//! Finds where the conversation of a transcript was continued before its end: the branches that were left, and what was
//! written in their place. Reads the records in order; `Chain` decides which of them are on the main chain at the end.

use std::collections::HashMap;

use crate::chain::{Node, node_of};
use crate::record::Record;

/// A branch that was left for another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Split {
    /// The id of the first message of the branch that was left.
    pub left: String,
    /// The id of the first message in its place.
    pub taken: String,
    /// Where that message begins, in bytes.
    pub taken_at: u64,
}

/// The records of a transcript, as far as it was read, by what they follow.
#[derive(Debug, Default)]
pub struct Splits {
    places: HashMap<u64, usize>,
    nodes: Vec<Placed>,
    tip: Option<usize>,
}

#[derive(Debug)]
struct Placed {
    node: Node,
    parent: Option<usize>,
    depth: usize,
    offset: u64,
    /// The id of the message that is shown to a reader.
    shown: Option<String>,
}

/// The branches of a transcript that were left.
#[derive(Debug)]
pub struct LeftBranches {
    places: HashMap<u64, usize>,
    /// The split at which the branch of each record was left.
    left_at: Vec<Option<usize>>,
    splits: Vec<Split>,
}

/// How a record relates to the one that was read before it.
enum Step {
    /// It follows that one.
    Next,
    /// It was written at the same time.
    Parallel,
    /// The conversation continues elsewhere.
    Elsewhere,
}

/// The most records that count as written at the same time by parallel tools. This bounds the work for a file
/// that switches branches often.
const PARALLEL: usize = 1000;

impl Splits {
    /// Reads the next record; `is_shown` says whether it is a message for a reader.
    pub fn observe(&mut self, record: &Record<'_>, is_shown: bool, offset: u64) {
        let Some(node) = node_of(record).filter(|node| !node.sidechain) else { return };
        let parent = match node.parent {
            Some(parent) => self.places.get(&parent).copied().or(self.tip),
            None if node.continues => self.tip,
            None => None,
        };
        let parent = match (self.step(parent, &node), self.tip) {
            // The conversation continues after all tools that are used in parallel, and a late result belongs to its
            // call, wherever the conversation is.
            (Step::Parallel | Step::Elsewhere, Some(tip)) if node.is_result => {
                self.places.insert(node.id, tip);
                return;
            }
            (Step::Parallel, tip) => tip,
            (Step::Next | Step::Elsewhere, _) => parent,
        };
        let shown = record.uuid().filter(|_| is_shown).map(ToOwned::to_owned);
        let depth = parent.map_or(1, |parent| self.nodes[parent].depth + 1);
        self.tip = Some(self.nodes.len());
        self.places.insert(node.id, self.nodes.len());
        self.nodes.push(Placed { node, parent, depth, offset, shown });
    }

    /// Walks from the last record back to the one that the next one follows.
    fn step(&self, from: Option<usize>, next: &Node) -> Step {
        if self.tip == from {
            return Step::Next;
        }
        let depth = from.map_or(0, |from| self.nodes[from].depth);
        let mut at = self.tip;
        for _ in 0..PARALLEL {
            let Some(place) = at.filter(|&place| Some(place) != from) else { return Step::Parallel };
            if self.nodes[place].depth <= depth || !self.is_parallel(place, from, next) {
                return Step::Elsewhere;
            }
            at = self.nodes[place].parent;
        }
        Step::Elsewhere
    }

    /// Whether a record was written at the same time as the one that follows its parent: a block of the same answer, or
    /// a result of one of its tools.
    fn is_parallel(&self, at: usize, parent: Option<usize>, next: &Node) -> bool {
        let node = &self.nodes[at].node;
        let answer = parent.and_then(|parent| self.nodes[parent].node.message);
        let is_same = |message| node.message.is_some() && node.message == message;
        node.is_result || is_same(answer) || is_same(next.message)
    }

    /// The branches that were left: of those that begin at the same place, each one with the branch that was continued
    /// after it.
    pub fn finish(self) -> LeftBranches {
        let nodes = &self.nodes;
        // The last record of each branch. A record comes after the one that it follows.
        let mut last: Vec<usize> = (0..nodes.len()).collect();
        let mut goes_on: Vec<Option<usize>> = vec![None; nodes.len()];
        for (at, node) in nodes.iter().enumerate().rev() {
            if let Some(parent) = node.parent
                && (last[parent] < last[at] || goes_on[parent].is_none())
            {
                last[parent] = last[at];
                goes_on[parent] = Some(at);
            }
        }
        let mut siblings: HashMap<Option<usize>, Vec<usize>> = HashMap::new();
        for (at, node) in nodes.iter().enumerate() {
            siblings.entry(node.parent).or_default().push(at);
        }
        let first_shown = |at| {
            let mut along = std::iter::successors(Some(at), |&at: &usize| goes_on[at]);
            along.find_map(|at| Some((nodes[at].shown.as_ref()?, nodes[at].offset)))
        };
        let (mut splits, mut left_at) = (Vec::new(), vec![None; nodes.len()]);
        for mut branches in siblings.into_values().filter(|branches| branches.len() > 1) {
            branches.sort_unstable_by_key(|&at| last[at]);
            for pair in branches.windows(2) {
                let Some(((left, _), (taken, taken_at))) = first_shown(pair[0]).zip(first_shown(pair[1]))
                else {
                    continue;
                };
                left_at[pair[0]] = Some(splits.len());
                splits.push(Split { left: left.clone(), taken: taken.clone(), taken_at });
            }
        }
        // What follows a record that was left was left with it.
        for at in 0..nodes.len() {
            left_at[at] = left_at[at].or_else(|| nodes[at].parent.and_then(|parent| left_at[parent]));
        }
        LeftBranches { places: self.places, left_at, splits }
    }
}

impl LeftBranches {
    /// The split at which the branch of a record was left; none for a record of the branch that was read last.
    pub fn left_at(&self, uuid: &str) -> Option<&Split> {
        let place = *self.places.get(&crate::chain::hash(uuid))?;
        self.splits.get((*self.left_at.get(place)?)?)
    }

    /// All splits, in the order of the branches that were taken.
    pub fn all(&self) -> Vec<&Split> {
        let mut all: Vec<_> = self.splits.iter().collect();
        all.sort_by_key(|split| split.taken_at);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::parse;

    /// The splits of prompts (`user`) and answers by their ids and parents, and what each record was left for.
    fn check(lines: &[(&str, &str, &str)], expected: &[(&str, &str)], left: &str) {
        let mut splits = Splits::default();
        for (at, (kind, id, parent)) in lines.iter().enumerate() {
            let parent = if parent.is_empty() { "null".to_owned() } else { format!("\"{parent}\"") };
            let (kind, content) = match *kind {
                "result" => ("user", r#"[{"type":"tool_result","tool_use_id":"t","content":"ok"}]"#),
                kind => (kind, r#""words""#),
            };
            // Blocks of one answer begin with the same letter.
            let line = format!(
                r#"{{"type":"{kind}","uuid":"{id}","parentUuid":{parent},"message":{{"role":"{kind}","id":"{}","content":{content}}}}}"#,
                &id[..1]
            );
            let record = parse(line.as_bytes()).unwrap();
            splits.observe(&record, kind != "system", at as u64);
        }
        let splits = splits.finish();
        let all: Vec<_> =
            splits.all().into_iter().map(|split| (split.left.as_str(), split.taken.as_str())).collect();
        assert_eq!(all, expected);
        let gone: Vec<_> =
            lines.iter().filter(|(_, id, _)| splits.left_at(id).is_some()).map(|(_, id, _)| *id).collect();
        assert_eq!(gone.concat(), left);
    }

    #[test]
    fn a_left_branch_includes_all_its_records() {
        let conversation = [
            ("user", "a", ""),
            ("assistant", "b", "a"),
            ("user", "c", "b"),
            ("assistant", "d", "c"),
            ("user", "e", "d"),
        ];
        check(&conversation, &[], "");
        let taken = [&conversation[..], &[("user", "f", "b"), ("assistant", "g", "f")]].concat();
        check(&taken, &[("c", "f")], "cde");
        let once_more = [&taken[..], &[("user", "h", "b")]].concat();
        check(&once_more, &[("c", "f"), ("f", "h")], "cdefg");
        let begun_again = [&conversation[..], &[("user", "f", "")]].concat();
        check(&begun_again, &[("a", "f")], "abcde");
    }

    #[test]
    fn a_branch_may_begin_with_an_answer() {
        check(&[("user", "a", ""), ("assistant", "b", "a"), ("assistant", "c", "a")], &[("b", "c")], "b");
        let within =
            [("user", "a", ""), ("assistant", "b", "a"), ("assistant", "c", "b"), ("user", "d", "b")];
        check(&within, &[("c", "d")], "c");
    }

    #[test]
    fn hidden_records_begin_no_branch() {
        let lines = [("user", "a", ""), ("assistant", "b", "a"), ("system", "c", "b"), ("user", "d", "b")];
        check(&lines, &[], "");
        let behind = [("user", "a", ""), ("user", "b", "a"), ("system", "c", "a"), ("user", "d", "c")];
        check(&behind, &[("b", "d")], "b");
    }

    #[test]
    fn tools_in_parallel_are_one_branch() {
        let calls = [("user", "a", ""), ("assistant", "b1", "a"), ("assistant", "b2", "b1")];
        let results =
            [("result", "r1", "b1"), ("result", "r2", "b2"), ("assistant", "c", "r2"), ("user", "d", "c")];
        check(&[&calls[..], &results].concat(), &[], "");
        let other = [("result", "r1", "b1"), ("result", "r2", "b2"), ("assistant", "c", "r1")];
        check(&[&calls[..], &other].concat(), &[], "");
        let mixed = [
            ("result", "r1", "b1"),
            ("assistant", "b2", "b1"),
            ("result", "r2", "b2"),
            ("assistant", "c", "r2"),
        ];
        check(&[&calls[..2], &mixed].concat(), &[], "");
    }

    #[test]
    fn going_back_to_a_branch_leaves_the_other_one_complete() {
        let went = [
            ("user", "a", ""),
            ("user", "b", "a"),
            ("assistant", "c", "b"),
            ("user", "d", "a"),
            ("assistant", "e", "d"),
            ("user", "f", "e"),
        ];
        check(&went, &[("b", "d")], "bc");
        let back = [&went[..], &[("user", "g", "c")]].concat();
        check(&back, &[("d", "b")], "def");
        let and_forth = [&back[..], &[("assistant", "h", "f")]].concat();
        check(&and_forth, &[("b", "d")], "bcg");
        // Also from a branch that is shorter, and to the middle of one.
        let short = [&went[..5], &[("user", "f", "c"), ("user", "g", "d")]].concat();
        check(&short, &[("b", "d"), ("e", "g")], "bcef");
    }
}

//! Which sessions hold all words of a question that is being typed.

use super::Searcher;
use crate::beginning::Beginning;
use crate::features::{FeaturePostings, FeatureQuery, Features};

/// The sessions that hold all that is typed, by session number.
pub(super) struct Holders(Vec<bool>);

impl Holders {
    pub(super) fn has(&self, session: usize) -> bool {
        self.0.get(session).is_some_and(|holds| *holds)
    }

    pub(super) fn count(&self) -> usize {
        self.0.iter().filter(|holds| **holds).count()
    }
}

impl Searcher {
    /// The sessions that hold the word that is being typed, and all words before it; where none holds all of these, any.
    ///
    /// With each letter of a word they become fewer: the words before it choose the same sessions then.
    pub(super) fn holders_of_all(&self, beginning: &Beginning, Features(features): &Features) -> Holders {
        let (mut all, mut any, mut begun) = (vec![true; self.sessions.len()], None, None);
        for column in features {
            match &column.query {
                // What is typed may become another word.
                FeatureQuery::Word(word) if beginning.own.contains(word) => {}
                FeatureQuery::Word(_) => {
                    let holds = self.holders(column);
                    // A word that nobody said chooses nobody.
                    if !holds.contains(&true) {
                        continue;
                    }
                    both(&mut all, &holds);
                    let any = any.get_or_insert_with(|| vec![false; holds.len()]);
                    any.iter_mut().zip(&holds).for_each(|(any, holds)| *any |= holds);
                }
                FeatureQuery::Beginning { .. } => begun = Some(self.holders(column)),
                FeatureQuery::Pair(..) => {}
            }
        }
        let is_there = (0..all.len()).map(|session| self.sessions.is_admitted(session)).collect::<Vec<_>>();
        both(&mut all, &is_there);
        if !all.contains(&true)
            && let Some(any) = any
        {
            all = any;
            both(&mut all, &is_there);
        }
        if let Some(begun) = begun {
            both(&mut all, &begun);
        }
        Holders(all)
    }

    fn holders(&self, column: &FeaturePostings) -> Vec<bool> {
        // What is not found by words cannot be shown.
        let mut holds = vec![false; self.sessions.len()];
        for (columns, chunks) in self.columns.iter().zip(&column.chunks) {
            for (document, _) in chunks {
                let record = || columns.record(*document);
                self.sessions.holders(columns.file(*document), record, |session| holds[session] = true);
            }
        }
        holds
    }
}

/// Leaves those that are in both.
fn both(these: &mut [bool], others: &[bool]) {
    these.iter_mut().zip(others).for_each(|(this, other)| *this &= *other);
}

//! How good one ranking is.

use std::collections::{BTreeMap, HashSet};

use serde::{Deserialize, Deserializer, Serialize};

/// Only so many of the first answers count.
const DEPTH: usize = 10;
/// Of these the share of relevant ones that were found is told.
const RECALL_DEPTH: usize = 5;
/// A gain is a power of two; higher grades would drown every other.
const HIGHEST_GRADE: u32 = 30;

/// A labelled question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LabelledQuery {
    /// Its name.
    #[serde(alias = "qid")]
    pub id: String,
    /// What sort of question it is; figures are given for each.
    #[serde(default = "any_kind")]
    pub kind: String,
    /// The question as it is typed.
    pub query: String,
    /// The sessions that answer it, each with a grade; of a question without one nothing should be found.
    #[serde(default, alias = "rel", deserialize_with = "or_none")]
    pub relevant: BTreeMap<String, u32>,
}

/// What was answered to a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RankedAnswer {
    /// The question's name.
    #[serde(alias = "qid")]
    pub id: String,
    /// Sessions, best first.
    #[serde(default, alias = "ids")]
    pub ranked: Vec<String>,
}

fn any_kind() -> String {
    "all".to_owned()
}

fn or_none<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<String, u32>, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

/// How good one ranking is, each figure between 0 and 1.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct RankingScore {
    /// nDCG of the first ten: the gain of a grade is 2^grade - 1, halved every power of two of the rank.
    pub ndcg: f64,
    /// One over the rank of the first relevant session among the first ten; else 0.
    pub mrr: f64,
    /// The share of relevant sessions (at most five of them) among the first five.
    pub recall: f64,
    /// 1 where the first session is relevant.
    pub hit: f64,
}

/// Scores a ranking against the grades of what is relevant; a session that is named twice counts once.
pub fn score(relevant: &BTreeMap<String, u32>, ranked: &[String]) -> RankingScore {
    let mut seen = HashSet::new();
    let grade = |session: &String| relevant.get(session).copied().unwrap_or(0).min(HIGHEST_GRADE);
    let grades: Vec<u32> =
        ranked.iter().filter(|session| seen.insert(*session)).take(DEPTH).map(grade).collect();
    let mut best: Vec<u32> = relevant.values().map(|grade| (*grade).min(HIGHEST_GRADE)).collect();
    best.sort_unstable_by(|one, other| other.cmp(one));
    let ideal = gain(best.into_iter().take(DEPTH));
    let first = grades.iter().position(|grade| *grade > 0);
    let found = grades.iter().take(RECALL_DEPTH).filter(|grade| **grade > 0).count();
    RankingScore {
        ndcg: if ideal > 0.0 { gain(grades.into_iter()) / ideal } else { 0.0 },
        mrr: first.map_or(0.0, |at| 1.0 / (at + 1) as f64),
        recall: found as f64 / relevant.len().clamp(1, RECALL_DEPTH) as f64,
        hit: f64::from(u8::from(first == Some(0))),
    }
}

/// The discounted gain of grades in their order.
fn gain(grades: impl Iterator<Item = u32>) -> f64 {
    grades
        .zip(2_u32..)
        .map(|(grade, place)| (2_f64.powf(f64::from(grade)) - 1.0) / f64::from(place).log2())
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_computed_by_hand() {
        let check = |relevant: &[(&str, u32)], ranked: &str, ndcg: f64, mrr: f64, recall: f64, hit: f64| {
            let relevant = relevant.iter().map(|(name, grade)| ((*name).to_owned(), *grade)).collect();
            let ranked: Vec<String> = ranked.split_whitespace().map(str::to_owned).collect();
            let found = score(&relevant, &ranked);
            let expected = RankingScore { ndcg, mrr, recall, hit };
            let near = |one: f64, other: f64| (one - other).abs() < 1e-6;
            assert!(
                near(found.ndcg, ndcg)
                    && near(found.mrr, mrr)
                    && near(found.recall, recall)
                    && near(found.hit, hit),
                "{relevant:?} {ranked:?}: {found:?}, not {expected:?}"
            );
        };
        check(&[("a", 1)], "a b", 1.0, 1.0, 1.0, 1.0);
        // At the second place: 1 / log2(3).
        check(&[("a", 1)], "b a", 0.630_929_754, 0.5, 1.0, 0.0);
        // At the third: 1 / log2(4).
        check(&[("a", 1)], "b c a", 0.5, 1.0 / 3.0, 1.0, 0.0);
        // Grades 3 and 1: gains 7 and 1. Upside down it is (1 + 7 / log2 3) / (7 + 1 / log2 3).
        check(&[("a", 3), ("b", 1)], "a b", 1.0, 1.0, 1.0, 1.0);
        check(&[("a", 3), ("b", 1)], "b a", 5.416_508_275 / 7.630_929_754, 1.0, 1.0, 1.0);
        // Half of it: 7 / (7 + 1 / log2 3).
        check(&[("a", 3), ("b", 1)], "a", 7.0 / 7.630_929_754, 1.0, 0.5, 1.0);
        // Named twice, it counts once and takes one place.
        check(&[("a", 1)], "b b b a", 0.630_929_754, 0.5, 1.0, 0.0);
        // Sixth: too late for recall, 1 / log2 7 for nDCG.
        check(&[("a", 1)], "1 2 3 4 5 a", 0.356_207_187, 1.0 / 6.0, 0.0, 0.0);
        // Eleventh: too late for all.
        check(&[("a", 1)], "1 2 3 4 5 6 7 8 9 10 a", 0.0, 0.0, 0.0, 0.0);
        // Of six that are relevant five can stand among the first five.
        let six = [("a", 1), ("b", 1), ("c", 1), ("d", 1), ("e", 1), ("f", 1)];
        check(&six, "a b c d e f", 1.0, 1.0, 1.0, 1.0);
        // A grade of 0 is not relevant.
        check(&[("a", 0), ("b", 1)], "a b", 0.630_929_754, 0.5, 0.5, 0.0);
        check(&[("a", 1)], "", 0.0, 0.0, 0.0, 0.0);
        check(&[], "a", 0.0, 0.0, 0.0, 0.0);
    }
}

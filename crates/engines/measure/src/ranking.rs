//! Scores one ranking against graded judgements.

use std::collections::{BTreeMap, HashSet};

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

/// Number of results that count.
const DEPTH: usize = 10;
/// Number of results that recall looks at.
const RECALL_DEPTH: usize = 5;
/// Grades are capped here, because gain grows exponentially with the grade.
const HIGHEST_GRADE: u32 = 30;

/// A query with relevance judgements.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema, Deserialize)]
pub struct LabelledQuery {
    /// Identifier of the query.
    #[serde(alias = "qid")]
    pub id: String,
    /// Kind of query; metrics are given per kind.
    #[serde(default = "any_kind")]
    pub kind: String,
    /// The query as typed.
    pub query: String,
    /// Grades of the relevant sessions by id; if empty, nothing should be found.
    #[serde(default, alias = "rel", deserialize_with = "or_none")]
    pub relevant: BTreeMap<String, u32>,
    /// The session that answers best, where places within it are compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
}

/// The answer to a query.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
pub struct RankedAnswer {
    /// Identifier of the query.
    #[serde(alias = "qid")]
    pub id: String,
    /// Session ids, best first.
    #[serde(default, alias = "ids")]
    pub ranked: Vec<String>,
    /// What a person sees who opens the first result, by its ids; empty where that is not compared.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub opened: Vec<String>,
}

fn any_kind() -> String {
    "all".to_owned()
}

fn or_none<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<String, u32>, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

/// Scores of one ranking, each between 0 and 1.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, JsonSchema)]
pub struct RankingScore {
    /// nDCG@10 with gain 2^grade - 1 and a logarithmic discount.
    pub ndcg: f64,
    /// Reciprocal rank of the first relevant session among the first ten, else 0.
    pub mrr: f64,
    /// Share of the relevant sessions, at most five, among the first five results.
    pub recall: f64,
    /// 1 if the first result is relevant, else 0.
    pub hit: f64,
}

/// Scores a ranking; a session that occurs twice counts once.
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

/// Discounted cumulative gain of grades in rank order.
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
        // Only five of six relevant sessions fit among the first five.
        let six = [("a", 1), ("b", 1), ("c", 1), ("d", 1), ("e", 1), ("f", 1)];
        check(&six, "a b c d e f", 1.0, 1.0, 1.0, 1.0);
        // A grade of 0 is not relevant.
        check(&[("a", 0), ("b", 1)], "a b", 0.630_929_754, 0.5, 0.5, 0.0);
        check(&[("a", 1)], "", 0.0, 0.0, 0.0, 0.0);
        check(&[], "a", 0.0, 0.0, 0.0, 0.0);
    }
}

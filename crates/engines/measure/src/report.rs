//! Aggregates scores of all queries, by kind of query.

use std::collections::{BTreeSet, HashMap};

use schemars::JsonSchema;
use serde::Serialize;

use crate::{Estimate, LabelledQuery, RankedAnswer, RankingScore, estimate, score};

/// Metrics of all queries.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RankingReport {
    /// Metrics per kind, sorted by name, and for `all` last if there are several kinds.
    pub kinds: Vec<KindMetrics>,
    /// Number of queries with no relevant session.
    pub without_answer: usize,
    /// Number of those that got results anyway.
    pub answered_all_the_same: usize,
    /// Results of every query that has a relevant session, in input order.
    pub queries: Vec<QueryResult>,
}

/// Metrics of one kind of query.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct KindMetrics {
    /// The kind of question.
    pub kind: String,
    /// Number of queries.
    pub queries: usize,
    /// Mean nDCG@10.
    pub ndcg_at_10: Estimate,
    /// Mean reciprocal rank among the first ten results.
    pub mrr_at_10: Estimate,
    /// Mean recall among the first five results.
    pub recall_at_5: Estimate,
    /// Share of queries whose first result is relevant.
    pub hit_at_1: Estimate,
    /// Share of queries whose first result shows a relevant one once it is opened, where that was compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opened_at_1: Option<Estimate>,
    /// Mean paired difference of nDCG@10 to the answers compared against.
    pub difference: Option<Estimate>,
}

/// The scores of one query.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct QueryResult {
    /// Identifier of the query.
    pub id: String,
    /// Kind of the query.
    pub kind: String,
    /// The query as typed.
    pub query: String,
    /// Scores of the answer.
    #[serde(flatten)]
    pub score: RankingScore,
    /// nDCG@10 of the answer compared against.
    pub ndcg_against: Option<f64>,
    /// Whether the first result shows a relevant one once it is opened, where that was compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opened: Option<bool>,
    /// Session ids of the answer, best first.
    pub ranked: Vec<String>,
}

/// Scores answers, optionally against other answers to the same queries. A missing answer counts as empty.
pub fn report(
    queries: &[LabelledQuery],
    answers: &[RankedAnswer],
    against: Option<&[RankedAnswer]>,
) -> RankingReport {
    let opens = answers.iter().any(|answer| !answer.opened.is_empty());
    let (answers, against) = (by_id(answers), against.map(by_id));
    let ranked = |id: &str| answers.get(id).map_or(&[][..], |answer| &answer.ranked);
    let shows_relevant = |query: &LabelledQuery| {
        let is_relevant = |id: &String| query.relevant.get(id).is_some_and(|grade| *grade > 0);
        answers.get(query.id.as_str()).is_some_and(|answer| answer.opened.iter().any(is_relevant))
    };
    let answered = |query: &LabelledQuery| {
        let ranked = ranked(&query.id);
        let others = against
            .as_ref()
            .map(|all| all.get(query.id.as_str()).map_or(&[][..], |answer| answer.ranked.as_slice()));
        QueryResult {
            id: query.id.clone(),
            kind: query.kind.clone(),
            query: query.query.clone(),
            score: score(&query.relevant, ranked),
            ndcg_against: others.map(|others| score(&query.relevant, others).ndcg),
            opened: opens.then(|| shows_relevant(query)),
            ranked: ranked.to_vec(),
        }
    };
    let (asked, nothing): (Vec<&LabelledQuery>, Vec<&LabelledQuery>) =
        queries.iter().partition(|query| !query.relevant.is_empty());
    let scored: Vec<QueryResult> = asked.into_iter().map(answered).collect();
    RankingReport {
        kinds: kinds(&scored),
        without_answer: nothing.len(),
        answered_all_the_same: nothing.iter().filter(|query| !ranked(&query.id).is_empty()).count(),
        queries: scored,
    }
}

fn by_id(answers: &[RankedAnswer]) -> HashMap<&str, &RankedAnswer> {
    answers.iter().map(|one| (one.id.as_str(), one)).collect()
}

fn kinds(scored: &[QueryResult]) -> Vec<KindMetrics> {
    let names: BTreeSet<&str> = scored.iter().map(|one| one.kind.as_str()).collect();
    let of = |name: &str| figures(name, &scored.iter().filter(|one| one.kind == name).collect::<Vec<_>>());
    let mut kinds: Vec<KindMetrics> = names.iter().filter_map(|name| of(name)).collect();
    if kinds.len() > 1 {
        kinds.extend(figures("all", &scored.iter().collect::<Vec<_>>()));
    }
    kinds
}

fn figures(kind: &str, of: &[&QueryResult]) -> Option<KindMetrics> {
    let mean = |figure: fn(&RankingScore) -> f64| {
        estimate(&of.iter().map(|one| figure(&one.score)).collect::<Vec<_>>())
    };
    let differences: Option<Vec<f64>> =
        of.iter().map(|one| one.ndcg_against.map(|other| one.score.ndcg - other)).collect();
    let opened: Option<Vec<f64>> =
        of.iter().map(|one| one.opened.map(|is| f64::from(u8::from(is)))).collect();
    Some(KindMetrics {
        kind: kind.to_owned(),
        queries: of.len(),
        ndcg_at_10: mean(|score| score.ndcg)?,
        mrr_at_10: mean(|score| score.mrr)?,
        recall_at_5: mean(|score| score.recall)?,
        hit_at_1: mean(|score| score.hit)?,
        opened_at_1: opened.and_then(|all| estimate(&all)),
        difference: differences.and_then(|all| estimate(&all)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(id: &str, kind: &str, relevant: &[&str]) -> LabelledQuery {
        let relevant = relevant.iter().map(|name| ((*name).to_owned(), 1)).collect();
        LabelledQuery {
            id: id.to_owned(),
            kind: kind.to_owned(),
            query: id.to_uppercase(),
            relevant,
            session: None,
        }
    }

    fn ranked(id: &str, ranked: &str) -> RankedAnswer {
        let ranked = ranked.split_whitespace().map(str::to_owned).collect();
        RankedAnswer { id: id.to_owned(), ranked, opened: Vec::new() }
    }

    #[test]
    fn means_by_kind_and_of_all() {
        let queries = [
            query("a", "file", &["s"]),
            query("b", "file", &["s"]),
            query("c", "commit", &["s", "t"]),
            query("d", "none", &[]),
            query("e", "none", &[]),
        ];
        // b is not answered at all; e is, although nothing is relevant.
        let answers = [ranked("a", "x s"), ranked("c", "t s"), ranked("e", "s")];
        let against = [ranked("a", "s"), ranked("b", "s"), ranked("c", "x y s")];
        let found = report(&queries, &answers, Some(&against));
        let means: Vec<_> = found
            .kinds
            .iter()
            .map(|one| {
                let round = |of: Estimate| (of.mean * 1e4).round() / 1e4;
                let difference = one.difference.map(round);
                (one.kind.as_str(), one.queries, round(one.ndcg_at_10), round(one.mrr_at_10), difference)
            })
            .collect();
        // commit: 1 against (1/2) / (1 + 1/log2 3) = 0.3066; file: 0.6309 and 0, against 1 and 1.
        let expected = [
            ("commit", 1, 1.0, 1.0, Some(0.6934)),
            ("file", 2, 0.3155, 0.25, Some(-0.6845)),
            ("all", 3, 0.5436, 0.5, Some(-0.2252)),
        ];
        assert_eq!(means, expected);
        assert_eq!((found.without_answer, found.answered_all_the_same), (2, 1));
        assert_eq!(found.queries.iter().map(|one| one.id.as_str()).collect::<String>(), "abc");
        let alone = report(&queries[..2], &answers, None);
        assert_eq!(alone.kinds.len(), 1, "one kind is all there is");
        assert_eq!(alone.kinds[0].difference, None);
        assert_eq!(alone.kinds[0].opened_at_1, None);
    }

    #[test]
    fn what_is_opened_counts_where_it_shows_something_relevant() {
        let mut queries =
            [query("a", "file", &["s"]), query("b", "file", &["s"]), query("c", "file", &["s"])];
        queries[1].relevant.insert("t".to_owned(), 0);
        let opened = |id: &str, shown: &[&str]| RankedAnswer {
            opened: shown.iter().map(|&shown| shown.to_owned()).collect(),
            ..ranked(id, "r")
        };
        // c finds nothing, so it opens nothing.
        let found = report(&queries, &[opened("a", &["r", "s"]), opened("b", &["r", "t"])], None);
        let opened: Vec<_> = found.queries.iter().map(|one| one.opened).collect();
        assert_eq!(opened, [Some(true), Some(false), Some(false)]);
        assert!((found.kinds[0].opened_at_1.unwrap().mean - 1.0 / 3.0).abs() < 1e-9);
    }

    #[test]
    fn of_no_questions_there_are_no_figures() {
        assert_eq!(report(&[], &[ranked("a", "s")], None).kinds, []);
    }
}

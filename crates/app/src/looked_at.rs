//! The sessions that a decision looked at, in as few bytes as may be: there can be thousands, each time.

use model::SessionId;
use selection::{Ceiling, Considered, Factors, Grounds, Obstacle, Relevance};
use serde::{Deserialize, Serialize};

/// One of them. The bytes carry no names: what changes here needs another column.
#[derive(Serialize, Deserialize)]
struct Row {
    session: SessionId,
    score: f64,
    factors: [f64; 5],
    relevance: f64,
    grounds: Kind,
    ceiling: Option<Limit>,
    is_held: bool,
    is_gone: bool,
    compactions: u64,
    budget_used_pct: Option<f64>,
}

#[derive(Serialize, Deserialize)]
enum Kind {
    Words { common: u32, all: u32 },
    Said(String),
}

#[derive(Serialize, Deserialize)]
enum Limit {
    Compactions(u64),
    Budget(f64),
    Unrelated(u64),
}

/// As bytes; `None` where they cannot be written.
pub(crate) fn pack(all: &[Considered]) -> Option<Vec<u8>> {
    postcard::to_stdvec(&all.iter().map(row).collect::<Vec<_>>()).ok()
}

/// From bytes; `None` where they are no such bytes.
pub(crate) fn unpack(bytes: &[u8]) -> Option<Vec<Considered>> {
    let rows: Vec<Row> = postcard::from_bytes(bytes).ok()?;
    Some(rows.into_iter().map(considered).collect())
}

fn row(one: &Considered) -> Row {
    let Factors { branch_match, recency, task_relevance, session_health, context_capacity } = one.factors;
    Row {
        session: one.session_id.clone(),
        score: one.score,
        factors: [branch_match, recency, task_relevance, session_health, context_capacity],
        relevance: one.relevance.score,
        grounds: match &one.relevance.reason {
            Grounds::Words { common, all } => Kind::Words { common: *common, all: *all },
            Grounds::Said(text) => Kind::Said(text.clone()),
        },
        ceiling: one.ceiling.map(|ceiling| match ceiling {
            Ceiling::Compactions(count) => Limit::Compactions(count),
            Ceiling::Budget(used) => Limit::Budget(used),
            Ceiling::Unrelated(lines) => Limit::Unrelated(lines),
        }),
        is_held: one.obstacle == Some(Obstacle::Held),
        is_gone: one.obstacle == Some(Obstacle::Gone),
        compactions: one.compactions,
        budget_used_pct: one.budget_used_pct,
    }
}

fn considered(row: Row) -> Considered {
    let [branch_match, recency, task_relevance, session_health, context_capacity] = row.factors;
    let reason = match row.grounds {
        Kind::Words { common, all } => Grounds::Words { common, all },
        Kind::Said(text) => Grounds::Said(text),
    };
    let held = row.is_held.then_some(Obstacle::Held);
    Considered {
        session_id: row.session,
        score: row.score,
        factors: Factors { branch_match, recency, task_relevance, session_health, context_capacity },
        relevance: Relevance { score: row.relevance, reason },
        ceiling: row.ceiling.map(|limit| match limit {
            Limit::Compactions(count) => Ceiling::Compactions(count),
            Limit::Budget(used) => Ceiling::Budget(used),
            Limit::Unrelated(lines) => Ceiling::Unrelated(lines),
        }),
        obstacle: held.or(row.is_gone.then_some(Obstacle::Gone)),
        compactions: row.compactions,
        budget_used_pct: row.budget_used_pct,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_looked_at_comes_back() {
        let one = |ceiling, obstacle, reason| Considered {
            session_id: "s1".parse().unwrap(),
            score: 0.75,
            factors: Factors { branch_match: 0.25, recency: 0.2, ..Factors::default() },
            relevance: Relevance { score: 0.5, reason },
            ceiling,
            obstacle,
            compactions: 2,
            budget_used_pct: Some(31.5),
        };
        let words = || Grounds::Words { common: 1, all: 3 };
        let all = vec![
            one(None, None, words()),
            one(Some(Ceiling::Compactions(3)), Some(Obstacle::Held), words()),
            one(Some(Ceiling::Budget(71.0)), Some(Obstacle::Gone), Grounds::Said("the same files".into())),
            one(Some(Ceiling::Unrelated(201)), None, words()),
        ];
        let bytes = pack(&all).unwrap();
        assert_eq!(unpack(&bytes).unwrap(), all);
        assert_eq!(unpack(&bytes[..bytes.len() - 1]), None);
        assert!(bytes.len() < 4 * 100, "{}", bytes.len());
    }
}

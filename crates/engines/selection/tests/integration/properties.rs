//! Properties that hold for any sessions.

use proptest::prelude::*;
use selection::factors;
use selection::seed::{Seed, choose};
use selection::{
    Action, Candidate, Judge, Judgement, Occupancy, Relevance, RelevanceReason, Task, Weights,
    keyword_relevance, parse_ratings,
};

use crate::by_hand::{at, session};

prop_compose! {
    fn any_candidate()(
        id in "[a-z][a-z0-9]{0,8}",
        branch in prop::option::of("main|dev|HEAD|"),
        hours in prop::option::of(-10.0..400.0),
        lines in 0_u64..2000,
        bytes in 0_u64..20_000_000,
        tokens in any::<u64>(),
        compactions in 0_u64..6,
        budget in prop::option::of(0.0..200.0),
        hold in prop::sample::select(vec![Occupancy::Free, Occupancy::Free, Occupancy::Person]),
        has_transcript in prop::bool::weighted(0.9),
    ) -> Candidate {
        Candidate {
            branch: branch.map(Into::into),
            last_active: hours.map(at),
            lines,
            bytes,
            tokens,
            compactions,
            budget_used_pct: budget,
            hold,
            has_transcript,
            ..session(&id, "main", 0.0, "x")
        }
    }
}

prop_compose! {
    fn any_field()(all in prop::collection::vec((any_candidate(), 0.0..=1.0), 0..12)) -> (Vec<Candidate>, Judgement) {
        let (candidates, scores): (Vec<_>, Vec<f64>) = all.into_iter().unzip();
        let relevance = scores.into_iter().map(|score| Relevance { score, reason: RelevanceReason::Said(String::new()) }).collect();
        (candidates, Judgement { relevance, judge: Judge::Keyword, fallback: None })
    }
}

fn task() -> Task<'static> {
    Task { text: "", branch: Some("main"), label: None, taken_by: None, now: at(0.0) }
}

fn seed(threshold: f64) -> Seed {
    Seed { weights: Weights::SEED, threshold }
}

proptest! {
    #[test]
    fn scores_stay_between_zero_and_one(candidate in any_candidate(), relevance in 0.0..=1.0) {
        let found = factors(&candidate, Some("main"), relevance, at(0.0), &Weights::SEED);
        prop_assert!((0.0..=1.0).contains(&found.score()), "{found:?}");
        prop_assert!(found.session_health >= 0.0 && found.context_capacity >= 0.0);
    }

    #[test]
    fn a_forbidden_session_is_never_resumed((candidates, judged) in any_field(), threshold in 0.0..1.0) {
        let found = choose(&task(), &seed(threshold), &candidates, &judged);
        prop_assert_eq!(found.considered.len(), candidates.len());
        let resumed = found.session.as_ref().filter(|_| found.action == Action::Resume);
        if let Some(id) = resumed {
            let best = &found.considered[0];
            prop_assert_eq!(&best.session_id, id);
            prop_assert!(best.score >= Some(threshold) && best.is_eligible());
            prop_assert!(candidates.iter().any(|one| one.id == *id && one.compactions < 3
                && one.budget_used_pct.is_none_or(|used| used < 70.0) && one.hold == Occupancy::Free && one.has_transcript));
        } else {
            prop_assert!(found.considered.iter().all(|one| !one.is_eligible() || one.score < Some(threshold)));
        }
    }

    #[test]
    fn the_order_of_candidates_makes_no_difference((candidates, judged) in any_field()) {
        let mut ids: Vec<_> = candidates.iter().map(|one| one.id.clone()).collect();
        ids.sort();
        ids.dedup();
        prop_assume!(ids.len() == candidates.len());
        let turned: Vec<_> = candidates.iter().rev().cloned().collect();
        let back = Judgement { relevance: judged.relevance.iter().rev().cloned().collect(), ..judged.clone() };
        prop_assert_eq!(choose(&task(), &seed(0.6), &candidates, &judged), choose(&task(), &seed(0.6), &turned, &back));
    }

    #[test]
    fn more_relevance_is_never_worse(candidate in any_candidate(), one in 0.0..=1.0, other in 0.0..=1.0) {
        let score = |relevance: f64| factors(&candidate, Some("main"), relevance, at(0.0), &Weights::SEED).score();
        let (less, more) = if one < other { (one, other) } else { (other, one) };
        prop_assert!(score(less) <= score(more) + 1e-9);
    }

    #[test]
    fn common_words_are_symmetric_and_bounded(one in ".{0,80}", other in ".{0,80}") {
        let found = keyword_relevance(&one, Some(&other));
        prop_assert!((0.0..=1.0).contains(&found.score));
        prop_assert_eq!(found, keyword_relevance(&other, Some(&one)));
    }

    #[test]
    fn no_answer_of_a_model_panics(answer in ".{0,200}", asked in 0_usize..5) {
        if let Ok(found) = parse_ratings(&answer, asked) {
            prop_assert_eq!(found.len(), asked);
        }
    }
}

//! The scores that `memory search` shows, on a scale of which OpenClaw's `minScore` parts good answers from chance ones.

use std::collections::HashMap;

use model::SessionId;
use search::RankedHit;

/// What of its words' share counts beside the index's own score: chance answers reach 0.30 of the one and 0.17 of the
/// other (docs/search-quality.md).
const CHANCE: f32 = 0.17;
const CHANCE_OF_WORDS: f32 = 0.30;

/// Gives the hits scores that OpenClaw's `minScore` parts: chance answers lie below its 0.35, good ones above. Their
/// order stays.
pub(super) fn calibrate(hits: &mut [RankedHit]) {
    let mut of_session: HashMap<SessionId, f32> = HashMap::new();
    let mut shown: Vec<f32> = Vec::with_capacity(hits.len());
    for hit in &*hits {
        // Of a session's further pieces each is as good as its words are beside those of the best.
        let best = *of_session.entry(hit.session.clone()).or_insert(hit.score);
        let words = hit.why.best_chunk * hit.score / best.max(f32::MIN_POSITIVE);
        shown.push(calibrated(hit.score.max(words * CHANCE / CHANCE_OF_WORDS).min(1.0)));
    }
    let mut least = 0.0_f32;
    for (hit, shown) in hits.iter_mut().zip(shown).rev() {
        least = least.max(shown);
        hit.score = least;
    }
}

fn calibrated(score: f32) -> f32 {
    const SHOWN: f32 = 0.35;
    if score < CHANCE {
        score * SHOWN / CHANCE
    } else {
        SHOWN + (score - CHANCE) * (1.0 - SHOWN) / (1.0 - CHANCE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_keep_their_order_and_part_at_what_openclaw_leaves_out() {
        let check = |score: f32, expected: f32| {
            assert!((calibrated(score) - expected).abs() < 1e-6, "{score}: {}", calibrated(score));
        };
        check(0.0, 0.0);
        check(0.17, 0.35);
        check(1.0, 1.0);
        assert!(f64::from(calibrated(0.23)) > 0.35 && f64::from(calibrated(0.16)) < 0.35);
        let shown: Vec<f32> = (0..=100).map(|percent| calibrated(percent as f32 / 100.0)).collect();
        assert!(shown.is_sorted());
    }
}

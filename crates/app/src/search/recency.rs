//! Questions about how things are now: of sessions of one project that answer about equally well, the newest is first, since
//! what was said before may have been undone.

use search::RankedHit;

/// What is asked for is the present, or what was settled.
const NOW: [&str; 9] =
    ["now", "current", "currently", "still", "anymore", "nowadays", "decide", "decided", "decision"];
/// The share of a better hit's score from which another one answers about equally well.
const NEAR: f32 = 0.85;

/// Whether a question asks how things are now.
pub(crate) fn asks_for_now(question: &str) -> bool {
    let words = question.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase);
    words.into_iter().any(|word| NOW.contains(&word.as_str()))
}

/// Puts the newest first among hits that answer about equally well and are of one project, as `project_of` says. Scores stay where they
/// were, so that they still fall from hit to hit.
pub(crate) fn newest_first<P: PartialEq>(
    hits: &mut [RankedHit],
    project_of: impl Fn(&RankedHit) -> Option<P>,
) {
    let mut first = 0;
    while let Some(best) = hits.get(first) {
        let least = NEAR * best.score;
        let many = hits[first..].iter().take_while(|hit| hit.score >= least).count().max(1);
        order(&mut hits[first..first + many], &project_of);
        first += many;
    }
}

/// Puts the hits of each project in the places that they have together, the newest first.
fn order<P: PartialEq>(hits: &mut [RankedHit], project_of: &impl Fn(&RankedHit) -> Option<P>) {
    let projects: Vec<Option<P>> = hits.iter().map(project_of).collect();
    for (at, project) in projects.iter().enumerate() {
        // Only the first of each project begins: the others were placed with it.
        if project.is_none() || projects[..at].contains(project) {
            continue;
        }
        let places: Vec<usize> = (at..hits.len()).filter(|place| projects[*place] == *project).collect();
        let mut newest = places.clone();
        newest.sort_by_key(|place| std::cmp::Reverse(hits[*place].at));
        let moved: Vec<RankedHit> = newest.iter().map(|place| hits[*place].clone()).collect();
        for (place, hit) in places.into_iter().zip(moved) {
            let (score, confidence) = (hits[place].score, hits[place].confidence);
            hits[place] = RankedHit { score, confidence, ..hit };
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use search::{ChunkKind, ScoreBreakdown, SourceKind};

    use super::*;

    fn hit(name: &str, score: f32, day: i64) -> RankedHit {
        RankedHit {
            session: name.parse().unwrap(),
            score,
            confidence: score,
            why: ScoreBreakdown::default(),
            source: SourceKind::ClaudeSessions,
            gone: false,
            file: PathBuf::new(),
            line: 1,
            offset: 0,
            uuid: None,
            kind: ChunkKind::Answer,
            at: jiff::Timestamp::from_second(day * 86_400).ok(),
            subagent: false,
            snippet: None,
            passage: None,
            lines: None,
            also_in: Vec::new(),
            later: None,
            more: 0,
            places: Vec::new(),
        }
    }

    #[test]
    fn questions_about_the_present() {
        for (question, expected) in [
            ("which cache do we use now?", true),
            ("What did we decide about locks", true),
            ("is the retry still on", true),
            ("how did we know", false),
            ("the decisive test", false),
        ] {
            assert_eq!(asks_for_now(question), expected, "{question}");
        }
    }

    #[test]
    fn of_near_equals_of_one_project_the_newest_is_first() {
        let mut hits = vec![
            hit("a1", 0.50, 1),
            hit("b1", 0.49, 9),
            hit("a2", 0.48, 3),
            hit("a3", 0.44, 2),
            hit("a4", 0.20, 8),
        ];
        newest_first(&mut hits, |hit| hit.session.as_str().chars().next());
        let found: Vec<(&str, f32)> = hits.iter().map(|hit| (hit.session.as_str(), hit.score)).collect();
        assert_eq!(found, [("a2", 0.50), ("b1", 0.49), ("a3", 0.48), ("a1", 0.44), ("a4", 0.20)]);
    }

    #[test]
    fn hits_of_no_project_stay() {
        let mut hits = vec![hit("a", 0.5, 1), hit("b", 0.5, 2)];
        newest_first(&mut hits, |_| None::<u8>);
        assert_eq!(hits[0].session.as_str(), "a");
    }
}

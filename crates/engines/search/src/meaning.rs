//! The semantic similarity of a query and the text of each session.

use embedding::{Vector, VectorKey, Vectors};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::admitted::Admitted;
use crate::columns::RecordKey;
use crate::error::Error;
use crate::sessions::Sessions;

/// The similarity of a session to the query.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Nearness {
    /// The cosine similarity of the query and the session's nearest text.
    pub(crate) nearest: f32,
    /// The record of that text.
    pub(crate) place: RecordKey,
    /// The sum of the cosine similarities of all texts; in `f64`, so that the order of addition does not show in a
    /// score.
    sum: f64,
    count: u32,
}

impl Nearness {
    fn new(cosine: f32, place: RecordKey) -> Self {
        Self { nearest: cosine, place, sum: cosine.into(), count: 1 }
    }

    /// The mean over all texts of the session.
    pub(crate) fn mean(&self) -> f32 {
        mean(self.sum, self.count.into())
    }

    /// The same session with another text as its nearest.
    pub(crate) fn with_nearest(self, nearest: f32, place: RecordKey) -> Self {
        Self { nearest, place, ..self }
    }

    fn and(self, other: Self) -> Self {
        // Of two that are equally near the earlier one, whichever thread came upon it first.
        let place = other.place.cmp(&self.place);
        let is_nearer = self.nearest.total_cmp(&other.nearest).then(place).is_lt();
        let nearer = if is_nearer { other } else { self };
        Self { sum: self.sum + other.sum, count: self.count.saturating_add(other.count), ..nearer }
    }
}

/// Adds to what is known of a session.
fn take_in(known: &mut Option<Nearness>, other: Option<Nearness>) {
    *known = match (*known, other) {
        (Some(known), Some(other)) => Some(known.and(other)),
        (known, other) => known.or(other),
    };
}

impl From<VectorKey> for RecordKey {
    fn from(key: VectorKey) -> Self {
        Self { file: key.file.into(), record: key.place }
    }
}

/// The similarity up to which two texts are unrelated.
pub(crate) const UNRELATED: f32 = 0.1;

/// The similarity from which a text is worth more to a reader for what it means. Most texts are less similar, and cost a
/// picker that searches at every key as much as the others.
const AKIN: f32 = 0.3;

/// How near the sessions and their records are to a question.
#[derive(Debug, Default)]
pub(crate) struct Similarities {
    /// By session number.
    pub(crate) sessions: Vec<Option<Nearness>>,
    /// The records that are worth more for what they mean, each as often as it has texts.
    records: Vec<(VectorKey, f32)>,
}

impl Similarities {
    /// The cosine similarities of the records that some sessions hold.
    pub(crate) fn records_of(
        &self,
        sessions: &Sessions,
        wanted: impl Iterator<Item = usize>,
    ) -> FxHashMap<RecordKey, f32> {
        let mut is_of_wanted = vec![false; sessions.len()];
        for session in wanted {
            is_of_wanted[session] = true;
        }
        let mut records: FxHashMap<RecordKey, f32> = FxHashMap::default();
        for (key, cosine) in &self.records {
            let place = RecordKey::from(*key);
            let mut is_wanted = false;
            let each = |session| is_wanted |= is_of_wanted[session];
            sessions.holders(Some(place.file), || Some(place.record), each);
            if is_wanted {
                let known = records.entry(place).or_insert(*cosine);
                *known = known.max(*cosine);
            }
        }
        records
    }
}

/// How near the texts of all sessions are to the question.
pub(crate) fn similarities(
    vectors: &Vectors,
    question: &Vector,
    sessions: &Sessions,
    admitted: Option<&Admitted>,
    threads: usize,
) -> Result<Similarities, Error> {
    let nothing = || Similarities { sessions: vec![None; sessions.len()], records: Vec::new() };
    let found = vectors.each_near(question, threads, nothing, |found, key, cosine| {
        let place = RecordKey::from(key);
        if admitted.is_some_and(|admitted| !admitted.contains(place)) {
            return;
        }
        if cosine > AKIN {
            found.records.push((key, cosine));
        }
        let each = |session: usize| take_in(&mut found.sessions[session], Some(Nearness::new(cosine, place)));
        sessions.holders(Some(place.file), || Some(place.record), each);
    })?;
    let mut all = nothing();
    for part in found {
        for (known, other) in all.sessions.iter_mut().zip(part.sessions) {
            take_in(known, other);
        }
        all.records.extend(part.records);
    }
    Ok(all)
}

/// The mean over all texts of all sessions.
pub(crate) fn mean_of_all(all: &[Option<Nearness>]) -> f32 {
    let (sum, count) = all
        .iter()
        .flatten()
        .fold((0.0, 0.0), |(sum, count), near| (sum + near.sum, count + f64::from(near.count)));
    mean(sum, count)
}

#[expect(clippy::cast_possible_truncation, reason = "a mean of cosines")]
fn mean(sum: f64, count: f64) -> f32 {
    (sum / count.max(1.0)) as f32
}

/// For each of these sessions, the records most similar to the query: at most `many`, nearest first.
pub(crate) fn nearest_of(
    vectors: &Vectors,
    question: &Vector,
    sessions: &Sessions,
    wanted: &FxHashSet<usize>,
    admitted: Option<&Admitted>,
    many: usize,
    threads: usize,
) -> Result<FxHashMap<usize, Vec<RecordKey>>, Error> {
    type Best = FxHashMap<usize, Vec<(f32, RecordKey)>>;
    let take = |best: &mut Best, session: usize, cosine: f32, place: RecordKey| {
        let known = best.entry(session).or_default();
        if let Some(same) = known.iter_mut().find(|(_, other)| *other == place) {
            same.0 = same.0.max(cosine);
        } else {
            known.push((cosine, place));
        }
        known.sort_by(|one, other| other.0.total_cmp(&one.0));
        known.truncate(many);
    };
    let parts = vectors.each_near(question, threads, Best::default, |best, key, cosine| {
        let place = RecordKey::from(key);
        if admitted.is_some_and(|admitted| !admitted.contains(place)) {
            return;
        }
        let mut each = |session| {
            if wanted.contains(&session) {
                take(best, session, cosine, place);
            }
        };
        sessions.holders(Some(place.file), || Some(place.record), &mut each);
    })?;
    let mut all = Best::default();
    for (session, places) in parts.into_iter().flatten() {
        for (cosine, place) in places {
            take(&mut all, session, cosine, place);
        }
    }
    let places = |best: Vec<(f32, RecordKey)>| best.into_iter().map(|(_, place)| place).collect();
    Ok(all.into_iter().map(|(session, best)| (session, places(best))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_and_the_mean_of_a_session() {
        let at = |record| RecordKey { file: 1, record };
        let mut all = None;
        for (cosine, record) in [(0.2, 1), (0.8, 2), (0.5, 3)] {
            take_in(&mut all, Some(Nearness::new(cosine, at(record))));
        }
        take_in(&mut all, None);
        let all = all.unwrap();
        assert_eq!((all.nearest, all.place), (0.8, at(2)));
        assert!((all.mean() - 0.5).abs() < 1e-6);
        assert!((mean_of_all(&[Some(all), None]) - 0.5).abs() < 1e-6);
        assert!(mean_of_all(&[None]).abs() < 1e-6);
    }

    #[test]
    fn in_whichever_order_texts_are_met_a_session_is_as_near() {
        let at = |record| RecordKey { file: 1, record };
        let met = [(0.1, 3), (0.7, 2), (0.2, 9), (0.7, 1), (0.3, 4)];
        let met = met.map(|(cosine, record)| Nearness::new(cosine, at(record)));
        let forwards = met.into_iter().reduce(Nearness::and).unwrap();
        let backwards = met.into_iter().rev().reduce(Nearness::and).unwrap();
        assert_eq!((forwards.place, backwards.place), (at(1), at(1)));
        assert_eq!(forwards.mean().to_bits(), backwards.mean().to_bits());
    }
}

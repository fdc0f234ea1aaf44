//! Scores that were reckoned by hand from the table of weights, line by line.

use jiff::Timestamp;
use model::Session;
use selection::factors;
use selection::{Budget, Candidate, Weights};

/// The moment of the choice, less so many hours.
pub(crate) fn at(hours_ago: f64) -> Timestamp {
    #[expect(clippy::cast_possible_truncation, reason = "hours of a test")]
    Timestamp::from_millisecond(1_780_000_000_000 - (hours_ago * 3_600_000.0) as i64).expect("a time")
}

/// A small session on a branch, last used so many hours ago.
pub(crate) fn session(id: &str, branch: &str, hours_ago: f64, about: &str) -> Candidate {
    Candidate {
        branch: Some(branch.to_owned().into()),
        about: Some(about.to_owned().into()),
        last_active: Some(at(hours_ago)),
        lines: 100,
        bytes: 200_000,
        tokens: 10_000,
        has_transcript: true,
        ..Candidate::from_session(&Session::new(id.parse().expect("an id")), Budget::None)
    }
}

/// branch, hours, relevance | lines, MB, compactions, budget %, tokens a line | the five factors | the score.
const TABLE: &str = "
    main  0.5  1.0   100 0.2 0 -  100   0.25 0.20  0.25  0.15 0.15   1.00
    main  2    0.45  100 0.2 0 -  100   0.25 0.16  0.175 0.15 0.15   0.885
    main  30   0.2   100 0.2 0 -  100   0.25 0.08  0     0.15 0.15   0.63
    main  30   0.05  100 0.2 0 -  100   0.25 0.08 -0.15  0.15 0.15   0.48
    other 0.5  0.7   100 0.2 0 -  100   0    0.20  0.25  0.15 0.15   0.75
    other 0.5  0.0   100 0.2 0 -  100   0    0.20 -0.15  0.15 0.15   0.35
    main  200  0.9   100 0.2 0 -  100   0.25 0     0.25  0.11 0.15   0.76
    main  200  0.9   800 6.0 2 55 5000  0.25 0     0.25  0    0      0.50
    main  8    0.3   501 5.1 1 40 4001  0.25 0.12  0.10  0.04 0.06   0.57
    main  100  0.6   500 5.0 2 30 4000  0.25 0.04  0.25  0.15 0.06   0.75
    other 9999 0.0   900 9.0 2 69 9000  0    0    -0.15  0    0      0
";

#[test]
fn the_table_is_reproduced() {
    let mut lines = 0;
    for line in TABLE.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let number = |at: usize| words[at].parse::<f64>().expect(line);
        let count = |at: usize| words[at].parse::<u64>().expect(line);
        let candidate = Candidate {
            lines: count(3),
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "sizes of a test")]
            bytes: (number(4) * 1e6) as u64,
            compactions: count(5),
            budget_used_pct: words[6].parse().ok(),
            tokens: count(7) * count(3),
            ..session("a", words[0], number(1), "")
        };
        let found = factors(&candidate, Some("main"), number(2), at(0.0), &Weights::SEED);
        let all = [
            found.branch_match,
            found.recency,
            found.task_relevance,
            found.session_health,
            found.context_capacity,
            found.score(),
        ];
        for (place, value) in all.into_iter().enumerate() {
            assert!((value - number(8 + place)).abs() < 1e-9, "{line}: {all:?}");
        }
        lines += 1;
    }
    assert_eq!(lines, 11);
}

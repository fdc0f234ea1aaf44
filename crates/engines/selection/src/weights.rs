//! The numbers of the choice: how much each factor weighs, its bands and its steps.

/// A set of weights. A score is at most the sum of the five factors' greatest values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Weights {
    /// The set's name in `--weights`.
    pub name: &'static str,
    /// Added for the same branch.
    pub branch: f64,
    /// Added by age: the first step `(hours, weight)` whose hours are greater than the age counts; older sessions get
    /// nothing.
    pub recency: [(f64, f64); 5],
    /// Relevance of [`Self::RELATED`] and more.
    pub related: f64,
    /// Relevance of [`Self::TANGENTIAL`]; from there it grows evenly up to `related`.
    pub tangential: f64,
    /// Relevance under [`Self::UNRELATED`]: taken away.
    pub unrelated: f64,
    /// A session in good health.
    pub health: f64,
    /// Taken from it for over 500 lines, over 5 MB, and over a week of age.
    pub unhealthy: [f64; 3],
    /// A context with room.
    pub capacity: f64,
    /// Taken from it for one compaction, for two, for over 30% and for over 50% of the budget, and for over 4,000
    /// tokens a line.
    pub crowded: [f64; 5],
}

impl Weights {
    /// From here on a session is about the task.
    pub const RELATED: f64 = 0.6;
    /// From here on it has something to do with it.
    pub const TANGENTIAL: f64 = 0.3;
    /// Below this it has nothing to do with it.
    pub const UNRELATED: f64 = 0.1;

    /// The weights of the original proposal.
    pub const SEED: Self = Self {
        name: "seed",
        branch: 0.25,
        recency: [(1.0, 0.20), (6.0, 0.16), (24.0, 0.12), (72.0, 0.08), (168.0, 0.04)],
        related: 0.25,
        tangential: 0.10,
        unrelated: -0.15,
        health: 0.15,
        unhealthy: [0.07, 0.04, 0.04],
        capacity: 0.15,
        crowded: [0.04, 0.09, 0.02, 0.04, 0.03],
    };
}

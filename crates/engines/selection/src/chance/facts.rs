//! The facts from which the chance that a person resumes a session is estimated.

use std::collections::HashSet;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::habit::Habit;
use super::opening::Opening;
use super::words::{Overlap, words};
use crate::Candidate;

/// The share of common words above which more makes no difference.
const MOST_COMMON: f64 = 0.6;
/// The least age in hours: a session used more recently counts as this old.
const LEAST_HOURS: f64 = 5.0 / 60.0;

/// How a session's branch and work tree relate to those of the task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BranchRelation {
    /// On the same branch, in the same work tree.
    Same,
    /// On another branch, or in another work tree.
    Elsewhere,
    /// No branch is checked out that could be the same.
    Unknown,
}

/// The text of a task, analysed.
#[derive(Debug, Clone)]
pub struct TaskText {
    /// How the task opens.
    pub opening: Opening,
    words: HashSet<String>,
}

impl TaskText {
    /// Analyses a task's text.
    pub fn new(task: &str) -> Self {
        Self { opening: Opening::classify(task), words: words(task) }
    }
}

/// The latest messages of a session, for comparison with a task.
#[derive(Debug, Clone, Default)]
pub struct LatestMessages {
    /// The latest prompts.
    pub prompts: Vec<String>,
    /// The end of the last answer.
    pub answer: String,
    /// The semantic similarity of the task and these messages, from 0 to 1, where it was computed.
    pub nearness: Option<f64>,
}

/// The facts of going on with one session at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema, Deserialize)]
pub struct ResumeFacts {
    /// Hours since the session's last message.
    pub hours: f64,
    /// How its branch and work tree relate to those of the task.
    pub whereabouts: BranchRelation,
    /// Whether the person left it with `/exit`.
    pub was_exited: bool,
    /// How the task opens.
    pub opening: Opening,
    /// The words of the task that occur in the session's latest prompts.
    pub in_prompts: Overlap,
    /// The words of the task that occur in its latest answer.
    pub in_answer: Overlap,
    /// The semantic similarity of the task and both, from 0 to 1, where it was computed.
    pub nearness: Option<f64>,
    /// How often the person continues a session.
    pub habit: Habit,
}

impl ResumeFacts {
    /// The facts of a candidate.
    pub fn new(
        candidate: &Candidate,
        branch: Option<&str>,
        task: &TaskText,
        said: &LatestMessages,
        habit: Habit,
        now: Timestamp,
    ) -> Self {
        Self {
            // A session that does not say when it was used was not used for years.
            hours: candidate.silent_hours(now).unwrap_or(f64::from(1 << 20)),
            whereabouts: branch_relation(candidate, branch),
            was_exited: candidate.was_exited,
            opening: task.opening,
            in_prompts: Overlap::count(&task.words, said.prompts.iter().map(String::as_str)),
            in_answer: Overlap::count(&task.words, [said.answer.as_str()]),
            nearness: said.nearness,
            habit,
        }
    }

    /// Whether the task shares a word with the latest messages.
    pub fn shares_words(&self) -> bool {
        self.in_prompts.common + self.in_answer.common > 0
    }

    /// The facts as numbers, in the order of [`ResumeFact::ALL`].
    pub fn numbers(&self) -> [f64; ResumeFact::ALL.len()] {
        ResumeFact::ALL.map(|fact| self.number(fact))
    }

    fn number(&self, fact: ResumeFact) -> f64 {
        match fact {
            ResumeFact::Age => self.hours.max(LEAST_HOURS).ln(),
            ResumeFact::Elsewhere => f64::from(u8::from(self.whereabouts == BranchRelation::Elsewhere)),
            ResumeFact::Exit => f64::from(u8::from(self.was_exited)),
            ResumeFact::Opening => match self.opening {
                Opening::Continuation => 1.0,
                Opening::Request => -1.0,
                Opening::Neither => 0.0,
            },
            ResumeFact::Habit => {
                let share = self.habit.share();
                (share / (1.0 - share)).ln()
            }
            ResumeFact::InPrompts => self.in_prompts.share().min(MOST_COMMON),
            ResumeFact::InAnswer => self.in_answer.share().min(MOST_COMMON),
        }
    }
}

/// Compares a candidate's branch and work tree with the branch that is checked out.
pub fn branch_relation(candidate: &Candidate, branch: Option<&str>) -> BranchRelation {
    let branch = branch.filter(|branch| !matches!(*branch, "" | "HEAD"));
    match branch {
        _ if candidate.is_in_other_tree => BranchRelation::Elsewhere,
        None => BranchRelation::Unknown,
        Some(branch) if candidate.branch.as_deref() == Some(branch) => BranchRelation::Same,
        Some(_) => BranchRelation::Elsewhere,
    }
}

/// A fact for or against resuming a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResumeFact {
    /// The logarithm of the hours since the last message.
    Age,
    /// The session was last on another branch or in another work tree.
    Elsewhere,
    /// The session was left with `/exit`.
    Exit,
    /// The task opens like a continuation (1) or like a request (-1).
    Opening,
    /// The logarithm of the odds that the person resumes a session.
    Habit,
    /// The share of the task's words that occur in the latest prompts.
    InPrompts,
    /// The share of the task's words that occur in the latest answer.
    InAnswer,
}

impl ResumeFact {
    /// All facts, in the order of their coefficients.
    pub const ALL: [Self; 7] =
        [Self::Age, Self::Elsewhere, Self::Exit, Self::Opening, Self::Habit, Self::InPrompts, Self::InAnswer];

    /// Its name in JSON and in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Age => "age",
            Self::Elsewhere => "elsewhere",
            Self::Exit => "exit",
            Self::Opening => "opening",
            Self::Habit => "habit",
            Self::InPrompts => "in_prompts",
            Self::InAnswer => "in_answer",
        }
    }
}

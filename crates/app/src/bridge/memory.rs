//! `openclaw_memory_search`: what an agent's notes and its indexed memory say.

use std::collections::HashSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::bridge::Bridge;
use crate::search::memory;
use crate::{Context, Error, Kind};

/// The longest content of a result, in characters; OpenClaw has the same limit.
const MAX_CONTENT: usize = 3000;
/// How much of a note comes before the words that were found, in characters.
const BEFORE: usize = 500;
/// How many results an answer has at most.
const MAX_RESULTS: usize = 10;

/// What to look for.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "BridgeMemoryRequest")]
pub struct Request {
    /// Words that the agent's memory may hold.
    pub query: String,
}

/// The results, best first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "BridgeMemoryAnswer")]
pub struct Answer {
    /// Files of the agent's memory that answer; one file may have several results.
    pub results: Vec<MemoryResult>,
}

/// A part of a file of the agent's memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "BridgeMemoryResult")]
pub struct MemoryResult {
    /// The file, as seen from the agent's folder or its workspace.
    pub file: String,
    /// The part of it that was found.
    pub content: String,
}

/// Searches the agent's memory: first the notes in its folder that hold the words as they are, then its index.
pub fn search(context: &Context, bridge: &Bridge, request: &Request) -> Result<Answer, Error> {
    let query = request.query.trim();
    if query.is_empty() {
        return Err(Error::new(Kind::Usage, "the query is empty: say what to look for"));
    }
    let notes = openclaw::agent_notes(&context.config().openclaw_folders, &bridge.agent);
    let literal = notes.iter().filter_map(|note| {
        let part = around(&context.secrets.shown(&note.text), query)?;
        Some(MemoryResult { file: note.name.display().to_string(), content: part })
    });
    let mut results: Vec<MemoryResult> = literal.collect();
    let known: HashSet<String> = results.iter().map(|found| found.file.clone()).collect();
    let indexed = indexed(context, bridge, query)?;
    results.extend(indexed.into_iter().filter(|found| !known.contains(&found.file)));
    results.truncate(MAX_RESULTS);
    for result in &mut results {
        result.content = context.secrets.redacted_beginning(std::mem::take(&mut result.content));
    }
    Ok(Answer { results })
}

fn indexed(context: &Context, bridge: &Bridge, query: &str) -> Result<Vec<MemoryResult>, Error> {
    let request = memory::search::Request {
        query: query.to_owned(),
        agent: Some(bridge.agent.clone()),
        ..Default::default()
    };
    match memory::search::search(context, &request) {
        Ok(answer) => Ok(answer.results.into_iter().map(MemoryResult::from).collect()),
        // The agent has no memory beyond its folder, or the query is made of signs alone.
        Err(error) if matches!(error.kind, Kind::NotFound | Kind::Usage) => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

impl From<memory::search::Remembered> for MemoryResult {
    fn from(found: memory::search::Remembered) -> Self {
        Self { file: found.path, content: found.snippet.chars().take(MAX_CONTENT).collect() }
    }
}

/// The part of a text around the first place that holds the words, whatever their case.
fn around(text: &str, words: &str) -> Option<String> {
    let lower = text.to_lowercase();
    let at = lower.find(&words.to_lowercase())?;
    // Lower case may have other lengths in bytes, so characters are counted.
    let before = lower.get(..at)?.chars().count();
    let start = if text.chars().count() <= MAX_CONTENT { 0 } else { before.saturating_sub(BEFORE) };
    Some(text.chars().skip(start).take(MAX_CONTENT).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_note_is_cut_around_what_was_found() {
        let check = |text: &str, words: &str, expected: Option<&str>| {
            assert_eq!(around(text, words).as_deref(), expected, "{words}");
        };
        check("Deploy on Fridays", "deploy ON", Some("Deploy on Fridays"));
        check("Deploy on Fridays", "monday", None);
        let long = format!("{}Deploy on Fridays{}", "x".repeat(4000), "y".repeat(4000));
        let found = around(&long, "deploy").unwrap();
        assert_eq!((found.chars().count(), found.find("Deploy")), (MAX_CONTENT, Some(BEFORE)));
    }
}

//! What a tool is: how it is described, what it may change, and how it is run.

use std::sync::Arc;

use app::{Context, Error, Kind};
use rmcp::model::{JsonObject, MetaObject, ToolAnnotations};
use serde::Serialize;
use serde_json::Value;

use crate::call::Patience;

/// What a model should think of by itself; each costs room in every session's context.
const ALWAYS_LOADED: [&str; 2] = ["search", "read_session"];

/// A tool.
pub(crate) struct Tool {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    /// What it does, when to call it, and an example.
    pub(crate) description: &'static str,
    pub(crate) effect: Effect,
    pub(crate) patience: Patience,
    pub(crate) input: fn() -> JsonObject,
    pub(crate) output: fn() -> JsonObject,
    pub(crate) run: fn(&Context, JsonObject) -> Result<Reply, Error>,
}

/// What a call of a tool may change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Nothing.
    Nothing,
    /// Something begins that was not there before: a worker acts, within its permissions.
    Starts,
    /// Something ends or is gone.
    Ends,
}

/// What a tool replies.
pub(crate) enum Reply {
    /// What was asked for.
    Answer(Value),
    /// What to do instead.
    Guidance(Value),
}

impl Reply {
    pub(crate) fn new(answer: &impl Serialize) -> Result<Self, Error> {
        value(answer).map(Self::Answer)
    }
}

/// An answer as JSON.
pub(crate) fn value(answer: &impl Serialize) -> Result<Value, Error> {
    serde_json::to_value(answer)
        .map_err(|error| Error::caused(Kind::Internal, "the answer cannot be written as JSON", &error))
}

impl Tool {
    pub(crate) fn definition(&self) -> rmcp::model::Tool {
        let (input, output) = ((self.input)(), (self.output)());
        let mut tool = rmcp::model::Tool::new(self.name, self.description, Arc::new(input))
            .with_title(self.title)
            .with_raw_output_schema(Arc::new(output))
            .with_annotations(self.effect.annotations());
        if ALWAYS_LOADED.contains(&self.name) {
            tool.meta = Some(always_loaded());
        }
        tool
    }
}

/// Tells Claude Code to show its model a tool from the beginning, without a search for tools.
fn always_loaded() -> MetaObject {
    let mut meta = MetaObject::new();
    meta.0.insert("anthropic/alwaysLoad".to_owned(), Value::Bool(true));
    meta
}

impl Effect {
    fn annotations(self) -> ToolAnnotations {
        let (reads, destroys, repeats, reaches_out) = match self {
            Self::Nothing => (true, false, true, false),
            Self::Starts => (false, false, false, true),
            Self::Ends => (false, true, true, false),
        };
        ToolAnnotations::new()
            .read_only(reads)
            .destructive(destroys)
            .idempotent(repeats)
            .open_world(reaches_out)
    }
}

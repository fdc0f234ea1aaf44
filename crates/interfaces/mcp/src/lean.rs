//! Leaves out what a model does not need of the objects of an answer, in the answer and in its schema alike.

use rmcp::model::JsonObject;
use serde_json::Value;

/// The fields that are kept of one kind of object.
pub(crate) struct Lean {
    /// What schemas call it.
    pub(crate) definition: &'static str,
    /// The fields that a model gets.
    pub(crate) keep: &'static [&'static str],
}

/// The sessions of lists and of a repository.
pub(crate) const SESSION: Lean = Lean {
    definition: "Session",
    keep: &[
        "session_id",
        "title",
        "project",
        "cwd",
        "branch",
        "origin",
        "agent_id",
        "last_modified",
        "last_prompt",
        "visible_messages",
        "context_tokens",
        "cost_usd",
        "is_running",
        "activity",
        "background_job",
        "forked_from",
    ],
};

/// The sessions that answer a search.
pub(crate) const HIT: Lean = Lean {
    definition: "SearchHit",
    keep: &[
        "rank",
        "session_id",
        "source",
        "score",
        "title",
        "project",
        "cwd",
        "branch",
        "last_modified",
        "file",
        "line",
        "offset",
        "uuid",
        "role",
        "at",
        "snippet",
        "later",
        "also_in",
    ],
};

impl Lean {
    /// Leaves out the rest of the objects in the list at `pointer`.
    pub(crate) fn apply(&self, answer: &mut Value, pointer: &str) {
        let Some(Value::Array(items)) = answer.pointer_mut(pointer) else { return };
        for item in items.iter_mut().filter_map(Value::as_object_mut) {
            item.retain(|name, value| self.keep.contains(&name.as_str()) && !value.is_null());
        }
    }

    /// Leaves out the rest of a schema. What is not known is left out too, so that nothing is required.
    pub(crate) fn apply_to_schema(&self, schema: &mut JsonObject) {
        let Some(definitions) = schema.get_mut("$defs").and_then(Value::as_object_mut) else { return };
        let Some(definition) = definitions.get_mut(self.definition).and_then(Value::as_object_mut) else {
            return;
        };
        if let Some(properties) = definition.get_mut("properties").and_then(Value::as_object_mut) {
            properties.retain(|name, _| self.keep.contains(&name.as_str()));
        }
        definition.remove("required");
    }
}

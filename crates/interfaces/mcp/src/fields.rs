//! The fields that a model gets of the objects in an answer; the others are removed from the answer and from its schema.

use rmcp::model::JsonObject;
use serde_json::Value;

/// The fields that are kept of one type of object.
pub(crate) struct FieldSelection {
    /// The name of its schema.
    pub(crate) definition: &'static str,
    /// The fields that a model gets.
    pub(crate) keep: &'static [&'static str],
}

/// A session in a list or a repository.
pub(crate) const SESSION: FieldSelection = FieldSelection {
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
        "annotations",
        "team",
        "this_conversation",
    ],
};

/// A search hit.
pub(crate) const HIT: FieldSelection = FieldSelection {
    definition: "SearchHit",
    keep: &[
        "rank",
        "session_id",
        "source",
        "score",
        "weak",
        "title",
        "project",
        "cwd",
        "branch",
        "last_modified",
        "file",
        "line",
        "offset",
        "uuid",
        "kind",
        "role",
        "at",
        "snippet",
        "subagent_id",
        "read",
        "later",
        "more",
        "places",
        "also_in",
    ],
};

impl FieldSelection {
    /// Removes the other fields of the objects in the list at `pointer`.
    pub(crate) fn apply(&self, answer: &mut Value, pointer: &str) {
        let Some(Value::Array(items)) = answer.pointer_mut(pointer) else { return };
        for item in items.iter_mut().filter_map(Value::as_object_mut) {
            item.retain(|name, value| self.keep.contains(&name.as_str()) && !value.is_null());
        }
    }

    /// Removes the other fields of the schema. None is required, since `null` is left out.
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

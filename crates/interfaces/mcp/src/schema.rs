//! The schemas of arguments and answers, made from the types of the app.

use rmcp::model::JsonObject;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use crate::arguments::CURSOR;

/// The schema of arguments. What is not required may be `null` too; the schema does not say so, because not every client
/// knows more than one type for a value.
pub(crate) fn input<T: JsonSchema>() -> JsonObject {
    let mut schema = root::<T>(app::schema::settings());
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
    properties.into_iter().flatten().for_each(|(_, property)| without_null(property));
    schema
}

/// The schema of a call without arguments.
pub(crate) fn empty() -> JsonObject {
    let mut schema = JsonObject::new();
    schema.insert("type".to_owned(), json!("object"));
    schema.insert("properties".to_owned(), json!({}));
    schema.insert("additionalProperties".to_owned(), json!(false));
    schema
}

/// Adds the argument by which a list goes on.
pub(crate) fn add_cursor(schema: &mut JsonObject) {
    let cursor = json!({"type": "string", "description": "Go on here: `next_cursor` of an answer."});
    add(schema, CURSOR, cursor);
}

/// Says how long a list is here, where the app has other limits.
pub(crate) fn add_limit(schema: &mut JsonObject, default: usize, most: usize) {
    let limit = json!({
        "type": "integer", "minimum": 1, "maximum": most, "default": default, "description": "At most so many.",
    });
    add(schema, "limit", limit);
}

/// The schema of an answer.
pub(crate) fn output<T: JsonSchema>() -> JsonObject {
    root::<T>(app::schema::settings().for_serialize())
}

/// Adds what every bounded list has.
pub(crate) fn add_paging(schema: &mut JsonObject) {
    let description = "Where the list goes on: give it as `cursor`. Absent at its end.";
    add(schema, "next_cursor", json!({"type": "string", "description": description}));
    add_truncated(schema);
}

/// Adds whether something was left out.
pub(crate) fn add_truncated(schema: &mut JsonObject) {
    let description = "Whether something was left out to keep the answer short.";
    add(schema, "truncated", json!({"type": "boolean", "description": description}));
}

/// Adds the reminder that texts are quotations.
pub(crate) fn add_notice(schema: &mut JsonObject) {
    add(schema, "notice", json!({"type": "string", "description": "How to take the texts of the answer."}));
}

/// Adds a field that need not be there.
pub(crate) fn add(schema: &mut JsonObject, name: &str, property: Value) {
    let properties = schema.entry("properties").or_insert_with(|| json!({}));
    if let Some(properties) = properties.as_object_mut() {
        properties.insert(name.to_owned(), property);
    }
}

/// Shortens the schema of an answer, which every client reads at its start: of what is below its own fields the types and
/// names alone are kept, and no definition that nothing refers to.
pub(crate) fn compact(schema: &mut JsonObject) {
    for (name, part) in schema.iter_mut() {
        match part {
            Value::Object(named) if name == "properties" => {
                named.iter_mut().for_each(|(_, property)| strip(property, true));
            }
            Value::Object(named) if name == "$defs" => {
                named.iter_mut().for_each(|(_, definition)| strip(definition, false));
            }
            _ => strip(part, false),
        }
    }
    let Some(Value::Object(definitions)) = schema.remove("$defs") else { return };
    let mut used = Map::new();
    let mut wanted = references(&Value::Object(schema.clone()));
    while let Some(name) = wanted.pop() {
        if let Some(definition) = definitions.get(&name).filter(|_| !used.contains_key(&name)) {
            wanted.extend(references(definition));
            used.insert(name, definition.clone());
        }
    }
    if !used.is_empty() {
        schema.insert("$defs".to_owned(), Value::Object(used));
    }
}

/// Takes out descriptions, except the value's own where `is_kept`, and the widths of numbers.
fn strip(schema: &mut Value, is_kept: bool) {
    match schema {
        Value::Array(all) => all.iter_mut().for_each(|one| strip(one, false)),
        Value::Object(fields) => {
            let is_words = |name: &str, value: &Value| !is_kept && name == "description" && value.is_string();
            let is_width = |name: &str, value: &Value| name == "format" && value.is_string();
            fields.retain(|name, value| !is_words(name, value) && !is_width(name, value));
            if fields.get("minimum") == Some(&json!(0)) {
                fields.remove("minimum");
            }
            if let Some(words) = fields.get("oneOf").and_then(words) {
                fields.remove("oneOf");
                fields.insert("type".to_owned(), json!("string"));
                fields.insert("enum".to_owned(), words);
            }
            // The names of properties are no keywords.
            for (name, value) in fields.iter_mut() {
                match value {
                    Value::Object(named) if name == "properties" || name == "$defs" => {
                        named.iter_mut().for_each(|(_, one)| strip(one, false));
                    }
                    _ => strip(value, false),
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// The words of a choice among nothing but words.
fn words(choices: &Value) -> Option<Value> {
    choices
        .as_array()?
        .iter()
        .map(|choice| choice.get("const").filter(|word| word.is_string()).cloned())
        .collect()
}

/// The definitions that a schema refers to.
fn references(schema: &Value) -> Vec<String> {
    match schema {
        Value::Array(all) => all.iter().flat_map(references).collect(),
        Value::Object(fields) => {
            let own = fields.get("$ref").and_then(Value::as_str).and_then(|to| to.strip_prefix("#/$defs/"));
            own.map(str::to_owned).into_iter().chain(fields.values().flat_map(references)).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    }
}

fn root<T: JsonSchema>(settings: SchemaSettings) -> JsonObject {
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    without_true(&mut schema);
    let mut schema = match schema {
        Value::Object(schema) => schema,
        _ => Map::new(),
    };
    // They say nothing to a model, and each is read at every start.
    for name in ["$schema", "title", "description"] {
        schema.remove(name);
    }
    schema.insert("type".to_owned(), json!("object"));
    schema
}

/// A property that need not be there: its type alone.
fn without_null(property: &mut Value) {
    let Some(fields) = property.as_object_mut() else { return };
    fields.retain(|name, value| name != "default" || !value.is_null());
    if let Some(Value::Array(kinds)) = fields.get_mut("type") {
        kinds.retain(|kind| kind != "null");
        if let [kind] = kinds.as_slice() {
            let kind = kind.clone();
            fields.insert("type".to_owned(), kind);
        }
    }
    if let Some(Value::Array(mut choices)) = fields.remove("anyOf") {
        choices.retain(|choice| choice["type"] != "null");
        match choices.as_slice() {
            [Value::Object(only)] => fields.extend(only.clone()),
            _ => drop(fields.insert("anyOf".to_owned(), Value::Array(choices))),
        }
    }
}

/// Writes `{}` for `true`: the same, and known to every client.
fn without_true(schema: &mut Value) {
    match schema {
        Value::Array(all) => all.iter_mut().for_each(without_true),
        Value::Object(fields) => {
            for (name, value) in fields {
                if name == "items" && *value == Value::Bool(true) {
                    *value = json!({});
                }
                without_true(value);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_repeats_is_left_out() {
        let mut schema = json!({
            "type": "object",
            "properties": {
                "description": {"type": "string", "description": "Kept."},
                "size": {"$ref": "#/$defs/Size", "description": "Kept."},
            },
            "$defs": {
                "Size": {
                    "description": "Gone.", "type": "object",
                    "properties": {
                        "description": {"type": "integer", "format": "uint64", "minimum": 0, "description": "Gone."},
                        "unit": {"oneOf": [{"const": "b", "description": "Gone.", "type": "string"}, {"const": "c", "type": "string"}]},
                    },
                },
                "Nobody": {"$ref": "#/$defs/Other"},
                "Other": {"type": "string"},
            },
        });
        compact(schema.as_object_mut().unwrap());
        let expected = json!({
            "type": "object",
            "properties": {
                "description": {"type": "string", "description": "Kept."},
                "size": {"$ref": "#/$defs/Size", "description": "Kept."},
            },
            "$defs": {
                "Size": {
                    "type": "object",
                    "properties": {
                        "description": {"type": "integer"},
                        "unit": {"type": "string", "enum": ["b", "c"]},
                    },
                },
            },
        });
        assert_eq!(schema, expected);
    }
}

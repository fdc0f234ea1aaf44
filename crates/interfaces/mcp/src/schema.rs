//! The schemas of arguments and answers, made from the types of the app.

use rmcp::model::JsonObject;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use crate::arguments::CURSOR;

/// The schema of arguments. Everything but `required` can be left out, or be `null`.
pub(crate) fn input<T: JsonSchema>(required: &[&str]) -> JsonObject {
    let mut schema = root::<T>(app::schema::settings());
    let properties = schema.entry("properties").or_insert_with(|| json!({}));
    for (name, property) in properties.as_object_mut().into_iter().flatten() {
        if !required.contains(&name.as_str()) {
            allow_null(property);
        }
    }
    if required.is_empty() {
        schema.remove("required");
    } else {
        schema.insert("required".to_owned(), json!(required));
    }
    schema
}

/// The same for a list that goes on at a cursor.
pub(crate) fn paged_input<T: JsonSchema>(required: &[&str]) -> JsonObject {
    let mut schema = input::<T>(required);
    let cursor =
        json!({"type": ["string", "null"], "description": "Go on here: `next_cursor` of an answer."});
    add(&mut schema, CURSOR, cursor);
    schema
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

fn root<T: JsonSchema>(settings: SchemaSettings) -> JsonObject {
    let schema = settings.into_generator().into_root_schema_for::<T>().to_value();
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

fn allow_null(property: &mut Value) {
    let Some(fields) = property.as_object_mut() else { return };
    match fields.get_mut("type") {
        Some(Value::String(kind)) => {
            let kinds = json!([kind, "null"]);
            fields.insert("type".to_owned(), kinds);
        }
        Some(Value::Array(kinds)) => {
            if !kinds.contains(&json!("null")) {
                kinds.push(json!("null"));
            }
        }
        _ => {
            if let Some(reference) = fields.remove("$ref") {
                fields.insert("anyOf".to_owned(), json!([{"$ref": reference}, {"type": "null"}]));
            }
        }
    }
    if let Some(Value::Array(values)) = fields.get_mut("enum")
        && !values.contains(&Value::Null)
    {
        values.push(Value::Null);
    }
}

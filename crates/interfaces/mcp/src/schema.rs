//! The schemas of arguments and answers, made from the types of the app.

use rmcp::model::JsonObject;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use crate::arguments::CURSOR;

/// In how many objects of an answer fields are described.
const DEPTH: usize = 2;

/// The type whose description belongs to each argument of it, because it has a syntax of its own.
const WITH_SYNTAX: &str = "Moment";

/// The schema of arguments, without references, which not every client resolves. What is not required may be `null` too;
/// the schema does not say so, because not every client knows more than one type for a value.
pub(crate) fn input<T: JsonSchema>() -> JsonObject {
    let mut schema = root::<T>(app::schema::settings());
    let definitions = take_definitions(&mut schema);
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
    for (_, property) in properties.into_iter().flatten() {
        without_null(property);
        inline(property, &definitions);
    }
    schema
}

/// Removes the definitions that references name.
fn take_definitions(schema: &mut JsonObject) -> Map<String, Value> {
    match schema.remove("$defs") {
        Some(Value::Object(definitions)) => definitions,
        _ => Map::new(),
    }
}

/// Replaces a reference by what it names, with the argument's own description; a choice among words becomes an `enum`.
fn inline(property: &mut Value, definitions: &Map<String, Value>) {
    let Some(fields) = property.as_object_mut() else { return };
    if let Some(items) = fields.get_mut("items") {
        inline(items, definitions);
    }
    let Some(Value::String(reference)) = fields.remove("$ref") else { return };
    let name = reference.trim_start_matches("#/$defs/");
    let Some(Value::Object(definition)) = definitions.get(name) else { return };
    let mut definition = definition.clone();
    if let Some(words) = definition.get("oneOf").and_then(words) {
        definition.remove("oneOf");
        definition.extend([("type".to_owned(), json!("string")), ("enum".to_owned(), words)]);
    }
    if name == WITH_SYNTAX
        && let Some(Value::String(own)) = fields.get_mut("description")
    {
        *own = format!("{own} {}", definition["description"].as_str().unwrap_or_default());
    }
    for (name, value) in definition {
        fields.entry(name).or_insert(value);
    }
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
    let cursor = json!({"type": "string", "description": "Continue here: `next_cursor` of an answer."});
    add(schema, CURSOR, cursor);
}

/// Says how long a list is here, where the app has other limits.
pub(crate) fn add_limit(schema: &mut JsonObject, default: usize, most: usize) {
    let limit = json!({
        "type": "integer", "minimum": 1, "maximum": most, "default": default, "description": "The maximum number of results.",
    });
    add(schema, "limit", limit);
}

/// The schema of an answer.
pub(crate) fn output<T: JsonSchema>() -> JsonObject {
    root::<T>(app::schema::settings().for_serialize())
}

/// Adds what every bounded list has.
pub(crate) fn add_paging(schema: &mut JsonObject) {
    add(schema, "next_cursor", json!({"type": "string"}));
    add_truncated(schema);
}

/// Adds whether something was left out.
pub(crate) fn add_truncated(schema: &mut JsonObject) {
    add(schema, "truncated", json!({"type": "boolean"}));
}

/// Adds the reminder that texts are quotations.
pub(crate) fn add_notice(schema: &mut JsonObject) {
    add(schema, "notice", json!({"type": "string"}));
}

/// Removes an argument from what clients are shown.
pub(crate) fn remove(schema: &mut JsonObject, name: &str) {
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        properties.remove(name);
    }
}

/// Sets a keyword of an argument's schema.
pub(crate) fn set(schema: &mut JsonObject, name: &str, keyword: &str, value: Value) {
    if let Some(Value::Object(property)) = property(schema, name) {
        property.insert(keyword.to_owned(), value);
    }
}

/// Removes a keyword of an argument's schema.
pub(crate) fn unset(schema: &mut JsonObject, name: &str, keyword: &str) {
    if let Some(Value::Object(property)) = property(schema, name) {
        property.remove(keyword);
    }
}

fn property<'a>(schema: &'a mut JsonObject, name: &str) -> Option<&'a mut Value> {
    schema.get_mut("properties")?.get_mut(name)
}

/// Adds an optional field.
pub(crate) fn add(schema: &mut JsonObject, name: &str, property: Value) {
    let properties = schema.entry("properties").or_insert_with(|| json!({}));
    if let Some(properties) = properties.as_object_mut() {
        properties.insert(name.to_owned(), property);
    }
}

/// Shortens the schema of an answer, which every client reads at its start: the names and types of its fields and of the
/// fields of the objects in them, in place. What is deeper is an object or a list, and docs/json.md describes it.
pub(crate) fn compact(schema: &mut JsonObject) {
    let definitions = take_definitions(schema);
    if let Value::Object(short) = shortened(&Value::Object(std::mem::take(schema)), &definitions, 0) {
        *schema = short;
    }
}

/// The schema of an answer or, instead, of an error: clients check what is structured against it in both cases.
pub(crate) fn or_error(mut schema: JsonObject) -> JsonObject {
    schema.remove("type");
    let error = json!({
        "properties": {"error": {"type": "string"}, "message": {"type": "string"}, "next_steps": {"type": "array"}},
        "required": ["error"],
    });
    let mut either = JsonObject::new();
    either.insert("type".to_owned(), json!("object"));
    either.insert("anyOf".to_owned(), json!([schema, error]));
    either
}

/// A schema without descriptions, references and widths of numbers; `depth` is in how many objects it is.
fn shortened(schema: &Value, definitions: &Map<String, Value>, depth: usize) -> Value {
    let Value::Object(fields) = schema else { return schema.clone() };
    if let Some(name) = fields.get("$ref").and_then(Value::as_str) {
        let meant = name.strip_prefix("#/$defs/").and_then(|name| definitions.get(name));
        return shortened(meant.unwrap_or(&json!({})), definitions, depth);
    }
    if let Some(words) = fields.get("oneOf").and_then(words) {
        return json!({"type": "string", "enum": words});
    }
    if depth >= DEPTH && fields.contains_key("properties") {
        return json!({"type": "object"});
    }
    let mut short = Map::new();
    for (name, value) in fields {
        match (name.as_str(), value) {
            ("description" | "format", Value::String(_)) => {}
            ("minimum", Value::Number(least)) if least.as_u64() == Some(0) => {}
            ("properties", Value::Object(named)) => {
                let inside = |value| shortened(value, definitions, depth + 1);
                let named: Map<_, _> =
                    named.iter().map(|(name, value)| (name.clone(), inside(value))).collect();
                short.insert(name.clone(), Value::Object(named));
            }
            // Several may hold once their details are gone.
            ("anyOf" | "oneOf", Value::Array(choices)) => {
                let choices = choices.iter().map(|choice| shortened(choice, definitions, depth));
                short.insert("anyOf".to_owned(), choices.collect());
            }
            (_, Value::Array(all)) => {
                let all = all.iter().map(|one| shortened(one, definitions, depth));
                short.insert(name.clone(), all.collect());
            }
            _ => drop(short.insert(name.clone(), shortened(value, definitions, depth))),
        }
    }
    match short.remove("anyOf") {
        Some(Value::Array(choices)) if short.is_empty() => choice(choices),
        Some(choices) => {
            short.insert("anyOf".to_owned(), choices);
            Value::Object(short)
        }
        None => Value::Object(short),
    }
}

/// A choice in as few words as say the same.
fn choice(choices: Vec<Value>) -> Value {
    let null = json!({"type": "null"});
    let mut different: Vec<Value> = Vec::new();
    for choice in choices {
        if !different.contains(&choice) {
            different.push(choice);
        }
    }
    let is_nullable = different.contains(&null);
    different.retain(|choice| *choice != null);
    match different.as_slice() {
        [only] if !is_nullable => only.clone(),
        [Value::Object(only)] if only.get("type").is_some_and(Value::is_string) => {
            let mut only = only.clone();
            only["type"] = json!([only["type"], "null"]);
            if let Some(Value::Array(words)) = only.get_mut("enum") {
                words.push(Value::Null);
            }
            Value::Object(only)
        }
        _ => {
            different.extend(is_nullable.then_some(null));
            json!({"anyOf": different})
        }
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
    fn arguments_have_no_references() {
        let definitions = json!({
            "Moment": {"description": "A date.", "type": "string"},
            "Mode": {
                "description": "Gone.",
                "oneOf": [{"const": "a", "description": "Gone.", "type": "string"}, {"const": "b", "type": "string"}],
            },
        });
        let check = |mut property: Value, expected: Value| {
            inline(&mut property, definitions.as_object().unwrap());
            assert_eq!(property, expected);
        };
        check(
            json!({"$ref": "#/$defs/Moment", "description": "Since then."}),
            json!({"description": "Since then. A date.", "type": "string"}),
        );
        check(
            json!({"$ref": "#/$defs/Mode", "default": "a", "description": "How."}),
            json!({"default": "a", "description": "How.", "type": "string", "enum": ["a", "b"]}),
        );
        check(
            json!({"type": "array", "items": {"$ref": "#/$defs/Moment"}}),
            json!({"type": "array", "items": {"description": "A date.", "type": "string"}}),
        );
        check(json!({"type": "integer"}), json!({"type": "integer"}));
    }

    #[test]
    fn names_and_types_are_left_to_a_depth() {
        let mut schema = json!({
            "type": "object",
            "properties": {
                "description": {"type": "string", "description": "Gone."},
                "size": {"$ref": "#/$defs/Size", "description": "Gone."},
                "sizes": {"type": "array", "items": {"$ref": "#/$defs/Size"}},
                "either": {"anyOf": [{"$ref": "#/$defs/Unit"}, {"type": "null"}]},
                "by": {"oneOf": [
                    {"type": "object", "properties": {"by": {"const": "a", "type": "string"}}, "required": ["by"]},
                    {"type": "string"},
                ]},
            },
            "required": ["size"],
            "$defs": {
                "Size": {
                    "description": "Gone.", "type": "object",
                    "properties": {
                        "width": {"type": "integer", "format": "uint64", "minimum": 0, "description": "Gone."},
                        "unit": {"$ref": "#/$defs/Unit"},
                        "deep": {"$ref": "#/$defs/Size"},
                        "all": {"type": "array", "items": {"anyOf": [{"$ref": "#/$defs/Size"}, {"type": "null"}]}},
                        "tagged": {"oneOf": [{"$ref": "#/$defs/Size"}, {"type": "object", "properties": {}}]},
                    },
                },
                "Unit": {"oneOf": [{"const": "b", "description": "Gone.", "type": "string"}, {"const": "c", "type": "string"}]},
                "Nobody": {"type": "string"},
            },
        });
        compact(schema.as_object_mut().unwrap());
        let size = json!({
            "type": "object",
            "properties": {
                "width": {"type": "integer"},
                "unit": {"type": "string", "enum": ["b", "c"]},
                "deep": {"type": "object"},
                "all": {"type": "array", "items": {"type": ["object", "null"]}},
                "tagged": {"type": "object"},
            },
        });
        let expected = json!({
            "type": "object",
            "properties": {
                "description": {"type": "string"},
                "size": size,
                "sizes": {"type": "array", "items": size},
                "either": {"type": ["string", "null"], "enum": ["b", "c", null]},
                "by": {"anyOf": [
                    {"type": "object", "properties": {"by": {"const": "a", "type": "string"}}, "required": ["by"]},
                    {"type": "string"},
                ]},
            },
            "required": ["size"],
        });
        assert_eq!(schema, expected);
    }
}

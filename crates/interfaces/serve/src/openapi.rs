//! The description of the API (`OpenAPI` 3.1), made from the routes and from the types of their requests and answers.

use std::collections::BTreeSet;

use schemars::SchemaGenerator;
use serde_json::{Map, Value, json};

use crate::operation::{Operation, Reply, SchemaOf};
use crate::problem::Problem;
use crate::refusals;

/// Where the document has schemas.
const SCHEMAS: &str = "/components/schemas";
/// Where the document has refusals.
const REFUSALS: &str = "#/components/responses";
/// What the name of a request's type ends in, where an answer has another of that name.
const INPUT: &str = "Input";

/// The document of these operations.
pub(crate) fn describe(operations: &[Operation]) -> Value {
    let settings = || {
        let mut settings = app::schema::settings();
        settings.definitions_path = SCHEMAS.into();
        settings.meta_schema = None;
        settings
    };
    let mut asked = settings().into_generator();
    let mut answers = settings().for_serialize().into_generator();
    let problem = answers.subschema_for::<Problem>().to_value();
    let described: Vec<_> = operations
        .iter()
        .map(|operation| (operation, requests(operation, &mut asked), reply(operation, &mut answers)))
        .collect();
    let mut schemas = answers.take_definitions(true);
    let inputs = asked.take_definitions(true);
    let differ = |(name, schema): (&String, &Value)| {
        schemas.get(name).is_some_and(|other| other != schema).then(|| name.clone())
    };
    let renamed: BTreeSet<String> = inputs.iter().filter_map(differ).collect();
    let mut paths = Map::new();
    for (operation, mut requested, answered) in described {
        requested.iter_mut().for_each(|(_, value)| rename(value, &renamed));
        let mut all = Map::from_iter([
            ("operationId".to_owned(), json!(operation.id)),
            ("summary".to_owned(), json!(operation.summary)),
            ("responses".to_owned(), responses(operation, answered)),
        ]);
        all.extend(requested);
        match operation.scope {
            Some(scope) => all.insert("x-scope".to_owned(), json!(scope)),
            None => all.insert("security".to_owned(), json!([])),
        };
        let path = paths.entry(operation.path.clone()).or_insert_with(|| json!({}));
        path[operation.method] = Value::Object(all);
    }
    for (name, mut schema) in inputs {
        rename(&mut schema, &renamed);
        let name = if renamed.contains(&name) { name + INPUT } else { name };
        schemas.insert(name, schema);
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Backstory",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Sessions of Claude Code: found, understood and continued. `/api/v1` is Backstory's own; the other \
                            routes have the shapes that CrewHub's front end expects.",
        },
        "security": [{ "bearer": [] }, { "cookie": [], "key": [] }],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "responses": refusals::components(&problem),
            "securitySchemes": {
                "bearer": { "type": "http", "scheme": "bearer" },
                "cookie": { "type": "apiKey", "in": "cookie", "name": "backstory" },
                "key": { "type": "apiKey", "in": "header", "name": "Backstory-Key" },
            },
        },
    })
}

/// The parts of an operation that say what is asked.
fn requests(operation: &Operation, generator: &mut SchemaGenerator) -> Map<String, Value> {
    let in_path = operation.path.split(['{', '}']).skip(1).step_by(2);
    let mut parameters: Vec<Value> = in_path
        .map(|name| json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string" } }))
        .collect();
    if let Some(query) = operation.query {
        parameters.extend(in_query(query, generator));
    }
    let mut parts = Map::new();
    if !parameters.is_empty() {
        parts.insert("parameters".to_owned(), Value::Array(parameters));
    }
    if let Some(body) = operation.body {
        let schema = body(generator).to_value();
        let content = json!({ "application/json": { "schema": schema } });
        parts.insert("requestBody".to_owned(), json!({ "required": true, "content": content }));
    }
    parts
}

fn in_query(query: SchemaOf, generator: &mut SchemaGenerator) -> Vec<Value> {
    let reference = query(generator).to_value();
    let name =
        reference["$ref"].as_str().and_then(|path| path.rsplit('/').next()).unwrap_or_default().to_owned();
    let Some(schema) = generator.definitions_mut().remove(&name) else { return Vec::new() };
    let required =
        |name: &String| schema["required"].as_array().is_some_and(|all| all.contains(&json!(name)));
    let fields = schema["properties"].as_object().cloned().unwrap_or_default();
    fields
        .into_iter()
        .map(|(name, mut schema)| {
            let description = schema.as_object_mut().and_then(|schema| schema.remove("description"));
            json!({ "name": name, "in": "query", "required": required(&name), "schema": schema, "description": description })
        })
        .collect()
}

fn reply(operation: &Operation, generator: &mut SchemaGenerator) -> Option<Value> {
    match operation.reply {
        Reply::Nothing => None,
        Reply::Json(schema) => {
            Some(json!({ "application/json": { "schema": schema(generator).to_value() } }))
        }
        Reply::Stream => Some(json!({ "text/event-stream": { "schema": { "type": "string" } } })),
    }
}

fn responses(operation: &Operation, content: Option<Value>) -> Value {
    let mut good = json!({ "description": "The answer" });
    if let Some(content) = content {
        good["content"] = content;
    }
    let refused = |status: u16| (status.to_string(), json!({ "$ref": format!("{REFUSALS}/{status}") }));
    let mut all: Map<String, Value> = refusals::statuses(operation).into_iter().map(refused).collect();
    all.insert(operation.status.to_string(), good);
    Value::Object(all)
}

/// Renames references to these types to the types of requests.
fn rename(value: &mut Value, names: &BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            if let Some(Value::String(path)) = fields.get_mut("$ref")
                && path.rsplit('/').next().is_some_and(|name| names.contains(name))
            {
                path.push_str(INPUT);
            }
            fields.values_mut().for_each(|field| rename(field, names));
        }
        Value::Array(all) => all.iter_mut().for_each(|one| rename(one, names)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every reference in the document.
    fn references<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
        match value {
            Value::Object(fields) => {
                found.extend(fields.get("$ref").and_then(Value::as_str));
                fields.values().for_each(|field| references(field, found));
            }
            Value::Array(all) => all.iter().for_each(|one| references(one, found)),
            _ => {}
        }
    }

    #[test]
    fn every_reference_leads_somewhere() {
        let document = crate::document();
        let mut found = Vec::new();
        references(&document, &mut found);
        assert!(found.len() > 100, "{}", found.len());
        for path in found {
            assert!(document.pointer(path.trim_start_matches('#')).is_some(), "{path}");
        }
    }

    #[test]
    fn every_operation_has_a_name_of_its_own() {
        let document = crate::document();
        let paths = document["paths"].as_object().unwrap().values();
        let operations: Vec<_> = paths.flat_map(|path| path.as_object().unwrap().values()).collect();
        let names: BTreeSet<_> =
            operations.iter().map(|operation| operation["operationId"].as_str()).collect();
        assert_eq!(names.len(), operations.len());
    }
}

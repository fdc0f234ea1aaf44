//! The JSON schemas of every request and answer, written to docs/schema.json by `cargo xtask schema`.

use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value};

use crate::repository::status;
use crate::search::{self, embed, export, index, memory};
use crate::sessions::{cost, list, show};

/// The schemas of what can be asked, by the name of the question.
pub fn requests() -> Value {
    let mut page = Page::new(settings());
    page.add::<workers::answer::Request>("answer");
    page.add::<cost::Request>("cost");
    page.add::<embed::Request>("embed");
    page.add::<export::Request>("export");
    page.add::<index::Request>("index");
    page.add::<list::Request>("list");
    page.add::<memory::IndexRequest>("memory_index");
    page.add::<memory::search::Request>("memory_search");
    page.add::<memory::status::Request>("memory_status");
    page.add::<search::Request>("search");
    page.add::<show::Request>("show");
    page.add::<status::Request>("status");
    page.finish()
}

/// The schemas of what is answered, by the name of the question.
pub fn answers() -> Value {
    let mut page = Page::new(settings().for_serialize());
    page.add::<cost::Answer>("cost");
    page.add::<embed::Answer>("embed");
    page.add::<export::Answer>("export");
    page.add::<index::Answer>("index");
    page.add::<list::Answer>("list");
    page.add::<index::Answer>("memory_index");
    page.add::<memory::search::Answer>("memory_search");
    page.add::<memory::status::Answer>("memory_status");
    page.add::<search::Answer>("search");
    page.add::<show::Answer>("show");
    page.add::<status::Answer>("status");
    page.finish()
}

/// Settings of a generator whose schemas every validator knows.
pub fn settings() -> SchemaSettings {
    SchemaSettings::draft2020_12().with_transform(RecursiveTransform(remove_number_format))
}

/// Formats such as `uint64` and `double` are schemars' own; validators warn of them.
fn remove_number_format(schema: &mut Schema) {
    let is_number = |kind: &Value| matches!(kind.as_str(), Some("integer" | "number"));
    let of_number = match schema.get("type") {
        Some(Value::Array(kinds)) => kinds.iter().any(is_number),
        Some(kind) => is_number(kind),
        None => false,
    };
    if of_number {
        schema.remove("format");
    }
}

/// Schemas by name that share their definitions.
struct Page {
    generator: SchemaGenerator,
    schemas: Map<String, Value>,
}

impl Page {
    fn new(settings: SchemaSettings) -> Self {
        Self { generator: settings.into_generator(), schemas: Map::new() }
    }

    fn add<T: JsonSchema>(&mut self, name: &str) {
        let schema = self.generator.subschema_for::<T>();
        self.schemas.insert(name.to_owned(), schema.to_value());
    }

    fn finish(mut self) -> Value {
        let mut definitions = self.generator.take_definitions(true);
        for definition in definitions.values_mut() {
            if let Ok(schema) = definition.try_into() {
                RecursiveTransform(remove_number_format).transform(schema);
            }
        }
        self.schemas.insert("$defs".to_owned(), Value::Object(definitions));
        Value::Object(self.schemas)
    }
}

//! The JSON schemas of the requests and answers of commands, written to docs/schema.json by `cargo xtask schema`.

use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value};

use crate::live::hooks;
use crate::proceed::fork_request;
use crate::repository::status;
use crate::search::{self, embed, export, index, memory};
use crate::sessions::{cost, list, page, show};
use crate::{choose, cron, doctor, eval, workers};

/// The schemas of what can be asked, by the name of the question.
pub fn requests() -> Value {
    let mut schemas = SchemaMap::new(settings());
    schemas.add::<workers::answer::Request>("answer");
    schemas.add::<cost::Request>("cost");
    schemas.add::<cron::add::Request>("cron_add");
    schemas.add::<cron::JobRequest>("cron_disable");
    schemas.add::<cron::JobRequest>("cron_enable");
    schemas.add::<cron::HistoryRequest>("cron_history");
    schemas.add::<cron::ListRequest>("cron_list");
    schemas.add::<cron::JobRequest>("cron_remove");
    schemas.add::<cron::JobRequest>("cron_run");
    schemas.add::<doctor::Request>("doctor");
    schemas.add::<embed::Request>("embed");
    schemas.add::<eval::mine::Request>("eval_mine");
    schemas.add::<eval::retrieval::Request>("eval_retrieval");
    schemas.add::<eval::selection::Request>("eval_selection");
    schemas.add::<export::Request>("export");
    schemas.add::<fork_request::Request>("fork");
    schemas.add::<hooks::Request>("hooks");
    schemas.add::<index::Request>("index");
    schemas.add::<list::Request>("list");
    schemas.add::<memory::IndexRequest>("memory_index");
    schemas.add::<memory::search::Request>("memory_search");
    schemas.add::<memory::status::Request>("memory_status");
    schemas.add::<page::Request>("page");
    schemas.add::<choose::request::Request>("pick");
    schemas.add::<workers::start::Request>("run");
    schemas.add::<search::Request>("search");
    schemas.add::<workers::send::Request>("send");
    schemas.add::<show::Request>("show");
    schemas.add::<status::Request>("status");
    schemas.add::<workers::stop::Request>("stop");
    schemas.add::<choose::why_not::Request>("why_not");
    schemas.add::<workers::list::Request>("workers");
    schemas.finish()
}

/// The schemas of what is answered, by the name of the question.
pub fn answers() -> Value {
    let mut schemas = SchemaMap::new(settings().for_serialize());
    schemas.add::<cost::Answer>("cost");
    schemas.add::<cron::JobInfo>("cron_add");
    schemas.add::<cron::DaemonEvent>("cron_daemon");
    schemas.add::<cron::JobInfo>("cron_disable");
    schemas.add::<cron::JobInfo>("cron_enable");
    schemas.add::<cron::History>("cron_history");
    schemas.add::<cron::JobList>("cron_list");
    schemas.add::<cron::JobInfo>("cron_remove");
    schemas.add::<cron::RunInfo>("cron_run");
    schemas.add::<doctor::Report>("doctor");
    schemas.add::<embed::Answer>("embed");
    schemas.add::<eval::mine::Answer>("eval_mine");
    schemas.add::<eval::RankingReport>("eval_retrieval");
    schemas.add::<eval::selection::Answer>("eval_selection");
    schemas.add::<export::Answer>("export");
    schemas.add::<fork_request::Answer>("fork");
    schemas.add::<hooks::Answer>("hooks");
    schemas.add::<index::Answer>("index");
    schemas.add::<list::Answer>("list");
    schemas.add::<index::Answer>("memory_index");
    schemas.add::<memory::search::Answer>("memory_search");
    schemas.add::<memory::status::Answer>("memory_status");
    schemas.add::<page::Answer>("page");
    schemas.add::<choose::answer::Answer>("pick");
    schemas.add::<workers::run::Ready>("run");
    schemas.add::<search::Answer>("search");
    schemas.add::<workers::send::Answer>("send");
    schemas.add::<show::Answer>("show");
    schemas.add::<status::Answer>("status");
    schemas.add::<workers::stop::Answer>("stop");
    schemas.add::<choose::why_not::WhyNot>("why_not");
    schemas.add::<workers::list::Answer>("workers");
    schemas.finish()
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
struct SchemaMap {
    generator: SchemaGenerator,
    schemas: Map<String, Value>,
}

impl SchemaMap {
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

//! The JSON schemas of requests, answers and events, written to docs/schema.json by `cargo xtask schema`.

use model::SessionEvent;
use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use crate::dashboard::{blocks, day, find, outline, picture, spending};
use crate::live::hooks;
use crate::proceed::{background, fork_request};
use crate::repository::status;
use crate::retention::{archive, forget, heal, restore};
use crate::search::{self, embed, excerpts, export, export_schedule, grep, index, memory};
use crate::sessions::{
    annotate, before, blame, cost, day as day_summary, diff, handoff, list, page, prompts, session_cost,
    show, usage_windows,
};
use crate::workers::run::RunEvent;
use crate::{Error, Progress, choose, cron, doctor, eval, workers};

/// Every question: its name, its request and its answer.
const EXCHANGES: &[Exchange] = &[
    exchange::<workers::answer::Request, ()>("answer"),
    exchange::<before::Request, before::Answer>("before"),
    exchange::<blame::Request, blame::Answer>("blame"),
    exchange::<archive::Request, archive::Answer>("archive"),
    exchange::<blocks::Request, blocks::Answer>("blocks"),
    exchange::<cost::Request, cost::Answer>("cost"),
    exchange::<usage_windows::Request, usage_windows::Answer>("cost_blocks"),
    exchange::<cron::add::Request, cron::JobInfo>("cron_add"),
    exchange::<cron::JobRequest, cron::JobInfo>("cron_disable"),
    exchange::<cron::JobRequest, cron::JobInfo>("cron_enable"),
    exchange::<cron::HistoryRequest, cron::History>("cron_history"),
    exchange::<cron::ListRequest, cron::JobList>("cron_list"),
    exchange::<cron::JobRequest, cron::JobInfo>("cron_remove"),
    exchange::<cron::JobRequest, cron::RunInfo>("cron_run"),
    exchange::<day::Request, day::Answer>("day"),
    exchange::<day_summary::Request, day_summary::Answer>("day_summary"),
    exchange::<diff::Request, diff::Answer>("diff"),
    exchange::<doctor::Request, doctor::Report>("doctor"),
    exchange::<export_schedule::Request, export_schedule::Schedule>("doctor_schedule"),
    exchange::<doctor::SecretsRequest, doctor::SecretsReport>("doctor_secrets"),
    exchange::<doctor::ServiceRequest, doctor::ServiceFiles>("doctor_service"),
    exchange::<embed::Request, embed::Answer>("embed"),
    exchange::<(), excerpts::Answer>("excerpts"),
    exchange::<eval::mine::Request, eval::mine::Answer>("eval_mine"),
    exchange::<eval::retrieval::Request, eval::RankingReport>("eval_retrieval"),
    exchange::<eval::selection::Request, eval::selection::Answer>("eval_selection"),
    exchange::<export::Request, export::Answer>("export"),
    exchange::<find::Request, find::Answer>("find"),
    exchange::<forget::Request, forget::Answer>("forget"),
    exchange::<fork_request::Request, fork_request::Answer>("fork"),
    exchange::<grep::Request, grep::Answer>("grep"),
    exchange::<handoff::Request, handoff::Answer>("handoff"),
    exchange::<heal::Request, heal::Answer>("heal"),
    exchange::<hooks::Request, hooks::Answer>("hooks"),
    exchange::<index::Request, index::Answer>("index"),
    exchange::<list::Request, list::Answer>("list"),
    exchange::<workers::log::Request, workers::log::Answer>("log"),
    exchange::<annotate::Request, annotate::Answer>("annotate"),
    exchange::<memory::IndexRequest, index::Answer>("memory_index"),
    exchange::<memory::search::Request, memory::search::Answer>("memory_search"),
    exchange::<memory::status::Request, memory::status::Answer>("memory_status"),
    exchange::<workers::message::Request, workers::message::Answer>("message"),
    exchange::<outline::Request, outline::Answer>("outline"),
    exchange::<page::Request, page::Answer>("page"),
    exchange::<choose::request::Request, choose::answer::Answer>("pick"),
    exchange::<picture::Request, picture::Answer>("picture"),
    exchange::<prompts::Request, prompts::Answer>("prompts"),
    exchange::<restore::Request, restore::Answer>("restore"),
    exchange::<workers::start::Request, workers::run::Ready>("run"),
    exchange::<search::Request, search::Answer>("search"),
    exchange::<workers::send::Request, workers::send::Answer>("send"),
    exchange::<session_cost::Request, session_cost::Answer>("session_cost"),
    exchange::<show::Request, show::Answer>("show"),
    exchange::<workers::spawn::Request, workers::run::Ready>("spawn"),
    exchange::<spending::Request, spending::Answer>("spending"),
    exchange::<status::Request, status::Answer>("status"),
    exchange::<workers::stop::Request, workers::stop::Answer>("stop"),
    exchange::<(), background::StoppedJob>("stop_job"),
    exchange::<(), annotate::Tags>("tags"),
    exchange::<workers::wait::Request, workers::wait::Answer>("wait"),
    exchange::<choose::why_not::Request, choose::why_not::WhyNot>("why_not"),
    exchange::<workers::list::Request, workers::list::Answer>("workers"),
];

/// What is reported as it happens: the name of the question, and its events.
const EVENTS: &[(&str, SchemaOf)] = &[
    ("attach", SchemaGenerator::subschema_for::<workers::Event>),
    ("cron_daemon", SchemaGenerator::subschema_for::<cron::DaemonEvent>),
    ("progress", SchemaGenerator::subschema_for::<Progress>),
    ("run", SchemaGenerator::subschema_for::<RunEvent<'static>>),
    ("watch", SchemaGenerator::subschema_for::<SessionEvent>),
];

/// The answer to a question that failed.
const ERROR: (&str, SchemaOf) = ("error", SchemaGenerator::subschema_for::<Error>);

type SchemaOf = fn(&mut SchemaGenerator) -> Schema;

/// What can be asked, and what is answered.
struct Exchange {
    name: &'static str,
    request: SchemaOf,
    answer: SchemaOf,
}

const fn exchange<Request: JsonSchema, Answer: JsonSchema>(name: &'static str) -> Exchange {
    Exchange {
        name,
        request: SchemaGenerator::subschema_for::<Request>,
        answer: SchemaGenerator::subschema_for::<Answer>,
    }
}

/// The schemas of all requests, answers and events, by the name of the question.
pub fn schemas() -> Value {
    let requests = EXCHANGES.iter().map(|exchange| (exchange.name, exchange.request));
    let answers = EXCHANGES.iter().map(|exchange| (exchange.name, exchange.answer)).chain([ERROR]);
    json!({
        "requests": document(settings(), requests),
        "answers": document(settings().for_serialize(), answers),
        "events": document(settings().for_serialize(), EVENTS.iter().copied()),
    })
}

/// Schemas by name that share their definitions.
fn document(
    settings: SchemaSettings,
    schemas: impl Iterator<Item = (&'static str, SchemaOf)>,
) -> Map<String, Value> {
    let mut generator = settings.into_generator();
    let mut document: Map<_, _> =
        schemas.map(|(name, of)| (name.to_owned(), of(&mut generator).to_value())).collect();
    let mut definitions = generator.take_definitions(true);
    for definition in definitions.values_mut() {
        if let Ok(schema) = definition.try_into() {
            RecursiveTransform(remove_number_format).transform(schema);
        }
    }
    document.insert("$defs".to_owned(), Value::Object(definitions));
    document
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

#[cfg(test)]
mod tests {
    use serde::de::DeserializeOwned;

    use super::*;

    /// A request says in its schema that it needs `field`, and is refused without it, but with nothing else.
    #[track_caller]
    fn check<Request: DeserializeOwned>(name: &str, field: &str) {
        let requests = &schemas()["requests"];
        let definition =
            requests[name]["$ref"].as_str().and_then(|path| path.strip_prefix("#/$defs/")).unwrap();
        assert_eq!(requests["$defs"][definition]["required"], json!([field]));
        let error = serde_json::from_value::<Request>(json!({})).err().unwrap().to_string();
        assert!(error.contains(field), "{error}");
        serde_json::from_value::<Request>(json!({ field: "this" })).unwrap();
    }

    #[test]
    fn required_fields_of_requests_are_required_in_the_schema() {
        check::<search::Request>("search", "query");
        check::<memory::search::Request>("memory_search", "query");
        check::<workers::start::Request>("run", "task");
        check::<workers::stop::Request>("stop", "worker");
        check::<show::Request>("show", "session");
        check::<diff::Request>("diff", "session");
        check::<blame::Request>("blame", "what");
        check::<restore::Request>("restore", "session");
        check::<page::Request>("page", "session");
        check::<choose::why_not::Request>("why_not", "session");
        check::<cron::JobRequest>("cron_run", "job");
        check::<export::Request>("export", "folder");
        check::<eval::retrieval::Request>("eval_retrieval", "queries");
        check::<eval::selection::Request>("eval_selection", "decisions");
    }
}

//! Fits workers into an answer: their texts are truncated as far as necessary, and no worker is left out.

use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde_json::{Value, json};

use crate::schema;
use crate::size::{MAX_ANSWER, size, truncate_texts};

/// The size of the rest of an answer, in bytes.
const AROUND: usize = 1_000;
/// The maximum text lengths to try in turn, in bytes.
const LENGTHS: [usize; 7] = [8_000, 4_000, 2_000, 1_000, 500, 200, 100];
/// The fields of a worker that are kept where truncating texts is not enough.
const ESSENTIAL: [&str; 7] = ["worker", "session_id", "status", "turn_failed", "text", "requests", "more"];
/// The same for its requests.
const OF_REQUEST: [&str; 3] = ["request", "tool", "person_runs"];

/// Truncates the texts of the workers at `pointer` until the answer fits, and adds to each truncated worker how to read the
/// rest.
pub(super) fn shorten(answer: &mut Value, pointer: &str) {
    let whole = size(answer);
    if let Some(Value::Array(workers)) = answer.pointer(pointer).cloned() {
        let forms = LENGTHS.map(|longest| (longest, false)).into_iter().chain([(200, true), (50, true)]);
        for (longest, is_essential) in forms {
            if size(answer) <= MAX_ANSWER - AROUND {
                break;
            }
            let cut = workers.iter().map(|worker| shortened(worker, longest, is_essential)).collect();
            if let Some(list) = answer.pointer_mut(pointer) {
                *list = Value::Array(cut);
            }
        }
    }
    answer["truncated"] = json!(size(answer) != whole);
}

fn shortened(worker: &Value, longest: usize, is_essential: bool) -> Value {
    let mut short = worker.clone();
    truncate_texts(&mut short, longest, "");
    for name in ["session_id", "frames", "directory"] {
        // A part of a name is useless.
        if let Some(whole) = worker.get(name) {
            short[name] = whole.clone();
        }
    }
    if is_essential {
        retain(&mut short, &ESSENTIAL);
        short.get_mut("requests").and_then(Value::as_array_mut).into_iter().flatten().for_each(|request| {
            retain(request, &OF_REQUEST);
        });
    }
    if short != *worker {
        short["more"] = json!(format!("worker_log {}", json!({"worker": worker["worker"]})));
    }
    short
}

fn retain(object: &mut Value, names: &[&str]) {
    if let Some(fields) = object.as_object_mut() {
        fields.retain(|name, value| names.contains(&name.as_str()) && !value.is_null());
    }
}

/// The schema of such an answer.
pub(super) fn output<A: JsonSchema>() -> JsonObject {
    let mut schema = schema::output::<A>();
    schema::add_truncated(&mut schema);
    if let Some(Value::Object(worker)) = schema.get_mut("$defs").and_then(|all| all.get_mut("WorkerInfo")) {
        schema::add(worker, "more", json!({"type": "string"}));
        // Of many workers only the essential fields are left.
        worker.remove("required");
    }
    schema
}

#[cfg(test)]
mod tests {
    use super::*;

    fn worker(number: usize, text: usize) -> Value {
        json!({
            "worker": number, "session_id": "1ba1de03-4b78-5244-9858-2706428e076f", "status": "idle", "frames": "f",
            "task": "t".repeat(text), "text": "é\"".repeat(text), "announcements": vec![json!({"message": "m"}); 3],
            "requests": [{"request": "r", "tool": "Bash", "input": {"command": "c".repeat(text)}, "person_runs": "p"}],
        })
    }

    #[test]
    fn no_worker_is_lost() {
        for (count, text) in [(1, 100_000), (4, 10_000), (30, 3_000), (60, 300)] {
            let workers: Vec<Value> = (1..=count).map(|number| worker(number, text)).collect();
            let mut answer = json!({"waited": {"workers": workers}, "sent": []});
            shorten(&mut answer, "/waited/workers");
            assert!(size(&answer) <= MAX_ANSWER, "{count}: {}", size(&answer));
            let left = answer["waited"]["workers"].as_array().unwrap();
            assert_eq!((left.len(), &answer["truncated"]), (count, &json!(true)));
            for (worker, number) in left.iter().zip(1..) {
                assert_eq!((&worker["worker"], &worker["status"]), (&json!(number), &json!("idle")));
                assert_eq!(worker["more"], format!("worker_log {{\"worker\":{number}}}"), "{worker}");
                assert_eq!(worker["requests"][0]["person_runs"], "p", "{worker}");
                assert!(worker["text"].as_str().unwrap().starts_with("é\"é"), "{worker}");
            }
        }
    }

    #[test]
    fn a_short_answer_stays_as_it_is() {
        let mut answer = json!({"workers": [worker(1, 10)]});
        let whole = answer["workers"].clone();
        shorten(&mut answer, "/workers");
        assert_eq!((&answer["workers"], &answer["truncated"]), (&whole, &json!(false)));
        let mut without = json!({"sent": [1]});
        shorten(&mut without, "/waited/workers");
        assert_eq!(without, json!({"sent": [1], "truncated": false}));
    }
}

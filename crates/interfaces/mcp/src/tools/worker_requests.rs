//! The requests of workers, with the command by which the person answers each, for the model to pass on.

use app::workers::Grant;
use serde_json::{Value, json};

use crate::size::size;

/// The largest input that an answer shows whole, in bytes of JSON.
pub(super) const LONGEST_INPUT: usize = 12_000;
/// How many characters of a request's id the command has.
const SHORT: usize = 8;

/// Adds to each request of the workers at `pointer`, one or a list of them, the command that answers it.
pub(super) fn add_commands(answer: &mut Value, pointer: &str) {
    match answer.pointer_mut(pointer) {
        Some(Value::Array(workers)) => workers.iter_mut().for_each(add_to_worker),
        Some(worker) => add_to_worker(worker),
        None => {}
    }
}

/// The requests of a worker with their inputs, to put back where texts were truncated.
pub(super) fn whole_inputs(worker: &Value) -> Vec<Value> {
    let requests = worker["requests"].as_array().map(Vec::as_slice).unwrap_or_default();
    requests.iter().map(|request| request["input"].clone()).collect()
}

/// Puts the inputs back that an answer can show whole.
pub(super) fn put_back(worker: &mut Value, inputs: Vec<Value>) {
    let Some(Value::Array(requests)) = worker.get_mut("requests") else { return };
    for (request, input) in requests.iter_mut().zip(inputs) {
        if size(&input) <= LONGEST_INPUT {
            request["input"] = input;
        }
    }
}

fn add_to_worker(worker: &mut Value) {
    let Some(number) = worker["worker"].as_i64() else { return };
    let Some(Value::Array(requests)) = worker.get_mut("requests") else { return };
    for request in requests.iter_mut().filter(|request| request.is_object()) {
        request["person_runs"] = json!(command(number, request));
    }
}

/// The words that answer a permission: yes, those that allow more, no.
fn words(request: &Value) -> Vec<&str> {
    let offers = request["offers"].as_array().map(Vec::as_slice).unwrap_or_default();
    let grants = offers.iter().filter_map(|offer| Grant::from_word(offer["answer"].as_str()?));
    ["yes"].into_iter().chain(grants.map(Grant::as_str)).chain(["no"]).collect()
}

fn command(worker: i64, request: &Value) -> String {
    let id = request["request"].as_str().unwrap_or_default();
    // It comes from Claude Code: only plain characters go into a shell command.
    let id: String =
        id.chars().take(SHORT).take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_')).collect();
    let questions = request["input"]["questions"].as_array().map_or(0, Vec::len);
    let reply = match request["tool"].as_str() {
        Some("AskUserQuestion") => ["<answer>"].repeat(questions.max(1)).join(" "),
        _ => words(request).join("|"),
    };
    format!("backstory answer {worker} {id} {reply}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_request_has_its_command() {
        let mut answer = json!({"workers": [
            {"worker": 1, "requests": [
                {"request": "7488a17b-1111", "tool": "Bash", "input": {}},
                {"request": "8a", "tool": "Write", "offers": [{"answer": "edits", "allows": ["x"]}, {"answer": "rm"}]},
                {"request": "a b;c", "tool": "AskUserQuestion", "input": {"questions": [1, 2]}},
            ]},
            {"worker": 2, "status": "idle"},
        ]});
        add_commands(&mut answer, "/workers");
        let requests = &answer["workers"][0]["requests"];
        assert_eq!(requests[0]["person_runs"], "backstory answer 1 7488a17b yes|no");
        assert_eq!(requests[1]["person_runs"], "backstory answer 1 8a yes|edits|no");
        assert_eq!(requests[2]["person_runs"], "backstory answer 1 a <answer> <answer>");
        assert_eq!(answer["workers"][1], json!({"worker": 2, "status": "idle"}));
    }
}

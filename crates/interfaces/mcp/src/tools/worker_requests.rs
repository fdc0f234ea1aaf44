//! The requests of workers, with the command by which the person answers each, for the model to pass on.

use serde_json::{Value, json};

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

fn add_to_worker(worker: &mut Value) {
    let Some(number) = worker["worker"].as_i64() else { return };
    let Some(Value::Array(requests)) = worker.get_mut("requests") else { return };
    for request in requests.iter_mut().filter(|request| request.is_object()) {
        request["person_runs"] = json!(command(number, request));
    }
}

fn command(worker: i64, request: &Value) -> String {
    let id = request["request"].as_str().unwrap_or_default();
    // It comes from Claude Code: only plain characters go into a shell command.
    let id: String =
        id.chars().take(SHORT).take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_')).collect();
    let questions = request["input"]["questions"].as_array().map_or(0, Vec::len);
    let reply = match request["tool"].as_str() {
        Some("AskUserQuestion") => ["<answer>"].repeat(questions.max(1)).join(" "),
        _ => "yes|no".to_owned(),
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
                {"request": "a b;c", "tool": "AskUserQuestion", "input": {"questions": [1, 2]}},
            ]},
            {"worker": 2, "status": "idle"},
        ]});
        add_commands(&mut answer, "/workers");
        let requests = &answer["workers"][0]["requests"];
        assert_eq!(requests[0]["person_runs"], "backstory answer 1 7488a17b yes|no");
        assert_eq!(requests[1]["person_runs"], "backstory answer 1 a <answer> <answer>");
        assert_eq!(answer["workers"][1], json!({"worker": 2, "status": "idle"}));
    }
}

//! Answers to requests that were shown without their secrets.
//!
//! The person answered texts with `[redacted:kind]` in them. Claude Code knows its questions and options
//! by the original texts, so these are put back.

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::Value;
use workers::{Command, PermissionReply, PermissionRequest, WorkerId, WorkerState};

use crate::Context;
use crate::workers::table::open;

/// The command in the words of the worker's own request.
pub(crate) fn command(context: &Context, worker: WorkerId, command: Command) -> Command {
    match command {
        Command::Answer { request, reply } if has_words(&reply) => {
            let reply = match find_request(context, worker, &request) {
                Some(asked) => restore(reply, &Originals::new(&asked.input)),
                None => reply,
            };
            Command::Answer { request, reply }
        }
        other => other,
    }
}

/// Whether an answer can repeat words of the request.
fn has_words(reply: &PermissionReply) -> bool {
    matches!(reply, PermissionReply::Answers { .. } | PermissionReply::Allow { input: Some(_), .. })
}

fn find_request(context: &Context, worker: WorkerId, request: &str) -> Option<PermissionRequest> {
    let worker = open(context).ok()?.get(worker).ok()??;
    let WorkerState::WaitingPermission { requests } = worker.state else { return None };
    requests.into_iter().find(|asked| asked.request == request)
}

fn restore(reply: PermissionReply, originals: &Originals) -> PermissionReply {
    match reply {
        PermissionReply::Answers { answers } => PermissionReply::Answers {
            answers: answers
                .into_iter()
                .map(|(question, answer)| (originals.text(question), originals.text(answer)))
                .collect(),
        },
        PermissionReply::Allow { input, grant } => {
            PermissionReply::Allow { input: input.map(|input| originals.value(input)), grant }
        }
        deny @ PermissionReply::Deny { .. } => deny,
    }
}

/// Texts of a request, by what is shown of them.
#[derive(Debug, Default)]
struct Originals(HashMap<String, String>);

impl Originals {
    fn new(input: &Value) -> Self {
        let mut all = Self::default();
        all.collect(input);
        all
    }

    fn collect(&mut self, value: &Value) {
        match value {
            Value::String(text) => {
                if let Cow::Owned(shown) = redact::redacted(Cow::Borrowed(text)) {
                    self.0.insert(shown, text.clone());
                }
            }
            Value::Array(all) => all.iter().for_each(|one| self.collect(one)),
            Value::Object(all) => all.values().for_each(|one| self.collect(one)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn text(&self, shown: String) -> String {
        self.0.get(&shown).cloned().unwrap_or(shown)
    }

    fn value(&self, value: Value) -> Value {
        match value {
            Value::String(shown) => Value::String(self.text(shown)),
            Value::Array(all) => all.into_iter().map(|one| self.value(one)).collect(),
            Value::Object(all) => all.into_iter().map(|(name, one)| (name, self.value(one))).collect(),
            other => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn redacted_texts_in_an_answer_are_restored() {
        let secret = format!("gh{}{}", "p_", "Zq7Lm2Xv9Kd4Rt6Wb1Nc8Ys3Hf5Jg0PaQeUi");
        let question = format!("Use {secret}?");
        let input =
            json!({"questions": [{"question": question, "options": [{"label": secret}, {"label": "No"}]}]});
        let originals = Originals::new(&input);
        let shown = "Use [redacted:github-token]?".to_owned();
        let check = |answer: &str, expected: &str| {
            let answers = [(shown.clone(), answer.to_owned())].into();
            let PermissionReply::Answers { answers } =
                restore(PermissionReply::Answers { answers }, &originals)
            else {
                panic!()
            };
            assert_eq!(answers.get(&question).map(String::as_str), Some(expected));
        };
        check("No", "No");
        check("[redacted:github-token]", &secret);
        let reply = PermissionReply::Allow {
            input: Some(json!({"command": "ls", "questions": [shown]})),
            grant: None,
        };
        let PermissionReply::Allow { input, .. } = restore(reply, &originals) else { panic!() };
        assert_eq!(input.unwrap(), json!({"command": "ls", "questions": [question]}));
    }
}

//! Requests from a worker to the user, and the possible replies.
//!
//! Claude Code sends permission requests, the model's questions and plans for approval as the same frame.
//! This module distinguishes them and formats replies as Claude Code expects them.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use transcript::{Raw, ToolCall};

use crate::grant::{self, Grant, Offer};
use crate::input_text::input_text;

/// A request for permission or an answer from the user.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema, Deserialize)]
pub struct PermissionRequest {
    /// Id of the request, named in the reply.
    pub request: String,
    /// Name of the tool.
    pub tool: String,
    /// Input the tool would be called with.
    pub input: Value,
    /// Claude Code's description of the call.
    pub description: Option<String>,
    /// Why permission is needed, if given.
    pub reason: Option<String>,
    /// What Claude Code suggests to allow from now on, as it wrote it.
    pub suggestions: Vec<Value>,
    /// The answers that allow something of it, with what each allows.
    #[serde(default)]
    pub offers: Vec<Offer>,
    /// The names of suggestions that no answer allows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_offered: Vec<String>,
    /// Id of the tool call.
    pub tool_use_id: Option<String>,
    /// Id of the sub-agent that asks; `None` for the session itself.
    pub agent: Option<String>,
}

/// What a request asks for.
#[derive(Debug, Clone, PartialEq)]
pub enum RequestKind {
    /// Permission to use a tool.
    Permission,
    /// Answers to the model's questions, as free text or one of the options.
    Questions(Vec<UserQuestion>),
    /// Approval of a plan; empty if Claude Code does not include the plan.
    Plan(String),
}

/// A question from the model to the user.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema, Deserialize)]
pub struct UserQuestion {
    /// The question.
    pub question: String,
    /// A word or two that head it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub header: String,
    /// The options offered.
    #[serde(default, rename = "options")]
    pub choices: Vec<QuestionOption>,
    /// Whether several options may be chosen.
    #[serde(default, rename = "multiSelect")]
    pub several: bool,
}

/// One option of a question.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema, Deserialize)]
pub struct QuestionOption {
    /// The option's label, which is also the answer.
    pub label: String,
    /// Explanation of the option.
    #[serde(default)]
    pub description: String,
}

/// The user's reply.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema, Deserialize)]
#[serde(tag = "behavior", rename_all = "snake_case", deny_unknown_fields)]
pub enum PermissionReply {
    /// Allow the tool call.
    Allow {
        /// Input to use instead of the requested one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        input: Option<Value>,
        /// What to allow from now on as well; one of the request's offers.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        grant: Option<Grant>,
    },
    /// Answer the model's questions.
    Answers {
        /// Answers by question text.
        answers: BTreeMap<String, String>,
    },
    /// Deny the tool call.
    Deny {
        /// Message to the model.
        message: String,
        /// Whether to end the turn.
        #[serde(default)]
        interrupt: bool,
    },
}

impl PermissionReply {
    /// What it allows from now on, beyond the call that is asked about.
    pub fn grant(&self) -> Option<Grant> {
        match self {
            Self::Allow { grant, .. } => *grant,
            Self::Answers { .. } | Self::Deny { .. } => None,
        }
    }
}

impl PermissionRequest {
    /// Parses a `can_use_tool` request; `None` if it names no tool.
    pub(crate) fn read(id: &str, request: &Value) -> Option<Self> {
        let text = |name: &str| request[name].as_str().map(str::to_owned);
        let suggestions = request["permission_suggestions"].as_array().cloned().unwrap_or_default();
        Some(Self {
            request: id.to_owned(),
            tool: text("tool_name")?,
            input: request["input"].clone(),
            description: text("description"),
            reason: text("decision_reason").or_else(|| text("blocked_path")),
            offers: grant::offers(&suggestions),
            not_offered: grant::not_offered(&suggestions),
            suggestions,
            tool_use_id: text("tool_use_id"),
            agent: text("agent_id"),
        })
    }

    /// What the request asks for.
    pub fn kind(&self) -> RequestKind {
        match self.tool.as_str() {
            "AskUserQuestion" => {
                let questions = self.input.get("questions").cloned().unwrap_or_default();
                serde_json::from_value(questions).map_or(RequestKind::Permission, RequestKind::Questions)
            }
            "ExitPlanMode" => RequestKind::Plan(self.input["plan"].as_str().unwrap_or_default().to_owned()),
            _ => RequestKind::Permission,
        }
    }

    /// A short description of the tool call that is safe to display.
    pub fn detail(&self) -> Option<String> {
        let input = self.input.to_string();
        ToolCall { id: "", name: &self.tool, input: Raw::new(&input) }.detail()
    }

    /// What a person is asked: the whole command, the file, the question. It may contain a secret.
    pub fn asking(&self) -> Option<String> {
        let input = self.input.to_string();
        ToolCall { id: "", name: &self.tool, input: Raw::new(&input) }.asking()
    }

    /// The whole input in readable lines. It may contain a secret.
    pub fn input_text(&self) -> String {
        input_text(&self.tool, &self.input)
    }

    /// What a grant would allow; `None` if it is not offered.
    pub fn offer(&self, grant: Grant) -> Option<&Offer> {
        self.offers.iter().find(|offer| offer.answer == grant)
    }

    /// The reply in Claude Code's format, or a message saying why the reply is invalid.
    pub(crate) fn response(&self, reply: &PermissionReply) -> Result<Value, String> {
        match reply {
            PermissionReply::Deny { message, interrupt } => {
                // An empty message would leave the model without a reason.
                let message =
                    if message.trim().is_empty() { "The user does not want this." } else { message };
                let mut response = json!({"behavior": "deny", "message": message});
                if *interrupt {
                    response["interrupt"] = true.into();
                }
                Ok(response)
            }
            PermissionReply::Allow { input, grant } => {
                let input = input.as_ref().unwrap_or(&self.input);
                if !input.is_object() {
                    return Err("a tool's input is a JSON object".to_owned());
                }
                let mut response = json!({"behavior": "allow", "updatedInput": input});
                if let Some(grant) = grant {
                    response["updatedPermissions"] = self.updates(*grant)?.into();
                }
                Ok(response)
            }
            PermissionReply::Answers { answers } => {
                let RequestKind::Questions(questions) = self.kind() else {
                    return Err(format!("{} asks no question: allow or deny it", self.tool));
                };
                let unknown = |name: &&String| !questions.iter().any(|asked| asked.question == **name);
                if let Some(name) = answers.keys().find(unknown) {
                    return Err(format!("`{name}` was not asked"));
                }
                let mut input = self.input.clone();
                let by_question: Map<String, Value> =
                    answers.iter().map(|(name, answer)| (name.clone(), answer.as_str().into())).collect();
                input["answers"] = Value::Object(by_question);
                Ok(json!({"behavior": "allow", "updatedInput": input}))
            }
        }
    }

    /// The suggestions that a grant adds, or a message saying which grants are offered.
    fn updates(&self, grant: Grant) -> Result<Vec<Value>, String> {
        let updates: Vec<Value> = grant::granted(&self.suggestions, grant).cloned().collect();
        if updates.is_empty() {
            let offered: Vec<&str> = self.offers.iter().map(|offer| offer.answer.as_str()).collect();
            let instead =
                if offered.is_empty() { String::new() } else { format!(", or {}", offered.join(", ")) };
            let word = grant.as_str();
            return Err(format!(
                "Claude Code suggests nothing that `{word}` would allow: allow it once{instead}"
            ));
        }
        Ok(updates)
    }
}

#[cfg(test)]
#[allow(clippy::needless_pass_by_value, reason = "values are written in place")]
mod tests {
    use super::*;

    fn request(tool: &str, input: Value, suggestions: Value) -> PermissionRequest {
        let frame = json!({"tool_name": tool, "input": input, "permission_suggestions": suggestions});
        PermissionRequest::read("r1", &frame).unwrap()
    }

    fn granting(grant: Grant) -> PermissionReply {
        PermissionReply::Allow { input: None, grant: Some(grant) }
    }

    fn allow() -> PermissionReply {
        PermissionReply::Allow { input: None, grant: None }
    }

    #[test]
    fn replies_have_the_format_of_claude_code() {
        let rule = json!({"type": "addRules", "rules": [{"toolName": "Bash", "ruleContent": "ls *"}],
            "behavior": "allow", "destination": "localSettings"});
        let asked = request("Bash", json!({"command": "ls"}), json!([rule]));
        let check = |reply: PermissionReply, expected: Result<Value, &str>| {
            let found = asked.response(&reply);
            assert_eq!(found.as_ref().map_err(String::as_str), expected.as_ref().map_err(|text| *text));
        };
        check(allow(), Ok(json!({"behavior": "allow", "updatedInput": {"command": "ls"}})));
        check(
            PermissionReply::Allow { input: Some(json!({"command": "ls -l"})), grant: Some(Grant::Always) },
            Ok(
                json!({"behavior": "allow", "updatedInput": {"command": "ls -l"}, "updatedPermissions": [rule]}),
            ),
        );
        check(
            PermissionReply::Allow { input: Some(json!(7)), grant: None },
            Err("a tool's input is a JSON object"),
        );
        check(
            PermissionReply::Deny { message: "Not today".into(), interrupt: false },
            Ok(json!({"behavior": "deny", "message": "Not today"})),
        );
        check(
            PermissionReply::Deny { message: " ".into(), interrupt: true },
            Ok(json!({"behavior": "deny", "message": "The user does not want this.", "interrupt": true})),
        );
        check(
            PermissionReply::Answers { answers: BTreeMap::new() },
            Err("Bash asks no question: allow or deny it"),
        );
        let unruly = request("Bash", json!({}), json!(null));
        let error = unruly.response(&granting(Grant::Always)).unwrap_err();
        assert_eq!(error, "Claude Code suggests nothing that `always` would allow: allow it once");
    }

    #[test]
    fn questions_and_plans_are_recognized() {
        let input = json!({"questions": [{"question": "Which?", "options": [{"label": "Red"}]}]});
        let asked = request("AskUserQuestion", input, json!(null));
        let RequestKind::Questions(questions) = asked.kind() else { panic!("{asked:?}") };
        assert_eq!((questions[0].question.as_str(), questions[0].choices.len()), ("Which?", 1));
        let answer =
            |name: &str| PermissionReply::Answers { answers: [(name.to_owned(), "Red".to_owned())].into() };
        let response = asked.response(&answer("Which?")).unwrap();
        assert_eq!(response["updatedInput"]["answers"], json!({"Which?": "Red"}));
        assert_eq!(asked.response(&answer("Whose?")).unwrap_err(), "`Whose?` was not asked");
        let plan = request("ExitPlanMode", json!({"plan": "First, …"}), json!(null));
        assert_eq!(plan.kind(), RequestKind::Plan("First, …".to_owned()));
        // An unknown shape of a later release is treated like any other tool.
        let strange = request("AskUserQuestion", json!({"questions": 7}), json!(null));
        assert_eq!(strange.kind(), RequestKind::Permission);
    }

    #[test]
    fn a_grant_sends_what_was_shown_for_it_and_nothing_else() {
        let rule = json!({"type": "addRules", "rules": [{"toolName": "Bash", "ruleContent": "touch a"}],
            "behavior": "allow", "destination": "localSettings"});
        let directory = json!({"type": "addDirectories", "directories": ["/b"], "destination": "session"});
        let mode = json!({"type": "setMode", "mode": "acceptEdits", "destination": "session"});
        let bypass = json!({"type": "setMode", "mode": "bypassPermissions", "destination": "session"});
        let later = json!({"type": "later", "everything": true});
        let suggestions = json!([rule, bypass, directory, later, mode]);
        let asked = request("Bash", json!({"command": "touch a"}), suggestions);
        let check = |grant: Grant, shown: &str, sent: &Value| {
            assert_eq!(asked.offer(grant).unwrap().allows, [shown]);
            let response = asked.response(&granting(grant)).unwrap();
            assert_eq!(response["updatedPermissions"], json!([sent]));
        };
        check(Grant::Always, "Bash(touch a), from now on in this project", &rule);
        check(Grant::Edits, "accept edits, until the session ends", &mode);
        check(Grant::Directory, "work in /b, until the session ends", &directory);
        assert_eq!(asked.not_offered, ["setMode bypassPermissions", "later"]);
        let response = asked.response(&allow()).unwrap();
        assert!(response.get("updatedPermissions").is_none(), "{response}");
        let only_mode = request("Write", json!({}), json!([mode]));
        let error = only_mode.response(&granting(Grant::Always)).unwrap_err();
        assert!(error.ends_with("allow it once, or edits"), "{error}");
    }

    #[test]
    fn replies_are_serialized_for_other_processes() {
        let check = |text: &str, expected: PermissionReply| {
            assert_eq!(serde_json::from_str::<PermissionReply>(text).unwrap(), expected, "{text}");
        };
        check(r#"{"behavior":"allow"}"#, allow());
        check(r#"{"behavior":"allow","grant":"edits"}"#, granting(Grant::Edits));
        check(
            r#"{"behavior":"deny","message":"no","interrupt":true}"#,
            PermissionReply::Deny { message: "no".into(), interrupt: true },
        );
    }
}

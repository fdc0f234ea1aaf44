//! What Claude Code suggests to allow from now on, as separate answers: rules, the mode that accepts edits, directories.
//!
//! An answer grants exactly what is shown for it. Whatever else is suggested is named, and never granted.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What an answer allows beyond the call that is asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Grant {
    /// Calls that the suggested rules match.
    Always,
    /// Edits of files.
    Edits,
    /// Work in the suggested directories.
    Directory,
}

/// An answer that allows more than one call, with everything that it allows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
pub struct Offer {
    /// The answer.
    pub answer: Grant,
    /// What it allows and for how long, such as `Bash(make *), from now on in this project`.
    pub allows: Vec<String>,
}

impl Grant {
    /// All grants, in the order in which they are offered.
    pub const ALL: [Self; 3] = [Self::Always, Self::Edits, Self::Directory];

    /// The word by which it is answered, as in its JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Always => "always",
            Self::Edits => "edits",
            Self::Directory => "directory",
        }
    }

    /// The grant that a word answers with.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|grant| grant.as_str().eq_ignore_ascii_case(word))
    }
}

/// The answers that grant something of the suggestions.
pub(crate) fn offers(suggestions: &[Value]) -> Vec<Offer> {
    let offer = |answer: Grant| {
        let allows: Vec<String> = granted(suggestions, answer).flat_map(words).collect();
        (!allows.is_empty()).then_some(Offer { answer, allows })
    };
    Grant::ALL.into_iter().filter_map(offer).collect()
}

/// The suggestions that a grant stands for.
pub(crate) fn granted(suggestions: &[Value], grant: Grant) -> impl Iterator<Item = &Value> {
    suggestions.iter().filter(move |suggestion| grant_of(suggestion) == Some(grant))
}

/// The suggestions that no answer grants, by name.
pub(crate) fn not_offered(suggestions: &[Value]) -> Vec<String> {
    suggestions.iter().filter(|suggestion| grant_of(suggestion).is_none()).map(name).collect()
}

/// The grant of a suggestion, if everything in it can be shown.
fn grant_of(suggestion: &Value) -> Option<Grant> {
    let count = |name: &str| suggestion[name].as_array().map_or(0, Vec::len);
    let (grant, expected) = match suggestion["type"].as_str()? {
        "addRules" if suggestion["behavior"] == "allow" => (Grant::Always, count("rules")),
        // Every other mode is chosen for a worker, not granted beside a call.
        "setMode" if suggestion["mode"] == "acceptEdits" => (Grant::Edits, 1),
        "addDirectories" => (Grant::Directory, count("directories")),
        _ => return None,
    };
    (expected > 0 && words(suggestion).len() == expected).then_some(grant)
}

/// What a suggestion allows, in words.
fn words(suggestion: &Value) -> Vec<String> {
    let Some(lasts) = lasts(suggestion["destination"].as_str()) else { return Vec::new() };
    let list = |name: &str| suggestion[name].as_array().map(Vec::as_slice).unwrap_or_default();
    let what: Vec<String> = match suggestion["type"].as_str() {
        Some("addRules") => list("rules").iter().filter_map(rule).collect(),
        Some("setMode") => vec!["accept edits".to_owned()],
        Some("addDirectories") => list("directories")
            .iter()
            .filter_map(Value::as_str)
            .map(|path| format!("work in {path}"))
            .collect(),
        _ => Vec::new(),
    };
    what.into_iter().map(|what| format!("{what}, {lasts}")).collect()
}

/// How long a suggestion is in force.
fn lasts(destination: Option<&str>) -> Option<&'static str> {
    match destination {
        None | Some("session" | "cliArg") => Some("until the session ends"),
        Some("localSettings" | "projectSettings") => Some("from now on in this project"),
        Some("userSettings") => Some("from now on in every project"),
        Some(_) => None,
    }
}

/// A rule in Claude Code's notation.
fn rule(rule: &Value) -> Option<String> {
    let tool = rule["toolName"].as_str()?;
    match &rule["ruleContent"] {
        Value::Null => Some(tool.to_owned()),
        content => Some(format!("{tool}({})", content.as_str()?)),
    }
}

/// The name of a suggestion of an unknown kind.
fn name(suggestion: &Value) -> String {
    let kind = suggestion["type"].as_str().unwrap_or("unknown");
    let of = ["mode", "behavior"].iter().find_map(|name| suggestion[name].as_str());
    of.map_or_else(|| kind.to_owned(), |of| format!("{kind} {of}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn rules(rules: &Value, behavior: &str, destination: &str) -> Value {
        json!({"type": "addRules", "rules": rules, "behavior": behavior, "destination": destination})
    }

    #[test]
    fn each_suggestion_belongs_to_the_answer_that_names_it() {
        let check = |suggestion: Value, expected: Option<(Grant, &[&str])>| {
            let suggestions = [suggestion];
            let found = offers(&suggestions);
            let found = found.first().map(|offer| (offer.answer, offer.allows.clone()));
            let expected = expected.map(|(grant, words)| {
                (grant, words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>())
            });
            assert_eq!(found, expected, "{suggestions:?}");
            assert_eq!(not_offered(&suggestions).is_empty(), found.is_some(), "{suggestions:?}");
        };
        let two = json!([{"toolName": "Bash", "ruleContent": "ls *"}, {"toolName": "Edit"}]);
        check(
            rules(&two, "allow", "localSettings"),
            Some((
                Grant::Always,
                &["Bash(ls *), from now on in this project", "Edit, from now on in this project"],
            )),
        );
        let one = json!([{"toolName": "Bash"}]);
        check(
            rules(&one, "allow", "userSettings"),
            Some((Grant::Always, &["Bash, from now on in every project"])),
        );
        check(rules(&one, "allow", "session"), Some((Grant::Always, &["Bash, until the session ends"])));
        check(
            json!({"type": "setMode", "mode": "acceptEdits", "destination": "session"}),
            Some((Grant::Edits, &["accept edits, until the session ends"])),
        );
        check(
            json!({"type": "addDirectories", "directories": ["/a", "/b"], "destination": "session"}),
            Some((
                Grant::Directory,
                &["work in /a, until the session ends", "work in /b, until the session ends"],
            )),
        );
        // What cannot be shown whole is not offered.
        check(rules(&json!([{"toolName": "Bash"}, {"toolName": 7}]), "allow", "session"), None);
        check(rules(&json!([{"toolName": "Bash", "ruleContent": 7}]), "allow", "session"), None);
        check(rules(&json!([]), "allow", "session"), None);
        check(rules(&one, "deny", "session"), None);
        check(rules(&one, "allow", "organization"), None);
        check(json!({"type": "setMode", "mode": "bypassPermissions", "destination": "session"}), None);
        check(json!({"type": "removeRules", "rules": one, "behavior": "deny"}), None);
        check(json!({"type": "later"}), None);
        check(json!(7), None);
    }

    #[test]
    fn what_no_answer_grants_is_named() {
        let check = |suggestion: Value, expected: &str| assert_eq!(not_offered(&[suggestion]), [expected]);
        check(json!({"type": "setMode", "mode": "bypassPermissions"}), "setMode bypassPermissions");
        check(json!({"type": "replaceRules", "behavior": "allow"}), "replaceRules allow");
        check(json!({"type": "later"}), "later");
        check(json!(7), "unknown");
    }

    #[test]
    fn a_grant_is_answered_by_its_word() {
        for grant in Grant::ALL {
            assert_eq!(Grant::from_word(&grant.as_str().to_uppercase()), Some(grant));
            assert_eq!(serde_json::to_value(grant).unwrap(), grant.as_str());
        }
        assert_eq!(Grant::from_word("mode"), None);
    }
}

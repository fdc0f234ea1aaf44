//! Rules for rooms: which of them a session meets, decided as CrewHub's front end decides it.

use regex::{Regex, RegexBuilder};

use crate::crewhub::store::Rule;
use crate::problem::Problem;

/// What a rule can look at.
const TYPES: [&str; 5] = ["keyword", "model", "label_pattern", "session_type", "session_key_contains"];
/// The longest pattern, in bytes, and the most memory that it may take.
const LONGEST: usize = 1000;
const LARGEST: usize = 1 << 20;

/// What a rule sees of a session.
pub(super) struct Seen<'a> {
    pub(super) key: &'a str,
    pub(super) label: &'a str,
    pub(super) model: &'a str,
}

/// Refuses what cannot be a rule.
pub(super) fn check(rule: &Rule) -> Result<(), Problem> {
    if !TYPES.contains(&rule.rule_type.as_str()) {
        let detail = format!("`{}` is no type of a rule: {}", rule.rule_type, TYPES.join(", "));
        return Err(Problem::usage(detail));
    }
    if rule.rule_value.trim().is_empty() {
        return Err(Problem::usage("a rule needs a value to look for"));
    }
    if rule.rule_type == "label_pattern" {
        pattern(&rule.rule_value)
            .map_err(|why| Problem::usage(format!("`{}` is no pattern: {why}", rule.rule_value)))?;
    }
    Ok(())
}

fn pattern(text: &str) -> Result<Regex, String> {
    if text.len() > LONGEST {
        return Err(format!("it is longer than {LONGEST} bytes"));
    }
    let built = RegexBuilder::new(text).case_insensitive(true).size_limit(LARGEST).build();
    built.map_err(|error| error.to_string())
}

/// The rules with their patterns, the most important first.
pub(super) struct Rules<'a>(Vec<(&'a Rule, Option<Regex>)>);

impl<'a> Rules<'a> {
    pub(super) fn new(rules: &'a [Rule]) -> Self {
        let with_pattern = |rule: &'a Rule| {
            let is_pattern = rule.rule_type == "label_pattern";
            (rule, is_pattern.then(|| pattern(&rule.rule_value).ok()).flatten())
        };
        let mut all: Vec<_> = rules.iter().map(with_pattern).collect();
        all.sort_by_key(|(rule, _)| std::cmp::Reverse(rule.priority));
        Self(all)
    }

    /// The most important rule that a session meets.
    pub(super) fn of(&self, session: &Seen<'_>) -> Option<&'a Rule> {
        self.0.iter().find(|(rule, pattern)| meets(rule, pattern.as_ref(), session)).map(|(rule, _)| *rule)
    }
}

fn meets(rule: &Rule, pattern: Option<&Regex>, session: &Seen<'_>) -> bool {
    let value = rule.rule_value.to_lowercase();
    match rule.rule_type.as_str() {
        "keyword" => session.label.to_lowercase().contains(&value),
        "model" => session.model.to_lowercase().contains(&value),
        "label_pattern" => {
            pattern.is_some_and(|pattern| pattern.is_match(session.label) || pattern.is_match(session.key))
        }
        "session_type" => is_of_type(session.key, &rule.rule_value),
        "session_key_contains" => session.key.contains(&rule.rule_value),
        _ => false,
    }
}

fn is_of_type(key: &str, kind: &str) -> bool {
    match kind {
        "cron" => key.contains(":cron:"),
        "subagent" => key.contains(":subagent:") || key.contains(":spawn:"),
        "main" => key == "agent:main:main",
        "slack" | "whatsapp" | "telegram" | "discord" => key.contains(kind),
        "claude_code" => key.starts_with("claude:") || key.starts_with("cc:"),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(rule_type: &str, rule_value: &str, priority: i64) -> Rule {
        Rule {
            id: String::new(),
            room_id: format!("{rule_type} {priority}"),
            rule_type: rule_type.into(),
            rule_value: rule_value.into(),
            priority,
            created_at: 0,
        }
    }

    #[test]
    fn each_type_looks_at_its_own() {
        let check = |rule_type: &str, value: &str, expected: bool| {
            let rules = [rule(rule_type, value, 1)];
            let seen = Seen { key: "claude:3601d36f", label: "Paint the fence", model: "claude-opus-4" };
            assert_eq!(Rules::new(&rules).of(&seen).is_some(), expected, "{rule_type} {value}");
        };
        check("keyword", "FENCE", true);
        check("keyword", "opus", false);
        check("model", "Opus", true);
        check("label_pattern", "^paint .* fence$", true);
        check("label_pattern", "^claude:36", true);
        check("label_pattern", "^fence", false);
        check("label_pattern", "(", false);
        check("session_key_contains", "d36f", true);
        check("session_type", "claude_code", true);
        check("session_type", "main", false);
        check("smell", "fence", false);
    }

    #[test]
    fn the_most_important_rule_is_met() {
        let rules =
            [rule("keyword", "fence", 1), rule("label_pattern", "fence", 7), rule("keyword", "quay", 9)];
        let seen = Seen { key: "claude:1", label: "the fence", model: "" };
        assert_eq!(Rules::new(&rules).of(&seen).unwrap().room_id, "label_pattern 7");
    }

    #[test]
    fn a_rule_makes_sense_or_is_refused() {
        for (rule_type, value) in [
            ("smell", "x"),
            ("keyword", " "),
            ("label_pattern", "("),
            ("label_pattern", "(?=x)"),
            ("label_pattern", "a{1000}{1000}"),
        ] {
            assert!(check(&rule(rule_type, value, 0)).is_err(), "{rule_type} {value}");
        }
        assert!(check(&rule("label_pattern", &"x".repeat(LONGEST + 1), 0)).is_err());
        assert!(check(&rule("label_pattern", "^a|b$", 0)).is_ok());
    }
}

//! Adds and removes Backstory's entries among the hooks of a settings file.
//!
//! Works on text: only the entries change, everything else stays byte for byte as it was typed.

use transcript::Raw;

use crate::hooks::EVENTS;

/// Suffix that identifies Backstory's commands.
const MARK: &str = "# backstory";
/// The key of the status line in the settings.
pub const STATUS_LINE: &str = "statusLine";
/// Time limit of a hook in seconds, after which Claude Code continues without it.
const TIMEOUT: u32 = 5;

/// Why a settings file cannot be changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InvalidSettings {
    /// It is not a JSON object.
    NotAnObject,
    /// Its `hooks` do not have the structure Claude Code reads.
    UnexpectedHooks,
}

/// The command a hook runs, given quoted words. It never fails or prints anything to Claude Code.
pub fn command(program: &str, folder: &str) -> String {
    format!("{program} hook {folder} >/dev/null 2>&1 || true {MARK}")
}

/// Returns the settings with exactly one current entry per event.
pub fn with_hooks(settings: &str, command: &str) -> Result<String, InvalidSettings> {
    check(settings)?;
    if are_current(settings, command) {
        return Ok(settings.to_owned());
    }
    let mut text = without_hooks(settings)?;
    if text.trim().is_empty() {
        "{\n}\n".clone_into(&mut text);
    }
    if !hooks_of(&text).is_object() {
        text = inserted(&text, Raw::new(text.trim()), "\"hooks\": {}", 1);
    }
    for event in EVENTS {
        let hooks = hooks_of(&text);
        if !member(hooks, event).is_array() {
            text = inserted(&text, hooks, &format!("\"{event}\": []"), 2);
        }
        let list = member(hooks_of(&text), event);
        text = inserted(&text, list, &entry(command), 3);
    }
    Ok(text)
}

/// Returns the settings without Backstory's entries and without containers that become empty.
pub fn without_hooks(settings: &str) -> Result<String, InvalidSettings> {
    check(settings)?;
    let mut text = settings.to_owned();
    while let Some(without) = without_first_command(&text) {
        text = without;
    }
    Ok(text)
}

/// Returns the settings with this value, written as JSON, for a key.
pub fn with_member(settings: &str, key: &str, json: &str) -> Result<String, InvalidSettings> {
    check(settings)?;
    let mut text = settings.to_owned();
    if text.trim().is_empty() {
        "{\n}\n".clone_into(&mut text);
    }
    let value = member(Raw::new(text.trim()), key).json().trim();
    if value.is_empty() {
        return Ok(inserted(&text, Raw::new(text.trim()), &format!("\"{key}\": {json}"), 1));
    }
    let begin = offset(&text, value);
    Ok(format!("{}{json}{}", &text[..begin], &text[begin + value.len()..]))
}

/// Returns the settings without a key.
pub fn without_member(settings: &str, key: &str) -> Result<String, InvalidSettings> {
    check(settings)?;
    let mut text = settings.to_owned();
    loop {
        let value = member(Raw::new(text.trim()), key).json();
        if value.is_empty() {
            return Ok(text);
        }
        text = cut(&text, value, true);
    }
}

/// The value of a key, as it is written; `None` where there is none.
pub fn member_text<'a>(settings: &'a str, key: &str) -> Option<&'a str> {
    Some(member(Raw::new(settings.trim()), key).json().trim()).filter(|value| !value.is_empty())
}

/// The command of the status line, given a quoted word. It never fails or prints an error into the line.
pub fn status_line_command(program: &str) -> String {
    format!("{program} statusline 2>/dev/null || true {MARK}")
}

/// Whether the status line of these settings is Backstory's.
pub fn has_status_line(settings: &str) -> bool {
    let line = member(Raw::new(settings.trim()), STATUS_LINE);
    line.get("command").text().is_some_and(|command| command.ends_with(MARK))
}

/// The events that have one of Backstory's entries.
pub fn installed(settings: &str) -> Vec<&'static str> {
    let hooks = hooks_of(settings);
    let has_ours = |event: &&str| member(hooks, event).elements().any(is_ours);
    EVENTS.into_iter().filter(has_ours).collect()
}

/// Whether each event has exactly one current entry and no other event has any.
fn are_current(settings: &str, command: &str) -> bool {
    let ours: Vec<(String, &str)> = hooks_of(settings)
        .entries()
        .flat_map(|(event, list)| {
            let event = event.into_owned();
            list.elements().filter(|entry| is_ours(*entry)).map(move |entry| (event.clone(), entry.json()))
        })
        .collect();
    let entry = entry(command);
    let is_right = |event: &&str| ours.iter().filter(|(of, json)| of == event && *json == entry).count() == 1;
    ours.len() == EVENTS.len() && EVENTS.iter().all(is_right)
}

fn check(settings: &str) -> Result<(), InvalidSettings> {
    let text = settings.trim();
    if text.is_empty() {
        return Ok(());
    }
    // Node reads numbers and halves of characters that others refuse.
    let is_json = serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok();
    let whole = Raw::new(text);
    if !is_json || !whole.is_object() {
        return Err(InvalidSettings::NotAnObject);
    }
    let mut hooks = whole.entries().filter(|(key, _)| key == "hooks").map(|(_, hooks)| hooks);
    let is_usual = |hooks: Raw<'_>| hooks.is_object() && hooks.entries().all(|(_, list)| list.is_array());
    if hooks.all(is_usual) { Ok(()) } else { Err(InvalidSettings::UnexpectedHooks) }
}

/// The effective value of a key: the last one if it occurs several times.
fn member<'a>(object: Raw<'a>, key: &str) -> Raw<'a> {
    let found = object.entries().filter(|(known, _)| known == key).last();
    found.map_or(Raw::new(""), |(_, value)| value)
}

fn hooks_of(text: &str) -> Raw<'_> {
    member(Raw::new(text.trim()), "hooks")
}

fn entry(command: &str) -> String {
    let command = serde_json::Value::String(command.to_owned());
    format!(r#"{{ "hooks": [{{ "type": "command", "command": {command}, "timeout": {TIMEOUT} }}] }}"#)
}

fn is_ours(entry: Raw<'_>) -> bool {
    own_hooks(entry).next().is_some()
}

/// Backstory's commands in an entry, which may also hold the user's.
fn own_hooks(entry: Raw<'_>) -> impl Iterator<Item = Raw<'_>> {
    let is_own = |hook: &Raw<'_>| hook.get("command").text().is_some_and(|command| command.ends_with(MARK));
    member(entry, "hooks").elements().filter(is_own)
}

/// The text without the first of Backstory's commands, together with an entry, list or object that holds
/// nothing else; `None` if there is none.
fn without_first_command(text: &str) -> Option<String> {
    let whole = Raw::new(text.trim());
    let (hooks, list, ours) = whole.entries().filter(|(key, _)| key == "hooks").find_map(|(_, hooks)| {
        let mut lists = hooks.entries().map(|(_, list)| list);
        lists.find_map(|list| Some((hooks, list, list.elements().find(|entry| is_ours(*entry))?)))
    })?;
    if member(ours, "hooks").elements().nth(1).is_some() {
        return own_hooks(ours).next().map(|own| cut(text, own.json(), false));
    }
    if list.elements().nth(1).is_some() {
        return Some(cut(text, ours.json(), false));
    }
    if hooks.entries().nth(1).is_some() {
        return Some(cut(text, list.json(), true));
    }
    Some(cut(text, hooks.json(), true))
}

/// The text without one element of a list or member of an object, and without its comma.
fn cut(text: &str, member: &str, has_key: bool) -> String {
    let value = offset(text, member);
    let end = value + member.len();
    let start = if has_key { key_before(text, value) } else { value };
    let before = text[..start].trim_end();
    let after = &text[end..];
    if let Some(before) = before.strip_suffix(',') {
        return format!("{before}{after}");
    }
    match after.trim_start().strip_prefix(',') {
        Some(after) => format!("{before}{after}"),
        // The only one: what parted it from the bracket after it is that of the bracket before it.
        None => format!("{before}{}", if after.starts_with('\n') { after } else { after.trim_start() }),
    }
}

/// Position of the key whose value begins at `value`.
fn key_before(text: &str, value: usize) -> usize {
    let colon = text[..value].trim_end().strip_suffix(':').map(str::trim_end);
    let Some(key) = colon.and_then(|key| key.strip_suffix('"')) else { return value };
    // A quote inside the key has an odd number of backslashes before it.
    let is_opening = |at: &usize| {
        let before = &key.as_bytes()[..*at];
        before.iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 0
    };
    key.rmatch_indices('"').map(|(at, _)| at).find(is_opening).unwrap_or(value)
}

/// The text with `item` appended to a list or object, on its own line at this depth.
fn inserted(text: &str, container: Raw<'_>, item: &str, depth: usize) -> String {
    let start = offset(text, container.json());
    let close = start + container.json().len() - 1;
    let inner = text[start + 1..close].trim_end();
    let (comma, end) = (if inner.trim().is_empty() { "" } else { "," }, start + 1 + inner.len());
    let (indent, outer) = ("  ".repeat(depth), "  ".repeat(depth - 1));
    let rest = &text[end..close];
    // A bracket on its own line stays there.
    let rest = if rest.contains('\n') { rest.to_owned() } else { format!("\n{outer}") };
    format!("{}{comma}\n{indent}{item}{rest}{}", &text[..end], &text[close..])
}

/// Position of a subslice in a text.
fn offset(text: &str, piece: &str) -> usize {
    piece.as_ptr().addr() - text.as_ptr().addr()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ours() -> String {
        command("'/usr/bin/backstory'", "'/home/u/hooks'")
    }

    fn check(settings: &str) -> String {
        let with = with_hooks(settings, &ours()).unwrap();
        let parsed: serde_json::Value = serde_json::from_str(&with).unwrap();
        for event in EVENTS {
            let entries = parsed["hooks"][event].as_array().unwrap();
            let last = entries.last().unwrap();
            assert_eq!(last["hooks"][0]["command"], ours(), "{with}");
        }
        assert_eq!(installed(&with), EVENTS);
        assert_eq!(with_hooks(&with, &ours()).unwrap(), with, "a second time changes nothing");
        let without = without_hooks(&with).unwrap();
        assert_eq!(installed(&without), Vec::<&str>::new());
        let meaning =
            |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap_or(serde_json::json!({}));
        assert_eq!(meaning(&without), meaning(settings), "{without}");
        with
    }

    #[test]
    fn hooks_are_installed_into_settings_of_every_shape() {
        check("");
        check("{}");
        check("{ }\n");
        check("{\n  \"model\": \"opus\"\n}\n");
        check(r#"{"model":"opus"}"#);
        check(r#"{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"say done"}]}]},"model":"opus"}"#);
        check(
            "{\n\t\"hooks\": {\n\t\t\"PreToolUse\": [\n\t\t\t{\"matcher\": \"Bash\", \"hooks\": []}\n\t\t]\n\t}\n}",
        );
        check("{\"a\": \"\\\"hooks\\\": {\", \"b\": [1, 2]}");
    }

    #[test]
    fn existing_text_is_kept_unchanged() {
        let settings = "{\n  \"permissions\":   {\"allow\":[ ]},\n  \"model\": \"opus\"\n}\n";
        let with = check(settings);
        assert!(with.starts_with(
            "{\n  \"permissions\":   {\"allow\":[ ]},\n  \"model\": \"opus\",\n  \"hooks\": {\n"
        ));
        assert_eq!(without_hooks(&with).unwrap(), settings);
    }

    #[test]
    fn an_entry_for_another_program_is_replaced() {
        let old = with_hooks("{}", &command("/old/backstory", "/old")).unwrap();
        let new = with_hooks(&old, &ours()).unwrap();
        assert!(!new.contains("/old"), "{new}");
    }

    #[test]
    fn setting_one_value_keeps_the_rest() {
        let check = |settings: &str, expected: &str| {
            assert_eq!(with_member(settings, "cleanupPeriodDays", "365").unwrap(), expected);
        };
        check("", "{\n  \"cleanupPeriodDays\": 365\n}\n");
        check("{\"a\": 1}", "{\"a\": 1,\n  \"cleanupPeriodDays\": 365\n}");
        check("{ \"cleanupPeriodDays\" : 30 , \"a\": 1}\n", "{ \"cleanupPeriodDays\" : 365 , \"a\": 1}\n");
        // The last one counts.
        check(
            "{\"cleanupPeriodDays\":1,\"cleanupPeriodDays\":2}",
            "{\"cleanupPeriodDays\":1,\"cleanupPeriodDays\":365}",
        );
        assert_eq!(with_member("[]", "a", "1"), Err(InvalidSettings::NotAnObject));
    }

    #[test]
    fn removing_one_value_keeps_the_rest() {
        let check = |settings: &str, expected: &str| {
            assert_eq!(without_member(settings, STATUS_LINE).unwrap(), expected);
        };
        check("", "");
        check("{\"a\": 1}", "{\"a\": 1}");
        check("{\n  \"a\": 1,\n  \"statusLine\": {\"type\": \"command\"}\n}\n", "{\n  \"a\": 1\n}\n");
        check("{\"statusLine\": 1, \"a\": {\"statusLine\": 2}}", "{ \"a\": {\"statusLine\": 2}}");
        let ours =
            serde_json::json!({"statusLine": {"type": "command", "command": status_line_command("b")}});
        assert!(has_status_line(&ours.to_string()) && !has_status_line(r#"{"statusLine":{"command":"x"}}"#));
        assert_eq!(member_text("{\"statusLine\" : 1 }", STATUS_LINE), Some("1"));
    }

    #[test]
    fn a_command_beside_ours_stays() {
        let ours = serde_json::json!(ours());
        let theirs = r#"{"type":"command","command":"say done"}"#;
        let own = format!(r#"{{"type":"command","command":{ours}}}"#);
        let expected = serde_json::json!({"hooks": {"Stop": [{"matcher": "", "hooks": [{"type": "command", "command": "say done"}]}]}});
        for both in [format!("{own}, {theirs}"), format!("{theirs},{own}"), format!("{own},{theirs},\n{own}")]
        {
            let settings = format!(r#"{{"hooks":{{"Stop":[{{"matcher":"","hooks":[{both}]}}]}}}}"#);
            let without = without_hooks(&settings).unwrap();
            assert_eq!(serde_json::from_str::<serde_json::Value>(&without).unwrap(), expected, "{without}");
            let with = with_hooks(&settings, "new # backstory").unwrap();
            let parsed: serde_json::Value = serde_json::from_str(&with).unwrap();
            assert_eq!(parsed["hooks"]["Stop"][0], expected["hooks"]["Stop"][0], "{with}");
            assert_eq!(parsed["hooks"]["Stop"][1]["hooks"][0]["command"], "new # backstory", "{with}");
        }
    }

    #[test]
    fn escaped_keys_are_recognized() {
        for settings in [
            r#"{"hooks":{"St\u006fp":[{"hooks":[{"type":"command","command":"say done"}]}]}}"#,
            r#"{"h\u006foks":{"Stop":[{"hooks":[{"type":"command","command":"say done"}]}]}}"#,
            r#"{"hooks":{"Stop":[],"Stop":[{"hooks":[{"type":"command","command":"say done"}]}]}}"#,
        ] {
            let with = check(settings);
            let parsed: serde_json::Value = serde_json::from_str(&with).unwrap();
            assert_eq!(parsed["hooks"]["Stop"][0]["hooks"][0]["command"], "say done", "{with}");
            assert_eq!(without_hooks(&with).unwrap().matches("say done").count(), 1);
        }
        let quoted = r#"{"a\"b\\": 1, "hooks":{"St\u006fp":[]}}"#;
        let with = with_hooks(quoted, &ours()).unwrap();
        assert!(without_hooks(&with).unwrap().starts_with(r#"{"a\"b\\": 1"#));
    }

    #[test]
    fn json_that_node_accepts_is_accepted() {
        for odd in [r#"{"a":"\ud800"}"#, r#"{"a":1e999}"#] {
            let with = with_hooks(odd, &ours()).unwrap();
            assert_eq!(installed(&with), EVENTS);
            assert_eq!(without_hooks(&with).unwrap().replace('\n', ""), odd);
        }
    }

    #[test]
    fn files_that_are_not_settings_are_left_unchanged() {
        let refused = |text: &str| with_hooks(text, &ours()).unwrap_err();
        assert_eq!(refused("[]"), InvalidSettings::NotAnObject);
        assert_eq!(refused("{"), InvalidSettings::NotAnObject);
        assert_eq!(refused("{ // a comment\n}"), InvalidSettings::NotAnObject);
        assert_eq!(refused(r#"{"hooks":[]}"#), InvalidSettings::UnexpectedHooks);
        assert_eq!(refused(r#"{"hooks":{"Stop":{}}}"#), InvalidSettings::UnexpectedHooks);
    }
}

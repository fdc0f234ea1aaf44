//! Backstory's entries among the hooks of a settings file: text in, text out.
//!
//! The text is cut and joined at the places where the entries stand, and everything else stays as it was
//! typed, byte for byte.

use transcript::Raw;

use crate::hooks::EVENTS;

/// Ends every command of ours; by it they are known again.
const MARK: &str = "# backstory";
/// How long a hook may take, in seconds, before Claude Code goes on without it.
const TIMEOUT: u32 = 5;

/// Why a settings file cannot be changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unfit {
    /// It is not a JSON object.
    NotAnObject,
    /// Its `hooks` are not what Claude Code reads.
    StrangeHooks,
}

/// The command that a hook runs, given words that a shell takes as they stand. Whatever becomes of it, Claude
/// Code hears nothing and goes on.
pub fn command(program: &str, folder: &str) -> String {
    format!("{program} hook {folder} >/dev/null 2>&1 || true {MARK}")
}

/// The settings with our entries in them, each once and as they are now.
pub fn with_hooks(settings: &str, command: &str) -> Result<String, Unfit> {
    check(settings)?;
    if are_current(settings, command) {
        return Ok(settings.to_owned());
    }
    let mut text = without_hooks(settings)?;
    if text.trim().is_empty() {
        "{\n}\n".clone_into(&mut text);
    }
    if !Raw::new(text.trim()).get("hooks").is_present() {
        text = inserted(&text, Raw::new(text.trim()), "\"hooks\": {}", 1);
    }
    for event in EVENTS {
        let hooks = Raw::new(text.trim()).get("hooks");
        if !hooks.get(event).is_present() {
            text = inserted(&text, hooks, &format!("\"{event}\": []"), 2);
        }
        let list = Raw::new(text.trim()).get("hooks").get(event);
        text = inserted(&text, list, &entry(command), 3);
    }
    Ok(text)
}

/// The settings without our entries, and without what would be empty for want of them.
pub fn without_hooks(settings: &str) -> Result<String, Unfit> {
    check(settings)?;
    let mut text = settings.to_owned();
    while let Some(without) = without_one(&text) {
        text = without;
    }
    Ok(text)
}

/// The events for which an entry of ours stands in the settings.
pub fn installed(settings: &str) -> Vec<&'static str> {
    let hooks = Raw::new(settings.trim()).get("hooks");
    let has_ours = |event: &&str| hooks.get(event).elements().any(is_ours);
    EVENTS.into_iter().filter(has_ours).collect()
}

/// Whether each event has our entry once, as it is now, and no other event has one.
fn are_current(settings: &str, command: &str) -> bool {
    let hooks = Raw::new(settings.trim()).get("hooks");
    let ours: Vec<(String, &str)> = hooks
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

fn check(settings: &str) -> Result<(), Unfit> {
    let text = settings.trim();
    if text.is_empty() {
        return Ok(());
    }
    let whole: serde_json::Value = serde_json::from_str(text).map_err(|_| Unfit::NotAnObject)?;
    let object = whole.as_object().ok_or(Unfit::NotAnObject)?;
    match object.get("hooks") {
        None => Ok(()),
        Some(serde_json::Value::Object(hooks)) if hooks.values().all(serde_json::Value::is_array) => Ok(()),
        Some(_) => Err(Unfit::StrangeHooks),
    }
}

fn entry(command: &str) -> String {
    let command = serde_json::Value::String(command.to_owned());
    format!(r#"{{ "hooks": [{{ "type": "command", "command": {command}, "timeout": {TIMEOUT} }}] }}"#)
}

fn is_ours(entry: Raw<'_>) -> bool {
    let mut commands = entry.get("hooks").elements();
    commands.any(|hook| hook.get("command").text().is_some_and(|command| command.ends_with(MARK)))
}

/// The text without the first entry of ours that is found; with it goes a list and then an object that hold
/// nothing else.
fn without_one(text: &str) -> Option<String> {
    let hooks = Raw::new(text.trim()).get("hooks");
    let (event, ours) = hooks.entries().find_map(|(event, list)| {
        Some((event.into_owned(), list.elements().find(|entry| is_ours(*entry))?))
    })?;
    let list = hooks.get(&event);
    if list.elements().nth(1).is_some() {
        return Some(cut(text, ours.json(), None));
    }
    if hooks.entries().nth(1).is_some() {
        return Some(cut(text, list.json(), Some(&event)));
    }
    Some(cut(text, hooks.json(), Some("hooks")))
}

/// The text without one member of a list or an object, and without the comma that parts it from the others.
fn cut(text: &str, member: &str, key: Option<&str>) -> String {
    let value = offset(text, member);
    let end = value + member.len();
    let start = match key {
        Some(key) => text[..value].rfind(&format!("\"{key}\"")).unwrap_or(value),
        None => value,
    };
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

/// The text with `item` as the last in a list or an object, on a line of its own at this depth.
fn inserted(text: &str, container: Raw<'_>, item: &str, depth: usize) -> String {
    let start = offset(text, container.json());
    let close = start + container.json().len() - 1;
    let inner = text[start + 1..close].trim_end();
    let (comma, end) = (if inner.trim().is_empty() { "" } else { "," }, start + 1 + inner.len());
    let (indent, outer) = ("  ".repeat(depth), "  ".repeat(depth - 1));
    let rest = &text[end..close];
    // Where the bracket stands on a line of its own it stays there.
    let rest = if rest.contains('\n') { rest.to_owned() } else { format!("\n{outer}") };
    format!("{}{comma}\n{indent}{item}{rest}{}", &text[..end], &text[close..])
}

/// Where a piece of a text begins in it.
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
    fn settings_of_every_shape() {
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
    fn what_was_there_stays_as_it_was_typed() {
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
    fn what_is_no_settings_file_is_left_alone() {
        let refused = |text: &str| with_hooks(text, &ours()).unwrap_err();
        assert_eq!(refused("[]"), Unfit::NotAnObject);
        assert_eq!(refused("{"), Unfit::NotAnObject);
        assert_eq!(refused("{ // a comment\n}"), Unfit::NotAnObject);
        assert_eq!(refused(r#"{"hooks":[]}"#), Unfit::StrangeHooks);
        assert_eq!(refused(r#"{"hooks":{"Stop":{}}}"#), Unfit::StrangeHooks);
    }
}

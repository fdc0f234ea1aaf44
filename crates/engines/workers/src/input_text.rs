//! The input of a tool as a person reads it who has to allow the call: the command or the address first, a change as its
//! removed and added lines, then every other field. Nothing is left out.

use serde_json::{Map, Value};

type Fields = Map<String, Value>;

/// The whole input of a call.
pub(crate) fn input_text(tool: &str, input: &Value) -> String {
    let Value::Object(fields) = input else { return pretty(input) };
    let mut fields = fields.clone();
    let first = ["command", "file_path", "notebook_path", "url"];
    let mut lines: Vec<String> = first.iter().filter_map(|name| take_text(&mut fields, name)).collect();
    let mut change = Vec::new();
    match tool {
        "Edit" => add_edit(&mut fields, &mut change),
        "MultiEdit" => add_edits(&mut fields, &mut change),
        "Write" => add_text(&mut fields, "content", &mut change),
        "NotebookEdit" => add_text(&mut fields, "new_source", &mut change),
        _ => {}
    }
    lines.extend(fields.iter().map(|(name, value)| field(name, value)));
    lines.extend(change);
    lines.join("\n")
}

/// The lines that an edit removes, and those that it puts in their place.
fn add_edit(fields: &mut Fields, to: &mut Vec<String>) {
    let is_edit =
        ["old_string", "new_string"].iter().all(|name| fields.get(*name).is_some_and(Value::is_string));
    if !is_edit {
        return;
    }
    let old = take_text(fields, "old_string").unwrap_or_default();
    let new = take_text(fields, "new_string").unwrap_or_default();
    to.extend(diff(&old, &new));
}

fn add_edits(fields: &mut Fields, to: &mut Vec<String>) {
    let Some(Value::Array(edits)) = fields.remove("edits") else { return };
    for (number, edit) in (1..).zip(edits) {
        to.push(format!("edit {number}:"));
        match edit {
            Value::Object(mut edit) => {
                let mut change = Vec::new();
                add_edit(&mut edit, &mut change);
                to.extend(edit.iter().map(|(name, value)| field(name, value)));
                to.extend(change);
            }
            other => to.push(pretty(&other)),
        }
    }
}

/// A text that is written whole.
fn add_text(fields: &mut Fields, name: &str, to: &mut Vec<String>) {
    if let Some(text) = take_text(fields, name) {
        to.extend(marked('+', &split(&text)));
    }
}

/// The lines of a change; those that stay at its beginning and end are written once.
fn diff(old: &str, new: &str) -> Vec<String> {
    let (old, new) = (split(old), split(new));
    let shorter = old.len().min(new.len());
    let before = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let rest = shorter - before;
    let after = old.iter().rev().zip(new.iter().rev()).take(rest).take_while(|(old, new)| old == new).count();
    let (removed, added) = (&old[before..old.len() - after], &new[before..new.len() - after]);
    let mut lines = marked(' ', &old[..before]);
    lines.extend(marked('-', removed));
    lines.extend(marked('+', added));
    lines.extend(marked(' ', &old[old.len() - after..]));
    lines
}

fn split(text: &str) -> Vec<&str> {
    if text.is_empty() { Vec::new() } else { text.split('\n').collect() }
}

fn marked(mark: char, lines: &[&str]) -> Vec<String> {
    lines.iter().map(|line| format!("{mark} {line}")).collect()
}

/// A field with its value; one of several lines stands below its name.
fn field(name: &str, value: &Value) -> String {
    let text = value.as_str().map_or_else(|| pretty(value), str::to_owned);
    if text.contains('\n') {
        let lines: Vec<String> = text.split('\n').map(|line| format!("  {line}")).collect();
        return format!("{name}:\n{}", lines.join("\n"));
    }
    format!("{name}: {text}")
}

fn take_text(fields: &mut Fields, name: &str) -> Option<String> {
    if !fields.get(name)?.is_string() {
        return None;
    }
    fields.remove(name)?.as_str().map(str::to_owned)
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}

#[cfg(test)]
#[allow(clippy::needless_pass_by_value, reason = "values are written in place")]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(tool: &str, input: Value, expected: &str) {
        assert_eq!(input_text(tool, &input), expected);
    }

    #[test]
    fn the_command_comes_first_and_nothing_is_left_out() {
        check("Bash", json!({"command": "ls"}), "ls");
        check(
            "Bash",
            json!({"description": "Build", "command": "make\nmake install", "dangerouslyDisableSandbox": true, "timeout": 9}),
            "make\nmake install\ndangerouslyDisableSandbox: true\ndescription: Build\ntimeout: 9",
        );
        check(
            "WebFetch",
            json!({"prompt": "What?", "url": "https://a.example/?q=1"}),
            "https://a.example/?q=1\nprompt: What?",
        );
        check("Bash", json!({"command": 7}), "command: 7");
        check("Odd", json!([1]), "[\n  1\n]");
        check("Odd", json!({}), "");
    }

    #[test]
    fn a_change_is_shown_by_its_lines() {
        check(
            "Edit",
            json!({"file_path": "/a", "old_string": "one\ntwo\nthree", "new_string": "one\n2\nthree", "replace_all": true}),
            "/a\nreplace_all: true\n  one\n- two\n+ 2\n  three",
        );
        check("Edit", json!({"file_path": "/a", "old_string": "", "new_string": "x"}), "/a\n+ x");
        check("Edit", json!({"file_path": "/a", "old_string": "x\nx", "new_string": "x"}), "/a\n  x\n- x");
        check("Edit", json!({"file_path": "/a", "new_string": "x"}), "/a\nnew_string: x");
        check(
            "MultiEdit",
            json!({"file_path": "/a", "edits": [{"old_string": "a", "new_string": "b"}, 7, {"old_string": "c", "new_string": ""}]}),
            "/a\nedit 1:\n- a\n+ b\nedit 2:\n7\nedit 3:\n- c",
        );
        check(
            "Write",
            json!({"content": "#!/bin/sh\nrm x\n", "file_path": "/a.sh"}),
            "/a.sh\n+ #!/bin/sh\n+ rm x\n+ ",
        );
        check(
            "NotebookEdit",
            json!({"notebook_path": "/n", "cell_id": "c1", "edit_mode": "replace", "new_source": "1\n2"}),
            "/n\ncell_id: c1\nedit_mode: replace\n+ 1\n+ 2",
        );
    }

    #[test]
    fn other_tools_show_their_fields() {
        check(
            "mcp__mail__send",
            json!({"to": ["a@b.example"], "body": "Hello\nYou", "urgent": false}),
            "body:\n  Hello\n  You\nto:\n  [\n    \"a@b.example\"\n  ]\nurgent: false",
        );
    }
}

//! `show` on terminals of several widths: Markdown rendered, changes as diffs, the last turn, matching words marked; and
//! in a pipe all of it as it was written.

use std::os::unix::fs::PermissionsExt as _;

use testkit::{ScratchHome, Terminal, Transcript};

const PROGRAM: &str = env!("CARGO_BIN_EXE_backstory");
const SESSION: &str = "7ab1e000-0000-4000-8000-000000000001";

const PROMPT: &str = "Compare the **three** parsers:\n# and keep this line as it is";
const ANSWER: &str = "# Three parsers compared by speed, by safety, and by how easily each of them is read again after a year\n\n\
    Take the *second*, see [the notes](docs/parsers.md):\n\n\
    | Parser | Throughput | What speaks against it |\n|---|--:|---|\n\
    | `serde_json` | 1,256 MB/s | nothing that matters here, it is safe at any depth of nesting |\n\
    | `sonic-rs` | 1,546 MB/s | it overflows the stack &#27;[2J\u{1b}[31m on deep input |\n\n\
    1. **Add** the dependency, which is already in the workspace for another crate:\n\n   ```rust\n   let value: Value = from_str(\"{}\")?; // as before\n   ```\n\
    2. Run `cargo test`.\n\n> Measured on two cores.\n\nReplace <old> by <new>.";

/// A home with one session of two turns: an answer in Markdown, and an edit.
fn home() -> ScratchHome {
    let home = ScratchHome::new();
    let mut parent = "null".to_owned();
    let mut number = 0;
    let mut line = |kind: &str, content: serde_json::Value, kept: serde_json::Value| {
        number += 1;
        let uuid = format!("7ab1e000-0000-4000-8000-00000000010{number}");
        let record = serde_json::json!({
            "type": kind, "uuid": uuid, "sessionId": SESSION, "cwd": "/code/shop", "gitBranch": "main", "version": "2.1.329",
            "timestamp": format!("2020-01-02T03:0{number}:00.000Z"), "toolUseResult": kept,
            "message": {"role": kind, "id": uuid, "model": "claude-opus-4-5-20251101", "content": content,
                "usage": {"input_tokens": 1000, "output_tokens": 2000}},
        });
        let text = record.to_string().replacen('{', &format!("{{\"parentUuid\":{parent},"), 1);
        parent = format!("\"{uuid}\"");
        text + "\n"
    };
    let none = || serde_json::Value::Null;
    let text = |text: &str| serde_json::json!([{"type": "text", "text": text}]);
    let edit = serde_json::json!([{"type": "tool_use", "id": "t1", "name": "Edit", "input":
        {"file_path": "/code/shop/src/parse.rs", "old_string": "fast", "new_string": "safe"}}]);
    let result = serde_json::json!([{"type": "tool_result", "tool_use_id": "t1", "content": "updated"}]);
    let kept = serde_json::json!({"filePath": "/code/shop/src/parse.rs", "structuredPatch": [
        {"oldStart": 7, "oldLines": 3, "newStart": 7, "newLines": 3, "lines": [" fn parse() {", "-    fast", "+    safe", " }"]}]});
    let commit = serde_json::json!([{"type": "tool_use", "id": "t2", "name": "Bash", "input": {"command": "git commit -am safe"}}]);
    let committed = serde_json::json!([{"type": "tool_result", "tool_use_id": "t2", "content": "done"}]);
    let stdout = serde_json::json!({"stdout": "[main 4be1f0c] Take the safe parser, which reads nested input of any depth without an overflow\n 1 file changed"});
    let lines = [
        line("user", PROMPT.into(), none()),
        line("assistant", text(ANSWER), none()),
        line("user", "Then take the safe one.".into(), none()),
        line("assistant", edit, none()),
        line("user", result, kept),
        line("assistant", commit, none()),
        line("user", committed, stdout),
        line("assistant", text("It is **taken**."), none()),
    ];
    home.write(&format!(".claude/projects/-code-shop/{SESSION}.jsonl"), lines.concat());
    home
}

/// The screen of a terminal of so many columns after a command.
fn screen(home: &ScratchHome, typed: &str, columns: u16, variables: &[(&str, &str)]) -> String {
    // The five lines of a first command are for another test.
    home.write(".backstory/welcomed", "");
    let mut command = home.command("sh");
    command.args(["-c", &format!("'{PROGRAM}' {typed}; echo left with $?; exec cat")]);
    command.env("TERM", "xterm-256color").env("PAGER", "cat").envs(variables.iter().copied());
    let terminal = Terminal::run(&command, columns, 120);
    terminal.until(|screen| screen.contains("left with "));
    terminal.screen().trim_end().to_owned()
}

/// What a command writes into a pipe.
fn piped(home: &ScratchHome, arguments: &[&str], variables: &[(&str, &str)]) -> String {
    let mut command = home.command(PROGRAM);
    let output = command.args(arguments).envs(variables.iter().copied()).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn markdown_is_rendered_on_terminals_of_every_width() {
    let home = home();
    for columns in [60, 80, 120] {
        let screen = screen(&home, "show 7ab1e000", columns, &[]);
        insta::assert_snapshot!(format!("reading_in_{columns}_columns"), screen);
    }
}

#[test]
fn without_colours_it_stays_as_it_was_written() {
    let home = home();
    for plain in
        [piped(&home, &["show", "7ab1e000"], &[]), screen(&home, "show 7ab1e000", 120, &[("NO_COLOR", "1")])]
    {
        for whole in [
            "| `serde_json` | 1,256 MB/s |",
            "```rust",
            "1. **Add** the dependency",
            "[the notes](docs/parsers.md)",
        ] {
            assert!(plain.contains(whole), "{whole}: {plain}");
        }
        assert!(!plain.contains('\u{1b}'), "{plain:?}");
    }
}

#[test]
fn code_has_the_colours_of_its_language_and_nothing_else_controls_the_terminal() {
    let text = piped(&home(), &["show", "7ab1e000"], &[("CLICOLOR_FORCE", "1")]);
    assert!(
        text.contains("\u{1b}[35mlet\u{1b}[0m") && text.contains("\u{1b}[32m\"{}\"\u{1b}[0m"),
        "{text:?}"
    );
    assert!(text.contains("Compare the **three** parsers:\n# and keep this line as it is"), "{text:?}");
    // Only styles: what the answer holds of control sequences is gone.
    let sequences = text
        .split('\u{1b}')
        .skip(1)
        .map(|rest| rest.find(|c: char| c.is_ascii_alphabetic()).map(|at| &rest[at..=at]));
    assert!(sequences.into_iter().all(|end| end == Some("m")), "{text:?}");
}

#[test]
fn changes_are_shown_where_they_were_made() {
    let home = home();
    for columns in [60, 80, 120] {
        let screen = screen(&home, "show 7ab1e000 --last --diff", columns, &[]);
        insta::assert_snapshot!(format!("reading_diffs_in_{columns}_columns"), screen);
    }
    let json = piped(&home, &["show", "7ab1e000", "--diff", "--json"], &[]);
    let answer: serde_json::Value = serde_json::from_str(&json).unwrap();
    let inputs: Vec<&str> = answer["messages"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|message| message["parts"].as_array().unwrap())
        .filter_map(|part| part["input"].as_str())
        .collect();
    assert_eq!(inputs, ["src/parse.rs\n@@ -7,3 +7,3 @@\n fn parse() {\n-    fast\n+    safe\n }"]);
}

#[test]
fn the_last_turn_begins_with_what_was_asked_last() {
    let home = home();
    let said = |arguments: &[&str]| {
        let text = piped(&home, arguments, &[]);
        ["Compare", "Then take", "taken"].map(|words| text.split_once("\n\n").unwrap().1.contains(words))
    };
    assert_eq!(said(&["show", "7ab1e000", "--last"]), [false, true, true]);
    assert_eq!(said(&["show", "7ab1e000", "--last", "1"]), [false, false, true]);
    assert_eq!(said(&["show", "7ab1e000", "--last", "--diff"]), [false, true, true]);
    assert_eq!(said(&["show", "7ab1e000", "--last", "2", "--diff"]), [false, false, true]);
}

#[test]
fn words_choose_messages_and_are_marked_with_their_places() {
    let home = home();
    let text = piped(&home, &["show", "7ab1e000", "safe", "one"], &[("CLICOLOR_FORCE", "1")]);
    assert!(text.contains("7ab1e000:3"), "{text:?}");
    assert!(
        text.contains("Then take the \u{1b}[1m\u{1b}[33msafe\u{1b}[0m \u{1b}[1m\u{1b}[33mone\u{1b}[0m."),
        "{text:?}"
    );
    let (_, messages) = text.split_once("\n\n").unwrap();
    assert!(!messages.contains("Compare"), "{text:?}");
}

/// What the last search on the terminal found at a place is marked where the place is opened.
#[test]
fn what_was_searched_for_is_marked_at_its_place() {
    let home = home();
    let mut command = home.command("sh");
    let search = format!("'{PROGRAM}' search overflows");
    let show = format!("CLICOLOR_FORCE=1 '{PROGRAM}' show @1 > shown");
    command
        .args(["-c", &format!("{search}; {show}; echo left with $?; exec cat")])
        .env("TERM", "xterm-256color");
    command.current_dir(home.path());
    let terminal = Terminal::run(&command, 80, 50);
    terminal.until(|screen| screen.contains("left with 0"));
    let shown = String::from_utf8(testkit::files::bytes(&home.path().join("shown"))).unwrap();
    assert!(shown.contains("▶ line 2") && shown.contains("\u{1b}[33moverflows\u{1b}[0m"), "{shown:?}");
}

/// What the first screen of `less` shows of a session, by a program of this name.
fn first_screen(home: &ScratchHome, arguments: &[&str]) -> String {
    const LESS: &str = "#!/bin/sh\nplace=${LESS##* }\ncase \"$place\" in\n+G) tail -n 5 ;;\n+*g) n=${place#+}; tail -n \"+${n%g}\" | head -n 5 ;;\n*) head -n 5 ;;\nesac\n";
    let pager = home.dir("bin").join("less");
    std::fs::write(&pager, LESS).unwrap();
    std::fs::set_permissions(&pager, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut shell = home.command("sh");
    shell.args(["-c", &format!("{PROGRAM} show {}; echo done; read wait", arguments.join(" "))]);
    shell.env("TERM", "xterm-256color").env("PAGER", format!("{} -R", pager.display()));
    let terminal = Terminal::run(&shell, 80, 24);
    terminal.until(|screen| screen.contains("done"));
    terminal.screen()
}

#[test]
fn a_pager_opens_at_the_cited_line_and_at_the_end() {
    let home = ScratchHome::new();
    let mut session = Transcript::new(SESSION).prompt("Count");
    for number in 1..=60 {
        session = session.answer(&format!("number {number}")).prompt("Go on");
    }
    session.write_to(&home);
    assert!(first_screen(&home, &[SESSION]).contains("Count"));
    let place = format!("{SESSION}:40");
    for more in [&[][..], &["--tools"]] {
        let cited = first_screen(&home, &[&[&*place], more].concat());
        assert!(cited.contains("▶ line 40") && cited.contains("number 20"), "{cited}");
    }
    let refused = first_screen(&home, &[&place, "--last"]);
    assert!(refused.contains("ask for the last messages alone"), "{refused}");
    let end = first_screen(&home, &[SESSION, "--at-end"]);
    assert!(end.contains("number 60"), "{end}");
}

#[test]
fn the_picker_previews_and_reads_the_same() {
    let home = home();
    let mut command = home.command(PROGRAM);
    command.env("TERM", "xterm-256color").env("PAGER", "cat");
    let terminal = Terminal::run(&command, 80, 60);
    terminal.until(|screen| screen.contains("1 session ·"));
    terminal.key("overflows");
    terminal.until(|screen| {
        screen.contains("> overflows") && screen.contains("line 2") && screen.contains("─┼─")
    });
    terminal.key("C-o");
    terminal.until(|screen| screen.contains("to go back") && screen.contains("─┼─"));
    assert!(
        terminal.screen().contains("▶ line 2") && !terminal.screen().contains("```"),
        "{}",
        terminal.screen()
    );
    terminal.key("q");
    terminal.until(|screen| screen.contains("> overflows"));
}

//! The picker on a real terminal: found by typing, looked at, read, and left without a trace.

use testkit::{ScratchHome, Terminal};

const PROGRAM: &str = env!("CARGO_BIN_EXE_backstory");

/// The program in a terminal of this size, on the demo.
fn demo(home: &ScratchHome, arguments: &[&str], (width, height): (u16, u16)) -> Terminal {
    let mut command = home.command(PROGRAM);
    command.args(arguments).arg("--demo").env("TERM", "xterm-256color").env("PAGER", "cat");
    Terminal::run(&command, width, height)
}

fn lines(screen: &str) -> Vec<&str> {
    screen.lines().map(str::trim_end).collect()
}

#[test]
fn a_session_is_found_by_typing_and_read_at_its_place() {
    let home = ScratchHome::new();
    let terminal = demo(&home, &[], (80, 50));
    terminal.until(|screen| screen.contains("10 sessions · all projects"));
    // What is no key is typed as it is.
    terminal.key("clock skew");
    terminal.until(|screen| {
        lines(screen).iter().any(|line| line.starts_with('▌') && line.contains("clock skew"))
    });
    // The preview has the words of the conversation.
    terminal.until(|screen| screen.contains("You\n") || screen.contains(" Claude"));
    terminal.key("C-o");
    terminal.until(|screen| screen.contains("Assistant") && screen.contains("to go back"));
    terminal.key("Enter");
    terminal.until(|screen| screen.contains("> clock skew"));
    terminal.key("C-y");
    terminal.until(|screen| screen.contains("copied 1ba1de03"));
    terminal.resize(60, 20);
    terminal.until(|screen| lines(screen).contains(&"─".repeat(60).as_str()));
    terminal.key("Escape");
    terminal.until(|screen| screen.contains("10 sessions"));
    terminal.key("?");
    terminal.until(|screen| screen.contains("clear the question, then quit"));
}

#[test]
fn a_question_may_be_given_and_filters_count() {
    let home = ScratchHome::new();
    let terminal = demo(&home, &["search", "-i", "token", "project:harbor-api"], (120, 30));
    terminal.until(|screen| screen.contains("> token project:harbor-api") && screen.contains("▌"));
    assert!(!terminal.screen().contains("tidepool"), "{}", terminal.screen());
    let nothing = demo(&home, &["search", "-i", "walrus"], (80, 24));
    nothing.until(|screen| screen.contains("No matches. Try fewer or other words."));
}

#[test]
fn show_without_an_id_reads_what_is_chosen() {
    let home = ScratchHome::new();
    let mut shell = home.command("sh");
    shell.args(["-c", &format!("'{PROGRAM}' show --demo; echo left with $?; exec cat")]);
    shell.env("TERM", "xterm-256color").env("PAGER", "cat");
    let terminal = Terminal::run(&shell, 80, 40);
    terminal.until(|screen| screen.contains("Enter read") && screen.contains('▌'));
    terminal.key("Enter");
    terminal.until(|screen| screen.contains("left with 0"));
    assert!(terminal.screen().contains("User"), "{}", terminal.screen());
    let terminal = Terminal::run(&shell, 80, 40);
    terminal.until(|screen| screen.contains("Enter read") && screen.contains('▌'));
    terminal.key("C-c");
    terminal.until(|screen| screen.trim() == "left with 0");
}

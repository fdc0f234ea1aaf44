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
fn what_is_pasted_is_one_line_and_chooses_nothing() {
    let home = ScratchHome::new();
    let terminal = demo(&home, &[], (80, 24));
    terminal.until(|screen| screen.contains("10 sessions · all projects"));
    terminal.paste("clock\nskew\n");
    terminal.until(|screen| screen.contains("> clock skew█") && !screen.contains("… ·"));
    assert!(terminal.has_another_screen(), "{}", terminal.screen());
}

#[test]
fn the_word_that_is_typed_is_the_beginning_of_one() {
    let home = ScratchHome::new();
    let terminal = demo(&home, &[], (80, 24));
    terminal.until(|screen| screen.contains("10 sessions · all projects"));
    terminal.key("cloc");
    terminal.until(|screen| screen.contains("> cloc█") && screen.contains("with clock skew"));
    terminal.key("C-u");
    terminal.key("since:blah clock");
    terminal.until(|screen| screen.contains("`blah` is not a valid time"));
    assert!(!terminal.screen().contains("Try fewer"), "{}", terminal.screen());
}

#[test]
fn a_question_may_be_given_and_filters_count() {
    let home = ScratchHome::new();
    let terminal = demo(&home, &["search", "-i", "token", "project:harbor-api"], (120, 30));
    terminal.until(|screen| screen.contains("> token project:harbor-api") && screen.contains("▌"));
    assert!(!terminal.screen().contains("tidepool"), "{}", terminal.screen());
    // A filter that is being typed takes nothing away until something passes it.
    for (filter, why) in [
        ("project:harb", "nothing passes `project:harb` yet; this is without it"),
        ("since:", "nothing passes `since:` yet; this is without it"),
        ("since:2026-0", "`2026-0` is not a valid time; this is without it"),
    ] {
        let typed = demo(&home, &["search", "-i", "token", filter], (120, 30));
        typed.until(|screen| screen.contains(why) && screen.contains('▌'));
    }
    let nothing = demo(&home, &["search", "-i", "walrus"], (80, 24));
    nothing.until(|screen| screen.contains("No matches. Try fewer or other words."));
}

#[test]
fn what_there_is_to_say_about_an_answer_is_above_it() {
    let home = ScratchHome::new();
    let terminal = demo(&home, &["search"], (80, 24));
    terminal.until(|screen| screen.contains("10 sessions · all projects"));
    terminal.key("#harbor-api");
    terminal.until(|screen| screen.contains("> #harbor-api") && screen.contains("5 sessions · all projects"));
    assert!(terminal.screen().contains("F1 help"), "? would be typed: {}", terminal.screen());
    let row = lines(&terminal.screen())[1].to_owned();
    assert!(row.starts_with('▌') && row.contains("~$"), "the cost is known while searching: {row}");
    terminal.key("Escape");
    terminal.until(|screen| screen.contains("10 sessions"));
    terminal.key("token gpg");
    terminal.until(|screen| screen.contains("Nothing has `gpg` beside the words before it."));
    terminal.key("Space");
    terminal.until(|screen| screen.contains("No session has the word `gpg`."));
    terminal.key("C-u");
    terminal.key("M-b");
    terminal.key("most expensive session");
    terminal.until(|screen| {
        screen.contains("`expensive` looks like a question about costs: backstory cost --by")
    });
    assert!(terminal.screen().contains("> most expensive session█"), "{}", terminal.screen());
    terminal.key("C-t");
    terminal.until(|screen| screen.contains("no process has it open"));
}

#[test]
fn a_shell_in_its_directory_comes_back_to_the_picker() {
    let home = ScratchHome::new();
    let shop = home.dir("shop");
    testkit::Transcript::new("5ec2e700-0f3c-4d0e-8a51-1c7d2b9e4a60")
        .cwd(&shop)
        .prompt("count the walrus colony")
        .answer("Forty.")
        .write_to(&home);
    let mut command = home.command(PROGRAM);
    command.env("TERM", "xterm-256color").env("SHELL", "/bin/sh").env("PS1", "in-$PWD-now ");
    let terminal = Terminal::run(&command, 100, 24);
    terminal.until(|screen| screen.contains("1 session") && screen.contains("Forty."));
    terminal.key("C-g");
    terminal.until(|screen| screen.contains("exit comes back"));
    terminal.type_line("pwd; exit");
    terminal.until(|screen| screen.contains("1 session ·"));
    std::fs::remove_dir(&shop).unwrap();
    terminal.key("C-g");
    terminal.until(|screen| screen.contains("is gone"));
}

/// Such as the shell of Emacs: it would show the codes that move the cursor as text.
#[test]
fn a_terminal_that_only_prints_lines_has_no_screen_and_no_pager() {
    let home = ScratchHome::new();
    let printed = |arguments: &str| {
        let mut shell = home.command("sh");
        let line = format!("'{PROGRAM}' {arguments} --demo; echo left with $?; exec cat");
        shell.args(["-c", &line]).env("TERM", "dumb").env("PAGER", "echo paged");
        let terminal = Terminal::run(&shell, 80, 60);
        terminal.until(|screen| screen.contains("left with"));
        terminal.screen()
    };
    let help = printed("");
    assert!(help.contains("Usage: backstory") && help.contains("left with 2"), "{help}");
    let handoff = printed("handoff");
    assert!(handoff.contains("this terminal cannot show a screen"), "{handoff}");
    let whole = printed("show 1ba1de03 --tools --thinking");
    assert!(whole.contains("left with 0") && !whole.contains("paged"), "{whole}");
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
    terminal.until(|screen| screen.trim() == "left with 130");
}

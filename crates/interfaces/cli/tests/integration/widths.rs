//! What the commands print on terminals of 60, 80 and 120 columns, in a home with long names: whole screens, in which no
//! word is broken.

use serde_json::json;
use testkit::{Claude, ScratchHome, Terminal, Transcript};

const PROGRAM: &str = env!("CARGO_BIN_EXE_backstory");
const ROTATE: &str = "a1b2c3d4-0001-4000-8000-000000000001";
const PHONES: &str = "b2c3d4e5-0002-4000-8000-000000000002";
const SLIDING: &str = "c3d4e5f6-0003-4000-8000-000000000003";

/// The screens: a name, and the words of the command.
const SCREENS: [(&str, &str); 21] = [
    ("list", "list"),
    ("search", "search refresh token"),
    ("search_filter", "search project:harbor-api role:user"),
    (
        "search_hint",
        "search flaky test of the gateway on branch feat/rotate-the-refresh-token-of-the-gateway",
    ),
    ("search_all_hits", "search refresh token --all-hits"),
    ("search_grep", "search --grep refresh"),
    ("fork", "fork refresh token --limit 3"),
    ("cost_month", "cost --by month"),
    ("cost_branch", "cost --by branch"),
    ("cost_project", "cost --by project"),
    ("cost_session", "cost --by session"),
    ("cost_blocks", "cost --blocks"),
    ("pick", "pick rotate the refresh token of the gateway again"),
    ("pick_why_not", "pick --why-not a1b2c3d4"),
    ("status", "status"),
    ("day", "day 2020-02-03"),
    ("handoff", "handoff a1b2c3d4"),
    ("prompts", "show a1b2c3d4 --prompts"),
    ("workers", "workers"),
    ("tags", "tag"),
    ("forget", "forget --before 2021-01-01 --dry-run"),
];

/// The screens about a session that changed files, was compacted, and whose directory may be gone.
const CHANGES: [(&str, &str); 12] = [
    ("show", "show d4e5f6a7"),
    ("show_tools", "show d4e5f6a7 --tools"),
    ("show_commands", "show d4e5f6a7 --commands"),
    ("diff", "diff d4e5f6a7 --stat"),
    ("blame", "blame refresh_token_rotation.rs"),
    ("before", "before d4e5f6a7"),
    ("resume", "resume d4e5f6a7 --print"),
    ("resume_gone", "resume e5f6a7b8 --print"),
    ("heal", "heal --dry-run"),
    ("cron", "cron list"),
    ("hooks", "hooks status"),
    ("archive", "archive --status"),
];

/// The screens that name places in a session whose id begins with a date.
const DATED: [(&str, &str); 6] = [
    ("dated_day", "day 2020-02-03"),
    ("dated_blame", "blame refresh_token_rotation.rs"),
    ("dated_before", "before 02-03-d4e5f6a7"),
    ("dated_handoff", "handoff 02-03-d4e5f6a7"),
    ("dated_prompts", "prompts"),
    ("dated_search", "search refresh token"),
];

/// Three sessions with long titles, projects of one name, and a long branch.
fn home() -> ScratchHome {
    let home = ScratchHome::new();
    let work = home.repository("work/harbor-api").path().to_owned();
    let other = home.dir("else/harbor-api");
    Transcript::new(ROTATE)
        .cwd(&work)
        .branch("feat/rotate-the-refresh-token-of-the-gateway")
        .at("2020-02-03T10:00:00Z")
        .prompt("Rotate the refresh token of the gateway when it is used twice by the same client within one minute")
        .answer("The refresh token is rotated now; a second use within a minute revokes the whole family of tokens.")
        .prompt("and the tests?")
        .answer("All tests of the refresh token pass. Still open: the clock skew of mobile clients.")
        .write_to(&home);
    Transcript::new(PHONES)
        .cwd(&work)
        .branch("main")
        .at("2020-03-01T10:00:00Z")
        .prompt("Why does the refresh token expire early on phones?")
        .answer(
            "The clock of the phone is ahead; the token refresh compares it with the clock of the gateway.",
        )
        .write_to(&home);
    Transcript::new(SLIDING)
        .cwd(other)
        .branch("main")
        .at("2020-01-02T10:00:00Z")
        .prompt("Implement the following plan:\n\n# Sliding sessions instead of rotation of the refresh token for all clients")
        .answer("Sliding sessions keep one refresh token. Decided: we keep rotation.")
        .write_to(&home);
    home
}

/// A session that changed files and was compacted, and one whose directory is gone.
fn changed() -> ScratchHome {
    let home = ScratchHome::new();
    compacted(&home, "d4e5f6a7-0004-4000-8000-000000000004");
    Transcript::new("e5f6a7b8-0005-4000-8000-000000000005")
        .cwd(home.path().join("work/.worktrees/feat/rotate-the-refresh-token-of-the-gateway"))
        .branch("main")
        .at("2020-03-01T10:00:00Z")
        .prompt("Why does the refresh token expire early on phones?")
        .answer("The clock of the phone is ahead.")
        .write_to(&home);
    home
}

/// Writes a session that changed a file and was compacted.
fn compacted(home: &ScratchHome, id: &str) {
    let work = home.repository("work/harbor-api").path().to_owned();
    let file = work.join("src/gateway/tokens/refresh_token_rotation.rs");
    let edit = json!({"file_path": file, "old_string": "fn rotate() {}", "new_string": "fn rotate() {\n    revoke();\n}"});
    Transcript::new(id)
        .cwd(&work)
        .branch("feat/rotate-the-refresh-token-of-the-gateway")
        .at("2020-02-03T10:00:00Z")
        .prompt("Rotate the refresh token of the gateway when it is used twice by the same client within one minute")
        .tool("Edit", edit, "The file was updated.")
        .answer("The refresh token is rotated now; a second use within a minute revokes the whole family of tokens.")
        .compaction("The refresh token is rotated. Open: the clock skew of mobile clients.")
        .prompt("and the tests?")
        .tool("Bash", json!({"command": "cargo test refresh_token", "description": "Run the tests of the token"}), "ok")
        .answer("All tests of the refresh token pass. Still open: the clock skew of mobile clients.")
        .write_to(home);
}

/// What a command prints on a terminal of this width, without what changes from day to day.
fn printed(home: &ScratchHome, command: &str, width: u16) -> String {
    let path = format!("{}:/usr/bin:/bin", home.path().join("bin").display());
    let mut shell = home.command("sh");
    let script = format!("'{PROGRAM}' {command} 2>&1 </dev/null; echo; echo END-OF-OUTPUT; exec cat");
    shell.args(["-c", &script]).current_dir(home.path().join("work/harbor-api"));
    shell.env("TERM", "xterm-256color").env("PAGER", "cat").env("TZ", "UTC").env("PATH", path);
    let terminal = Terminal::run(&shell, width, 60);
    terminal.until(|screen| screen.contains("END-OF-OUTPUT"));
    let screen = terminal.screen();
    let screen = screen.split("END-OF-OUTPUT").next().unwrap_or_default();
    // A scratch home's name is always as long, and so is what stands for a date or an age.
    let name = home.path().file_name().unwrap_or_default().to_string_lossy().into_owned();
    let screen = screen.replace(&name, "home-000000").replace("   2 Jan  First", "    then  First");
    let screen = screen.replace("  Jan’26  First", "    then  First");
    let years = (5..40).map(|years| format!(" {years}y "));
    let screen = years.fold(screen, |screen, years| screen.replace(&years, &" ".repeat(years.len())));
    let priced =
        |line: &str| line.split(" with the prices of ").next().unwrap_or_default().trim_end().to_owned();
    screen.lines().map(priced).collect::<Vec<_>>().join("\n").trim_end().to_owned()
}

fn check(width: u16) {
    check_all(width, [(home(), &SCREENS[..]), (changed(), &CHANGES[..])]);
}

fn check_all<const N: usize>(width: u16, homes: [(ScratchHome, &[(&str, &str)]); N]) {
    for (home, screens) in homes {
        Claude::newest().install(&home);
        // What is said once is said here.
        printed(&home, "search anything", width);
        for (name, command) in screens {
            insta::assert_snapshot!(format!("{name}_{width}"), printed(&home, command, width));
        }
    }
}

#[test]
fn sixty_columns() {
    check(60);
}

#[test]
fn sixty_columns_with_ids_that_begin_with_a_date() {
    let home = ScratchHome::new();
    compacted(&home, "2020-02-03-d4e5f6a7-0004-4000-8000-000000000004");
    check_all(60, [(home, &DATED[..])]);
}

#[test]
fn eighty_columns() {
    check(80);
}

#[test]
fn a_hundred_and_twenty_columns() {
    check(120);
}

#[test]
fn words_open_the_picker_where_they_mean_several_sessions() {
    let home = home();
    for (command, does) in [("resume", "Enter resume"), ("fork", "Enter fork")] {
        let mut shell = home.command("sh");
        shell.args(["-c", &format!("'{PROGRAM}' {command} refresh token; echo left with $?; exec cat")]);
        shell.env("TERM", "xterm-256color").env("PAGER", "cat");
        let terminal = Terminal::run(&shell, 80, 24);
        terminal.until(|screen| screen.contains("> refresh token") && screen.contains(does));
        terminal.until(|screen| screen.contains("Why does the refresh token expire"));
        terminal.key("C-c");
        terminal.until(|screen| screen.trim() == "left with 130");
    }
}

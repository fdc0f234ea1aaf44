//! Completions, keys and manual pages in the real bash, zsh and fish.

use std::fs;
use std::process::Command;

use testkit::files::bytes;
use testkit::{ScratchHome, Terminal};

const PROGRAM: &str = env!("CARGO_BIN_EXE_backstory");

/// A home whose `PATH` has the program first.
fn home() -> ScratchHome {
    let home = ScratchHome::new();
    std::os::unix::fs::symlink(PROGRAM, home.path().join("bin/backstory")).unwrap();
    home
}

fn shell(home: &ScratchHome, program: &str, arguments: &[&str]) -> Command {
    let mut command = home.command(program);
    // Not the null device: root's shells would put a file in its place.
    command
        .args(arguments)
        .env("TERM", "xterm-256color")
        .env("HISTFILE", home.path().join("history"))
        .env("LANG", "C.UTF-8");
    command
}

/// What a shell prints for a script.
fn printed(home: &ScratchHome, program: &str, script: &str) -> String {
    let output = shell(home, program, &["-c", script]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{program}: {text}{}", String::from_utf8_lossy(&output.stderr));
    text
}

/// What bash offers after a line.
fn in_bash(home: &ScratchHome, line: &str) -> Vec<String> {
    let words: Vec<String> = line.split(' ').map(|word| format!("'{word}'")).collect();
    let (last, count) = (words.len() - 1, words[words.len() - 1].clone());
    let script = format!(
        "set -e; eval \"$(backstory init bash)\"; COMP_WORDS=({}); COMP_CWORD={last}; COMP_TYPE=9; \
         _clap_complete_backstory backstory {count} x 2>/dev/null; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        words.join(" ")
    );
    printed(home, "bash", &script).lines().map(str::to_owned).collect()
}

#[test]
fn what_is_known_is_completed() {
    let home = home();
    let check = |line: &str, expected: &[&str]| {
        let found = in_bash(&home, line);
        assert!(expected.iter().all(|one| found.iter().any(|other| other == one)), "{line}: {found:?}");
        found
    };
    check("backstory co", &["cost", "completions"]);
    check("backstory --demo show 1ba1", &["1ba1de03"]);
    assert_eq!(in_bash(&home, "backstory --demo resume 1ba1de03-").len(), 1);
    check("backstory --demo list --project h", &["harbor-api"]);
    check("backstory --demo cost --by a", &["agent-type"]);
    assert!(check("backstory --demo list --branch ", &[]).len() > 1);
    let all = check("backstory --demo diff ", &["1ba1de03"]);
    assert!(all.len() >= 10, "{all:?}");
    let dated = testkit::Transcript::new("2026-01-06-488c5296-90df-4d30-8fdf-0bfe301b8f3e");
    dated.cwd(home.dir("shop")).prompt("Rotate it").answer("Done.").write_to(&home);
    check("backstory show 01-06-4", &["01-06-488c5296"]);
    // Nothing is said where nothing is known.
    assert_eq!(in_bash(&home, "backstory show zzz").join(""), "");
    // Tags that a person gave.
    let tagged = home.command(PROGRAM).args(["tag", "01-06-488c5296", "release"]).status().unwrap();
    assert!(tagged.success());
    check("backstory list --tag r", &["release"]);
}

#[test]
fn fish_and_zsh_describe_what_they_offer() {
    let home = home();
    let found =
        printed(&home, "fish", "backstory init fish | source; complete -C 'backstory --demo show 1ba1'");
    let line = found.lines().find(|line| line.starts_with("1ba1de03")).unwrap_or_else(|| panic!("{found}"));
    assert!(line.contains("harbor-api"), "{found}");
    let zsh = shell(&home, "zsh", &["-f", "-i"]);
    let terminal = Terminal::run(&zsh, 160, 40);
    terminal.type_line(
        "PROMPT='ready> '; autoload -Uz compinit; compinit -u -D; eval \"$(backstory init zsh)\"; clear",
    );
    terminal.key("Enter");
    terminal.until(|screen| screen.trim_start().starts_with("ready>"));
    terminal.key("backstory --demo show 1ba1");
    terminal.key("Tab");
    terminal.until(|screen| screen.contains("show 1ba1de03"));
    terminal.key("C-u");
    terminal.key("backstory --demo show ");
    terminal.key("Tab");
    terminal.key("Tab");
    terminal.until(|screen| screen.contains(" -- Fix token refresh") && screen.contains("(harbor-api, "));
}

/// Opens a shell in which `backstory` means the demo.
fn interactive(home: &ScratchHome, program: &str, arguments: &[&str], setup: &str) -> Terminal {
    let wrapper = home.path().join("bin/backstory");
    fs::remove_file(&wrapper).unwrap();
    fs::write(&wrapper, format!("#!/bin/sh\nexec '{PROGRAM}' --demo \"$@\"\n")).unwrap();
    fs::set_permissions(&wrapper, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let terminal = Terminal::run(&shell(home, program, arguments), 120, 30);
    terminal.type_line(setup);
    terminal.until(|screen| screen.trim_start().starts_with("ready>"));
    terminal
}

/// Both keys put on the line what is chosen, and run nothing.
fn keys_choose(terminal: &Terminal, quote: &str) {
    terminal.key("M-j");
    terminal.until(|screen| screen.contains("10 sessions"));
    terminal.key("clock skew");
    terminal.until(|screen| screen.lines().any(|line| line.starts_with('▌') && line.contains("clock skew")));
    terminal.key("Enter");
    terminal.until(|screen| screen.contains("ready> backstory resume 1ba1de03-"));
    terminal.key("C-u");
    terminal.until(|screen| !screen.contains("resume"));
    terminal.key("M-r");
    terminal.until(|screen| screen.contains(" prompts · all projects"));
    terminal.key("different idea");
    terminal.until(|screen| screen.contains("  1 prompt · all projects"));
    terminal.key("Enter");
    terminal.until(|screen| screen.contains(&format!("ready> claude {quote}")));
    // Leaving changes nothing.
    terminal.key("C-u");
    terminal.key("M-j");
    terminal.until(|screen| screen.contains("10 sessions"));
    terminal.key("C-c");
    terminal.until(|screen| {
        screen.lines().rfind(|line| !line.trim().is_empty()).is_some_and(|line| line.trim() == "ready>")
    });
}

#[test]
fn keys_in_bash() {
    let home = home();
    let setup = "PS1='ready> '; eval \"$(backstory init bash)\"; clear";
    keys_choose(&interactive(&home, "bash", &["--norc", "--noprofile", "-i"], setup), "'");
}

#[test]
fn keys_in_zsh() {
    let home = home();
    let setup = "PROMPT='ready> '; eval \"$(backstory init zsh)\"; clear";
    keys_choose(&interactive(&home, "zsh", &["-f", "-i"], setup), "'");
}

#[test]
fn keys_in_fish() {
    let home = home();
    let setup = "function fish_prompt; echo -n 'ready> '; end; backstory init fish | source; clear";
    keys_choose(&interactive(&home, "fish", &["-N", "-i"], setup), "");
}

#[test]
fn manual_pages_are_for_man() {
    let home = home();
    let folder = home.path().join("man/man1");
    let output = home.command(PROGRAM).arg("man").arg(&folder).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let page = |name: &str| String::from_utf8(bytes(&folder.join(name))).unwrap();
    assert!(page("backstory.1").contains("backstory\\-search(1)"));
    assert!(page("backstory-search.1").contains("\\-\\-project"));
    assert!(!folder.join("backstory-choose.1").exists(), "hidden commands have no page");
    let command = home.command(PROGRAM).args(["man", "/dev/null/man1"]).output().unwrap();
    assert_eq!(command.status.code(), Some(1));
}

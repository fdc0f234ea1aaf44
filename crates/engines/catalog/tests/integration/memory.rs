//! Memory while files with long lines are read on several threads: a child process reads them and says the most it
//! held.

#![allow(clippy::unwrap_used, reason = "a scratch folder that cannot be made fails the test")]
#![expect(
    clippy::disallowed_methods,
    reason = "the child is recognised by its environment, and asks /proc about itself"
)]

use std::fs;
use std::path::Path;
use std::process::Command;

use catalog::{Detail, Locations, read};
use transcript::ConfigFolder;

const FOLDER: &str = "BACKSTORY_TEST_CATALOG";
const MEBIBYTE: usize = 1 << 20;

/// The other process; in the ordinary run, where no folder is named, there is nothing to do.
#[test]
fn child() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    let config_folders = vec![ConfigFolder::new(Path::new(&folder))];
    let found =
        read(&Locations { config_folders, threads: 4, ..Locations::default() }, Detail::Spending, |_| true);
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    println!("\nread: {} {}", found.sessions.len(), peak.trim().trim_end_matches(" kB"));
}

/// The most memory in MiB that reading four sessions of one such line takes.
fn peak(line: &str) -> u64 {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().join("projects/-p");
    fs::create_dir_all(&folder).unwrap();
    for session in 0..4 {
        fs::write(folder.join(format!("s{session}.jsonl")), line).unwrap();
    }
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "memory::child", "--nocapture"]).env(FOLDER, scratch.path());
    let said = String::from_utf8(child.output().unwrap().stdout).unwrap();
    let describe_scalars = said.lines().find_map(|line| line.strip_prefix("read: ")).unwrap();
    let (sessions, peak) = describe_scalars.split_once(' ').unwrap();
    assert_eq!(sessions, "4");
    peak.parse::<u64>().unwrap() / 1024
}

fn prompt(content: &str) -> String {
    format!("{{\"type\":\"user\",\"uuid\":\"u\",\"message\":{{\"role\":\"user\",\"content\":{content}}}}}\n")
}

#[test]
fn long_lines_are_held_one_at_a_time() {
    let blocks = r#"{"type":"text","text":"a"},"#;
    let peak_of_blocks = peak(&prompt(&format!("[{}{{}}]", blocks.repeat(40 * MEBIBYTE / blocks.len()))));
    assert!(peak_of_blocks < 150, "{peak_of_blocks} MiB");
    let text = peak(&prompt(&format!("\"{}\"", "a\\n".repeat(40 * MEBIBYTE / 3))));
    assert!(text < 220, "{text} MiB");
}

//! Cases made from public reports: `tests/reports` has the inputs, and a list of those that are answered wrongly today.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn cases() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reports")
}

fn names() -> Vec<String> {
    let folders = fs::read_dir(cases()).unwrap().map(|entry| entry.unwrap());
    let mut names: Vec<_> = folders
        .filter(|entry| entry.path().join("run.sh").exists())
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn every_case_is_answered_as_it_is_known_to_be() {
    let known = system::read_small(&cases().join("wrong.txt"), 1 << 16).unwrap();
    let known = String::from_utf8(known).unwrap();
    let names = names();
    assert!(names.len() > 30, "{names:?}");
    for name in names {
        let script = cases().join(&name).join("run.sh");
        let output = Command::new("bash").arg(script).arg(env!("CARGO_BIN_EXE_backstory")).output().unwrap();
        let is_wrong = known.lines().any(|line| line == name);
        let said = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.success(), !is_wrong, "{name}: {said}");
    }
}

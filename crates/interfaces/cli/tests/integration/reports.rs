//! Cases made from public reports: `tests/reports` has the inputs, and what is right of each.

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
fn every_case_is_answered_rightly() {
    let names = names();
    assert!(names.len() > 30, "{names:?}");
    let mut wrong = Vec::new();
    for name in names {
        let script = cases().join(&name).join("run.sh");
        let output = Command::new("bash").arg(script).arg(env!("CARGO_BIN_EXE_backstory")).output().unwrap();
        if !output.status.success() {
            wrong.push(format!("{name}: {}", String::from_utf8_lossy(&output.stdout)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

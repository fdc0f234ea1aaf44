//! Sessions are moved as Claude Code moves them, moved back, and never put over another file.

#![allow(clippy::unwrap_used, reason = "a scratch folder that cannot be made fails the test")]

use std::collections::HashSet;
use std::fs;
use std::io::Write as _;
use std::path::PathBuf;

use archive::{Relocation, forget, relocate, size, undo_relocation};

const LINES: &str = "{\"type\":\"user\",\"uuid\":\"u\",\"cwd\":\"/p/a\"}\n";
const RECORD: &str = "{\"relocatedCwd\":\"/p/b\",\"sessionId\":\"s1\",\"type\":\"relocated\"}\n";

struct Scratch {
    folder: tempfile::TempDir,
}

impl Scratch {
    /// A session of /p/a with a file beside its transcript.
    fn new() -> Self {
        let scratch = Self { folder: tempfile::tempdir().unwrap() };
        scratch.write("-p-a/s1.jsonl", LINES);
        scratch.write("-p-a/s1/tool-results/t.txt", "a result");
        scratch
    }

    fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join("projects").join(path)
    }

    fn archive(&self) -> PathBuf {
        self.folder.path().join("archive")
    }

    fn write(&self, path: &str, content: &str) {
        fs::create_dir_all(self.path(path).parent().unwrap()).unwrap();
        fs::write(self.path(path), content).unwrap();
    }

    fn read(&self, path: &str) -> Option<String> {
        String::from_utf8(system::read_small(&self.path(path), 1 << 20).ok()?).ok()
    }

    fn relocation(&self) -> Relocation {
        Relocation {
            session: "s1".parse().unwrap(),
            from: self.path("-p-a/s1.jsonl"),
            to: self.path("-p-b/s1.jsonl"),
            directory: "/p/b".into(),
        }
    }

    fn relocate(&self) -> Vec<String> {
        let unmoved = relocate(&self.archive(), &[self.relocation()]).unwrap();
        unmoved.into_iter().map(|(_, why)| why).collect()
    }

    #[track_caller]
    fn check_moved(&self) {
        assert_eq!(self.read("-p-b/s1.jsonl").unwrap(), format!("{LINES}{RECORD}"));
        assert_eq!(self.read("-p-b/s1/tool-results/t.txt").unwrap(), "a result");
        assert!(!self.path("-p-a/s1.jsonl").exists() && !self.path("-p-a/s1").exists());
    }
}

#[test]
fn a_session_is_moved_and_moved_back_byte_for_byte() {
    let scratch = Scratch::new();
    assert!(scratch.relocate().is_empty());
    scratch.check_moved();
    assert_eq!(size(&scratch.archive()).versions, 1, "a copy was made first");
    let (moved, unmoved) = undo_relocation(&scratch.archive()).unwrap().unwrap();
    assert_eq!((moved, unmoved), (vec![scratch.relocation()], vec![]));
    assert_eq!(scratch.read("-p-a/s1.jsonl").unwrap(), LINES);
    assert_eq!(scratch.read("-p-a/s1/tool-results/t.txt").unwrap(), "a result");
    assert!(!scratch.path("-p-b/s1.jsonl").exists());
    assert_eq!(undo_relocation(&scratch.archive()).unwrap(), None);
}

#[test]
fn messages_written_after_a_move_survive_its_undo() {
    let scratch = Scratch::new();
    scratch.relocate();
    let mut file = fs::File::options().append(true).open(scratch.path("-p-b/s1.jsonl")).unwrap();
    file.write_all(b"{\"type\":\"assistant\"}\n").unwrap();
    undo_relocation(&scratch.archive()).unwrap();
    let whole = format!("{LINES}{RECORD}{{\"type\":\"assistant\"}}\n");
    assert_eq!(scratch.read("-p-a/s1.jsonl").unwrap(), whole);
}

#[test]
fn two_files_with_one_id_are_left_alone() {
    let scratch = Scratch::new();
    scratch.write("-p-b/s1.jsonl", "another\n");
    let why = scratch.relocate();
    assert!(why.len() == 1 && why[0].contains("never merged"), "{why:?}");
    assert_eq!(scratch.read("-p-a/s1.jsonl").unwrap(), LINES);
    assert_eq!(scratch.read("-p-b/s1.jsonl").unwrap(), "another\n");
}

#[test]
fn a_half_written_last_line_stays_a_line_of_its_own() {
    let scratch = Scratch::new();
    scratch.write("-p-a/s1.jsonl", "{\"type\":\"us");
    scratch.relocate();
    assert_eq!(scratch.read("-p-b/s1.jsonl").unwrap(), format!("{{\"type\":\"us\n{RECORD}"));
}

/// What a process does in one step of a move.
type Step = fn(&Scratch);

/// What a process leaves that is killed after each step of a move.
#[test]
fn a_killed_move_is_finished_by_the_next_call() {
    let note = |scratch: &Scratch| {
        let folder = scratch.archive().join("relocated");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("000001.json"), serde_json::to_vec(&[scratch.relocation()]).unwrap()).unwrap();
    };
    let steps: [Step; 4] = [
        |scratch| scratch.write("-p-a/s1.jsonl", &format!("{LINES}{RECORD}")),
        |scratch| {
            fs::create_dir_all(scratch.path("-p-b")).unwrap();
            fs::rename(scratch.path("-p-a/s1"), scratch.path("-p-b/s1")).unwrap();
        },
        |scratch| fs::hard_link(scratch.path("-p-a/s1.jsonl"), scratch.path("-p-b/s1.jsonl")).unwrap(),
        |scratch| fs::remove_file(scratch.path("-p-a/s1.jsonl")).unwrap(),
    ];
    for done in 0..=steps.len() {
        let scratch = Scratch::new();
        note(&scratch);
        for step in &steps[..done] {
            step(&scratch);
        }
        assert!(relocate(&scratch.archive(), &[]).unwrap().is_empty());
        scratch.check_moved();
        assert!(undo_relocation(&scratch.archive()).unwrap().unwrap().1.is_empty());
        assert_eq!(scratch.read("-p-a/s1.jsonl").unwrap(), LINES, "after {done} steps");
    }
}

#[test]
fn forgotten_sessions_are_removed_from_the_relocation_notes() {
    let scratch = Scratch::new();
    scratch.relocate();
    forget(&scratch.archive(), &HashSet::from(["s1".parse().unwrap()])).unwrap();
    assert_eq!(undo_relocation(&scratch.archive()).unwrap(), None);
    assert_eq!(size(&scratch.archive()).versions, 0);
}

//! Hostile files: what is no transcript is reported, what changes under the reader's hands is noticed later,
//! and nothing waits or fails.

use std::fs;
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode};
use transcript::{Checkpoint, ConfigFolder, FileChange, Reader, Tail};

struct Scratch {
    _folder: tempfile::TempDir,
    config: ConfigFolder,
    project: PathBuf,
}

fn scratch() -> Scratch {
    let folder = tempfile::tempdir().unwrap();
    let config = ConfigFolder::new(folder.path().join(".claude"));
    let project = config.projects().join("-home-ana");
    fs::create_dir_all(&project).unwrap();
    Scratch { _folder: folder, config, project }
}

/// The result of a walk for one entry called `a.jsonl`.
#[track_caller]
fn check(make: impl FnOnce(&Path), expected: &str) {
    let scratch = scratch();
    make(&scratch.project.join("a.jsonl"));
    let found = scratch.config.find(2);
    let says = match (&found.transcripts[..], &found.problems[..]) {
        ([_], []) => "a transcript".to_owned(),
        ([], []) => "nothing".to_owned(),
        ([], [problem]) => problem.what.split(", to ").next().unwrap_or_default().to_owned(),
        _ => format!("{found:?}"),
    };
    assert_eq!(says, expected);
    let opened = Reader::open(&scratch.project.join("a.jsonl"));
    assert_eq!(opened.is_ok(), expected == "a transcript");
}

#[test]
fn entries_that_are_not_transcripts() {
    check(|path| fs::write(path, "{}\n").unwrap(), "a transcript");
    check(|path| fs::write(path, "").unwrap(), "a transcript");
    check(|_| (), "nothing");
    check(|path| fs::create_dir(path).unwrap(), "it is a folder, not a file");
    check(
        |path| rustix::fs::mknodat(CWD, path, FileType::Fifo, Mode::RUSR, 0).unwrap(),
        "it is a pipe, not a file",
    );
    check(|path| drop(std::os::unix::net::UnixListener::bind(path).unwrap()), "it is a socket, not a file");
}

#[test]
fn links_are_not_followed() {
    check(
        |path| symlink("a.jsonl", path).unwrap(),
        "it cannot be read: Too many levels of symbolic links (os error 40)",
    );
    check(
        |path| symlink("gone.jsonl", path).unwrap(),
        "it cannot be read: No such file or directory (os error 2)",
    );
    check(|path| symlink("/etc/passwd", path).unwrap(), "it is a link out of the projects folder");
    check(
        |path| symlink("../../settings.json", path).unwrap(),
        "it cannot be read: No such file or directory (os error 2)",
    );
    // Inside the folder the walk finds the target itself, or a circle.
    check(|path| symlink("..", path).unwrap(), "nothing");
}

/// Who may read all files is not kept out by a mode; for root the file is a transcript like any other.
#[test]
fn a_file_nobody_may_read_is_an_error_when_it_is_opened() {
    let scratch = scratch();
    let path = scratch.project.join("a.jsonl");
    fs::write(&path, "{}\n").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
    assert_eq!(scratch.config.find(2).transcripts.len(), 1, "walking opens nothing");
    match Reader::open(&path) {
        Ok(_) => assert!(rustix::process::geteuid().is_root()),
        Err(error) => assert_eq!(error.kind(), ErrorKind::PermissionDenied),
    }
}

/// A file that can be opened and not be read, for root too: there is nothing at the first address of memory.
#[test]
fn a_file_that_breaks_while_it_is_read_is_an_error() {
    let mut reader = Reader::open(Path::new("/proc/self/mem")).unwrap();
    assert!(reader.next_line().is_err());
    assert_eq!((reader.lines(), reader.offset()), (0, 0));
}

#[test]
fn a_file_that_vanishes_after_its_discovery_is_not_found() {
    let scratch = scratch();
    let path = scratch.project.join("a.jsonl");
    fs::write(&path, "{}\n").unwrap();
    let found = scratch.config.find(2);
    fs::remove_file(&path).unwrap();
    let error = Reader::open(&found.transcripts[0].path).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
}

/// Lines of 100 bytes, more of them than are asked of the file at once.
fn long_file(path: &Path, letter: &str) {
    fs::write(path, format!("{}\n", letter.repeat(99)).repeat(10_000)).unwrap();
}

/// Reads the first line, lets something happen to the file, and reads the rest.
fn read_while(happens: impl FnOnce(&Path)) -> (usize, FileChange) {
    let scratch = scratch();
    let path = scratch.project.join("a.jsonl");
    long_file(&path, "a");
    let mut tail = Tail::open(&path, None).unwrap();
    tail.next_line().unwrap();
    happens(&path);
    let mut lines = 1;
    while let Some(line) = tail.next_line().unwrap() {
        assert_eq!(line.bytes.len(), 99);
        lines += 1;
    }
    let mark: Checkpoint = tail.mark().unwrap();
    (lines, Tail::open(&path, Some(&mark)).unwrap().change())
}

#[test]
fn changes_during_a_read_are_noticed_by_the_next_one() {
    let (lines, change) =
        read_while(|path| fs::OpenOptions::new().write(true).open(path).unwrap().set_len(150).unwrap());
    assert!(lines < 10_000);
    assert_eq!(change, FileChange::Replaced, "cut");

    let (lines, change) = read_while(|path| {
        let other = path.with_extension("new");
        long_file(&other, "b");
        fs::rename(other, path).unwrap();
    });
    assert_eq!((lines, change), (10_000, FileChange::Replaced), "another file in its place");

    let (lines, change) = read_while(|path| long_file(path, "b"));
    assert_eq!((lines, change), (10_000, FileChange::None), "rewritten with other words of the same length");

    let (lines, change) = read_while(|path| {
        let mut file = fs::OpenOptions::new().append(true).open(path).unwrap();
        file.write_all(b"the beginning of a line").unwrap();
    });
    assert_eq!((lines, change), (10_000, FileChange::Appended), "a line in the making");
}

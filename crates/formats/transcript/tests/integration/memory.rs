//! Memory while hostile files are read: a child process reads one and says the most it ever held.

#![expect(
    clippy::disallowed_methods,
    reason = "the child is recognised by its environment, and asks /proc about itself"
)]

use std::fs::{self, File};
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;
use std::process::Command;

use transcript::{LINE_CAP, Reader, Summary, UsageCollector};

const FILE: &str = "BACKSTORY_TEST_READS";
const MEBIBYTE: u64 = 1 << 20;

/// The lines of a file, those too long for us, and the most memory in MiB that reading it took.
struct Read {
    lines: u64,
    too_long: u64,
    peak: u64,
}

/// Reads what `write` has written, in a process of its own.
fn read(write: impl FnOnce(&mut File)) -> Read {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.jsonl");
    write(&mut File::create(&path).unwrap());
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "memory::child", "--nocapture"]).env(FILE, &path);
    let said = String::from_utf8(child.output().unwrap().stdout).unwrap();
    let figures = said.lines().find_map(|line| line.strip_prefix("read: ")).expect(&said);
    let figures: Vec<u64> = figures.split(' ').map(|figure| figure.parse().unwrap()).collect();
    Read { lines: figures[0], too_long: figures[1], peak: figures[2] / 1024 }
}

/// The other process; in the ordinary run, where no file is named, there is nothing to do.
#[test]
fn child() {
    let Some(path) = std::env::var_os(FILE) else { return };
    let mut reader = Reader::open(Path::new(&path)).unwrap();
    let (mut summary, mut spent) = (Summary::new(&"a".parse().unwrap()), UsageCollector::default());
    while let Some(line) = reader.next_line().unwrap() {
        summary.observe(line, &mut spent);
    }
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    println!("\nread: {} {} {}", reader.lines(), reader.too_long(), peak.trim().trim_end_matches(" kB"));
}

#[test]
fn a_line_over_the_cap_is_never_buffered() {
    let read = read(|file| {
        // Sparse: 200 MB that take no room on the disk.
        file.seek(SeekFrom::Start(200 * MEBIBYTE)).unwrap();
        file.write_all(b"\n{\"type\":\"user\"}\n").unwrap();
    });
    assert_eq!((read.lines, read.too_long), (2, 1));
    assert!(read.peak < 100, "{} MiB", read.peak);
}

#[test]
fn a_line_without_an_end_is_never_buffered() {
    let read = read(|file| file.set_len(1024 * MEBIBYTE).unwrap());
    assert_eq!((read.lines, read.too_long), (0, 0));
    assert!(read.peak < 100, "{} MiB", read.peak);
}

#[test]
fn a_line_just_under_the_cap_is_buffered_at_most_twice() {
    let read = read(|file| {
        let (head, tail) = (r#"{"type":"user","message":{"content":""#, "\"}}\n");
        let text = "a\\nb ".repeat((LINE_CAP - 100) / 5);
        file.write_all([head, &text, tail].concat().as_bytes()).unwrap();
    });
    assert_eq!((read.lines, read.too_long), (1, 0));
    assert!(read.peak < 256, "{} MiB", read.peak);
}

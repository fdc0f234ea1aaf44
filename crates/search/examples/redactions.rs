//! What would be redacted in the transcripts of a folder, as far as they are indexed, with what stands
//! around it: `cargo run --release -p backstory-search --example redactions -- FOLDER…`.
//!
//! It prints secrets as they are: for judging the rules, on your own machine.

#![allow(clippy::print_stdout, reason = "a program for judging")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use transcript::Reader;
use transcript::record::parse;

/// How much is shown on either side, in bytes.
const AROUND: usize = 60;

#[derive(Default)]
struct Counted {
    bytes: usize,
    kinds: BTreeMap<&'static str, usize>,
}

fn main() {
    let mut counted = Counted::default();
    for folder in std::env::args().skip(1) {
        let mut files = Vec::new();
        transcripts(Path::new(&folder), &mut files);
        files.sort();
        for file in &files {
            read(file, &mut counted);
        }
    }
    let all: usize = counted.kinds.values().sum();
    let megabytes = counted.bytes as f64 / 1e6;
    println!("{all} in {megabytes:.1} MB of indexed text: {:.3} per MB", all as f64 / megabytes);
    for (kind, count) in counted.kinds {
        println!("{count:>6}  {kind}");
    }
}

fn transcripts(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            transcripts(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "jsonl") {
            found.push(path);
        }
    }
}

fn read(file: &Path, counted: &mut Counted) {
    let Ok(mut reader) = Reader::open(file) else { return };
    let subagent = file.file_name().is_some_and(|name| name.to_string_lossy().starts_with("agent-"));
    while let Ok(Some(line)) = reader.next_line() {
        let Ok(record) = parse(line.bytes) else { continue };
        for text in search::texts(&record, subagent) {
            counted.bytes += text.len();
            for secret in redact::find(&text) {
                *counted.kinds.entry(secret.kind).or_default() += 1;
                let from = text.floor_char_boundary(secret.start.saturating_sub(AROUND));
                let to = text.ceil_char_boundary(secret.end.saturating_add(AROUND).min(text.len()));
                let shown = format!(
                    "{}«{}»{}",
                    &text[from..secret.start],
                    &text[secret.start..secret.end],
                    &text[secret.end..to]
                );
                println!("{}\t{}:{}\t{shown:?}", secret.kind, file.display(), line.number);
            }
        }
    }
}

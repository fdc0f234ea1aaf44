//! What would be redacted in the files of a folder, with the text around it:
//! `cargo run --release -p backstory-redact --example list -- FOLDER…`. Prints secrets as they are.

#![allow(clippy::print_stdout, clippy::disallowed_methods, reason = "a program for judging")]

use std::path::Path;

/// How much is shown on either side, in bytes.
const AROUND: usize = 50;
/// Larger files are left out, in bytes.
const LARGEST: u64 = 4 << 20;

fn main() {
    let (mut bytes, mut found) = (0, 0);
    for folder in std::env::args().skip(1) {
        walk(Path::new(&folder), &mut bytes, &mut found);
    }
    println!("{found} in {:.1} MB: {:.3} per MB", bytes as f64 / 1e6, found as f64 / (bytes as f64 / 1e6));
}

fn walk(path: &Path, bytes: &mut usize, found: &mut usize) {
    if path.is_dir() {
        for entry in std::fs::read_dir(path).into_iter().flatten().flatten() {
            walk(&entry.path(), bytes, found);
        }
        return;
    }
    let is_small = path.symlink_metadata().is_ok_and(|file| file.is_file() && file.len() <= LARGEST);
    let Some(text) = is_small.then(|| String::from_utf8(std::fs::read(path).ok()?).ok()).flatten() else {
        return;
    };
    *bytes += text.len();
    for secret in redact::find(&text) {
        *found += 1;
        let from = text.floor_char_boundary(secret.start.saturating_sub(AROUND));
        let to = text.ceil_char_boundary((secret.end + AROUND).min(text.len()));
        let (before, after) = (&text[from..secret.start], &text[secret.end..to]);
        let inside: String = text[secret.start..secret.end].chars().take(80).collect();
        println!("{}\t{}\t{:?}", secret.kind, path.display(), format!("{before}«{inside}»{after}"));
    }
}

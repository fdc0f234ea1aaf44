//! How fast the texts of a file are gone through: `cargo run --release -p backstory-redact --example speed -- FILE`.
//!
//! Beside it, in the same run and over the same bytes, one pass that looks for a byte that is not there.

#![allow(
    clippy::print_stdout,
    clippy::disallowed_methods,
    clippy::expect_used,
    reason = "a program for measuring"
)]

use std::time::Instant;

/// About how long the texts are that are indexed.
const TEXT: usize = 1600;
/// How often everything is gone through; the best counts.
const TIMES: usize = 7;

fn main() {
    let path = std::env::args().nth(1).expect("name a file of text");
    let text = String::from_utf8_lossy(&std::fs::read(&path).expect("the file can be read")).into_owned();
    let megabytes = text.len() as f64 / 1e6;
    let mut found = 0;
    let redact = best(|| {
        found = texts(&text).map(|text| redact::find(text).len()).sum();
    });
    let passed = best(|| {
        let absent = texts(&text).filter(|text| memchr::memchr(1, text.as_bytes()).is_some()).count();
        std::hint::black_box(absent);
    });
    println!("{megabytes:.1} MB, {found} secrets");
    println!("redact  {:8.0} MB/s  {:.3} s for 100 MB", megabytes / redact, 100.0 * redact / megabytes);
    println!("memchr  {:8.0} MB/s", megabytes / passed);
}

fn best(mut work: impl FnMut()) -> f64 {
    let mut seconds = f64::MAX;
    for _ in 0..TIMES {
        let begun = Instant::now();
        work();
        seconds = seconds.min(begun.elapsed().as_secs_f64());
    }
    seconds
}

/// The text in pieces, each of which ends where a character does.
fn texts(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (piece, after) = rest.split_at(rest.floor_char_boundary(TEXT.min(rest.len())));
        rest = after;
        (!piece.is_empty()).then_some(piece)
    })
}

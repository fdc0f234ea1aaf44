//! Makes a Claude config folder of any size to measure on: sessions of many releases with tools, sub-agents,
//! forks, CJK, long lines and some damage. The same arguments give the same bytes.
//!
//! `cargo run --release -p backstory-testkit --example corpus -- --out DIR --megabytes 20 [--seed 1]`

#![allow(clippy::expect_used, reason = "a generator that cannot go on ends with what is wrong")]

mod random;
mod session;
mod words;

use std::path::{Path, PathBuf};

use random::Random;
use session::Session;

const USAGE: &str = "corpus --out DIR --megabytes N [--seed N]";

struct Args {
    out: PathBuf,
    bytes: u64,
    seed: u64,
}

fn main() {
    let args = Args::read(std::env::args().skip(1));
    let (mut bytes, mut number) = (0, 0);
    while bytes < args.bytes {
        let mut random = Random::new(args.seed, number);
        bytes += make(number, &args.out.join("projects"), &mut random);
        number += 1;
    }
}

/// Writes the session with this number, and now and then a fork of it; answers their size.
fn make(number: u64, projects: &Path, random: &mut Random) -> u64 {
    let mut session = Session::new(number, random);
    let fork = random.once_in(10).then(|| session.fork(random));
    session.damage(random);
    session.write(projects) + fork.map_or(0, |fork| fork.write(projects))
}

impl Args {
    fn read(mut words: impl Iterator<Item = String>) -> Self {
        let (mut out, mut megabytes, mut seed) = (None, None, 1);
        while let Some(word) = words.next() {
            let value = words.next().unwrap_or_else(|| panic!("{word} needs a value: {USAGE}"));
            let number =
                || value.parse::<u64>().unwrap_or_else(|_| panic!("{value} is not a number: {USAGE}"));
            match word.as_str() {
                "--out" => out = Some(PathBuf::from(&value)),
                "--megabytes" => megabytes = Some(number()),
                "--seed" => seed = number(),
                _ => panic!("{word} is not known: {USAGE}"),
            }
        }
        let out = out.unwrap_or_else(|| panic!("--out is missing: {USAGE}"));
        let megabytes = megabytes.unwrap_or_else(|| panic!("--megabytes is missing: {USAGE}"));
        Self { out, bytes: megabytes * 1_000_000, seed }
    }
}

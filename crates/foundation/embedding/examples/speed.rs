//! How long the table takes to open, and how fast it embeds the texts of a file, one on each line:
//! `cargo run --release -p backstory-embedding --example speed -- FILE`.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::time::Instant;

use embedding::{TokenTable, Tokenizer, Vocabulary};

#[expect(clippy::print_stdout, reason = "a measurement on a terminal")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let began = Instant::now();
    let table = TokenTable::built_in();
    let mut embedder = table.embedder();
    embedder.embed("token refresh");
    println!("open and embed a question: {:?}", began.elapsed());

    let path = std::env::args().nth(1).ok_or("name a file with a text on each line")?;
    let texts: Vec<String> = BufReader::new(File::open(path)?).lines().collect::<Result<_, _>>()?;
    let bytes: usize = texts.iter().map(String::len).sum();
    let says = |what: &str, count: usize, began: Instant| {
        let seconds = began.elapsed().as_secs_f64();
        let (speed, each) = (bytes as f64 / 1e6 / seconds, count as f64 / seconds);
        println!("{what}: {} texts, {bytes} bytes, {speed:.1} MB/s, {each:.0} a second", texts.len());
    };

    let vocabulary = Vocabulary::built_in();
    let mut tokenizer = Tokenizer::new(&vocabulary);
    let (began, mut tokens, mut count) = (Instant::now(), Vec::new(), 0);
    for text in &texts {
        tokens.clear();
        tokenizer.cut(text, &mut tokens);
        count += tokens.len();
    }
    says("tokens", count, began);
    let began = Instant::now();
    let found = texts.iter().filter(|text| embedder.embed(text).is_some()).count();
    says("vectors", found, began);
    Ok(())
}

//! How long a transformer takes to open and to embed a question, and how many bytes of the texts of a file
//! it embeds in a second: `cargo run --release -p backstory-embedding --example transformer -- MODEL FILE`.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::time::Instant;

use embedding::{SentenceModel, Tokenizer, Vocabulary};

#[expect(clippy::print_stdout, reason = "a measurement on a terminal")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, texts] = &arguments[..] else { return Err("name a folder and a file of texts".into()) };
    let began = Instant::now();
    let model = SentenceModel::open(Path::new(folder))?;
    println!("open: {:?}", began.elapsed());
    for _ in 0..5 {
        let began = Instant::now();
        model.embed("why does the token refresh fail after the login?")?;
        println!("a question: {:?}", began.elapsed());
    }
    let texts = BufReader::new(File::open(texts)?).lines().collect::<Result<Vec<_>, _>>()?;
    let vocabulary = Vocabulary::built_in();
    let (mut tokens, mut cut) = (0, Vec::new());
    let began = Instant::now();
    for text in &texts {
        cut.clear();
        Tokenizer::new(&vocabulary).cut(text, &mut cut);
        tokens += cut.len().min(254) + 2;
        model.embed(text)?;
    }
    let speed = tokens as f64 / began.elapsed().as_secs_f64();
    println!("{} texts, {tokens} tokens: {speed:.0} tokens a second", texts.len());
    Ok(())
}

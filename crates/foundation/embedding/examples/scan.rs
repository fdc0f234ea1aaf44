//! What it costs to look through the vectors of so many chunks, and what a byte for each number loses:
//! `cargo run --release -p backstory-embedding --example scan -- FILE QUESTIONS COUNT [THREADS]`.
//!
//! The texts of FILE, one on each line, are embedded, and their vectors repeated up to COUNT rows, each a
//! little turned, so that no two are the same. QUESTIONS holds a question on each line.

use std::collections::HashSet;
use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::time::Instant;

use embedding::{DIMENSIONS, RowAction, TokenTable, Vector, VectorKey, VectorModel, VectorWriter, Vectors};

const LIMIT: usize = 200;

#[expect(clippy::print_stdout, reason = "a measurement on a terminal")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [texts, questions, count, threads @ ..] = &arguments[..] else {
        return Err("name a file of texts, a file of questions and a number of rows".into());
    };
    let threads = threads.first().map_or(Ok(2), |threads| threads.parse())?;
    let (texts, questions, count) = (embedded(texts)?, embedded(questions)?, count.parse::<usize>()?);
    let model = VectorModel { hash: TokenTable::built_in().hash(), dimensions: DIMENSIONS };

    let folder = tempfile::tempdir()?;
    let path = folder.path().join("vectors");
    let exact: Vec<Vector> = texts.iter().cycle().take(count).zip(0..).filter_map(turned).collect();
    let began = Instant::now();
    let mut writer = VectorWriter::create(&path, model)?;
    for (vector, place) in exact.iter().zip(0..) {
        writer.add(VectorKey { file: 0, place }, &vector.quantize())?;
    }
    let rows = writer.sync()?;
    println!("wrote {rows} rows, {} bytes, in {:?}", std::fs::metadata(&path)?.len(), began.elapsed());

    let mut times: Vec<f64> = Vec::new();
    let (mut met, mut met_first, mut asked) = (0, 0, 0);
    let mut largest_error = 0f32;
    for (number, question) in questions.iter().enumerate() {
        let began = Instant::now();
        let vectors = Vectors::open(&path, model, rows)?;
        let found = vectors.search(question, LIMIT, threads, |_| RowAction::Rank)?;
        times.push(began.elapsed().as_secs_f64() * 1e3);
        if number >= 50 {
            continue;
        }
        let mut all: Vec<(f32, u64)> = exact.iter().map(|vector| question.cosine(vector)).zip(0..).collect();
        for near in &found.nearest {
            largest_error = largest_error.max((all[place(near.key)].0 - near.cosine).abs());
        }
        all.sort_by(|one, other| other.0.total_cmp(&one.0));
        let found: Vec<u64> = found.nearest.iter().map(|near| near.key.place).collect();
        met += overlap(&all[..LIMIT], &found);
        met_first += overlap(&all[..20], &found[..20]);
        asked += 1;
    }
    times.sort_by(f64::total_cmp);
    let at = |share: usize| times[(times.len() - 1) * share / 100];
    println!("{threads} threads: p50 {:.2} ms, p95 {:.2} ms, least {:.2} ms", at(50), at(95), at(0));
    let share = |met: usize, limit: usize| met as f64 / (limit * asked) as f64;
    println!(
        "beside unrounded vectors: {:.4} of the nearest 20 and {:.4} of {LIMIT} are the same; cosines differ by at most {largest_error:.4}",
        share(met_first, 20),
        share(met, LIMIT),
    );
    Ok(())
}

fn embedded(path: &str) -> Result<Vec<Vector>, Box<dyn std::error::Error>> {
    let table = TokenTable::built_in();
    let mut embedder = table.embedder();
    let lines = BufReader::new(File::open(path)?).lines().collect::<Result<Vec<_>, _>>()?;
    Ok(lines.iter().filter_map(|line| embedder.embed(line)).collect())
}

fn turned((vector, number): (&Vector, usize)) -> Option<Vector> {
    let mut numbers = vector.numbers().to_vec();
    for (at, number_there) in numbers.iter_mut().enumerate() {
        let noise = (number * DIMENSIONS + at).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48;
        *number_there += (noise as f32 / 65536.0 - 0.5) * 0.01;
    }
    Vector::normalized(numbers)
}

fn place(key: VectorKey) -> usize {
    usize::try_from(key.place).unwrap_or_default()
}

fn overlap(exact: &[(f32, u64)], found: &[u64]) -> usize {
    let exact: HashSet<u64> = exact.iter().map(|(_, place)| *place).collect();
    found.iter().filter(|place| exact.contains(place)).count()
}

//! How much redaction takes out of transcripts, for each megabyte of the text that is indexed (docs/redaction.md).

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::path::{Path, PathBuf};

use redact::Secret;
use transcript::Reader;

use crate::Failure;

/// How much is shown on either side of a secret, in bytes.
const AROUND: usize = 60;

/// The arguments: which files to count redactions in.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Folders with transcripts in them, at any depth, or transcripts.
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Print each with the text around it, unredacted: for judging the rules, on your own machine.
    #[arg(long)]
    pub list: bool,
}

/// The secrets that were found.
#[derive(Debug, Default)]
pub struct Redactions {
    /// Transcripts that were read.
    pub files: u64,
    /// The length of the texts in them that are indexed.
    pub bytes: u64,
    /// How many of each kind.
    pub kinds: BTreeMap<&'static str, u64>,
    listed: String,
}

impl Redactions {
    /// How many there are.
    pub fn all(&self) -> u64 {
        self.kinds.values().sum()
    }

    /// How many there are in a megabyte of indexed text.
    pub fn per_megabyte(&self) -> f64 {
        self.all() as f64 / (self.bytes.max(1) as f64 / 1e6)
    }
}

impl fmt::Display for Redactions {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.listed)?;
        let megabytes = self.bytes as f64 / 1e6;
        writeln!(
            out,
            "{} redactions in {megabytes:.1} MB of indexed text of {} transcripts: {:.3} per MB",
            self.all(),
            self.files,
            self.per_megabyte()
        )?;
        self.kinds.iter().try_for_each(|(kind, count)| writeln!(out, "{count:>6}  {kind}"))
    }
}

/// Reads the transcripts and counts; unreadable lines are skipped, as in indexing.
pub fn redactions(args: &Args) -> Result<Redactions, Failure> {
    let mut found = Redactions::default();
    for path in &args.paths {
        let mut files = Vec::new();
        transcripts(path, &mut files)?;
        files.sort();
        for file in &files {
            read(file, args.list, &mut found)?;
        }
    }
    Ok(found)
}

fn transcripts(path: &Path, found: &mut Vec<PathBuf>) -> Result<(), Failure> {
    if path.is_dir() {
        for entry in path.read_dir()? {
            transcripts(&entry?.path(), found)?;
        }
    } else if path.extension().is_some_and(|extension| extension == "jsonl") {
        found.push(path.to_owned());
    }
    Ok(())
}

fn read(file: &Path, list: bool, found: &mut Redactions) -> Result<(), Failure> {
    let mut reader = Reader::open(file)?;
    let subagent = file.file_name().is_some_and(|name| name.to_string_lossy().starts_with("agent-"));
    found.files += 1;
    while let Some(line) = reader.next_line()? {
        let Ok(record) = line.record() else { continue };
        for text in search::texts(&record, subagent) {
            found.bytes += text.len() as u64;
            for secret in redact::find(&text) {
                *found.kinds.entry(secret.kind).or_default() += 1;
                if list {
                    let shown = surrounded(&text, &secret);
                    writeln!(found.listed, "{}\t{}:{}\t{shown:?}", secret.kind, file.display(), line.number)?;
                }
            }
        }
    }
    Ok(())
}

fn surrounded(text: &str, secret: &Secret) -> String {
    let from = text.floor_char_boundary(secret.start.saturating_sub(AROUND));
    let to = text.ceil_char_boundary(secret.end.saturating_add(AROUND).min(text.len()));
    let (before, inside) = (&text[from..secret.start], &text[secret.start..secret.end]);
    format!("{before}«{inside}»{}", &text[secret.end..to])
}

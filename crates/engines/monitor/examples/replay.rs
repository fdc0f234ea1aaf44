//! Replays transcripts on a clock of their own and prints what each session did:
//! `cargo run -p backstory-monitor --example replay -- FILE…`
//!
//! The times are those of the records; records that were written together are separate steps here.

#![expect(clippy::print_stdout, reason = "it is a program that prints")]

use std::error::Error;
use std::path::PathBuf;

use jiff::{SignedDuration, Timestamp};
use monitor::{RecordedInput, Timers, Tracker, replay};
use transcript::Reader;

fn main() -> Result<(), Box<dyn Error>> {
    for path in std::env::args_os().skip(1).map(PathBuf::from) {
        println!("{}", path.display());
        let id = path.file_stem().unwrap_or_default().to_string_lossy().parse()?;
        let mut written: Vec<(Timestamp, RecordedInput)> = Vec::new();
        let mut lines = Reader::open(&path)?;
        while let Some(line) = lines.next_line()? {
            let before = written.last().map(|(at, _)| *at);
            let made = line.record().ok().and_then(|record| record.timestamp());
            let at = made.max(before).unwrap_or(Timestamp::MIN);
            written.push((at, RecordedInput::Transcript([line.bytes, b"\n"].concat())));
        }
        let Some((last, _)) = written.last() else { continue };
        let until = last.checked_add(SignedDuration::from_secs(60))?;
        let mut tracker = Tracker::new(id, Timers::default());
        for (at, activity) in replay(&mut tracker, &written, until) {
            let (tool, detail) = (activity.tool.unwrap_or_default(), activity.detail.unwrap_or_default());
            println!(
                "  {at:.3}  {:<18} {:<10} {tool} {detail}",
                activity.state.as_str(),
                activity.evidence.as_str()
            );
        }
    }
    Ok(())
}

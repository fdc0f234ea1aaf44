//! Memory where a line holds millions of blocks: what is kept of each block must not multiply them.

use testkit::claude::Run;
use testkit::{ScratchHome, Transcript, long};

const MEBIBYTE: usize = 1 << 20;
/// The most memory that a command may take, in MiB.
const MOST: u64 = 300;

/// A home with a session whose one prompt is so many bytes of blocks.
fn home(bytes: usize) -> ScratchHome {
    let home = ScratchHome::new();
    let block = r#"{"type":"text","text":"walrus"},"#;
    let path = Transcript::new("11111111-aaaa").prompt("Feed the heron").write_to(&home);
    let blocks = block.repeat(bytes / block.len());
    let line = format!(
        r#"{{"type":"user","uuid":"u2","sessionId":"11111111-aaaa","timestamp":"2026-03-01T09:00:00Z","message":{{"role":"user","content":[{blocks}{{}}]}}}}"#
    );
    let before = testkit::files::bytes(&path);
    std::fs::write(&path, [&before[..], line.as_bytes(), b"\n"].concat()).unwrap();
    home
}

/// Runs a command to its end, and prints the most memory that it has held, in KiB.
const MEASURE: &str = "import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)";

/// The most memory that a command of the program has held, in MiB.
fn peak(home: &ScratchHome, arguments: &[&str]) -> u64 {
    let mut command = home.command("python3");
    command.args(["-c", MEASURE, env!("CARGO_BIN_EXE_backstory")]).args(arguments);
    Run::of(command).succeeded().answer().parse::<u64>().expect("a number") / 1024
}

#[test]
fn a_line_of_a_million_blocks_costs_no_more_than_a_long_line() {
    let home = home(57 * MEBIBYTE);
    let all = [
        &["search", "heron"][..],
        &["show", "11111111", "--json"],
        &["list"],
        &["search", "--grep", "heron"],
        &["prompts", "heron"],
        &["handoff", "11111111"],
        &["cost"],
    ];
    // The first two once took more than twice as much.
    for arguments in &all[..long::amount(2, all.len())] {
        let most = peak(&home, arguments);
        assert!((1..=MOST).contains(&most), "{arguments:?}: {most} MiB");
    }
}

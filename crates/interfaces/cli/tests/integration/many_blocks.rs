//! Memory where a line holds millions of blocks: what is kept of each block must not multiply them.

use std::process::{Child, Stdio};

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

/// The most memory that a process has held by now, in MiB; none where it has ended.
fn peak(child: &Child) -> Option<u64> {
    let status = system::read_small(format!("/proc/{}/status", child.id()).as_ref(), 1 << 16).ok()?;
    let status = String::from_utf8_lossy(&status);
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(peak.trim().trim_end_matches(" kB").parse::<u64>().ok()? / 1024)
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
        let mut command = home.command(env!("CARGO_BIN_EXE_backstory"));
        let mut child = command.args(*arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let mut most = 0;
        while child.try_wait().unwrap().is_none() {
            most = most.max(peak(&child).unwrap_or_default());
            std::thread::yield_now();
        }
        assert!(child.wait().unwrap().success(), "{arguments:?}");
        assert!((1..=MOST).contains(&most), "{arguments:?}: {most} MiB");
    }
}

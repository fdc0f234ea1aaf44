//! One line of an MCP client's: whatever it holds, it is a message, nothing, or answered with what is wrong.

#![no_main]

use frames::{Frame, decode};
use libfuzzer_sys::fuzz_target;

// The file itself: the crate around it would bring all of Backstory along.
#[allow(dead_code)]
#[path = "../../crates/interfaces/mcp/src/frames.rs"]
mod frames;

fuzz_target!(|line: &[u8]| {
    match decode(line) {
        Frame::Message(message) => drop(format!("{message:?}")),
        Frame::Nothing => {}
        Frame::Invalid { error, .. } => assert!(matches!(error.code.0, -32700 | -32600)),
    }
});

//! Any bytes as a line of a transcript.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| backstory_fuzz::line(bytes));

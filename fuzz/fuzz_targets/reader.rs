//! Any bytes as a transcript; the first of them says how large the pieces are it is read in.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Some((piece, file)) = bytes.split_first() {
        backstory_fuzz::file(file, usize::from(*piece));
    }
});

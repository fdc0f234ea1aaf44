//! Finds terminal colour sequences in a text, both raw and escaped as in code or JSON.

/// The length of the sequence that starts here and ends with `m`, or with `K` as those of `grep` do, or 0.
pub(crate) fn length(rest: &[u8]) -> usize {
    const BEGINNINGS: [&[u8]; 8] =
        [b"\x1b[", b"\\u001b[", b"\\u001B[", b"\\x1b[", b"\\x1B[", b"\\033[", b"\\e[", b"^[["];
    let Some(beginning) = BEGINNINGS.iter().find(|beginning| rest.starts_with(beginning)) else { return 0 };
    let inside = &rest[beginning.len()..];
    let numbers = inside.iter().take(24).take_while(|byte| byte.is_ascii_digit() || **byte == b';').count();
    if matches!(inside.get(numbers), Some(b'm' | b'K')) { beginning.len() + numbers + 1 } else { 0 }
}

/// The length of all consecutive sequences that start here.
pub(crate) fn all(rest: &[u8]) -> usize {
    let mut at = 0;
    loop {
        match length(&rest[at..]) {
            0 => return at,
            length => at += length,
        }
    }
}

/// How many of the letters and digits at the end of `before` belong to a sequence: the `36m` of `\x1b[36m`.
pub(crate) fn end_of_one(before: &[u8]) -> usize {
    let Some((b'm' | b'K', rest)) = before.split_last() else { return 0 };
    let digits = rest.iter().rev().take(3).take_while(|byte| byte.is_ascii_digit()).count();
    if matches!(rest[..rest.len() - digits].last(), Some(b'[' | b';')) { digits + 1 } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_sequences_are_recognized() {
        let check = |text: &str, expected| assert_eq!(length(text.as_bytes()), expected, "{text}");
        check("\u{1b}[0m", 4);
        check("\u{1b}[m", 3);
        check("\u{1b}[38;5;12mx", 10);
        check("\\u001b[32mx", 10);
        check("\\033[1;32mx", 10);
        check("\u{1b}[2Kx", 4);
        check("\u{1b}[2J", 0);
        check("[0m", 0);
        assert_eq!(all(b"\x1b[0m\x1b[1m\x1b[2J"), 8);
        assert_eq!((end_of_one(b"\x1b[36m"), end_of_one(b"\x1b[m"), end_of_one(b"from")), (3, 1, 0));
    }
}

//! The one way in which Claude Code writes a time, read without the general parser: every record has one.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::Offset;

/// `2026-01-02T03:04:05.678Z`; `None` for anything else, which may still be a time.
pub(super) fn as_claude_writes(text: &str) -> Option<Timestamp> {
    let bytes: &[u8; 24] = text.as_bytes().try_into().ok()?;
    let marks = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':'), (19, b'.'), (23, b'Z')];
    if marks.iter().any(|(at, mark)| bytes[*at] != *mark) {
        return None;
    }
    let number = |from: usize, to: usize| {
        bytes[from..to].iter().try_fold(0_i16, |number, digit| {
            digit.is_ascii_digit().then(|| number * 10 + i16::from(digit - b'0'))
        })
    };
    let small = |from: usize| i8::try_from(number(from, from + 2)?).ok();
    let nanoseconds = i32::from(number(20, 23)?) * 1_000_000;
    let at =
        DateTime::new(number(0, 4)?, small(5)?, small(8)?, small(11)?, small(14)?, small(17)?, nanoseconds);
    Offset::UTC.to_timestamp(at.ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_as_claude_writes_them() {
        let check = |text: &str, expected: Option<&str>| {
            let expected: Option<Timestamp> = expected.map(|text| text.parse().unwrap());
            assert_eq!(as_claude_writes(text), expected, "{text}");
        };
        check("2026-01-02T03:04:05.678Z", Some("2026-01-02T03:04:05.678Z"));
        check("1999-12-31T23:59:59.999Z", Some("1999-12-31T23:59:59.999Z"));
        check("2026-13-02T03:04:05.678Z", None);
        check("2026-01-02T03:04:05.67xZ", None);
        check("2026-01-02T03:04:05+01:00", None);
        check("2026-01-02 03:04:05.678Z", None);
        check("", None);
    }
}

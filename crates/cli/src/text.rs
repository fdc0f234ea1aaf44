//! Pieces of text for people: cut to a width, made safe for a terminal, times and numbers in a few cells.

use jiff::Timestamp;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// The text on one line, without anything that could steer a terminal.
pub(crate) fn safe(text: &str) -> String {
    text.chars().map(|c| if is_steering(c) { ' ' } else { c }).collect()
}

/// The text with its lines, without anything that could steer a terminal.
pub(crate) fn safe_lines(text: &str) -> String {
    let shown = |c: char| if is_steering(c) && c != '\n' && c != '\t' { ' ' } else { c };
    text.replace("\r\n", "\n").chars().map(shown).collect()
}

/// A value as JSON, in which nothing can steer a terminal either.
pub(crate) fn json(value: &impl serde::Serialize) -> std::io::Result<String> {
    Ok(escaped(serde_json::to_string_pretty(value)?))
}

/// The same on one line.
pub(crate) fn json_line(value: &impl serde::Serialize) -> std::io::Result<String> {
    Ok(escaped(serde_json::to_string(value)?))
}

/// JSON escapes most control characters itself; those it leaves begin with one of three bytes.
fn escaped(json: String) -> String {
    use std::fmt::Write as _;
    let suspects = memchr::memchr3_iter(0x7f, 0xc2, 0xe2, json.as_bytes());
    let steering = |at: usize| json[at..].chars().next().filter(|c| is_steering(*c)).map(|c| (at, c));
    let mut steering = suspects.filter_map(steering).peekable();
    if steering.peek().is_none() {
        return json;
    }
    let mut out = String::with_capacity(json.len());
    let mut done = 0;
    for (at, c) in steering {
        out.push_str(&json[done..at]);
        // Writing to a String cannot fail.
        let _ = write!(out, "\\u{:04x}", u32::from(c));
        done = at + c.len_utf8();
    }
    out + &json[done..]
}

/// Control characters, and the marks that turn the direction of writing.
pub(crate) fn is_steering(c: char) -> bool {
    c.is_control() || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The text in at most `width` cells, with `…` where something is missing.
pub(crate) fn fit(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut used = 1;
    for c in text.chars() {
        used += c.width().unwrap_or(0);
        if used > width {
            break;
        }
        out.push(c);
    }
    if width > 0 {
        out.push('…');
    }
    out
}

/// The end of the text in at most `width` cells: of a path that tells most.
pub(crate) fn fit_end(text: &str, width: usize) -> String {
    let reversed: String = text.chars().rev().collect();
    fit(&reversed, width).chars().rev().collect()
}

/// How long ago something was, in at most four cells.
pub(crate) fn age(now: Timestamp, then: Option<Timestamp>) -> String {
    const UNITS: [(&str, i64); 6] =
        [("y", 31_556_952), ("mo", 2_629_746), ("w", 604_800), ("d", 86_400), ("h", 3600), ("m", 60)];
    let Some(then) = then else { return "-".to_owned() };
    let seconds = now.as_second() - then.as_second();
    let unit = UNITS.iter().find(|(_, length)| seconds >= *length);
    unit.map_or_else(|| "now".to_owned(), |(name, length)| format!("{}{name}", seconds / length))
}

/// A count in at most four cells: `812`, `4.5k`, `12M`.
pub(crate) fn count(number: u64) -> String {
    const UNITS: [(&str, u64); 4] =
        [("T", 1_000_000_000_000), ("G", 1_000_000_000), ("M", 1_000_000), ("k", 1000)];
    let Some((name, unit)) = UNITS.iter().find(|(_, unit)| number >= *unit) else {
        return number.to_string();
    };
    if number < unit * 10 {
        let tenths = number / (unit / 10);
        format!("{}.{}{name}", tenths / 10, tenths % 10)
    } else {
        format!("{}{name}", number / unit)
    }
}

/// A size for people: `3.4 MB`.
pub(crate) fn bytes(number: u64) -> String {
    const UNITS: [&str; 5] = ["B", "kB", "MB", "GB", "TB"];
    let mut amount = number as f64;
    let mut unit = 0;
    while amount >= 1000.0 && unit + 1 < UNITS.len() {
        amount /= 1000.0;
        unit += 1;
    }
    if unit == 0 { format!("{number} B") } else { format!("{amount:.1} {}", UNITS[unit]) }
}

/// An amount of money.
pub(crate) fn dollars(amount: f64) -> String {
    if amount > 0.0 && amount < 0.005 { "<$0.01".to_owned() } else { format!("${amount:.2}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_fit() {
        let check = |text: &str, width, expected: &str| assert_eq!(fit(text, width), expected);
        check("short", 5, "short");
        check("longer", 5, "long…");
        let check_end = |text: &str, width, expected: &str| assert_eq!(fit_end(text, width), expected);
        check_end("/home/ana/shop", 20, "/home/ana/shop");
        check_end("/home/ana/shop", 6, "…/shop");
        check_end("日本語", 5, "…本語");
        check_end("/shop", 0, "");
        check("日本語", 6, "日本語");
        check("日本語", 5, "日本…");
        check("日本語", 4, "日…");
        check("x", 0, "");
    }

    #[test]
    fn nothing_steers_the_terminal() {
        assert_eq!(safe("a\u{1b}[2Jb\u{7}\nc\u{202e}d\u{9b}e"), "a [2Jb  c d e");
    }

    #[test]
    fn json_steers_nothing_and_stays_json() {
        let text = json(&["a\u{1b}[m\u{9b}\u{202e}\nö"]).unwrap();
        assert_eq!(text, "[\n  \"a\\u001b[m\\u009b\\u202e\\nö\"\n]");
        assert_eq!(serde_json::from_str::<Vec<String>>(&text).unwrap(), ["a\u{1b}[m\u{9b}\u{202e}\nö"]);
    }

    #[test]
    fn ages() {
        let check = |seconds: i64, expected: &str| {
            let now = Timestamp::from_second(2_000_000_000).unwrap();
            assert_eq!(age(now, Timestamp::from_second(2_000_000_000 - seconds).ok()), expected);
        };
        check(-5, "now");
        check(59, "now");
        check(60, "1m");
        check(86_399, "23h");
        check(86_400 * 6, "6d");
        check(86_400 * 29, "4w");
        check(86_400 * 64, "2mo");
        check(86_400 * 800, "2y");
        assert_eq!(age(Timestamp::UNIX_EPOCH, None), "-");
    }

    #[test]
    fn counts_and_money() {
        let check = |number, expected: &str| assert_eq!(count(number), expected);
        check(0, "0");
        check(999, "999");
        check(1000, "1.0k");
        check(9999, "9.9k");
        check(10_000, "10k");
        check(999_999, "999k");
        check(1_250_000, "1.2M");
        check(u64::MAX, "18446744T");
        assert_eq!([0.0, 0.001, 0.005, 1.5].map(dollars), ["$0.00", "<$0.01", "$0.01", "$1.50"]);
    }
}

//! Text for terminals: made safe, cut to a width, and short forms of times and numbers.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

pub(crate) use app::bytes;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use model::{is_invisible, is_steering};
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// The text on one line, without control characters and invisible characters.
pub(crate) fn safe(text: &str) -> String {
    let text = without_colours(text);
    text.chars().filter(|c| !is_invisible(*c)).map(|c| if is_steering(c) { ' ' } else { c }).collect()
}

/// The text with its line ends and tabs, without other control characters and invisible characters.
pub(crate) fn safe_lines(text: &str) -> String {
    let shown = |c: char| if is_steering(c) && c != '\n' && c != '\t' { ' ' } else { c };
    without_colours(text).replace("\r\n", "\n").chars().filter(|c| !is_invisible(*c)).map(shown).collect()
}

/// The text without the sequences that colour a terminal, whose letters say nothing. Whatever could hold more than
/// numbers stays, without its escape character: no prompt may show half a command.
fn without_colours(text: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let mut done = 0;
    for sequence in colours(text) {
        out.push_str(&text[done..sequence.start]);
        done = sequence.end;
    }
    if done == 0 { Cow::Borrowed(text) } else { Cow::Owned(out + &text[done..]) }
}

/// Where the sequences are that colour a terminal, or clear the rest of a line as `grep` does with its colours.
pub(crate) fn colours(text: &str) -> Vec<Range<usize>> {
    let mut all = Vec::new();
    let mut from = 0;
    while let Some(at) = text[from..].find(['\u{1b}', '\u{9b}']) {
        let start = from + at;
        let escape = if text[start..].starts_with('\u{9b}') { "\u{9b}" } else { "\u{1b}[" };
        from = start + 1;
        while !text.is_char_boundary(from) {
            from += 1;
        }
        let Some(rest) = text[start..].strip_prefix(escape) else { continue };
        let numbers = rest.bytes().take_while(|byte| matches!(byte, b'0'..=b'9' | b';' | b':')).count();
        if matches!(rest.as_bytes().get(numbers), Some(b'm' | b'K')) {
            from = start + escape.len() + numbers + 1;
            all.push(start..from);
        }
    }
    all
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

/// The end of the text in at most `width` cells, for paths.
pub(crate) fn fit_end(text: &str, width: usize) -> String {
    let reversed: String = text.chars().rev().collect();
    fit(&reversed, width).chars().rev().collect()
}

/// The time since `then`, in at most four cells: `5m`, `2mo`.
pub(crate) fn age(now: Timestamp, then: Option<Timestamp>) -> String {
    const UNITS: [(&str, i64); 6] =
        [("y", 31_556_952), ("mo", 2_629_746), ("w", 604_800), ("d", 86_400), ("h", 3600), ("m", 60)];
    let Some(then) = then else { return "-".to_owned() };
    let seconds = now.as_second() - then.as_second();
    let unit = UNITS.iter().find(|(_, length)| seconds >= *length);
    unit.map_or_else(|| "now".to_owned(), |(name, length)| format!("{}{name}", seconds / length))
}

/// The time since `then`, or after two weeks its date, in at most six cells: `5m`, `3 Feb`, `Feb’25`.
pub(crate) fn age_or_date(now: Timestamp, then: Option<Timestamp>, zone: impl Fn() -> TimeZone) -> String {
    const RECENT: SignedDuration = SignedDuration::from_hours(14 * 24);
    match then.filter(|then| now.duration_since(*then) > RECENT) {
        None => age(now, then),
        Some(then) => {
            let (now, then) = (now.to_zoned(zone()), then.to_zoned(zone()));
            let format = if now.year() == then.year() { "%-d %b" } else { "%b’%y" };
            then.strftime(format).to_string()
        }
    }
}

/// When something was, in a sentence: `just now`, `5m ago`, `3 Feb`, `Feb’25`.
pub(crate) fn ago(now: Timestamp, then: Option<Timestamp>, zone: impl Fn() -> TimeZone) -> String {
    let when = age_or_date(now, then, zone);
    match then {
        Some(_) if when == "now" => "just now".to_owned(),
        Some(_) if when == age(now, then) => when + " ago",
        _ => when,
    }
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

/// A number of things, with their name in the singular: `1 file`, `3 files`, `2 copies`.
pub(crate) fn counted(number: impl fmt::Display, what: &str) -> String {
    let number = number.to_string();
    if number == "1" {
        return format!("1 {what}");
    }
    match what.strip_suffix('y') {
        Some(stem) if !stem.ends_with(['a', 'e', 'o', 'u']) => format!("{number} {stem}ies"),
        _ => format!("{number} {what}s"),
    }
}

/// An amount of US dollars: `$1.50`.
pub(crate) fn dollars(amount: f64) -> String {
    if amount > 0.0 && amount < 0.005 { "<$0.01".to_owned() } else { format!("${amount:.2}") }
}

/// A duration of so many minutes: `45 min`, `3 h 20 min`, `2 days`.
pub(crate) fn duration(minutes: i64) -> String {
    match (minutes / 60, minutes % 60) {
        (0, minutes) => format!("{minutes} min"),
        (hours, 0) if hours < 48 => format!("{hours} h"),
        (hours, minutes) if hours < 48 => format!("{hours} h {minutes} min"),
        (hours, _) => format!("{} days", hours / 24),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_long_ago_has_a_date() {
        let now: Timestamp = "2026-03-01T12:00:00Z".parse().unwrap();
        let check = |then: &str, expected: &str| {
            assert_eq!(age_or_date(now, then.parse().ok(), || TimeZone::UTC), expected, "{then}");
        };
        check("2026-03-01T11:00:00Z", "1h");
        check("2026-02-16T12:00:00Z", "1w");
        check("2026-02-14T12:00:00Z", "14 Feb");
        check("2026-02-03T12:00:00Z", "3 Feb");
        check("2025-12-31T23:00:00Z", "Dec’25");
        check("", "-");
    }

    #[test]
    fn in_a_sentence_an_age_is_ago() {
        let now: Timestamp = "2026-03-01T12:00:00Z".parse().unwrap();
        let check = |then: &str, expected: &str| {
            assert_eq!(ago(now, then.parse().ok(), || TimeZone::UTC), expected, "{then}");
        };
        check("2026-03-01T11:59:50Z", "just now");
        check("2026-03-01T11:00:00Z", "1h ago");
        check("2026-02-03T12:00:00Z", "3 Feb");
        check("", "-");
    }

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
        assert_eq!(safe("a\u{1b}[2Jb\u{7}\nc\u{202e}d\u{9b}e"), "a [2Jb  cd e");
        assert_eq!(safe("\u{1b}[0;32mgreen\u{1b}[m\u{1b}[K \u{9b}1mbold\u{1b}"), "green bold ");
        assert_eq!(safe("\u{1b}]8;;rm -rf ~\u{7}\u{1b}[31\u{1b}[mx"), " ]8;;rm -rf ~  [31x");
        assert_eq!(safe_lines("\u{1b}[31mred\nnext"), "red\nnext");
        assert_eq!(safe("a\u{61c}b\u{200b}c\u{2028}d\u{feff}e\u{e0041}\u{fff9}f"), "abc def");
        assert_eq!(safe_lines("a\r\nb\u{2029}c\td\u{206a}"), "a\nb c\td");
        // Emoji are joined, and Persian and Hindi spelt, with invisible characters.
        for whole in ["👩\u{200d}👩\u{200d}👧", "نمی\u{200c}خواهم", "क्\u{200d}ष", "❤\u{fe0f}"]
        {
            assert_eq!(safe(whole), whole);
        }
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

    #[test]
    fn one_thing_is_singular() {
        let check = |number: u64, what, expected: &str| assert_eq!(counted(number, what), expected);
        check(0, "session", "0 sessions");
        check(1, "session", "1 session");
        check(2, "copy", "2 copies");
        check(2, "day", "2 days");
        assert_eq!(counted(count(1200), "file"), "1.2k files");
    }

    #[test]
    fn durations() {
        let check = |minutes, expected: &str| assert_eq!(duration(minutes), expected);
        check(45, "45 min");
        check(200, "3 h 20 min");
        check(120, "2 h");
        check(60 * 50, "2 days");
    }
}

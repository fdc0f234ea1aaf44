//! Spans of time in words.

/// A number of hours in words, rounded down as the age in a column is: "40 minutes", "5 hours", "3 days".
pub fn ago(hours: f64) -> String {
    let minutes = hours * 60.0;
    match () {
        () if minutes < 2.0 => "a minute".to_owned(),
        () if hours < 2.0 => format!("{:.0} minutes", minutes.floor()),
        () if hours < 48.0 => format!("{:.0} hours", hours.floor()),
        () if hours < 24.0 * 90.0 => format!("{:.0} days", (hours / 24.0).floor()),
        () => "months".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hours_in_words() {
        let check = |hours, expected| assert_eq!(ago(hours), expected);
        check(0.0, "a minute");
        check(0.5, "30 minutes");
        check(1.2, "72 minutes");
        check(1.6, "96 minutes");
        check(2.9, "2 hours");
        check(30.0, "30 hours");
        check(60.0, "2 days");
        check(1e6, "months");
    }
}

//! The names of days and months.

use jiff::civil::Weekday;

/// The day of the week that a word in small letters names.
pub(crate) fn weekday(word: &str) -> Option<Weekday> {
    const DAYS: [(&str, Weekday); 7] = [
        ("monday", Weekday::Monday),
        ("tuesday", Weekday::Tuesday),
        ("wednesday", Weekday::Wednesday),
        ("thursday", Weekday::Thursday),
        ("friday", Weekday::Friday),
        ("saturday", Weekday::Saturday),
        ("sunday", Weekday::Sunday),
    ];
    DAYS.into_iter().find(|(name, _)| *name == word || name[..3] == *word).map(|(_, weekday)| weekday)
}

/// The month that a word in small letters names, from 1.
pub(crate) fn month(word: &str) -> Option<i8> {
    const MONTHS: [&str; 12] = [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ];
    let is_it = |name: &&str| *name == word || ((3..=4).contains(&word.len()) && name.starts_with(word));
    (1_i8..).zip(MONTHS).find(|(_, name)| is_it(name)).map(|(number, _)| number)
}

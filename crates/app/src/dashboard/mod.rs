//! What the dashboard's pages ask for beside what every interface does: a row for each session, a session's blocks with
//! all that can be shown of them, its outline, words in it, its pictures, a day to replay, and spending to add up.

pub mod blocks;
pub mod day;
pub mod find;
pub mod outline;
pub mod picture;
pub mod rows;
pub mod spending;

/// The longest title and the longest note of a session among many, in characters.
const LONGEST: usize = 120;

/// The beginning of a text, with `…` where it is cut.
fn short(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        None => text.to_owned(),
        Some(_) => text.chars().take(LONGEST - 1).chain(['…']).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_cut_says_so() {
        assert_eq!(short("Fix it"), "Fix it");
        assert_eq!(short(&"ä".repeat(LONGEST)), "ä".repeat(LONGEST));
        assert_eq!(short(&"ä".repeat(LONGEST + 1)), format!("{}…", "ä".repeat(LONGEST - 1)));
    }
}

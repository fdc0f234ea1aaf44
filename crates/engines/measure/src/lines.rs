//! Reads label files: one JSON object per line.

use serde::de::DeserializeOwned;

/// A line that cannot be parsed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidLine {
    /// Line number, from 1.
    pub number: usize,
    /// The parse error.
    pub why: String,
}

/// Parses one object per line and skips empty lines. An invalid line is an error, because a lost label would
/// change every metric.
pub fn parse_lines<T: DeserializeOwned>(text: &str) -> Result<Vec<T>, InvalidLine> {
    let numbered = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    numbered
        .map(|(number, line)| {
            serde_json::from_str(line).map_err(|error| InvalidLine { number, why: error.to_string() })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LabelledQuery, LabelledTask, RankedAnswer};

    #[test]
    fn both_spellings_are_read() {
        let text = "{\"id\":\"a\",\"kind\":\"file\",\"query\":\"x\",\"relevant\":{\"s\":2}}\n\n\
                    {\"qid\":\"b\",\"query\":\"y\",\"rel\":{}}\n{\"id\":\"c\",\"query\":\"z\",\"relevant\":null}\n";
        let found: Vec<LabelledQuery> = parse_lines(text).unwrap();
        let ids: Vec<_> = found.iter().map(|one| (one.id.as_str(), one.kind.as_str())).collect();
        assert_eq!(ids, [("a", "file"), ("b", "all"), ("c", "all")]);
        assert_eq!(found[0].relevant["s"], 2);
        let found: Vec<RankedAnswer> = parse_lines("{\"qid\":\"a\",\"ids\":[\"s\",\"t\"]}").unwrap();
        assert_eq!(found[0].ranked, ["s", "t"]);
    }

    #[test]
    fn a_wrong_line_is_named() {
        let check = |text: &str, number: usize, why: &str| {
            let found = parse_lines::<LabelledQuery>(text).unwrap_err();
            assert!(found.number == number && found.why.contains(why), "{found:?}");
        };
        check("{\"id\":\"a\",\"query\":\"x\"}\n{\"id\":", 2, "EOF");
        check("\n\n{\"query\":\"x\"}", 3, "id");
        check("{\"id\":\"a\",\"query\":\"x\",\"relevant\":{\"s\":-1}}", 1, "-1");
        let moment = parse_lines::<LabelledTask>(
            "{\"id\":\"a\",\"at\":1,\"task\":\"t\",\"cwd\":\"/\",\"action\":\"perhaps\"}",
        );
        assert!(moment.unwrap_err().why.contains("perhaps"));
    }
}

//! `prompts`: everything that was asked, once each.

use crate::day::{home, json, printed};

#[test]
fn every_prompt_once_and_newest_first() {
    let home = home();
    let answer = json(&home, "prompts", &["prompts"]);
    let prompts: Vec<(&str, u64)> = answer["prompts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|prompt| (prompt["text"].as_str().unwrap(), prompt["times"].as_u64().unwrap()))
        .collect();
    let expected = [("Now the taxes", 1), ("Run the tests again", 2), ("Round the prices in the basket", 1)];
    assert_eq!(prompts, expected);
    let lines = printed(&home, &["prompts", "TESTS", "again"]);
    assert!(lines.lines().count() == 1 && lines.contains("  Run the tests again  ×2\n"), "{lines}");
    let place = lines.split_whitespace().find(|word| word.starts_with("11111111:")).unwrap();
    assert!(printed(&home, &["show", place, "--json"]).contains("Run the tests again"));
    let whole = printed(&home, &["prompts", "-0", "--until", "2026-03-02"]);
    assert_eq!(whole, "Run the tests again\0Round the prices in the basket\0");
    assert_eq!(printed(&home, &["prompts", "walrus"]), "No prompt matches; there are 3 in all.\n");
    assert_eq!(printed(&home, &["prompts", "--project", "blog", "-0"]), "run the  tests again\0");
}

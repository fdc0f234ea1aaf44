//! The tables of settings in docs/configuration.md, written from `defaults.toml`: names, defaults and comments.
//!
//! Between two marks the page belongs to this module; the rest of it is written by hand.

use std::fmt::Write as _;
use std::path::Path;

use crate::Failure;

const DEFAULTS: &str = include_str!("../../../app/src/config/defaults.toml");
const PAGE: &str = include_str!("../../../../docs/configuration.md");
const BEGIN: &str = "<!-- `cargo xtask settings` writes from here -->";
const END: &str = "<!-- to here -->";

/// The page as it is committed, and as it should be.
///
/// # Errors
///
/// When the page lacks a mark, or a setting lacks its comment or the variable at the end of it.
pub fn page() -> Result<(&'static str, String), Failure> {
    Ok((PAGE, with_tables(PAGE, &tables(DEFAULTS)?)?))
}

/// Writes the page.
///
/// # Errors
///
/// As [`page`], and when the file cannot be written.
pub fn settings() -> Result<(), Failure> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/configuration.md");
    let (_, written) = page()?;
    Ok(std::fs::write(file, written)?)
}

fn with_tables(page: &str, tables: &str) -> Result<String, Failure> {
    let (before, rest) = page.split_once(BEGIN).ok_or_else(|| format!("the page lacks {BEGIN}"))?;
    let (_, after) = rest.split_once(END).ok_or_else(|| format!("the page lacks {END}"))?;
    Ok(format!("{before}{BEGIN}\n{tables}\n{END}{after}"))
}

/// A heading, the section's comment and a table for each section.
fn tables(defaults: &str) -> Result<String, Failure> {
    let mut text = String::new();
    let (mut section, mut comment) = (String::new(), String::new());
    for line in &lines(defaults) {
        if let Some(words) = line.strip_prefix('#') {
            comment.push_str(if comment.is_empty() { "" } else { " " });
            comment.push_str(words.trim());
            continue;
        }
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            name.clone_into(&mut section);
            write!(text, "\n### `[{name}]`\n\n")?;
            if !comment.is_empty() {
                write!(text, "{comment}\n\n")?;
            }
            text.push_str("| setting | default | variable | what it is |\n|---|---|---|---|\n");
        } else if let Some((name, default)) = line.split_once(" = ") {
            text.push_str(&row(&section, name, default, &comment)?);
        }
        comment.clear();
    }
    Ok(text)
}

/// The lines of the file, a list over several of them as one.
fn lines(defaults: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for line in defaults.lines() {
        match lines.last_mut().filter(|list| list.contains(" = [") && !list.ends_with(']')) {
            Some(list) => {
                let item = line.trim();
                if item != "]" && !list.ends_with('[') {
                    list.push(' ');
                }
                list.push_str(item);
            }
            None => lines.push(line.to_owned()),
        }
    }
    lines.into_iter().map(|line| line.replace(",]", "]")).collect()
}

fn row(section: &str, name: &str, default: &str, comment: &str) -> Result<String, Failure> {
    let variable = format!("BACKSTORY_{section}_{name}").to_uppercase();
    let what = comment.strip_suffix(&variable).map(str::trim).filter(|what| !what.is_empty());
    let what = what.ok_or_else(|| format!("the comment of `{section}.{name}` does not end in {variable}"))?;
    Ok(format!("| `{name}` | `{default}` | `{variable}` | {} |\n", what.replace('|', "\\|")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_is_a_heading_its_comment_and_a_table() {
        let defaults = "# The file.\n\n# How to\n# chat.\n[talk]\n# A | B. BACKSTORY_TALK_WAY\nway = \"a\"\n";
        let expected = "\n### `[talk]`\n\nHow to chat.\n\n| setting | default | variable | what it is |\n\
                        |---|---|---|---|\n| `way` | `\"a\"` | `BACKSTORY_TALK_WAY` | A \\| B. |\n";
        assert_eq!(tables(defaults).unwrap(), expected);
    }

    #[test]
    fn a_list_over_several_lines_is_one_default() {
        let defaults = "[talk]\n# A. BACKSTORY_TALK_WAYS\nways = [\n    \"a\",\n    \"b\",\n]\n";
        assert!(tables(defaults).unwrap().contains("| `ways` | `[\"a\", \"b\"]` |"));
    }

    #[test]
    fn a_setting_without_comment_or_variable_is_an_error() {
        assert!(tables("[talk]\nway = 1\n").is_err());
        assert!(tables("[talk]\n# BACKSTORY_TALK_WAY\nway = 1\n").is_err());
        assert!(tables("[talk]\n# How. BACKSTORY_TALK\nway = 1\n").is_err());
    }

    #[test]
    fn text_between_the_marks_is_replaced() {
        let page = format!("a\n{BEGIN}\nold\n{END}\nb\n");
        assert_eq!(with_tables(&page, "new").unwrap(), format!("a\n{BEGIN}\nnew\n{END}\nb\n"));
        assert!(with_tables("a", "new").is_err());
    }
}

//! One public type name has one meaning in all shipped crates.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use testkit::files::bytes;

use super::{assert_holds, crate_folders, last_component, production_files, root};

/// Names that mean the same part of each module that has one, and are always read with the module's name.
const OF_THEIR_MODULE: &[(&str, &str)] = &[
    ("Request", "what a question of `app` asks: `list::Request`"),
    ("Answer", "what a question of `app` answers: `list::Answer`"),
    ("Error", "what fails in a crate: `search::Error`"),
];

#[test]
fn a_public_type_name_has_one_meaning() {
    let mut names: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    let shipped = crate_folders(&root()).into_iter().filter(|folder| !is_for_developers(folder));
    let crates: Vec<_> = shipped.map(|folder| last_component(Some(&folder))).collect();
    for (file, _) in crates.iter().flat_map(|name| production_files(name)) {
        for name in public_types(&String::from_utf8_lossy(&bytes(&file))) {
            names.entry(name).or_default().push(file.clone());
        }
    }
    names.retain(|name, files| files.len() > 1 && OF_THEIR_MODULE.iter().all(|(known, _)| known != name));
    let problem = |(name, files): (String, Vec<PathBuf>)| {
        let files: Vec<_> = files.iter().map(|file| file.display().to_string()).collect();
        format!("`{name}` is the name of several public types: {}", files.join(", "))
    };
    assert_holds(&names.into_iter().map(problem).collect::<Vec<_>>());
}

fn is_for_developers(folder: &Path) -> bool {
    folder.parent().is_some_and(|floor| floor.ends_with("dev"))
}

/// The names of a file's public types, before its tests.
fn public_types(text: &str) -> Vec<String> {
    let shipped = text.split("#[cfg(test)]").next().unwrap_or(text);
    let named = |line: &str| {
        let rest = line.trim_start().strip_prefix("pub ")?;
        let (kind, rest) = rest.split_once(' ')?;
        let is_type = matches!(kind, "struct" | "enum" | "trait" | "type");
        let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        is_type.then_some(name)
    };
    shipped.lines().filter_map(named).collect()
}

#[test]
fn names_are_read_from_declarations_alone() {
    let text = "pub struct One<T>(T);\npub(crate) enum Two {}\n    pub enum Three {\npub fn four() {}\n\
                // pub struct Five;\n#[cfg(test)]\npub struct Six;";
    assert_eq!(public_types(text), ["One", "Three"]);
}

//! Names that a person may have meant by one that no session has.

use search::edit_distance;

/// How many names are given.
const NAMED: usize = 5;
/// How many letters of a name may be wrong.
const WRONG: usize = 2;

/// The end of a sentence that says that nothing has a name: those like it or, where there are none, some of all.
pub(crate) fn other_names<'a>(what: &str, typed: &str, names: impl Iterator<Item = &'a str>) -> String {
    let mut known: Vec<&str> = Vec::new();
    for name in names {
        if !known.contains(&name) {
            known.push(name);
        }
    }
    let letters: Vec<char> = typed.to_lowercase().chars().collect();
    let lower = typed.to_lowercase();
    let is_like = |name: &&&str| {
        let name = name.to_lowercase();
        name.contains(&lower) || edit_distance(&letters, &name, WRONG).is_some()
    };
    let like: Vec<&str> = known.iter().filter(is_like).copied().collect();
    let (how, names) = if like.is_empty() { ("", known) } else { ("similar ", like) };
    let more = if names.len() > NAMED { ", …" } else { "" };
    match names.get(..NAMED.min(names.len())) {
        Some(some) if !some.is_empty() => format!("; {how}{what}: {}{more}", some.join(", ")),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::other_names;

    #[test]
    fn similar_names_come_before_any() {
        let check = |typed: &str, names: &[&str], expected: &str| {
            assert_eq!(other_names("projects", typed, names.iter().copied()), expected, "{typed}");
        };
        check("improve", &["cli", "improve-status", "cli"], "; similar projects: improve-status");
        check("harbr", &["cli", "harbor"], "; similar projects: harbor");
        check("zoo", &["cli", "harbor"], "; projects: cli, harbor");
        check("zoo", &["a1", "b2", "c3", "d4", "e5", "f6"], "; projects: a1, b2, c3, d4, e5, …");
        check("zoo", &[], "");
    }
}

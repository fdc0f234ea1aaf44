//! Index terms for paths, which are found by their end of any length.

/// The most components a path is indexed by.
const DEPTH: usize = 12;
/// Longer texts between white space are no paths.
const LONGEST: usize = 240;

/// Separates paths that are indexed together; a path cannot contain it.
pub(crate) const SEPARATOR: &str = "\0";

/// Gives out the terms that find a path: each of its endings (`c.rs`, `b/c.rs`, …), and the whole with a mark.
pub(crate) fn path_terms(path: &str, mut each: impl FnMut(&str)) {
    let parts = components(path);
    let Some((last, before)) = parts.split_last() else { return };
    let mut whole = String::with_capacity(path.len() + 2);
    whole.push('^');
    let mut starts = Vec::with_capacity(parts.len());
    for part in &before[before.len().saturating_sub(DEPTH - 1)..] {
        starts.push(whole.len());
        whole.push_str(part);
        whole.push('/');
    }
    starts.push(whole.len());
    whole.push_str(last);
    for start in starts.into_iter().rev() {
        each(&whole[start..]);
    }
    each(&whole);
}

/// The terms a query for a path asks for: the ending it names, then each shorter whole path that could mean
/// the same file, with the share of the query's components it has.
pub(crate) fn query_terms(path: &str) -> Option<(String, Vec<(String, f32)>)> {
    let parts = components(path);
    if parts.is_empty() || parts.len() > DEPTH {
        return None;
    }
    let ending = |n: usize| parts[parts.len() - n..].join("/");
    let shorter = (1..parts.len()).map(|n| (format!("^{}", ending(n)), n as f32 / parts.len() as f32));
    Some((ending(parts.len()), shorter.collect()))
}

fn components(path: &str) -> Vec<&str> {
    path.split(['/', '\\']).filter(|part| !matches!(*part, "" | "." | ".." | "~" | "...")).collect()
}

/// Whether a query names a file: one word with a slash, or with an ending like `.rs`.
pub(crate) fn is_path(query: &str) -> bool {
    let query = query.trim();
    if query.is_empty() || query.contains(char::is_whitespace) || query.contains("://") {
        return false;
    }
    let ends_in_word = query.ends_with(|c: char| c.is_alphanumeric() || c == '_');
    if query.contains('/') && ends_in_word {
        return true;
    }
    let Some((stem, ending)) = query.rsplit_once('.') else { return false };
    stem.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '-'))
        && ending.starts_with(|c: char| c.is_ascii_alphabetic())
        && ending.len() <= 10
        && ending.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// The paths with a slash in a text.
pub(crate) fn mentioned(text: &str) -> impl Iterator<Item = &str> {
    let bytes = text.as_bytes();
    let mut behind = 0;
    memchr::memchr_iter(b'/', bytes).filter_map(move |slash| {
        if slash < behind {
            return None;
        }
        let start = bytes[behind..slash]
            .iter()
            .rposition(|byte| !is_path_byte(*byte))
            .map_or(behind, |at| behind + at + 1);
        let end = slash + bytes[slash..].iter().take_while(|byte| is_path_byte(**byte)).count();
        behind = end;
        let path = text.get(start..end)?.trim_matches(['.', ':']).trim_end_matches('/');
        let is_address = start >= 1 && bytes[start - 1] == b':' && text[start..].starts_with("//");
        let named = path.rsplit('/').next().is_some_and(|name| name.contains(|c: char| c.is_alphanumeric()));
        (named && !is_address && path.len() <= LONGEST && path.contains('/')).then_some(path)
    })
}

fn is_path_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(byte, b'/' | b'.' | b'_' | b'-' | b'@' | b'+' | b'~')
        || byte >= 0x80
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_found_by_each_of_its_endings() {
        let check = |path: &str, expected: &[&str]| {
            let mut terms = Vec::new();
            path_terms(path, |term| terms.push(term.to_owned()));
            assert_eq!(terms, expected, "{path}");
        };
        check("/a/b/c.rs", &["c.rs", "b/c.rs", "a/b/c.rs", "^a/b/c.rs"]);
        check("./x", &["x", "^x"]);
        check("/", &[]);
        let deep = "x/".repeat(20) + "y";
        let mut terms = 0;
        path_terms(&deep, |_| terms += 1);
        assert_eq!(terms, DEPTH + 1);
    }

    #[test]
    fn a_query_also_meets_shorter_mentions() {
        let (ending, shorter) = query_terms("a/b/c.rs").unwrap();
        assert_eq!(ending, "a/b/c.rs");
        assert_eq!(shorter[1].0, "^b/c.rs");
    }

    #[test]
    fn which_queries_name_a_file() {
        for path in ["src/a.rs", ".claude/.gitignore", "a.rs", "docs/x", "Cargo.toml", "a-b.test.ts"] {
            assert!(is_path(path), "{path}");
        }
        for words in ["token refresh", "v2.", "https://x.y/z", "", "1.5", "Makefile", "a/b c"] {
            assert!(!is_path(words), "{words}");
        }
    }

    #[test]
    fn paths_in_a_text() {
        let check = |text: &str, expected: &[&str]| {
            assert_eq!(mentioned(text).collect::<Vec<_>>(), expected, "{text}");
        };
        check("see `src/a.rs:12`, (./b/c) and /etc/hosts.", &["src/a.rs", "/b/c", "/etc/hosts"]);
        check("https://x.y/z or a / b or //", &[]);
        check("", &[]);
    }
}

//! Claude's folder name for a directory.

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;

/// The longest slug that is kept whole, in UTF-16 units.
const LIMIT: usize = 200;

/// The name of the folder under `projects/` that holds the transcripts of a directory.
///
/// The rule is Claude Code's own (verified with 2.1.329): every UTF-16 unit of the physical path outside
/// `[A-Za-z0-9]` becomes `-`, without Unicode normalisation; over 200 units, the first 200 are followed by `-` and a
/// hash of the whole path. The name cannot be reversed: `a.b`, `a_b` and `a b` share a folder, so only the `cwd` in
/// the records names a session's directory.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
pub struct ProjectSlug(String);

impl ProjectSlug {
    /// The slug of a physical path (symbolic links already resolved).
    pub fn from_path(path: &str) -> Self {
        let full: String = path
            .encode_utf16()
            .map(|unit| match u8::try_from(unit) {
                Ok(byte) if byte.is_ascii_alphanumeric() => char::from(byte),
                _ => '-',
            })
            .collect();
        if full.len() <= LIMIT {
            return Self(full);
        }
        Self(format!("{}-{}", &full[..LIMIT], base36(path_hash(path).unsigned_abs())))
    }

    /// The name of a folder that exists under `projects/`.
    pub fn from_folder_name(name: impl Into<String>) -> Self {
        Self(name.into())
    }

    /// The folder name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether `folder` is the folder of the path: of one of Windows, whichever case its letters have.
    pub fn is_folder(&self, folder: &str) -> bool {
        let is_of_drive = self.0.as_bytes().get(1..3) == Some(b"--".as_slice());
        self.0 == folder || self.same_prefix(folder) || (is_of_drive && self.0.eq_ignore_ascii_case(folder))
    }

    /// Whether `folder` can be the folder of the same path written by a CLI with another hash: the first
    /// 200 characters decide.
    pub fn same_prefix(&self, folder: &str) -> bool {
        self.0.len() > LIMIT
            && folder.len() > LIMIT
            && folder.as_bytes()[..LIMIT] == self.0.as_bytes()[..LIMIT]
    }
}

impl fmt::Display for ProjectSlug {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(&self.0)
    }
}

/// The 32-bit string hash of Java and of Claude Code, over UTF-16 units.
fn path_hash(path: &str) -> i32 {
    path.encode_utf16().fold(0_i32, |hash, unit| hash.wrapping_mul(31).wrapping_add(i32::from(unit)))
}

fn base36(mut number: u32) -> String {
    const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
    let mut digits = Vec::new();
    loop {
        digits.push(char::from(DIGITS[(number % 36) as usize]));
        number /= 36;
        if number == 0 {
            return digits.iter().rev().collect();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, slug: &str) {
        assert_eq!(ProjectSlug::from_path(path).as_str(), slug, "{path}");
    }

    #[test]
    fn every_unit_outside_letters_and_digits_becomes_a_dash() {
        check("/home/fonz/Projects/openclaw", "-home-fonz-Projects-openclaw");
        check("/home/ana/my_app", "-home-ana-my-app");
        check("/Users/x/dev/foo.bar", "-Users-x-dev-foo-bar");
        check("/home/u/.openclaw/workspace", "-home-u--openclaw-workspace");
        check(r"C:\Users\Me\p", "C--Users-Me-p");
        check("/home/é/ü", "-home----");
        check("/home/e\u{301}", "-home-e-");
        check("/d/emoji🚀dir", "-d-emoji--dir");
    }

    #[test]
    fn the_folder_of_a_windows_path_has_either_case() {
        let shop = ProjectSlug::from_path("C:/Users/ana/shop");
        assert!(shop.is_folder("C--Users-ana-shop") && shop.is_folder("c--Users-ana-shop"));
        let home = ProjectSlug::from_path("/home/ana");
        assert!(home.is_folder("-home-ana") && !home.is_folder("-home-Ana"));
    }

    #[test]
    fn a_long_path_is_cut_and_hashed() {
        let path = format!("/{}", "a".repeat(220));
        check(&path, &format!("-{}-7upm6p", "a".repeat(199)));
    }

    #[test]
    fn a_path_at_the_limit_is_not_cut() {
        let path = format!("/{}", "a".repeat(199));
        check(&path, &format!("-{}", "a".repeat(199)));
    }

    #[test]
    fn another_hash_of_the_same_long_path_is_recognised() {
        let long = ProjectSlug::from_path(&format!("/{}", "a".repeat(220)));
        assert!(long.same_prefix(&format!("-{}-zzzzz", "a".repeat(199))));
        assert!(!long.same_prefix(&format!("-{}b-zzzzz", "a".repeat(198))));
        assert!(!ProjectSlug::from_path("/a").same_prefix("-a"));
    }
}

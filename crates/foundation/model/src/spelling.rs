//! One normal form for the spellings of a path and of a word, by which what people type is compared with what is
//! recorded.
//!
//! A path of Windows is written with slashes or backslashes and either case of its drive; a letter with an accent is
//! one character or two.

use std::borrow::Cow;
use std::path::Path;

use unicode_normalization::{UnicodeNormalization as _, is_nfc};

/// A word or text as it is compared: capital letters and the forms of one character make no difference.
pub fn folded(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let small = text.nfc().collect::<String>().to_lowercase();
    if is_nfc(&small) { small } else { small.nfc().collect() }
}

/// A path as it is shown and stored: an absolute one of Windows with slashes and a capital drive letter, any other as it
/// is.
pub fn spelled(path: Cow<'_, str>) -> Cow<'_, str> {
    let is_spelled = !path.starts_with(r"\\")
        && (!has_drive(&path) || (path.as_bytes()[0].is_ascii_uppercase() && !path.contains('\\')));
    if is_spelled {
        return path;
    }
    let mut spelled = path.replace('\\', "/");
    if has_drive(&spelled) {
        spelled[..1].make_ascii_uppercase();
    }
    Cow::Owned(spelled)
}

/// A path as it is compared: two spellings of one path have the same key. Windows does not tell small letters from
/// capital ones.
pub fn path_key(path: &str) -> String {
    let spelled = spelled(Cow::Borrowed(path));
    let plain = match spelled.trim_end_matches('/') {
        "" => spelled.as_ref(),
        plain => plain,
    };
    if is_of_windows(plain) { folded(plain) } else { plain.nfc().collect() }
}

/// Whether two paths are spellings of one.
pub fn is_same_path(one: &Path, other: &Path) -> bool {
    one == other
        || one.to_str().zip(other.to_str()).is_some_and(|(one, other)| path_key(one) == path_key(other))
}

/// Whether a path is absolute, on this system or on Windows.
pub fn is_absolute(path: &Path) -> bool {
    path.is_absolute() || path.to_str().is_some_and(is_of_windows)
}

/// Whether it is an absolute path of Windows, with backslashes or slashes.
pub fn is_of_windows(path: &str) -> bool {
    has_drive(path) || path.starts_with(r"\\") || path.starts_with("//")
}

/// Whether it begins as `C:\` or `C:/` does.
pub fn has_drive(path: &str) -> bool {
    matches!(path.as_bytes(), [letter, b':', b'\\' | b'/', ..] if letter.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Spellings of one path in each line, by their normal form.
    const SAME: [(&str, &[&str]); 4] = [
        (
            "C:/Users/ana/shop",
            &[r"C:\Users\ana\shop", r"c:\Users\ana\shop", "c:/Users/ana/shop", "C:/Users/ana/shop"],
        ),
        ("//nas/ana", &[r"\\nas\ana", "//nas/ana"]),
        ("/home/ana/caf\u{e9}", &["/home/ana/caf\u{e9}"]),
        (r"/home/a\b", &[r"/home/a\b"]),
    ];

    #[test]
    fn the_spellings_of_a_path_are_one() {
        for (normal, spellings) in SAME {
            for spelling in spellings {
                assert_eq!(spelled((*spelling).into()), normal);
                assert_eq!(path_key(spelling), path_key(normal), "{spelling}");
                assert_eq!(path_key(&format!("{spelling}/")), path_key(normal), "{spelling}");
            }
        }
        let keys: std::collections::BTreeSet<String> =
            SAME.iter().map(|(normal, _)| path_key(normal)).collect();
        assert_eq!(keys.len(), SAME.len());
        assert_eq!(path_key("/home/ana/cafe\u{301}"), path_key("/home/ana/caf\u{e9}"));
        assert_eq!(path_key(r"C:\Users\Ana"), path_key("c:/users/ana"));
        assert_ne!(path_key("/home/Ana"), path_key("/home/ana"));
        assert_eq!((path_key("/"), path_key("")), ("/".to_owned(), String::new()));
    }

    #[test]
    fn the_forms_of_a_word_are_one() {
        assert_eq!(folded("CAFE\u{301}"), folded("caf\u{e9}"));
        assert_eq!(folded("\u{30cf}\u{3099}"), "\u{30d0}");
        assert_ne!(folded("cafe"), folded("caf\u{e9}"));
    }

    #[test]
    fn paths_of_both_systems_are_absolute() {
        for path in ["/home/ana", r"C:\Users", "d:/x", r"\\nas\ana"] {
            assert!(is_absolute(Path::new(path)), "{path}");
        }
        for path in ["", "a/b", "C:", "C:x", "-"] {
            assert!(!is_absolute(Path::new(path)), "{path}");
        }
    }

    proptest::proptest! {
        #[test]
        fn a_normal_form_is_its_own(text in "\\PC{0,30}") {
            let once = spelled(Cow::Borrowed(&text)).into_owned();
            proptest::prop_assert_eq!(spelled(Cow::Borrowed(&once)), once.as_str());
            proptest::prop_assert_eq!(path_key(&path_key(&text)), path_key(&text));
            proptest::prop_assert_eq!(path_key(&once), path_key(&text));
        }
    }
}

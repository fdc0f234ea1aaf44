//! Finds models of the Hugging Face hub in the local cache. Downloads nothing.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use crate::error::{Error, io_failed};

/// Whether a setting is the name of a model on the hub (`owner/name`) rather than a path.
pub fn is_hub_name(name: &str) -> bool {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.');
    let is_part =
        |part: &str| !part.is_empty() && !part.starts_with(['.', '-']) && part.chars().all(is_letter);
    let parts = name.split_once('/');
    parts.is_some_and(|(owner, name)| {
        is_part(owner) && is_part(name) && !owner.contains("--") && !name.contains("--")
    })
}

/// Finds the folder of a model in the hub's cache (usually `~/.cache/huggingface/hub`): the commit of `main` at the
/// time of the download.
pub fn cached(cache: &Path, name: &str) -> Result<PathBuf, Error> {
    let missing = || Error::NotFetched { name: name.to_owned(), cache: cache.to_owned() };
    if !is_hub_name(name) {
        return Err(missing());
    }
    let folder = cache.join(format!("models--{}", name.replace('/', "--")));
    let path = folder.join("refs/main");
    if !path.exists() {
        return Err(missing());
    }
    let mut commit = String::new();
    let file = File::open(&path).map_err(io_failed("open", &path))?;
    file.take(128).read_to_string(&mut commit).map_err(io_failed("read", &path))?;
    let commit = commit.trim();
    let snapshot = folder.join("snapshots").join(commit);
    let is_commit = !commit.is_empty() && commit.chars().all(|letter| letter.is_ascii_hexdigit());
    if is_commit && snapshot.is_dir() { Ok(snapshot) } else { Err(missing()) }
}

#[cfg(test)]
mod tests {
    use std::fs::{create_dir_all, write};

    use super::*;

    #[test]
    fn hub_names_have_an_owner_and_are_no_paths() {
        for name in ["sentence-transformers/all-MiniLM-L6-v2", "a/b", "BAAI/bge-small-en-v1.5"] {
            assert!(is_hub_name(name), "{name}");
        }
        for name in
            ["", "model", "/a/b", "a/b/c", "./a", "../a", "a/..", "~/model", "a/-b", "a--b/c", "a/b c"]
        {
            assert!(!is_hub_name(name), "{name}");
        }
    }

    #[test]
    fn a_fetched_model_is_found_and_one_that_is_not_says_how_to_fetch_it() {
        let cache = tempfile::tempdir().expect("a folder");
        let folder = cache.path().join("models--a--b");
        let error = cached(cache.path(), "a/b").expect_err("nothing was fetched");
        assert!(error.to_string().contains("hf download a/b"), "{error}");
        create_dir_all(folder.join("refs")).expect("a folder");
        for refused in ["", "../../x", "0123abcd"] {
            write(folder.join("refs/main"), refused).expect("a file");
            assert!(cached(cache.path(), "a/b").is_err(), "{refused}");
        }
        create_dir_all(folder.join("snapshots/0123abcd")).expect("a folder");
        write(folder.join("refs/main"), "0123abcd\n").expect("a file");
        assert_eq!(cached(cache.path(), "a/b").expect("a folder"), folder.join("snapshots/0123abcd"));
    }
}

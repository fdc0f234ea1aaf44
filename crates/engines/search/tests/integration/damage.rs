//! Files of the index in which bytes were changed: that is found, and the index built again.

use std::fs;
use std::path::{Path, PathBuf};

use search::{Error, Mode, Query, Remedy, SearchScope, Searcher, damaged_files, set_aside};

use crate::history::{History, session};

/// How many places of each file are tried.
const PLACES: usize = 24;

/// The files of the text index and of the vectors: whose content has checksums.
fn files(index: &Path) -> Vec<PathBuf> {
    let text = fs::read_dir(index.join("text")).unwrap().map(|entry| entry.unwrap().path());
    let parts = ["fast", "fieldnorm", "idx", "pos", "store", "term"];
    let is_part =
        |path: &PathBuf| path.extension().is_some_and(|part| parts.iter().any(|known| part == *known));
    let mut found: Vec<_> = text.filter(is_part).chain([index.join("vectors.bin")]).collect();
    found.sort();
    found
}

fn index() -> History {
    let history = History::new();
    for n in 0..12 {
        let one = session(&format!("s{n}"), "feed the walrus", "fed");
        history.write(&(0..12).fold(one, |transcript, m| transcript.answer(&format!("step {m} of {n}"))));
    }
    history.sync();
    history
}

fn search(index: &Path) -> Result<usize, Error> {
    let Some(mut searcher) = Searcher::open(index)? else { return Ok(0) };
    let query = Query::parse("feed the walrus");
    Ok(searcher.search(&query, &SearchScope::default(), Mode::Hybrid, 2, 50)?.hits.len())
}

#[test]
fn a_changed_byte_is_found_wherever_it_is() {
    let history = index();
    assert!(damaged_files(&history.index()).unwrap().is_empty());
    for file in files(&history.index()) {
        let whole = fs::read(&file).unwrap();
        // The first bytes of the vectors name their model: where they are others, all are made again.
        let first = if file.ends_with("vectors.bin") { 24 } else { 0 };
        for place in 0..PLACES {
            let at = first + (whole.len() - first) * place / PLACES;
            let mut changed = whole.clone();
            changed[at] ^= 0x55;
            fs::write(&file, &changed).unwrap();
            assert!(!damaged_files(&history.index()).unwrap().is_empty(), "{} at {at}", file.display());
            // A search answers or fails; it never takes the process with it.
            if let Err(error) = search(&history.index()) {
                assert_eq!(error.remedy(), Remedy::Rebuild, "{error:?}");
            }
        }
        fs::write(&file, &whole).unwrap();
    }
    assert!(damaged_files(&history.index()).unwrap().is_empty());
}

#[test]
fn what_is_set_aside_is_built_again() {
    let history = index();
    let list = history.index().join("files.sqlite");
    let found = search(&history.index()).unwrap();
    assert_eq!(found, 12);
    let mut bytes = fs::read(&list).unwrap();
    bytes[..16].fill(0);
    fs::write(&list, bytes).unwrap();
    assert_eq!(damaged_files(&history.index()).unwrap(), std::slice::from_ref(&list));
    set_aside(&history.index()).unwrap();
    history.sync();
    assert_eq!(search(&history.index()).unwrap(), found);
    assert!(list.with_extension("sqlite.set-aside").exists());
}

/// Makes the index one that an earlier version wrote: a field of the text's schema has another name.
fn make_earlier(index: &Path) {
    let meta = index.join("text/meta.json");
    let text = fs::read_to_string(&meta).unwrap();
    fs::write(&meta, text.replace("\"generation_", "\"generation_of_old_")).unwrap();
}

#[test]
fn an_index_of_an_earlier_version_is_built_again_though_no_transcript_is_new() {
    let history = index();
    let before = search(&history.index()).unwrap();
    assert_eq!(history.sync().bytes_read, 0);
    make_earlier(&history.index());
    assert_eq!(search(&history.index()).unwrap(), 0);
    assert!(history.sync().bytes_read > 0);
    assert_eq!(search(&history.index()).unwrap(), before);
    assert_eq!(history.sync().bytes_read, 0);
    fs::remove_dir_all(history.index().join("text")).unwrap();
    assert!(history.sync().bytes_read > 0);
    assert_eq!(search(&history.index()).unwrap(), before);
}

//! What leaves the index leaves its files: every byte and every list of words is looked through.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use search::{SourceFile, SourceKind, forget, sync};
use system::FileStamp;
use tantivy::Index;

use crate::history::{History, ids, session, sources};

/// The words in the lists of all segments' files on disk, also of those that count no more, and what else is readable.
fn kept(index: &Path) -> BTreeSet<String> {
    let opened = Index::open_in_dir(index.join("text")).unwrap();
    let searcher = opened.reader().unwrap().searcher();
    let mut words = BTreeSet::new();
    for segment in searcher.segment_readers() {
        for (field, described) in opened.schema().fields() {
            if !described.is_indexed() {
                continue;
            }
            let inverted = segment.inverted_index(field).unwrap();
            let mut terms = inverted.terms().stream().unwrap();
            while terms.advance() {
                words.insert(String::from_utf8_lossy(terms.key()).into_owned());
            }
        }
    }
    let segments: Vec<String> =
        searcher.segment_readers().iter().map(|segment| segment.segment_id().uuid_string()).collect();
    for path in files(index) {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        // A file of a segment that is not read above could hold anything.
        let is_of_segment = name.len() > 32 && name.as_bytes()[..32].iter().all(u8::is_ascii_hexdigit);
        assert!(!is_of_segment || segments.iter().any(|id| name.starts_with(id.as_str())), "{name} is left");
        let bytes = fs::read(&path).unwrap();
        words.extend(
            String::from_utf8_lossy(&bytes).split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase),
        );
    }
    words
}

fn files(folder: &Path) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// Fails where a part of a list of words, or any file, has it.
#[track_caller]
fn check(history: &History, word: &str, expected: bool) {
    let words = kept(&history.index());
    let found = words.iter().find(|known| known.contains(word));
    assert_eq!(found.is_some(), expected, "{word}: {found:?}");
}

#[test]
fn the_words_of_a_forgotten_session_are_in_no_file() {
    let history = History::new();
    for n in 0..30 {
        history.write(&session(&format!("s{n}"), "feed the walrus", "ok"));
        if n % 7 == 0 {
            history.sync();
        }
    }
    history.write(&session("secretive", "xylophonic quasar walrus", "the swordfish pelican"));
    history.sync();
    // What it said before it was written again is in the files, too.
    history.write(&session("secretive", "marimbaphone quasar walrus", "the swordfish pelican"));
    history.sync();
    for word in ["marimbaphon", "pelican", "secretive"] {
        check(&history, word, true);
    }
    assert!(history.found("pelican").contains(&"secretive".to_owned()));
    assert!(forget(&history.index(), &ids(&["secretive"])).unwrap());
    for word in ["xylophonic", "marimbaphon", "quasar", "swordfish", "pelican", "secretive"] {
        check(&history, word, false);
    }
    assert_eq!(history.found("walrus").len(), 30);
    assert!(forget(&history.index(), &ids(&["secretive"])).unwrap(), "once more, as after a kill");
    assert_eq!(history.found("walrus").len(), 30);
}

#[test]
fn the_words_of_a_deleted_note_are_in_no_file() {
    let history = History::new();
    history.write(&session("s1", "feed the walrus", "ok"));
    let path = history.config().join("note.md");
    fs::write(&path, "# Plans\n\nThe xylophone of the quasar.\n").unwrap();
    let note = || SourceFile {
        stamp: FileStamp::from_metadata(&path.metadata().unwrap()),
        path: path.clone(),
        kind: SourceKind::Memory,
        session: "note".parse().ok(),
        subagent: false,
    };
    let mut all = sources(&history.config());
    all.push(note());
    sync(&history.index(), &all, &mut |_| true).unwrap();
    check(&history, "xylophon", true);
    fs::write(&path, "# Plans\n\nThe marimba of the quasar.\n").unwrap();
    all.pop();
    all.push(note());
    sync(&history.index(), &all, &mut |_| true).unwrap();
    check(&history, "xylophon", false);
    fs::remove_file(&path).unwrap();
    history.sync();
    check(&history, "marimba", false);
    assert_eq!(history.found("walrus"), ["s1"]);
}

//! The index after transcripts have changed.

use std::fs;
use std::io::Write as _;

use search::{Searcher, fingerprint_of, pending, sync};

use crate::history::{History, session, sources};

#[test]
fn an_unchanged_history_costs_nothing() {
    let history = History::new();
    history.write(&session("s1", "walrus", "ok"));
    assert_eq!(history.sync().progress.files_done, 1);
    let again = history.sync();
    assert_eq!((again.bytes_read, again.rows_written, again.progress.files), (0, 0, 0));
}

#[test]
fn a_line_appended_to_fifty_megabytes_costs_its_own_bytes() {
    let history = History::new();
    let long = format!("{{\"type\":\"user\",\"toolUseResult\":\"{}\"}}\n", "x".repeat(1 << 20)).repeat(50);
    let path = history.write_in("-p", "s1", long.as_bytes());
    history.sync();
    let line = "{\"type\":\"user\",\"uuid\":\"u1\",\"message\":{\"content\":\"the walrus\"}}\n";
    fs::OpenOptions::new().append(true).open(&path).unwrap().write_all(line.as_bytes()).unwrap();
    let synced = history.sync();
    assert_eq!(synced.bytes_read, line.len() as u64 + 1024, "its own bytes and the witness before them");
    assert_eq!(synced.rows_written, 2, "the file's row and the generation");
    assert_eq!(history.found("walrus"), ["s1"]);
}

#[test]
fn replaced_content_is_found_and_the_old_is_not() {
    let history = History::new();
    history.write(&session("s1", "walrus", "ok"));
    history.sync();
    history.write(&session("s1", "ostrich", "ok"));
    history.sync();
    assert_eq!(history.found("ostrich"), ["s1"]);
    assert!(history.found("walrus").is_empty());
}

#[test]
fn a_copy_stays_found_when_its_owner_is_replaced() {
    let history = History::new();
    let parent = session("parent", "walrus", "ok");
    history.write(&parent);
    history.sync();
    history.write(&parent.clone().fork("fork", testkit::transcript::Lineage::SharedUuids).prompt("more"));
    history.sync();
    let other = "{\"type\":\"user\",\"uuid\":\"another\",\"message\":{\"content\":\"ostrich\"}}\n";
    history.write_in("-p", "parent", other.as_bytes());
    history.sync();
    history.sync();
    assert_eq!(history.found("walrus"), ["fork"]);
    assert_eq!(history.found("ostrich"), ["parent"]);
}

#[test]
fn a_file_that_moves_to_another_folder_is_not_read_again() {
    let history = History::new();
    let path = history.write(&session("s1", "walrus", "ok"));
    history.sync();
    let moved = history.config().join("projects/-q/s1.jsonl");
    fs::create_dir_all(moved.parent().unwrap()).unwrap();
    fs::rename(&path, &moved).unwrap();
    let synced = history.sync();
    assert!(synced.bytes_read <= 1024, "only the witness: {synced:?}");
    assert_eq!(history.hits("walrus")[0].file, moved);
}

#[test]
fn a_vanished_transcript_stays_found_without_its_text() {
    let history = History::new();
    let path = history.write(&session("s1", "walrus", "ok"));
    history.sync();
    fs::remove_file(path).unwrap();
    history.sync();
    let hits = history.hits("walrus");
    assert_eq!((hits.len(), &hits[0].snippet), (1, &None));
}

#[test]
fn a_record_whose_file_is_gone_is_cited_from_a_fork_that_is_there() {
    let history = History::new();
    let parent = session("parent", "feed the walrus", "ok");
    let path = history.write(&parent);
    history.sync();
    let fork = history.write(
        &parent.clone().fork("fork", testkit::transcript::Lineage::SharedUuids).prompt("and the heron"),
    );
    history.sync();
    fs::remove_file(path).unwrap();
    history.sync();
    let hits = history.hits("walrus");
    let of = |id: &str| hits.iter().find(|hit| hit.session.as_str() == id).unwrap();
    for id in ["fork", "parent"] {
        let hit = of(id);
        assert_eq!((&hit.file, hit.gone), (&fork, false), "{hit:?}");
        assert!(hit.snippet.as_ref().is_some_and(|snippet| snippet.text.contains("walrus")), "{hit:?}");
        let text = String::from_utf8(testkit::files::bytes(&fork)).unwrap();
        let line = text.lines().nth(usize::try_from(hit.line).unwrap() - 1).unwrap();
        assert!(
            line.contains("walrus") && text[usize::try_from(hit.offset).unwrap()..].starts_with(line),
            "{hit:?}"
        );
    }
}

#[test]
fn of_equal_lines_the_first_is_cited_however_the_index_was_made() {
    let (whole, grown) = (History::new(), History::new());
    let mut transcript = testkit::Transcript::new("s1");
    for _ in 0..6 {
        transcript = transcript.prompt("feed the walrus").answer("ok");
        grown.write(&transcript);
        grown.sync();
    }
    whole.write(&transcript);
    whole.sync();
    let line = |history: &History| history.hits("walrus")[0].line;
    assert_eq!((line(&whole), line(&grown)), (line(&whole), line(&whole)));
    let first = transcript.bytes();
    let first = String::from_utf8_lossy(&first).lines().position(|line| line.contains("walrus")).unwrap() + 1;
    assert_eq!(line(&grown), first as u64);
}

#[test]
fn an_index_where_nothing_can_be_written_answers() {
    use std::os::unix::fs::PermissionsExt as _;
    let history = History::new();
    history.write(&session("s1", "walrus", "ok"));
    history.sync();
    // A lock that cannot be had, as in a folder that is only read: who runs the tests may write anywhere.
    let lock = history.index().join("text/.tantivy-meta.lock");
    let _ = fs::remove_file(&lock);
    fs::create_dir(&lock).unwrap();
    fs::set_permissions(history.index().join("text"), fs::Permissions::from_mode(0o500)).unwrap();
    assert_eq!(history.found("walrus"), ["s1"]);
}

#[test]
fn work_stops_when_asked_and_goes_on_later() {
    let history = History::new();
    for n in 0..6 {
        let long = format!("{{\"type\":\"user\",\"toolUseResult\":\"{}\"}}\n", "x".repeat(3 << 20));
        let line =
            format!("{{\"type\":\"user\",\"uuid\":\"u{n}\",\"message\":{{\"content\":\"the walrus\"}}}}\n");
        history.write_in("-p", &format!("s{n}"), (long + &line).as_bytes());
    }
    let mut asked = 0;
    let mut stop_soon = |_: &search::IndexProgress| {
        asked += 1;
        asked < 4
    };
    let stopped = sync(&history.index(), &sources(&history.config()), &mut stop_soon).unwrap();
    assert!(stopped.pending_files > 0, "{stopped:?}");
    let left = pending(&history.index(), &sources(&history.config())).unwrap();
    assert_eq!(left.files, stopped.pending_files);
    let rest = history.sync();
    assert_eq!((rest.pending_files, history.found("walrus").len()), (0, 6));
    assert!(rest.bytes_read < 6 * (4 << 20), "what was read is not read again");
}

#[test]
fn damage_is_counted_and_passed_over() {
    let history = History::new();
    let mut bytes = session("s1", "walrus", "ok").bytes();
    bytes.extend(
        b"not json {\n\0\0\0\n\n{\"type\":\"user\",\"message\":{\"content\":\"the ostrich\"}}\n{\"torn",
    );
    history.write_in("-p", "s1", &bytes);
    let synced = history.sync();
    assert_eq!(synced.unreadable_lines, 2);
    assert_eq!(history.found("ostrich"), ["s1"]);
}

#[test]
fn an_index_that_was_opened_before_answers_while_nothing_is_new() {
    let history = History::new();
    history.write(&session("s1", "a heron", "It is a heron."));
    history.sync();
    let now = || fingerprint_of(&sources(&history.config()));
    let open = || Searcher::open(&history.index()).unwrap().unwrap();
    let opened = open();
    assert!(opened.is_fresh(now()).unwrap());
    history.write(&session("s2", "an egret", "It is an egret."));
    assert!(!opened.is_fresh(now()).unwrap(), "a transcript is new");
    history.sync();
    assert!(!opened.is_fresh(now()).unwrap(), "what it holds is of before");
    assert!(open().is_fresh(now()).unwrap());
}

//! Copies the conversations that OpenClaw keeps in SQLite to transcript files. Code that reads
//! transcripts reads these. Missing copies are created again, and copies of deleted conversations are removed.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use system::PreparedFile;

use super::session_database::{ConversationState, SessionDatabase};
use crate::Problem;
use crate::conversation_file::ConversationFile;
use crate::sqlite::AgentDatabase;

/// The file that says of which state the copies are.
const STATES: &str = "states.json";
/// Larger than any of these.
const CAP: u64 = 64 << 20;

/// Brings the copies in a private folder up to date, and lists them. What cannot be copied is reported.
pub fn copy_conversations(database: &AgentDatabase, folder: &Path) -> (Vec<ConversationFile>, Vec<Problem>) {
    let mut problems = Vec::new();
    let files = match update(database, folder, &mut problems) {
        Ok(files) => files,
        Err(problem) => {
            problems.push(problem);
            Vec::new()
        }
    };
    (files, problems)
}

fn update(
    database: &AgentDatabase,
    folder: &Path,
    problems: &mut Vec<Problem>,
) -> Result<Vec<ConversationFile>, Problem> {
    let open = database.open()?;
    problems.extend(open.warning());
    let states = open.states()?;
    if states.is_empty() && !folder.exists() {
        return Ok(Vec::new());
    }
    let unwritable = |path: &Path, error: &std::io::Error| {
        Problem::new(path, format!("cannot be written: {error}"), "Make its folder writable.")
    };
    system::create_private_folder(folder).map_err(|error| unwritable(folder, &error))?;
    let listed = folder.join(STATES);
    let known: BTreeMap<String, ConversationState> = system::read_small(&listed, CAP)
        .ok()
        .and_then(|content| serde_json::from_slice(&content).ok())
        .unwrap_or_default();
    let path = |session: &str| folder.join(format!("{session}.jsonl"));
    let mut copied: BTreeMap<String, ConversationState> = BTreeMap::new();
    for (session, state) in states {
        let (name, file) = (session.to_string(), path(session.as_str()));
        if known.get(&name) != Some(&state) || !file.exists() {
            copy(&open, &session, &file).map_err(|error| unwritable(&file, &error))??;
        }
        copied.insert(name, state);
    }
    for gone in known.keys().filter(|name| !copied.contains_key(*name)) {
        if gone.parse::<model::SessionId>().is_ok() {
            // A missing file counts as removed.
            let _ = fs::remove_file(path(gone));
        }
    }
    if copied != known {
        let text = serde_json::to_vec(&copied).unwrap_or_default();
        system::replace_private_file(&listed, &text).map_err(|error| unwritable(&listed, &error))?;
    }
    let file = |name: &String| {
        let path: PathBuf = path(name);
        let metadata = fs::symlink_metadata(&path).ok()?;
        Some(ConversationFile { session: name.parse().ok()?, path, metadata })
    };
    Ok(copied.keys().filter_map(file).collect())
}

/// Writes one copy. The outer error is of the file, the inner one of the database.
fn copy(
    open: &SessionDatabase,
    session: &model::SessionId,
    file: &Path,
) -> std::io::Result<Result<(), Problem>> {
    let mut read = Ok(0);
    let prepared = PreparedFile::write(file, |out| {
        let mut written = Ok(());
        read = open.lines(session, &mut |line| {
            // OpenClaw does not write lines with line breaks in them.
            written = if line.contains('\n') { Ok(()) } else { writeln!(out, "{line}") };
            written.is_ok()
        });
        written
    })?;
    if let Err(problem) = read {
        return Ok(Err(problem));
    }
    prepared.replace().map(Ok)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use database::rusqlite::Connection;

    use super::*;

    #[test]
    fn copies_follow_the_database() {
        let scratch = tempfile::tempdir().unwrap();
        let (path, folder) = (scratch.path().join("a.sqlite"), scratch.path().join("copies"));
        let connection = Connection::open(&path).unwrap();
        let run = |sql: &str| connection.execute_batch(sql).unwrap();
        run("CREATE TABLE session_nodes (session_key TEXT, entry_json TEXT, updated_at INTEGER);
             CREATE TABLE session_windows (session_id TEXT, session_key TEXT, updated_at INTEGER);
             CREATE TABLE transcript_events (session_id TEXT, seq INTEGER, event_json TEXT);
             INSERT INTO session_windows VALUES ('s1', 'k', 1), ('s2', 'k', 2);
             INSERT INTO transcript_events VALUES ('s1', 0, '{\"a\":1}'), ('s2', 0, '{}');");
        let place = AgentDatabase { path, schema: Some(23) };
        let texts = || {
            let (files, problems) = copy_conversations(&place, &folder);
            assert_eq!(problems, []);
            let text = |file: &ConversationFile| {
                assert_eq!(file.metadata.permissions().mode() & 0o777, 0o600);
                String::from_utf8(system::read_small(&file.path, 1000).unwrap()).unwrap()
            };
            files.iter().map(text).collect::<Vec<_>>()
        };
        assert_eq!(texts(), ["{\"a\":1}\n", "{}\n"]);
        run("INSERT INTO transcript_events VALUES ('s1', 1, '{\"b\":2}')");
        assert_eq!(texts(), ["{\"a\":1}\n{\"b\":2}\n", "{}\n"]);
        // What did not change is not written again.
        fs::write(folder.join("s1.jsonl"), "kept").unwrap();
        fs::set_permissions(folder.join("s1.jsonl"), fs::Permissions::from_mode(0o600)).unwrap();
        assert_eq!(texts()[0], "kept");
        run("DELETE FROM session_windows WHERE session_id = 's1'");
        assert_eq!(texts(), ["{}\n"]);
        assert!(!folder.join("s1.jsonl").exists());
    }
}

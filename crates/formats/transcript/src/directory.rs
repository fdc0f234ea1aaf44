//! Finds the directory in which a session can be continued: `claude` looks for a transcript in the folder named
//! after the directory it is started in.

use std::io;
use std::path::{Path, PathBuf};

use model::ProjectSlug;

use crate::reader::Reader;

/// The recorded directory that the transcript's folder is named after, else the first recorded one.
///
/// Sessions move: a `cd` changes the recorded directory and leaves the file where it is, a worktree moves the
/// file too. Usually the first record decides and little is read.
pub fn start_directory(transcript: &Path) -> io::Result<Option<PathBuf>> {
    let folder = transcript.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy();
    let mut reader = Reader::open(transcript)?;
    let (mut first, mut last) = (None, String::new());
    while let Some(line) = reader.next_line()? {
        let Ok(record) = line.record() else { continue };
        let cwd = record.cwd().or_else(|| record.relocated_cwd());
        let Some(cwd) = cwd.filter(|cwd| !record.is_sidechain() && *cwd != last) else { continue };
        last = cwd.into_owned();
        if is_named_after(&folder, &last) {
            return Ok(Some(last.into()));
        }
        first.get_or_insert_with(|| last.clone());
    }
    Ok(first.map(PathBuf::from))
}

/// The directory a session started in, and those it was moved to, in order.
pub fn home_directories(transcript: &Path) -> io::Result<Vec<PathBuf>> {
    let mut reader = Reader::open(transcript)?;
    let mut homes: Vec<PathBuf> = Vec::new();
    while let Some(line) = reader.next_line()? {
        let Ok(record) = line.record() else { continue };
        let started = record.cwd().filter(|_| homes.is_empty() && !record.is_sidechain());
        homes.extend(started.or_else(|| record.relocated_cwd()).map(|cwd| PathBuf::from(cwd.as_ref())));
    }
    Ok(homes)
}

fn is_named_after(folder: &str, directory: &str) -> bool {
    ProjectSlug::from_path(directory).is_folder(folder)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn check(folder: &str, directories: &[&str], expected: Option<&str>) {
        let scratch = tempfile::tempdir().unwrap();
        let file = scratch.path().join(folder).join("s1.jsonl");
        let line = |cwd: &&str| format!("{{\"type\":\"user\",\"uuid\":\"u\",\"cwd\":\"{cwd}\"}}\n");
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(
            &file,
            "{\"type\":\"mode\"}\njunk\n".to_owned() + &directories.iter().map(line).collect::<String>(),
        )
        .unwrap();
        assert_eq!(start_directory(&file).unwrap().as_deref(), expected.map(Path::new), "{folder}");
    }

    #[test]
    fn a_moved_sessions_directory_is_the_new_one() {
        let scratch = tempfile::tempdir().unwrap();
        let file = scratch.path().join("-p-b/s1.jsonl");
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        let records = [
            r#"{"type":"user","uuid":"u","cwd":"/p/a"}"#,
            r#"{"type":"relocated","relocatedCwd":"/p/b","sessionId":"s1"}"#,
        ];
        fs::write(&file, records.join("\n")).unwrap();
        assert_eq!(start_directory(&file).unwrap().as_deref(), Some(Path::new("/p/b")));
        assert_eq!(home_directories(&file).unwrap(), [Path::new("/p/a"), Path::new("/p/b")]);
    }

    #[test]
    fn the_project_folder_wins_over_the_first_record() {
        check("-p-a", &["/p/a", "/p/b"], Some("/p/a"));
        check("-p-b", &["/p/a", "/p/a", "/p/b"], Some("/p/b"));
        check("-p-x", &["/p/a", "/p/b"], Some("/p/a"));
        check("-p-x", &[], None);
        let long = format!("/{}", "x".repeat(250));
        let folder = format!("-{}-other1", "x".repeat(199));
        check(&folder, &["/p", &long], Some(&long));
    }
}

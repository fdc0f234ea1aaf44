//! Plans a pass: which files are new, have grown, moved, disappeared or reappeared.

use std::ffi::{OsStr, OsString};

use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

use crate::files::FileRow;
use crate::source::{SourceFile, SourceKind};

/// The work of a pass.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    /// Files with new content, newest first.
    pub(crate) todo: Vec<Todo>,
    /// The number of new bytes.
    pub(crate) bytes: u64,
    /// Files that disappeared and whose text stays indexed.
    pub(crate) gone: Vec<FileRow>,
    /// Files that have vanished and take their text with them.
    pub(crate) removed: Vec<FileRow>,
    /// Vanished files that are there again, unchanged.
    pub(crate) back: Vec<FileRow>,
}

impl Plan {
    pub(crate) fn is_empty(&self) -> bool {
        self.todo.is_empty() && self.gone.is_empty() && self.back.is_empty() && self.removed.is_empty()
    }
}

/// A file with new content.
#[derive(Debug)]
pub(crate) struct Todo {
    pub(crate) source: SourceFile,
    pub(crate) known: Option<FileRow>,
}

impl Todo {
    pub(crate) fn new_bytes(&self) -> u64 {
        let known = self.known.as_ref().map_or(0, |row| row.mark.offset);
        self.source.stamp.size.checked_sub(known).unwrap_or(self.source.stamp.size)
    }
}

/// Compares the list of files with the files as they are now.
pub(crate) fn plan(rows: Vec<FileRow>, sources: &[SourceFile]) -> Plan {
    let mut plan = Plan::default();
    // Not by `Path`, whose hash takes it apart.
    let present: FxHashSet<&OsStr> = sources.iter().map(|source| source.path.as_os_str()).collect();
    let mut by_path: FxHashMap<OsString, FileRow> =
        FxHashMap::with_capacity_and_hasher(rows.len(), FxBuildHasher);
    let mut moved: FxHashMap<(u64, u64), FileRow> = FxHashMap::default();
    for row in rows {
        if present.contains(row.path.as_os_str()) {
            by_path.insert(row.path.clone().into_os_string(), row);
        } else {
            moved.insert((row.stamp.dev, row.stamp.ino), row);
        }
    }
    for source in sources {
        let known = by_path.remove(source.path.as_os_str()).or_else(|| {
            let row = moved.get(&(source.stamp.dev, source.stamp.ino))?;
            is_moved(row, source).then(|| row.clone())
        });
        if let Some(row) = &known {
            moved.remove(&(row.stamp.dev, row.stamp.ino));
            if row.stamp == source.stamp && row.path == source.path {
                if row.gone {
                    plan.back.push(FileRow { gone: false, ..row.clone() });
                }
                continue;
            }
        }
        let todo = Todo { source: source.clone(), known };
        plan.bytes += todo.new_bytes();
        plan.todo.push(todo);
    }
    let (kept, removed): (Vec<_>, _) = moved.into_values().partition(|row| row.source.outlives_file());
    plan.removed = removed;
    plan.gone = kept.into_iter().filter(|row| !row.gone).map(|row| FileRow { gone: true, ..row }).collect();
    // A record in several files belongs to the first, in an order that does not depend on how a folder is listed.
    plan.todo.sort_by(|one, other| {
        let newest = other.source.stamp.mtime.cmp(&one.source.stamp.mtime);
        newest.then_with(|| one.source.path.cmp(&other.source.path))
    });
    plan
}

/// Whether a file with the same inode is the one that was indexed, and not an inode that was used again: it
/// moved between folders under its name, or is OpenClaw's transcript that was put away.
fn is_moved(row: &FileRow, source: &SourceFile) -> bool {
    row.source == source.kind
        && (row.path.file_name() == source.path.file_name()
            || (source.kind == SourceKind::Sessions && row.session == source.session))
}

#[cfg(test)]
mod tests {
    use system::FileStamp;

    use super::*;

    #[test]
    fn the_order_of_files_is_that_of_their_age_and_names() {
        let source = |path: &str, mtime| SourceFile {
            path: path.into(),
            stamp: FileStamp { mtime, ..FileStamp::default() },
            kind: SourceKind::ClaudeSessions,
            session: None,
            subagent: false,
        };
        let mut sources = [source("/b", 1), source("/a", 1), source("/new", 2), source("/c", 1)];
        for _ in 0..2 {
            let plan = plan(Vec::new(), &sources);
            let order: Vec<_> = plan.todo.iter().filter_map(|todo| todo.source.path.to_str()).collect();
            assert_eq!(order, ["/new", "/a", "/b", "/c"]);
            sources.reverse();
        }
    }
}

//! Whether files are as they were: what the system says of one, and a number for many.

use std::fs::Metadata;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use rustix::fs::Stat;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// What `stat` reports of a file. A file with the same stamp as before is unchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct FileStamp {
    /// The number of the device.
    pub dev: u64,
    /// The number of the inode.
    pub ino: u64,
    /// The length in bytes.
    pub size: u64,
    /// The modification time, in nanoseconds since 1970.
    pub mtime: i64,
}

impl FileStamp {
    /// The stamp in the metadata of a file.
    pub fn from_metadata(metadata: &Metadata) -> Self {
        Self {
            dev: metadata.dev(),
            ino: metadata.ino(),
            size: metadata.size(),
            mtime: metadata.mtime().saturating_mul(1_000_000_000).saturating_add(metadata.mtime_nsec()),
        }
    }

    /// The stamp in what [`rustix::fs::statat`] returns.
    #[allow(
        clippy::unnecessary_cast,
        trivial_numeric_casts,
        reason = "the fields have other types on other systems"
    )]
    #[expect(clippy::cast_sign_loss, clippy::cast_possible_wrap, reason = "as the standard library has them")]
    pub fn from_stat(stat: &Stat) -> Self {
        Self {
            dev: stat.st_dev as u64,
            ino: stat.st_ino as u64,
            size: stat.st_size as u64,
            mtime: (stat.st_mtime as i64)
                .saturating_mul(1_000_000_000)
                .saturating_add(stat.st_mtime_nsec as i64),
        }
    }

    /// The modification time as a moment; `None` where that is out of range.
    pub fn modified(&self) -> Option<jiff::Timestamp> {
        jiff::Timestamp::from_nanosecond(i128::from(self.mtime)).ok()
    }
}

/// A hash of the paths and stamps of files. It does not depend on their order, and the fingerprint of two groups of
/// files is the wrapping sum of theirs.
pub fn fingerprint<'a>(files: impl Iterator<Item = (&'a Path, &'a FileStamp)>) -> u64 {
    let one = |(path, stamp): (&Path, &FileStamp)| {
        let FileStamp { dev, ino, size, mtime } = stamp;
        let numbers = [*dev, *ino, *size, mtime.cast_unsigned()].map(u64::to_le_bytes);
        xxh3_64_with_seed(path.as_os_str().as_bytes(), xxh3_64(numbers.as_flattened()))
    };
    files.map(one).fold(0, u64::wrapping_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_and_handle_give_the_same_stamp() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("file");
        std::fs::write(&path, "12345").unwrap();
        let stamp = FileStamp::from_metadata(&path.metadata().unwrap());
        assert_eq!(FileStamp::from_stat(&rustix::fs::stat(&path).unwrap()), stamp);
        assert_eq!(stamp.size, 5);
        assert!(stamp.modified().is_some());
    }

    #[test]
    fn a_fingerprint_depends_on_every_path_and_stamp_and_on_no_order() {
        let (one, other) =
            (FileStamp { size: 1, ..FileStamp::default() }, FileStamp { mtime: 1, ..FileStamp::default() });
        let (a, b) = (Path::new("a"), Path::new("b"));
        let both = fingerprint([(a, &one), (b, &other)].into_iter());
        assert_eq!(fingerprint([(b, &other), (a, &one)].into_iter()), both);
        let alone = |path, stamp| fingerprint([(path, stamp)].into_iter());
        assert_eq!(alone(a, &one).wrapping_add(alone(b, &other)), both);
        for different in [[(b, &one), (a, &other)], [(a, &one), (a, &other)], [(a, &one), (b, &one)]] {
            assert_ne!(fingerprint(different.into_iter()), both);
        }
    }
}

//! Files of data that can be computed again: a cache that is whole, of the current format, and made of what is there
//! now, or is absent.
//!
//! A file holds a header, a table of its sections and the sections. All numbers are little-endian:
//!
//! | bytes | |
//! |---|---|
//! | 8 | [`MAGIC`] |
//! | 4 | the format of the sections |
//! | 4 | the number of sections |
//! | 16 | the fingerprint |
//! | 8 | the checksum of the bytes above and of the table |
//! | 16 each | the table: the length and the checksum of each section |
//!
//! Checksums are XXH3 with 64 bits.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use crate::read::open_regular;
use crate::replace::replace_without_sync;

const MAGIC: [u8; 8] = *b"BSTSNAP\n";
/// The length of the header up to its checksum, in bytes.
const HEADER: usize = 32;
const CHECKSUM: usize = size_of::<u64>();
/// The length of a row of the table, in bytes.
const ROW: usize = 16;
/// The largest number of sections: their table has a megabyte.
const MAX_SECTIONS: usize = 1 << 16;
/// The longest section, in bytes.
const MAX_SECTION: u64 = 256 << 20;

/// An open snapshot. Its sections are read one by one, by any number of threads.
///
/// A snapshot stays readable when its file is replaced meanwhile.
#[derive(Debug)]
pub struct Snapshot {
    file: File,
    sections: Vec<Section>,
}

#[derive(Debug, Clone, Copy)]
struct Section {
    offset: u64,
    length: usize,
    checksum: u64,
}

impl Snapshot {
    /// Opens a snapshot; `None` where there is none of this format and fingerprint, or where it is damaged.
    pub fn open(path: &Path, format: u32, fingerprint: u128) -> Option<Self> {
        let file = open_regular(path).ok()?;
        let mut header = [0; HEADER + CHECKSUM];
        file.read_exact_at(&mut header, 0).ok()?;
        let (header, checksum) = header.split_first_chunk::<HEADER>()?;
        let count = u32::from_le_bytes(*header[12..].first_chunk()?);
        let count = usize::try_from(count).ok().filter(|count| *count <= MAX_SECTIONS)?;
        if *header != self::header(format, count, fingerprint) {
            return None;
        }
        let mut table = vec![0; count * ROW];
        file.read_exact_at(&mut table, (HEADER + CHECKSUM) as u64).ok()?;
        if checksum != table_checksum(header, &table).to_le_bytes() {
            return None;
        }
        let begin = (HEADER + CHECKSUM + table.len()) as u64;
        let (sections, end) = sections(&table, begin)?;
        (file.metadata().ok()?.len() == end).then_some(Self { file, sections })
    }

    /// The numbers of its sections, for [`Self::read_section`].
    pub fn sections(&self) -> Range<usize> {
        0..self.sections.len()
    }

    /// Reads a section into `buffer`, in place of what that held; `None` where it is damaged or cannot be read.
    pub fn read_section(&self, number: usize, buffer: &mut Vec<u8>) -> Option<()> {
        let section = self.sections.get(number)?;
        buffer.resize(section.length, 0);
        self.file.read_exact_at(buffer, section.offset).ok()?;
        (xxh3_64(buffer) == section.checksum).then_some(())
    }

    /// Writes a snapshot in place of the one at `path`, if there is one; only its owner can read it.
    ///
    /// `format` is the version of what the sections hold, `fingerprint` identifies what they were made of. It is not
    /// synced: what a power cut leaves of it is found damaged, and costs the time to make it again.
    pub fn write(path: &Path, format: u32, fingerprint: u128, sections: &[Vec<u8>]) -> io::Result<()> {
        let is_too_long = |section: &Vec<u8>| section.len() as u64 > MAX_SECTION;
        if sections.len() > MAX_SECTIONS || sections.iter().any(is_too_long) {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let row = |section: &Vec<u8>| [section.len() as u64, xxh3_64(section)].map(u64::to_le_bytes);
        let table: Vec<u8> = sections.iter().flat_map(row).flatten().collect();
        let header = header(format, sections.len(), fingerprint);
        let checksum = table_checksum(&header, &table).to_le_bytes();
        let parts = [&header[..], &checksum, &table].into_iter().chain(sections.iter().map(Vec::as_slice));
        replace_without_sync(path, parts)
    }
}

fn header(format: u32, sections: usize, fingerprint: u128) -> [u8; HEADER] {
    let mut header = [0; HEADER];
    header[..8].copy_from_slice(&MAGIC);
    header[8..12].copy_from_slice(&format.to_le_bytes());
    // No more than `MAX_SECTIONS`.
    header[12..16].copy_from_slice(&u32::try_from(sections).unwrap_or(u32::MAX).to_le_bytes());
    header[16..].copy_from_slice(&fingerprint.to_le_bytes());
    header
}

fn table_checksum(header: &[u8; HEADER], table: &[u8]) -> u64 {
    let mut hash = Xxh3::new();
    hash.update(header);
    hash.update(table);
    hash.digest()
}

/// The sections of a table, the first of which begins at `begin`, and where the last one ends.
fn sections(table: &[u8], begin: u64) -> Option<(Vec<Section>, u64)> {
    let mut offset = begin;
    let (rows, _) = table.as_chunks::<ROW>();
    let section = |row: &[u8; ROW]| {
        let (length, checksum) = row.split_first_chunk()?;
        let length = Some(u64::from_le_bytes(*length)).filter(|length| *length <= MAX_SECTION)?;
        let section = Section {
            offset,
            length: usize::try_from(length).ok()?,
            checksum: u64::from_le_bytes(*checksum.first_chunk()?),
        };
        offset = offset.checked_add(length)?;
        Some(section)
    };
    let sections = rows.iter().map(section).collect::<Option<Vec<_>>>()?;
    Some((sections, offset))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use proptest::collection::vec;
    use proptest::prelude::{Just, Strategy, any, proptest};
    use proptest::{prop_assert_eq, prop_oneof};

    use super::*;

    const FINGERPRINT: u128 = 0x0123_4567_89ab_cdef_0011_2233_4455_6677;

    /// All sections; `None` where the snapshot or one of them is absent or damaged.
    fn load(path: &Path, format: u32, fingerprint: u128) -> Option<Vec<Vec<u8>>> {
        let snapshot = Snapshot::open(path, format, fingerprint)?;
        let mut buffer = vec![1; 3];
        let section = |number| {
            snapshot.read_section(number, &mut buffer)?;
            Some(buffer.clone())
        };
        snapshot.sections().map(section).collect()
    }

    #[test]
    fn a_snapshot_is_read_only_with_the_same_format_and_fingerprint() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("snapshot");
        assert!(load(&path, 1, FINGERPRINT).is_none());
        for sections in [vec![], vec![vec![]], vec![b"one".to_vec(), vec![], vec![7; 5000]]] {
            Snapshot::write(&path, 1, FINGERPRINT, &sections).unwrap();
            assert_eq!(load(&path, 1, FINGERPRINT), Some(sections));
            assert_eq!(load(&path, 2, FINGERPRINT), None);
            assert_eq!(load(&path, 1, FINGERPRINT + 1), None);
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
        assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 1);
        assert!(Snapshot::open(&path, 1, FINGERPRINT).unwrap().read_section(3, &mut Vec::new()).is_none());
    }

    #[test]
    fn an_open_snapshot_survives_its_replacement() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("snapshot");
        Snapshot::write(&path, 1, 0, &[b"old".to_vec()]).unwrap();
        let open = Snapshot::open(&path, 1, 0).unwrap();
        Snapshot::write(&path, 1, 0, &[b"newer".to_vec()]).unwrap();
        let mut buffer = Vec::new();
        open.read_section(0, &mut buffer).unwrap();
        assert_eq!(buffer, b"old");
    }

    /// What can become of a file; positions are taken modulo its length.
    #[derive(Debug, Clone)]
    enum Damage {
        Changed { at: usize, by: u8 },
        CutOff { at: usize },
        ZeroedFrom { at: usize },
        Appended(Vec<u8>),
    }

    fn damage() -> impl Strategy<Value = Damage> {
        prop_oneof![
            (any::<usize>(), 1..=u8::MAX).prop_map(|(at, by)| Damage::Changed { at, by }),
            any::<usize>().prop_map(|at| Damage::CutOff { at }),
            any::<usize>().prop_map(|at| Damage::ZeroedFrom { at }),
            prop_oneof![Just(vec![0]), vec(any::<u8>(), 1..50)].prop_map(Damage::Appended),
        ]
    }

    proptest! {
        #[test]
        fn any_damage_makes_it_absent(
            sections in vec(vec(any::<u8>(), 0..200), 0..8),
            format: u32,
            fingerprint: u128,
            damage in damage(),
        ) {
            let scratch = tempfile::tempdir().unwrap();
            let path = scratch.path().join("snapshot");
            Snapshot::write(&path, format, fingerprint, &sections).unwrap();
            let whole = crate::read_small(&path, 1 << 20).unwrap();
            let mut bytes = whole.clone();
            let length = bytes.len();
            match damage {
                Damage::Changed { at, by } => bytes[at % length] ^= by,
                Damage::CutOff { at } => bytes.truncate(at % length),
                Damage::ZeroedFrom { at } => bytes[at % length..].fill(0),
                Damage::Appended(more) => bytes.extend(more),
            }
            fs::write(&path, &bytes).unwrap();
            let expected = (bytes == whole).then_some(sections);
            prop_assert_eq!(load(&path, format, fingerprint), expected);
        }
    }

    #[test]
    fn a_change_of_any_byte_is_detected() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("snapshot");
        Snapshot::write(&path, 1, FINGERPRINT, &[b"one".to_vec(), b"two and three".to_vec()]).unwrap();
        let whole = crate::read_small(&path, 1 << 20).unwrap();
        for at in 0..whole.len() {
            let mut changed = whole.clone();
            changed[at] ^= 1;
            fs::write(&path, &changed).unwrap();
            assert!(load(&path, 1, FINGERPRINT).is_none(), "byte {at} is changed");
            fs::write(&path, &whole[..at]).unwrap();
            assert!(load(&path, 1, FINGERPRINT).is_none(), "cut off at {at}");
        }
    }
}

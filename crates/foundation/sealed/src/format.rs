//! The bytes of a copy: what precedes each frame, and what the file with the last frame begins with.
//!
//! Both are zstd's skippable frames, so that other programs pass over them.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

use system::FileStamp;
use xxhash_rust::xxh3::xxh3_64;

/// How many bytes of the copied file a full frame holds.
pub const FRAME: usize = 1 << 20;
/// How well frames are compressed: what more would save costs more time than it is worth.
const LEVEL: i32 = 3;
/// The most that a frame can take: zstd adds little to what it cannot compress.
pub(crate) const LARGEST: usize = FRAME + FRAME / 128 + 1024;

const SKIPPABLE: u32 = 0x184D_2A5B;
const FRAME_MAGIC: u32 = 0x3146_5342;
const TAIL_MAGIC: u32 = 0x3254_5342;
/// That of copies made before the length of the file was noted.
const FIRST_TAIL_MAGIC: u32 = 0x3154_5342;
/// Skippable header, magic, offset, length, packed length, hash, hash of the header.
pub(crate) const FRAME_HEAD: usize = 8 + 4 + 8 + 4 + 4 + 8 + 8;
/// Skippable header, magic, nine numbers of the source, the length of the full frames, hash of the header.
pub(crate) const TAIL_HEAD: usize = 8 + 4 + 9 * 8 + 8 + 8;
/// The same with six numbers. A frame follows, so that no file is shorter than [`TAIL_HEAD`].
const FIRST_TAIL_HEAD: usize = TAIL_HEAD - 3 * 8;

/// What the copied file was when it was copied last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SourceStamp {
    /// Its stamp; the size is that of the copy.
    pub stamp: FileStamp,
    /// When it was created, in nanoseconds since 1970.
    pub created: i64,
    /// How much of it was read; that is the length of the copy, unless secrets were left out.
    pub taken: u64,
    /// How long it was then: longer than `taken` where copying was interrupted.
    pub whole: u64,
    /// What was done to it on the way.
    pub form: CopyForm,
}

impl SourceStamp {
    /// How many bytes of the file were not copied.
    pub fn missing(&self) -> u64 {
        self.whole.saturating_sub(self.taken)
    }
}

/// What a copy has of the file's bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CopyForm {
    /// All as they are.
    #[default]
    Exact,
    /// What is left once secrets are replaced.
    Redacted {
        /// How many secrets were replaced.
        secrets: u64,
        /// The hash of the last bytes of the file that were read, by which it is known again.
        last: u64,
    },
}

/// What precedes a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FrameHead {
    /// Where in the copied file it begins.
    pub(crate) offset: u64,
    /// How many bytes of that it holds.
    pub(crate) length: u32,
    /// How many bytes it takes.
    pub(crate) packed: u32,
    /// The hash of what it holds.
    pub(crate) hash: u64,
}

/// What the file with the last frame begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct TailHead {
    pub(crate) source: SourceStamp,
    /// How many bytes of the file with the full frames count.
    pub(crate) full: u64,
    /// Where the last frame is.
    pub(crate) frame_at: u64,
}

/// Packs bytes into a frame with its head.
pub(crate) fn pack(offset: u64, bytes: &[u8], out: &mut Vec<u8>) -> io::Result<()> {
    let packed = zstd::bulk::compress(bytes, LEVEL)?;
    let head = FrameHead {
        offset,
        length: length(bytes.len())?,
        packed: length(packed.len())?,
        hash: xxh3_64(bytes),
    };
    out.extend_from_slice(&head.to_bytes());
    out.extend_from_slice(&packed);
    Ok(())
}

/// Unpacks the frame that follows its head at `at`, and checks what it holds.
pub(crate) fn unpack(file: &File, at: u64, head: &FrameHead) -> io::Result<Vec<u8>> {
    let mut packed = vec![0; head.packed as usize];
    file.read_exact_at(&mut packed, at + FRAME_HEAD as u64).map_err(|error| cut(error, head.offset))?;
    let bytes = zstd::bulk::decompress(&packed, head.length as usize).map_err(|_| damaged(head.offset))?;
    if bytes.len() != head.length as usize || xxh3_64(&bytes) != head.hash {
        return Err(damaged(head.offset));
    }
    Ok(bytes)
}

/// Reads the head of the frame at `at`, which has to hold what begins at `offset` of the copied file.
pub(crate) fn read_frame_head(file: &File, at: u64, offset: u64) -> io::Result<FrameHead> {
    let mut bytes = [0; FRAME_HEAD];
    file.read_exact_at(&mut bytes, at).map_err(|error| cut(error, offset))?;
    FrameHead::from_bytes(&bytes).filter(|head| head.offset == offset).ok_or_else(|| damaged(offset))
}

/// Reads the head of the file with the last frame.
pub(crate) fn read_tail_head(file: &File) -> io::Result<TailHead> {
    let mut bytes = [0; TAIL_HEAD];
    file.read_exact_at(&mut bytes, 0).map_err(|error| cut(error, 0))?;
    let first = || TailHead::from_first_bytes(bytes.first_chunk()?);
    TailHead::from_bytes(&bytes).or_else(first).ok_or_else(|| damaged(0))
}

/// The error for a copy of which something cannot be read any more.
pub(crate) fn damaged(offset: u64) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("the archived copy is damaged at byte {offset}"))
}

fn cut(error: io::Error, offset: u64) -> io::Error {
    if error.kind() == io::ErrorKind::UnexpectedEof { damaged(offset) } else { error }
}

fn length(length: usize) -> io::Result<u32> {
    u32::try_from(length).map_err(|_| io::ErrorKind::FileTooLarge.into())
}

impl FrameHead {
    fn to_bytes(self) -> [u8; FRAME_HEAD] {
        let mut out = Fields::<FRAME_HEAD>::new(FRAME_MAGIC);
        out.put(&self.offset.to_le_bytes());
        out.put(&self.length.to_le_bytes());
        out.put(&self.packed.to_le_bytes());
        out.put(&self.hash.to_le_bytes());
        out.sealed()
    }

    fn from_bytes(bytes: &[u8; FRAME_HEAD]) -> Option<Self> {
        let mut fields = Fields::opened(bytes, FRAME_MAGIC)?;
        let head = Self {
            offset: fields.next_u64(),
            length: fields.next_u32(),
            packed: fields.next_u32(),
            hash: fields.next_u64(),
        };
        let is_possible = head.length as usize <= FRAME && head.packed as usize <= LARGEST;
        is_possible.then_some(head)
    }
}

impl TailHead {
    /// Where in the copied file the last frame begins: the others are full.
    pub(crate) fn last_frame_offset(&self) -> u64 {
        self.source.stamp.size - self.source.stamp.size % FRAME as u64
    }

    pub(crate) fn to_bytes(self) -> [u8; TAIL_HEAD] {
        let FileStamp { dev, ino, size, mtime } = self.source.stamp;
        let mut out = Fields::<TAIL_HEAD>::new(TAIL_MAGIC);
        let SourceStamp { created, taken, whole, form, .. } = self.source;
        // The number of secrets is one more than that, and 0 where none was looked for.
        let (secrets, last) = match form {
            CopyForm::Exact => (0, 0),
            CopyForm::Redacted { secrets, last } => (secrets.saturating_add(1), last),
        };
        let mtime = mtime.cast_unsigned();
        for number in [dev, ino, size, mtime, created.cast_unsigned(), taken, whole, secrets, last, self.full]
        {
            out.put(&number.to_le_bytes());
        }
        out.sealed()
    }

    fn from_bytes(bytes: &[u8; TAIL_HEAD]) -> Option<Self> {
        let mut fields = Fields::opened(bytes, TAIL_MAGIC)?;
        let source = fields.next_source();
        let whole = fields.next_u64();
        let (secrets, last) = (fields.next_u64(), fields.next_u64());
        let form = match secrets.checked_sub(1) {
            None => CopyForm::Exact,
            Some(secrets) => CopyForm::Redacted { secrets, last },
        };
        let source = SourceStamp { whole, form, ..source };
        Some(Self { source, full: fields.next_u64(), frame_at: TAIL_HEAD as u64 })
    }

    fn from_first_bytes(bytes: &[u8; FIRST_TAIL_HEAD]) -> Option<Self> {
        let mut fields = Fields::opened(bytes, FIRST_TAIL_MAGIC)?;
        let source = fields.next_source();
        Some(Self { source, full: fields.next_u64(), frame_at: FIRST_TAIL_HEAD as u64 })
    }
}

/// A skippable frame of fixed length whose last eight bytes are a hash of those before.
struct Fields<const N: usize> {
    bytes: [u8; N],
    at: usize,
}

impl<const N: usize> Fields<N> {
    fn new(magic: u32) -> Self {
        let mut fields = Self { bytes: [0; N], at: 0 };
        fields.put(&SKIPPABLE.to_le_bytes());
        fields.put(&u32::try_from(N - 8).unwrap_or_default().to_le_bytes());
        fields.put(&magic.to_le_bytes());
        fields
    }

    /// The fields behind the magic number, where it and the hash are right.
    fn opened(bytes: &[u8; N], magic: u32) -> Option<Self> {
        let begins = Self::new(magic);
        let is_whole = bytes[..begins.at] == begins.bytes[..begins.at]
            && bytes[N - 8..] == xxh3_64(&bytes[..N - 8]).to_le_bytes();
        is_whole.then_some(Self { bytes: *bytes, at: begins.at })
    }

    fn put(&mut self, bytes: &[u8]) {
        self.bytes[self.at..self.at + bytes.len()].copy_from_slice(bytes);
        self.at += bytes.len();
    }

    fn sealed(mut self) -> [u8; N] {
        let hash = xxh3_64(&self.bytes[..N - 8]);
        self.bytes[N - 8..].copy_from_slice(&hash.to_le_bytes());
        self.bytes
    }

    fn next<const L: usize>(&mut self) -> [u8; L] {
        let mut bytes = [0; L];
        bytes.copy_from_slice(&self.bytes[self.at..self.at + L]);
        self.at += L;
        bytes
    }

    /// What every head has of the source.
    fn next_source(&mut self) -> SourceStamp {
        let (dev, ino, size) = (self.next_u64(), self.next_u64(), self.next_u64());
        let (mtime, created) = (self.next_u64().cast_signed(), self.next_u64().cast_signed());
        let taken = self.next_u64();
        let stamp = FileStamp { dev, ino, size, mtime };
        SourceStamp { stamp, created, taken, whole: taken, form: CopyForm::Exact }
    }

    fn next_u32(&mut self) -> u32 {
        u32::from_le_bytes(self.next())
    }

    fn next_u64(&mut self) -> u64 {
        u64::from_le_bytes(self.next())
    }
}

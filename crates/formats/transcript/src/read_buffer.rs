//! The memory that lines are read into; a thread's next reader takes over that of the one before.
//!
//! All of its bytes are set, so that a file can be read into it at any place. Most files are small: to get new memory
//! for each, and to set it to zero, would take as long as to read some of them.

use std::cell::Cell;
use std::ops::{Deref, DerefMut};

/// The most bytes that are kept for the next reader.
const KEPT: usize = 256 << 10;

thread_local! {
    static SPARE: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// Bytes that a reader fills.
#[derive(Debug)]
pub(crate) struct ReadBuffer(Vec<u8>);

impl ReadBuffer {
    /// The buffer that this thread's reader before left, or an empty one.
    pub(crate) fn take() -> Self {
        Self(SPARE.take())
    }

    /// How many bytes of memory it takes.
    pub(crate) fn capacity(&self) -> usize {
        self.0.capacity()
    }

    /// Makes room in memory for as many bytes in all, without setting them.
    pub(crate) fn reserve(&mut self, length: usize) {
        self.0.reserve_exact(length.saturating_sub(self.0.len()));
    }

    /// Has at least as many bytes.
    pub(crate) fn grow(&mut self, length: usize) {
        if self.0.len() < length {
            self.0.resize(length, 0);
        }
    }

    /// Has at most as many bytes, and gives the memory of the others back.
    pub(crate) fn shrink(&mut self, length: usize) {
        self.0.truncate(length);
        self.0.shrink_to(length);
    }
}

impl Deref for ReadBuffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl DerefMut for ReadBuffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }
}

impl Drop for ReadBuffer {
    fn drop(&mut self) {
        let buffer = std::mem::take(&mut self.0);
        if buffer.capacity() <= KEPT {
            // A thread that ends keeps nothing.
            let _ = SPARE.try_with(|spare| spare.set(buffer));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_reader_of_the_thread_has_the_same_memory() {
        let mut first = ReadBuffer::take();
        first.grow(1000);
        let at = first.as_ptr();
        drop(first);
        let next = ReadBuffer::take();
        assert_eq!((next.as_ptr(), next.len()), (at, 1000));
        assert_eq!(ReadBuffer::take().len(), 0, "one that is in use is nobody else's");
    }

    #[test]
    fn the_memory_of_a_long_line_is_not_kept() {
        let mut long = ReadBuffer::take();
        long.grow(KEPT + 1);
        drop(long);
        assert_eq!(ReadBuffer::take().len(), 0);
        let mut long = ReadBuffer::take();
        long.grow(4 * KEPT);
        long.shrink(KEPT);
        assert_eq!((long.len(), long.capacity()), (KEPT, KEPT));
    }
}

//! The commonest runs of all, short and of one word: kept side by side, so that finding one again costs a
//! single look into memory.

/// The longest run that fits, in bytes.
const RUN: usize = 16;
/// The longest word that fits, in bytes.
const WORD: usize = 14;
/// The number of slots, as a power of two; each run has one slot, and the latest run keeps it.
const SLOTS: u32 = 13;

/// The number of runs from which the cache is allocated: a query or a snippet has fewer, and half a megabyte would
/// cost more than it saves.
pub(crate) const MANY: usize = 1 << 10;

/// Maps a short run of letters and digits to its word.
#[derive(Default)]
pub(crate) struct WordCache {
    /// None before there were many runs.
    slots: Vec<Slot>,
    /// The number of runs before the cache was allocated.
    before: usize,
}

/// Two fill a line of the processor's cache.
#[derive(Clone, Copy, Default)]
#[repr(align(32))]
struct Slot {
    key: Key,
    length: u8,
    word: [u8; WORD],
}

/// A short run as its first bytes, last bytes and length; an empty slot has length 0.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Key {
    first: u64,
    last: u64,
    length: u8,
}

impl WordCache {
    /// The word of a run that was kept.
    pub(crate) fn get(&self, run: &str) -> Option<&str> {
        let key = Key::new(run.as_bytes())?;
        let place = self.slots.get(key.place()).filter(|place| place.key == key)?;
        std::str::from_utf8(place.word.get(..usize::from(place.length))?).ok()
    }

    /// Keeps the word of a run, where both are short and there were many before.
    pub(crate) fn keep(&mut self, run: &str, word: &str) {
        if self.slots.is_empty() {
            self.before += 1;
            if self.before <= MANY {
                return;
            }
            self.slots = vec![Slot::default(); 1 << SLOTS];
        }
        let (Some(key), Ok(length)) = (Key::new(run.as_bytes()), u8::try_from(word.len())) else { return };
        let mut kept = [0; WORD];
        let Some(room) = kept.get_mut(..word.len()) else { return };
        room.copy_from_slice(word.as_bytes());
        if let Some(place) = self.slots.get_mut(key.place()) {
            *place = Slot { key, length, word: kept };
        }
    }
}

impl Key {
    /// The two ends overlap where the run is shorter than both.
    fn new(run: &[u8]) -> Option<Self> {
        let long = || Some((u64::from_le_bytes(*run.first_chunk()?), u64::from_le_bytes(*run.last_chunk()?)));
        let short =
            || Some((u32::from_le_bytes(*run.first_chunk()?), u32::from_le_bytes(*run.last_chunk()?)));
        let (first, last) = match run {
            [] => return None,
            [first, .., last] if run.len() < 4 => {
                (u64::from(*first) << 8 | u64::from(run[1]), (*last).into())
            }
            [only] => (u64::from(*only), 0),
            _ if run.len() < 8 => short().map(|(first, last)| (first.into(), last.into()))?,
            _ if run.len() <= RUN => long()?,
            _ => return None,
        };
        Some(Self { first, last, length: u8::try_from(run.len()).ok()? })
    }

    fn place(self) -> usize {
        const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
        let mixed = (self.first ^ self.last.rotate_left(29)).wrapping_mul(ODD);
        usize::try_from(mixed >> (u64::BITS - SLOTS)).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_found_until_another_takes_its_place() {
        let mut words = WordCache::default();
        for _ in 0..MANY {
            words.keep("Connections", "connect");
            assert_eq!(words.get("Connections"), None);
        }
        words.keep("Connections", "connect");
        assert_eq!(words.get("Connections"), Some("connect"));
        assert_eq!(words.get("connections"), None);
        for (run, word) in [("x".repeat(RUN + 1), "x".to_owned()), ("x".to_owned(), "x".repeat(WORD + 1))] {
            words.keep(&run, &word);
            assert_eq!(words.get(&run), None);
        }
        let mut kept = 0;
        for number in 0..4 << SLOTS {
            let run = format!("run{number}");
            words.keep(&run, &run);
            assert_eq!(words.get(&run), Some(run.as_str()));
            kept += usize::from(words.get("Connections").is_some());
        }
        assert!(kept < 4 << SLOTS);
    }

    proptest::proptest! {
        #[test]
        fn no_two_runs_are_one(left in "[ab]{0,17}", right in "[ab]{0,17}") {
            let key = |run: &str| Key::new(run.as_bytes());
            proptest::prop_assert!(left == right || key(&left) != key(&right) || key(&left).is_none());
        }
    }
}

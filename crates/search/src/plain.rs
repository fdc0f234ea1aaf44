//! The commonest runs of all, short and of one word: kept side by side, so that finding one again costs a
//! single look into memory.

/// The longest run and the longest word that fit, in bytes.
const FITS: usize = 24;
/// How many places there are; a run has one, and whoever comes next takes it.
const PLACES: usize = 1 << 13;

/// Which word a short run gives.
pub(crate) struct PlainWords {
    places: Vec<Place>,
}

#[derive(Clone, Copy, Default)]
struct Place {
    /// Filled up with zeros, which stand in no run.
    run: [u8; FITS],
    word: [u8; FITS],
    length: u8,
}

impl Default for PlainWords {
    fn default() -> Self {
        Self { places: vec![Place::default(); PLACES] }
    }
}

impl PlainWords {
    /// The word of a run that was kept.
    pub(crate) fn get(&self, run: &str) -> Option<&str> {
        let run = padded(run)?;
        let place = &self.places[place(&run)];
        if place.run != run {
            return None;
        }
        std::str::from_utf8(place.word.get(..usize::from(place.length))?).ok()
    }

    /// Keeps the word of a run, where both are short.
    pub(crate) fn keep(&mut self, run: &str, word: &str) {
        let (Some(run), Some(padded), Ok(length)) = (padded(run), padded(word), u8::try_from(word.len()))
        else {
            return;
        };
        self.places[place(&run)] = Place { run, word: padded, length };
    }
}

fn padded(text: &str) -> Option<[u8; FITS]> {
    let mut padded = [0; FITS];
    padded.get_mut(..text.len())?.copy_from_slice(text.as_bytes());
    Some(padded)
}

/// Where a run is kept.
fn place(run: &[u8; FITS]) -> usize {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    let (words, _) = run.as_chunks::<8>();
    let hash = words
        .iter()
        .fold(0_u64, |hash, word| (hash ^ u64::from_le_bytes(*word)).wrapping_mul(ODD).rotate_left(29));
    usize::try_from(hash % PLACES as u64).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_found_until_another_takes_its_place() {
        let mut words = PlainWords::default();
        words.keep("Connections", "connect");
        assert_eq!(words.get("Connections"), Some("connect"));
        assert_eq!(words.get("connections"), None);
        let long = "x".repeat(FITS + 1);
        words.keep(&long, "x");
        assert_eq!(words.get(&long), None);
        let mut kept = 0;
        for number in 0..4 * PLACES {
            let run = format!("run{number}");
            words.keep(&run, &run);
            assert_eq!(words.get(&run), Some(run.as_str()));
            kept += usize::from(words.get("Connections").is_some());
        }
        assert!(kept < 4 * PLACES);
    }
}

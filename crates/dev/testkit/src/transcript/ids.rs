//! Ids that look random and are the same in every run.

/// A stream of ids, seeded by a name.
#[derive(Debug, Clone)]
pub(super) struct Ids(u64);

impl Ids {
    pub(super) fn seeded(name: &str) -> Self {
        // FNV-1a; any spread of names over seeds would do.
        Self(name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        }))
    }

    /// A UUID of version 4.
    pub(super) fn uuid(&mut self) -> String {
        let (high, low) = (self.next(), self.next());
        format!(
            "{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}",
            high >> 32,
            (high >> 16) & 0xffff,
            high & 0xfff,
            0x8000 | ((low >> 48) & 0x3fff),
            low & 0xffff_ffff_ffff,
        )
    }

    /// An API id such as `msg_01…`.
    pub(super) fn api(&mut self, prefix: &str) -> String {
        format!("{prefix}{:016x}{:06x}", self.next(), self.next() & 0x00ff_ffff)
    }

    /// A sub-agent's id: `a` and hexadecimal digits.
    pub(super) fn agent(&mut self, digits: usize) -> String {
        let all = format!("a{:016x}", self.next());
        all[..digits].to_owned()
    }

    /// The next number of the `SplitMix64` generator.
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

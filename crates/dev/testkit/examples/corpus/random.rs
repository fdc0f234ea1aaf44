//! Numbers that look random and are the same in every run.

/// The `SplitMix64` generator: the same corpus from the same seed.
pub(crate) struct Random(u64);

impl Random {
    /// A stream of its own for each seed and number.
    pub(crate) fn new(seed: u64, number: u64) -> Self {
        let mut random = Self(seed ^ number.wrapping_mul(0xd6e8_feb8_6659_fd93));
        random.next();
        random
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number from `from` to before `to`.
    pub(crate) fn between(&mut self, from: usize, to: usize) -> usize {
        let span = u64::try_from(to - from).expect("a span of a few thousand");
        from + usize::try_from(self.next() % span).expect("a number below the span")
    }

    /// True once in so many times.
    pub(crate) fn once_in(&mut self, times: usize) -> bool {
        self.between(0, times) == 0
    }

    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.between(0, from.len())]
    }

    /// Small numbers often, large ones seldom: as the lengths of sessions and the use of words are.
    pub(crate) fn skewed(&mut self, from: usize, to: usize) -> usize {
        let bits = to.ilog2() - from.max(1).ilog2();
        let top = from << self.between(0, bits as usize + 1);
        self.between(from, top.min(to) + 1)
    }

    /// A UUID that looks like one of version 4.
    pub(crate) fn uuid(&mut self) -> String {
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
}

//! Tokens of one or many API messages.

use std::ops::{Add, AddAssign};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Counters of the API's `usage` object; unit: tokens, except `web_searches`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema, Deserialize)]
pub struct Usage {
    /// Input tokens that were neither read from nor written to the prompt cache.
    pub input: u64,
    /// Output tokens, thinking included.
    pub output: u64,
    /// Input tokens read from the prompt cache.
    pub cache_read: u64,
    /// The number of input tokens written to the five-minute cache; all cache writes if the file does not separate
    /// them.
    pub cache_write_5m: u64,
    /// Input tokens written to the one-hour cache.
    pub cache_write_1h: u64,
    /// Web searches the server made; a count of requests.
    pub web_searches: u64,
}

impl Usage {
    /// The number of input tokens written to any cache.
    pub fn cache_write(&self) -> u64 {
        self.cache_write_5m.saturating_add(self.cache_write_1h)
    }

    /// The number of input tokens of every kind: the size of the model's context.
    pub fn context(&self) -> u64 {
        self.input.saturating_add(self.cache_read).saturating_add(self.cache_write())
    }

    /// The number of tokens, each counted once.
    pub fn total(&self) -> u64 {
        self.context().saturating_add(self.output)
    }

    /// The greater of each counter: several lines of one API message repeat its usage, and only the last
    /// is sure to be final.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        Self {
            input: self.input.max(other.input),
            output: self.output.max(other.output),
            cache_read: self.cache_read.max(other.cache_read),
            cache_write_5m: self.cache_write_5m.max(other.cache_write_5m),
            cache_write_1h: self.cache_write_1h.max(other.cache_write_1h),
            web_searches: self.web_searches.max(other.web_searches),
        }
    }

    /// Subtracts `other`, counter by counter, down to zero at least.
    #[must_use]
    pub fn saturating_sub(self, other: Self) -> Self {
        Self {
            input: self.input.saturating_sub(other.input),
            output: self.output.saturating_sub(other.output),
            cache_read: self.cache_read.saturating_sub(other.cache_read),
            cache_write_5m: self.cache_write_5m.saturating_sub(other.cache_write_5m),
            cache_write_1h: self.cache_write_1h.saturating_sub(other.cache_write_1h),
            web_searches: self.web_searches.saturating_sub(other.web_searches),
        }
    }
}

impl Add for Usage {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            input: self.input.saturating_add(other.input),
            output: self.output.saturating_add(other.output),
            cache_read: self.cache_read.saturating_add(other.cache_read),
            cache_write_5m: self.cache_write_5m.saturating_add(other.cache_write_5m),
            cache_write_1h: self.cache_write_1h.saturating_add(other.cache_write_1h),
            web_searches: self.web_searches.saturating_add(other.web_searches),
        }
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_and_differences_never_wrap() {
        let huge = Usage { input: u64::MAX, ..Usage::default() };
        let one = Usage { input: 1, output: 2, ..Usage::default() };
        assert_eq!((huge + one).input, u64::MAX);
        assert_eq!(one.saturating_sub(huge), Usage { output: 2, ..Usage::default() });
        assert_eq!((huge + one).total(), u64::MAX);
    }
}

//! Strings that thousands of sessions share, each stored once.

use std::sync::Arc;

use rustc_hash::FxHashSet;

/// The texts that were met so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct StringInterner(FxHashSet<Arc<str>>);

impl StringInterner {
    /// The shared copy of a text.
    pub(crate) fn shared(&mut self, text: &str) -> Arc<str> {
        if let Some(held) = self.0.get(text) {
            return Arc::clone(held);
        }
        let held: Arc<str> = text.into();
        self.0.insert(Arc::clone(&held));
        held
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_are_stored_once() {
        let mut texts = StringInterner::default();
        let (one, other) = (texts.shared("main"), texts.shared("main"));
        assert!(Arc::ptr_eq(&one, &other));
        assert_eq!((&*one, &*texts.shared("")), ("main", ""));
    }
}

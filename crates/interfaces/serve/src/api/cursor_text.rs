//! A cursor as text: the word of an order, the place in it, and a session. Which orders there are is `page_cursor`'s; what
//! reads a client's text here needs ids only, so that `fuzz` can call it.

use std::fmt::{self, Display};

use model::SessionId;

/// The parts of a cursor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CursorText {
    /// The word of an order.
    pub(super) order: String,
    /// The place in that order.
    pub(super) key: [i64; 3],
    /// The session at the place.
    pub(super) id: SessionId,
}

impl CursorText {
    /// Reads a cursor; `None` where the text is none.
    pub(super) fn read(text: &str) -> Option<Self> {
        let mut parts = text.splitn(5, '_');
        let order = parts.next()?.to_owned();
        let mut number = || parts.next()?.parse::<i64>().ok();
        let key = [number()?, number()?, number()?];
        Some(Self { order, key, id: parts.next()?.parse().ok()? })
    }
}

impl Display for CursorText {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { order, key: [first, second, third], id } = self;
        write!(out, "{order}_{first}_{second}_{third}_{id}")
    }
}

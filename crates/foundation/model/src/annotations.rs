//! What a person annotates a session with.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A session's name, tags, note and pin from the person, and whether they hid it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Annotations {
    /// The name, in place of the title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The tags, in the order of the alphabet.
    pub tags: Vec<String>,
    /// The note.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Whether it is listed before others.
    pub pinned: bool,
    /// Whether it is listed and found only on request.
    pub hidden: bool,
}

impl Annotations {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether a tag is among them; upper and lower case do not differ.
    pub fn has_tag(&self, tag: &str) -> bool {
        self.tags.iter().any(|known| known.to_lowercase() == tag.to_lowercase())
    }
}

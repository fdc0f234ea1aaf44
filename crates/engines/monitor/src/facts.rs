//! Facts about a watched session, collected from its own records.

use std::path::PathBuf;

use jiff::Timestamp;
use transcript::record::{Block, Record, RecordKind};
use transcript::{context_tokens, preview, speech};

/// What is known about a session besides its activity.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Facts {
    custom_title: Option<String>,
    ai_title: Option<String>,
    prompt: Option<String>,
    /// Working directory in the last record.
    pub(crate) cwd: Option<PathBuf>,
    /// Branch in the last record.
    pub(crate) branch: Option<String>,
    /// The model that answered last.
    pub(crate) model: Option<String>,
    /// Number of tokens in the model's context.
    pub(crate) context_tokens: u64,
    /// Time of the first record seen.
    pub(crate) first: Option<Timestamp>,
    /// Time of the last record seen.
    pub(crate) last: Option<Timestamp>,
    /// Release that wrote the last record.
    pub(crate) version: Option<String>,
    /// Permission mode.
    pub(crate) mode: Option<String>,
}

impl Facts {
    /// The best title seen so far.
    pub(crate) fn title(&self) -> Option<&str> {
        self.custom_title.as_deref().or(self.ai_title.as_deref()).or(self.prompt.as_deref())
    }

    /// Processes a record; returns whether anything shown about the session has changed.
    pub(crate) fn observe(&mut self, record: &Record<'_>) -> bool {
        let (title, tokens) = (self.title().map(ToOwned::to_owned), self.context_tokens);
        if let Some(title) = record.custom_title() {
            self.custom_title = Some(preview(&title)).filter(|title| !title.is_empty());
        }
        if let Some(title) = record.ai_title() {
            self.ai_title = Some(preview(&title)).filter(|title| !title.is_empty());
        }
        if let Some(mode) = record.permission_mode() {
            self.mode = Some(mode.to_owned());
        }
        if let Some(tokens) = context_tokens(record) {
            self.context_tokens = tokens;
        }
        if record.kind().is_in_tree() && !record.is_sidechain() {
            self.observe_envelope(record);
        }
        title.as_deref() != self.title() || tokens != self.context_tokens
    }

    fn observe_envelope(&mut self, record: &Record<'_>) {
        if let Some(at) = record.timestamp() {
            self.first = Some(self.first.map_or(at, |first| first.min(at)));
            self.last = self.last.max(Some(at));
        }
        if let Some(cwd) = record.cwd() {
            self.cwd = Some(PathBuf::from(&*cwd));
        }
        if let Some(branch) = record.branch() {
            self.branch = Some(branch.into_owned());
        }
        if let Some(version) = record.version() {
            self.version = Some(version.to_owned());
        }
        if self.prompt.is_none() && record.kind() == RecordKind::User && record.may_be_human() {
            let mut blocks = record.message().into_iter().flat_map(|message| message.each_block());
            self.prompt = blocks.find_map(|block| match block {
                Block::Text(text) => speech(&text).map(|said| preview(&said.text)),
                _ => None,
            });
        }
        let model = record.message().and_then(|message| message.model());
        if let Some(model) = model.filter(|model| *model != "<synthetic>") {
            self.model = Some(model.to_owned());
        }
    }
}

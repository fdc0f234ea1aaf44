//! Parses one line of a transcript: the kind of record and its fields.
//!
//! Everything Claude Code writes is interpreted here only. Fields are decoded on demand; an unknown type is
//! [`RecordKind::Unknown`], which is not an error.

mod content;
mod kind;
mod line;
mod rest;
mod speaker;
mod usage;

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use crate::json::{Object as _, Raw, raw_fields};
use crate::recorded_path::{joined, with_slashes};
use crate::scan::Fields as Walk;

pub(crate) use content::Glance;
pub use content::{ApiMessage, Block, result_text};
pub use kind::RecordKind;
pub use line::{SkipReason, link, parse};
pub(crate) use line::{is_object, parse_text};
pub(crate) use rest::{behind_torn, behind_whole};
pub use speaker::Speaker;
pub(crate) use usage::Charges;

raw_fields! {
    /// The fields of a record that are used, undecoded.
    pub(crate) struct Fields {
        kind = "type",
        subtype = "subtype",
        uuid = "uuid",
        parent = "parentUuid",
        logical_parent = "logicalParentUuid",
        sidechain = "isSidechain",
        agent = "agentId",
        session = "sessionId",
        request_session = "requestSessionId",
        forked_from = "forkedFrom",
        timestamp = "timestamp",
        cwd = "cwd",
        branch = "gitBranch",
        version = "version",
        entrypoint = "entrypoint",
        session_kind = "sessionKind",
        nickname = "slug",
        permission_mode = "permissionMode",
        message: Option<ApiMessage<'a>> = "message",
        content = "content",
        request = "requestId",
        meta = "isMeta",
        compact_summary = "isCompactSummary",
        transcript_only = "isVisibleInTranscriptOnly",
        api_error = "isApiErrorMessage",
        origin = "origin",
        source_tool_use = "sourceToolUseID",
        prompt_source = "promptSource",
        turn_origin = "turnOrigin",
        tool_use_result = "toolUseResult",
        permission = "permissionDecision",
        persons_words = "holdsPersonsWords",
        attachment = "attachment",
        data = "data",
        parent_tool_use = "parentToolUseID",
        operation = "operation",
        summary = "summary",
        custom_title = "customTitle",
        ai_title = "aiTitle",
        agent_name = "agentName",
        team = "teamName",
        tag = "tag",
        last_prompt = "lastPrompt",
        leaf = "leafUuid",
        mode = "mode",
        relocated_cwd = "relocatedCwd",
        worktree = "worktreeSession",
        total_cost = "totalCostUSD",
        model_usage = "modelUsage",
        compact = "compactMetadata",
        duration = "durationMs",
        pr_url = "prUrl",
        error = "error",
        snapshot = "snapshot",
        snapshot_update = "isSnapshotUpdate",
        tracking_path = "trackingPath",
        in_background = "pendingBackgroundAgentCount",
        workflows = "pendingWorkflowCount",
        continuation = "preventedContinuation",
        ends_turn = "toolEndsTurn",
        task = "taskId",
        task_kind = "taskKind",
    }
}

/// One record; borrowed from its line.
#[derive(Debug, Clone, Copy)]
pub struct Record<'a> {
    kind: RecordKind,
    /// How many bytes of the line are behind it.
    behind: usize,
    /// Whether records that were written before were written again directly before it.
    follows_copies: bool,
    fields: Fields<'a>,
}

impl<'a> Record<'a> {
    /// A record without any field.
    fn empty() -> Self {
        Self { kind: RecordKind::Unknown, behind: 0, follows_copies: false, fields: Fields::default() }
    }

    /// Becomes the record at the beginning of a text, whose own part of it is returned; `None` when there is no whole
    /// object.
    fn set(&mut self, json: &'a str) -> Option<&'a str> {
        let mut entries = Walk::new(json);
        if !self.fields.fill(&mut entries) {
            return None;
        }
        self.kind = RecordKind::from_names(self.fields.kind.plain(), self.fields.subtype.plain());
        self.behind = entries.rest().len();
        Some(&json[..json.len() - self.behind])
    }

    /// How many bytes of its line are behind it.
    pub(crate) fn behind(&self) -> usize {
        self.behind
    }

    /// Whether records that were written before were written again directly before it.
    pub(crate) fn follows_copies(&self) -> bool {
        self.follows_copies
    }

    /// The same record behind copies of earlier ones.
    pub(crate) fn behind_copies(self) -> Self {
        Self { follows_copies: true, ..self }
    }

    /// What the record says, undecoded: a message, a text, an attachment or the activity of a tool.
    pub fn said(&self) -> &'a str {
        let fields = &self.fields;
        let content = fields.message.map_or("", |message| message.content.json());
        let others = [fields.content, fields.attachment, fields.data, fields.tool_use_result];
        if content.is_empty() {
            others.iter().map(|field| field.json()).find(|json| !json.is_empty()).unwrap_or("")
        } else {
            content
        }
    }

    /// When it was made, undecoded.
    pub(crate) fn moment(&self) -> &'a str {
        self.fields.timestamp.json()
    }

    /// Whether records of its kind are never read.
    fn is_unread(&self) -> bool {
        match self.kind {
            RecordKind::ApiRequest => true,
            RecordKind::Attachment => self.subtype_word() == "prompt_snapshot",
            _ => false,
        }
    }

    /// The kind of the record.
    pub fn kind(&self) -> RecordKind {
        self.kind
    }

    /// The word in `type`, as written.
    pub fn type_word(&self) -> &'a str {
        self.fields.kind.plain().unwrap_or("")
    }

    /// The word in `subtype`, or an attachment's or progress record's own type.
    pub fn subtype_word(&self) -> &'a str {
        let inner = match self.kind {
            RecordKind::Attachment => self.fields.attachment.get("type"),
            RecordKind::Progress => self.fields.data.get("type"),
            _ => self.fields.subtype,
        };
        inner.plain().unwrap_or("")
    }

    /// The record's id in the tree.
    pub fn uuid(&self) -> Option<&'a str> {
        self.fields.uuid.plain()
    }

    /// The record before it in the tree; `None` at a root.
    pub fn parent(&self) -> Option<&'a str> {
        self.fields.parent.plain()
    }

    /// On a compaction boundary, the last record before it, which may be in another file.
    pub fn logical_parent(&self) -> Option<&'a str> {
        self.fields.logical_parent.plain()
    }

    /// Whether it is a sub-agent's record, inside its parent's file (up to 2.0.0) or in its own.
    pub fn is_sidechain(&self) -> bool {
        self.fields.sidechain.is_true()
    }

    /// The sub-agent that wrote it.
    pub fn agent(&self) -> Option<&'a str> {
        self.fields.agent.plain()
    }

    /// The session named in the record; copies may still name the original.
    pub fn session(&self) -> Option<&'a str> {
        self.fields.session.plain()
    }

    /// The session whose request produced a copied answer (2.1.329).
    pub fn request_session(&self) -> Option<&'a str> {
        self.fields.request_session.plain()
    }

    /// The session and record a TUI branch copied this from.
    pub fn forked_from(&self) -> Option<(&'a str, Option<&'a str>)> {
        let session = self.fields.forked_from.get("sessionId").plain()?;
        Some((session, self.fields.forked_from.get("messageUuid").plain()))
    }

    /// When the record was made: ISO 8601, or milliseconds in some. A file-history record has its time inside the
    /// snapshot.
    pub fn timestamp(&self) -> Option<Timestamp> {
        let is_inside = self.kind == RecordKind::FileHistory && self.is_new_snapshot();
        let field = if is_inside { self.fields.snapshot.get("timestamp") } else { self.fields.timestamp };
        match field.plain() {
            Some(text) => text.parse().ok(),
            None => Timestamp::from_millisecond(i64::try_from(field.count()?).ok()?).ok(),
        }
    }

    /// The working directory at that record.
    pub fn cwd(&self) -> Option<Cow<'a, str>> {
        self.fields.cwd.text().filter(|cwd| !cwd.is_empty()).map(with_slashes)
    }

    /// The path of a file as it was written in a call of a tool.
    pub(crate) fn path_of(&self, written: &str) -> PathBuf {
        joined(Path::new(self.cwd().unwrap_or_default().as_ref()), written)
    }

    /// The branch, unless it is empty or `HEAD` (no repository, or detached).
    pub fn branch(&self) -> Option<Cow<'a, str>> {
        self.fields.branch.text().filter(|branch| !branch.is_empty() && branch != "HEAD")
    }

    /// The version of the CLI that wrote it.
    pub fn version(&self) -> Option<&'a str> {
        self.fields.version.plain()
    }

    /// The program that started the session: `cli`, `sdk-cli`, `claude-vscode`, …
    pub fn entrypoint(&self) -> Option<&'a str> {
        self.fields.entrypoint.plain()
    }

    /// `bg` for background sessions.
    pub fn session_kind(&self) -> Option<&'a str> {
        self.fields.session_kind.plain()
    }

    /// Claude's three-word name (2.0.77 to 2.1.100, later with plans only).
    pub fn nickname(&self) -> Option<&'a str> {
        self.fields.nickname.plain()
    }

    /// The permission mode of a prompt or of a `permission-mode` record.
    pub fn permission_mode(&self) -> Option<&'a str> {
        self.fields.permission_mode.plain()
    }

    /// The API message of a user, assistant or nested progress record.
    pub fn message(&self) -> Option<ApiMessage<'a>> {
        self.fields.message
    }

    /// What an answer of the main conversation has; nothing for any other record.
    pub(crate) fn glance(&self) -> Glance<'a> {
        let is_answer = self.kind == RecordKind::Assistant && !self.is_sidechain();
        let message = self.fields.message.filter(|_| is_answer);
        message.map(|message| message.glance()).unwrap_or_default()
    }

    /// The id of the API request, which with the message's own id identifies an API message.
    pub fn request(&self) -> Option<&'a str> {
        self.fields.request.plain()
    }

    /// Whether the record was written for the model, not by the person.
    pub fn is_meta(&self) -> bool {
        self.fields.meta.is_true()
    }

    /// Whether the record is the summary after a compaction.
    pub fn is_compact_summary(&self) -> bool {
        self.fields.compact_summary.is_true()
    }

    /// Whether the CLI shows the record and never sends it.
    pub fn is_transcript_only(&self) -> bool {
        self.fields.transcript_only.is_true()
    }

    /// Whether the CLI wrote it in the model's place after an API error.
    pub fn is_api_error(&self) -> bool {
        self.fields.api_error.is_true()
    }

    /// Whether a user record carries a tool's result; cheap, the message is not read.
    pub fn has_tool_result(&self) -> bool {
        self.fields.tool_use_result.is_present()
    }

    /// The tool's own record of its result (`toolUseResult`).
    pub fn tool_use_result(&self) -> Raw<'a> {
        self.fields.tool_use_result
    }

    /// Whether a tool's result contains what the person said when they refused the call (2.1.330).
    pub fn holds_persons_words(&self) -> bool {
        self.fields.persons_words.is_true()
    }

    /// Who decided that the call may run which this result answers: `config`, `user_temporary`, … (2.1.330).
    pub(crate) fn permission_source(&self) -> Option<&'a str> {
        self.fields.permission.get("source").plain()
    }

    /// Whether the person refused the call that this result answers; older versions do not record it.
    pub fn is_refused_by_person(&self) -> bool {
        self.holds_persons_words() || self.fields.permission.get("source").is("user_reject")
    }

    /// The text of a `system` record or the prompt of a queue operation.
    pub fn content(&self) -> Option<Cow<'a, str>> {
        self.fields.content.text()
    }

    /// The kind of a queue operation: `enqueue`, `dequeue`, `remove`, `popAll`.
    pub fn operation(&self) -> Option<&'a str> {
        self.fields.operation.plain()
    }

    /// The scheduled task that a record says has fired: its id, and what kind of task it is.
    pub(crate) fn fired_task(&self) -> Option<(Cow<'a, str>, &'a str)> {
        let is_one = self.kind == RecordKind::System && self.subtype_word() == "scheduled_task_fire";
        let named = || Some((self.fields.task.text().unwrap_or_default(), self.fields.task_kind.plain()?));
        is_one.then(named).flatten()
    }

    /// The body of an attachment.
    pub fn attachment(&self) -> Raw<'a> {
        self.fields.attachment
    }

    /// The name the person gave the session.
    pub fn custom_title(&self) -> Option<Cow<'a, str>> {
        (self.kind == RecordKind::CustomTitle).then(|| self.fields.custom_title.text()).flatten()
    }

    /// The name the CLI's model gave the session.
    pub fn ai_title(&self) -> Option<Cow<'a, str>> {
        (self.kind == RecordKind::AiTitle).then(|| self.fields.ai_title.text()).flatten()
    }

    /// The summary that served as a title up to 2.0.0.
    pub fn summary(&self) -> Option<Cow<'a, str>> {
        (self.kind == RecordKind::Summary).then(|| self.fields.summary.text()).flatten()
    }

    /// The last prompt, as the CLI notes it for its own list.
    pub fn last_prompt(&self) -> Option<Cow<'a, str>> {
        (self.kind == RecordKind::LastPrompt).then(|| self.fields.last_prompt.text()).flatten()
    }

    /// The last record of the main chain as the CLI notes it, or the record a summary is about.
    pub fn leaf(&self) -> Option<&'a str> {
        self.fields.leaf.plain()
    }

    /// The session's tag, set by the person.
    pub fn tag(&self) -> Option<Cow<'a, str>> {
        (self.kind == RecordKind::Tag).then(|| self.fields.tag.text()).flatten()
    }

    /// The directory the session moved to.
    pub fn relocated_cwd(&self) -> Option<Cow<'a, str>> {
        (self.kind == RecordKind::Relocated)
            .then(|| self.fields.relocated_cwd.text())
            .flatten()
            .map(with_slashes)
    }

    /// The directory a worktree session came from; present only while it is in a worktree.
    pub fn worktree_origin(&self) -> Option<Cow<'a, str>> {
        (self.kind == RecordKind::WorktreeState)
            .then(|| self.fields.worktree.get("originalCwd").text())
            .flatten()
            .map(with_slashes)
    }

    /// The pull request the session made.
    pub fn pr_url(&self) -> Option<Cow<'a, str>> {
        (self.kind == RecordKind::PrLink).then(|| self.fields.pr_url.text()).flatten()
    }

    /// The CLI's running total.
    pub fn cost_state(&self) -> Option<(Raw<'a>, Raw<'a>)> {
        (self.kind == RecordKind::CostState).then_some((self.fields.total_cost, self.fields.model_usage))
    }

    /// The metadata of a compaction.
    pub fn compact_metadata(&self) -> Raw<'a> {
        self.fields.compact
    }

    /// The duration of a turn, in milliseconds.
    pub fn duration_ms(&self) -> Option<u64> {
        self.fields.duration.count()
    }

    /// The sub-agent's record inside a `progress` record (2.1.38 to 2.1.76), with the tool use it belongs to.
    pub fn agent_progress(&self) -> Option<(Option<&'a str>, Record<'a>)> {
        if self.kind != RecordKind::Progress || !self.fields.data.get("type").is("agent_progress") {
            return None;
        }
        let mut inner = Record::empty();
        inner.set(self.fields.data.get("message").json())?;
        Some((self.fields.parent_tool_use.plain(), inner))
    }

    /// The files a file-history record names: backed up before they were changed.
    pub fn tracked_files(&self) -> Vec<Cow<'a, str>> {
        let named = self.fields.tracking_path.text();
        let backups = self.fields.snapshot.get("trackedFileBackups");
        named.into_iter().chain(backups.entries().map(|(path, _)| path)).collect()
    }

    /// The files of a snapshot, each with whether there was one to back up.
    pub fn file_backups(&self) -> impl Iterator<Item = (Cow<'a, str>, bool)> {
        let backups = self.fields.snapshot.get("trackedFileBackups");
        backups.entries().map(|(path, backup)| (path, backup.get("backupFileName").is_present()))
    }

    /// Whether it is a new snapshot of the files, taken when the person enters something, and not an update of one.
    pub fn is_new_snapshot(&self) -> bool {
        self.fields.snapshot.is_present() && !self.fields.snapshot_update.is_true()
    }

    /// The number of sub-agents and workflows still running in the background when a turn ended.
    pub fn pending_background_work(&self) -> u64 {
        let counts = [self.fields.in_background, self.fields.workflows];
        counts.iter().filter_map(|field| field.count()).fold(0, u64::saturating_add)
    }

    /// Whether a Stop hook prevented the turn from continuing.
    pub fn prevents_continuation(&self) -> bool {
        self.fields.continuation.is_true()
    }

    /// Whether the turn is over with this tool's result.
    pub fn ends_turn(&self) -> bool {
        self.fields.ends_turn.is_true()
    }

    /// The tool use that a `progress` record belongs to.
    pub fn parent_tool_use(&self) -> Option<&'a str> {
        self.fields.parent_tool_use.plain()
    }

    /// Whether the CLI itself wrote an answer, with no API call behind it.
    pub fn is_synthetic(&self) -> bool {
        self.message().is_some_and(|message| message.model() == Some("<synthetic>"))
    }
}

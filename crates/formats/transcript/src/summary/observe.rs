//! How each record of a transcript changes its summary.

use jiff::Timestamp;
use model::{CostState, ForkOrigin, TeamPlace, Usage};
use xxhash_rust::xxh3::xxh3_64;

use super::{
    ANCHORS, ANCHORS_EACH, AgentCall, CALLS, MAX_DIRECTORIES, Summary, TOTAL_MODELS, TOTALS, task_key,
};
use crate::chain::hash;
use crate::elements::agent_messages;
use crate::record::{ApiMessage, Block, Glance, Record, RecordKind};
use crate::speech::{is_command, is_exit, is_housekeeping, speech};
use crate::subject::ACCEPTED_PLAN;
use crate::text::preview;
use crate::usage::{LineOrigin, UsageCollector, cost_state};

impl Summary {
    pub(super) fn observe_record(
        &mut self,
        record: &Record<'_>,
        glance: &Glance<'_>,
        spent: &mut UsageCollector,
    ) {
        let at = record.timestamp();
        match record.kind() {
            RecordKind::User => self.observe_user(record, at),
            RecordKind::Assistant => self.observe_assistant(record, glance, at, spent),
            RecordKind::CompactBoundary => self.observe_compaction(record),
            RecordKind::System => self.observe_system(record),
            RecordKind::Attachment => {
                if let Some(prompt) = record.queued_prompt() {
                    self.observe_prompt(&prompt, at);
                }
            }
            RecordKind::CustomTitle => self.titles.custom(record.custom_title()),
            RecordKind::AiTitle => self.titles.ai(record.ai_title()),
            RecordKind::Summary => self.titles.summary(record.summary(), record.leaf()),
            RecordKind::LastPrompt => self.titles.last_prompt(record.last_prompt()),
            RecordKind::QueueOperation => {
                self.titles.queued(record);
                self.observe_beginning(at);
            }
            RecordKind::Tag => self.tag = record.tag().map(Into::into),
            RecordKind::PermissionMode => self.permission_mode = record.permission_mode().map(Into::into),
            RecordKind::CostState => self.observe_total(record),
            RecordKind::FileHistory => self.observe_file_history(record, at),
            RecordKind::LocalCommand => self.observe_command(record),
            RecordKind::Relocated => {
                if let Some(cwd) = record.relocated_cwd() {
                    self.add_directory(&cwd);
                    replace(&mut self.moved_to, &cwd);
                }
            }
            RecordKind::WorktreeState => self.observe_worktree(record),
            RecordKind::PrLink => self.pr_url = record.pr_url().map(Into::into).or(self.pr_url.take()),
            RecordKind::Unknown => self.unknown += 1,
            RecordKind::TurnDuration
            | RecordKind::StopHookSummary
            | RecordKind::ApiError
            | RecordKind::Progress
            | RecordKind::AgentName
            | RecordKind::Mode
            | RecordKind::ApiRequest
            | RecordKind::Bookkeeping => {}
        }
        if record.kind().is_in_tree() {
            self.observe_envelope(record, at);
        }
    }

    fn observe_envelope(&mut self, record: &Record<'_>, at: Option<Timestamp>) {
        if !self.has_tree {
            // Notes of files are used only if there is no conversation.
            (self.first_at, self.last_at) = (None, None);
        }
        self.has_tree = true;
        self.is_ending = false;
        self.observe_beginning(at);
        if let Some(uuid) = record.uuid() {
            self.titles.seen(uuid);
            self.add_anchor(record.kind(), uuid);
        }
        self.observe_time(at);
        self.observe_lineage(record);
        if record.is_sidechain() {
            return;
        }
        if let Some(cwd) = record.cwd() {
            self.add_directory(&cwd);
        }
        if let Some(branch) = record.branch() {
            replace(&mut self.branch, &branch);
        }
        if let Some(version) = record.version() {
            replace(&mut self.version, version);
        }
        if let Some(nickname) = record.nickname() {
            replace(&mut self.nickname, nickname);
        }
        if self.team.is_none() {
            let place = |(team, agent): (&str, Option<&str>)| TeamPlace {
                name: team.to_owned(),
                agent: agent.map(ToOwned::to_owned),
            };
            self.team = record.team().map(place);
        }
        if self.entrypoint.is_none() {
            self.entrypoint = record.entrypoint().map(Into::into);
        }
        if let Some(mode) = record.permission_mode() {
            replace(&mut self.permission_mode, mode);
        }
    }

    fn observe_time(&mut self, at: Option<Timestamp>) {
        if let Some(at) = at {
            self.first_at = Some(self.first_at.map_or(at, |first| first.min(at)));
            self.last_at = Some(self.last_at.map_or(at, |last| last.max(at)));
        }
    }

    fn observe_beginning(&mut self, at: Option<Timestamp>) {
        self.began_at = self.began_at.or(at);
    }

    fn observe_lineage(&mut self, record: &Record<'_>) {
        if let Some((session, message)) = record.forked_from() {
            self.set_fork(session, message);
        } else if let Some(session) = record.request_session().filter(|session| *session != self.id) {
            self.set_fork(session, record.uuid());
        }
        let is_said = matches!(record.kind(), RecordKind::User | RecordKind::Assistant);
        self.has_own |= is_said && record.session().is_some_and(|session| session == self.id);
        if let Some(session) = record.session().filter(|session| *session != self.id)
            && !self.has_own
            && self.named_session.as_ref().is_none_or(|known| known.as_str() != session)
        {
            self.named_session = session.parse().ok();
        }
    }

    fn set_fork(&mut self, session: &str, message: Option<&str>) {
        let Ok(session_id) = session.parse() else { return };
        self.forked_from = Some(ForkOrigin { session_id, message_uuid: message.map(Into::into) });
    }

    fn observe_user(&mut self, record: &Record<'_>, at: Option<Timestamp>) {
        let Some(message) = record.message() else { return };
        self.heard = record.uuid().map(hash);
        if record.is_sidechain() {
            if record.parent().is_none() && self.inline_agents.len() < CALLS {
                self.inline_agents.extend(inline_agent(record, &message));
            }
            return;
        }
        if record.is_compact_summary() {
            self.beginnings.record_continuation(at);
        }
        if let Some(at) = at.filter(|_| record.has_tool_result()) {
            self.beginnings.record_answer(at);
        }
        if record.is_of_other_agent() {
            self.observe_agents(&message);
            return;
        }
        if record.may_be_human() && message.each_block().any(|block| matches!(block, Block::Text(_))) {
            self.prompted_at = at.or(self.prompted_at);
        }
        if !record.may_hold_words() || (record.has_tool_result() && !message.may_have_text()) {
            return;
        }
        for block in message.each_block() {
            if let Block::Text(text) = block {
                self.observe_prompt(&text, at);
            }
        }
    }

    /// What other agents said names a session only where no person said anything.
    fn observe_agents(&mut self, message: &ApiMessage<'_>) {
        for block in message.each_block() {
            if let Block::Text(text) = block {
                agent_messages(&text)
                    .filter_map(|message| message.task())
                    .for_each(|task| self.titles.task(task));
            }
        }
    }

    fn observe_prompt(&mut self, text: &str, at: Option<Timestamp>) {
        let Some(said) = speech(text) else { return };
        self.observe_pause(&said.text, at);
        self.visible_messages += 1;
        self.was_exited = is_exit(&said.text);
        self.titles.prompt(&said.text);
        let prompt = preview(&said.text);
        if self.first_prompt.is_none() {
            self.origin_marker = said.origin_marker;
        }
        if self.first_prompt.as_deref().is_none_or(is_command) {
            self.first_prompt = Some(prompt.clone());
        }
        if !is_housekeeping(&said.text) || self.last_prompt.as_deref().is_none_or(is_housekeeping) {
            self.last_prompt = Some(prompt);
        }
    }

    fn observe_pause(&mut self, said: &str, at: Option<Timestamp>) {
        match at {
            _ if said.starts_with(ACCEPTED_PLAN) => self.beginnings.record_continuation(at),
            // A command of the terminal, or a record without a time, begins nothing.
            Some(at) if !is_command(said) => self.beginnings.record_prompt(at),
            _ => {}
        }
    }

    fn observe_assistant(
        &mut self,
        record: &Record<'_>,
        glance: &Glance<'_>,
        at: Option<Timestamp>,
        spent: &mut UsageCollector,
    ) {
        let Some(message) = record.message() else { return };
        let subagent = record.is_sidechain();
        let answers = self.heard.is_some() && record.parent().map(hash) == self.heard;
        let place =
            LineOrigin { copied: self.is_copied(record), subagent, at, prompted: self.prompted_at, answers };
        spent.add(record, &message, place);
        let used = message.last_pass();
        if subagent {
            return;
        }
        self.visible_messages += u64::from(glance.has_text);
        if self.calls.len() < CALLS && glance.tools.iter().any(|tool| matches!(*tool, "Task" | "Agent")) {
            self.calls.extend(message.each_block().filter_map(|block| agent_call(&block)));
        }
        if message.model() == Some("<synthetic>") {
            return;
        }
        self.was_exited = false;
        if let Some(at) = at {
            self.beginnings.record_answer(at);
        }
        if used != Usage::default() {
            self.context_tokens = used.context().saturating_add(used.output);
            if let Some(model) = message.model() {
                replace(&mut self.model, model);
            }
            (self.terms, self.has_long_cache) = (message.terms(), used.cache_write_1h > 0);
        }
    }

    fn observe_total(&mut self, record: &Record<'_>) {
        self.is_ending = true;
        let before = std::mem::replace(&mut self.cost_state, cost_state(record, self.last_at));
        // One that ends properly writes it twice.
        let is_news = |total: &CostState| {
            let is_same = |now: &CostState| now.models == total.models;
            total.models.len() <= TOTAL_MODELS && !self.cost_state.as_ref().is_some_and(is_same)
        };
        if let Some(before) = before.filter(is_news) {
            if self.earlier_totals.len() == TOTALS {
                self.earlier_totals.remove(0);
            }
            self.earlier_totals.push(before);
        }
    }

    fn observe_command(&mut self, record: &Record<'_>) {
        if let Some(said) = record.content().as_deref().and_then(speech) {
            self.was_exited = is_exit(&said.text);
        }
    }

    /// Files are noted before whatever the person enters. From 2.1.329 on `/exit` itself leaves no record, so an entry
    /// while the CLI ends, with no prompt behind it, is that: Ctrl-C, Ctrl-D and a signal leave none.
    fn observe_file_history(&mut self, record: &Record<'_>, at: Option<Timestamp>) {
        if !self.has_tree {
            self.observe_time(at);
        }
        self.was_exited |= self.is_ending && record.is_new_snapshot();
    }

    fn is_copied(&self, record: &Record<'_>) -> bool {
        record.forked_from().is_some()
            || record.request_session().is_some_and(|session| session != self.id)
            || record.session().is_some_and(|session| session != self.id)
    }

    fn observe_compaction(&mut self, record: &Record<'_>) {
        let id = xxh3_64(record.uuid().unwrap_or_default().as_bytes());
        if !self.compactions.insert(id) {
            return;
        }
        self.anchors_wanted = ANCHORS_EACH;
        self.context_tokens = record.compact_metadata().get("postTokens").count().unwrap_or(0);
    }

    fn observe_system(&mut self, record: &Record<'_>) {
        if !matches!(record.subtype_word(), "" | "informational") {
            return;
        }
        let text = record.content().unwrap_or_default().to_ascii_lowercase();
        if ["compress", "compact", "summary"].iter().any(|word| text.contains(word)) {
            self.legacy_compactions += 1;
        }
    }

    fn observe_worktree(&mut self, record: &Record<'_>) {
        if let Some(origin) = record.worktree_origin() {
            self.worktree_origin = Some(origin.into());
        }
    }

    fn add_directory(&mut self, cwd: &str) {
        if self.directories.len() < MAX_DIRECTORIES && !self.directories.iter().any(|known| known == cwd) {
            self.directories.push(cwd.to_owned());
        }
    }

    fn add_anchor(&mut self, kind: RecordKind, uuid: &str) {
        let wanted = matches!(kind, RecordKind::User | RecordKind::Assistant | RecordKind::CompactBoundary);
        if wanted && self.anchors_wanted > 0 && self.anchors.len() < ANCHORS {
            self.anchors_wanted -= 1;
            self.anchors.push(xxh3_64(uuid.as_bytes()));
        }
    }
}

fn inline_agent(record: &Record<'_>, message: &ApiMessage<'_>) -> Option<(String, u64)> {
    let task = message.each_block().find_map(|block| match block {
        Block::Text(text) => Some(task_key(&text)),
        _ => None,
    });
    Some((record.uuid()?.to_owned(), task?))
}

fn agent_call(block: &Block<'_>) -> Option<AgentCall> {
    let Block::ToolUse { name: "Task" | "Agent", input, .. } = *block else { return None };
    let field = |name: &str| input.get(name).text().map(|text| preview(&text));
    Some(AgentCall {
        task: task_key(&input.get("prompt").text()?),
        kind: field("subagent_type"),
        description: field("description"),
    })
}

/// Sets a text without allocating when it is the same, as it is on almost every line.
fn replace(slot: &mut Option<String>, value: &str) {
    if slot.as_deref() != Some(value) {
        *slot = Some(value.to_owned());
    }
}

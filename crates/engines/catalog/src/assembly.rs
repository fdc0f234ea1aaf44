//! Assembles the facts of many files into sessions.

use std::collections::{BTreeMap, HashMap};
use std::mem;

use model::{Damage, ForkOrigin, Keywords, MessageUsage, SessionId, SubagentMessages};
use transcript::{AgentCall, DivergedFile, SubagentFile, Summary, Titles, TranscriptFile};

use crate::describe::Describer;
use crate::digest::{LaunchContext, SessionDigest, SubagentDigest};
use crate::facts::{FileFacts, SubagentFacts};
use crate::lineage::{CreationTime, LineageClues, parents};
use crate::types::{ByPath, CatalogEntry};

/// A session's file, and what was read of it and of its sub-agents' files.
#[derive(Debug)]
pub(crate) struct ReadSession {
    /// The session's transcript.
    pub(crate) file: TranscriptFile,
    facts: FileFacts,
    /// The facts of other files with its id, in which it goes on otherwise.
    diverged: Vec<FileFacts>,
    agents: Vec<(SubagentFile, FileFacts)>,
    others: FromOtherFiles,
}

/// What only the files of other sessions say of a session.
#[derive(Debug, Clone, Default)]
pub(crate) struct FromOtherFiles {
    /// The session it was copied from.
    pub(crate) forked_from: Option<ForkOrigin>,
    /// Claude's summary of it.
    pub(crate) summary: Option<String>,
}

/// Groups the facts of files into sessions, in the order their transcripts were found; also returns the API messages
/// of sub-agents whose session has no transcript.
pub(crate) fn assemble(
    mut facts: ByPath<FileFacts>,
    sessions: Vec<TranscriptFile>,
    flat: Vec<SubagentFile>,
) -> (Vec<ReadSession>, UnattachedMessages) {
    let mut flat_of: HashMap<SessionId, Vec<SubagentFile>> = HashMap::new();
    for agent in flat {
        let owner = facts.get(agent.path.as_os_str()).and_then(|facts| facts.agent.as_ref()?.session.clone());
        if let Some(owner) = owner {
            flat_of.entry(owner).or_default().push(agent);
        }
    }
    let mut reads = Vec::with_capacity(sessions.len());
    for mut file in sessions {
        let agents = mem::take(&mut file.subagents);
        let agents = agents.into_iter().chain(flat_of.remove(&file.id).unwrap_or_default());
        let Some(own) = facts.remove(file.path.as_os_str()) else { continue };
        let same = |other: &DivergedFile| facts.remove(other.path.as_os_str());
        let diverged = file.diverged.iter().filter_map(same).collect();
        let read = agents.filter_map(|agent| {
            let facts = facts.remove(agent.path.as_os_str())?;
            Some((agent, facts))
        });
        reads.push(ReadSession {
            agents: read.collect(),
            facts: own,
            diverged,
            others: FromOtherFiles::default(),
            file,
        });
    }
    let origins =
        parents(&reads.iter().map(|read| clues_of(&read.file, &read.facts.summary)).collect::<Vec<_>>());
    let summaries = summaries_elsewhere(&reads);
    for ((read, forked_from), summary) in reads.iter_mut().zip(origins).zip(summaries) {
        read.others = FromOtherFiles { forked_from, summary };
    }
    let unattached_messages = flat_of.into_iter().map(|(session, agents)| {
        let facts = agents.iter().filter_map(|agent| facts.remove(agent.path.as_os_str()));
        (session, facts.flat_map(|facts| facts.messages).collect())
    });
    let unattached_messages = unattached_messages.collect();
    (reads, unattached_messages)
}

/// API messages by the session they belong to.
pub(crate) type UnattachedMessages = BTreeMap<SessionId, Vec<MessageUsage>>;

impl ReadSession {
    /// Replaces what other files say of it, but for a summary that was found just now.
    pub(crate) fn with_others(self, kept: FromOtherFiles) -> Self {
        let summary = self.others.summary.or(kept.summary);
        Self { others: FromOtherFiles { summary, ..kept }, ..self }
    }

    /// Whether its file says something of other sessions.
    pub(crate) fn names_others(&self) -> bool {
        self.facts.summary.titles.waiting().next().is_some()
    }

    /// Whether any of its messages is marked as another session's.
    pub(crate) fn holds_copies(&self) -> bool {
        let own = std::iter::once(&self.facts).chain(&self.diverged);
        let files = own.chain(self.agents.iter().map(|(_, facts)| facts));
        files.flat_map(|facts| &facts.messages).any(|message| message.copied)
    }

    /// Whether the file is not a transcript at all.
    pub(crate) fn is_foreign(&self) -> bool {
        self.facts.summary.is_foreign()
    }

    /// A digest of the session, sub-agents included.
    pub(crate) fn digest(&self) -> SessionDigest<'_> {
        let digest = SessionDigest::new(&self.file, &self.facts.summary);
        let titles = &self.facts.summary.titles;
        let summary_elsewhere = self.others.summary.as_deref();
        let is_cut_off = self.facts.mark.offset < self.facts.stamp.size;
        SessionDigest {
            given_title: titles.best_given().or(summary_elsewhere).or(digest.given_title),
            summary_elsewhere,
            forked_from: self.others.forked_from.clone(),
            agents: self.agent_digests(),
            agent_files: self.agents.len(),
            damage: Damage { is_cut_off, ..digest.damage },
            ..digest
        }
    }

    /// The sub-agents that were called: those with a file of their own, then those in the session's.
    fn agent_digests(&self) -> Vec<SubagentDigest<'_>> {
        let calls: HashMap<u64, &AgentCall> =
            self.facts.summary.calls.iter().rev().map(|call| (call.task, call)).collect();
        let beside = self.agents.iter().filter_map(|(file, facts)| agent(file, facts, &calls));
        let inline = self.facts.summary.inline_agents.iter().map(|(id, task)| {
            let call = calls.get(task);
            SubagentDigest {
                id,
                kind: call.and_then(|call| call.kind.as_deref()),
                description: call.and_then(|call| call.description.as_deref()),
                file: &self.file.path,
            }
        });
        beside.chain(inline).collect()
    }

    /// A digest that also has the keywords of the first message, which comparing thousands of sessions needs.
    pub(crate) fn digest_with_keywords(&self) -> SessionDigest<'_> {
        let digest = self.digest();
        let keywords =
            digest.first_message.map(|text| Keywords::from_text(text).to_bytes()).unwrap_or_default();
        SessionDigest { keywords: keywords.into(), ..digest }
    }

    /// Interns the session's launch context with `intern` and maps its digest with `map`.
    pub(crate) fn map_digest<S, T>(
        &self,
        describer: &mut Describer,
        intern: impl Fn(&mut Describer, &LaunchContext<'_>) -> S,
        map: impl Fn(&TranscriptFile, &SessionDigest<'_>, &S) -> T,
    ) -> T {
        let digest = self.digest();
        map(&self.file, &digest, &intern(describer, &digest.launch))
    }

    /// The session with its API messages, which are moved out.
    pub(crate) fn entry(&mut self, describer: &mut Describer) -> CatalogEntry {
        let mut messages = mem::take(&mut self.facts.messages);
        for other in &mut self.diverged {
            messages.append(&mut other.messages);
        }
        let mut taken = Vec::with_capacity(self.agents.len());
        for (_, facts) in &mut self.agents {
            let first = messages.len();
            messages.append(&mut facts.messages);
            taken.push(first..messages.len());
        }
        let digest = self.digest();
        let kinds: HashMap<&str, Option<&str>> =
            digest.agents.iter().map(|agent| (agent.id, agent.kind)).collect();
        let kind = |id: &str| kinds.get(id).copied().flatten().map(Into::into);
        let of_agent = self.agents.iter().zip(taken);
        let subagent_messages = of_agent
            .filter(|(_, messages)| !messages.is_empty())
            .map(|((file, _), messages)| SubagentMessages { messages, kind: kind(&file.id) })
            .collect();
        let session = describer.describe(&self.file, &digest);
        let pull_request = self.facts.summary.pr_url.clone();
        let cost_state = self.facts.summary.cost_state.clone();
        let earlier_totals = self.facts.summary.earlier_totals.clone();
        CatalogEntry {
            messages,
            subagent_messages,
            pull_request,
            cost_state,
            earlier_totals,
            ..CatalogEntry::new(session)
        }
    }
}

/// `None` if no tool use called it: a warm-up, or the compaction of a context.
fn agent<'a>(
    file: &'a SubagentFile,
    facts: &'a FileFacts,
    calls: &HashMap<u64, &'a AgentCall>,
) -> Option<SubagentDigest<'a>> {
    let SubagentFacts { kind, description, task, is_warm_up, .. } =
        facts.agent.as_ref().unwrap_or(const { &SubagentFacts::UNKNOWN });
    let call = task.and_then(|task| calls.get(&task));
    let is_called = !is_warm_up && !file.id.starts_with("acompact-");
    is_called.then(|| SubagentDigest {
        id: &file.id,
        kind: kind.as_deref().or(call.and_then(|call| call.kind.as_deref())),
        description: description.as_deref().or(call.and_then(|call| call.description.as_deref())),
        file: &file.path,
    })
}

/// Claude's summary of each session that has no title in its own file: up to 2.1.42 summaries were written into whichever
/// transcript was opened next.
fn summaries_elsewhere(reads: &[ReadSession]) -> Vec<Option<String>> {
    let titles = || reads.iter().map(|read| &read.facts.summary.titles);
    let waiting: HashMap<u64, &str> = titles().flat_map(Titles::waiting).collect();
    let of = |titles: &Titles| {
        let is_wanted = !waiting.is_empty() && titles.best_given().is_none();
        let mut newest_first = titles.recent().rev().filter(|_| is_wanted);
        newest_first.find_map(|record| waiting.get(&record)).map(|title| (*title).to_owned())
    };
    titles().map(of).collect()
}

/// The clues in a transcript to the session it was copied from.
pub(crate) fn clues_of<'a>(file: &'a TranscriptFile, summary: &'a Summary) -> LineageClues<'a> {
    LineageClues {
        id: &file.id,
        began: summary.began_at,
        last: summary.last_at,
        created: CreationTime::Of(file),
        marked: summary.forked_from.as_ref(),
        named: summary.named_session.as_ref(),
        anchors: &summary.anchors,
    }
}

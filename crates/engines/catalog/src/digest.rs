//! The facts about a session from its own files: those that a list shows, a filter tests and a choice weighs.

use std::borrow::Cow;
use std::path::Path;

use jiff::Timestamp;
use model::{ArmedWork, Damage, ForkOrigin, PricingTerms, SessionStarts, TeamPlace, Usage};
use serde::{Deserialize, Serialize};
use transcript::{Summary, TranscriptFile};

/// A session's entry in the catalog's snapshot. Its repository and the process that holds it are looked up elsewhere.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct SessionDigest<'a> {
    /// The session's id.
    pub(crate) id: &'a str,
    /// The directory, branch and version it was run with.
    #[serde(skip)]
    pub(crate) launch: LaunchContext<'a>,
    /// The other directories that it was in.
    #[serde(borrow)]
    pub(crate) visited: Vec<&'a str>,
    /// The time of its first record.
    #[serde(with = "moment")]
    pub(crate) first_at: Option<Timestamp>,
    /// The time of its last record.
    #[serde(with = "moment")]
    pub(crate) last_at: Option<Timestamp>,
    /// The title the person gave it.
    pub(crate) own_title: Option<&'a str>,
    /// The best title, without the side file.
    pub(crate) given_title: Option<&'a str>,
    /// The first prompt, or the text used in its place.
    pub(crate) first_message: Option<&'a str>,
    /// The last prompt the person typed.
    pub(crate) last_prompt: Option<&'a str>,
    /// Lines of the transcript.
    pub(crate) lines: u64,
    /// Messages a person would read.
    pub(crate) visible_messages: u64,
    /// When a person began the session and resumed it after a pause.
    pub(crate) beginnings: Cow<'a, SessionStarts>,
    /// Tokens the model would have before it now.
    pub(crate) context_tokens: u64,
    /// The terms of its last message.
    pub(crate) terms: PricingTerms,
    /// Whether its last message was written to the one-hour cache.
    pub(crate) has_long_cache: bool,
    /// What it left armed.
    pub(crate) armed: Vec<ArmedWork>,
    /// Claude's name of it.
    pub(crate) nickname: Option<&'a str>,
    /// The number of times its context was compacted.
    pub(crate) compactions: u64,
    /// The parts of the transcript that cannot be read as written.
    pub(crate) damage: Damage,
    /// Whether the file is not a transcript at all.
    pub(crate) is_foreign: bool,
    /// Whether the person left it with `/exit`.
    pub(crate) was_exited: bool,
    /// Claude's summary of it in another session's file.
    pub(crate) summary_elsewhere: Option<&'a str>,
    /// The session it was copied from.
    pub(crate) forked_from: Option<ForkOrigin>,
    /// The sub-agents it called.
    #[serde(borrow)]
    pub(crate) agents: Vec<SubagentDigest<'a>>,
    /// Its place in a team of agents.
    pub(crate) team: Option<Cow<'a, TeamPlace>>,
    /// The number of sub-agents' files, including those that no tool use called.
    pub(crate) agent_files: usize,
    /// The tokens and the price in US dollars that were attributed to it, where that was computed.
    pub(crate) took: Option<(Usage, Option<f64>)>,
    /// The keywords of its first message, as bytes; empty where they were not computed.
    #[serde(borrow, with = "bytes")]
    pub(crate) keywords: Cow<'a, [u8]>,
}

/// Where and by which program a session was run. Thousands of sessions share one, so it is stored apart from their
/// digests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct LaunchContext<'a> {
    /// The directory it belongs to, as its records say: [`Summary::home`].
    pub(crate) cwd: Option<&'a str>,
    /// The name of its transcript's folder, where it is not named after that directory: somebody moved one of them.
    pub(crate) moved_folder: Option<&'a str>,
    /// The directory a worktree session came from.
    pub(crate) worktree_origin: Option<&'a str>,
    /// The branch last seen.
    pub(crate) branch: Option<&'a str>,
    /// The marker in front of its first prompt, such as `[openclaw:agent=main]`.
    pub(crate) origin_marker: Option<&'a str>,
    /// The permission mode last recorded.
    pub(crate) permission_mode: Option<&'a str>,
    /// The version that wrote the last record.
    pub(crate) version: Option<&'a str>,
    /// The program that started it: `cli`, `sdk-cli`, `claude-vscode`, …
    pub(crate) entrypoint: Option<&'a str>,
    /// The model that answered last.
    pub(crate) model: Option<&'a str>,
}

/// What is known of a sub-agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SubagentDigest<'a> {
    /// Its id, without `agent-`.
    pub(crate) id: &'a str,
    /// `general-purpose`, or a custom agent's name.
    pub(crate) kind: Option<&'a str>,
    /// The task in a few words.
    pub(crate) description: Option<&'a str>,
    /// The sub-agent's transcript.
    #[serde(borrow)]
    pub(crate) file: &'a Path,
}

impl<'a> SessionDigest<'a> {
    /// A digest of a session's own transcript; its lineage and its sub-agents are filled in by the caller.
    pub(crate) fn new(file: &'a TranscriptFile, summary: &'a Summary) -> Self {
        let Summary { titles, .. } = summary;
        let launch = LaunchContext::new(file, summary);
        Self {
            id: file.id.as_str(),
            visited: summary.visited(launch.cwd).collect(),
            launch,
            first_at: summary.first_at,
            last_at: summary.last_at,
            own_title: titles.custom_title(),
            given_title: titles.best(),
            first_message: summary.first_prompt.as_deref().or(titles.fallback()),
            last_prompt: summary.last_prompt.as_deref(),
            lines: summary.lines,
            visible_messages: summary.visible_messages,
            beginnings: Cow::Borrowed(&summary.beginnings),
            context_tokens: summary.context_tokens,
            terms: summary.terms,
            has_long_cache: summary.has_long_cache,
            armed: summary.armed(),
            nickname: summary.nickname.as_deref(),
            compactions: summary.compactions(),
            damage: Damage {
                unreadable_lines: summary.skipped.unreadable(),
                mended_lines: summary.mended,
                is_cut_off: false,
            },
            is_foreign: summary.is_foreign(),
            was_exited: summary.was_exited,
            team: summary.team.as_ref().map(Cow::Borrowed),
            ..Self::default()
        }
    }
}

impl<'a> LaunchContext<'a> {
    fn new(file: &'a TranscriptFile, summary: &'a Summary) -> Self {
        let folder = file.folder().to_str();
        let (cwd, is_home) = summary.home(folder.unwrap_or_default());
        Self {
            cwd,
            moved_folder: folder.filter(|_| !is_home),
            worktree_origin: summary.worktree_origin.as_deref(),
            branch: summary.branch.as_deref().filter(|branch| !matches!(*branch, "" | "HEAD")),
            origin_marker: summary.origin_marker.as_deref(),
            permission_mode: summary.permission_mode.as_deref(),
            version: summary.version.as_deref(),
            entrypoint: summary.entrypoint.as_deref(),
            model: summary.model.as_deref(),
        }
    }
}

/// Serializes bytes as they are and borrows them when they are read.
mod bytes {
    use std::borrow::Cow;

    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(bytes: &[u8], to: S) -> Result<S::Ok, S::Error> {
        to.serialize_bytes(bytes)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Cow<'de, [u8]>, D::Error> {
        <&[u8]>::deserialize(from).map(Cow::Borrowed)
    }
}

/// A moment as seconds and nanoseconds: its text would have to be parsed, thousands of times.
mod moment {
    use jiff::Timestamp;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[expect(clippy::ref_option, reason = "the shape that serde asks for")]
    pub(super) fn serialize<S: Serializer>(at: &Option<Timestamp>, to: S) -> Result<S::Ok, S::Error> {
        at.map(|at| (at.as_second(), at.subsec_nanosecond())).serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Timestamp>, D::Error> {
        let parts = Option::<(i64, i32)>::deserialize(from)?;
        Ok(parts.and_then(|(second, nanosecond)| Timestamp::new(second, nanosecond).ok()))
    }
}

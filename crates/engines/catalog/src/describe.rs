//! Turns a session's digest into a [`Session`].

use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;
use model::{Origin, Resumption, Session, SessionId, Subagent};
use transcript::{PastTranscript, TranscriptFile};

use crate::digest::{LaunchContext, SessionDigest, SubagentDigest};
use crate::interner::StringInterner;
use crate::project::{Projects, Repository, SessionLocation};
use crate::types::Locations;

/// Builds sessions one after the other; strings that many of them share are stored once.
#[derive(Debug, Clone, Default)]
pub(crate) struct Describer {
    projects: Projects,
    texts: StringInterner,
}

impl Describer {
    /// Reads which directories are known.
    pub(crate) fn new(places: &Locations) -> Self {
        Self { projects: Projects::new(places), texts: StringInterner::default() }
    }

    /// Keeps for later what was found out about directories that are there now.
    pub(crate) fn remember(&self) {
        self.projects.remember();
    }

    /// A session of which only the directory is known.
    pub(crate) fn in_directory(&mut self, id: SessionId, cwd: &str) -> Session {
        let setting = LaunchContext { cwd: Some(cwd), ..LaunchContext::default() };
        self.intern(&setting).session(id)
    }

    /// Interns a launch context, to be shared by all sessions that have it.
    pub(crate) fn intern(&mut self, setting: &LaunchContext<'_>) -> InternedContext {
        let mut held = |text: Option<&str>| text.map(|text| self.texts.shared(text));
        InternedContext {
            origin: origin(setting.origin_marker),
            branch: held(setting.branch),
            origin_marker: held(setting.origin_marker),
            permission_mode: held(setting.permission_mode),
            version: held(setting.version),
            entrypoint: held(setting.entrypoint),
            model: held(setting.model),
            moved_folder: held(setting.moved_folder),
            repository: setting
                .cwd
                .map(|cwd| self.projects.repository(cwd, setting.moved_folder, setting.worktree_origin)),
        }
    }

    /// Describes a session by its digest.
    pub(crate) fn describe(&mut self, file: &TranscriptFile, digest: &SessionDigest<'_>) -> Session {
        describe_fully(file, digest, &self.intern(&digest.launch))
    }

    /// Builds a session from what its transcript held at a past moment; a title in a side file is left out, because
    /// it has no time.
    pub(crate) fn describe_then(&mut self, file: &TranscriptFile, then: &PastTranscript) -> Session {
        let file = TranscriptFile { has_side_folder: false, ..file.clone() };
        let session = self.describe(&file, &SessionDigest::new(&file, &then.summary));
        Session { last_modified: then.summary.last_at, file_size: then.bytes, ..session }
    }
}

/// A launch context whose strings are shared by all sessions that have it.
#[derive(Debug, Clone)]
pub(crate) struct InternedContext {
    repository: Option<Repository>,
    moved_folder: Option<Arc<str>>,
    branch: Option<Arc<str>>,
    origin: Origin,
    origin_marker: Option<Arc<str>>,
    permission_mode: Option<Arc<str>>,
    version: Option<Arc<str>>,
    entrypoint: Option<Arc<str>>,
    model: Option<Arc<str>>,
}

impl InternedContext {
    /// The repository, branch and directory of its sessions.
    pub(crate) fn location(&self) -> SessionLocation<'_> {
        let found = self.repository.as_ref();
        SessionLocation {
            branch: self.branch.as_deref(),
            label: found.and_then(|found| found.label.as_deref()),
            paths: [found.map(|found| &*found.root), found.map(|found| &*found.directory)],
            folder: self.moved_folder.as_deref(),
        }
    }

    /// A session of which only the launch context is known.
    fn session(&self, id: SessionId) -> Session {
        let (root, label, directory) = match self.repository.clone() {
            Some(Repository { root, label, directory }) => (Some(root), label, Some(directory)),
            None => (None, None, None),
        };
        Session {
            origin: self.origin.clone(),
            repo_path: root,
            project: label,
            cwd: directory,
            branch: self.branch.clone(),
            origin_marker: self.origin_marker.clone(),
            permission_mode: self.permission_mode.clone(),
            version: self.version.clone(),
            entrypoint: self.entrypoint.clone(),
            ..Session::new(id)
        }
    }
}

/// Describes a session by its digest with the fields that a filter examines.
pub(crate) fn describe_for_filter(
    file: &TranscriptFile,
    digest: &SessionDigest<'_>,
    held: &InternedContext,
) -> Session {
    let session = Session {
        last_modified: last_modified(file, digest),
        missing_bytes: file.missing,
        compactions: digest.compactions,
        deleted_at: file.deleted_at,
        unreadable_folder: file.unreadable_folder.clone(),
        visited: digest.visited.iter().map(|directory| Path::new(directory).into()).collect(),
        ..held.session(file.id.clone())
    };
    let is_gone = file.archived && file.unreadable_folder.is_none();
    match session.origin {
        Origin::Native if is_gone => Session { origin: Origin::Archived, archived: true, ..session },
        _ => Session { archived: file.archived, ..session },
    }
}

/// Describes a session by its digest without its prompts, nickname and sub-agents.
pub(crate) fn describe_scalars(
    file: &TranscriptFile,
    digest: &SessionDigest<'_>,
    held: &InternedContext,
) -> Session {
    let (usage, cost_usd) = digest.took.unwrap_or_default();
    Session {
        title: title(file, digest).or_else(|| digest.first_message.map(Arc::from)),
        custom_title: digest.own_title.map(Arc::from),
        file: Some(Arc::clone(&file.path)),
        diverged: file.diverged.iter().map(|other| Arc::clone(&other.path)).collect(),
        created: digest.first_at,
        beginnings: digest.beginnings.as_ref().clone(),
        message_count: digest.lines,
        visible_messages: digest.visible_messages,
        file_size: file.stamp.size,
        usage,
        context_tokens: digest.context_tokens,
        resumption: Resumption {
            model: held.model.clone(),
            terms: digest.terms,
            has_long_cache: digest.has_long_cache,
            armed: digest.armed.clone(),
        },
        cost_usd,
        was_exited: digest.was_exited,
        damage: digest.damage,
        forked_from: digest.forked_from.clone(),
        ..describe_for_filter(file, digest, held)
    }
}

/// Describes a session by its digest.
pub(crate) fn describe_fully(
    file: &TranscriptFile,
    digest: &SessionDigest<'_>,
    held: &InternedContext,
) -> Session {
    Session {
        first_message: digest.first_message.map(Arc::from),
        last_prompt: digest.last_prompt.map(Arc::from),
        nickname: digest.nickname.map(Arc::from),
        subagents: digest.agents.iter().map(subagent).collect(),
        team: digest.team.as_deref().cloned().map(Box::new),
        ..describe_scalars(file, digest, held)
    }
}

/// The time of a session's last record, else the time its file was modified.
pub(crate) fn last_modified(file: &TranscriptFile, digest: &SessionDigest<'_>) -> Option<Timestamp> {
    digest.last_at.or(file.stamp.modified())
}

/// The best name: the user's own, one given by a model, or what the first prompts are about; last of all the name of the
/// session before it.
fn title(file: &TranscriptFile, digest: &SessionDigest<'_>) -> Option<Arc<str>> {
    let side = digest.own_title.is_none().then(|| file.side_title()).flatten();
    let (own, carried) = match side {
        Some((title, true)) => (None, Some(title)),
        Some((title, false)) => (Some(title), None),
        None => (None, None),
    };
    own.as_deref().or(digest.given_title).or(carried.as_deref()).map(Arc::from)
}

/// The origin by the marker in a first message, for sessions that no registry names.
fn origin(marker: Option<&str>) -> Origin {
    let agent = marker.and_then(transcript::marked_agent);
    match agent.and_then(|agent| agent.parse().ok()) {
        Some(agent) => Origin::OpenClaw { agent, label: None },
        None => Origin::Native,
    }
}

fn subagent(digest: &SubagentDigest<'_>) -> Subagent {
    Subagent {
        id: digest.id.to_owned(),
        agent_type: digest.kind.map(ToOwned::to_owned),
        description: digest.description.map(ToOwned::to_owned),
        file: digest.file.to_owned(),
    }
}

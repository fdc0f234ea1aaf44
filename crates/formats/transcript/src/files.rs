//! The files of a config folder: transcripts, sub-agents' transcripts, and the side files of both.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use model::SessionId;
use system::{FileStamp, fingerprint};

use crate::json::{Raw, raw_fields};
use crate::open_transcript::OpenTranscript;
use crate::reader::{Line, Reader};
use crate::record::{Block, RecordKind};

/// The largest side file that is read, in bytes.
pub(crate) const SIDE_FILE_CAP: u64 = 1 << 20;

/// A session's transcript and the files next to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TranscriptFile {
    /// The session's id: the file's stem.
    pub id: SessionId,
    /// The path of the file; shared with the descriptions of the session.
    pub path: Arc<Path>,
    /// The file's stamp.
    pub stamp: FileStamp,
    /// Other files with its id in which the conversation goes on otherwise.
    pub diverged: Vec<DivergedFile>,
    /// Other files with its id that it begins with.
    pub copies: Vec<Arc<Path>>,
    /// The transcripts of its sub-agents.
    pub subagents: Vec<SubagentFile>,
    /// Whether a folder with its name is next to it.
    pub has_side_folder: bool,
    /// Whether the file is gone, and this is the archive's copy.
    pub archived: bool,
    /// How many bytes at its end that copy lacks, because the file was deleted while it was copied.
    pub missing: u64,
    /// By when the file was gone, where that was noticed.
    pub deleted_at: Option<Timestamp>,
    /// The folder because of which nobody knows whether the file is gone: it cannot be read.
    pub unreadable_folder: Option<Arc<Path>>,
}

/// A file with a session's id that is neither its beginning nor the other way round: it was copied to another folder, and
/// continued in both.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DivergedFile {
    /// The path of the file.
    pub path: Arc<Path>,
    /// The file's stamp.
    pub stamp: FileStamp,
}

/// A sub-agent's transcript.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubagentFile {
    /// Its id, without `agent-`.
    pub id: String,
    /// The path of the file.
    pub path: PathBuf,
    /// The file's stamp.
    pub stamp: FileStamp,
}

/// A file or folder that could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadProblem {
    /// The file or folder.
    pub path: PathBuf,
    /// What is wrong, as the end of a sentence.
    pub what: String,
    /// Whether a transcript, or a folder of them, cannot be read; otherwise something odd is left out.
    pub is_unreadable: bool,
}

impl ReadProblem {
    /// Something that cannot be read.
    pub fn unreadable(path: PathBuf, error: impl Into<io::Error>) -> Self {
        Self { path, what: format!("it cannot be read: {}", error.into()), is_unreadable: true }
    }
}

/// The files of one config folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FolderContents {
    /// The transcripts of sessions.
    pub transcripts: Vec<TranscriptFile>,
    /// Sub-agents' transcripts next to the sessions (2.0.42 to 2.0.77); their records name the session.
    pub flat_subagents: Vec<SubagentFile>,
    /// Sub-agents' transcripts below the folder of a session whose own transcript is not next to it.
    pub lone_subagents: Vec<SubagentFile>,
    /// The files and folders that could not be read.
    pub problems: Vec<ReadProblem>,
}

impl FolderContents {
    /// Appends the files found elsewhere; those already here are not moved.
    pub fn add(&mut self, more: Self) {
        if self.transcripts.capacity() == 0 {
            self.transcripts = more.transcripts;
        } else {
            self.transcripts.extend(more.transcripts);
        }
        self.flat_subagents.extend(more.flat_subagents);
        self.lone_subagents.extend(more.lone_subagents);
        self.problems.extend(more.problems);
    }
}

impl TranscriptFile {
    /// A transcript at a path, of which nothing else is known.
    pub fn new(id: SessionId, path: impl Into<Arc<Path>>, stamp: FileStamp) -> Self {
        Self {
            id,
            path: path.into(),
            stamp,
            diverged: Vec::new(),
            copies: Vec::new(),
            subagents: Vec::new(),
            has_side_folder: false,
            archived: false,
            missing: 0,
            deleted_at: None,
            unreadable_folder: None,
        }
    }

    /// The name of its project folder.
    pub fn folder(&self) -> &OsStr {
        self.path.parent().and_then(Path::file_name).unwrap_or_default()
    }

    /// A number that changes when the transcript or one of its sub-agents' does; those of several can be added.
    pub fn fingerprint(&self) -> u64 {
        let agents = self.subagents.iter().map(|file| (file.path.as_path(), &file.stamp));
        let diverged = self.diverged.iter().map(|file| (&*file.path, &file.stamp));
        fingerprint(std::iter::once((&*self.path, &self.stamp)).chain(diverged).chain(agents))
    }

    /// When it was created, in nanoseconds since 1970; where the file system does not know, when it was last
    /// modified.
    pub fn created(&self) -> i64 {
        if self.archived {
            return sealed::source_of(&self.path).map_or(self.stamp.mtime, |source| source.created);
        }
        // The first of its files may be a copy by now, and the session in the other one.
        let others = self.diverged.iter().map(|other| &other.path).chain(&self.copies);
        let all = std::iter::once(&self.path).chain(others);
        let made = |path: &Arc<Path>| std::fs::symlink_metadata(path).and_then(|found| found.created()).ok();
        let made = all.filter_map(made).min();
        let since = made.and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok());
        since.and_then(|since| i64::try_from(since.as_nanos()).ok()).unwrap_or(self.stamp.mtime)
    }

    /// The folder next to the transcript.
    pub fn side_folder(&self) -> PathBuf {
        self.path.with_extension("")
    }

    /// The title in the side file, and whether `/clear` carried it here from the session before (2.1.332): such a one
    /// says nothing of what this session is about.
    pub fn side_title(&self) -> Option<(String, bool)> {
        if !self.has_side_folder {
            return None;
        }
        let bytes =
            OpenTranscript::read_small(&self.side_folder().join("custom-title.json"), SIDE_FILE_CAP).ok()?;
        let text = String::from_utf8_lossy(&bytes);
        let record = Raw::new(&text);
        let title = record.get("customTitle").text().filter(|title| !title.is_empty())?;
        Some((title.into_owned(), record.get("by").is("carried")))
    }
}

raw_fields! {
    struct MetaFields { agent_type = "agentType", description = "description", tool_use = "toolUseId" }
}

/// The content of a sub-agent's side file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SubagentMeta {
    /// `general-purpose`, or a custom agent's name.
    pub agent_type: Option<String>,
    /// The task in a few words.
    pub description: Option<String>,
    /// The tool use of the parent that started it.
    pub tool_use: Option<String>,
}

/// The prompt a sub-agent was given: the text of the first line of its file.
pub fn given_task<'a>(first: &Line<'a>) -> Option<Cow<'a, str>> {
    let message = first.record().ok()?.message()?;
    message.each_block().find_map(|block| match block {
        Block::Text(text) => Some(text),
        _ => None,
    })
}

impl SubagentFile {
    /// The session that its first records name; up to 2.0.77 its location does not show it. The model's first answer
    /// decides: a prompt that 2.0.77 wrote while starting may name a session that never existed.
    pub fn session(&self) -> Option<SessionId> {
        const LOOKED_AT: usize = 16;
        let mut reader = Reader::open(&self.path).ok()?;
        let mut named = None;
        for _ in 0..LOOKED_AT {
            let Ok(Some(line)) = reader.next_line() else { break };
            let Ok(record) = line.record() else { continue };
            let session = record.session().and_then(|session| session.parse().ok());
            if session.is_some() && record.kind() == RecordKind::Assistant {
                return session;
            }
            named = named.or(session);
        }
        named
    }

    /// The directory in which it was started.
    pub fn directory(&self) -> Option<PathBuf> {
        let mut reader = Reader::open(&self.path).ok()?;
        let line = reader.next_line().ok()??;
        line.record().ok()?.cwd().map(|cwd| PathBuf::from(cwd.as_ref()))
    }

    /// The task it was given, from its first record.
    pub fn task(&self) -> Option<String> {
        let mut reader = Reader::open(&self.path).ok()?;
        given_task(&reader.next_line().ok()??).map(Cow::into_owned)
    }

    /// The session below whose folder the file is; `None` where it is next to the sessions.
    pub fn folder_session(&self) -> Option<SessionId> {
        let folder =
            self.path.ancestors().find(|path| path.file_name().is_some_and(|name| name == "subagents"))?;
        folder.parent()?.file_name()?.to_str()?.parse().ok()
    }

    /// Reads the side file `agent-<id>.meta.json`; all absent where there is none.
    pub fn meta(&self) -> SubagentMeta {
        let Ok(bytes) = OpenTranscript::read_small(&self.path.with_extension("meta.json"), SIDE_FILE_CAP)
        else {
            return SubagentMeta::default();
        };
        let text = String::from_utf8_lossy(&bytes);
        let fields = MetaFields::from_raw(Raw::new(&text));
        let owned = |field: Raw<'_>| field.text().map(Cow::into_owned);
        SubagentMeta {
            agent_type: owned(fields.agent_type),
            description: owned(fields.description),
            tool_use: owned(fields.tool_use),
        }
    }
}

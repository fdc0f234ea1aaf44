//! `export`: every session as a Markdown document in a folder, for qmd and for people; only what has changed is
//! written again.

use std::collections::HashMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use catalog::SessionFilter;
use model::{Session, SessionId};
use qmd::{Collection, DocumentState, DocumentTarget};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};

use crate::repository::target::with_project;
use crate::retention::exported;
use crate::search::intent;
use crate::sessions::select::all;
use crate::sessions::show::{Conversation, ShownMessage};
use crate::{Context, Error, Kind, Progress, Secrets, Stage};

/// What to export, and where to.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ExportRequest")]
pub struct Request {
    /// The folder to write to; created if it is missing.
    pub folder: PathBuf,
    /// Only sessions of this repository, given by name or by a path inside it; other documents are left alone.
    pub project: Option<String>,
    /// Whether to keep the documents of sessions that are gone.
    #[serde(default)]
    pub keep_gone: bool,
    /// Whether to have qmd index and embed what is new afterwards.
    #[serde(default)]
    pub index: bool,
}

/// How many sessions were exported, and where.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[schemars(rename = "ExportAnswer")]
pub struct Answer {
    /// The folder of the exported documents.
    #[serde(serialize_with = "model::path")]
    pub folder: PathBuf,
    /// How many documents were written.
    pub written: u64,
    /// How many documents were as they have to be.
    pub unchanged: u64,
    /// How many documents of sessions that are gone were removed.
    pub removed: u64,
    /// Documents that could not be written, and why.
    pub failed: Vec<String>,
    /// Whether qmd has indexed the documents; `null` if that was not requested.
    pub indexed: Option<bool>,
    /// Why qmd has not indexed them.
    #[serde(serialize_with = "message", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub qmd_error: Option<Error>,
}

/// Writes an error as its message.
#[expect(clippy::ref_option, reason = "the signature that serde asks for")]
fn message<S: Serializer>(error: &Option<Error>, to: S) -> Result<S::Ok, S::Error> {
    error.as_ref().map(|error| &error.message).serialize(to)
}

/// The head that every Markdown document of a session begins with.
pub fn head(session: &Session) -> String {
    qmd::DocumentHead::head(session, None)
}

/// Writes the collection. `look` gives what writes the messages of one document.
pub fn export<L>(context: &Context, request: &Request, look: impl Fn() -> L) -> Result<Answer, Error>
where
    L: FnMut(&mut dyn Write, &ShownMessage) -> io::Result<()>,
{
    context.require_person("exporting all sessions")?;
    if request.folder.as_os_str().is_empty() {
        return Err(Error::new(Kind::Usage, "the folder to export to is missing"));
    }
    // A document is read by programs: it never holds secrets, whatever the terminal may show.
    let context = &Context { secrets: Secrets::Redacted, ..context.clone() };
    let folder = context.path(&request.folder);
    let collection = open(&folder)?;
    exported::note(context, &folder)?;
    let sessions = all(context)?.sessions;
    let mut exported = Answer { folder, ..Answer::default() };
    let mut pages: HashMap<SessionId, PathBuf> = HashMap::new();
    let filter = SessionFilter { project: request.project.clone(), ..SessionFilter::default() };
    let filter = with_project(context, &filter, &sessions.iter());
    let wanted = |session: &&Session| filter.matches(session);
    let total = sessions.iter().filter(wanted).count() as u64;
    let mut done = 0;
    for session in &sessions {
        let Some((file, source)) = state(session) else { continue };
        let page = collection.target(session, &source);
        pages.insert(session.id.clone(), page.path.clone());
        if !filter.matches(session) {
            continue;
        }
        match keep(&collection, &page, session, file, look()) {
            Ok(DocumentState::Unchanged) => exported.unchanged += 1,
            Ok(DocumentState::Stale) => exported.written += 1,
            Ok(DocumentState::NotOurs) => {
                exported.failed.push(format!(
                    "{}: a file that Backstory did not write has this name",
                    page.path.display()
                ));
            }
            Err(Broken(why)) => exported.failed.push(format!("{}: {why}", page.path.display())),
        }
        done += 1;
        context.report(Progress::new(Stage::Exporting, done, total));
        context.check_cancelled()?;
    }
    // Where no session is found at all, a folder is not there, rather than every session forgotten.
    if !request.keep_gone && !pages.is_empty() {
        let is_kept = |id: &SessionId, path: &Path| pages.get(id).is_some_and(|page| page == path);
        let folders = pages.values().filter_map(|page| Some(page.parent()?.to_owned())).collect();
        exported.removed =
            collection.remove(&folders, is_kept).map_err(|error| unusable(&request.folder, &error))?;
    }
    if request.index {
        let stage = Stage::IndexingDocuments;
        context.report(Progress::new(stage, 0, exported.written));
        exported.qmd_error = index(context).err();
        exported.indexed = Some(exported.qmd_error.is_none());
    }
    Ok(exported)
}

/// Lets qmd read its collections again and embed what is new.
fn index(context: &Context) -> Result<(), Error> {
    let Some(qmd) = intent::installed(context) else {
        let wanted = context.config().settings.fork.qmd.display().to_string();
        return Err(Error::new(Kind::Unavailable, format!("there is no program `{wanted}`"))
            .hint("install qmd: npm install -g @tobilu/qmd; or set `fork.qmd` to its program"));
    };
    qmd.index().map_err(|why| {
        // A complaint of another program's may repeat what it was given.
        Error::new(Kind::Unavailable, context.secrets.redacted(why.into()))
            .hint("the documents are exported; `qmd doctor` says what is wrong")
            .hint("qmd searches by words after `qmd update`, and by meaning only after `qmd embed`")
    })
}

fn open(folder: &Path) -> Result<Collection, Error> {
    let opened = Collection::open(folder).map_err(|error| unusable(folder, &error))?;
    opened.ok_or_else(|| {
        let message = format!("another Backstory process is exporting to {}", folder.display());
        Error::new(Kind::Unavailable, message).hint("wait until it has finished, then try again")
    })
}

fn unusable(folder: &Path, error: &io::Error) -> Error {
    Error::caused(Kind::Unavailable, format!("cannot export to {}", folder.display()), error)
        .hint("choose a folder that you can write to")
}

/// The transcript, and what tells one state of it from another.
fn state(session: &Session) -> Option<(&Path, String)> {
    let file = session.file.as_deref()?;
    let found = file.metadata().ok()?;
    let since = found.modified().ok()?.duration_since(UNIX_EPOCH).unwrap_or_default();
    Some((file, format!("{} {}.{:09}", found.len(), since.as_secs(), since.subsec_nanos())))
}

/// Writes a document where it is not what it has to be.
fn keep(
    collection: &Collection,
    page: &DocumentTarget,
    session: &Session,
    file: &Path,
    mut look: impl FnMut(&mut dyn Write, &ShownMessage) -> io::Result<()>,
) -> Result<DocumentState, Broken> {
    let kept = collection.state(page)?;
    if kept == DocumentState::Stale {
        let conversation = Conversation::redacted(session.clone(), file.to_owned());
        collection
            .write(page, |out| conversation.each(|shown| Ok::<_, Broken>(look(out, &shown)?)).map(drop))?;
    }
    Ok(kept)
}

/// Why a document could not be written.
struct Broken(String);

impl From<Error> for Broken {
    fn from(error: Error) -> Self {
        Self(error.message)
    }
}

impl From<io::Error> for Broken {
    fn from(error: io::Error) -> Self {
        Self(error.to_string())
    }
}

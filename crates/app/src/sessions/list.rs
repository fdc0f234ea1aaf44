//! `list`: sessions from every source, running first, then newest.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::Path;

pub use catalog::{Hidden, SessionFilter};
use model::{AgentId, Session, SessionId, folded};
use schemars::JsonSchema;
use search::{FilterName, Mode, Query, QueryFilter, SourceKind};
use serde::{Deserialize, Deserializer, Serialize};

pub use crate::sessions::origin_name::OriginName;

use crate::choose::resume_cost;
use crate::repository::target::{self, with_project};
use crate::retention::ghosts;
use crate::search::find::find;
use crate::search::hint::Hint;
use crate::search::parsed_question::misspelt;
use crate::search::question::{Question, set};
use crate::sessions::openclaw_conversation;
use crate::sessions::programs::Programs;
use crate::sessions::resolve::{is_named, looks_like_id};
use crate::sessions::select::select;
use crate::sessions::unread::unread;
use crate::workers::holders::HeldSessions;
use crate::{Context, Error, Kind, Moment, NextStep};

/// Which sessions to list.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "ListRequest")]
#[expect(clippy::struct_excessive_bools, reason = "each is a condition of its own")]
pub struct Request {
    /// Only sessions of this repository: its name, Claude Code's folder name for it, or a path inside it.
    pub project: Option<String>,
    /// Only sessions whose last known branch is this one.
    pub branch: Option<String>,
    /// Only sessions started by a person (`native`) or an OpenClaw agent (`openclaw`), or of which only the archive (`archived`) or
    /// other files (`ghost`) are left.
    pub origin: Option<OriginName>,
    /// Only sessions of this OpenClaw agent.
    pub agent: Option<AgentId>,
    /// Only sessions that a running process has open.
    pub running: bool,
    /// Only sessions active since then.
    pub since: Option<Moment>,
    /// Only sessions that began before this time, or on this day or earlier.
    pub until: Option<Moment>,
    /// Only sessions that read or changed this file.
    pub file: Option<String>,
    /// Only sessions with this tag.
    pub tag: Option<String>,
    /// Only pinned sessions.
    pub pinned: bool,
    /// Only hidden sessions, which are otherwise left out.
    pub hidden: bool,
    /// Only sessions whose context was compacted.
    pub compacted: bool,
    /// Only sessions whose title, first message, project or branch contains all of these words.
    #[serde(deserialize_with = "one_or_several")]
    pub words: Vec<String>,
    /// Whether of the sessions of a program that begin alike only the newest is listed, with their number.
    pub fold: bool,
    /// The order; by default running sessions first, then pinned ones, then the newest.
    pub sort: Option<SessionOrder>,
    /// The maximum number of sessions; by default all.
    #[schemars(range(min = 1))]
    pub limit: Option<usize>,
}

/// Reads a list of words, or a text with all of them.
fn one_or_several<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "a list of words, or a text")]
    enum Written {
        Text(String),
        List(Vec<String>),
    }
    Ok(match Written::deserialize(from)? {
        Written::Text(text) => text.split_whitespace().map(str::to_owned).collect(),
        Written::List(words) => words,
    })
}

/// An order of sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SessionOrder {
    /// Those in which something happened last come first.
    Newest,
    /// Those in which nothing happened for longest come first.
    Oldest,
    /// The most expensive come first.
    Cost,
    /// The cheapest of those that cost anything come first.
    Cheapest,
    /// Those with the most messages come first.
    Messages,
    /// Those that used the most tokens come first.
    Tokens,
}

/// The sessions, and what is not among them.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[schemars(rename = "ListAnswer")]
pub struct Answer {
    /// The sessions asked for.
    pub sessions: Vec<Session>,
    /// How many more match beyond the limit.
    pub more: usize,
    /// How many sessions there are in all.
    pub known: usize,
    /// Sub-agents' files, which are no sessions.
    pub subagents_excluded: usize,
    /// How many files and folders could not be read.
    pub problems: usize,
    /// What else there is to know about the answer, in sentences.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// Lists the sessions that a request selects, newest first.
pub fn list(context: &Context, request: &Request) -> Result<Answer, Error> {
    let misspelt = misspelt_filters(&request.words);
    let request = &request.with_written_filters()?;
    let filter = request.filter(context)?;
    if let Some(answer) = named(context, request, &filter)? {
        return Ok(answer);
    }
    if request.origin == Some(OriginName::Ghost) {
        return Ok(ghosts_that_match(context, request, &filter));
    }
    // What is sorted or joined by conversations is cut afterwards.
    let is_whole = request.sort.is_some() || request.holds_conversations() || request.fold;
    let listing = select(context, &filter, request.limit.filter(|_| !is_whole))?;
    let not_cached = listing.not_cached.map(|why| {
        format!("the cache could not be saved, so the next listing reads the same files again: {why}")
    });
    let asks_openclaw = request.origin == Some(OriginName::OpenClaw) || request.agent.is_some();
    let unread = if asks_openclaw { unread(context) } else { Vec::new() };
    let (mut sessions, mut more) = (listing.sessions, listing.more);
    if request.holds_conversations() {
        let conversations = openclaw_conversation::all(context, request.agent.as_ref());
        sessions.extend(conversations.into_iter().filter(|session| filter.matches(session)));
        sessions.sort_by_key(|session| Reverse((session.is_running, session.last_modified)));
    }
    if let Some(order) = request.sort {
        order.sort(&mut sessions);
    }
    let unknown = if sessions.is_empty() { unknown_values(context, request)? } else { Vec::new() };
    if request.fold {
        fold(&mut sessions);
    }
    if request.sort.is_none() {
        join_teams(&mut sessions);
    }
    let limit = request.limit.unwrap_or(usize::MAX);
    more += sessions.len().saturating_sub(limit);
    sessions.truncate(limit);
    if let Some(asking) = context.asking_session() {
        for session in &mut sessions {
            session.is_asking = session.id == asking;
        }
    }
    resume_cost::add(context, &mut sessions);
    add_permission_modes(context, &mut sessions)?;
    let incomplete = sessions.iter().filter(|session| session.missing_bytes > 0).map(|session| {
        let (id, there) = (session.id.short(), session.file_size);
        let whole = there + session.missing_bytes;
        format!("{id} was deleted while it was copied: {there} of {whole} bytes are kept")
    });
    let incomplete: Vec<String> = incomplete.collect();
    let folders: BTreeSet<&Path> =
        sessions.iter().filter_map(|session| session.unreadable_folder.as_deref()).collect();
    let unreadable = folders.into_iter().map(|folder| {
        format!("{} cannot be read; its sessions are listed from the archive", folder.display())
    });
    let unreadable: Vec<String> = unreadable.collect();
    Ok(Answer {
        sessions,
        more,
        known: listing.known,
        subagents_excluded: listing.subagents,
        problems: listing.problems.len(),
        notes: not_cached
            .into_iter()
            .chain(misspelt)
            .chain(unread)
            .chain(unknown)
            .chain(incomplete)
            .chain(unreadable)
            .collect(),
    })
}

/// What is said of words that look like filters with misspelt names.
fn misspelt_filters(words: &[String]) -> Vec<String> {
    misspelt(&Query::parse(&words.join(" "))).map(|(_, sentence)| sentence).collect()
}

/// The sessions with the id that is the only word, or whose ids begin so: hidden and deleted ones, too. None where it is no
/// id; digits may be words.
fn named(context: &Context, request: &Request, filter: &SessionFilter) -> Result<Option<Answer>, Error> {
    let [word] = request.words.as_slice() else { return Ok(None) };
    if !looks_like_id(word) {
        return Ok(None);
    }
    let found = context.transcripts();
    let ids: HashSet<SessionId> =
        found.sessions.iter().map(|file| &file.id).filter(|id| is_named(id, word)).cloned().collect();
    let hidden = if request.hidden { Hidden::Only } else { Hidden::Included };
    let filter = SessionFilter { words: Vec::new(), ids: Some(ids), hidden, ..filter.clone() };
    let listing = select(context, &filter, request.limit)?;
    let (mut sessions, more, known) = (listing.sessions, listing.more, listing.known);
    if sessions.is_empty() {
        sessions.extend(ghosts::named(context, word).map(|ghost| ghost.session));
    }
    if sessions.is_empty() {
        return Ok(None);
    }
    resume_cost::add(context, &mut sessions);
    add_permission_modes(context, &mut sessions)?;
    Ok(Some(Answer { sessions, more, known, subagents_excluded: listing.subagents, ..Answer::default() }))
}

/// Leaves one session of those of a program that begin alike.
fn fold(sessions: &mut Vec<Session>) {
    let programs = Programs::among(sessions.iter());
    sessions.retain(|session| !programs.is_folded(&session.id));
    for session in sessions {
        session.folded = programs.others(&session.id);
    }
}

/// Puts the sessions of teammates behind their lead's.
fn join_teams(sessions: &mut Vec<Session>) {
    let is_mate = |session: &Session| session.team.as_ref().is_some_and(|team| team.agent.is_some());
    let is_lead = |session: &Session| session.team.as_ref().is_some_and(|team| team.agent.is_none());
    if !sessions.iter().any(is_mate) || !sessions.iter().any(is_lead) {
        return;
    }
    let is_of = |mate: &Session, lead: &Session| {
        let name = |session: &Session| session.team.as_ref().map(|team| team.name.clone());
        is_mate(mate) && name(mate) == name(lead) && mate.repo_path == lead.repo_path
    };
    let mut left: Vec<Option<Session>> = std::mem::take(sessions).into_iter().map(Some).collect();
    let leads: Vec<usize> = (0..left.len()).filter(|at| left[*at].as_ref().is_some_and(is_lead)).collect();
    let mut mates_of: HashMap<usize, Vec<Session>> = HashMap::new();
    for at in leads {
        let Some(lead) = left[at].clone() else { continue };
        let mates = left.iter_mut().filter_map(|mate| mate.take_if(|mate| is_of(mate, &lead)));
        mates_of.insert(at, mates.collect());
    }
    for (at, session) in left.into_iter().enumerate() {
        sessions.extend(session);
        sessions.extend(mates_of.remove(&at).unwrap_or_default());
    }
}

/// Replaces the permission mode last recorded of a session by the one that its worker is in.
fn add_permission_modes(context: &Context, sessions: &mut [Session]) -> Result<(), Error> {
    let held = HeldSessions::load(context)?;
    for session in sessions {
        if let Some(mode) = held.permission_mode(&session.id) {
            session.permission_mode = Some(mode.as_str().into());
        }
    }
    Ok(())
}

/// The sessions of which no transcript is left.
fn ghosts_that_match(context: &Context, request: &Request, filter: &SessionFilter) -> Answer {
    let all = ghosts::all(context);
    let known = all.len();
    let mut sessions: Vec<Session> = all.into_iter().map(|ghost| ghost.session).collect();
    let filter = with_project(context, filter, &sessions.iter());
    sessions.retain(|session| filter.matches(session));
    if let Some(order) = request.sort {
        order.sort(&mut sessions);
    }
    let more = sessions.len().saturating_sub(request.limit.unwrap_or(usize::MAX));
    sessions.truncate(sessions.len() - more);
    Answer { sessions, more, known, ..Answer::default() }
}

impl Request {
    /// The sessions that a question without words to search for is about.
    pub fn of_hint(hint: &Hint) -> Option<Self> {
        let all = Self::default();
        Some(match &hint.next_step {
            NextStep::ListBetween { since, until } => Self {
                since: Some(Moment::from(since.as_str())),
                until: Some(Moment::from(until.as_str())),
                ..all
            },
            NextStep::ListBranch { branch } => Self { branch: Some(branch.clone()), ..all },
            NextStep::CostBySession { since, until } => Self {
                sort: Some(SessionOrder::Cost),
                since: since.as_deref().map(Moment::from),
                until: until.as_deref().map(Moment::from),
                ..all
            },
            NextStep::ListCheapest { since, until } => Self {
                sort: Some(SessionOrder::Cheapest),
                since: since.as_deref().map(Moment::from),
                until: until.as_deref().map(Moment::from),
                ..all
            },
            NextStep::ListNewest => Self { sort: Some(SessionOrder::Newest), ..all },
            _ => return None,
        })
    }

    /// The same with the filters among the words, as `search` takes them; those given apart win.
    fn with_written_filters(&self) -> Result<Self, Error> {
        let query = Query::parse(&self.words.join(" "));
        let words = query.text.split_whitespace().map(str::to_owned).collect();
        let mut request = Self { words, ..self.clone() };
        for QueryFilter { name, value } in query.filters {
            match name {
                FilterName::Project | FilterName::Repo => set(&mut request.project, value),
                FilterName::Branch => set(&mut request.branch, value),
                FilterName::File => set(&mut request.file, value),
                FilterName::Tag => set(&mut request.tag, value),
                FilterName::Since => set(&mut request.since, Moment::from(value.as_str())),
                FilterName::Until => set(&mut request.until, Moment::from(value.as_str())),
                FilterName::Is if value == "pinned" => request.pinned = true,
                FilterName::Is if value == "hidden" => request.hidden = true,
                FilterName::Is if value == "compacted" => request.compacted = true,
                FilterName::Is => request.running = true,
                FilterName::Origin
                | FilterName::Agent
                | FilterName::Source
                | FilterName::Role
                | FilterName::Session => return Err(not_a_filter(name)),
            }
        }
        Ok(request)
    }

    /// Whether OpenClaw's own conversations are asked for: they belong to no project and run in no process.
    fn holds_conversations(&self) -> bool {
        let is_of_claude =
            self.project.is_some() || self.branch.is_some() || self.file.is_some() || self.running;
        self.origin == Some(OriginName::OpenClaw) && !is_of_claude
    }

    fn filter(&self, context: &Context) -> Result<SessionFilter, Error> {
        Ok(SessionFilter {
            project: self.project.clone(),
            branch: self.branch.clone(),
            origin: self.origin.map(|origin| origin.as_str().to_owned()),
            agent: self.agent.clone(),
            running: self.running,
            since: self.since.as_ref().map(|since| since.at(context)).transpose()?,
            until: self.until.as_ref().map(|until| until.end(context)).transpose()?,
            words: self.words.iter().map(|word| folded(word)).collect(),
            ids: self.file.as_deref().map(|file| of_file(context, file)).transpose()?,
            tag: self.tag.clone(),
            pinned: self.pinned,
            compacted: self.compacted,
            hidden: if self.hidden { Hidden::Only } else { Hidden::Excluded },
            ..SessionFilter::default()
        })
    }
}

fn not_a_filter(name: FilterName) -> Error {
    let name = name.as_str();
    let error = Error::new(Kind::Usage, format!("{name}: is no filter among the words of a list"));
    error.hint(match name {
        "origin" | "agent" => format!("use --{name}"),
        _ => format!("a search takes it: backstory search {name}:…"),
    })
}

impl SessionOrder {
    fn sort(self, sessions: &mut [Session]) {
        match self {
            Self::Newest => sessions.sort_by_key(|session| Reverse(session.last_modified)),
            Self::Oldest => sessions.sort_by_key(|session| session.last_modified),
            Self::Cost => sessions.sort_by(|one, other| {
                let cost = |session: &Session| session.cost_usd.unwrap_or_default();
                cost(other).total_cmp(&cost(one))
            }),
            Self::Cheapest => sessions.sort_by(|one, other| {
                let cost =
                    |session: &Session| session.cost_usd.filter(|cost| *cost > 0.0).unwrap_or(f64::MAX);
                cost(one).total_cmp(&cost(other))
            }),
            Self::Messages => sessions.sort_by_key(|session| Reverse(session.visible_messages)),
            Self::Tokens => sessions.sort_by_key(|session| Reverse(session.usage.total())),
        }
    }
}

/// What to say where no session is of the project or on the branch that is asked for, whatever else is.
fn unknown_values(context: &Context, request: &Request) -> Result<Vec<String>, Error> {
    if request.project.is_none() && request.branch.is_none() {
        return Ok(Vec::new());
    }
    let sessions = select(context, &SessionFilter::default(), None)?.sessions;
    let project = request.project.as_deref().and_then(|project| {
        let meant = target::project_of(context, project, &sessions.iter());
        target::unknown_project(&meant, sessions.iter())
    });
    let branch = request.branch.as_deref().and_then(|branch| target::unknown_branch(branch, &sessions));
    Ok(project.into_iter().chain(branch).collect())
}

/// The sessions that read or changed a file, as the index knows them.
fn of_file(context: &Context, file: &str) -> Result<HashSet<SessionId>, Error> {
    let question = Question {
        file: Some(file.to_owned()),
        source: Some(SourceKind::ClaudeSessions),
        mode: Mode::Lexical,
        limit: usize::MAX,
        ..Question::default()
    };
    Ok(find(context, &question)?.hits.into_iter().map(|found| found.hit.session).collect())
}

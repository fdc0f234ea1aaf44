//! The hits of the last search on a terminal, so that `@2` names the second of them in the next command.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use system::{create_private_folder, read_small, replace_private_file};

use crate::config::TerminalSession;
use crate::search::{Answer, Hit, SourceKind, grep};
use crate::{Context, Error, Kind};

/// How much of a saved list is read, in bytes.
const LONGEST: u64 = 1 << 20;

/// The hits of a search.
#[derive(Debug, Serialize, Deserialize)]
struct SavedSearch {
    leader: u32,
    hits: Vec<SavedHit>,
}

/// A hit as the next command names it.
#[derive(Debug, Serialize, Deserialize)]
struct SavedHit {
    /// The session's id.
    session: String,
    /// The cited line, where it is in the session's own file.
    line: Option<u64>,
    /// The words of the cited text that matched, in small letters.
    #[serde(default)]
    words: Vec<String>,
}

/// Saves the hits of a search for the next command on the terminal. Where that fails, `@2` says that there
/// are none.
pub fn save(context: &Context, terminal: &TerminalSession, answer: &Answer) {
    save_hits(context, terminal, answer.hits.iter().map(SavedHit::of).collect());
}

/// The same for the lines that match a pattern.
pub fn save_lines(context: &Context, terminal: &TerminalSession, answer: &grep::Answer) {
    let of = |found: &grep::Matches| {
        let session = found.session_id.to_string();
        let line = move |line: &grep::LineMatch| SavedHit::of_line(&session, line);
        found.matches.iter().map(line).collect::<Vec<_>>()
    };
    save_hits(context, terminal, answer.sessions.iter().flat_map(of).collect());
}

fn save_hits(context: &Context, terminal: &TerminalSession, hits: Vec<SavedHit>) {
    let path = path(context, terminal);
    let Ok(text) = serde_json::to_vec(&SavedSearch { leader: terminal.leader, hits }) else { return };
    let folder = path.parent().map(create_private_folder);
    if folder.is_some_and(|made| made.is_ok()) {
        let _ = replace_private_file(&path, &text);
    }
}

/// A session's name; `@2` is replaced by the place that the second hit of the last search cites, as `ID:LINE`, and
/// `@2:139` by that line of its session.
pub fn place<'a>(
    context: &Context,
    terminal: Option<&TerminalSession>,
    name: &'a str,
) -> Result<Cow<'a, str>, Error> {
    if let Some((rank, line)) = name.split_once(':').filter(|(_, line)| line.parse::<u64>().is_ok())
        && let Some(SavedHit { session, .. }) = hit(context, terminal, rank)?
    {
        return Ok(Cow::Owned(format!("{session}:{line}")));
    }
    Ok(match hit(context, terminal, name)? {
        Some(SavedHit { session, line: Some(line), .. }) => Cow::Owned(format!("{session}:{line}")),
        Some(SavedHit { session, line: None, .. }) => Cow::Owned(session),
        None => Cow::Borrowed(name),
    })
}

/// A session's name; `@2` is replaced by the id of the second hit of the last search.
pub fn session<'a>(
    context: &Context,
    terminal: Option<&TerminalSession>,
    name: &'a str,
) -> Result<Cow<'a, str>, Error> {
    Ok(hit(context, terminal, name)?.map_or(Cow::Borrowed(name), |place| Cow::Owned(place.session)))
}

/// The words that the last search found at a place, in small letters; none where it did not cite the place. The session
/// may be named by a prefix of its id.
pub fn words(context: &Context, terminal: &TerminalSession, session: &str, line: u64) -> Vec<String> {
    let is_cited = |hit: &SavedHit| hit.line == Some(line) && hit.session.starts_with(session);
    saved(context, terminal).into_iter().find(is_cited).map_or_else(Vec::new, |hit| hit.words)
}

/// The hit that `@2` names; none where the text is another name.
fn hit(context: &Context, terminal: Option<&TerminalSession>, name: &str) -> Result<Option<SavedHit>, Error> {
    let Some(rank) = name.strip_prefix('@').and_then(|rank| rank.parse::<usize>().ok()) else {
        return Ok(None);
    };
    let mut places = terminal.map_or_else(Vec::new, |terminal| saved(context, terminal));
    let count = places.len();
    if count == 0 {
        let message = "there is no search on this terminal that `@` could name a hit of";
        return Err(Error::new(Kind::NotFound, message).hint("search first: backstory search <words>"));
    }
    if rank == 0 || rank > count {
        let has = if count == 1 { "one hit".to_owned() } else { format!("{count} hits") };
        return Err(Error::new(Kind::NotFound, format!("the last search on this terminal has {has}")));
    }
    Ok(Some(places.swap_remove(rank - 1)))
}

fn saved(context: &Context, terminal: &TerminalSession) -> Vec<SavedHit> {
    let text = read_small(&path(context, terminal), LONGEST).ok();
    let search: Option<SavedSearch> = text.and_then(|text| serde_json::from_slice(&text).ok());
    search.filter(|search| search.leader == terminal.leader).map_or_else(Vec::new, |search| search.hits)
}

/// The file of a terminal, which is named as its device is.
fn path(context: &Context, terminal: &TerminalSession) -> PathBuf {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let name: String = terminal.device.chars().map(plain).collect();
    folder(context).join(format!("{}.json", name.trim_matches('-')))
}

/// The folder of all terminals' files.
pub(crate) fn folder(context: &Context) -> PathBuf {
    context.config().state.join("last-search")
}

impl SavedHit {
    fn of(hit: &Hit) -> Self {
        let session = hit.session_id.as_ref().map(ToString::to_string).unwrap_or_default();
        let is_own = hit.source == SourceKind::ClaudeSessions
            && hit.file.file_stem().is_some_and(|stem| stem == session.as_str());
        let snippet = hit.snippet.as_deref().unwrap_or_default();
        let marked = hit.marks.iter().filter_map(|(start, end)| snippet.get(*start..*end));
        let words: BTreeSet<String> = marked.map(str::to_lowercase).collect();
        Self { session, line: is_own.then_some(hit.line), words: words.into_iter().collect() }
    }

    fn of_line(session: &str, found: &grep::LineMatch) -> Self {
        let marked = found.marks.iter().filter_map(|(start, end)| found.text.get(*start..*end));
        let words: BTreeSet<String> = marked.map(str::to_lowercase).collect();
        let line = (!found.subagent).then_some(found.line);
        Self { session: session.to_owned(), line, words: words.into_iter().collect() }
    }
}

//! `search`: finds the sessions in which something was said or done.

use std::io::Write as _;

use anstyle::{AnsiColor, Style};
use app::search::grep::Request as GrepRequest;
use app::search::hit::FurtherPlace;
use app::search::{Answer, Hit, Mode, Request, Role, SourceKind, WEAK, search};
use app::sessions::list::{self, OriginName};
use app::{Context, Moment};
use model::{AgentId, SessionId};
use unicode_width::UnicodeWidthStr as _;

use super::grep;
use crate::exit::Failure;
use crate::last_search;
use crate::next_step::as_command;
use crate::output::{Output, is_read_by_a_person};
use crate::picker;
use crate::progress::Followed;
use crate::session_table::sessions;
use crate::snippet::{marked, shortly_before};
use crate::text::{age_or_date, fit, safe};

/// Find the sessions in which something was said or done.
///
/// Words match in any form, identifiers as a whole and by their parts. "Quoted words" match exactly. A path finds
/// the sessions that changed the file. Filters can be mixed with the words: project:web role:user.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that a person types on its own")]
pub(crate) struct Args {
    /// What to look for.
    #[arg(required_unless_present_any = ["interactive", "grep"], value_name = "QUESTION")]
    words: Vec<String>,
    /// Look for this regular expression in the transcripts themselves, the output of tools included.
    #[arg(long, value_name = "PATTERN", conflicts_with_all = ["words", "interactive", "source", "file", "deep", "model", "all_hits"])]
    grep: Option<String>,
    /// With --grep: the pattern is text instead of a regular expression.
    #[arg(short = 'F', long, requires = "grep")]
    fixed_strings: bool,
    /// Search as you type, and choose a session to continue or read.
    #[arg(short, long, conflicts_with_all = ["json", "limit"])]
    interactive: bool,
    /// Only sessions of this repository: its name, Claude Code's folder name for it, or a path inside it.
    #[arg(long, visible_alias = "repo", value_name = "NAME", allow_hyphen_values = true, value_parser = super::project)]
    project: Option<String>,
    /// Only sessions that you gave this tag.
    #[arg(long, value_name = "TAG")]
    tag: Option<String>,
    /// Only sessions that you pinned.
    #[arg(long)]
    pinned: bool,
    /// Only sessions last seen on this branch.
    #[arg(long, value_name = "BRANCH")]
    branch: Option<String>,
    /// Only sessions of this origin.
    #[arg(long, value_parser = super::words::<OriginName>(&["openclaw", "native", "archived", "ghost"]))]
    origin: Option<OriginName>,
    /// Only sessions of this OpenClaw agent.
    #[arg(long, value_name = "NAME")]
    agent: Option<AgentId>,
    /// Only Claude Code's sessions, OpenClaw's conversations, or the notes in OpenClaw's workspaces.
    #[arg(long, value_parser = super::words::<SourceKind>(&["claude-sessions", "sessions", "memory"]))]
    source: Option<SourceKind>,
    /// Only this session: its id, a prefix of it, or OpenClaw's key of a conversation.
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Only what was said or done by the person, the model or a tool.
    #[arg(long, value_parser = super::words::<Role>(&["user", "assistant", "tool", "note"]))]
    role: Option<Role>,
    /// Only sessions that touched this file.
    #[arg(long, value_name = "PATH")]
    file: Option<String>,
    /// Only what was said since then: 2026-01-31, yesterday, monday, 36h, 2d, 3w.
    #[arg(long, value_name = "TIME")]
    since: Option<Moment>,
    /// Only what was said before then.
    #[arg(long, value_name = "TIME")]
    until: Option<Moment>,
    /// Show at most this many sessions [default: 10].
    #[arg(long, value_name = "N", value_parser = super::at_least_one)]
    limit: Option<usize>,
    /// Search by words (lexical), by meaning (semantic), or both (hybrid).
    #[arg(long, value_parser = super::words::<Mode>(&super::MODES), default_value = "hybrid")]
    mode: Mode,
    /// The embedding model: built-in, a model's folder or its name on the hub, or an endpoint's address.
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// Rescore the best sessions with that model: slower and more accurate.
    #[arg(long)]
    deep: bool,
    /// List further places in each session that hold most of the words.
    #[arg(long)]
    all_hits: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl Args {
    /// Whether a program reads the answer.
    pub(crate) fn is_json(&self) -> bool {
        self.json
    }
}

/// How many sessions are listed on a terminal where a question has no words to search for.
const LISTED: usize = 20;

/// How many of the nearest sessions are shown where none matches well.
const NEAREST: usize = 3;

/// The most words of a question that are said to be unknown.
const UNKNOWN: usize = 4;

/// Prints the sessions that match.
pub(crate) fn run(context: &Context, args: &Args) -> Result<(), Failure> {
    if args.interactive {
        return picker::open(context, &args.words.join(" "));
    }
    if let Some(pattern) = &args.grep {
        return grep::run(context, &grep_request(args, pattern), args.json);
    }
    let request = request(args);
    let followed = if args.json { Followed::interruptible(context) } else { Followed::search(context) };
    let answer = search(&followed, &request)?;
    drop(followed);
    if args.json {
        return super::json(&answer);
    }
    print(context, &request, &answer)
}

fn request(args: &Args) -> Request {
    Request {
        query: args.words.join(" "),
        project: args.project.clone(),
        branch: args.branch.clone(),
        tag: args.tag.clone(),
        pinned: args.pinned,
        origin: args.origin,
        agent: args.agent.clone(),
        source: args.source,
        session: args.session.clone(),
        role: args.role,
        file: args.file.clone(),
        since: args.since.clone(),
        until: args.until.clone(),
        mode: args.mode,
        model: args.model.clone(),
        deep: args.deep,
        all_hits: args.all_hits,
        limit: args.limit,
    }
}

fn grep_request(args: &Args, pattern: &str) -> GrepRequest {
    GrepRequest {
        pattern: pattern.to_owned(),
        fixed: args.fixed_strings,
        sessions: list::Request {
            project: args.project.clone(),
            branch: args.branch.clone(),
            tag: args.tag.clone(),
            pinned: args.pinned,
            origin: args.origin,
            agent: args.agent.clone(),
            since: args.since.clone(),
            until: args.until.clone(),
            ..list::Request::default()
        },
        session: args.session.clone(),
        role: args.role,
        limit: args.limit,
    }
}

fn print(context: &Context, request: &Request, answer: &Answer) -> Result<(), Failure> {
    let mut out = super::paged(context);
    let dim = Style::new().dimmed();
    if let Some(hint) = &answer.hint {
        let (words, looks_like) = (safe(&hint.words), hint.looks_like.word());
        writeln!(
            out,
            "{dim}`{words}` looks like a {looks_like}: {}{dim:#}",
            safe(&as_command(&hint.next_step))
        )?;
        if let Some(listing) = list::Request::of_hint(hint).filter(|_| hint.is_all) {
            return print_listing(context, out, listing, request.limit);
        }
        writeln!(out)?;
    }
    last_search::save(context, answer);
    if answer.hits.is_empty() {
        writeln!(out, "No matches for {}.", safe(&answer.query))?;
        if !answer.did_you_mean.is_empty() {
            writeln!(out, "Did you mean: {}", safe(&answer.did_you_mean.join(", ")))?;
        }
        writeln!(out, "{dim}{}{dim:#}", advice(context, request, answer))?;
    }
    if !answer.ghosts.is_empty() {
        writeln!(out, "Asked in sessions whose transcripts were deleted before they were copied:")?;
    }
    for ghost in &answer.ghosts {
        let age = age_or_date(context.now, ghost.at, || context.zone());
        let project =
            ghost.project.as_deref().map_or_else(String::new, |project| format!("  {}", safe(project)));
        let line = format!("{}  {age}{project}  {}", ghost.session_id.short(), safe(&ghost.prompt));
        writeln!(out, "  {}", fit(&line, out.width().saturating_sub(2)))?;
    }
    if !answer.unknown_words.is_empty() {
        let words: Vec<String> =
            answer.unknown_words.iter().map(|word| format!("`{}`", safe(word))).collect();
        let shown = &words[..words.len().min(UNKNOWN)];
        writeln!(
            out,
            "{dim}No session has the word{} {}.{dim:#}\n",
            if shown.len() > 1 { "s" } else { "" },
            shown.join(", ")
        )?;
    }
    let (good, weak) = answer.hits.split_at(answer.hits.partition_point(|hit| hit.score >= WEAK));
    for hit in good {
        print_one(context, &mut out, hit, true)?;
    }
    if !weak.is_empty() {
        let name = if good.is_empty() { "No good matches. The nearest:" } else { "Weak matches:" };
        writeln!(out, "{dim}{name}{dim:#}\n")?;
    }
    let most = if good.is_empty() { request.limit.unwrap_or(NEAREST) } else { weak.len() };
    for hit in weak.iter().take(most) {
        // Without good ones, what was found still shows why.
        print_one(context, &mut out, hit, good.is_empty())?;
    }
    for note in &answer.notes {
        writeln!(out, "{dim}{}{dim:#}", safe(note))?;
    }
    if answer.pending.files > 0 && !answer.pending.busy {
        writeln!(out, "{dim}`backstory index` indexes them{dim:#}")?;
    }
    if let Some(best) = answer.hits.first() {
        print_ways(context, &mut out, best, good.is_empty())?;
    }
    Ok(out.finish()?)
}

/// Prints the sessions that a question without words is about.
fn print_listing(
    context: &Context,
    mut out: Output,
    listing: list::Request,
    limit: Option<usize>,
) -> Result<(), Failure> {
    let limit = limit.or_else(|| Some(LISTED).filter(|_| is_read_by_a_person()));
    let listed = list::list(context, &list::Request { limit, ..listing })?;
    writeln!(out)?;
    if listed.sessions.is_empty() {
        writeln!(out, "There are no such sessions.")?;
        return Ok(out.finish()?);
    }
    let width = out.width();
    sessions(&mut out, width, &listed.sessions, context.now, || context.zone())?;
    if listed.more > 0 {
        writeln!(out, "{} more", listed.more)?;
    }
    Ok(out.finish()?)
}

/// Prints what can be done with the best hit: to continue one that does not match well is no good advice.
fn print_ways(context: &Context, out: &mut Output, best: &Hit, is_weak: bool) -> Result<(), Failure> {
    let dim = Style::new().dimmed();
    let demo = if context.config().is_demo { " --demo" } else { "" };
    let id = best.session_id.as_ref().map(SessionId::short).unwrap_or_default();
    let place = match Place::of(best) {
        Place::Cited { place, .. } => place,
        Place::Elsewhere => id.to_owned(),
    };
    let ways = match best.source {
        SourceKind::ClaudeSessions if !is_weak => &WAYS[..],
        // Only OpenClaw can continue its conversations.
        SourceKind::ClaudeSessions | SourceKind::Sessions => &WAYS[..1],
        SourceKind::Memory => &[],
    };
    for (what, command) in ways {
        let id = if *command == "show" { &place } else { id };
        writeln!(out, "{dim}{what:<13} backstory {command} {id}{demo}{dim:#}")?;
    }
    Ok(())
}

/// What can be done with a session that was found: a label and the command.
const WAYS: [(&str, &str); 3] = [("Read it:", "show"), ("Continue it:", "resume"), ("Copy it:", "fork")];

/// Where the cited text is.
enum Place {
    /// In the session's own transcript, or in that of one that contains the same record: as `show` takes it.
    Cited { is_own: bool, place: String },
    /// In another file, such as a sub-agent's.
    Elsewhere,
}

impl Place {
    fn of(hit: &Hit) -> Self {
        let file = hit.file.file_stem().and_then(|stem| stem.to_str());
        let holder = hit.session_id.iter().chain(&hit.also_in).find(|id| Some(id.as_str()) == file);
        match holder.filter(|_| hit.source == SourceKind::ClaudeSessions) {
            Some(id) => Self::Cited {
                is_own: Some(id) == hit.session_id.as_ref(),
                place: format!("{}:{}", id.short(), hit.line),
            },
            None => Self::Elsewhere,
        }
    }
}

fn print_one(context: &Context, out: &mut Output, hit: &Hit, with_snippet: bool) -> Result<(), Failure> {
    let (bold, dim) = (Style::new().bold(), Style::new().dimmed());
    let score = AnsiColor::Cyan.on_default();
    let width = out.width();
    let title = hit.title.as_deref().map_or_else(|| untitled(hit), ToOwned::to_owned);
    let title = fit(&safe(&title), width.saturating_sub(6));
    writeln!(out, "{score}{:.2}{score:#}  {bold}{title}{bold:#}", hit.score)?;
    let id = || hit.session_id.as_ref().map_or("notes", SessionId::short).to_owned();
    let place = Place::of(hit);
    let mut facts = vec![match &place {
        Place::Cited { is_own: true, place } => place.clone(),
        Place::Cited { .. } | Place::Elsewhere => id(),
    }];
    facts.extend(hit.project.as_deref().map(safe));
    facts.extend(hit.branch.as_deref().map(safe));
    if hit.origin.is_some() {
        facts.push(age_or_date(context.now, hit.last_modified, || context.zone()));
    }
    let kind = hit.kind.word().replace('_', " ");
    facts.push(match place {
        Place::Cited { is_own: false, place } => format!("{kind} at {place}"),
        Place::Cited { .. } | Place::Elsewhere => kind,
    });
    if hit.more > 0 && hit.places.is_empty() {
        facts.push(format!("+{} more in it", hit.more));
    }
    if !hit.also_in.is_empty() {
        let ids: Vec<&str> = hit.also_in.iter().take(3).map(SessionId::short).collect();
        facts.push(format!("also in {}", ids.join(", ")));
    }
    writeln!(out, "      {dim}{}{dim:#}", fit(&facts.join("  "), width.saturating_sub(6)))?;
    if let Some(snippet) = hit.snippet.as_ref().filter(|_| with_snippet) {
        for line in marked(snippet, &hit.marks, width.saturating_sub(6)) {
            writeln!(out, "      {line}")?;
        }
    }
    if let Some(later) = hit.later.as_ref().filter(|_| with_snippet) {
        print_later(out, hit, later)?;
    }
    for further in &hit.places {
        print_place(out, hit, further)?;
    }
    Ok(writeln!(out)?)
}

/// Prints the place where a hit may have been corrected, in two lines from the beginning of its snippet.
fn print_later(out: &mut Output, hit: &Hit, later: &FurtherPlace) -> Result<(), Failure> {
    let dim = Style::new().dimmed();
    let label = format!("later: {}", place_of(hit, later));
    let lead = format!("{label}  ");
    let marks: Vec<(usize, usize)> =
        later.marks.iter().map(|(from, to)| (from + lead.len(), to + lead.len())).collect();
    let text = lead + later.snippet.as_deref().unwrap_or_default();
    for line in marked(&text, &marks, out.width().saturating_sub(6)).into_iter().take(2) {
        match line.strip_prefix(&label) {
            Some(rest) => writeln!(out, "      {dim}{label}{dim:#}{rest}")?,
            None => writeln!(out, "      {line}")?,
        }
    }
    Ok(())
}

/// A place of a session, as `show` takes it.
fn place_of(hit: &Hit, further: &FurtherPlace) -> String {
    let is_own =
        hit.session_id.as_ref().is_some_and(|id| further.file.file_stem() == Some(id.as_str().as_ref()));
    let id = hit.session_id.as_ref().map(SessionId::short).unwrap_or_default();
    if is_own { format!("{id}:{}", further.line) } else { "a sub-agent".to_owned() }
}

/// Prints a further place of a session in one line.
fn print_place(out: &mut Output, hit: &Hit, further: &FurtherPlace) -> Result<(), Failure> {
    let dim = Style::new().dimmed();
    let place = place_of(hit, further);
    let room = out.width().saturating_sub(6 + place.width() + 2).max(20);
    let snippet = further.snippet.as_deref().unwrap_or_default();
    let start = shortly_before(snippet, further.marks.first().map_or(0, |mark| mark.0));
    let marks: Vec<(usize, usize)> = further
        .marks
        .iter()
        .map(|(from, to)| (from.saturating_sub(start), to.saturating_sub(start)))
        .collect();
    let line = marked(&snippet[start..], &marks, room).into_iter().next().unwrap_or_default();
    Ok(writeln!(out, "      {dim}{place}{dim:#}  {line}")?)
}

/// The title of a hit whose session is not in the catalog.
fn untitled(hit: &Hit) -> String {
    match hit.source {
        SourceKind::ClaudeSessions => "(its transcript is gone)".to_owned(),
        SourceKind::Sessions => {
            let id = hit.session_id.as_ref().map(SessionId::as_str).unwrap_or_default();
            format!("OpenClaw conversation {id}")
        }
        SourceKind::Memory => hit.file.display().to_string(),
    }
}

/// What to try when nothing was found.
fn advice(context: &Context, request: &Request, answer: &Answer) -> String {
    if let Some(source @ (SourceKind::Sessions | SourceKind::Memory)) = request.source {
        let source = source.word();
        return format!(
            "Only OpenClaw's source `{source}` was searched; `backstory memory status` shows what it holds."
        );
    }
    if answer.known > 0 {
        return "Try fewer or other words, or leave out a filter.".to_owned();
    }
    let folders: Vec<_> = context
        .config()
        .claude_folders
        .iter()
        .map(|folder| folder.join("projects").display().to_string())
        .collect();
    let folders = folders.join(", ");
    format!(
        "There are no sessions in {folders}. Try --demo, or set CLAUDE_CONFIG_DIR to the folder that holds yours."
    )
}

//! `search`: finds the sessions in which something was said or done.

use std::io::{self, Write as _};

use anstyle::Style;
use app::search::grep::Request as GrepRequest;
use app::search::{Answer, Hit, HitTexts, Mode, Request, Role, SourceKind, Suggestions, search};
use app::sessions::list::{self, OriginName};
use app::{Context, Error, Kind, Moment, NextStep};
use model::{AgentId, SessionId};

use super::grep;
use crate::exit::Failure;
use crate::hit_lines::{Place, Shown, is_lost, print_one};
use crate::last_search;
use crate::output::{Output, is_read_by_a_person};
use crate::picker;
use crate::progress::Followed;
use crate::remarks::{hinted, no_sessions, similar_words, unknown_words, weak_heading};
use crate::session_table::sessions;
use crate::text::{age_or_date, fit, safe};
use crate::wrap::wrapped;

/// Search everything said or done in your sessions.
///
/// Words match in any form, identifiers as a whole and by their parts. "Quoted words" match in that order, in any form;
/// --grep -F finds a text as it is. A path finds the sessions that changed the file. Filters can be mixed with the words: project:web role:user. Filters alone list
/// the newest sessions that pass them, an id shows that session, and nothing at all lets you search as you type.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that a person types on its own")]
pub(crate) struct Args {
    /// What to look for.
    #[arg(value_name = "QUESTION")]
    words: Vec<String>,
    /// Look for this regular expression in the transcripts themselves, the output of tools included.
    #[arg(long, value_name = "PATTERN", num_args = 0..=1, default_missing_value = "", conflicts_with_all = ["interactive", "source", "file", "deep", "model", "all_hits"])]
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
    /// Only what was said since then: 2026-01-31, yesterday, 'last week', 36h, 2d.
    #[arg(long, value_name = "TIME")]
    since: Option<Moment>,
    /// Only what was said before this time, or on this day or earlier.
    #[arg(long, value_name = "TIME")]
    until: Option<Moment>,
    /// Show at most this many sessions [default: 10].
    #[arg(short = 'n', long, value_name = "N", value_parser = super::at_least_one)]
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

    /// Whether there is neither a question nor anything that chooses sessions.
    fn asks_nothing(&self) -> bool {
        let texts = [&self.grep, &self.project, &self.tag, &self.branch, &self.session, &self.file];
        let is_chosen = self.pinned || self.origin.is_some() || self.agent.is_some() || self.role.is_some();
        let is_elsewhere = self.source.is_some() || self.since.is_some() || self.until.is_some();
        self.words.is_empty()
            && !(self.json || is_chosen || is_elsewhere)
            && texts.iter().all(|text| text.is_none())
    }
}

/// How many sessions are listed on a terminal where a question has no words to search for.
const LISTED: usize = 20;

/// How many of the nearest sessions are shown where none matches well.
const NEAREST: usize = 3;

/// What is above sessions without a transcript.
const GHOSTS: &str = "Asked in sessions whose transcripts were deleted before they were copied:";

/// Prints the sessions that match.
pub(crate) fn run(context: &Context, args: &Args) -> Result<(), Failure> {
    if args.interactive || (args.asks_nothing() && picker::is_possible(context)) {
        return picker::open(context, &args.words.join(" "));
    }
    if let Some(pattern) = &args.grep {
        let pattern = sole_pattern(pattern, &args.words)?;
        return grep::run(context, &grep_request(args, &pattern), args.json);
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

/// The pattern behind `--grep`, or, where an option such as -F is between them, the words; never both.
fn sole_pattern(pattern: &str, words: &[String]) -> Result<String, Failure> {
    let refused = |message: &str, hint: &str| Err(Error::new(Kind::Usage, message).hint(hint).into());
    match (pattern, words) {
        ("", []) => refused("--grep needs a pattern", "backstory search --grep 'retry_[a-z]+'"),
        ("", words) => Ok(words.join(" ")),
        (pattern, []) => Ok(pattern.to_owned()),
        _ => refused(
            "--grep takes one pattern, and no question beside it",
            "put a pattern with spaces in quotes",
        ),
    }
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
        max_age_seconds: 0,
        texts: HitTexts::Read,
        suggestions: Suggestions::Given,
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
    if let Some(hint) = &answer.hint {
        say(&mut out, &hinted(hint))?;
        let is_chosen =
            request.tag.is_some() || request.pinned || request.origin.is_some() || request.agent.is_some();
        if let NextStep::CostBySession { since, until } = &hint.next_step
            && !is_chosen
        {
            writeln!(out)?;
            let [since, until] = [since, until].map(|day| day.as_deref().map(Moment::from));
            let project = request.project.clone();
            return super::cost::print_sessions(context, out, (since, until, project), request.limit);
        }
        if let Some(listing) = list::Request::of_hint(hint).filter(|_| hint.is_all) {
            let listing = list::Request {
                project: request.project.clone(),
                tag: request.tag.clone(),
                pinned: request.pinned,
                origin: request.origin,
                agent: request.agent.clone(),
                limit: request.limit,
                ..listing
            };
            return print_listing(context, out, listing);
        }
        writeln!(out)?;
    }
    last_search::save(context, answer);
    let is_nothing = answer.hits.is_empty() && answer.ghosts.is_empty();
    if is_nothing {
        print_nothing(context, &mut out, request, answer)?;
    }
    print_ghosts(context, &mut out, answer)?;
    if let Some(unknown) = unknown_words(answer) {
        say(&mut out, &format!("{unknown}\n"))?;
    }
    let (good, weak) = answer.hits.split_at(answer.hits.partition_point(|hit| !hit.weak));
    for hit in good {
        print_one(context, &mut out, hit, Shown::Text)?;
    }
    if !weak.is_empty() {
        say(&mut out, &format!("{}\n", weak_heading(good.is_empty())))?;
    }
    let most = if good.is_empty() { request.limit.unwrap_or(NEAREST) } else { weak.len() };
    for hit in weak.iter().take(most) {
        // Without good ones, what was found still shows why.
        print_one(context, &mut out, hit, if good.is_empty() { Shown::Text } else { Shown::Facts })?;
    }
    let more = answer.total.saturating_sub(answer.hits.len() as u64);
    if answer.modes.ran.is_empty() && more > 0 {
        say(&mut out, &format!("{more} more; --limit shows more of them"))?;
    }
    for note in answer.notes.iter().filter(|_| !is_nothing) {
        say(&mut out, &safe(note))?;
    }
    if answer.pending.files > 0 && !answer.pending.busy {
        say(&mut out, "`backstory index` indexes them")?;
    }
    if let Some(best) = answer.hits.first() {
        print_ways(context, &mut out, best, good.is_empty())?;
    }
    Ok(out.finish()?)
}

/// Prints a remark, wrapped at words.
fn say(out: &mut Output, text: &str) -> io::Result<()> {
    let dim = Style::new().dimmed();
    let text = wrapped(text, out.width());
    writeln!(out, "{dim}{text}{dim:#}")
}

fn print_nothing(
    context: &Context,
    out: &mut Output,
    request: &Request,
    answer: &Answer,
) -> Result<(), Failure> {
    if answer.modes.ran.is_empty() {
        writeln!(out, "No session passes these filters.")?;
    } else {
        writeln!(out, "No matches for {}.", safe(&answer.query))?;
    }
    if let Some(similar) = similar_words(answer) {
        writeln!(out, "{}", wrapped(&similar, out.width()))?;
    }
    for note in &answer.notes {
        say(out, &safe(note))?;
    }
    // A note says what is in the way: other words would not help.
    if answer.notes.is_empty() || answer.known == 0 {
        say(out, &advice(context, request, answer))?;
    }
    Ok(())
}

/// Prints what is left of sessions whose transcripts are gone.
fn print_ghosts(context: &Context, out: &mut Output, answer: &Answer) -> Result<(), Failure> {
    if !answer.ghosts.is_empty() {
        writeln!(out, "{}", wrapped(GHOSTS, out.width()))?;
    }
    for ghost in &answer.ghosts {
        let age = age_or_date(context.now, ghost.at, || context.zone());
        let project =
            ghost.project.as_deref().map_or_else(String::new, |project| format!("  {}", safe(project)));
        let line = format!("{}  {age}{project}  {}", ghost.session_id.short(), safe(&ghost.prompt));
        writeln!(out, "  {}", fit(&line, out.width().saturating_sub(2)))?;
    }
    Ok(())
}

/// Prints the sessions that a question without words is about.
fn print_listing(context: &Context, mut out: Output, listing: list::Request) -> Result<(), Failure> {
    let limit = listing.limit.or_else(|| Some(LISTED).filter(|_| is_read_by_a_person()));
    let listed = list::list(context, &list::Request { limit, ..listing })?;
    writeln!(out)?;
    if listed.sessions.is_empty() {
        let known = listed.known;
        writeln!(out, "No sessions match; there are {known} in all.")?;
        return Ok(out.finish()?);
    }
    let width = out.width();
    sessions(&mut out, width, &listed.sessions, None, context.now, || context.zone())?;
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
        SourceKind::ClaudeSessions if !is_weak && !is_lost(best) => &WAYS[..],
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

/// What to try when nothing was found.
fn advice(context: &Context, request: &Request, answer: &Answer) -> String {
    if let Some(source @ (SourceKind::Sessions | SourceKind::Memory)) = request.source {
        let source = source.as_str();
        return format!(
            "Only OpenClaw's source `{source}` was searched; `backstory memory status` shows what it holds."
        );
    }
    if answer.known > 0 {
        return "Try fewer or other words, or leave out a filter.".to_owned();
    }
    no_sessions(context)
}

//! `search`: finds the sessions in which something was said or done.

use std::io::Write as _;

use anstyle::{AnsiColor, Style};
use app::search::{
    Answer, Answered, EncoderReport, Hit, MeaningStatus, Request, Snippet, SourceKind, search,
};
use app::sessions::list::SessionFilter;
use app::{Context, Error, Kind, Moment};
use jiff::Timestamp;
use model::SessionId;
use serde::Serialize;
use unicode_width::UnicodeWidthStr as _;

use crate::exit::Failure;
use crate::output::Output;
use crate::progress::Followed;
use crate::text::{age, bytes, fit, safe};

/// Find the sessions in which something was said or done.
///
/// Words match in any form, identifiers as a whole and by their parts. "Quoted words" match exactly. A path finds
/// the sessions that changed the file. Filters can be mixed with the words: project:web role:user.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// What to look for.
    #[arg(required = true, value_name = "QUESTION")]
    words: Vec<String>,
    /// Only sessions of this repository: its name, Claude Code's folder name for it, or a path inside it.
    #[arg(long, visible_alias = "repo", value_name = "NAME", allow_hyphen_values = true, value_parser = super::project)]
    project: Option<String>,
    /// Only sessions last seen on this branch.
    #[arg(long, value_name = "BRANCH")]
    branch: Option<String>,
    /// Only sessions of this origin.
    #[arg(long, value_parser = ["openclaw", "native", "archived"])]
    origin: Option<String>,
    /// Only sessions of this OpenClaw agent.
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Only Claude Code's sessions, OpenClaw's conversations, or the notes in OpenClaw's workspaces.
    #[arg(long, value_parser = ["claude-sessions", "sessions", "memory"])]
    source: Option<String>,
    /// Only this session: its id, a prefix of it, or OpenClaw's key of a conversation.
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Only what was said or done by the person, the model or a tool.
    #[arg(long, value_parser = ["user", "assistant", "tool", "note"])]
    role: Option<String>,
    /// Only sessions that touched this file.
    #[arg(long, value_name = "PATH")]
    file: Option<String>,
    /// Only what was said since then: 2026-01-31, yesterday, monday, 36h, 2d, 3w.
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Only what was said before then.
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    /// Show at most this many sessions.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = super::at_least_one)]
    limit: usize,
    /// Search by words (lexical), by meaning (semantic), or both (hybrid).
    #[arg(long, value_parser = super::MODES, default_value = "hybrid")]
    mode: String,
    /// The embedding model: built-in, a model's folder or its name on the hub, or an endpoint's address.
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// Rescore the best sessions with that model: slower and more accurate.
    #[arg(long)]
    deep: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// The answer of `search --json`.
#[derive(Serialize)]
struct SearchJson<'a> {
    query: &'a str,
    hits: Vec<HitJson<'a>>,
    total: u64,
    modes: Modes<'a>,
    pending: Pending,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    did_you_mean: &'a [String],
}

/// How the question was answered.
#[derive(Serialize)]
struct Modes<'a> {
    asked: &'a str,
    ran: &'static [&'static str],
    fallback: Option<&'a str>,
    meaning: Option<MeaningJson<'a>>,
}

/// Which models embedded the question and the sessions.
#[derive(Serialize)]
struct MeaningJson<'a> {
    question: &'a str,
    documents: &'a str,
    /// The share of the text that has vectors of the chosen model, from 0 to 1.
    covered: Option<f64>,
    /// How many sessions the model rescored.
    rescored: usize,
}

/// What is not in the index yet.
#[derive(Serialize)]
struct Pending {
    files: u64,
    bytes: u64,
    busy: bool,
}

#[derive(Serialize)]
struct HitJson<'a> {
    rank: usize,
    session_id: Option<&'a SessionId>,
    source: &'static str,
    file_missing: bool,
    score: f32,
    title: Option<&'a str>,
    project: Option<&'a str>,
    cwd: Option<String>,
    branch: Option<&'a str>,
    origin: Option<&'static str>,
    last_modified: Option<Timestamp>,
    file: String,
    line: u64,
    offset: u64,
    uuid: Option<&'a str>,
    kind: &'static str,
    role: &'static str,
    at: Option<Timestamp>,
    subagent: bool,
    snippet: Option<&'a str>,
    /// The byte ranges of the matching words in the snippet.
    marks: &'a [(usize, usize)],
    also_in: &'a [SessionId],
    why: WhyJson,
}

#[derive(Serialize)]
struct WhyJson {
    best_chunk: f32,
    whole_session: f32,
    best_similarity: Option<f32>,
    mean_similarity: Option<f32>,
    changed_file: bool,
}

/// Prints the sessions that match.
pub(crate) fn run(context: &Context, args: &Args) -> Result<(), Failure> {
    let question = args.words.join(" ");
    let request = request(context, args, &question)?;
    let followed = if args.json { Followed::interruptible(context) } else { Followed::search(context) };
    let answer = search(&followed, &request)?;
    drop(followed);
    if args.json {
        return json(context, args, &question, &answer);
    }
    print(context, args, &question, &answer)
}

fn request(context: &Context, args: &Args, question: &str) -> Result<Request, Failure> {
    let agent = args.agent.as_deref().map(str::parse).transpose();
    let time = |text: &Option<String>| text.as_deref().map(|text| Moment::from(text).at(context)).transpose();
    Ok(Request {
        question: question.to_owned(),
        filter: SessionFilter {
            project: args.project.clone(),
            branch: args.branch.clone(),
            origin: args.origin.clone(),
            agent: agent.map_err(|error| Error::new(Kind::Usage, format!("--agent: {error}")))?,
            ..SessionFilter::default()
        },
        source: args.source.as_deref().and_then(SourceKind::parse),
        session: args.session.clone(),
        role: args.role.as_deref().and_then(app::search::role),
        file: args.file.clone(),
        since: time(&args.since)?,
        until: time(&args.until)?,
        mode: super::mode(&args.mode),
        model: args.model.clone(),
        deep: args.deep,
        limit: args.limit,
    })
}

fn json(context: &Context, args: &Args, question: &str, answer: &Answer) -> Result<(), Failure> {
    let mode = args.mode.as_str();
    let hits = answer.found.iter().zip(1..).map(|(found, rank)| hit_json(found, rank)).collect();
    let pending = Pending { files: answer.pending_files, bytes: answer.pending_bytes, busy: answer.busy };
    let ran: &[&str] = match (answer.meaning, mode) {
        (MeaningStatus::Ran, "semantic") => &["semantic"],
        (MeaningStatus::Ran, _) => &["lexical", "semantic"],
        _ => &["lexical"],
    };
    let understood = answer.understood.as_ref();
    let fell_back = understood.and_then(|understood| understood.fallback.as_deref());
    let meaning = understood.map(|understood| MeaningJson {
        question: &understood.question,
        documents: &understood.documents,
        covered: understood.covered,
        rescored: understood.rescored,
    });
    let modes = Modes { asked: mode, ran, fallback: without_meaning(answer.meaning).or(fell_back), meaning };
    super::json(&SearchJson {
        query: question,
        hits,
        total: answer.total,
        modes,
        pending,
        notes: notes(context, args, answer),
        did_you_mean: &answer.near,
    })
}

/// Why semantic search did not run although it was requested.
fn without_meaning(meaning: MeaningStatus) -> Option<&'static str> {
    match meaning {
        MeaningStatus::Ran | MeaningStatus::NotAsked => None,
        MeaningStatus::Path => Some("a path is matched by the files that sessions changed"),
        MeaningStatus::OtherLanguage => {
            Some("the built-in embedding table does not know the question's language")
        }
        MeaningStatus::Nothing => {
            Some("there is nothing to compare: no indexed text, or no word in the question")
        }
    }
}

fn hit_json(found: &Answered, rank: usize) -> HitJson<'_> {
    let (hit, session) = (&found.hit, found.session.as_ref());
    HitJson {
        rank,
        session_id: (hit.source != SourceKind::Memory).then_some(&hit.session),
        source: hit.source.word(),
        file_missing: hit.gone,
        score: hit.score,
        title: session.and_then(|session| session.title.as_deref()),
        project: session.and_then(|session| session.project.as_deref()),
        cwd: session.and_then(|session| Some(session.cwd.as_ref()?.display().to_string())),
        branch: session.and_then(|session| session.branch.as_deref()),
        origin: session.map(|session| session.origin.word()),
        last_modified: session.and_then(|session| session.last_modified),
        file: hit.file.display().to_string(),
        line: hit.line,
        offset: hit.offset,
        uuid: hit.uuid.as_deref(),
        kind: hit.kind.word(),
        role: hit.kind.role().word(),
        at: hit.at,
        subagent: hit.subagent,
        snippet: hit.snippet.as_ref().map(|snippet| snippet.text.as_str()),
        marks: hit.snippet.as_ref().map_or(&[], |snippet| snippet.marks.as_slice()),
        also_in: &hit.also_in,
        why: WhyJson {
            best_chunk: hit.why.best_chunk,
            whole_session: hit.why.whole_session,
            best_similarity: hit.why.nearest,
            mean_similarity: hit.why.all_said,
            changed_file: hit.why.changed_file,
        },
    }
}

fn print(context: &Context, args: &Args, question: &str, answer: &Answer) -> Result<(), Failure> {
    let mut out = super::paged(context);
    let dim = Style::new().dimmed();
    if answer.found.is_empty() {
        writeln!(out, "No matches for {}.", safe(question))?;
        if !answer.near.is_empty() {
            writeln!(out, "Did you mean: {}", safe(&answer.near.join(", ")))?;
        }
        writeln!(out, "{dim}{}{dim:#}", advice(context, args, answer))?;
    }
    for found in &answer.found {
        print_one(context, &mut out, found)?;
    }
    for note in notes(context, args, answer) {
        writeln!(out, "{dim}{}{dim:#}", safe(&note))?;
    }
    if let Some(best) = answer.found.first() {
        let demo = if context.config().is_demo { " --demo" } else { "" };
        let id = best.hit.session.short();
        let ways = match best.hit.source {
            SourceKind::ClaudeSessions => &WAYS[..],
            // Only OpenClaw can continue its conversations.
            SourceKind::Sessions => &WAYS[..1],
            SourceKind::Memory => &[],
        };
        for (what, command) in ways {
            writeln!(out, "{dim}{what:<13} backstory {command} {id}{demo}{dim:#}")?;
        }
    }
    Ok(out.finish()?)
}

/// What can be done with a session that was found: a label and the command.
const WAYS: [(&str, &str); 3] = [("Read it:", "show"), ("Continue it:", "resume"), ("Copy it:", "fork")];

fn print_one(context: &Context, out: &mut Output, found: &Answered) -> Result<(), Failure> {
    let (bold, dim) = (Style::new().bold(), Style::new().dimmed());
    let score = AnsiColor::Cyan.on_default();
    let (hit, session) = (&found.hit, found.session.as_ref());
    let width = out.width();
    let title = session.and_then(|session| session.title.as_deref());
    let title = title.map_or_else(|| untitled(hit), ToOwned::to_owned);
    let title = fit(&safe(&title), width.saturating_sub(18));
    writeln!(out, "{score}{:.2}{score:#}  {bold}{title}{bold:#}", hit.score)?;
    let mut facts = vec![match hit.source {
        SourceKind::Memory => "notes".to_owned(),
        _ => hit.session.short().to_owned(),
    }];
    if let Some(session) = session {
        facts.extend(session.project.as_deref().map(safe));
        facts.extend(session.branch.as_deref().map(safe));
        facts.push(age(context.now, session.last_modified));
    }
    facts.push(format!("{}:{}", hit.kind.word().replace('_', " "), hit.line));
    if !hit.also_in.is_empty() {
        let ids: Vec<&str> = hit.also_in.iter().take(3).map(SessionId::short).collect();
        facts.push(format!("also in {}", ids.join(", ")));
    }
    writeln!(out, "      {dim}{}{dim:#}", fit(&facts.join("  "), width.saturating_sub(6)))?;
    if let Some(snippet) = &hit.snippet {
        for line in marked(snippet, width.saturating_sub(6)) {
            writeln!(out, "      {line}")?;
        }
    }
    Ok(writeln!(out)?)
}

/// The title of a hit whose session is not in the catalog.
fn untitled(hit: &Hit) -> String {
    match hit.source {
        SourceKind::ClaudeSessions => "(its transcript is gone)".to_owned(),
        SourceKind::Sessions => format!("OpenClaw conversation {}", hit.session),
        SourceKind::Memory => hit.file.display().to_string(),
    }
}

/// The snippet with the words of the question highlighted, in lines of at most `width` cells.
fn marked(snippet: &Snippet, width: usize) -> Vec<String> {
    let style = AnsiColor::Yellow.on_default().bold();
    let is_marked = |at: usize| snippet.marks.iter().any(|&(start, end)| (start..end).contains(&at));
    let mut lines = vec![String::new()];
    let mut used = 0;
    for (at, word) in words(&snippet.text) {
        let cells = word.trim_end().width();
        if used > 0 && used + cells > width {
            lines.push(String::new());
            used = 0;
        }
        used += word.width();
        if let Some(line) = lines.last_mut() {
            let mut was_marked = false;
            for (offset, c) in word.char_indices() {
                let now_marked = is_marked(at + offset);
                if now_marked != was_marked {
                    line.push_str(&if now_marked {
                        style.render().to_string()
                    } else {
                        style.render_reset().to_string()
                    });
                    was_marked = now_marked;
                }
                line.push_str(&safe(c.encode_utf8(&mut [0; 4])));
            }
            if was_marked {
                line.push_str(&style.render_reset().to_string());
            }
        }
    }
    lines
}

/// The words of a text with the space after them, and the byte offset of each.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    text.split_inclusive(' ').map(move |word| {
        let start = at;
        at += word.len();
        (start, word)
    })
}

/// What to try when nothing was found.
fn advice(context: &Context, args: &Args, answer: &Answer) -> String {
    if let Some(source @ ("sessions" | "memory")) = args.source.as_deref() {
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

/// A note on how a chosen model took part in the search.
fn model_note(understood: &EncoderReport) -> Option<String> {
    let covered = understood.covered?;
    if let Some(why) = &understood.fallback {
        return Some(format!("the chosen model did not answer, so the built-in table was used: {why}"));
    }
    let EncoderReport { question, documents, rescored, .. } = understood;
    let percent = 100.0 * covered;
    Some(match (question == documents, rescored) {
        (true, _) => format!("embedded by {question}: the question and {percent:.0} % of the text"),
        (false, 0) => {
            format!("embedded by {question}: the question only; the text by the built-in table")
        }
        (false, rescored) => format!("embedded by {question}: the question and the best {rescored} sessions"),
    })
}

fn notes(context: &Context, args: &Args, answer: &Answer) -> Vec<String> {
    let mut notes: Vec<String> = answer.understood.as_ref().and_then(model_note).into_iter().collect();
    if answer.pending_files > 0 {
        let who = if answer.busy {
            "another Backstory process is indexing them"
        } else {
            "`backstory index` indexes them"
        };
        notes.push(format!(
            "{} files ({}) are not indexed yet and were not searched; {who}",
            answer.pending_files,
            bytes(answer.pending_bytes)
        ));
    }
    if let Some(why) = &answer.stale {
        notes.push(format!("the index could not be brought up to date: {why}"));
    }
    let of_openclaw = args.source.as_deref() == Some("sessions") || args.agent.is_some();
    if answer.found.is_empty() && of_openclaw {
        notes.extend(app::unread(context));
    }
    if answer.cut {
        notes.push("the question is long: only its first 64 different words were searched for".to_owned());
    }
    notes
}

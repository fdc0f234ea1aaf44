//! Asks `app` for the picker on a thread of its own: only the latest question and the latest preview are answered.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};

use app::choose::resume_cost::resume_cost;
use app::search::{
    Answer as SearchAnswer, ChunkKind, Hit, HitTexts, Mode, Request as SearchRequest, SourceKind,
    Suggestions, names_project, search, without_last_filter,
};
use app::sessions::list::{Request as ListRequest, list};
use app::sessions::prompts::{AskedPrompt, Request as PromptsRequest, prompts};
use app::sessions::show::{Request as ShowRequest, show};
use app::{Cancellation, Context, Error};
use model::{Session, SessionId};

use super::Purpose;
use super::item::{Item, Listing, Progress};
use super::preview::{Passage, passages};
use super::state::Scope;
use crate::hit_lines::is_lost;
use crate::remarks::{hinted, similar_words, unknown_words, weak_heading};
use crate::resumption;
use crate::session_table::annotation_signs;
use crate::text::safe;

/// How many sessions a question finds at first.
const FOUND: usize = 30;
/// How old the list of files may be while somebody types.
const MAX_AGE_SECONDS: u32 = 10;
/// How many sessions are listed at first without a question.
const LISTED: usize = 500;
/// How many sessions are offered where none matches well.
const NEAREST: usize = 3;
/// How many of the last messages are previewed where no line was found.
const LAST: usize = 6;

/// What is asked.
#[derive(Debug)]
pub(crate) enum Question {
    /// The sessions that answer a question, or the newest without one.
    Sessions(SessionsQuestion),
    /// The messages around a line of a session.
    Preview { session: SessionId, line: Option<u64>, is_summary: bool },
}

/// Which sessions are asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SessionsQuestion {
    pub(crate) text: String,
    pub(crate) scope: Scope,
    /// How many to find at least; `None` for the first.
    pub(crate) wanted: Option<usize>,
}

/// What was answered.
#[derive(Debug)]
pub(crate) enum Answer {
    Sessions(SessionsQuestion, Result<Listing, Error>),
    Preview { session: SessionId, passages: Vec<Passage>, notes: Vec<String> },
}

/// Ends the question that is being answered.
#[derive(Debug, Clone, Default)]
pub(crate) struct Interrupt(Arc<Mutex<Cancellation>>);

impl Interrupt {
    /// Ends it.
    pub(crate) fn cancel(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).cancel();
    }

    /// The cancellation of the next question.
    fn next(&self) -> Cancellation {
        let next = Cancellation::default();
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = next.clone();
        next
    }
}

/// Answers questions until their sender is gone.
pub(crate) fn answer<T>(
    context: &Context,
    purpose: Purpose,
    questions: &Receiver<Question>,
    interrupt: &Interrupt,
    answers: &Sender<T>,
    wrap: fn(Answer) -> T,
) {
    let (mut recalled, mut known) = (RecalledPrompts::default(), KnownSessions::default());
    while let Ok(first) = questions.recv() {
        let (mut sessions, mut preview) = (None, None);
        for question in std::iter::once(first).chain(questions.try_iter()) {
            match question {
                Question::Sessions(asked) => (sessions, preview) = (Some(asked), None),
                Question::Preview { session, line, is_summary } => {
                    preview = Some((session, line, is_summary));
                }
            }
        }
        let context =
            Context { cancellation: interrupt.next(), ..context.with_max_age(MAX_AGE_SECONDS) }.refreshed();
        if let Some(asked) = sessions {
            let found = match purpose {
                Purpose::Recall => recalled.find(&asked, |scope| all_prompts(&context, scope)),
                Purpose::Resume | Purpose::Fork | Purpose::Read | Purpose::Take(_) => {
                    find(&context, &mut known, &asked)
                }
            };
            let is_outdated = context.cancellation.is_cancelled();
            if !is_outdated && answers.send(wrap(Answer::Sessions(asked, found))).is_err() {
                return;
            }
        }
        if let Some((session, line, is_summary)) = preview {
            let (passages, notes) = read(&context, &session, line, is_summary);
            if answers.send(wrap(Answer::Preview { session, passages, notes })).is_err() {
                return;
            }
        }
    }
}

/// What the list of sessions has and a hit does not.
#[derive(Debug, Clone, Default)]
struct Known {
    cost: Option<f64>,
    directory: Option<PathBuf>,
    is_waiting: bool,
    signs: String,
}

/// That of the sessions that were listed.
#[derive(Debug, Default)]
struct KnownSessions {
    sessions: HashMap<SessionId, Known>,
    /// Whether all sessions were listed for those that were not among the newest.
    is_whole: bool,
}

impl KnownSessions {
    fn add(&mut self, sessions: &[Session]) {
        let known = |session: &Session| Known {
            cost: session.registry_cost_usd.or(session.cost_usd),
            directory: session.cwd.as_deref().map(ToOwned::to_owned),
            is_waiting: session.activity.as_ref().is_some_and(model::Activity::is_blocked),
            signs: session.annotations.as_deref().map(annotation_signs).unwrap_or_default(),
        };
        self.sessions.extend(sessions.iter().map(|session| (session.id.clone(), known(session))));
    }

    /// What is known of these; all sessions are listed once where the newest were not enough.
    fn look_up(&mut self, context: &Context, hits: &[Hit]) -> Result<(), Error> {
        let mut named = hits.iter().filter_map(|hit| hit.session_id.as_ref());
        if !self.is_whole && named.any(|id| !self.sessions.contains_key(id)) {
            self.add(&list(context, &ListRequest::default())?.sessions);
            self.is_whole = true;
        }
        Ok(())
    }
}

/// What answers a question that is being typed: where it ends in a filter that nothing passes yet, the rest of it.
fn find(context: &Context, known: &mut KnownSessions, asked: &SessionsQuestion) -> Result<Listing, Error> {
    let text = asked.text.as_str();
    let rest = without_last_filter(text);
    // Where nothing passes a filter that is being typed, the rest of the question is answered in its place.
    let suggestions = if rest.is_some() { Suggestions::Omitted } else { Suggestions::Given };
    // A filter without a value would be a word.
    let found = if rest.is_some() && text.ends_with(':') {
        Ok(Listing::default())
    } else {
        answered(context, known, asked, suggestions)
    };
    match (rest, found) {
        (Some(_), Ok(listing)) if !listing.items.is_empty() => Ok(listing),
        (Some(rest), whole) => {
            let asked = SessionsQuestion { text: rest.to_owned(), ..asked.clone() };
            let found = answered(context, known, &asked, Suggestions::Given)?;
            let filter = text.get(rest.len()..).unwrap_or(text).trim();
            let why = match whole {
                Ok(_) => format!("nothing passes `{}` yet", safe(filter)),
                Err(error) => safe(&error.message),
            };
            Ok(without_last(found, &why))
        }
        (None, found) => found,
    }
}

/// What was found without the last filter, and why it is without it.
fn without_last(found: Listing, why: &str) -> Listing {
    // Where there is nothing without it either, it is not in the way.
    let remark = (!found.items.is_empty()).then(|| format!("{why}; this is without it"));
    let remarks = remark.into_iter().chain(found.remarks).collect();
    Listing { remarks, progress: Progress::WithoutLastFilter, ..found }
}

fn answered(
    context: &Context,
    known: &mut KnownSessions,
    SessionsQuestion { text, scope, wanted }: &SessionsQuestion,
    suggestions: Suggestions,
) -> Result<Listing, Error> {
    let listed =
        ListRequest { limit: Some(wanted.unwrap_or_default().max(LISTED)), ..ListRequest::default() };
    // A project that is typed is meant instead of the one of this directory.
    let is_here = *scope == Scope::Here && !names_project(text);
    let project = is_here.then(|| context.directory.display().to_string());
    if text.trim().is_empty() {
        return newest(context, known, &ListRequest { project, ..listed });
    }
    let request = SearchRequest {
        query: text.clone(),
        project: project.clone(),
        mode: Mode::Hybrid,
        source: Some(SourceKind::ClaudeSessions),
        limit: Some(wanted.unwrap_or(FOUND)),
        texts: HitTexts::Omitted,
        suggestions,
        ..SearchRequest::default()
    };
    let answer = search(context, &request)?;
    if let Some(hint) = answer.hint.as_ref().filter(|hint| hint.is_all)
        && let Some(listing) = ListRequest::of_hint(hint)
    {
        let listing = newest(context, known, &ListRequest { project, limit: listed.limit, ..listing })?;
        return Ok(Listing { remarks: vec![hinted(hint)], ..listing });
    }
    known.look_up(context, &answer.hits)?;
    let is_typing = is_in_a_word(text);
    let remarks = remarks(&answer, text, is_typing);
    let mut total = answer.total;
    let mut hits = answer.hits;
    if hits.first().is_some_and(|best| best.weak) && !is_typing {
        hits.truncate(NEAREST);
        total = hits.len() as u64;
    }
    let items = hits.into_iter().filter_map(|hit| found(hit, &known.sessions)).collect();
    Ok(Listing { items, total, remarks, ..Listing::default() })
}

/// The sessions of a list, those that need an answer first.
fn newest(context: &Context, known: &mut KnownSessions, request: &ListRequest) -> Result<Listing, Error> {
    let is_sorted = request.sort.is_some();
    let listed = list(context, request)?;
    known.add(&listed.sessions);
    let total = (listed.sessions.len() + listed.more) as u64;
    let item = |session: Session| {
        let known = known.sessions.get(&session.id).cloned().unwrap_or_default();
        of_list(session, known)
    };
    let mut items: Vec<Item> = listed.sessions.into_iter().map(item).collect();
    if !is_sorted {
        items.sort_by_key(|item| !item.is_waiting);
    }
    Ok(Listing { items, total, ..Listing::default() })
}

/// Whether the last word of a question may not be typed to its end.
fn is_in_a_word(text: &str) -> bool {
    text.ends_with(|letter: char| letter.is_alphanumeric())
}

/// What to say about an answer: as `search` says it. A word that is being typed may become any, so nothing is said of how
/// well it matches.
fn remarks(answer: &SearchAnswer, text: &str, is_typing: bool) -> Vec<String> {
    let best = answer.hits.first();
    let verdict = match best {
        Some(_) if is_typing && answer.total == 0 => {
            let word = text.split_whitespace().next_back().unwrap_or_default();
            Some(format!("Nothing has `{}` beside the words before it. The nearest:", safe(word)))
        }
        Some(best) if best.weak && !is_typing => Some(weak_heading(true).to_owned()),
        _ => None,
    };
    let all = [verdict, unknown_words(answer), answer.hint.as_ref().map(hinted), similar_words(answer)];
    all.into_iter().flatten().chain(answer.notes.iter().map(|note| safe(note))).collect()
}

/// What was asked before: read once, because it is in every transcript.
#[derive(Default)]
struct RecalledPrompts {
    all: Option<Vec<AskedPrompt>>,
    here: Option<Vec<AskedPrompt>>,
}

impl RecalledPrompts {
    /// The newest prompts that contain all words; `read` reads all of them, once.
    fn find(
        &mut self,
        SessionsQuestion { text, scope, wanted }: &SessionsQuestion,
        read: impl FnOnce(Scope) -> Result<Vec<AskedPrompt>, Error>,
    ) -> Result<Listing, Error> {
        let known = match scope {
            Scope::All => &mut self.all,
            Scope::Here => &mut self.here,
        };
        let prompts = if let Some(known) = known { known } else { known.insert(read(*scope)?) };
        let words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
        let has_all = |prompt: &&AskedPrompt| {
            let text = prompt.text.to_lowercase();
            words.iter().all(|word| text.contains(word.as_str()))
        };
        let matching: Vec<&AskedPrompt> = prompts.iter().filter(has_all).collect();
        let total = matching.len() as u64;
        let listed = wanted.unwrap_or_default().max(LISTED);
        let items = matching.into_iter().take(listed).map(recalled).collect();
        Ok(Listing { items, total, ..Listing::default() })
    }
}

/// All prompts. No key ends the read: each would begin it again, and nothing would be listed while somebody types.
fn all_prompts(context: &Context, scope: Scope) -> Result<Vec<AskedPrompt>, Error> {
    let context = Context { cancellation: Cancellation::default(), ..context.clone() };
    let project = (scope == Scope::Here).then(|| context.directory.display().to_string());
    Ok(prompts(&context, &PromptsRequest { project, ..PromptsRequest::default() })?.prompts)
}

fn recalled(prompt: &AskedPrompt) -> Item {
    Item {
        title: prompt.text.clone(),
        project: prompt.project.clone().unwrap_or_default(),
        at: prompt.at,
        line: Some(prompt.line),
        prompt: Some(prompt.text.clone()),
        ..Item::of(prompt.session_id.clone())
    }
}

fn of_list(session: Session, known: Known) -> Item {
    let text = |text: Option<&str>| text.unwrap_or_default().to_owned();
    Item {
        title: text(session.title.as_deref()),
        project: text(session.project.as_deref()),
        branch: text(session.branch.as_deref()),
        at: session.last_modified,
        cost: known.cost,
        directory: known.directory,
        is_waiting: known.is_waiting,
        signs: known.signs,
        ..Item::of(session.id)
    }
}

fn found(hit: Hit, known: &HashMap<SessionId, Known>) -> Option<Item> {
    let text = |text: Option<&str>| text.unwrap_or_default().to_owned();
    let is_lost = is_lost(&hit);
    let id = hit.session_id?;
    let is_own = !is_lost && hit.file.file_stem().is_some_and(|stem| stem == id.as_str());
    let known = known.get(&id).cloned().unwrap_or_default();
    Some(Item {
        title: text(hit.title.as_deref()),
        project: text(hit.project.as_deref()),
        branch: text(hit.branch.as_deref()),
        at: hit.last_modified.or(hit.at.filter(|_| is_lost)),
        is_lost,
        cost: known.cost,
        directory: known.directory.or_else(|| hit.cwd.as_deref().map(ToOwned::to_owned)),
        is_waiting: known.is_waiting,
        signs: known.signs,
        is_summary: is_own && hit.kind == ChunkKind::Summary,
        is_weak: hit.weak,
        line: is_own.then_some(hit.line),
        ..Item::of(id)
    })
}

/// The messages around a line, or the last ones, and what resuming the session costs; nothing where they cannot be
/// read, which opening the session explains.
fn read(
    context: &Context,
    session: &SessionId,
    line: Option<u64>,
    is_summary: bool,
) -> (Vec<Passage>, Vec<String>) {
    let last = line.is_none().then_some(LAST);
    let request = ShowRequest { session: session.to_string(), line, last, ..ShowRequest::default() };
    let Ok(conversation) = show(context, request) else { return Default::default() };
    let notes = before_resume(context, &conversation.session);
    let mut messages = Vec::new();
    let read = conversation.each(|message| -> Result<(), Error> {
        messages.push(message);
        Ok(())
    });
    if read.is_err() { Default::default() } else { (passages(&messages, line, is_summary), notes) }
}

/// What resuming a session costs, and what it left armed.
fn before_resume(context: &Context, session: &Session) -> Vec<String> {
    let cost = resume_cost(context, session);
    if session.is_running || (cost.tokens == 0 && cost.armed.is_empty()) {
        return Vec::new();
    }
    std::iter::once(resumption::short(&cost)).chain(resumption::armed(&cost)).collect()
}

#[cfg(test)]
mod tests {
    use app::{App, Config, RecentFiles};
    use jiff::Timestamp;
    use jiff::tz::TimeZone;

    use super::*;

    #[test]
    fn prompts_are_read_once_for_all_questions() {
        let prompt = |text: &str| AskedPrompt {
            text: text.to_owned(),
            session_id: "s1".parse().unwrap(),
            line: 1,
            at: None,
            project: None,
            times: 1,
        };
        let mut recalled = RecalledPrompts::default();
        let mut reads = 0;
        for (question, expected) in [("", 2), ("tok", 1), ("token walrus", 0)] {
            let read = |_| {
                reads += 1;
                Ok(vec![prompt("Rotate the token"), prompt("Paint it green")])
            };
            let asked = SessionsQuestion { text: question.to_owned(), scope: Scope::All, wanted: None };
            let found = recalled.find(&asked, read).unwrap();
            assert_eq!(found.items.len(), expected, "{question}");
        }
        assert_eq!(reads, 1);
    }

    #[test]
    fn a_key_does_not_end_the_reading_of_prompts() {
        let home = testkit::ScratchHome::new();
        testkit::Transcript::new("5ec2e700-0f3c-4d0e-8a51-1c7d2b9e4a60")
            .prompt("Rotate the token")
            .answer("Done.")
            .write_to(&home);
        let config = Config {
            home: home.path().to_owned(),
            state: home.path().join("state"),
            claude_folders: vec![home.path().join(".claude")],
            ..Config::default()
        };
        let app = App {
            config,
            clock: || Timestamp::UNIX_EPOCH,
            zone: || TimeZone::UTC,
            program: "/bin/false".into(),
            recent_files: RecentFiles::default(),
        };
        let context = Context::new(Arc::new(app), home.path().to_owned());
        let interrupt = Interrupt::default();
        let context = Context { cancellation: interrupt.next(), ..context };
        interrupt.cancel();
        assert!(prompts(&context, &PromptsRequest::default()).is_err(), "the key cancels what is asked");
        assert_eq!(all_prompts(&context, Scope::All).unwrap().len(), 1);
    }
}

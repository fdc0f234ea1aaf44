//! Asks `app` for the picker on a thread of its own: only the latest question and the latest preview are answered.

use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};

use app::choose::resume_cost::resume_cost;
use app::search::{Hit, Mode, Request as SearchRequest, SourceKind, search};
use app::sessions::list::{Request as ListRequest, list};
use app::sessions::prompts::{AskedPrompt, Request as PromptsRequest, prompts};
use app::sessions::show::{Request as ShowRequest, show};
use app::{Cancellation, Context, Error};
use model::{Session, SessionId};

use super::Purpose;
use super::preview::{Passage, passages};
use super::state::{Item, Scope};
use crate::resumption;

/// The most sessions that a question finds.
const FOUND: usize = 100;
/// The most sessions that are listed without a question.
const LISTED: usize = 500;
/// How many of the last messages are previewed where no line was found.
const LAST: usize = 6;

/// What is asked.
#[derive(Debug)]
pub(crate) enum Question {
    /// The sessions that answer a question, or the newest without one.
    Sessions { text: String, scope: Scope },
    /// The messages around a line of a session.
    Preview { session: SessionId, line: Option<u64> },
}

/// What was answered.
#[derive(Debug)]
pub(crate) enum Answer {
    Sessions(Result<Vec<Item>, Error>),
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
    let mut recalled = RecalledPrompts::default();
    while let Ok(first) = questions.recv() {
        let (mut sessions, mut preview) = (None, None);
        for question in std::iter::once(first).chain(questions.try_iter()) {
            match question {
                Question::Sessions { text, scope } => (sessions, preview) = (Some((text, scope)), None),
                Question::Preview { session, line } => preview = Some((session, line)),
            }
        }
        let context = Context { cancellation: interrupt.next(), ..context.refreshed() };
        if let Some((text, scope)) = sessions {
            let found = match purpose {
                Purpose::Recall => recalled.find(&context, &text, scope),
                Purpose::Resume | Purpose::Fork | Purpose::Read => find(&context, &text, scope),
            };
            let is_outdated = context.cancellation.is_cancelled();
            if !is_outdated && answers.send(wrap(Answer::Sessions(found))).is_err() {
                return;
            }
        }
        if let Some((session, line)) = preview {
            let (passages, notes) = read(&context, &session, line);
            if answers.send(wrap(Answer::Preview { session, passages, notes })).is_err() {
                return;
            }
        }
    }
}

fn find(context: &Context, text: &str, scope: Scope) -> Result<Vec<Item>, Error> {
    let project = (scope == Scope::Here).then(|| context.directory.display().to_string());
    if text.trim().is_empty() {
        let request = ListRequest { project, limit: Some(LISTED), ..ListRequest::default() };
        let mut items: Vec<Item> = list(context, &request)?.sessions.into_iter().map(listed).collect();
        // Those that need an answer first, else as they are: newest first.
        items.sort_by_key(|item| !item.is_waiting);
        return Ok(items);
    }
    let request = SearchRequest {
        query: text.to_owned(),
        project,
        mode: Mode::Hybrid,
        source: Some(SourceKind::ClaudeSessions),
        limit: Some(FOUND),
        ..SearchRequest::default()
    };
    Ok(search(context, &request)?.hits.into_iter().filter_map(found).collect())
}

/// What was asked before: read once, because it is in every transcript.
#[derive(Default)]
struct RecalledPrompts {
    all: Option<Vec<AskedPrompt>>,
    here: Option<Vec<AskedPrompt>>,
}

impl RecalledPrompts {
    /// The newest prompts that contain all words.
    fn find(&mut self, context: &Context, text: &str, scope: Scope) -> Result<Vec<Item>, Error> {
        let known = match scope {
            Scope::All => &mut self.all,
            Scope::Here => &mut self.here,
        };
        let prompts = if let Some(known) = known {
            known
        } else {
            let project = (scope == Scope::Here).then(|| context.directory.display().to_string());
            known.insert(prompts(context, &PromptsRequest { project, ..PromptsRequest::default() })?.prompts)
        };
        let words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
        let has_all = |prompt: &&AskedPrompt| {
            let text = prompt.text.to_lowercase();
            words.iter().all(|word| text.contains(word.as_str()))
        };
        Ok(prompts.iter().filter(has_all).take(LISTED).map(recalled).collect())
    }
}

fn recalled(prompt: &AskedPrompt) -> Item {
    Item {
        id: prompt.session_id.clone(),
        title: prompt.text.clone(),
        project: prompt.project.clone().unwrap_or_default(),
        branch: String::new(),
        at: prompt.at,
        cost: None,
        line: Some(prompt.line),
        is_waiting: false,
        prompt: Some(prompt.text.clone()),
    }
}

fn listed(session: Session) -> Item {
    let text = |text: Option<&str>| text.unwrap_or_default().to_owned();
    Item {
        title: text(session.title.as_deref()),
        project: text(session.project.as_deref()),
        branch: text(session.branch.as_deref()),
        at: session.last_modified,
        cost: session.cost_usd,
        line: None,
        is_waiting: session.activity.as_ref().is_some_and(model::Activity::is_blocked),
        prompt: None,
        id: session.id,
    }
}

fn found(hit: Hit) -> Option<Item> {
    let text = |text: Option<&str>| text.unwrap_or_default().to_owned();
    let id = hit.session_id?;
    let is_own = hit.file.file_stem().is_some_and(|stem| stem == id.as_str());
    Some(Item {
        title: text(hit.title.as_deref()),
        project: text(hit.project.as_deref()),
        branch: text(hit.branch.as_deref()),
        at: hit.last_modified,
        cost: None,
        line: is_own.then_some(hit.line),
        is_waiting: false,
        prompt: None,
        id,
    })
}

/// The messages around a line, or the last ones, and what resuming the session costs; nothing where they cannot be
/// read, which opening the session explains.
fn read(context: &Context, session: &SessionId, line: Option<u64>) -> (Vec<Passage>, Vec<String>) {
    let last = line.is_none().then_some(LAST);
    let request = ShowRequest { session: session.to_string(), line, last, ..ShowRequest::default() };
    let Ok(conversation) = show(context, request) else { return Default::default() };
    let notes = before_resume(context, &conversation.session);
    let mut messages = Vec::new();
    let read = conversation.each(|message| -> Result<(), Error> {
        messages.push(message);
        Ok(())
    });
    if read.is_err() { Default::default() } else { (passages(&messages, line), notes) }
}

/// What resuming a session costs, and what it left armed.
fn before_resume(context: &Context, session: &Session) -> Vec<String> {
    let cost = resume_cost(context, session);
    if session.is_running || (cost.tokens == 0 && cost.armed.is_empty()) {
        return Vec::new();
    }
    std::iter::once(resumption::short(&cost)).chain(resumption::armed(&cost)).collect()
}

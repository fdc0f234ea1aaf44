//! The candidates of `pick`: the sessions of one repository that the asker may use.

use std::path::Path;
use std::sync::Arc;

use catalog::{CatalogEntry, Projection};
use embedding::TokenTable;
use jiff::Timestamp;
use model::{Keywords, Resumption, Session, SessionId, SessionStarts};
use selection::chance::{self, Habit, LatestMessages};
use selection::{Asker, Budget, Candidate, Occupancy, Occupant, Relevance};
use system::join;

use crate::choose::request::Question;
use crate::choose::work_trees;
use crate::repository::target::RepoTarget;
use crate::sessions::totals::map_all_sessions;
use crate::workers::holders::HeldSessions;
use crate::{Context, Error};

/// The candidates of one repository.
pub(crate) struct CandidateSet {
    /// The repository.
    pub(crate) target: RepoTarget,
    /// Its branch.
    pub(crate) branch: Option<String>,
    /// The asker's sessions of the repository.
    pub(crate) own: Vec<RepoCandidate>,
    /// The run that has the directory.
    pub(crate) taken_by: Option<Occupant>,
    asker: Asker,
    /// Notes on what could not be found out.
    pub(crate) notes: Vec<String>,
}

/// A session of the repository, reduced to what the choice and its answer need.
pub(crate) struct RepoCandidate {
    /// What the choice considers.
    pub(crate) candidate: Candidate,
    /// Its relevance to the task by common words.
    pub(crate) by_words: Relevance,
    /// Its transcript.
    pub(crate) file: Option<Arc<Path>>,
    /// The directory it started in.
    pub(crate) cwd: Option<Arc<Path>>,
    /// Tokens the model would have before it now.
    pub(crate) context_tokens: u64,
    /// What its transcript says about continuing it.
    pub(crate) resumption: Resumption,
    /// How many of the task's words its first message and its title hold, and of how many.
    pub(crate) topic: (usize, usize),
    /// Its title.
    pub(crate) title: Option<Arc<str>>,
    /// When the person started and resumed it.
    pub(crate) beginnings: SessionStarts,
    /// Whether it was copied from another session.
    pub(crate) is_copy: bool,
    /// Whether the caller may see it.
    is_visible: bool,
    /// Whether the asker may use it, and the person did not hide it.
    is_own: bool,
}

impl AsRef<Candidate> for RepoCandidate {
    fn as_ref(&self) -> &Candidate {
        &self.candidate
    }
}

impl CandidateSet {
    /// Loads the sessions of the repository, or those of a past time; `budget` is what one may cost. Their texts are
    /// loaded only if a model may be asked.
    pub(crate) fn load(
        context: &Context,
        question: &Question,
        budget: Budget,
        asks_model: bool,
    ) -> Result<Self, Error> {
        let named = RepoTarget::name(context, question.repo.as_deref());
        let asker = question.agent.clone().map_or(Asker::Person, Asker::Agent);
        let words = Keywords::from_text(&question.task);
        let found =
            if question.as_of.is_some() { Ok(HeldSessions::default()) } else { HeldSessions::load(context) };
        let (held, notes) = match found {
            Ok(held) => (held, Vec::new()),
            Err(error) => (HeldSessions::default(), vec![error.message]),
        };
        let extent = if asks_model { Projection::Full } else { Projection::Scalars };
        let visible = context.visible_filter();
        let candidate = |target: &RepoTarget, CatalogEntry { session, keywords, .. }: CatalogEntry| {
            let is_here = session.is_of_repository(&target.root);
            is_here.then(|| {
                let whole = Candidate::from_session(&session, budget);
                let about = topic_keywords(&session, keywords);
                RepoCandidate {
                    by_words: Relevance::by_words(&words, &about),
                    topic: (words_in_common(&words, &about, session.title.as_deref()), words.count()),
                    candidate: Candidate {
                        about: whole.about.filter(|_| asks_model),
                        hold: held.occupancy(&session),
                        is_idle_worker: held.has_idle(&session.id),
                        ..whole
                    },
                    is_visible: visible.matches(&session),
                    // Nobody knows when a session was hidden: of a past time it is one like the others.
                    is_own: asker.owns(&session) && (question.as_of.is_some() || !session.is_hidden()),
                    context_tokens: session.context_tokens,
                    resumption: session.resumption,
                    title: session.title,
                    beginnings: session.beginnings,
                    is_copy: session.forked_from.is_some(),
                    file: session.file,
                    cwd: session.cwd,
                }
            })
        };
        let (target, branch, mut here) = if let Some(target) = RepoTarget::directory(context, named)? {
            let load =
                || map_all_sessions(context, question.as_of, extent, |entry| candidate(&target, entry));
            let (here, branch) = join(load, || branch(context, question, &target));
            (target, branch, here?)
        } else {
            let all = map_all_sessions(context, question.as_of, extent, Some)?;
            let sessions = all.iter().map(|entry| &*entry.session).filter(|session| visible.matches(session));
            let target = RepoTarget::by_name(named.unwrap_or_default(), sessions)?;
            let branch = branch(context, question, &target);
            let here = all.into_iter().filter_map(|entry| candidate(&target, entry)).collect();
            (target, branch, here)
        };
        // At a past time, no current session asks.
        if let Some(asking) = context.asking_session().filter(|_| question.as_of.is_none()) {
            here.retain(|one| one.candidate.id != asking);
        }
        let taken_by = taken_by(context, question, &target, &here, &held);
        here.retain(|one| one.is_own && one.is_visible);
        if question.as_of.is_none() {
            let marks = here.iter_mut();
            let marks =
                marks.filter_map(|one| Some((one.cwd.as_ref()?, &mut one.candidate.is_in_other_tree)));
            work_trees::mark_others(&target.directory, marks);
        }
        Ok(Self { target, branch, own: here, taken_by, notes, asker })
    }
}

/// How many words a task has in common with what a session was about, or with its title.
fn words_in_common(task: &Keywords, about: &Keywords, title: Option<&str>) -> usize {
    task.common(about).max(title.map_or(0, |title| task.common(&Keywords::from_text(title))))
}

impl CandidateSet {
    /// The asker as recorded with decisions: an agent's name, or empty for the person.
    pub(crate) fn asker(&self) -> String {
        match &self.asker {
            Asker::Person => String::new(),
            Asker::Agent(agent) => agent.to_string(),
        }
    }

    /// How often the asker resumes a session here.
    pub(crate) fn habit(&self, now: Timestamp) -> Habit {
        let mut beginnings = chance::HabitCounter::default();
        for one in &self.own {
            beginnings.add(&one.beginnings, one.is_copy);
        }
        beginnings.habit(now)
    }

    /// The last messages of the candidates at these indices, before a past time if one is given.
    pub(crate) fn latest_messages(
        &self,
        task: &str,
        places: &[usize],
        as_of: Option<Timestamp>,
    ) -> Vec<LatestMessages> {
        let files = places.iter().map(|place| self.own[*place].file.as_deref());
        // Meaning can decide about the first alone.
        files.zip(0..).map(|(file, rank)| latest_messages((rank == 0).then_some(task), file, as_of)).collect()
    }
}

/// The last messages of a transcript; empty if it cannot be read. With a task, also its similarity in meaning where
/// that can decide.
pub(crate) fn latest_messages(
    task: Option<&str>,
    file: Option<&Path>,
    as_of: Option<Timestamp>,
) -> LatestMessages {
    let Some(recent) = file.and_then(|file| transcript::recent_messages(file, as_of).ok()) else {
        return LatestMessages::default();
    };
    let prompts: Vec<String> = recent.prompts.into_iter().map(|said| said.text).collect();
    let answer = recent.answer.map(|said| said.text).unwrap_or_default();
    let texts = || prompts.iter().map(String::as_str).chain([answer.as_str()]);
    // A task that shares words, or requests nothing, needs no comparison in meaning.
    let shares = |task: &str| chance::Overlap::count(&chance::words(task), texts()).common > 0;
    let asks = |task: &&str| chance::Opening::classify(task) == chance::Opening::Request && !shares(task);
    let nearness = task.filter(asks).and_then(|task| similarity(task, texts()));
    LatestMessages { prompts, answer, nearness }
}

/// The cosine similarity of a task and the nearest of some texts.
fn similarity<'a>(task: &str, texts: impl Iterator<Item = &'a str>) -> Option<f64> {
    let table = TokenTable::built_in();
    let mut embedder = table.embedder();
    let question = embedder.embed(task)?;
    let near = texts.filter_map(|text| embedder.embed(text)).map(|text| f64::from(question.cosine(&text)));
    near.max_by(f64::total_cmp)
}

/// The keywords of a session's topic; `known` are those of its first message.
fn topic_keywords(session: &Session, known: Option<Keywords>) -> Keywords {
    let text = session.last_task.as_ref().or(session.first_message.as_ref());
    known
        .filter(|_| session.last_task.is_none())
        .unwrap_or_else(|| text.map(|text| Keywords::from_text(text)).unwrap_or_default())
}

fn branch(context: &Context, question: &Question, target: &RepoTarget) -> Option<String> {
    match (&question.branch, question.as_of) {
        (Some(branch), _) => Some(branch.clone()),
        (None, Some(then)) => project::branch_at(&target.place(context), then),
        (None, None) => project::branch(&target.place(context)),
    }
}

/// The run that occupies the work tree: a worker's, or another program's, whoever started it. A question whose answer
/// is carried out queues behind workers, so only other programs count for it.
fn taken_by(
    context: &Context,
    question: &Question,
    target: &RepoTarget,
    here: &[RepoCandidate],
    held: &HeldSessions,
) -> Option<Occupant> {
    let occupant = |session: &SessionId, is_visible: bool| {
        if is_visible { Occupant::Session(session.clone()) } else { Occupant::Another }
    };
    if !question.is_carried_out
        && !held.is_empty()
        && let Some(worker) = held.worker_in(&target.work_tree(context))
    {
        return Some(occupant(&worker.session, context.is_of(worker.agent.as_ref())));
    }
    let is_other =
        |one: &&RepoCandidate| one.candidate.hold == Occupancy::Worker && !held.has(&one.candidate.id);
    let mut runs = here.iter().filter(is_other).peekable();
    runs.peek()?;
    let ours = project::work_tree(&target.place(context));
    let is_ours = |one: &&RepoCandidate| {
        let tree = one.cwd.as_deref().map(|cwd| {
            let place = RepoTarget { directory: cwd.to_owned(), root: target.root.clone() }.place(context);
            project::work_tree(&place)
        });
        tree.is_some_and(|tree| tree == ours)
    };
    runs.find(is_ours).map(|one| occupant(&one.candidate.id, one.is_visible))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::session;

    #[test]
    fn the_topic_is_the_latest_task_else_the_first_message() {
        let first = Session { first_message: Some("refresh token".into()), ..session("s1") };
        let kept = || Some(Keywords::from_text("refresh token"));
        assert_eq!(topic_keywords(&first, None), Keywords::from_text("refresh token"));
        let bare = Session { first_message: None, ..first.clone() };
        assert_eq!(
            topic_keywords(&bare, kept()),
            Keywords::from_text("refresh token"),
            "its texts are left out"
        );
        let tasked = Session { last_task: Some("paint doors".into()), ..first };
        assert_eq!(topic_keywords(&tasked, kept()), Keywords::from_text("paint doors"));
        assert_eq!(topic_keywords(&session("s2"), None), Keywords::default());
    }
}

//! `eval selection`: moments at which people began a task, chosen for as `pick --as-of` chooses.

use std::path::{Path, PathBuf};

use catalog::Past;
use jiff::{SignedDuration, Timestamp};
use measure::{Act, Choice, Moment, Tally, newest, newest_of_branch, tally};
use selection::{Action, Asker, Budget, Candidate, Considered, Task, Weights, choose};
use serde::Serialize;

use crate::{App, Error, Kind, ledger, pick, relevance};

/// Of so many moments the past is held at once.
const AT_ONCE: usize = 25;
/// How many of the sessions that were looked at are told of each moment.
const TOLD: usize = 10;

/// What is measured.
#[derive(Debug, Clone)]
pub struct Request {
    /// The file of labelled moments.
    pub decisions: PathBuf,
}

/// How good the choices are.
#[derive(Debug, Clone, Serialize)]
pub struct Answer {
    /// The set of weights.
    pub weights: &'static str,
    /// A score from here on was enough.
    pub threshold: f64,
    /// `pick`, then the simple rules it has to beat.
    pub rules: Vec<Rule>,
    /// What was chosen at each moment, earliest first.
    pub decisions: Vec<Chosen>,
}

/// A way to choose, and how good it is.
#[derive(Debug, Clone, Serialize)]
pub struct Rule {
    /// Its name.
    pub name: &'static str,
    /// Its figures.
    #[serde(flatten)]
    pub tally: Tally,
}

/// What was chosen at one moment.
#[derive(Debug, Clone, Serialize)]
pub struct Chosen {
    /// The moment, with what the person did.
    #[serde(flatten)]
    pub moment: Moment,
    /// What `pick` would have done.
    pub chosen: Act,
    /// The best of the sessions it looked at.
    pub scores: Vec<Considered>,
    /// How many it looked at.
    pub candidates: usize,
}

/// Chooses at every moment from what there was then, by common words, and counts how often that was right.
///
/// No model is asked and no decision is kept.
pub fn selection(app: &App, request: &Request) -> Result<Answer, Error> {
    let mut moments: Vec<Moment> = super::labels(&request.decisions)?;
    moments.sort_by(|one, other| one.at.total_cmp(&other.at));
    let openclaw = pick::openclaw_config(app);
    let threshold = app.config.settings.selection_for(None, &openclaw.selection)?.resume_threshold;
    let mut then: Vec<Then> = Vec::with_capacity(moments.len());
    for some in moments.chunks(AT_ONCE) {
        let times = some.iter().map(time).collect::<Result<Vec<Timestamp>, Error>>()?;
        let past = catalog::past(&app.config.places(), &times);
        let all = some.iter().zip(times).zip(past);
        then.extend(all.map(|((moment, now), past)| Then::look(app, moment, now, past, threshold)));
    }
    let moments: Vec<Moment> = then.iter().map(|then| then.moment.clone()).collect();
    let rule = |name, choice: &dyn Fn(&Then) -> Choice| {
        let choices: Vec<Choice> = then.iter().map(choice).collect();
        tally(&moments, &choices).map(|tally| Rule { name, tally })
    };
    let rules = [
        rule("pick", &|then| then.choice.clone()),
        rule("always fresh", &|_| Choice { act: Act::Fresh, ranked: Vec::new() }),
        rule("newest", &|then| newest(&then.sessions)),
        rule("newest of the same branch", &|then| {
            newest_of_branch(&then.sessions, then.moment.branch.as_deref())
        }),
    ];
    let rules = rules.into_iter().collect::<Option<Vec<Rule>>>().ok_or_else(|| {
        Error::new(Kind::Usage, format!("{} holds no decisions", request.decisions.display()))
    })?;
    let decisions = then.into_iter().map(Then::chosen).collect();
    Ok(Answer { weights: Weights::SEED.name, threshold, rules, decisions })
}

fn time(moment: &Moment) -> Result<Timestamp, Error> {
    let since = SignedDuration::try_from_secs_f64(moment.at);
    since.and_then(|since| Timestamp::UNIX_EPOCH.checked_add(since)).map_err(|error| {
        Error::caused(Kind::Usage, format!("decision {} has no time of its own", moment.id), &error)
    })
}

/// A moment, the sessions there were and what was chosen of them.
struct Then {
    moment: Moment,
    choice: Choice,
    considered: Vec<Considered>,
    /// Newest first, each with its branch.
    sessions: Vec<(String, Option<String>)>,
}

impl Then {
    fn look(app: &App, moment: &Moment, now: Timestamp, mut past: Past, threshold: f64) -> Self {
        ledger::enter(app, &mut past.entries);
        let root = catalog::repository(&app.config.places(), Path::new(&moment.cwd));
        let here = past.entries.iter().map(|entry| &entry.session);
        let own: Vec<_> = here
            .filter(|session| session.repo_path.as_deref() == Some(&root) && Asker::Person.owns(session))
            .collect();
        let candidates: Vec<Candidate> =
            own.iter().map(|session| Candidate::of(session, Budget::None)).collect();
        let task = Task {
            branch: moment.branch.as_deref(),
            label: None,
            taken_by: None,
            now,
            threshold,
            weights: Weights::SEED,
        };
        let decision = choose(&task, &candidates, &relevance::by_words(app, &moment.task, &candidates));
        let ranked = decision.considered.iter().map(|one| one.session_id.to_string()).collect();
        let act = if decision.action == Action::Resume { Act::Resume } else { Act::Fresh };
        // Of two files that held the same then, the older one is the session.
        let label = moment.session.as_deref();
        let original = label.and_then(|id| past.copies.get(id)).map(ToString::to_string);
        let mut moment = moment.clone();
        moment.session = original.or(moment.session);
        Self {
            moment,
            choice: Choice { act, ranked },
            considered: decision.considered,
            sessions: own.iter().map(|session| (session.id.to_string(), session.branch.clone())).collect(),
        }
    }

    fn chosen(self) -> Chosen {
        Chosen {
            moment: self.moment,
            chosen: self.choice.act,
            candidates: self.considered.len(),
            scores: self.considered.into_iter().take(TOLD).collect(),
        }
    }
}

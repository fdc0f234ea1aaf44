//! The answer of `search`.

use schemars::JsonSchema;
use search::{EncoderReport, MeaningStatus};
use serde::Serialize;

use crate::retention::ghosts::GhostHit;
use crate::search::found::Found;
use crate::search::hint::Hint;
use crate::search::hit::Hit;
use crate::search::relaxation::Relaxed;
use crate::search::request::Request;
use crate::search::unknown_value::UnknownValue;
use crate::search::{Mode, SourceKind};
use crate::sessions::unread::unread;
use crate::{Context, bytes};

/// The sessions that answer a question, and how they were found.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "SearchAnswer")]
pub struct Answer {
    /// The question, as it was asked.
    pub query: String,
    /// One for each session, best first.
    pub hits: Vec<Hit>,
    /// How many sessions match in all.
    pub total: u64,
    /// How many sessions there are.
    pub known: usize,
    /// Which kinds of search ran.
    pub modes: Modes,
    /// What is not indexed yet and was not searched.
    pub pending: Pending,
    /// What else there is to know about the answer, in sentences.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Sessions without a transcript whose prompts have all the words, newest first; where nothing else was found, or
    /// only they were asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ghosts: Vec<GhostHit>,
    /// Words of the index similar to those of the question, if nothing was found.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub did_you_mean: Vec<String>,
    /// Words of the question that no session holds, where something was found by the others.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unknown_words: Vec<String>,
    /// What the question asks for besides words, and the question that answers it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<Hint>,
}

/// How a question was answered.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "SearchModes")]
pub struct Modes {
    /// The kind of search that was requested.
    pub asked: Mode,
    /// The kinds that ran: `lexical`, `semantic` or both; none where filters alone chose the newest sessions.
    pub ran: Vec<Mode>,
    /// Why a kind that was requested did not run, or not with the chosen model.
    pub fallback: Option<String>,
    /// Which models took part; `null` if meaning was not used.
    pub meaning: Option<Encoders>,
}

/// Which models embedded the question and the sessions.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "SearchEncoders")]
pub struct Encoders {
    /// The model that embedded the question: `built-in` or a chosen one.
    pub question: String,
    /// The model that embedded the sessions.
    pub documents: String,
    /// The share of the text that has vectors of the chosen model, from 0 to 1; `null` if none was chosen.
    pub covered: Option<f64>,
    /// How many sessions the chosen model rescored.
    pub rescored: usize,
}

/// What is not in the index yet.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "SearchPending")]
pub struct Pending {
    /// Files with something that is not indexed.
    pub files: u64,
    /// How much that is, in bytes.
    pub bytes: u64,
    /// Whether another process is indexing them.
    pub busy: bool,
}

impl Answer {
    /// The answer to a question that is answered elsewhere.
    pub(crate) fn of_no_words(request: &Request) -> Self {
        Self {
            query: request.query.clone(),
            hits: Vec::new(),
            total: 0,
            known: 0,
            modes: Modes { asked: request.mode, ran: Vec::new(), fallback: None, meaning: None },
            pending: Pending { files: 0, bytes: 0, busy: false },
            notes: Vec::new(),
            ghosts: Vec::new(),
            did_you_mean: Vec::new(),
            unknown_words: Vec::new(),
            hint: None,
        }
    }

    /// The results, as an interface returns them.
    pub(crate) fn new(context: &Context, request: &Request, found: Found) -> Self {
        Self {
            query: request.query.clone(),
            notes: notes(context, request, &found),
            total: found.total,
            known: found.known,
            modes: if found.is_filtered {
                Modes { asked: request.mode, ran: Vec::new(), fallback: None, meaning: None }
            } else {
                Modes::new(request.mode, found.meaning, found.understood)
            },
            pending: Pending { files: found.pending_files, bytes: found.pending_bytes, busy: found.busy },
            ghosts: found.ghosts,
            did_you_mean: found.near,
            unknown_words: found.unknown_words,
            hint: None,
            hits: found.hits.into_iter().zip(1..).map(|(found, rank)| Hit::new(rank, found)).collect(),
        }
    }
}

impl Modes {
    fn new(asked: Mode, meaning: MeaningStatus, understood: Option<EncoderReport>) -> Self {
        let ran = match (meaning, asked) {
            (MeaningStatus::Ran, Mode::Semantic) => vec![Mode::Semantic],
            (MeaningStatus::Ran, _) => vec![Mode::Lexical, Mode::Semantic],
            _ => vec![Mode::Lexical],
        };
        let fell_back = || understood.as_ref().and_then(|understood| understood.fallback.clone());
        let fallback = without_meaning(meaning).map(str::to_owned).or_else(fell_back);
        let meaning = understood.map(|EncoderReport { question, documents, covered, rescored, .. }| {
            Encoders { question, documents, covered, rescored }
        });
        Self { asked, ran, fallback, meaning }
    }
}

/// Why semantic search did not run although it was requested.
fn without_meaning(meaning: MeaningStatus) -> Option<&'static str> {
    match meaning {
        MeaningStatus::Ran | MeaningStatus::NotAsked => None,
        MeaningStatus::Path => Some("a path is matched by the files that sessions changed"),
        MeaningStatus::OtherLanguage => {
            Some("the built-in embedding table knows English only: what has the question's words comes first")
        }
        MeaningStatus::Nothing => {
            Some("there is nothing to compare: no indexed text, or no word in the question")
        }
    }
}

fn notes(context: &Context, request: &Request, found: &Found) -> Vec<String> {
    let mut notes: Vec<String> = found.understood.as_ref().and_then(model_note).into_iter().collect();
    notes.extend(
        found
            .corrections
            .iter()
            .map(|(typed, other)| format!("no session has the word `{typed}`: searched for `{other}`")),
    );
    if let Some(why) = &found.stale {
        notes.push(format!("the index could not be brought up to date: {why}"));
    }
    if let Some(why) = &found.not_annotated {
        notes.push(format!("hidden sessions are searched, too: {why}"));
    }
    let of_openclaw = request.source == Some(SourceKind::Sessions) || request.agent.is_some();
    if found.hits.is_empty() && of_openclaw {
        notes.extend(unread(context));
    }
    notes.extend(found.unknown_values.iter().map(UnknownValue::sentence));
    notes.extend(found.misfits.iter().cloned());
    notes.extend(found.relaxed.iter().map(Relaxed::sentence));
    if found.cut {
        notes.push("the question is long: only its first 64 different words were searched for".to_owned());
    }
    notes.extend((found.pending_files > 0).then(|| pending_note(found)));
    notes
}

fn pending_note(found: &Found) -> String {
    let (files, size) = (found.pending_files, bytes(found.pending_bytes));
    let who = if found.busy { "; another Backstory process is indexing them" } else { "" };
    format!("{files} files ({size}) are not indexed yet and were not searched{who}")
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
        (true, _) => format!("embedded by {question}: the question and {percent:.0}% of the text"),
        (false, 0) => {
            format!("embedded by {question}: the question only; the text by the built-in table")
        }
        (false, rescored) => format!("embedded by {question}: the question and the best {rescored} sessions"),
    })
}

//! Separates the words of a question from the filters among them.

use catalog::Discovery;
use search::{Query, QueryFilter};

use crate::search::chosen::project;
use crate::search::question::Question;
use crate::{Context, Error, Kind};

/// A question that can be asked of the index.
pub(crate) struct ParsedQuestion {
    /// Its words, and the filters as they are written among them.
    pub(crate) query: Query,
    /// It, with all its filters.
    pub(crate) question: Question,
    /// Its project as it was typed.
    pub(crate) typed_project: Option<String>,
}

/// What is said of each word that looks like a filter with a misspelt name, beside the word.
pub(crate) fn misspelt(query: &Query) -> impl Iterator<Item = (&String, String)> {
    query.misspelt.iter().map(|(word, meant)| {
        let value = word.split_once(':').map_or("", |(_, value)| value);
        (word, format!("`{word}` was looked for as words; did you mean {}:{value}?", meant.as_str()))
    })
}

impl ParsedQuestion {
    /// Reads the filters among the words; refuses a question with nothing to look for.
    pub(crate) fn new(context: &Context, question: &Question, found: &Discovery) -> Result<Self, Error> {
        let question = question.with_project_tag(context, found)?;
        let query = Query::parse(&question.text);
        let mut question = question.with_written_filters(context, &query)?;
        let typed_project = question.filter.project.take();
        let project = typed_project.as_deref().map(|typed| project(context, typed, found));
        question.filter.project = project.transpose()?;
        let parsed = Self { query, question, typed_project };
        if parsed.has_words() || (parsed.question.may_only_filter && parsed.question.has_filter()) {
            return Ok(parsed);
        }
        Err(Error::new(Kind::Usage, "the question has no words to search for")
            .hint("ask with at least one word or number, or with a filter such as project:web"))
    }

    /// What is said of each word that is a filter but for its value; of the last one only where nobody is typing it.
    pub(crate) fn misfits(&self, is_typing: bool) -> Vec<String> {
        let typed = |misfit: &&QueryFilter| {
            is_typing && self.query.text.ends_with(&format!("{}:{}", misfit.name.as_str(), misfit.value))
        };
        let sentence = |misfit: &QueryFilter| {
            let (name, values) = (misfit.name.as_str(), misfit.name.values().join(", "));
            format!("`{name}:{}` was looked for as words; {name}: takes {values}", misfit.value)
        };
        let misfits = self.query.misfits.iter().filter(|misfit| !typed(misfit)).map(sentence);
        let misspelt =
            misspelt(&self.query).filter(|(word, _)| !is_typing || !self.query.text.ends_with(word.as_str()));
        misfits.chain(misspelt.map(|(_, sentence)| sentence)).collect()
    }

    /// Whether something in the text of sessions is asked for, and not only which they are.
    pub(crate) fn has_words(&self) -> bool {
        !self.query.is_empty() || self.question.file.is_some()
    }
}

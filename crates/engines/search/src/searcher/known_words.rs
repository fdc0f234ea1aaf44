//! Which words of a question are indexed, and which are nearest to those that are not.

use tantivy::Term;

use super::Searcher;
use crate::error::{Error, index_failed};
use crate::function_words::is_function_word;
use crate::misspelling::nearest;
use crate::query::Query;
use crate::vectors;

impl Searcher {
    /// For each word of a query that is not indexed, the nearest word that is.
    pub fn nearest_words(&self, query: &Query) -> Result<Vec<String>, Error> {
        let near = |word: &String| nearest(&self.text, self.fields.text, word).transpose();
        let found: tantivy::Result<_> = query.terms.iter().filter_map(near).collect();
        found.map_err(index_failed("search", &self.folder))
    }

    /// The words of a query that no session holds, as they were typed, without those that only join others; empty where
    /// there are hardly others.
    pub fn unknown_words(&self, query: &Query) -> Result<Vec<String>, Error> {
        let mut unknown = Vec::new();
        let words = query.words();
        let all = words.len();
        for (typed, terms) in words {
            let is_known = self.has_any(&terms)?;
            if !is_known && !is_function_word(&typed.to_lowercase()) && !unknown.contains(&typed) {
                unknown.push(typed);
            }
        }
        // Where hardly any is known the question is in another language, or about something else.
        Ok(if 4 * unknown.len() <= 3 * all { unknown } else { Vec::new() })
    }

    /// Whether neither a session nor the table has any word of a query: what resembles it does so by chance.
    pub(super) fn is_gibberish(&self, query: &Query) -> Result<bool, Error> {
        if query.path.is_some() || self.encoder.is_some() {
            return Ok(false);
        }
        let mut embedder = vectors::embedder();
        let mut is_asked = false;
        for (typed, terms) in query.words() {
            if !is_function_word(&typed.to_lowercase()) {
                if embedder.knows_word(&typed) || self.has_any(&terms)? {
                    return Ok(false);
                }
                is_asked = true;
            }
        }
        Ok(is_asked)
    }

    /// Whether any of these words is indexed.
    fn has_any(&self, terms: &[String]) -> Result<bool, Error> {
        for term in terms {
            let term = Term::from_field_text(self.fields.text, term);
            if self.text.doc_freq(&term).map_err(index_failed("search", &self.folder))? > 0 {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

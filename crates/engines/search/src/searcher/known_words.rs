//! Which words of a question are indexed, and which are in place of those that are not.

use tantivy::schema::IndexRecordOption;
use tantivy::{DocSet as _, TERMINATED, Term};

use super::rescore::text_of;
use super::{Searcher, unless_damaged};
use crate::beginning::Beginning;
use crate::columns::ChunkAt;
use crate::error::{Error, index_failed};
use crate::function_words::is_function_word;
use crate::language::is_joined_otherwise;
use crate::misspelling::nearest;
use crate::query::Query;
use crate::scripts::is_cjk;
use crate::vectors;
use crate::words::Splitter;

/// In how many chunks a word is looked for as it is written.
const LOOKED_INTO: usize = 4;

impl Searcher {
    /// For each word of a query that is not indexed, the nearest word that is, as some session has it.
    pub fn nearest_words(&self, query: &Query) -> Result<Vec<String>, Error> {
        let failed = index_failed("search", &self.folder);
        let near = |word: &String| nearest(&self.text, self.fields.text, word).transpose();
        let found: tantivy::Result<Vec<String>> = query.terms.iter().filter_map(near).collect();
        let mut written = Vec::new();
        for word in found.map_err(failed)? {
            let word = self.as_written(&word)?.unwrap_or(word);
            if !written.contains(&word) {
                written.push(word);
            }
        }
        Ok(written)
    }

    /// The query with the nearest indexed words in place of those that neither a session nor the table has: slips of the
    /// hand. The word that is being typed is left alone, and so are other languages.
    pub fn corrected(&self, query: &Query, is_typing: bool) -> Result<Query, Error> {
        unless_damaged(self.folder.clone(), || self.with_corrections(query, is_typing))
    }

    fn with_corrections(&self, query: &Query, is_typing: bool) -> Result<Query, Error> {
        let mut corrections = Vec::new();
        if query.has_only_words() && !is_joined_otherwise(&query.text) {
            let open = query.open_word().filter(|_| is_typing).map(|word| word.typed);
            for (typed, terms) in query.words() {
                let is_open = open.as_ref().is_some_and(|open| typed.eq_ignore_ascii_case(open));
                if !is_open && let Some(other) = self.correction(&typed, &terms)? {
                    corrections.push((typed, other));
                }
            }
        }
        Ok(if corrections.is_empty() { query.clone() } else { query.corrected(corrections) })
    }

    /// The word of a session that is meant by one that no session has.
    fn correction(&self, typed: &str, terms: &[String]) -> Result<Option<String>, Error> {
        let [term] = terms else { return Ok(None) };
        let is_word = typed.bytes().all(|byte| byte.is_ascii_alphabetic());
        let small = typed.to_lowercase();
        let is_known = || Ok::<_, Error>(self.has_any(terms)? || self.has_any(std::slice::from_ref(&small))?);
        if !is_word || is_function_word(&small) || vectors::embedder().knows_word(typed) || is_known()? {
            return Ok(None);
        }
        let near =
            nearest(&self.text, self.fields.text, term).map_err(index_failed("search", &self.folder))?;
        near.map(|near| Ok(self.as_written(&near)?.unwrap_or(near))).transpose()
    }

    /// Whether a word means something to the table, or is in a session.
    pub(super) fn is_known_word(&self, word: &str) -> Result<bool, Error> {
        let mut terms = Vec::new();
        Splitter::default().split(word, |word| terms.push(word.text.to_owned()));
        Ok(vectors::embedder().knows_word(word) || self.has_any(&terms)?)
    }

    /// The query with words that are indexed in place of those that are not: an identifier in lower case as it is
    /// indexed whole; and, where the query is still being typed, its last word as what it may become.
    pub fn fitted(&self, query: &Query, is_typing: bool) -> Result<Query, Error> {
        unless_damaged(self.folder.clone(), || self.with_indexed_words(query, is_typing))
    }

    fn with_indexed_words(&self, query: &Query, is_typing: bool) -> Result<Query, Error> {
        let mut fitted = query.clone();
        for (typed, terms) in query.words() {
            let [term] = terms.as_slice() else { continue };
            if self.has_any(&terms)? {
                continue;
            }
            let whole = typed.to_lowercase();
            if self.has_any(std::slice::from_ref(&whole))? {
                fitted.replace(term, &whole);
            }
        }
        if is_typing && query.has_only_words() {
            match query.open_word() {
                Some(word) => {
                    let beginning = Beginning::find(&self.text, self.fields.text, &word.typed, &word.stem);
                    fitted.begin(&word, beginning.map_err(index_failed("search", &self.folder))?);
                }
                None => fitted.beginning = Some(Beginning::default()),
            }
        }
        Ok(fitted)
    }

    /// A word as it is written where it is indexed first, in lower case.
    fn as_written(&self, term: &str) -> Result<Option<String>, Error> {
        let mut splitter = Splitter::default();
        for chunk in self.some_with(term).map_err(index_failed("search", &self.folder))? {
            let Some(columns) = self.columns.get(chunk.segment) else { continue };
            let Some(text) = text_of(self, columns.key(chunk.document), chunk)? else { continue };
            let mut written = None;
            splitter.split(&text, |word| {
                if word.text == term {
                    written.get_or_insert(word.start..word.end);
                }
            });
            if let Some(place) = written {
                return Ok(text.get(place).map(str::to_lowercase));
            }
        }
        Ok(None)
    }

    /// A few chunks that have a word.
    fn some_with(&self, term: &str) -> tantivy::Result<Vec<ChunkAt>> {
        let term = Term::from_field_text(self.fields.text, term);
        let mut found = Vec::new();
        for (segment, reader) in self.text.segment_readers().iter().enumerate() {
            let postings =
                reader.inverted_index(self.fields.text)?.read_postings(&term, IndexRecordOption::Basic)?;
            let Some(mut postings) = postings else { continue };
            while found.len() < LOOKED_INTO && postings.doc() != TERMINATED {
                let document = postings.doc();
                if !reader.is_deleted(document) {
                    found.push(ChunkAt { segment, document });
                }
                postings.advance();
            }
        }
        Ok(found)
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
        // Chinese is not written in words: whoever asks in it is shown the nearest.
        if query.path.is_some() || self.encoder.is_some() || query.text.chars().any(is_cjk) {
            return Ok(false);
        }
        if query.beginning.as_ref().is_some_and(|beginning| !beginning.is_unknown()) {
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

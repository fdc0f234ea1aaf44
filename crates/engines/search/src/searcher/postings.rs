//! A walk over the index for the words of one question, before it is known which sessions may be found.

use super::Searcher;
use crate::columns::Columns;
use crate::error::{Error, index_failed};
use crate::gather::{self, Features};
use crate::outcome::SearchScope;
use crate::query::Query;

/// The postings of one query's words.
pub struct QueryPostings {
    pub(crate) columns: Vec<Columns>,
    pub(crate) features: Features,
}

impl Searcher {
    /// Loads the postings of the words of `query` on `threads` threads, before it is known which sessions may be
    /// found.
    pub fn load_postings(
        &self,
        query: &Query,
        scope: &SearchScope,
        threads: usize,
    ) -> Result<QueryPostings, Error> {
        let failed = || index_failed("search", &self.folder);
        let columns = Columns::open(&self.text).map_err(failed())?;
        let Self { text, fields, sessions, .. } = self;
        let index = gather::Index { text, fields, columns: &columns, sessions };
        let features = gather::load_postings(&index, query, scope, threads).map_err(failed())?;
        Ok(QueryPostings { columns, features })
    }
}

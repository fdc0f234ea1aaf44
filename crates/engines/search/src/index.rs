//! The open index, as everything that answers a question sees it.

use tantivy::Searcher as Text;

use crate::columns::Columns;
use crate::schema::Fields;
use crate::sessions::Sessions;

/// The index that is asked, open.
pub(crate) struct Index<'a> {
    pub(crate) text: &'a Text,
    pub(crate) fields: &'a Fields,
    pub(crate) columns: &'a [Columns],
    pub(crate) sessions: &'a Sessions,
}

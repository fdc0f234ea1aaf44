//! The version of a file is the number of migrations it has had, kept in SQLite's own `user_version`.

use std::path::Path;

use rusqlite::{Connection, TransactionBehavior};

use crate::Error;

/// Reads how many migrations the file has had; fails if it has had more than this program has.
pub(crate) fn version(connection: &Connection, path: &Path, known: usize) -> Result<usize, Error> {
    let found: i64 = connection
        .query_row("PRAGMA user_version", [], |row| row.get(0))
        .map_err(|source| Error::Open { path: path.to_owned(), source })?;
    // A negative version is nothing we wrote: as far from us as a newer one.
    let found = usize::try_from(found).unwrap_or(usize::MAX);
    if found > known { Err(Error::Newer { path: path.to_owned(), found, known }) } else { Ok(found) }
}

/// Brings the file up to date: all missing steps or none, however many processes try at once.
pub(crate) fn migrate(connection: &mut Connection, path: &Path, steps: &[&str]) -> Result<(), Error> {
    if version(connection, path, steps.len())? == steps.len() {
        return Ok(());
    }
    let failed = |from, source| Error::Migrate { path: path.to_owned(), from, source };
    let transaction = connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .map_err(|source| Error::Open { path: path.to_owned(), source })?;
    // Another process may have done the work while this one waited for its turn.
    let done = version(&transaction, path, steps.len())?;
    for (from, step) in steps.iter().enumerate().skip(done) {
        transaction.execute_batch(step).map_err(|source| failed(from, source))?;
    }
    let finish =
        || transaction.pragma_update(None, "user_version", i64::try_from(steps.len()).unwrap_or(i64::MAX));
    finish().and_then(|()| transaction.commit()).map_err(|source| failed(done, source))
}

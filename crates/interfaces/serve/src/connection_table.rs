//! The connections that are open on one listener, with a maximum. Where all are in use, a new one closes the oldest
//! unauthenticated one, once that has had a moment to send its credential, so that clients with a credential are not locked out.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use tokio::time::{Duration, Instant, timeout_at};

/// How long an unauthenticated connection is safe from being closed for a new one, so that a flood of connections has to wait.
const AUTHENTICATION_TIME: Duration = Duration::from_millis(250);

/// The connections that are open on one listener.
pub(crate) struct ConnectionTable {
    most: usize,
    rows: Mutex<Rows>,
    /// Notified when a connection ends.
    ended: Notify,
}

#[derive(Default)]
struct Rows {
    next: u64,
    /// Those without a valid credential so far, the oldest first.
    unauthenticated: BTreeMap<u64, Unauthenticated>,
    /// Those with one.
    authenticated: BTreeSet<u64>,
}

struct Unauthenticated {
    opened: Instant,
    closing: Arc<Notify>,
}

/// When one more connection can be opened.
enum Room {
    Now,
    /// When the oldest unauthenticated one may be closed, or any ends.
    At(Instant),
    WhenOneEnds,
}

/// A connection in its table, until it is dropped.
pub(crate) struct OpenConnection {
    mark: ConnectionMark,
    closing: Arc<Notify>,
}

/// Marks a connection as authenticated.
#[derive(Clone)]
pub(crate) struct ConnectionMark {
    table: Arc<ConnectionTable>,
    number: u64,
}

impl ConnectionTable {
    /// A table for so many connections.
    pub(crate) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { most, rows: Mutex::default(), ended: Notify::new() })
    }

    /// Waits until one more connection can be opened; only the listener does.
    pub(crate) async fn has_room(&self) {
        loop {
            let room = self.rows().room(self.most);
            match room {
                Room::Now => return,
                Room::WhenOneEnds => self.ended.notified().await,
                Room::At(moment) => {
                    let _ = timeout_at(moment, self.ended.notified()).await;
                }
            }
        }
    }

    /// Opens a connection; the oldest unauthenticated one is closed where all are in use.
    pub(crate) fn open(self: &Arc<Self>) -> OpenConnection {
        let mut rows = self.rows();
        if rows.count() >= self.most
            && let Some((_, oldest)) = rows.unauthenticated.pop_first()
        {
            oldest.closing.notify_one();
        }
        let (number, closing) = (rows.next, Arc::new(Notify::new()));
        rows.next += 1;
        rows.unauthenticated
            .insert(number, Unauthenticated { opened: Instant::now(), closing: Arc::clone(&closing) });
        OpenConnection { mark: ConnectionMark { table: Arc::clone(self), number }, closing }
    }

    fn rows(&self) -> MutexGuard<'_, Rows> {
        self.rows.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Rows {
    fn count(&self) -> usize {
        self.unauthenticated.len() + self.authenticated.len()
    }

    fn room(&self, most: usize) -> Room {
        if self.count() < most {
            return Room::Now;
        }
        match self.unauthenticated.first_key_value().map(|(_, oldest)| oldest.opened + AUTHENTICATION_TIME) {
            None => Room::WhenOneEnds,
            Some(moment) if moment <= Instant::now() => Room::Now,
            Some(moment) => Room::At(moment),
        }
    }
}

impl OpenConnection {
    /// What marks it.
    pub(crate) fn mark(&self) -> ConnectionMark {
        self.mark.clone()
    }

    /// Waits until it has to close for another.
    pub(crate) async fn closing(&self) {
        self.closing.notified().await;
    }
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        let ConnectionMark { table, number } = &self.mark;
        let mut rows = table.rows();
        rows.unauthenticated.remove(number);
        rows.authenticated.remove(number);
        drop(rows);
        table.ended.notify_one();
    }
}

impl ConnectionMark {
    /// A valid credential came: from now on the connection is not closed for another.
    pub(crate) fn set_authenticated(&self) {
        let mut rows = self.table.rows();
        // One that is closing already stays gone.
        if rows.unauthenticated.remove(&self.number).is_some() {
            rows.authenticated.insert(self.number);
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    fn is_closing(connection: &OpenConnection) -> bool {
        connection.closing().now_or_never().is_some()
    }

    #[test]
    fn the_oldest_unauthenticated_connection_is_closed_and_no_other() {
        let table = ConnectionTable::new(3);
        let known = table.open();
        known.mark().set_authenticated();
        let (first, second) = (table.open(), table.open());
        assert!(!is_closing(&known) && !is_closing(&first) && !is_closing(&second));
        let third = table.open();
        assert!(is_closing(&first));
        // It is too late for one that is closing.
        first.mark().set_authenticated();
        drop(first);
        let fourth = table.open();
        assert!(is_closing(&second) && !is_closing(&third) && !is_closing(&fourth) && !is_closing(&known));
        assert_eq!(table.rows().count(), 3);
    }

    #[tokio::test(start_paused = true)]
    async fn a_flood_of_connections_waits_until_the_oldest_has_had_its_time() {
        let table = ConnectionTable::new(2);
        let began = Instant::now();
        let _open = [table.open(), table.open()];
        assert!(table.has_room().now_or_never().is_none());
        table.has_room().await;
        assert_eq!(began.elapsed(), AUTHENTICATION_TIME);
        // One that ends before makes room at once.
        let [first, _second] = [table.open(), table.open()];
        assert!(table.has_room().now_or_never().is_none());
        drop(first);
        assert!(table.has_room().now_or_never().is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn where_all_are_authenticated_the_next_one_waits() {
        let table = ConnectionTable::new(2);
        let open = [table.open(), table.open()];
        tokio::time::sleep(AUTHENTICATION_TIME).await;
        assert!(table.has_room().now_or_never().is_some());
        for connection in &open {
            connection.mark().set_authenticated();
        }
        assert!(table.has_room().now_or_never().is_none());
        let [one, _other] = open;
        drop(one);
        assert!(table.has_room().now_or_never().is_some());
        assert_eq!(table.rows().count(), 1);
    }
}

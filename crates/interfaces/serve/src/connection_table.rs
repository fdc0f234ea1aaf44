//! The connections that are open on one listener, with a maximum. Where all are in use, a new one closes the oldest
//! unauthenticated one, once that has had a moment to send its credential, so that clients with a credential are not locked out.
//! Nor can these lock each other out: each has a part of the places, and some are left for administrators and for newcomers.

use std::collections::BTreeMap;
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
    /// Those with one, and whose they are.
    authenticated: BTreeMap<u64, Owner>,
}

/// Whose an authenticated connection is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Owner {
    /// Tells it from others.
    pub(crate) name: String,
    /// Whether it is an administrator's.
    pub(crate) is_admin: bool,
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

    /// Whether one more connection may be the owner's: a fifth of all for each but an administrator, three quarters for all of
    /// these together, and one in twenty for nobody, so that a newcomer is answered.
    fn admits(&self, owner: &Owner, most: usize) -> bool {
        if self.authenticated.len() >= most - most / 20 {
            return false;
        }
        let others = self.authenticated.values().filter(|known| !known.is_admin);
        let own = others.clone().filter(|known| known.name == owner.name).count();
        owner.is_admin || (own < most / 5 && others.count() < most - most / 4)
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
    /// A valid credential came: from now on the connection is its owner's and not closed for another; false where the owner
    /// has too many.
    pub(crate) fn set_authenticated(&self, owner: Owner) -> bool {
        let mut rows = self.table.rows();
        if rows.authenticated.get(&self.number) == Some(&owner) {
            return true;
        }
        let before = rows.authenticated.remove(&self.number);
        let is_admitted = rows.admits(&owner, self.table.most);
        if is_admitted {
            // One that is closing already stays gone.
            if rows.unauthenticated.remove(&self.number).is_some() || before.is_some() {
                rows.authenticated.insert(self.number, owner);
            }
        } else if let Some(before) = before {
            // It is closed after this answer.
            rows.authenticated.insert(self.number, before);
        }
        is_admitted
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    fn admin() -> Owner {
        Owner { name: "desk".to_owned(), is_admin: true }
    }

    fn reader(name: &str) -> Owner {
        Owner { name: name.to_owned(), is_admin: false }
    }

    fn is_closing(connection: &OpenConnection) -> bool {
        connection.closing().now_or_never().is_some()
    }

    #[test]
    fn the_oldest_unauthenticated_connection_is_closed_and_no_other() {
        let table = ConnectionTable::new(3);
        let known = table.open();
        assert!(known.mark().set_authenticated(admin()));
        let (first, second) = (table.open(), table.open());
        assert!(!is_closing(&known) && !is_closing(&first) && !is_closing(&second));
        let third = table.open();
        assert!(is_closing(&first));
        // It is too late for one that is closing.
        assert!(first.mark().set_authenticated(admin()));
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
            assert!(connection.mark().set_authenticated(admin()));
        }
        assert!(table.has_room().now_or_never().is_none());
        let [one, _other] = open;
        drop(one);
        assert!(table.has_room().now_or_never().is_some());
        assert_eq!(table.rows().count(), 1);
    }

    #[test]
    fn no_owner_takes_the_places_of_others() {
        let table = ConnectionTable::new(100);
        let open = |owner: Owner| {
            let connection = table.open();
            connection.mark().set_authenticated(owner).then_some(connection)
        };
        let take = |owner: &Owner| (0..100).map_while(|_| open(owner.clone())).collect::<Vec<_>>();
        let mut held: Vec<_> = ["a", "b", "c"].map(|name| take(&reader(name))).into_iter().collect();
        assert_eq!(held.iter().map(Vec::len).collect::<Vec<_>>(), [20, 20, 20]);
        // What is left for those who only read is less than one more's part.
        held.push(take(&reader("d")));
        held.push(take(&reader("e")));
        held.push(take(&admin()));
        assert_eq!(held[3..].iter().map(Vec::len).collect::<Vec<_>>(), [15, 0, 20]);
        assert!(table.has_room().now_or_never().is_some(), "a newcomer is answered");
        held[0].pop();
        assert!(open(reader("a")).is_some() && open(reader("b")).is_none());
    }

    #[test]
    fn a_connection_can_change_its_owner() {
        let table = ConnectionTable::new(10);
        let one = table.open();
        assert!(one.mark().set_authenticated(reader("pages")) && one.mark().set_authenticated(reader("all")));
        assert_eq!(table.rows().authenticated.values().collect::<Vec<_>>(), [&reader("all")]);
    }
}

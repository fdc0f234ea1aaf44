//! What the server listens on. Each listener has its own limit of connections, so that exhausting one leaves the other usable.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

use crate::connection;
use crate::connection_table::{ConnectionTable, OpenConnection};
use crate::state::Shared;

/// The most connections to the address at the same time. With those of the socket and files, they stay below the 1024 that
/// a process may have open on most systems.
const MOST_TCP: usize = 840;
/// The most connections to the socket in the file system at the same time.
const MOST_UNIX: usize = 60;
/// The pause after a connection could not be accepted, mostly because too many files are open.
const PAUSE: Duration = Duration::from_millis(100);

/// Something that connections come from.
pub(crate) enum Listener {
    /// An address, and what encrypts its connections.
    Tcp(TcpListener, Option<TlsAcceptor>),
    /// A socket in the file system.
    Unix(UnixListener),
}

enum Arrival {
    Tcp(TcpStream, Option<TlsAcceptor>),
    Unix(UnixStream),
}

impl Listener {
    /// Accepts connections until the server stops, then waits until what they ask is answered.
    pub(crate) async fn accept(self, router: Router, server: Shared) {
        let mut stop = server.stop();
        let table = ConnectionTable::new(self.most());
        let mut connections = JoinSet::new();
        loop {
            let next = async {
                table.has_room().await;
                self.next().await
            };
            let accepted = tokio::select! {
                _ = stop.wait_for(|stop| *stop) => break,
                accepted = next => accepted,
            };
            match accepted {
                Ok(arrival) => {
                    connections.spawn(arrival.answer(table.open(), router.clone(), Arc::clone(&server)));
                }
                Err(_) => tokio::time::sleep(PAUSE).await,
            }
            while connections.try_join_next().is_some() {}
        }
        drop(self);
        while connections.join_next().await.is_some() {}
    }

    fn most(&self) -> usize {
        match self {
            Self::Tcp(..) => MOST_TCP,
            Self::Unix(_) => MOST_UNIX,
        }
    }

    async fn next(&self) -> io::Result<Arrival> {
        match self {
            Self::Tcp(listener, acceptor) => {
                let (stream, _) = listener.accept().await?;
                // It only makes small answers quicker.
                let _ = stream.set_nodelay(true);
                Ok(Arrival::Tcp(stream, acceptor.clone()))
            }
            Self::Unix(listener) => Ok(Arrival::Unix(listener.accept().await?.0)),
        }
    }
}

impl Arrival {
    /// Answers what it asks until it ends, or has to make room for another.
    async fn answer(self, open: OpenConnection, router: Router, server: Shared) {
        let (mark, stop) = (open.mark(), server.stop());
        let answer = async {
            match self {
                Self::Tcp(stream, Some(acceptor)) => {
                    connection::answer_encrypted(stream, acceptor, router, mark, stop).await;
                }
                Self::Tcp(stream, None) => connection::answer(stream, router, mark, stop).await,
                Self::Unix(stream) => connection::answer(stream, router, mark, stop).await,
            }
        };
        tokio::select! {
            () = answer => {}
            () = open.closing() => {}
        }
    }
}

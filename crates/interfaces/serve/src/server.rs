//! The server: it listens before anything else is done, and stops without cutting off what is being answered.

use std::fs;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use app::{Context, Error, Kind};
use axum::Router;
use tokio::net::{TcpListener, UnixListener};
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

use crate::background::{Background, Exporter};
use crate::connection;
use crate::lease::Lease;
use crate::notice::{Notice, Reporter};
use crate::reports::Reports;
use crate::router::router;
use crate::security::{Bound, Credentials, Tokens};
use crate::sockets::Sockets;
use crate::state::{BLOCKING_THREADS, Server, Shared};
use crate::tls::{self, Certificate};

/// The most connections at the same time; more of them wait to be accepted.
const MOST_CONNECTIONS: usize = 900;
/// How long it is waited after a connection could not be accepted: mostly there are too many open files.
const PAUSE: Duration = Duration::from_millis(100);
/// How long threads that block may take to end.
const LAST: Duration = Duration::from_secs(2);

/// Where to listen, and what to serve.
#[derive(Debug, Clone)]
pub struct Options {
    /// The address; port 0 takes a free one.
    pub address: SocketAddr,
    /// A socket in the file system beside it.
    pub unix: Option<PathBuf>,
    /// The folder of a built front end.
    pub front: Option<PathBuf>,
    /// What encrypts connections to the address; without it, that one is of this machine.
    pub certificate: Option<Certificate>,
}

/// Serves until SIGINT or SIGTERM.
pub fn serve(
    context: &Context,
    options: &Options,
    reporter: Reporter,
    export: Exporter,
) -> Result<(), Error> {
    let mut lease = Lease::acquire(context.config())?;
    let tokens = Tokens::open(context.config())?;
    let sockets = Sockets::bind(options.address, options.unix.as_deref())?;
    let reports = Reports::start(reporter)?;
    let acceptor = options.certificate.as_ref().map(tls::acceptor).transpose()?;
    require_encryption(sockets.address, acceptor.is_some())?;
    let bound = Bound::new(acceptor.is_some());
    let place = format!("{}://{}", bound.scheme(), sockets.address);
    lease.announce(&place)?;
    if !sockets.address.ip().is_loopback() {
        reports.send(Notice::Warning(format!("everybody who reaches {} can try tokens", sockets.address)));
    }
    let (stopper, stop) = watch::channel(false);
    let credentials = Credentials::new(bound, tokens);
    let link = format!("{place}/?token={}", credentials.link_token());
    let server = Arc::new(Server::new(context.clone(), credentials, stop, reports.clone())?);
    let router = router(&server, options.front.as_deref())?;
    let runtime = runtime()?;
    let ended = runtime.block_on(async {
        let mut signals = Signals::new()?;
        let listeners = Listeners::new(sockets, acceptor)?;
        reports.send(Notice::Ready { link, unix: options.unix.clone() });
        let background = Background::start(&server, export);
        let accepting = tokio::spawn(listeners.accept(router, Arc::clone(&server)));
        signals.wait().await;
        reports.send(Notice::Stopping);
        // It fails only where everything has ended already.
        let _ = stopper.send(true);
        let _ = accepting.await;
        background.end();
        Ok(())
    });
    runtime.shutdown_timeout(LAST);
    reports.flush(LAST);
    if let Some(path) = &options.unix {
        let _ = fs::remove_file(path);
    }
    ended
}

/// Refuses to be reached from other machines in the clear: a token that passes by can be taken.
fn require_encryption(address: SocketAddr, is_encrypted: bool) -> Result<(), Error> {
    if is_encrypted || address.ip().is_loopback() {
        return Ok(());
    }
    let why = format!("{address} can be reached from other machines, and nothing would be encrypted");
    Err(Error::new(Kind::Usage, why).hint(
        "give a certificate with --tls-certificate and --tls-key, or listen on 127.0.0.1 and use a tunnel, such as `ssh -L`",
    ))
}

fn runtime() -> Result<Runtime, Error> {
    let built = Builder::new_multi_thread()
        .worker_threads(2)
        .max_blocking_threads(BLOCKING_THREADS)
        .thread_name("serve")
        .enable_all()
        .build();
    built.map_err(|error| Error::caused(Kind::Unavailable, "cannot start the server's threads", &error))
}

/// Sockets that a runtime accepts connections on.
struct Listeners {
    tcp: TcpListener,
    /// What encrypts the connections of `tcp`.
    acceptor: Option<TlsAcceptor>,
    unix: Option<UnixListener>,
}

impl Listeners {
    fn new(sockets: Sockets, acceptor: Option<TlsAcceptor>) -> Result<Self, Error> {
        let failed = |error: std::io::Error| Error::caused(Kind::Unavailable, "cannot listen", &error);
        let tcp = TcpListener::from_std(sockets.tcp).map_err(failed)?;
        let unix = sockets.unix.map(UnixListener::from_std).transpose().map_err(failed)?;
        Ok(Self { tcp, acceptor, unix })
    }

    /// Accepts connections until the server stops, then waits until what they ask is answered.
    async fn accept(self, router: Router, server: Shared) {
        let mut stop = server.stop();
        let places = Arc::new(Semaphore::new(MOST_CONNECTIONS));
        let mut connections = JoinSet::new();
        loop {
            // The semaphore is never closed.
            let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
            let (router, left) = (router.clone(), server.stop());
            let is_accepted = tokio::select! {
                _ = stop.wait_for(|stop| *stop) => break,
                accepted = self.tcp.accept() => accepted.map(|(stream, _)| {
                    // It only makes small answers quicker.
                    let _ = stream.set_nodelay(true);
                    let acceptor = self.acceptor.clone();
                    connections.spawn(async move {
                        match acceptor {
                            Some(acceptor) => connection::answer_encrypted(stream, acceptor, router, left).await,
                            None => connection::answer(stream, router, left).await,
                        }
                        drop(place);
                    });
                }).is_ok(),
                accepted = accept_unix(self.unix.as_ref()) => accepted.map(|stream| {
                    connections.spawn(async move {
                        connection::answer(stream, router, left).await;
                        drop(place);
                    });
                }).is_ok(),
            };
            if !is_accepted {
                tokio::time::sleep(PAUSE).await;
            }
            while connections.try_join_next().is_some() {}
        }
        drop(self);
        while connections.join_next().await.is_some() {}
    }
}

/// The next connection on the socket in the file system; never, where there is none.
async fn accept_unix(listener: Option<&UnixListener>) -> std::io::Result<tokio::net::UnixStream> {
    match listener {
        Some(listener) => Ok(listener.accept().await?.0),
        None => std::future::pending().await,
    }
}

struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

impl Signals {
    fn new() -> Result<Self, Error> {
        let failed =
            |error: std::io::Error| Error::caused(Kind::Unavailable, "cannot wait for signals", &error);
        Ok(Self {
            interrupt: signal(SignalKind::interrupt()).map_err(failed)?,
            terminate: signal(SignalKind::terminate()).map_err(failed)?,
        })
    }

    async fn wait(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

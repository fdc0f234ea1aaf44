//! The server: it listens before anything else is done, and stops without cutting off what is being answered.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use app::{Config, Context, Error, Kind};
use axum::Router;
use jiff::Timestamp;
use tokio::net::{TcpListener, UnixListener};
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;

use crate::background::{Background, Exporter};
use crate::lease::{self, Lease};
use crate::listener::Listener;
use crate::notice::{Notice, Reporter};
use crate::reports::Reports;
use crate::router::router;
use crate::security::{Bound, Credentials, TokenScope, Tokens};
use crate::sockets::Sockets;
use crate::state::{BLOCKING_THREADS, Server, Shared};
use crate::tls::{self, Certificate};

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
    /// What encrypts connections to the address; without it, the address has to be this machine's.
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
    let mut sockets = Sockets::bind(options.address, options.unix.as_deref())?;
    // It is removed when the server ends, also by a failure.
    let socket_file = sockets.file.take();
    let reports = Reports::start(reporter)?;
    let acceptor = options.certificate.as_ref().map(tls::acceptor).transpose()?;
    require_encryption(sockets.address, acceptor.is_some())?;
    let bound = Bound::new(acceptor.is_some());
    let place = format!("{}://{}", bound.scheme(), sockets.address);
    lease.announce(&place)?;
    if !sockets.address.ip().is_loopback() {
        reports.send(Notice::Warning(format!("anyone who can reach {} can try tokens", sockets.address)));
    }
    let unix = socket_file.as_ref().map(|file| file.path().to_owned());
    if let Err(error) = tokens.list(context.now) {
        let steps = error.next_steps.iter().map(|step| format!("; {step}"));
        reports.send(Notice::Warning(format!(
            "no token is valid: {}{}",
            error.message,
            steps.collect::<String>()
        )));
    }
    let (stopper, stop) = watch::channel(false);
    let credentials = Credentials::new(bound, tokens);
    let link = link_to(&place, &credentials.link_token());
    let server = Arc::new(Server::new(context.clone(), credentials, stop, reports.clone())?);
    let router = router(&server, options.front.as_deref())?;
    let runtime = runtime()?;
    let ended = runtime.block_on(async {
        let mut signals = Signals::new()?;
        let listeners = listeners(sockets, acceptor)?;
        reports.send(Notice::Ready { place, link, unix });
        let background = Background::start(&server, export);
        let accepting = tokio::spawn(accept(listeners, router, Arc::clone(&server)));
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
    ended
}

/// A link to the server that runs, which signs one browser in: once, and soon.
pub fn link(config: &Config, scope: TokenScope, now: Timestamp) -> Result<String, Error> {
    let place = lease::place(config)?;
    Ok(link_to(&place, &Tokens::open(config)?.add_link(scope, now)?))
}

fn link_to(place: &str, token: &str) -> String {
    format!("{place}/?token={token}")
}

/// Refuses to listen for other machines without encryption: a token could be read on the way.
fn require_encryption(address: SocketAddr, is_encrypted: bool) -> Result<(), Error> {
    if is_encrypted || address.ip().is_loopback() {
        return Ok(());
    }
    let why =
        format!("{address} can be reached from other machines, and the connection would not be encrypted");
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

/// What connections come from, in the runtime.
fn listeners(sockets: Sockets, acceptor: Option<TlsAcceptor>) -> Result<(Listener, Option<Listener>), Error> {
    let failed = |error: std::io::Error| Error::caused(Kind::Unavailable, "cannot listen", &error);
    let tcp = TcpListener::from_std(sockets.tcp).map_err(failed)?;
    let unix = sockets.unix.map(UnixListener::from_std).transpose().map_err(failed)?;
    Ok((Listener::Tcp(tcp, acceptor), unix.map(Listener::Unix)))
}

/// Accepts connections on both until the server stops, then waits until what they ask is answered.
async fn accept((tcp, unix): (Listener, Option<Listener>), router: Router, server: Shared) {
    let beside = async {
        if let Some(unix) = unix {
            unix.accept(router.clone(), Arc::clone(&server)).await;
        }
    };
    tokio::join!(beside, tcp.accept(router.clone(), Arc::clone(&server)));
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

//! The sockets that the server listens on: those that systemd passed to the process, or new ones.

use std::fs::{self, Permissions};
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use app::{Error, Kind};
use listenfd::ListenFd;

/// The sockets, before a runtime accepts connections on them.
pub(crate) struct Sockets {
    pub(crate) tcp: TcpListener,
    /// Where `tcp` listens.
    pub(crate) address: SocketAddr,
    pub(crate) unix: Option<UnixListener>,
    /// The file of `unix`, where it was made here.
    pub(crate) file: Option<SocketFile>,
}

/// A socket's place in the file system, which is removed when this is dropped.
pub(crate) struct SocketFile(PathBuf);

impl SocketFile {
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

impl Sockets {
    /// Takes the sockets that were passed (`LISTEN_FDS`), and binds those that were not.
    pub(crate) fn bind(address: SocketAddr, unix: Option<&Path>) -> Result<Self, Error> {
        let passed = Passed::take()?;
        let (unix, file) = match (passed.unix, unix) {
            (None, Some(path)) => bind_unix(path).map(|(unix, file)| (Some(unix), Some(file)))?,
            (passed, _) => (passed, None),
        };
        let failed = |error: &io::Error| {
            let attempt = format!("cannot listen on {address}");
            Error::caused(Kind::Unavailable, attempt, error).hint("choose another port with --port")
        };
        let tcp = match passed.tcp {
            Some(tcp) => tcp,
            None => TcpListener::bind(address).map_err(|error| failed(&error))?,
        };
        tcp.set_nonblocking(true).map_err(|error| failed(&error))?;
        let address = tcp.local_addr().map_err(|error| failed(&error))?;
        Ok(Self { tcp, address, unix, file })
    }
}

/// The sockets that the process was started with, at most one of each kind.
#[derive(Default)]
struct Passed {
    tcp: Option<TcpListener>,
    unix: Option<UnixListener>,
}

impl Passed {
    fn take() -> Result<Self, Error> {
        let mut all = ListenFd::from_env();
        let mut taken = Self::default();
        let unusable = |error: &io::Error| {
            Error::caused(Kind::Unavailable, "cannot use a socket that was passed", error)
                .hint("pass sockets that listen: ListenStream in a unit of systemd")
        };
        for place in 0..all.len() {
            if let Ok(Some(tcp)) = all.take_tcp_listener(place) {
                taken.tcp = taken.tcp.or(Some(tcp));
            } else if let Some(unix) = all.take_unix_listener(place).map_err(|error| unusable(&error))? {
                unix.set_nonblocking(true).map_err(|error| unusable(&error))?;
                taken.unix = taken.unix.or(Some(unix));
            }
        }
        Ok(taken)
    }
}

/// Binds a socket that only the person can use; one that a server left behind is replaced.
fn bind_unix(path: &Path) -> Result<(UnixListener, SocketFile), Error> {
    let failed = |error: &io::Error| {
        Error::caused(Kind::Unavailable, format!("cannot listen on {}", path.display()), error)
    };
    let is_socket = fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_socket());
    if is_socket && UnixStream::connect(path).is_err() {
        fs::remove_file(path).map_err(|error| failed(&error))?;
    }
    let bound = UnixListener::bind(path).map_err(|error| failed(&error))?;
    let file = SocketFile(path.to_owned());
    let private = fs::set_permissions(path, Permissions::from_mode(0o600));
    private.and_then(|()| bound.set_nonblocking(true)).map_err(|error| failed(&error))?;
    Ok((bound, file))
}

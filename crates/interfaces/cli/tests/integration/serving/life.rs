//! How a server starts and stops.

use std::io::{Read as _, Write as _};
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::os::unix::net::UnixStream;

use testkit::ScratchHome;
use testkit::claude::Run;

use super::Server;

#[test]
fn there_is_one_server_for_a_state_folder() {
    let home = ScratchHome::new();
    let server = Server::start(&home, &[]);
    let mut second = home.command(env!("CARGO_BIN_EXE_backstory"));
    second.args(["serve", "--port", "0"]);
    let refused = Run::of(second);
    assert_eq!(refused.code, Some(6), "{refused:?}");
    assert!(refused.stderr.contains(&format!("at http://{}", server.address)), "{}", refused.stderr);
    server.kill();
    // A lease ends with its process.
    let next = Server::start(&home, &[]);
    assert_eq!(next.stop().0, Some(0));
}

#[test]
fn it_stops_when_told_and_ends_the_streams() {
    let home = ScratchHome::new();
    let server = Server::start(&home, &[]);
    let mut stream = server.ask("GET", "/api/events").listen();
    assert_eq!(stream.status, 200);
    let (code, said) = server.stop();
    assert_eq!(code, Some(0), "{said}");
    while stream.next().is_some() {}
}

#[test]
fn a_socket_in_the_file_system_is_the_persons_alone() {
    let home = ScratchHome::new();
    let path = home.path().join("serve.sock");
    let at = path.to_str().unwrap();
    let server = Server::start(&home, &["--unix", at]);
    let found = path.metadata().unwrap();
    assert!(found.file_type().is_socket());
    assert_eq!(found.permissions().mode() & 0o777, 0o600);
    let mut stream = UnixStream::connect(&path).unwrap();
    stream.write_all(b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.contains("200 OK") && answer.ends_with(r#"{"status":"healthy"}"#), "{answer}");
    // What one that was killed left is no hindrance.
    server.kill();
    let next = Server::start(&home, &["--unix", at]);
    assert_eq!(next.stop().0, Some(0));
    assert!(!path.exists());
}

#[test]
fn a_warning_comes_with_an_address_that_others_reach() {
    let home = ScratchHome::new();
    let server = Server::start(&home, &["--bind", "0.0.0.0"]);
    let (_, said) = server.stop();
    assert!(said.starts_with("warning: everybody who reaches 0.0.0.0:"), "{said}");
}

#[test]
fn a_browser_stays_known_when_the_server_starts_again() {
    let home = ScratchHome::new();
    let server = Server::start(&home, &[]);
    let cookie = super::cookie(&server);
    assert_eq!(server.stop().0, Some(0));
    let server = Server::start(&home, &[]);
    assert_eq!(server.bare("GET", "/api/health").header("Cookie", &cookie).send().status, 200);
}

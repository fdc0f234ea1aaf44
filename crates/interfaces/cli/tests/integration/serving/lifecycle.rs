//! How a server starts and stops.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::Stdio;

use testkit::ScratchHome;
use testkit::claude::Run;
use testkit::files::wait_until;

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
fn the_export_that_a_setting_asks_for_is_kept_up_to_date() {
    let home = ScratchHome::new();
    let shop = home.dir("shop");
    super::session(&home, "3601d36f-b6c0-4e4b-9000-7b07e25374f7", &shop, "paint the fence", "Done.");
    let mut command = home.command(env!("CARGO_BIN_EXE_backstory"));
    command.env("BACKSTORY_EXPORT_FOLDER", "~/documents");
    let server = Server::of(&home, command, &[]);
    let folder = home.path().join("documents");
    let holds = |words: &str| {
        let mut command = home.command("grep");
        command.args(["-rqs", "--include=*.md", words]).arg(&folder);
        Run::of(command).code == Some(0)
    };
    wait_until(home.path(), "the first document", || holds("paint the fence"));
    super::session(&home, "4601d36f-b6c0-4e4b-9000-7b07e25374f7", &shop, "count the lanterns", "Seven.");
    wait_until(home.path(), "the next document", || holds("count the lanterns"));
    let (_, said) = server.stop();
    assert!(!said.contains("warning"), "{said}");
}

#[test]
fn an_export_that_fails_is_said() {
    let home = ScratchHome::new();
    super::session(
        &home,
        "3601d36f-b6c0-4e4b-9000-7b07e25374f7",
        &home.dir("shop"),
        "paint the fence",
        "Done.",
    );
    let file = home.write("taken", "no folder");
    let mut command = home.command(env!("CARGO_BIN_EXE_backstory"));
    command.env("BACKSTORY_EXPORT_FOLDER", file);
    let (mut reader, writer) = std::io::pipe().unwrap();
    let server = Server::spawn(&home, command, &[], writer.into());
    let mut said = String::new();
    BufReader::new(&mut reader).read_line(&mut said).unwrap();
    assert!(said.contains("the export is not up to date: cannot export to"), "{said}");
    assert_eq!(server.stop().0, Some(0));
}

#[test]
fn it_stops_on_a_signal_and_ends_the_streams() {
    let home = ScratchHome::new();
    let server = Server::start(&home, &[]);
    let mut stream = server.ask("GET", "/api/events").listen();
    assert_eq!(stream.status, 200);
    let (code, said) = server.stop();
    assert_eq!(code, Some(0), "{said}");
    while stream.next().is_some() {}
}

#[test]
fn a_log_that_nobody_reads_delays_no_answer() {
    let home = ScratchHome::new();
    let (unread, stderr) = std::io::pipe().unwrap();
    let server = Server::with_stderr(&home, &["--log"], stderr.into());
    // A pipe holds 64 KiB.
    for number in 0..700 {
        let path = format!("/api/v1/{}{number}", "long".repeat(25));
        assert_eq!(server.ask("GET", &path).send().status, 404);
    }
    assert_eq!(server.stop().0, Some(0));
    drop(unread);
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
fn a_link_is_to_a_server_that_runs() {
    let home = ScratchHome::new();
    let link = || {
        let mut command = home.command(env!("CARGO_BIN_EXE_backstory"));
        command.args(["serve", "link"]);
        Run::of(command)
    };
    let none = |run: Run| {
        assert_ne!(run.code, Some(0), "{run:?}");
        assert!(run.stderr.contains("no `serve` runs for this state folder"), "{}", run.stderr);
    };
    none(link());
    // A service prints none, and an address with an administrator's token would stay in the browser.
    let mut files = home.command(env!("CARGO_BIN_EXE_backstory"));
    files.args(["doctor", "--service"]);
    let files = Run::of(files).succeeded().stdout;
    assert!(files.contains("`backstory serve link`") && !files.contains("token="), "{files}");
    let server = Server::start(&home, &[]);
    assert!(link().succeeded().answer().starts_with(&format!("http://{}/?token=", server.address)));
    assert_eq!(server.stop().0, Some(0));
    none(link());
}

#[test]
fn a_list_of_tokens_that_cannot_be_read_is_said() {
    let home = ScratchHome::new();
    let server = Server::start(&home, &[]);
    assert!(!server.stop().1.contains("warning"));
    let file = home.state_dir().join("serve/tokens.json");
    std::fs::write(&file, "{").unwrap();
    let mut child = home.command(env!("CARGO_BIN_EXE_backstory"));
    child.args(["serve", "--port", "0"]).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = child.spawn().unwrap();
    let mut said = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut said).unwrap();
    child.kill().and_then(|()| child.wait()).unwrap();
    let file = file.display().to_string();
    assert!(said.starts_with("warning: no token is valid: cannot read ") && said.contains(&file), "{said}");
    assert!(said.contains("move the file away to begin without tokens"), "{said}");
}

#[test]
fn a_socket_that_was_made_is_removed_and_one_that_was_passed_stays() {
    let home = ScratchHome::new();
    let path = home.path().join("serve.sock");
    let at = path.to_str().unwrap();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    for arguments in [["--port", &port], ["--front", "none"]] {
        let mut command = home.command(env!("CARGO_BIN_EXE_backstory"));
        command.args(["serve", "--unix", at]).args(arguments);
        assert_ne!(Run::of(command).code, Some(0), "{arguments:?}");
        assert!(!path.exists(), "{arguments:?}");
    }
    let listener = UnixListener::bind(&path).unwrap();
    let script =
        "exec 3<&0 0</dev/null; export LISTEN_PID=$$ LISTEN_FDS=1; exec \"$0\" serve --port 0 --unix \"$1\"";
    let mut command = home.command("sh");
    command.args(["-c", script, env!("CARGO_BIN_EXE_backstory"), at]);
    command.stdin(Stdio::from(OwnedFd::from(listener))).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut first = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
    assert!(first.starts_with("Listening on http://"), "{first}");
    super::signal(&child, "-TERM");
    assert!(child.wait().unwrap().success());
    assert!(path.exists());
}

#[test]
fn others_reach_it_only_with_a_certificate() {
    let home = ScratchHome::new();
    let refused = |arguments: &[&str]| {
        let mut command = home.command(env!("CARGO_BIN_EXE_backstory"));
        command.args(["serve", "--port", "0"]).args(arguments);
        let refused = Run::of(command);
        assert_eq!(refused.code, Some(2), "{refused:?}");
        refused.stderr
    };
    let said = refused(&["--bind", "0.0.0.0"]);
    assert!(
        said.contains("the connection would not be encrypted") && said.contains("--tls-certificate"),
        "{said}"
    );
    let file = home.path().join("nothing.pem");
    std::fs::write(&file, "nothing").unwrap();
    let file = file.to_str().unwrap();
    let said = refused(&["--tls-certificate", file, "--tls-key", file]);
    assert!(said.contains("nothing.pem as PEM"), "{said}");
    refused(&["--tls-certificate", file]);
}

#[test]
fn a_browser_stays_known_when_the_server_starts_again() {
    let home = ScratchHome::new();
    let server = Server::start(&home, &[]);
    let browser = super::Browser::sign_in(&server);
    assert_eq!(server.stop().0, Some(0));
    let server = Server::start(&home, &[]);
    assert_eq!(browser.ask(server.bare("GET", "/api/health")).send().status, 200);
}

/// A server that is started as systemd starts it: with a socket that listens already, as its file descriptor 3.
#[test]
fn it_serves_on_a_socket_that_systemd_passes() {
    let home = ScratchHome::new();
    let socket = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = socket.local_addr().unwrap().to_string();
    let script = "exec 3<&0 0</dev/null; export LISTEN_PID=$$ LISTEN_FDS=1; exec \"$0\" serve --port 1";
    let mut command = home.command("sh");
    command.args(["-c", script, env!("CARGO_BIN_EXE_backstory")]);
    command.stdin(Stdio::from(OwnedFd::from(socket))).stdout(Stdio::piped()).stderr(Stdio::inherit());
    let mut child = command.spawn().unwrap();
    // A request can be sent before the server is there.
    let mut stream = super::client::connect(&address);
    let request = format!("GET /health HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.contains("200 OK"), "{answer}");
    let mut first = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
    // No terminal shows it: a link is in no log.
    assert_eq!(first, format!("Listening on http://{address}\n"));
    let mut command = home.command(env!("CARGO_BIN_EXE_backstory"));
    command.args(["serve", "link", "--scope", "read"]);
    let printed = Run::of(command).succeeded();
    let path = printed.answer().strip_prefix(&format!("http://{address}")).expect("a link to it");
    let open = || super::Asking::new(&address, "GET", path).header("Host", &address).send();
    let signed_in = open();
    assert_eq!((signed_in.status, open().status), (303, 401));
    let browser = super::Browser::of(&signed_in);
    let ask = |path: &str| {
        browser.ask(super::Asking::new(&address, "GET", path).header("Host", &address)).send().status
    };
    assert_eq!((ask("/api/v1/sessions"), ask("/api/v1/tokens")), (200, 403));
    child.kill().and_then(|()| child.wait()).unwrap();
}

//! The event stream.

use std::io::Write as _;
use std::net::Shutdown;

use serde_json::{Value, json};
use testkit::{ScratchHome, Transcript};

use super::client::connect;
use super::{Server, session};

const ID: &str = "3601d36f-b6c0-4e4b-9000-7b07e25374f7";

/// A session that says something now.
fn speak(home: &ScratchHome, id: &str, prompt: &str) {
    let folder = home.dir("shop");
    session(home, id, &folder, prompt, "Done.");
}

#[test]
fn a_listener_hears_what_there_is_and_what_happens() {
    let home = ScratchHome::new();
    let server = Server::start(&home, &[]);
    for path in ["/api/events", "/api/v1/events"] {
        let mut stream = server.ask("GET", path).listen();
        stream.until(|heard| heard.name == "sessions-refresh");
        let id = format!("{}601d36f-b6c0-4e4b-9000-7b07e25374f7", path.len() % 10);
        speak(&home, &id, "paint the fence");
        let created =
            stream.until(|heard| heard.name == "session-created" && heard.data["sessionId"] == id.as_str());
        assert_eq!(created.data["key"], format!("claude:{id}"));
        assert!(created.id.is_some(), "{created:?}");
        let changed = stream.until(|heard| heard.name == "sessions-changed");
        assert_eq!(changed.data["source"], "claude_code");
    }
}

#[test]
fn who_comes_back_hears_what_was_missed_or_to_fetch_anew() {
    let home = ScratchHome::new();
    let server = Server::start(&home, &[]);
    let mut stream = server.ask("GET", "/api/events").listen();
    stream.until(|heard| heard.name == "sessions-refresh");
    speak(&home, ID, "paint the fence");
    let first = stream.until(|heard| heard.name == "session-created");
    let later = stream.until(|heard| heard.id.is_some());
    drop(stream);
    let again = |id: &str| server.ask("GET", "/api/events").header("Last-Event-ID", id).listen();
    let heard = again(first.id.as_deref().unwrap()).next().unwrap();
    assert_eq!((heard.id, heard.name), (later.id, later.name));
    for unknown in ["1-1", "x"] {
        let mut stream = again(unknown);
        assert_eq!(stream.next().unwrap().name, "resync");
        assert_eq!(stream.next().unwrap().name, "sessions-refresh");
    }
    // The events of a server that is gone are not those of this one.
    let last = first.id.unwrap();
    server.kill();
    let server = Server::start(&home, &[]);
    let mut stream = server.ask("GET", "/api/events").header("Last-Event-ID", &last).listen();
    assert_eq!(stream.next().unwrap().name, "resync");
}

#[test]
fn five_hundred_listeners_hear_and_those_who_do_not_read_hinder_nobody() {
    let home = ScratchHome::new();
    let server = Server::start(&home, &[]);
    let head = format!(
        "GET /api/events HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\r\n",
        server.address, server.token
    );
    let deaf: Vec<_> = (0..50)
        .map(|_| {
            let mut stream = connect(&server.address);
            stream.write_all(head.as_bytes()).unwrap();
            stream
        })
        .collect();
    let mut streams: Vec<_> = (0..500).map(|_| server.ask("GET", "/api/events").listen()).collect();
    assert!(streams.iter().all(|stream| stream.status == 200));
    speak(&home, ID, "paint the fence");
    for stream in &mut streams {
        let created = stream.until(|heard| heard.name == "session-created");
        assert_eq!(created.data["sessionId"], ID);
    }
    for stream in deaf {
        stream.shutdown(Shutdown::Both).unwrap();
    }
    drop(streams);
    assert_eq!(server.get("/api/health")["status"], "healthy");
}

#[test]
fn no_secret_is_on_the_stream() {
    let home = ScratchHome::new();
    let server = Server::start(&home, &[]);
    let mut stream = server.ask("GET", "/api/events").listen();
    stream.until(|heard| heard.name == "sessions-refresh");
    let secret = format!("gh{}{}", "p_", "Zq7Lm2Xv9Kd4Rt6Wb1Nc8Ys3Hf5Jg0PaQeUi");
    let folder = home.dir("shop");
    // No older than the server: only what is active is on the stream.
    let transcript = Transcript::new(ID).at("2099-01-01T00:00:00Z").cwd(&folder);
    transcript.prompt(&format!("use {secret}")).answer("Done.").write_to(&home);
    let mut all: Vec<Value> = Vec::new();
    loop {
        let heard = stream.next().unwrap();
        let is_last = heard.name == "sessions-refresh" && heard.data["sessions"] != json!([]);
        all.push(heard.data);
        if is_last {
            break;
        }
    }
    let all = Value::from(all).to_string();
    assert!(!all.contains(&secret[4..]), "{all}");
}

//! What each credential opens, and how much of the server its holder may take from others.

use std::io::{BufReader, Write as _};

use serde_json::json;
use testkit::ScratchHome;

use super::client::{Answer, connect};
use super::{Browser, Server, link, token};

fn server() -> (ScratchHome, Server) {
    let home = ScratchHome::new();
    let server = Server::start(&home, &[]);
    (home, server)
}

/// Cookies know no ports: another program of this machine gets a browser's, and nothing else of it.
#[test]
fn a_cookie_alone_opens_nothing() {
    let (home, server) = server();
    let browser = Browser::sign_in(&server);
    let other = token(&home, "other", "admin");
    let signed = |path: &str| server.bare("GET", path).header("Cookie", &browser.cookie);
    for path in ["/api/v1/sessions", "/api/v1/events", "/api/health", "/api/v1/openapi.json", "/api/sessions"]
    {
        assert_eq!(signed(path).send().failed(401), "forbidden", "{path}");
        for key in ["", "x", browser.secret(), &other] {
            assert_eq!(signed(path).header("Backstory-Key", key).send().status, 401, "{path} {key}");
            assert_eq!(signed(&format!("{path}?key={key}")).send().status, 401, "{path} {key}");
        }
        for secret in [browser.secret(), &browser.key] {
            let bearer = server.bare("GET", path).header("Authorization", &format!("Bearer {secret}"));
            assert_eq!(bearer.send().status, 401, "{path}");
            assert_eq!(server.bare("GET", &format!("{path}?token={secret}")).send().status, 401, "{path}");
        }
        assert_eq!(
            server.bare("GET", path).header("Backstory-Key", &browser.key).send().status,
            401,
            "{path}"
        );
        assert_eq!(browser.ask(server.bare("GET", path)).listen().status, 200, "{path}");
    }
    let own = format!("http://{}", server.address);
    let change =
        server.bare("POST", "/api/v1/workers").header("Cookie", &browser.cookie).header("Origin", &own);
    assert_eq!(change.json(&json!({"task": "x"})).send().status, 401);
    // Pages are the same for everybody, and their first request can send nothing else.
    for path in ["/", "/sessions", "/api/v1/docs", "/api/v1/docs/page.js"] {
        assert_eq!(signed(path).send().status, 200, "{path}");
        assert_eq!(server.bare("GET", path).send().status, 401, "{path}");
    }
    assert_eq!(server.bare("POST", "/").header("Cookie", &browser.cookie).send().status, 401);
    // A stream has the key in its address.
    let stream = signed(&format!("/api/v1/events?key={}", browser.key));
    assert_eq!(stream.listen().status, 200);
}

#[test]
fn a_link_lets_a_browser_act_and_administer_only_where_that_was_said() {
    let (home, server) = server();
    let scope = |path: &str| {
        let browser = Browser::of(&server.bare("GET", path).send());
        browser.ask(server.bare("GET", "/api/v1/scope")).send().succeeded()["scope"].clone()
    };
    assert_eq!(scope(&format!("/?token={}", server.link)), "act");
    for (said, expected) in
        [(&[][..], "act"), (&["--scope", "read"], "read"), (&["--scope", "admin"], "admin")]
    {
        assert_eq!(scope(&link(&home, &server, said)), expected);
    }
}

/// Whoever has a token can make its link sign in any number of browsers.
#[test]
fn the_browsers_of_one_token_sign_out_no_other() {
    let (home, server) = server();
    let own = Browser::sign_in(&server);
    let reads = token(&home, "reads", "read");
    let first = Browser::of(&server.bare("GET", &format!("/?token={reads}")).send());
    for _ in 0..40 {
        let _ = Browser::of(&server.bare("GET", &format!("/?token={reads}")).send());
    }
    let scope = |browser: &Browser| browser.ask(server.bare("GET", "/api/v1/scope")).send().status;
    assert_eq!((scope(&own), scope(&first)), (200, 401));
}

#[test]
fn who_opens_too_many_streams_harms_itself_alone() {
    let (home, server) = server();
    let (reads, acts) = (token(&home, "reads", "read"), token(&home, "acts", "act"));
    let listen = |token: &str, path: &str| {
        server.bare("GET", path).header("Authorization", &format!("Bearer {token}")).listen()
    };
    let mut open = Vec::new();
    let refused = loop {
        let path = ["/api/v1/events", "/api/events"][open.len() % 2];
        let stream = listen(&reads, path);
        if stream.status != 200 {
            break stream.status;
        }
        open.push(stream);
    };
    assert_eq!((refused, open.len()), (429, 64));
    // Nor does its browser get more.
    let browser = Browser::of(&server.bare("GET", &format!("/?token={reads}")).send());
    let answer = browser.ask(server.bare("GET", "/api/v1/events")).send();
    assert_eq!(answer.failed(429), "unavailable");
    // What it asks otherwise is answered, and others have their own.
    assert_eq!(browser.ask(server.bare("GET", "/api/v1/scope")).send().status, 200);
    assert_eq!(listen(&acts, "/api/v1/events").status, 200);
    assert_eq!(listen(&server.token, "/api/v1/events").status, 200);
    drop(open);
    // The server sees that they have gone when it sees it.
    while listen(&reads, "/api/v1/events").status != 200 {}
}

#[test]
fn who_keeps_too_many_connections_harms_itself_alone() {
    let (home, server) = server();
    let reads = token(&home, "reads", "read");
    let head = |token: &str| {
        format!(
            "GET /api/v1/scope HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {token}\r\n\r\n",
            server.address
        )
    };
    let ask = |token: &str| {
        let mut kept = BufReader::new(connect(&server.address));
        kept.get_mut().write_all(head(token).as_bytes()).unwrap();
        (Answer::read(&mut kept), kept)
    };
    let mut kept = Vec::new();
    let refused = loop {
        let (answer, connection) = ask(&reads);
        if answer.status != 200 {
            break answer;
        }
        kept.push(connection);
    };
    // One that is silent for 15 seconds ends.
    assert!(refused.status == 429 && kept.len() >= 168, "{} {refused:?}", kept.len());
    assert_eq!(refused.header("connection"), Some("close"));
    assert_eq!(server.bare("GET", "/health").send().status, 200);
    assert_eq!(ask(&server.token).0.status, 200);
    // Those that it has are still answered.
    let last = kept.last_mut().unwrap();
    last.get_mut().write_all(head(&reads).as_bytes()).unwrap();
    assert_eq!(Answer::read(last).status, 200);
}

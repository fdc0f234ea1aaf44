//! What strangers may try: other pages in the person's browser, other users and programs of the machine, and what they can
//! make a browser or a client send.

use std::fs;
use std::io::{BufReader, Read as _, Write as _};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::net::UnixStream;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::json;
use testkit::claude::Run;
use testkit::{PATIENCE, ScratchHome};

use super::client::{Answer, connect};
use super::{Browser, Server, link, revoke, token};

fn server() -> (ScratchHome, Server) {
    let home = ScratchHome::new();
    let server = Server::start(&home, &[]);
    (home, server)
}

#[test]
fn nothing_is_told_without_a_token() {
    let (_home, server) = server();
    for path in ["/", "/api/sessions", "/api/v1/sessions", "/api/events", "/api/v1/openapi.json", "/none"] {
        assert_eq!(server.bare("GET", path).send().failed(401), "forbidden", "{path}");
    }
    for wrong in
        ["Bearer ", "Bearer x", &format!("Bearer {}x", server.token), &format!("Basic {}", server.token)]
    {
        let answer = server.bare("GET", "/api/health").header("Authorization", wrong).send();
        assert_eq!(answer.status, 401, "{wrong}");
    }
    // Only a stream takes a token in its address.
    let query = format!("?token={}", server.token);
    assert_eq!(server.bare("GET", &format!("/api/sessions{query}")).send().status, 401);
    assert_eq!(server.bare("GET", &format!("/api/events{query}")).listen().status, 200);
    assert_eq!(server.bare("GET", "/health").send().succeeded(), json!({"status": "healthy"}));
}

#[test]
fn a_name_that_was_made_to_lead_here_is_no_host_of_ours() {
    let (_home, server) = server();
    let ask = |host: &str| {
        let asking = super::Asking::new(&server.address, "GET", "/api/health").header("Host", host);
        asking.header("Authorization", &format!("Bearer {}", server.token)).send().status
    };
    assert_eq!(ask(&server.address), 200);
    assert_eq!(ask("localhost:1"), 200);
    for host in [
        "localhost:99999",
        "127.0.0.1:65536",
        "localhost:-1",
        "evil.example",
        "127.0.0.1.evil.example:80",
        "localhost.evil.example",
        "192.168.0.1",
        "",
    ] {
        assert_eq!(ask(host), 403, "{host}");
    }
    let twice = server.ask("GET", "/api/health").header("Host", "evil.example").send();
    assert_eq!(twice.status, 400);
    let other = server.ask("GET", "http://evil.example/api/health").send();
    assert_eq!(other.status, 400);
}

#[test]
fn a_page_of_another_origin_reads_nothing() {
    let (_home, server) = server();
    let browser = Browser::sign_in(&server);
    let own = format!("http://{}", server.address);
    let ask = |path: &str, said: &[(&str, &str)]| {
        let asking = browser.ask(server.bare("GET", path));
        said.iter().fold(asking, |asking, (name, value)| asking.header(name, value)).listen().status
    };
    for path in ["/api/events", "/api/health"] {
        assert_eq!(ask(path, &[("Origin", &own), ("Sec-Fetch-Site", "same-origin")]), 200);
        assert_eq!(ask(path, &[]), 200);
        for origin in ["http://evil.example", "http://localhost:9", "null", "https://localhost"] {
            assert_eq!(ask(path, &[("Origin", origin)]), 403, "{path} {origin}");
        }
        for site in ["cross-site", "same-site"] {
            assert_eq!(ask(path, &[("Sec-Fetch-Site", site)]), 403, "{path} {site}");
        }
    }
    let answer = browser.ask(server.bare("GET", "/api/health")).send();
    assert_eq!(answer.header("access-control-allow-origin"), None);
}

#[test]
fn a_page_of_another_origin_changes_nothing() {
    let (home, server) = server();
    let path = link(&home, &server, &["--scope", "admin"]);
    let browser = Browser::of(&server.bare("GET", &path).send());
    let body = json!({"name": "planted", "scope": "admin"});
    let post = || browser.ask(server.bare("POST", "/api/v1/tokens"));
    assert_eq!(post().json(&body).send().failed(403), "forbidden");
    assert_eq!(post().header("Origin", "http://evil.example").json(&body).send().status, 403);
    let own = format!("http://{}", server.address);
    // A form sends these kinds without asking first.
    for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"] {
        assert_eq!(
            post().header("Origin", &own).body(kind, body.to_string()).send().failed(415),
            "usage",
            "{kind}"
        );
    }
    assert_eq!(post().header("Origin", &own).json(&body).send().status, 201);
}

#[test]
fn the_token_of_the_link_is_good_for_the_link_alone() {
    let (_home, server) = server();
    let bearer =
        server.bare("GET", "/api/health").header("Authorization", &format!("Bearer {}", server.link));
    assert_eq!(bearer.send().failed(401), "forbidden");
    assert_eq!(
        server.bare("GET", &format!("/api/events?token={}", server.link)).send().failed(401),
        "forbidden"
    );
    let cookie = format!("backstory={}", server.link);
    assert_eq!(server.bare("GET", "/api/health").header("Cookie", &cookie).send().failed(401), "forbidden");
    // None of this has used it.
    assert!(!Browser::sign_in(&server).secret().is_empty());
}

#[test]
fn the_link_is_good_once_and_no_cookie_is_adopted() {
    let (_home, server) = server();
    let planted =
        server.bare("GET", &format!("/?token={}", server.link)).header("Cookie", "backstory=planted").send();
    let set = planted.header("set-cookie").unwrap();
    assert!(
        set.contains("; HttpOnly; SameSite=Strict")
            && !set.contains("planted")
            && !set.contains(&server.link),
        "{set}"
    );
    let browser = Browser::of(&planted);
    assert_eq!(server.bare("GET", &format!("/?token={}", server.link)).send().status, 401);
    let stolen = server.bare("GET", "/api/health").header("Cookie", "backstory=planted").send();
    assert_eq!(stolen.status, 401);
    // One that somebody planted beside the right one does no harm.
    let both = format!("backstory=planted; {}", browser.cookie);
    let both =
        server.bare("GET", "/api/health").header("Cookie", &both).header("Backstory-Key", &browser.key);
    assert_eq!(both.send().status, 200);
}

#[test]
fn a_token_does_what_its_scope_says_until_it_is_revoked() {
    let (home, server) = server();
    let (reads, acts) = (token(&home, "reads", "read"), token(&home, "acts", "act"));
    let ask = |token: &str, method: &str, path: &str| {
        let asking = server.bare(method, path).header("Authorization", &format!("Bearer {token}"));
        let asking = if method == "POST" { asking.json(&json!({})) } else { asking };
        asking.send().status
    };
    assert_eq!(ask(&reads, "GET", "/api/v1/sessions"), 200);
    assert_eq!(ask(&reads, "POST", "/api/v1/workers"), 403);
    assert_eq!(ask(&reads, "GET", "/api/v1/tokens"), 403);
    for (token, scope) in [(&reads, "read"), (&acts, "act"), (&server.token, "admin")] {
        let own = server.bare("GET", "/api/v1/scope").header("Authorization", &format!("Bearer {token}"));
        assert_eq!(own.send().succeeded(), json!({"scope": scope}));
    }
    assert_eq!(ask(&acts, "POST", "/api/v1/workers"), 400);
    assert_eq!(ask(&acts, "POST", "/api/v1/tokens"), 403);
    let freely = json!({"task": "x", "permission_mode": "bypassPermissions"});
    let answer = server.bare("POST", "/api/v1/workers").header("Authorization", &format!("Bearer {acts}"));
    assert_eq!(answer.json(&freely).send().failed(403), "forbidden");
    revoke(&home, "reads");
    assert_eq!(ask(&reads, "GET", "/api/v1/sessions"), 401);
    assert_eq!(ask(&acts, "GET", "/api/v1/sessions"), 200);
}

#[test]
fn a_job_that_acts_without_asking_is_an_administrators() {
    let (home, server) = server();
    let shop = home.dir("shop");
    let acts = token(&home, "acts", "act");
    for (name, more) in [
        ("asks", json!({})),
        ("edits", json!({"permission_mode": "acceptEdits"})),
        ("allows", json!({"allowed_tools": ["Bash(ls)"]})),
    ] {
        let mut job = json!({"name": name, "at": "2099-01-01T00:00:00Z", "task": "hello", "directory": shop});
        job.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        assert_eq!(server.ask("POST", "/api/v1/cron/jobs").json(&job).send().status, 201, "{job}");
    }
    let ask = |method: &str, path: &str| {
        let asking = server.bare(method, path).header("Authorization", &format!("Bearer {acts}"));
        asking.json(&json!({})).send()
    };
    let switched = |job: &str, way: &str| format!("/api/v1/cron/jobs/{job}/{way}");
    for job in ["edits", "allows"] {
        for (method, path) in [
            ("POST", switched(job, "run")),
            ("POST", switched(job, "enable")),
            ("POST", format!("/api/cron/jobs/{job}/run")),
            ("POST", format!("/api/cron/jobs/{job}/enable")),
            ("PATCH", format!("/api/cron/jobs/{job}")),
        ] {
            assert_eq!(ask(method, &path).failed(403), "forbidden", "{method} {path}");
        }
        // To stop it needs no more than to stop a worker.
        assert_eq!(ask("POST", &switched(job, "disable")).status, 200);
    }
    assert_eq!(ask("POST", &switched("asks", "enable")).status, 200);
    assert_eq!(ask("PATCH", "/api/cron/jobs/asks").status, 200);
    let runs = server.get("/api/v1/cron/history")["runs"].clone();
    assert_eq!(runs, json!([]));
}

#[test]
fn tokens_are_kept_as_digests_in_a_private_file() {
    let (home, server) = server();
    let named = token(&home, "phone", "read");
    let browser = Browser::sign_in(&server);
    let file = home.state_dir().join("serve/tokens.json");
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(file.parent().unwrap().metadata().unwrap().permissions().mode() & 0o777, 0o700);
    let kept = String::from_utf8(testkit::files::bytes(&file)).unwrap();
    for secret in [&*named, browser.secret(), &browser.key, &server.link] {
        assert!(!kept.contains(secret), "{kept}");
    }
}

#[test]
fn a_used_link_leads_only_a_browser_that_is_signed_in_to_the_page() {
    let (_home, server) = server();
    let browser = Browser::sign_in(&server);
    let again = || server.bare("GET", &format!("/?token={}", server.link));
    assert_eq!(again().send().status, 401);
    assert_eq!(again().header("Cookie", "backstory=x").send().status, 401);
    let answer = again().header("Cookie", &browser.cookie).send();
    assert_eq!((answer.status, answer.header("location")), (303, Some("/")));
    assert_eq!(answer.header("set-cookie"), None);
}

#[test]
fn no_token_is_in_the_log() {
    let home = ScratchHome::new();
    let server = Server::start(&home, &["--log"]);
    let (link, token) = (server.link.clone(), server.token.clone());
    assert_eq!(server.bare("GET", &format!("/api/events?token={token}")).listen().status, 200);
    let browser = Browser::sign_in(&server);
    let _ = browser.ask(server.bare("GET", "/api/health")).send();
    let in_address = server.bare("GET", &format!("/api/events?key={}", browser.key));
    assert_eq!(in_address.header("Cookie", &browser.cookie).listen().status, 200);
    let (_, log) = server.stop();
    assert!(log.contains("GET /api/events 200") && log.contains("GET / 303"), "{log}");
    assert!(
        [&*link, &token, browser.secret(), &browser.key, "token="].iter().all(|secret| !log.contains(secret)),
        "{log}"
    );
}

#[test]
fn an_id_is_never_a_path() {
    let (home, server) = server();
    home.write(".claude/secret.jsonl", "{}");
    for id in [
        "..%2Fsecret",
        "%2e%2e%2fsecret",
        "..",
        "a%00b",
        "agent-x",
        "-x",
        "%FF",
        &"a".repeat(300),
        "a%0d%0ab",
    ] {
        for path in [format!("/api/v1/sessions/{id}"), format!("/api/v1/sessions/{id}/messages")] {
            let answer = server.ask("GET", &path).send();
            assert!(matches!(answer.status, 400 | 404), "{path}: {answer:?}");
            assert!(!answer.body.contains("root:"), "{answer:?}");
        }
    }
}

#[test]
fn bodies_are_small_plain_and_of_one_length() {
    let (_home, server) = server();
    let large = json!({"query": "x".repeat(1 << 20)});
    assert_eq!(server.ask("POST", "/api/v1/search").json(&large).send().status, 413);
    let packed = server.ask("POST", "/api/v1/search").header("Content-Encoding", "gzip").json(&json!({}));
    assert_eq!(packed.send().failed(415), "usage");
    let broken = server.ask("POST", "/api/v1/search").body("application/json", "{").send();
    assert_eq!(broken.failed(400), "usage");
    let deep = server.ask("POST", "/api/v1/search").body("application/json", "[".repeat(100_000)).send();
    assert_eq!(deep.failed(400), "usage");
}

#[test]
fn no_request_hides_in_another() {
    let (_home, server) = server();
    let hidden = format!(
        "GET /api/v1/tokens HTTP/1.1\r\nHost: {0}\r\nAuthorization: Bearer {1}\r\n\r\n",
        server.address, server.token
    );
    let both = format!(
        "POST /api/v1/search HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\n\
         Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n{hidden}",
        server.address, server.token
    );
    let two_codings = both.replace("Content-Length: 4\r\n", "").replace("chunked", "gzip, chunked");
    let two_lengths = format!(
        "POST /api/v1/search HTTP/1.1\r\nHost: {}\r\nContent-Length: 0\r\nContent-Length: {}\r\n\r\n{hidden}",
        server.address,
        hidden.len()
    );
    let folded = format!("GET /health HTTP/1.1\r\nHost: {}\r\nX: a\r\n b\r\n\r\n", server.address);
    let bare_ends = format!("GET /health HTTP/1.1\rHost: {}\r\r", server.address);
    for text in [both, two_codings, two_lengths, folded, bare_ends] {
        let mut stream = connect(&server.address);
        stream.write_all(text.as_bytes()).unwrap();
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let mut reader = BufReader::new(stream);
        let first = Answer::read(&mut reader);
        assert_eq!(first.status, 400, "{text}\n{first:?}");
        assert_eq!(first.header("connection"), Some("close"), "{text}\n{first:?}");
        let mut rest = String::new();
        let _ = reader.read_to_string(&mut rest);
        assert_eq!(rest, "", "{text}");
    }
}

#[test]
fn a_body_that_is_too_large_is_not_asked_for() {
    let (_home, server) = server();
    let mut stream = connect(&server.address);
    let head = format!(
        "POST /api/v1/search HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\n\
         Content-Length: 1048577\r\nExpect: 100-continue\r\n\r\n",
        server.address, server.token
    );
    stream.write_all(head.as_bytes()).unwrap();
    let first = Answer::read(&mut BufReader::new(stream));
    assert_eq!(first.status, 413, "{first:?}");
}

#[test]
fn who_has_no_token_takes_no_place_from_who_has_one() {
    /// More than the server has places.
    const STRANGERS: usize = 1000;
    let home = ScratchHome::new();
    let path = home.path().join("serve.sock");
    let server = Server::start(&home, &["--unix", path.to_str().unwrap()]);
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }).unwrap();
    let head = |path: &str, credential: &str| {
        format!("GET {path} HTTP/1.1\r\nHost: {}\r\n{credential}\r\n", server.address)
    };
    let open = head("/health", "");
    let own = head("/api/health", &format!("Authorization: Bearer {}\r\n", server.token));

    let mut kept = BufReader::new(connect(&server.address));
    let mut ask_kept = || {
        kept.get_mut().write_all(own.as_bytes()).unwrap();
        Answer::read(&mut kept).status
    };
    assert_eq!(ask_kept(), 200);
    // What needs no token is answered, and keeps no connection.
    let mut polling = BufReader::new(connect(&server.address));
    polling.get_mut().write_all(open.repeat(2).as_bytes()).unwrap();
    let answer = Answer::read(&mut polling);
    assert_eq!((answer.status, answer.header("connection")), (200, Some("close")));
    assert_eq!(Answer::read(&mut polling).status, 0);

    let strangers: Vec<_> = (0..STRANGERS).map(|_| connect(&server.address)).collect();
    let beside: Vec<_> = (0..100).map(|_| UnixStream::connect(&path).unwrap()).collect();
    let tcp = connect(&server.address);
    (&tcp).write_all(own.as_bytes()).unwrap();
    assert_eq!(Answer::read(&mut BufReader::new(tcp)).status, 200);
    let unix = UnixStream::connect(&path).unwrap();
    unix.set_read_timeout(Some(PATIENCE)).unwrap();
    (&unix).write_all(own.as_bytes()).unwrap();
    assert_eq!(Answer::read(&mut BufReader::new(unix)).status, 200);
    assert_eq!(ask_kept(), 200);
    drop((strangers, beside));
}

#[test]
fn every_answer_is_closed_to_frames_scripts_and_sniffing() {
    let (_home, server) = server();
    let answers = [
        server.bare("GET", "/health").send(),
        server.bare("GET", "/api/sessions").send(),
        server.ask("GET", "/api/v1/none").send(),
        server.ask("DELETE", "/api/v1/sessions").send(),
        server.ask("GET", "/").send(),
    ];
    assert_eq!(answers.each_ref().map(|answer| answer.status), [200, 401, 404, 405, 200]);
    for answer in answers {
        let policy = answer.header("content-security-policy").unwrap();
        assert!(
            policy.contains("default-src 'self'") && policy.contains("frame-ancestors 'none'"),
            "{policy}"
        );
        assert!(!policy.contains("unsafe"), "{policy}");
        for (name, value) in [
            ("x-content-type-options", "nosniff"),
            ("x-frame-options", "DENY"),
            ("referrer-policy", "no-referrer"),
        ] {
            assert_eq!(answer.header(name), Some(value), "{answer:?}");
        }
    }
}

#[test]
fn a_front_end_is_served_and_nothing_beside_it() {
    let home = ScratchHome::new();
    home.write("dist/index.html", "<script>start()</script><p>page");
    home.write("dist/assets/a.js", "1");
    home.write("dist/our pictures/Zürich.txt", "lake");
    home.write("secret.txt", "secret");
    symlink(home.path().join("secret.txt"), home.path().join("dist/out.txt")).unwrap();
    let server = Server::start(&home, &["--front", "dist"]);
    assert_eq!(server.bare("GET", "/").send().status, 401);
    let page = server.ask("GET", "/rooms/7").send();
    assert!(page.body.ends_with("page") && page.header("content-type") == Some("text/html; charset=utf-8"));
    assert!(page.header("content-security-policy").unwrap().contains("'sha256-"), "{page:?}");
    assert_eq!(server.ask("GET", "/assets/a.js").send().body, "1");
    assert_eq!(server.ask("GET", "/our%20pictures/Z%C3%BCrich.txt").send().body, "lake");
    for path in [
        "/out.txt",
        "/../secret.txt",
        "/%2e%2e/secret.txt",
        "/..%2fsecret.txt",
        "/assets%2f..%2f..%2fsecret.txt",
        "/assets/%2e%2e/%2e%2e/secret.txt",
        "/our%20pictures/Z%C3.txt",
        "/a.js%",
        "/a%+1.js",
        "/%00.txt",
        "//etc/passwd",
        "/assets/../../secret.txt",
    ] {
        let answer = server.ask("GET", path).send();
        assert!(
            !answer.body.contains("secret\n") && answer.body != "secret" && !answer.body.contains("root:"),
            "{path} {answer:?}"
        );
    }
    assert_eq!(server.ask("GET", "/api/none").send().failed(404), "not_found");
    // Browsers ask for it by themselves: a front end without one has no missing file.
    let icon = || server.ask("GET", "/favicon.ico").send();
    assert_eq!((icon().status, icon().body.as_str()), (204, ""));
    home.write("dist/favicon.ico", "icon");
    assert_eq!((icon().status, icon().header("content-type")), (200, Some("image/x-icon")));
    let missing = fs::metadata(home.path().join("none")).is_err();
    assert!(missing);
    let mut refused = home.command(env!("CARGO_BIN_EXE_backstory"));
    refused.args(["serve", "--port", "0", "--front", "none"]);
    drop(server);
    assert_ne!(Run::of(refused).code, Some(0));
}

#[test]
fn only_repositories_of_sessions_are_looked_at() {
    let (home, server) = server();
    let shop = home.repository("shop");
    let folder = home.dir("shop/src");
    super::session(&home, "3601d36f-b6c0-4e4b-9000-7b07e25374f7", shop.path(), "paint", "Done.");
    let other = home.repository("other");
    let file = home.write("other/secret", "x");
    let reads = token(&home, "reads", "read");
    let ask = |method: &str, path: &str| {
        server.bare(method, path).header("Authorization", &format!("Bearer {reads}"))
    };
    let status = |repo: &str| ask("GET", &format!("/api/v1/status?repo={repo}")).send();
    for known in ["shop".to_owned(), shop.path().display().to_string(), folder.display().to_string()] {
        assert!(status(&known).succeeded()["sessions"].is_object(), "{known}");
    }
    let none = home.path().join("none");
    let up = shop.path().join("../other");
    for path in [other.path(), home.path(), &file, &none, &up, "/etc".as_ref(), "/".as_ref()] {
        let path = path.display().to_string();
        let refused = status(&path);
        assert_eq!(refused.status, 404, "{path}");
        // It is the same whether it is there or not.
        let detail = format!("no directory or project is named `{path}`");
        assert_eq!(refused.to_json()["detail"], detail);
        let picked = ask("POST", "/api/v1/pick").json(&json!({"task": "paint", "repo": path})).send();
        assert_eq!((picked.status, &picked.to_json()["detail"]), (404, &json!(detail)));
    }
    // Who may start a worker there may look there.
    let acts = token(&home, "acts", "act");
    let looked = server.bare("GET", &format!("/api/v1/status?repo={}", other.path().display()));
    looked.header("Authorization", &format!("Bearer {acts}")).send().succeeded();
}

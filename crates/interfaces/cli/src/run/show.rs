//! Prints the events of a worker as text.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use app::workers::{Event, TurnResult, WorkerState};
use model::SessionId;
use serde_json::Value;

use crate::text::{counted, dollars, fit, safe, safe_lines};
use crate::wrap::Wrap;

/// Prints events as text.
pub(crate) struct Show {
    width: usize,
    /// Streamed text whose line is not complete yet.
    open: String,
    /// Wraps words as they come, where a person is watching.
    words: Option<Wrap>,
    /// Whether words are held back while the person is asked something; and those words.
    holds: bool,
    held: String,
    /// Whether pieces of the current text have been streamed.
    is_streamed: bool,
    /// The session that was printed last.
    session: Option<SessionId>,
    /// The model's last text, which is not repeated as the reason of a failure.
    last: String,
    /// Whether the last turn was printed as failed.
    failed: bool,
}

impl Show {
    /// Prints lines of at most `width` cells, except for what the model says.
    pub(crate) fn new(width: usize) -> Self {
        let (open, last) = (String::new(), String::new());
        Self {
            width,
            open,
            words: None,
            holds: false,
            held: String::new(),
            is_streamed: false,
            session: None,
            last,
            failed: false,
        }
    }

    /// Prints what the model says word by word.
    pub(crate) fn word_by_word(self) -> Self {
        Self { words: Some(Wrap::new(self.width)), ..self }
    }

    /// Holds words back while a question is open, which would otherwise be repeated below each of them.
    pub(crate) fn hold(&mut self, is_asked: bool) {
        self.holds = is_asked;
    }

    /// Whether the last line is not complete.
    pub(crate) fn is_open(&self) -> bool {
        self.words.as_ref().is_some_and(Wrap::is_open)
    }

    /// Prints an event.
    pub(crate) fn event(&mut self, out: &mut impl Write, event: &Event) -> io::Result<()> {
        match event {
            Event::Delta { text } if let Some(wrap) = &mut self.words => {
                self.is_streamed = true;
                self.held += &wrap.add(&safe_lines(text));
                if self.holds {
                    return Ok(());
                }
                write!(out, "{}", std::mem::take(&mut self.held))
            }
            Event::Text { agent: None, streamed: true, text } if let Some(wrap) = &mut self.words => {
                self.last.clone_from(text);
                if !std::mem::take(&mut self.is_streamed) {
                    // Its pieces were missed.
                    return self.whole(out, event);
                }
                wrap.add("\n");
                writeln!(out, "{}", std::mem::take(&mut self.held))
            }
            // A pipe gets whole lines.
            Event::Delta { text } => {
                self.open += text;
                let Some(end) = self.open.rfind('\n') else { return Ok(()) };
                let rest = self.open.split_off(end + 1);
                let text = std::mem::replace(&mut self.open, rest);
                write!(out, "{}", safe_lines(&text))
            }
            Event::Text { agent: None, streamed: true, text } => {
                self.last.clone_from(text);
                let text = std::mem::take(&mut self.open);
                write!(out, "{}", safe_lines(&text))?;
                writeln!(out)
            }
            other => {
                let mut lines = Vec::new();
                self.whole(&mut lines, other)?;
                if !lines.is_empty() && self.is_open() && self.held.is_empty() {
                    // Other output goes below the words that have come so far.
                    lines.insert(0, b'\n');
                    self.words.iter_mut().for_each(|wrap| drop(wrap.add("\n")));
                }
                out.write_all(&lines)
            }
        }
    }

    fn whole(&mut self, out: &mut impl Write, event: &Event) -> io::Result<()> {
        let (dim, red) = (Style::new().dimmed(), AnsiColor::Red.on_default());
        let width = self.width;
        let mut note = |text: &str| writeln!(out, "{dim}{}{dim:#}", fit(&safe(text), width));
        match event {
            Event::Queued { behind } => {
                let behind = behind.map_or_else(String::new, |behind| format!(" behind worker {behind}"));
                note(&format!("waiting for its directory{behind}"))
            }
            Event::Started(started) => {
                if self.session.replace(started.session_id.clone()).as_ref() == Some(&started.session_id) {
                    return Ok(());
                }
                let model = started.model.as_deref().unwrap_or("?");
                note(&format!("session {} · {model}", started.session_id))?;
                if started.permission_mode.as_deref() == Some("bypassPermissions") {
                    writeln!(out, "{red}it uses every tool without asking (bypassPermissions){red:#}")?;
                }
                Ok(())
            }
            Event::Text { text, agent: None, .. } => {
                self.last.clone_from(text);
                writeln!(out, "{}", safe_lines(text).trim_end())
            }
            Event::Text { text, agent: Some(_), .. } => note(&format!("  │ {text}")),
            Event::Tool { name, input, agent, .. } => {
                let bar = if agent.is_some() { "  │ " } else { "" };
                note(format!("{bar}→ {name} {}", brief(name, input)).trim_end())
            }
            Event::ToolResult { text, is_error: true, .. } => {
                writeln!(out, "{red}  {}{red:#}", fit(&safe(text), width.saturating_sub(2)))
            }
            Event::TaskStarted { description, kind, .. } if kind == "local_agent" => {
                note(&format!("  ┌ sub-agent: {description}"))
            }
            Event::TaskEnded { outcome, summary, .. } if outcome != "completed" => {
                note(&format!("  └ {outcome}: {summary}"))
            }
            Event::Retry { attempt, of, delay_ms, error } => note(&format!(
                "the model cannot be reached ({error}); attempt {attempt} of {of} in {delay_ms} ms"
            )),
            Event::Refused { tool, message } => note(&format!("{tool} was not allowed: {message}")),
            Event::Note { text } => note(text),
            Event::Announced(announcement) => {
                let bold = Style::new().bold();
                writeln!(out, "{bold}announced:{bold:#} {}", safe_lines(&announcement.message))
            }
            Event::Missed { count } => note(&format!("… {count} events were missed")),
            Event::Withdrawn { .. } => note("the question no longer needs an answer"),
            Event::Result(result) => {
                self.failed = result.is_error;
                note(&summary(result))
            }
            // Both were printed before.
            Event::Ended { state: WorkerState::Failed { message, .. } }
                if self.failed && message.trim() == self.last.trim() =>
            {
                Ok(())
            }
            Event::Ended { state } => ended(out, state),
            Event::State(_)
            | Event::Accepted { .. }
            | Event::Delta { .. }
            | Event::Thinking { .. }
            | Event::ToolResult { .. }
            | Event::TaskStarted { .. }
            | Event::TaskEnded { .. }
            | Event::Asked(_)
            | Event::Answered { .. } => Ok(()),
        }
    }
}

/// The most telling part of a tool's input.
fn brief(name: &str, input: &Value) -> String {
    const TELLING: [&str; 7] = ["command", "file_path", "pattern", "url", "query", "description", "prompt"];
    if matches!(name, "AskUserQuestion" | "ExitPlanMode") {
        // The question is shown where it is answered.
        return String::new();
    }
    let word = TELLING.iter().find_map(|name| input[name].as_str());
    word.map_or_else(
        || if input == &serde_json::json!({}) { String::new() } else { input.to_string() },
        str::to_owned,
    )
}

fn summary(result: &TurnResult) -> String {
    let denied = match result.denied.len() {
        0 => String::new(),
        count => format!(" · {count} denied"),
    };
    let how = match result.terminal_reason.as_deref() {
        Some(reason) if reason.starts_with("aborted") => "interrupted · ",
        _ if result.is_error => "failed · ",
        _ => "",
    };
    let seconds = result.duration_ms as f64 / 1000.0;
    let calls = counted(result.turns, "call");
    format!("{how}{} · {calls} · {seconds:.1} s{denied}", dollars(result.cost_usd))
}

fn ended(out: &mut impl Write, state: &WorkerState) -> io::Result<()> {
    let red = AnsiColor::Red.on_default();
    match state {
        WorkerState::Failed { message, .. } => writeln!(out, "{red}failed{red:#}: {}", safe_lines(message)),
        WorkerState::Stopped => writeln!(out, "stopped"),
        WorkerState::Lost { .. } => writeln!(out, "{red}lost{red:#}"),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The output for events, without colours.
    fn shown(events: &[Event]) -> String {
        let mut out = Vec::new();
        let mut show = Show::new(60);
        for event in events {
            show.event(&mut out, event).unwrap();
        }
        anstream::adapter::strip_bytes(&out).into_vec().try_into().unwrap()
    }

    fn read(text: &str) -> Event {
        serde_json::from_str(text).unwrap()
    }

    fn text(words: &str) -> Event {
        Event::Text { text: words.to_owned(), agent: None, streamed: false }
    }

    fn failed(message: &str) -> Event {
        let state = format!(r#"{{"status":"failed","why":"api","message":"{message}"}}"#);
        Event::Ended { state: serde_json::from_str(&state).unwrap() }
    }

    #[test]
    fn an_end_says_what_was_not_said_before() {
        let check = |events: &[Event], expected: &str| assert_eq!(shown(events), expected);
        let result = |is_error| Event::Result(TurnResult { is_error, turns: 1, ..TurnResult::default() });
        let said = [text("API Error: 529"), result(true), failed("API Error: 529")];
        check(&said, "API Error: 529\nfailed · $0.00 · 1 call · 0.0 s\n");
        let other = [text("Hello."), result(false), failed("the budget is used up")];
        check(&other, "Hello.\n$0.00 · 1 call · 0.0 s\nfailed: the budget is used up\n");
        check(&[text("Hello."), failed("Hello.")], "Hello.\nfailed: Hello.\n");
        check(&[Event::Ended { state: WorkerState::Stopped }], "stopped\n");
    }

    #[test]
    fn other_events_are_printed_below_the_words_so_far() {
        let mut show = Show::new(60).word_by_word();
        let delta = |text: &str| Event::Delta { text: text.to_owned() };
        let whole = |text: &str| Event::Text { text: text.to_owned(), agent: None, streamed: true };
        let note = || Event::Note { text: "compacts".to_owned() };
        let mut said = |is_asked: bool, event: Event| -> String {
            let mut out = Vec::new();
            show.hold(is_asked);
            show.event(&mut out, &event).unwrap();
            anstream::adapter::strip_bytes(&out).into_vec().try_into().unwrap()
        };
        // The space after a word comes with the next one.
        assert_eq!(said(false, delta("One two ")), "One two");
        assert_eq!(said(false, note()), "\ncompacts\n");
        assert_eq!(said(false, delta("three four ")), "three four");
        // While a question is shown below, nothing is printed in between.
        assert_eq!(said(true, delta("five ")), "");
        assert_eq!(said(false, delta("six ")), " five six");
        assert_eq!(said(true, delta("seven")), "");
        assert_eq!(said(true, whole("One two three four five six seven")), " seven\n");
        assert_eq!(said(false, whole("Its pieces were missed")), "Its pieces were missed\n");
    }

    #[test]
    fn a_session_is_told_once() {
        let started = |id: &str| {
            let more = r#""model":"m","version":null,"permission_mode":null,"cwd":null"#;
            read(&format!(r#"{{"event":"started","session_id":"{id}",{more}}}"#))
        };
        let all = [started("a1"), started("a1"), started("b2")];
        assert_eq!(shown(&all), "session a1 · m\nsession b2 · m\n");
    }

    #[test]
    fn a_turn_that_was_interrupted_did_not_fail() {
        let check = |reason: Option<&str>, is_error: bool, expected: &str| {
            let terminal_reason = reason.map(str::to_owned);
            let result = TurnResult { terminal_reason, is_error, turns: 1, ..TurnResult::default() };
            assert_eq!(shown(&[Event::Result(result)]), format!("{expected}$0.00 · 1 call · 0.0 s\n"));
        };
        check(Some("aborted_streaming"), true, "interrupted · ");
        check(Some("api_error"), true, "failed · ");
        check(None, true, "failed · ");
        check(Some("completed"), false, "");
    }

    #[test]
    fn questions_and_plans_are_shown_where_they_are_answered() {
        let tool = |name: &str, input: &str| {
            read(&format!(r#"{{"event":"tool","id":"t","name":"{name}","agent":null,"input":{input}}}"#))
        };
        assert_eq!(shown(&[tool("AskUserQuestion", r#"{"questions":[]}"#)]), "→ AskUserQuestion\n");
        assert_eq!(shown(&[tool("Bash", r#"{"command":"ls"}"#)]), "→ Bash ls\n");
    }
}

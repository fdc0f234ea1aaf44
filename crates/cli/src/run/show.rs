//! What a worker says and does, as lines for people.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use app::workers::{Event, TurnResult, WorkerState};
use serde_json::Value;

use crate::text::{dollars, fit, safe, safe_lines};

/// Writes events for people.
pub(crate) struct Show {
    width: usize,
    /// What was streamed and has no end of its line yet.
    open: String,
}

impl Show {
    /// Lines of at most `width` cells, but for what the model says.
    pub(crate) fn new(width: usize) -> Self {
        Self { width, open: String::new() }
    }

    /// Writes what an event is to a person; `told` makes of a text what may leave.
    pub(crate) fn event(
        &mut self,
        out: &mut impl Write,
        event: &Event,
        told: impl Fn(&Event) -> Event,
    ) -> io::Result<()> {
        match event {
            // A line leaves when it is whole: a secret is not known by half of it.
            Event::Delta { text } => {
                self.open += text;
                let Some(end) = self.open.rfind('\n') else { return Ok(()) };
                let rest = self.open.split_off(end + 1);
                let text = std::mem::replace(&mut self.open, rest);
                said(out, &told(&Event::Delta { text }))
            }
            Event::Text { agent: None, streamed: true, .. } => {
                let text = std::mem::take(&mut self.open);
                said(out, &told(&Event::Delta { text }))?;
                writeln!(out)
            }
            other => self.whole(out, &told(other)),
        }
    }

    fn whole(&mut self, out: &mut impl Write, event: &Event) -> io::Result<()> {
        let (dim, red) = (Style::new().dimmed(), AnsiColor::Red.on_default());
        let mut note = |text: &str| writeln!(out, "{dim}{}{dim:#}", fit(&safe(text), self.width));
        match event {
            Event::Queued { behind } => {
                let behind = behind.map_or_else(String::new, |behind| format!(" behind worker {behind}"));
                note(&format!("waits for its directory{behind}"))
            }
            Event::Started(started) => {
                let model = started.model.as_deref().unwrap_or("?");
                note(&format!("session {} · {model}", started.session_id))?;
                if started.permission_mode.as_deref() == Some("bypassPermissions") {
                    writeln!(out, "{red}it does everything without asking (bypassPermissions){red:#}")?;
                }
                Ok(())
            }
            Event::Text { text, agent: None, .. } => writeln!(out, "{}", safe_lines(text).trim_end()),
            Event::Text { text, agent: Some(_), .. } => note(&format!("  │ {text}")),
            Event::Tool { name, input, agent, .. } => {
                let bar = if agent.is_some() { "  │ " } else { "" };
                note(&format!("{bar}→ {name} {}", brief(input)))
            }
            Event::ToolResult { text, is_error: true, .. } => {
                writeln!(out, "{red}  {}{red:#}", fit(&safe(text), self.width.saturating_sub(2)))
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
            Event::Missed { count } => note(&format!("… {count} events were missed")),
            Event::Withdrawn { .. } => note("the question needs no answer any more"),
            Event::Result(result) => note(&summary(result)),
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

fn said(out: &mut impl Write, event: &Event) -> io::Result<()> {
    match event {
        Event::Delta { text } => write!(out, "{}", safe_lines(text)),
        _ => Ok(()),
    }
}

/// What a tool is called with, in a few words.
fn brief(input: &Value) -> String {
    const TELLING: [&str; 7] = ["command", "file_path", "pattern", "url", "query", "description", "prompt"];
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
    let how = if result.is_error { "failed · " } else { "" };
    let seconds = result.duration_ms as f64 / 1000.0;
    let calls = if result.turns == 1 { "1 call".to_owned() } else { format!("{} calls", result.turns) };
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

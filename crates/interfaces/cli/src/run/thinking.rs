//! The waiting line: says what the worker is doing and for how long, above the line that is typed on, while no event
//! comes.

use std::io::{self, Write as _};
use std::time::{Duration, Instant};

use anstyle::Style;
use app::workers::{Event, WorkerState};

use crate::text::{fit, safe};

/// How long no event may come before the line is shown.
const QUIET: Duration = Duration::from_secs(2);
/// The longest name of a tool that is shown, in cells.
const NAME: usize = 40;

/// The waiting line.
#[derive(Debug, Default)]
pub(crate) struct Thinking {
    /// Whether a turn is running and no question is open.
    is_working: bool,
    /// The id and name of the tool that was called last and has not answered.
    tool: Option<(String, String)>,
    /// When the last event came.
    since: Option<Instant>,
    /// Whether the line is on the screen.
    is_shown: bool,
}

impl Thinking {
    /// Takes an event into account.
    pub(crate) fn update(&mut self, event: &Event) {
        match event {
            Event::State(state) => self.is_working = matches!(state, WorkerState::Running),
            Event::Tool { id, name, agent: None, .. } => self.tool = Some((id.clone(), name.clone())),
            Event::ToolResult { id, .. } if self.tool.as_ref().is_some_and(|(open, _)| open == id) => {
                self.tool = None;
            }
            Event::Accepted { .. } | Event::Delta { .. } | Event::Text { agent: None, .. } => {}
            _ => return,
        }
        self.since = Some(Instant::now());
    }

    /// Draws the line if it has been quiet for long; `\x1b7` and `\x1b8` save and restore the cursor of the typed line.
    pub(crate) fn tick(&mut self) -> io::Result<()> {
        let Some(since) = self.since.filter(|since| self.is_working && since.elapsed() >= QUIET) else {
            return Ok(());
        };
        let what = self.tool.as_ref().map_or("thinking", |(_, name)| name.as_str());
        let (dim, what) = (Style::new().dimmed(), fit(&safe(what), NAME));
        let line = format!("{dim}{what}… {} s{dim:#}", since.elapsed().as_secs());
        let mut out = io::stderr().lock();
        if self.is_shown {
            write!(out, "\x1b7\x1b[1A\r\x1b[K{line}\x1b8")?;
        } else {
            writeln!(out, "{line}")?;
        }
        self.is_shown = true;
        out.flush()
    }

    /// Leaves the line on the screen, because another line follows it.
    pub(crate) fn leave(&mut self) {
        self.is_shown = false;
    }

    /// Clears the line before other output.
    pub(crate) fn clear(&mut self) -> io::Result<()> {
        if !std::mem::take(&mut self.is_shown) {
            return Ok(());
        }
        let mut out = io::stderr().lock();
        write!(out, "\x1b[1A\r\x1b[J")?;
        out.flush()
    }
}

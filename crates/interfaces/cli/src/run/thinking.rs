//! A sign of life while nothing comes: one line above the one that is typed on, which says what is waited for and for
//! how long.

use std::io::{self, Write as _};
use std::time::{Duration, Instant};

use anstyle::Style;
use app::workers::{Event, WorkerState};

use crate::text::{fit, safe};

/// How long nothing may come without a word.
const QUIET: Duration = Duration::from_secs(2);
/// The longest name of a tool that is shown, in cells.
const NAME: usize = 40;

/// What is waited for.
#[derive(Debug, Default)]
pub(crate) struct Thinking {
    /// Whether a turn runs and nobody is asked.
    works: bool,
    /// The tool that was called last and has not answered.
    tool: Option<(String, String)>,
    /// Since when the same is waited for.
    since: Option<Instant>,
    /// Whether the line stands there.
    is_shown: bool,
}

impl Thinking {
    /// Takes in what happened.
    pub(crate) fn hear(&mut self, event: &Event) {
        match event {
            Event::State(state) => self.works = matches!(state, WorkerState::Running),
            Event::Tool { id, name, agent: None, .. } => self.tool = Some((id.clone(), name.clone())),
            Event::ToolResult { id, .. } if self.tool.as_ref().is_some_and(|(open, _)| open == id) => {
                self.tool = None;
            }
            Event::Accepted { .. } | Event::Delta { .. } | Event::Text { agent: None, .. } => {}
            _ => return,
        }
        self.since = Some(Instant::now());
    }

    /// Shows how long it has been, where that is long; `\x1b7` and `\x1b8` keep what is typed below where it is.
    pub(crate) fn tick(&mut self) -> io::Result<()> {
        let Some(since) = self.since.filter(|since| self.works && since.elapsed() >= QUIET) else {
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

    /// The line stays where it is: another one stands below it now.
    pub(crate) fn leave(&mut self) {
        self.is_shown = false;
    }

    /// Takes the line away, for something comes.
    pub(crate) fn clear(&mut self) -> io::Result<()> {
        if !std::mem::take(&mut self.is_shown) {
            return Ok(());
        }
        let mut out = io::stderr().lock();
        write!(out, "\x1b[1A\r\x1b[J")?;
        out.flush()
    }
}

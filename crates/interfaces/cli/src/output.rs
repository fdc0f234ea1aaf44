//! Standard output: written directly, or through a pager when it is longer than the terminal.

use std::io::{self, IsTerminal as _, Write};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use anstream::{AutoStream, ColorChoice};

/// The width of output that does not go to a terminal, in cells.
const WIDTH: usize = 120;

/// Where a command writes.
///
/// On a terminal, what fits on one screen is printed; once it is longer, a pager gets it all.
pub(crate) struct Output {
    sink: Sink,
    colour: ColorChoice,
    width: usize,
}

enum Sink {
    Direct(Box<dyn Write>),
    /// Held back until it is known to be long.
    Held {
        bytes: Vec<u8>,
        lines: usize,
        height: usize,
        pager: String,
    },
    Pager(Child),
}

impl Output {
    /// Standard output without a pager.
    pub(crate) fn plain() -> Self {
        let colour = AutoStream::choice(&io::stdout());
        let sink = Sink::Direct(Box::new(io::BufWriter::new(io::stdout().lock())));
        Self { sink, colour, width: terminal().map_or(WIDTH, |size| size.width) }
    }

    /// Standard output through a pager, if it goes to a terminal and is longer than that.
    pub(crate) fn paged(pager: Option<String>) -> Self {
        let mut output = Self::plain();
        if let (Some(pager), Some(size)) = (pager, terminal()) {
            output.sink = Sink::Held { bytes: Vec::new(), lines: 0, height: size.height, pager };
        }
        output
    }

    /// The width of a line, in cells.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// Whether colours and styles are printed.
    pub(crate) fn is_coloured(&self) -> bool {
        self.colour != ColorChoice::Never
    }

    /// Flushes what was printed so far, for output that continues.
    pub(crate) fn flush_now(&mut self) -> io::Result<()> {
        match &mut self.sink {
            Sink::Direct(out) => out.flush(),
            Sink::Held { .. } | Sink::Pager(_) => Ok(()),
        }
    }

    /// Writes what is still held back and waits for the pager.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        match &mut self.sink {
            Sink::Direct(out) => out.flush(),
            Sink::Held { bytes, .. } => {
                let mut out = io::stdout().lock();
                out.write_all(bytes)?;
                out.flush()
            }
            Sink::Pager(child) => {
                drop(child.stdin.take());
                child.wait().map(drop)
            }
        }
    }

    fn hold(&mut self, more: &[u8]) -> io::Result<()> {
        let Sink::Held { bytes, lines, height, pager } = &mut self.sink else { return Ok(()) };
        bytes.extend_from_slice(more);
        *lines += more.split(|byte| *byte == b'\n').count() - 1;
        if *lines < *height {
            return Ok(());
        }
        let held = std::mem::take(bytes);
        self.sink = match start(pager) {
            Some(child) => Sink::Pager(child),
            None => Sink::Direct(Box::new(io::stdout().lock())),
        };
        self.sink.write_all(&held)
    }
}

/// Prints one line to standard output.
pub(crate) fn print_line(text: &str) -> io::Result<()> {
    let mut out = Output::plain();
    writeln!(out, "{text}")?;
    out.finish()
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = match self.colour {
            ColorChoice::Never => anstream::adapter::strip_bytes(bytes).into_vec(),
            _ => bytes.to_vec(),
        };
        if matches!(self.sink, Sink::Held { .. }) {
            self.hold(&text)?;
        } else {
            self.sink.write_all(&text)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Sink {
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Direct(out) => out.write_all(bytes),
            Self::Held { bytes: held, .. } => {
                held.extend_from_slice(bytes);
                Ok(())
            }
            Self::Pager(child) => match &mut child.stdin {
                Some(stdin) => stdin.write_all(bytes),
                None => Ok(()),
            },
        }
    }
}

/// Starts the pager; a person's own command line may hold arguments.
fn start(pager: &str) -> Option<Child> {
    let mut words = pager.split_whitespace();
    // Ctrl-C belongs to the pager, which would fight the shell for the terminal if this process ended first.
    let _ = signal_hook::flag::register(signal_hook::consts::SIGINT, Arc::default());
    Command::new(words.next()?).args(words).stdin(Stdio::piped()).spawn().ok()
}

/// Whether standard output is a terminal.
pub(crate) fn is_read_by_a_person() -> bool {
    io::stdout().is_terminal()
}

struct Size {
    width: usize,
    height: usize,
}

/// The size of the terminal; `None` when standard output is not one.
fn terminal() -> Option<Size> {
    let stdout = io::stdout();
    if !stdout.is_terminal() {
        return None;
    }
    let size = rustix::termios::tcgetwinsize(&stdout).ok();
    let known = |cells: Option<u16>, usual| cells.filter(|cells| *cells > 0).map_or(usual, usize::from);
    Some(Size {
        width: known(size.map(|size| size.ws_col), 80),
        height: known(size.map(|size| size.ws_row), 24),
    })
}

//! Standard output: written directly, or through a pager when it is longer than the terminal.

use std::io::{self, IsTerminal as _, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anstream::{AutoStream, ColorChoice};

use crate::wrap::hanging;

/// The width of output that does not go to a terminal, in cells.
const WIDTH: usize = 120;

/// The spaces before the further lines of a sentence.
const HANGING: usize = 2;

/// A pager that ends sooner than this after the last line was not left by a person.
const GLANCE: Duration = Duration::from_millis(100);

/// Where a command writes.
///
/// On a terminal, what fits on one screen is printed; once it is longer, a pager gets it all.
pub(crate) struct Output {
    sink: Sink,
    colour: ColorChoice,
    width: usize,
    is_terminal: bool,
}

enum Sink {
    Direct(Box<dyn Write>),
    /// Held back until it is known to be long.
    Held {
        bytes: Vec<u8>,
        lines: usize,
        height: usize,
        pager: Pager,
        place: Place,
    },
    Pager(Child),
}

/// A pager.
pub(crate) struct Pager {
    /// Its command line.
    pub(crate) command: String,
    /// The options that `less` takes from the environment.
    pub(crate) less_options: String,
}

/// Where a pager opens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Beginning,
    /// At a line that is not written yet.
    Awaited,
    /// At this line, from 1.
    Line(usize),
    End,
}

impl Place {
    /// What opens `less` there.
    fn argument(self) -> Option<String> {
        match self {
            Self::Beginning | Self::Awaited => None,
            Self::Line(line) => Some(format!("+{line}g")),
            Self::End => Some("+G".to_owned()),
        }
    }
}

impl Output {
    /// Standard output without a pager.
    pub(crate) fn plain() -> Self {
        let colour = AutoStream::choice(&io::stdout());
        let sink = Sink::Direct(Box::new(io::BufWriter::new(io::stdout().lock())));
        let terminal = terminal();
        let width = terminal.as_ref().map_or(WIDTH, |size| size.width);
        Self { sink, colour, width, is_terminal: terminal.is_some() }
    }

    /// Standard output through a pager, if it goes to a terminal and is longer than that.
    pub(crate) fn paged(pager: Option<Pager>) -> Self {
        let mut output = Self::plain();
        if let (Some(pager), Some(size)) = (pager, terminal()) {
            output.sink = Sink::Held {
                bytes: Vec::new(),
                lines: 0,
                height: size.height,
                pager,
                place: Place::Beginning,
            };
        }
        output
    }

    /// The width of a line, in cells.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// The width of the terminal; `None` where the output does not go to one, so that no line is to be broken.
    pub(crate) fn terminal_width(&self) -> Option<usize> {
        self.is_terminal.then_some(self.width)
    }

    /// Lets the pager open where [`open_here`](Self::open_here) will be called.
    pub(crate) fn await_place(&mut self) {
        if let Sink::Held { place, .. } = &mut self.sink {
            *place = Place::Awaited;
        }
    }

    /// Lets the pager open at the end.
    pub(crate) fn open_at_end(&mut self) {
        if let Sink::Held { place, .. } = &mut self.sink {
            *place = Place::End;
        }
    }

    /// Lets the pager open at the line that comes next, the first time that it is called.
    pub(crate) fn open_here(&mut self) {
        if let Sink::Held { place: place @ Place::Awaited, lines, .. } = &mut self.sink {
            *place = Place::Line(*lines + 1);
        }
    }

    /// Writes sentences in a line, which is broken between words on a terminal.
    pub(crate) fn sentence(&mut self, text: &str) -> io::Result<()> {
        let text = hanging(text, self.terminal_width(), 0, HANGING);
        writeln!(self, "{text}")
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
    pub(crate) fn finish(self) -> io::Result<()> {
        self.finish_for_reader().map(drop)
    }

    /// The same; returns whether a person left a pager that showed it, so that it was read.
    pub(crate) fn finish_for_reader(mut self) -> io::Result<bool> {
        self.page_if_long()?;
        match &mut self.sink {
            Sink::Direct(out) => out.flush().map(|()| false),
            Sink::Held { bytes, .. } => {
                let mut out = io::stdout().lock();
                out.write_all(bytes)?;
                out.flush().map(|()| false)
            }
            Sink::Pager(child) => {
                drop(child.stdin.take());
                let began = Instant::now();
                child.wait()?;
                Ok(began.elapsed() >= GLANCE)
            }
        }
    }

    fn hold(&mut self, more: &[u8]) -> io::Result<()> {
        let Sink::Held { bytes, lines, place, .. } = &mut self.sink else { return Ok(()) };
        bytes.extend_from_slice(more);
        *lines += more.split(|byte| *byte == b'\n').count() - 1;
        if *place == Place::Awaited { Ok(()) } else { self.page_if_long() }
    }

    fn page_if_long(&mut self) -> io::Result<()> {
        let Sink::Held { bytes, lines, height, pager, place } = &mut self.sink else { return Ok(()) };
        if *lines < *height {
            return Ok(());
        }
        let held = std::mem::take(bytes);
        self.sink = match start(pager, *place) {
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
fn start(pager: &Pager, place: Place) -> Option<Child> {
    let mut words = pager.command.split_whitespace();
    let program = words.next()?;
    let is_less = Path::new(program).file_name().is_some_and(|name| name == "less");
    let place = place.argument().filter(|_| is_less);
    // Ctrl-C belongs to the pager, which would fight the shell for the terminal if this process ended first.
    let _ = signal_hook::flag::register(signal_hook::consts::SIGINT, Arc::default());
    let mut command = Command::new(program);
    if let Some(place) = place {
        // Other programs of this name take it for a file among their arguments.
        command.env("LESS", format!("{} {place}", pager.less_options).trim_start());
    }
    command.args(words).stdin(Stdio::piped()).spawn().ok()
}

/// Says something beside the answer, on standard error, where a terminal breaks it between words.
pub(crate) fn say_aside(text: &str) {
    // Nothing can be said if standard error is closed.
    let _ = writeln!(anstream::stderr().lock(), "{}", hanging(text, error_width(), 0, HANGING));
}

/// Whether standard output is a terminal.
pub(crate) fn is_read_by_a_person() -> bool {
    io::stdout().is_terminal()
}

struct Size {
    width: usize,
    height: usize,
}

/// The width of the terminal that errors go to, in cells; `None` where they go elsewhere.
pub(crate) fn error_width() -> Option<usize> {
    size_of(&io::stderr()).map(|size| size.width)
}

/// The size of the terminal; `None` when standard output is not one.
fn terminal() -> Option<Size> {
    size_of(&io::stdout())
}

fn size_of(stream: &(impl io::IsTerminal + std::os::fd::AsFd)) -> Option<Size> {
    if !stream.is_terminal() {
        return None;
    }
    let size = rustix::termios::tcgetwinsize(stream).ok();
    let known = |cells: Option<u16>, usual| cells.filter(|cells| *cells > 0).map_or(usual, usize::from);
    Some(Size {
        width: known(size.map(|size| size.ws_col), 80),
        height: known(size.map(|size| size.ws_row), 24),
    })
}

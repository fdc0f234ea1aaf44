//! What the picker shows, and what a key does to it. Pure: no terminal, no search.

use std::path::{Path, PathBuf};

use model::SessionId;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::item::{Item, Listing, Progress};
use super::{Choice, Purpose};
use crate::picker::preview::Passage;
use crate::picker::typed_line::{Reach, TypedLine};
use crate::terminal::pasted_line;

/// How many times as many sessions are asked for where those that are listed were not enough.
const MORE: usize = 4;

/// What is said where a session that was deleted is to be continued.
const LOST: &str = "Claude Code deleted it before it was copied; ^O shows what is left of it";

/// Which sessions are offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Scope {
    /// Those of every repository.
    #[default]
    All,
    /// Those of the current directory's repository.
    Here,
}

/// The state of the picker.
#[derive(Debug, Default)]
pub(crate) struct Picker {
    pub(crate) question: TypedLine,
    pub(crate) scope: Scope,
    pub(crate) items: Vec<Item>,
    /// How many sessions there are in all.
    pub(crate) total: u64,
    /// What to say above the list, a line each.
    pub(crate) remarks: Vec<String>,
    pub(crate) selected: usize,
    /// The passages around the selected session's cited line; `None` until they were read.
    pub(crate) preview: Option<Vec<Passage>>,
    /// What to know before the selected session is resumed, a line each.
    pub(crate) notes: Vec<String>,
    /// How far the preview is scrolled from the cited place, in lines.
    pub(crate) preview_top: isize,
    pub(crate) progress: Progress,
    /// The key that is done once the awaited answer is there.
    pub(crate) held: Option<KeyEvent>,
    /// How many sessions to find at least; `None` as long as the first are enough.
    pub(crate) wanted: Option<usize>,
    /// What to say in the footer, until the next key.
    pub(crate) message: Option<String>,
    pub(crate) is_help: bool,
    /// Whether the sessions are those of the demo, whose directories never were.
    pub(crate) is_demo: bool,
}

/// What a key leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Command {
    /// Nothing but another look.
    Redraw,
    /// The question or the scope has changed.
    Ask,
    /// Another session is selected.
    Preview,
    /// The last session that is listed is selected, and there are more.
    More,
    /// Leave with this choice.
    Choose(Choice),
    /// Read this session and come back.
    Read(Choice),
    /// Copy this text.
    Copy(String),
    /// Open a shell in this directory and come back.
    Enter(PathBuf),
    /// Go to the terminal of this session.
    Jump(SessionId),
    /// Suspend the program.
    Suspend,
    Quit,
}

impl Picker {
    /// Whether an answer is awaited.
    pub(crate) fn is_searching(&self) -> bool {
        self.progress == Progress::Awaited
    }

    /// What is selected.
    pub(crate) fn item(&self) -> Option<&Item> {
        self.items.get(self.selected)
    }

    /// Shows another answer, and returns the key that was held until it came. The selection goes to the first session;
    /// where more of the same list were asked for, it stays.
    pub(crate) fn answer(&mut self, listing: Listing) -> Option<KeyEvent> {
        let selected = self.item().map(|item| item.id.clone()).filter(|_| !self.is_searching());
        (self.items, self.total, self.remarks) = (listing.items, listing.total, listing.remarks);
        self.progress = listing.progress;
        match self.items.iter().position(|item| Some(&item.id) == selected.as_ref()) {
            Some(same) => self.selected = same,
            None => self.select(0),
        }
        self.held.take()
    }

    /// The number of sessions before the first that hardly matches; `None` where all or none do.
    pub(crate) fn good(&self) -> Option<usize> {
        self.items.iter().position(|item| item.is_weak).filter(|good| *good > 0)
    }

    /// Selects the session at this index, or the last.
    pub(crate) fn select(&mut self, index: usize) {
        self.selected = index.min(self.items.len().saturating_sub(1));
        (self.preview, self.preview_top) = (None, 0);
        self.notes.clear();
    }

    /// Moves the selection by so many rows; returns whether it moved.
    pub(crate) fn step(&mut self, rows: isize) -> bool {
        let before = self.selected;
        let last = self.items.len().saturating_sub(1);
        let to = before.saturating_add_signed(rows).min(last);
        if to != before {
            self.select(to);
        }
        to != before
    }

    /// Handles a key; `page` is the number of rows of the list.
    pub(crate) fn key(&mut self, key: KeyEvent, purpose: Purpose, page: usize) -> Command {
        (self.message, self.held) = (None, None);
        if std::mem::take(&mut self.is_help) {
            return Command::Redraw;
        }
        if is_of_selected(key) {
            if self.is_searching() {
                // What is selected answers an earlier question.
                self.held = Some(key).filter(|_| !self.question.text().is_empty());
                return Command::Redraw;
            }
            if self.progress == Progress::WithoutLastFilter {
                return self.edit(TypedLine::end_word);
            }
        }
        let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
        if is_control && let KeyCode::Char(letter) = key.code {
            return self.control(letter);
        }
        if is_control || key.modifiers.contains(KeyModifiers::ALT) {
            return self.by_words(key.code);
        }
        let page = isize::try_from(page).unwrap_or(10);
        match key.code {
            KeyCode::Esc if self.question.text().is_empty() => Command::Quit,
            KeyCode::Esc => self.edit(TypedLine::clear),
            KeyCode::Enter => self.choose(purpose),
            KeyCode::Tab => {
                self.scope = if self.scope == Scope::All { Scope::Here } else { Scope::All };
                self.ask()
            }
            KeyCode::Down => self.moved(1),
            KeyCode::Up => self.moved(-1),
            KeyCode::PageDown => self.moved(page),
            KeyCode::PageUp => self.moved(-page),
            KeyCode::Left => self.edit(|question| question.move_back(Reach::Letter)),
            KeyCode::Right => self.edit(|question| question.move_on(Reach::Letter)),
            KeyCode::Home => self.edit(|question| question.move_back(Reach::Line)),
            KeyCode::End => self.edit(|question| question.move_on(Reach::Line)),
            KeyCode::Backspace => self.edit(|question| question.delete_back(Reach::Letter)),
            KeyCode::Delete => self.edit(|question| question.delete_on(Reach::Letter)),
            KeyCode::F(1) => {
                self.is_help = true;
                Command::Redraw
            }
            KeyCode::Char('?') if self.question.text().is_empty() => {
                self.is_help = true;
                Command::Redraw
            }
            KeyCode::Char(letter) => self.edit(|question| question.insert(letter.encode_utf8(&mut [0; 4]))),
            _ => Command::Redraw,
        }
    }

    fn control(&mut self, letter: char) -> Command {
        let copied = |text: Option<String>| text.map_or(Command::Redraw, Command::Copy);
        match letter {
            'c' => Command::Quit,
            'd' if self.question.text().is_empty() => Command::Quit,
            'd' => self.edit(|question| question.delete_on(Reach::Letter)),
            'h' => self.edit(|question| question.delete_back(Reach::Letter)),
            'a' => self.edit(|question| question.move_back(Reach::Line)),
            'e' => self.edit(|question| question.move_on(Reach::Line)),
            'z' => Command::Suspend,
            'f' if self.is_lost() => self.choose(Purpose::Fork),
            'f' => self.choice(Purpose::Fork).map_or(Command::Redraw, Command::Choose),
            'r' => self.choose(Purpose::Resume),
            'o' => self.choice(Purpose::Read).map_or(Command::Redraw, Command::Read),
            'y' => copied(self.item().map(|item| item.id.to_string())),
            'x' => copied(self.item().map(|item| format!("backstory resume {}", item.id))),
            't' => self.item().map_or(Command::Redraw, |item| Command::Jump(item.id.clone())),
            'g' => self.enter(),
            'n' | 'j' => self.moved(1),
            'p' | 'k' => self.moved(-1),
            'u' => self.edit(|question| question.delete_back(Reach::Line)),
            'w' => self.edit(|question| question.delete_back(Reach::Word)),
            's' => self.scroll(5),
            'b' => self.scroll(-5),
            _ => Command::Redraw,
        }
    }

    /// Handles a key with Control or Alt that no other command has: such a key is never text.
    fn by_words(&mut self, key: KeyCode) -> Command {
        match key {
            KeyCode::Left | KeyCode::Char('b') => self.edit(|question| question.move_back(Reach::Word)),
            KeyCode::Right | KeyCode::Char('f') => self.edit(|question| question.move_on(Reach::Word)),
            KeyCode::Backspace => self.edit(|question| question.delete_back(Reach::Word)),
            KeyCode::Home => self.moved(isize::MIN),
            KeyCode::End => self.moved(isize::MAX),
            _ => Command::Redraw,
        }
    }

    /// Takes in a text that was pasted.
    pub(crate) fn paste(&mut self, text: &str) -> Command {
        self.held = None;
        self.edit(|question| question.insert(&pasted_line(text)))
    }

    /// Scrolls the preview by so many lines; how far it goes is known when it is drawn.
    pub(crate) fn scroll(&mut self, lines: isize) -> Command {
        self.preview_top = self.preview_top.saturating_add(lines);
        Command::Redraw
    }

    fn enter(&mut self) -> Command {
        let Some(item) = self.item() else { return Command::Redraw };
        let directory = item.directory.clone();
        self.message = Some(match directory {
            Some(directory) if directory.is_dir() => return Command::Enter(directory),
            Some(directory) => format!("its directory is gone: {}", directory.display()),
            None => "this session's directory is not recorded".to_owned(),
        });
        Command::Redraw
    }

    /// Whether the selected session was deleted and has no copy.
    pub(crate) fn is_lost(&self) -> bool {
        self.item().is_some_and(|item| item.is_lost)
    }

    /// Leaves with what is selected, unless it would have to continue in a directory that is gone.
    fn choose(&mut self, purpose: Purpose) -> Command {
        let Some(choice) = self.choice(purpose) else { return Command::Redraw };
        if self.is_lost() && matches!(purpose, Purpose::Resume | Purpose::Fork) {
            self.message = Some(LOST.to_owned());
            return Command::Redraw;
        }
        let gone = self.gone_directory();
        match (purpose, gone) {
            (Purpose::Resume | Purpose::Fork, Some(directory)) => {
                // The path is last, because it may be longer than the line.
                self.message =
                    Some(format!("its directory is gone; ^F continues a copy here: {}", directory.display()));
                Command::Redraw
            }
            _ => Command::Choose(choice),
        }
    }

    /// The directory of the selected session, where it is not there any more.
    fn gone_directory(&self) -> Option<&Path> {
        self.item().and_then(Item::gone_directory).filter(|_| !self.is_demo)
    }

    /// Whether the directory of the selected session is not there any more.
    pub(crate) fn is_gone(&self) -> bool {
        self.gone_directory().is_some()
    }

    fn choice(&self, purpose: Purpose) -> Option<Choice> {
        let item = self.item()?;
        let is_here = purpose == Purpose::Fork && self.is_gone();
        let prompt = item.prompt.clone().filter(|_| purpose == Purpose::Recall);
        let question = self.question.text().to_owned();
        Some(Choice { purpose, session: item.id.clone(), line: item.line, is_here, prompt, question })
    }

    /// Moves the selection by so many rows; at the last that is listed the others are asked for.
    pub(crate) fn moved(&mut self, rows: isize) -> Command {
        let has_moved = self.step(rows);
        let is_last = self.selected + 1 == self.items.len();
        if rows > 0 && is_last && self.total > self.items.len() as u64 && !self.is_searching() {
            self.wanted = Some(self.items.len().saturating_mul(MORE));
            return Command::More;
        }
        if has_moved { Command::Preview } else { Command::Redraw }
    }

    fn edit(&mut self, change: impl FnOnce(&mut TypedLine)) -> Command {
        let before = self.question.text().to_owned();
        change(&mut self.question);
        if self.question.text() == before { Command::Redraw } else { self.ask() }
    }

    fn ask(&mut self) -> Command {
        (self.progress, self.wanted) = (Progress::Awaited, None);
        Command::Ask
    }
}

/// Whether a key does something with the selected session.
fn is_of_selected(key: KeyEvent) -> bool {
    match key.code {
        KeyCode::Enter => true,
        KeyCode::Char(letter) => {
            key.modifiers.contains(KeyModifiers::CONTROL)
                && matches!(letter, 'f' | 'r' | 'o' | 'y' | 'x' | 't' | 'g')
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests;

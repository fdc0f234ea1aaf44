//! What the picker shows, and what a key does to it. Pure: no terminal, no search.

use jiff::Timestamp;
use model::SessionId;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::{Choice, Purpose};
use crate::picker::preview::Passage;

/// The longest question, in characters.
const LONGEST: usize = 300;

/// A session in the list.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Item {
    pub(crate) id: SessionId,
    pub(crate) title: String,
    pub(crate) project: String,
    pub(crate) branch: String,
    pub(crate) at: Option<Timestamp>,
    pub(crate) cost: Option<f64>,
    /// The cited line of its own transcript.
    pub(crate) line: Option<u64>,
    /// Whether it waits for an answer.
    pub(crate) is_waiting: bool,
    /// The prompt that is listed, where prompts are.
    pub(crate) prompt: Option<String>,
}

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
    pub(crate) question: String,
    pub(crate) scope: Scope,
    pub(crate) items: Vec<Item>,
    pub(crate) selected: usize,
    /// The passages around the selected session's cited line; `None` until they were read.
    pub(crate) preview: Option<Vec<Passage>>,
    /// What there is to know before the selected session is resumed, a line each.
    pub(crate) notes: Vec<String>,
    /// The first line of the preview that is shown.
    pub(crate) preview_top: usize,
    /// Whether an answer is awaited.
    pub(crate) is_searching: bool,
    /// What to say in the footer, until the next key.
    pub(crate) message: Option<String>,
    pub(crate) is_help: bool,
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
    /// Leave with this choice.
    Choose(Choice),
    /// Read this session and come back.
    Read(Choice),
    /// Copy this text.
    Copy(String),
    /// Suspend the program.
    Suspend,
    Quit,
}

impl Picker {
    /// What is selected.
    pub(crate) fn item(&self) -> Option<&Item> {
        self.items.get(self.selected)
    }

    /// Shows another answer; the selection goes to the first.
    pub(crate) fn answer(&mut self, items: Vec<Item>) {
        self.items = items;
        self.is_searching = false;
        self.select(0);
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
        self.message = None;
        if std::mem::take(&mut self.is_help) {
            return Command::Redraw;
        }
        if key.modifiers.contains(KeyModifiers::CONTROL)
            && let KeyCode::Char(letter) = key.code
        {
            return self.control(letter);
        }
        let page = isize::try_from(page).unwrap_or(10);
        match key.code {
            KeyCode::Esc if self.question.is_empty() => Command::Quit,
            KeyCode::Esc => self.edit(String::clear),
            KeyCode::Enter => self.choice(purpose).map_or(Command::Redraw, Command::Choose),
            KeyCode::Tab => {
                self.scope = if self.scope == Scope::All { Scope::Here } else { Scope::All };
                self.ask()
            }
            KeyCode::Down => self.moved(1),
            KeyCode::Up => self.moved(-1),
            KeyCode::PageDown => self.moved(page),
            KeyCode::PageUp => self.moved(-page),
            KeyCode::Home => self.moved(isize::MIN),
            KeyCode::End => self.moved(isize::MAX),
            KeyCode::Backspace => self.edit(|question| {
                question.pop();
            }),
            KeyCode::F(1) => {
                self.is_help = true;
                Command::Redraw
            }
            KeyCode::Char('?') if self.question.is_empty() => {
                self.is_help = true;
                Command::Redraw
            }
            KeyCode::Char(letter) if self.question.chars().count() < LONGEST => {
                self.edit(|question| question.push(letter))
            }
            _ => Command::Redraw,
        }
    }

    fn control(&mut self, letter: char) -> Command {
        let copied = |text: Option<String>| text.map_or(Command::Redraw, Command::Copy);
        match letter {
            'c' | 'd' => Command::Quit,
            'z' => Command::Suspend,
            'f' => self.choice(Purpose::Fork).map_or(Command::Redraw, Command::Choose),
            'r' => self.choice(Purpose::Resume).map_or(Command::Redraw, Command::Choose),
            'o' => self.choice(Purpose::Read).map_or(Command::Redraw, Command::Read),
            'y' => copied(self.item().map(|item| item.id.to_string())),
            'e' => copied(self.item().map(|item| format!("backstory resume {}", item.id))),
            'n' | 'j' => self.moved(1),
            'p' | 'k' => self.moved(-1),
            'u' => self.edit(String::clear),
            'w' => self.edit(without_last_word),
            's' => {
                self.preview_top += 5;
                Command::Redraw
            }
            'b' => {
                self.preview_top = self.preview_top.saturating_sub(5);
                Command::Redraw
            }
            _ => Command::Redraw,
        }
    }

    fn choice(&self, purpose: Purpose) -> Option<Choice> {
        let item = self.item()?;
        let prompt = item.prompt.clone().filter(|_| purpose == Purpose::Recall);
        let question = self.question.clone();
        Some(Choice { purpose, session: item.id.clone(), line: item.line, prompt, question })
    }

    fn moved(&mut self, rows: isize) -> Command {
        if self.step(rows) { Command::Preview } else { Command::Redraw }
    }

    fn edit(&mut self, change: impl FnOnce(&mut String)) -> Command {
        let before = self.question.clone();
        change(&mut self.question);
        if self.question == before { Command::Redraw } else { self.ask() }
    }

    fn ask(&mut self) -> Command {
        self.is_searching = true;
        Command::Ask
    }
}

fn without_last_word(question: &mut String) {
    let kept = question.trim_end().rfind(' ').map_or(0, |at| at + 1);
    question.truncate(kept);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(id: &str) -> Item {
        Item {
            id: id.parse().unwrap(),
            title: format!("About {id}"),
            project: "shop".to_owned(),
            branch: String::new(),
            at: None,
            cost: None,
            line: Some(7),
            is_waiting: false,
            prompt: None,
        }
    }

    fn press(picker: &mut Picker, code: KeyCode) -> Command {
        picker.key(KeyEvent::new(code, KeyModifiers::NONE), Purpose::Resume, 5)
    }

    fn control(picker: &mut Picker, letter: char) -> Command {
        picker.key(KeyEvent::new(KeyCode::Char(letter), KeyModifiers::CONTROL), Purpose::Resume, 5)
    }

    fn three() -> Picker {
        let mut picker = Picker::default();
        picker.answer(["s1", "s2", "s3"].map(item).into());
        picker
    }

    #[test]
    fn every_letter_asks_again() {
        let mut picker = three();
        assert_eq!(press(&mut picker, KeyCode::Char('t')), Command::Ask);
        assert_eq!(press(&mut picker, KeyCode::Char('?')), Command::Ask);
        assert_eq!(picker.question, "t?");
        assert!(picker.is_searching);
        assert_eq!(press(&mut picker, KeyCode::Backspace), Command::Ask);
        assert_eq!(control(&mut picker, 'u'), Command::Ask);
        assert_eq!(press(&mut picker, KeyCode::Backspace), Command::Redraw, "nothing is left");
        assert_eq!(press(&mut picker, KeyCode::Tab), Command::Ask);
        assert_eq!(picker.scope, Scope::Here);
    }

    #[test]
    fn words_are_deleted_whole() {
        let mut picker = Picker { question: "token refresh ".to_owned(), ..Picker::default() };
        assert_eq!(control(&mut picker, 'w'), Command::Ask);
        assert_eq!(picker.question, "token ");
        control(&mut picker, 'w');
        assert_eq!(picker.question, "");
    }

    #[test]
    fn the_selection_stays_in_the_list() {
        let mut picker = three();
        assert_eq!(press(&mut picker, KeyCode::Up), Command::Redraw);
        assert_eq!(press(&mut picker, KeyCode::PageDown), Command::Preview);
        assert_eq!(picker.item().unwrap().id.as_str(), "s3");
        assert_eq!(press(&mut picker, KeyCode::Down), Command::Redraw);
        picker.answer(vec![item("s9")]);
        assert_eq!(picker.selected, 0);
        picker.answer(Vec::new());
        assert_eq!(press(&mut picker, KeyCode::End), Command::Redraw);
        assert_eq!(press(&mut picker, KeyCode::Enter), Command::Redraw, "nothing to choose");
    }

    #[test]
    fn keys_choose_what_is_done() {
        let mut picker = three();
        let choice = |purpose| Choice {
            purpose,
            session: "s1".parse().unwrap(),
            line: Some(7),
            prompt: None,
            question: String::new(),
        };
        assert_eq!(press(&mut picker, KeyCode::Enter), Command::Choose(choice(Purpose::Resume)));
        assert_eq!(control(&mut picker, 'f'), Command::Choose(choice(Purpose::Fork)));
        assert_eq!(control(&mut picker, 'o'), Command::Read(choice(Purpose::Read)));
        assert_eq!(control(&mut picker, 'y'), Command::Copy("s1".to_owned()));
        assert_eq!(control(&mut picker, 'e'), Command::Copy("backstory resume s1".to_owned()));
        assert_eq!(control(&mut picker, 'c'), Command::Quit);
    }

    #[test]
    fn a_prompt_is_taken_whole_and_its_session_continued() {
        let mut picker = Picker::default();
        picker.answer(vec![Item { prompt: Some("Fix\nit".to_owned()), ..item("s1") }]);
        let enter = KeyEvent::new(KeyCode::Enter, KeyModifiers::NONE);
        let Command::Choose(chosen) = picker.key(enter, Purpose::Recall, 5) else { panic!("nothing chosen") };
        assert_eq!(chosen.prompt.as_deref(), Some("Fix\nit"));
        let Command::Choose(continued) = control(&mut picker, 'r') else { panic!("nothing chosen") };
        assert_eq!((continued.prompt.as_deref(), &*continued.command()), (None, "backstory resume s1"));
    }

    #[test]
    fn esc_clears_the_question_and_then_quits() {
        let mut picker = three();
        press(&mut picker, KeyCode::Char('x'));
        assert_eq!(press(&mut picker, KeyCode::Esc), Command::Ask);
        assert_eq!(press(&mut picker, KeyCode::Esc), Command::Quit);
    }

    #[test]
    fn help_goes_away_with_any_key() {
        let mut picker = three();
        press(&mut picker, KeyCode::Char('?'));
        assert!(picker.is_help);
        press(&mut picker, KeyCode::Char('x'));
        assert!(!picker.is_help && picker.question.is_empty());
    }
}

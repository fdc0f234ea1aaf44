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

    /// Leaves with what is selected, unless it would have to continue in a directory that is gone.
    fn choose(&mut self, purpose: Purpose) -> Command {
        let Some(choice) = self.choice(purpose) else { return Command::Redraw };
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
mod tests {
    use super::*;

    fn item(id: &str) -> Item {
        Item {
            title: format!("About {id}"),
            project: "shop".to_owned(),
            line: Some(7),
            ..Item::of(id.parse().unwrap())
        }
    }

    fn listing(items: Vec<Item>) -> Listing {
        Listing { total: items.len() as u64, items, ..Listing::default() }
    }

    fn press(picker: &mut Picker, code: KeyCode) -> Command {
        picker.key(KeyEvent::new(code, KeyModifiers::NONE), Purpose::Resume, 5)
    }

    fn control(picker: &mut Picker, letter: char) -> Command {
        picker.key(KeyEvent::new(KeyCode::Char(letter), KeyModifiers::CONTROL), Purpose::Resume, 5)
    }

    fn three() -> Picker {
        let mut picker = Picker::default();
        picker.answer(listing(["s1", "s2", "s3"].map(item).into()));
        picker
    }

    #[test]
    fn every_letter_asks_again() {
        let mut picker = three();
        assert_eq!(press(&mut picker, KeyCode::Char('t')), Command::Ask);
        assert_eq!(press(&mut picker, KeyCode::Char('?')), Command::Ask);
        assert_eq!(picker.question.text(), "t?");
        assert!(picker.is_searching());
        assert_eq!(press(&mut picker, KeyCode::Backspace), Command::Ask);
        assert_eq!(control(&mut picker, 'u'), Command::Ask);
        assert_eq!(press(&mut picker, KeyCode::Backspace), Command::Redraw, "nothing is left");
        assert_eq!(press(&mut picker, KeyCode::Tab), Command::Ask);
        assert_eq!(picker.scope, Scope::Here);
    }

    #[test]
    fn keys_with_alt_are_no_text() {
        let mut picker = three();
        let alt = KeyEvent::new(KeyCode::Char('b'), KeyModifiers::ALT);
        assert_eq!(picker.key(alt, Purpose::Resume, 5), Command::Redraw);
        assert_eq!(picker.question.text(), "");
    }

    #[test]
    fn a_directory_is_entered_while_it_is_there() {
        let mut picker = three();
        assert_eq!(control(&mut picker, 'g'), Command::Redraw);
        assert_eq!(picker.message.as_deref(), Some("this session's directory is not recorded"));
        picker.items[0].directory = Some("/".into());
        assert_eq!(control(&mut picker, 'g'), Command::Enter("/".into()));
        picker.items[0].directory = Some("/no/such/place".into());
        control(&mut picker, 'g');
        assert_eq!(picker.message.as_deref(), Some("its directory is gone: /no/such/place"));
        assert_eq!(control(&mut picker, 't'), Command::Jump("s1".parse().unwrap()));
    }

    #[test]
    fn where_the_directory_is_gone_only_a_copy_continues() {
        let mut picker = three();
        picker.items[0].directory = Some("/no/such/place".into());
        let said = "its directory is gone; ^F continues a copy here: /no/such/place";
        let enter = KeyEvent::new(KeyCode::Enter, KeyModifiers::NONE);
        for purpose in [Purpose::Resume, Purpose::Fork] {
            assert_eq!(picker.key(enter, purpose, 5), Command::Redraw);
            assert_eq!(picker.message.as_deref(), Some(said), "{purpose:?}");
        }
        assert_eq!(control(&mut picker, 'r'), Command::Redraw);
        let Command::Choose(copy) = control(&mut picker, 'f') else { panic!("nothing chosen") };
        assert_eq!(copy.command(), "backstory fork s1 --in .");
        let Command::Choose(read) = picker.key(enter, Purpose::Read, 5) else { panic!("nothing chosen") };
        assert_eq!(read.command(), "backstory show s1:7", "it can be read");
    }

    #[test]
    fn words_are_deleted_whole() {
        let mut picker = Picker { question: "token refresh ".into(), ..Picker::default() };
        assert_eq!(control(&mut picker, 'w'), Command::Ask);
        assert_eq!(picker.question.text(), "token ");
        control(&mut picker, 'w');
        assert_eq!(picker.question.text(), "");
    }

    #[test]
    fn the_question_is_edited_where_the_cursor_is() {
        let mut picker = three();
        assert_eq!(picker.paste("fix\nrefresh\n"), Command::Ask);
        let word_back = KeyEvent::new(KeyCode::Left, KeyModifiers::CONTROL);
        assert_eq!(picker.key(word_back, Purpose::Resume, 5), Command::Redraw, "nothing else is asked");
        "token ".chars().for_each(|letter| {
            press(&mut picker, KeyCode::Char(letter));
        });
        assert_eq!(picker.question.text(), "fix token refresh");
        assert_eq!(control(&mut picker, 'a'), Command::Redraw);
        assert_eq!(press(&mut picker, KeyCode::Right), Command::Redraw);
        assert_eq!(press(&mut picker, KeyCode::Delete), Command::Ask);
        assert_eq!(control(&mut picker, 'e'), Command::Redraw);
        assert_eq!(press(&mut picker, KeyCode::Left), Command::Redraw);
        assert_eq!(control(&mut picker, 'd'), Command::Ask);
        assert_eq!(picker.question.text(), "fx token refres");
        assert_eq!(press(&mut picker, KeyCode::Home), Command::Redraw);
        assert_eq!(press(&mut picker, KeyCode::Backspace), Command::Redraw, "nothing is before it");
        assert_eq!(picker.selected, 0, "the selection stays");
        assert_eq!(press(&mut picker, KeyCode::End), Command::Redraw);
        assert_eq!(control(&mut picker, 'u'), Command::Ask);
        assert_eq!(control(&mut picker, 'd'), Command::Quit);
    }

    #[test]
    fn the_selection_stays_in_the_list() {
        let mut picker = three();
        assert_eq!(press(&mut picker, KeyCode::Up), Command::Redraw);
        assert_eq!(press(&mut picker, KeyCode::PageDown), Command::Preview);
        assert_eq!(picker.item().unwrap().id.as_str(), "s3");
        assert_eq!(press(&mut picker, KeyCode::Down), Command::Redraw);
        picker.answer(listing(vec![item("s9")]));
        assert_eq!(picker.selected, 0);
        picker.answer(Listing::default());
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
            is_here: false,
            prompt: None,
            question: String::new(),
        };
        assert_eq!(press(&mut picker, KeyCode::Enter), Command::Choose(choice(Purpose::Resume)));
        assert_eq!(control(&mut picker, 'f'), Command::Choose(choice(Purpose::Fork)));
        assert_eq!(control(&mut picker, 'o'), Command::Read(choice(Purpose::Read)));
        assert_eq!(control(&mut picker, 'y'), Command::Copy("s1".to_owned()));
        assert_eq!(control(&mut picker, 'x'), Command::Copy("backstory resume s1".to_owned()));
        assert_eq!(control(&mut picker, 'c'), Command::Quit);
    }

    #[test]
    fn a_prompt_is_taken_whole_and_its_session_continued() {
        let mut picker = Picker::default();
        picker.answer(listing(vec![Item { prompt: Some("Fix\nit".to_owned()), ..item("s1") }]));
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
    fn a_key_for_the_selected_session_waits_for_the_answer_to_what_was_typed() {
        let mut picker = three();
        press(&mut picker, KeyCode::Char('t'));
        assert_eq!(press(&mut picker, KeyCode::Enter), Command::Redraw, "s1 answers another question");
        assert_eq!(control(&mut picker, 'f'), Command::Redraw);
        let held = picker.answer(listing(vec![item("s9")])).expect("the last of them is held");
        let Command::Choose(chosen) = picker.key(held, Purpose::Resume, 5) else { panic!("nothing chosen") };
        assert_eq!((chosen.purpose, chosen.session.as_str()), (Purpose::Fork, "s9"));
        press(&mut picker, KeyCode::Char('o'));
        press(&mut picker, KeyCode::Enter);
        press(&mut picker, KeyCode::Char('k'));
        assert_eq!(picker.answer(listing(vec![item("s9")])), None, "it was typed on");
        let mut opened = Picker { progress: Progress::Awaited, ..Picker::default() };
        press(&mut opened, KeyCode::Enter);
        assert_eq!(opened.answer(listing(vec![item("s1")])), None, "nothing was asked");
    }

    #[test]
    fn where_nothing_passes_a_filter_no_other_session_is_taken() {
        let mut picker = Picker { question: "since:2030".into(), ..Picker::default() };
        picker.answer(Listing { progress: Progress::WithoutLastFilter, ..listing(vec![item("s1")]) });
        assert_eq!(press(&mut picker, KeyCode::Enter), Command::Ask);
        assert_eq!(picker.question.text(), "since:2030 ", "the filter is typed to its end");
    }

    #[test]
    fn at_the_last_session_that_is_listed_more_are_asked_for() {
        let mut picker = three();
        picker.total = 9;
        assert_eq!(press(&mut picker, KeyCode::Down), Command::Preview);
        assert_eq!(press(&mut picker, KeyCode::Down), Command::More);
        assert_eq!(picker.wanted, Some(12));
        picker.answer(Listing { total: 9, ..listing(["s1", "s2", "s3", "s4"].map(item).into()) });
        assert_eq!(picker.item().unwrap().id.as_str(), "s3", "the selection stays");
        assert_eq!(press(&mut picker, KeyCode::Char('x')), Command::Ask);
        assert_eq!(picker.wanted, None);
    }

    #[test]
    fn help_goes_away_with_any_key() {
        let mut picker = three();
        press(&mut picker, KeyCode::Char('?'));
        assert!(picker.is_help);
        press(&mut picker, KeyCode::Char('x'));
        assert!(!picker.is_help && picker.question.text().is_empty());
    }
}

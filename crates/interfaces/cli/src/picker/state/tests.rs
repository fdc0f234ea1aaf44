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

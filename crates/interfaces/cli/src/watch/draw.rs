//! Draws the board as lines for a terminal of any width. Pure.

use jiff::Timestamp;
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr as _;

use super::board::{Board, Need, Row};
use super::fold::folded;
use super::row::{cut, doing, session, subagent};
use crate::text::safe;

/// What is drawn besides the board.
#[derive(Debug, Clone, Default)]
pub(crate) struct Frame {
    /// Columns and lines of the terminal.
    pub(crate) size: (usize, usize),
    /// The first row of the board that is shown.
    pub(crate) top: usize,
    /// Whether a filter is being typed.
    pub(crate) is_typing: bool,
    /// Whether the help is shown.
    pub(crate) help: bool,
    /// The latest message in the footer.
    pub(crate) message: Option<String>,
    /// The details of the selected session.
    pub(crate) details: Vec<String>,
    /// How the person is notified.
    pub(crate) notify: &'static str,
    /// Why the system does not report every change, if it does not.
    pub(crate) trouble: Option<String>,
}

/// The width from which the column of states has a fixed width; on a narrower terminal it is as wide as the widest
/// state that is shown.
const ROOMY: usize = 64;
/// The height from which the selected session has details.
const WITH_DETAILS: usize = 10;
/// The most lines of details.
const DETAILS: usize = 3;
/// The width of the longest state.
const STATE: usize = "needs permission?".len();

/// The keys and what they do.
pub(crate) const KEYS: [(&str, &str); 13] = [
    ("↑ ↓  j k", "move up and down"),
    ("PgUp PgDn", "move by a page"),
    ("g G", "go to the first or last"),
    ("Tab", "go to the next one that needs you"),
    ("Enter", "read the conversation"),
    ("t", "go to its terminal; attach to a worker or job"),
    ("r", "continue the session here"),
    ("f", "continue a copy of it here"),
    ("c", "copy its id"),
    ("/", "filter by words; Esc clears the filter"),
    ("a", "show older sessions too, or hide them again"),
    ("n", "notify me: off, by bell, on the desktop"),
    ("? q", "this help; quit"),
];

/// All lines of the screen.
pub(crate) fn draw(board: &Board, frame: &mut Frame, now: Timestamp) -> Vec<Line<'static>> {
    let (width, height) = frame.size;
    let mut lines = vec![head(board, frame, width)];
    let details = details(board, frame, now);
    let room = height.saturating_sub(2 + details.len()).max(1);
    if frame.help {
        lines.extend(help(width).into_iter().take(room));
    } else if board.rows().is_empty() {
        let dim = Style::new().add_modifier(Modifier::DIM);
        lines.extend(folded(nothing(board), width).into_iter().map(|line| Line::styled(line, dim)));
    } else {
        scroll(board, frame, room);
        let shown = board.rows().iter().skip(frame.top).take(room);
        let state = state_width(board, width);
        lines.extend(shown.map(|row| line(board, row, (width, state), now)));
    }
    lines.truncate(height.saturating_sub(1 + details.len()));
    lines.resize(height.saturating_sub(1 + details.len()), Line::default());
    lines.extend(details);
    lines.push(foot(board, frame, width));
    lines
}

/// The details of the selected session, as lines below the board: what its row cuts off, which takes at most half
/// of the screen, and at most `DETAILS` lines besides.
fn details(board: &Board, frame: &Frame, now: Timestamp) -> Vec<Line<'static>> {
    let (width, height) = frame.size;
    if frame.help || height < WITH_DETAILS {
        return Vec::new();
    }
    let style = Style::new().fg(Color::Cyan);
    let cut_off = cut_off(board, width, now);
    let cut_off = cut_off.iter().flat_map(|text| folded(text, width)).take(height / 2);
    let texts = frame.details.iter().flat_map(|text| folded(&safe(text), width)).take(DETAILS);
    cut_off.chain(texts).map(|text| Line::styled(text, style)).collect()
}

/// What the selected session asks or does, where its row has no room for all of it.
fn cut_off(board: &Board, width: usize, now: Timestamp) -> Option<String> {
    let card = board.selected()?;
    let row = session(card, false, (width, state_width(board, width)), now).to_string();
    Some(doing(card)).filter(|doing| !row.contains(doing.as_str()))
}

/// Keeps the cursor on the screen, and its project's name where there is room.
fn scroll(board: &Board, frame: &mut Frame, room: usize) {
    let at = board.selected_row();
    let first = at.saturating_sub(usize::from(at > 0 && matches!(board.rows()[at - 1], Row::Project { .. })));
    if first < frame.top {
        frame.top = first;
    }
    if at >= frame.top + room {
        frame.top = at + 1 - room;
    }
    frame.top = frame.top.min(board.rows().len().saturating_sub(room));
}

fn nothing(board: &Board) -> &'static str {
    if !board.is_listed {
        "Loading your sessions…"
    } else if board.filter.is_empty() {
        "No sessions in the last day. `a` shows older ones; new ones appear by themselves."
    } else {
        "No matches. Esc shows all sessions again."
    }
}

fn state_width(board: &Board, width: usize) -> usize {
    let widest = || {
        board.cards().iter().map(|card| super::doing_word(&card.activity, card.job.as_ref()).width()).max()
    };
    if width >= ROOMY { STATE } else { widest().unwrap_or(STATE) }
}

fn head(board: &Board, frame: &Frame, width: usize) -> Line<'static> {
    let of = |need: Need| board.cards().iter().filter(|card| card.need() == need).count();
    let bold = Style::new().add_modifier(Modifier::BOLD);
    let (blocked, waiting, working) = (of(Need::Blocked), of(Need::Waiting), of(Need::Working));
    let mut spans = vec![Span::styled(" backstory watch ", bold.add_modifier(Modifier::REVERSED))];
    let counted = [
        (blocked, if blocked == 1 { "needs you" } else { "need you" }, Color::Red),
        (waiting, "waiting", Color::Yellow),
        (working, "working", Color::Green),
    ];
    let mut gap = "  ";
    for (number, what, colour) in counted.into_iter().filter(|(number, ..)| *number > 0) {
        spans.push(Span::raw(std::mem::replace(&mut gap, " · ")));
        spans.push(Span::styled(format!("{number} {what}"), bold.fg(colour)));
    }
    if let Some(trouble) = &frame.trouble {
        spans.push(Span::styled(
            format!("  polling every second: {}", safe(trouble)),
            Style::new().fg(Color::Yellow),
        ));
    }
    cut(spans, width)
}

fn foot(board: &Board, frame: &Frame, width: usize) -> Line<'static> {
    let dim = Style::new().add_modifier(Modifier::DIM);
    if frame.is_typing {
        return cut(vec![Span::raw(format!("/{}█", safe(&board.filter)))], width);
    }
    if let Some(message) = &frame.message {
        return cut(vec![Span::styled(format!(" {}", safe(message)), Style::new().fg(Color::Cyan))], width);
    }
    let filter = if board.filter.is_empty() { String::new() } else { format!(" /{}", safe(&board.filter)) };
    let older = match board.hidden() {
        _ if board.all => " with older: a".to_owned(),
        0 => String::new(),
        hidden => format!(" {hidden} older: a"),
    };
    let all = format!(
        "Enter read  t terminal  r resume  f fork  c copy id  / filter  n {}  ? help  q quit",
        frame.notify
    );
    // The help lists the keys for which there is no room.
    let keys = [
        all.as_str(),
        "Enter read  t terminal  / filter  ? help  q quit",
        "Enter read  / filter  ? help  q quit",
        "? help  q quit",
    ];
    let used = filter.width() + older.width() + 2;
    let fitting = keys.into_iter().find(|keys| used + keys.width() <= width).unwrap_or(keys[3]);
    cut(vec![Span::styled(format!("{filter}{older}  {fitting}"), dim)], width)
}

fn help(width: usize) -> Vec<Line<'static>> {
    let key = |(keys, what): &(&str, &str)| {
        cut(
            vec![
                Span::styled(format!("  {keys:<12}"), Style::new().add_modifier(Modifier::BOLD)),
                Span::raw((*what).to_owned()),
            ],
            width,
        )
    };
    std::iter::once(Line::default()).chain(KEYS.iter().map(key)).collect()
}

fn line(board: &Board, row: &Row, (width, state): (usize, usize), now: Timestamp) -> Line<'static> {
    match row {
        Row::Project { name, sessions } => {
            let name = Span::styled(format!(" {}", safe(name)), Style::new().add_modifier(Modifier::BOLD));
            let count = Span::styled(format!("  {sessions}"), Style::new().add_modifier(Modifier::DIM));
            cut(vec![name, count], width)
        }
        Row::Session(at) => {
            let card = &board.cards()[*at];
            session(card, board.selected.as_ref() == Some(&card.id), (width, state), now)
        }
        Row::Subagent(at, agent) => subagent(&board.cards()[*at], *agent, width, now),
    }
}

#[cfg(test)]
mod tests {
    use model::{BackgroundJob, BackgroundState, QUESTION, SessionInfo, State, SubagentEvent};

    use app::live::watch::Listed;

    use super::super::board::tests::{info, now};
    use super::*;

    fn screen(
        infos: Vec<SessionInfo>,
        width: usize,
        height: usize,
        change: impl FnOnce(&mut Board, &mut Frame),
    ) -> String {
        let mut board = Board::default();
        board.reset(infos);
        board.arrange(now());
        let mut frame = Frame { size: (width, height), notify: "bell", ..Frame::default() };
        change(&mut board, &mut frame);
        let lines = draw(&board, &mut frame, now());
        assert_eq!(lines.len(), height);
        let texts: Vec<String> = lines.iter().map(|line| line.to_string().trim_end().to_owned()).collect();
        for text in &texts {
            assert!(text.width() <= width, "{width}: {text:?}");
        }
        texts.join("\n")
    }

    fn sessions() -> Vec<SessionInfo> {
        let mut asked = info("469a19a4-0000", "web", State::WaitingPermission, 2);
        asked.activity.tool = Some("Bash".into());
        asked.activity.detail = Some("Delete build".into());
        asked.activity.asking = Some("touch build-deleted && rm -rf build\u{1b}[2J".into());
        let mut question = info("beef", "日本語のプロジェクト", State::WaitingInput, 9);
        question.activity.detail = Some(QUESTION.into());
        question.activity.tool = Some("AskUserQuestion".into());
        question.activity.asking = Some("Which colour should the button be?".into());
        let mut working = info("c0ffee", "web", State::ToolUse, 0);
        working.subagents = vec![SubagentEvent {
            session_id: "c0ffee".parse().unwrap(),
            task_id: "t1".into(),
            subagent_id: None,
            parent_task_id: None,
            description: "Count files".into(),
            subagent_type: Some("Explore".into()),
            background: true,
            tool_name: Some("Grep".into()),
            since: None,
        }];
        vec![asked, question, working]
    }

    #[test]
    fn wide() {
        insta::assert_snapshot!(screen(sessions(), 120, 12, |_, _| ()));
    }

    #[test]
    fn middling() {
        insta::assert_snapshot!(screen(sessions(), 72, 10, |_, _| ()));
    }

    #[test]
    fn narrow() {
        insta::assert_snapshot!(screen(sessions(), 40, 10, |_, _| ()));
    }

    #[test]
    fn details_of_the_selected_session() {
        let details = vec![
            "resume: 120k tokens, no longer cached, $0.75".to_owned(),
            "armed: prompt scheduled at `*/5 * * * *`: check the deploy and tell me what is wrong with it"
                .to_owned(),
        ];
        for width in [60, 80, 120] {
            let shown = screen(sessions(), width, 12, |_, frame| frame.details.clone_from(&details));
            insta::assert_snapshot!(format!("details_{width}"), shown);
        }
    }

    #[test]
    fn what_a_row_cuts_off_is_whole_below_the_board() {
        let mut asked = info("469a19a4-0000", "web", State::WaitingPermission, 2);
        asked.activity.tool = Some("Bash".into());
        let command = format!("cargo test --workspace {} --no-fail-fast", "x".repeat(90));
        asked.activity.asking = Some(command.clone());
        for width in [60, 80] {
            let shown = screen(vec![asked.clone()], width, 14, |_, _| ());
            let below = shown.lines().skip(3).map(|line| line.strip_prefix("  ").unwrap_or(line));
            let without_spaces = |text: &str| text.replace([' ', '\n'], "");
            let below = without_spaces(&below.collect::<String>());
            assert!(below.contains(&without_spaces(&format!("Bash: {command}"))), "{shown}");
        }
        let whole = screen(vec![asked], 220, 14, |_, _| ());
        assert_eq!(whole.matches("--no-fail-fast").count(), 1, "{whole}");
    }

    #[test]
    fn help_and_nothing() {
        insta::assert_snapshot!(screen(Vec::new(), 60, 16, |_, frame| frame.help = true));
        insta::assert_snapshot!(screen(Vec::new(), 60, 4, |_, _| ()));
        insta::assert_snapshot!(screen(Vec::new(), 60, 4, |board, _| board.set_facts(Listed::default())));
    }

    #[test]
    fn background_jobs() {
        let job = |id: &str, state, needs: Option<&str>, doing, minutes| {
            let mut info = info(id, "shop", doing, minutes);
            info.background_job = Some(BackgroundJob {
                id: id.into(),
                name: Some("staging deploy".into()),
                state,
                needs: needs.map(Into::into),
                detail: None,
            });
            info
        };
        let mut works = job("b1234567", BackgroundState::Working, None, State::ToolUse, 1);
        works.activity.tool = Some("Bash".into());
        works.activity.detail = Some("Run the tests".into());
        let jobs = vec![
            job("a1234567", BackgroundState::Blocked, Some("set DEPLOY_TOKEN"), State::WaitingInput, 2),
            works,
            job("c1234567", BackgroundState::Done, None, State::WaitingInput, 3),
            job("d1234567", BackgroundState::Failed, None, State::Lost, 4),
            job("e1234567", BackgroundState::Stopped, None, State::Ended, 5),
        ];
        for width in [60, 80, 120] {
            let shown = screen(jobs.clone(), width, 10, |_, _| ());
            insta::assert_snapshot!(format!("jobs_{width}"), shown);
        }
    }

    #[test]
    fn any_size_is_drawn() {
        for width in 0..140 {
            for height in [1, 2, 3, 7, 40] {
                screen(sessions(), width, height, |_, _| ());
            }
        }
    }

    #[test]
    fn the_cursor_is_on_the_screen_wherever_it_is() {
        let many =
            || (0..500).map(|n| info(&format!("s{n:03}"), &format!("p{}", n % 7), State::Idle, n)).collect();
        for steps in [0, 1, 50, 499, 1000] {
            let shown = screen(many(), 80, 10, |board, _| board.step(steps));
            let id = format!("Title of {}", {
                let mut board = Board::default();
                board.reset(many());
                board.arrange(now());
                board.step(steps);
                board.selected().map(|card| card.id.to_string()).unwrap_or_default()
            });
            assert!(shown.contains(&id), "{steps}: {id} in\n{shown}");
        }
    }
}

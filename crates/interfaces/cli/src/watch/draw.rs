//! Draws the board as lines for a terminal of any width. Pure.

use jiff::Timestamp;
use model::{Need as Needed, State};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr as _;

use super::board::{Board, Card, Need, Row};
use crate::text::{age, count, dollars, fit, safe};

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
    /// What there is to know of the selected session.
    pub(crate) details: Vec<String>,
    /// How the person is notified.
    pub(crate) notify: &'static str,
    /// Why the system does not report every change, if it does not.
    pub(crate) trouble: Option<String>,
}

/// The width from which the age is shown.
const WITH_AGE: usize = 48;
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
    ("t", "go to its terminal, or attach to its worker or job"),
    ("r", "continue the session here"),
    ("f", "continue a copy of it here"),
    ("c", "copy its id"),
    ("/", "filter by words; Esc clears the filter"),
    ("a", "show older sessions too"),
    ("n", "notify me: off, bell, notification"),
    ("? q", "this help; quit"),
];

/// All lines of the screen.
pub(crate) fn draw(board: &Board, frame: &mut Frame, now: Timestamp) -> Vec<Line<'static>> {
    let (width, height) = frame.size;
    let mut lines = vec![head(board, frame, width)];
    let details = details(frame, width);
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

/// What there is to know of the selected session, as lines below the board: at most `DETAILS` of them.
fn details(frame: &Frame, width: usize) -> Vec<Line<'static>> {
    if frame.help || frame.size.1 < WITH_DETAILS {
        return Vec::new();
    }
    let texts = frame.details.iter().flat_map(|text| folded(&safe(text), width));
    let style = Style::new().fg(Color::Cyan);
    texts.take(DETAILS).map(|text| Line::styled(text, style)).collect()
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

/// Wraps a text to `width` columns, indented by two.
fn folded(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.width() + 1 + word.width() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(format!("  {word}")),
        }
    }
    lines.into_iter().map(|line| fit(&line, width)).collect()
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
    let mut add = |number: usize, what: &str, colour: Color| {
        if number > 0 {
            spans.push(Span::styled(format!("  {number} {what}"), bold.fg(colour)));
        }
    };
    add(blocked, if blocked == 1 { "needs you" } else { "need you" }, Color::Red);
    add(waiting, if waiting == 1 { "waits" } else { "wait" }, Color::Yellow);
    add(working, if working == 1 { "works" } else { "work" }, Color::Green);
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
    let older = if board.hidden() > 0 { format!(" {} older: a", board.hidden()) } else { String::new() };
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

fn session(card: &Card, is_selected: bool, (width, state): (usize, usize), now: Timestamp) -> Line<'static> {
    let colour = colour(card);
    let mark = match card.need() {
        Need::Blocked => "▶ ",
        Need::Waiting => "● ",
        Need::Working => "◌ ",
        Need::Idle => "  ",
    };
    let since = if card.need() == Need::Idle { card.last } else { card.activity.since };
    let mut spans = vec![
        Span::styled(format!("  {mark}"), colour),
        Span::styled(padded(&super::doing_word(&card.activity, card.job.as_ref()), state), colour),
    ];
    let mut used = 4 + state;
    if width >= WITH_AGE {
        spans.push(Span::styled(
            format!("{:>4}  ", age(now, since)),
            Style::new().add_modifier(Modifier::DIM),
        ));
        used += 6;
    } else {
        spans.push(Span::raw(" "));
        used += 1;
    }
    let tail = tail(card, width);
    let room = width.saturating_sub(used + tail.width());
    let (doing, title) = (doing(card), safe(&card.title));
    // What is asked decides whether the person gets up; the title is for the rest of the line.
    let asks = card.activity.asking.is_some() || card.job.as_ref().is_some_and(|job| job.needs.is_some());
    let (title, doing) = if asks { (doing, title) } else { (title, doing) };
    // What the title leaves, but at least a third of the room.
    let left = room.saturating_sub(title.width()).max(room / 3);
    let split = if doing.is_empty() || room < 40 { 0 } else { left.min(doing.width() + 2) };
    spans.push(Span::raw(padded(&title, room - split)));
    if split > 0 {
        spans.push(Span::styled(padded(&format!("  {doing}"), split), Style::new().fg(Color::Cyan)));
    }
    spans.push(Span::styled(tail, Style::new().add_modifier(Modifier::DIM)));
    let line = cut(spans, width);
    if is_selected { line.patch_style(Style::new().add_modifier(Modifier::REVERSED)) } else { line }
}

/// The context size, cost and id, as far as there is room.
fn tail(card: &Card, width: usize) -> String {
    let cost = card.cost.map_or_else(|| "-".to_owned(), dollars);
    match width {
        90.. => format!("  {:>5}  {cost:>8}  {:<8}", count(card.context), card.id.short()),
        64.. => format!("  {:>5}  {:<8}", count(card.context), card.id.short()),
        _ => String::new(),
    }
}

/// What is asked, or what a background job needs; else the tool and its detail.
fn doing(card: &Card) -> String {
    let activity = &card.activity;
    let needs = card.job.as_ref().and_then(|job| job.needs.as_deref());
    let words = match (&activity.asking, activity.needs()) {
        (Some(question), Some(Needed::Answer)) => [None, Some(question.as_str())],
        (Some(command), _) => [activity.tool.as_deref(), Some(command.as_str())],
        (None, _) if needs.is_some() => [None, needs],
        (None, _) => [activity.tool.as_deref(), activity.detail.as_deref()],
    };
    safe(&words.into_iter().flatten().collect::<Vec<_>>().join(": "))
}

fn subagent(card: &Card, agent: usize, width: usize, now: Timestamp) -> Line<'static> {
    let agent = &card.subagents[agent];
    let depth = if agent.parent_task_id.is_some() { "      " } else { "    " };
    let kind = agent.subagent_type.as_deref().unwrap_or("sub-agent");
    let tool = agent.tool_name.as_deref().map(|tool| format!(" · {tool}")).unwrap_or_default();
    let place = if agent.background { " · in the background" } else { "" };
    let text = format!("{depth}└ {kind}  {}{tool}{place}  {}", agent.description, age(now, agent.since));
    cut(vec![Span::styled(safe(&text), Style::new().fg(Color::Green).add_modifier(Modifier::DIM))], width)
}

fn colour(card: &Card) -> Style {
    match card.need() {
        Need::Blocked => Style::new().fg(Color::Red).add_modifier(Modifier::BOLD),
        Need::Waiting => Style::new().fg(Color::Yellow),
        Need::Working => Style::new().fg(Color::Green),
        Need::Idle if card.activity.state == State::Lost || card.has_failed() => Style::new().fg(Color::Red),
        Need::Idle => Style::new().add_modifier(Modifier::DIM),
    }
}

fn padded(text: &str, width: usize) -> String {
    let shown = fit(text, width);
    let pad = width.saturating_sub(shown.width());
    shown + &" ".repeat(pad)
}

/// Cuts the spans to `width` columns.
fn cut(spans: Vec<Span<'static>>, width: usize) -> Line<'static> {
    let mut left = width;
    let mut kept = Vec::with_capacity(spans.len());
    for span in spans {
        let shown = fit(&span.content, left);
        left -= shown.width().min(left);
        kept.push(Span::styled(shown, span.style));
        if left == 0 {
            break;
        }
    }
    Line::from(kept)
}

#[cfg(test)]
mod tests {
    use model::{BackgroundJob, BackgroundState, QUESTION, SessionInfo, SubagentEvent};

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
            "armed: at `*/5 * * * *` it is asked: check the deploy and tell me what is wrong with it"
                .to_owned(),
        ];
        for width in [60, 80, 120] {
            let shown = screen(sessions(), width, 12, |_, frame| frame.details.clone_from(&details));
            insta::assert_snapshot!(format!("details_{width}"), shown);
        }
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

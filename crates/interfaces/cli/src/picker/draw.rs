//! Draws the picker as lines for a terminal of any size. Pure.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr as _;

use super::Purpose;
use super::preview;
use super::state::{Item, Picker, Scope};
use crate::text::{age_or_date, dollars, fit, safe};

/// The height from which a preview is shown.
const WITH_PREVIEW: usize = 12;
/// The lines of the preview that its heading and its text have at least.
const LEAST_TEXT: usize = 4;
/// The width from which the project is shown.
const WITH_PROJECT: usize = 72;
/// The width from which the cost is shown.
const WITH_COST: usize = 56;
/// The cells of a project's name.
const PROJECT: usize = 14;

/// The keys and what they do, besides Enter.
const KEYS: [(&str, &str); 11] = [
    ("↑ ↓", "move up and down"),
    ("PgUp PgDn", "move by a page"),
    ("Tab", "sessions of this repository only, or of all"),
    ("^O", "read the conversation at this place"),
    ("^F", "continue in a copy (fork)"),
    ("^R", "continue the session (resume)"),
    ("^Y ^E", "copy its id; copy the command that resumes it"),
    ("^S ^B", "scroll the preview"),
    ("^U ^W", "clear the question; delete its last word"),
    ("Esc", "clear the question, then quit"),
    ("project:NAME", "filters among the words: project: branch: file: since: role:"),
];

/// Where the parts of the screen are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(crate) width: usize,
    pub(crate) height: usize,
    /// The first session that is shown.
    pub(crate) top: usize,
}

impl Layout {
    /// The rows of the list.
    pub(crate) fn rows(self) -> usize {
        let room = self.height.saturating_sub(2).max(1);
        if self.height < WITH_PREVIEW { room } else { (room / 2).clamp(4, 16) }
    }

    /// The session on this line of the screen, from 0.
    pub(crate) fn item_at(self, line: usize, items: usize) -> Option<usize> {
        let row = line.checked_sub(1).filter(|row| *row < self.rows())?;
        Some(self.top + row).filter(|item| *item < items)
    }

    fn preview_rows(self) -> usize {
        // The question, the list, a rule, the footer.
        if self.height < WITH_PREVIEW { 0 } else { self.height.saturating_sub(self.rows() + 3) }
    }

    fn scroll_to(&mut self, selected: usize) {
        self.top = self.top.min(selected).max((selected + 1).saturating_sub(self.rows()));
    }
}

/// What of the request the screen needs.
#[derive(Debug, Clone)]
pub(crate) struct Setting {
    pub(crate) purpose: Purpose,
    pub(crate) now: Timestamp,
    pub(crate) zone: TimeZone,
    /// What is read in place of all sessions by Tab: the name of the current directory.
    pub(crate) here: String,
}

/// All lines of the screen.
pub(crate) fn draw(picker: &Picker, layout: &mut Layout, setting: &Setting) -> Vec<Line<'static>> {
    layout.scroll_to(picker.selected);
    let mut lines = vec![head(picker, layout.width, setting)];
    if picker.is_help {
        lines.extend(help(layout.width));
    } else {
        lines.extend(list(picker, *layout, setting));
        if layout.preview_rows() > 0 {
            lines.resize(layout.rows() + 1, Line::default());
            lines.push(Line::styled("─".repeat(layout.width), dim()));
            lines.extend(preview_lines(picker, *layout));
        }
    }
    lines.truncate(layout.height.saturating_sub(1));
    lines.resize(layout.height.saturating_sub(1), Line::default());
    lines.push(foot(picker, layout.width, setting));
    lines
}

fn dim() -> Style {
    Style::new().add_modifier(Modifier::DIM)
}

fn head(picker: &Picker, width: usize, setting: &Setting) -> Line<'static> {
    let scope = match picker.scope {
        Scope::All => "all projects".to_owned(),
        Scope::Here => safe(&setting.here),
    };
    let found = match (picker.is_searching, picker.items.len()) {
        (true, _) => "…".to_owned(),
        (false, 1) => format!("1 {}", listed(setting)),
        (false, number) => format!("{number} {}s", listed(setting)),
    };
    let state = fit(&format!("  {found} · {scope} "), width / 2);
    let room = width.saturating_sub(state.width() + 4);
    let question = safe(&picker.question);
    let shown = crate::text::fit_end(&question, room);
    let pad = " ".repeat(room.saturating_sub(shown.width()));
    let prompt = Style::new().fg(Color::Cyan).add_modifier(Modifier::BOLD);
    Line::from(vec![
        Span::styled(" > ", prompt),
        Span::raw(shown),
        Span::styled("█", prompt),
        Span::styled(format!("{pad}{state}"), dim()),
    ])
}

fn list(picker: &Picker, layout: Layout, setting: &Setting) -> Vec<Line<'static>> {
    if picker.items.is_empty() {
        let nothing = if picker.is_searching { "Searching…" } else { nothing(picker, setting) };
        return vec![Line::styled(format!("   {}", fit(nothing, layout.width.saturating_sub(3))), dim())];
    }
    let shown = picker.items.iter().enumerate().skip(layout.top).take(layout.rows());
    shown.map(|(at, item)| row(item, at == picker.selected, layout.width, setting)).collect()
}

/// What a row is.
fn listed(setting: &Setting) -> &'static str {
    if setting.purpose == Purpose::Recall { "prompt" } else { "session" }
}

fn nothing(picker: &Picker, setting: &Setting) -> &'static str {
    match (picker.scope, picker.question.is_empty()) {
        (Scope::Here, _) => "No matches in this repository. Tab searches all of them.",
        (Scope::All, false) => "No matches. Try fewer or other words.",
        (Scope::All, true) if setting.purpose == Purpose::Recall => "You have not asked anything yet.",
        (Scope::All, true) => "There are no sessions yet.",
    }
}

fn row(item: &Item, is_selected: bool, width: usize, setting: &Setting) -> Line<'static> {
    let at = age_or_date(setting.now, item.at, || setting.zone.clone());
    let mut tail = String::new();
    if width >= WITH_PROJECT {
        tail = format!("  {}", padded(&safe(&item.project), PROJECT));
    }
    if width >= WITH_COST {
        let cost = item.cost.map_or_else(String::new, |cost| format!("~{}", dollars(cost)));
        tail = format!("{tail}  {cost:>9}");
    }
    let mark = if is_selected { "▌" } else { " " };
    let waits = if item.is_waiting { "●" } else { " " };
    let title = if item.title.is_empty() { "(no title)" } else { &item.title };
    let room = width.saturating_sub(10 + tail.width());
    let line = Line::from(vec![
        Span::styled(mark.to_owned(), Style::new().fg(Color::Cyan)),
        Span::styled(waits.to_owned(), Style::new().fg(Color::Red)),
        Span::styled(format!("{at:>6}  "), dim()),
        Span::raw(padded(&safe(title), room)),
        Span::styled(tail, dim()),
    ]);
    if is_selected { line.patch_style(Style::new().add_modifier(Modifier::BOLD)) } else { line }
}

fn preview_lines(picker: &Picker, layout: Layout) -> Vec<Line<'static>> {
    let Some(item) = picker.item() else { return Vec::new() };
    let mut facts = vec![item.id.short().to_owned()];
    facts.extend(
        [&item.project, &item.branch].into_iter().filter(|text| !text.is_empty()).map(|text| safe(text)),
    );
    facts.extend(item.line.map(|line| format!("line {line}")));
    let head = Line::styled(format!(" {}", fit(&facts.join("  "), layout.width.saturating_sub(1))), dim());
    let Some(passages) = &picker.preview else { return vec![head] };
    let known = picker.notes.iter().take(layout.preview_rows().saturating_sub(LEAST_TEXT));
    let known = known.map(|note| Line::styled(fit(&format!(" {}", safe(note)), layout.width), dim()));
    let known: Vec<Line<'static>> = known.collect();
    let (lines, cited) = preview::lines(passages, &picker.question, layout.width.saturating_sub(2));
    let rows = layout.preview_rows().saturating_sub(1 + known.len());
    // The cited text, with a line of what is before it, if all that follows does not fit.
    let begin = if lines.len() <= rows { 0 } else { cited.saturating_sub(1) };
    let top = (begin + picker.preview_top).min(lines.len().saturating_sub(rows));
    let indented = lines.into_iter().skip(top).take(rows).map(|mut line| {
        line.spans.insert(0, Span::raw(" "));
        line
    });
    std::iter::once(head).chain(known).chain(indented).collect()
}

fn foot(picker: &Picker, width: usize, setting: &Setting) -> Line<'static> {
    if let Some(message) = &picker.message {
        return Line::styled(fit(&format!(" {}", safe(message)), width), Style::new().fg(Color::Cyan));
    }
    let enter = match setting.purpose {
        Purpose::Resume => "Enter resume",
        Purpose::Fork => "Enter fork",
        Purpose::Read => "Enter read",
        Purpose::Recall => "Enter take prompt",
    };
    let all = [
        format!(" {enter}  ^F fork  ^O read  ^Y copy id  ^E copy command  Tab scope  ? help  Esc quit"),
        format!(" {enter}  ^F fork  ^O read  ^Y copy id  Tab scope  ? help"),
        format!(" {enter}  ^O read  Tab scope  ? help"),
        format!(" {enter}"),
    ];
    let fitting = all.iter().find(|keys| keys.width() <= width).unwrap_or(&all[3]);
    Line::styled(fit(fitting, width), dim())
}

fn help(width: usize) -> Vec<Line<'static>> {
    let line = |(keys, what): &(&str, &str)| {
        Line::from(vec![
            Span::styled(format!("  {keys:<13}"), Style::new().add_modifier(Modifier::BOLD)),
            Span::raw(fit(what, width.saturating_sub(15))),
        ])
    };
    std::iter::once(Line::default()).chain(KEYS.iter().map(line)).collect()
}

fn padded(text: &str, width: usize) -> String {
    let shown = fit(text, width);
    let pad = width.saturating_sub(shown.width());
    shown + &" ".repeat(pad)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picker::preview::Passage;

    fn item(id: &str, title: &str, at: &str) -> Item {
        Item {
            id: id.parse().unwrap(),
            title: title.to_owned(),
            project: "shop".to_owned(),
            branch: "main".to_owned(),
            at: at.parse().ok(),
            cost: Some(1.25),
            line: Some(569),
            is_waiting: id == "b6b20c21",
            prompt: None,
        }
    }

    fn setting() -> Setting {
        let now = "2026-03-01T12:00:00Z".parse().unwrap();
        Setting { purpose: Purpose::Resume, now, zone: TimeZone::UTC, here: "shop".to_owned() }
    }

    fn picker() -> Picker {
        let mut picker = Picker { question: "inversion of control".to_owned(), ..Picker::default() };
        picker.answer(vec![
            item("b6b20c21", "Phase-aware git hooks: simplify the state machine", "2026-03-01T11:00:00Z"),
            item(
                "0c275b1b",
                "Review of the plan for the state machine, which has a very long title",
                "2026-02-06T11:00:00Z",
            ),
        ]);
        picker.preview = Some(vec![
            Passage { is_user: false, text: "The pattern is in place.".to_owned(), is_cited: false },
            Passage {
                is_user: true,
                text: "there needs to be an inversion of control where the caller passes the required actions to the state machine".to_owned(),
                is_cited: true,
            },
        ]);
        picker.notes = vec![
            "resume: 120k tokens, no longer cached, $0.75".to_owned(),
            "armed: at `*/5 * * * *` it is asked: check the deploy".to_owned(),
        ];
        picker
    }

    fn screen(picker: &Picker, width: usize, height: usize) -> String {
        let mut layout = Layout { width, height, top: 0 };
        let lines = draw(picker, &mut layout, &setting());
        assert_eq!(lines.len(), height);
        let text = |line: &Line<'_>| {
            let text: String = line.spans.iter().map(|span| span.content.as_ref()).collect();
            assert!(text.width() <= width, "{text:?}");
            text.trim_end().to_owned()
        };
        lines.iter().map(text).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn screens() {
        for (width, height) in [(60, 20), (80, 24), (120, 30)] {
            insta::assert_snapshot!(format!("picker_{width}x{height}"), screen(&picker(), width, height));
        }
        let help = Picker { is_help: true, ..picker() };
        insta::assert_snapshot!("picker_help_60x20", screen(&help, 60, 20));
    }

    #[test]
    fn every_size_can_be_drawn() {
        for width in 0..90 {
            for height in [1, 2, 5, 11, 12, 13, 40] {
                if width > 16 {
                    screen(&picker(), width, height);
                }
                draw(&picker(), &mut Layout { width, height, top: 0 }, &setting());
            }
        }
    }

    #[test]
    fn a_click_finds_its_session() {
        let layout = Layout { width: 80, height: 24, top: 3 };
        assert_eq!(layout.item_at(0, 10), None);
        assert_eq!(layout.item_at(1, 10), Some(3));
        assert_eq!(layout.item_at(9, 10), None, "beyond the last session");
        assert_eq!(layout.item_at(20, 100), None, "in the preview");
    }
}

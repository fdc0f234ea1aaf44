//! Draws the picker as lines for a terminal of any size. Pure.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use super::Purpose;
use super::item::{Item, Progress};
use super::layout::Layout;
use super::preview;
use super::state::{Picker, Scope};
use super::typed_line::TypedLine;
use crate::remarks::weak_heading;
use crate::text::{age_or_date, dollars, fit, fit_end, safe};

/// The lines of the preview that its heading and its text have at least.
const LEAST_TEXT: usize = 4;
/// The width from which the project is shown.
const WITH_PROJECT: usize = 72;
/// The width from which the cost is shown.
const WITH_COST: usize = 56;
/// The most cells of a project's name.
const PROJECT: usize = 14;

/// The keys and what they do, besides Enter.
const KEYS: [(&str, &str); 15] = [
    ("↑ ↓", "move up and down"),
    ("PgUp PgDn", "move by a page; ^Home ^End: to an end"),
    ("Tab", "sessions of this repository only, or of all"),
    ("^O", "read the conversation at this place"),
    ("^F", "continue in a copy (fork)"),
    ("^R", "continue the session (resume)"),
    ("^Y ^X", "copy its id; copy the command that resumes it"),
    ("^G", "open a shell in its directory"),
    ("^T", "go to the terminal that has it open (tmux)"),
    ("^S ^B", "scroll the preview; so does the mouse wheel"),
    ("← → ^A ^E", "move in the question; to its start and end"),
    ("^U ^W", "delete what is before the cursor; one word"),
    ("Esc", "clear the question, then quit"),
    ("F1 ?", "this help; ? only while nothing is typed"),
    ("filters", "project: branch: file: since: role: tag:"),
];

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
    layout.remarks = layout.remarks_of(picker.remarks.len());
    layout.preview = (0, 0);
    layout.good = picker.good();
    layout.scroll_to(picker.selected, picker.items.len());
    let mut lines = vec![head(picker, layout.width, setting)];
    if picker.is_help {
        lines.extend(help(layout.width));
    } else {
        let remarks = picker.remarks.iter().take(layout.remarks);
        lines.extend(remarks.map(|text| Line::styled(fit(&format!("   {text}"), layout.width), dim())));
        lines.extend(list(picker, *layout, setting));
        if layout.preview_rows() > 0 {
            lines.resize(layout.rows() + layout.remarks + 1, Line::default());
            lines.push(Line::styled("─".repeat(layout.width), dim()));
            lines.extend(preview_lines(picker, layout));
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
    let state = found(picker, setting, width / 2);
    let room = width.saturating_sub(state.width() + 4);
    let prompt = Style::new().fg(Color::Cyan).add_modifier(Modifier::BOLD);
    let mut spans = vec![Span::styled(" > ", prompt)];
    spans.extend(question(&picker.question, room, prompt));
    let used: usize = spans.iter().map(Span::width).sum();
    let pad = " ".repeat((room + 4).saturating_sub(used));
    spans.push(Span::styled(format!("{pad}{state}"), dim()));
    Line::from(spans)
}

/// How many there are, and of which projects; in as many words as there is room for.
fn found(picker: &Picker, setting: &Setting, room: usize) -> String {
    let (scope, short_scope) = match picker.scope {
        Scope::All => ("all projects".to_owned(), "all".to_owned()),
        Scope::Here => (safe(&setting.here), safe(&setting.here)),
    };
    if picker.is_searching() {
        return fit(&format!("  … · {scope} "), room);
    }
    let (shown, total) = (picker.items.len(), picker.total);
    // What hardly matches is listed, too, and not counted.
    let shown = picker.good().unwrap_or(shown).min(usize::try_from(total).unwrap_or(shown));
    let number = if total > shown as u64 { format!("{shown} of {total}") } else { shown.to_string() };
    let s = if number == "1" { "" } else { "s" };
    let whole = format!("  {number} {}{s} · {scope} ", listed(setting));
    if whole.width() <= room { whole } else { fit(&format!("  {number} · {short_scope} "), room) }
}

/// The question around its cursor, which takes a cell of its own at the end only.
fn question(line: &TypedLine, room: usize, cursor: Style) -> Vec<Span<'static>> {
    let (before, behind) = line.halves();
    let (before, behind) = (safe(before), safe(behind));
    let mut letters = behind.chars();
    let Some(under) = letters.next() else {
        return vec![Span::raw(fit_end(&before, room)), Span::styled("█", cursor)];
    };
    let kept = behind.width().min(room / 2);
    let before = fit_end(&before, room.saturating_sub(kept));
    let rest = fit(letters.as_str(), room.saturating_sub(before.width() + under.width().unwrap_or(0)));
    let reversed = Style::new().add_modifier(Modifier::REVERSED);
    vec![Span::raw(before), Span::styled(under.to_string(), reversed), Span::raw(rest)]
}

fn list(picker: &Picker, layout: Layout, setting: &Setting) -> Vec<Line<'static>> {
    if picker.items.is_empty() {
        let nothing = match picker.progress {
            Progress::Awaited => "Searching…",
            Progress::Refused => "",
            Progress::Answered | Progress::WithoutLastFilter => nothing(picker, setting),
        };
        return vec![Line::styled(format!("   {}", fit(nothing, layout.width.saturating_sub(3))), dim())];
    }
    let columns = Columns { width: layout.width, project: project_width(&picker.items, layout.width) };
    let shown = (layout.top..).take(layout.rows()).map_while(|at| match layout.item_in(at) {
        Some(item) => Some(row(picker.items.get(item)?, item == picker.selected, columns, setting)),
        None => Some(Line::styled(fit(&format!("   {}", weak_heading(false)), layout.width), dim())),
    });
    shown.collect()
}

/// What a row is.
fn listed(setting: &Setting) -> &'static str {
    if setting.purpose == Purpose::Recall { "prompt" } else { "session" }
}

fn nothing(picker: &Picker, setting: &Setting) -> &'static str {
    match (picker.scope, picker.question.text().is_empty()) {
        (Scope::Here, true) => "None in this directory's repository. Tab lists all projects.",
        (Scope::Here, false) => "No matches here. Tab searches all projects.",
        (Scope::All, false) => "No matches. Try fewer or other words.",
        (Scope::All, true) if setting.purpose == Purpose::Recall => "You have not asked anything yet.",
        (Scope::All, true) => "There are no sessions yet.",
    }
}

/// The width of a row, and of the project's name in it; 0 where that is not shown.
#[derive(Debug, Clone, Copy)]
struct Columns {
    width: usize,
    project: usize,
}

/// As wide as the longest name, where the names tell sessions apart and there is room.
fn project_width(items: &[Item], width: usize) -> usize {
    let differs = items.windows(2).any(|two| two[0].project != two[1].project);
    if width < WITH_PROJECT || !differs {
        return 0;
    }
    items.iter().map(|item| item.project.width()).max().unwrap_or_default().min(PROJECT)
}

fn row(item: &Item, is_selected: bool, columns: Columns, setting: &Setting) -> Line<'static> {
    let at = age_or_date(setting.now, item.at, || setting.zone.clone());
    let mut tail = String::new();
    if columns.project > 0 {
        tail = format!("  {}", padded(&safe(&item.project), columns.project));
    }
    if columns.width >= WITH_COST {
        let cost = item.cost.map_or_else(String::new, |cost| format!("~{}", dollars(cost)));
        tail = format!("{tail}  {cost:>9}");
    }
    let mark = if is_selected { "▌" } else { " " };
    let waits = if item.is_waiting { "●" } else { " " };
    let title = match item.title.as_str() {
        "" if item.is_lost => "(deleted before its title was read)",
        "" => "(no title)",
        title => title,
    };
    let room = columns.width.saturating_sub(10 + tail.width());
    let line = Line::from(vec![
        Span::styled(mark.to_owned(), Style::new().fg(Color::Cyan)),
        Span::styled(waits.to_owned(), Style::new().fg(Color::Red)),
        Span::styled(format!("{at:>6}  "), dim()),
        Span::raw(padded(&safe(&[&item.signs, title].concat()), room)),
        Span::styled(tail, dim()),
    ]);
    match (is_selected, item.is_weak) {
        (true, _) => line.patch_style(Style::new().add_modifier(Modifier::BOLD)),
        (false, true) => line.patch_style(dim()),
        (false, false) => line,
    }
}

fn preview_lines(picker: &Picker, layout: &mut Layout) -> Vec<Line<'static>> {
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
    let page = preview::lines(passages, picker.question.text(), layout.width.saturating_sub(2));
    let rows = layout.preview_rows().saturating_sub(1 + known.len());
    let last = page.lines.len().saturating_sub(rows);
    let begin = page.begin(rows);
    let far = |lines: usize| isize::try_from(lines).unwrap_or(isize::MAX);
    layout.preview = (-far(begin), far(last - begin));
    let top = begin.saturating_add_signed(picker.preview_top).min(last);
    let mut lines = page.lines;
    if picker.preview_top == 0 && top > page.cited && page.marked > page.cited {
        // Who speaks is said where a passage begins in its middle, too.
        let heading = lines.get(page.cited).cloned();
        if let (Some(first), Some(heading)) = (lines.get_mut(top), heading) {
            *first = heading;
        }
    }
    let is_blank = lines.get(top).is_some_and(|line| line.width() == 0);
    let top = if is_blank && picker.preview_top == 0 { top + 1 } else { top };
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
    let (enter, first, second) = match setting.purpose {
        Purpose::Resume | Purpose::Fork if picker.is_lost() => {
            ("deleted, no copy", "^O what is left", "^Y copy id")
        }
        Purpose::Resume => ("Enter resume", "^F fork", "^O read"),
        Purpose::Fork => ("Enter fork", "^R resume", "^O read"),
        Purpose::Read => ("Enter read", "^R resume", "^F fork"),
        Purpose::Recall => ("Enter take prompt", "^R resume", "^O read"),
        Purpose::Take(verb) => (&*format!("Enter {verb}"), "^R resume", "^O read"),
    };
    let (help, esc) =
        if picker.question.text().is_empty() { ("? help", "quit") } else { ("F1 help", "clear") };
    let start = format!(" {enter}  {first}  {second}");
    let all = [
        format!(
            "{start}  ^G directory  ^T terminal  ^Y copy id  ^X copy command  Tab scope  {help}  Esc {esc}"
        ),
        format!("{start}  ^G directory  ^Y copy id  Tab scope  {help}"),
        format!("{start}  ^Y copy id  Tab scope  {help}"),
        format!("{start}  Tab scope  {help}"),
        format!(" {enter}  Tab scope  {help}"),
        format!(" {enter}"),
    ];
    let fitting = all.iter().find(|keys| keys.width() <= width).unwrap_or(&all[5]);
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
    use crate::picker::item::Listing;
    use crate::picker::preview::{Passage, Speaker};
    use crate::picker::typed_line::Reach;

    fn item(id: &str, title: &str, at: &str) -> Item {
        Item {
            title: title.to_owned(),
            project: "shop".to_owned(),
            branch: "main".to_owned(),
            at: at.parse().ok(),
            cost: Some(1.25),
            line: Some(569),
            is_waiting: id == "b6b20c21",
            ..Item::of(id.parse().unwrap())
        }
    }

    fn setting() -> Setting {
        let now = "2026-03-01T12:00:00Z".parse().unwrap();
        Setting { purpose: Purpose::Resume, now, zone: TimeZone::UTC, here: "shop".to_owned() }
    }

    fn picker() -> Picker {
        let mut picker = Picker { question: "inversion of control".into(), ..Picker::default() };
        let mut items = vec![
            item("b6b20c21", "Phase-aware git hooks: simplify the state machine", "2026-03-01T11:00:00Z"),
            item(
                "0c275b1b",
                "Review of the plan for the state machine, which has a very long title",
                "2026-02-06T11:00:00Z",
            ),
        ];
        items[1].project = "harbor-api".to_owned();
        picker.answer(Listing { items, total: 132, ..Listing::default() });
        picker.preview = Some(vec![
            Passage { speaker: Speaker::Claude, text: "The pattern is in place.".to_owned(), is_cited: false },
            Passage {
                speaker: Speaker::Person,
                text: "there needs to be an inversion of control where the caller passes the required actions to the state machine".to_owned(),
                is_cited: true,
            },
        ]);
        picker.notes = vec![
            "resume: 120k tokens, no longer cached, $0.75".to_owned(),
            "armed: prompt scheduled at `*/5 * * * *`: check the deploy".to_owned(),
        ];
        picker
    }

    fn screen(picker: &Picker, width: usize, height: usize) -> String {
        let mut layout = Layout { width, height, ..Layout::default() };
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
    fn a_project_that_is_the_same_in_all_rows_has_no_column() {
        let mut picker = picker();
        assert!(screen(&picker, 80, 24).contains("  harbor-api  "));
        picker.items[1].project = "shop".to_owned();
        let rows = screen(&picker, 80, 24);
        let row = rows.lines().nth(2).unwrap();
        assert!(row.contains("which has a very…") && !row.contains("shop"), "{row}");
    }

    #[test]
    fn every_size_can_be_drawn() {
        for width in 0..90 {
            for height in [1, 2, 5, 11, 12, 13, 40] {
                if width > 16 {
                    screen(&picker(), width, height);
                }
                draw(&picker(), &mut Layout { width, height, ..Layout::default() }, &setting());
            }
        }
    }

    #[test]
    fn what_is_to_know_about_an_answer_is_above_it() {
        let mut picker = picker();
        picker.remarks = vec![
            "No good matches. The nearest:".to_owned(),
            "No session has the word `gpg`.".to_owned(),
            "3 files".to_owned(),
        ];
        picker.items[1].is_weak = true;
        let shown = screen(&picker, 80, 24);
        let lines: Vec<&str> = shown.lines().collect();
        assert!(lines[0].contains("1 of 132 sessions"), "weak matches are not counted: {shown}");
        assert_eq!(lines[1..3], ["   No good matches. The nearest:", "   No session has the word `gpg`."]);
        assert!(lines[3].contains("Phase-aware"), "{shown}");
        let layout = Layout { width: 80, height: 24, remarks: 2, ..Layout::default() };
        assert_eq!((layout.item_at(3, 2), layout.item_at(2, 2)), (Some(0), None));
    }

    #[test]
    fn weak_matches_are_below_a_line() {
        let mut picker = picker();
        picker.items[1].is_weak = true;
        let shown = screen(&picker, 80, 24);
        let lines: Vec<&str> = shown.lines().collect();
        assert!(lines[1].contains("Phase-aware") && lines[3].contains("Review of the plan"), "{shown}");
        assert_eq!(lines[2], "   Weak matches:");
        let layout = Layout { width: 80, height: 24, good: Some(1), ..Layout::default() };
        assert_eq!([1, 2, 3, 4].map(|line| layout.item_at(line, 2)), [Some(0), None, Some(1), None]);
        // Where all are weak, the heading above them says so.
        picker.items[0].is_weak = true;
        assert!(!screen(&picker, 80, 24).contains("Weak matches:"));
    }

    #[test]
    fn what_was_scrolled_away_comes_back_with_the_room_for_it() {
        let items: Vec<Item> = (0..12)
            .map(|at| item(&format!("s{at}"), &format!("About {at}"), "2026-03-01T11:00:00Z"))
            .collect();
        let mut picker = Picker::default();
        picker.answer(Listing { items, total: 12, ..Listing::default() });
        picker.select(11);
        let mut layout = Layout { width: 60, height: 10, ..Layout::default() };
        draw(&picker, &mut layout, &setting());
        assert_eq!(layout.top, 4);
        layout.height = 40;
        draw(&picker, &mut layout, &setting());
        assert_eq!(layout.top, 0);
    }

    #[test]
    fn the_cursor_is_in_the_question() {
        let mut line = TypedLine::from("inversion of control");
        let shown = |line: &TypedLine, room: usize| -> Vec<String> {
            question(line, room, Style::new()).into_iter().map(|span| span.content.into_owned()).collect()
        };
        assert_eq!(shown(&line, 40), ["inversion of control", "█"]);
        assert_eq!(shown(&line, 8), ["…control", "█"]);
        line.move_back(Reach::Word);
        assert_eq!(shown(&line, 40), ["inversion of ", "c", "ontrol"]);
        assert_eq!(shown(&line, 12), ["…n of ", "c", "ontr…"]);
        line.move_back(Reach::Line);
        assert_eq!(shown(&line, 6), ["", "i", "nver…"]);
    }

    #[test]
    fn the_preview_begins_with_who_says_what_was_found() {
        let shown = screen(&picker(), 60, 20);
        let after_rule: Vec<&str> =
            shown.lines().skip_while(|line| !line.starts_with(" armed")).skip(1).collect();
        assert_eq!(
            after_rule[..2],
            [" You", " there needs to be an inversion of control where the caller"],
            "{shown}"
        );
        let mut layout = Layout { width: 60, height: 20, ..Layout::default() };
        draw(&picker(), &mut layout, &setting());
        assert!(layout.preview.0 < 0 && layout.is_preview(18) && !layout.is_preview(3), "{layout:?}");
        let up = Picker { preview_top: layout.preview.0, ..picker() };
        assert!(screen(&up, 60, 20).contains("The pattern is in place."));
    }

    #[test]
    fn the_preview_has_the_words_in_the_middle_of_a_long_passage_and_who_says_them() {
        let mut picker = picker();
        let text = format!("{}\n\nThe inversion of control.\n\nThe end.", vec!["Filler."; 60].join("\n\n"));
        picker.preview = Some(vec![Passage { speaker: Speaker::Summary, text, is_cited: true }]);
        let shown = screen(&picker, 60, 20);
        assert!(
            shown.contains("\n Summary\n") && shown.contains("\n The inversion of control.\n"),
            "{shown}"
        );
    }

    #[test]
    fn pins_and_tags_are_before_the_title() {
        let mut picker = picker();
        picker.items[0].signs = "★ #hooks ".to_owned();
        assert!(screen(&picker, 80, 24).contains("★ #hooks Phase-aware git hooks"));
    }
}

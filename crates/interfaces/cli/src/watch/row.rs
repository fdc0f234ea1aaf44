//! Draws one session, or one of its sub-agents, as a line of the board. Pure.

use jiff::Timestamp;
use model::{Need as Needed, State};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr as _;

use super::board::{Card, Need};
use crate::text::{age, count, dollars, fit, safe};

/// The width from which the age is shown.
const WITH_AGE: usize = 48;

/// A session; `state` is the width of the column of states.
pub(super) fn session(
    card: &Card,
    is_selected: bool,
    (width, state): (usize, usize),
    now: Timestamp,
) -> Line<'static> {
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
pub(super) fn doing(card: &Card) -> String {
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

/// A sub-agent, below its session.
pub(super) fn subagent(card: &Card, agent: usize, width: usize, now: Timestamp) -> Line<'static> {
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
        Need::Waiting if card.has_failed() => Style::new().fg(Color::Red),
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
pub(super) fn cut(spans: Vec<Span<'static>>, width: usize) -> Line<'static> {
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

//! Styled lines for a full-screen view.

use anstyle::{AnsiColor, Color, Effects};
use ratatui::style::{self, Modifier};
use ratatui::text::{Line, Span};

use super::line::StyledLine;

/// The line as a screen draws it.
pub(crate) fn screen_line(line: StyledLine) -> Line<'static> {
    let spans = line.0.into_iter().map(|text| Span::styled(text.text, screen_style(text.style)));
    Line::from(spans.collect::<Vec<_>>())
}

fn screen_style(from: anstyle::Style) -> style::Style {
    const EFFECTS: [(Effects, Modifier); 5] = [
        (Effects::BOLD, Modifier::BOLD),
        (Effects::DIMMED, Modifier::DIM),
        (Effects::ITALIC, Modifier::ITALIC),
        (Effects::UNDERLINE, Modifier::UNDERLINED),
        (Effects::STRIKETHROUGH, Modifier::CROSSED_OUT),
    ];
    let mut to = style::Style::new();
    if let Some(Color::Ansi(colour)) = from.get_fg_color() {
        to = to.fg(screen_colour(colour));
    }
    for (effect, modifier) in EFFECTS {
        if from.get_effects().contains(effect) {
            to = to.add_modifier(modifier);
        }
    }
    to
}

fn screen_colour(colour: AnsiColor) -> style::Color {
    use style::Color as To;
    match colour {
        AnsiColor::Black => To::Black,
        AnsiColor::Red => To::Red,
        AnsiColor::Green => To::Green,
        AnsiColor::Yellow => To::Yellow,
        AnsiColor::Blue => To::Blue,
        AnsiColor::Magenta => To::Magenta,
        AnsiColor::Cyan => To::Cyan,
        AnsiColor::White => To::Gray,
        AnsiColor::BrightBlack => To::DarkGray,
        AnsiColor::BrightRed => To::LightRed,
        AnsiColor::BrightGreen => To::LightGreen,
        AnsiColor::BrightYellow => To::LightYellow,
        AnsiColor::BrightBlue => To::LightBlue,
        AnsiColor::BrightMagenta => To::LightMagenta,
        AnsiColor::BrightCyan => To::LightCyan,
        AnsiColor::BrightWhite => To::White,
    }
}

#[cfg(test)]
mod tests {
    use anstyle::Style;

    use super::*;

    #[test]
    fn styles_are_kept() {
        let line = StyledLine::of("x", Style::new().bold().italic() | Effects::UNDERLINE);
        let shown = screen_line(line).spans.remove(0).style;
        assert_eq!(shown.add_modifier, Modifier::BOLD | Modifier::ITALIC | Modifier::UNDERLINED);
        let line = StyledLine::of("x", AnsiColor::Cyan.on_default());
        assert_eq!(screen_line(line).spans.remove(0).style.fg, Some(style::Color::Cyan));
    }
}

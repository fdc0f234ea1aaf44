//! Aligned columns: each as wide as its widest cell, some of them giving way when the line is too long.

use std::io::{self, Write};

use anstyle::Style;
use unicode_width::UnicodeWidthStr as _;

use crate::text::{fit, fit_end, safe};

/// What lies between two columns.
const GAP: usize = 2;
/// The least a column that gives way is cut to.
const LEAST: usize = 7;

/// A column's head and manner.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Column {
    /// Its head.
    pub(crate) head: &'static str,
    /// How its cells lie.
    pub(crate) lies: Lies,
    /// The most cells it may have.
    pub(crate) most: usize,
}

/// How the text of a column lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lies {
    /// To the left.
    Left,
    /// To the right: numbers.
    Right,
    /// To the left, and cut when the line would be too long; of several, the widest is cut first.
    GivesWay,
    /// The same, but its end is kept: paths.
    KeepsEnd,
}

impl Lies {
    fn gives_way(self) -> bool {
        matches!(self, Self::GivesWay | Self::KeepsEnd)
    }
}

/// A piece of a row.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cell {
    text: String,
    style: Style,
}

impl Cell {
    /// Plain text, made safe for a terminal.
    pub(crate) fn new(text: &str) -> Self {
        Self { text: safe(text), style: Style::new() }
    }

    /// Text in a style.
    pub(crate) fn styled(text: &str, style: Style) -> Self {
        Self { style, ..Self::new(text) }
    }
}

/// Writes rows under their heads in lines of at most `width` cells where that is possible.
pub(crate) fn table(
    out: &mut impl Write,
    width: usize,
    columns: &[Column],
    rows: &[Vec<Cell>],
) -> io::Result<()> {
    let widths = widths(width, columns, rows);
    let heads: Vec<Cell> =
        columns.iter().map(|column| Cell::styled(column.head, Style::new().dimmed())).collect();
    for row in std::iter::once(&heads).chain(rows) {
        line(out, columns, &widths, row)?;
    }
    Ok(())
}

fn widths(width: usize, columns: &[Column], rows: &[Vec<Cell>]) -> Vec<usize> {
    let widest = |at: usize| rows.iter().filter_map(|row| row.get(at)).map(|cell| cell.text.width()).max();
    let mut widths: Vec<usize> = columns
        .iter()
        .enumerate()
        .map(|(at, column)| widest(at).unwrap_or(0).min(column.most).max(column.head.width()))
        .collect();
    let whole = widths.iter().sum::<usize>() + GAP * columns.len().saturating_sub(1);
    let giving: Vec<usize> = (0..columns.len()).filter(|at| columns[*at].lies.gives_way()).collect();
    cut_widest(&mut widths, &giving, whole.saturating_sub(width));
    widths
}

/// Takes so many cells from those columns, always from the widest, of equals from the last.
fn cut_widest(widths: &mut [usize], giving: &[usize], too_much: usize) {
    for _ in 0..too_much {
        let widest = giving.iter().copied().max_by_key(|at| (widths[*at], *at));
        match widest.filter(|at| widths[*at] > LEAST) {
            Some(at) => widths[at] -= 1,
            None => return,
        }
    }
}

fn line(out: &mut impl Write, columns: &[Column], widths: &[usize], row: &[Cell]) -> io::Result<()> {
    let mut text = String::new();
    for ((column, &width), cell) in columns.iter().zip(widths).zip(row) {
        let cut = if column.lies == Lies::KeepsEnd { fit_end } else { fit };
        let shown = cut(&cell.text, width);
        let pad = " ".repeat(width - shown.width());
        let style = cell.style;
        let (before, after) =
            if column.lies == Lies::Right { (pad.as_str(), "") } else { ("", pad.as_str()) };
        text.extend([before, &style.render().to_string(), &shown, &style.render_reset().to_string(), after]);
        text += &" ".repeat(GAP);
    }
    writeln!(out, "{}", text.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_align_whatever_is_in_them() {
        let column = |head, lies| Column { head, lies, most: 30 };
        let columns = [column("NAME", Lies::GivesWay), column("N", Lies::Right), column("ID", Lies::Left)];
        let row = |name: &str, number: &str, id: &str| [name, number, id].map(Cell::new).to_vec();
        let rows = [row("日本語のセッション名前を切る", "7", "a"), row("plain\u{1b}[31m", "12", "bcd")];
        let mut out = Vec::new();
        table(&mut out, 27, &columns, &rows).unwrap();
        let text = anstream::adapter::strip_str(std::str::from_utf8(&out).unwrap()).to_string();
        let expected = "NAME                 N  ID\n日本語のセッショ…    7  a\nplain [31m          12  bcd\n";
        assert_eq!(text, expected);
    }
}

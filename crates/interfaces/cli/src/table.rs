//! Tables of aligned columns, one line for each row, cut to the width of the terminal.
//!
//! Table libraries wrap long cells or cut all columns alike; here the columns that name things are cut, the widest
//! first, and a path is cut at its start.

use std::io::{self, Write};

use anstyle::Style;
use unicode_width::UnicodeWidthStr as _;

use crate::text::{fit, fit_end, safe};

/// The spaces between two columns.
const GAP: usize = 2;
/// The least width to which a column is truncated, in cells.
const LEAST: usize = 7;

/// A column of a table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Column {
    /// The text above its cells.
    pub(crate) head: &'static str,
    /// How its cells are aligned, and whether they may be truncated.
    pub(crate) align: Align,
    /// Its greatest width, in terminal cells.
    pub(crate) max_width: usize,
}

/// How the cells of a column are aligned, and whether they may be truncated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Align {
    /// To the left.
    Left,
    /// To the right: numbers.
    Right,
    /// To the left, and cut at the end where the line would be too long; of several, the widest is cut first.
    TruncateEnd,
    /// To the left, and cut at the start where the line would be too long: paths.
    TruncateStart,
}

impl Align {
    fn is_truncated(self) -> bool {
        matches!(self, Self::TruncateEnd | Self::TruncateStart)
    }
}

/// One cell of a row.
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

/// Writes the heads and rows in lines of at most `width` cells, as far as that is possible.
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
        .map(|(at, column)| widest(at).unwrap_or(0).min(column.max_width).max(column.head.width()))
        .collect();
    let whole = widths.iter().sum::<usize>() + GAP * columns.len().saturating_sub(1);
    let truncated: Vec<usize> = (0..columns.len()).filter(|at| columns[*at].align.is_truncated()).collect();
    cut_widest(&mut widths, &truncated, whole.saturating_sub(width));
    widths
}

/// Narrows the truncated columns by `too_much` cells in all, always the widest one, and of equals the last.
fn cut_widest(widths: &mut [usize], truncated: &[usize], too_much: usize) {
    for _ in 0..too_much {
        let widest = truncated.iter().copied().max_by_key(|at| (widths[*at], *at));
        match widest.filter(|at| widths[*at] > LEAST) {
            Some(at) => widths[at] -= 1,
            None => return,
        }
    }
}

fn line(out: &mut impl Write, columns: &[Column], widths: &[usize], row: &[Cell]) -> io::Result<()> {
    let mut text = String::new();
    for ((column, &width), cell) in columns.iter().zip(widths).zip(row) {
        let cut = if column.align == Align::TruncateStart { fit_end } else { fit };
        let shown = cut(&cell.text, width);
        let pad = " ".repeat(width - shown.width());
        let style = cell.style;
        let (before, after) =
            if column.align == Align::Right { (pad.as_str(), "") } else { ("", pad.as_str()) };
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
        let column = |head, align| Column { head, align, max_width: 30 };
        let columns =
            [column("NAME", Align::TruncateEnd), column("N", Align::Right), column("ID", Align::Left)];
        let row = |name: &str, number: &str, id: &str| [name, number, id].map(Cell::new).to_vec();
        let rows = [row("日本語のセッション名前を切る", "7", "a"), row("plain\u{1b}[31m", "12", "bcd")];
        let mut out = Vec::new();
        table(&mut out, 27, &columns, &rows).unwrap();
        let text = anstream::adapter::strip_str(std::str::from_utf8(&out).unwrap()).to_string();
        let expected = "NAME                 N  ID\n日本語のセッショ…    7  a\nplain [31m          12  bcd\n";
        assert_eq!(text, expected);
    }
}

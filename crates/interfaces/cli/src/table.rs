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

/// The width to which a column that is cut last is truncated as the others are, in cells.
pub(crate) const ROOMY: usize = 40;

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
    /// Text begins at the column's left edge.
    Left,
    /// To the right: numbers.
    Right,
    /// To the left, and cut at the end where the line would be too long; of several, the widest is cut first.
    TruncateEnd,
    /// To the left, and cut at the start where the line would be too long: paths.
    TruncateStart,
    /// To the left, and cut at the end; below [`ROOMY`] cells only where cutting all others is not enough. What a reader
    /// looks for.
    TruncateLast,
}

impl Align {
    /// The least width of a column whose widest cell has `width` cells.
    pub(crate) fn least(self, width: usize) -> usize {
        if self == Self::Left || self == Self::Right { width } else { width.min(LEAST) }
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

    /// The text, safe for a terminal.
    pub(crate) fn text(&self) -> &str {
        &self.text
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
    let mut too_much = whole.saturating_sub(width);
    for floors in [ROOMY, LEAST] {
        too_much = cut_widest(&mut widths, columns, floors, too_much);
    }
    widths
}

/// Narrows the columns that may be truncated by `too_much` cells in all, always the widest one, and of equals the last,
/// those with [`Align::TruncateLast`] down to `floor`. Returns how much is still too much.
fn cut_widest(widths: &mut [usize], columns: &[Column], floor: usize, too_much: usize) -> usize {
    for cut in 0..too_much {
        let floor = |at: &usize| match columns[*at].align {
            Align::Left | Align::Right => usize::MAX,
            Align::TruncateEnd | Align::TruncateStart => LEAST,
            Align::TruncateLast => floor,
        };
        let may_be_cut = (0..widths.len()).filter(|at| widths[*at] > floor(at));
        match may_be_cut.max_by_key(|at| (widths[*at], *at)) {
            Some(at) => widths[at] -= 1,
            None => return too_much - cut,
        }
    }
    0
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
    fn what_a_reader_looks_for_is_cut_last() {
        let column = |align| Column { head: "", align, max_width: 30 };
        let columns = [column(Align::TruncateLast), column(Align::TruncateEnd)];
        let rows = [["a title of twenty ch", "a branch of twenty c"].map(Cell::new).to_vec()];
        let check =
            |width, expected: [usize; 2]| assert_eq!(widths(width, &columns, &rows), expected, "{width}");
        check(50, [20, 20]);
        check(35, [20, 13]);
        check(20, [11, 7]);
        check(10, [7, 7]);
        let wide = Column { max_width: 90, ..columns[0] };
        let rows = [["x".repeat(90), "y".repeat(20)].map(|text| Cell::new(&text)).to_vec()];
        assert_eq!(widths(70, &[wide, columns[1]], &rows), [48, 20]);
    }

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
        let expected = "NAME                 N  ID\n日本語のセッショ…    7  a\nplain               12  bcd\n";
        assert_eq!(text, expected);
    }
}

//! Lays a Markdown table out: columns as wide as they have to be, their cells wrapped where all together are too wide.
//! Where there is no room for columns at all, each row is a list of its cells.

use anstyle::Style;
use pulldown_cmark::Alignment;

use super::line::{LongWords, StyledLine, StyledText, wrapped};

/// What separates two columns, and its width.
const BETWEEN: (&str, usize) = (" │ ", 3);
/// The least width of a column whose cells are wrapped.
const LEAST: usize = 8;

/// A table while it is read.
#[derive(Debug, Default)]
pub(super) struct Table {
    pub(super) alignments: Vec<Alignment>,
    /// The rows; the first is the head.
    pub(super) rows: Vec<Vec<Vec<StyledText>>>,
}

impl Table {
    /// Its lines of at most `width` cells.
    pub(super) fn lines(&self, width: usize) -> Vec<StyledLine> {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or_default();
        let natural: Vec<usize> = (0..columns).map(|column| self.natural(column)).collect();
        let room = width.saturating_sub(BETWEEN.1 * columns.saturating_sub(1));
        match shared(&natural, room) {
            Some(widths) => self.columns(&widths),
            None => self.list(width),
        }
    }

    /// The width of a column's widest cell.
    fn natural(&self, column: usize) -> usize {
        let cells = self.rows.iter().filter_map(|row| row.get(column));
        let lines = cells.flat_map(|cell| wrapped(cell, usize::MAX, LongWords::Keep));
        lines.map(|line| line.width()).max().unwrap_or_default()
    }

    fn columns(&self, widths: &[usize]) -> Vec<StyledLine> {
        let mut lines = Vec::new();
        for (number, row) in self.rows.iter().enumerate() {
            lines.extend(self.row(row, widths));
            if number == 0 {
                let rules: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
                lines.push(StyledLine::of(&rules.join("─┼─"), Style::new().dimmed()));
            }
        }
        lines
    }

    fn row(&self, row: &[Vec<StyledText>], widths: &[usize]) -> Vec<StyledLine> {
        let empty = Vec::new();
        let cells = widths
            .iter()
            .enumerate()
            .map(|(column, width)| wrapped(row.get(column).unwrap_or(&empty), *width, LongWords::Break));
        let cells: Vec<Vec<StyledLine>> = cells.collect();
        let height = cells.iter().map(Vec::len).max().unwrap_or_default();
        let line = |number: usize| {
            let mut line = StyledLine::default();
            for (column, (cell, width)) in cells.iter().zip(widths).enumerate() {
                if column > 0 {
                    line.push(StyledText::new(BETWEEN.0, Style::new().dimmed()));
                }
                let is_last = column + 1 == widths.len();
                let text = cell.get(number).cloned().unwrap_or_default();
                let (before, after) = self.padding(column, width.saturating_sub(text.width()));
                line.push(StyledText::new(&" ".repeat(before), Style::new()));
                line.append(text);
                line.push(StyledText::new(&" ".repeat(if is_last { 0 } else { after }), Style::new()));
            }
            line
        };
        (0..height).map(line).collect()
    }

    /// How many of a cell's spare cells are before its text, and how many after.
    fn padding(&self, column: usize, spare: usize) -> (usize, usize) {
        match self.alignments.get(column) {
            Some(Alignment::Right) => (spare, 0),
            Some(Alignment::Center) => (spare / 2, spare - spare / 2),
            _ => (0, spare),
        }
    }

    /// Each row as lines `Head: cell`.
    fn list(&self, width: usize) -> Vec<StyledLine> {
        let mut lines = Vec::new();
        let Some((head, rows)) = self.rows.split_first() else { return lines };
        for row in rows {
            if !lines.is_empty() {
                lines.push(StyledLine::default());
            }
            for (column, cell) in row.iter().enumerate().filter(|(_, cell)| !cell.is_empty()) {
                let mut text = head.get(column).cloned().unwrap_or_default();
                if !text.is_empty() {
                    text.push(StyledText::new(": ", Style::new().bold()));
                }
                text.extend(cell.iter().cloned());
                lines.extend(wrapped(&text, width, LongWords::Keep));
            }
        }
        lines
    }
}

/// The width of each column, so that all have room; the widest give. `None` where one would be too narrow to read.
fn shared(natural: &[usize], room: usize) -> Option<Vec<usize>> {
    let mut widths = natural.to_vec();
    let mut wide: Vec<usize> = (0..natural.len()).collect();
    let mut left = room;
    // Columns that need no more than a fair share get what they need; the others share what is left.
    while !wide.is_empty() {
        let fair = left / wide.len();
        let (small, large): (Vec<usize>, Vec<usize>) =
            wide.iter().partition(|column| natural[**column] <= fair);
        if small.is_empty() {
            if fair < LEAST {
                return None;
            }
            let odd = left % wide.len();
            for (number, column) in wide.iter().enumerate() {
                widths[*column] = fair + usize::from(number < odd);
            }
            return Some(widths);
        }
        left -= small.iter().map(|column| natural[*column]).sum::<usize>();
        wide = large;
    }
    Some(widths)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_widest_columns_give() {
        let check = |natural: &[usize], room, expected: Option<&[usize]>| {
            assert_eq!(shared(natural, room).as_deref(), expected, "{natural:?} in {room}");
        };
        check(&[3, 4], 10, Some(&[3, 4]));
        check(&[3, 40, 50], 43, Some(&[3, 20, 20]));
        check(&[3, 10, 50], 43, Some(&[3, 10, 30]));
        check(&[30, 30, 31], 25, Some(&[9, 8, 8]));
        check(&[30, 30, 30], 23, None);
        check(&[], 10, Some(&[]));
    }
}

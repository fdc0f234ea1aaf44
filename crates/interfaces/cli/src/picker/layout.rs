//! Where the parts of the picker's screen are: the list, what is said above it, and the preview. Pure.

/// The height from which a preview is shown.
const WITH_PREVIEW: usize = 12;
/// The most lines that are said about an answer.
const REMARKS: usize = 2;

/// Where the parts of the screen are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(crate) width: usize,
    pub(crate) height: usize,
    /// The first row of the list that is shown: a session, or the line above the weak matches.
    pub(crate) top: usize,
    /// The number of sessions above the line that separates the weak matches.
    pub(crate) good: Option<usize>,
    /// The lines between the question and the list.
    pub(crate) remarks: usize,
    /// How far the preview can be scrolled, up and down.
    pub(crate) preview: (isize, isize),
}

impl Layout {
    /// The rows of the list.
    pub(crate) fn rows(self) -> usize {
        let room = self.height.saturating_sub(2 + self.remarks).max(1);
        if self.height < WITH_PREVIEW { room } else { (room / 2).clamp(4, 16) }
    }

    /// The session on this line of the screen, from 0.
    pub(crate) fn item_at(self, line: usize, items: usize) -> Option<usize> {
        let row = line.checked_sub(1 + self.remarks).filter(|row| *row < self.rows())?;
        self.item_in(self.top + row).filter(|item| *item < items)
    }

    /// The session in this row of the list; `None` in the line above the weak matches.
    pub(crate) fn item_in(self, row: usize) -> Option<usize> {
        match self.good {
            Some(good) if row == good => None,
            Some(good) if row > good => Some(row - 1),
            _ => Some(row),
        }
    }

    /// The row of the list that a session is in.
    fn row_of(self, item: usize) -> usize {
        item + usize::from(self.good.is_some_and(|good| item >= good))
    }

    /// Whether this line of the screen, from 0, is in the preview.
    pub(crate) fn is_preview(self, line: usize) -> bool {
        self.preview_rows() > 0 && line > self.rows() + self.remarks
    }

    /// The lines of the preview.
    pub(crate) fn preview_rows(self) -> usize {
        // The question, what is said about the answer, the list, a rule, the footer.
        let others = self.rows() + self.remarks + 3;
        if self.height < WITH_PREVIEW { 0 } else { self.height.saturating_sub(others) }
    }

    /// Shows the selected session of so many, and no empty row while there are others above.
    pub(crate) fn scroll_to(&mut self, selected: usize, items: usize) {
        let row = self.row_of(selected);
        let last = (items + usize::from(self.good.is_some())).saturating_sub(self.rows());
        self.top = self.top.min(row).min(last).max((row + 1).saturating_sub(self.rows()));
    }

    /// The lines between the question and the list, of so many remarks.
    pub(crate) fn remarks_of(self, remarks: usize) -> usize {
        remarks.min(if self.height < WITH_PREVIEW { 1 } else { REMARKS })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_click_finds_its_session() {
        let layout = Layout { width: 80, height: 24, top: 3, ..Layout::default() };
        assert_eq!(layout.item_at(0, 10), None);
        assert_eq!(layout.item_at(1, 10), Some(3));
        assert_eq!(layout.item_at(9, 10), None, "beyond the last session");
        assert_eq!(layout.item_at(20, 100), None, "in the preview");
    }
}

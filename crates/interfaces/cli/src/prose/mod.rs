//! An answer's Markdown as lines for a terminal: headings, emphasis, lists, quotations, tables and links, wrapped at the
//! width, and code in the colours of its language. What the model wrote is data: nothing in it controls the terminal.

mod code;
mod line;
mod screen;
mod table;

use std::ops::Range;

use anstyle::{AnsiColor, Effects, Style};
use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use line::{LongWords, StyledText, without_tabs, wrapped};
pub(crate) use line::{Marks, StyledLine};
pub(crate) use screen::screen_line;
use table::Table;

use crate::text::safe_lines;

/// The cells before a line of code.
const CODE_INDENT: &str = "  ";
/// The least width of a text, however deep it is in lists and quotations.
const LEAST: usize = 16;

/// The lines of a Markdown text, of at most `width` cells; code and addresses, which are copied, are not broken.
pub(crate) fn lines(markdown: &str, width: usize) -> Vec<StyledLine> {
    let source = safe_lines(markdown);
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let parser = Parser::new_ext(&source, options);
    let mut definitions: Vec<Range<usize>> =
        parser.reference_definitions().iter().map(|(_, definition)| definition.span.clone()).collect();
    definitions.sort_by_key(|definition| std::cmp::Reverse(definition.start));
    let mut page = Page { source: &source, width, definitions, ..Page::default() };
    for (event, range) in parser.into_offset_iter() {
        page.take(event, &range);
    }
    page.definitions_before(source.len());
    page.flush();
    page.lines
}

/// The lines so far, and what is open.
#[derive(Debug, Default)]
struct Page<'a> {
    source: &'a str,
    width: usize,
    lines: Vec<StyledLine>,
    /// Whether the last line only separates two blocks.
    is_separated: bool,
    containers: Vec<Container>,
    /// The number of the next item of each open list; none where they have no numbers.
    lists: Vec<Option<u64>>,
    styles: Vec<Style>,
    text: Vec<StyledText>,
    /// The addresses of open links, and where their texts begin.
    links: Vec<(String, usize)>,
    /// The language and the text of an open block of code.
    code: Option<(String, String)>,
    table: Option<Table>,
    /// What is not shown yet of the places where addresses are defined, the last first.
    definitions: Vec<Range<usize>>,
}

/// What a block is in.
#[derive(Debug)]
enum Container {
    Quotation,
    /// An item of a list, with what is before its first line.
    Item {
        marker: String,
        is_begun: bool,
    },
}

impl Page<'_> {
    fn take(&mut self, event: Event<'_>, range: &Range<usize>) {
        match event {
            Event::Start(tag) => self.start(tag, range),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => match &mut self.code {
                Some((_, code)) => code.push_str(&text),
                None => self.push(&text, self.style()),
            },
            Event::Code(text) => {
                let style = self.style().fg_color(Some(AnsiColor::Cyan.into()));
                self.push(&text, style);
            }
            Event::SoftBreak | Event::HardBreak => self.push("\n", Style::new()),
            Event::InlineHtml(tag) if is_line_break(&tag) => self.push("\n", Style::new()),
            Event::Html(text)
            | Event::InlineHtml(text)
            | Event::InlineMath(text)
            | Event::DisplayMath(text)
            | Event::FootnoteReference(text) => self.push(&text, self.style()),
            Event::TaskListMarker(is_done) => {
                self.push(if is_done { "[x] " } else { "[ ] " }, self.style());
            }
            Event::Rule => {
                self.begin_block(range);
                let rule = "─".repeat(self.room());
                self.push_line(StyledLine::of(&rule, Style::new().dimmed()));
            }
        }
    }

    fn start(&mut self, tag: Tag<'_>, range: &Range<usize>) {
        match tag {
            Tag::Paragraph | Tag::HtmlBlock => self.begin_block(range),
            Tag::Heading { level, .. } => {
                self.begin_block(range);
                let is_high = matches!(level, HeadingLevel::H1 | HeadingLevel::H2);
                self.begin_style(if is_high { Effects::BOLD | Effects::UNDERLINE } else { Effects::BOLD });
            }
            Tag::BlockQuote(_) => {
                self.begin_block(range);
                self.containers.push(Container::Quotation);
            }
            Tag::CodeBlock(kind) => {
                self.begin_block(range);
                let language = match kind {
                    CodeBlockKind::Fenced(language) => language.into_string(),
                    CodeBlockKind::Indented => String::new(),
                };
                self.code = Some((language, String::new()));
            }
            Tag::List(first) => {
                self.begin_block(range);
                self.lists.push(first);
            }
            Tag::Item => {
                self.begin_block(range);
                let marker = match self.lists.last_mut() {
                    Some(Some(number)) => {
                        let marker = format!("{number}. ");
                        *number = number.saturating_add(1);
                        marker
                    }
                    _ => "• ".to_owned(),
                };
                self.containers.push(Container::Item { marker, is_begun: false });
            }
            Tag::Table(alignments) => {
                self.begin_block(range);
                self.table = Some(Table { alignments, rows: Vec::new() });
            }
            Tag::TableHead => {
                self.begin_style(Effects::BOLD);
                self.begin_row();
            }
            Tag::TableRow => self.begin_row(),
            Tag::Emphasis => self.begin_style(Effects::ITALIC),
            Tag::Strong => self.begin_style(Effects::BOLD),
            Tag::Strikethrough => self.begin_style(Effects::STRIKETHROUGH),
            Tag::Link { dest_url, .. } => self.begin_link(dest_url.into_string()),
            Tag::Image { dest_url, .. } => {
                self.push("image: ", self.style().dimmed());
                self.begin_link(dest_url.into_string());
            }
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph | TagEnd::HtmlBlock => self.flush(),
            TagEnd::Heading(_) => {
                self.styles.pop();
                self.flush();
            }
            TagEnd::BlockQuote(_) => {
                self.flush();
                self.containers.pop();
            }
            TagEnd::CodeBlock => self.end_code(),
            TagEnd::List(_) => {
                self.lists.pop();
            }
            TagEnd::Item => {
                self.flush();
                if let Some(Container::Item { is_begun: false, .. }) = self.containers.last() {
                    self.push_line(StyledLine::default());
                }
                self.containers.pop();
            }
            TagEnd::Table => {
                let table = self.table.take().unwrap_or_default();
                table.lines(self.room()).into_iter().for_each(|line| self.push_line(line));
            }
            TagEnd::TableHead | TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough => {
                self.styles.pop();
            }
            TagEnd::TableCell => {
                let cell = std::mem::take(&mut self.text);
                if let Some(row) = self.table.as_mut().and_then(|table| table.rows.last_mut()) {
                    row.push(cell);
                }
            }
            TagEnd::Link | TagEnd::Image => self.end_link(),
            _ => {}
        }
    }

    fn style(&self) -> Style {
        self.styles.last().copied().unwrap_or_default()
    }

    fn begin_style(&mut self, effects: Effects) {
        self.styles.push(self.style() | effects);
    }

    /// Adds text to the open paragraph.
    fn push(&mut self, text: &str, style: Style) {
        for (number, line) in text.split('\n').enumerate() {
            if number > 0 {
                self.text.push(StyledText { text: "\n".to_owned(), style: Style::new() });
            }
            if !line.is_empty() {
                self.text.push(StyledText::new(line, style));
            }
        }
    }

    fn begin_link(&mut self, address: String) {
        self.begin_style(Effects::UNDERLINE);
        self.links.push((address, self.text.len()));
    }

    /// Adds the address of a link where its text is another: a terminal shows where it leads.
    fn end_link(&mut self) {
        self.styles.pop();
        let Some((address, begin)) = self.links.pop() else { return };
        let text: String = self.text.iter().skip(begin).map(|text| text.text.as_str()).collect();
        let shown = address.strip_prefix("mailto:").unwrap_or(&address);
        if !shown.is_empty() && shown != text {
            self.push(&format!(" ({shown})"), Style::new().dimmed());
        }
    }

    fn begin_row(&mut self) {
        self.table.iter_mut().for_each(|table| table.rows.push(Vec::new()));
    }

    fn end_code(&mut self) {
        let Some((language, code)) = self.code.take() else { return };
        for line in code::coloured(&language, &without_tabs_in(&code)) {
            let mut indented = StyledLine::of(CODE_INDENT, Style::new());
            indented.append(line);
            self.push_line(indented);
        }
    }

    /// Ends the open paragraph, and separates the next block as the source does.
    fn begin_block(&mut self, range: &Range<usize>) {
        self.flush();
        self.definitions_before(range.start);
        let before = self.source.get(..range.start).unwrap_or_default();
        let gap = before.chars().rev().take_while(|c| "\n \t>".contains(*c)).filter(|c| *c == '\n').count();
        if gap > 1 && !self.lines.is_empty() && !self.is_separated {
            let line = self.prefix(true).without_trailing_space();
            self.lines.push(line);
            self.is_separated = true;
        }
    }

    /// Shows the definitions of addresses before a place, which Markdown leaves out: `[warning]: text` is one by accident.
    fn definitions_before(&mut self, place: usize) {
        while let Some(range) = self.definitions.pop_if(|definition| definition.start < place) {
            self.flush();
            let text = self.source.get(range).unwrap_or_default().trim_end();
            let dim = Style::new().dimmed();
            text.lines().for_each(|line| self.push_line(StyledLine::of(line, dim)));
        }
    }

    /// Ends the open paragraph.
    fn flush(&mut self) {
        while self.text.pop_if(|last| last.text == "\n").is_some() {}
        if self.text.is_empty() || self.table.is_some() {
            return;
        }
        let text = std::mem::take(&mut self.text);
        for line in wrapped(&text, self.room(), LongWords::Keep) {
            self.push_line(line);
        }
    }

    /// The cells of a line beside what is before it.
    fn room(&self) -> usize {
        self.width.saturating_sub(self.prefix(true).width()).max(LEAST.min(self.width))
    }

    fn push_line(&mut self, line: StyledLine) {
        let mut whole = self.prefix(false);
        for container in &mut self.containers {
            if let Container::Item { is_begun, .. } = container {
                *is_begun = true;
            }
        }
        whole.append(line);
        self.lines.push(whole.without_trailing_space());
        self.is_separated = false;
    }

    /// What quotations and lists put before a line; with `is_inner` the markers of items are left out.
    fn prefix(&self, is_inner: bool) -> StyledLine {
        let mut line = StyledLine::default();
        for container in &self.containers {
            // Deeper than half the width nothing is indented.
            if line.width() * 2 >= self.width {
                break;
            }
            line.push(match container {
                Container::Quotation => StyledText::new("│ ", Style::new().dimmed()),
                Container::Item { marker, is_begun: false } if !is_inner => {
                    StyledText::new(marker, Style::new())
                }
                Container::Item { marker, .. } => {
                    StyledText::new(&" ".repeat(marker.chars().count()), Style::new())
                }
            });
        }
        line
    }
}

fn without_tabs_in(code: &str) -> String {
    code.lines().map(without_tabs).collect::<Vec<_>>().join("\n")
}

fn is_line_break(tag: &str) -> bool {
    matches!(tag.to_ascii_lowercase().replace(' ', "").as_str(), "<br>" | "<br/>")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The lines without their styles.
    fn plain(markdown: &str, width: usize) -> String {
        let text = |line: &StyledLine| line.0.iter().map(|text| text.text.as_str()).collect::<String>();
        lines(markdown, width).iter().map(text).collect::<Vec<_>>().join("\n")
    }

    #[track_caller]
    fn check(markdown: &str, expected: &str) {
        assert_eq!(plain(markdown, 30), expected, "{markdown}");
    }

    #[test]
    fn blocks_are_separated_as_they_are_written() {
        check(
            "# Plan\n\nDo *this* now:\n- one\n- two\n\nThen **stop**.",
            "Plan\n\nDo this now:\n• one\n• two\n\nThen stop.",
        );
        check("a\nb  \nc", "a\nb\nc");
        check("one\n\n\n\ntwo\n***\nthree", &format!("one\n\ntwo\n{}\nthree", "─".repeat(30)));
    }

    #[test]
    fn lists_and_quotations_are_indented() {
        check(
            "9. a first item that is wrapped here\n10. second\n    - inner\n\n      more\n",
            "9. a first item that is\n   wrapped here\n10. second\n    • inner\n\n      more",
        );
        check("- [x] done\n- [ ] open\n-", "• [x] done\n• [ ] open\n•");
        check("> said\n>\n> - so\n\nand", "│ said\n│\n│ • so\n\nand");
        check("- run:\n  ```sh\n  ls\n  ```\n  then", "• run:\n    ls\n  then");
    }

    #[test]
    fn code_is_not_wrapped() {
        let line = "let words = one + two + three + four;";
        check(&format!("So:\n```rust\n{line}\n\n\tx\n```"), &format!("So:\n  {line}\n\n      x"));
        check("a `b_c` and __d__", "a b_c and d");
    }

    #[test]
    fn links_show_where_they_lead() {
        check("[a](https://b.c) <https://d.e>", "a (https://b.c) https://d.e");
        check("![shot](a.png)", "image: shot (a.png)");
    }

    #[test]
    fn nothing_is_left_out() {
        check("git push <remote> <branch>", "git push <remote> <branch>");
        check("<details>\nmore\n</details>", "<details>\nmore\n</details>");
        check("<!-- why -->", "<!-- why -->");
        check("[warning]: unused\n\nDone.", "[warning]: unused\n\nDone.");
        check("Done.\n\n[warning]: unused", "Done.\n[warning]: unused");
    }

    #[test]
    fn tables_fit() {
        let table = "| File | Change |\n|---|--:|\n| `a.rs` | 3 |\n| b | a change that needs several lines |";
        check(
            table,
            "File │                  Change\n─────┼────────────────────────\na.rs │                       3\nb    │     a change that needs\n     │           several lines",
        );
        assert_eq!(
            plain(table, 14),
            "File: a.rs\nChange: 3\n\nFile: b\nChange: a\nchange that\nneeds several\nlines"
        );
        check("| a | b |\n|---|---|\n| x<br>y | z |", "a │ b\n──┼──\nx │ z\ny │");
    }

    #[test]
    fn no_entity_controls_the_terminal() {
        let markdown = "&#27;[2J &#x9b;31m `&#27;` [a](x&#27;y)\n```&#27;\n\u{1b}[2J\n```\n<b\u{1b}>\n\n| &#27; |\n|---|\n| &#x202e; |";
        let text = plain(markdown, 40);
        assert!(text.chars().all(|c| c == '\n' || !model::is_steering(c)), "{text:?}");
    }

    proptest! {
        #[test]
        fn any_text_has_lines(markdown in "([#>*`|~\\[\\]()<&!-]|[0-9]\\. |\n|\t| |[a-zäあ\u{1b}]){0,80}", width in 1_usize..60) {
            let text = plain(&markdown, width);
            prop_assert!(text.chars().all(|c| c == '\n' || !model::is_steering(c)), "{text:?}");
        }
    }
}

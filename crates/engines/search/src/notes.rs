//! A Markdown file as it is indexed: section by section.

use std::path::Path;

use model::SessionId;
use xxhash_rust::xxh3::xxh3_64;

use crate::kind::ChunkKind;
use crate::unit::Unit;

/// The largest file of notes that is read, in bytes; what is larger is data.
pub const CAP: u64 = 4 << 20;
/// The least length of a section, in bytes: shorter ones are joined with the next.
const SHORT: usize = 400;

/// A part of a file under one heading, or a few short ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoteSection<'a> {
    /// Where the section begins, in bytes.
    pub offset: u64,
    /// Its first line, from 1.
    pub line: u64,
    /// Its text, with the heading.
    pub text: &'a str,
}

impl NoteSection<'_> {
    /// The record key of the section: the hash of its text.
    pub(crate) fn record(&self) -> u64 {
        // 0 means that there is nothing to know it by.
        xxh3_64(self.text.as_bytes()).max(1)
    }

    pub(crate) fn unit(&self) -> Unit<'_> {
        Unit::new(ChunkKind::Note, self.text)
    }
}

/// The name under which the chunks of a file that is no conversation are put together.
pub fn name_of(path: &Path) -> Option<SessionId> {
    use std::os::unix::ffi::OsStrExt as _;
    format!("note-{:016x}", xxh3_64(path.as_os_str().as_bytes())).parse().ok()
}

/// The sections of a text, in order, without those that are blank. Headings inside of code are none.
pub fn sections(text: &str) -> Vec<NoteSection<'_>> {
    let mut sections = Vec::new();
    let mut begin = (0, 1);
    let mut in_code = false;
    let mut offset = 0;
    let mut end = |from: (usize, u64), to: usize| {
        let text = &text[from.0..to];
        if !text.trim().is_empty() {
            sections.push(NoteSection { offset: from.0 as u64, line: from.1, text });
        }
    };
    for (line, number) in text.split_inclusive('\n').zip(1..) {
        let is_fence = line.trim_start().starts_with("```");
        if !in_code && is_heading(line) && offset - begin.0 >= SHORT {
            end(begin, offset);
            begin = (offset, number);
        }
        in_code ^= is_fence;
        offset += line.len();
    }
    end(begin, offset);
    sections
}

fn is_heading(line: &str) -> bool {
    let rest = line.trim_start_matches('#');
    rest.len() < line.len() && line.len() - rest.len() <= 6 && rest.starts_with([' ', '\t'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_part_what_is_long_enough() {
        let long = "word ".repeat(100);
        let text = format!("# One\n{long}\n## Two\n{long}\n```\n# code\n```\n### Three\nend");
        let found: Vec<_> = sections(&text)
            .iter()
            .map(|section| (section.line, section.text.lines().next().unwrap_or_default().to_owned()))
            .collect();
        assert_eq!(found, [(1, "# One".into()), (3, "## Two".into()), (8, "### Three".into())]);
        let short = sections("# A\na\n# B\nb\n");
        assert_eq!((short.len(), short[0].line), (1, 1));
        assert!(sections("\n \n").is_empty() && sections("").is_empty());
    }

    #[test]
    fn what_is_a_heading() {
        let check = |line: &str, expected: bool| assert_eq!(is_heading(line), expected, "{line}");
        check("# a", true);
        check("###### a", true);
        check("####### a", false);
        check("#tag", false);
        check("a # b", false);
        check("", false);
    }

    proptest::proptest! {
        #[test]
        fn sections_start_at_their_offsets(parts in proptest::collection::vec("(# )?[a-z\n]{0,300}\n?", 0..12)) {
            let text = parts.concat();
            for section in sections(&text) {
                let at = usize::try_from(section.offset).unwrap();
                proptest::prop_assert_eq!(&text[at..at + section.text.len()], section.text);
                proptest::prop_assert_eq!(text[..at].matches('\n').count() as u64 + 1, section.line);
            }
        }
    }
}

//! Places as `search` cites them: `ID:LINE`.

use std::io;
use std::path::Path;

use transcript::Reader;

/// A session and the line in it that are named as `ID:LINE`; the line is absent where only a session is named.
pub fn split_line(text: &str) -> (&str, Option<u64>) {
    // The keys of OpenClaw's conversations have colons of their own, and so may the file of a note.
    let parts = if text.starts_with('/') { text.rsplit_once(':') } else { text.split_once(':') };
    let cited = parts.and_then(|(id, line)| Some((id, line.parse().ok()?)));
    cited.map_or((text, None), |(id, line)| (id, Some(line)))
}

/// Where a line of a transcript begins, in bytes; `None` where there are fewer lines.
pub(crate) fn offset_of_line(file: &Path, line: u64) -> io::Result<Option<u64>> {
    let mut reader = Reader::open(file)?;
    while let Some(found) = reader.next_line()? {
        if found.number >= line {
            return Ok(Some(found.offset));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_citation_is_split_into_id_and_line() {
        assert_eq!(split_line("3601d36e:12"), ("3601d36e", Some(12)));
        assert_eq!(split_line("3601d36e"), ("3601d36e", None));
        assert_eq!(split_line("b6b20c21:"), ("b6b20c21:", None));
        assert_eq!(split_line("agent:main:12"), ("agent:main:12", None));
        assert_eq!(split_line("/notes/a:b.md:12"), ("/notes/a:b.md", Some(12)));
        assert_eq!(split_line("/notes/a.md"), ("/notes/a.md", None));
    }
}

//! A line's bytes as the text that is read: what is no UTF-8 is replaced, and marks at its ends are no part of it.

/// What some editors write at the beginning of a file.
pub(crate) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Replaces bytes that are not UTF-8 by U+FFFD; returns false if the result is not a record or exceeds `cap` bytes.
pub(crate) fn replace_invalid_utf8(bytes: &[u8], cap: usize, out: &mut String) -> bool {
    if bytes.trim_ascii_start().first() != Some(&b'{') {
        return false;
    }
    for chunk in bytes.utf8_chunks() {
        out.push_str(chunk.valid());
        if !chunk.invalid().is_empty() {
            out.push(char::REPLACEMENT_CHARACTER);
        }
        if out.len() > cap {
            return false;
        }
    }
    true
}

/// Where a place in the repaired line is in the line itself.
pub(crate) fn place_in(line: &[u8], repaired: usize) -> usize {
    let (mut before, mut place) = (0, 0);
    for chunk in line.utf8_chunks() {
        let valid = chunk.valid().len();
        if repaired <= before + valid {
            break;
        }
        before += valid + char::REPLACEMENT_CHARACTER.len_utf8();
        place += valid + chunk.invalid().len();
    }
    (place + repaired.saturating_sub(before)).min(line.len())
}

/// The line as JSON wants it: no carriage return at its end, no byte order mark at the file's beginning.
pub(crate) fn content(line: &[u8], offset: u64) -> &[u8] {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if offset == 0 { line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line) } else { line }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_behind_replaced_bytes_is_found_again() {
        let line = b"{\"a\":\"\xff\xfe\"}{\"b\":1}";
        let mut repaired = String::new();
        assert!(replace_invalid_utf8(line, 1000, &mut repaired));
        let behind = repaired.find("{\"b\"").expect("the second record");
        assert_eq!(&line[place_in(line, behind)..], b"{\"b\":1}");
        assert_eq!(place_in(line, 0), 0);
        assert_eq!(place_in(line, repaired.len()), line.len());
    }
}

//! Characters that control how text is shown: by a terminal, a shell's prompt or a page, or its direction.

/// Whether a character can change how a terminal shows text, or hide in it: control characters, line separators,
/// marks of text direction, and characters without a glyph.
///
/// Two of the last kind are allowed because words need them: the zero-width joiner (U+200D) of emoji and Indic
/// conjuncts, and the zero-width non-joiner (U+200C) of Persian and Indic words. The tag characters in the flags of
/// England, Scotland and Wales are not allowed, since they can encode any hidden text.
pub fn is_steering(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') || is_invisible(c)
}

/// Whether such a character has no width: a display can drop it, while the others separate words.
pub fn is_invisible(c: char) -> bool {
    is_direction(c)
        || matches!(c, '\u{180e}' | '\u{200b}' | '\u{2060}'..='\u{2065}' | '\u{206a}'..='\u{206f}')
        || matches!(c, '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

fn is_direction(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steering_messages_are_recognized() {
        let check = |text: &str, steers: bool, unseen: bool| {
            for c in text.chars() {
                assert_eq!((is_steering(c), is_invisible(c)), (steers, unseen), "{c:?}");
            }
        };
        check("\0\u{7}\n\r\t\u{1b}\u{7f}\u{85}\u{9b}\u{2028}\u{2029}", true, false);
        check("\u{61c}\u{200e}\u{200f}\u{202a}\u{202e}\u{2066}\u{2069}", true, true);
        check("\u{200b}\u{2060}\u{206a}\u{206f}\u{feff}\u{fff9}\u{e0001}\u{e0041}\u{180e}", true, true);
        check("a ü日\u{200c}\u{200d}\u{fe0f}👩🏽\u{301}\u{a0}\u{ad}", false, false);
    }
}

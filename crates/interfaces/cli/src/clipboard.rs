//! The clipboard of the terminal (OSC 52), which works through ssh and tmux.

use crate::terminal::write_control;

/// Copies a text.
pub(crate) fn copy(text: &str) {
    write_control(&format!("\u{1b}]52;c;{}\u{7}", base64(text.as_bytes())));
}

/// Base64 with padding, as OSC 52 requires.
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let number = chunk.iter().fold(0_u32, |number, byte| (number << 8) | u32::from(*byte))
            << (8 * (3 - chunk.len()));
        for at in 0..4 {
            let letter = LETTERS[(number >> (18 - 6 * at)) as usize & 63];
            out.push(if at <= chunk.len() { char::from(letter) } else { '=' });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    #[test]
    fn base64_as_everybody_writes_it() {
        let check = |text: &str, expected: &str| assert_eq!(super::base64(text.as_bytes()), expected);
        check("", "");
        check("f", "Zg==");
        check("fo", "Zm8=");
        check("foo", "Zm9v");
        check("469a19a4", "NDY5YTE5YTQ=");
    }
}

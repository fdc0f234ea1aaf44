//! No line of a private key is shown, whatever stands around its lines.

use crate::made_up::Random;

const BASE64: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// A kind of key: its name, what its base64 begins with, the width and number of its lines, and what is before them.
struct Kind {
    name: &'static str,
    first: &'static str,
    width: usize,
    lines: usize,
    head: &'static [&'static str],
    checksum: bool,
}

const KINDS: [Kind; 7] = [
    Kind {
        name: "RSA PRIVATE KEY",
        first: "MIIEpAIBAAKCAQEA",
        width: 64,
        lines: 6,
        head: &[],
        checksum: false,
    },
    Kind {
        name: "PRIVATE KEY",
        first: "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC",
        width: 64,
        lines: 5,
        head: &[],
        checksum: false,
    },
    Kind { name: "EC PRIVATE KEY", first: "MHcCAQEEI", width: 64, lines: 3, head: &[], checksum: false },
    Kind {
        name: "OPENSSH PRIVATE KEY",
        first: "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW",
        width: 70,
        lines: 5,
        head: &[],
        checksum: false,
    },
    Kind {
        name: "RSA PRIVATE KEY",
        first: "",
        width: 64,
        lines: 5,
        head: &["Proc-Type: 4,ENCRYPTED", "DEK-Info: AES-128-CBC,0F1E2D3C4B5A69788796A5B4C3D2E1F0", ""],
        checksum: false,
    },
    Kind {
        name: "ENCRYPTED PRIVATE KEY",
        first: "MIIFLTBXBgkqhkiG9w0BBQ0w",
        width: 64,
        lines: 4,
        head: &[],
        checksum: false,
    },
    Kind {
        name: "PGP PRIVATE KEY BLOCK",
        first: "lQOYBGXX",
        width: 64,
        lines: 6,
        head: &["Version: GnuPG v2", "Comment: made up", ""],
        checksum: true,
    },
];

impl Kind {
    /// The lines of a key of this kind, and those of them that are secret.
    fn key(&self, random: &mut Random) -> (Vec<String>, Vec<String>) {
        let mut base64 =
            |length: usize| -> String { (0..length).map(|_| char::from(BASE64[random.below(64)])).collect() };
        let mut body = vec![format!("{}{}", self.first, base64(self.width - self.first.len()))];
        body.extend((2..self.lines).map(|_| base64(self.width)));
        let rest = base64(63);
        let last = rest[..=rest.len() * (rest.as_bytes()[0] as usize % 16) / 16].to_owned();
        body.push(format!("{last}{}", ["", "=", "=="][last.len() % 3]));
        let mut lines = vec![format!("-----BEGIN {}-----", self.name)];
        lines.extend(self.head.iter().map(|line| (*line).to_owned()));
        lines.extend(body.iter().cloned());
        if self.checksum {
            lines.push(format!("={}", base64(4)));
        }
        lines.push(format!("-----END {}-----", self.name));
        (lines, body)
    }
}

/// What a difference, a quotation or a comment puts before each line.
const MARKERS: [&str; 24] = [
    "",
    "-",
    "+",
    "<",
    ">",
    "- ",
    "+ ",
    "< ",
    "> ",
    ">> ",
    "-    ",
    "+    ",
    "-\t",
    "+\t",
    "-  ",
    "-    # ",
    "+  // ",
    "-// ",
    "- * ",
    "+-- ",
    "-; ",
    "  ",
    "\t",
    "-        ",
];

type Frame = (&'static str, fn(usize, &str) -> String);
/// What tools put before each line, by its number, with what is behind it.
const FRAMES: [Frame; 34] = [
    ("plain", |_, line| line.to_owned()),
    ("comment", |_, line| format!("# {line}")),
    ("slashes", |_, line| format!("// {line}")),
    ("star", |_, line| format!(" * {line}")),
    ("dashes", |_, line| format!("-- {line}")),
    ("semicolon", |_, line| format!("; {line}")),
    ("quoted", |_, line| format!("\"{line}\"")),
    ("quoted for adding", |_, line| format!("    \"{line}\\n\" +")),
    ("quoted for joining", |_, line| format!("    '{line}',")),
    ("basic", |_, line| format!("\"{line}\" & vbCrLf & _")),
    ("cat -n", |number, line| format!("{number:>6}\t{line}")),
    ("arrow", |number, line| format!("{number:>6}→{line}")),
    ("colon", |number, line| format!("{number}:{line}")),
    ("hyphen", |number, line| format!("{number}-{line}")),
    ("spaced", |number, line| format!("{number:>4} -    {line}")),
    ("bar", |number, line| format!("{number:>4} | {line}")),
    ("grep -r", |_, line| format!("k.pem:{line}")),
    ("grep -rn", |number, line| format!("etc/keys/k.pem:{number}:{line}")),
    ("grep -C", |number, line| {
        if number == 7 { format!("k.pem:{number}:{line}") } else { format!("k.pem-{number}-{line}") }
    }),
    ("grep -C, long", |number, line| {
        let sign = if number == 7 { ':' } else { '-' };
        format!("path/to/the/deployment/file.yml{sign}{number}{sign}  {line}")
    }),
    ("compose", |_, line| format!("web_1  | {line}")),
    ("journal", |number, line| format!("Nov 28 10:00:{number:02} host unit[123]: {line}")),
    ("iso", |number, line| format!("2026-11-28T10:00:{number:02}.123Z stdout F {line}")),
    ("docker", |number, line| {
        format!(
            "{{\"log\":\"{line}\\n\",\"stream\":\"stdout\",\"time\":\"2026-11-28T10:00:00.0000000{number:02}Z\"}}"
        )
    }),
    ("blame", |number, line| {
        format!("{:08x} (Sam Smith 2026-01-02 10:00:00 +0100 {number:>3}) {line}", number * 7_654_321)
    }),
    ("blame -s", |number, line| format!("{:08x} {number:>3}) {line}", number * 7_654_321)),
    ("blame -l", |number, line| format!("{:040x} k.pem (Sam {number:>3}) {line}", number * 7_654_321)),
    ("box", |_, line| format!("│ {line:<76} │")),
    ("heavy box", |_, line| format!("┃ {line}")),
    ("table", |_, line| format!("| {line} |")),
    ("page", |number, line| format!("<tr><td>{number}</td><td class=\"line\">{line}</td></tr>")),
    ("colour", |_, line| format!("\u{1b}[31m{line}\u{1b}[0m")),
    ("highlighted", |_, line| {
        if line.starts_with("-----") {
            return line.to_owned();
        }
        let (first, rest) = line.split_at(line.len() / 3);
        format!("{first}\u{1b}[7m{}\u{1b}[27m{}", &rest[..rest.len() / 2], &rest[rest.len() / 2..])
    }),
    ("coloured number", |number, line| format!("\u{1b}[33m{number}\u{1b}[0m: \u{1b}[32m{line}\u{1b}[0m")),
];

/// What ends lines.
const ENDS: [&str; 9] = ["\n", "\r\n", "\\n", "\\r\\n", "\\\\n", "&#10;", "&#x0a;", "<br>", "%0A"];

/// The longest piece of a secret line that may be shown, in characters.
const SHOWN: usize = 9;

fn framed(lines: &[String], marker: &str, frame: fn(usize, &str) -> String, end: &str) -> String {
    let framed: Vec<String> =
        lines.iter().zip(7..).map(|(line, number)| format!("{marker}{}", frame(number, line))).collect();
    framed.join(end)
}

/// The secret lines of which something is shown.
fn shown<'a>(text: &str, secret: &'a [String]) -> Vec<&'a str> {
    let redacted = redact::redact(text);
    let is_shown = |line: &&String| {
        let whole = line.len() <= SHOWN && line.len() > 3 && redacted.contains(line.as_str());
        whole
            || line
                .as_bytes()
                .windows(SHOWN + 1)
                .any(|part| redacted.contains(std::str::from_utf8(part).unwrap()))
    };
    secret.iter().filter(is_shown).map(String::as_str).collect()
}

#[track_caller]
fn check(what: &str, text: &str, secret: &[String], failed: &mut Vec<String>) {
    let shown = shown(text, secret);
    if !shown.is_empty() {
        failed.push(format!("{what}: {} of {} lines: {shown:?}\n{text}\n", shown.len(), secret.len()));
    }
}

fn none(failed: &[String], all: usize) {
    assert!(
        failed.is_empty(),
        "{} of {all} failed\n{}",
        failed.len(),
        failed[..failed.len().min(6)].join("\n")
    );
}

#[test]
fn no_line_is_shown_behind_any_marker_in_any_frame() {
    let (mut failed, mut all) = (Vec::new(), 0);
    let mut random = Random::new(3);
    for marker in MARKERS {
        for (name, frame) in FRAMES {
            for kind in &KINDS {
                let (lines, secret) = kind.key(&mut random);
                let text = framed(&lines, marker, frame, "\n");
                let text = format!("before it\n{text}\nand behind\n");
                check(&format!("{marker:?} {name} {}", kind.name), &text, &secret, &mut failed);
                all += 1;
            }
        }
    }
    none(&failed, all);
}

#[test]
fn no_line_is_shown_whatever_ends_the_lines() {
    let (mut failed, mut all) = (Vec::new(), 0);
    let mut random = Random::new(4);
    for end in ENDS {
        for (name, frame) in FRAMES {
            for marker in ["", "-    ", "> "] {
                for kind in &KINDS {
                    let (lines, secret) = kind.key(&mut random);
                    let text = framed(&lines, marker, frame, end);
                    check(&format!("{end:?} {marker:?} {name} {}", kind.name), &text, &secret, &mut failed);
                    all += 1;
                }
            }
        }
    }
    none(&failed, all);
}

#[test]
fn no_line_of_a_key_that_is_cut_off_is_shown() {
    let (mut failed, mut all) = (Vec::new(), 0);
    let mut random = Random::new(5);
    for marker in ["", "-", "-    ", "> ", "+  // "] {
        for (name, frame) in FRAMES {
            for kind in &KINDS {
                let (lines, secret) = kind.key(&mut random);
                let whole = kind.head.len() + 1 + secret.len();
                for kept in [whole, whole - 1, kind.head.len() + 2] {
                    let text = framed(&lines[..kept], marker, frame, "\n");
                    check(&format!("{marker:?} {name} {} {kept}", kind.name), &text, &secret, &mut failed);
                    all += 1;
                }
            }
        }
    }
    none(&failed, all);
}

#[test]
fn no_line_of_a_key_without_its_beginning_is_shown() {
    let (mut failed, mut all) = (Vec::new(), 0);
    let mut random = Random::new(9);
    for marker in ["", "-", "-    ", "> ", "+  // "] {
        for (name, frame) in FRAMES {
            for kind in &KINDS {
                let (lines, secret) = kind.key(&mut random);
                let first = kind.head.len() + 2;
                let text = framed(&lines[first..], marker, frame, "\n");
                check(&format!("{marker:?} {name} {}", kind.name), &text, &secret, &mut failed);
                all += 1;
            }
        }
    }
    none(&failed, all);
}

#[test]
fn a_key_in_the_address_of_a_form_is_not_shown() {
    let mut failed = Vec::new();
    let mut random = Random::new(10);
    for kind in KINDS.iter().filter(|kind| kind.head.is_empty()) {
        let (lines, secret) = kind.key(&mut random);
        for space in ["%20", "+"] {
            let [begin, body @ .., end] = &lines[..] else { unreachable!() };
            let coded = body.join("%0A").replace('+', "%2B").replace('/', "%2F").replace('=', "%3D");
            let marks = [begin, end].map(|mark| mark.replace(' ', space));
            let text = format!("curl -d 'key={}%0A{coded}%0A{}&name=x'", marks[0], marks[1]);
            check(space, &text, &secret, &mut failed);
        }
    }
    none(&failed, 12);
}

#[test]
fn the_last_lines_of_many_keys_are_not_shown() {
    let (mut failed, mut all) = (Vec::new(), 0);
    let mut random = Random::new(6);
    for _ in 0..400 {
        for (name, frame) in [FRAMES[0], FRAMES[10], FRAMES[12], FRAMES[18]] {
            for marker in ["", "-", "+"] {
                let (lines, secret) = KINDS[0].key(&mut random);
                let text = framed(&lines, marker, frame, "\n");
                check(&format!("{marker:?} {name}"), &text, &secret, &mut failed);
                all += 1;
            }
        }
    }
    none(&failed, all);
}

#[test]
fn a_key_with_its_line_ends_lost_is_not_shown() {
    let mut failed = Vec::new();
    let mut random = Random::new(7);
    for kind in KINDS.iter().filter(|kind| kind.head.is_empty()) {
        let (lines, secret) = kind.key(&mut random);
        check("spaces", &lines.join(" "), &secret, &mut failed);
        check("nothing", &lines.concat(), &secret, &mut failed);
        check("list", &format!("[\"{}\"]", lines.join("\", \"")), &secret, &mut failed);
        check("escaped slashes", &lines.join("\\n").replace('/', "\\/"), &secret, &mut failed);
        check("entities", &lines.join("&#13;&#10;").replace('+', "&#43;"), &secret, &mut failed);
        check("encoded", &lines.join("%0D%0A").replace('+', "%2B").replace('=', "%3D"), &secret, &mut failed);
    }
    none(&failed, 36);
}

#[test]
fn what_follows_a_key_is_left() {
    let mut random = Random::new(8);
    let (lines, _) = KINDS[0].key(&mut random);
    let key = lines.join("\n");
    let cut = lines[..4].join("\n");
    let check = |text: String, expected: &str| assert_eq!(redact::redact(&text), expected, "{text}");
    check(format!("a\n{key}\nThat was it.\n"), "a\n[redacted:private-key]\nThat was it.\n");
    check(
        format!("a\n{cut}\n\nThat was the beginning.\n"),
        "a\n[redacted:private-key]\n\nThat was the beginning.\n",
    );
    check(
        format!("a\n{cut}\nThat was the beginning.\n"),
        "a\n[redacted:private-key]\nThat was the beginning.\n",
    );
    check(format!("{key}\n{key}\n"), "[redacted:private-key]\n[redacted:private-key]\n");
    let code = "const HEAD = \"-----BEGIN PRIVATE KEY-----\";\nconst FIRST = \"application/octet-stream\";\nconst TAIL = \"-----END PRIVATE KEY-----\";";
    check(code.to_owned(), code);
}

//! The list of made-up secrets, filled with characters of a fixed sequence.

/// Characters of a fixed sequence.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// A number below `bound`.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % bound
    }

    fn text(&mut self, alphabet: &str, length: usize) -> String {
        let alphabet = alphabet.as_bytes();
        (0..length).map(|_| char::from(alphabet[self.below(alphabet.len())])).collect()
    }
}

const LOWER: &str = "abcdefghijklmnopqrstuvwxyz";
const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const DIGITS: &str = "0123456789";

/// A made-up secret: what it is, the text around it, and the parts that must be gone.
#[derive(Debug, Clone)]
pub(crate) struct Secret {
    pub(crate) kind: &'static str,
    pub(crate) text: String,
    pub(crate) gone: Vec<String>,
}

/// Every line of the list, `times` times with other characters; in every surrounding where it is known by
/// its form.
pub(crate) fn secrets(times: u64) -> Vec<Secret> {
    let mut all = Vec::new();
    let mut by_form = false;
    for (number, line) in include_str!("../made_up.txt").lines().enumerate() {
        match line.split_once('\t') {
            _ if line.starts_with('#') => {}
            None => by_form = line == "[form]" || (by_form && line.is_empty()),
            Some((kind, template)) => {
                for time in 0..times {
                    let mut random = Random::new((number as u64 + 1) * 1000 + time);
                    let made = one(kind, &filled(template, &mut random));
                    if by_form {
                        all.extend(
                            SURROUNDINGS.iter().map(|around| Secret {
                                text: around.replace("{}", &made.text),
                                ..made.clone()
                            }),
                        );
                    } else {
                        all.push(made);
                    }
                }
            }
        }
    }
    all
}

/// Every way to write a secret of the other list, filled `times` times with other characters.
pub(crate) fn forms(times: u64) -> Vec<(&'static str, Vec<Secret>)> {
    let lines = include_str!("../forms.txt").lines().enumerate();
    let lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    let filled = |(number, line): (usize, &'static str)| {
        let one = |time| one("", &filled(line, &mut Random::new((number as u64 + 1) * 7919 + time)));
        (line, (0..times).map(one).collect())
    };
    lines.map(filled).collect()
}

/// Where a secret that is known by its form may occur. Nothing here announces one.
pub(crate) const SURROUNDINGS: &[&str] = &[
    "{}",
    "VALUE={}\nOTHER=1\n",
    "export VALUE='{}'",
    "{\"value\": \"{}\", \"other\": 1}",
    "{\\\"value\\\": \\\"{}\\\", \\\"other\\\": 1}",
    "\"first line\\n{}\\nlast line\"",
    "value: {}\nother: 1",
    "let value = \"{}\";",
    "call('{}', 1)",
    "X-Value: {}\r\nHost: example.org",
    "2026-11-21T04:00:00Z INFO read {} from the file",
    "I pasted {}, is that bad?",
    "It is {}.",
    "({})",
    "`{}`",
    "<b>{}</b>",
    "值是{}。",
    "值：{}，然后",
    "one {}\ntwo",
    "\u{1b}[32m{}\u{1b}[0m",
    "\u{1b}[1;32m{}\u{1b}[0m",
    "{} and again {}",
    "a\tb\t{}\tc",
    "run --value={} --other",
];

fn one(kind: &'static str, filled: &str) -> Secret {
    let text = filled.replace(['«', '»'], "");
    let marked = filled.split('«').skip(1).filter_map(|rest| rest.split('»').next());
    let gone: Vec<String> = marked.map(str::to_owned).collect();
    let gone = if gone.is_empty() { vec![text.clone()] } else { gone };
    Secret { kind, text, gone }
}

/// `{alnum:36}` filled, `\n` as a line's end.
fn filled(template: &str, random: &mut Random) -> String {
    let mut out = String::new();
    let mut rest = template;
    while let Some(at) = rest.find(['{', '\\']) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        if let Some(escape) = rest.strip_prefix('\\') {
            let c = escape.chars().next().unwrap();
            match c {
                'n' => out.push('\n'),
                'r' => out.push('\r'),
                't' => out.push('\t'),
                'e' => out.push('\u{1b}'),
                '"' => out.push_str("\\\""),
                c => out.push(c),
            }
            rest = &escape[c.len_utf8()..];
            continue;
        }
        let (text, length) = field(rest, random).unwrap_or_else(|| ("{".to_owned(), 1));
        out.push_str(&text);
        rest = &rest[length..];
    }
    out.push_str(rest);
    out
}

fn field(rest: &str, random: &mut Random) -> Option<(String, usize)> {
    let (inside, _) = rest[1..].split_once('}')?;
    let length = inside.len() + 2;
    if inside == "uuid" {
        let parts = [8, 4, 4, 4, 12].map(|length| random.text("0123456789abcdef", length));
        return Some((parts.join("-"), length));
    }
    let (name, count) = inside.split_once(':')?;
    if name == "bytes" {
        let bytes = (0..count.parse().ok()?).map(|_| random.below(256).to_string());
        return Some((bytes.collect::<Vec<_>>().join(","), length));
    }
    let alphabet = match name {
        "alnum" => [LOWER, UPPER, DIGITS].concat(),
        "letters" => [LOWER, UPPER].concat(),
        "word" => [LOWER, UPPER, DIGITS, "_-"].concat(),
        "base64" => [LOWER, UPPER, DIGITS, "+/"].concat(),
        "hex" => "0123456789abcdef".to_owned(),
        "b36" => [LOWER, DIGITS].concat(),
        "b36up" => [UPPER, DIGITS].concat(),
        "base32" => [UPPER, "234567"].concat(),
        "digits" => DIGITS.to_owned(),
        "signs" => [LOWER, DIGITS, "!@#$%^&*(-_=+)"].concat(),
        _ => return None,
    };
    Some((random.text(&alphabet, count.parse().ok()?), length))
}

//! Texts of people, the model and tools: sentences, code, output of commands.

use crate::random::Random;

/// One field of work with its own vocabulary.
pub(crate) struct Topic {
    things: [&'static str; 6],
    verbs: [&'static str; 4],
    parts: [&'static str; 6],
}

const TOPICS: [Topic; 8] = [
    Topic {
        things: ["refresh token", "login form", "session cookie", "password reset", "sign-in page", "role"],
        verbs: ["renew", "revoke", "verify", "expire"],
        parts: ["token", "login", "cookie", "grant", "claim", "issuer"],
    },
    Topic {
        things: ["invoice", "tax line", "currency", "refund", "receipt", "monthly statement"],
        verbs: ["round", "charge", "settle", "cancel"],
        parts: ["invoice", "amount", "ledger", "refund", "vat", "customer"],
    },
    Topic {
        things: ["map tile", "route", "postcode", "zoom level", "marker", "bounding box"],
        verbs: ["draw", "snap", "cluster", "geocode"],
        parts: ["tile", "route", "point", "layer", "bounds", "marker"],
    },
    Topic {
        things: ["job queue", "retry", "dead letter", "worker pool", "heartbeat", "schedule"],
        verbs: ["enqueue", "retry", "drain", "lease"],
        parts: ["job", "worker", "lease", "queue", "attempt", "backoff"],
    },
    Topic {
        things: ["parser", "syntax tree", "string literal", "operator", "error message", "lexer"],
        verbs: ["parse", "fold", "resolve", "print"],
        parts: ["parser", "node", "span", "scope", "symbol", "literal"],
    },
    Topic {
        things: ["photo album", "thumbnail", "upload", "caption", "colour profile", "gallery"],
        verbs: ["resize", "crop", "rotate", "share"],
        parts: ["photo", "album", "pixel", "upload", "caption", "frame"],
    },
    Topic {
        things: ["sensor", "soil humidity", "valve", "night frost", "greenhouse", "water pump"],
        verbs: ["sample", "calibrate", "open", "log"],
        parts: ["sensor", "valve", "reading", "pump", "alarm", "humidity"],
    },
    Topic {
        things: ["chess board", "opening book", "hint", "time control", "rating", "replay"],
        verbs: ["move", "score", "undo", "rank"],
        parts: ["board", "move", "clock", "rating", "square", "engine"],
    },
];

const ASKS: [&str; 6] = [
    "Can you find out why we {verb} the {thing} twice?",
    "The {thing} is wrong after a restart. Please look at {name} first.",
    "Add a way to {verb} a {thing}, with tests, and keep {name} as it is.",
    "Before the release I would like {name} to {verb} each {thing} only when it has changed.",
    "Somebody reported that the {thing} is empty on small screens. Is that {name}?",
    "Rename {name} to something that says it will {verb} the {thing}.",
];

const SAYS: [&str; 8] = [
    "I will read {name} before I change how it should {verb} the {thing}.",
    "The reason is simple: {name} keeps the old {thing} when the second call fails.",
    "There are two places that {verb} the {thing}, and only one of them asks {name}.",
    "I moved the check into {name}, so that the {thing} is looked at once.",
    "The tests pass now, including the one that waits for the {thing}.",
    "This leaves one question open: should {name} {verb} a {thing} that nobody owns?",
    "Nothing else calls {name}; it is safe to let it {verb} the {thing} later.",
    "A smaller change would do: {verb} the {thing} first, then tell {name}.",
];

const CJK: [&str; 6] = [
    "登录令牌过期之后没有刷新，请先看一下缓存。",
    "請把發票的金額四捨五入到小數點後兩位。",
    "再起動するとジョブが二回実行される原因を調べてください。",
    "この関数の名前を変えて、テストも直してください。",
    "사진을 올린 뒤에 미리보기가 보이지 않습니다.",
    "센서 값이 가끔 비어 있어요. 원인을 찾아 주세요.",
];

const ENDINGS: [&str; 4] = ["rs", "ts", "py", "go"];
const FOLDERS: [&str; 6] = ["src", "src/core", "lib", "app/models", "tests", "internal/api"];

impl Topic {
    pub(crate) fn choose(random: &mut Random) -> &'static Self {
        &TOPICS[random.between(0, TOPICS.len())]
    }

    pub(crate) fn request(&self, random: &mut Random) -> String {
        let ask = random.pick(&ASKS);
        self.fill(ask, random)
    }

    pub(crate) fn cjk_request(&self, random: &mut Random) -> String {
        format!("{} {}", random.pick(&CJK), self.identifier(random))
    }

    /// A text of this number of sentences.
    pub(crate) fn prose(&self, sentences: usize, random: &mut Random) -> String {
        let all: Vec<_> = (0..sentences).map(|_| self.fill(random.pick(&SAYS), random)).collect();
        all.join(" ")
    }

    /// A title or the subject of a commit.
    pub(crate) fn subject(&self, random: &mut Random) -> String {
        self.fill("{verb} the {thing} in {name}", random)
    }

    /// `renewTokenIssuer`, `renew_token`, and now and then one that occurs nowhere else.
    pub(crate) fn identifier(&self, random: &mut Random) -> String {
        let (verb, part) = (random.pick(&self.verbs), random.pick(&self.parts));
        match random.between(0, 8) {
            0..4 => format!("{verb}_{part}"),
            4..7 => format!("{verb}{}{}", capital(part), capital(random.pick(&self.parts))),
            _ => format!("{verb}_{part}_{:03x}", random.skewed(1, 4096)),
        }
    }

    pub(crate) fn path(&self, random: &mut Random) -> String {
        let name = random.pick(&self.parts);
        format!("{}/{name}_{}.{}", random.pick(&FOLDERS), random.pick(&self.parts), random.pick(&ENDINGS))
    }

    /// A piece of a source file of so many lines.
    pub(crate) fn code(&self, lines: usize, random: &mut Random) -> String {
        let all: Vec<_> = (1..=lines).map(|number| self.line_of_code(number, random)).collect();
        all.join("\n")
    }

    /// The output of a command, in so many lines.
    pub(crate) fn output(&self, lines: usize, random: &mut Random) -> String {
        let all: Vec<_> = (0..lines).map(|_| self.line_of_output(random)).collect();
        all.join("\n")
    }

    fn line_of_code(&self, number: usize, random: &mut Random) -> String {
        let name = self.identifier(random);
        let code = match random.between(0, 5) {
            0 => format!("fn {name}({}: u64) -> bool {{", random.pick(&self.parts)),
            1 => {
                format!("    let {} = {name}(\"{}\")?;", random.pick(&self.parts), random.pick(&self.things))
            }
            2 => format!("    // {}", self.fill(random.pick(&SAYS), random)),
            3 => format!("    assert_eq!({name}({}), 0x{:x});", random.between(0, 99), random.next()),
            _ => "}".to_owned(),
        };
        format!("{number:>5}→{code}")
    }

    fn line_of_output(&self, random: &mut Random) -> String {
        let name = self.identifier(random);
        match random.between(0, 4) {
            0 => format!("test {name} ... ok ({} ms)", random.skewed(1, 900)),
            1 => format!("{}:{}: {name}", self.path(random), random.skewed(1, 800)),
            2 => format!("{:016x}  {}", random.next(), self.path(random)),
            _ => format!("INFO {name}: {}", self.fill("did {verb} the {thing}", random)),
        }
    }

    pub(crate) fn error(&self, random: &mut Random) -> String {
        let (path, line) = (self.path(random), random.skewed(1, 400));
        let why = self.fill("cannot {verb} the {thing}: {name} is missing", random);
        format!("Exit code 1\nerror[E{:04}]: {why}\n  --> {path}:{line}:9\n", random.between(100, 700))
    }

    fn fill(&self, sentence: &str, random: &mut Random) -> String {
        sentence
            .replace("{verb}", random.pick(&self.verbs))
            .replace("{thing}", random.pick(&self.things))
            .replace("{name}", &self.identifier(random))
    }
}

fn capital(word: &str) -> String {
    let (first, rest) = word.split_at(1);
    first.to_ascii_uppercase() + rest
}

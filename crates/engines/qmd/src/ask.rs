//! Searches with `qmd query`, falling back to `qmd vsearch` and then `qmd search`.

use schemars::JsonSchema;
use serde::Serialize;
use system::CommandOutput;

use crate::answer::{QmdHit, found};
use crate::child::Qmd;
use crate::document::DocumentHead;

/// Maximum length of an error message in characters.
const COMPLAINT: usize = 200;
/// Number of lines that contain a document's head, as an argument.
const HEAD: &str = "24";

/// A search with qmd.
#[derive(Debug, Clone, PartialEq)]
pub struct QmdQuery<'a> {
    /// The search text.
    pub intent: &'a str,
    /// Name of the collection to search.
    pub collection: &'a str,
    /// Maximum number of documents.
    pub limit: usize,
    /// Minimum score of a document.
    pub min_score: Option<f32>,
}

/// qmd's search commands, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum QmdCommand {
    /// Keywords and meaning, reranked by a model.
    Query,
    /// Meaning only.
    Vsearch,
    /// Keywords only.
    Search,
}

/// Why a command gave no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QmdFailure {
    /// The command that failed.
    pub step: QmdCommand,
    /// The error in one line.
    pub why: String,
}

/// An answer from qmd.
#[derive(Debug, Clone, PartialEq)]
pub struct QmdAnswer {
    /// The command that answered.
    pub step: QmdCommand,
    /// Documents, best first.
    pub found: Vec<QmdHit>,
    /// Failures of the commands tried before.
    pub failures: Vec<QmdFailure>,
}

/// None of qmd's commands answered, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QmdUnanswered {
    /// The failure of each command.
    pub failures: Vec<QmdFailure>,
}

impl QmdCommand {
    const CHAIN: [Self; 3] = [Self::Query, Self::Vsearch, Self::Search];

    /// Name of the command.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Query => "query",
            Self::Vsearch => "vsearch",
            Self::Search => "search",
        }
    }
}

impl QmdFailure {
    /// Describes all failures in one line; `None` if there are none.
    pub fn describe(failures: &[Self]) -> Option<String> {
        let each = failures.iter().map(|failure| format!("qmd {}: {}", failure.step.as_str(), failure.why));
        (!failures.is_empty()).then(|| each.collect::<Vec<_>>().join("; "))
    }
}

impl Qmd {
    /// Tries each command until one answers.
    pub fn ask(&self, question: &QmdQuery<'_>) -> Result<QmdAnswer, QmdUnanswered> {
        let mut failures = Vec::new();
        for step in QmdCommand::CHAIN {
            let QmdQuery { intent, collection, limit, min_score } = question;
            let (intent, limit) = (words(intent), limit.to_string());
            let mut arguments = vec![step.as_str(), &intent, "-c", collection, "--json", "-n", &limit];
            let min_score = min_score.map(|score| score.to_string());
            if let Some(score) = &min_score {
                arguments.extend(["--min-score", score]);
            }
            let why = match self.run(&arguments).and_then(|said| parse_hits(&said)) {
                Ok(found) => return Ok(QmdAnswer { step, found, failures }),
                Err(why) => why,
            };
            // What is not there is missing for every other step as well.
            let is_missing = why.starts_with(NO_COLLECTION);
            failures.push(QmdFailure { step, why });
            if is_missing {
                break;
            }
        }
        Err(QmdUnanswered { failures })
    }

    /// Reads the head of a document; `None` if it has none or qmd fails.
    pub fn document_head(&self, found: &QmdHit) -> Option<DocumentHead> {
        // The name is an answer of qmd's, not ours: it must not be taken for a flag.
        let path = found.path.strip_prefix("qmd://").map(|_| found.path.as_str())?;
        let said = self.run(&["get", path, "-l", HEAD]).ok().filter(|said| said.status.success())?;
        DocumentHead::parse(&String::from_utf8_lossy(&said.stdout))
    }
}

const NO_COLLECTION: &str = "Collection not found";
const NO_VECTORS: &str = "need embeddings";

/// The intent on one line, in a form that no release of qmd takes for a flag or query syntax.
fn words(intent: &str) -> String {
    let line = intent.split_whitespace().collect::<Vec<_>>().join(" ");
    line.trim_start_matches('-').trim_start().to_owned()
}

fn parse_hits(said: &CommandOutput) -> Result<Vec<QmdHit>, String> {
    if !said.status.success() {
        return Err(error_line(said));
    }
    match found(&String::from_utf8_lossy(&said.stdout)) {
        None => Err("it printed no answer that can be read".to_owned()),
        // Without vectors there is nothing to be found by meaning: an empty answer says nothing.
        Some(found) if found.is_empty() && String::from_utf8_lossy(&said.stderr).contains(NO_VECTORS) => {
            Err(error_line(said))
        }
        Some(found) => Ok(found),
    }
}

/// The most informative line of an error.
fn error_line(said: &CommandOutput) -> String {
    let (out, err) = (String::from_utf8_lossy(&said.stdout), String::from_utf8_lossy(&said.stderr));
    let lines = || err.lines().chain(out.lines()).map(plain).filter(|line| !line.is_empty());
    let says = |what: &[&str]| lines().find(|line| what.iter().any(|what| line.contains(what)));
    let complaint = says(&[NO_COLLECTION])
        .or_else(|| says(&["Error: ", "Error("]))
        .or_else(|| says(&[NO_VECTORS]))
        .or_else(|| lines().next());
    complaint.unwrap_or_else(|| "it failed and says nothing".to_owned()).chars().take(COMPLAINT).collect()
}

/// A line without terminal escape sequences and control characters.
fn plain(line: &str) -> String {
    let mut parts = line.split('\u{1b}');
    let first = parts.next().unwrap_or_default().to_owned();
    let rest = parts.map(|part| {
        let code = part.strip_prefix('[').unwrap_or(part);
        code.trim_start_matches(|c: char| !c.is_ascii_alphabetic()).get(1..).unwrap_or_default()
    });
    let text = first + &rest.collect::<String>();
    text.chars().filter(|c| !c.is_control()).collect::<String>().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt as _;
    use std::process::ExitStatus;
    use std::time::Duration;

    use super::*;
    use crate::child::tests::script;

    const ONE: &str = r#"echo '[{"file":"qmd://c/a.md","score":0.5,"snippet":"s"}]'"#;

    type Told = Result<(QmdCommand, usize, Option<String>), Option<String>>;

    fn ask(text: &str) -> Told {
        ask_within(text, Duration::from_mins(1))
    }

    fn ask_within(text: &str, limit: Duration) -> Told {
        let scratch = tempfile::tempdir().unwrap();
        let qmd = script(scratch.path(), text, limit);
        let question = QmdQuery { intent: "--fix\n  it", collection: "c", limit: 7, min_score: Some(0.25) };
        match qmd.ask(&question) {
            Ok(reply) => Ok((reply.step, reply.found.len(), QmdFailure::describe(&reply.failures))),
            Err(unanswered) => Err(QmdFailure::describe(&unanswered.failures)),
        }
    }

    #[test]
    fn the_first_step_that_answers_is_taken() {
        let check = |text: &str, expected: (QmdCommand, usize, Option<&str>)| {
            let (step, count, why) = expected;
            assert_eq!(ask(text), Ok((step, count, why.map(str::to_owned))), "{text}");
        };
        check(ONE, (QmdCommand::Query, 1, None));
        check("echo 'No results found.'", (QmdCommand::Query, 0, None));
        check(
            &format!(
                "[ $1 = query ] && {{ echo 'SQLiteError: no such column: claude' >&2; exit 1; }}; {ONE}"
            ),
            (QmdCommand::Vsearch, 1, Some("qmd query: SQLiteError: no such column: claude")),
        );
        check(
            &format!("case $1 in query) kill -SEGV $$;; vsearch) echo rubbish;; *) {ONE};; esac"),
            (
                QmdCommand::Search,
                1,
                Some(
                    "qmd query: it failed and says nothing; qmd vsearch: it printed no answer that can be read",
                ),
            ),
        );
        check(
            &format!(
                "case $1 in query) exit 9;; vsearch) echo '[]'; echo 'Warning: 3 documents (100%) need embeddings. Run' >&2;; *) {ONE};; esac"
            ),
            (
                QmdCommand::Search,
                1,
                Some(
                    "qmd query: it failed and says nothing; qmd vsearch: Warning: 3 documents (100%) need embeddings. Run",
                ),
            ),
        );
    }

    #[test]
    fn a_slow_qmd_costs_no_more_than_its_limit_for_each_step() {
        let why = |step: &str| format!("qmd {step}: no answer within 200 ms");
        let expected = ["query", "vsearch", "search"].map(why).join("; ");
        assert_eq!(ask_within("sleep 600", Duration::from_millis(200)), Err(Some(expected)));
    }

    #[test]
    fn a_missing_collection_ends_the_chain() {
        let text = "echo 'Collection not found: c' >&2; exit 1";
        assert_eq!(ask(text), Err(Some("qmd query: Collection not found: c".to_owned())));
    }

    #[test]
    fn nothing_that_is_asked_becomes_a_flag() {
        let text = r#"[ "$*" = "query fix it -c c --json -n 7 --min-score 0.25" ] || { echo "Error: $*" >&2; exit 1; }; echo '[]'"#;
        assert_eq!(ask(text), Ok((QmdCommand::Query, 0, None)));
    }

    #[test]
    fn complaints_are_one_plain_line() {
        let check = |err: &str, expected: &str| {
            let said = CommandOutput {
                status: ExitStatus::from_raw(1 << 8),
                stdout: Vec::new(),
                is_truncated: false,
                stderr: err.into(),
            };
            assert_eq!(error_line(&said), expected);
        };
        check(
            "Warning: 1 documents (100%) need embeddings.\n\u{1b}[?25hfile:///q.js:92\n  throw\n\nError: No model file found\n    at x\nNode.js v22",
            "Error: No model file found",
        );
        check("\u{1b}[31mCollection not found: c\u{1b}[0m\n", "Collection not found: c");
        check("", "it failed and says nothing");
    }

    #[test]
    fn a_head_is_asked_for_by_name_only() {
        let scratch = tempfile::tempdir().unwrap();
        let text =
            r#"[ "$1 $3" = "get -l" ] && printf '%s\n---\n\n1: ---\n2: Session ID: s1\n3: ---\n' "$2""#;
        let qmd = script(scratch.path(), text, Duration::from_secs(20));
        let found = |path: &str| QmdHit { path: path.into(), score: 0.0, text: String::new() };
        let head = qmd.document_head(&found("qmd://c/a.md")).unwrap();
        assert_eq!(head.session.as_ref().map(ToString::to_string).as_deref(), Some("s1"));
        assert_eq!(qmd.document_head(&found("--help")), None);
    }
}

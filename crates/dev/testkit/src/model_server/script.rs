//! The script of the model: rules that answer a person's prompt, one answer for each call the turn
//! takes.

use serde_json::Value;

use super::Gate;

/// The whole play: of the rules whose words are in the prompt, the one whose words come last answers it,
/// because the client joins what precedes a prompt (a summary, an unanswered prompt) to it.
#[derive(Default)]
pub struct Script {
    rules: Vec<Rule>,
    otherwise: Option<Answer>,
}

impl Script {
    /// A script that answers everything with one short sentence.
    pub fn new() -> Self {
        Self::default()
    }

    /// When the prompt contains `words`, the turn's calls get these answers, one after the other; a turn
    /// that continues past the last one is closed with a short text.
    #[must_use]
    pub fn on<const N: usize>(mut self, words: &str, answers: [Answer; N]) -> Self {
        self.rules.push(Rule { words: words.to_owned(), answers: answers.into() });
        self
    }

    /// The answer to a request to compact the conversation.
    #[must_use]
    pub fn on_compaction(self, summary: &str) -> Self {
        // The request names the tag that must enclose the summary.
        self.on("<summary>", [Answer::text(format!("<summary>{summary}</summary>"))])
    }

    /// The answer to a prompt that no rule knows.
    #[must_use]
    pub fn otherwise(mut self, answer: Answer) -> Self {
        self.otherwise = Some(answer);
        self
    }

    /// The rule's words and the answer for the turn's call number `call`.
    pub(super) fn answer(&self, prompt: &str, call: usize) -> (Option<String>, Answer) {
        let ends = self.rules.iter().rev().filter_map(|rule| Some((rule.end_in(prompt)?, rule)));
        match ends.max_by_key(|(end, _)| *end) {
            Some((_, rule)) => {
                let answer = rule.answers.get(call).cloned().unwrap_or_else(|| Answer::text("Done."));
                (Some(rule.words.clone()), answer)
            }
            None => (None, self.otherwise.clone().unwrap_or_else(|| Answer::text("Understood."))),
        }
    }
}

struct Rule {
    words: String,
    answers: Vec<Answer>,
}

impl Rule {
    /// Where the rule's words end in the prompt, the last time they are there.
    fn end_in(&self, prompt: &str) -> Option<usize> {
        prompt.rfind(&self.words).map(|start| start + self.words.len())
    }
}

/// One answer of the model: blocks in the order they stream.
#[derive(Clone, Default)]
pub struct Answer {
    pub(super) parts: Vec<Part>,
    pub(super) output_tokens: Option<u64>,
    pub(super) is_declined: bool,
}

/// One thing that happens while an answer streams.
#[derive(Clone)]
pub(super) enum Part {
    Text(String),
    /// A text that pauses: how far it comes before, and what follows.
    Paused(String, Gate, String),
    Thinking(String),
    Tool {
        name: String,
        input: Value,
    },
    Hold(Gate),
    Cut,
    Refuse {
        status: u16,
        kind: String,
    },
}

impl Answer {
    /// An answer that is one text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::default().with(Part::Text(text.into()))
    }

    /// An answer that begins with thinking.
    pub fn thinking(text: impl Into<String>) -> Self {
        Self::default().with(Part::Thinking(text.into()))
    }

    /// An answer that begins with a call of a tool.
    pub fn tool(name: &str, input: Value) -> Self {
        Self::default().then_tool(name, input)
    }

    /// An answer that waits at `gate` before its first byte.
    pub fn held(gate: &Gate) -> Self {
        Self::default().then_hold(gate)
    }

    /// A refusal with an HTTP status and the API's name of the error, such as 529 `overloaded_error`.
    pub fn refusal(status: u16, kind: &str) -> Self {
        Self::default().with(Part::Refuse { status, kind: kind.to_owned() })
    }

    /// Then a text block.
    #[must_use]
    pub fn then_text(self, text: impl Into<String>) -> Self {
        self.with(Part::Text(text.into()))
    }

    /// Then a text block that waits at `gate` in the middle.
    #[must_use]
    pub fn then_text_held(self, first: &str, gate: &Gate, rest: &str) -> Self {
        self.with(Part::Paused(first.to_owned(), gate.clone(), rest.to_owned()))
    }

    /// Then a call of a tool.
    #[must_use]
    pub fn then_tool(self, name: &str, input: Value) -> Self {
        self.with(Part::Tool { name: name.to_owned(), input })
    }

    /// Then nothing more until `gate` is opened.
    #[must_use]
    pub fn then_hold(self, gate: &Gate) -> Self {
        self.with(Part::Hold(gate.clone()))
    }

    /// Then the connection breaks in the middle of the answer.
    #[must_use]
    pub fn then_cut(self) -> Self {
        self.with(Part::Cut)
    }

    /// Ends as the model ends what it will not go on with: with the reason `refusal`.
    #[must_use]
    pub fn declined(mut self) -> Self {
        self.is_declined = true;
        self
    }

    /// Counts this many output tokens instead of an invented number.
    #[must_use]
    pub fn output_tokens(mut self, count: u64) -> Self {
        self.output_tokens = Some(count);
        self
    }

    fn with(mut self, part: Part) -> Self {
        self.parts.push(part);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_that_come_last_decide_and_the_first_rule_breaks_a_tie() {
        let script = ["say hello", "hello", "fix it"]
            .iter()
            .fold(Script::new(), |script, words| script.on(words, [Answer::text("So.")]));
        let rule = |prompt: &str| script.answer(prompt, 0).0;
        assert_eq!(rule("say hello").as_deref(), Some("say hello"));
        assert_eq!(rule("It was asked to say hello.\nNow fix it").as_deref(), Some("fix it"));
        assert_eq!(rule("nothing known"), None);
    }
}

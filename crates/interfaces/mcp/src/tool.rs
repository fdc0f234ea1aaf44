//! The definition of a tool: its description, effects and function, and how its answers are shaped for a model.

use std::sync::Arc;

use app::quoting::neutralize;
use app::{Context, Error, Kind};
use rmcp::model::{JsonObject, MetaObject, ToolAnnotations};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::fields::FieldSelection;
use crate::instructions::NOTICE;
use crate::limits::OnDisconnect;
use crate::size::{truncate_lists, truncate_texts};
use crate::{arguments, paging, schema};

/// The tools that a model should use unprompted; each takes space in the context of every session.
const ALWAYS_LOADED: [&str; 2] = ["search", "read_session"];

/// Answers a call with its arguments.
type Ask = Box<dyn Fn(&Context, JsonObject) -> Result<Reply, Error> + Send>;

/// A tool: a request to the app, and how its answer is shortened for a model.
pub(crate) struct Tool {
    pub(crate) name: &'static str,
    title: &'static str,
    /// What it does, when to call it, and an example.
    description: &'static str,
    effect: Effect,
    pub(crate) on_disconnect: OnDisconnect,
    input: fn() -> JsonObject,
    output: fn() -> JsonObject,
    ask: Ask,
    /// The fields that are kept, and the lists of objects that are reduced to them.
    fields: Option<(&'static FieldSelection, &'static [&'static str])>,
    /// The longest text, in bytes.
    longest_text: Option<usize>,
    is_quoting: bool,
    /// Completes an answer.
    shape: Option<fn(&mut Value)>,
    bound: Bound,
    /// How many items or messages an answer has without `limit`, and at most.
    limit: Option<(usize, usize)>,
}

/// How an answer is kept short.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bound {
    /// It is short, or the tool shortens it.
    None,
    /// The longest lists are truncated.
    Truncate,
    /// The list at this pointer is paged.
    Paged(&'static str),
}

/// What a call of a tool may change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    /// It only reads.
    Nothing,
    /// It starts something: a worker, which acts within its permissions.
    Starts,
    /// It ends or removes something.
    Ends,
}

/// The result of a call, of either kind.
pub(crate) enum Reply {
    /// The answer.
    Answer(Value),
    /// What to do instead.
    Guidance(Value),
}

/// An answer as JSON.
pub(crate) fn value(answer: &impl Serialize) -> Result<Value, Error> {
    serde_json::to_value(answer)
        .map_err(|error| Error::caused(Kind::Internal, "the answer cannot be written as JSON", &error))
}

impl Tool {
    /// A tool that asks the app and changes nothing, unless the methods below say otherwise.
    pub(crate) fn new<R, A>(
        name: &'static str,
        title: &'static str,
        description: &'static str,
        ask: impl Fn(&Context, &R) -> Result<A, Error> + Send + 'static,
    ) -> Self
    where
        R: DeserializeOwned + JsonSchema,
        A: Serialize + JsonSchema,
    {
        let reply = move |context: &Context, request: &R| value(&ask(context, request)?).map(Reply::Answer);
        Self::with_reply::<R, A>(name, title, description, reply)
    }

    /// The same for a tool that makes the JSON of the app's `A` itself.
    pub(crate) fn with_reply<R, A>(
        name: &'static str,
        title: &'static str,
        description: &'static str,
        reply: impl Fn(&Context, &R) -> Result<Reply, Error> + Send + 'static,
    ) -> Self
    where
        R: DeserializeOwned + JsonSchema,
        A: JsonSchema,
    {
        Self::with_raw_arguments::<R, A>(name, title, description, move |context, given| {
            reply(context, &arguments::parse(given)?)
        })
    }

    /// The same for a tool with arguments that are not part of the request `R`.
    pub(crate) fn with_raw_arguments<R: JsonSchema, A: JsonSchema>(
        name: &'static str,
        title: &'static str,
        description: &'static str,
        ask: impl Fn(&Context, JsonObject) -> Result<Reply, Error> + Send + 'static,
    ) -> Self {
        Self {
            name,
            title,
            description,
            effect: Effect::Nothing,
            on_disconnect: OnDisconnect::Finish,
            input: schema::input::<R>,
            output: schema::output::<A>,
            ask: Box::new(ask),
            fields: None,
            longest_text: None,
            is_quoting: false,
            shape: None,
            bound: Bound::None,
            limit: None,
        }
    }

    /// Sets what a call may change.
    pub(crate) fn effect(self, effect: Effect) -> Self {
        Self { effect, ..self }
    }

    /// A call only waits, and ends when the client disconnects.
    pub(crate) fn waiting(self) -> Self {
        Self { on_disconnect: OnDisconnect::Cancel, ..self }
    }

    /// Replaces the schema of its arguments.
    pub(crate) fn input(self, input: fn() -> JsonObject) -> Self {
        Self { input, ..self }
    }

    /// Replaces the schema of its answer.
    pub(crate) fn output(self, output: fn() -> JsonObject) -> Self {
        Self { output, ..self }
    }

    /// Answers quote transcripts: they are neutralized and get the notice.
    pub(crate) fn quoting(self) -> Self {
        Self { is_quoting: true, ..self }
    }

    /// Completes answers before they are shortened.
    pub(crate) fn shaped(self, shape: fn(&mut Value)) -> Self {
        Self { shape: Some(shape), ..self }
    }

    /// Truncates the longest lists of a long answer.
    pub(crate) fn truncating(self) -> Self {
        Self { bound: Bound::Truncate, ..self }
    }

    /// Pages the list at `pointer`.
    pub(crate) fn paged(self, pointer: &'static str, default: usize, most: usize) -> Self {
        Self { bound: Bound::Paged(pointer), ..self }.quoting().limit(default, most)
    }

    /// Sets the default and the maximum of `limit`.
    pub(crate) fn limit(self, default: usize, most: usize) -> Self {
        Self { limit: Some((default, most)), ..self }
    }

    /// Keeps only these fields of the objects in these lists.
    pub(crate) fn fields(self, fields: &'static FieldSelection, lists: &'static [&'static str]) -> Self {
        Self { fields: Some((fields, lists)), ..self }
    }

    /// Truncates longer texts, in bytes.
    pub(crate) fn max_text(self, longest: usize) -> Self {
        Self { longest_text: Some(longest), ..self }
    }

    /// Asks the app and shapes its answer.
    pub(crate) fn run(&self, context: &Context, mut given: JsonObject) -> Result<Reply, Error> {
        let page = if let (Bound::Paged(pointer), Some((default, most))) = (self.bound, self.limit) {
            Some((pointer, paging::take_page(&mut given, default, most)?))
        } else {
            arguments::read_number(&mut given, "limit");
            None
        };
        let mut answer = match (self.ask)(context, given)? {
            Reply::Answer(answer) => answer,
            guidance @ Reply::Guidance(_) => return Ok(guidance),
        };
        if let Some((fields, lists)) = self.fields {
            for list in lists {
                fields.apply(&mut answer, list);
            }
        }
        if self.is_quoting {
            neutralize(&mut answer);
        }
        if let Some(longest) = self.longest_text {
            truncate_texts(&mut answer, longest, "");
        }
        if self.is_quoting {
            answer["notice"] = json!(NOTICE);
        }
        if let Some(shape) = self.shape {
            shape(&mut answer);
        }
        match page {
            Some((pointer, page)) => page.cut(&mut answer, pointer),
            None if self.bound == Bound::Truncate => {
                let is_shorter = truncate_lists(&mut answer);
                answer["truncated"] = json!(is_shorter);
            }
            None => {}
        }
        Ok(Reply::Answer(answer))
    }

    /// Its entry in `tools/list`.
    pub(crate) fn definition(&self) -> rmcp::model::Tool {
        let mut tool = rmcp::model::Tool::new(self.name, self.description, Arc::new(self.input_schema()))
            .with_title(self.title)
            .with_raw_output_schema(Arc::new(self.output_schema()))
            .with_annotations(self.effect.annotations());
        if ALWAYS_LOADED.contains(&self.name) {
            tool.meta = Some(always_loaded());
        }
        tool
    }

    fn input_schema(&self) -> JsonObject {
        let mut input = (self.input)();
        if matches!(self.bound, Bound::Paged(_)) {
            schema::add_cursor(&mut input);
        }
        if let Some((default, most)) = self.limit {
            schema::add_limit(&mut input, default, most);
        }
        input
    }

    fn output_schema(&self) -> JsonObject {
        let mut output = (self.output)();
        if let Some((fields, _)) = self.fields {
            fields.apply_to_schema(&mut output);
        }
        match self.bound {
            Bound::None => {}
            Bound::Truncate => schema::add_truncated(&mut output),
            Bound::Paged(_) => schema::add_paging(&mut output),
        }
        if self.is_quoting {
            schema::add_notice(&mut output);
        }
        schema::compact(&mut output);
        schema::or_error(output)
    }
}

/// Makes Claude Code load a tool at the start instead of on a tool search.
fn always_loaded() -> MetaObject {
    let mut meta = MetaObject::new();
    meta.0.insert("anthropic/alwaysLoad".to_owned(), Value::Bool(true));
    meta
}

impl Effect {
    fn annotations(self) -> ToolAnnotations {
        let (reads, destroys, repeats, reaches_out) = match self {
            Self::Nothing => (true, false, true, false),
            Self::Starts => (false, false, false, true),
            // A second call is an error.
            Self::Ends => (false, true, false, false),
        };
        ToolAnnotations::new()
            .read_only(reads)
            .destructive(destroys)
            .idempotent(repeats)
            .open_world(reaches_out)
    }
}

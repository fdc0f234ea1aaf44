//! What a tool is: how it is described, what it may change, how it is run, and what every answer gets for a model.

use std::sync::Arc;

use app::quoting::neutralize;
use app::{Context, Error, Kind};
use rmcp::model::{JsonObject, MetaObject, ToolAnnotations};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::bounds::{cut_texts, shrink};
use crate::call::Patience;
use crate::instructions::NOTICE;
use crate::lean::Lean;
use crate::{arguments, paging, schema};

/// What a model should think of by itself; each costs room in every session's context.
const ALWAYS_LOADED: [&str; 2] = ["search", "read_session"];

/// Answers a call with its arguments.
type Ask = Box<dyn Fn(&Context, JsonObject) -> Result<Reply, Error> + Send>;

/// A tool: a question to the app, and how its answer is made short for a model.
pub(crate) struct Tool {
    pub(crate) name: &'static str,
    title: &'static str,
    /// What it does, when to call it, and an example.
    description: &'static str,
    effect: Effect,
    pub(crate) patience: Patience,
    input: fn() -> JsonObject,
    output: fn() -> JsonObject,
    ask: Ask,
    /// The objects of which fields are left out, and the lists that hold them.
    lean: Option<(&'static Lean, &'static [&'static str])>,
    /// The longest text, in bytes.
    longest_text: Option<usize>,
    is_quoting: bool,
    /// What else is told of an answer.
    shape: Option<fn(&mut Value)>,
    bound: Bound,
    /// How many items or messages an answer has without `limit`, and at most.
    limit: Option<(usize, usize)>,
}

/// How an answer is kept short.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bound {
    /// It is short by itself, or was made so.
    None,
    /// The longest lists lose their ends.
    Shrink,
    /// The list at this pointer comes in pieces.
    List(&'static str),
}

/// What a call of a tool may change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    /// It only reads.
    Nothing,
    /// Something begins that was not there before: a worker acts, within its permissions.
    Starts,
    /// Something ends or is gone.
    Ends,
}

/// The result of a call, of either kind.
pub(crate) enum Reply {
    /// What was asked for.
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
        Self::replying::<R, A>(name, title, description, reply)
    }

    /// The same where what the app answers with an `A` is shaped by the tool itself.
    pub(crate) fn replying<R, A>(
        name: &'static str,
        title: &'static str,
        description: &'static str,
        reply: impl Fn(&Context, &R) -> Result<Reply, Error> + Send + 'static,
    ) -> Self
    where
        R: DeserializeOwned + JsonSchema,
        A: JsonSchema,
    {
        Self::asking::<R, A>(name, title, description, move |context, given| {
            reply(context, &arguments::parse(given)?)
        })
    }

    /// The same where an argument is the tool's own, and no part of the request `R`.
    pub(crate) fn asking<R: JsonSchema, A: JsonSchema>(
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
            patience: Patience::Works,
            input: schema::input::<R>,
            output: schema::output::<A>,
            ask: Box::new(ask),
            lean: None,
            longest_text: None,
            is_quoting: false,
            shape: None,
            bound: Bound::None,
            limit: None,
        }
    }

    /// What a call may change.
    pub(crate) fn effect(self, effect: Effect) -> Self {
        Self { effect, ..self }
    }

    /// It only waits, and ends when the client is gone.
    pub(crate) fn waiting(self) -> Self {
        Self { patience: Patience::Waits, ..self }
    }

    /// Its arguments are described by this instead of by its request.
    pub(crate) fn input(self, input: fn() -> JsonObject) -> Self {
        Self { input, ..self }
    }

    /// Its answer is described by this instead of by the app's.
    pub(crate) fn output(self, output: fn() -> JsonObject) -> Self {
        Self { output, ..self }
    }

    /// Answers hold texts of transcripts, and say what those are.
    pub(crate) fn quoting(self) -> Self {
        Self { is_quoting: true, ..self }
    }

    /// An answer is completed by this, before it is made short.
    pub(crate) fn shaped(self, shape: fn(&mut Value)) -> Self {
        Self { shape: Some(shape), ..self }
    }

    /// Long answers lose the ends of their longest lists.
    pub(crate) fn shrinking(self) -> Self {
        Self { bound: Bound::Shrink, ..self }
    }

    /// The list at `pointer` goes on at a cursor.
    pub(crate) fn listing(self, pointer: &'static str, default: usize, most: usize) -> Self {
        Self { bound: Bound::List(pointer), ..self }.quoting().limit(default, most)
    }

    /// The meaning of `limit` here.
    pub(crate) fn limit(self, default: usize, most: usize) -> Self {
        Self { limit: Some((default, most)), ..self }
    }

    /// The objects in these lists lose what a model does not need.
    pub(crate) fn lean(self, lean: &'static Lean, lists: &'static [&'static str]) -> Self {
        Self { lean: Some((lean, lists)), ..self }
    }

    /// Texts that are longer are cut, in bytes.
    pub(crate) fn texts(self, longest: usize) -> Self {
        Self { longest_text: Some(longest), ..self }
    }

    /// Asks the app and makes its answer short.
    pub(crate) fn run(&self, context: &Context, mut given: JsonObject) -> Result<Reply, Error> {
        let piece = if let (Bound::List(pointer), Some((default, most))) = (self.bound, self.limit) {
            Some((pointer, paging::take(&mut given, default, most)?))
        } else {
            arguments::read_number(&mut given, "limit");
            None
        };
        let mut answer = match (self.ask)(context, given)? {
            Reply::Answer(answer) => answer,
            guidance @ Reply::Guidance(_) => return Ok(guidance),
        };
        for list in self.lean.iter().flat_map(|(_, lists)| *lists) {
            self.lean.iter().for_each(|(lean, _)| lean.apply(&mut answer, list));
        }
        if self.is_quoting {
            neutralize(&mut answer);
        }
        if let Some(longest) = self.longest_text {
            cut_texts(&mut answer, longest, "");
        }
        if self.is_quoting {
            answer["notice"] = json!(NOTICE);
        }
        if let Some(shape) = self.shape {
            shape(&mut answer);
        }
        match piece {
            Some((pointer, piece)) => piece.cut(&mut answer, pointer),
            None if self.bound == Bound::Shrink => {
                let is_shorter = shrink(&mut answer);
                answer["truncated"] = json!(is_shorter);
            }
            None => {}
        }
        Ok(Reply::Answer(answer))
    }

    /// What clients are shown of it.
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
        if matches!(self.bound, Bound::List(_)) {
            schema::add_cursor(&mut input);
        }
        if let Some((default, most)) = self.limit {
            schema::add_limit(&mut input, default, most);
        }
        input
    }

    fn output_schema(&self) -> JsonObject {
        let mut output = (self.output)();
        if let Some((lean, _)) = self.lean {
            lean.apply_to_schema(&mut output);
        }
        match self.bound {
            Bound::None => {}
            Bound::Shrink => schema::add_truncated(&mut output),
            Bound::List(_) => schema::add_paging(&mut output),
        }
        if self.is_quoting {
            schema::add_notice(&mut output);
        }
        schema::compact(&mut output);
        output
    }
}

/// Makes Claude Code show its model a tool from the beginning, without a search for tools.
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
            Self::Ends => (false, true, true, false),
        };
        ToolAnnotations::new()
            .read_only(reads)
            .destructive(destroys)
            .idempotent(repeats)
            .open_world(reaches_out)
    }
}

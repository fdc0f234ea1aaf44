//! A route as the description of the API tells it.

use schemars::{JsonSchema, Schema, SchemaGenerator};

/// Makes the schema of a type.
pub(crate) type SchemaOf = fn(&mut SchemaGenerator) -> Schema;

/// A route as the document describes it.
#[derive(Clone)]
pub(crate) struct Operation {
    pub(crate) method: &'static str,
    pub(crate) path: String,
    pub(crate) id: &'static str,
    pub(crate) summary: &'static str,
    pub(crate) query: Option<SchemaOf>,
    pub(crate) body: Option<SchemaOf>,
    pub(crate) reply: Reply,
    pub(crate) status: u16,
    pub(crate) is_open: bool,
}

/// What a route answers with.
#[derive(Clone)]
pub(crate) enum Reply {
    Nothing,
    Json(SchemaOf),
    Stream,
}

/// A question.
pub(crate) fn get(path: impl Into<String>, id: &'static str, summary: &'static str) -> Operation {
    Operation::new("get", path, id, summary)
}

/// Something to do.
pub(crate) fn post(path: impl Into<String>, id: &'static str, summary: &'static str) -> Operation {
    Operation::new("post", path, id, summary)
}

/// Something to put in the place of what is there.
pub(crate) fn put(path: impl Into<String>, id: &'static str, summary: &'static str) -> Operation {
    Operation::new("put", path, id, summary)
}

/// Something to change in what is there.
pub(crate) fn patch(path: impl Into<String>, id: &'static str, summary: &'static str) -> Operation {
    Operation::new("patch", path, id, summary)
}

/// Something to end or to remove.
pub(crate) fn delete(path: impl Into<String>, id: &'static str, summary: &'static str) -> Operation {
    Operation::new("delete", path, id, summary)
}

impl Operation {
    fn new(method: &'static str, path: impl Into<String>, id: &'static str, summary: &'static str) -> Self {
        let (query, body, reply) = (None, None, Reply::Nothing);
        Self { method, path: path.into(), id, summary, query, body, reply, status: 200, is_open: false }
    }

    /// What its query says.
    pub(crate) fn query<T: JsonSchema>(self) -> Self {
        Self { query: Some(SchemaGenerator::subschema_for::<T>), ..self }
    }

    /// What its body says.
    pub(crate) fn body<T: JsonSchema>(self) -> Self {
        Self { body: Some(SchemaGenerator::subschema_for::<T>), ..self }
    }

    /// What it answers.
    pub(crate) fn answer<T: JsonSchema>(self) -> Self {
        Self { reply: Reply::Json(SchemaGenerator::subschema_for::<T>), ..self }
    }

    /// It answers with a stream of events.
    pub(crate) fn stream(self) -> Self {
        Self { reply: Reply::Stream, ..self }
    }

    /// The status of its answer, where it is not 200.
    pub(crate) fn status(self, status: u16) -> Self {
        Self { status, ..self }
    }

    /// It needs no token.
    pub(crate) fn open(self) -> Self {
        Self { is_open: true, ..self }
    }
}

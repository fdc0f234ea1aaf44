//! A route as the API's description has it.

use schemars::{JsonSchema, Schema, SchemaGenerator};

use crate::security::TokenScope;

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
    /// What a token has to allow; `None` where none is needed.
    pub(crate) scope: Option<TokenScope>,
}

/// What a route answers with.
#[derive(Clone)]
pub(crate) enum Reply {
    Nothing,
    Json(SchemaOf),
    Stream,
}

/// A `GET` operation, for a token that may read.
pub(crate) fn get(path: impl Into<String>, id: &'static str, summary: &'static str) -> Operation {
    Operation::new("get", path, id, summary)
}

/// A `POST` operation, for a token that may act, as the other ones that change something.
pub(crate) fn post(path: impl Into<String>, id: &'static str, summary: &'static str) -> Operation {
    Operation::new("post", path, id, summary)
}

/// A `PUT` operation.
pub(crate) fn put(path: impl Into<String>, id: &'static str, summary: &'static str) -> Operation {
    Operation::new("put", path, id, summary)
}

/// A `PATCH` operation.
pub(crate) fn patch(path: impl Into<String>, id: &'static str, summary: &'static str) -> Operation {
    Operation::new("patch", path, id, summary)
}

/// A `DELETE` operation.
pub(crate) fn delete(path: impl Into<String>, id: &'static str, summary: &'static str) -> Operation {
    Operation::new("delete", path, id, summary)
}

impl Operation {
    fn new(method: &'static str, path: impl Into<String>, id: &'static str, summary: &'static str) -> Self {
        let scope = if method == "get" { TokenScope::Read } else { TokenScope::Act };
        Self {
            method,
            path: path.into(),
            id,
            summary,
            query: None,
            body: None,
            reply: Reply::Nothing,
            status: 200,
            scope: Some(scope),
        }
    }

    /// Its query has the fields of this type.
    pub(crate) fn query<T: JsonSchema>(self) -> Self {
        Self { query: Some(SchemaGenerator::subschema_for::<T>), ..self }
    }

    /// Its body is of this type.
    pub(crate) fn body<T: JsonSchema>(self) -> Self {
        Self { body: Some(SchemaGenerator::subschema_for::<T>), ..self }
    }

    /// It answers with this type.
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

    /// It needs another scope than others of its method.
    pub(crate) fn scope(self, scope: TokenScope) -> Self {
        Self { scope: Some(scope), ..self }
    }

    /// It needs no token.
    pub(crate) fn open(self) -> Self {
        Self { scope: None, ..self }
    }
}

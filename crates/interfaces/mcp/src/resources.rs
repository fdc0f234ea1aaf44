//! Sessions as resources: `session://<id>`, or `session://<id>?from=1&to=20` for a range of messages.

use std::collections::VecDeque;

use app::quoting::{harmless, neutralize};
use app::sessions::list::{self, list as list_sessions};
use app::sessions::show::{self, ShownMessage, show};
use app::{Context, Error, Kind, NextStep};
use rmcp::RoleServer;
use rmcp::model::{
    ErrorData, ListResourcesResult, PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResult,
    Resource, ResourceContents, ResourceTemplate,
};
use rmcp::service::RequestContext;
use serde::Serialize;

use crate::call::call;
use crate::errors::protocol_error;
use crate::instructions::NOTICE;
use crate::limits::OnDisconnect;
use crate::server::Server;
use crate::size::{MAX_ANSWER, size, truncate_texts};
use crate::validation::invalid_cursor;

const SCHEME: &str = "session://";
const JSON: &str = "application/json";
/// How many sessions a page of the list has.
const LISTED: usize = 20;
/// How many of the newest sessions are listed; the others can be read, too.
const MOST: usize = 100;
/// How many messages are read by default.
const MESSAGES: usize = 20;
/// The longest text of a message, in bytes.
const LONGEST: usize = 8_000;

/// The URI templates.
pub(crate) fn templates() -> Vec<ResourceTemplate> {
    let whole = ResourceTemplate::new("session://{id}", "session")
        .with_title("A session")
        .with_description("The last messages of a session. `id` may be a prefix.");
    let part = ResourceTemplate::new("session://{id}?from={from}&to={to}", "session-range")
        .with_title("Some messages of a session")
        .with_description("Messages `from` to `to` of a session, counted from 1.");
    [whole, part].map(|template| template.with_mime_type(JSON)).into()
}

/// Lists the newest sessions, a page at a time.
pub(crate) async fn list(
    server: &Server,
    request: Option<PaginatedRequestParams>,
    context: RequestContext<RoleServer>,
) -> Result<ListResourcesResult, ErrorData> {
    let cursor = request.and_then(|request| request.cursor);
    let start: usize = match cursor.as_deref().map(str::parse) {
        None => 0,
        Some(Ok(start)) => start,
        Some(Err(_)) => return Err(invalid_cursor()),
    };
    let found = call(server, &context, OnDisconnect::Finish, |context| {
        list_sessions(context, &list::Request { limit: Some(MOST), ..list::Request::default() })
    });
    let sessions = found.await.map_err(|error| protocol_error(&error))?.sessions;
    let known = sessions.len();
    let page = sessions.into_iter().skip(start).take(LISTED).map(|session| {
        let title = session.title.as_deref().unwrap_or("(no title)");
        let project = session.project.as_deref().unwrap_or("no project");
        let when = session.last_modified.map(|at| format!(", {at:.0}")).unwrap_or_default();
        Resource::new(format!("{SCHEME}{}", session.id), session.id.as_str())
            .with_title(harmless(title))
            .with_description(format!("{}{when}", harmless(project)))
            .with_mime_type(JSON)
    });
    let mut answer = ListResourcesResult::with_all_items(page.collect());
    answer.next_cursor = (start + LISTED < known).then(|| (start + LISTED).to_string());
    Ok(answer)
}

/// Reads the messages that a URI names.
pub(crate) async fn read(
    server: &Server,
    request: ReadResourceRequestParams,
    context: RequestContext<RoleServer>,
) -> Result<ReadResourceResult, ErrorData> {
    let uri = SessionUri::parse(&request.uri).map_err(|error| protocol_error(&error))?;
    let found = call(server, &context, OnDisconnect::Finish, move |context| messages(context, &uri));
    let excerpt = found.await.map_err(|error| protocol_error(&error))?;
    let text = serde_json::to_string(&excerpt).map_err(|error| {
        ErrorData::internal_error(format!("the resource cannot be written: {error}"), None)
    })?;
    Ok(ReadResourceResult::new(vec![ResourceContents::text(text, request.uri).with_mime_type(JSON)]))
}

/// Which messages of which session.
#[derive(Debug, Clone, PartialEq, Eq)]
struct SessionUri {
    session: String,
    /// The first and the last message, counted from 1; `None` for the last messages.
    range: Option<(usize, usize)>,
}

impl SessionUri {
    fn parse(uri: &str) -> Result<Self, Error> {
        let wrong = |why: &str| {
            Error::new(Kind::Usage, format!("`{uri}` {why}"))
                .hint("give `session://<id>` or `session://<id>?from=1&to=20`")
        };
        let rest = uri.strip_prefix(SCHEME).ok_or_else(|| wrong("is not the URI of a session"))?;
        let (session, query) = rest.split_once('?').map_or((rest, None), |(id, query)| (id, Some(query)));
        let session = session.trim_end_matches('/');
        if session.is_empty() {
            return Err(wrong("names no session"));
        }
        let (mut from, mut to) = (None, None);
        for part in query.into_iter().flat_map(|query| query.split('&')).filter(|part| !part.is_empty()) {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            let number = value.parse().ok().filter(|number| *number > 0);
            let number = Some(number.ok_or_else(|| wrong("has an invalid message number"))?);
            match name {
                "from" => from = number,
                "to" => to = number,
                _ => return Err(wrong("has a parameter other than from and to")),
            }
        }
        let range = match (from, to) {
            (None, None) => None,
            (from, to) => Some((from.unwrap_or(1), to.unwrap_or(usize::MAX))),
        };
        if range.is_some_and(|(from, to)| from > to) {
            return Err(wrong("has a `from` after its `to`"));
        }
        Ok(Self { session: session.to_owned(), range })
    }
}

/// Messages of a session.
#[derive(Debug, Serialize)]
pub(crate) struct Excerpt {
    notice: &'static str,
    session_id: String,
    title: Option<String>,
    /// How many messages were counted: all of the session, unless the range ends earlier.
    counted: usize,
    /// The URI of the next messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
    quoted: Vec<Numbered>,
}

#[derive(Debug, Serialize)]
struct Numbered {
    number: usize,
    #[serde(flatten)]
    message: serde_json::Value,
}

/// Why reading a session stopped.
enum Stop {
    Enough,
    Failed(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

fn messages(context: &Context, uri: &SessionUri) -> Result<Excerpt, Error> {
    let conversation =
        show(context, show::Request { session: uri.session.clone(), ..show::Request::default() })?;
    let (from, to) = uri.range.unwrap_or((1, usize::MAX));
    let (mut number, mut quoted, mut length) = (0, VecDeque::new(), 0);
    let mut is_full = false;
    let outcome = conversation.each(|shown| {
        if context.cancellation.is_cancelled() {
            return Err(Stop::Failed(Error::new(Kind::Cancelled, "the request was cancelled")));
        }
        number += 1;
        if number < from {
            return Ok(());
        }
        if number > to || is_full {
            return Err(Stop::Enough);
        }
        let numbered = Numbered { number, message: truncated(conversation.session.id.as_str(), &shown) };
        length += size(&numbered.message);
        quoted.push_back((size(&numbered.message), numbered));
        if uri.range.is_none() {
            // Only the last ones are kept.
            while quoted.len() > MESSAGES || (length > MAX_ANSWER && quoted.len() > 1) {
                length -= quoted.pop_front().map_or(0, |(size, _)| size);
            }
        }
        is_full = uri.range.is_some() && length > MAX_ANSWER - LONGEST;
        Ok(())
    });
    if let Err(Stop::Failed(error)) = outcome {
        return Err(error);
    }
    let last = quoted.back().map_or(0, |(_, message)| message.number);
    if last == 0 && from > 1 {
        let message = format!("session {} has {number} messages", conversation.session.id);
        return Err(Error::new(Kind::NotFound, message)
            .next(NextStep::Show { session: conversation.session.id.clone() }));
    }
    let id = conversation.session.id.to_string();
    let next = (is_full && last < number.min(to)).then(|| next_uri(&id, last + 1, to));
    Ok(Excerpt {
        notice: NOTICE,
        next,
        session_id: id,
        title: conversation.session.title.as_deref().map(|title| harmless(title).into_owned()),
        counted: number,
        quoted: quoted.into_iter().map(|(_, message)| message).collect(),
    })
}

/// The URI of the messages from a number on.
fn next_uri(session: &str, from: usize, to: usize) -> String {
    let end = if to == usize::MAX { String::new() } else { format!("&to={to}") };
    format!("{SCHEME}{session}?from={from}{end}")
}

/// A message with truncated texts, which say how to read the rest.
fn truncated(session: &str, shown: &ShownMessage) -> serde_json::Value {
    let mut message = serde_json::to_value(shown).unwrap_or_default();
    neutralize(&mut message);
    let whole = shown.uuid.as_deref().map(|uuid| {
        let call = serde_json::json!({"session": session, "around": uuid, "limit": 1});
        format!("; the tool read_session {call} shows them")
    });
    truncate_texts(&mut message, LONGEST, &whole.unwrap_or_default());
    message
}

/// The last messages of a session, for a prompt.
pub(crate) fn last_messages(context: &Context, session: &str) -> Result<Excerpt, Error> {
    messages(context, &SessionUri { session: session.to_owned(), range: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_uri_of_the_next_messages_is_valid() {
        let check = |to: usize, expected: &str| {
            let uri = next_uri("abc", 7, to);
            assert_eq!(uri, expected);
            assert_eq!(SessionUri::parse(&uri).unwrap().range, Some((7, to)));
        };
        check(usize::MAX, "session://abc?from=7");
        check(20, "session://abc?from=7&to=20");
    }

    #[test]
    fn a_text_that_was_cut_says_how_to_read_on() {
        let shown = ShownMessage {
            role: show::Role::User,
            subagent: None,
            uuid: Some("u1".to_owned()),
            line: None,
            at: None,
            how: None,
            parts: vec![show::Piece::Text { text: "x".repeat(LONGEST + 5) }],
        };
        let text = truncated("abc", &shown)["parts"][0]["text"].as_str().unwrap().to_owned();
        let how = r#"x… [5 more bytes; the tool read_session {"around":"u1","limit":1,"session":"abc"} shows them]"#;
        assert!(text.ends_with(how), "{text}");
    }

    #[test]
    fn uris_are_parsed() {
        let check = |uri: &str, expected: Option<(&str, Option<(usize, usize)>)>| {
            let found = SessionUri::parse(uri).ok().map(|uri| (uri.session, uri.range));
            assert_eq!(found, expected.map(|(id, range)| (id.to_owned(), range)), "{uri}");
        };
        check("session://abc", Some(("abc", None)));
        check("session://abc/", Some(("abc", None)));
        check("session://abc?from=2&to=5", Some(("abc", Some((2, 5)))));
        check("session://abc?from=2", Some(("abc", Some((2, usize::MAX)))));
        check("session://abc?to=5", Some(("abc", Some((1, 5)))));
        check("session://abc?from=0", None);
        check("session://abc?from=x", None);
        check("session://abc?from=5&to=2", None);
        check("session://abc?all=1", None);
        check("session://", None);
        check("file:///etc/passwd", None);
    }
}

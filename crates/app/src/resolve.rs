//! Which session a person means by the beginning of an id.

use model::{Session, SessionId};

use crate::{Error, Kind};

/// How many candidates an error names.
const NAMED: usize = 10;

/// The session called so: by its whole id, else by a beginning of it, or of its short id, that fits only one.
pub fn resolve<'a>(
    sessions: impl Iterator<Item = &'a Session> + Clone,
    text: &str,
) -> Result<&'a Session, Error> {
    if let Some(exact) = sessions.clone().find(|session| session.id.as_str() == text) {
        return Ok(exact);
    }
    let begins = |session: &&Session| !text.is_empty() && is_beginning(&session.id, text);
    let found: Vec<&Session> = sessions.filter(begins).collect();
    match found.as_slice() {
        [only] => Ok(only),
        [] => Err(Error::new(Kind::NotFound, format!("no session's id begins with `{}`", printable(text)))
            .hint(
                "`backstory list` shows the ids; `backstory search` finds a session by what was said in it",
            )),
        several => Err(ambiguous(text, several)),
    }
}

/// Ids that begin with a date are known by what follows it.
fn is_beginning(id: &SessionId, text: &str) -> bool {
    let whole = id.as_str();
    let after_date = whole.find(id.short()).map_or("", |start| &whole[start..]);
    whole.starts_with(text) || after_date.starts_with(text)
}

fn ambiguous(text: &str, found: &[&Session]) -> Error {
    let message = format!(
        "{} sessions' ids begin with `{}`; write more of the one you mean",
        found.len(),
        printable(text)
    );
    let named = found.iter().take(NAMED);
    named.fold(Error::new(Kind::Ambiguous, message), |error, session| {
        error.hint(format!("{}  {}", session.id, session.title.as_deref().unwrap_or("(no title)")))
    })
}

fn printable(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(80).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::session;

    #[test]
    fn ids_and_their_beginnings() {
        let sessions = ["abc1", "abc2", "abc", "2026-01-02-dead", "beef"].map(session);
        let check = |text: &str, expected: Result<&str, Kind>| {
            let found = resolve(sessions.iter(), text);
            let found = found.as_ref().map(|session| session.id.as_str()).map_err(|error| error.kind);
            assert_eq!(found, expected, "{text}");
        };
        check("abc", Ok("abc"));
        check("abc2", Ok("abc2"));
        check("ab", Err(Kind::Ambiguous));
        check("be", Ok("beef"));
        check("dead", Ok("2026-01-02-dead"));
        check("2026", Ok("2026-01-02-dead"));
        check("zz", Err(Kind::NotFound));
        check("", Err(Kind::NotFound));
    }

    #[test]
    fn candidates_are_named() {
        let sessions = ["abc1", "abc2"].map(session);
        let error = resolve(sessions.iter(), "abc").unwrap_err();
        assert_eq!(error.hints, ["abc1  (no title)", "abc2  (no title)"]);
    }
}

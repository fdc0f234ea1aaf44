//! Finds a session by its id or a prefix of it, and recognizes texts that can only be ids.

use model::{Session, SessionId};
use redact::redact_beginning as shown;

use crate::{Error, Kind, NextStep};

/// How many candidates an error names.
const NAMED: usize = 10;
/// How much of a title an error quotes, in characters.
const TITLE: usize = 60;
/// How many near ids an error names.
const NEAR: usize = 3;
/// From so many hexadecimal digits on a text is an id or the beginning of one.
const DIGITS: usize = 7;
/// A text with more bytes is like no id.
const LONGEST: usize = 100;
/// How many letters of an id may be wrong for it to be named in place of what was typed.
const SLIPS: usize = 2;

/// The session with this id, or the only one whose id or short id starts with the text, or else that has it as its
/// name. `title` says how an error words a title; with `None` it names ids alone.
pub(crate) fn resolve<'a>(
    sessions: impl Iterator<Item = &'a Session> + Clone,
    text: &str,
    title: impl Fn(&str) -> Option<String>,
) -> Result<&'a Session, Error> {
    if let Some(exact) = sessions.clone().find(|session| session.id.as_str() == text) {
        return Ok(exact);
    }
    let begins = |session: &&Session| is_named(&session.id, text);
    let found: Vec<&Session> = sessions.clone().filter(begins).collect();
    match found.as_slice() {
        [only] => Ok(only),
        [] if sessions.clone().next().is_none() => Err(no_sessions()),
        [] => match with_name(sessions.clone(), text).as_slice() {
            [only] => Ok(only),
            [] => Err(unknown(sessions, text, title)),
            several if are_copies(several) => Ok(original(several)),
            several => {
                let message =
                    format!("{} sessions are named `{}`; give an id", several.len(), printable(text));
                Err(ambiguous(message, several, title))
            }
        },
        several if are_copies(several) => Ok(original(several)),
        several => {
            let count = several.len();
            let message =
                format!("{count} session ids start with `{}`; give more of the id", printable(text));
            Err(ambiguous(message, several, title))
        }
    }
}

/// The sessions that the person gave this name, here or in Claude Code, as it is shown.
fn with_name<'a>(sessions: impl Iterator<Item = &'a Session>, text: &str) -> Vec<&'a Session> {
    let name = text.trim().to_lowercase();
    let is_named = |session: &&Session| {
        let own = session.annotations.as_deref().and_then(|annotations| annotations.name.as_deref());
        own.into_iter()
            .chain(session.custom_title.as_deref())
            .any(|known| shown(known).to_lowercase() == name)
    };
    sessions.filter(is_named).collect()
}

/// Nothing can be found where there is nothing.
pub(crate) fn no_sessions() -> Error {
    Error::new(Kind::NotFound, "there are no sessions yet").next(NextStep::FindSessions)
}

/// Whether sessions are one and copies of it, whose ids begin with a date.
fn are_copies(found: &[&Session]) -> bool {
    let whole = |session: &Session| without_date(session.id.as_str()).to_owned();
    found.windows(2).all(|two| whole(two[0]) == whole(two[1]))
}

/// The one without a date, else the last copy.
fn original<'a>(copies: &[&'a Session]) -> &'a Session {
    let is_copy = |session: &Session| without_date(session.id.as_str()) != session.id.as_str();
    let first =
        copies.iter().min_by_key(|session| (is_copy(session), std::cmp::Reverse(session.id.as_str())));
    first.copied().unwrap_or(copies[0])
}

/// Whether a text is an id, the beginning of it, or of the id without its year or date.
pub(crate) fn is_named(id: &SessionId, text: &str) -> bool {
    !text.is_empty() && id.begins_with(text)
}

/// Whether a text can only be meant for an id, whether or not a session has it: seven hexadecimal digits or
/// more, or the form of a UUID, both also behind a date.
pub fn looks_like_id(text: &str) -> bool {
    let groups: Vec<&str> = without_date(text).trim_end_matches('-').split('-').collect();
    let is_hexadecimal = |group: &&str| !group.is_empty() && group.bytes().all(|b| b.is_ascii_hexdigit());
    if groups.iter().all(is_hexadecimal) && groups.iter().any(|group| group.len() >= DIGITS) {
        return true;
    }
    // With a letter too many or a wrong one it is still meant for one.
    let is_like =
        |(group, length): (&&str, usize)| group.len().abs_diff(length) <= 1 && is_alphanumeric(group);
    groups.len() == 5 && groups.iter().zip([8, 4, 4, 4, 12]).all(is_like)
}

fn is_alphanumeric(group: &str) -> bool {
    !group.is_empty() && group.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// The text without a date like `2026-01-31-` in front.
fn without_date(text: &str) -> &str {
    let form = "0000-00-00-";
    let fits = |(byte, form): (u8, u8)| if form == b'0' { byte.is_ascii_digit() } else { byte == form };
    match text.split_at_checked(form.len()) {
        Some((date, rest)) if date.bytes().zip(form.bytes()).all(fits) => rest,
        _ => text,
    }
}

fn unknown<'a>(
    sessions: impl Iterator<Item = &'a Session>,
    text: &str,
    title: impl Fn(&str) -> Option<String>,
) -> Error {
    let error = Error::new(Kind::NotFound, format!("no session id starts with `{}`", printable(text)));
    let error = nearest(sessions, text).into_iter().fold(error, |error, session| {
        let title = titled(session, &title).map(|title| format!("  {title}")).unwrap_or_default();
        error.hint(format!("did you mean {}?{title}", session.id))
    });
    let error = if looks_like_id(text) {
        error
    } else {
        error.next(NextStep::SearchWords { words: text.to_owned() })
    };
    error.next(NextStep::ListSessions)
}

/// The sessions whose ids begin almost like what looks like an id, nearest first.
fn nearest<'a>(sessions: impl Iterator<Item = &'a Session>, text: &str) -> Vec<&'a Session> {
    if text.len() > LONGEST || !looks_like_id(text) {
        return Vec::new();
    }
    let wanted = text.to_lowercase();
    let slips = |session: &Session| {
        let ids = [session.id.as_str(), session.id.without_date()];
        // A letter may be missing or too many.
        let lengths = wanted.len().saturating_sub(1)..=wanted.len() + 1;
        let beginnings =
            ids.into_iter().flat_map(|id| lengths.clone().filter_map(|end| id.get(..end.min(id.len()))));
        let distances = beginnings.map(|id| strsim::levenshtein(&wanted, &id.to_lowercase()));
        distances.filter(|distance| *distance <= SLIPS).min()
    };
    let mut near: Vec<(usize, &Session)> =
        sessions.filter_map(|session| Some((slips(session)?, session))).collect();
    near.sort_by(|one, other| (one.0, &one.1.id).cmp(&(other.0, &other.1.id)));
    near.into_iter().take(NEAR).map(|(_, session)| session).collect()
}

fn ambiguous(message: String, found: &[&Session], title: impl Fn(&str) -> Option<String>) -> Error {
    let named = found.iter().take(NAMED);
    let error = named.fold(Error::new(Kind::Ambiguous, message), |error, session| {
        // Whoever sees no titles copies the id, which has to be certain.
        error.hint(match titled(session, &title) {
            Some(title) => format!("{}  {title}", shortest(session, found)),
            None => session.id.to_string(),
        })
    });
    match found.len().saturating_sub(NAMED) {
        0 => error,
        more => error.hint(format!("and {more} more")),
    }
}

/// The short id of a session, or the whole one where another of these has the same short id.
fn shortest<'a>(session: &'a Session, among: &[&Session]) -> &'a str {
    let short = session.id.short();
    let is_unique = among.iter().filter(|other| other.id.short() == short).count() == 1;
    if is_unique { short } else { session.id.as_str() }
}

fn titled(session: &Session, word: impl Fn(&str) -> Option<String>) -> Option<String> {
    let title = word(session.title.as_deref().unwrap_or("(no title)"))?;
    Some(match title.char_indices().nth(TITLE) {
        Some((end, _)) => format!("{}…", title[..end].trim_end()),
        None => title,
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
    fn ids_and_prefixes_are_resolved() {
        let sessions = ["abc1", "abc2", "abc", "2026-01-02-dead", "beef"].map(session);
        let check = |text: &str, expected: Result<&str, Kind>| {
            let found = resolve(sessions.iter(), text, |_| None);
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
    fn an_id_names_the_session_before_its_dated_copies() {
        let check = |ids: &[&str], expected: Result<&str, Kind>| {
            let sessions: Vec<Session> = ids.iter().map(|id| session(id)).collect();
            let found = resolve(sessions.iter(), "0790ea37", |_| None);
            let found = found.as_ref().map(|session| session.id.as_str()).map_err(|error| error.kind);
            assert_eq!(found, expected, "{ids:?}");
        };
        check(&["2026-01-15-0790ea37-90df", "0790ea37-90df"], Ok("0790ea37-90df"));
        check(&["2026-01-15-0790ea37-90df", "2026-01-16-0790ea37-90df"], Ok("2026-01-16-0790ea37-90df"));
        check(&["2026-01-15-0790ea37-90df", "0790ea37-90d0"], Err(Kind::Ambiguous));
    }

    #[test]
    fn a_short_id_resolves_to_its_session() {
        let copies =
            ["2026-01-15-0790ea37-90df", "2026-01-16-0790ea37-90df", "0790ea37-90df", "beef"].map(session);
        for session in &copies {
            let found = resolve(copies.iter(), session.id.short(), |_| None).unwrap();
            assert_eq!(found.id, session.id);
        }
    }

    #[test]
    fn without_sessions_the_error_says_there_are_none() {
        let error = resolve([].iter(), "0790ea37", |_| None).unwrap_err();
        assert_eq!((error.kind, &*error.message), (Kind::NotFound, "there are no sessions yet"));
        assert_eq!(error.next_steps, [NextStep::FindSessions]);
    }

    #[test]
    fn an_ambiguous_prefix_lists_its_candidates() {
        let sessions = ["abc1", "abc2"].map(session);
        let error = resolve(sessions.iter(), "abc", |title| Some(title.to_owned())).unwrap_err();
        let steps: Vec<_> = error.next_steps.iter().map(ToString::to_string).collect();
        assert_eq!(steps, ["abc1  (no title)", "abc2  (no title)"]);
    }

    #[test]
    fn candidates_are_few_and_short() {
        let steps = |sessions: &[Session], text: &str| -> Vec<String> {
            let error = resolve(sessions.iter(), text, |title| Some(title.to_owned())).unwrap_err();
            error.next_steps.iter().map(ToString::to_string).collect()
        };
        let id = |number: u32| format!("2026-01-15-0790ea{number:02}-90df-4d30-8fdf-0bfe301b8f3e");
        let long = |number| Session { title: Some("word ".repeat(40).into()), ..session(&id(number)) };
        let many: Vec<Session> = (10..23).map(long).collect();
        let found = steps(&many, "0790");
        assert_eq!(found[0], format!("01-15-0790ea10  {}…", "word ".repeat(12).trim_end()));
        assert_eq!((found.len(), found[10].as_str()), (11, "and 3 more"));
        let alike = ["0790ea37-90df", "0790ea37-90d0"].map(session);
        assert_eq!(steps(&alike, "0790"), ["0790ea37-90df  (no title)", "0790ea37-90d0  (no title)"]);
    }

    #[test]
    fn texts_that_look_like_ids_are_recognized() {
        let check = |text: &str, expected: bool| assert_eq!(looks_like_id(text), expected, "{text}");
        check("3601d36f", true);
        check("3601D36", true);
        check("3601d36f-b6c0-4e4b-9000-7b07e25374f7", true);
        check("3601d36f-b6c0-4e4", true);
        check("3601d36f-", true);
        check("2026-01-15-0790ea37", true);
        check("3601d36o-b6c0-4e4b-9000-7b07e25374f7", true);
        check("3601d36f-b6c-4e4b-9000-7b07e25374f7", true);
        check("3601d3", false);
        check("2026-01-15", false);
        check("fix the parser", false);
        check("refactor", false);
        check("3601d36f and more", false);
        check("one-more-of-five-things", false);
        check("", false);
        check("-", false);
        check("ü1234567", false);
    }

    #[test]
    fn a_mistyped_id_is_answered_with_the_nearest_ids() {
        let sessions = [
            "3601d36e-b6c0-4e4b-9000-7b07e25374f7",
            "2026-01-15-0790ea37-90df-4d30-8fdf-0bfe301b8f3e",
            "e6d03ad1-b6c0-4e4b-9000-7b07e25374f7",
        ]
        .map(session);
        let check = |text: &str, expected: &[&str]| {
            let near: Vec<_> =
                nearest(sessions.iter(), text).iter().map(|session| session.id.as_str()).collect();
            assert_eq!(near, expected, "{text}");
        };
        let [first, dated, _] = sessions.each_ref().map(|session| session.id.as_str());
        check("3601d36f", &[first]);
        check("3610d36e", &[first]);
        check("601d36e-b6c", &[first]);
        check("3601D36F-B6C0-4E4B-9000-7B07E25374F7", &[first]);
        check("0790ea38", &[dated]);
        check("2026-01-15-0790ea38", &[dated]);
        check("99999999-9999-4999-9999-999999999999", &[]);
        check("parser", &[]);
    }
}

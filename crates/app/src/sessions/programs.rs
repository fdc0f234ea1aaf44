//! Sessions of programs that live off Claude Code: observers, jobs of the SDK. They ask the same thing again and again,
//! and no person wrote it.

use std::collections::HashMap;

use model::{Session, SessionId, folded};

/// How much of a first prompt is compared, in characters; a shorter one is compared whole.
const COMPARED: usize = 60;
/// The shortest first prompt that tells a program: people say "hi" and "continue" often, too.
const SHORTEST: usize = 24;
/// How many sessions of the SDK that begin alike are a program's.
const ENOUGH: usize = 2;
/// The same for `claude -p`, which people use as well.
const ENOUGH_PRINTED: usize = 3;

/// The sessions of programs: those that a program's interface started and that begin alike in one directory.
#[derive(Debug, Default)]
pub(crate) struct Programs {
    /// For each of their sessions the newest of those that are alike.
    newest: HashMap<SessionId, SessionId>,
    /// How many there are of each newest one, itself included.
    counts: HashMap<SessionId, usize>,
}

impl Programs {
    /// Those among these sessions.
    pub(crate) fn among<'a>(sessions: impl Iterator<Item = &'a Session>) -> Self {
        let mut alike: HashMap<Key, Vec<&Session>> = HashMap::new();
        for session in sessions {
            if let Some(key) = Key::of(session) {
                alike.entry(key).or_default().push(session);
            }
        }
        let mut found = Self::default();
        for (key, mut sessions) in alike {
            let enough = if key.entrypoint == "sdk-cli" { ENOUGH_PRINTED } else { ENOUGH };
            if sessions.len() < enough {
                continue;
            }
            sessions.sort_by_key(|session| (session.last_modified, &session.id));
            let Some(newest) = sessions.last().map(|session| session.id.clone()) else { continue };
            found.counts.insert(newest.clone(), sessions.len());
            found.newest.extend(sessions.iter().map(|session| (session.id.clone(), newest.clone())));
        }
        found
    }

    /// Whether it is a session of a program.
    pub(crate) fn has(&self, id: &SessionId) -> bool {
        self.newest.contains_key(id)
    }

    /// Whether another one stands for it.
    pub(crate) fn is_folded(&self, id: &SessionId) -> bool {
        self.newest.get(id).is_some_and(|newest| newest != id)
    }

    /// How many others it stands for.
    pub(crate) fn others(&self, id: &SessionId) -> u64 {
        self.counts.get(id).map_or(0, |count| *count as u64 - 1)
    }
}

/// What sessions of one program have in common.
#[derive(PartialEq, Eq, Hash)]
struct Key {
    entrypoint: String,
    directory: String,
    beginning: String,
}

impl Key {
    fn of(session: &Session) -> Option<Self> {
        let entrypoint = session.entrypoint.as_deref().filter(|entrypoint| entrypoint.starts_with("sdk-"))?;
        let prompt = session.first_message.as_deref()?;
        let words = folded(&prompt.split_whitespace().collect::<Vec<_>>().join(" "));
        let beginning: String = words.chars().take(COMPARED).collect();
        (beginning.chars().count() >= SHORTEST).then(|| Self {
            entrypoint: entrypoint.to_owned(),
            directory: session.cwd.as_deref().map(|cwd| cwd.display().to_string()).unwrap_or_default(),
            beginning,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::session;

    const OBSERVE: &str = "You are an observer. Note what happens in the following session, briefly.";

    #[test]
    fn only_sessions_that_a_program_began_alike_are_folded() {
        let of = |id: &str, entrypoint: &str, cwd: &str, prompt: &str, hour: u8| Session {
            entrypoint: Some(entrypoint.into()),
            cwd: Some(std::path::Path::new(cwd).into()),
            first_message: Some(prompt.into()),
            last_modified: format!("2026-11-20T{hour:02}:00:00Z").parse().ok(),
            ..session(id)
        };
        let sessions = [
            of("a", "sdk-ts", "/o", &format!("{OBSERVE} One."), 1),
            of("b", "sdk-ts", "/o", &format!("{OBSERVE}  Two."), 3),
            of("c", "sdk-ts", "/o", &format!("{OBSERVE} Three."), 2),
            of("d", "sdk-ts", "/p", &format!("{OBSERVE} Four."), 2),
            of("e", "cli", "/o", &format!("{OBSERVE} Five."), 2),
            of("f", "sdk-cli", "/o", "Review the changes of the last commit", 2),
            of("g", "sdk-cli", "/o", "Review the changes of the last commit", 2),
            of("h", "sdk-ts", "/o", "continue", 2),
            of("i", "sdk-ts", "/o", "continue", 2),
        ];
        let programs = Programs::among(sessions.iter());
        let ids = |is: &dyn Fn(&SessionId) -> bool| -> String {
            sessions.iter().filter(|session| is(&session.id)).map(|session| session.id.as_str()).collect()
        };
        assert_eq!(ids(&|id| programs.has(id)), "abc");
        assert_eq!(ids(&|id| programs.is_folded(id)), "ac");
        assert_eq!((programs.others(&sessions[1].id), programs.others(&sessions[4].id)), (2, 0));
        let mut more = sessions.to_vec();
        more.push(of("j", "sdk-cli", "/o", "Review the changes of the last commit", 5));
        assert!(Programs::among(more.iter()).has(&sessions[5].id));
    }
}

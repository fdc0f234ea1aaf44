//! What a question to the memory may find.

use std::collections::HashSet;

use catalog::Discovery;
use model::SessionId;
use openclaw::{Memory, MemorySettings};
use search::SearchScope;

use crate::search::SourceKind;
use crate::search::chosen::{Chosen, all_conversations, named, of_project, with_claude_among};
use crate::search::memory::request::Request;
use crate::search::memory::sources_of;
use crate::{Context, Error, Secrets};

/// How many pieces of one file may be among the results, beside its best.
const PASSAGES: usize = 5;

/// The scope of a request, by the settings of the agent.
pub(super) fn scope(
    context: &Context,
    request: &Request,
    project: Option<&str>,
    found: &Discovery,
    memory: &Memory,
    settings: Option<&MemorySettings>,
) -> Result<SearchScope, Error> {
    let usual = sources_of(settings);
    let visible = context.visible(found, memory)?;
    let Chosen { mut sessions, mut conversations } =
        named(request.session.as_deref(), found, memory, visible.as_ref())?.unwrap_or_default();
    let default_project = settings.and_then(|set| set.claude.default_project.as_deref());
    if let Some(name) = project.or(default_project) {
        let of_project = of_project(context, name, found)?;
        if project.is_some() {
            narrow(&mut conversations, with_claude_among(memory, &of_project));
        }
        narrow(&mut sessions, of_project);
    }
    if let Some(folder) = settings.and_then(|set| set.claude.path.as_deref()) {
        let folder = folder.canonicalize().unwrap_or(folder.to_owned());
        let inside = found.sessions.iter().filter(|file| file.path.starts_with(&folder));
        narrow(&mut sessions, inside.map(|file| file.id.clone()).collect());
    }
    if let Some(agent) = &request.agent {
        let of_agent = memory.agents.iter().filter(|known| known.agent == *agent);
        narrow(&mut conversations, of_agent.flat_map(search::session_names).collect());
    }
    let Chosen { sessions, conversations } = Chosen { sessions, conversations }.within(visible.as_ref());
    let hides = !request.include_owned && usual.contains(&SourceKind::Sessions);
    let owned = |conversation: openclaw::StoredConversation| {
        let owner = conversation.session;
        conversation.claude.into_iter().map(move |session| (session, owner.clone()))
    };
    Ok(SearchScope {
        sessions,
        citable: visible.map(|visible| visible.sessions),
        conversations,
        sources: Some(request.source.map_or_else(|| usual.into_iter().collect(), |one| HashSet::from([one]))),
        // Whoever asks what is remembered does not mean the asking itself.
        left_out: context.asking_session().filter(|_| request.session.is_none()).into_iter().collect(),
        shows_secrets: context.secrets == Secrets::Shown,
        // As OpenClaw answers: pieces of text, not files.
        passages: PASSAGES,
        owned: if hides { all_conversations(memory).flat_map(owned).collect() } else { Vec::new() },
        ..SearchScope::default()
    })
}

fn narrow(chosen: &mut Option<HashSet<SessionId>>, to: HashSet<SessionId>) {
    *chosen = Some(match chosen.take() {
        Some(before) => before.intersection(&to).cloned().collect(),
        None => to,
    });
}

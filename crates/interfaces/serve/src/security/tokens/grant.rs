//! What a credential grants.

use crate::connection_table::Owner;
use crate::security::tokens::entry::{Entry, LINK};
use crate::security::tokens::scope::TokenScope;

/// What a credential grants.
#[derive(Debug, Clone)]
pub(crate) struct Grant {
    name: String,
    scope: TokenScope,
    digest: String,
}

impl Grant {
    /// What a token grants.
    pub(super) fn of(token: &Entry) -> Self {
        Self { name: token.name.clone(), scope: token.scope, digest: token.digest.clone() }
    }

    /// What the printed link grants to the browser that exchanges it; the link's own token grants nothing else.
    pub(in crate::security) fn of_link() -> Self {
        Self { name: LINK.to_owned(), scope: TokenScope::Act, digest: String::new() }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// What it may be used for.
    pub(crate) fn scope(&self) -> TokenScope {
        self.scope
    }

    pub(in crate::security) fn digest(&self) -> &str {
        &self.digest
    }

    /// Who has the connections and the streams that are opened with it. All browsers of a named token are one, because whoever
    /// has that token can sign in any number of them; each browser of a printed link is one by itself.
    pub(crate) fn owner(&self) -> Owner {
        let name = if self.name == LINK { &self.digest } else { &self.name };
        Owner { name: name.clone(), is_admin: self.scope == TokenScope::Admin }
    }
}

//! What a credential grants.

use crate::security::tokens::entry::{Entry, LINK};
use crate::security::tokens::scope::TokenScope;

/// What a credential grants.
#[derive(Debug, Clone)]
pub(crate) struct Grant {
    name: String,
    scope: TokenScope,
    digest: String,
    is_browser: bool,
}

impl Grant {
    /// What a token grants.
    pub(super) fn of(token: &Entry) -> Self {
        Self {
            name: token.name.clone(),
            scope: token.scope,
            digest: token.digest.clone(),
            is_browser: token.is_browser(),
        }
    }

    /// What the printed link grants to the browser that exchanges it; the link's own token grants nothing else.
    pub(in crate::security) fn of_link() -> Self {
        Self { name: LINK.to_owned(), scope: TokenScope::Admin, digest: String::new(), is_browser: false }
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

    pub(in crate::security) fn is_browser(&self) -> bool {
        self.is_browser
    }
}

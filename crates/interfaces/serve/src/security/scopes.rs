//! The scope that a request needs: `read`, `act` for acting in the person's name, `admin` for creating tokens and changing
//! what the server is connected to. Each route says which (`operation`); what depends on the request itself is checked here, too.

use std::sync::Arc;

use app::Context;
use app::cron::{self, JobRequest};
use app::workers::PermissionReply;
use axum::extract::Request;
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use crate::problem::Problem;
use crate::security::tokens::{Grant, TokenScope};

/// Passes a request on to its route, if what was granted is enough for it.
pub(crate) async fn admit(needed: TokenScope, request: Request, next: Next) -> Response {
    let granted = request.extensions().get::<Arc<Grant>>().map(|grant| grant.scope());
    match granted {
        Some(scope) if scope >= needed => next.run(request).await,
        Some(scope) => {
            let detail = format!("this token may {scope}, which is not enough: {needed} is needed");
            Problem::forbidden(detail).into_response()
        }
        None => Problem::forbidden("this needs a token").into_response(),
    }
}

/// Refuses what would act without asking, unless the token's scope is `admin`.
pub(crate) fn check_unasked(grant: &Grant, acts_unasked: bool, what: &str) -> Result<(), Problem> {
    if acts_unasked && grant.scope() < TokenScope::Admin {
        return Err(needs_admin(&format!("{what} that acts without asking")));
    }
    Ok(())
}

/// Refuses to start or change a job that acts without asking, unless the token's scope is `admin`.
pub(crate) fn check_job(grant: &Grant, context: &Context, job: &JobRequest) -> Result<(), Problem> {
    check_unasked(grant, cron::acts_without_asking(context, job)?, "a job")
}

/// Refuses an answer that allows more than a worker asks for, once, unless the token's scope is `admin`.
pub(crate) fn check_reply(grant: &Grant, reply: &PermissionReply) -> Result<(), Problem> {
    let changes_input = matches!(reply, PermissionReply::Allow { input: Some(_), .. });
    let allows_more = changes_input || reply.grant().is_some();
    if allows_more && grant.scope() < TokenScope::Admin {
        return Err(needs_admin("an answer that allows more than what is asked for, once,"));
    }
    Ok(())
}

fn needs_admin(what: &str) -> Problem {
    Problem::forbidden(format!(
        "{what} needs an admin's token; `backstory serve link --scope admin` prints a link for one"
    ))
}

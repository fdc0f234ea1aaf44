//! One request to the app: on its own thread and at its own time, with progress for the client and cancellation by it.

use app::{Cancellation, Context, Error, Kind, Progress, ProgressSink, Stage};
use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RequestContext};
use tokio::sync::watch;

use crate::limits::OnDisconnect;
use crate::server::{Server, ServerMode};

/// Runs `work` on a thread of its own, reports its progress, and cancels it when the client does.
pub(crate) async fn call<T: Send + 'static>(
    server: &Server,
    request: &RequestContext<RoleServer>,
    on_disconnect: OnDisconnect,
    work: impl FnOnce(&Context) -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    let cancelled = || Error::new(Kind::Cancelled, "the request was cancelled");
    let _permit = tokio::select! {
        permit = server.limits.permit(on_disconnect) => permit?,
        () = request.ct.cancelled() => return Err(cancelled()),
    };
    let cancellation = Cancellation::default();
    let (sender, mut progress) = watch::channel(None);
    let mut token = request.meta.get_progress_token();
    let sink = match &token {
        Some(_) => ProgressSink::new(move |step| {
            sender.send_replace(Some(step));
        }),
        None => ProgressSink::default(),
    };
    let context = Context { cancellation: cancellation.clone(), progress: sink, ..context(server) };
    let mode = server.mode.clone();
    let mut working = tokio::task::spawn_blocking(move || work(&of_caller(&mode, &context)?));
    let mut reported = ReportedProgress::default();
    let (mut is_cancelled, mut is_disconnected) = (false, false);
    loop {
        tokio::select! {
            done = &mut working => {
                // It may have ended before its last step was reported.
                let step = *progress.borrow_and_update();
                if let (Some(token), Some(step)) = (&token, step) {
                    reported.send(&request.peer, token, step).await;
                }
                return done.unwrap_or_else(|error| Err(Error::caused(Kind::Internal, "the request ended early", &error)));
            }
            () = request.ct.cancelled(), if !is_cancelled => {
                cancellation.cancel();
                is_cancelled = true;
            }
            () = server.closing.cancelled(), if on_disconnect == OnDisconnect::Cancel && !is_disconnected => {
                cancellation.cancel();
                is_disconnected = true;
            }
            changed = progress.changed(), if token.is_some() => {
                let step = *progress.borrow_and_update();
                match (changed, &token, step) {
                    (Ok(()), Some(token), Some(step)) => reported.send(&request.peer, token, step).await,
                    // All has been reported.
                    _ => token = None,
                }
            }
        }
    }
}

fn context(server: &Server) -> Context {
    Context::new(server.app.clone(), server.directory.clone())
}

/// The request with who makes it, which is decided by what the server is for and in whose session it runs.
fn of_caller(mode: &ServerMode, context: &Context) -> Result<Context, Error> {
    match mode {
        ServerMode::Standalone => app::workers::context_for_model(context),
        ServerMode::Bridge(bridge) => Ok(bridge.context(context)),
    }
}

/// The progress reported to a client, which the protocol requires to increase.
#[derive(Default)]
struct ReportedProgress {
    stage: Option<Stage>,
    /// What the earlier stages added up to.
    before: f64,
    /// The last value that was sent; `None` before the first.
    last: Option<f64>,
}

impl ReportedProgress {
    async fn send(&mut self, peer: &Peer<RoleServer>, token: &ProgressToken, step: Progress) {
        if self.stage != Some(step.stage) {
            self.before = self.last.unwrap_or_default();
            self.stage = Some(step.stage);
        }
        let (done, total) = (self.before + step.done as f64, self.before + step.total as f64);
        if self.last.is_some_and(|last| done <= last) {
            return;
        }
        self.last = Some(done);
        let progress = ProgressNotificationParam::new(token.clone(), done).with_total(total.max(done));
        // A client that has disconnected needs no progress.
        let _ = peer.notify_progress(progress.with_message(words(step))).await;
    }
}

fn words(step: Progress) -> String {
    let Progress { stage, done, total, is_share, .. } = step;
    match stage {
        Stage::Reading if is_share => format!("reading transcripts: {done}%"),
        Stage::Indexing if is_share => format!("indexing: {done}%"),
        Stage::Embedding if is_share => format!("embedding: {done}%"),
        Stage::Exporting if is_share => format!("exporting: {done}%"),
        Stage::Reading => format!("read {done} of {total} transcripts"),
        Stage::Indexing => format!("indexed {done} of {total} files"),
        Stage::Embedding => format!("embedded {done} of {total} texts"),
        Stage::Exporting => format!("exported {done} of {total} sessions"),
        Stage::IndexingDocuments => "qmd indexes the documents".to_owned(),
        Stage::Waiting => format!("waiting for workers: {done} of {total} seconds"),
    }
}

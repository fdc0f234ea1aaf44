//! One request to the app: on a thread of its own, with its own time, cancelled and followed by the client.

use app::{Caller, Cancellation, Context, Error, Kind, Progress, ProgressSink, Stage};
use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RequestContext};
use tokio::sync::watch;

use crate::server::{Server, ServerMode};

/// Whether a request only waits, and ends when the client is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Patience {
    Works,
    Waits,
}

/// Runs `work` on a thread of its own, reports its progress, and cancels it when the client does.
pub(crate) async fn call<T: Send + 'static>(
    server: &Server,
    request: &RequestContext<RoleServer>,
    patience: Patience,
    work: impl FnOnce(&Context) -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
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
    let mut working = tokio::task::spawn_blocking(move || work(&context));
    let mut reported = ReportedProgress::default();
    let (mut is_cancelled, mut is_gone) = (false, false);
    loop {
        tokio::select! {
            done = &mut working => {
                return done.unwrap_or_else(|error| Err(Error::caused(Kind::Internal, "the request ended early", &error)));
            }
            () = request.ct.cancelled(), if !is_cancelled => {
                cancellation.cancel();
                is_cancelled = true;
            }
            () = server.closing.cancelled(), if patience == Patience::Waits && !is_gone => {
                cancellation.cancel();
                is_gone = true;
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

/// The context of a request: who asks is decided by what the server is for.
fn context(server: &Server) -> Context {
    let context = Context::new(server.app.clone(), server.directory.clone());
    match &server.mode {
        ServerMode::Standalone => Context { caller: Caller::Assistant, ..context },
        ServerMode::Bridge(bridge) => bridge.context(&context),
    }
}

/// The progress that was reported to a client: the protocol lets it only grow.
#[derive(Default)]
struct ReportedProgress {
    stage: Option<Stage>,
    /// What the stages before came to.
    before: f64,
    last: f64,
}

impl ReportedProgress {
    async fn send(&mut self, peer: &Peer<RoleServer>, token: &ProgressToken, step: Progress) {
        if self.stage != Some(step.stage) {
            self.before = self.last;
            self.stage = Some(step.stage);
        }
        let (done, total) = (self.before + step.done as f64, self.before + step.total as f64);
        if done <= self.last {
            return;
        }
        self.last = done;
        let progress = ProgressNotificationParam::new(token.clone(), done).with_total(total.max(done));
        // A client that is gone needs to know nothing.
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

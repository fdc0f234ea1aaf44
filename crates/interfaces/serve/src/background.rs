//! What goes on while the server runs: sessions are watched, due jobs are run, and the index and an export are kept up to
//! date. Each is a thread, begun after the server listens.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;

use app::search::export;
use app::search::index::watch::Watch;
use app::search::index::{self, index};
use app::{Cancellation, Context, Error, cron};

use crate::events::watching;
use crate::notice::Notice;
use crate::state::Shared;

/// Writes every session as a Markdown document, as the command line words them.
pub type Exporter = Arc<dyn Fn(&Context, &export::Request) -> Result<export::Answer, Error> + Send + Sync>;

/// The threads, which end with this.
pub(crate) struct Background {
    /// The runner of jobs sleeps until this is dropped.
    jobs: Sender<()>,
    indexing: Cancellation,
    threads: Vec<JoinHandle<()>>,
}

/// What a thread does.
type Work = Box<dyn FnOnce() + Send>;

impl Background {
    /// Starts everything; what cannot be started is reported and left out.
    pub(crate) fn start(server: &Shared, export: Exporter) -> Self {
        let (jobs, sleeper) = channel::<()>();
        let indexing = Cancellation::default();
        let works: [(&str, Work); 3] = [
            ("events", {
                let server = server.clone();
                Box::new(move || watching::watch(&server))
            }),
            ("cron", {
                let server = server.clone();
                Box::new(move || run_jobs(&server, &sleeper))
            }),
            ("index", {
                let (server, cancellation) = (server.clone(), indexing.clone());
                Box::new(move || keep_index(&server, &cancellation, &export))
            }),
        ];
        let start = |(name, work): (&str, Work)| {
            let started = std::thread::Builder::new().name(name.to_owned()).spawn(work);
            started
                .map_err(|error| {
                    server.report(Notice::Warning(format!("cannot start the thread of {name}: {error}")));
                })
                .ok()
        };
        let threads = works.into_iter().filter_map(start).collect();
        Self { jobs, indexing, threads }
    }

    /// Ends the threads, and waits for them.
    pub(crate) fn end(self) {
        drop(self.jobs);
        self.indexing.cancel();
        for thread in self.threads {
            // One that panicked has said so on the program's standard error.
            let _ = thread.join();
        }
    }
}

/// Runs due jobs until the sender is dropped. When connections change, later jobs start with the new ones.
fn run_jobs(server: &Shared, sleeper: &Receiver<()>) {
    let mut is_ending = false;
    while !is_ending {
        let connections = server.sources.now();
        let mut sleep = |time| {
            is_ending = sleeper.recv_timeout(time) != Err(RecvTimeoutError::Timeout);
            !is_ending && Arc::ptr_eq(&connections, &server.sources.now())
        };
        let mut report = |event| server.report(Notice::Cron(Box::new(event)));
        if let Err(error) = cron::daemon(&connections.context(), &mut sleep, &mut report) {
            server.report(Notice::Warning(format!("scheduled jobs are not run: {}", error.message)));
            return;
        }
    }
}

/// Updates the index, and the documents that the settings ask for, whenever something has changed, until that is cancelled.
fn keep_index(server: &Shared, cancellation: &Cancellation, export: &Exporter) {
    let request = || Context { cancellation: cancellation.clone(), ..server.context() };
    let mut export = KeptExport { export, failure: None };
    while !cancellation.is_cancelled() {
        let (changes, context) = (server.sources.now().changes, request());
        let mut watch = Watch::start(&context);
        let mut is_due = true;
        // Other folders are watched by another watch.
        while !cancellation.is_cancelled() && server.sources.now().changes == changes {
            if is_due {
                let context = context.refreshed();
                // What fails now is tried again with the next change; a search says what is not indexed.
                let _ = index(&context, &index::Request::default());
                export.update(server, &context);
            }
            is_due = watch.is_due(&context);
        }
    }
}

/// The documents that the setting `export.folder` asks for.
struct KeptExport<'a> {
    export: &'a Exporter,
    /// Why they could not be written the last time.
    failure: Option<String>,
}

impl KeptExport<'_> {
    fn update(&mut self, server: &Shared, context: &Context) {
        let folder = &context.config().settings.export.folder;
        if folder.as_os_str().is_empty() || context.cancellation.is_cancelled() {
            return;
        }
        let request = export::Request { folder: context.typed_path(folder), ..export::Request::default() };
        let failure = match (self.export)(context, &request) {
            Ok(answer) => answer.failed.first().cloned(),
            Err(_) if context.cancellation.is_cancelled() => return,
            Err(error) => Some(error.message),
        };
        if let Some(failure) = failure.as_ref().filter(|failure| self.failure.as_ref() != Some(*failure)) {
            server.report(Notice::Warning(format!("the export is not up to date: {failure}")));
        }
        self.failure = failure;
    }
}

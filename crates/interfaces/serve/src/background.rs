//! What goes on while the server runs: sessions are watched, due jobs are run, and the index is kept up to date. Each is
//! a thread, begun after the server listens.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use app::search::index::watch::Watch;
use app::search::index::{self, index};
use app::{Cancellation, Context, cron};

use crate::events::watching;
use crate::notice::Notice;
use crate::state::Shared;

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
    pub(crate) fn start(server: &Shared) -> Self {
        let (jobs, sleeper) = channel::<()>();
        let context = server.context();
        let indexing = context.cancellation.clone();
        let works: [(&str, Work); 3] = [
            ("events", {
                let server = server.clone();
                Box::new(move || watching::watch(&server))
            }),
            ("cron", {
                let server = server.clone();
                Box::new(move || {
                    run_jobs(&server, &mut |time| {
                        sleeper.recv_timeout(time) == Err(RecvTimeoutError::Timeout)
                    });
                })
            }),
            ("index", Box::new(move || keep_index(&context))),
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

fn run_jobs(server: &Shared, sleep: &mut dyn FnMut(Duration) -> bool) {
    let context = server.context();
    let mut report = |event| server.report(Notice::Cron(Box::new(event)));
    if let Err(error) = cron::daemon(&context, sleep, &mut report) {
        server.report(Notice::Warning(format!("scheduled jobs are not run: {}", error.message)));
    }
}

/// Updates the index whenever something has changed, until that is cancelled.
fn keep_index(context: &Context) {
    let mut watch = Watch::start(context);
    let mut is_due = true;
    while !context.cancellation.is_cancelled() {
        if is_due {
            // What fails now is tried again with the next change; a search says what is not indexed.
            let _ = index(&context.refreshed(), &index::Request::default());
        }
        is_due = watch.is_due(context);
    }
}

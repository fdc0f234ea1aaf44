//! Watches the indexed files for changes.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use jiff::SignedDuration;
use monitor::FolderWatcher;
use search::{SourceFile, SourceKind};

use crate::Context;
use crate::search::index::{memory, sources};

/// How often one who watches looks whatever the system tells, and how often where it does not tell of all.
const RESCAN: Duration = Duration::from_secs(30);
const LOOK: Duration = Duration::from_secs(1);
/// Sub-agents' folders are watched while they are so new.
const RECENT: SignedDuration = SignedDuration::from_hours(1);

/// The files that are indexed, watched for changes.
#[derive(Debug)]
pub struct Watch {
    changes: FolderWatcher,
    looked: Instant,
    /// Whether OpenClaw's settings turn off watching Claude Code's sessions.
    skips_claude: bool,
}

impl Watch {
    /// Begins to watch what there is.
    pub fn start(context: &Context) -> Self {
        let memory = memory(context);
        let wants = |agent: &openclaw::AgentMemory| agent.settings.claude.watch;
        let skips_claude = !memory.agents.is_empty() && !memory.agents.iter().any(wants);
        let changes = FolderWatcher::new(context.config().settings.activity.events);
        let mut watch = Self { changes, looked: Instant::now(), skips_claude };
        watch.look(context);
        watch
    }

    /// Whether Claude Code's sessions are not watched because OpenClaw's settings say so.
    pub fn skips_claude(&self) -> bool {
        self.skips_claude
    }

    /// Waits for a second at most, and returns whether the index should be updated.
    pub fn is_due(&mut self, context: &Context) -> bool {
        let has_changes = self.changes.wait(LOOK);
        let rescan = if self.changes.works() { RESCAN } else { LOOK };
        let is_rescan_due = !self.skips_claude && self.looked.elapsed() >= rescan;
        if has_changes || is_rescan_due {
            self.look(context);
        }
        has_changes || is_rescan_due
    }

    /// Watches the folders that are new since the last time.
    fn look(&mut self, context: &Context) {
        self.looked = Instant::now();
        let memory = memory(context);
        let places = context.config().places();
        let sources = sources(&catalog::discover(&places), &memory);
        let is_watched = |source: &&SourceFile| {
            let modified = source.stamp.modified();
            let is_recent = modified.is_some_and(|at| context.now.duration_since(at) <= RECENT);
            (!source.subagent || is_recent)
                && !(self.skips_claude && source.kind == SourceKind::ClaudeSessions)
        };
        let parents = sources.iter().filter(is_watched).filter_map(|source| source.path.parent());
        let mut folders: BTreeSet<PathBuf> = parents.map(PathBuf::from).collect();
        if !self.skips_claude {
            folders.extend(places.config_folders.iter().map(transcript::ConfigFolder::projects));
        }
        for agent in &memory.agents {
            folders.extend([agent.workspace.clone(), agent.workspace.join("memory")]);
        }
        self.changes.watch(folders);
    }
}

//! The types that several crates exchange: ids, sessions, activity, events, usage.
//!
//! Only data: nothing here opens a file, reads a clock or starts a thread.

mod activity;
mod annotations;
mod background_job;
mod beginnings;
mod budget;
mod event;
mod id;
mod keywords;
mod origin;
mod path;
mod resumption;
mod session;
mod slug;
mod spelling;
mod spending;
mod steering;
mod time;
mod usage;

pub use activity::{Activity, Evidence, Need, QUESTION, State};
pub use annotations::Annotations;
pub use background_job::{BackgroundJob, BackgroundState};
pub use beginnings::{ResumedAt, SessionStarts};
pub use budget::budget_used;
pub use event::{
    AnnouncementEvent, ConversationEvent, SOURCE, SessionActivity, SessionEvent, SessionInfo, SubagentEvent,
    WatchStatus,
};
pub use id::{AgentId, InvalidId, SessionId};
pub use keywords::Keywords;
pub use origin::Origin;
pub use path::{optional_path, path};
pub use resumption::{ArmedInfo, ArmedKind, ArmedWork, ResumeCost, Resumption};
pub use session::{Damage, ForkOrigin, Session, Subagent, TeamPlace};
pub use slug::ProjectSlug;
pub use spelling::{folded, has_drive, is_absolute, is_of_windows, is_same_path, path_key, spelled};
pub use spending::{CostState, MessageUsage, PricingTerms, SubagentMessages};
pub use steering::{is_invisible, is_steering};
pub use time::{optional_time, time};
pub use usage::Usage;

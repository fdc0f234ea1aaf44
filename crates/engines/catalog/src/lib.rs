//! The catalog of sessions: every source merged, each session once, running sessions first.
//!
//! It reads what is new in the files and returns facts; pricing and presentation are left to others.

mod annotations;
mod assembly;
mod catalog;
mod describe;
mod digest;
mod discover;
mod facts;
mod filter;
mod fresh;
mod git;
mod interner;
mod kept_digests;
mod lineage;
mod overlay;
mod overview;
mod pack;
mod past;
mod project;
mod reading;
mod registries;
mod remembered;
mod renewal;
mod same_id;
mod scan;
mod scope;
mod select;
mod summary_cache;
mod types;

pub use annotations::{AnnotationError, AnnotationIndex, AnnotationStore};
pub use catalog::{LastKnown, describe_some, last_known, messages, read};
pub use discover::{discover, transcript_of};
pub use filter::{Hidden, SessionFilter};
pub use overview::{Projection, map_sessions, overview, overview_of};
pub use past::{PastCatalog, catalogs_at, repository};
pub use registries::agents_sessions;
pub use scope::ProjectScope;
pub use select::select;
pub use types::{Catalog, CatalogEntry, Detail, Discovery, IoStats, Locations, ReadProgress};

//! Chunks, words and ranking: the index over all sessions and how a question is answered from it.

mod admitted;
mod chunk;
mod cited_line;
mod columns;
mod confidence;
mod conversation;
mod document;
mod embed;
mod error;
mod facts;
mod features;
mod file_runs;
mod files;
mod function_words;
mod gather;
mod index;
mod kept_sessions;
mod kind;
mod meaning;
mod misspelling;
mod model_vectors;
mod notes;
mod outcome;
mod own_records;
mod paths;
mod places;
mod plan;
mod postings;
mod query;
mod query_encoder;
mod rank;
mod ranked;
mod read_only_directory;
mod record_owners;
mod schema;
mod searcher;
mod sessions;
mod snippet;
mod source;
mod sync;
mod unit;
mod vectors;
mod verify;
mod words;
mod writer;

pub use chunk::texts;
pub use cited_line::{CitedLine, cited_line};
pub use confidence::LIKELY;
pub use embed::{EmbedReport, embed};
pub use error::{Error, Remedy};
pub use kind::ChunkKind;
pub use misspelling::edit_distance;
pub use notes::{CAP as NOTE_CAP, NoteSection, name_of as note_name, sections as note_sections};
pub use outcome::{
    HitTexts, IndexSize, MeaningStatus, Mode, RankedHit, ScoreBreakdown, SearchResults, SearchScope,
    SourceCount,
};
pub use query::{FilterName, Query, QueryFilter, role, tags, without_tag};
pub use query_encoder::{BUILT_IN, EncoderReport, QueryEncoder};
pub use searcher::Searcher;
pub use snippet::Snippet;
pub use source::{SourceFile, SourceKind, session_names, source_files};
pub use sync::{IndexProgress, SyncReport, fingerprint_of, forget, pending, sync};
pub use vectors::can_embed;
pub use verify::damaged_files;
pub use writer::{discard, set_aside};

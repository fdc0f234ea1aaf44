//! Forks: a new file that begins with a copy of the parent's conversation, and the marks by which its
//! lineage can be recognised.

use serde_json::json;

use super::ids::Ids;
use super::record::Record;
use super::subagent::on_main_chain;
use super::{Line, Transcript};

/// How a copied record names its origin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lineage {
    /// `--fork-session` of 2.1.329: `requestSessionId` on the model's records.
    RequestSession,
    /// `/branch` in the terminal: `forkedFrom` on every record.
    ForkedFrom,
    /// 1.0.128 to 2.1.260, and the resumes of 1.0.60 and before: shared uuids are all there is.
    SharedUuids,
    /// 1.0.128: shared uuids, and all timestamps renewed.
    RenewedTimestamps,
    /// 2.0.77 to 2.1.59: records that still name the parent as their session.
    ParentsSessionId,
}

impl Transcript {
    /// A fork of this session in the same directory; what is built on goes into the fork alone.
    #[must_use]
    pub fn fork(&self, id: &str, lineage: Lineage) -> Self {
        self.fork_in(id, lineage, &self.cwd)
    }

    /// A fork started in another directory, whose folder it lands in.
    #[must_use]
    pub fn fork_in(&self, id: &str, lineage: Lineage, cwd: &str) -> Self {
        let mut parent = self.clone();
        parent.close_message();
        let mut fork = Self {
            id: id.to_owned(),
            ids: Ids::seeded(id),
            started_in: Some(cwd.to_owned()),
            cwd: cwd.to_owned(),
            lines: Vec::new(),
            side_files: Vec::new(),
            ..parent.clone()
        };
        for mut record in parent.copied_records() {
            fork.restamp(&mut record, lineage, &parent.id);
            fork.lines.push(Line::Record(record));
        }
        fork
    }

    /// The main chain, or what follows its last compaction.
    fn copied_records(&self) -> Vec<Record> {
        let chain: Vec<_> = self.lines.iter().filter_map(on_main_chain).cloned().collect();
        let boundary =
            |record: &Record| record.text("subtype").is_some_and(|kind| kind == "compact_boundary");
        let start = chain.iter().rposition(boundary).map_or(0, |at| at + 1);
        chain[start..].to_vec()
    }

    fn restamp(&mut self, record: &mut Record, lineage: Lineage, parent: &str) {
        record.set("cwd", &self.cwd);
        if lineage != Lineage::ParentsSessionId {
            record.set("sessionId", &self.id);
        }
        match lineage {
            Lineage::RequestSession if record.text("type").is_some_and(|kind| kind == "assistant") => {
                record.set("requestSessionId", parent);
            }
            Lineage::ForkedFrom => {
                let message = record.text("uuid");
                record.set("forkedFrom", json!({"sessionId": parent, "messageUuid": message}));
            }
            Lineage::RenewedTimestamps => {
                let now = self.now();
                record.set("timestamp", now);
            }
            Lineage::RequestSession | Lineage::SharedUuids | Lineage::ParentsSessionId => {}
        }
    }
}

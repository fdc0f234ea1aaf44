//! The requests of `cron` that only name a job, or nothing.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cron::info::RunInfo;

/// Which jobs to list: all.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "CronListRequest")]
pub struct ListRequest {}

/// Which job is meant.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "CronJobRequest")]
pub struct JobRequest {
    /// The job's name or number.
    pub job: String,
}

/// Which runs to show.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "CronHistoryRequest")]
pub struct HistoryRequest {
    /// Only runs of this job, by its name or number.
    pub job: Option<String>,
    /// At most so many.
    #[schemars(range(min = 1))]
    pub limit: usize,
}

impl Default for HistoryRequest {
    fn default() -> Self {
        Self { job: None, limit: 20 }
    }
}

/// The past runs of one job, or of all.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "CronHistoryAnswer")]
pub struct History {
    /// The runs, newest first.
    pub runs: Vec<RunInfo>,
}

//! Made by `cargo xtask fit`; do not edit. Fitted on
//! - Beep206+CyberVPN: 3 + 2 decisions, sha256 d63e26a960c299d6
//! - ClusterCockpit+cc-backend: 31 + 32 decisions, sha256 bf45bc09310f9259
//! - FSM1+cipher-box: 24 + 44 decisions, sha256 131668e253b89684
//! - JanDeDobbeleer+oh-my-posh: 44 + 43 decisions, sha256 b916c1d8a1a762f3
//! - M-Thisness+M-Claude: 17 + 32 decisions, sha256 fdd3ab913c87c172
//! - PackmindHub+context-evaluator: 8 + 18 decisions, sha256 d3e97df27a3d1562
//! - QuesmaOrg+git-prompt-story: 8 + 13 decisions, sha256 af7da6fb07791670
//! - Safecast+safecast-map-MCP: 21 + 28 decisions, sha256 488899944ae5ff1e
//! - ShamsiievDmytro+entire-bmad: 6 + 6 decisions, sha256 1b02be52e80e82a8
//! - aunshx+watchtower: 3 + 10 decisions, sha256 c50c0d38b1583de6
//! - blackgirlbytes+planetfall-seed-signalkit: 23 + 24 decisions, sha256 b09dc7fda48d7221
//! - dougnukem+orpheus: 4 + 2 decisions, sha256 8940d82b9c579067
//! - entireio+auth-go: 6 + 6 decisions, sha256 5696980d8bd9fef0
//! - entireio+cli: 113 + 206 decisions, sha256 4ab1aa87a183113a
//! - entireio+entire-sem: 18 + 13 decisions, sha256 c0a274157f4c75df
//! - entireio+external-agents: 5 + 11 decisions, sha256 5d77c91228872e47
//! - entireio+git-sync: 78 + 85 decisions, sha256 91f9d2a212b0950d
//! - entireio+skills: 23 + 15 decisions, sha256 746c71f052ccb0b2
//! - nakamura-shuta+tij: 3 + 3 decisions, sha256 ced13c74730fa1d2
//! - rommeld+leeson: 3 + 7 decisions, sha256 ff190684f9571ea4
//! - specstoryai+getspecstory: 104 + 170 decisions, sha256 8d351bc6c008584c
//! - ta93abe+me: 6 + 5 decisions, sha256 bc06b49cdbdd97da
//! - theexperiencecompany+gaia: 16 + 31 decisions, sha256 370aba7828824766
//! - tvararu+tuicraft: 5 + 5 decisions, sha256 4fa5bfe6d558e492
//!
//! Before each set the 95% intervals of its coefficients, people resampled.

use super::Coefficients;

/// After half an hour and more.
///
/// - intercept: 0.46 to 1.24
/// - `age`: -0.54 to -0.28
/// - `elsewhere`: -2.29 to -1.38
/// - `exit`: -2.95 to -1.36
/// - `opening`: 0.32 to 0.91
/// - `habit`: 0.55 to 1.02
/// - `in_prompts`: 0.13 to 2.29
/// - `in_answer`: 1.17 to 4.62
pub(super) const LONG: Coefficients = Coefficients {
    intercept: 0.884,
    weights: [-0.418, -1.888, -2.43, 0.648, 0.854, 1.262, 2.857],
    means: [1.703, 0.153, 0.053, -0.202, -0.393, 0.139, 0.167],
};

/// After five minutes and less than half an hour.
///
/// - intercept: 0.80 to 1.95
/// - `age`: -0.41 to 0.01
/// - `elsewhere`: -3.20 to -0.57
/// - `exit`: -4.36 to -0.93
/// - `opening`: 0.33 to 0.87
/// - `habit`: 0.29 to 1.01
/// - `in_prompts`: -0.11 to 2.00
/// - `in_answer`: 2.72 to 5.03
pub(super) const SHORT: Coefficients = Coefficients {
    intercept: 1.368,
    weights: [-0.222, -1.194, -2.889, 0.617, 0.685, 0.949, 3.906],
    means: [-1.683, 0.043, 0.031, -0.063, -0.499, 0.166, 0.222],
};

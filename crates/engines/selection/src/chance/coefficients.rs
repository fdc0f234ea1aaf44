//! Made by `cargo xtask fit`; do not edit. Fitted on
//! - ClusterCockpit+cc-backend: 31 + 32 decisions, sha256 a3b44740c0c46bf7
//! - FSM1+cipher-box: 24 + 44 decisions, sha256 bfa4aa2b5044f31e
//! - M-Thisness+M-Claude: 17 + 32 decisions, sha256 cdb736c27aa2f335
//! - PackmindHub+context-evaluator: 8 + 18 decisions, sha256 fde33cba3e03d5a3
//! - entireio+auth-go: 6 + 6 decisions, sha256 e886263e9ea51463
//! - entireio+cli: 113 + 206 decisions, sha256 d76135c30430d145
//! - entireio+git-sync: 78 + 85 decisions, sha256 0db127dfc2466773
//! - entireio+skills: 23 + 15 decisions, sha256 84fe6ede32e0b00a
//!
//! Before each set the 95% intervals of its coefficients, people resampled.

use super::Coefficients;

/// After half an hour and more.
///
/// - intercept: 0.34 to 2.42
/// - `age`: -0.98 to -0.37
/// - `elsewhere`: -2.68 to -0.66
/// - `exit`: -4.26 to -0.45
/// - `opening`: 0.07 to 1.35
/// - `habit`: 0.37 to 1.43
/// - `in_prompts`: -1.00 to 4.25
/// - `in_answer`: -0.04 to 5.02
pub(super) const LONG: Coefficients = Coefficients {
    intercept: 1.685,
    weights: [-0.689, -1.97, -2.634, 0.945, 1.068, 1.251, 2.539],
    means: [1.715, 0.23, 0.057, -0.267, -0.416, 0.13, 0.153],
};

/// After five minutes and less than half an hour.
///
/// - intercept: 0.37 to 1.67
/// - `age`: -0.75 to 0.05
/// - `elsewhere`: -3.31 to -0.58
/// - `exit`: -3.21 to -0.32
/// - `opening`: 0.29 to 1.04
/// - `habit`: -0.24 to 0.98
/// - `in_prompts`: -0.42 to 2.44
/// - `in_answer`: 0.91 to 5.13
pub(super) const SHORT: Coefficients = Coefficients {
    intercept: 0.972,
    weights: [-0.524, -1.683, -2.39, 0.511, 0.633, 0.954, 3.345],
    means: [-1.644, 0.053, 0.025, -0.023, -0.592, 0.169, 0.22],
};

//! The two generations of OpenClaw, which keep sessions in different places and treat them by different rules.

/// The generation of OpenClaw that keeps a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Generation {
    /// Sessions are in `sessions.json`, as until July 2026: by the rules of 2026.2.
    #[default]
    File,
    /// They are in a database, as since 2026.8: by the rules of 2026.9.
    Database,
}

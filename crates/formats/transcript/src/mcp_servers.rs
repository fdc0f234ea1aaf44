//! The MCP servers that a person has registered with Claude Code, in its `.claude.json`.

use std::path::{Path, PathBuf};

use crate::json::Raw;

/// The largest file that is read, in bytes; it holds the histories of all projects.
const CAP: u64 = 64 << 20;

/// A server that Claude Code starts as a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegisteredServer {
    /// Its name, which is part of the names of its tools.
    pub name: String,
    /// The directory whose sessions alone have it; all sessions without one.
    pub directory: Option<PathBuf>,
    /// The program.
    pub command: String,
    /// The program's arguments.
    pub arguments: Vec<String>,
}

impl RegisteredServer {
    /// The servers in a `.claude.json`; none where it cannot be read.
    pub fn find(file: &Path) -> Vec<Self> {
        let bytes = system::read_small(file, CAP).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        let whole = Raw::new(text.trim());
        let mut found: Vec<Self> = servers(whole, None).collect();
        for (directory, project) in whole.get("projects").entries() {
            found.extend(servers(project, Some(Path::new(&*directory))));
        }
        found
    }
}

fn servers<'a>(of: Raw<'a>, directory: Option<&'a Path>) -> impl Iterator<Item = RegisteredServer> {
    of.get("mcpServers").entries().filter_map(move |(name, server)| {
        let arguments = server.get("args").elements().filter_map(Raw::text);
        Some(RegisteredServer {
            name: name.into_owned(),
            directory: directory.map(Path::to_owned),
            command: server.get("command").text()?.into_owned(),
            arguments: arguments.map(std::borrow::Cow::into_owned).collect(),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_of_all_sessions_and_of_one_directory() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join(".claude.json");
        let check = |json: &str, expected: &[(&str, Option<&str>, &str, &[&str])]| {
            std::fs::write(&file, json).unwrap();
            let expected: Vec<_> = expected
                .iter()
                .map(|(name, directory, command, arguments)| RegisteredServer {
                    name: (*name).to_owned(),
                    directory: directory.map(PathBuf::from),
                    command: (*command).to_owned(),
                    arguments: arguments.iter().map(ToString::to_string).collect(),
                })
                .collect();
            assert_eq!(RegisteredServer::find(&file), expected, "{json}");
        };
        check(
            r#"{"mcpServers": {"a": {"type": "stdio", "command": "x", "args": ["mcp"]}, "b": {"type": "http", "url": "u"}},
                "projects": {"/w": {"mcpServers": {"c": {"command": "y"}}}, "/v": {}}}"#,
            &[("a", None, "x", &["mcp"]), ("c", Some("/w"), "y", &[])],
        );
        check("{}", &[]);
        check("no JSON", &[]);
        check(r#"{"mcpServers": [1]}"#, &[]);
        assert_eq!(RegisteredServer::find(&home.path().join("missing")), []);
    }
}

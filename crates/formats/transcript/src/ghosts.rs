//! What Claude Code leaves of a session whose transcript it deleted: prompts, checkpoints of files, to-dos, its id.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use model::SessionId;

use crate::files::SubagentFile;
use crate::home::ConfigFolder;
use crate::json::Raw;

/// The longest history, and the longest line of one, that are read.
const LONGEST: u64 = 256 << 20;
const LONGEST_LINE: usize = 4 << 20;
/// The largest file of to-dos that is read.
const LARGEST: u64 = 4 << 20;
/// The most files of a session that are counted.
const MOST: usize = 10_000;

/// What is left of a session.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SessionTraces {
    /// The directory in which it was, as the history says.
    pub project: Option<PathBuf>,
    /// What the person typed, in order, from `history.jsonl`.
    pub prompts: Vec<(Option<Timestamp>, String)>,
    /// To-dos of the session and its sub-agents, from `todos` and `tasks`.
    pub todos: Vec<String>,
    /// How many checkpoints of files there are in `file-history`.
    pub checkpoints: usize,
    /// The transcripts of its sub-agents.
    pub subagents: Vec<SubagentFile>,
    /// The folders and files in which it left something.
    pub places: BTreeSet<PathBuf>,
    /// The first sign of it.
    pub first: Option<Timestamp>,
    /// The last one.
    pub last: Option<Timestamp>,
}

impl SessionTraces {
    /// Adds the transcript of a sub-agent.
    pub fn add_subagent(&mut self, agent: &SubagentFile) {
        self.places.extend(agent.path.parent().map(Path::to_owned));
        self.seen(agent.stamp.modified());
        self.subagents.push(agent.clone());
    }

    fn seen(&mut self, at: Option<Timestamp>) {
        let Some(at) = at else { return };
        self.first = Some(self.first.map_or(at, |first| first.min(at)));
        self.last = Some(self.last.map_or(at, |last| last.max(at)));
    }
}

/// What is left of each session in a config folder, whether or not its transcript is there.
pub fn traces(folder: &ConfigFolder) -> BTreeMap<SessionId, SessionTraces> {
    let mut found = BTreeMap::new();
    read_history(&folder.root().join("history.jsonl"), &mut found);
    for name in ["session-env", "file-history", "tasks"] {
        let folder = folder.root().join(name);
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let Some(id) = entry.file_name().to_str().and_then(id_of) else { continue };
            if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                continue;
            }
            let traces: &mut SessionTraces = found.entry(id).or_default();
            traces.places.insert(folder.clone());
            traces.seen(modified(&entry.path()));
            match name {
                "file-history" => traces.checkpoints += files_in(&entry.path()).count(),
                "tasks" => files_in(&entry.path()).for_each(|file| traces.todos.extend(task(&file))),
                _ => {}
            }
        }
    }
    let folder = folder.root().join("todos");
    for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let Some(id) = name
            .to_str()
            .and_then(|name| name.strip_suffix(".json"))
            .and_then(|stem| id_of(stem.split_once("-agent-").map_or(stem, |(id, _)| id)))
        else {
            continue;
        };
        let traces = found.entry(id).or_default();
        traces.places.insert(folder.clone());
        traces.seen(modified(&entry.path()));
        traces.todos.extend(todos(&entry.path()));
    }
    found
}

/// A name that is the id of a session, and not just any name.
fn id_of(name: &str) -> Option<SessionId> {
    let is_uuid = name.len() == 36 && name.bytes().all(|byte| byte == b'-' || byte.is_ascii_hexdigit());
    name.parse().ok().filter(|_| is_uuid)
}

fn read_history(file: &Path, found: &mut BTreeMap<SessionId, SessionTraces>) {
    let Ok(open) = system::open_regular(file) else { return };
    let mut reader = BufReader::new(open.take(LONGEST));
    let mut line = Vec::new();
    loop {
        line.clear();
        match (&mut reader).take(LONGEST_LINE as u64).read_until(b'\n', &mut line) {
            Ok(read) if read > 0 => {}
            _ => return,
        }
        let text = String::from_utf8_lossy(&line);
        let record = Raw::new(text.trim());
        let Some(id) = record.get("sessionId").text().and_then(|id| id_of(&id)) else { continue };
        let at = record
            .get("timestamp")
            .count()
            .and_then(|at| Timestamp::from_millisecond(i64::try_from(at).ok()?).ok());
        let traces = found.entry(id).or_default();
        traces.places.insert(file.to_owned());
        traces.seen(at);
        if traces.project.is_none() {
            traces.project = record.get("project").text().map(|path| PathBuf::from(path.as_ref()));
        }
        if let Some(prompt) = record.get("display").text().filter(|text| !text.trim().is_empty()) {
            traces.prompts.push((at, prompt.into()));
        }
    }
}

fn files_in(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().take(MOST);
    entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file())).map(|entry| entry.path())
}

/// The subject of a task of a task list.
fn task(file: &Path) -> Option<String> {
    let bytes = system::read_small(file, LARGEST).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    Raw::new(text.trim()).get("subject").text().map(Into::into)
}

/// The to-dos of a list.
fn todos(file: &Path) -> Vec<String> {
    let bytes = system::read_small(file, LARGEST).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let all = Raw::new(text.trim()).elements();
    all.filter_map(|todo| todo.get("content").text().map(Into::into)).collect()
}

fn modified(path: &Path) -> Option<Timestamp> {
    Timestamp::try_from(path.symlink_metadata().ok()?.modified().ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_trace_is_found_and_other_files_are_ignored() {
        const ONE: &str = "11111111-1111-4111-8111-111111111111";
        const TWO: &str = "22222222-2222-4222-8222-222222222222";
        let scratch = tempfile::tempdir().unwrap();
        let root = scratch.path();
        let write = |path: &str, text: &str| {
            fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
            fs::write(root.join(path), text).unwrap();
        };
        let line = |text: &str, at: u64| {
            format!(r#"{{"display":"{text}","timestamp":{at},"project":"/p/web","sessionId":"{ONE}"}}"#)
        };
        let history = [
            line("Fix the walrus", 1_795_187_755_003),
            "no JSON".to_owned(),
            line("Again", 1_795_187_800_000),
        ];
        write("history.jsonl", &history.join("\n"));
        write(&format!("file-history/{ONE}/abc@v1"), "x");
        write(&format!("session-env/{TWO}/x"), "");
        write("session-env/notes/x", "");
        write(&format!("todos/{TWO}-agent-{TWO}.json"), r#"[{"content":"Count them","status":"pending"}]"#);
        write(&format!("tasks/{TWO}/1.json"), r#"{"id":"1","subject":"Feed them"}"#);
        let found = traces(&ConfigFolder::new(root));
        let id = |text: &str| text.parse::<SessionId>().unwrap();
        let ids: Vec<&str> = found.keys().map(SessionId::as_str).collect();
        assert_eq!(ids, [ONE, TWO]);
        let one = &found[&id(ONE)];
        let prompts: Vec<&str> = one.prompts.iter().map(|(_, text)| text.as_str()).collect();
        assert_eq!((prompts.as_slice(), one.checkpoints), (["Fix the walrus", "Again"].as_slice(), 1));
        assert_eq!(one.project.as_deref(), Some(Path::new("/p/web")));
        assert_eq!(one.first, "2026-11-20T15:15:55.003Z".parse::<Timestamp>().ok());
        assert_eq!(found[&id(TWO)].todos, ["Feed them", "Count them"]);
    }
}

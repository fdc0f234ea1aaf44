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
    /// What the person typed and pasted, in order, from `history.jsonl`.
    pub prompts: Vec<(Option<Timestamp>, String)>,
    /// What was pasted into them and is in files of its own: [`SessionTraces::read_pasted`] puts it in.
    pasted: Vec<PastedFile>,
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

/// A text that was pasted into a prompt, in a file of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
struct PastedFile {
    /// Which prompt it is.
    prompt: usize,
    /// The number of the text in it.
    number: String,
    file: PathBuf,
}

impl SessionTraces {
    /// Reads what was pasted into the prompts and is in files of its own; one that is gone leaves its mark.
    pub fn read_pasted(&mut self) {
        for PastedFile { prompt, number, file } in std::mem::take(&mut self.pasted) {
            let Ok(bytes) = system::read_small(&file, LARGEST) else { continue };
            self.places.extend(file.parent().map(Path::to_owned));
            if let Some((_, text)) = self.prompts.get_mut(prompt) {
                *text = with_pasted(text, &number, &String::from_utf8_lossy(&bytes));
            }
        }
    }

    fn add_prompt(&mut self, at: Option<Timestamp>, display: &str, pasted: Raw<'_>, cache: &Path) {
        let mut text = display.to_owned();
        for (number, pasted) in pasted.entries().filter(|(_, pasted)| !pasted.get("type").is("image")) {
            if let Some(content) = pasted.get("content").text() {
                text = with_pasted(&text, &number, &content);
            } else if let Some(hash) = pasted.get("contentHash").text().filter(|hash| is_plain(hash)) {
                let file = cache.join(format!("{hash}.txt"));
                let (prompt, number) = (self.prompts.len(), number.into_owned());
                self.pasted.push(PastedFile { prompt, number, file });
            }
        }
        if !text.trim().is_empty() {
            self.prompts.push((at, text));
        }
    }

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
    read_history(folder.root(), &mut found);
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

/// A prompt with a pasted text in the place of its mark, `[Pasted text #1 +2 lines]`; behind it where there is none.
fn with_pasted(prompt: &str, number: &str, pasted: &str) -> String {
    let mark = format!("[Pasted text #{number}");
    let place = prompt.match_indices(&mark).find_map(|(start, _)| {
        let rest = &prompt[start + mark.len()..];
        let end = rest.find(']').filter(|_| rest.starts_with([' ', ']']))?;
        Some((start, start + mark.len() + end + 1))
    });
    match place {
        Some((start, end)) => format!("{}{pasted}{}", &prompt[..start], &prompt[end..]),
        None => format!("{prompt}\n{pasted}"),
    }
}

/// Whether a name leads to no other folder.
fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

fn read_history(root: &Path, found: &mut BTreeMap<SessionId, SessionTraces>) {
    let file = &root.join("history.jsonl");
    let cache = root.join("paste-cache");
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
        traces.places.insert(file.clone());
        traces.seen(at);
        if traces.project.is_none() {
            traces.project = record.get("project").text().map(|path| PathBuf::from(path.as_ref()));
        }
        let display = record.get("display").text().unwrap_or_default();
        traces.add_prompt(at, &display, record.get("pastedContents"), &cache);
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
    fn what_was_pasted_stands_where_it_was_pasted() {
        const ONE: &str = "11111111-1111-4111-8111-111111111111";
        let check = |display: &str, pasted: &str, expected: &str| {
            let scratch = tempfile::tempdir().unwrap();
            let root = scratch.path();
            fs::create_dir_all(root.join("paste-cache")).unwrap();
            fs::write(root.join("paste-cache/ab12.txt"), "a wombat\nlog").unwrap();
            fs::write(root.join("secret.txt"), "of somebody").unwrap();
            let line =
                format!(r#"{{"display":"{display}","pastedContents":{{{pasted}}},"sessionId":"{ONE}"}}"#);
            fs::write(root.join("history.jsonl"), line).unwrap();
            let mut found = traces(&ConfigFolder::new(root));
            let one = found.get_mut(&ONE.parse::<SessionId>().unwrap()).unwrap();
            one.read_pasted();
            let prompts: Vec<&str> = one.prompts.iter().map(|(_, text)| text.as_str()).collect();
            assert_eq!(prompts, [expected], "{display} {pasted}");
        };
        let inline = |number: &str, text: &str| format!(r#""{number}":{{"type":"text","content":"{text}"}}"#);
        let hashed = |hash: &str| format!(r#""1":{{"type":"text","contentHash":"{hash}"}}"#);
        check("why? [Pasted text #1 +1 lines] hm", &hashed("ab12"), "why? a wombat\nlog hm");
        check("why? [Pasted text #1]", &inline("1", "log"), "why? log");
        check(
            "[Pasted text #10 +3 lines] [Pasted text #1 +1 lines]",
            &inline("1", "log"),
            "[Pasted text #10 +3 lines] log",
        );
        check("", &inline("1", "log"), "\nlog");
        check("no mark", &inline("2", "log"), "no mark\nlog");
        check("gone [Pasted text #1 +1 lines]", &hashed("cd34"), "gone [Pasted text #1 +1 lines]");
        check("out [Pasted text #1 +1 lines]", &hashed("../secret"), "out [Pasted text #1 +1 lines]");
        check("[Image #1]", r#""1":{"type":"image","content":"iVBOR"}"#, "[Image #1]");
    }

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

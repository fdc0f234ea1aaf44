//! Guards of the architecture: which crate may use which, what ARCHITECTURE.md and docs/design say, how long a file
//! or a page and how large `app` may grow, and that no files use each other in a circle.

mod circles;
mod names;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use testkit::files::bytes;

/// Each crate with those it may know, as the table of ARCHITECTURE.md says. `system` may be known by all, and `testkit`
/// by all tests.
struct Table(Vec<(String, May)>);

/// The crates that a crate may know.
enum May {
    Know(Vec<String>),
    KnowAny,
}

impl Table {
    /// Reads rows such as "| `catalog` | finds every session | `transcript`, `model` |".
    fn read(page: &str) -> Self {
        let mut table = Self(Vec::new());
        for line in page.lines() {
            let cells: Vec<&str> = line.split('|').map(str::trim).collect();
            let [_, name, _, knows, _] = cells.as_slice() else { continue };
            let Some(name) = name.strip_prefix('`').and_then(|name| name.strip_suffix('`')) else { continue };
            let above = || table.0.iter().map(|(name, _)| name.clone()).collect();
            let may = match *knows {
                "any" => May::KnowAny,
                "all above" => May::Know(above()),
                names => May::Know(names.split('`').skip(1).step_by(2).map(str::to_owned).collect()),
            };
            table.0.push((name.to_owned(), may));
        }
        table
    }

    fn allows(&self, from: &str, to: &str) -> bool {
        let of = |(name, may): &(String, May)| match may {
            May::KnowAny => name == from,
            May::Know(names) => name == from && names.iter().any(|known| known == to),
        };
        to == "system" || self.0.iter().any(of)
    }

    fn lists(&self, name: &str) -> bool {
        self.0.iter().any(|(listed, _)| listed == name)
    }
}

/// Crates that serve the makers and are not shipped.
const TOOLS: [&str; 2] = ["testkit", "xtask"];

const LONGEST_FILE: usize = 800;

/// A person reads this many words in about five minutes.
const ARCHITECTURE_WORDS: usize = 1_500;

/// Beyond this a README has become the manual, which is in docs/.
const README_LINES: usize = 150;

/// Below this many lines a whole is too small for shares of it to mean anything.
const SMALL_HOUSE: usize = 10_000;

#[test]
fn every_crate_depends_only_on_lower_floors() {
    let table = Table::read(&page("ARCHITECTURE.md"));
    let forbidden = metadata_edges().iter().filter_map(|edge| forbidden(&table, edge)).collect();
    let gone = table.0.iter().filter(|(name, _)| !crates().contains(name));
    let gone = gone.map(|(name, _)| format!("ARCHITECTURE.md lists `{name}`, which is no crate")).collect();
    assert_holds(&[unlisted(&table, &crates()), gone, forbidden].concat());
}

#[test]
fn architecture_md_names_what_exists() {
    assert_holds(&omitted_crates(&page("ARCHITECTURE.md"), &crates()));
    let design = entries(&root().join("docs/design"));
    let names = design.iter().map(|path| format!("docs/design/{}", last_component(Some(path))));
    let pages = names.chain(["ARCHITECTURE.md".to_owned()]);
    assert_holds(&pages.flat_map(|name| gone_paths(&name, &page(&name), &root())).collect::<Vec<_>>());
}

#[test]
fn pages_for_newcomers_stay_short() {
    let words = words(&page("ARCHITECTURE.md"));
    let lines = page("README.md").lines().count();
    let long = [
        too_long("ARCHITECTURE.md", words, ARCHITECTURE_WORDS, "words"),
        too_long("README.md", lines, README_LINES, "lines"),
    ];
    assert_holds(&long.into_iter().flatten().collect::<Vec<_>>());
}

#[test]
fn scripting_md_lists_every_exit_code() {
    let codes = exit_codes(&page("crates/interfaces/cli/src/exit.rs"));
    assert!(codes.len() > 5, "the help of exit codes is not where it was");
    let listed = page("docs/scripting.md");
    let omitted = codes.iter().filter(|code| !listed.contains(&format!("\n| {code} | ")));
    assert_holds(
        &omitted.map(|code| format!("docs/scripting.md omits exit code {code}")).collect::<Vec<_>>(),
    );
}

#[test]
fn no_file_is_too_long() {
    let files = crates().into_iter().flat_map(|name| production_files(&name));
    let long = files.filter(|(_, lines)| *lines > LONGEST_FILE);
    let says = long.map(|(path, lines)| format!("{} has {lines} lines: split it by idea", path.display()));
    assert_holds(&says.collect::<Vec<_>>());
}

#[test]
fn only_interfaces_name_commands() {
    let is_other =
        |name: &String| !matches!(name.as_str(), "cli" | "mcp" | "serve") && !TOOLS.contains(&name.as_str());
    let of_others = crates().into_iter().filter(is_other);
    let files = of_others.flat_map(|name| production_files(&name)).map(|(path, _)| path);
    let says = files.flat_map(|path| {
        let text = String::from_utf8(bytes(&path)).expect("a source");
        let say = |line| format!("{}:{line} names a command: use a `NextStep`", path.display());
        worded_commands(&text).into_iter().map(say).collect::<Vec<_>>()
    });
    assert_holds(&says.collect::<Vec<_>>());
}

#[test]
fn app_stays_below_its_share_of_the_code() {
    let lines = |name: &String| -> usize { production_files(name).iter().map(|(_, lines)| lines).sum() };
    let whole = crates().iter().filter(|name| !TOOLS.contains(&name.as_str())).map(lines).sum();
    assert_holds(&too_large_app(lines(&"app".to_owned()), whole).into_iter().collect::<Vec<_>>());
}

/// The lines, from 1, whose texts name a command to type.
fn worded_commands(source: &str) -> Vec<usize> {
    let lines = (1..).zip(source.lines()).filter(|(_, line)| !line.trim_start().starts_with("//"));
    lines.filter(|(_, line)| line.contains("`backstory ")).map(|(number, _)| number).collect()
}

/// Fails with all that is wrong at once.
#[track_caller]
fn assert_holds(problems: &[String]) {
    assert!(problems.is_empty(), "the sources break the rules of ARCHITECTURE.md:\n{}", problems.join("\n"));
}

/// One crate depends on another.
struct Edge {
    from: String,
    to: String,
    for_tests: bool,
}

fn forbidden(table: &Table, edge: &Edge) -> Option<String> {
    let Edge { from, to, for_tests } = edge;
    let allowed = table.allows(from, to) || (*for_tests && to == "testkit");
    (!allowed).then(|| format!("`{from}` may not know `{to}`"))
}

fn unlisted(table: &Table, crates: &[String]) -> Vec<String> {
    let unlisted = crates.iter().filter(|name| !table.lists(name));
    unlisted.map(|name| format!("`{name}` is not in the table of crates")).collect()
}

/// The edges between our own crates.
fn metadata_edges() -> Vec<Edge> {
    let arguments = ["metadata", "--format-version=1", "--no-deps", "--offline"];
    let output = Command::new(env!("CARGO")).args(arguments).current_dir(root()).output();
    let output = output.map(|output| output.stdout).unwrap_or_default();
    let metadata: Value = serde_json::from_slice(&output).unwrap_or_default();
    let packages = metadata["packages"].as_array().cloned().unwrap_or_default();
    assert!(!packages.is_empty(), "cargo metadata names no package");
    packages.iter().flat_map(package_edges).collect()
}

fn package_edges(package: &Value) -> Vec<Edge> {
    let from = last_component(Path::new(package["manifest_path"].as_str().unwrap_or_default()).parent());
    let dependencies = package["dependencies"].as_array().cloned().unwrap_or_default();
    let ours = dependencies.iter().filter(|dependency| dependency["path"].is_string());
    ours.map(|dependency| Edge {
        from: from.clone(),
        to: last_component(dependency["path"].as_str().map(Path::new)),
        for_tests: dependency["kind"] == "dev",
    })
    .collect()
}

fn last_component(path: Option<&Path>) -> String {
    path.and_then(Path::file_name).unwrap_or_default().to_string_lossy().into_owned()
}

fn page(name: &str) -> String {
    String::from_utf8_lossy(&bytes(&root().join(name))).into_owned()
}

/// The number of words on a Markdown page, without the markup of its tables.
fn words(text: &str) -> usize {
    text.split_whitespace().filter(|word| word.contains(char::is_alphanumeric)).count()
}

/// The codes of a help text with a line `3  what it means` for each.
fn exit_codes(text: &str) -> Vec<u8> {
    text.lines().filter_map(|line| line.trim_start().split_once("  ")?.0.parse().ok()).collect()
}

fn too_long(page: &str, length: usize, longest: usize, unit: &str) -> Option<String> {
    (length > longest).then(|| format!("{page} has {length} {unit}, over {longest}"))
}

/// Paths such as `crates/foundation/model/src/id.rs`, `docs/json.md`, or `model/id.rs` in backticks, that do not
/// exist.
fn gone_paths(page: &str, text: &str, root: &Path) -> Vec<String> {
    let starts = ["crates/", "docs/", "scripts/"].into_iter().flat_map(|folder| text.match_indices(folder));
    let full = starts.map(|(at, _)| path_at(&text[at..]));
    let quoted = text.split('`').skip(1).step_by(2).filter_map(|words| module_path(words, root));
    let all = full.map(|path| root.join(path)).chain(quoted);
    let gone = all.filter(|path| !path.exists());
    gone.map(|path| format!("{page} names {}, which is gone", path.display())).collect()
}

fn path_at(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && !"_-./".contains(c)).unwrap_or(text.len());
    text[..end].trim_end_matches(['.', '/'])
}

/// What `search/fuse.rs` stands for, when `search` is a crate that exists.
fn module_path(words: &str, root: &Path) -> Option<PathBuf> {
    let (name, file) = words.split_once('/')?;
    let is_path = path_at(words) == words && file.contains('.');
    let folder = crate_folders(root).into_iter().find(|folder| last_component(Some(folder)) == name)?;
    is_path.then(|| folder.join("src").join(file))
}

fn omitted_crates(text: &str, crates: &[String]) -> Vec<String> {
    let omitted = crates.iter().filter(|name| !text.contains(&format!("`{name}`")));
    omitted.map(|name| format!("ARCHITECTURE.md omits the crate `{name}`")).collect()
}

fn too_large_app(app: usize, whole: usize) -> Option<String> {
    let large = whole > SMALL_HOUSE && app * 4 > whole;
    large.then(|| {
        format!("`app` has {app} of {whole} lines, over a quarter: what it decides belongs below it")
    })
}

fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(3).unwrap_or(here).to_path_buf()
}

fn crates() -> Vec<String> {
    crate_folders(&root()).iter().map(|folder| last_component(Some(folder))).collect()
}

/// Each crate's folder: `crates/app`, and the others one floor further down, as `crates/engines/search`.
fn crate_folders(root: &Path) -> Vec<PathBuf> {
    let floors = entries(&root.join("crates"));
    let all = floors.iter().flat_map(|floor| [vec![floor.clone()], entries(floor)].concat());
    all.filter(|path| path.join("Cargo.toml").exists()).collect()
}

/// A crate's source files with their lengths; files that hold only tests are left out.
fn production_files(name: &str) -> Vec<(PathBuf, usize)> {
    let mut files = Vec::new();
    let folders = crate_folders(&root());
    for folder in folders.iter().filter(|folder| last_component(Some(folder)) == name) {
        collect_sources(&folder.join("src"), &mut files);
    }
    files
}

fn collect_sources(folder: &Path, files: &mut Vec<(PathBuf, usize)>) {
    for path in entries(folder) {
        let stem = path.file_stem().unwrap_or_default();
        if stem == "tests" {
            continue;
        }
        if path.is_dir() {
            collect_sources(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = bytes(&path);
            files.push((path, text.split(|byte| *byte == b'\n').count() - 1));
        }
    }
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut all: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    all.sort();
    all
}

mod guards {
    //! The guards themselves are tried on houses that are wrong.

    use super::*;

    const PAGE: &str = "\
| crate | purpose | depends on |
|---|---|---|
| `model` | types | |
| `search` | the index | `model` |
| `app` | everything | all above |
| `cli` | the command line | `app`, `model` |
| `xtask` | tools | any |
| rule | guard |
";

    #[track_caller]
    fn check_edge(from: &str, to: &str, for_tests: bool, allowed: bool) {
        let edge = Edge { from: from.to_owned(), to: to.to_owned(), for_tests };
        assert_eq!(forbidden(&Table::read(PAGE), &edge).is_none(), allowed, "{from} -> {to}");
    }

    #[test]
    fn imports_go_down_and_only_tests_use_the_testkit() {
        check_edge("cli", "app", false, true);
        check_edge("cli", "search", false, false);
        check_edge("app", "search", false, true);
        check_edge("app", "cli", false, false);
        check_edge("search", "system", false, true);
        check_edge("model", "search", false, false);
        check_edge("search", "testkit", true, true);
        check_edge("search", "testkit", false, false);
        check_edge("search", "app", true, false);
        check_edge("xtask", "cli", false, true);
    }

    #[test]
    fn a_crate_outside_the_table_is_found() {
        let crates = ["model", "xtask", "attic"].map(str::to_owned);
        assert_eq!(unlisted(&Table::read(PAGE), &crates), ["`attic` is not in the table of crates"]);
    }

    #[test]
    fn a_path_that_is_gone_is_found() {
        let gone = |text: &str| gone_paths("ARCHITECTURE.md", text, &root()).len();
        assert_eq!(gone("See crates/foundation/model/src/id.rs, and `model/id.rs`."), 0);
        assert_eq!(gone("See crates/foundation/model/src/attic.rs, docs/attic.md and scripts/test."), 2);
        assert_eq!(gone("See `model/attic.rs` and `and/or`, `routes/<name>.rs`."), 1);
    }

    #[test]
    fn a_crate_that_is_left_out_is_found() {
        let crates = ["model".to_owned(), "search".to_owned()];
        assert_eq!(omitted_crates("`model` and `search`", &crates), Vec::<String>::new());
        assert_eq!(omitted_crates("`model`", &crates).len(), 1);
    }

    #[test]
    fn a_command_in_a_text_is_found() {
        let source = "/// As `backstory show` has it.\nlet hint = \"run `backstory index` again\";\n";
        assert_eq!(worded_commands(source), [2]);
    }

    #[test]
    fn a_page_that_grows_is_found() {
        assert_eq!(words("| a | two words |\n|---|---|\n"), 3);
        assert_eq!(too_long("README.md", 150, 150, "lines"), None);
        assert_eq!(too_long("README.md", 151, 150, "lines").unwrap(), "README.md has 151 lines, over 150");
    }

    #[test]
    fn exit_codes_are_read_from_the_help() {
        assert_eq!(exit_codes("Exit codes:\n  0  done\n130  cancelled\n    Kind::Usage => 2,"), [0, 130]);
    }

    #[test]
    fn an_app_over_its_share_is_found() {
        assert!(too_large_app(5_000, 9_000).is_none());
        assert!(too_large_app(2_500, 10_001).is_none());
        assert!(too_large_app(2_501, 10_001).is_some());
    }
}

//! Finds circles: files of one crate that use each other, directly or through others.
//!
//! A file may use what the modules above it define, as a child uses its parent's types; everything else that comes
//! back to where it began is a circle. Code for tests is ignored. Paths are read from tokens, without type inference,
//! so a call of a method that another file implements goes unseen.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use testkit::files::bytes;

use super::{assert_holds, crate_folders, last_component, root};

/// Crates whose files still form circles. Take a crate off the list once it has none.
const NOT_YET_FREE: &[&str] = &[];

/// How many imports are followed from one name to its definition.
const MOST_IMPORTS: usize = 16;

#[test]
fn no_files_use_each_other_in_a_circle() {
    let folders = crate_folders(&root());
    assert_holds(&folders.iter().flat_map(|folder| problems(folder)).collect::<Vec<_>>());
}

fn problems(folder: &Path) -> Vec<String> {
    let name = last_component(Some(folder));
    let circles = circles_of_crate(folder);
    match (circles.is_empty(), NOT_YET_FREE.contains(&name.as_str())) {
        (true, true) => vec![format!("`{name}` is free of circles now: take it off NOT_YET_FREE")],
        (true, false) | (false, true) => Vec::new(),
        (false, false) => circles.iter().map(|circle| format!("a circle in `{name}`:\n{circle}")).collect(),
    }
}

/// The circles of a crate's library and programs, each as lines of "file uses file (names)".
fn circles_of_crate(folder: &Path) -> Vec<String> {
    let sources = folder.join("src");
    let roots = ["lib.rs", "main.rs"].map(|file| sources.join(file)).into_iter().filter(|path| path.exists());
    roots.flat_map(|path| circles(&Modules::read(&path), &sources)).collect()
}

fn circles(modules: &Modules, sources: &Path) -> Vec<String> {
    let uses = modules.uses();
    let mut used_by: BTreeMap<&PathBuf, Vec<&PathBuf>> = BTreeMap::new();
    for (from, to) in uses.keys() {
        used_by.entry(from).or_default().push(to);
    }
    let reachable: BTreeMap<&PathBuf, BTreeSet<&PathBuf>> =
        used_by.keys().map(|from| (*from, reachable(from, &used_by))).collect();
    let mut seen = BTreeSet::new();
    let mut circles = Vec::new();
    for (file, targets) in &reachable {
        if !targets.contains(file) || seen.contains(file) {
            continue;
        }
        let returns = |target: &&&PathBuf| reachable.get(**target).is_some_and(|back| back.contains(file));
        let circle: BTreeSet<&PathBuf> = targets.iter().filter(returns).copied().collect();
        let short = |path: &Path| path.strip_prefix(sources).unwrap_or(path).display().to_string();
        let inside = uses.iter().filter(|((from, to), _)| circle.contains(from) && circle.contains(to));
        let lines = inside.map(|((from, to), names)| {
            let names = names.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
            format!("  {} uses {} ({names})", short(from), short(to))
        });
        circles.push(lines.collect::<Vec<_>>().join("\n"));
        seen.extend(circle);
    }
    circles
}

/// The files of one crate that use each other: who uses whom, by which names.
type Uses = BTreeMap<(PathBuf, PathBuf), BTreeSet<String>>;

fn reachable<'a>(from: &PathBuf, used_by: &BTreeMap<&'a PathBuf, Vec<&'a PathBuf>>) -> BTreeSet<&'a PathBuf> {
    let next = |file: &PathBuf| used_by.get(file).into_iter().flatten().copied();
    let mut found = BTreeSet::new();
    let mut open: Vec<_> = next(from).collect();
    while let Some(file) = open.pop() {
        if found.insert(file) {
            open.extend(next(file));
        }
    }
    found
}

/// All modules of a crate by their paths; the root's is empty.
struct Modules(BTreeMap<Vec<String>, Module>);

/// The names that one module defines, imports and uses.
#[derive(Default)]
struct Module {
    file: PathBuf,
    defined: BTreeSet<String>,
    imports: Vec<Import>,
    paths: BTreeSet<Vec<String>>,
}

/// One name that a `use` brings in.
struct Import {
    path: Vec<String>,
    /// `*` where everything is imported.
    name: String,
    is_public: bool,
}

impl Modules {
    fn read(root: &Path) -> Self {
        let mut modules = Self(BTreeMap::new());
        modules.add_file(Vec::new(), root, root.parent().unwrap_or(root));
        modules
    }

    /// Reads a module's file; `children` is the folder of the files of its child modules.
    fn add_file(&mut self, path: Vec<String>, file: &Path, children: &Path) {
        let text = String::from_utf8_lossy(&bytes(file)).into_owned();
        let tokens: TokenStream = text.parse().unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        self.add(path, file, children, tokens);
    }

    fn add(&mut self, path: Vec<String>, file: &Path, children: &Path, tokens: TokenStream) {
        let mut scan = Scan::default();
        scan.items(tokens, true);
        for (name, body) in scan.modules {
            let inner = [path.clone(), vec![name.clone()]].concat();
            let folder = children.join(&name);
            if let Some(body) = body {
                self.add(inner, file, &folder, body);
                continue;
            }
            let candidates = [children.join(format!("{name}.rs")), folder.join("mod.rs")];
            if let Some(found) = candidates.iter().find(|candidate| candidate.exists()) {
                self.add_file(inner, found, &folder);
            }
        }
        self.0.insert(path, Module { file: file.to_owned(), ..scan.module });
    }

    /// Every use of one file by another, but those of what modules above define and re-exports of modules below.
    fn uses(&self) -> Uses {
        let mut uses = Uses::new();
        for (path, module) in &self.0 {
            let imported = module.imports.iter().map(|import| (&import.path, import.is_public));
            for (used, is_public) in imported.chain(module.paths.iter().map(|used| (used, false))) {
                let Some(definer) = self.definer(path, used, 0) else { continue };
                let is_reexport = is_public && definer.starts_with(path);
                let Some(target) = self.0.get(&definer).filter(|_| !path.starts_with(&definer)) else {
                    continue;
                };
                if target.file != module.file && !is_reexport {
                    let names = uses.entry((module.file.clone(), target.file.clone())).or_default();
                    names.insert(used.last().cloned().unwrap_or_default());
                }
            }
        }
        uses
    }

    /// The module that defines what a path names, seen from a module; `None` for modules themselves and for other
    /// crates.
    fn definer(&self, from: &[String], used: &[String], followed: usize) -> Option<Vec<String>> {
        if followed > MOST_IMPORTS {
            return None;
        }
        let mut at = from.to_vec();
        for (index, segment) in used.iter().enumerate() {
            match segment.as_str() {
                "crate" => at.clear(),
                "self" => {}
                "super" => drop(at.pop()),
                "*" => return Some(at),
                name => {
                    let child = [at.as_slice(), &[name.to_owned()]].concat();
                    let is_last = index + 1 == used.len();
                    if self.0.contains_key(&child) && !is_last {
                        at = child;
                        continue;
                    }
                    return self.definer_of_name(&at, name, &used[index + 1..], followed);
                }
            }
        }
        None
    }

    fn definer_of_name(
        &self,
        at: &[String],
        name: &str,
        rest: &[String],
        followed: usize,
    ) -> Option<Vec<String>> {
        let module = self.0.get(at)?;
        if module.defined.contains(name) {
            return Some(at.to_vec());
        }
        let is_ours = |path: &[String]| {
            let first = path.first().map(String::as_str).unwrap_or_default();
            ["crate", "self", "super"].contains(&first)
                || self.0.contains_key(&[at, &[first.to_owned()]].concat())
        };
        let named = module.imports.iter().filter(|import| import.name == name);
        let globs = module.imports.iter().filter(|import| import.name == "*" && is_ours(&import.path));
        let named = named.map(|import| [&import.path, rest].concat());
        let globs = globs.map(|import| {
            let path = &import.path[..import.path.len() - 1];
            [path, &[name.to_owned()], rest].concat()
        });
        let mut targets = named.chain(globs);
        targets.find_map(|path| self.definer(at, &path, followed + 1))
    }
}

/// Collects what the tokens of one module say.
#[derive(Default)]
struct Scan {
    module: Module,
    /// Child modules, with their bodies where these are in the same file.
    modules: Vec<(String, Option<TokenStream>)>,
}

impl Scan {
    /// Takes in tokens; only items at the top of a module define names in it.
    fn items(&mut self, tokens: TokenStream, is_top: bool) {
        let tokens: Vec<_> = tokens.into_iter().collect();
        let mut at = 0;
        let mut is_public = false;
        while at < tokens.len() {
            if let Some(attribute) = attribute(&tokens[at..]) {
                at = if is_for_tests(&attribute) { after_item(&tokens, at) } else { at + 2 };
                continue;
            }
            let next = at + 1;
            match &tokens[at] {
                TokenTree::Group(group) => self.items(group.stream(), false),
                TokenTree::Ident(ident) => {
                    let word = ident.to_string();
                    match word.as_str() {
                        "pub" => is_public = true,
                        "use" if !is_punct(tokens.get(next), '<') => {
                            at = self.imports(&tokens, next, is_public);
                            is_public = false;
                            continue;
                        }
                        "mod" if is_top => {
                            at = self.child(&tokens, next);
                            is_public = false;
                            continue;
                        }
                        "fn" | "struct" | "enum" | "union" | "trait" | "type" | "const" | "static"
                            if !follows_a_separator(&tokens[..at]) =>
                        {
                            is_public = false;
                            if let (true, Some(TokenTree::Ident(name))) = (is_top, tokens.get(next)) {
                                self.module.defined.insert(name.to_string());
                            }
                        }
                        "macro_rules" if is_top => {
                            if let Some(TokenTree::Ident(name)) = tokens.get(next + 1) {
                                self.module.defined.insert(name.to_string());
                            }
                        }
                        _ if !follows_a_separator(&tokens[..at]) => {
                            at = self.path(&tokens, at);
                            continue;
                        }
                        _ => {}
                    }
                }
                TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
            at = next;
        }
    }

    /// Keeps a path of at least two segments; gives back where it ends.
    fn path(&mut self, tokens: &[TokenTree], start: usize) -> usize {
        let mut at = start;
        let mut path = Vec::new();
        while let Some(TokenTree::Ident(ident)) = tokens.get(at) {
            path.push(ident.to_string());
            at += 1;
            if !is_separator(&tokens[at..]) {
                break;
            }
            at += 2;
        }
        if path.len() > 1 {
            self.module.paths.insert(path);
        }
        at.max(start + 1)
    }

    fn child(&mut self, tokens: &[TokenTree], at: usize) -> usize {
        let Some(TokenTree::Ident(name)) = tokens.get(at) else { return at };
        let body = match tokens.get(at + 1) {
            Some(TokenTree::Group(group)) => Some(group.stream()),
            _ => None,
        };
        self.modules.push((name.to_string(), body));
        at + 2
    }

    /// Keeps what a `use` imports; gives back where it ends.
    fn imports(&mut self, tokens: &[TokenTree], start: usize, is_public: bool) -> usize {
        let length = tokens[start..].iter().take_while(|token| !is_punct(Some(token), ';')).count();
        self.tree(&[], &tokens[start..start + length], is_public);
        start + length
    }

    fn tree(&mut self, prefix: &[String], tokens: &[TokenTree], is_public: bool) {
        for branch in tokens.split(|token| is_punct(Some(token), ',')) {
            let mut path = prefix.to_vec();
            let mut alias = None;
            let mut is_alias = false;
            for token in branch {
                match token {
                    TokenTree::Ident(ident) if *ident == "as" => is_alias = true,
                    TokenTree::Ident(ident) if is_alias => alias = Some(ident.to_string()),
                    TokenTree::Ident(ident) => path.push(ident.to_string()),
                    TokenTree::Punct(punct) if punct.as_char() == '*' => path.push("*".to_owned()),
                    TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
                        let inner: Vec<_> = group.stream().into_iter().collect();
                        self.tree(&path, &inner, is_public);
                        path.clear();
                    }
                    TokenTree::Group(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => {}
                }
            }
            // `a::{self, b}` imports `a` itself.
            if path.len() > 1 && path.last().is_some_and(|last| last == "self") {
                path.pop();
            }
            if let Some(last) = path.last().cloned() {
                self.module.imports.push(Import { path, name: alias.unwrap_or(last), is_public });
            }
        }
    }
}

/// The content of an attribute that begins here.
fn attribute(tokens: &[TokenTree]) -> Option<TokenStream> {
    match tokens {
        [hash, TokenTree::Group(group), ..] if is_punct(Some(hash), '#') => Some(group.stream()),
        _ => None,
    }
}

fn is_for_tests(attribute: &TokenStream) -> bool {
    let text: String = attribute.to_string().split_whitespace().collect();
    text == "test" || text == "cfg(test)" || text.starts_with("cfg(all(test,")
}

/// Where the item ends that begins here: after its body, or after its semicolon.
fn after_item(tokens: &[TokenTree], start: usize) -> usize {
    let is_body =
        |token: &TokenTree| matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace);
    let is_end = |token: &TokenTree| is_body(token) || is_punct(Some(token), ';');
    let end = tokens[start..].iter().position(is_end).map_or(tokens.len(), |end| start + end + 1);
    // `use a::{b, c};` has both.
    if is_punct(tokens.get(end), ';') { end + 1 } else { end }
}

fn is_punct(token: Option<&TokenTree>, wanted: char) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == wanted)
}

fn is_separator(tokens: &[TokenTree]) -> bool {
    is_punct(tokens.first(), ':') && is_punct(tokens.get(1), ':')
}

/// Whether what comes next belongs to what is before it: a method, a lifetime's name or the rest of a path.
fn follows_a_separator(before: &[TokenTree]) -> bool {
    let (last, rest) = before.split_last().map_or((None, before), |(last, rest)| (Some(last), rest));
    let is_range = is_punct(last, '.') && is_punct(rest.last(), '.');
    let is_path = is_punct(last, ':') && is_punct(rest.last(), ':');
    is_path || is_punct(last, '\'') || (is_punct(last, '.') && !is_range)
}

#[cfg(test)]
mod tests {
    //! The guard itself is tried on crates with and without circles.

    use std::fs;

    use super::*;

    /// Writes a crate's files and compares its circles: the files of each.
    #[track_caller]
    fn check(files: &[(&str, &str)], expected: &[&[&str]]) {
        let scratch = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = scratch.path().join("src").join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let found: Vec<_> = circles_of_crate(scratch.path()).iter().map(|circle| files_of(circle)).collect();
        assert_eq!(found, expected, "{files:?}");
    }

    fn files_of(circle: &str) -> Vec<String> {
        let users: BTreeSet<_> = circle.lines().filter_map(|line| line.split_whitespace().next()).collect();
        users.into_iter().map(str::to_owned).collect()
    }

    #[test]
    fn files_that_use_each_other_are_a_circle() {
        let lib = ("lib.rs", "mod a; mod b; mod c; pub use a::{A, one}; pub use b::B; pub use c::C;");
        let c = ("c.rs", "pub struct C;");
        let ab: &[&[&str]] = &[&["a.rs", "b.rs"]];
        let check = |a: &str, b: &str, expected| check(&[lib, ("a.rs", a), ("b.rs", b), c], expected);
        check("use crate::b::B; pub struct A;", "use super::a; pub struct B(a::A);", ab);
        check("use crate::{C, b::{self, B}}; pub struct A;", "pub struct B(crate::A);", ab);
        check(
            "pub fn one() { println!(\"{}\", crate::B::new()) }",
            "use crate::one as uno; pub struct B;",
            ab,
        );
        check("pub struct A(crate::B);", "pub struct B(crate::C);", &[]);
        check("pub struct A(crate::B);", "pub struct B; fn b(x: &'static A) { x.crate_a() }", &[]);
        check("use crate::B; pub struct A;", "#[cfg(test)] mod tests { use crate::A; } pub struct B;", &[]);
        check("use crate::B; pub struct A;", "#[cfg(test)] use crate::{A}; pub struct B;", &[]);
        check("use crate::B; pub struct A;", "/// See [`crate::A`].\npub struct B;", &[]);
    }

    #[test]
    fn a_child_may_use_its_parent_but_not_those_that_its_parent_uses_in_turn() {
        let lib = ("lib.rs", "mod a; mod m; pub use m::M; pub struct Root;");
        let child = ("m/child.rs", "use super::M; pub struct Child(M, crate::Root);");
        let parent = "mod child; use child::Child; pub struct M;";
        let check = |a: &str, m: &str, expected| check(&[lib, ("a.rs", a), ("m.rs", m), child], expected);
        check("", parent, &[]);
        check("use crate::m::M;", parent, &[]);
        check("use crate::m::M; pub struct A;", &format!("{parent} use crate::a::A;"), &[&["a.rs", "m.rs"]]);
    }

    #[test]
    fn a_circle_may_pass_through_a_child() {
        let lib = ("lib.rs", "mod a; mod m;");
        let a = ("a.rs", "use crate::m::M; pub struct A;");
        let child = ("m/child.rs", "use crate::a::A; pub struct Child;");
        let uses = "mod child; use child::Child; pub struct M;";
        check(&[lib, a, child, ("m/mod.rs", uses)], &[&["a.rs", "m/child.rs", "m/mod.rs"]]);
        // What a module only passes on, it does not use.
        let passes_on = "mod child; pub use child::Child; pub struct M;";
        check(&[lib, a, child, ("m/mod.rs", passes_on)], &[]);
    }
}

//! Finds the repository a person refers to: the request's directory, a path, or a project's name.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use catalog::SessionFilter;
use model::{Session, is_of_windows, spelled};
use project::{RepoContext, ToolSettings};

use crate::config::demo;
use crate::repository::other_names::other_names;
use crate::{Context, Error, Kind, NextStep};

/// A directory and the repository it belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RepoTarget {
    /// The directory; it may be gone.
    pub(crate) directory: PathBuf,
    /// The main repository's root, by the rule that says it of sessions.
    pub(crate) root: PathBuf,
}

/// What filters call the project that a person names: some name of it, or any path into it, also a relative one or a
/// link. Where `is_known` says that sessions go by the text as it was typed, that is it.
pub(crate) fn project(context: &Context, typed: &str, is_known: impl Fn(&str) -> bool) -> String {
    if is_of_windows(typed) && !typed.starts_with('/') {
        let path = spelled(typed.into());
        let root = catalog::repository(&context.config().places(), Path::new(&*path));
        let candidates = [root.to_string_lossy(), path];
        return candidates.iter().find(|candidate| is_known(candidate)).unwrap_or(&candidates[1]).to_string();
    }
    let is_path = is_path(typed);
    // A directory of the same name must not hide a project.
    if typed.is_empty() || (!is_path && is_known(typed)) {
        return typed.to_owned();
    }
    let whole = context.path(typed);
    // Of a directory that is gone only its path can be compared.
    let directory = whole.canonicalize().unwrap_or_else(|_| without_dots(&whole));
    let root = if directory.is_dir() {
        catalog::repository(&context.config().places(), &directory)
    } else if is_path {
        directory.clone()
    } else {
        return typed.to_owned();
    };
    let candidates = [root.to_string_lossy(), directory.to_string_lossy(), typed.into()];
    let known = candidates.iter().find(|candidate| is_known(candidate));
    known.unwrap_or(&candidates[0]).clone().into_owned()
}

/// Whether a project is named by a path.
pub(crate) fn is_path(typed: &str) -> bool {
    typed.contains('/') || is_of_windows(typed) || matches!(typed, "." | "..")
}

/// The path without `..`, by its words alone.
fn without_dots(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        if part == Component::ParentDir {
            plain.pop();
        } else {
            plain.push(part);
        }
    }
    plain
}

/// The same for sessions that were described.
pub(crate) fn project_of<'a>(
    context: &Context,
    typed: &str,
    sessions: &(impl Iterator<Item = &'a Session> + Clone),
) -> String {
    let is_known = |name: &str| {
        let filter = SessionFilter { project: Some(name.to_owned()), ..SessionFilter::default() };
        sessions.clone().any(|session| filter.matches(session))
    };
    let named = project(context, typed, is_known);
    let only = || only_root_with_end(Path::new(typed), sessions.clone());
    if is_path(typed) && !is_known(&named) { only().unwrap_or(named) } else { named }
}

/// The only repository whose path has this end, as the sums of costs name it: `work/shop`.
fn only_root_with_end<'a>(end: &Path, sessions: impl Iterator<Item = &'a Session>) -> Option<String> {
    let is_it = |root: &&Path| end.is_relative() && root.ends_with(end);
    let mut roots: Vec<&Path> =
        sessions.filter_map(|session| session.repo_path.as_deref()).filter(is_it).collect();
    roots.sort_unstable();
    roots.dedup();
    if let [only] = roots[..] { Some(only.to_string_lossy().into_owned()) } else { None }
}

/// A filter whose project is what filters call it.
pub(crate) fn with_project<'a>(
    context: &Context,
    filter: &SessionFilter,
    sessions: &(impl Iterator<Item = &'a Session> + Clone),
) -> SessionFilter {
    let project = filter.project.as_deref().map(|typed| project_of(context, typed, sessions));
    SessionFilter { project, ..filter.clone() }
}

/// Says that no session is of the project that a person names, with the projects that may be meant, as they are shown.
pub(crate) fn unknown_project<'a>(
    typed: &str,
    sessions: impl Iterator<Item = &'a Session>,
) -> Option<String> {
    let filter = SessionFilter { project: Some(typed.to_owned()), ..SessionFilter::default() };
    let mut known = Vec::new();
    for session in sessions {
        if filter.matches(session) {
            return None;
        }
        known.extend(session.project.as_deref().map(redact::redact_beginning));
    }
    let what = if is_path(typed) { "was in" } else { "is of a project named" };
    let others = other_names("projects", typed, known.iter().map(|name| &**name));
    Some(format!("no session {what} `{typed}`{others}"))
}

/// Says that no session was on the branch that a person names, with the branches that may be meant.
pub(crate) fn unknown_branch(typed: &str, sessions: &[Session]) -> Option<String> {
    let shown: Vec<_> = sessions
        .iter()
        .filter_map(|session| session.branch.as_deref())
        .map(redact::redact_beginning)
        .collect();
    let known = || shown.iter().map(|branch| &**branch);
    let is_unknown = !known().any(|branch| branch == typed);
    let sentence = || format!("no session was on a branch named `{typed}`");
    is_unknown.then(|| sentence() + &other_names("branches", typed, known()))
}

/// The same, without secrets, for the sessions that the caller may see, where only those of a project are asked for.
pub(crate) fn unknown_project_note<'a>(
    context: &Context,
    filter: &SessionFilter,
    sessions: impl Iterator<Item = &'a Session>,
) -> Option<String> {
    let visible = context.visible_filter();
    let note =
        unknown_project(filter.project.as_deref()?, sessions.filter(|session| visible.matches(session)))?;
    Some(context.secrets.redacted(note.into()))
}

impl RepoTarget {
    /// What a person names; the made-up sessions have a project of their own, in whatever directory the user is.
    pub(crate) fn name<'a>(context: &Context, named: Option<&'a str>) -> Option<&'a str> {
        named.or(context.config().is_demo.then_some(demo::PROJECT))
    }

    /// The directory a text names, where it is one; without a text the user's current one.
    pub(crate) fn directory(context: &Context, named: Option<&str>) -> Result<Option<Self>, Error> {
        let path = context.path(named.unwrap_or("."));
        match path.canonicalize() {
            // A directory that the caller may not see counts as missing.
            Ok(hidden) if named.is_some() && !context.may_see_directory(&hidden) => Ok(None),
            Ok(directory) if directory.is_dir() => {
                context.require_visible(&directory)?;
                let root = catalog::repository(&context.config().places(), &directory);
                Ok(Some(Self { directory, root }))
            }
            Ok(file) => Err(Error::new(Kind::Usage, format!("{} is not a directory", file.display()))
                .next(NextStep::NameProject)),
            Err(_) if named.is_some() => Ok(None),
            Err(error) => Err(Error::caused(Kind::Unavailable, "cannot find the current directory", &error)),
        }
    }

    /// The repository whose sessions go by a name.
    pub(crate) fn by_name<'a>(
        name: &str,
        sessions: impl Iterator<Item = &'a Session>,
    ) -> Result<Self, Error> {
        let filter = SessionFilter { project: Some(name.to_owned()), ..SessionFilter::default() };
        let named = sessions.filter(|session| filter.matches(session));
        let roots = named.filter_map(|session| session.repo_path.as_deref());
        // What a transcript calls `-` or `sub` is no place for anybody else.
        let roots: BTreeSet<&Path> = roots.filter(|root| model::is_absolute(root)).collect();
        let mut roots = roots.into_iter();
        match (roots.next(), roots.next()) {
            (Some(root), None) => Ok(Self { directory: root.to_owned(), root: root.to_owned() }),
            (None, _) => {
                Err(Error::new(Kind::NotFound, format!("no directory or project is named `{name}`"))
                    .next(NextStep::NameProject))
            }
            (Some(one), Some(other)) => {
                let error =
                    Error::new(Kind::Ambiguous, format!("several projects are named `{name}`; give a path"));
                Err([one, other]
                    .into_iter()
                    .chain(roots)
                    .fold(error, |error, root| error.hint(root.display().to_string())))
            }
        }
    }

    /// The real path of the work tree's root: one worker has the use of it.
    pub(crate) fn work_tree(&self, context: &Context) -> PathBuf {
        let root = project::work_tree(&self.place(context));
        root.canonicalize().unwrap_or(root)
    }

    /// The directory as the `project` engine takes it.
    pub(crate) fn place(&self, context: &Context) -> RepoContext {
        let settings = context.config().settings.project;
        RepoContext {
            directory: self.directory.clone(),
            tools: ToolSettings {
                search_path: OsString::from(&context.config().search_path),
                github: settings.github && !context.config().is_demo,
                git_limit: ToolSettings::GIT_LIMIT,
                github_limit: Duration::from_millis(settings.github_timeout_ms),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{context, session};

    #[test]
    fn a_project_is_named_as_people_type_it() {
        let scratch = tempfile::tempdir().unwrap();
        let home = scratch.path().canonicalize().unwrap();
        for folder in ["harbor/.git", "harbor/src/deep", "other/.git", "web"] {
            std::fs::create_dir_all(home.join(folder)).unwrap();
        }
        std::os::unix::fs::symlink(home.join("harbor"), home.join("link")).unwrap();
        let of = |path: &str, label: &str| Session {
            repo_path: Some(home.join(path).as_path().into()),
            project: Some(label.into()),
            ..session(label)
        };
        let windows = Session { repo_path: Some(Path::new("C:/Users/ana/till").into()), ..session("till") };
        let sessions = [windows, of("harbor", "harbor"), of("elsewhere/web", "web"), of("gone", "gone")];
        let config = crate::Config { home: home.clone(), ..crate::Config::default() };
        let context = context(config);
        let check = |typed: &str, expected: &str| {
            let named = project_of(&context, typed, &sessions.iter());
            assert_eq!(named.replace(&home.display().to_string(), "~"), expected, "{typed}");
        };
        let at = |path: &str| home.join(path).display().to_string();
        check(&at("harbor/src/deep"), "~/harbor");
        check(&at("harbor/src/../../link"), "~/harbor");
        check(&at("link/src"), "~/harbor");
        check(&at("gone"), "~/gone");
        check(&at("harbor/../gone"), "~/gone");
        check(&at("other"), "~/other");
        check("HARBOR", "HARBOR");
        check("web", "web");
        check("elsewhere/web", "~/elsewhere/web");
        check("-elsewhere-web", "-elsewhere-web");
        check("", "");
        check(r"c:\Users\ana\till", "C:/Users/ana/till");
        check("c:/Users/ana/till", "C:/Users/ana/till");
        let named = RepoTarget::by_name(r"C:\Users\ana\till", sessions.iter()).unwrap();
        assert_eq!(named.root, Path::new("C:/Users/ana/till"));
    }
}

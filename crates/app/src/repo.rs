//! Which repository a person means: the directory they stand in, a path, or a project's name.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use catalog::Filter;
use model::Session;
use project::{Place, Tools};

use crate::{App, Error, Kind, demo};

/// A directory and the repository it belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Meant {
    /// The directory; it may be gone.
    pub(crate) directory: PathBuf,
    /// The main repository's root, by the rule that says it of sessions.
    pub(crate) root: PathBuf,
}

impl Meant {
    /// What a person names; the made-up sessions have a project of their own, wherever the person stands.
    pub(crate) fn name<'a>(app: &App, named: Option<&'a str>) -> Option<&'a str> {
        named.or(app.config.is_demo.then_some(demo::PROJECT))
    }

    /// The directory a text names, where it is one; without a text the one the person stands in.
    pub(crate) fn directory(app: &App, named: Option<&str>) -> Result<Option<Self>, Error> {
        let path = Path::new(named.unwrap_or("."));
        match path.canonicalize() {
            Ok(directory) if directory.is_dir() => {
                let root = catalog::repository(&app.config.places(), &directory);
                Ok(Some(Self { directory, root }))
            }
            Ok(file) => Err(Error::new(Kind::Usage, format!("{} is no directory", file.display()))),
            Err(_) if named.is_some() => Ok(None),
            Err(error) => Err(Error::caused(Kind::Unavailable, "cannot find the current directory", &error)),
        }
    }

    /// The repository whose sessions go by a name.
    pub(crate) fn by_name<'a>(
        name: &str,
        sessions: impl Iterator<Item = &'a Session>,
    ) -> Result<Self, Error> {
        let filter = Filter { project: Some(name.to_owned()), ..Filter::default() };
        let named = sessions.filter(|session| filter.lets_through(session));
        let roots = named.filter_map(|session| session.repo_path.as_deref());
        // What a transcript calls `-` or `sub` is no place for anybody else.
        let roots: BTreeSet<&Path> = roots.filter(|root| root.is_absolute()).collect();
        let mut roots = roots.into_iter();
        match (roots.next(), roots.next()) {
            (Some(root), None) => Ok(Self { directory: root.to_owned(), root: root.to_owned() }),
            (None, _) => {
                Err(Error::new(Kind::NotFound, format!("no directory and no project is called `{name}`"))
                    .hint("`backstory list` shows the projects; or name a path"))
            }
            (Some(one), Some(other)) => {
                let error =
                    Error::new(Kind::Ambiguous, format!("several projects are called `{name}`; name a path"));
                Err([one, other]
                    .into_iter()
                    .chain(roots)
                    .fold(error, |error, root| error.hint(root.display().to_string())))
            }
        }
    }

    /// The real path of the work tree's root: one worker has the use of it.
    pub(crate) fn work_tree(&self, app: &App) -> PathBuf {
        let root = project::work_tree(&self.place(app));
        root.canonicalize().unwrap_or(root)
    }

    /// The directory as the project room is asked about it.
    pub(crate) fn place(&self, app: &App) -> Place {
        let settings = app.config.settings.project;
        Place {
            directory: self.directory.clone(),
            tools: Tools {
                search_path: OsString::from(&app.config.search_path),
                github: settings.github && !app.config.is_demo,
                git_limit: Tools::GIT_LIMIT,
                github_limit: Duration::from_millis(settings.github_timeout_ms),
            },
        }
    }
}

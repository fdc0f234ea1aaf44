//! The projects that a caller may see.

use std::path::{Path, PathBuf};

use crate::project::SessionLocation;

/// Which projects a caller may see; by default all of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProjectScope {
    only: Vec<Rule>,
    deny: Vec<Rule>,
}

/// Projects that a person means by one text.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Rule {
    /// Everything in this folder.
    Below(PathBuf),
    /// What goes by this name.
    Named(String),
}

impl ProjectScope {
    /// Only the projects `only`, if any is given, and none of `deny`. Each is a name, or a path that holds projects;
    /// `~` is `home`.
    pub fn new(only: &[String], deny: &[String], home: &Path) -> Self {
        let rules = |texts: &[String]| texts.iter().map(|text| Rule::parse(text, home)).collect();
        Self { only: rules(only), deny: rules(deny) }
    }

    /// Whether nothing is kept from the caller.
    pub fn is_everything(&self) -> bool {
        self.only.is_empty() && self.deny.is_empty()
    }

    /// Whether only named projects are seen, so that what belongs to none is not.
    pub fn names_projects(&self) -> bool {
        !self.only.is_empty()
    }

    /// Whether a directory may be seen that belongs to the repository with this root.
    pub fn admits_directory(&self, root: &Path, directory: &Path) -> bool {
        let label = root.file_name().map(|name| name.to_string_lossy());
        let paths = [Some(root), Some(directory)];
        self.admits(&SessionLocation { branch: None, label: label.as_deref(), paths })
    }

    pub(crate) fn admits(&self, place: &SessionLocation<'_>) -> bool {
        let meets = |rule: &Rule| rule.matches(place);
        (self.only.is_empty() || self.only.iter().any(meets)) && !self.deny.iter().any(meets)
    }
}

impl Rule {
    fn parse(text: &str, home: &Path) -> Self {
        let path = match text.strip_prefix('~') {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => home.join(rest.trim_start_matches('/')),
            _ => PathBuf::from(text),
        };
        if !path.is_absolute() {
            return Self::Named(text.to_owned());
        }
        // Sessions are known by their real paths.
        Self::Below(path.canonicalize().unwrap_or(path))
    }

    fn matches(&self, place: &SessionLocation<'_>) -> bool {
        match self {
            Self::Below(folder) => place.paths.into_iter().flatten().any(|path| path.starts_with(folder)),
            Self::Named(name) => place.is_named(name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn projects_are_matched_by_name_or_folder() {
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let check = |only: &[&str], deny: &[&str], expected: bool| {
            let scope = ProjectScope::new(&texts(only), &texts(deny), Path::new("/h"));
            let root = Path::new("/h/work/shop");
            assert_eq!(scope.admits_directory(root, &root.join("src")), expected, "{only:?} {deny:?}");
        };
        check(&[], &[], true);
        check(&["shop"], &[], true);
        check(&["SHOP"], &[], true);
        check(&["~/work"], &[], true);
        check(&["~"], &[], true);
        check(&["/h/work/shop"], &[], true);
        check(&["-h-work-shop"], &[], true);
        check(&["web"], &[], false);
        check(&["~/work/sho"], &[], false);
        check(&["~shop"], &[], false);
        check(&[], &["shop"], false);
        check(&["~/work"], &["shop"], false);
        check(&["shop"], &["web"], true);
    }
}

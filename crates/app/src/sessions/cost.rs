//! `cost`: tokens and money by time, project, branch, pull request, model, agent or session.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use catalog::{CatalogEntry, SessionFilter};
use cost::{LedgerRow, Period, Prices, RowDetail, Spender, Total, prices_as_of, totals_by};
use jiff::ToSpan as _;
use jiff::civil::Date;
use model::{Session, SessionId, Usage};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::repository::target::{unknown_project_note, with_project};
use crate::sessions::ledger;
use crate::sessions::same_repository::same_repositories;
use crate::sessions::totals::keep_reading;
use crate::{Context, Error, Moment, Secrets};

/// What to add up.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "CostRequest")]
pub struct Request {
    /// What each line is the sum of.
    pub by: GroupBy,
    /// From this time on, or from this day on.
    pub since: Option<Moment>,
    /// Before this time, or up to this day, which is included.
    pub until: Option<Moment>,
    /// Only sessions of this repository: its name, Claude Code's folder name for it, or a path inside it.
    pub project: Option<String>,
}

/// What each line is the sum of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GroupBy {
    /// One line for each hour in the user's time zone.
    Hour,
    /// One line for each day in the user's time zone.
    #[default]
    Day,
    /// One line for each week, from Monday on.
    Week,
    /// One line for each month.
    Month,
    /// One line for each project.
    Project,
    /// One line for each branch of a project.
    Branch,
    /// One line for each pull request that sessions recorded; a session without one counts for that of its branch.
    Pr,
    /// One line for each model.
    Model,
    /// One line for sessions themselves, and one for each type of sub-agent.
    #[serde(rename = "agent-type")]
    AgentType,
    /// One line for each session.
    Session,
}

impl GroupBy {
    /// Whether each line is a span of time.
    fn is_time(self) -> bool {
        matches!(self, Self::Hour | Self::Day | Self::Week | Self::Month)
    }

    /// The detail that the rows need.
    fn detail(self) -> RowDetail {
        match self {
            Self::Hour => RowDetail::Hour,
            Self::AgentType => RowDetail::Agent,
            _ => RowDetail::Day,
        }
    }

    /// The day, the Monday of the week, or the month that a day belongs to.
    fn period(self, day: Date) -> String {
        match self {
            Self::Week => {
                let back = i64::from(day.weekday().to_monday_zero_offset());
                day.checked_sub(back.days()).unwrap_or(day).to_string()
            }
            Self::Month => day.strftime("%Y-%m").to_string(),
            _ => day.to_string(),
        }
    }
}

/// What was spent, in all and by line.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "CostAnswer")]
pub struct Answer {
    /// What each line is the sum of.
    pub by: GroupBy,
    /// The lines: hours, days, weeks and months in order, all else by price.
    pub rows: Vec<CostLine>,
    /// The sum of all lines.
    pub total: CostLine,
    /// The day whose prices these are.
    pub prices_as_of: Option<Date>,
    /// The models among them whose prices are the person's own, from the settings.
    pub own_prices: Vec<String>,
    /// What else there is to know about the answer, in sentences.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// What one project, model, day or session spent.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "CostLine")]
pub struct CostLine {
    /// The hour (2026-01-31 14:00), the day, the week's Monday, the month (2026-01), the project's path, that and the branch,
    /// the pull request's address, the model, the agent's type, or the session's id; empty where nothing says.
    pub key: String,
    /// The same for people: the project's name, the session's title.
    pub label: String,
    /// Input tokens that came neither from nor went into the cache.
    pub input_tokens: u64,
    /// Tokens that models wrote.
    pub output_tokens: u64,
    /// Tokens read from the cache.
    pub cache_read_tokens: u64,
    /// Tokens written to the cache.
    pub cache_creation_tokens: u64,
    /// The estimated price of what has one, in US dollars.
    pub cost_usd: Option<f64>,
    /// Tokens of models that have no price here.
    pub unpriced_tokens: u64,
}

/// Adds up what all sessions took.
pub fn cost(context: &Context, request: &Request) -> Result<Answer, Error> {
    let period = period(context, request.since.as_ref(), request.until.as_ref())?;
    let mut catalog =
        catalog::read(&context.config().places(), catalog::Detail::Spending, keep_reading(context));
    context.check_cancelled()?;
    catalog.sessions.append(&mut catalog.unattached_messages);
    let mut rows = ledger::rows(context, &catalog.sessions, request.by.detail(), period);
    let pull_requests =
        if request.by == GroupBy::Pr { pull_requests(&catalog.sessions) } else { HashMap::new() };
    let sessions: Sessions<'_> =
        catalog.sessions.iter().map(|entry| (&entry.session.id, &*entry.session)).collect();
    let visible = context.visible_filter();
    rows.retain(|row| sessions.get(&row.session).is_none_or(|session| visible.matches(session)));
    let mut notes = Vec::new();
    if request.project.is_some() {
        let filter = SessionFilter { project: request.project.clone(), ..SessionFilter::default() };
        let filter = with_project(context, &filter, &sessions.values().copied());
        rows.retain(|row| sessions.get(&row.session).is_some_and(|session| filter.matches(session)));
        let all = catalog.sessions.iter().map(|entry| &*entry.session);
        notes.extend(unknown_project_note(context, &filter, all));
    }
    let total = totals_by(&rows, |_| ()).into_values().next().unwrap_or_default();
    let paths = rows.iter().filter_map(|row| sessions.get(&row.session)?.repo_path.as_deref());
    let same = match request.by {
        GroupBy::Project | GroupBy::Branch => same_repositories(context, paths),
        _ => BTreeMap::new(),
    };
    let projects = distinct_names(same.values().map(PathBuf::as_path));
    let names = Names { sessions: &sessions, pull_requests: &pull_requests, same: &same, projects };
    Ok(Answer {
        by: request.by,
        rows: lines(&rows, request.by, &names, context.secrets),
        total: line(String::new(), "all".to_owned(), &total),
        prices_as_of: prices_as_of(),
        own_prices: own_prices(&context.config().settings.prices, rows.iter().map(|row| &*row.model)),
        notes,
    })
}

/// From the beginning of one moment to the end of another.
pub(crate) fn period(
    context: &Context,
    since: Option<&Moment>,
    until: Option<&Moment>,
) -> Result<Period, Error> {
    let begin = since.map(|since| since.begin(context)).transpose()?;
    let end = until.map(|until| until.end(context)).transpose()?;
    Ok(Period { begin, end })
}

/// Those of the models whose prices are the person's own.
pub(crate) fn own_prices<'a>(prices: &Prices, models: impl Iterator<Item = &'a str>) -> Vec<String> {
    let models: BTreeSet<&str> = models.collect();
    models.into_iter().filter(|model| prices.is_own(model)).map(str::to_owned).collect()
}

type Sessions<'a> = HashMap<&'a SessionId, &'a Session>;

/// What the names of lines are made of.
struct Names<'a> {
    sessions: &'a Sessions<'a>,
    pull_requests: &'a HashMap<SessionId, String>,
    /// The repositories by their paths, each with the first that is the same.
    same: &'a BTreeMap<PathBuf, PathBuf>,
    /// For people, the repositories that share their name with another.
    projects: HashMap<&'a Path, String>,
}

/// Distinct names for repositories whose last folders have the same name: with as many parent folders as tell them
/// apart.
fn distinct_names<'a>(paths: impl Iterator<Item = &'a Path>) -> HashMap<&'a Path, String> {
    let paths: BTreeSet<&Path> = paths.collect();
    let tail = |path: &Path, parts: usize| {
        let all: Vec<_> = path.components().collect();
        all[all.len().saturating_sub(parts)..].iter().collect::<PathBuf>()
    };
    let mut alike: HashMap<PathBuf, Vec<&'a Path>> = HashMap::new();
    for path in paths {
        alike.entry(tail(path, 1)).or_default().push(path);
    }
    let mut names = HashMap::new();
    for group in alike.into_values().filter(|group| group.len() > 1) {
        let longest = group.iter().map(|path| path.components().count()).max().unwrap_or(0);
        let are_apart = |parts: &usize| {
            group.iter().map(|path| tail(path, *parts)).collect::<BTreeSet<_>>().len() == group.len()
        };
        let parts = (2..=longest).find(are_apart).unwrap_or(longest);
        names.extend(group.iter().map(|path| (*path, tail(path, parts).display().to_string())));
    }
    names
}

fn lines(rows: &[LedgerRow], by: GroupBy, names: &Names<'_>, secrets: Secrets) -> Vec<CostLine> {
    let totals = totals_by(rows, |row| names.key_and_label(row, by));
    let mut lines: Vec<CostLine> = totals
        .into_iter()
        .map(|((key, label), total)| {
            line(secrets.redacted(key.into()), secrets.redacted_beginning(label), &total)
        })
        .collect();
    if !by.is_time() {
        let price = |line: &CostLine| line.cost_usd.unwrap_or(-1.0);
        lines.sort_by(|one, other| price(other).total_cmp(&price(one)));
    }
    lines
}

impl Names<'_> {
    /// The name of a repository that shares its own with another, or that has several checkouts.
    fn common_name(&self, path: &Path) -> Option<Cow<'_, str>> {
        if let Some(apart) = self.projects.get(path) {
            return Some(Cow::Borrowed(apart));
        }
        let has_several = self.same.values().filter(|first| *first == path).nth(1).is_some();
        let name = path.file_name().filter(|_| has_several)?;
        Some(Cow::Owned(name.to_string_lossy().into_owned()))
    }

    /// What a row counts under, for programs and for people.
    fn key_and_label(&self, row: &LedgerRow, by: GroupBy) -> (String, String) {
        let session = || self.sessions.get(&row.session);
        let same = |name: String| (name.clone(), name);
        match by {
            GroupBy::Hour => same(match (row.day, row.hour) {
                (Some(day), Some(hour)) => format!("{day} {hour:02}:00"),
                _ => String::new(),
            }),
            GroupBy::Day | GroupBy::Week | GroupBy::Month => {
                same(row.day.map(|day| by.period(day)).unwrap_or_default())
            }
            GroupBy::Model => same(row.model.clone()),
            GroupBy::AgentType => same(match &row.spender {
                _ if !row.attributed => OWN_CALLS.to_owned(),
                Spender::Session => "session".to_owned(),
                Spender::Subagent(kind) => kind.clone().unwrap_or_else(|| "(sub-agent)".to_owned()),
            }),
            GroupBy::Session => {
                let title = session().and_then(|session| session.title.as_deref());
                (row.session.to_string(), title.unwrap_or_default().to_owned())
            }
            GroupBy::Project => {
                let path = session().and_then(|session| session.repo_path.as_deref());
                let path = path.map(|path| self.same.get(path).map_or(path, PathBuf::as_path));
                let label = session().and_then(|session| session.project.as_deref()).unwrap_or_default();
                let common = path.and_then(|path| self.common_name(path));
                let label = common.map_or_else(|| label.to_owned(), Cow::into_owned);
                (path.map(|path| path.display().to_string()).unwrap_or_default(), label)
            }
            GroupBy::Branch => {
                let (path, project) = self.key_and_label(row, GroupBy::Project);
                let branch = session().and_then(|session| session.branch.as_deref()).unwrap_or("(no branch)");
                (format!("{path} {branch}"), format!("{project} {branch}").trim_start().to_owned())
            }
            GroupBy::Pr => {
                let url = self.pull_requests.get(&row.session).cloned().unwrap_or_default();
                let label = pull_request_label(&url);
                (url, label)
            }
        }
    }
}

/// What Claude Code spends itself and writes into no transcript: titles, compactions, interrupted calls.
pub(crate) const OWN_CALLS: &str = "(titles, compactions)";

/// Branches that many pull requests are merged into: a session on one says nothing of another there.
const SHARED_BRANCHES: [&str; 5] = ["main", "master", "trunk", "develop", "HEAD"];

/// The pull request of each session: the one that it recorded, else the only one that others recorded on its branch.
fn pull_requests(entries: &[CatalogEntry]) -> HashMap<SessionId, String> {
    let branch = |entry: &CatalogEntry| {
        let branch = entry.session.branch.clone()?;
        let is_shared = SHARED_BRANCHES.contains(&&*branch);
        (!is_shared).then_some((entry.session.repo_path.clone()?, branch))
    };
    let mut of_branches: HashMap<_, BTreeSet<&str>> = HashMap::new();
    for entry in entries {
        if let (Some(branch), Some(url)) = (branch(entry), &entry.pull_request) {
            of_branches.entry(branch).or_default().insert(url);
        }
    }
    let of_branch = |entry: &CatalogEntry| match of_branches.get(&branch(entry)?) {
        Some(urls) if urls.len() == 1 => urls.first().map(|url| (*url).to_owned()),
        _ => None,
    };
    let of_entry = |entry: &CatalogEntry| {
        let url = entry.pull_request.clone().or_else(|| of_branch(entry))?;
        Some((entry.session.id.clone(), url))
    };
    entries.iter().filter_map(of_entry).collect()
}

/// `owner/name#55` for `https://github.com/owner/name/pull/55`; another address as it is.
fn pull_request_label(url: &str) -> String {
    let short = || {
        let (_, path) = url.split_once("://")?;
        let parts: Vec<&str> = path.trim_end_matches('/').split('/').collect();
        match parts.as_slice() {
            [_, owner, name, "pull", number] => Some(format!("{owner}/{name}#{number}")),
            _ => None,
        }
    };
    short().unwrap_or_else(|| url.to_owned())
}

pub(crate) fn line(key: String, label: String, total: &Total) -> CostLine {
    let Usage { input, output, cache_read, .. } = total.usage;
    CostLine {
        key,
        label,
        input_tokens: input,
        output_tokens: output,
        cache_read_tokens: cache_read,
        cache_creation_tokens: total.usage.cache_write(),
        cost_usd: total.cost,
        unpriced_tokens: total.unpriced_tokens,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pull_request_is_named_shortly() {
        let check = |url: &str, expected: &str| assert_eq!(pull_request_label(url), expected);
        check("https://github.com/sam/shop/pull/55", "sam/shop#55");
        check("https://git.example.com/sam/shop/pull/55/", "sam/shop#55");
        check(
            "https://gitlab.com/sam/shop/-/merge_requests/5",
            "https://gitlab.com/sam/shop/-/merge_requests/5",
        );
        check("", "");
    }

    #[test]
    fn repositories_with_the_same_name_are_shown_with_their_parent_folders() {
        let check = |paths: &[&str], expected: &[(&str, &str)]| {
            let mut names: Vec<(String, String)> = distinct_names(paths.iter().map(Path::new))
                .into_iter()
                .map(|(path, name)| (path.display().to_string(), name))
                .collect();
            names.sort();
            let owned = |(path, name): &(&str, &str)| ((*path).to_owned(), (*name).to_owned());
            assert_eq!(names, expected.iter().map(owned).collect::<Vec<_>>());
        };
        check(&["/a/cli", "/a/web", "/a/cli"], &[]);
        check(&["/a/cli", "/b/cli"], &[("/a/cli", "a/cli"), ("/b/cli", "b/cli")]);
        check(
            &["/a/x/cli", "/b/x/cli", "/b/y/cli"],
            &[("/a/x/cli", "a/x/cli"), ("/b/x/cli", "b/x/cli"), ("/b/y/cli", "b/y/cli")],
        );
        check(&["/cli", "/a/cli"], &[("/a/cli", "a/cli"), ("/cli", "/cli")]);
    }

    #[test]
    fn a_week_begins_on_monday() {
        let check = |by: GroupBy, day: &str, expected: &str| {
            assert_eq!(by.period(day.parse().unwrap()), expected, "{day}");
        };
        check(GroupBy::Week, "2026-11-23", "2026-11-23");
        check(GroupBy::Week, "2026-11-22", "2026-11-16");
        check(GroupBy::Week, "2026-01-01", "2025-12-29");
        check(GroupBy::Month, "2026-11-22", "2026-11");
        check(GroupBy::Day, "2026-11-22", "2026-11-22");
    }
}

//! `cost`: tokens and money by time, project, branch, model or session.

use std::collections::HashMap;

use catalog::SessionFilter;
use cost::{LedgerRow, Total, prices_as_of, totals_by};
use jiff::ToSpan as _;
use jiff::civil::Date;
use model::{Session, SessionId, Usage};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::repository::target::with_project;
use crate::sessions::ledger;
use crate::sessions::totals::keep_reading;
use crate::{Context, Error, Moment, Secrets};

/// What to add up.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "CostRequest")]
pub struct Request {
    /// What each line is the sum of.
    pub by: GroupBy,
    /// From this moment's day on.
    pub since: Option<Moment>,
    /// Up to this moment's day, which is included.
    pub until: Option<Moment>,
    /// Only sessions of this repository: its name, Claude Code's folder name for it, or a path inside it.
    pub project: Option<String>,
}

/// What each line is the sum of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GroupBy {
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
    /// One line for each model.
    Model,
    /// One line for each session.
    Session,
}

impl GroupBy {
    /// Whether each line is a span of time.
    fn is_time(self) -> bool {
        matches!(self, Self::Day | Self::Week | Self::Month)
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
    /// The lines: days, weeks and months in order, all else by price.
    pub rows: Vec<CostLine>,
    /// The sum of all lines.
    pub total: CostLine,
    /// The day whose prices these are.
    pub prices_as_of: Option<Date>,
}

/// What one project, model, day or session spent.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "CostLine")]
pub struct CostLine {
    /// The day, the week's Monday, the month (2026-01), the project's path, that and the branch, the model, or the
    /// session's id; empty where nothing says.
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
    let mut catalog =
        catalog::read(&context.config().places(), catalog::Detail::Spending, keep_reading(context));
    context.check_cancelled()?;
    catalog.sessions.append(&mut catalog.strays);
    let mut rows = ledger::rows(context, &catalog.sessions);
    let day = |moment: &Moment| Ok::<_, Error>(moment.at(context)?.to_zoned(context.zone()).date());
    let since = request.since.as_ref().map(day).transpose()?;
    let until = request.until.as_ref().map(day).transpose()?;
    rows.retain(|row| {
        since.is_none_or(|since| row.day.is_some_and(|day| day >= since))
            && until.is_none_or(|until| row.day.is_some_and(|day| day <= until))
    });
    let sessions: Sessions<'_> =
        catalog.sessions.iter().map(|entry| (&entry.session.id, &*entry.session)).collect();
    let sight = context.sight();
    rows.retain(|row| sessions.get(&row.session).is_none_or(|session| sight.matches(session)));
    if request.project.is_some() {
        let filter = SessionFilter { project: request.project.clone(), ..SessionFilter::default() };
        let filter = with_project(context, &filter, &sessions.values().copied());
        rows.retain(|row| sessions.get(&row.session).is_some_and(|session| filter.matches(session)));
    }
    let total = totals_by(&rows, |_| ()).into_values().next().unwrap_or_default();
    Ok(Answer {
        by: request.by,
        rows: lines(&rows, request.by, &sessions, context.secrets),
        total: line(String::new(), "all".to_owned(), &total),
        prices_as_of: prices_as_of(),
    })
}

type Sessions<'a> = HashMap<&'a SessionId, &'a Session>;

fn lines(rows: &[LedgerRow], by: GroupBy, sessions: &Sessions<'_>, secrets: Secrets) -> Vec<CostLine> {
    let totals = totals_by(rows, |row| names(row, by, sessions));
    let mut lines: Vec<CostLine> = totals
        .into_iter()
        .map(|((key, label), total)| line(key, secrets.redacted_beginning(label), &total))
        .collect();
    if !by.is_time() {
        let price = |line: &CostLine| line.cost_usd.unwrap_or(-1.0);
        lines.sort_by(|one, other| price(other).total_cmp(&price(one)));
    }
    lines
}

/// What a row counts under, for programs and for people.
fn names(row: &LedgerRow, by: GroupBy, sessions: &Sessions<'_>) -> (String, String) {
    let session = || sessions.get(&row.session);
    match by {
        GroupBy::Day | GroupBy::Week | GroupBy::Month => {
            let key = row.day.map(|day| by.period(day)).unwrap_or_default();
            (key.clone(), key)
        }
        GroupBy::Model => (row.model.clone(), row.model.clone()),
        GroupBy::Session => {
            let title = session().and_then(|session| session.title.as_deref());
            (row.session.to_string(), title.unwrap_or_default().to_owned())
        }
        GroupBy::Project => {
            let path = session().and_then(|session| session.repo_path.as_ref());
            let label = session().and_then(|session| session.project.as_deref()).unwrap_or_default();
            (path.map(|path| path.display().to_string()).unwrap_or_default(), label.to_owned())
        }
        GroupBy::Branch => {
            let (path, project) = names(row, GroupBy::Project, sessions);
            let branch = session().and_then(|session| session.branch.as_deref()).unwrap_or("(no branch)");
            (format!("{path} {branch}"), format!("{project} {branch}").trim_start().to_owned())
        }
    }
}

fn line(key: String, label: String, total: &Total) -> CostLine {
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

//! What each session took on each day: whoever has these rows can add them up by day, project, branch or model.

use std::path::PathBuf;

use cost::{Period, RowDetail, prices_as_of, totals_by};
use jiff::civil::Date;
use model::SessionId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::sessions::ledger;
use crate::sessions::totals::keep_reading;
use crate::{Context, Error, Moment};

/// Which days to give.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "SpendingRequest")]
pub struct Request {
    /// From this moment's day on.
    pub since: Option<Moment>,
    /// Up to this moment's day, which is included.
    pub until: Option<Moment>,
}

/// What sessions took.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "SpendingAnswer")]
pub struct Answer {
    /// A row for each day, session and model, in that order.
    pub rows: Vec<SpendingRow>,
    /// The day whose prices these are.
    pub prices_as_of: Option<Date>,
}

/// What a session took of a model on a day.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SpendingRow {
    /// The day in the person's zone; `null` where nothing says.
    pub day: Option<Date>,
    /// The session that first had the messages.
    pub session: SessionId,
    /// The model.
    pub model: String,
    /// The short name of its repository.
    pub project: Option<String>,
    /// The main repository of the directory it started in.
    #[serde(serialize_with = "model::optional_path")]
    pub path: Option<PathBuf>,
    /// The branch last seen in it.
    pub branch: Option<String>,
    /// The estimated price, in US dollars; `null` where the model has none here.
    pub cost_usd: Option<f64>,
    /// Tokens in, those of the cache among them.
    pub tokens_in: u64,
    /// Tokens out.
    pub tokens_out: u64,
}

/// Gives what the sessions that the caller may see took.
pub fn spending(context: &Context, request: &Request) -> Result<Answer, Error> {
    let mut catalog =
        catalog::read(&context.config().places(), catalog::Detail::Spending, keep_reading(context));
    context.check_cancelled()?;
    catalog.sessions.append(&mut catalog.unattached_messages);
    let mut rows = ledger::rows(context, &catalog.sessions, RowDetail::Day, Period::ALWAYS);
    let day = |moment: &Moment| Ok::<_, Error>(moment.at(context)?.to_zoned(context.zone()).date());
    let since = request.since.as_ref().map(day).transpose()?;
    let until = request.until.as_ref().map(|until| until.last_day(context)).transpose()?;
    let is_in = |day: Option<Date>| {
        since.is_none_or(|since| day.is_some_and(|day| day >= since))
            && until.is_none_or(|until| day.is_some_and(|day| day <= until))
    };
    let visible = context.visible_filter();
    let sessions: std::collections::HashMap<&SessionId, _> =
        catalog.sessions.iter().map(|entry| (&entry.session.id, &entry.session)).collect();
    rows.retain(|row| {
        is_in(row.day) && sessions.get(&row.session).is_none_or(|session| visible.matches(session))
    });
    let totals = totals_by(&rows, |row| (row.day, row.session.clone(), row.model.clone()));
    let redacted = |text: &std::sync::Arc<str>| context.secrets.redacted_beginning(text.to_string());
    let row = |((day, session, model), total): ((Option<Date>, SessionId, String), cost::Total)| {
        let known = sessions.get(&session);
        let usage = total.usage;
        SpendingRow {
            day,
            project: known.and_then(|known| known.project.as_ref()).map(redacted),
            path: known.and_then(|known| known.repo_path.as_deref()).map(Into::into),
            branch: known.and_then(|known| known.branch.as_ref()).map(redacted),
            cost_usd: total.cost,
            tokens_in: usage.input.saturating_add(usage.cache_read).saturating_add(usage.cache_write()),
            tokens_out: usage.output,
            session,
            model,
        }
    };
    Ok(Answer { rows: totals.into_iter().map(row).collect(), prices_as_of: prices_as_of() })
}

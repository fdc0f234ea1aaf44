//! Merges the layers of settings: values of the person's file and of variables replace the defaults, checked by name
//! and type. Errors name the setting and where it was set.

use cost::{OwnPrice, Prices};
use model::AgentId;
use toml::{Table, Value};

use crate::{Error, Kind};

/// The sections that an agent may have of its own.
const AGENT_SECTIONS: [&str; 2] = ["bridge", "selection"];

/// A value as the type of its setting.
pub(super) fn convert<T: serde::de::DeserializeOwned>(value: impl Into<Value>) -> Result<T, Error> {
    let wrong = |error| Error::caused(Kind::Settings, "the settings are invalid", &error);
    value.into().try_into().map_err(wrong)
}

/// The sections of agents, each name and type checked against the section of all agents.
pub(super) fn read_agents(defaults: &Table, agents: Option<Value>, file: &str) -> Result<Table, Error> {
    let wrong = |what: &str| Error::new(Kind::Settings, format!("{what} in {file}"));
    let Some(agents) = agents else { return Ok(Table::new()) };
    let Value::Table(agents) = agents else { return Err(wrong("`agents` is not a table")) };
    let mut checked = Table::new();
    for (name, of_agent) in agents {
        let agent: AgentId = name.parse().map_err(|error| wrong(&format!("`agents.{name}`: {error}")))?;
        let Value::Table(own) = of_agent else {
            return Err(wrong(&format!("`agents.{name}` is not a table")));
        };
        let known = defaults.iter().filter(|(key, _)| AGENT_SECTIONS.contains(&key.as_str()));
        let mut known: Table = known.map(|(key, value)| (key.clone(), value.clone())).collect();
        merge_over(&mut known, own.clone(), file, "").map_err(|error| {
            let message = format!("in `agents.{name}`: {}", error.message);
            Error { message, ..error }
        })?;
        checked.insert(agent.to_string(), Value::Table(own));
    }
    Ok(checked)
}

/// The person's prices, each with the model in its place.
pub(super) fn read_prices(section: Option<Value>, file: &str) -> Result<Prices, Error> {
    let mut prices = Prices::default();
    let Some(section) = section else { return Ok(prices) };
    let Value::Table(models) = section else {
        return Err(Error::new(Kind::Settings, format!("`prices` in {file} is not a table")));
    };
    for (model, price) in models {
        let wrong = |error: &dyn std::error::Error| {
            Error::caused(Kind::Settings, format!("`prices.{model}` in {file} is invalid"), error)
        };
        let price: OwnPrice = price.try_into().map_err(|error: toml::de::Error| wrong(&error))?;
        prices.set(&model, price).map_err(|error| wrong(&error))?;
    }
    Ok(prices)
}

/// Parses a settings file called `name`.
pub(super) fn parse_table(text: &str, name: &str) -> Result<Table, Error> {
    text.parse().map_err(|error| Error::caused(Kind::Settings, format!("cannot read {name}"), &error))
}

/// Replaces values of `base` by those of `over`; refuses unknown names and values of other types.
pub(super) fn merge_over(base: &mut Table, over: Table, file: &str, section: &str) -> Result<(), Error> {
    for (key, value) in over {
        let full = if section.is_empty() { key.clone() } else { format!("{section}.{key}") };
        match (base.get_mut(&key), value) {
            (Some(Value::Table(inner)), Value::Table(over)) => merge_over(inner, over, file, &full)?,
            (Some(known), value) if known.same_type(&value) => *known = value,
            (Some(known), value) => {
                let (wanted, found) = (known.type_str(), value.type_str());
                let message = format!("`{full}` in {file} must be of type {wanted}, not {found}");
                return Err(Error::new(Kind::Settings, message));
            }
            (None, _) => {
                let sections = base.iter().filter(|(_, value)| value.is_table()).map(|(key, _)| key.clone());
                let known = sections.chain(setting_names(base, section)).collect();
                return Err(unknown_setting(&full, &format!("in {file}"), known));
            }
        }
    }
    Ok(())
}

/// Sets `claude.folders` from `BACKSTORY_CLAUDE_FOLDERS`, and so on; returns the setting's full name.
pub(super) fn set_from_variable(all: &mut Table, name: &str, text: &str) -> Result<String, Error> {
    let names: Vec<String> = setting_names(all, "");
    let Some(key) = names.iter().find(|key| variable_name(key) == name) else {
        let known = names.iter().map(|key| variable_name(key)).collect();
        return Err(unknown_setting(name, "in the environment", known));
    };
    let (section, field) = key.split_once('.').unwrap_or(("", key));
    let slot = all.get_mut(section).and_then(|section| section.get_mut(field));
    if let Some(slot) = slot {
        *slot = parse_like(slot, text).ok_or_else(|| {
            Error::new(
                Kind::Settings,
                format!("{name} is `{text}`, which is not of type {}", slot.type_str()),
            )
        })?;
    }
    Ok(key.clone())
}

/// A variable's text as a value of the same type as the default.
fn parse_like(like: &Value, text: &str) -> Option<Value> {
    Some(match like {
        Value::Integer(_) => Value::Integer(text.parse().ok()?),
        Value::Float(_) => Value::Float(text.parse().ok()?),
        Value::Boolean(_) => Value::Boolean(text.parse().ok()?),
        Value::Array(_) => {
            let parts = text.split(':').filter(|part| !part.is_empty());
            Value::Array(parts.map(|part| Value::String(part.to_owned())).collect())
        }
        Value::String(_) | Value::Datetime(_) | Value::Table(_) => Value::String(text.to_owned()),
    })
}

pub(super) fn variable_name(key: &str) -> String {
    format!("BACKSTORY_{}", key.replace('.', "_").to_uppercase())
}

/// The full names of all settings in a table.
pub(super) fn setting_names(table: &Table, section: &str) -> Vec<String> {
    let full = |key: &String| if section.is_empty() { key.clone() } else { format!("{section}.{key}") };
    table
        .iter()
        .flat_map(|(key, value)| match value {
            Value::Table(inner) => setting_names(inner, &full(key)),
            _ => vec![full(key)],
        })
        .collect()
}

fn unknown_setting(name: &str, place: &str, known: Vec<String>) -> Error {
    let error = Error::new(Kind::Settings, format!("there is no setting `{name}` ({place})"));
    let near = known.into_iter().map(|known| (strsim::levenshtein(name, &known), known));
    // A name that shares less than two thirds of its letters is not a likely typo.
    match near.filter(|(far, known)| far * 3 <= known.chars().count()).min() {
        Some((_, nearest)) => error.hint(format!("did you mean `{nearest}`?")),
        None => error,
    }
}

//! Changes a running worker: interrupts its turn, or sets another model or permission mode.

use workers::{Command, PermissionMode};

use crate::workers::control::send_command;
use crate::workers::table::{self, open_recovered};
use crate::{Context, Error};

/// Ends a worker's turn, but not the worker: it waits for the next message.
pub fn interrupt(context: &Context, worker: &str) -> Result<(), Error> {
    command(context, worker, [Command::Interrupt])
}

/// Sets another model or another permission mode.
pub fn change(
    context: &Context,
    worker: &str,
    model: Option<String>,
    mode: Option<PermissionMode>,
) -> Result<(), Error> {
    context.require_person("changing what a worker may do")?;
    let model = model.map(|model| Command::SetModel { model });
    command(context, worker, model.into_iter().chain(mode.map(|mode| Command::SetMode { mode })))
}

fn command(
    context: &Context,
    worker: &str,
    commands: impl IntoIterator<Item = Command>,
) -> Result<(), Error> {
    let table = open_recovered(context)?;
    let worker = table::find(context, &table, worker)?;
    commands.into_iter().try_for_each(|command| send_command(context, &worker, &command))
}

//! `hooks`: installs, removes and shows Backstory's hooks in Claude Code's settings.

use std::io::Write as _;
use std::path::PathBuf;

use anstyle::{AnsiColor, Style};
use app::live::hooks::{Plan, Request, Scope, install, status, uninstall};
use app::{Context, Error, Kind};

use crate::ask;
use crate::exit::Failure;
use crate::output::Output;
use crate::text::{age, safe};

/// Let Claude Code report what its sessions are doing.
///
/// Recent releases report it without hooks, older ones need them; without either, Backstory has to guess.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Add Backstory's hooks to Claude Code's settings; your own hooks stay.
    Install(ChangeArgs),
    /// Remove Backstory's hooks.
    Uninstall(ChangeArgs),
    /// Show where they are installed and when one last reported.
    Status(StatusArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct ChangeArgs {
    /// Change this project's settings instead of your own.
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
    /// Do not ask for confirmation.
    #[arg(long, short)]
    yes: bool,
    /// Only show what would change.
    #[arg(long)]
    dry_run: bool,
}

impl ChangeArgs {
    /// For a change to a person's own settings.
    pub(crate) fn asked(yes: bool) -> Self {
        Self { project: None, yes, dry_run: false }
    }

    /// The project whose settings are changed instead of the person's own.
    pub(crate) fn project(&self) -> Option<&PathBuf> {
        self.project.as_ref()
    }
}

#[derive(Debug, clap::Args)]
struct StatusArgs {
    /// Also show this project's settings.
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Runs the subcommand.
pub(crate) fn run(context: &Context, args: &Args) -> Result<(), Failure> {
    match &args.command {
        Command::Install(change) => {
            let plan = install(context, &scope(change.project()))?;
            apply(&plan, change, true)
        }
        Command::Uninstall(change) => apply(&uninstall(context, &scope(change.project()))?, change, false),
        Command::Status(args) => show(context, args),
    }
}

/// Whose settings are changed.
pub(crate) fn scope(project: Option<&PathBuf>) -> Scope {
    project.cloned().map_or(Scope::User, Scope::Project)
}

fn apply(plan: &Plan, change: &ChangeArgs, keep_backup: bool) -> Result<(), Failure> {
    let backup = safe(&plan.backup().display().to_string());
    self::change(plan, change, keep_backup, || {
        if keep_backup {
            format!(
                "Done. The previous settings are saved in {backup}; `backstory hooks uninstall` restores them."
            )
        } else {
            "Done.".to_owned()
        }
    })
}

/// Shows a change to a settings file, asks, makes it, and says that it is done.
pub(crate) fn change(
    plan: &Plan,
    change: &ChangeArgs,
    keep_backup: bool,
    done: impl FnOnce() -> String,
) -> Result<(), Failure> {
    let mut out = Output::plain();
    let file = safe(&plan.file.display().to_string());
    if plan.is_empty() {
        writeln!(out, "{file} is already up to date.")?;
        return Ok(out.finish()?);
    }
    writeln!(out, "{file}:")?;
    show_difference(&mut out, plan)?;
    out.finish()?;
    if change.dry_run || !is_confirmed(change)? {
        return line("Nothing was changed.");
    }
    plan.apply(keep_backup)?;
    line(&done())
}

fn is_confirmed(change: &ChangeArgs) -> Result<bool, Failure> {
    if change.yes {
        return Ok(true);
    }
    if !ask::is_possible() {
        let error = Error::new(Kind::Usage, "cannot ask for confirmation without a terminal")
            .hint("use --yes to change the file");
        return Err(error.into());
    }
    Ok(ask::yes("Change the file?")?)
}

fn show_difference(out: &mut Output, plan: &Plan) -> Result<(), Failure> {
    let (red, green) = (AnsiColor::Red.on_default(), AnsiColor::Green.on_default());
    let text = |side: &Option<String>| side.clone().unwrap_or_default();
    for (mark, line) in crate::diff::diff(&text(&plan.before), &text(&plan.after)) {
        let style = match mark {
            '-' => red,
            '+' => green,
            _ => Style::new().dimmed(),
        };
        writeln!(out, "{style}{mark} {}{style:#}", safe(&line))?;
    }
    if plan.after.is_none() {
        writeln!(out, "{red}(the file is removed: it did not exist before){red:#}")?;
    }
    Ok(())
}

/// Prints a line.
pub(crate) fn line(text: &str) -> Result<(), Failure> {
    let mut out = Output::plain();
    writeln!(out, "{text}")?;
    Ok(out.finish()?)
}

fn show(context: &Context, args: &StatusArgs) -> Result<(), Failure> {
    let answer = status(context, &Request { project: args.project.clone() })?;
    if args.json {
        return super::json(&answer);
    }
    let mut out = Output::plain();
    for status in &answer.settings {
        let file = safe(&status.file.display().to_string());
        let says = match (status.installed.len(), status.missing.as_slice()) {
            (0, _) => "not installed; `backstory hooks install` adds them".to_owned(),
            (_, []) => "installed".to_owned(),
            (_, missing) => {
                format!("installed except for {}; `backstory hooks install` adds them", missing.join(", "))
            }
        };
        out.sentence(&format!("{file}: {says}"))?;
    }
    let heard = answer.settings.first().and_then(|status| status.last_heard);
    let heard = heard.map_or("never".to_owned(), |at| match age(context.now, Some(at)).as_str() {
        "now" => "just now".to_owned(),
        age => format!("{age} ago"),
    });
    writeln!(out, "last report from a hook: {heard}")?;
    Ok(out.finish()?)
}

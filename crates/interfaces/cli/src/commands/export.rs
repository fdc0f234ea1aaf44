//! `export`: writes every session to a folder as a Markdown document.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use app::search::export::{Answer, Request, export};
use app::{Context, Error, Kind};

use crate::exit::Failure;
use crate::output::Output;
use crate::progress::Followed;
use crate::render::{Markdown, Renderer as _};
use crate::text::{counted, safe};

/// Export every session as a Markdown document.
///
/// A document is rewritten only when its session has changed, and removed when its session is gone. Secrets are
/// redacted.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The folder to write to; created if it is missing.
    #[arg(long, value_name = "FOLDER", required = true)]
    markdown: PathBuf,
    /// Only sessions of this repository, given by name or by a path inside it; other documents are left alone.
    #[arg(long, value_name = "NAME", allow_hyphen_values = true, value_parser = super::project)]
    project: Option<String>,
    /// Keep the documents of sessions that are gone.
    #[arg(long)]
    keep_gone: bool,
    /// Then run `qmd update` and `qmd embed`.
    #[arg(long)]
    index: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Exports the sessions; a document that cannot be written is reported and does not stop the others.
pub(crate) fn run(context: &Context, args: &Args) -> Result<(), Failure> {
    let request = Request {
        folder: args.markdown.clone(),
        project: args.project.clone(),
        keep_gone: args.keep_gone,
        index: args.index,
    };
    let followed = Followed::new(context);
    let answer = write(&followed, &request)?;
    drop(followed);
    if args.json {
        super::json(&answer)?;
    } else {
        print(&answer)?;
    }
    if let Some(error) = answer.qmd_error {
        return Err(error.into());
    }
    if !answer.failed.is_empty() && answer.written + answer.unchanged == 0 {
        return Err(nothing_exported(&answer.folder, &answer.failed).into());
    }
    Ok(())
}

/// Writes the documents, for `serve` too.
pub(crate) fn write(context: &Context, request: &Request) -> Result<Answer, Error> {
    export(context, request, || {
        let mut look = Markdown::default();
        move |out: &mut dyn std::io::Write, shown: &app::sessions::show::ShownMessage| {
            look.message(out, shown)
        }
    })
}

fn nothing_exported(folder: &Path, failed: &[String]) -> Error {
    let message =
        format!("could not export any of {} to {}", counted(failed.len(), "document"), folder.display());
    let error = Error::new(Kind::Unavailable, message);
    failed.iter().take(1).fold(error, |error, why| error.hint(format!("the first failure: {why}")))
}

fn print(answer: &Answer) -> Result<(), Failure> {
    let mut out = Output::plain();
    let Answer { folder, written, unchanged, removed, failed, .. } = answer;
    let folder = safe(&folder.display().to_string());
    writeln!(out, "{written} written, {unchanged} unchanged, {removed} removed in {folder}")?;
    for why in failed {
        writeln!(out, "Could not export {}", safe(why))?;
    }
    Ok(out.finish()?)
}

//! `serve`: Backstory over HTTP, until it is interrupted; and the tokens for it.

use std::io::{IsTerminal as _, Write as _};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;

use app::Context;
use jiff::Timestamp;
use serve::{Certificate, Notice, Options, TokenScope, Tokens};

use crate::exit::Failure;
use crate::output::Output;
use crate::text::{age, counted, safe, safe_lines};

/// Serve Backstory over HTTP, with an event stream.
///
/// On a terminal it prints a link for your browser; elsewhere `backstory serve link` does. It runs until Ctrl-C. It also runs due jobs, as `cron daemon` does, and keeps the index up to date.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    /// The address to listen on; one that other machines reach needs a certificate.
    #[arg(long, value_name = "ADDRESS", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    bind: IpAddr,
    /// The port to listen on; 0 takes a free one.
    #[arg(long, value_name = "PORT", default_value_t = 8787)]
    port: u16,
    /// Encrypt connections with the certificate in this PEM file.
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_certificate: Option<PathBuf>,
    /// The private key of the certificate, as PEM.
    #[arg(long, value_name = "FILE", requires = "tls_certificate")]
    tls_key: Option<PathBuf>,
    /// Also listen on a socket at this path.
    #[arg(long, value_name = "PATH")]
    unix: Option<PathBuf>,
    /// Serve the built front end in this folder.
    #[arg(long, value_name = "FOLDER")]
    front: Option<PathBuf>,
    /// Print every request.
    #[arg(long)]
    log: bool,
    /// Print the link for your browser even if the output is not a terminal.
    #[arg(long)]
    print_link: bool,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Print a link to the running server that signs a browser in.
    ///
    /// It works once, within ten minutes. `serve token revoke link` signs out every browser that used such a link.
    Link {
        /// What the browser may do: read; act, which includes starting and answering workers; or admin.
        #[arg(long, default_value = "act", value_parser = ["read", "act", "admin"])]
        scope: String,
    },
    /// Create, list and revoke tokens.
    #[command(subcommand)]
    Token(Token),
}

#[derive(Debug, clap::Subcommand)]
enum Token {
    /// Create a token; it is printed only once.
    Add {
        /// Its name.
        name: String,
        /// What it allows: read; act, which includes starting and answering workers; or admin.
        #[arg(long, default_value = "read", value_parser = ["read", "act", "admin"])]
        scope: String,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// List the tokens, and the browsers that signed in with them.
    List {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Revoke a token, and sign out the browsers that used it.
    Revoke {
        /// Its name.
        name: String,
    },
}

/// Serves, or runs the subcommand.
pub(crate) fn run(context: &Context, args: &Args) -> Result<(), Failure> {
    match &args.command {
        Some(Command::Token(token)) => run_token(context, token),
        Some(Command::Link { scope }) => {
            let link = serve::link(context.config(), scope.parse()?, context.now)?;
            let mut out = Output::plain();
            writeln!(out, "{link}")?;
            Ok(out.finish()?)
        }
        None => run_server(context, args),
    }
}

fn run_server(context: &Context, args: &Args) -> Result<(), Failure> {
    let options = Options {
        address: SocketAddr::new(args.bind, args.port),
        unix: args.unix.as_ref().map(|path| context.path(path)),
        front: args.front.as_ref().map(|path| context.path(path)),
        certificate: args
            .tls_certificate
            .as_ref()
            .zip(args.tls_key.as_ref())
            .map(|(chain, key)| Certificate { chain: context.path(chain), key: context.path(key) }),
    };
    // No other process finds the server of a demo, so none can make a link to it.
    let shows_link = args.print_link || context.config().is_demo || std::io::stdout().is_terminal();
    let logs = args.log;
    let context = &context.for_other_processes();
    let reporter = Arc::new(move |notice| print(&notice, logs, shows_link));
    Ok(serve::serve(context, &options, reporter, Arc::new(super::export::write))?)
}

/// Prints a notice of the server, which keeps running when its output is closed.
fn print(notice: &Notice, logs: bool, shows_link: bool) {
    let mut out = anstream::stderr().lock();
    let _ = match notice {
        Notice::Ready { place, link, unix } => {
            let beside = unix.as_ref().map_or_else(String::new, |path| format!(" and {}", path.display()));
            let text = if shows_link {
                format!("Listening{beside}. Open this link once: {link}")
            } else {
                // A log is kept, and read by others.
                format!("Listening on {place}{beside}\nA link for a browser: backstory serve link")
            };
            let mut out = anstream::stdout().lock();
            writeln!(out, "{}", safe_lines(&text)).and_then(|()| out.flush())
        }
        Notice::Warning(text) => writeln!(out, "warning: {}", safe(text)),
        Notice::Request { method, path, status, took } if logs => {
            writeln!(out, "{} {} {status} {} ms", safe(method), safe(path), took.as_millis())
        }
        Notice::Dropped { count } => {
            let lines = counted(count, "line");
            writeln!(out, "warning: {lines} not printed, because they were not read in time")
        }
        Notice::Request { .. } | Notice::Cron(_) => Ok(()),
        Notice::Stopping => writeln!(out, "Stopping."),
    };
}

/// When a token was last used, which is kept to the hour.
fn used(now: Timestamp, at: Timestamp) -> String {
    match now.duration_since(at).as_hours() {
        ..1 => "used this hour".to_owned(),
        _ => format!("used {} ago", age(now, Some(at))),
    }
}

fn run_token(context: &Context, token: &Token) -> Result<(), Failure> {
    let tokens = Tokens::open(context.config())?;
    let mut out = Output::plain();
    match token {
        Token::Add { name, scope, json } => {
            let made = tokens.add(name, scope.parse::<TokenScope>()?, context.now)?;
            if *json {
                return super::json(&made);
            }
            writeln!(out, "{}", made.token)?;
        }
        Token::List { json } => {
            let all = tokens.list(context.now)?;
            if *json {
                return super::json(&serde_json::json!({ "tokens": all }));
            }
            for token in all {
                let kind = if token.expires.is_some() { "browser" } else { "token" };
                let used =
                    token.last_used.map_or_else(|| "never used".to_owned(), |at| used(context.now, at));
                writeln!(out, "{:<7} {kind:<8} {used:<14} {}", token.scope.to_string(), safe(&token.name))?;
            }
        }
        Token::Revoke { name } => {
            let ended = tokens.revoke(name)?;
            writeln!(out, "Ended {ended}.")?;
        }
    }
    Ok(out.finish()?)
}

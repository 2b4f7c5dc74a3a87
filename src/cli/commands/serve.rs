//! `serve`: serves the world as a live page.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::mpsc::channel;

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::json;

use crate::cli::commands::page::{file_name, open_in_browser, title_of};
use crate::cli::commands::token::{bind, token_of};
use crate::cli::context::Cli;
use crate::cli::facts::{Facts, Group};
use crate::cli::failure::Failure;
use crate::cli::interrupt::interrupted;
use crate::cli::values::parse_host;
use memories_notebook::SharedSnapshot;
use memories_page::{ServeError, ServeSettings};
use memories_search::Searcher;
use memories_web::{Guard, Limits, Token};

/// The variable with the token.
const VARIABLE: &str = "MEMORIES_SERVE_TOKEN";

/// Serve the world as a page that follows the play
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The page is that of `memories report`. Each turn that is recorded, each
correction and each change by an editor is on it within a third of a second. It
only reads; with --edit a person adds, rewords, confirms and strikes memories.

Requests must name the server's own address in `Host`, and a page of another
site in a browser is refused (403). With --edit, and for other machines, callers
need a token: the address that is printed has it, and the browser keeps it. The
token is that of --token-file or MEMORIES_SERVE_TOKEN, and has at least 16
characters; without one, --edit makes one. The server speaks plain HTTP: put a
server with TLS before it where others can listen in.

Examples:
  memories serve --open
  memories serve --edit
  memories serve --listen 127.0.0.1:0 --title 'Zork, tonight'
  openssl rand -hex 32 > token
  memories serve --listen 0.0.0.0:4142 --allow-remote --token-file token \\
      --host memories.example

Prints the address that it listens on; with --json {version, listening,
address}, where `address` is the one to open. Ctrl-C ends it.")]
pub(crate) struct ServeArgs {
    /// The address that browsers connect to; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:4142")]
    listen: SocketAddr,
    /// Let the page add, reword, confirm and strike memories
    #[arg(long)]
    edit: bool,
    /// Accept other machines; needs a token
    #[arg(long)]
    allow_remote: bool,
    /// The file with the token that callers must send; overrides MEMORIES_SERVE_TOKEN
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// A further name that browsers may call the server by, at any port; repeatable
    #[arg(long = "host", value_name = "NAME", value_parser = parse_host)]
    hosts: Vec<String>,
    /// The title of the page [default: the folder's name]
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// Open it in the browser
    #[arg(long)]
    open: bool,
}

/// The facts about this command.
pub(crate) const FACTS: Facts = Facts { asks: true, ..Facts::of(Group::Look) };

pub fn run(mut cli: Cli<'_>, args: ServeArgs) -> Result<u8, Failure> {
    let ServeArgs { listen, edit, allow_remote, token_file, hosts, title, open } = args;
    let variable = cli.settings.serve_token.as_ref();
    let token = match token_of(listen, allow_remote, token_file.as_deref(), variable, VARIABLE)? {
        None if edit => Some(fresh_token()?),
        given => given,
    };
    let notebook = cli.notebook()?;
    let embedder = cli.embedder()?;
    let files = SharedSnapshot::new(notebook.store().clone());
    let searcher = Searcher::new(files, cli.settings.search.clone(), embedder);
    let listener = bind(listen, "--listen")?;
    let address = listener.local_addr()?;
    let listening = format!("http://{address}/");
    let opened = match &token {
        None => listening.clone(),
        Some(token) => format!("{listening}?token={}", utf8_percent_encode(token.text(), NON_ALPHANUMERIC)),
    };
    if !address.ip().to_canonical().is_loopback() {
        cli.ui
            .warning("tokens and memories go over the network unencrypted: put a server with TLS before it");
    } else if token.is_none() {
        cli.ui.warning("without `MEMORIES_SERVE_TOKEN` every user of this machine can read these memories");
    }
    let store = notebook.store();
    let settings = ServeSettings {
        listener,
        guard: Guard::new(address, &hosts, token.clone()),
        limits: Limits::default(),
        searcher,
        title: title.unwrap_or_else(|| title_of(store)),
        file: file_name(store),
        session: token.map(|_| fresh_token()).transpose()?,
        can_edit: edit,
        recall: cli.settings.limits,
        clock: cli.settings.clock(),
        notebook,
    };
    let json = json!({"listening": listening, "address": opened});
    let end = interrupted()?;
    let answer = cli.ui.answer(&json, &format!("listening on {opened}\n"))?;
    cli.ui.flush()?;
    if open {
        open_in_browser(&opened)?;
    }
    serve(&mut cli, settings, end)?;
    Ok(answer)
}

/// Serves the page until `end` is ready, and shows the warnings.
fn serve(
    cli: &mut Cli<'_>,
    settings: ServeSettings,
    end: impl Future<Output = ()> + Send + 'static,
) -> Result<(), Failure> {
    let (sender, warnings) = channel();
    let server = std::thread::spawn(move || {
        memories_page::serve(settings, move |warning| drop(sender.send(warning)), end)
    });
    warnings.iter().for_each(|warning| cli.ui.warning(&warning));
    match server.join() {
        Ok(Ok(())) => Ok(()),
        Ok(Err(ServeError::Store(error))) => Err(error.into()),
        Ok(Err(ServeError::Socket(error))) => Err(Failure::caused("cannot serve", error)),
        Err(_) => Err(Failure::user("the server stopped unexpectedly").hint("start it again")),
    }
}

/// A token that nobody can guess.
fn fresh_token() -> Result<Token, Failure> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| Failure::user(format!("no random numbers: {error}")))?;
    let text: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    Token::new(&text).map_err(|error| Failure::user(error.to_string()))
}

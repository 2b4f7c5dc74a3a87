//! `proxy`: runs a proxy that adds a memory between a chat client and its server.

use std::convert::identity;
use std::io;
use std::net::SocketAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use serde_json::json;

use crate::cli::commands::model_args::ModelArgs;
use crate::cli::commands::selection_args::SelectionArgs;
use crate::cli::commands::token::{bind, token_of};
use crate::cli::commands::viewer_args::ViewerArgs;
use crate::cli::commands::writer_args::WriterArgs;
use crate::cli::context::Cli;
use crate::cli::facts::{Facts, Group};
use crate::cli::failure::Failure;
use crate::cli::interrupt::interrupted;
use crate::cli::values::{parse_duration, parse_host};
use memories_chat::inject::Injector;
use memories_chat::proxy::hooks::{HookServices, MemoryHooks, Notice};
use memories_chat::proxy::{self, ProxySettings, Upstream};
use memories_llm::Model;
use memories_notebook::SharedSnapshot;
use memories_store::Store;
use memories_web::{Guard, Limits};

/// The variable with the token.
const VARIABLE: &str = "MEMORIES_PROXY_TOKEN";

/// Run a proxy that adds a memory to a chat client and its server
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Set the client's server address to the proxy's. The client's key goes to the
server and nowhere else. Chats (/v1/chat/completions, /v1/responses, Anthropic's
/v1/messages) get memories inserted, and memories are extracted from the replies
once these have been forwarded, as `[chat]` says. Memories are put behind what
is cached. Streams are forwarded chunk by chunk. All other paths pass unchanged.
The client sees what the server answers, errors too; a server that cannot be
reached is a 502.

Requests must name the proxy's own address in `Host`, and a page of another site
in a browser is refused (403). With a token, each request must send it in the
header `X-Memories-Token`; it is read from --token-file or MEMORIES_PROXY_TOKEN,
has at least 16 characters, and is never forwarded. --allow-remote demands one.
The proxy speaks plain HTTP: put a server with TLS before it where others can
listen in.

Headers of a request, which are not forwarded:
  X-Memories-Scope         scopes to search, such as `npc:troll, 23`; new
                           memories go to the first
  X-Memories-Conversation  the conversation's id [default: a hash of its start]
  X-Memories-Extraction    a mode, a number of replies such as 3, or `save`; in
                           the mode llm_triggered the model is offered the
                           tool `remember`, unless the reply is streamed or is
                           one of /v1/responses
  X-Memories-Token         the token
GET /healthz answers as long as the proxy runs, without the token. Ctrl-C lets
running replies and extractions end, for at most --grace.

Examples:
  memories chat proxy --upstream https://api.openai.com
  OPENAI_BASE_URL=http://127.0.0.1:4141/v1 my-chat-client
  memories chat proxy -v --upstream http://127.0.0.1:11434 \\
      --listen 127.0.0.1:8080
  memories chat proxy --upstream https://api.anthropic.com --scope npc:troll
  memories chat proxy --upstream https://api.openai.com --between alex,jordan \\
      --max-age 30d
  openssl rand -hex 32 > token
  memories chat proxy --upstream https://api.openai.com --listen 0.0.0.0:4141 \\
      --allow-remote --token-file token --host memories.example

The model that extracts memories is that of `[llm]`, with its own key. Prints
the address that it listens on; with --json {version, listening, upstream}.")]
pub(crate) struct ProxyArgs {
    /// The server that answers, with or without /v1
    #[arg(long, value_name = "URL")]
    upstream: String,
    /// The address that clients connect to; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:4141")]
    listen: SocketAddr,
    /// Accept other machines; needs a token
    #[arg(long)]
    allow_remote: bool,
    /// The file with the token that clients must send; overrides MEMORIES_PROXY_TOKEN
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// A further name that clients may call the proxy by, at any port; repeatable
    #[arg(long = "host", value_name = "NAME", value_parser = parse_host)]
    hosts: Vec<String>,
    /// Insert memories of this place or scope only; new ones go to the first; repeatable
    #[arg(long = "scope", value_name = "SCOPE", allow_negative_numbers = true)]
    scopes: Vec<String>,
    #[command(flatten)]
    selection: SelectionArgs,
    /// How long a chat waits for its memories; then it goes on without them
    #[arg(long, value_name = "TIME", default_value = "2s", value_parser = parse_duration)]
    memory_timeout: Duration,
    /// How long running replies and extractions may take when the proxy ends
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = parse_duration)]
    grace: Duration,
    #[command(flatten)]
    writer: WriterArgs,
    #[command(flatten)]
    model: ModelArgs,
    #[command(flatten)]
    viewer: ViewerArgs,
}

/// The facts about this command.
pub(crate) const FACTS: Facts = Facts::of(Group::Talk);

pub fn run(mut cli: Cli<'_>, args: ProxyArgs) -> Result<u8, Failure> {
    let ProxyArgs {
        upstream,
        listen,
        allow_remote,
        token_file,
        hosts,
        scopes,
        selection,
        memory_timeout,
        grace,
        writer,
        model,
        viewer,
    } = args;
    viewer.read_for(&mut cli);
    writer.override_settings(&mut cli);
    let variable = cli.settings.proxy_token.as_ref();
    let token = token_of(listen, allow_remote, token_file.as_deref(), variable, VARIABLE)?;
    let upstream = Upstream::new(&upstream)
        .map_err(|error| Failure::usage(error).hint("give it as `--upstream https://api.openai.com`"))?;
    let store = cli.store()?;
    let scopes = scopes.iter().map(|scope| cli.scope(scope)).collect::<Result<_, _>>()?;
    let choice = model.choose(&mut cli)?;
    cli.ui.notices(&choice.notice);
    let mut settings = cli.settings.chat.clone();
    selection.apply_to(&mut settings);
    settings.filter.scopes = scopes;
    let (sender, notices) = channel::<Option<Notice>>();
    let ended = sender.clone();
    let services = services(&mut cli, store, choice.model, memory_timeout, sender)?;
    let hooks = Arc::new(MemoryHooks::new(settings, services));
    let listener = bind(listen, "--listen")?;
    let address = listener.local_addr()?;
    let guard = Guard::new(address, &hosts, token);
    let address = format!("http://{address}");
    let upstream_shown = upstream.shown();
    cli.announce(upstream.destination().as_slice(), "chats and the memories in them");
    if upstream.is_in_clear() {
        cli.ui.warning(&format!("keys and chats go to `{upstream_shown}` unencrypted"));
    }
    let json = json!({"listening": address, "upstream": upstream_shown});
    let end = interrupted()?;
    cli.ui.answer(&json, &format!("listening on {address}, before {upstream_shown}\n"))?;
    cli.ui.flush()?;
    let settings = ProxySettings { upstream, guard, limits: Limits::default(), memory_timeout, grace };
    tell_while(&mut cli, ended, notices, move || proxy::serve(listener, settings, hooks, end))
}

/// Serves, and tells notices until that ends.
fn tell_while(
    cli: &mut Cli<'_>,
    ended: Sender<Option<Notice>>,
    notices: Receiver<Option<Notice>>,
    serve: impl FnOnce() -> io::Result<()> + Send + 'static,
) -> Result<u8, Failure> {
    let server = std::thread::spawn(move || {
        let served = catch_unwind(AssertUnwindSafe(serve));
        // An extraction that stalls may keep the hooks and their sender for longer.
        let _ = ended.send(None);
        served
    });
    for notice in notices.iter().map_while(identity) {
        match notice {
            Notice::Warning(text) => cli.ui.warning(&text),
            Notice::Detail(text) => cli.ui.detail(&text),
        }
    }
    match server.join().and_then(identity) {
        Ok(Ok(())) => Ok(0),
        Ok(Err(error)) => Err(Failure::caused("cannot serve", error)),
        Err(_) => Err(Failure::user("the proxy stopped unexpectedly").hint("start it again")),
    }
}

/// The services that the hooks use: search, model, clock, notices.
fn services(
    cli: &mut Cli<'_>,
    store: Store,
    model: Option<Box<dyn Model>>,
    memory_timeout: Duration,
    notices: Sender<Option<Notice>>,
) -> Result<HookServices, Failure> {
    let embedder = cli.embedder_with(|_, _| ())?;
    let settings = &cli.settings;
    Ok(HookServices {
        // The embedded model needs time, too, after a served embedder has failed.
        injector: Injector::new(SharedSnapshot::new(store), &settings.search, embedder)
            .with_time_limit(memory_timeout / 2),
        model,
        clock: settings.clock(),
        writer: settings.writer.clone(),
        notify: Box::new(move |notice| {
            // The receiver is gone only when the program ends.
            let _ = notices.send(Some(notice));
        }),
    })
}

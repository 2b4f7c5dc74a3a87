//! `mcp`: the server for agents that speak the Model Context Protocol.
mod http;

use std::net::SocketAddr;

use strum::{VariantArray, VariantNames};

use crate::cli::commands::map_file::read_map;
use crate::cli::commands::model_args::ModelArgs;
use crate::cli::commands::writer_args::WriterArgs;
use crate::cli::context::Cli;
use crate::cli::facts::{Candidates, Facts, Group};
use crate::cli::failure::Failure;
use crate::cli::interrupt::interrupted;
use crate::cli::values::parse_host;
use crate::mcp::{Group as ToolGroup, Setup, serve, serve_http};

/// Serve the memories to agents by MCP, on stdio or over HTTP
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A client starts this command and speaks the Model Context Protocol with it.
`docs/guide/mcp.md` shows how to set up clients. Groups of tools:
  places     get_location_memories, get_top_memories, query_memories,
             check_action, record_turn, find_path, unexplored, next_steps
  self       query_self, query_background, query_communication_style
             (only with --agent), query_scene, query_character, query_memories
  shaping    form_memory, reinforce_memory, associate_memories,
             supersede_memory, invalidate_memory
  recalling  recall_episodes, recall_facts, recall_interactions,
             check_similar_situations
  status     memory_status

With --http many clients share one server, at the path /mcp. Each request sends
`Authorization: Bearer TOKEN`. MEMORIES_MCP_TOKEN holds the token, or several as
NAME=TOKEN, separated by spaces; a token has at least 16 characters. Without it
the server listens on a loopback address only, and every user of the machine can
reach it. Requests must name the server's own address in `Host`, and a page of
another site in a browser is refused (403). The server speaks plain HTTP: put a
server with TLS before it where others can listen in. GET /healthz answers as
long as it runs, without a token. Ctrl-C lets running calls end.

Examples:
  memories mcp
  memories mcp --agent alex --tools self shaping
  memories mcp --read-only --tools places
  memories mcp --writer worker-7
  export MEMORIES_MCP_TOKEN=$(openssl rand -hex 32)
  memories mcp --http 127.0.0.1:4143
  memories mcp --http 0.0.0.0:4143 --host memories.example

Answer: none; the server ends when its client does. With --http it prints the
address that it listens on; with --json {version, listening}.")]
pub(crate) struct McpArgs {
    /// The id of the agent that `I` and `self` mean
    #[arg(long, value_name = "ID", value_parser = parse_agent)]
    agent: Option<String>,
    /// Offer no tools that write
    #[arg(long)]
    read_only: bool,
    /// Only these groups of tools: places, self, shaping, recalling, status [default: all]
    #[arg(long, value_name = "GROUP", num_args = 1.., value_delimiter = ',')]
    tools: Vec<String>,
    /// Serve many clients over HTTP at this address; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS:PORT")]
    http: Option<SocketAddr>,
    /// A further name that clients may call the server by, at any port; repeatable
    #[arg(long = "host", value_name = "NAME", value_parser = parse_host, requires = "http")]
    hosts: Vec<String>,
    /// Ask a model only where settings or flags name one, never for a key in the
    /// environment alone
    #[arg(long)]
    configured_model: bool,
    #[command(flatten)]
    writer: WriterArgs,
    #[command(flatten)]
    model: ModelArgs,
}

/// Parses an agent's id, with or without the prefix `agent:`.
fn parse_agent(text: &str) -> Result<String, String> {
    let id = text.trim().to_lowercase();
    let id = id.strip_prefix("agent:").unwrap_or(&id);
    if memories_document::types::is_id(id) {
        Ok(id.to_owned())
    } else {
        Err(format!("`{text}` is not an id: use lower-case letters, digits, `_` and `-`"))
    }
}

/// The facts about this command.
pub(crate) const FACTS: Facts = Facts {
    completes: &[("GROUP", Candidates::Values(<ToolGroup as VariantNames>::VARIANTS))],
    ..Facts::of(Group::SetUp)
};

pub fn run(mut cli: Cli<'_>, args: McpArgs) -> Result<u8, Failure> {
    let McpArgs { agent, read_only, tools, http, hosts, configured_model, writer, model } = args;
    let groups: Result<Vec<ToolGroup>, String> = tools.iter().map(|name| name.trim().parse()).collect();
    let mut groups = groups.map_err(|problem| {
        Failure::usage(problem).hint("`memories mcp --help` shows what each group holds")
    })?;
    if groups.is_empty() {
        groups = <ToolGroup as VariantArray>::VARIANTS.to_vec();
    }
    if !cli.settings.enabled {
        groups.clear();
    }
    model.override_settings(&mut cli);
    if configured_model {
        cli.settings.llm.provider = cli.settings.llm.named_provider();
    }
    writer.override_settings(&mut cli);
    let (store, anchored) = (cli.store()?, cli.anchored()?);
    if cli.settings.enabled {
        announce_servers(&mut cli)?;
    }
    let http = http.map(|address| http::listen(&mut cli, address, &hosts)).transpose()?;
    cli.ui.flush()?;
    let seed = cli.settings.seed();
    let mut settings = cli.settings;
    settings.record.map = settings.map.as_deref().map(read_map).transpose()?;
    let clock = settings.clock();
    let setup = Setup {
        store,
        agent,
        writer: settings.writer,
        groups,
        read_only,
        limits: settings.limits,
        record: settings.record,
        search: settings.search,
        embedding: settings.embedding.config,
        embedding_environment: settings.embedding.environment,
        falls_back: settings.embedding.falls_back,
        llm: settings.llm,
        llm_environment: settings.llm_environment,
        seed,
        clock,
        anchored,
    };
    match http {
        None => serve(setup)?,
        Some(settings) => match serve_http(setup, settings, interrupted()?)? {
            0 => {}
            1 => cli.ui.warning("1 connection was cut off in the middle of its answer"),
            cut_off => {
                cli.ui.warning(&format!("{cut_off} connections were cut off in the middle of their answers"));
            }
        },
    }
    Ok(0)
}

/// Says which machines the tools will reach. A model that cannot work is an answer of the tool that needs it.
fn announce_servers(cli: &mut Cli<'_>) -> Result<(), Failure> {
    let choice = memories_llm::choose(&cli.settings.llm, &cli.settings.llm_environment, 0);
    let destination = choice.ok().and_then(|choice| choice.model?.destination());
    cli.announce(destination.as_slice(), crate::cli::commands::model_args::FOR_A_MODEL);
    cli.embedder().map(drop)
}

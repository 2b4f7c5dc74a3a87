//! `mcp`: the server for agents that speak the Model Context Protocol.

use crate::cli::commands::model_args::ModelArgs;
use crate::cli::commands::writer_args::{ConfirmedArgs, WriterArgs};
use crate::cli::context::Cli;
use crate::cli::failure::Failure;

/// Serve the memories to an agent by MCP, on stdin and stdout
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A client starts this command and speaks the Model Context Protocol with it.
`docs/guide/mcp.md` shows how to set up clients. Groups of tools:
  places     get_location_memories, get_top_memories, query_memories,
             check_action, record_turn, find_path, unexplored
  self       query_self, query_background, query_communication_style
             (only with --agent), query_scene, query_character, query_memories
  shaping    form_memory, reinforce_memory, associate_memories,
             supersede_memory, invalidate_memory
  recalling  recall_episodes, recall_facts, recall_interactions,
             check_similar_situations
  status     memory_status

Examples:
  memories mcp
  memories mcp --agent alex --tools self shaping
  memories mcp --read-only --tools places
  memories mcp --writer worker-7 --confirmed-by 2

Answer: none; the server ends when its client does.")]
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
    #[command(flatten)]
    writer: WriterArgs,
    #[command(flatten)]
    confirmed: ConfirmedArgs,
    #[command(flatten)]
    model: ModelArgs,
}

/// Parses an agent's id, with or without the prefix `agent:`.
fn parse_agent(text: &str) -> Result<String, String> {
    let id = text.trim().to_lowercase();
    let id = id.strip_prefix("agent:").unwrap_or(&id);
    match crate::types::is_id(id) {
        true => Ok(id.to_owned()),
        false => Err(format!("`{text}` is not an id: use lower-case letters, digits, `_` and `-`")),
    }
}

#[cfg(not(feature = "mcp"))]
pub fn run(_: Cli<'_>, args: McpArgs) -> Result<u8, Failure> {
    let McpArgs { agent: _, read_only: _, tools: _, writer: _, confirmed: _, model: _ } = args;
    let failure = Failure::user("this build has no MCP server");
    Err(failure.hint("build with `cargo install memories --features mcp`"))
}

#[cfg(feature = "mcp")]
pub fn run(mut cli: Cli<'_>, args: McpArgs) -> Result<u8, Failure> {
    use crate::cli::commands::map_file::read_map;
    use crate::mcp::{Group, Setup, serve};
    use crate::recall::Limits;

    let McpArgs { agent, read_only, tools, writer, confirmed, model } = args;
    let groups: Result<Vec<Group>, String> = tools.iter().map(|name| name.trim().parse()).collect();
    let mut groups = groups.map_err(|problem| {
        Failure::usage(problem).hint("`memories mcp --help` shows what each group holds")
    })?;
    if groups.is_empty() {
        groups = <Group as strum::VariantArray>::VARIANTS.to_vec();
    }
    if !cli.settings.enabled {
        groups.clear();
    }
    model.override_settings(&mut cli);
    writer.override_settings(&mut cli);
    let store = cli.store()?;
    if cli.settings.enabled {
        announce_servers(&mut cli)?;
    }
    cli.ui.flush()?;
    let seed = cli.settings.seed();
    let mut settings = cli.settings;
    settings.record.map = settings.map.as_deref().map(read_map).transpose()?;
    let clock = settings.running_clock();
    let setup = Setup {
        store,
        agent,
        writer: settings.writer,
        groups,
        read_only,
        limits: Limits { confirmed_by: confirmed.least(), ..settings.limits },
        record: settings.record,
        search: settings.search,
        embedding: settings.embedding.config,
        embedding_environment: settings.embedding.environment,
        falls_back: settings.embedding.falls_back,
        llm: settings.llm,
        llm_environment: settings.llm_environment,
        seed,
        clock,
    };
    serve(setup)?;
    Ok(0)
}

/// Says which machines the tools will reach. A model that cannot work is an answer of the tool that needs it.
#[cfg(feature = "mcp")]
fn announce_servers(cli: &mut Cli<'_>) -> Result<(), Failure> {
    let choice = crate::llm::choose(&cli.settings.llm, &cli.settings.llm_environment, 0);
    let destination = choice.ok().and_then(|choice| choice.model?.destination());
    cli.announce(destination.as_slice(), crate::cli::commands::model_args::FOR_A_MODEL);
    cli.embedder().map(drop)
}

//! `recall`: what matters at a place, within a budget of tokens.

use serde_json::json;

use crate::cli::Cli;
use crate::cli::args::parse_count;
use crate::cli::commands::{memory_json, parse_scopes};
use crate::cli::failure::Failure;
use crate::recall::budget::estimate_tokens;
use crate::recall::{Format, Limits, View, recall, render};

/// Print what matters at a place, within a budget of tokens
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  memories recall 23                    one place, by the engine's id
  memories recall 'Living Room'         by a name that only one place has
  memories recall 23 npc:troll world    several scopes in one budget
  memories recall 23 --all              everything that is live
  memories recall 23 --json

What a memory leads to by `See also: [[Location 5 › Title]]` is shown with it, as
far as the budget reaches.

With --json: {version, tokens, text, scopes: [{scope, name, visits, episodes,
memories, linked, tried, memories_left_out, tried_left_out}]}.")]
pub struct RecallArgs {
    /// Ids, `npc:ID`, `agent:ID`, `world`, `scene`, `dialogue`, or names of places
    #[arg(required = true, value_name = "SCOPE", allow_negative_numbers = true)]
    scopes: Vec<String>,
    /// Tokens of the whole answer, estimated on the safe side
    #[arg(long, value_name = "N", conflicts_with = "all", allow_negative_numbers = true)]
    #[arg(value_parser = parse_count::<usize>)]
    max_tokens: Option<usize>,
    /// Show everything that is live, whatever it costs
    #[arg(long)]
    all: bool,
    /// `text`, `markdown` or `xml`
    #[arg(long, value_name = "FORMAT", default_value = "text", value_parser = str::parse::<Format>)]
    format: Format,
}

pub(in crate::cli) fn run(cli: Cli<'_>, args: RecallArgs) -> Result<u8, Failure> {
    let RecallArgs { scopes, max_tokens, all, format } = args;
    let defaults = cli.settings.limits;
    let limits = match all {
        true => Limits { max_tokens: None, ..defaults },
        false => Limits { max_tokens: max_tokens.or(defaults.max_tokens), ..defaults },
    };
    let views = recall(&cli.store()?, &parse_scopes(&scopes)?, &limits, format)?;
    let text = render(&views, format);
    if !cli.ui.json {
        cli.ui.data(&text)?;
        return Ok(0);
    }
    let scopes: Vec<serde_json::Value> = views.iter().map(view_json).collect();
    cli.ui.json_line(
        &json!({"version": 1, "tokens": estimate_tokens(&text), "text": text, "scopes": scopes}),
    )?;
    Ok(0)
}

fn view_json(view: &View) -> serde_json::Value {
    let memories: Vec<serde_json::Value> =
        view.memories.iter().map(|memory| memory_json(&view.scope, memory)).collect();
    let linked: Vec<serde_json::Value> =
        view.linked.iter().map(|linked| memory_json(&linked.scope, &linked.memory)).collect();
    json!({
        "scope": view.scope,
        "name": view.name,
        "visits": view.visits,
        "episodes": view.episodes,
        "memories": memories,
        "linked": linked,
        "tried": view.tried,
        "memories_left_out": view.memories_left_out,
        "tried_left_out": view.tried_left_out,
    })
}

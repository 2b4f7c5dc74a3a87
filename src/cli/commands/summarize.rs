//! `summarize`: a model summarizes a place in two or three sentences.

use serde_json::json;

use crate::ask::summary::summarize;
use crate::cli::commands::common::{counted, hint_at_near_sections};
use crate::cli::commands::model_args::{ModelArgs, no_model};
use crate::cli::commands::viewer_args::ViewerArgs;
use crate::cli::context::Cli;
use crate::cli::facts::{Facts, Group};
use crate::cli::failure::Failure;
use memories_document::Section;
use memories_document::types::{Scope, did_you_mean};
use memories_notebook::Snapshot;
use memories_recall::{RecallError, owned_sections};

/// Let a model summarize a place in two or three sentences
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A summary that is not based on memories that the model was shown is rejected. If
no model is set up the exit code is 4, if it cannot be reached 3: `memories
recall` shows what is known without a model.

Examples:
  memories summarize 23
  memories summarize 'Living Room' --provider ollama --model qwen3:8b
  memories summarize npc:troll --json

With --json: {version, scope, name, summary, titles, memory_count, left_out,
model, warnings}: titles are those that the summary is based on, memory_count
counts the live ones, left_out those that the model was not shown. summary is
null if nothing is known.")]
pub(crate) struct SummarizeArgs {
    /// An id, `npc:ID`, `agent:ID`, `dir:PATH`, `topic:ID`, `world`, `scene`, `dialogue`, or a place's name
    #[arg(value_name = "SCOPE", allow_negative_numbers = true)]
    scope: String,
    #[command(flatten)]
    model: ModelArgs,
    #[command(flatten)]
    viewer: ViewerArgs,
}

/// The facts about this command.
pub(crate) const FACTS: Facts = Facts { asks: true, ..Facts::of(Group::Look) };

pub fn run(mut cli: Cli<'_>, args: SummarizeArgs) -> Result<u8, Failure> {
    let SummarizeArgs { scope: named, model, viewer } = args;
    viewer.read_for(&mut cli);
    let store = cli.store()?;
    let names = [cli.settings.working_folder.scope_name(&named)?.existing()];
    let snapshot = Snapshot::read(&store)?;
    let (scope, section) = match owned_sections(&snapshot, &names) {
        Ok(mut found) => {
            found.pop().map_or((None, Section::default()), |(scope, section)| (Some(scope), section))
        }
        // An unknown place is treated as one without memories.
        Err(RecallError::UnknownName { nearest, .. }) => {
            if let Some(hint) = did_you_mean(&nearest) {
                cli.ui.hint(&hint);
            }
            (None, Section::default())
        }
        Err(error) => return Err(error.into()),
    };
    let name = if section.name.is_empty() { named.trim() } else { section.name.as_str() }.to_owned();
    let live = section.live().count();
    let Some(scope) = scope.clone().filter(|_| live > 0) else {
        hint_at_near_sections(cli.ui, &snapshot, &scope);
        return show_nothing_known(cli, scope.as_ref(), &name);
    };
    let instead = format!("`memories recall {scope}` shows what is known without a model");
    let Some(model) = model.choose(&mut cli)?.model else { return Err(no_model(&instead)) };
    let summary = summarize(&*model, &scope, &section, cli.settings.llm.max_memory_tokens)
        .map_err(|error| Failure::from(error).hint(&instead))?;
    cli.ui.warnings(&summary.warnings);
    if cli.ui.json {
        return cli.ui.json_answer(&json!({
            "scope": scope, "name": section.name, "summary": summary.text,
            "titles": summary.titles, "memory_count": live, "left_out": summary.left_out,
            "model": summary.model, "warnings": summary.warnings,
        }));
    }
    if summary.left_out > 0 {
        let left_out = counted(summary.left_out, "memory was", "memories were");
        cli.ui.notice(&format!("{left_out} not shown to the model: the least important"));
    }
    match &summary.text {
        Some(text) => cli.ui.data(&format!("{text}\n"))?,
        None => {
            let memories = counted(live, "memory", "memories");
            cli.ui.data(&format!("The model found nothing to summarize in the {memories} of {name}.\n"))?;
            cli.ui.hint(&instead);
        }
    }
    Ok(0)
}

fn show_nothing_known(cli: Cli<'_>, scope: Option<&Scope>, name: &str) -> Result<u8, Failure> {
    let json = json!({
        "scope": scope, "name": name, "summary": null, "titles": [], "memory_count": 0, "left_out": 0,
        "model": null, "warnings": [],
    });
    let why = "Either you haven't been there or nothing important was noted.";
    cli.ui.answer(&json, &format!("No memories recorded for '{name}'. {why}\n"))
}

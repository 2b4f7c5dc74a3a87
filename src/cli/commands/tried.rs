//! `tried`: looks up an action in the tried actions of a place; the exit code is the answer.

use serde_json::json;

use crate::cli::commands::common::parse_scopes;
use crate::cli::context::Cli;
use crate::cli::failure::Failure;
use crate::document::text::stored_line;
use crate::recall::{Evidence, read_scopes};

/// Ask whether an action has been tried in vain at a place
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  memories tried 64 take mailbox
  memories tried 64 'take mailbox' > /dev/null || play 'take mailbox'

Exit code 0: yes, it changed nothing; 1: no. An action whose effect is unknown,
because the turn did not say `world_changed`, is a no with the evidence, so that it
is not kept from being played.
With --json: {version, tried, scope, action, memories, count, episode, turn,
reply, effect_unknown}. Memories are those that name the action in title or text.")]
pub(crate) struct TriedArgs {
    /// The place
    #[arg(value_name = "ID", allow_negative_numbers = true)]
    place: String,
    /// The action; several words are one action
    #[arg(required = true, value_name = "ACTION")]
    action: Vec<String>,
}

pub fn run(cli: Cli<'_>, args: TriedArgs) -> Result<u8, Failure> {
    let TriedArgs { place, action } = args;
    let action = stored_line(&action.join(" "));
    if action.is_empty() {
        return Err(
            Failure::usage("the action is empty").hint("name the action: `memories tried 64 take mailbox`")
        );
    }
    let (scope, section) = read_scopes(&cli.store()?, &parse_scopes(&[place])?)?.remove(0);
    let evidence = Evidence::of(&section, &action);
    let tried = evidence.in_vain();
    if cli.ui.json {
        let mut value = json!({
            "tried": tried, "scope": scope, "action": action, "memories": evidence.memories,
        });
        if let Some(attempt) = &evidence.attempt {
            value["count"] = json!(attempt.count);
            value["episode"] = json!(attempt.episode);
            value["turn"] = json!(attempt.turn);
            value["reply"] = json!(attempt.reply);
            value["effect_unknown"] = json!(attempt.effect_unknown);
        }
        cli.ui.json_answer(&value)?;
    } else {
        cli.ui.data(&evidence.render(&scope.label(&section.name)))?;
    }
    Ok(u8::from(!tried))
}

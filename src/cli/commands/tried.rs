//! `tried`: has this been tried here?

use serde_json::json;

use crate::cli::Cli;
use crate::cli::commands::{counted, parse_scopes, scope_label};
use crate::cli::failure::Failure;
use crate::document::text::stored_line;
use crate::memory::{fold_action, fold_title};
use crate::recall::read_scopes;

/// Ask whether an action has been tried at a place, and what came of it
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  memories tried 64 take mailbox
  memories tried 64 'take mailbox' > /dev/null || play 'take mailbox'

Exit code 0: yes, with the evidence; 1: no.
With --json: {version, tried, scope, action, memories, count, episode, turn,
reply}. Memories are those that name the action in title or text.")]
pub struct TriedArgs {
    /// The place
    #[arg(value_name = "ID", allow_negative_numbers = true)]
    place: String,
    /// The action; several words are one action
    #[arg(required = true, value_name = "ACTION")]
    action: Vec<String>,
}

pub(in crate::cli) fn run(cli: Cli<'_>, args: TriedArgs) -> Result<u8, Failure> {
    let TriedArgs { place, action } = args;
    let action = stored_line(&action.join(" "));
    if action.is_empty() {
        return Err(
            Failure::usage("the action is empty").hint("name the action: `memories tried 64 take mailbox`")
        );
    }
    let (scope, section) = read_scopes(&cli.store()?, &parse_scopes(&[place])?)?.remove(0);
    let folded = fold_action(&action);
    let attempt = section.tried.iter().find(|attempt| fold_action(&attempt.action) == folded);
    let names_it = |text: &str| fold_title(&stored_line(text)).contains(&folded);
    let memories: Vec<&str> = section
        .live()
        .filter(|memory| names_it(&memory.title) || names_it(&memory.text))
        .map(|memory| memory.title.as_str())
        .collect();
    let tried = attempt.is_some();
    if cli.ui.json {
        let mut value = json!({
            "version": 1, "tried": tried, "scope": scope, "action": action, "memories": memories,
        });
        if let Some(attempt) = attempt {
            value["count"] = json!(attempt.count);
            value["episode"] = json!(attempt.episode);
            value["turn"] = json!(attempt.turn);
            value["reply"] = json!(attempt.reply);
        }
        cli.ui.json_line(&value)?;
        return Ok(u8::from(!tried));
    }
    let place = scope_label(&scope, &section.name);
    match attempt {
        None => cli.ui.data(&format!("no: \"{action}\" is not among what was tried in vain at {place}\n"))?,
        Some(attempt) => {
            let last: Vec<String> = [("Ep", attempt.episode), ("T", attempt.turn)]
                .iter()
                .filter_map(|(mark, number)| number.map(|number| format!("{mark}{number}")))
                .collect();
            let last = if last.is_empty() { String::new() } else { format!(", last at {}", last.join(" ")) };
            let reply = if attempt.reply.is_empty() { String::new() } else { format!(": {}", attempt.reply) };
            let times = counted(attempt.count, "time", "times");
            cli.ui.data(&format!("yes: \"{}\" {times} at {place}{last}{reply}\n", attempt.action))?;
        }
    }
    for title in memories {
        cli.ui.data(&format!("see: \"{title}\"\n"))?;
    }
    Ok(u8::from(!tried))
}

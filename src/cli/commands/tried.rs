//! `tried`: looks up an action in the tried actions of a place; the exit code is the answer.

use crate::cli::commands::common::{items, parse_scopes};
use crate::cli::context::Cli;
use crate::cli::failure::Failure;
use crate::document::text::stored_line;
use crate::notebook::MemoryObjects;
use crate::recall::{Circumstances, Evidence, json, owned_sections, read};
use crate::types::{Scope, ScopeName, Viewer};

/// Ask whether an action has been tried in vain at a place
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  memories tried 64 take mailbox
  memories tried 64 'take mailbox' > /dev/null || play 'take mailbox'
  memories tried 22 down --inventory 'brass lantern,sword'

The verdict, and the exit code:
  in_vain              0  it failed here, and nothing is carried now that was
                          lacking then; or all that was tried here gets this
                          reply; or the game does not understand it: leave it
  other_circumstances  1  it failed, but something carried now was lacking then
  worked               1  it has changed something here, or led elsewhere
  unknown_effect       1  it was done, but nobody said whether it changed
                          something; the reply is shown
  no                   1  it was never done here

The player carries now what the last recorded turn of the running episode left,
or --inventory. With --json: {version, verdict, scope, action, memories, count,
episode, turn, reply, lacking, worked_at, leads_to}. `episode`, `turn` and
`reply` are those of the last try; `memories` are those that name the action in
title or text.")]
pub(crate) struct TriedArgs {
    /// The place
    #[arg(value_name = "ID", allow_negative_numbers = true)]
    place: String,
    /// The action; several words are one action
    #[arg(required = true, value_name = "ACTION")]
    action: Vec<String>,
    /// Items carried now, separated by commas; empty for none
    #[arg(long, value_name = "ITEMS", value_delimiter = ',')]
    inventory: Option<Vec<String>>,
}

pub fn run(cli: Cli<'_>, args: TriedArgs) -> Result<u8, Failure> {
    let TriedArgs { place, action, inventory } = args;
    let action = stored_line(&action.join(" "));
    if action.is_empty() {
        return Err(
            Failure::usage("the action is empty").hint("name the action: `memories tried 64 take mailbox`")
        );
    }
    let mut names = parse_scopes(&cli.settings.working_folder, &[place])?;
    names.push(ScopeName::Scope(Scope::Game));
    let notebook = cli.notebook()?;
    let snapshot = read(notebook.store(), &names)?;
    let sections = owned_sections(&snapshot, &Viewer::Person, &names)?;
    let ((scope, section), (_, game)) = (&sections[0], &sections[sections.len() - 1]);
    let mut circumstances = Circumstances::of(game, notebook.state().episode);
    if let Some(items) = items(inventory) {
        circumstances = circumstances.carrying(items);
    }
    let evidence = Evidence::of(section, &circumstances, &action);
    if cli.ui.json {
        cli.ui.json_answer(&json::tried(&MemoryObjects::of(&snapshot), (scope, section), &evidence))?;
    } else {
        let answer = if evidence.in_vain() { "yes" } else { "no" };
        cli.ui.data(&evidence.render(answer, &scope.label(&section.name)))?;
    }
    Ok(u8::from(!evidence.in_vain()))
}

//! `tried`: looks up an action in the tried actions of a place, or a command in a folder; the exit code is the answer.

#[cfg(not(feature = "agents"))]
use crate::cli::commands::absent;
use crate::cli::commands::viewer_args::ViewerArgs;
use crate::cli::context::Cli;
use crate::cli::facts::{Candidates, Facts, Group};
use crate::cli::failure::Failure;
use memories_document::text::stored_line;
use memories_document::types::{FolderPath, Scope, ScopeName};
use memories_notebook::{MemoryObjects, Snapshot};
use memories_recall::{Circumstances, Evidence, json, owned_sections};

/// Ask whether an action has been tried in vain at a place
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  memories tried 64 take mailbox
  memories tried 64 'take mailbox' > /dev/null || play 'take mailbox'
  memories tried dir:. npm test

The verdict, and the exit code:
  in_vain         0  the game refused it here, nothing happened, or it killed;
                     or something was in the way in this episode, and nothing
                     that could matter happened since (`blocked`); or the game
                     does not understand it: leave it
  seen            0  it only looks, and this is what it showed
  may_be_tried    1  something was in the way, or it looked; `since` says what
                     happened since
  worked          1  it has changed something here, or led elsewhere
  unknown_effect  1  it was done, and nobody knows whether it changed
                     something; the reply is shown
  no              1  it was never done here

In a folder of a repository (dir:PATH) the action is a command. What failed
there is in vain as long as nothing changes: no file, commit or variable that
it depends on. `changed` says that a file which the failure names has changed.

Articles, end marks, case and verbs that every parser treats alike (get and
take, x and examine) make no difference. With --json: {version, verdict, scope,
action, memories, count, episode, turn, reply, deadly, blocked, since,
worked_at, leads_to}. `episode`, `turn` and `reply` are those of the last try;
`memories` are those that name the action in title or text. Of a command:
{count, reply, changed: [TEXT], instead}.")]
pub(crate) struct TriedArgs {
    /// The place, or the folder
    #[arg(value_name = "ID", allow_negative_numbers = true)]
    place: String,
    /// The action; several words are one action
    #[arg(required = true, value_name = "ACTION")]
    action: Vec<String>,
    /// Accepted from callers that still name what is carried; says that it is not used
    #[arg(long, value_name = "ITEMS", hide = true)]
    inventory: Option<String>,
    #[command(flatten)]
    viewer: ViewerArgs,
}

/// The facts about this command.
pub(crate) const FACTS: Facts =
    Facts { completes: &[("ID", Candidates::Places)], ..Facts::of_question(Group::Turn) };

pub fn run(mut cli: Cli<'_>, args: TriedArgs) -> Result<u8, Failure> {
    let TriedArgs { place, action, inventory, viewer } = args;
    viewer.read_for(&mut cli);
    let action = stored_line(&action.join(" "));
    let mut names = cli.scope_names(&[place])?;
    if let [ScopeName::Scope(Scope::Folder(folder))] = &names[..] {
        return run_command(cli, folder, &action);
    }
    names.push(ScopeName::Scope(Scope::Game));
    let notebook = cli.notebook()?;
    let snapshot = Snapshot::read(notebook.store())?;
    let sections = owned_sections(&snapshot, &names)?;
    let ((scope, section), (_, game)) = (&sections[0], &sections[sections.len() - 1]);
    if inventory.is_some() {
        cli.ui.warning(
            "`--inventory` is not used: the verdict is what the game replied and what happened since",
        );
    }
    let circumstances = Circumstances::of(game, notebook.state().episode, snapshot.text());
    let evidence = Evidence::of(section, &circumstances, &action);
    if cli.ui.json {
        cli.ui.json_answer(&json::tried(&MemoryObjects::of(&snapshot), scope, section, &evidence))?;
    } else {
        let answer = if evidence.in_vain() { "yes" } else { "no" };
        cli.ui.data(&evidence.render(answer, &scope.label(&section.name)))?;
    }
    Ok(u8::from(!evidence.in_vain()))
}

#[cfg(not(feature = "agents"))]
fn run_command(_: Cli<'_>, _: &FolderPath, _: &str) -> Result<u8, Failure> {
    Err(absent::failure("tried dir:PATH", "agents"))
}

/// Answers about a command in a folder of a repository.
#[cfg(feature = "agents")]
fn run_command(cli: Cli<'_>, folder: &FolderPath, action: &str) -> Result<u8, Failure> {
    use serde_json::json;

    use crate::cli::machine;
    use crate::cli::settings::{milliseconds_now, tools_environment};
    use memories_agents::work::verdict::Verdict;
    use memories_agents::work::{Shell, Work};
    use memories_document::types::model_text::ModelText;

    let (notebook, files) = (cli.notebook()?, cli.anchored()?);
    let root = cli.settings.working_folder.root().to_owned();
    let here = root.join(folder.to_path());
    let machine = machine::name(cli.settings.user_folder.as_deref(), notebook.store());
    let work = Work {
        shell: Shell::Posix,
        store: notebook.store(),
        root: &root,
        here: &here,
        session: "",
        now: milliseconds_now(),
        environment: tools_environment(),
        machine: &machine,
        files: Some(&*files),
    };
    let Some(known) = work.known(action)? else {
        return Err(Failure::user("the command changes to a folder outside of the repository")
            .hint("leave out its `cd`, and name the folder: `memories tried dir:PATH COMMAND`"));
    };
    let verdict = &known.verdict;
    let is_in_vain = matches!(verdict, Verdict::InVain(_));
    if cli.ui.json {
        let mut answer = json!({
            "verdict": verdict.name(), "scope": known.scope, "action": action, "memories": known.memories,
        });
        if let Some(failure) = verdict.failure() {
            answer["count"] = json!(failure.count);
            answer["reply"] = json!(failure.reply);
            answer["changed"] = json!(verdict.changed());
            if let Some(instead) = &failure.instead {
                answer["instead"] = json!(instead);
            }
        }
        cli.ui.json_answer(&answer)?;
    } else {
        let answer = if is_in_vain { "yes" } else { "no" };
        let text = known.text().unwrap_or_else(|| match verdict {
            Verdict::Worked => ModelText::of("it worked here the last time\n"),
            Verdict::Changed => {
                ModelText::of("it failed here, and a file that the failure names has changed since\n")
            }
            Verdict::UnknownEffect => ModelText::of("it was run here, and nobody knows how that ended\n"),
            _ => ModelText::of(&format!("\"{action}\" is not among what was tried at {}\n", known.scope)),
        });
        cli.ui.data(&format!("{answer}: {text}"))?;
    }
    Ok(u8::from(!is_in_vain))
}

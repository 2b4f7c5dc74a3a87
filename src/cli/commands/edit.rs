//! `edit`: opens a section in the person's editor, and stores the changes.

use std::path::PathBuf;
use std::process::Command;

use serde_json::json;

use crate::cli::commands::check::problem_json;
use crate::cli::commands::common::{counted, no_section};
use crate::cli::context::Cli;
use crate::cli::facts::{Facts, Group};
use crate::cli::failure::Failure;
use memories_document::scan::BYTE_ORDER_MARK;
use memories_document::types::Scope;
use memories_notebook::Notebook;
use memories_store::WorkingCopy;

/// Open a section in your editor
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The editor is VISUAL, else EDITOR, else vi. It gets a copy of the section, and
other programs may write meanwhile. When it ends, the section is replaced, as
your words; `memories restore` undoes it. Where another program changed the same
section meanwhile, nothing is replaced, and your copy stays.

Examples:
  memories edit 23
  memories edit 'Living Room'
  EDITOR='code --wait' memories edit npc:marta

With --json: {version, scope, file, changed, problems}, problems as in `check`.")]
pub(crate) struct EditArgs {
    /// An id, `npc:ID`, `agent:ID`, `dir:PATH`, `topic:ID`, `world`, `scene`, `dialogue`, `game`, or a place's name
    #[arg(value_name = "SCOPE", allow_negative_numbers = true)]
    scope: String,
}

/// The facts about this command.
pub(crate) const FACTS: Facts = Facts::of(Group::Correct);

pub fn run(mut cli: Cli<'_>, args: EditArgs) -> Result<u8, Failure> {
    let EditArgs { scope } = args;
    let notebook = cli.notebook()?;
    let scope = cli.scope(&scope)?;
    let (old, memories) = section(&notebook, &scope)?;
    let shown = old.trim_start_matches(BYTE_ORDER_MARK);
    let left = notebook.store().tidy_working_copies(&memories)?;
    let copy = notebook.store().working_copy(shown)?;
    if let Err(failure) = open(&cli.settings.editor, &copy) {
        return Err(kept(copy, shown, failure));
    }
    let new = match copy.read() {
        Ok(new) => new,
        Err(error) => return Err(kept(copy, shown, error.into())),
    };
    let mark = &old[..old.len() - shown.len()];
    let whole = format!("{mark}{new}");
    let edited = if whole == old {
        Ok((Vec::new(), false))
    } else {
        cli.edit(&notebook, "edit", false, |draft| Ok(draft.replace_section(&scope, &old, &whole)?))
    };
    let (problems, written) = match edited {
        Ok(edited) => edited,
        Err(failure) => return Err(kept(copy, shown, failure)),
    };
    let file = notebook.store().path().display().to_string();
    for problem in &problems {
        cli.ui.warning(&format!(
            "{file}:{}:{}: {}; {}",
            problem.line,
            problem.column,
            problem.kind,
            problem.hint()
        ));
    }
    tell_left(&mut cli, &left);
    let problems: Vec<_> = problems.iter().map(|problem| problem_json(&file, problem)).collect();
    let text = if written {
        format!("replaced the section of {scope} in {file}\n")
    } else {
        format!("nothing was changed in the section of {scope}\n")
    };
    let json = json!({"scope": scope, "file": file, "changed": written, "problems": problems});
    cli.ui.answer(&json, &text)
}

/// Names the copy of an earlier edit that was changed last.
fn tell_left(cli: &mut Cli<'_>, left: &[PathBuf]) {
    let Some(last) = left.first() else { return };
    let of_all = if left.len() > 1 { format!(", the last of {}", left.len()) } else { String::new() };
    let text = "words of an earlier edit that were not stored are kept in";
    cli.ui.warning(&format!("{text} `{}`{of_all}; delete what you do not need", last.display()));
}

/// The text of the one section of a scope, and that of the whole file.
fn section(notebook: &Notebook, scope: &Scope) -> Result<(String, String), Failure> {
    let files = notebook.read()?;
    let texts: Vec<&str> = files.lasting.section_texts(scope).collect();
    match texts[..] {
        [] => Err(no_section(scope, files.lasting.headings().map(|heading| &heading.scope))),
        [text] => Ok((text.to_owned(), files.lasting.clone().into_text()?)),
        _ => {
            let sections = counted(texts.len() as u64, "section", "sections");
            let failure = Failure::user(format!("there are {sections} of {scope}"));
            Err(failure.hint("make them one in the memory file; `memories check` shows their lines"))
        }
    }
}

/// Lets the person edit the copy, until the editor ends.
fn open(editor: &str, copy: &WorkingCopy) -> Result<(), Failure> {
    let words = shlex::split(editor).unwrap_or_default();
    let (program, arguments) = words.split_first().ok_or_else(|| {
        Failure::user(format!("`{editor}` names no editor")).hint("set EDITOR, such as `EDITOR=nano`")
    })?;
    let ended = Command::new(program).args(arguments).arg(copy.path()).status();
    let ended = ended.map_err(|error| {
        Failure::user(format!("cannot run the editor `{program}`: {error}"))
            .hint("set EDITOR to yours, such as `EDITOR=nano`")
    })?;
    if !ended.success() {
        return Err(Failure::user(format!("the editor `{program}` failed: {ended}"))
            .hint("nothing was replaced; edit the section again"));
    }
    Ok(())
}

/// The failure, and where the person's words are, if there are any.
fn kept(copy: WorkingCopy, shown: &str, failure: Failure) -> Failure {
    match copy.read() {
        Ok(text) if text == shown => failure,
        _ => failure.hint(format!("your text is kept in `{}`", copy.keep().display())),
    }
}

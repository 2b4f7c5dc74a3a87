//! `export`: writes the memory file in the format of other programs.

use std::path::{Path, PathBuf};

use serde_json::json;

use crate::cli::commands::common::{counted, no_section, read_existing};
#[cfg(feature = "formats")]
use crate::cli::commands::export_foreign::ForeignExport;
use crate::cli::commands::export_format::{ExportFormat, ForeignTarget, TARGETS};
use crate::cli::commands::viewer_args::ViewerArgs;
use crate::cli::context::Cli;
use crate::cli::facts::{Candidates, Facts, Group};
use crate::cli::failure::Failure;
use crate::transfer::{self, TransferFormat};
use memories_document::Section;
use memories_document::types::{Memory, Scope, by_file_ending};
use memories_notebook::Notebook;
use memories_notebook::files::Files;
use memories_store::{Existing, Store, write_file};

/// Write memories as JSON, SQLite or Markdown, or for other programs
#[derive(Debug, clap::Args)]
#[command(after_help = "\
All entries are exported, struck and ephemeral ones too, with all their fields,
and so are names, visits and tried actions of places. Text that people wrote
around them is not. `memories import` restores everything that was exported.

world-info, obsidian, agents-md and codex are what other programs read, without
what is struck and without secrets. An export to the same FILE brings it up to
date: what others wrote there stays byte for byte, and so does a note that was
changed by hand.

Examples:
  memories export memories.jsonl
  memories export memories.db --force       replace an existing file
  memories export --scope 23 --scope world | jq .title
  memories export --live --format markdown shared.txt
  memories export --format world-info worlds/River.json
  memories export --format obsidian ~/vault/River
  memories export --format agents-md AGENTS.md
  memories export --format codex ~/.codex/memories_extensions/memories

JSONL: a line for each place, {scope, name, visits, episodes, tried}, and for
each memory, {scope, category, title, text, persistence, status, context,
see_also, reference, fields}. JSON: {version, sections: [{…, memories}]}.
SQLite: the tables `memories`, `places`, `tried`; see
`docs/guide/import-export.md`.
With --json: {version, format, file, section_count, memory_count, tried_count},
for other programs' formats {…, section_count, written_count, kept}; for stdout
it means `--format json`.")]
pub(crate) struct ExportArgs {
    /// The file or folder to write; `-` is stdout
    #[arg(value_name = "FILE", default_value = "-", hide_default_value = true)]
    output: PathBuf,
    /// json, jsonl, sqlite, markdown, world-info, obsidian, agents-md or codex [default: by the ending of FILE, else
    /// jsonl]
    #[arg(long, value_name = "FORMAT")]
    format: Option<ExportFormat>,
    /// Only this scope or the place of this name; repeatable
    #[arg(long = "scope", value_name = "SCOPE", allow_negative_numbers = true)]
    scopes: Vec<String>,
    /// Leave out what is superseded or invalidated
    #[arg(long)]
    live: bool,
    /// Replace an existing file
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    viewer: ViewerArgs,
}

/// The given format, else the one of the file name's extension.
pub(super) fn format_of(path: &Path, given: Option<TransferFormat>) -> Result<TransferFormat, Failure> {
    let guessed = if path == Path::new("-") { Some(TransferFormat::Jsonl) } else { by_file_ending(path) };
    given.or(guessed).ok_or_else(|| {
        let failure = Failure::usage(format!("the name `{}` has no known ending", path.display()));
        failure.hint("give the format with `--format`: json, jsonl, sqlite or markdown")
    })
}

/// The facts about this command.
pub(crate) const FACTS: Facts = Facts {
    reads: true,
    completes: &[("FORMAT", Candidates::Values(TARGETS))],
    ..Facts::of(Group::Exchange)
};

pub fn run(mut cli: Cli<'_>, args: ExportArgs) -> Result<u8, Failure> {
    let ExportArgs { output, format, scopes, live, force, viewer } = args;
    viewer.read_for(&mut cli);
    let to_stdout = output == Path::new("-");
    let format = match format {
        Some(ExportFormat::Foreign(target)) => return run_foreign(cli, &output, target, &scopes),
        Some(ExportFormat::Own(format)) => format,
        // With stdout as the target, `--json` chooses the format.
        None if to_stdout && cli.ui.json => TransferFormat::Json,
        None => format_of(&output, None)?,
    };
    let notebook = cli.notebook()?;
    let store = notebook.store();
    let target = if to_stdout {
        None
    } else {
        Some(Store::open(&output, cli.settings.lock_timeout)?.real_path().to_owned())
    };
    if let Some(target) = target.as_deref().filter(|target| store.owns(target)) {
        let what = if target == store.real_path() {
            "is the memory file itself"
        } else {
            "belongs to the memory file: it is a former state or its history"
        };
        let failure = Failure::user(format!("`{}` {what}", output.display()));
        return Err(failure.hint("export to another file"));
    }
    let wanted = wanted(&cli, &scopes)?;
    let (sections, free_lines) = sections(&notebook, &wanted, live)?;
    let bytes = transfer::write(&sections, format)?;
    let existing = if force { Existing::Replace } else { Existing::Keep };
    match &target {
        None => cli.ui.bytes(&bytes)?,
        Some(path) if write_file(path, &bytes, existing)? => {}
        Some(_) => {
            let failure = Failure::user(format!("`{}` already exists", output.display()));
            return Err(failure.hint("`--force` replaces it"));
        }
    }
    if target.is_some() {
        report(&mut cli, &output, format, &sections)?;
    }
    if free_lines > 0 && wanted.is_empty() {
        let lines = counted(free_lines, "line", "lines");
        cli.ui.notice(&format!("{lines} outside of entries not exported"));
    }
    Ok(0)
}

fn wanted(cli: &Cli<'_>, scopes: &[String]) -> Result<Vec<Scope>, Failure> {
    scopes.iter().map(|name| cli.scope(name)).collect()
}

#[cfg(feature = "formats")]
fn run_foreign(
    mut cli: Cli<'_>,
    output: &Path,
    target: ForeignTarget,
    scopes: &[String],
) -> Result<u8, Failure> {
    let notebook = cli.notebook()?;
    let wanted = wanted(&cli, scopes)?;
    let (mut sections, _) = sections(&notebook, &wanted, true)?;
    transfer::mask_sections(&mut sections);
    if target != ForeignTarget::Obsidian
        && *notebook.store().viewer() == memories_document::types::Viewer::Person
    {
        leave_out_witnessed(&mut cli, &mut sections);
    }
    let export = ForeignExport { output, target, sections: &sections, is_whole: wanted.is_empty() };
    export.run(&mut cli, notebook.store())
}

/// Leaves out the entries and actions that only some know, and names them: whoever reads the file may not be among these.
#[cfg(feature = "formats")]
fn leave_out_witnessed(cli: &mut Cli<'_>, sections: &mut [(Scope, Section)]) {
    let mut left_out = false;
    for (scope, section) in sections {
        let lines = |section: &Section| {
            section.tried.len() + section.worked.len() + section.seen.len() + section.ways.len()
        };
        let before = lines(section);
        section.keep_known(scope, |witnesses| witnesses.is_everybody());
        if lines(section) < before {
            let number = counted(before - lines(section), "action", "actions");
            cli.ui.warning(&format!("{number} in {scope} with witnesses left out"));
            left_out = true;
        }
        section.memories.retain(|memory| {
            let is_limited = !memory.provenance.witnesses().is_everybody();
            if is_limited {
                cli.ui.warning(&format!("\"{}\" in {scope} has witnesses and is left out", memory.title));
            }
            left_out |= is_limited;
            !is_limited
        });
    }
    if left_out {
        cli.ui.hint("`--as ID` exports what one of the witnesses knows");
    }
}

#[cfg(not(feature = "formats"))]
fn run_foreign(_: Cli<'_>, _: &Path, target: ForeignTarget, _: &[String]) -> Result<u8, Failure> {
    Err(Failure::user(format!("this build does not write {target}")).hint("build with the feature `formats`"))
}

/// The wanted sections in the order of the file, and the number of free lines, which are not exported.
fn sections(
    notebook: &Notebook,
    wanted: &[Scope],
    live: bool,
) -> Result<(Vec<(Scope, Section)>, usize), Failure> {
    read_existing(notebook.store())?;
    let Files { lasting, session, .. } = notebook.read_without_sidecar()?;
    let mut sections = lasting.sections();
    for (scope, of_session) in session.sections() {
        let at = sections.iter().position(|(other, _)| *other == scope).unwrap_or_else(|| {
            sections.push((scope, Section::default()));
            sections.len() - 1
        });
        sections[at].1.add_session(of_session);
    }
    sections.retain(|(scope, _)| wanted.is_empty() || wanted.contains(scope));
    if let Some(missing) = wanted.iter().find(|scope| !sections.iter().any(|(other, _)| other == *scope)) {
        return Err(no_section(missing, lasting.headings().map(|heading| &heading.scope)));
    }
    if live {
        sections.iter_mut().for_each(|(_, section)| section.memories.retain(Memory::is_live));
    }
    Ok((sections, lasting.count_free_lines()))
}

fn report(
    cli: &mut Cli<'_>,
    output: &Path,
    format: TransferFormat,
    sections: &[(Scope, Section)],
) -> Result<u8, Failure> {
    let memories = sections.iter().map(|(_, section)| section.memories.len()).sum::<usize>();
    let tried = sections.iter().map(|(_, section)| section.tried.len()).sum::<usize>();
    let file = output.display().to_string();
    let text = format!(
        "exported {} and {} of {} to {file}\n",
        counted(memories, "memory", "memories"),
        counted(tried, "tried action", "tried actions"),
        counted(sections.len(), "section", "sections"),
    );
    let json = json!({
        "format": format.to_string(), "file": file, "section_count": sections.len(),
        "memory_count": memories, "tried_count": tried,
    });
    cli.ui.answer(&json, &text)
}

//! `import`: stores memories from other programs or from `export`.

use std::fs::File;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use strum::VariantNames as _;

use crate::cli::commands::common::counted;
use crate::cli::commands::export::format_of;
#[cfg(feature = "formats")]
use crate::cli::commands::foreign::{self, Foreign};
use crate::cli::context::Cli;
use crate::cli::facts::{Candidates, Facts, Group};
use crate::cli::failure::{Failure, unreadable};
use crate::cli::ui::progress_bar;
use crate::transfer::merge::{MergeOptions, MergeReport, OnConflict, Unstored, merge};
use crate::transfer::{self, LeftOut, TransferFormat, TransferSource};
use memories_document::types::hint::{Refused, Remedy};
use memories_document::types::{Outcome, Scope};
use memories_store::Store;

/// Import memories from other programs, or from `export`
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Files of `memories export` are restored exactly. In files of other programs a
memory needs only `text` or `content`. `scope` (or `location`) names its place:
an id, a scope, `Name (ID: 15)`, or the name of one place.

A memory that is already there is skipped, so a file may be imported twice. A
duplicate of an older entry is reported and not stored. A title in use for
another text is refused; all other memories are stored in one write, and the
exit code is then 4.

Other programs' own files are found by what they hold, or named by --from:
server-memory, mem0, claude-code (a folder with MEMORY.md), notes (an Obsidian
vault or basic-memory), world-info, character-card (JSON, PNG, CHARX),
ai-dungeon, novelai. Places get new ids, and what names nothing goes to `world`.

What no memory is made of is left out, and counted with the reason: unknown keys
and columns, other tables and lists, lines outside of sections, notes by hand.

Texts that look like a key, token or password are masked, unless --keep-secrets
says that the file is yours.

Examples:
  memories import memories.jsonl
  memories import other.db --dry-run        show what would be done
  memories import other.db --new-places --into world
  memories import Friend.md --on-conflict skip
  memories import ~/.claude/projects/game/memory --dry-run
  memories import Seraphina.png
  jq -c '.notes[]' notes.json | memories import -

With --json: {version, source, format, dry_run, file, stored, revised,
already_there, duplicates: [{at, scope, title, entry}], skipped: [{at, scope,
title, why}], failed: [{at, error}], new_section_count, tried_count,
masked_count, unknown_keys, left_out: [{what, count, why}], warnings}.")]
pub(crate) struct ImportArgs {
    /// The file or folder to read; `-` is stdin
    #[arg(value_name = "FILE")]
    input: PathBuf,
    /// json, jsonl, sqlite or markdown [default: by what FILE holds, else by its ending; stdin is jsonl]
    #[arg(long, value_name = "FORMAT")]
    format: Option<TransferFormat>,
    /// The format of another program, such as server-memory [default: by what FILE holds]
    #[arg(long, value_name = "NAME", conflicts_with = "format")]
    from: Option<String>,
    /// If a title is in use for another text, or struck: refuse, skip, or revise the entry
    #[arg(long, value_name = "WHAT", default_value = "refuse", value_parser = parse_on_conflict)]
    on_conflict: OnConflict,
    /// The scope for memories that name no place
    #[arg(long, value_name = "SCOPE", allow_negative_numbers = true)]
    into: Option<String>,
    /// Give places that have only a name the next free ids
    #[arg(long)]
    new_places: bool,
    /// Store what looks like a secret as it is, with a warning
    #[arg(long)]
    keep_secrets: bool,
    /// Write nothing; show what would be done
    #[arg(long)]
    dry_run: bool,
}

fn parse_on_conflict(word: &str) -> Result<OnConflict, String> {
    match word {
        "refuse" => Ok(OnConflict::Refuse),
        "skip" => Ok(OnConflict::Skip),
        "revise" => Ok(OnConflict::Revise),
        _ => Err("use refuse, skip or revise".to_owned()),
    }
}

/// Limit on lines of one kind that are shown.
const MAX_SHOWN: usize = 10;

/// The facts about this command.
pub(crate) const FACTS: Facts = Facts {
    completes: &[
        ("FORMAT", Candidates::Values(TransferFormat::VARIANTS)),
        ("NAME", Candidates::Values(transfer::FOREIGN)),
        ("WHAT", Candidates::Values(&["refuse", "skip", "revise"])),
    ],
    ..Facts::of(Group::Exchange)
};

pub fn run(mut cli: Cli<'_>, args: ImportArgs) -> Result<u8, Failure> {
    let ImportArgs { input, format, from, on_conflict, into, new_places, keep_secrets, dry_run } = args;
    let notebook = cli.notebook()?;
    let fallback = into.map(|name| cli.scope(&name)).transpose()?;
    let Input { source, format, is_foreign } =
        find(&mut cli, &input, Wanted { format, from: from.as_deref(), keep_secrets })?;
    let new_places = new_places || is_foreign;
    let fallback = fallback.or_else(|| is_foreign.then_some(Scope::World));
    let options = MergeOptions { on_conflict, new_places, fallback, keep_secrets };
    let shows_progress = cli.ui.shows_progress();
    let (report, _) = cli.edit(&notebook, "import", dry_run, |draft| {
        let bar = progress_bar(shows_progress, source.items.len(), "memories");
        let report = merge(&mut draft.files, &source.items, &options, || bar.inc(1));
        bar.finish_and_clear();
        let report = report?;
        if report.stored + report.revised + report.tried + report.new_sections > 0 {
            draft.note_intake(Outcome::Imported, format!("{}: {}", input.display(), counts(&report, &[])));
        }
        Ok(report)
    })?;
    let answer = ImportAnswer { input: &input, format: &format, dry_run, source: &source, report: &report };
    answer.show(&mut cli, notebook.store())?;
    Ok(if report.failed.is_empty() { 0 } else { Remedy::Fix.exit_code() })
}

/// What the command line says of the format.
struct Wanted<'a> {
    format: Option<TransferFormat>,
    from: Option<&'a str>,
    keep_secrets: bool,
}

/// What was read.
struct Input {
    source: TransferSource,
    /// The name of its format.
    format: String,
    /// It is another program's own file.
    is_foreign: bool,
}

const HINT: &str = "give a file that `memories export` or another program wrote";

/// Reads the input in the format that is named, else in that of another program that it is in, else in that of the
/// ending of its name.
fn find(cli: &mut Cli<'_>, input: &Path, wanted: Wanted<'_>) -> Result<Input, Failure> {
    let by_name = format_of(input, wanted.format);
    let is_other =
        |format: &TransferFormat| matches!(format, TransferFormat::Sqlite | TransferFormat::Markdown);
    let own = by_name.as_ref().ok().filter(|format| wanted.format.is_some() || is_other(format)).copied();
    if let Some(format) = own.filter(|_| wanted.from.is_none()) {
        return Ok(Input {
            source: read(cli, input, format)?,
            format: format.to_string(),
            is_foreign: false,
        });
    }
    cli.refuse_terminal(input)?;
    let is_folder = input.is_dir();
    if is_folder && let Some(foreign) = foreign(input, None, &wanted)? {
        return Ok(foreign);
    }
    let is_there = input == Path::new("-") || input.exists();
    let by_name = match by_name {
        Err(failure) if is_folder || !is_there => return Err(failure),
        by_name => by_name,
    };
    let bytes = cli.read_file(input, HINT)?;
    if let Some(foreign) = foreign(input, Some(&bytes), &wanted)? {
        return Ok(foreign);
    }
    let format = by_name?;
    let source = transfer::read(&bytes, format).map_err(|error| named(input, error))?;
    Ok(Input { source, format: format.to_string(), is_foreign: false })
}

/// Reads the file of another program, which has these bytes, or its folder.
#[cfg(feature = "formats")]
fn foreign(input: &Path, bytes: Option<&[u8]>, wanted: &Wanted<'_>) -> Result<Option<Input>, Failure> {
    let Wanted { from, keep_secrets, .. } = *wanted;
    let found = match bytes {
        None => foreign::read_folder(input, from, keep_secrets)?,
        Some(bytes) => foreign::read_bytes(&input.display().to_string(), bytes, from, keep_secrets)?,
    };
    Ok(found.map(|Foreign { source, format }| Input { source, format: format.to_owned(), is_foreign: true }))
}

#[cfg(not(feature = "formats"))]
fn foreign(_: &Path, _: Option<&[u8]>, wanted: &Wanted<'_>) -> Result<Option<Input>, Failure> {
    match wanted.from {
        Some(name) => Err(Failure::user(format!("this build does not read `{name}`"))
            .hint("build with the feature `formats`")),
        None => Ok(None),
    }
}

/// The failure with the name of the input.
fn named(input: &Path, error: Refused) -> Failure {
    let failure = Failure::from(error);
    let is_stdin = input == Path::new("-");
    let name = if is_stdin { "stdin".to_owned() } else { format!("`{}`", input.display()) };
    Failure { cause: failure.cause.context(name), ..failure }
}

fn read(cli: &mut Cli<'_>, input: &Path, format: TransferFormat) -> Result<TransferSource, Failure> {
    cli.refuse_terminal(input)?;
    if format == TransferFormat::Sqlite && input.is_file() {
        // Opened here first because the error is clearer than that of SQLite.
        File::open(input).map_err(|error| unreadable(input, error).hint(HINT))?;
        return transfer::read_database(input).map_err(|error| named(input, error));
    }
    transfer::read(&cli.read_file(input, HINT)?, format).map_err(|error| named(input, error))
}

/// The counts that are not 0, and those in `always`: `3 stored, 1 duplicate`.
fn counts(report: &MergeReport, always: &[&str]) -> String {
    let number = |list: &[Unstored]| list.len() as u64;
    let counts = [
        ("stored", report.stored),
        ("revised", report.revised),
        ("already there", report.already_there),
        ("duplicate", number(&report.duplicates)),
        ("skipped", number(&report.skipped)),
        ("failed", report.failed.len() as u64),
    ];
    let shown = counts.iter().filter(|(name, count)| *count > 0 || always.contains(name));
    shown.map(|(name, count)| format!("{count} {name}")).collect::<Vec<_>>().join(", ")
}

struct ImportAnswer<'a> {
    input: &'a Path,
    format: &'a str,
    dry_run: bool,
    source: &'a TransferSource,
    report: &'a MergeReport,
}

impl ImportAnswer<'_> {
    fn show(&self, cli: &mut Cli<'_>, store: &Store) -> Result<u8, Failure> {
        self.warn(cli);
        if cli.ui.json {
            return cli.ui.json_answer(&self.json(store));
        }
        let MergeReport { failed, duplicates, skipped, .. } = self.report;
        let failed = failed.iter().map(|(at, problem)| format!("{at}: {problem}"));
        show_first(failed, |text| cli.ui.error(text), "the other memories are accepted");
        let duplicates = duplicates.iter().map(|Unstored { at, scope, title, other }| {
            format!("{at}: \"{title}\" is a duplicate of \"{other}\" in {scope}: not stored")
        });
        show_first(duplicates, |text| cli.ui.notice(text), "`--json` lists all");
        let why = |Unstored { at, scope, other, .. }: &Unstored| format!("{at}: {scope}: {other}");
        show_first(skipped.iter().map(why), |text| cli.ui.detail(text), "`--json` lists all");
        let would = if self.dry_run { "would be " } else { "" };
        let path = store.path().display();
        let tried = match self.report.tried {
            0 => String::new(),
            tried => format!("; {}", counted(tried, "tried action", "tried actions")),
        };
        let places = match self.report.new_sections {
            0 => String::new(),
            new => format!(", {}", counted(new, "section is new", "sections are new")),
        };
        let counts = counts(self.report, &["stored"]);
        cli.ui.data(&format!("{would}imported into {path}: {counts}{tried}{places}\n"))?;
        self.hint(cli);
        Ok(0)
    }

    fn warn(&self, cli: &mut Cli<'_>) {
        let left_out = self.source.left_out.iter();
        let left_out =
            left_out.map(|LeftOut { what, count, why }| format!("left out: {what} ({count}): {why}"));
        show_first(left_out, |text| cli.ui.warning(text), "`--json` lists all");
        if self.source.items.is_empty() {
            cli.ui.warning("the source holds no memory and no place");
        }
        let MergeReport { masked, masked_kinds, .. } = self.report;
        if *masked > 0 {
            let texts = counted(*masked, "text", "texts");
            let kinds = masked_kinds.join(", ");
            cli.ui.warning(&format!("{texts} held what looks like a secret, masked: {kinds}"));
            cli.ui.hint("`--keep-secrets` stores such texts as they are");
        }
        let warnings = self.report.warnings.iter().cloned();
        show_first(warnings, |text| cli.ui.warning(text), "`--json` lists all");
    }

    /// Prints hints about refused memories.
    fn hint(&self, cli: &mut Cli<'_>) {
        let failed = |part: &str| self.report.failed.iter().any(|(_, problem)| problem.contains(part));
        if failed("is called `") && failed("already") || failed("is struck here") {
            cli.ui.hint("`--on-conflict revise` replaces these entries, `--on-conflict skip` keeps them");
        }
        if failed("no place is called") {
            cli.ui.hint("`--new-places` gives places known by name alone the next free ids");
        }
        if failed("no place is named") {
            cli.ui.hint("`--into world` stores memories that name no place under `world`");
        }
        if !self.source.left_out.is_empty() && self.source.items.is_empty() {
            cli.ui.hint("in a memory file, `**[NOTE] Title**` and a text stand below a heading such as `## World`; `memories add world 'TEXT'` stores a text");
        }
        if !self.report.failed.is_empty() && !self.dry_run {
            cli.ui.hint("correct these memories and import the file again; the others are not stored twice");
        }
    }

    fn json(&self, store: &Store) -> Value {
        let report = self.report;
        let unstored = |list: &[Unstored], key: &str| -> Value {
            let object = |item: &Unstored| {
                let Unstored { at, scope, title, other } = item;
                json!({"at": at.to_string(), "scope": scope, "title": title, key: other})
            };
            list.iter().map(object).collect()
        };
        let failed: Value = report
            .failed
            .iter()
            .map(|(at, problem)| json!({"at": at.to_string(), "error": problem}))
            .collect();
        json!({
            "source": self.input.display().to_string(), "format": self.format,
            "dry_run": self.dry_run, "file": store.path().display().to_string(), "stored": report.stored,
            "revised": report.revised, "already_there": report.already_there,
            "duplicates": unstored(&report.duplicates, "entry"), "skipped": unstored(&report.skipped, "why"),
            "failed": failed, "new_section_count": report.new_sections, "tried_count": report.tried,
            "masked_count": report.masked,
            "unknown_keys": self.source.unknown, "left_out": self.source.left_out, "warnings": report.warnings,
        })
    }
}

/// Shows the first lines of a list, and how many more there are.
fn show_first(mut lines: impl Iterator<Item = String>, mut print: impl FnMut(&str), more_hint: &str) {
    lines.by_ref().take(MAX_SHOWN).for_each(|line| print(&line));
    match lines.count() {
        0 => {}
        more => print(&format!("{more} more like these; {more_hint}")),
    }
}

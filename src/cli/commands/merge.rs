//! `merge`: merges two files that grew from one, by the meaning of their lines.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::cli::commands::merge_install::{self, Install};
use crate::cli::commands::merge_octopus;
use crate::cli::commands::merge_resolve;
use crate::cli::commands::merge_sides::{Names, Sides, conflicts_json, put, side_text, warn_of};
use crate::cli::context::Cli;
use crate::cli::facts::{Facts, Group};
use crate::cli::failure::Failure;
use memories_document::merge::Merged;
use memories_document::types::hint::RESOLVE;
use memories_notebook::Notebook;
use memories_store::{Existing, Store, StoreError, write_file};

/// Merge two files that grew from one, or let git do so
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Entries, actions, ways and visits of both sides are kept, and counts add up. A
conflict is only an entry that both sides worded differently: both versions
stand between markers, and other commands leave out this entry, or refuse to
write, until you remove one.

--resolve is for a conflict that git left where no driver was installed: it
merges the three versions of FILE in git's index, writes the result, and marks
FILE as resolved, as `git add` does, if nothing is left to decide.

--install adds a line to .gitattributes at the root of the repository and writes
merge.memories.* and diff.memories.* to its configuration; with --global both go
to your own files. `git merge`, `git pull`, `git rebase` and `git cherry-pick`
then merge the memory file so, and `git diff` shows memories first. Running it
again changes nothing. Each clone needs it once.

Exit code 0: merged; 1: conflicts are left.

Examples:
  memories merge base.md Memories.md theirs.md
  memories merge base.md ours.md theirs.md -o merged.md
  memories merge base.md ours.md theirs.md -o - -L ours -L base -L theirs
  memories merge --resolve
  memories merge --resolve docs/Memories.md --dry-run
  memories merge --install
  memories merge --install --global

With --json: {version, file, changed, conflicts: [{scope, title, line}],
notices}. With --resolve also {dry_run, operation, ours, theirs, resolved}:
`operation` is merge, rebase, cherry_pick, revert or other; `ours` and `theirs`
are the names in the markers, or null. With --install: {version, dry_run,
written: [{where, line}], kept: [{where, line}], notices}.")]
pub(crate) struct MergeArgs {
    /// The file that both sides grew from
    #[arg(required_unless_present_any = ["install", "octopus", "resolve"], conflicts_with_all = ["install", "octopus"])]
    base: Option<PathBuf>,
    /// One side, which takes the result
    #[arg(required_unless_present_any = ["install", "octopus", "resolve"])]
    ours: Option<PathBuf>,
    /// The other side
    #[arg(required_unless_present_any = ["install", "octopus", "resolve"])]
    theirs: Option<PathBuf>,
    /// Write the result into OUT instead of OURS; `-` is stdout
    #[arg(short, long, value_name = "OUT", conflicts_with_all = ["install", "octopus", "resolve"])]
    output: Option<PathBuf>,
    /// Name of OURS in markers; given again, of BASE, then of THEIRS
    #[arg(short = 'L', value_name = "LABEL", allow_hyphen_values = true)]
    labels: Vec<String>,
    /// Path that messages name instead of the files
    #[arg(long, value_name = "PATH", allow_hyphen_values = true)]
    path: Option<String>,
    /// Let git merge and show the memory file
    #[arg(long)]
    install: bool,
    /// With --install: in all your repositories
    #[arg(long, requires = "install")]
    global: bool,
    /// Resolve the conflict that git left in FILE, by default in the memory file
    #[arg(long, value_name = "FILE", num_args = 0..=1, conflicts_with_all = ["install", "octopus", "base", "labels", "path"])]
    resolve: Option<Option<PathBuf>>,
    /// With --install or --resolve: show what would be written, and write nothing
    #[arg(short = 'n', long, conflicts_with_all = ["base", "octopus"])]
    dry_run: bool,
    /// The arguments of git's merge strategy: `BASES -- HEAD REMOTES`
    #[arg(long, value_name = "COMMITS", hide = true, conflicts_with = "install", allow_hyphen_values = true)]
    octopus: Option<String>,
}

impl MergeArgs {
    /// The file that is merged, if any, whatever the settings of its repository.
    pub(crate) fn own_file(&self) -> Option<&Path> {
        self.ours
            .as_deref()
            .or(self.resolve.as_ref().and_then(Option::as_deref))
            .or(self.octopus.as_ref().map(|_| Path::new("Memories.md")))
    }
}

/// The facts about this command.
pub(crate) const FACTS: Facts = Facts::of(Group::Exchange);

pub fn run(mut cli: Cli<'_>, args: MergeArgs) -> Result<u8, Failure> {
    let MergeArgs { base, ours, theirs, output, labels, path, install, global, resolve, dry_run, octopus } =
        args;
    if install {
        return merge_install::run(&mut cli, Install { global, dry_run });
    }
    if let Some(commits) = octopus {
        return merge_octopus::run(&mut cli, &commits);
    }
    if let Some(file) = resolve {
        let file = file.unwrap_or_else(|| cli.settings.file.clone());
        return merge_resolve::run(&mut cli, &file, dry_run);
    }
    let files = [base, ours, theirs].map(|file| file.expect("clap requires the three files"));
    let [base, ours, theirs] = &files;
    let labels = Names::of(&labels)?;
    let path = path.filter(|path| !path.is_empty() && path != "%P");
    let sides = Sides {
        base: read_side(&cli, base, &path, "base")?,
        ours: read_side(&cli, ours, &path, "ours")?,
        theirs: read_side(&cli, theirs, &path, "theirs")?,
    };
    let target = output.as_ref().unwrap_or(ours);
    let shown = path.unwrap_or_else(|| target.display().to_string());
    let merged = match target {
        target if target == Path::new("-") && cli.ui.json => {
            return Err(Failure::usage("with `--json`, the merged text does not go to stdout")
                .hint("name a file: `-o FILE`, or leave out `--json`"));
        }
        target if target == Path::new("-") => {
            let merged = sides.merge(&labels);
            cli.ui.bytes(merged.text.as_bytes())?;
            merged
        }
        target => write(&mut cli, target, ours, &sides, &labels)?,
    };
    report(&mut cli, &shown, &sides.ours, merged)
}

/// The text of one side in a file.
fn read_side(cli: &Cli<'_>, file: &Path, path: &Option<String>, side: &str) -> Result<String, Failure> {
    let shown = path.as_ref().map_or_else(|| file.to_owned(), |path| format!("{path} ({side})").into());
    let text = Store::open(file, cli.settings.lock_timeout)?.read().map_err(|error| match error {
        StoreError::NotUtf8 { line, column, offset, .. } => {
            StoreError::NotUtf8 { path: shown.clone(), line, column, offset }
        }
        error => error,
    })?;
    let text = text.ok_or_else(|| {
        Failure::user(format!("there is no `{}`", shown.display()))
            .hint("name three files; where both sides began anew, an empty one is the base")
    })?;
    side_text(text, shown, side)
}

/// Merges into a file: in one transaction where it has history, which begins with reading our side again.
fn write(
    cli: &mut Cli<'_>,
    target: &Path,
    ours: &Path,
    sides: &Sides,
    names: &Names,
) -> Result<Merged, Failure> {
    let store = Store::open(target, cli.settings.lock_timeout)?;
    if fs::symlink_metadata(store.folder()).is_err() {
        let merged = sides.merge(names);
        if store.read().ok().flatten().as_ref() != Some(&merged.text) {
            write_file(store.real_path(), merged.text.as_bytes(), Existing::Replace)?;
        }
        return Ok(merged);
    }
    let is_ours = Store::open(ours, cli.settings.lock_timeout)?.real_path() == store.real_path();
    let notebook = Notebook::new(store, cli.settings.clock());
    let (merged, _) = cli.edit(&notebook, "merge", false, |draft| {
        let present = draft.text()?;
        let merged = if is_ours { sides.merge_into(&present, names) } else { sides.merge(names) };
        if merged.text != present {
            put(draft, &present, &merged.text);
        }
        Ok::<_, Failure>(merged)
    })?;
    Ok(merged)
}

/// Says which conflicts are left. The exit code is 1 where there are some.
fn report(cli: &mut Cli<'_>, file: &str, ours: &str, merged: Merged) -> Result<u8, Failure> {
    let Merged { text, conflicts, notices } = merged;
    let code = u8::from(!conflicts.is_empty());
    if cli.ui.json {
        cli.ui.json_answer(&json!({
            "file": file, "changed": text != ours, "conflicts": conflicts_json(&conflicts), "notices": notices,
        }))?;
        return Ok(code);
    }
    cli.ui.notices(&notices);
    warn_of(cli, file, &conflicts);
    if code != 0 {
        cli.ui.hint(RESOLVE);
    }
    Ok(code)
}

//! `merge --resolve`: resolves a conflict that git left in a file, where no driver was installed.
//!
//! The three versions come from git's index and are merged as the driver merges them. A file in which somebody wrote
//! since is refused; the path is marked as resolved only where nothing is left to decide.

use std::collections::HashSet;
use std::fmt;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::cli::commands::merge_sides::{Names, Sides, conflicts_json, put, side_text, warn_of};
use crate::cli::context::Cli;
use crate::cli::failure::Failure;
use crate::cli::git::{GitError, failed, git, run as run_git, run_with, work_tree};
use memories_document::conflict::conflicts;
use memories_document::merge::Merged;
use memories_document::scan::{CONFLICT_BASE, CONFLICT_CLOSE, CONFLICT_OPEN};
use memories_document::types::hint::RESOLVE;
use memories_notebook::Notebook;
use memories_store::{Existing, Store, text_of, write_file};

/// The operation of git that left the conflict. The value is the name in JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
enum Operation {
    Merge,
    Rebase,
    CherryPick,
    Revert,
    /// Another one, such as `git stash pop`.
    Other,
}

impl Operation {
    /// Files in git's own folder, each of which exists only during its operation. A rebase comes first, because it may
    /// have the file of a cherry-pick too.
    const SIGNS: [(&str, Operation); 5] = [
        ("rebase-merge", Operation::Rebase),
        ("rebase-apply", Operation::Rebase),
        ("CHERRY_PICK_HEAD", Operation::CherryPick),
        ("REVERT_HEAD", Operation::Revert),
        ("MERGE_HEAD", Operation::Merge),
    ];

    /// A notice that says which side is ours and which is theirs, for operations where a reader may mistake them.
    fn sides(self) -> Option<&'static str> {
        match self {
            Operation::Rebase => Some(
                "in a rebase, ours is the branch onto which the commits go, theirs is the commit that goes there",
            ),
            Operation::CherryPick => {
                Some("in a cherry-pick, ours is this branch, theirs is the commit that is picked")
            }
            Operation::Revert => Some("in a revert, theirs is the state before the commit that is reverted"),
            Operation::Merge | Operation::Other => None,
        }
    }
}

/// A file in conflict, by its stages in git's index.
struct Conflicted {
    /// Root of the work tree.
    root: PathBuf,
    /// The file from there, as git writes it.
    path: String,
    /// Base, ours and theirs.
    stages: [Option<Stage>; 3],
}

/// Resolves the conflict of a file, and says what was done and what is left.
pub(crate) fn run(cli: &mut Cli<'_>, file: &Path, dry_run: bool) -> Result<u8, Failure> {
    let store = Store::open(file, cli.settings.lock_timeout)?;
    let conflicted = find(&store)?;
    let (sides, base) = conflicted.sides(&store)?;
    let present = store.read()?.ok_or_else(|| conflicted.without_file(file))?;
    let names = names_in(&present);
    let merged = sides.merge(&names);
    let is_merged = bare(&present) == bare(&merged.text);
    if !is_merged {
        refuse_later_words(file, &present, &sides, base.as_deref())?;
    }
    let is_resolved = merged.conflicts.is_empty();
    if !dry_run {
        if !is_merged {
            let text = conflicted.in_work_tree(&merged.text)?;
            write(cli, store, &present, &text)?;
        }
        if is_resolved {
            let add = git(&conflicted.root, &["--literal-pathspecs", "add", "--", &conflicted.path]);
            run_git(add).map_err(|error| failed("mark the file as resolved", &error))?;
        }
    }
    let done =
        Done { names, operation: conflicted.operation(), is_changed: !is_merged, is_resolved, dry_run };
    report(cli, &file.display().to_string(), merged, &done)
}

/// The stages of a file.
fn find(store: &Store) -> Result<Conflicted, Failure> {
    let real = store.real_path();
    let folder = real.parent().filter(|folder| folder.is_dir()).unwrap_or(Path::new("."));
    let root = work_tree(folder, "`memories merge BASE OURS THEIRS` merges three files without git")?;
    let name = real.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let list = ["--literal-pathspecs", "ls-files", "--unmerged", "-z", "--full-name", "--", &name];
    let listed = unmerged(folder, &list)?;
    let path = listed.first().map(|stage| stage.path.clone()).ok_or_else(|| no_conflict(store, &root))?;
    let mut stages = [None, None, None];
    for stage in listed {
        let at = stage.number - 1;
        stages[at] = Some(stage);
    }
    Ok(Conflicted { root, path, stages })
}

/// A line of `git ls-files --unmerged`.
struct Stage {
    /// From 1 to 3.
    number: usize,
    object: String,
    mode: String,
    path: String,
}

fn unmerged(folder: &Path, arguments: &[&str]) -> Result<Vec<Stage>, Failure> {
    let output =
        run_git(git(folder, arguments)).map_err(|error| failed("list the files in conflict", &error))?;
    let output = String::from_utf8_lossy(&output).into_owned();
    let stage = |line: &str| {
        let (facts, path) = line.split_once('\t')?;
        let mut facts = facts.split(' ').map(str::to_owned);
        let (mode, object, number) = (facts.next()?, facts.next()?, facts.next()?);
        let number = number.parse().ok().filter(|number| (1..=3).contains(number))?;
        Some(Stage { number, object, mode, path: path.to_owned() })
    };
    Ok(output.split_terminator('\0').filter_map(stage).collect())
}

/// The refusal of a file that is in no conflict.
fn no_conflict(store: &Store, root: &Path) -> Failure {
    let shown = store.path().display();
    let others = unmerged(root, &["ls-files", "--unmerged", "-z"]).unwrap_or_default();
    let mut paths: Vec<&str> =
        others.iter().filter(|stage| stage.number > 1).map(|stage| &*stage.path).collect();
    paths.dedup();
    let has_markers = store.read().ok().flatten().is_some_and(|text| conflicts(&text).is_some());
    let failure = Failure::user(format!("`{shown}` is in no conflict of git"));
    match (paths.as_slice(), has_markers) {
        ([], true) => failure.hint(format!("its markers were committed: {RESOLVE}")),
        ([], false) => failure.hint("`git status` shows which files are in conflict"),
        (paths, _) => failure.hint(format!("in conflict are, from the root: {}", paths.join(", "))),
    }
}

impl Conflicted {
    /// The texts of the sides, and the text of the base, if there is one.
    fn sides(&self, store: &Store) -> Result<(Sides, Option<String>), Failure> {
        let [base, ours, theirs] = &self.stages;
        let (Some(ours), Some(theirs)) = (ours, theirs) else { return Err(self.one_sided(store)) };
        let base = base.as_ref().map(|stage| self.text(stage, "base")).transpose()?;
        let sides = Sides {
            base: base.clone().unwrap_or_default(),
            ours: self.text(ours, "ours")?,
            theirs: self.text(theirs, "theirs")?,
        };
        Ok((sides, base))
    }

    fn text(&self, Stage { object, mode, .. }: &Stage, side: &str) -> Result<String, Failure> {
        if !mode.starts_with("100") {
            return Err(Failure::user(format!(
                "`{}` ({side}) is a link or a repository, and no file",
                self.path
            ))
            .hint("choose a side: `git checkout --ours` or `--theirs`, then `git add`"));
        }
        let bytes = run_git(git(&self.root, &["cat-file", "blob", object]))
            .map_err(|error| failed("read a version of the file", &error))?;
        let shown = PathBuf::from(format!("{} ({side})", self.path));
        side_text(text_of(bytes, &shown)?, shown, side)
    }

    /// The refusal of a file that one side does not have.
    fn one_sided(&self, store: &Store) -> Failure {
        let shown = store.path().display();
        let [base, ours, theirs] = &self.stages;
        match (base, ours, theirs) {
            (Some(_), None, Some(_)) | (Some(_), Some(_), None) => {
                Failure::user(format!("one side removed `{shown}`, the other changed it")).hint(format!(
                    "`git add {path}` keeps the file, `git rm {path}` removes it",
                    path = self.path
                ))
            }
            _ => Failure::user(format!("both sides renamed the file of `{shown}`, each to another name")).hint(
                "`git show :1:OLD`, `:2:OURS` and `:3:THEIRS` print the versions; save them, and run `memories merge BASE OURS THEIRS`",
            ),
        }
    }

    fn without_file(&self, file: &Path) -> Failure {
        Failure::user(format!("there is no `{}` in the work tree", file.display()))
            .hint(format!("`git checkout --merge -- {}` brings the conflict back", self.path))
    }

    fn operation(&self) -> Operation {
        let names = Operation::SIGNS.iter().flat_map(|(name, _)| ["--git-path", *name]);
        let arguments: Vec<&str> = std::iter::once("rev-parse").chain(names).collect();
        let paths = run_git(git(&self.root, &arguments)).unwrap_or_default();
        let paths = String::from_utf8_lossy(&paths);
        let mut signs = paths.lines().zip(Operation::SIGNS);
        let sign = signs.find(|(path, _)| self.root.join(path).exists());
        sign.map_or(Operation::Other, |(_, (_, operation))| operation)
    }

    /// A text of the repository as the work tree has it: git knows the line endings.
    fn in_work_tree(&self, text: &str) -> Result<String, Failure> {
        let unconverted = |error: GitError| failed("convert the merged text for the work tree", &error);
        let hash = git(&self.root, &["hash-object", "-w", "--stdin"]);
        let object = run_with(hash, text.as_bytes()).map_err(unconverted)?;
        let (object, path) = (String::from_utf8_lossy(&object), format!("--path={}", self.path));
        let filter = git(&self.root, &["cat-file", "--filters", &path, object.trim()]);
        let bytes = run_git(filter).map_err(unconverted)?;
        Ok(text_of(bytes, Path::new(&self.path))?)
    }
}

/// The names that the markers of a text bear.
fn names_in(text: &str) -> Names {
    let name = |mark: &[u8]| {
        let mark = std::str::from_utf8(mark).ok()?.trim();
        let mut lines = text.lines().filter_map(|line| line.strip_prefix(mark)?.strip_prefix(' '));
        lines.next().map(|name| name.trim().to_owned()).filter(|name| !name.is_empty())
    };
    Names { ours: name(CONFLICT_OPEN), base: name(CONFLICT_BASE), theirs: name(CONFLICT_CLOSE) }
}

/// A text without carriage returns, which the work tree may have and the repository not.
fn bare(text: &str) -> String {
    text.replace('\r', "")
}

/// Refuses a file in which somebody wrote after git left the conflict.
fn refuse_later_words(file: &Path, present: &str, sides: &Sides, base: Option<&str>) -> Result<(), Failure> {
    let shown = file.display();
    let hint = format!(
        "`git add {shown}` marks it as it stands as resolved; `git checkout --merge -- {shown}` brings the conflict back, without later changes"
    );
    let text = bare(present);
    if conflicts(&text).is_none() {
        return if [&sides.ours, &sides.theirs].iter().any(|side| bare(side) == text) {
            Ok(())
        } else {
            Err(Failure::user(format!("`{shown}` has no markers and is neither side: somebody resolved it"))
                .hint(hint))
        };
    }
    let versions = [base.unwrap_or_default(), &sides.ours, &sides.theirs];
    let known: HashSet<&str> = versions.iter().flat_map(|text| text.lines()).map(str::trim_end).collect();
    let marks = [CONFLICT_OPEN, CONFLICT_BASE, CONFLICT_CLOSE, b"======="];
    let is_known = |line: &str| {
        known.contains(line.trim_end())
            || marks.iter().any(|mark| line.as_bytes().starts_with(mark.trim_ascii()))
    };
    match text.lines().position(|line| !is_known(line)) {
        None => Ok(()),
        Some(at) => {
            let what =
                format!("line {} of `{shown}` is in no version: somebody wrote it after the merge", at + 1);
            Err(Failure::user(what).hint(hint))
        }
    }
}

/// Puts the merged text in place of the one with the conflict: in one transaction where the file has history.
fn write(cli: &mut Cli<'_>, store: Store, present: &str, text: &str) -> Result<(), Failure> {
    if std::fs::symlink_metadata(store.folder()).is_err() {
        write_file(store.real_path(), text.as_bytes(), Existing::Replace)?;
        return Ok(());
    }
    let notebook = Notebook::new(store, cli.settings.clock());
    cli.edit(&notebook, memories_notebook::RESOLVE, false, |draft| {
        if draft.text()? != present {
            return Err(Failure::user("the file was changed meanwhile").hint("run the command again"));
        }
        put(draft, present, text);
        Ok(())
    })?;
    Ok(())
}

/// The outcome, which is printed as a sentence.
struct Done {
    names: Names,
    operation: Operation,
    is_changed: bool,
    is_resolved: bool,
    dry_run: bool,
}

impl fmt::Display for Done {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let side = |name: &Option<String>, word: &str| match name {
            Some(name) => format!("{word} ({name})"),
            None => word.to_owned(),
        };
        let (ours, theirs) = (side(&self.names.ours, "ours"), side(&self.names.theirs, "theirs"));
        let would = if self.dry_run { "would be " } else { "" };
        match (self.is_resolved, self.is_changed) {
            (true, _) => write!(
                out,
                "{ours} and {theirs} {would}merged by what they mean, and {would}marked as resolved (`git add`)"
            ),
            (false, true) => {
                write!(out, "{ours} and {theirs} {would}merged by what they mean, and not marked as resolved")
            }
            (false, false) => write!(
                out,
                "{ours} and {theirs} are merged by what they mean already, and not marked as resolved"
            ),
        }
    }
}

/// Says what was done and what is left. The exit code is 1 where something is.
fn report(cli: &mut Cli<'_>, file: &str, merged: Merged, done: &Done) -> Result<u8, Failure> {
    let Merged { conflicts, mut notices, .. } = merged;
    notices.extend(done.operation.sides().map(str::to_owned));
    let code = u8::from(!conflicts.is_empty());
    if cli.ui.json {
        let Done { names, operation, is_changed, is_resolved, dry_run } = done;
        cli.ui.json_answer(&json!({
            "file": file, "dry_run": dry_run, "operation": <&str>::from(*operation),
            "ours": names.ours, "theirs": names.theirs, "changed": is_changed,
            "resolved": *is_resolved && !*dry_run, "conflicts": conflicts_json(&conflicts), "notices": notices,
        }))?;
        return Ok(code);
    }
    cli.ui.data(&format!("{file}: {done}\n"))?;
    cli.ui.notices(&notices);
    warn_of(cli, file, &conflicts);
    if code != 0 {
        cli.ui.hint(&format!("{RESOLVE}, then `git add {file}`"));
    }
    Ok(code)
}

//! `trust`: lets a settings file that was found start programs, reach hosts and read files.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use crate::cli::facts::{Facts, Group};
use crate::cli::failure::{Failure, unreadable};
use crate::cli::settings::{Layer, TrustList, Trusted, restricted_keys, sha256, shown_setting};
use crate::cli::ui::Ui;

/// Let a settings file that was found start programs and name hosts
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A memories.toml beside the memory file or above may have come with a repository.
It sets limits and tastes, but until you trust it, these keys in it are ignored:
`provider` (other than offline), `model`, `base_url`, `command`, `pass_env`,
`embedder` (other than embedded), `embedding_model`, `embedding_url`,
the texts around memories in chats, a `memory_file` or `map` outside of its
folder, and a `memory_file` that is not Markdown.

Read the keys that are shown: what `command` names runs with your rights. A file
that changes is no longer trusted. Programs that it names are not part of it.
With --sha256 exactly the content is trusted that --dry-run has shown before.

With a folder, what other users own in it and below counts as yours:
Memories.md, memories.toml and .git. Otherwise such a file is passed over with a
warning, as git does without `safe.directory`, and hooks are silent.

The list is the file `trusted` in the folder of your own settings, which is
`memories` in $XDG_CONFIG_HOME, else in ~/.config. A memories.toml in that
folder, and one that `--config` or MEMORIES_CONFIG names, needs no trust.

Examples:
  memories trust --dry-run
  memories trust --sha256 HASH
  memories trust
  memories trust ../game/memories.toml
  memories trust /srv/shared
  memories trust --list
  memories trust --remove

With --json: {version, outcome, file, sha256, keys: {KEY: VALUE}}; outcome is
trusted, not_needed or dry_run. With --list {version, files: [{path, state}]};
state is trusted, changed or missing. With --remove {version, outcome, file}.")]
pub(crate) struct TrustArgs {
    /// The settings file or a folder [default: the file that would be found]
    #[arg(value_name = "FILE", conflicts_with = "list")]
    settings: Option<PathBuf>,
    /// Show the files that are trusted
    #[arg(long, conflicts_with = "remove")]
    list: bool,
    /// Trust the file no longer
    #[arg(long)]
    remove: bool,
    /// Show the keys that would count, and change nothing
    #[arg(short = 'n', long, conflicts_with_all = ["list", "remove"])]
    dry_run: bool,
    /// Trust the file only if its content has this SHA-256
    #[arg(long, value_name = "HASH", conflicts_with_all = ["list", "remove", "dry_run"])]
    sha256: Option<String>,
}

/// The facts about this command.
pub(crate) const FACTS: Facts = Facts::of(Group::SetUp);

/// Runs the command. `found` is the settings file that other commands would read.
pub(crate) fn run(
    ui: &mut Ui,
    args: TrustArgs,
    found: Option<PathBuf>,
    user_folder: Option<&Path>,
) -> Result<u8, Failure> {
    let TrustArgs { settings, list, remove, dry_run, sha256: expected } = args;
    let folder = user_folder.ok_or_else(|| {
        Failure::user("there is no folder for the list of trusted files: HOME is not set")
            .hint("set HOME or XDG_CONFIG_HOME to an absolute path, or name the settings with `--config`")
    })?;
    if list {
        return show_list(ui, &TrustList::read(folder)?);
    }
    let path = settings.or(found).ok_or_else(|| {
        Failure::user("no `memories.toml` was found here or above")
            .hint("name the file: `memories trust PATH`")
    })?;
    if remove {
        return remove_from(ui, folder, &path);
    }
    if path.is_dir() {
        return trust_folder(ui, folder, &path, dry_run);
    }
    let (layer, content) = Layer::open(&path)?;
    let sha256 = sha256(&content);
    if expected.is_some_and(|expected| !expected.trim().eq_ignore_ascii_case(&sha256)) {
        return Err(Failure::user(format!(
            "`{}` is not what was shown: its SHA-256 is {sha256}",
            path.display()
        ))
        .hint("look at it again with `memories trust --dry-run`"));
    }
    let keys = restricted_keys(&layer);
    show_keys(ui, &layer, &keys)?;
    let shown = path.display();
    let (outcome, text) = match (keys.is_empty(), dry_run) {
        (true, _) => ("not_needed", format!("{shown} sets nothing that needs trust\n")),
        (false, true) => {
            ui.notice(&format!("this content, and no other: `memories trust {shown} --sha256 {sha256}`"));
            ("dry_run", String::new())
        }
        (false, false) => {
            TrustList::add(folder, &Trusted::of(&path, &content))?;
            ("trusted", format!("trusted {shown}\n"))
        }
    };
    let values: Map<String, Value> =
        keys.iter().map(|key| ((*key).to_owned(), shown_setting(&layer, key))).collect();
    let answer = json!({"outcome": outcome, "file": shown.to_string(), "sha256": sha256, "keys": values});
    ui.answer(&answer, &text)
}

/// Lets the files of another user count in a folder and below.
fn trust_folder(ui: &mut Ui, user_folder: &Path, path: &Path, dry_run: bool) -> Result<u8, Failure> {
    let entry = Trusted::of_folder(path).map_err(|error| unreadable(path, error))?;
    let shown = path.display();
    let (outcome, text) = if dry_run {
        ("dry_run", format!("with trust, files of other users in {shown} and below count\n"))
    } else {
        TrustList::add(user_folder, &entry)?;
        ("trusted", format!("trusted {shown}: files of other users in it and below count\n"))
    };
    ui.answer(&json!({"outcome": outcome, "file": shown.to_string(), "keys": {}}), &text)
}

/// Shows what is decided about, before it is decided.
fn show_keys(ui: &mut Ui, layer: &Layer, keys: &[&str]) -> Result<(), Failure> {
    if ui.json || keys.is_empty() {
        return Ok(());
    }
    let lines = keys.iter().map(|key| format!("  {key} = {}\n", shown_setting(layer, key)));
    let path = layer.path.display();
    ui.data(&format!("with trust, these keys of {path} count:\n{}", lines.collect::<String>()))?;
    Ok(ui.flush()?)
}

fn show_list(ui: &mut Ui, trusted: &TrustList) -> Result<u8, Failure> {
    let state = |entry: &Trusted| {
        let path = Path::new(&entry.path);
        if Trusted::of_folder(path).is_ok_and(|folder| folder == *entry) {
            return "trusted";
        }
        match Layer::open(path) {
            Ok((_, content)) if *entry == Trusted::of(path, &content) => "trusted",
            Err(_) if !path.exists() => "missing",
            _ => "changed",
        }
    };
    let files: Vec<(&str, &str)> =
        trusted.entries().iter().map(|entry| (entry.path.as_str(), state(entry))).collect();
    let text = files.iter().map(|(path, state)| format!("{state:<8} {path}\n")).collect::<String>();
    let json: Vec<Value> = files.iter().map(|(path, state)| json!({"path": path, "state": state})).collect();
    if files.is_empty() {
        ui.notice("no settings file is trusted");
    }
    ui.answer(&json!({"files": json}), &text)
}

fn remove_from(ui: &mut Ui, folder: &Path, path: &Path) -> Result<u8, Failure> {
    let shown = path.display();
    if !TrustList::remove(folder, path)? {
        return Err(Failure::user(format!("`{shown}` is not trusted"))
            .hint("`memories trust --list` shows the files that are"));
    }
    let text = format!("{shown} is no longer trusted\n");
    ui.answer(&json!({"outcome": "removed", "file": shown.to_string()}), &text)
}

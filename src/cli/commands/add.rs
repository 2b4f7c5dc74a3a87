//! `add`: stores a memory in the user's own words.

use std::path::PathBuf;

use crate::cli::commands::common::warn_of_secrets;
use crate::cli::commands::memory_args::{JsonFields, MemoryArgs};
use crate::cli::commands::writer_args::WriterArgs;
use crate::cli::context::Cli;
use crate::cli::facts::{Facts, Group};
use crate::cli::failure::Failure;
use memories_document::grammar::{is_same_name, name_of_text_id};
use memories_document::types::fields;
use memories_document::types::{Anchor, Category, Memory, Scope, is_path_of_file};
use memories_notebook::add::AddOutcome;
use memories_notebook::authority::Authority;
use memories_notebook::{FileState, NewMemory};
use memories_store::{slashed, without_dots};

/// Add a memory that you worded yourself
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Without a text, a JSON object is read from stdin: {text, title, category,
importance, persistence (core, permanent, ephemeral), status (active,
tentative), episode, turn or turns (\"23-24\"), score_change, score, moves, date,
source, goal, tags, witness, told_by, context, name, speaker, about}. Another
field is a warning.

Examples:
  memories add 23 'Dark without a lamp.'
  memories add 23 --category DANGER --title 'Trap door shuts' \\
      --text 'It shuts behind you and is barred from above.' --core
  memories add dir:src/search 'Run cargo bench after changes of score.rs.' \\
      --about src/search/score.rs
  memories add topic:release --name 'The release' 'Tags need a changelog.'
  memories add npc:troll --name 'The Troll' --importance 900 \\
      --text 'Accepts gifts and attacks all the same.'
  memories add world --category EVENT --title 'The dam opened' \\
      --text 'The reservoir is empty.' --episode 2 --turn 81
  memories add 15 --category SUCCESS --title 'Open window' --text 'It opens.' \\
      --episode 1 --turns 23-24 --score-change +0
  memories add dialogue --speaker alex --turn 3 --text 'I love Italian food'
  memories add 23 'A key lies under the rug.' --witness marta,jordan
  memories add town-square --name 'Town Square' --new-place --text 'A market.'
  echo '{\"text\": \"Dark without a lamp.\", \"importance\": 700}' | memories add 24

A line of dialogue is stored as `Alex said: …`, with the name of the agent's
section, in the running episode unless --episode is given. Entries of DIALOGUE,
SESSION and EVENT are never merged: a line that is said twice is stored twice.

Answer: one line, or with --json {version, outcome, scope, name, category,
title, text, …, raised_to}. A text that another entry already has is not stored
twice: the outcome is `duplicate`, with that entry.")]
pub(crate) struct AddArgs {
    /// An id, `npc:ID`, `agent:ID`, `dir:PATH`, `topic:ID`, `world`, `scene`, `dialogue`, or the name of a place
    #[arg(value_name = "SCOPE", allow_negative_numbers = true)]
    scope: String,
    /// The text of the memory, as by --text
    #[arg(value_name = "TEXT", group = "wording")]
    words: Option<String>,
    #[command(flatten)]
    memory: MemoryArgs,
    #[command(flatten)]
    writer: WriterArgs,
    /// Let a name or text id that no place has get the next free id
    #[arg(long)]
    new_place: bool,
    /// Name of a place or character that has no section yet
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// A file that it speaks of, in a folder (`dir:`): `recall` says when it has changed since; repeatable
    #[arg(long = "about", value_name = "FILE", requires = "wording")]
    about: Vec<PathBuf>,
    /// The speaker, by id or name; only in `dialogue`
    #[arg(long, value_name = "WHO", requires = "wording", conflicts_with_all = ["category", "name"])]
    speaker: Option<String>,
}

/// The facts about this command.
pub(crate) const FACTS: Facts = Facts {
    synonyms: &["new", "remember", "note", "store", "save", "create", "insert"],
    ..Facts::of(Group::Turn)
};

pub fn run(mut cli: Cli<'_>, args: AddArgs) -> Result<u8, Failure> {
    args.writer.override_settings(&mut cli);
    let notebook = cli.notebook()?;
    let (scope, called) = cli.scope_or_new(&args.scope, args.new_place)?;
    let (mut speaker, mut name, mut about) = (args.speaker, args.name, args.about);
    let mut given = args.memory;
    given.text = given.text.or(args.words);
    let mut memory = match given.text {
        Some(_) => given.into_memory()?,
        None if cli.ui.stdin_is_terminal() => {
            return Err(Failure::usage("no text given")
                .hint("give it behind the scope, or send a JSON object on stdin"));
        }
        None => {
            let read = memory_from_json(
                &cli.read_input("a memory as a JSON object, or give its text behind the scope")?,
            )?;
            cli.ui.warnings(&read.warnings);
            speaker = read.speaker;
            name = name.or(read.name);
            about = read.about;
            read.memory
        }
    };
    let name = name_of(&called, scope.as_ref(), name)?;
    check_speaker(speaker.as_deref(), scope.as_ref(), &args.scope)?;
    if !about.is_empty() {
        memory.provenance.tags.extend(anchors(&cli, scope.as_ref(), &about)?);
    }
    warn_of_secrets(&mut cli, memory.texts().into_iter().chain(&speaker).chain([&name]));
    let (applied, _) = cli.edit(&notebook, "add", false, |draft| {
        let scope = scope.clone().unwrap_or_else(|| draft.files.place_or_new(&name));
        let (name, memory, speaker) = (name.clone(), memory.clone(), speaker.clone());
        let new = NewMemory { scope: scope.clone(), name, memory, speaker };
        Ok(draft.add(&new, Authority::Command, &mut Vec::new())?)
    })?;
    let place = applied.entry.scope.label(&applied.entry.name);
    let what = match applied.outcome {
        AddOutcome::Stored | AddOutcome::Revised | AddOutcome::Contested => "stored",
        AddOutcome::Confirmed => "confirmed",
        AddOutcome::Duplicate => "duplicate of",
    };
    let by = if applied.outcome == AddOutcome::Confirmed { applied.writers() } else { String::new() };
    let struck = applied.superseded.iter().map(|title| format!("superseded \"{title}\"\n"));
    let text = format!("{what} \"{}\" in {place}{by}{}\n", applied.title(), applied.raised());
    cli.ui.answer(&applied, &(text + &struck.collect::<String>()))
}

/// The name of a new section. A place without the engine's id is found by its name alone, which must say the same
/// as the argument.
fn name_of(called: &str, scope: Option<&Scope>, name: Option<String>) -> Result<String, Failure> {
    match (scope, name) {
        (Some(_), name) => Ok(name.unwrap_or_default()),
        (None, Some(name)) if !is_same_name(&name, called) => {
            let problem = format!("`{called}` would not be found under the name `{name}`");
            Err(Failure::usage(problem).hint(format!("leave out `--name`, or add to `{name}`")))
        }
        (None, name) => Ok(name_of_text_id(called, name.as_deref())),
    }
}

fn check_speaker(speaker: Option<&str>, scope: Option<&Scope>, called: &str) -> Result<(), Failure> {
    match speaker {
        Some(called) if called.trim().is_empty() => {
            Err(Failure::usage("the speaker is empty").hint("name the speaker: `--speaker alex`"))
        }
        Some(_) if scope != Some(&Scope::Dialogue) => {
            let scope = scope.map_or_else(|| called.to_owned(), Scope::to_string);
            let failure = Failure::usage(format!("`--speaker` is only for `dialogue`, not for {scope}"));
            Err(failure
                .hint("`memories add dialogue --speaker alex --text 'Hello.'`, or leave out the speaker"))
        }
        _ => Ok(()),
    }
}

/// The tags that anchor an entry of a folder to files, named from the working directory or from the root.
fn anchors(cli: &Cli<'_>, scope: Option<&Scope>, files: &[PathBuf]) -> Result<Vec<String>, Failure> {
    if !matches!(scope, Some(Scope::Folder(_))) {
        return Err(Failure::usage("`--about` is only for a folder of a repository")
            .hint("`memories add dir:. 'Run the benches after changes.' --about src/score.rs`"));
    }
    let (anchored, folder) = (cli.anchored()?, &cli.settings.working_folder);
    let tag = |file: &PathBuf| {
        let paths = [folder.folder().join(file), folder.root().join(file)];
        let below =
            paths.iter().filter_map(|path| slashed(without_dots(path).strip_prefix(folder.root()).ok()?));
        let mut below = below.filter(|path| is_path_of_file(path)).peekable();
        let name = file.display();
        if below.peek().is_none() {
            let failure = Failure::user(format!("`{name}` is not a file within the repository"));
            return Err(failure.hint("name a file below the folder that holds `.git`"));
        }
        let found =
            below.map(|path| (anchored.state(&path), path)).find(|(state, _)| *state != FileState::Gone);
        match found {
            Some((FileState::Blob(blob), path)) => Ok(Anchor { path, blob }.tag()),
            Some(_) => Err(Failure::user(format!("`{name}` cannot be watched"))
                .hint("name a regular file of at most 16 MiB that is no link and not the memory file")),
            None => Err(Failure::user(format!("there is no file `{name}`"))
                .hint("name it from the working directory or from the root of the repository")),
        }
    };
    files.iter().map(tag).collect()
}

/// The contents of a JSON object.
struct JsonMemory {
    memory: Memory,
    speaker: Option<String>,
    name: Option<String>,
    about: Vec<PathBuf>,
    warnings: Vec<String>,
}

fn memory_from_json(text: &str) -> Result<JsonMemory, Failure> {
    let hint = "send {\"text\": \"…\", \"title\": \"…\", \"category\": \"NOTE\", \"importance\": 500}";
    let value: serde_json::Value =
        serde_json::from_str(text).map_err(|error| Failure::user(format!("not JSON: {error}")).hint(hint))?;
    let fields = JsonFields::of(&value, hint)?;
    let (memory, speaker) = (fields.memory()?, fields.read("speaker", fields::text)?);
    if speaker.is_some()
        && fields.read("category", fields::text)?.is_some()
        && memory.category != Category::dialogue()
    {
        return Err(fields.wrong(format!(
            "`category` is `{}`, but a memory with a `speaker` is DIALOGUE",
            memory.category
        )));
    }
    let about = fields.read("about", fields::texts)?.unwrap_or_default();
    let about = about.into_iter().map(PathBuf::from).collect();
    let (name, warnings) = (fields.read("name", fields::text)?, fields.unknown("a memory"));
    Ok(JsonMemory { memory, speaker, name, about, warnings })
}

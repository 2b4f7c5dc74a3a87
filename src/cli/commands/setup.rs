//! `setup`: wires the coding agents of this machine to the program.

use std::path::{Path, PathBuf};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use serde_json::{Value, json};
use strum::VariantArray;

use crate::cli::facts::{Facts, Group};
use crate::cli::failure::Failure;
use crate::cli::own_program::{own_program, own_program_path};
use crate::cli::settings::{ProcessEnvironment, agent_folders, repository_of};
use crate::cli::ui::Ui;
use memories_agents::setup::{Action, Agent, Change, Options, State, Target, change};

/// Wire coding agents to the memory: MCP server and hooks
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Without a flag it shows what it would write into the configuration of each agent
that is on this machine. The agents, and what they get:
  claude-code  server and hooks   ~/.claude.json, ~/.claude/settings.json
  codex        server and hooks   ~/.codex/config.toml, ~/.codex/hooks.json
  gemini       server and hooks   ~/.gemini/settings.json
  cursor       server             ~/.cursor/mcp.json
  vscode       server             mcp.json among the user's settings
  hermes       server             ~/.hermes/config.yaml, which you edit
  openclaw     server             ~/.openclaw/openclaw.json

Entries are inserted as text: comments, order and line endings stay. The state
before is kept beside a file as FILE.memories-backup. With --remove the file has
the bytes of before; changes by others in between stay. An entry that somebody
changed is left as it is. docs/guide/agents.md shows the entries. YAML is not
written: the lines to paste are printed.

Examples:
  memories setup
  memories setup --apply
  memories setup claude-code codex --apply
  memories setup --project --apply
  memories setup --remove

Exit code: 1 where something is left to do, 4 where a file could not be written;
the others are written all the same.
With --json: {version, action, agents: [{agent, found, files: [{path, outcome,
diff, entries: [{entry, state}]}]}]}.")]
pub(crate) struct SetupArgs {
    /// Only these agents [default: those that are on this machine]
    #[arg(value_name = "AGENT", value_parser = agent_parser())]
    agents: Vec<Agent>,
    /// Write what is missing
    #[arg(long, conflicts_with = "remove")]
    apply: bool,
    /// Take out what --apply wrote
    #[arg(long)]
    remove: bool,
    /// Write files of this repository in place of your own
    #[arg(long)]
    project: bool,
}

fn agent_parser() -> impl TypedValueParser<Value = Agent> {
    let names = Agent::VARIANTS.iter().map(<&str>::from);
    PossibleValuesParser::new(names).map(|name| name.parse().expect("it is one of the names"))
}

/// One configuration file, and what became of it.
struct File {
    path: PathBuf,
    entries: Vec<String>,
    result: Result<Change, Failure>,
}

/// An agent with its files.
struct Wired {
    agent: Agent,
    found: bool,
    files: Vec<File>,
}

/// The facts about this command.
pub(crate) const FACTS: Facts = Facts::of(Group::SetUp);

/// Runs the command.
pub(crate) fn run(ui: &mut Ui, args: SetupArgs, environment: &ProcessEnvironment) -> Result<u8, Failure> {
    let SetupArgs { agents, apply, remove, project } = args;
    let (Some(folders), Some(user_folder)) = (agent_folders(), environment.user_folder.as_deref()) else {
        return Err(Failure::user("there is no home in which agents have their settings: HOME is not set")
            .hint("set HOME to an absolute path"));
    };
    let root = project.then(|| repository(&environment.folder, user_folder)).transpose()?;
    // A repository's files are for other machines, too; a program with windows has no shell's search path.
    let program = if project { own_program()? } else { own_program_path()? };
    let options = Options {
        action: if remove { Action::Remove } else { Action::Apply },
        folder: user_folder,
        writes: apply || remove,
        keeps_former: !project,
    };
    let mut wired = Vec::new();
    for agent in chosen(&agents) {
        let found = agent.is_found(&folders);
        let is_named = agents.contains(&agent);
        let targets = match &root {
            Some(root) => agent.project_files(root, &program),
            None => agent.own_files(&folders, &program),
        };
        if is_named {
            refuse(agent, found || project || remove, &targets)?;
        }
        let targets = if found || is_named { targets } else { Vec::new() };
        wired.push(Wired {
            agent,
            found,
            files: targets.iter().map(|target| file(target, &options)).collect(),
        });
    }
    report(ui, &wired, &options, project)
}

/// The agents that are named, each once, in the order of the list; all of them where none is.
fn chosen(named: &[Agent]) -> Vec<Agent> {
    let all = Agent::VARIANTS.iter().copied();
    all.filter(|agent| named.is_empty() || named.contains(agent)).collect()
}

/// Refuses an agent that is named and not there, or that has no files in repositories.
fn refuse(agent: Agent, may_be_missing: bool, targets: &[Target]) -> Result<(), Failure> {
    if targets.is_empty() {
        return Err(Failure::user(format!("`{agent}` reads no configuration of a repository"))
            .hint(format!("`memories setup {agent}` writes your own")));
    }
    if !may_be_missing {
        return Err(Failure::user(format!(
            "`{agent}` is not on this machine: its settings and its program are not here"
        ))
        .hint("install it first; `memories setup` alone looks for all agents"));
    }
    Ok(())
}

/// The root of the repository of a folder.
fn repository(folder: &Path, user_folder: &Path) -> Result<PathBuf, Failure> {
    repository_of(folder, Some(user_folder)).ok_or_else(|| {
        Failure::user(format!("`{}` is in no git repository", folder.display()))
            .hint("run it in a repository, or without --project for your own settings")
    })
}

fn file(target: &Target, options: &Options<'_>) -> File {
    File {
        path: target.path.clone(),
        entries: target.entries.iter().map(memories_agents::setup::Entry::name).collect(),
        result: change(target, options).map_err(Failure::from),
    }
}

impl File {
    /// The outcome, as JSON names it.
    fn outcome(&self, options: &Options<'_>) -> &'static str {
        match &self.result {
            Err(_) => "failed",
            Ok(Change { by_hand: Some(_), .. }) => "by_hand",
            Ok(change) if !change.is_some() => "unchanged",
            Ok(_) if !options.writes => "pending",
            Ok(Change { after: None, .. }) => "removed",
            Ok(_) => "written",
        }
    }

    /// The difference, or a person's part. Nothing else of the file is in it, since settings may hold keys.
    fn diff(&self) -> &str {
        match &self.result {
            Ok(Change { by_hand: Some(text), .. }) => text,
            Ok(change) if change.is_some() => &change.difference,
            _ => "",
        }
    }

    /// Entries in a state, by name.
    fn in_state(&self, state: State) -> impl Iterator<Item = &str> {
        let states = self.result.as_ref().map(|change| change.states.as_slice()).unwrap_or_default();
        let entries = self.entries.iter().zip(states);
        entries.filter(move |(_, found)| **found == state).map(|(entry, _)| entry.as_str())
    }

    fn json(&self, options: &Options<'_>) -> Value {
        let states = self.result.as_ref().map(|change| change.states.as_slice()).unwrap_or_default();
        let entry = |(entry, state): (&String, &State)| json!({"entry": entry, "state": <&str>::from(state)});
        json!({
            "path": self.path.display().to_string(),
            "outcome": self.outcome(options),
            "diff": self.diff(),
            "entries": self.entries.iter().zip(states).map(entry).collect::<Vec<_>>(),
        })
    }
}

fn report(ui: &mut Ui, wired: &[Wired], options: &Options<'_>, project: bool) -> Result<u8, Failure> {
    let action = match (options.action, options.writes) {
        (_, false) => "plan",
        (Action::Apply, true) => "apply",
        (Action::Remove, true) => "remove",
    };
    if ui.json {
        let agent = |wired: &Wired| {
            let files: Vec<Value> = wired.files.iter().map(|file| file.json(options)).collect();
            json!({"agent": wired.agent.to_string(), "found": wired.found, "files": files})
        };
        ui.json_answer(&json!({"action": action, "agents": wired.iter().map(agent).collect::<Vec<_>>()}))?;
    } else {
        for wired in wired {
            wired.files.iter().try_for_each(|file| show(ui, wired.agent, file, options))?;
        }
    }
    ui.flush()?;
    let files: Vec<&File> = wired.iter().flat_map(|wired| &wired.files).collect();
    for file in &files {
        warn(ui, file);
    }
    say_what_follows(ui, wired, options, project);
    let failures = files.iter().filter_map(|file| file.result.as_ref().err());
    if let Some(code) = failures.map(Failure::exit_code).max() {
        return Ok(code);
    }
    let is_left = |file: &&File| matches!(file.outcome(options), "pending" | "by_hand");
    Ok(u8::from(files.iter().any(is_left)))
}

/// One file in the text form.
fn show(ui: &mut Ui, agent: Agent, file: &File, options: &Options<'_>) -> Result<(), Failure> {
    let path = file.path.display();
    match file.outcome(options) {
        "failed" => return Ok(()),
        "pending" => ui.data(&format!("{agent}: would write {path}\n{}", file.diff()))?,
        "by_hand" => ui.data(&by_hand(agent, file, options))?,
        "unchanged" => ui.data(&format!("{agent}: nothing to do in {path}\n"))?,
        outcome => ui.data(&format!("{agent}: {outcome} {path}\n"))?,
    }
    Ok(())
}

/// The lines that tell a person how to edit a file which this program only reads.
fn by_hand(agent: Agent, file: &File, options: &Options<'_>) -> String {
    let path = file.path.display();
    match options.action {
        Action::Apply => {
            format!("{agent}: paste this into {path}, below the key if it is there\n{}", file.diff())
        }
        Action::Remove => format!("{agent}: remove from {path} by hand: {}\n", file.diff()),
    }
}

/// Failures, and entries that are left as they are.
fn warn(ui: &mut Ui, file: &File) {
    if let Err(failure) = &file.result {
        ui.failure(failure);
    }
    let path = file.path.display();
    for entry in file.in_state(State::Changed) {
        ui.warning(&format!("`{entry}` in `{path}` was changed since it was written, and is left as it is"));
    }
    for entry in file.in_state(State::Foreign) {
        ui.warning(&format!("`{entry}` in `{path}` is not of this program, and is left as it is"));
    }
}

fn say_what_follows(ui: &mut Ui, wired: &[Wired], options: &Options<'_>, project: bool) {
    let outcomes =
        |wired: &Wired, wanted: &str| wired.files.iter().any(|file| file.outcome(options) == wanted);
    if wired.iter().all(|wired| wired.files.is_empty()) {
        let names: Vec<String> = wired.iter().map(|wired| wired.agent.to_string()).collect();
        ui.notice(&format!("none of these agents is on this machine: {}", names.join(", ")));
    }
    if wired.iter().any(|wired| outcomes(wired, "pending")) {
        ui.notice("`memories setup --apply` writes this");
    }
    if options.action == Action::Apply {
        let written = wired.iter().filter(|wired| outcomes(wired, "written"));
        let advice: Vec<_> = written.filter_map(|wired| wired.agent.advice(project)).collect();
        advice.iter().for_each(|advice| ui.notice(advice));
        if wired.iter().any(|wired| outcomes(wired, "written")) {
            ui.notice("hooks act where there is a memory file: `memories init` makes one");
        }
    }
}

//! `seed`: writes characters and scenarios into the memory file.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use strum::VariantArray;

use strum::VariantNames as _;

use crate::cli::commands::common::counted;
use crate::cli::context::Cli;
use crate::cli::facts::{Candidates, Facts, Group};
use crate::cli::failure::Failure;
use crate::seed::{self, Cast, SeedChange, SeedFormat, SeedOptions, SeedOutcome, SeedReport, SeedSource};
use memories_document::types::{Outcome, Scope, by_file_ending};

/// Give agents their first memories: who they are, whom they know
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A file holds `agents` (or `characters`), a `scenario`, `relationships`, or is
one agent or one scenario by itself:

  agents:
    - id: alex
      name: Alex
      # each a text: role, archetype, description, background,
      # communication_style, decision_style; a text or several:
      traits: [organised, loyal]          # skills, values
      relationships: {jordan: My closest friend.}
  scenario:
    location: A flat on the third floor.  # atmosphere, time, context

Each agent gets a section with what it is, and a KNOWLEDGE entry for each other
agent: name, archetype, description, and its own words on the relationship.
Role, background and the rest stay private. Everything is written in one step.

Seeding again writes what changed in the files and keeps what people changed.
A memory that both changed stays as people wrote it, unless --force is given.
A memory that the files no longer hold stays, unless --prune strikes it.

Examples:
  memories seed friends.yaml
  memories seed alex.toml jordan.toml casey.toml dinner.toml
  memories seed friends.yaml --dry-run --verbose
  curl -s https://example.org/cast.json | memories seed - --format json

With --json: {version, sources, dry_run, file, agents, scene, stored, revised,
revived, struck, renamed, unchanged, edited, kept, left, changes: [{outcome,
scope, category, title, why}], warnings}; `changes` leaves out the unchanged.")]
pub(crate) struct SeedArgs {
    /// The files to read: TOML, YAML or JSON; `-` is stdin
    #[arg(value_name = "FILE", required = true)]
    inputs: Vec<PathBuf>,
    /// toml, yaml or json [default: by the ending of FILE; of stdin by its first line]
    #[arg(long, value_name = "FORMAT")]
    format: Option<SeedFormat>,
    /// Replace what people changed by the files' texts
    #[arg(long)]
    force: bool,
    /// Strike seeded memories that the files no longer hold
    #[arg(long)]
    prune: bool,
    /// Write nothing; show what would be done
    #[arg(long)]
    dry_run: bool,
}

/// The facts about this command.
pub(crate) const FACTS: Facts = Facts {
    completes: &[("FORMAT", Candidates::Values(SeedFormat::VARIANTS))],
    ..Facts::of(Group::Characters)
};

pub fn run(mut cli: Cli<'_>, args: SeedArgs) -> Result<u8, Failure> {
    let SeedArgs { inputs, format, force, prune, dry_run } = args;
    if inputs.iter().filter(|input| *input == Path::new("-")).count() > 1 {
        return Err(Failure::usage("`-` is given twice").hint("stdin can be read once"));
    }
    let notebook = cli.notebook()?;
    let sources = inputs.iter().map(|input| read(&mut cli, input, format)).collect::<Result<Vec<_>, _>>()?;
    let cast = seed::read(&sources)?;
    let names: Vec<&str> = sources.iter().map(|source| source.name.as_str()).collect();
    let options = SeedOptions { force, prune };
    let (report, _) = cli.edit(&notebook, "seed", dry_run, |draft| {
        let report = seed::seed(&mut draft.files, &cast, &options)?;
        if report.changes_the_file() {
            draft.note_intake(Outcome::Seeded, format!("{}: {}", names.join(", "), counts(&report)));
        }
        Ok(report)
    })?;
    cli.ui.warnings(&report.warnings);
    let file = notebook.store().path().display().to_string();
    if cli.ui.json {
        let about = json!({"sources": names, "dry_run": dry_run, "file": file});
        return cli.ui.json_answer(&report_json(about, &cast, &report));
    }
    show_report(&mut cli, &report);
    let (who, counts) = (describe_cast(&cast), counts(&report));
    let line = match (report.changes_the_file(), dry_run) {
        (false, _) => format!("nothing to change in {file} for {who}: {counts}\n"),
        (true, true) => format!("would seed {who} into {file}: {counts}\n"),
        (true, false) => format!("seeded {who} into {file}: {counts}\n"),
    };
    cli.ui.data(&line)?;
    Ok(0)
}

fn read(cli: &mut Cli<'_>, input: &Path, given: Option<SeedFormat>) -> Result<SeedSource, Failure> {
    let from_stdin = input == Path::new("-");
    let name = if from_stdin { "stdin".to_owned() } else { input.display().to_string() };
    cli.refuse_terminal(input)?;
    let bytes = cli.read_file(input, "give a file with agents or a scenario; see `memories seed --help`")?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let line =
            1 + error.as_bytes()[..error.utf8_error().valid_up_to()].iter().filter(|b| **b == b'\n').count();
        Failure::user(format!("`{name}` line {line} is not UTF-8")).hint("save the file as UTF-8")
    })?;
    let guessed = if from_stdin { Some(SeedFormat::of_text(&text)) } else { by_file_ending(input) };
    let format = given.or(guessed).ok_or_else(|| {
        Failure::usage(format!("the name `{name}` has no known ending"))
            .hint("give the format with `--format`: toml, yaml or json")
    })?;
    Ok(SeedSource { name, format, text })
}

/// The counts that are not 0: `3 stored, 1 revised`.
fn counts(report: &SeedReport) -> String {
    let counts = SeedOutcome::VARIANTS.iter().map(|outcome| (report.count(*outcome), outcome));
    let counts = counts.filter(|(count, _)| *count > 0).map(|(count, name)| format!("{count} {name}"));
    counts.collect::<Vec<_>>().join(", ")
}

fn show_report(cli: &mut Cli<'_>, report: &SeedReport) {
    let address = |change: &SeedChange| format!("\"{}\" of {}", change.title, change.scope);
    for change in report.of(SeedOutcome::Kept) {
        let why = change.why.unwrap_or("both were changed");
        cli.ui.warning(&format!("{}: {why}; the memory file's text stays", address(change)));
    }
    if report.count(SeedOutcome::Kept) > 0 {
        cli.ui.hint("`--force` writes the seed's text in its place");
    }
    for change in report.of(SeedOutcome::Left) {
        let why = change.why.map(|why| format!(", but {why}")).unwrap_or_default();
        cli.ui.notice(&format!("{} is no longer in the seed{why}: it stays", address(change)));
    }
    if report.count(SeedOutcome::Left) > 0 && report.of(SeedOutcome::Left).all(|change| change.why.is_none())
    {
        cli.ui.hint("`--prune` strikes it");
    }
    for change in report.changes.iter().filter(|change| change.outcome.changes()) {
        cli.ui.detail(&format!("{} {}", change.outcome, address(change)));
    }
}

/// The seeded agents and scene: `3 agents and the scene`.
fn describe_cast(cast: &Cast) -> String {
    let agents = counted(cast.agents.len(), "agent", "agents");
    match (cast.agents.len(), &cast.scene) {
        (0, _) => "the scene".to_owned(),
        (_, None) => agents,
        (_, Some(_)) => format!("{agents} and the scene"),
    }
}

/// Adds the cast and the report to an object about the call.
fn report_json(mut value: Value, cast: &Cast, report: &SeedReport) -> Value {
    value["agents"] = cast.agents.iter().map(|agent| json!(Scope::Agent(agent.id.clone()))).collect();
    value["scene"] = json!(cast.scene.is_some());
    for outcome in SeedOutcome::VARIANTS {
        value[<&str>::from(outcome)] = json!(report.count(*outcome));
    }
    let changes = report.changes.iter().filter(|change| change.outcome != SeedOutcome::Unchanged);
    value["changes"] = changes.map(|change| json!(change)).collect();
    value["warnings"] = json!(report.warnings);
    value
}

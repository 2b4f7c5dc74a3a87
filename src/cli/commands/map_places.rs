//! The places between which `path`, `near` and `frontier` look for ways.

use crate::cli::commands::viewer_args::ViewArgs;
use crate::cli::context::Cli;
use crate::cli::failure::Failure;
use memories_document::types::{Scope, ScopeName};
use memories_notebook::Snapshot;
use memories_recall::scopes;
use memories_world::standing;

/// The file that the map is read from, as the flags ask for it, after a warning where a part of it cannot be read.
pub(crate) fn read_file(cli: &mut Cli<'_>, view: ViewArgs) -> Result<Snapshot, Failure> {
    view.read_for(cli);
    let snapshot = Snapshot::read(&cli.store()?)?;
    cli.ui.warnings(&snapshot.warning());
    Ok(snapshot)
}

/// The place that a person names.
pub(crate) fn named(snapshot: &Snapshot, name: &str) -> Result<u64, Failure> {
    resolve(snapshot, name.parse()?)
}

/// The place that a person names, else the one where the player stands.
pub(crate) fn named_or_here(cli: &Cli<'_>, snapshot: &Snapshot, name: Option<&str>) -> Result<u64, Failure> {
    match name {
        Some(name) => named(snapshot, name),
        None => here(cli, snapshot)?.ok_or_else(|| {
            Failure::user("no turn of this episode was recorded, so it is not known where you are")
                .hint("name the place to start from, by its id or name")
        }),
    }
}

/// The place where the player stands, if it is known.
pub(crate) fn here(cli: &Cli<'_>, snapshot: &Snapshot) -> Result<Option<u64>, Failure> {
    standing(&cli.store()?, snapshot)?.map(|place| resolve(snapshot, place)).transpose()
}

fn resolve(snapshot: &Snapshot, name: ScopeName) -> Result<u64, Failure> {
    let scope = match name.existing() {
        // An id needs no section.
        ScopeName::Scope(scope) => scope,
        name => scopes(snapshot, &[name])?.remove(0),
    };
    match scope {
        Scope::Location(id) => Ok(id),
        other => {
            Err(Failure::usage(format!("`{other}` is not a place")).hint("ways lead from place to place"))
        }
    }
}

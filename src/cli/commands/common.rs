//! Helpers that several commands share.

use std::borrow::Borrow;
use std::fmt::Display;
use std::mem::discriminant;

use serde_json::json;

use crate::cli::context::Cli;
use crate::cli::failure::Failure;
use crate::cli::ui::Ui;
use memories_document::nearest;
use memories_document::types::{Memory, Scope, ScopeName, did_you_mean};
use memories_llm::redact::redact;
use memories_notebook::Snapshot;
use memories_recall::{RecallError, scopes};
use memories_record::places::own_id;
use memories_store::Store;

/// The next step for turns that wait for a model, said once a command.
pub(crate) const RETRY: &str = "`memories retry` offers queued turns to the model again";

/// The hint for a name that no place has, at commands with that flag.
pub(crate) const NEW_PLACE: &str = "`--new-place` gives a new place the next free id";

/// Scopes with a similar id that a hint names at most.
const NEAR_SECTIONS: usize = 3;

/// The text of the memory file, or a failure if there is none.
pub(crate) fn read_existing(store: &Store) -> Result<String, Failure> {
    store.read()?.ok_or_else(|| {
        let failure = Failure::user(format!("there is no `{}`", store.path().display()));
        match store.outweighed() {
            Some(lost) => failure.hint(lost.to_string()),
            None => failure.hint("`memories init` creates one, and so does the first `memories record`"),
        }
    })
}

impl Cli<'_> {
    /// Parses scopes of the command line.
    pub(crate) fn scope_names(&self, names: &[String]) -> Result<Vec<ScopeName>, Failure> {
        names.iter().map(|name| self.settings.working_folder.scope_name(name)).collect()
    }

    /// Resolves a scope of the command line. A name must belong to exactly one place.
    pub(crate) fn scope(&self, name: &str) -> Result<Scope, Failure> {
        match self.settings.working_folder.scope_name(name)?.existing() {
            ScopeName::Scope(scope) => Ok(scope),
            name => Ok(scopes(&Snapshot::read(&self.store()?)?, &[name])?.remove(0)),
        }
    }

    /// As [`Cli::scope`], with the name or id that the caller gave the place. No scope where no place has that name,
    /// and `new_place` or an id of the caller's allows that.
    pub(crate) fn scope_or_new(
        &self,
        name: &str,
        new_place: bool,
    ) -> Result<(Option<Scope>, String), Failure> {
        let (called, is_own_id) = match name.parse() {
            Ok(ScopeName::Place(id)) => (id, true),
            _ => (name.trim().to_owned(), false),
        };
        let failure = match self.scope(name) {
            Ok(scope) => return Ok((Some(scope), called)),
            Err(failure) => failure,
        };
        match failure.cause.downcast_ref::<RecallError>() {
            Some(RecallError::UnknownName { .. }) if new_place || is_own_id => Ok((None, called)),
            Some(RecallError::UnknownName { .. }) => {
                let own = own_id(&called);
                Err(failure.hint(format!("a new place may have an id of your own: `{own}`")).hint(NEW_PLACE))
            }
            _ => Err(failure),
        }
    }

    /// The scopes that the arguments name, each of which the file has.
    pub(crate) fn existing_scopes(&self, names: &[String]) -> Result<Vec<Scope>, Failure> {
        if names.is_empty() {
            return Ok(Vec::new());
        }
        let names = self.scope_names(names)?.into_iter().map(ScopeName::existing);
        Ok(scopes(&Snapshot::read(&self.store()?)?, &names.collect::<Vec<_>>())?)
    }
}

/// Hints at the characters, folders and topics of the file whose ids are nearest to those that it does not have. A place
/// that it does not have is visited for the first time.
pub(crate) fn hint_at_near_sections<'a>(
    ui: &mut Ui,
    snapshot: &Snapshot,
    scopes: impl IntoIterator<Item = &'a Scope>,
) {
    for scope in scopes {
        let is_there = || snapshot.headings().any(|heading| heading.scope == *scope);
        let has_text_id =
            matches!(scope, Scope::Npc(_) | Scope::Agent(_) | Scope::Folder(_) | Scope::Topic(_));
        if !has_text_id || is_there() {
            continue;
        }
        if let Some(near) = near_section(scope, snapshot.headings().map(|heading| &heading.scope)) {
            ui.hint(&format!("nothing is known of {scope}; {near}"));
        }
    }
}

/// `did you mean …`, with the scopes of the same kind whose ids are nearest. A folder is not mistaken for one above it.
pub(crate) fn near_section(scope: &Scope, known: impl Iterator<Item = impl Borrow<Scope>>) -> Option<String> {
    let wanted = scope.to_string();
    let (kind, id) = wanted.split_once(':')?;
    // Most sections of a large file are places.
    let is_alike = |other: &Scope| discriminant(other) == discriminant(scope);
    let known = known.filter(|other| is_alike(other.borrow()));
    let known: Vec<String> = known.map(|scope| scope.borrow().to_string()).collect();
    let is_above = |other: &str| match scope {
        Scope::Folder(path) => path.parents().any(|parent| parent.as_str() == other),
        _ => false,
    };
    let ids = known.iter().filter_map(|scope| scope.split_once(':'));
    let ids = ids.map(|(_, id)| id).filter(|id| !is_above(id));
    let near = nearest(id, ids, NEAR_SECTIONS);
    did_you_mean(&near.into_iter().map(|id| format!("{kind}:{id}")).collect::<Vec<_>>())
}

/// Items of an inventory as they were listed, without blank ones.
pub(crate) fn items(list: Option<Vec<String>>) -> Option<Vec<String>> {
    let items = list?.into_iter().map(|item| item.trim().to_owned());
    Some(items.filter(|item| !item.is_empty()).collect())
}

/// A number with its noun.
pub(crate) fn counted<N: Display + PartialEq + From<u8>>(count: N, one: &str, many: &str) -> String {
    if count == N::from(1) { format!("1 {one}") } else { format!("{count} {many}") }
}

/// Warns if a memory in the user's own words seems to hold a secret. It is stored nevertheless.
pub(crate) fn warn_of_secrets<'a>(cli: &mut Cli<'_>, texts: impl IntoIterator<Item = &'a String>) {
    for masked in texts.into_iter().filter_map(|text| redact(text)) {
        let kinds = masked.kinds.join(", ");
        cli.ui.warning(&format!("this looks like a secret and is stored as you wrote it: {kinds}"));
    }
}

/// Turn, if known, and place of a memory: `Turn 5 @ West of House`.
pub(crate) fn at_turn(place: &str, memory: &Memory) -> String {
    match memory.provenance.turns {
        Some(turns) => format!("Turn {} @ {place}", turns.first),
        None => place.to_owned(),
    }
}

/// The failure of a command on a section that the file does not have. `known` are the scopes that it has.
pub(crate) fn no_section(scope: &Scope, known: impl Iterator<Item = impl Borrow<Scope>>) -> Failure {
    let failure = Failure::user(format!("there is no section of {scope}"));
    let near = near_section(scope, known).into_iter();
    near.fold(failure, Failure::hint).hint("`memories list` shows what there is")
}

/// Writes the paths of files that were written, and of those that were there already.
pub(crate) fn show_written(ui: &mut Ui, written: &[String], kept: &[String]) -> Result<u8, Failure> {
    let lines = |verb: &str, paths: &[String]| -> String {
        paths.iter().map(|path| format!("{verb} {path}\n")).collect()
    };
    let text = lines("wrote", written) + &lines("kept", kept);
    ui.answer(&json!({"written": written, "kept": kept}), &text)
}

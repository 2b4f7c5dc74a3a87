//! Strikes entries: their words stay, with the reason.

use crate::add_report::KeptEntry;
use crate::authority::Authority;
use crate::contest::protected;
use crate::files::{Files, live};
use memories_document::EntryEdit;
use memories_document::types::{Reference, Scope};

/// The end of an entry that an answer calls wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Invalidated {
    /// It is struck; its title.
    Struck(String),
    /// It is protected, and stays.
    Contested(KeptEntry),
    /// There is no such entry, or more than one.
    Unknown,
}

/// Strikes an entry that an answer calls wrong, unless it is protected.
pub fn invalidate(
    files: &mut Files,
    scope: &Scope,
    title: &str,
    reference: &Reference,
    authority: Authority,
    warnings: &mut Vec<String>,
) -> Invalidated {
    match protected(files, scope, title, None, authority) {
        Some(contested) => Invalidated::Contested(contested),
        None => {
            strike(files, scope, title, reference, warnings).map_or(Invalidated::Unknown, Invalidated::Struck)
        }
    }
}

/// Strikes the live entry with a title, and gives its title as it stands there. If there is none, or several, it only adds
/// a warning.
pub fn strike(
    files: &mut Files,
    scope: &Scope,
    title: &str,
    reference: &Reference,
    warnings: &mut Vec<String>,
) -> Option<String> {
    match files.only(scope, title, live) {
        Ok(mut found) => {
            let struck = found.memory();
            found.entry.edit(EntryEdit::Supersede(Some(reference.clone())));
            Some(struck.title)
        }
        Err(0) => {
            warnings.push(format!("no live memory of {scope} is called `{title}`: left alone"));
            None
        }
        Err(several) => {
            warnings.push(format!("{several} memories of {scope} are called `{title}`: left alone"));
            None
        }
    }
}

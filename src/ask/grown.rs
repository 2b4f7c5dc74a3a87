//! Scopes that grew since a model consolidated them.
//!
//! The files and the journal enter; scopes leave, the largest growth first.

use std::cmp::Reverse;
use std::collections::HashMap;

use serde_json::Value;

use crate::ask::plan::{Action, Decision};
use memories_document::types::{Persistence, Scope};
use memories_notebook::files::Files;
use memories_notebook::same::Same;
use memories_store::StoreError;
use memories_store::journal::Journal;
use memories_store::journal::entry::Entry;

/// The number of lasting memories of a scope that may be consolidated.
pub(crate) fn lasting(files: &Files, scope: &Scope) -> usize {
    let section = files.section(scope);
    let lasts = section.live().filter(|memory| memory.persistence != Persistence::Ephemeral);
    lasts.filter(|memory| !memory.category.only_grows()).count()
}

/// The scopes that have more memories than after the last question to a model, the largest growth first.
///
/// # Errors
///
/// When the journal cannot be read.
pub(crate) fn grown(files: &Files, journal: &Journal) -> Result<Vec<Scope>, StoreError> {
    let mut kept: HashMap<String, u64> = HashMap::new();
    journal.visit(|line| {
        let entry = line.contains("\"kept\"").then(|| Entry::<Value>::parse(line)).flatten();
        if let Some(Entry { scope: Some(scope), kept: Some(count), .. }) = entry {
            kept.insert(scope.to_string(), count);
        }
    })?;
    let mut grown: Vec<(usize, Scope)> = Vec::new();
    for scope in files.scopes() {
        let before =
            kept.get(&scope.to_string()).map_or(0, |count| usize::try_from(*count).unwrap_or(usize::MAX));
        let growth = lasting(files, &scope).saturating_sub(before);
        if growth > 0 {
            grown.push((growth, scope));
        }
    }
    grown.sort_by_key(|(growth, _)| Reverse(*growth));
    Ok(grown.into_iter().map(|(_, scope)| scope).collect())
}

/// The decision that joins two memories.
pub(crate) fn decision_of(same: &Same) -> Decision {
    Decision {
        action: Action::Supersede,
        titles: vec![same.title.clone()],
        title: same.by.clone(),
        text: String::new(),
        category: None,
        reason: "It says the same.".to_owned(),
        ephemeral: false,
    }
}

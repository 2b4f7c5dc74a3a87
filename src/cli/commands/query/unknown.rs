//! Values of filters that no memory has, where nothing was found: perhaps they are misspelt.

use std::collections::BTreeSet;

use crate::cli::commands::common::near_section;
use crate::cli::ui::Ui;
use memories_document::nearest;
use memories_document::types::{Scope, did_you_mean, fold_title};
use memories_notebook::Snapshot;
use memories_search::filter::Filter;

/// Names at most that a hint offers.
const OFFERED: usize = 3;

/// Hints at each value of a filter that no memory has, with the nearest that some have.
pub(super) fn hint_at_unknown(ui: &mut Ui, snapshot: &Snapshot, filter: &Filter) {
    let has_filter = [
        filter.categories.len(),
        filter.tags.len(),
        filter.agents.len(),
        filter.about.len(),
        filter.scopes.len(),
    ];
    if has_filter == [0; 5] {
        return;
    }
    let scopes: BTreeSet<&Scope> = snapshot.headings().map(|heading| &heading.scope).collect();
    let (mut categories, mut tags) = (BTreeSet::new(), BTreeSet::new());
    for memory in (0..snapshot.entries().len()).map(|entry| snapshot.memory(entry)) {
        categories.insert(memory.category.to_string());
        tags.extend(memory.provenance.tags.iter().map(|tag| fold_title(tag)));
    }
    let wanted: Vec<String> = filter.categories.iter().map(ToString::to_string).collect();
    hint_at(ui, "category", &wanted, &categories);
    let wanted: Vec<String> = filter.tags.iter().map(|tag| fold_title(tag)).collect();
    hint_at(ui, "tag", &wanted, &tags);
    let is_npc = |id: &String| scopes.contains(&Scope::Npc(id.clone()));
    let wanted: Vec<String> =
        filter.about.iter().filter(|id| !is_npc(id)).map(|id| format!("about:{id}")).collect();
    hint_at(ui, "tag", &wanted, &tags);
    let agents = filter.agents.iter().map(|id| Scope::Agent(id.clone()));
    for scope in agents.chain(filter.scopes.iter().cloned()).filter(|scope| !scopes.contains(scope)) {
        let near = near_section(&scope, scopes.iter().copied());
        let near = near.unwrap_or_else(|| "`memories list` shows what there is".to_owned());
        ui.hint(&format!("there is no section of {scope}; {near}"));
    }
}

fn hint_at(ui: &mut Ui, what: &str, wanted: &[String], known: &BTreeSet<String>) {
    for value in wanted.iter().filter(|value| !known.contains(*value)) {
        let near = did_you_mean(&nearest(value, known.iter().map(String::as_str), OFFERED));
        let near = near.map(|near| format!("; {near}")).unwrap_or_default();
        ui.hint(&format!("no memory has the {what} `{value}`{near}"));
    }
}

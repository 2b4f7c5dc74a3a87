//! Recall: the memories that matter most at a place, within a budget of tokens.
//!
//! A snapshot of a memory file and scopes enter, as a person or script names them. Views leave, ready to be rendered.
//! It always holds that
//!
//! * nothing is locked or written;
//! * the text stays within [`Limits::max_tokens`], by the estimate of [`budget`];
//! * the answer depends on the file, the reader and the limits alone: time is an argument.
//!
//! # Where to begin
//!
//! * [`recall()`] is the whole flow: look the scopes up, rank their entries, choose what fits, make a [`View`] of each.
//! * [`choose()`] decides which memories and tried actions fit into the [`Limits`]; the module `rank` orders them.
//! * [`Judgement::verdict`] says if an action is worth another try at a place: a [`Verdict`].
//! * [`render()`] prints the views as the text that an agent reads; [`json`] prints them as values.
//!
//! # Example
//!
//! ```
//! use std::time::Duration;
//! use memories_notebook::Snapshot;
//! use memories_recall::{Format, Limits, recall, render};
//! use memories_store::Store;
//!
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("Memories.md");
//! std::fs::write(&path, "## Location 23: Living Room\n\n**[DISCOVERY] Trap door**\nIt is under the rug.\n")?;
//! let snapshot = Snapshot::read(&Store::open(&path, Duration::from_secs(10))?)?;
//! let views = recall(&snapshot, &["23".parse()?], &Limits::default(), Format::Text)?;
//! assert!(render(&views).contains("It is under the rug."));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod actions;
pub mod brief;
pub mod budget;
mod candidates;
mod choose;
mod circumstances;
mod error;
mod evidence;
mod fit;
mod fit_actions;
mod format;
pub mod json;
mod limits;
mod lookup;
mod rank;
mod render;
mod view;

use memories_document::types::{Memory, Scope, ScopeName};
use memories_document::{PlaceNames, Section};
use memories_notebook::{AnchoredFiles, KnownChanges, Snapshot};
use memories_world::BestRun;

pub use actions::Actions;
pub use choose::{Known, choose};
pub use circumstances::Circumstances;
pub use error::RecallError;
pub use evidence::{Evidence, Judgement, Verdict};
pub use format::Format;
pub use limits::Limits;
pub use lookup::{owned_sections, parent_sections, scopes};
pub use render::{render, render_stale};
pub use view::{Linked, View};

/// The views of scopes as a reader sees them, in the order asked for, together within the limits. Behind them stand the
/// folders above the folders among them, as far as these have something to show.
///
/// # Errors
///
/// `RecallError::UnknownName` or `RecallError::AmbiguousName`.
pub fn recall(
    snapshot: &Snapshot,
    names: &[ScopeName],
    limits: &Limits,
    format: Format,
) -> Result<Vec<View>, RecallError> {
    recall_newest(snapshot, names, limits, format, usize::MAX, None)
}

/// As [`recall`], limited to the newest memories of each scope. With the files of the repository, a memory that is
/// shown says which of the files that it is anchored to have changed since.
///
/// # Errors
///
/// See [`recall`].
pub fn recall_newest(
    snapshot: &Snapshot,
    names: &[ScopeName],
    limits: &Limits,
    format: Format,
    count: usize,
    files: Option<&dyn AnchoredFiles>,
) -> Result<Vec<View>, RecallError> {
    let ahead = BestRun::to_follow(snapshot);
    let mut circumstances = Circumstances::in_snapshot(snapshot, ahead.as_ref());
    circumstances.files = files;
    recall_in(&circumstances, snapshot, names, limits, format, count)
}

/// The same in circumstances that were found once for many places.
///
/// # Errors
///
/// See [`recall`].
pub fn recall_in(
    circumstances: &Circumstances<'_>,
    snapshot: &Snapshot,
    names: &[ScopeName],
    limits: &Limits,
    format: Format,
    count: usize,
) -> Result<Vec<View>, RecallError> {
    let meant = lookup::resolve(snapshot, names)?;
    let parents = lookup::parents_of(meant.iter().map(|meant| &meant.scope)).into_iter();
    let mut sections = lookup::owned(snapshot, meant);
    let mut above: Vec<(Scope, Section)> = parents.map(|scope| lookup::known(snapshot, scope)).collect();
    for (_, section) in sections.iter_mut().chain(&mut above) {
        keep_newest(section, count);
    }
    let mut changes = KnownChanges::default();
    let mut views = loop {
        let views = choose_in(circumstances, snapshot, [&sections, &above], &changes, limits, format);
        // The words about changed files take room, so what fits is chosen anew.
        if !circumstances.files.is_some_and(|files| changes.look(files, shown(&views))) {
            break views;
        }
        for (scope, section) in sections.iter_mut().chain(&mut above) {
            section.memories.iter_mut().for_each(|memory| changes.say(scope, memory));
        }
    };
    for view in &mut views {
        view.misread_line = snapshot.misread_line(&view.scope);
    }
    Ok(views)
}

/// The memories that are shown, each with its scope.
fn shown(views: &[View]) -> impl Iterator<Item = (&Scope, &Memory)> {
    views.iter().flat_map(|view| {
        let linked = view.linked.iter().map(|piece| (&piece.value.scope, &piece.value.memory));
        view.memories.iter().map(|piece| (&view.scope, &piece.value)).chain(linked)
    })
}

/// The views of sections, and of those above them.
fn choose_in(
    circumstances: &Circumstances<'_>,
    snapshot: &Snapshot,
    [sections, above]: [&[(Scope, Section)]; 2],
    changes: &KnownChanges,
    limits: &Limits,
    format: Format,
) -> Vec<View> {
    let linked = |scope: &Scope, title: &str| {
        let is_shown = sections.iter().chain(above).any(|(shown, _)| shown == scope);
        let section = (!is_shown).then(|| snapshot.section(scope))?;
        let mut memory = section.live_with_title(title)?.clone();
        changes.say(scope, &mut memory);
        Some((section.name.clone(), memory))
    };
    let ways = sections.iter().chain(above).flat_map(|(_, section)| &section.ways);
    // A recall without ways does not look at the names of all places.
    let nothing = PlaceNames::default();
    let names = if ways.clone().next().is_some() { snapshot.place_names() } else { &nothing };
    let ends = snapshot.ends_of(ways);
    let known = Known { linked: &linked, names, ends: &ends, circumstances };
    choose(sections, above, &known, limits, format)
}

/// Keeps no more than the newest memories of a section.
fn keep_newest(section: &mut Section, count: usize) {
    if section.memories.len() > count {
        let kept = brief::newest_of(&section.memories, count);
        let mut at = 0..;
        section.memories.retain(|_| at.next().is_some_and(|at| kept.contains(&at)));
    }
}

#[cfg(test)]
mod tests {
    mod viewers;

    use std::time::Duration;

    use super::*;
    use memories_store::{Change, Store};

    #[test]
    fn ways_bear_the_names_of_the_headings_whatever_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path().join("Memories.md"), Duration::from_secs(10)).unwrap();
        let ways = "### Ways\n\n- `e` → [Cave](#location-2-cave)\n- `w` → [Room](#location-1-room)\n- `up` → [Attic](#location-9-attic)";
        let text = format!("## Location 1: Hall\n\n{ways}\n\n## Location 2: Vault\n\n## Location 3: Cave\n");
        let written = store.update(|_, _| Ok::<_, RecallError>(Change::to(text.clone(), ())));
        let _ = written.unwrap();
        let names: [ScopeName; 1] = ["1".parse().unwrap()];
        let views =
            recall(&Snapshot::read(&store).unwrap(), &names, &Limits::default(), Format::Text).unwrap();
        let shown = render(&views);
        for way in ["e → Vault", "w → Hall", "up → Attic"] {
            assert!(shown.contains(way), "{shown}");
        }
        assert!(views[0].actions.ways.iter().any(|walked| walked.way.name == "Vault"));
    }
}

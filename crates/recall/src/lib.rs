//! Recall: the memories that matter most at a place, within a budget of tokens.
//!
//! A snapshot of a memory file and scopes enter, as a person or script names them; views leave, ready to
//! be rendered. Nothing is locked or written.

mod actions;
mod ahead;
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
mod said;
mod view;

use memories_document::types::{Memory, Scope, ScopeName, Viewer};
use memories_document::{EntryText, UnreadSection};
use memories_notebook::Snapshot;
use memories_world::BestRun;

pub use actions::Actions;
use choose::choose_with_parents;
pub use choose::{Known, choose};
pub use circumstances::Circumstances;
pub use error::RecallError;
pub use evidence::{Evidence, Judgement, Verdict};
pub use format::Format;
pub use limits::Limits;
pub use lookup::read;
pub use lookup::{owned_sections, parent_sections, read_scopes, sections};
pub use render::render;
pub use view::{Linked, View};

/// The views of scopes as a reader sees them, in the order asked for, together within the limits. Behind them stand the
/// folders above the folders among them, as far as these have something to show.
///
/// # Errors
///
/// `RecallError::UnknownName` or `RecallError::AmbiguousName`.
pub fn recall(
    snapshot: &Snapshot,
    viewer: &Viewer,
    names: &[ScopeName],
    limits: &Limits,
    format: Format,
) -> Result<Vec<View>, RecallError> {
    recall_newest(snapshot, viewer, names, limits, format, usize::MAX)
}

/// As [`recall`], of no more than the newest memories of each scope.
///
/// # Errors
///
/// See [`recall`].
pub fn recall_newest(
    snapshot: &Snapshot,
    viewer: &Viewer,
    names: &[ScopeName],
    limits: &Limits,
    format: Format,
    count: usize,
) -> Result<Vec<View>, RecallError> {
    let run = BestRun::entry_to_follow(snapshot);
    let text = run.as_ref().map(|_| snapshot.whole_text()).unwrap_or_default();
    let ahead = run.and_then(|run| BestRun::of(run, &text, snapshot.running_episode()));
    recall_ahead(snapshot, viewer, names, limits, format, count, ahead.as_ref())
}

/// The same with what of the best run is still to be done, which is found once for many places.
///
/// # Errors
///
/// See [`recall`].
pub fn recall_ahead(
    snapshot: &Snapshot,
    viewer: &Viewer,
    names: &[ScopeName],
    limits: &Limits,
    format: Format,
    count: usize,
    ahead: Option<&BestRun<'_>>,
) -> Result<Vec<View>, RecallError> {
    let meant = lookup::resolve(snapshot, viewer, names)?;
    let seen = |meant: &lookup::Meant| match &meant.to_come {
        Some(name) => UnreadSection::nothing(&meant.scope).called(name),
        None if viewer.sees(&meant.scope) => snapshot.unread(&meant.scope),
        None => UnreadSection::nothing(&meant.scope),
    };
    let mut sections: Vec<UnreadSection<'_>> = meant.iter().map(seen).collect();
    let mut scopes: Vec<Scope> = meant.into_iter().map(|meant| meant.scope).collect();
    let parents = lookup::parents_of(scopes.iter());
    let mut above: Vec<UnreadSection<'_>> = parents.iter().map(|scope| snapshot.unread(scope)).collect();
    for section in sections.iter_mut().chain(&mut above) {
        section.entries.retain(|entry| entry.is_confirmed_by(limits.confirmed_by));
        keep_newest(section, count);
    }
    scopes.extend(parents);
    let linked = |scope: &Scope, title: &str| {
        let is_linked = viewer.sees(scope) && !scopes.contains(scope);
        let unread = is_linked.then(|| snapshot.unread(scope))?;
        let found = unread.live_with_title(title)?;
        let is_shown = found.is_confirmed_by(limits.confirmed_by);
        is_shown.then(|| (unread.section.name.clone(), found.read()))
    };
    let ways = sections.iter().chain(&above).flat_map(|unread| &unread.section.ways);
    let (ends, names) = snapshot.ends_of(ways);
    let game = snapshot.unread(&Scope::Game);
    let running = snapshot.running_episode();
    let circumstances =
        Circumstances::of(&game.section, running, || snapshot.whole_text().into_owned()).with_ahead(ahead);
    let known = Known { linked: &linked, names: &names, ends: &ends, circumstances: &circumstances };
    let mut views = choose_with_parents(&sections, &above, &known, limits, format);
    for view in &mut views {
        view.misread_line = snapshot.misread_line(&view.scope);
    }
    Ok(views)
}

/// Keeps no more than the newest memories of a section.
fn keep_newest(unread: &mut UnreadSection<'_>, count: usize) {
    if unread.entries.len() <= count {
        return;
    }
    let memories: Vec<Memory> = unread.entries.iter().map(EntryText::read).collect();
    let mut kept = brief::newest_of(&memories, count);
    kept.sort_unstable();
    unread.entries = kept.into_iter().map(|at| unread.entries[at]).collect();
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;
    use memories_document::Section;
    use memories_notebook::SharedSnapshot;
    use memories_store::{Change, Store};

    fn store() -> (tempfile::TempDir, Store) {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path().join("Memories.md"), Duration::from_secs(10)).unwrap();
        (folder, store)
    }

    fn write(store: &Store, text: String, session: String) {
        let update = store
            .update(|_, _| Ok::<_, RecallError>(Change::to(text.clone(), ()).with_session(session.clone())));
        let _ = update.unwrap();
    }

    /// A recall from the shared snapshot, and one that reads only what it needs.
    fn assert_same(shared: &SharedSnapshot, names: &[ScopeName]) {
        let snapshot = shared.current().unwrap();
        let store = shared.store();
        let said =
            |result: Result<Vec<(Scope, Section)>, RecallError>| result.map_err(|error| format!("{error:?}"));
        let shared = owned_sections(&snapshot, &Viewer::Person, names);
        assert_eq!(said(shared), said(read_scopes(store, names)), "{names:?}");
        let limits = Limits::default();
        let views = |result: Result<Vec<View>, RecallError>| result.map_err(|error| error.to_string());
        let fresh = read(store, names)
            .and_then(|snapshot| recall(&snapshot, &Viewer::Person, names, &limits, Format::Text));
        assert_eq!(
            views(recall(&snapshot, &Viewer::Person, names, &limits, Format::Text)),
            views(fresh),
            "{names:?}"
        );
    }

    fn names() -> Vec<ScopeName> {
        [
            "1",
            "world",
            "dir:src/search",
            "7",
            "maze",
            "hall",
            "location:maze",
            "location:9x",
            "location:attic",
            "dir:src",
        ]
        .map(|name| name.parse().unwrap())
        .into()
    }

    #[test]
    fn a_snapshot_says_what_a_fresh_read_says_also_after_a_change() {
        let (_folder, store) = store();
        let shared = SharedSnapshot::new(store.clone());
        let names = names();
        for text in [
            "",
            "## Location 1: Hall\n**Visits:** 2\n\n**[NOTE] a**\nx\nSee also: [[World › b]]\n\n## World\n\n**[EVENT] b**\ny\n",
            "## Location 1: Hall\n\n**[NOTE] c**\nz\n\n## Location 2: Maze\n\n## Location 3: Maze\n\n## Location 1: Hall\n**[NOTE] d**\n",
        ] {
            write(&store, text.to_owned(), String::new());
            for _ in 0..2 {
                for names in names.iter().map(std::slice::from_ref).chain([&names[..3]]) {
                    assert_same(&shared, names);
                }
            }
        }
        assert_eq!(shared.current().unwrap().headings().count(), 4);
    }

    #[test]
    fn ways_bear_the_names_of_the_headings_whatever_is_read() {
        let (_folder, store) = store();
        let ways = "### Ways\n\n- `e` → [Cave](#location-2-cave)\n- `w` → [Room](#location-1-room)\n- `up` → [Attic](#location-9-attic)";
        let text = format!("## Location 1: Hall\n\n{ways}\n\n## Location 2: Vault\n\n## Location 3: Cave\n");
        write(&store, text, String::new());
        let names = &names()[..1];
        assert_same(&SharedSnapshot::new(store.clone()), names);
        let views =
            recall(&read(&store, names).unwrap(), &Viewer::Person, names, &Limits::default(), Format::Text)
                .unwrap();
        let shown = render(&views, Format::Text);
        for way in ["e → Vault", "w → Hall", "up → Attic"] {
            assert!(shown.contains(way), "{shown}");
        }
        assert!(views[0].actions.ways.iter().any(|walked| walked.way.name == "Vault"));
    }

    /// Lines of a memory file: headings, entries with links, fences that may stay open.
    fn text() -> impl Strategy<Value = String> {
        let line = prop::sample::select(vec![
            "## Location 1: Hall",
            "## Location 2: Maze",
            "## Location 7: Maze",
            "## Location 1: Old Hall",
            "## World",
            "## Folder src/search",
            "## Folder src: Code",
            "## Folder /",
            "See also: [[Folder src › a]]",
            "**Visits:** 2",
            "**[NOTE] a** *(Ep1, T2)*",
            "**[EVENT] b**",
            "**[DANGER - SUPERSEDED] c**",
            "See also: [[World › b]]",
            "See also: [[Location 7 › a]], [[Location 1 › b]]",
            "- `take lamp`: No.",
            "### Ways",
            "- `e` → [Cave](#location-7-cave)",
            "words",
            "```",
            "<!--",
            "-->",
            "---",
            "",
        ]);
        prop::collection::vec(line, 0..30).prop_map(|lines| lines.join("\n"))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn a_snapshot_says_what_a_fresh_read_says_after_any_edits(
            edits in prop::collection::vec((text(), text()), 1..4),
        ) {
            let (_folder, store) = store();
            let shared = SharedSnapshot::new(store.clone());
            let names = names();
            for (text, session) in edits {
                write(&store, text, session);
                for names in names.iter().map(std::slice::from_ref).chain([&names[..3]]) {
                    assert_same(&shared, names);
                }
            }
        }
    }
}

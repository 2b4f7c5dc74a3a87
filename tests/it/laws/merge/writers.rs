//! Merging what named writers wrote: tags are sets, who confirms an entry keeps it alive, and equal texts are one entry.

use std::collections::BTreeSet;

use memories::document::Document;
use memories::types::{Memory, Status};
use proptest::prelude::*;

use super::merged;

/// An entry of a side: title, text, episode, writers, and its state.
#[derive(Debug, Clone)]
struct Entry {
    title: &'static str,
    text: &'static str,
    episode: u64,
    writers: BTreeSet<&'static str>,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Live,
    Struck,
    /// It contests the entry of that title.
    Contests(&'static str),
}

/// A change of one side.
#[derive(Debug, Clone)]
enum Change {
    Confirm(usize, &'static str),
    Strike(usize),
    Add(Entry),
}

fn writer() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["alex", "jordan", "kim"])
}

fn entry() -> impl Strategy<Value = Entry> {
    let state = prop_oneof![
        4 => Just(State::Live),
        1 => prop::sample::select(vec!["Troll", "Lamp"]).prop_map(State::Contests),
    ];
    let title = prop::sample::select(vec!["Troll", "Lamp", "Rug", "Door"]);
    let text = prop::sample::select(vec!["It is so.", "It is not so.", "Beware."]);
    (title, text, 1..3u64, prop::collection::btree_set(writer(), 0..3), state)
        .prop_map(|(title, text, episode, writers, state)| Entry { title, text, episode, writers, state })
        .prop_filter("nothing contests itself", |entry| entry.state != State::Contests(entry.title))
}

fn changes() -> impl Strategy<Value = Vec<Change>> {
    let change = prop_oneof![
        3 => (0..4usize, writer()).prop_map(|(at, writer)| Change::Confirm(at, writer)),
        1 => (0..4usize).prop_map(Change::Strike),
        3 => entry().prop_map(Change::Add),
    ];
    prop::collection::vec(change, 0..5)
}

/// A side after its changes. As the program does, it gives a title to one live entry, and signs no entry of a person.
fn changed(base: &[Entry], changes: &[Change]) -> Vec<Entry> {
    let mut entries = base.to_vec();
    for change in changes {
        match change {
            Change::Confirm(at, writer) => {
                let found = entries.get_mut(*at).filter(|entry| entry.state != State::Struck);
                found.filter(|entry| !entry.writers.is_empty()).map(|entry| entry.writers.insert(writer));
            }
            Change::Strike(at) => {
                entries.get_mut(*at).into_iter().for_each(|entry| entry.state = State::Struck);
            }
            Change::Add(new) => {
                let is_there =
                    |old: &Entry| old.title == new.title || old.text == new.text && old.state == new.state;
                if !entries.iter().any(is_there) {
                    entries.push(new.clone());
                }
            }
        }
    }
    entries
}

fn text(entries: &[Entry]) -> String {
    let written = entries.iter().map(|Entry { title, text, episode, writers, state }| {
        let tags: String = writers.iter().map(|name| format!(", #by:{name}")).collect();
        match state {
            State::Live => format!("**[NOTE] {title}** *(Ep{episode}{tags})*\n{text}\n\n"),
            State::Struck => format!(
                "**[NOTE - SUPERSEDED] {title}** *(Ep{episode}{tags})*\n[Invalidated: \"no\"]\n~~{text}~~\n\n"
            ),
            State::Contests(other) => format!(
                "**[NOTE - TENTATIVE] {title}** *(Ep{episode}{tags}, #contested)*\n{text}\n\
                 See also: [[Location 5 › {other}]]\n\n"
            ),
        }
    });
    format!("## Location 5: Bridge\n\n### Memories\n\n{}---\n", written.collect::<String>())
}

fn read(text: &str) -> Vec<Memory> {
    let sections = Document::parse(text.to_owned()).sections();
    sections.into_iter().flat_map(|(_, section)| section.memories).collect()
}

/// The entries as a set: title, text, status, and sets of tags and links.
fn said(text: &str) -> BTreeSet<String> {
    let sorted = |list: &mut Vec<String>| list.sort();
    let said = read(text).into_iter().map(|mut memory| {
        sorted(&mut memory.provenance.tags);
        let mut links: Vec<String> =
            memory.see_also.iter().flat_map(|line| line.split(", ").map(str::to_owned)).collect();
        sorted(&mut links);
        let Memory { title, text, status, provenance, .. } = &memory;
        format!("{title:?} {text:?} {status:?} {:?} {links:?}", provenance.tags)
    });
    said.collect()
}

proptest! {
    #[test]
    fn what_writers_say_survives_and_the_sides_may_be_swapped(
        first in prop::collection::vec(entry(), 0..4), one in changes(), other in changes(),
    ) {
        let added: Vec<Change> = first.into_iter().map(Change::Add).collect();
        let base = changed(&[], &added);
        let (ours, theirs) = (changed(&base, &one), changed(&base, &other));
        let [base_text, our_text, their_text] = [&base, &ours, &theirs].map(|entries| text(entries));
        let both = merged(&base_text, &our_text, &their_text);
        let swapped = merged(&base_text, &their_text, &our_text);
        prop_assert_eq!(said(&both), said(&swapped), "{}\nor\n{}", both, swapped);
        prop_assert_eq!(merged(&their_text, &both, &their_text), both.clone());
        // A contest whose target got the title of the other side is not known again in the text of before.
        let contests = |entry: &Entry| matches!(entry.state, State::Contests(_));
        if !ours.iter().chain(&theirs).any(contests) {
            prop_assert_eq!(said(&merged(&base_text, &both, &their_text)), said(&both));
        }
        let memories = read(&both);
        for (side, other) in [(&ours, &theirs), (&theirs, &ours)] {
            for entry in side {
                let keeps = |memory: &&Memory| {
                    memory.text == entry.text && entry.writers.iter().all(|name| memory.writers().contains(name))
                };
                let found = memories.iter().find(keeps);
                prop_assert!(found.is_some(), "{entry:?}\n{both}");
                let of_base = base.iter().find(|old| old.title == entry.title && old.text == entry.text);
                let Some(old) = of_base.filter(|old| old.state == State::Live) else { continue };
                // A writer that the other side did not know when it struck the entry.
                let struck = other.iter().find(|one| one.title == entry.title && one.state == State::Struck);
                let is_new = |name: &&str| {
                    !old.writers.contains(name) && struck.is_some_and(|one| !one.writers.contains(name))
                };
                let is_upheld = entry.state == State::Live && entry.writers.iter().any(is_new);
                if is_upheld {
                    let live = memories.iter().any(|memory| keeps(&memory) && memory.status == Status::Active);
                    prop_assert!(live, "{entry:?}\n{both}");
                }
            }
        }
    }
}

fn place(entries: &str) -> String {
    format!("## Location 5: Bridge\n\n### Memories\n\n{entries}---\n")
}

#[test]
fn equal_texts_of_writers_are_one_entry_of_the_earlier_moment() {
    let one = place("**[NOTE] Troll sleeps** *(Ep2, #by:alex)*\nIt sleeps.\n\n");
    let other = place(
        "**[NOTE] A troll** *(Ep1, #by:jordan)*\nit  sleeps.\n\n\
         **[NOTE - SUPERSEDED] Troll** *(#by:jordan)*\n[Superseded by \"A troll\"]\n~~It eats.~~\n\n",
    );
    let titled = merged(&place(""), &one, &other);
    assert!(titled.contains("**[NOTE] A troll** *(Ep1, #by:jordan, #by:alex)*\nit  sleeps."), "{titled}");
    assert_eq!(titled.matches("sleeps").count(), 1, "{titled}");
    let unsigned = merged(&place(""), &one.replace(", #by:alex", ""), &other);
    assert_eq!(unsigned.matches("It sleeps.").count(), 1, "a person's entry stays beside: {unsigned}");
    assert!(unsigned.contains("Troll sleeps") && unsigned.contains("A troll"), "{unsigned}");
    let renamed = merged(&place(""), &one.replace("Ep2", "Ep1").replace("Troll sleeps", "A bat"), &other);
    assert!(
        renamed.contains("[Superseded by \"A bat\"]"),
        "the smaller title, followed by what it struck: {renamed}"
    );
}

#[test]
fn who_says_the_same_as_a_contest_is_not_merged_into_it() {
    let contest = "**[NOTE - TENTATIVE] Troll (2)** *(#by:mallory, #contested)*\nThe bridge is old.\n\
                   See also: [[Location 5 › Troll]]\n\n";
    let troll = "**[NOTE] Troll** *(#by:alex, #by:jordan)*\nIt sleeps.\n\n";
    for title in ["Bridge", "Troll (2)"] {
        let plain = format!("**[NOTE] {title}** *(#by:kim)*\nThe bridge is old.\n\n");
        let text =
            merged(&place(troll), &place(&format!("{troll}{contest}")), &place(&format!("{troll}{plain}")));
        assert_eq!(text.matches("The bridge is old.").count(), 2, "{text}");
        let contests = read(&text).into_iter().find(|memory| memory.status == Status::Tentative).unwrap();
        assert_eq!(contests.writers(), ["mallory"], "{text}");
    }
    let same = contest.replace("mallory", "kim").replace("Troll (2)", "Awake");
    let text = merged(&place(troll), &place(&format!("{troll}{contest}")), &place(&format!("{troll}{same}")));
    assert_eq!(text.matches("The bridge is old.").count(), 1, "{text}");
    assert_eq!(read(&text)[1].writers().len(), 2, "{text}");
}

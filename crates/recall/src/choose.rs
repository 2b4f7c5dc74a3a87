//! Chooses the memories and actions that fit the budget.
//!
//! `candidates` ranks memories. The numbers of successes and failures are limited. Chosen memories keep the order of
//! the file. First come core, DANGER, changes of the score and finds; then ways and worked actions; then the other
//! memories, seen actions, and tries, for which a part of the room is reserved. Actions also get the room that the
//! memories leave; their replies are shortened before an action is left out.

use std::collections::HashMap;

use crate::actions::Actions;
use crate::budget::{cut_at_word, estimate_tokens};
use crate::candidates::{Candidate, candidates, choose_memories};
use crate::circumstances::Circumstances;
use crate::evidence::Judgement;
use crate::fit::{Piece, fit};
use crate::fit_actions::{fit_actions, rooms_for};
use crate::format::Format;
use crate::limits::Limits;
use crate::lookup::links_of;
use crate::render;
use crate::view::{Linked, View};
use memories_document::types::{Memory, Scope};
use memories_document::{Note, PlaceNames, Section};

/// Lines about the folders above of which nothing fits may take one part in this many of the budget.
const PARENTS_SHARE: usize = 4;

/// Limit of linked memories shown with one scope.
const MAX_LINKED: usize = 3;

/// Links that are looked up to find these: each is searched in its whole section.
const LINKS: usize = 100;

/// Finds the live memory of a title in a section, and the section's name.
type FindLinked<'a> = dyn Fn(&Scope, &str) -> Option<(String, Memory)> + 'a;

/// Knowledge from outside the sections that are recalled.
#[derive(Clone, Copy)]
pub struct Known<'a> {
    /// For the memories of other sections to which a memory may link.
    pub linked: &'a FindLinked<'a>,
    /// The names that several places share.
    pub names: &'a PlaceNames,
    /// The names of places to which ways lead, by their headings.
    pub ends: &'a HashMap<u64, &'a str>,
    /// What the game does not understand, and what was done in this episode.
    pub circumstances: &'a Circumstances<'a>,
}

/// All that a scope has to show.
struct Offer<'a> {
    scope: &'a Scope,
    section: &'a Section,
    is_parent: bool,
    live: Vec<Candidate<'a>>,
    actions: Actions,
}

impl Offer<'_> {
    /// True if nothing is known of the scope.
    fn is_empty(&self) -> bool {
        self.live.len() + self.actions.len() + self.section.notes.len() == 0
    }
}

/// Chooses what to show of each scope, all together within the budget, followed by the `parents`: the folders above the
/// sections, in their order, within the budget that the sections leave. Folders of which nothing is known are left out.
pub fn choose(
    sections: &[(Scope, Section)],
    parents: &[(Scope, Section)],
    known: &Known<'_>,
    limits: &Limits,
    format: Format,
) -> Vec<View> {
    let first_place =
        sections.iter().map(|(scope, _)| scope).find(|scope| matches!(scope, Scope::Location(_)));
    let actions_of = |scope: &Scope, section: &Section| {
        let judgement = Judgement::of(section, known.circumstances);
        let actions = Actions::of(section, &judgement, known.names, known.ends);
        match scope {
            Scope::Folder(_) => actions.of_commands(),
            scope if Some(scope) == first_place => {
                actions.with_circumstances(scope, section, known.circumstances)
            }
            _ => actions,
        }
    };
    let offer = |scope, section, is_parent| {
        let live = candidates(Section::live(section), limits, format);
        Offer { scope, section, is_parent, live, actions: actions_of(scope, section) }
    };
    let offers: Vec<Offer<'_>> =
        sections.iter().map(|(scope, section)| offer(scope, section, false)).collect();
    let above = parents.iter().map(|(scope, section)| offer(scope, section, true));
    let above: Vec<Offer<'_>> = above.filter(|offer| !offer.is_empty()).collect();
    let notice = estimate_tokens(&render::notice(format));
    let limits = &Limits { max_tokens: limits.max_tokens.map(|most| most.saturating_sub(notice)), ..*limits };
    let Some(budget) = limits.max_tokens else {
        return offers.iter().chain(&above).map(|offer| everything(offer, known, limits, format)).collect();
    };
    let fit = |offer: &Offer<'_>, budget: usize| choose_one(offer, known, limits, budget, format);
    let used = |view: &View| cost_of_view(view, 2);
    // Each of them says at least that it is there, if that takes no more than a part of the budget.
    let mut lines =
        above.iter().map(|offer| used(&nothing(offer, format))).sum::<usize>().min(budget / PARENTS_SHARE);
    let mut views = share(&offers, budget.saturating_sub(lines), fit);
    let mut left = budget.saturating_sub(if above.is_empty() { 0 } else { views.iter().map(used).sum() });
    for offer in &above {
        lines = lines.saturating_sub(used(&nothing(offer, format)));
        let view = fit(offer, left.saturating_sub(lines));
        if let Some(rest) = left.checked_sub(used(&view)) {
            left = rest;
            views.push(view);
        }
    }
    views
}

/// Chooses what to show of scopes that have the same right to a budget.
fn share(offers: &[Offer<'_>], budget: usize, fit: impl Fn(&Offer<'_>, usize) -> View) -> Vec<View> {
    let one = |at: usize, budget: usize| fit(&offers[at], budget);
    if let [offer] = offers {
        return vec![fit(offer, budget)];
    }
    // Each scope gets an equal share of what is left, the one that needs least first: so what one does not
    // use goes to those that need more, whatever their order.
    let wanted = |at: &usize| cost_of_view(&one(*at, budget), offers.len());
    let mut order: Vec<usize> = (0..offers.len()).collect();
    order.sort_by_cached_key(wanted);
    let mut views: Vec<(usize, View)> = Vec::with_capacity(offers.len());
    let mut left = budget;
    for at in order {
        let view = one(at, left / (offers.len() - views.len()));
        left = left.saturating_sub(cost_of_view(&view, offers.len()));
        views.push((at, view));
    }
    views.sort_by_key(|(at, _)| *at);
    views.into_iter().map(|(_, view)| view).collect()
}

fn cost_of_view(view: &View, scopes: usize) -> usize {
    estimate_tokens(&render::render_view(view, scopes > 1)) + 1
}

/// A view that shows nothing of a scope.
fn nothing(offer: &Offer<'_>, format: Format) -> View {
    let Offer { scope, section, is_parent, live, actions } = offer;
    View {
        scope: (*scope).clone(),
        format,
        is_parent: *is_parent,
        name: section.name.clone(),
        visits: section.visits,
        episodes: section.episodes.clone(),
        memories: Vec::new(),
        linked: Vec::new(),
        actions: Actions::default(),
        notes: Vec::new(),
        misread_line: None,
        memories_left_out: live.len(),
        ways_left_out: actions.ways.len(),
        worked_left_out: actions.worked.len(),
        seen_left_out: actions.seen.len(),
        tried_left_out: actions.tried.len(),
        notes_left_out: section.notes.len(),
    }
}

/// A view that shows all of a scope.
fn everything(offer: &Offer<'_>, known: &Known<'_>, limits: &Limits, format: Format) -> View {
    let view = View {
        memories: offer.live.iter().map(|candidate| candidate.piece().clone()).collect(),
        actions: offer.actions.clone(),
        notes: offer.section.notes.iter().map(|note| note_piece(note, &note.text, format)).collect(),
        ..nothing(offer, format)
    };
    let linked = follow_links(&view, known);
    let linked =
        linked.iter().map(|linked| linked_piece(linked, &linked.memory.text, limits, format)).collect();
    without_left_out(View { linked, ..view })
}

/// Counts only as left out what is not shown.
fn without_left_out(mut view: View) -> View {
    view.memories_left_out -= view.memories.len();
    view.ways_left_out -= view.actions.ways.len();
    view.worked_left_out -= view.actions.worked.len();
    view.seen_left_out -= view.actions.seen.len();
    view.tried_left_out -= view.actions.tried.len();
    view.notes_left_out -= view.notes.len();
    view
}

fn choose_one(offer: &Offer<'_>, known: &Known<'_>, limits: &Limits, budget: usize, format: Format) -> View {
    let mut view = nothing(offer, format);
    // Always shown: header, visits, the note on what was left out.
    let frame = View { is_parent: false, ..view.clone() };
    let frame = estimate_tokens(&render::render_view(&frame, true)) + 2;
    let room = budget.saturating_sub(frame);
    let rooms = rooms_for(&offer.actions, room, format);
    let (memories, mut used) = choose_memories(&offer.live, &rooms);
    view.memories = memories;
    let left = |used: usize| rooms.other.saturating_sub(used);
    for linked in follow_links(&view, known) {
        let heading =
            if view.linked.is_empty() { estimate_tokens(render::linked_heading(format)) } else { 0 };
        let with = |text: &str| linked_piece(&linked, text, limits, format);
        if let Some(piece) = fit(&linked.memory.text, left(used + heading), with) {
            used += heading + piece.tokens;
            view.linked.push(piece);
        }
    }
    view.notes = fit_notes(&offer.section.notes, left(used), limits, format);
    if !view.notes.is_empty() {
        used += estimate_tokens(render::notes_heading(format));
        used += view.notes.iter().map(|piece| piece.tokens).sum::<usize>();
    }
    let actions = offer.actions.without_what_is_said(view.memories.iter().map(|piece| &piece.value));
    view.actions = fit_actions(&actions, room.saturating_sub(used), format);
    without_left_out(view)
}

/// The live memories of other sections to which the memories shown link, in their order.
fn follow_links(view: &View, known: &Known<'_>) -> Vec<Linked> {
    let mut found: Vec<Linked> = Vec::new();
    let links = view.memories.iter().flat_map(|piece| links_of(&piece.value));
    for link in links.take(LINKS) {
        let (Some(scope), Some(title)) = (link.scope, link.title) else { continue };
        let memory = if scope == view.scope { None } else { (known.linked)(&scope, &title) };
        let Some((name, memory)) = memory else { continue };
        let linked = Linked { scope, name, memory };
        if !found.contains(&linked) {
            found.push(linked);
        }
        if found.len() == MAX_LINKED {
            break;
        }
    }
    found
}

/// A linked memory with this text.
fn linked_piece(linked: &Linked, text: &str, limits: &Limits, format: Format) -> Piece<Linked> {
    let memory = Memory { text: text.to_owned(), ..linked.memory.clone() };
    let linked = Linked { memory, ..linked.clone() };
    let text = render::render_linked(&linked, format, limits.now);
    Piece::new(linked, text)
}

/// A note with this text.
fn note_piece(note: &Note, text: &str, format: Format) -> Piece<Note> {
    let note = Note { text: text.to_owned(), ..note.clone() };
    let text = render::render_note(&note, format);
    Piece::new(note, text)
}

/// The notes that fit into what is left together with their heading, whole or cut after a sentence.
fn fit_notes(notes: &[Note], left: usize, limits: &Limits, format: Format) -> Vec<Piece<Note>> {
    let heading = estimate_tokens(render::notes_heading(format));
    let Some(mut left) = left.checked_sub(heading) else { return Vec::new() };
    let mut fitting = Vec::new();
    for note in notes {
        let text = match limits.max_text_chars {
            0 => note.text.clone(),
            chars => cut_at_word(&note.text, chars),
        };
        if let Some(piece) = fit(&text, left, |text| note_piece(note, text, format)) {
            left -= piece.tokens;
            fitting.push(piece);
        }
    }
    fitting
}

#[cfg(test)]
mod tests {
    use super::*;
    use memories_document::Document;
    use memories_document::types::FolderPath;

    fn section(document: &Document, scope: Scope) -> (Scope, Section) {
        let section = document.section(&scope).expect("a section");
        (scope, section)
    }

    /// The views of sections where nothing is known but what they say.
    fn chosen(
        sections: &[(Scope, Section)],
        parents: &[(Scope, Section)],
        limits: &Limits,
        format: Format,
    ) -> Vec<View> {
        let known = Known {
            linked: &|_, _| None,
            names: &PlaceNames::default(),
            ends: &HashMap::new(),
            circumstances: &Circumstances::default(),
        };
        choose(sections, parents, &known, limits, format)
    }

    /// A section with two memories of each kind, and as many actions as asked for.
    fn view(tries: usize, format: Format) -> View {
        let mut text = "## Location 1: Hall\n\n".to_owned();
        for (kind, fields) in
            [("DANGER", ""), ("NOTE - CORE", ""), ("SUCCESS", ", +5"), ("NOTE", ", importance 900")]
        {
            text.push_str(&format!(
                "**[{kind}] {kind} {fields}** *(Ep1, T1{fields})*\nIt has a text of several words, such as these here.\n\n"
            ));
        }
        text.push_str("### Ways\n\n- `north` → [Maze](#location-2-maze)\n\n### Tried\n\n");
        let tried =
            |number| format!("- `push button number {number}` ×{number}: Button {number} is stuck.\n");
        text.extend((1..=tries).map(tried));
        let document = Document::parse(text);
        let hall = section(&document, Scope::Location(1));
        chosen(&[hall], &[], &Limits::default(), format).remove(0)
    }

    #[test]
    fn actions_displace_no_core_no_danger_and_no_score() {
        for format in [Format::Text, Format::Markdown, Format::Xml] {
            for tries in [0, 2, 40, 400] {
                let view = view(tries, format);
                let has_no_importance = |piece: &&Piece<Memory>| piece.value.provenance.importance.is_none();
                assert_eq!(view.memories.iter().filter(has_no_importance).count(), 3, "{tries}");
                let tokens = estimate_tokens(&render::render(std::slice::from_ref(&view)));
                assert!(tokens <= 300 && (tries < 40 || tokens > 270), "{tokens} tokens");
            }
        }
    }

    #[test]
    fn without_a_budget_memories_have_their_age_too() {
        let text = "## World\n\n**[NOTE] Bell** *(2026-01-24)*\nIt rings.\n";
        let document = Document::parse(text.to_owned());
        let limits = Limits { max_tokens: None, ..Limits::default() }.at("2026-01-31T10:40:00Z");
        let shown = render::render(&chosen(&[section(&document, Scope::World)], &[], &limits, Format::Text));
        assert!(shown.contains("1 week ago"), "{shown}");
    }

    /// The views of a folder and of those above it, with as many memories in each.
    fn folders(counts: [usize; 3], max_tokens: usize, format: Format) -> Vec<View> {
        let mut text = String::new();
        for (path, count) in ["src/search", "src", "/"].into_iter().zip(counts) {
            text.push_str(&format!("## Folder {path}\n\n"));
            let entry =
                |at| format!("**[NOTE] Note {at}**\nIt has a text of several words, such as these.\n\n");
            text.extend((0..count).map(entry));
        }
        let document = Document::parse(text);
        let of = |path: &str| section(&document, Scope::Folder(FolderPath::parse(path).expect("a path")));
        let limits = Limits { max_tokens: Some(max_tokens), ..Limits::default() };
        chosen(&[of("src/search")], &[of("src"), of("/")], &limits, format)
    }

    #[test]
    fn folders_above_get_what_the_folder_leaves() {
        for format in [Format::Text, Format::Markdown, Format::Xml] {
            for (own, max_tokens) in [(0, 150), (1, 150), (2, 300), (9, 300), (40, 300), (40, 120)] {
                let views = folders([own, 9, 9], max_tokens, format);
                let tokens = estimate_tokens(&render::render(&views));
                assert!(tokens <= max_tokens, "{tokens} of {max_tokens} tokens");
                let [child, source, root] = &views[..] else { panic!("three views") };
                let lines = 2 * cost_of_view(&View { is_parent: true, ..source.clone() }, 2);
                let alone = folders([own, 0, 0], max_tokens.saturating_sub(lines), format);
                assert!(child.memories.len() >= alone[0].memories.len());
                assert!(source.memories.len() >= root.memories.len(), "the nearest comes first");
                assert_eq!(child.memories_left_out + child.memories.len(), own);
                assert_eq!(root.memories_left_out + root.memories.len(), 9);
                assert!(child.memories_left_out == 0 || own > 3);
            }
        }
        for max_tokens in [40, 60, 80] {
            let views = folders([1, 9, 9], max_tokens, Format::Text);
            let shown = render::render(&views);
            assert!(estimate_tokens(&shown) <= max_tokens, "{shown}");
            assert!(max_tokens < 60 || views[0].memories.len() == 1, "{shown}");
        }
        let views = folders([2, 0, 1], 300, Format::Text);
        assert_eq!(views.len(), 2, "nothing is known of `src`");
        let shown = render::render(&folders([40, 1, 2], 120, Format::Text));
        assert!(
            shown.ends_with("(Folder src: 1 memory not shown)\n\n(Folder /: 2 memories not shown)\n"),
            "{shown}"
        );
    }

    #[test]
    fn replies_are_cut_before_actions() {
        let replies =
            |view: &View| view.actions.tried.iter().filter(|tried| !tried.attempt.reply.is_empty()).count();
        let (few, many) = (view(3, Format::Text), view(400, Format::Text));
        assert_eq!((replies(&few), few.tried_left_out), (3, 0));
        assert_eq!((replies(&many), many.ways_left_out), (0, 0));
        let first = &many.actions.tried[0].attempt;
        assert_eq!(
            (first.action.as_str(), first.count),
            ("push button number 400", 1),
            "counts go with replies"
        );
        assert_eq!(many.tried_left_out + many.actions.tried.len(), 400);
    }
}

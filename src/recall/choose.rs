//! Chooses the memories and actions that fit the budget.
//!
//! How memories rank, `candidates` knows. The numbers of successes and failures are limited. What is chosen keeps the
//! order of the file. Three fifths of the budget are reserved for actions, but not from core, DANGER and what changed
//! the score. Actions also get what the memories leave; their replies are shortened before an action is left out.

use std::collections::HashMap;

use crate::document::{Note, PlaceNames, UnreadSection};
use crate::recall::actions::Actions;
use crate::recall::budget::{cut_at_sentence, cut_at_word, estimate_tokens};
use crate::recall::candidates::{Candidate, candidates, choose_memories, cost_of_memories};
use crate::recall::evidence::{Circumstances, Judgement};
use crate::recall::format::Format;
use crate::recall::limits::Limits;
use crate::recall::lookup::links_of;
use crate::recall::render;
use crate::recall::view::{Linked, View};
use crate::types::{Memory, Scope};

/// Lengths of replies in characters, the longest first.
const REPLY_LENGTHS: [usize; 5] = [100, 60, 40, 25, 15];

/// Length of replies, in characters, for which room is reserved; longer ones take what is left over.
const RESERVED_REPLY_CHARS: usize = 25;

/// Ways may take one part in this many of the room for actions, if not everything fits.
const WAYS_SHARE: usize = 4;

/// As [`WAYS_SHARE`], for actions that worked.
const WORKED_SHARE: usize = 6;

/// Limit of tokens for what the game does not understand.
const NOT_UNDERSTOOD_TOKENS: usize = 60;

/// Limit of linked memories shown with one scope.
const MAX_LINKED: usize = 3;

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
    /// The items that are carried now, and that were carried at each try.
    pub circumstances: &'a Circumstances,
}

/// All that a scope has to show.
struct Offer<'a> {
    unread: &'a UnreadSection<'a>,
    live: Vec<Candidate<'a>>,
    actions: Actions,
}

/// Chooses what to show of each scope, all together within the budget.
pub fn choose(
    sections: &[UnreadSection<'_>],
    known: &Known<'_>,
    limits: &Limits,
    format: Format,
) -> Vec<View> {
    let is_place = |unread: &&UnreadSection<'_>| matches!(unread.scope, Scope::Location(_));
    let first_place = sections.iter().find(is_place).map(|unread| &unread.scope);
    let actions_of = |unread: &UnreadSection<'_>| {
        let judgement = Judgement::of(&unread.section, known.circumstances);
        let actions = Actions::of(&unread.section, &judgement, known.names, known.ends);
        match Some(&unread.scope) == first_place {
            true => actions.with_not_understood(unread, known.circumstances),
            false => actions,
        }
    };
    let offer = |unread| Offer { unread, live: candidates(unread.live()), actions: actions_of(unread) };
    let offers: Vec<Offer<'_>> = sections.iter().map(offer).collect();
    let notice = estimate_tokens(&render::notice(format));
    let limits = &Limits { max_tokens: limits.max_tokens.map(|most| most.saturating_sub(notice)), ..*limits };
    let one = |at: usize, budget: usize| choose_one(&offers[at], known, limits, budget, format);
    let (budget, several) = match limits.max_tokens {
        None => return offers.iter().map(|offer| everything(offer, known)).collect(),
        Some(budget) => (budget, offers.len() > 1),
    };
    if !several {
        return (0..offers.len()).map(|at| one(at, budget)).collect();
    }
    // Each scope gets an equal share of what is left, the one that needs least first: so what one does not
    // use goes to those that need more, whatever their order.
    let wanted = |at: &usize| cost_of_view(&one(*at, budget), format, sections.len());
    let mut order: Vec<usize> = (0..sections.len()).collect();
    order.sort_by_cached_key(wanted);
    let mut views: Vec<(usize, View)> = Vec::with_capacity(sections.len());
    let mut left = budget;
    for at in order {
        let view = one(at, left / (sections.len() - views.len()));
        left = left.saturating_sub(cost_of_view(&view, format, sections.len()));
        views.push((at, view));
    }
    views.sort_by_key(|(at, _)| *at);
    views.into_iter().map(|(_, view)| view).collect()
}

fn cost_of_view(view: &View, format: Format, scopes: usize) -> usize {
    estimate_tokens(&render::render_view(view, format, scopes > 1)) + 1
}

/// A view that shows nothing of a scope.
fn nothing(Offer { unread, live, actions }: &Offer<'_>) -> View {
    let section = &unread.section;
    View {
        scope: unread.scope.clone(),
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
        tried_left_out: actions.tried.len(),
        notes_left_out: section.notes.len(),
    }
}

/// A view that shows all of a scope.
fn everything(offer: &Offer<'_>, known: &Known<'_>) -> View {
    let view = View {
        memories: offer.live.iter().map(Candidate::read).collect(),
        actions: offer.actions.clone(),
        notes: offer.unread.section.notes.clone(),
        ..nothing(offer)
    };
    without_left_out(View { linked: follow_links(&view, known), ..view })
}

/// Counts only as left out what is not shown.
fn without_left_out(mut view: View) -> View {
    view.memories_left_out -= view.memories.len();
    view.ways_left_out -= view.actions.ways.len();
    view.worked_left_out -= view.actions.worked.len();
    view.tried_left_out -= view.actions.tried.len();
    view.notes_left_out -= view.notes.len();
    view
}

fn choose_one(offer: &Offer<'_>, known: &Known<'_>, limits: &Limits, budget: usize, format: Format) -> View {
    let Offer { unread, live, actions } = offer;
    let mut view = nothing(offer);
    // Always shown: header, visits, the note on what was left out.
    let frame = estimate_tokens(&render::render_view(&view, format, true)) + 2;
    let room = budget.saturating_sub(frame);
    let reserved = cost_of_actions(&actions.first(countable(actions, room), RESERVED_REPLY_CHARS), format);
    let reserved = reserved.min(budget * 3 / 5).min(room * 3 / 4);
    view.memories = choose_memories(live, limits, (room, room - reserved), format);
    let mut used = cost_of_memories(&view.memories, format);
    let left = |used: usize| (room - reserved).saturating_sub(used);
    for other in follow_links(&view, known) {
        let heading =
            if view.linked.is_empty() { estimate_tokens(render::linked_heading(format)) } else { 0 };
        if let Some((other, cost)) = fit_linked(other, left(used + heading), format) {
            view.linked.push(other);
            used += heading + cost;
        }
    }
    used += fit_notes(&unread.section.notes, left(used), limits, format, &mut view);
    view.actions = fit_actions(actions, room.saturating_sub(used), format);
    without_left_out(view)
}

/// The live memories of other sections to which the memories shown link, in their order.
fn follow_links(view: &View, known: &Known<'_>) -> Vec<Linked> {
    let mut found: Vec<Linked> = Vec::new();
    for link in view.memories.iter().flat_map(links_of) {
        let (Some(scope), Some(title)) = (link.scope, link.title) else { continue };
        let memory = if scope == view.scope { None } else { (known.linked)(&scope, &title) };
        let Some((name, memory)) = memory else { continue };
        let linked = Linked { scope, name, memory };
        if !found.contains(&linked) {
            found.push(linked);
        }
    }
    found.truncate(MAX_LINKED);
    found
}

/// The linked memory as it fits into what is left, whole or cut after a sentence, and its cost.
fn fit_linked(linked: Linked, left: usize, format: Format) -> Option<(Linked, usize)> {
    let cost = |linked: &Linked| estimate_tokens(&render::render_linked(linked, format));
    let whole = cost(&linked);
    if whole <= left {
        return Some((linked, whole));
    }
    let with = |text: &str| {
        let memory = Memory { text: text.to_owned(), ..linked.memory.clone() };
        Linked { memory, ..linked.clone() }
    };
    let cut =
        cut_at_sentence(&linked.memory.text, |text| cost(&with(text)) <= left).map(|text| with(&text))?;
    let cost = cost(&cut);
    Some((cut, cost))
}

/// Puts the notes into the view that fit into what is left, whole or cut after a sentence. Returns what
/// they cost.
fn fit_notes(notes: &[Note], left: usize, limits: &Limits, format: Format, view: &mut View) -> usize {
    let mut used = estimate_tokens(render::notes_heading(format));
    for note in notes {
        let with = |text: &str| Note { text: text.to_owned(), ..note.clone() };
        let cost = |text: &str| estimate_tokens(&render::render_note(&with(text), format));
        let fits = |text: &str| used + cost(text) <= left;
        let whole = match limits.max_text_chars {
            0 => note.text.clone(),
            chars => cut_at_word(&note.text, chars),
        };
        let text = if fits(&whole) { Some(whole) } else { cut_at_sentence(&whole, fits) };
        if let Some(text) = text {
            used += cost(&text);
            view.notes.push(with(&text));
        }
    }
    if view.notes.is_empty() { 0 } else { used }
}

/// The actions that fit, those of the place before those that the game does not understand anywhere.
fn fit_actions(all: &Actions, room: usize, format: Format) -> Actions {
    let mut shown = fit_here(all, room, format);
    let used = cost_of_actions(&shown, format);
    let with =
        |count: usize| Actions { not_understood: all.not_understood[..count].to_vec(), ..shown.clone() };
    let limit = room.min(used + NOT_UNDERSTOOD_TOKENS);
    let count = most(all.not_understood.len(), |count| cost_of_actions(&with(count), format) <= limit);
    shown.not_understood = all.not_understood[..count].to_vec();
    shown
}

/// The actions of the place that fit: all with the longest replies possible, else without replies the first of each
/// kind.
fn fit_here(all: &Actions, room: usize, format: Format) -> Actions {
    let cost = |counts, reply_chars| cost_of_actions(&all.first(counts, reply_chars), format);
    let counts = countable(all, room);
    if cost(counts, 0) <= room {
        let length = REPLY_LENGTHS.into_iter().find(|length| cost(counts, *length) <= room);
        return all.first(counts, length.unwrap_or(0));
    }
    let [ways, worked, tried] = counts;
    let mut shown = [0; 3];
    shown[0] = most(ways, |ways| cost([ways, 0, 0], 0) <= room / WAYS_SHARE);
    shown[1] = most(worked, |worked| cost([0, worked, 0], 0) <= room / WORKED_SHARE);
    shown[2] = most(tried, |tried| cost([shown[0], shown[1], tried], 0) <= room);
    shown[0] = most(ways, |ways| cost([ways, shown[1], shown[2]], 0) <= room);
    shown[1] = most(worked, |worked| cost([shown[0], worked, shown[2]], 0) <= room);
    all.first(shown, 0)
}

/// How many actions of each kind are looked at. One takes a token at least, so these are enough to fill the room.
fn countable(actions: &Actions, room: usize) -> [usize; 3] {
    actions.counts().map(|count| count.min(room + 1))
}

/// The greatest count up to a limit that fits.
fn most(limit: usize, fits: impl Fn(usize) -> bool) -> usize {
    let (mut fitting, mut beyond) = (0, limit + 1);
    while beyond - fitting > 1 {
        let middle = usize::midpoint(fitting, beyond);
        if fits(middle) { fitting = middle } else { beyond = middle }
    }
    fitting
}

fn cost_of_actions(actions: &Actions, format: Format) -> usize {
    estimate_tokens(&actions.render(format))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Document;

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
        let unread = document.unread(&Scope::Location(1)).expect("a section");
        let known = Known {
            linked: &|_, _| None,
            names: &PlaceNames::default(),
            ends: &HashMap::new(),
            circumstances: &Circumstances::default(),
        };
        choose(&[unread], &known, &Limits::default(), format).remove(0)
    }

    #[test]
    fn actions_displace_no_core_no_danger_and_no_score() {
        for format in [Format::Text, Format::Markdown, Format::Xml] {
            for tries in [0, 2, 40, 400] {
                let view = view(tries, format);
                let has_no_importance = |memory: &&Memory| memory.provenance.importance.is_none();
                assert_eq!(view.memories.iter().filter(has_no_importance).count(), 3, "{tries}");
                assert_eq!(view.memories.len() == 4, tries < 40, "{tries} {format:?}");
                let tokens = estimate_tokens(&render::render(std::slice::from_ref(&view), format));
                assert!(tokens <= 300 && (tries < 40 || tokens > 270), "{tokens} tokens");
            }
        }
    }

    #[test]
    fn replies_are_cut_before_actions() {
        let replies =
            |view: &View| view.actions.tried.iter().filter(|tried| !tried.attempt.reply.is_empty()).count();
        let (few, many) = (view(3, Format::Text), view(400, Format::Text));
        assert_eq!((replies(&few), few.tried_left_out), (3, 0));
        assert_eq!((replies(&many), many.ways_left_out), (0, 0));
        let first = &many.actions.tried[0].attempt;
        assert_eq!((first.action.as_str(), first.count), ("push button number 400", 400));
        assert_eq!(many.tried_left_out + many.actions.tried.len(), 400);
    }

    #[test]
    fn the_most_that_fits() {
        for fitting in 0..9 {
            assert_eq!(most(8, |count| count <= fitting), fitting);
        }
    }
}

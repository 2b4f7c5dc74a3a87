//! Chooses the memories and actions that fit the budget.
//!
//! Memories rank by: core and DANGER, then what changed the score, then importance, then the most recent; the
//! numbers of other successes and failures are limited. What is chosen keeps the order of the file. Three fifths of the
//! budget are reserved for actions, but not from core, DANGER and what changed the score. Actions also get what the
//! memories leave; their replies are shortened before an action is left out.

use std::borrow::Borrow;
use std::cmp::Reverse;
use std::collections::HashMap;

use crate::document::{Note, PlaceNames, Section};
use crate::recall::actions::Actions;
use crate::recall::budget::{cut_at_sentence, cut_at_word, estimate_tokens};
use crate::recall::evidence::{Circumstances, Judgement};
use crate::recall::format::Format;
use crate::recall::lookup::links_of;
use crate::recall::render::{self, Group};
use crate::recall::view::{Linked, View};
use crate::types::{Category, Memory, Persistence, Scope, same_title};

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

/// Fewest tokens that an entry is shortened to; with less room it is left out.
const MIN_CUT: usize = 24;

/// Limit of linked memories shown with one scope.
const MAX_LINKED: usize = 3;

/// Limits of what is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Tokens of the whole answer, by [`estimate_tokens`]; `None` shows everything.
    pub max_tokens: Option<usize>,
    /// Limit of entries of category SUCCESS, beside those that matter most: core, and what changed the score.
    pub max_successes: usize,
    /// As for SUCCESS, of entries of category FAILURE.
    pub max_failures: usize,
    /// Limit of characters of one text; 0 for the whole.
    pub max_text_chars: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { max_tokens: Some(300), max_successes: 5, max_failures: 5, max_text_chars: 0 }
    }
}

/// Knowledge from outside the sections that are recalled.
#[derive(Debug, Clone, Copy)]
pub struct Known<'a> {
    /// Other sections to which their memories may link.
    pub linked: &'a [(Scope, &'a Section)],
    /// The names that several places share.
    pub names: &'a PlaceNames,
    /// The names of places to which ways lead, by their headings.
    pub ends: &'a HashMap<u64, &'a str>,
    /// The items that are carried now, and that were carried at each try.
    pub circumstances: &'a Circumstances,
}

/// Chooses what to show of each scope, all together within the budget.
pub fn choose<S: Borrow<Section>>(
    sections: &[(Scope, S)],
    known: &Known<'_>,
    limits: &Limits,
    format: Format,
) -> Vec<View> {
    let is_place = |(scope, _): &&(Scope, S)| matches!(scope, Scope::Location(_));
    let first_place = sections.iter().find(is_place).map(|(scope, _)| scope);
    let actions_of = |(scope, section): &(Scope, S)| {
        let judgement = Judgement::of(section.borrow(), known.circumstances);
        let actions = Actions::of(section.borrow(), &judgement, known.names, known.ends);
        match Some(scope) == first_place {
            true => actions.with_not_understood(section.borrow(), known.circumstances),
            false => actions,
        }
    };
    let actions: Vec<Actions> = sections.iter().map(actions_of).collect();
    let notice = estimate_tokens(&render::notice(format));
    let limits = &Limits { max_tokens: limits.max_tokens.map(|most| most.saturating_sub(notice)), ..*limits };
    let one = |at: usize, budget| {
        let (scope, section) = &sections[at];
        choose_one((scope, section.borrow(), &actions[at]), known.linked, limits, budget, format)
    };
    let (Some(budget), true) = (limits.max_tokens, sections.len() > 1) else {
        return (0..sections.len()).map(|at| one(at, limits.max_tokens)).collect();
    };
    // Each scope gets an equal share of what is left, the one that needs least first: so what one does not
    // use goes to those that need more, whatever their order.
    let wanted = |at: &usize| cost_of_view(&one(*at, Some(budget)), format, sections.len());
    let mut order: Vec<usize> = (0..sections.len()).collect();
    order.sort_by_cached_key(wanted);
    let mut views: Vec<(usize, View)> = Vec::with_capacity(sections.len());
    let mut left = budget;
    for at in order {
        let view = one(at, Some(left / (sections.len() - views.len())));
        left = left.saturating_sub(cost_of_view(&view, format, sections.len()));
        views.push((at, view));
    }
    views.sort_by_key(|(at, _)| *at);
    views.into_iter().map(|(_, view)| view).collect()
}

fn cost_of_view(view: &View, format: Format, scopes: usize) -> usize {
    estimate_tokens(&render::render_view(view, format, scopes > 1)) + 1
}

fn choose_one(
    (scope, section, actions): (&Scope, &Section, &Actions),
    linked: &[(Scope, &Section)],
    limits: &Limits,
    budget: Option<usize>,
    format: Format,
) -> View {
    let live: Vec<&Memory> = section.live().collect();
    let mut view = View {
        scope: scope.clone(),
        name: section.name.clone(),
        visits: section.visits,
        episodes: section.episodes.len() as u64,
        memories: live.iter().map(|memory| (*memory).clone()).collect(),
        linked: Vec::new(),
        actions: actions.clone(),
        notes: section.notes.clone(),
        misread_line: None,
        memories_left_out: 0,
        ways_left_out: 0,
        worked_left_out: 0,
        tried_left_out: 0,
        notes_left_out: 0,
    };
    let Some(budget) = budget else {
        view.linked = follow_links(&view, linked);
        return view;
    };
    view.memories.clear();
    view.actions = Actions::default();
    view.notes.clear();
    view.memories_left_out = live.len();
    view.ways_left_out = actions.ways.len();
    view.worked_left_out = actions.worked.len();
    view.tried_left_out = actions.tried.len();
    view.notes_left_out = section.notes.len();
    // Always shown: header, visits, the note on what was left out.
    let frame = estimate_tokens(&render::render_view(&view, format, true)) + 2;
    let room = budget.saturating_sub(frame);
    let reserved = cost_of_actions(&actions.first(countable(actions, room), RESERVED_REPLY_CHARS), format);
    let reserved = reserved.min(budget * 3 / 5).min(room * 3 / 4);
    view.memories = choose_memories(&live, limits, (room, room - reserved), format);
    let mut used = cost_of_memories(&view.memories, format);
    let left = |used: usize| (room - reserved).saturating_sub(used);
    for other in follow_links(&view, linked) {
        let heading =
            if view.linked.is_empty() { estimate_tokens(render::linked_heading(format)) } else { 0 };
        if let Some((other, cost)) = fit_linked(other, left(used + heading), format) {
            view.linked.push(other);
            used += heading + cost;
        }
    }
    used += fit_notes(&section.notes, left(used), limits, format, &mut view);
    view.actions = fit_actions(actions, room.saturating_sub(used), format);
    view.memories_left_out -= view.memories.len();
    view.ways_left_out -= view.actions.ways.len();
    view.worked_left_out -= view.actions.worked.len();
    view.tried_left_out -= view.actions.tried.len();
    view.notes_left_out -= view.notes.len();
    view
}

/// The memories that fit, in the order of the file. Those that actions may not displace have the whole room, the
/// others what actions leave.
fn choose_memories(
    live: &[&Memory],
    limits: &Limits,
    (whole, rest): (usize, usize),
    format: Format,
) -> Vec<Memory> {
    let mut ranked: Vec<usize> = (0..live.len()).collect();
    ranked.sort_by_key(|&at| Reverse(rank(live[at], at)));
    let mut chosen: Vec<(usize, Memory)> = Vec::new();
    let mut used = 0;
    let mut groups: Vec<Group> = Vec::new();
    let limited = [(Category::success(), limits.max_successes), (Category::failure(), limits.max_failures)];
    for at in ranked {
        let is_counted =
            |memory: &Memory, category: &Category| memory.category == *category && !matters_most(memory);
        let is_full = |(category, limit): &(Category, usize)| {
            is_counted(live[at], category)
                && chosen.iter().filter(|(_, shown)| is_counted(shown, category)).count() >= *limit
        };
        if limited.iter().any(is_full) {
            continue;
        }
        let mut memory = live[at].clone();
        if limits.max_text_chars > 0 {
            memory.text = cut_at_word(&memory.text, limits.max_text_chars);
        }
        // The first memory of a group also needs the group's heading.
        let group = Group::of(&memory);
        let heading = if groups.contains(&group) { 0 } else { estimate_tokens(group.heading(format)) };
        let room = if matters_most(&memory) { whole } else { rest };
        let fitted = fit_memory(memory, room.saturating_sub(used + heading), room, format);
        if let Some((memory, cost)) = fitted {
            used += heading + cost;
            groups.push(group);
            chosen.push((at, memory));
        }
    }
    chosen.sort_by_key(|(at, _)| *at);
    chosen.into_iter().map(|(_, memory)| memory).collect()
}

/// Core and DANGER, then what changed the score, then importance, then the most recent; of equals the later in the
/// file. What contests another memory comes behind all: it must not push out what it contests.
fn rank(memory: &Memory, at: usize) -> impl Ord + use<> {
    let turn = memory.provenance.turns.map(|turns| turns.last);
    let first = (!memory.contests(), is_core_or_danger(memory), matters_most(memory));
    (first, memory.importance(), memory.provenance.episode, turn, at)
}

fn is_core_or_danger(memory: &Memory) -> bool {
    memory.persistence == Persistence::Core || memory.category.is_danger()
}

/// True if actions never displace the memory.
fn matters_most(memory: &Memory) -> bool {
    let scored = memory.provenance.score_change.is_some_and(|change| change != 0);
    !memory.contests() && (is_core_or_danger(memory) || scored)
}

/// The memory as it fits into what is left, and its cost: whole, or shortened where it would not even
/// fit alone.
fn fit_memory(memory: Memory, left: usize, room: usize, format: Format) -> Option<(Memory, usize)> {
    let cost = cost_of_memory(&memory, format);
    if cost <= left {
        return Some((memory, cost));
    }
    if cost <= room || left < MIN_CUT {
        return None;
    }
    let with = |text: &str| Memory { text: text.to_owned(), ..memory.clone() };
    let fits = |text: &str| cost_of_memory(&with(text), format) <= left;
    let text = cut_at_sentence(&memory.text, fits).or_else(|| Some("…".to_owned()).filter(|text| fits(text)));
    let memory = with(&text?);
    let cost = cost_of_memory(&memory, format);
    Some((memory, cost))
}

/// The live memories of other sections to which the memories shown link, in their order.
fn follow_links(view: &View, sections: &[(Scope, &Section)]) -> Vec<Linked> {
    let mut found: Vec<Linked> = Vec::new();
    for link in view.memories.iter().flat_map(links_of) {
        let (Some(scope), Some(title)) = (link.scope, link.title) else { continue };
        let section = sections.iter().find(|(other, _)| *other == scope && scope != view.scope);
        let Some((scope, section)) = section else { continue };
        let Some(memory) = section.live().find(|memory| same_title(&memory.title, &title)) else { continue };
        let linked = Linked { scope: scope.clone(), name: section.name.clone(), memory: memory.clone() };
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

fn cost_of_memory(memory: &Memory, format: Format) -> usize {
    estimate_tokens(&render::render_memory(memory, format))
}

fn cost_of_memories(memories: &[Memory], format: Format) -> usize {
    let shown = Group::ALL.iter().filter(|group| memories.iter().any(|memory| Group::of(memory) == **group));
    let headings: usize = shown.map(|group| estimate_tokens(group.heading(format))).sum();
    headings + memories.iter().map(|memory| cost_of_memory(memory, format)).sum::<usize>()
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
        let section = Document::parse(text).section(&Scope::Location(1)).expect("a section");
        let known = Known {
            linked: &[],
            names: &PlaceNames::default(),
            ends: &HashMap::new(),
            circumstances: &Circumstances::default(),
        };
        choose(&[(Scope::Location(1), section)], &known, &Limits::default(), format).remove(0)
    }

    #[test]
    fn actions_displace_no_core_no_danger_and_no_score() {
        for format in [Format::Text, Format::Markdown, Format::Xml] {
            for tries in [0, 2, 40, 400] {
                let view = view(tries, format);
                assert_eq!(view.memories.iter().filter(|memory| matters_most(memory)).count(), 3, "{tries}");
                assert_eq!(view.memories.len() == 4, tries < 40, "{tries} {format:?}");
                let tokens = estimate_tokens(&render::render(std::slice::from_ref(&view), format));
                assert!(tokens <= 300 && (tries < 40 || tokens > 270), "{tokens} tokens");
            }
        }
    }

    #[test]
    fn no_limit_of_successes_or_failures_keeps_out_what_matters_most() {
        let mut text = "## Location 1: Hall\n\n".to_owned();
        for number in 0..7 {
            for kind in ["SUCCESS - CORE", "SUCCESS", "FAILURE"] {
                let fields = if kind == "SUCCESS" { ", importance 900" } else { "" };
                text.push_str(&format!("**[{kind}] {kind} {number}** *(Ep1, T{number}{fields})*\nx.\n\n"));
            }
            text.push_str(&format!("**[FAILURE] Lost {number}** *(Ep1, T{number}, -5)*\nx.\n\n"));
        }
        let section = Document::parse(text).section(&Scope::Location(1)).expect("a section");
        let live: Vec<&Memory> = section.live().collect();
        let limits = Limits { max_successes: 2, max_failures: 3, ..Limits::default() };
        let chosen = choose_memories(&live, &limits, (9000, 9000), Format::Text);
        let count = |most: bool, category: &Category| {
            let is_meant = |memory: &&Memory| matters_most(memory) == most && memory.category == *category;
            chosen.iter().filter(is_meant).count()
        };
        let counts =
            [true, false].map(|most| [Category::success(), Category::failure()].map(|c| count(most, &c)));
        assert_eq!(counts, [[7, 7], [2, 3]]);
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

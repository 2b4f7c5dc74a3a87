//! Chooses the memories and tried actions that fit the budget.
//!
//! Memories rank by: core and DANGER, then importance, then the most recent; the numbers of successes and
//! failures are limited. What is chosen keeps the order of the file. Three fifths of the budget are
//! reserved for tried actions, which also get what the memories leave; their replies are shortened before
//! an action is left out.

use std::borrow::Borrow;
use std::cmp::Reverse;

use crate::document::{Note, Section};
use crate::recall::budget::{cut_at_sentence, cut_at_word, estimate_tokens};
use crate::recall::lookup::links_of;
use crate::recall::render::{self, Format, Group};
use crate::recall::view::{Linked, View};
use crate::types::{Attempt, Category, Memory, Persistence, Scope, same_title};

/// Lengths of replies in characters; the longest that fits is used.
const REPLY_LENGTHS: [usize; 6] = [100, 60, 40, 25, 15, 0];

/// Length of replies, in characters, for which room is reserved; longer ones take what is left over.
const RESERVED_REPLY_CHARS: usize = 25;

/// Longest action shown, in characters.
const ACTION_CHARS: usize = 120;

/// Fewest tokens that an entry is shortened to; with less room it is left out.
const MIN_CUT: usize = 24;

/// Limit of linked memories shown with one scope.
const MAX_LINKED: usize = 3;

/// Limits of what is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Tokens of the whole answer, by [`estimate_tokens`]; `None` shows everything.
    pub max_tokens: Option<usize>,
    /// Limit of entries of category SUCCESS.
    pub max_successes: usize,
    /// Limit of entries of category FAILURE.
    pub max_failures: usize,
    /// Limit of characters of one text; 0 for the whole.
    pub max_text_chars: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { max_tokens: Some(300), max_successes: 5, max_failures: 5, max_text_chars: 0 }
    }
}

/// Chooses what to show of each scope, all together within the budget. `linked` are other sections to
/// which their memories may link.
pub fn choose<S: Borrow<Section>>(
    sections: &[(Scope, S)],
    linked: &[(Scope, &Section)],
    limits: &Limits,
    format: Format,
) -> Vec<View> {
    let one = |at: usize, budget| {
        let (scope, section) = &sections[at];
        choose_one(scope, section.borrow(), linked, limits, budget, format)
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
    scope: &Scope,
    section: &Section,
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
        tried: section.tried.clone(),
        notes: section.notes.clone(),
        misread_line: None,
        memories_left_out: 0,
        tried_left_out: 0,
        notes_left_out: 0,
    };
    let Some(budget) = budget else {
        view.linked = follow_links(&view, linked);
        return view;
    };
    view.memories.clear();
    view.tried.clear();
    view.notes.clear();
    view.memories_left_out = live.len();
    view.tried_left_out = section.tried.len();
    view.notes_left_out = section.notes.len();
    // Always shown: header, visits, the note on what was left out.
    let frame = estimate_tokens(&render::render_view(&view, format, true)) + 2;
    let room = budget.saturating_sub(frame);
    let tries: Vec<Attempt> =
        section.tried.iter().map(|attempt| shorten(attempt, RESERVED_REPLY_CHARS)).collect();
    let reserved = cost_of_tries(&tries, format).min(budget * 3 / 5).min(room * 3 / 4);
    let chosen = choose_memories(&live, limits, room - reserved, format);
    let mut used = cost_of_memories(&chosen, format);
    view.memories = chosen;
    for other in follow_links(&view, linked) {
        let heading =
            if view.linked.is_empty() { estimate_tokens(render::linked_heading(format)) } else { 0 };
        let left = (room - reserved).saturating_sub(used + heading);
        if let Some((other, cost)) = fit_linked(other, left, format) {
            view.linked.push(other);
            used += heading + cost;
        }
    }
    used += fit_notes(&section.notes, (room - reserved).saturating_sub(used), limits, format, &mut view);
    view.tried = fit_tries(&section.tried, room.saturating_sub(used), format);
    view.memories_left_out -= view.memories.len();
    view.tried_left_out -= view.tried.len();
    view.notes_left_out -= view.notes.len();
    view
}

/// The memories that fit, in the order of the file.
fn choose_memories(live: &[&Memory], limits: &Limits, room: usize, format: Format) -> Vec<Memory> {
    let mut ranked: Vec<usize> = (0..live.len()).collect();
    ranked.sort_by_key(|&at| Reverse(rank(live[at], at)));
    let mut chosen: Vec<(usize, Memory)> = Vec::new();
    let mut left = room;
    let mut groups: Vec<Group> = Vec::new();
    let limited = [(Category::success(), limits.max_successes), (Category::failure(), limits.max_failures)];
    for at in ranked {
        let shown = || chosen.iter().filter(|(_, other)| other.category == live[at].category).count();
        if limited.iter().any(|(category, limit)| *category == live[at].category && shown() >= *limit) {
            continue;
        }
        let mut memory = live[at].clone();
        if limits.max_text_chars > 0 {
            memory.text = cut_at_word(&memory.text, limits.max_text_chars);
        }
        // The first memory of a group also needs the group's heading.
        let group = Group::of(&memory);
        let heading = if groups.contains(&group) { 0 } else { estimate_tokens(group.heading(format)) };
        let fitted = fit_memory(memory, left.saturating_sub(heading), room, format);
        if let Some((memory, cost)) = fitted {
            left = left.saturating_sub(heading + cost);
            groups.push(group);
            chosen.push((at, memory));
        }
    }
    chosen.sort_by_key(|(at, _)| *at);
    chosen.into_iter().map(|(_, memory)| memory).collect()
}

/// Core and DANGER, then importance, then the most recent; of equals the later in the file.
fn rank(memory: &Memory, at: usize) -> (bool, u16, Option<u64>, Option<u64>, usize) {
    let first = memory.persistence == Persistence::Core || memory.category.is_danger();
    let turn = memory.provenance.turns.map(|turns| turns.last);
    (first, memory.importance(), memory.provenance.episode, turn, at)
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

/// The tried actions that fit, in the order of the file: all with the longest replies possible, else
/// without replies the most repeated and the most recent.
fn fit_tries(tried: &[Attempt], room: usize, format: Format) -> Vec<Attempt> {
    for length in REPLY_LENGTHS {
        let shortened: Vec<Attempt> = tried.iter().map(|attempt| shorten(attempt, length)).collect();
        if cost_of_tries(&shortened, format) <= room {
            return shortened;
        }
    }
    let mut ranked: Vec<usize> = (0..tried.len()).collect();
    ranked.sort_by_key(|&at| {
        let Attempt { count, episode, turn, .. } = tried[at];
        Reverse((count, episode, turn, at))
    });
    let mut chosen: Vec<usize> = Vec::new();
    let mut left = room;
    for at in ranked {
        // An upper bound: each costs no more than it would alone.
        let cost = cost_of_tries(&[shorten(&tried[at], 0)], format);
        let is_first = !chosen.iter().any(|&other| tried[other].effect_unknown == tried[at].effect_unknown);
        let cost = if is_first { cost } else { cost - cost_of_tries_line(&tried[at], format) + 1 };
        if cost <= left {
            left -= cost;
            chosen.push(at);
        }
    }
    chosen.sort_unstable();
    chosen.into_iter().map(|at| shorten(&tried[at], 0)).collect()
}

/// Tokens of the line of tried actions that a tried action is in, before its first action.
fn cost_of_tries_line(attempt: &Attempt, format: Format) -> usize {
    let empty = Attempt { action: String::new(), count: 1, reply: String::new(), ..attempt.clone() };
    if format == Format::Xml { 0 } else { cost_of_tries(&[empty], format) }
}

fn shorten(attempt: &Attempt, reply_chars: usize) -> Attempt {
    let reply = if reply_chars == 0 { String::new() } else { cut_at_word(&attempt.reply, reply_chars) };
    Attempt { action: cut_at_word(&attempt.action, ACTION_CHARS), reply, ..attempt.clone() }
}

fn cost_of_tries(tried: &[Attempt], format: Format) -> usize {
    if tried.is_empty() { 0 } else { estimate_tokens(&render::render_tried(tried, format)) }
}

//! Rules for places: what a place shows when the player first sees it.
//!
//! A turn and its reply enter; drafts about the place where the player is now leave: the description in the
//! game's own sentences, what attacks there or is about to, or that it is dark.

use crate::proposal::Side;
use crate::rules::draft::{Draft, MAX_TITLE_CHARS};
use crate::rules::headline::{headline, opens_scene, says, scene};
use crate::rules::sentences::{Fragment, Reply, fit, is_dark};
use crate::rules::view::TurnView;
use crate::rules::words::{self, MIN_NEW_WORDS};
use crate::triggers::Trigger;
use memories_document::types::Category;

/// Longest text of a description besides the sentence of its title, in characters.
const MAX_SIGHTS_CHARS: usize = 320;
/// Words besides the name of the place that make a sentence a title.
const MIN_NEWS: usize = 2;

/// The facts about the place that the reply shows.
pub(super) fn find_sights(turn: &TurnView<'_>, reply: &Reply) -> Vec<Draft> {
    if !(turn.moved() || reply.title_index().is_some() || words::is_look(&turn.action)) {
        return Vec::new();
    }
    let seen = described(turn, reply);
    if let Some(at) = seen.iter().position(|fragment| is_dark(&fragment.text)) {
        return vec![judge_darkness(turn, seen[at])];
    }
    let (threats, scenery): (Vec<&Fragment>, Vec<&Fragment>) =
        seen.into_iter().partition(|fragment| words::is_threat(&fragment.text));
    let threat = threats.first().map(|threat| {
        let title = headline(scene(&threat.text), MAX_TITLE_CHARS);
        let text = if says(&title, &threat.text) { reached(turn) } else { threat.text.clone() };
        let draft = Draft::new(Category::danger(), &title, &text, "something threatens there");
        draft.quoting(&threat.text).at_arrival(turn.moved())
    });
    judge_scene(turn, &scenery, reply.title_index().is_some()).into_iter().chain(threat).collect()
}

fn judge_darkness(turn: &TurnView<'_>, said: &Fragment) -> Draft {
    let name = if turn.to.is_empty() { "This place" } else { &turn.to };
    let title = format!("{name} is dark");
    let tells_more = words::count_new(&said.text, &title) >= MIN_NEW_WORDS;
    let text = if tells_more { said.text.clone() } else { reached(turn) };
    let draft = Draft::new(Category::discovery(), &title, &text, "the place is dark");
    // Memories of a light or of a way on rank above this one.
    draft.important(300).at_arrival(turn.moved())
}

/// How the player came to see the place.
fn reached(turn: &TurnView<'_>) -> String {
    let deed = if turn.moved() { "Reached" } else { "Seen" };
    format!("{deed} by `{}`.", turn.short_action())
}

/// The description, titled by the first sentence that says more than the name of the place. The text holds that
/// sentence if the title is cut, then the sentences that list things or name ways.
fn judge_scene(turn: &TurnView<'_>, seen: &[&Fragment], is_titled: bool) -> Option<Draft> {
    let is_first = turn.context.triggers.contains(&Trigger::FirstVisit) && (is_titled || seen.len() > 1);
    let is_shown = is_first || words::is_look(&turn.action) || is_full(seen);
    if turn.is_described() || !is_shown {
        return None;
    }
    let news = |fragment: &Fragment| match fragment.text.split(' ').count() {
        0..MIN_NEW_WORDS => 0,
        _ => words::count_new(scene(&fragment.text), &turn.to),
    };
    let best = seen.iter().map(|fragment| news(fragment).min(MIN_NEWS)).max().filter(|best| *best > 0)?;
    let telling = *seen.iter().find(|fragment| news(fragment) >= best)?;
    let title = headline(scene(&telling.text), MAX_TITLE_CHARS);
    let side = if turn.moved() { Side::After } else { Side::Before };
    let is_new =
        |one: &Fragment| news(one) > 0 && !says(&title, &one.text) && !turn.has_said(&one.text, side);
    let mut said: Vec<&Fragment> = seen.iter().copied().filter(|one| is_new(one)).collect();
    let first_line = seen.first()?.line;
    let rank = |one: &Fragment| match one {
        one if std::ptr::eq(one, telling) => 0,
        one if one.line != first_line || one.text.contains(": ") => 1,
        one if words::names_way(&one.text) => 2,
        _ => 3,
    };
    if said.iter().any(|one| matches!(rank(one), 1 | 2)) {
        said.retain(|one| rank(one) < 3);
    }
    let cut = if says(&title, &telling.text) { 0 } else { telling.text.chars().count() };
    let text = match said.is_empty() {
        true if opens_scene(&telling.text) && !words::names_way(&telling.text) => return None,
        true => reached(turn),
        false => fit(&said, rank, cut + MAX_SIGHTS_CHARS),
    };
    let draft = Draft::new(Category::note(), &title, &text, "what the place shows");
    Some(draft.quoting(&title).at_arrival(turn.moved()))
}

/// True if the first line describes a scene, and does not only list a thing.
fn is_full(seen: &[&Fragment]) -> bool {
    let Some(first) = seen.first() else { return false };
    seen.iter().filter(|fragment| fragment.line == first.line).count() > 1 || opens_scene(&first.text)
}

/// The sentences about the place: those after its name if that is printed, else all statements. A line that
/// begins with the player, or with somebody who passes, is not about the place.
fn described<'a>(turn: &TurnView<'_>, reply: &'a Reply) -> Vec<&'a Fragment> {
    let mut said = match reply.title_index().map(|index| reply.fragments[index].line) {
        Some(line) => reply.sentences().into_iter().filter(|fragment| fragment.line > line).collect(),
        None if turn.context.changes.death => Vec::new(),
        None => reply.statements(),
    };
    let lines: Vec<usize> =
        said.iter().filter(|said| words::is_of_the_player(&said.text)).map(|said| said.line).collect();
    said.retain(|fragment| !lines.contains(&fragment.line) && !words::is_about_the_game(&fragment.text));
    said
}

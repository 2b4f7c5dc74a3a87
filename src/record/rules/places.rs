//! Rules for places: what a place shows when the player first sees it.
//!
//! A turn and its reply enter; drafts about the place where the player is now leave: the description in the
//! game's own sentences, what bars the way or threatens there, or that it is dark.

use crate::record::rules::draft::Draft;
use crate::record::rules::headline::{headline, opens_scene, remainder, scene};
use crate::record::rules::sentences::{Fragment, Reply, is_dark, join};
use crate::record::rules::view::TurnView;
use crate::record::rules::words;
use crate::types::Category;

/// Longest title of a description, in characters.
const MAX_SCENE_CHARS: usize = 60;
/// Longest text of a description, in characters.
const MAX_SIGHTS_CHARS: usize = 60;
/// Fewest words of a sentence that says something.
const MIN_WORDS: usize = 3;
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
        let text = scene(&threat.text);
        let draft = Draft::new(Category::danger(), &text, &threat.text, "something threatens there");
        draft.quoting(&threat.text).at_arrival(turn.moved())
    });
    judge_scene(turn, &scenery, reply.title_index().is_some()).into_iter().chain(threat).collect()
}

fn judge_darkness(turn: &TurnView<'_>, said: &Fragment) -> Draft {
    let name = if turn.to.is_empty() { "This place" } else { &turn.to };
    let draft =
        Draft::new(Category::discovery(), &format!("{name} is dark"), &said.text, "the place is dark");
    draft.at_arrival(turn.moved())
}

/// The description, titled by the first sentence that says more than the name of the place. The text holds
/// others: first those on lines of their own below the description, where games list things.
fn judge_scene(turn: &TurnView<'_>, seen: &[&Fragment], is_titled: bool) -> Option<Draft> {
    let is_first = turn.is_first_visit() && (is_titled || seen.len() > 1);
    let is_shown = is_first || words::is_look(&turn.action) || is_full(seen);
    if turn.is_described() || !is_shown {
        return None;
    }
    let news = |fragment: &Fragment| match fragment.text.split(' ').count() {
        0..MIN_WORDS => 0,
        _ => words::count_new(&scene(&fragment.text), &turn.to),
    };
    let best = seen.iter().map(|fragment| news(fragment).min(MIN_NEWS)).max().filter(|best| *best > 0)?;
    let telling = *seen.iter().find(|fragment| news(fragment) >= best)?;
    let title = headline(&scene(&telling.text), MAX_SCENE_CHARS);
    let rest = Fragment { text: remainder(&telling.text, &title), ..telling.clone() };
    let parts = seen.iter().copied().filter(|one| !std::ptr::eq(*one, telling));
    let others: Vec<&Fragment> = std::iter::once(&rest).chain(parts).filter(|one| news(one) > 0).collect();
    let text = match others.is_empty() {
        true => "The game says no more.".to_owned(),
        false => join(&choose(&others, &turn.to), MAX_SIGHTS_CHARS),
    };
    let draft = Draft::new(Category::note(), &title, &text, "what the place shows");
    Some(draft.quoting(&title).at_arrival(turn.moved()))
}

/// True if the first line describes a scene, and does not only list a thing.
fn is_full(seen: &[&Fragment]) -> bool {
    let Some(first) = seen.first() else { return false };
    seen.iter().filter(|fragment| fragment.line == first.line).count() > 1 || opens_scene(&first.text)
}

/// The sentences that fit, in their order: things that are listed below the first line go before the rest, and
/// sentences that say little beyond the name of the place come last.
fn choose<'a>(seen: &[&'a Fragment], name: &str) -> Vec<&'a Fragment> {
    let first_line = seen.first().map_or(0, |first| first.line);
    let mut order: Vec<usize> = (0..seen.len()).collect();
    let says_little = |at: usize| words::count_new(&scene(&seen[at].text), name) < MIN_NEWS;
    order.sort_by_key(|at| (seen[*at].line == first_line, says_little(*at)));
    let mut left = MAX_SIGHTS_CHARS;
    let mut chosen: Vec<usize> = Vec::new();
    for at in order {
        let chars = seen[at].text.chars().count() + 1;
        if chosen.is_empty() || chars <= left {
            left = left.saturating_sub(chars);
            chosen.push(at);
        }
    }
    chosen.sort_unstable();
    chosen.into_iter().map(|at| seen[at]).collect()
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
    said.retain(|fragment| !lines.contains(&fragment.line));
    said
}

//! Rules for events: is something that happened in a turn worth remembering?
//!
//! A turn and its reply enter; the proposal of the first rule that applies leaves. Rules are ordered by
//! harm: death, theft, points, then what a place leads to and yields. Events of lasting weight get an
//! entry of their own; everything else goes into the one entry of its place. What was only read or looked
//! at is not stored, because the list of tried actions shows it.

use crate::record::proposal::Proposal;
use crate::record::rules::draft::{Draft, MAX_TEXT_CHARS, MAX_TITLE_CHARS};
use crate::record::rules::places::{self, List, POINTS, item, listed};
use crate::record::rules::sentences::{
    Fragment, Kind, Reply, cut, end_sentence, first_that_fit, is_obituary, is_refusal, upper_first,
};
use crate::record::rules::view::TurnView;
use crate::record::rules::words;
use crate::types::Category;

/// Title of the memory of what was fatal at a place.
const DEATHS: &str = "Deaths";

/// Longest action in a title, in characters; the rest is for the words of the rule.
const MAX_ACTION_CHARS: usize = 40;
const MAX_CAUSE_CHARS: usize = 80;
const MAX_STORY_CHARS: usize = 80;

/// The proposal for a turn.
pub(super) fn decide(turn: &TurnView<'_>, reply: &Reply) -> Proposal {
    judge_death(turn, reply)
        .or_else(|| judge_loss(turn, reply))
        .or_else(|| judge_score(turn))
        .or_else(|| judge_victory(turn, reply))
        .or_else(|| places::judge_place(turn, reply))
        .unwrap_or(Proposal::decline("nothing that a rule finds worth keeping"))
}

/// All deaths of a place are one memory: the action and the cause of each.
fn judge_death(turn: &TurnView<'_>, reply: &Reply) -> Option<Proposal> {
    if !turn.context.changes.death {
        return None;
    }
    let action = match short_action(turn) {
        action if action.is_empty() => String::new(),
        action => format!("`{action}`: "),
    };
    let cause = find_cause(reply);
    let cause = if cause.is_empty() { "You died.".to_owned() } else { end_sentence(&cause) };
    let known = turn.known(DEATHS).unwrap_or_default();
    let death = format!("{action}{cause}");
    if known.contains(&death) || turn.is_said(&death) {
        return Some(Proposal::decline("this death is known"));
    }
    let text = match known.split_once(&cause) {
        // The same cause by another action.
        Some((before, after)) => format!("{before}{cause} Also {}.{after}", action.trim_end_matches(": ")),
        None => format!("{known} {death}"),
    };
    Some(Draft::new(Category::danger(), 900, DEATHS, from_newest(text.trim())).because("the player died"))
}

/// The newest part of a list of deaths that fits.
fn from_newest(text: &str) -> &str {
    let starts =
        text.match_indices('`').map(|(at, _)| at).filter(|at| *at == 0 || text[..*at].ends_with(". "));
    let mut rests = std::iter::once(0).chain(starts).map(|at| &text[at..]);
    rests.find(|rest| rest.chars().count() <= MAX_TEXT_CHARS).unwrap_or(text)
}

/// The sentence that says what was fatal: the last one before the banner.
fn find_cause(reply: &Reply) -> String {
    let fragments = reply.before_banner();
    let names_cause = |fragment: &&Fragment| {
        fragment.text.len() > 12 && !is_refusal(&fragment.text) && !is_obituary(&fragment.text)
    };
    let said: Vec<&Fragment> = fragments.iter().filter(|fragment| fragment.kind == Kind::Sentence).collect();
    let last = said.iter().copied().rfind(names_cause).or_else(|| said.last().copied());
    last.map(|fragment| cut(&fragment.text, MAX_CAUSE_CHARS)).unwrap_or_default()
}

/// Items were lost that the action did not let go of.
fn judge_loss(turn: &TurnView<'_>, reply: &Reply) -> Option<Proposal> {
    let (given, taken) = split_losses(turn);
    if taken.is_empty() {
        let dropped = !given.is_empty() && !words::is_placing(&turn.action) && turn.score_change == 0;
        return dropped.then_some(Proposal::decline("something was put down"));
    }
    let said = reply.statements();
    let mut relevant: Vec<&Fragment> =
        said.iter().copied().filter(|fragment| words::is_theft(&fragment.text)).collect();
    let is_theft = !relevant.is_empty() || said.iter().any(|fragment| words::names_thief(&fragment.text));
    if relevant.is_empty() {
        relevant = said;
    }
    let text = match first_that_fit(&relevant, MAX_STORY_CHARS) {
        text if text.is_empty() => format!("Gone after `{}`.", short_action(turn)),
        text => text,
    };
    let (category, verb) =
        if is_theft { (Category::danger(), "Robbed of") } else { (Category::note(), "Lost") };
    let title = cut(&format!("{verb} {}", taken.join(", ")), MAX_TITLE_CHARS);
    let draft = Draft::new(category, 500, &title, &text).tentative(!is_theft);
    Some(draft.at_arrival(is_theft && turn.moved()).because("something was lost"))
}

/// Items given away on purpose, and items lost otherwise.
fn split_losses<'a>(turn: &'a TurnView<'_>) -> (Vec<&'a str>, Vec<&'a str>) {
    let action = turn.action.to_lowercase();
    let named = |item: &&str| {
        let folded = item.to_lowercase();
        let noun = folded.split(' ').next_back().unwrap_or_default().to_owned();
        let is_meant = words::is_for_all(&action) || action.contains(noun.as_str()) || turn.lost.len() == 1;
        words::is_letting_go(&action) && is_meant
    };
    turn.lost.iter().map(String::as_str).partition(named)
}

/// All points of a place are one memory: the action, the points, and where it led.
fn judge_score(turn: &TurnView<'_>) -> Option<Proposal> {
    let (category, title) = match turn.score_change {
        0 => return None,
        points if points > 0 => (Category::success(), POINTS),
        _ => (Category::danger(), "Points lost"),
    };
    let goal = match turn.moved() && !turn.to.is_empty() {
        true => format!(" ({})", listed(&turn.to)),
        false => String::new(),
    };
    let known = turn.known(title).unwrap_or_default();
    let mut points = List::parse(&known);
    let action = listed(&short_action(turn).to_lowercase());
    let gain = format!("{:+} points{goal}", turn.score_change);
    if turn.is_said(&item(&action, &gain)) || !points.add(&action, &gain) {
        return Some(Proposal::decline("these points are known"));
    }
    while points.render().chars().count() > MAX_TEXT_CHARS && points.drop_oldest() {}
    Some(Draft::new(category, 500, title, &points.render()).because("the score changed"))
}

/// How a fight was won; a single blow is not worth a memory.
fn judge_victory(turn: &TurnView<'_>, reply: &Reply) -> Option<Proposal> {
    words::opponent(&turn.action)?;
    let relevant = reply.statements().into_iter().find(|fragment| words::is_decisive(&fragment.text))?;
    let title = upper_first(&cut(&turn.action, MAX_TITLE_CHARS));
    if turn.is_titled(&title) {
        return Some(Proposal::decline("how this fight is won is known"));
    }
    let text = cut(&relevant.text, MAX_STORY_CHARS);
    Some(Draft::new(Category::success(), 600, &title, &text).because("a fight was decided"))
}

fn short_action(turn: &TurnView<'_>) -> String {
    cut(&turn.action, MAX_ACTION_CHARS)
}

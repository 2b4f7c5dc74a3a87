//! What happened in a turn, and whether it is worth keeping.
//!
//! In: a turn's facts and its reply. Out: a decision, by the first rule that has something to say.
//! The order is that of harm: death, theft, points, then places and things, then what changed and
//! what was read.

use super::facts::{Facts, Known, find_title, names_action};
use super::sentences::{
    Kind, Piece, Reply, cut, end_sentence, first_that_fit, is_dark, is_obituary, is_refusal, upper_first,
};
use super::words;
use super::{Decision, Draft, MAX_TEXT_CHARS, MAX_TITLE_CHARS, places};

/// Titles leave this much room for what a rule puts around the action.
const MAX_ACTION_CHARS: usize = 40;

/// The decision on a turn.
pub(super) fn decide(facts: &Facts, reply: &Reply) -> Decision {
    judge_death(facts, reply)
        .or_else(|| judge_theft(facts, reply))
        .or_else(|| judge_score(facts, reply))
        .or_else(|| judge_detour(facts, reply))
        .or_else(|| places::judge_sights(facts, reply))
        .or_else(|| places::judge_ways(facts))
        .or_else(|| places::judge_gains(facts))
        .or_else(|| judge_loss(facts, reply))
        .or_else(|| judge_blow(facts, reply))
        .or_else(|| judge_change(facts, reply))
        .or_else(|| places::judge_scenery(facts, reply))
        .or_else(|| judge_reading(facts, reply))
        .unwrap_or(Decision::Decline(if facts.first_visit {
            "a new place, but the reply says nothing of it"
        } else {
            "nothing that a rule finds worth keeping"
        }))
}

fn judge_death(facts: &Facts, reply: &Reply) -> Option<Decision> {
    if !facts.died {
        return None;
    }
    let cause = find_cause(reply);
    let action = short_action(facts);
    let told = facts.memories.iter().find(|known| !cause.is_empty() && known.text.contains(&cause));
    if let Some(known) = told {
        return Some(match also(known, &facts.action) {
            Some(text) => {
                Draft::new("DANGER", 900, &known.title, text).because("the same death by another action")
            }
            None => Decision::Decline("this death is known"),
        });
    }
    let killer = find_killer(&cause);
    let was_dark = facts.memories.iter().any(|known| is_dark(&known.text) && known.tentative);
    let after = if action.is_empty() { String::new() } else { format!(" after {action}") };
    let by = match &killer {
        Some(killer) => format!(" by {killer}"),
        None if was_dark => " in the dark".to_owned(),
        None => String::new(),
    };
    let advice = match &killer {
        Some(killer) => format!("Beware of the {killer} here"),
        None if was_dark => "Do not go on here without a light".to_owned(),
        None if places::is_dark_without_light(&facts.memories) => {
            format!("Avoid `{action}` here without a light")
        }
        None => format!("Avoid `{action}` here"),
    };
    let cause = if cause.is_empty() { "You died".to_owned() } else { cause };
    let text = format!("{} {advice}.", end_sentence(&cause));
    Some(Draft::new("DANGER", 900, format!("Death{by}{after}"), text).because("the player died"))
}

/// The sentences that say what ended the life: the last ones before the banner.
fn find_cause(reply: &Reply) -> String {
    let pieces = reply.before_banner();
    let tells =
        |piece: &&Piece| piece.text.len() > 12 && !is_refusal(&piece.text) && !is_obituary(&piece.text);
    let said: Vec<&Piece> = pieces.iter().filter(|piece| piece.kind == Kind::Sentence).collect();
    let told: Vec<&Piece> = said.iter().copied().filter(tells).collect();
    let Some(last) = told.last() else {
        return said.last().map(|piece| cut(&piece.text, 150)).unwrap_or_default();
    };
    let follows_title = pieces.iter().any(|piece| piece.kind != last.kind);
    let near = |piece: &&&Piece| piece.line == last.line || (!follows_title && piece.line + 1 >= last.line);
    let run: Vec<&Piece> = told.iter().filter(near).copied().collect();
    let whole = first_that_fit(&run, 400);
    if whole.chars().count() <= 150 { whole } else { cut(&last.text, 150) }
}

/// Who killed, where the sentence begins `The troll removes …`.
fn find_killer(cause: &str) -> Option<String> {
    let mut words = cause.strip_prefix("The ")?.split(' ');
    let mut name: Vec<&str> = Vec::new();
    for word in words.by_ref().take(3) {
        let is_verb = word.ends_with('s') || word.ends_with("ed") || word.ends_with("ly");
        if is_verb && !name.is_empty() {
            return Some(name.join(" "));
        }
        if !word.chars().all(char::is_alphabetic) {
            return None;
        }
        name.push(word);
    }
    None
}

fn judge_theft(facts: &Facts, reply: &Reply) -> Option<Decision> {
    let (_, taken) = split_losses(facts);
    if taken.is_empty() {
        return None;
    }
    let said = reply.statements();
    let told: Vec<&Piece> = said.iter().copied().filter(|piece| words::is_theft(&piece.text)).collect();
    if told.is_empty() && !said.iter().any(|piece| words::names_thief(&piece.text)) {
        return None;
    }
    let told = if told.is_empty() { said } else { told };
    let title = cut(&format!("Robbed of {}", taken.join(", ")), MAX_TITLE_CHARS);
    let text = first_that_fit(&told, 160);
    Some(Draft::new("DANGER", 700, title, text).at_arrival(facts.moved()).because("something was stolen"))
}

fn judge_score(facts: &Facts, reply: &Reply) -> Option<Decision> {
    let points = facts.score_change;
    if points == 0 {
        return None;
    }
    let action = short_action(facts);
    let target = facts.after.as_ref().filter(|_| facts.moved()).map(|place| place.name.clone());
    let goal = match &target {
        Some(name) if !name.is_empty() => format!(" to {}", cut(name, 30)),
        _ => String::new(),
    };
    let verb = if points > 0 { "Scored" } else { "Lost" };
    let worded = format!("{verb} {} points", points.unsigned_abs());
    let is_told = |known: &Known| known.title.ends_with(&goal) && known.text.contains(&worded);
    if !goal.is_empty() && facts.memories.iter().any(is_told) {
        return None;
    }
    let room = MAX_TITLE_CHARS.saturating_sub(goal.chars().count());
    let title = format!("{}{goal}", cut(&upper_first(&action), room));
    let mut said = if target.is_some() { reply.events() } else { reply.statements() };
    said.retain(|piece| !piece.text.starts_with("You have moved "));
    let said = first_that_fit(&said, 100);
    let gains = cut(&facts.gained.join(", "), 80);
    let gained = if gains.is_empty() { String::new() } else { format!(" You get: {gains}.") };
    let text = match said.is_empty() {
        true => format!("{worded}.{gained}"),
        false => format!("{} {worded}.{gained}", end_sentence(&said)),
    };
    let (category, importance) = if points > 0 { ("SUCCESS", 650) } else { ("DANGER", 650) };
    Some(Draft::new(category, importance, title, text).because("the score changed"))
}

/// Carried on from the place that the way led to.
fn judge_detour(facts: &Facts, reply: &Reply) -> Option<Decision> {
    let said = reply.detour();
    if !facts.moved() || said.is_empty() {
        return None;
    }
    let last = &said[said.len().saturating_sub(2)..];
    let mut told: Vec<&Piece> = last.iter().copied().filter(|piece| piece.text.len() > 12).collect();
    if told.is_empty() {
        told = last.to_vec();
    }
    let target = facts.after.as_ref().map(|place| cut(&place.name, 30)).unwrap_or_default();
    let text = format!("{} You end up at {target}.", first_that_fit(&told, 160));
    let title = format!("{} does not end there", cut(&action_title(facts), MAX_ACTION_CHARS));
    if find_title(&facts.memories, &title).is_some() {
        return Some(Decision::Decline("it is known where this ends"));
    }
    Some(Draft::new("DANGER", 550, title, text).tentative(true).because("the way led on to another place"))
}

/// What was given away on purpose, and what went without being named.
fn split_losses(facts: &Facts) -> (Vec<&str>, Vec<&str>) {
    let action = facts.action.to_lowercase();
    let all = action.split(' ').any(|word| matches!(word, "all" | "everything"));
    let named = |item: &&str| {
        let folded = item.to_lowercase();
        let noun = folded.split(' ').next_back().unwrap_or_default().to_owned();
        words::is_letting_go(&action) && (all || action.contains(&noun) || facts.lost.len() == 1)
    };
    facts.lost.iter().map(String::as_str).partition(named)
}

fn judge_loss(facts: &Facts, reply: &Reply) -> Option<Decision> {
    let (given, taken) = split_losses(facts);
    let said = first_that_fit(&reply.statements(), 160);
    if !taken.is_empty() {
        let title = cut(&format!("Lost {}", taken.join(", ")), MAX_TITLE_CHARS);
        let text = format!("Gone after `{}`: {said}", short_action(facts));
        return Some(Draft::new("NOTE", 500, title, text).tentative(true).because("something was lost"));
    }
    if given.is_empty() {
        return None;
    }
    if !words::is_placing(&facts.action) || said.is_empty() {
        return Some(Decision::Decline("something was put down"));
    }
    Some(
        Draft::new("NOTE", 500, action_title(facts), said)
            .tentative(true)
            .because("something was handed over or placed"),
    )
}

/// A blow: one memory of how a fight with an opponent goes, and one of how it was won.
fn judge_blow(facts: &Facts, reply: &Reply) -> Option<Decision> {
    let opponent = words::opponent(&facts.action)?;
    let said = reply.statements();
    if said.is_empty() || !is_noteworthy(facts) {
        return None;
    }
    if reply.sentences().first().is_some_and(|first| is_refusal(&first.text)) {
        return Some(Decision::Decline("the reply reads as a refusal"));
    }
    let title = action_title(facts);
    let text = first_that_fit(&said, 130);
    if words::is_decisive(&text) {
        let is_known = find_title(&facts.memories, &title).is_some_and(|known| !known.tentative);
        if is_known {
            return Some(Decision::Decline("how this fight is won is known"));
        }
        return Some(Draft::new("SUCCESS", 600, title, text).because("a fight was decided"));
    }
    let is_same = |known: &&Known| words::opponent(&known.title).is_some_and(|other| other == opponent);
    if facts.memories.iter().any(|known| is_same(&known)) {
        return Some(Decision::Decline("how this fight goes is known"));
    }
    Some(Draft::new("NOTE", 450, title, text).tentative(true).because("a blow in a fight"))
}

fn judge_change(facts: &Facts, reply: &Reply) -> Option<Decision> {
    if !facts.world_changed || facts.moved() {
        return None;
    }
    if facts.action.is_empty()
        || words::is_meta(&facts.action)
        || words::is_look(&facts.action)
        || words::is_for_all(&facts.action)
    {
        return Some(Decision::Decline("the world went on by itself"));
    }
    if reply.sentences().first().is_some_and(|first| is_refusal(&first.text)) {
        return Some(Decision::Decline("the reply reads as a refusal"));
    }
    let title = action_title(facts);
    let events = reply.events();
    let said = if events.is_empty() { reply.statements() } else { events };
    let text = first_that_fit(&said, 130);
    match find_title(&facts.memories, &title) {
        Some(known) if !known.tentative => {
            return Some(Decision::Decline("what this does is known"));
        }
        _ => {}
    }
    if words::is_taking(&facts.action) {
        let text = first_that_fit(&said[..said.len().min(1)], 130);
        return Some(Draft::new("FAILURE", 400, title, text).because("it could not be taken"));
    }
    if let Some(twin) = facts.memories.iter().find(|known| is_same_effect(known, &text)) {
        return Some(match also(twin, &facts.action) {
            Some(text) => {
                Draft::new("SUCCESS", 500, &twin.title, text).because("another action with the same effect")
            }
            None => Decision::Decline("what this does is known"),
        });
    }
    Some(Draft::new("SUCCESS", 500, title, text).because("the action changed something"))
}

/// A long reply after which nothing had changed: something read or examined.
fn judge_reading(facts: &Facts, reply: &Reply) -> Option<Decision> {
    if !is_noteworthy(facts) || facts.action.is_empty() || facts.moved() {
        return None;
    }
    if words::is_meta(&facts.action)
        || words::is_look(&facts.action)
        || reply.has_title() && reply.title_index().is_some()
    {
        return Some(Decision::Decline("the reply repeats what is known"));
    }
    if reply.sentences().first().is_some_and(|first| is_refusal(&first.text)) {
        return Some(Decision::Decline("the reply reads as a refusal"));
    }
    let title = action_title(facts);
    if find_title(&facts.memories, &title).is_some() {
        return Some(Decision::Decline("what this says is known"));
    }
    let text = first_that_fit(&reply.statements(), 130);
    Some(Draft::new("DISCOVERY", 400, title, text).because("a long reply with something to learn"))
}

fn is_noteworthy(facts: &Facts) -> bool {
    facts.world_changed || facts.reply.chars().count() > 100
}

fn is_same_effect(known: &Known, text: &str) -> bool {
    known.category == "SUCCESS" && text.chars().count() > 12 && known.text.starts_with(text)
}

/// The text of a memory with one more action that does the same, where there is room.
fn also(known: &Known, action: &str) -> Option<String> {
    let text = format!("{} Also: `{action}`.", known.text);
    let fits = text.chars().count() <= MAX_TEXT_CHARS;
    (fits && !action.is_empty() && !names_action(known, action)).then_some(text)
}

fn short_action(facts: &Facts) -> String {
    cut(&facts.action, MAX_ACTION_CHARS)
}

fn action_title(facts: &Facts) -> String {
    if words::direction(&facts.action).is_some() {
        return format!("Going {}", facts.action.to_lowercase());
    }
    upper_first(&cut(&facts.action, MAX_TITLE_CHARS))
}

//! Rules for events: the fact that a turn shows, if any.
//!
//! A turn and its reply enter; the draft of the first rule that applies leaves. Rules are ordered by
//! weight: death, loss, points, a won fight, then what an action revealed, changed or told. Which actions
//! worked and where ways lead is written elsewhere, so a fact has a sentence of the game's own.

use crate::proposal::Side;
use crate::replies::is_refusal;
use crate::rules::draft::{Draft, MAX_TITLE_CHARS};
use crate::rules::headline::{continued, headline, says, upper_first};
use crate::rules::sentences::{Fragment, Kind, Reply, fit, is_dark, is_obituary};
use crate::rules::view::TurnView;
use crate::rules::words::{self, MIN_NEW_WORDS};
use crate::triggers::Trigger;
use memories_document::types::text::fold_case;
use memories_document::types::{Category, Status};

/// Longest quotation, in characters; a single sentence may be longer.
const MAX_STORY_CHARS: usize = 160;

/// The fact that a turn shows.
pub(super) fn find_event(turn: &TurnView<'_>, reply: &Reply) -> Option<Draft> {
    if turn.context.changes.death {
        return Some(judge_death(turn, reply));
    }
    judge_loss(turn, reply)
        .or_else(|| judge_score(turn, reply))
        .or_else(|| judge_victory(turn, reply))
        .or_else(|| judge_effect(turn, reply))
        .or_else(|| judge_answer(turn, reply))
}

/// A death is titled by what killed: darkness, what the game says, or else the action alone.
fn judge_death(turn: &TurnView<'_>, reply: &Reply) -> Draft {
    let action = turn.short_action();
    let said: Vec<&str> = told_before(reply).map(|fragment| fragment.text.as_str()).collect();
    let last = said
        .iter()
        .copied()
        .rfind(|text| words::count_new(text, &action) >= MIN_NEW_WORDS && !words::is_fruitless(text));
    let is_blameless = words::is_meta(&turn.action) || words::is_asking(&turn.action);
    let by = if is_refused(reply) { after } else { by };
    let (title, text) = match find_cause(reply, &said).or(last.filter(|_| is_blameless)) {
        cause if is_in_the_dark(turn, reply) => {
            ("Killed in the dark".to_owned(), by(&action, cause.unwrap_or_default()))
        }
        Some(cause) => {
            let title = format!("Fatal: {}", continued(&headline(cause, MAX_TITLE_CHARS - 8)));
            let told = if says(&title, cause) { "" } else { cause };
            (title, by(&action, told))
        }
        None => (format!("Fatal: {action}"), last.unwrap_or("The reply names no cause.").to_owned()),
    };
    let draft = Draft::new(Category::danger(), &title, &text, "the player died");
    draft.important(900).scoring(turn.score_change)
}

/// The action, with words of the reply that the title does not hold.
fn by(action: &str, told: &str) -> String {
    match (action.is_empty(), told.is_empty()) {
        (true, true) => "By no action.".to_owned(),
        (true, false) => told.to_owned(),
        (false, true) => format!("By `{action}`."),
        (false, false) => format!("`{action}`: {told}"),
    }
}

/// Tells what happened after an action that the game refused, which did not cause it.
fn after(action: &str, told: &str) -> String {
    if told.is_empty() && !action.is_empty() { format!("After `{action}`.") } else { by("", told) }
}

/// The sentence that says what was fatal: the last one before the banner that tells of harm, else that tells an
/// event, else the banner itself. Remarks are no cause.
fn find_cause<'a>(reply: &'a Reply, said: &[&'a str]) -> Option<&'a str> {
    let last = |tells: fn(&str) -> bool| said.iter().rfind(|text| tells(text)).copied();
    last(words::tells_harm).or_else(|| last(words::is_narrated)).or_else(|| reply.banner())
}

/// The statements before the banner that do not only announce the end.
fn told_before(reply: &Reply) -> impl Iterator<Item = &Fragment> {
    let sentences = reply.before_banner().iter().filter(|fragment| fragment.kind == Kind::Sentence);
    sentences.filter(|fragment| !is_refusal(&fragment.text) && !is_obituary(&fragment.text))
}

/// True if this reply, or the reply of an earlier turn which ended at this place, says that it is dark.
fn is_in_the_dark(turn: &TurnView<'_>, reply: &Reply) -> bool {
    let earlier = turn.context.history.iter().filter(|earlier| {
        let ended = earlier.location_after.as_ref().or(earlier.location_before.as_ref());
        ended.is_some_and(|place| place.id == Some(turn.context.before.id))
    });
    let is_lit = |text: &str| Reply::new(text, &[&turn.from]).title_index().is_some();
    let last_sight = earlier.rev().find(|earlier| is_dark(&earlier.response) || is_lit(&earlier.response));
    last_sight.is_some_and(|earlier| is_dark(&earlier.response))
        || reply.before_banner().iter().any(|fragment| is_dark(&fragment.text))
}

/// Items were lost that the action did not let go of.
fn judge_loss(turn: &TurnView<'_>, reply: &Reply) -> Option<Draft> {
    let taken = unwanted_losses(turn);
    if taken.is_empty() {
        return None;
    }
    let items = format!("Lost: {}.", taken.join(", "));
    let said = reply.statements();
    let thief = said.iter().find_map(|fragment| words::thief(&fragment.text));
    let is_blow = words::is_blow(&turn.action);
    let hints_theft = |text: &str| {
        let folded = fold_case(text);
        let is_disarmed = is_blow || taken.iter().any(|item| names(&folded, item));
        !is_disarmed && thief.is_some_and(|thief| folded.contains(thief))
    };
    let told = |is_told: &dyn Fn(&str) -> bool| -> Vec<&Fragment> {
        said.iter().copied().filter(|fragment| is_told(&fragment.text)).collect()
    };
    let thefts = told(&words::is_theft);
    let relevant = if thefts.is_empty() { told(&hints_theft) } else { thefts };
    if relevant.is_empty() {
        let folded = fold_case(&turn.action);
        if taken.iter().any(|item| names(&folded, item)) {
            return None;
        }
        let title = format!("Lost {}", taken.join(", "));
        let text = format!("Gone after `{}`. {}", turn.short_action(), fit(&said, |_| (), MAX_STORY_CHARS));
        let mut draft = Draft::new(Category::failure(), &title, &text, "something was lost");
        draft.memory.status = Status::Tentative;
        return Some(draft);
    }
    let title = match thief {
        Some(thief) => format!("Robbed by the {thief}"),
        None => format!("Robbed of {}", taken.join(", ")),
    };
    let text = format!("{} {items}", fit(&relevant, |_| (), MAX_STORY_CHARS));
    let draft = Draft::new(Category::danger(), &title, &text, "something was stolen");
    Some(Draft { latest: true, ..draft.at_arrival(turn.moved()) })
}

/// Items lost that the action did not mean to give away.
fn unwanted_losses<'a>(turn: &'a TurnView<'_>) -> Vec<&'a str> {
    let action = fold_case(&turn.action);
    let is_meant = |item: &&str| {
        let is_named = words::is_for_all(&action) || names(&action, item) || turn.lost.len() == 1;
        words::is_letting_go(&action) && is_named
    };
    turn.lost.iter().map(String::as_str).filter(|item| !is_meant(item)).collect()
}

/// True if an action names an item by one of its words.
fn names(action: &str, item: &str) -> bool {
    let item = fold_case(item);
    let mut words = item.split(' ').filter(|word| word.len() > 2);
    words.any(|word| action.split(|c: char| !c.is_alphanumeric()).any(|one| one == word))
}

/// The action that scored, or the place that it reached, with the points.
fn judge_score(turn: &TurnView<'_>, reply: &Reply) -> Option<Draft> {
    let points = turn.score_change;
    let category = match points {
        0 => return None,
        points if points > 0 => Category::success(),
        _ => Category::failure(),
    };
    let action = turn.short_action();
    let is_reaching = turn.moved() && !turn.to.is_empty();
    let (deed, mut told) = if is_reaching {
        (format!("Reaching {}", turn.to), reply.events())
    } else {
        (upper_first(&action), reply.statements())
    };
    told.retain(|fragment| {
        let text = &fragment.text;
        words::count_new(text, &action) > 1
            && !words::is_about_the_game(text)
            && !turn.has_said(text, Side::Before)
    });
    let plural = if points.abs() == 1 { "" } else { "s" };
    let deed = headline(&deed, MAX_TITLE_CHARS - 20);
    let deed = if deed.is_empty() { "Scored" } else { &deed };
    let title = format!("{deed}: {points:+} point{plural}");
    let told = fit(&told, |_| (), MAX_STORY_CHARS);
    let text = match (is_reaching, told.is_empty()) {
        (true, _) => by(&action, &told),
        (false, false) => told,
        (false, true) if !turn.gained.is_empty() => format!("Gained: {}.", turn.gained.join(", ")),
        (false, true) => {
            let score = turn.context.turn.score_after.unwrap_or_default();
            format!("The score was {score} then.")
        }
    };
    Some(Draft::new(category, &title, &text, "the score changed").scoring(points))
}

/// How a fight was won; a single blow is not worth a memory.
fn judge_victory(turn: &TurnView<'_>, reply: &Reply) -> Option<Draft> {
    if !words::is_blow(&turn.action) {
        return None;
    }
    let decided = reply.statements().into_iter().find(|fragment| words::is_decisive(&fragment.text))?;
    let title = upper_first(&turn.short_action());
    let draft = Draft::new(Category::success(), &title, &decided.text, "a fight was decided");
    Some(draft.quoting(&decided.text).important(600))
}

/// The sentence that says what the action revealed or changed, beyond that it worked.
fn judge_effect(turn: &TurnView<'_>, reply: &Reply) -> Option<Draft> {
    let is_vague =
        words::is_meta(&turn.action) || words::is_for_all(&turn.action) || words::is_look(&turn.action);
    let is_effective = turn.context.effect.is_success() && !is_refused(reply);
    if is_vague || !is_effective || words::is_blow(&turn.action) {
        return None;
    }
    let said = if turn.moved() { reply.events() } else { reply.statements() };
    let action = turn.short_action();
    let is_news = |thing: &&str| words::count_new(thing, &action) > 0;
    let revealing = said.iter().find_map(|told| Some((&told.text, told.revealed().filter(is_news)?)));
    let told = match revealing {
        Some((told, _)) => told,
        None => {
            let first = said.first()?.line;
            let told = &said.iter().find(|told| told.line == first && told.text.contains(' '))?.text;
            let tells = if turn.moved() { words::is_of_a_thing } else { words::is_narrated };
            let needed = MIN_NEW_WORDS + usize::from(told.starts_with("You "));
            if !turn.gained.is_empty() || !tells(told) || words::count_new(told, &action) < needed {
                return None;
            }
            told
        }
    };
    if words::is_fruitless(told) || turn.was_told(told) {
        return None;
    }
    let is_long = told.chars().count() > MAX_TITLE_CHARS && !words::is_several(&action);
    let (title, quote) = match revealing.filter(|_| is_long) {
        Some((_, thing)) => (format!("{} reveals {thing}", upper_first(&action)), thing),
        None => (headline(told, MAX_TITLE_CHARS), told.as_str()),
    };
    let text = by(&action, if says(&title, quote) { "" } else { told });
    let draft = Draft::new(Category::discovery(), &title, &text, "the reply tells what the action did");
    Some(draft.quoting(quote))
}

/// The answer to an action that asks for one: what was read, examined or said.
fn judge_answer(turn: &TurnView<'_>, reply: &Reply) -> Option<Draft> {
    let is_long = turn.context.triggers.contains(&Trigger::Response);
    let asks = words::is_asking(&turn.action) && !words::is_look(&turn.action);
    if turn.moved() || !is_long || !asks || is_refused(reply) {
        return None;
    }
    let mut said = reply.statements();
    said.retain(|one| !words::is_about_the_game(&one.text) && !words::is_fruitless(&one.text));
    let is_news = |one: &&Fragment| words::count_new(&one.text, &turn.action) >= MIN_NEW_WORDS;
    let telling = said.iter().copied().find(is_news).filter(|telling| !turn.was_told(&telling.text))?;
    let action = turn.short_action();
    let deed = upper_first(&action);
    if turn.has_titled(&deed) {
        return None;
    }
    // The first half of a sentence would stand in the title and in the text.
    let said_whole = format!("{deed}: {}", continued(&telling.text));
    let is_short = said_whole.chars().count() <= MAX_TITLE_CHARS;
    let title = if is_short { said_whole } else { deed };
    said.retain(|one| {
        let is_known = !std::ptr::eq(*one, telling) && turn.has_said(&one.text, Side::Before);
        !is_known && !says(&title, &one.text)
    });
    let weight = |one: &Fragment| !std::ptr::eq(one, telling);
    let whole = headline(&telling.text, MAX_TITLE_CHARS);
    let is_all = said.iter().all(|one| says(&whole, &one.text));
    let (title, text) =
        if is_all { (whole, by(&action, "")) } else { (title, fit(&said, weight, MAX_STORY_CHARS)) };
    Some(Draft::new(Category::discovery(), &title, &text, "the game answered").quoting(&telling.text))
}

/// True if the first sentence refuses.
fn is_refused(reply: &Reply) -> bool {
    reply.sentences().first().is_some_and(|first| is_refusal(&first.text))
}

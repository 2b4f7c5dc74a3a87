//! The effect of a turn: one judgement, made from the game's reply and facts, which all other parts read.
//!
//! A turn, the changes of its facts and earlier tries of the action enter; an [`Effect`] leaves. Facts that the turn
//! states come first (place, score, inventory, death, victory), then the class of the reply, then the engine's flag of a
//! changed world. No fact is taken on trust against another of the same turn: an engine's flag is also set by clocks
//! and by characters elsewhere, so a refusal beats it.

use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, IntoStaticStr, VariantNames};

use crate::changes::{Changes, score_change};
use crate::replies::{Replies, ReplyClass, SHORT_REPLY, answer, names_a_word_of};
use crate::rules::sentences::{is_dark, tells_death};
use crate::turn::Turn;
use memories_document::evidence::is_same_reply;
use memories_document::types::direction::Direction;
use memories_document::types::{Attempt, TryResult, fold_action};

/// The effect of a turn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[derive(Serialize, Deserialize, Display, EnumString, IntoStaticStr, VariantNames)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Effect {
    /// The player died.
    Died,
    /// The game is won.
    Won,
    /// The player is at another place.
    Moved,
    /// The score rose.
    Scored,
    /// The score fell, and nothing else is known to have changed.
    Cost,
    /// Something is carried that was not.
    Gained,
    /// Something is no longer carried.
    Lost,
    /// The reply says that something was revealed.
    Revealed,
    /// The reply or the engine says that something changed.
    Changed,
    /// The thing or the game refuses.
    Refused,
    /// No way leads there.
    NoWay,
    /// Something that may pass is in the way.
    Blocked,
    /// The thing that the action names is not here.
    NotHere,
    /// It is so already, in this episode.
    AlreadySo,
    /// Nothing happened.
    Nothing,
    /// The parser does not know a word of the action.
    UnknownWord,
    /// The parser does not understand, for whatever reason.
    NotUnderstood,
    /// Somebody answered, or was given something.
    Answered,
    /// The action only looked, and the reply is what it showed.
    Looked,
    /// The action only waits, or speaks to the program that runs the game.
    Idle,
    /// The facts show no change, and the reply is of no class.
    Unseen,
    /// Nobody knows.
    #[default]
    Unknown,
}

impl Effect {
    /// True if the action did something: it is a way, or stands with what worked.
    pub fn is_success(self) -> bool {
        use Effect::{Changed, Gained, Lost, Moved, Revealed, Scored, Won};
        matches!(self, Won | Moved | Scored | Gained | Lost | Revealed | Changed)
    }

    /// True if the game denies any effect.
    pub fn is_denied(self) -> bool {
        self.tried().is_some_and(|result| matches!(result, TryResult::Vain | TryResult::Blocked))
    }

    /// True if nothing changed that anybody saw.
    pub fn had_none(self) -> bool {
        !(self.is_success() || self == Effect::Died)
    }

    /// The result to list under Tried; `None` for an effect that is not listed there.
    pub(super) fn tried(self) -> Option<TryResult> {
        use Effect::{
            AlreadySo, Answered, Blocked, Cost, NoWay, NotHere, NotUnderstood, Nothing, Refused, Unknown,
            UnknownWord, Unseen,
        };
        match self {
            Refused | NoWay | Nothing | UnknownWord | NotUnderstood => Some(TryResult::Vain),
            Blocked | NotHere | AlreadySo => Some(TryResult::Blocked),
            Answered | Unknown | Cost => Some(TryResult::Unknown),
            Unseen => Some(TryResult::Unseen),
            _ => None,
        }
    }
}

/// First words of actions whose use is their answer.
const LOOKS: &str = "look examine inspect describe read search listen smell consult study watch measure weigh check inventory score \
    diagnose";

/// First words of actions that pass time, or speak to the program that runs the game.
const IDLE: &str = "wait wait1 time verbose brief superbrief save restore help info about";

/// First words of actions that do another one again, or take it back.
const OF_ANOTHER: &str = "again g oops undo";

/// First words of actions that speak to somebody, or give something.
const TALKS: &str = "ask tell talk say answer greet hello speak whisper shout thank give offer show feed";

/// True if an action only looks.
pub(super) fn is_look(action: &str) -> bool {
    starts_with_one_of(action, LOOKS)
        || action.to_lowercase().starts_with("use ")
            && action.split_whitespace().any(|word| word.ends_with("meter"))
}

/// True if an action only passes time, or speaks to the program that runs the game.
pub(super) fn is_idle(action: &str) -> bool {
    starts_with_one_of(action, IDLE) || is_of_another(action)
}

/// True if an action only repeats another one, or takes it back: the result belongs to the other action.
pub(super) fn is_of_another(action: &str) -> bool {
    starts_with_one_of(action, OF_ANOTHER)
}

/// True if an action speaks to somebody, or gives something.
pub(super) fn is_talk(action: &str) -> bool {
    starts_with_one_of(action, TALKS)
}

fn starts_with_one_of(action: &str, words: &str) -> bool {
    let folded = fold_action(action);
    let first = folded.split(' ').next().unwrap_or_default();
    words.split(' ').any(|word| word == first)
}

/// Knowledge of an action and its reply from earlier turns.
#[derive(Debug, Clone, Copy, Default)]
pub struct Earlier<'a> {
    /// The last try of the same action at the same place.
    pub attempt: Option<&'a Attempt>,
    /// It is a direction, and the reply is that with which the game refuses directions where there is no way.
    pub is_wall: bool,
}

/// Judges a turn. `stated` is the effect that a model states.
pub fn effect_of(
    turn: &Turn,
    changes: Changes,
    replies: &Replies,
    earlier: Earlier<'_>,
    stated: Option<Effect>,
) -> Effect {
    if changes.death || tells_death(&turn.response) {
        return Effect::Died;
    }
    // If the game refuses the action, an item that is lost was stolen, and an item that is gained was only taken up for
    // the attempt.
    let score = score_change(turn).unwrap_or_default();
    let shown = shown_by(Changes { score: score > 0, ..changes });
    let may_be_anothers = |effect: Effect| match effect {
        Effect::Lost => true,
        Effect::Gained => !takes(&turn.action),
        _ => false,
    };
    if let Some(effect) = shown.filter(|effect| !may_be_anothers(*effect)) {
        return effect;
    }
    let class =
        replies.class_of(&turn.response).filter(|class| !is_own_doing(&turn.action, &turn.response, *class));
    let told = by_class(turn, class);
    if let Some(effect) = shown.filter(|_| !told.is_some_and(Effect::is_denied)) {
        return effect;
    }
    if let Some(stated) = stated.filter(|stated| may_be_stated(*stated)) {
        return stated;
    }
    match told.unwrap_or_else(|| without_class(turn, earlier.attempt)) {
        Effect::Blocked if earlier.is_wall && names_no_obstacle(class) => Effect::NoWay,
        Effect::Changed | Effect::Unseen | Effect::Unknown if score < 0 => Effect::Cost,
        effect => effect,
    }
}

/// True if a reply does not say that something which may pass is in the way.
fn names_no_obstacle(class: Option<ReplyClass>) -> bool {
    matches!(class, None | Some(ReplyClass::Refused | ReplyClass::Denied))
}

/// The effect that the facts show, the weightiest.
fn shown_by(changes: Changes) -> Option<Effect> {
    let shown = [
        (changes.won, Effect::Won),
        (changes.location, Effect::Moved),
        (changes.score, Effect::Scored),
        (changes.gained, Effect::Gained),
        (changes.lost, Effect::Lost),
    ];
    shown.into_iter().find_map(|(is_shown, effect)| is_shown.then_some(effect))
}

/// True if a model may state the effect: facts alone say that somebody moved, scored, carries something or died.
fn may_be_stated(stated: Effect) -> bool {
    use Effect::{Cost, Died, Gained, Idle, Lost, Moved, Scored, Unseen, Won};
    !matches!(stated, Died | Won | Moved | Scored | Cost | Gained | Lost | Idle | Unseen)
}

/// The effect that the class of the reply tells.
fn by_class(turn: &Turn, class: Option<ReplyClass>) -> Option<Effect> {
    let is_flagged = turn.world_changed == Some(true);
    let is_direction = Direction::of(&turn.action).is_some();
    // Without facts a mere negation may say anything.
    let shows_facts = turn.has_pairs() || turn.world_changed == Some(false);
    let (looks, talks) = (is_look(&turn.action), is_talk(&turn.action));
    Some(match class {
        Some(ReplyClass::UnknownWord) if names_a_word_of(&turn.response, &turn.action) => Effect::UnknownWord,
        Some(ReplyClass::UnknownWord | ReplyClass::NotUnderstood) => Effect::NotUnderstood,
        Some(ReplyClass::AsksBack) => Effect::Refused,
        Some(ReplyClass::NotHere) => Effect::NotHere,
        _ if is_idle(&turn.action) => Effect::Idle,
        Some(ReplyClass::Nothing) => Effect::Nothing,
        Some(ReplyClass::Revealed) if turn.world_changed != Some(false) => Effect::Revealed,
        // The thing is shown, even if the reply says that it is closed or cannot be made out.
        Some(ReplyClass::Refused | ReplyClass::NoWay) if looks && !is_flagged && is_short(&turn.response) => {
            Effect::Refused
        }
        Some(ReplyClass::Blocked) if looks && is_dark(&turn.response) => Effect::Blocked,
        _ if looks && !is_flagged => Effect::Looked,
        Some(ReplyClass::Done) => Effect::Changed,
        _ if talks && !is_flagged => Effect::Answered,
        Some(ReplyClass::Blocked) => Effect::Blocked,
        // A direction that is refused in words of the game's own may be barred by something that passes.
        Some(ReplyClass::Refused) if is_direction => Effect::Blocked,
        Some(ReplyClass::Denied) if is_direction && shows_facts => Effect::Blocked,
        Some(ReplyClass::Already) => Effect::AlreadySo,
        Some(ReplyClass::NoWay) => Effect::NoWay,
        Some(ReplyClass::Refused | ReplyClass::Have) => Effect::Refused,
        Some(ReplyClass::Denied) if shows_facts => Effect::Refused,
        Some(ReplyClass::Denied | ReplyClass::Revealed) | None => return None,
    })
}

/// The effect of a turn whose reply is of no class.
fn without_class(turn: &Turn, earlier: Option<&Attempt>) -> Effect {
    let is_direction = Direction::of(&turn.action).is_some();
    match turn.world_changed {
        // Items are known, and none was gained: the flag is of something else.
        Some(true) if takes(&turn.action) && turn.has_inventories() => Effect::Nothing,
        Some(true) => Effect::Changed,
        Some(false) if is_direction => Effect::Blocked,
        Some(false) => Effect::Nothing,
        None if !(turn.has_pairs() || is_direction && states_end(turn)) => Effect::Unknown,
        None if is_direction && turn.has_pairs() => Effect::Blocked,
        None => {
            let is_again = |earlier: &&Attempt| {
                matches!(earlier.result, TryResult::Unseen | TryResult::Vain)
                    && is_same_reply(earlier, &answer(&turn.response))
            };
            if earlier.filter(is_again).is_some() { Effect::Nothing } else { Effect::Unseen }
        }
    }
}

/// True if a turn states by its id where the player is afterwards. A direction that leaves them where they were shows as
/// much as equal scores do; of two names that are equal, each may be of another place.
fn states_end(turn: &Turn) -> bool {
    turn.location_after.as_ref().is_some_and(|place| place.id.is_some())
}

/// True if an action takes something up.
fn takes(action: &str) -> bool {
    let folded = fold_action(action);
    folded == "take" || folded.starts_with("take ")
}

/// True if a reply holds little more than its first words.
fn is_short(reply: &str) -> bool {
    reply.trim().chars().count() <= SHORT_REPLY
}

/// True if the reply says that what the action does is so now: `close door` and "The door is closed."
fn is_own_doing(action: &str, reply: &str, class: ReplyClass) -> bool {
    let verb = fold_action(action);
    let verb = verb.split(' ').next().unwrap_or_default();
    class == ReplyClass::Blocked
        && matches!(verb, "close" | "lock")
        && reply.to_lowercase().contains(if verb == "close" { "closed" } else { "locked" })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// The effect of an action and its reply, with these facts.
    fn effect(action: &str, reply: &str, facts: Value) -> Effect {
        let mut turn = json!({"action": action, "response": reply, "location": 1});
        turn.as_object_mut().unwrap().extend(facts.as_object().cloned().unwrap_or_default());
        let turn = Turn::from_value(&turn).unwrap();
        effect_of(&turn, Changes::of(&turn, false), &Replies::default(), Earlier::default(), None)
    }

    fn pairs(world_changed: Option<bool>) -> Value {
        json!({"score_before": 1, "score_after": 1, "inventory_before": ["a"], "inventory_after": ["a"],
            "world_changed": world_changed})
    }

    #[test]
    fn a_refusal_beats_the_engines_flag_and_facts_beat_the_reply() {
        for (action, reply, expected) in [
            ("north", "You can't go that way.", Effect::NoWay),
            ("open gates", "Sounds reasonable, but this isn't how.", Effect::Refused),
            ("south", "The door is locked.", Effect::Blocked),
            ("take rope", "You can't see any rope here!", Effect::NotHere),
            ("open door", "It is already open.", Effect::AlreadySo),
            ("frotz", "I don't know the word \"frotz\".", Effect::UnknownWord),
            ("open", "What do you want to open?", Effect::Refused),
            ("push button", "Nothing happens.", Effect::Nothing),
            ("close door", "The door is closed.", Effect::Changed),
            ("push button", "There is a rumbling sound.", Effect::Changed),
            ("turn bubble", "This won't do.", Effect::Refused),
            ("wait", "Time passes.", Effect::Idle),
            ("pull leaves", "Done.\nMoving the pile of leaves reveals nothing.", Effect::Nothing),
            ("take all", "troll: The troll spits in your face.", Effect::Nothing),
        ] {
            assert_eq!(effect(action, reply, pairs(Some(true))), expected, "{action}: {reply}");
        }
        let scored = json!({"score_before": 1, "score_after": 6, "world_changed": false});
        assert_eq!(effect("north", "You can't go that way.", scored), Effect::Scored);
        let fallen = json!({"score_before": 8, "score_after": -100, "world_changed": true});
        assert_eq!(effect("focus on air", "You focus on the air.", fallen.clone()), Effect::Cost);
        assert_eq!(effect("north", "You can't go that way.", fallen), Effect::NoWay);
        let taken = json!({"inventory_before": [], "inventory_after": ["rope"]});
        assert_eq!(effect("take rope", "You can't see any rope here!", taken.clone()), Effect::Gained);
        let implied = "(first taking the rope)\nYou can't tie the rope to that.";
        assert_eq!(effect("tie rope to sky", implied, taken), Effect::Refused);
        let leap = "A look before leaping reveals that the river is wide. You decide to forgo your swim.";
        assert_eq!(effect("enter river", leap, pairs(Some(false))), Effect::Nothing);
        let robbed = json!({"inventory_before": ["egg"], "inventory_after": [], "world_changed": true});
        let theft = "You can't go that way.\nThe thief just left, still carrying his large bag.";
        assert_eq!(effect("southeast", theft, robbed.clone()), Effect::NoWay, "the thief did something");
        assert_eq!(effect("drop egg", "Dropped.", robbed), Effect::Lost);
        assert_eq!(effect("wave", "**** You have won ****", json!({"won": true})), Effect::Won);
        assert_eq!(effect("north", "You fall. You have died.", pairs(Some(true))), Effect::Died);
    }

    #[test]
    fn text_alone_says_what_it_says_and_no_more() {
        for (action, reply, expected) in [
            ("open mailbox", "Opening the small mailbox reveals a leaflet.", Effect::Revealed),
            ("take leaflet", "Taken.", Effect::Changed),
            ("unlock door", "You unlock the door. A secret staircase is revealed!", Effect::Changed),
            ("pull lever", "Click.", Effect::Unknown),
            ("north", "North of House", Effect::Unknown),
            ("eat rug", "You can't do that.", Effect::Refused),
            ("examine desk", "It has one drawer, locked.", Effect::Looked),
            ("examine rug", "There's nothing special about the rug.", Effect::Nothing),
            ("look", "It is pitch black.", Effect::Blocked),
            ("ask guard about key", "\"No, I won't give it to you,\" says the guard.", Effect::Answered),
            ("give coin to guard", "The guard doesn't seem interested.", Effect::Answered),
            ("give coin to door", "You can't give a coin to a door!", Effect::Refused),
        ] {
            assert_eq!(effect(action, reply, json!({})), expected, "{action}: {reply}");
        }
    }

    #[test]
    fn facts_without_a_flag_show_no_effect_when_the_same_reply_comes_again() {
        assert_eq!(effect("north", "You bump into it.", pairs(None)), Effect::Blocked);
        assert_eq!(effect("pull lever", "Click.", pairs(None)), Effect::Unseen);
        assert_eq!(effect("pull lever", "Click.", pairs(Some(false))), Effect::Nothing);
        let turn = json!({"action": "pull lever", "response": "Click.", "location": 1, "score_before": 1, "score_after": 1});
        let turn = Turn::from_value(&turn).unwrap();
        let again = |result| {
            let earlier =
                Attempt { action: "pull lever".into(), reply: "Click.".into(), result, ..Attempt::default() };
            effect_of(
                &turn,
                Changes::of(&turn, false),
                &Replies::default(),
                Earlier { attempt: Some(&earlier), is_wall: false },
                None,
            )
        };
        assert_eq!(again(TryResult::Unseen), Effect::Nothing);
        assert_eq!(again(TryResult::Unknown), Effect::Unseen, "the facts were not sent both times");
    }

    #[test]
    fn a_direction_shows_that_it_leads_nowhere_by_equal_ids_alone() {
        let (id, name) = (json!({"id": 1, "name": "A"}), json!({"name": "A"}));
        let ends = |place: &Value| json!({"location_before": place, "location_after": place});
        assert_eq!(effect("west", "", ends(&id)), Effect::Unseen);
        assert_eq!(effect("west", "", ends(&name)), Effect::Unknown, "another place may have the name");
        assert_eq!(effect("west", "", json!({})), Effect::Unknown);
        assert_eq!(effect("pull rope", "", ends(&id)), Effect::Unknown);
    }

    #[test]
    fn a_wall_is_no_way_unless_the_reply_names_what_is_in_the_way() {
        let at_wall = |reply: &str| {
            let turn = json!({"action": "down", "response": reply, "location": 1, "score_before": 1, "score_after": 1});
            let turn = Turn::from_value(&turn).unwrap();
            let earlier = Earlier { attempt: None, is_wall: true };
            effect_of(&turn, Changes::of(&turn, false), &Replies::default(), earlier, None)
        };
        assert_eq!(at_wall("A wall of brick is there."), Effect::NoWay);
        assert_eq!(at_wall("This won't do."), Effect::NoWay);
        assert_eq!(at_wall("The trap door is closed."), Effect::Blocked);
    }

    #[test]
    fn a_model_may_state_what_the_reply_means_but_no_fact() {
        let turn = Turn::new("drücke Knopf", "Es rumpelt.", None);
        let stated = |stated| {
            effect_of(&turn, Changes::of(&turn, false), &Replies::default(), Earlier::default(), Some(stated))
        };
        assert_eq!(stated(Effect::Refused), Effect::Refused);
        assert_eq!(stated(Effect::Scored), Effect::Unknown);
    }
}

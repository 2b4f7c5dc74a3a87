//! Evidence about actions: is one worth another try at a place?
//!
//! A section, the facts that hold at every place, and an action enter; a verdict leaves. The result of a try was judged
//! when it was recorded. An obstacle may be gone since; then the verdict says so.

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};

use serde::Serialize;
use serde_json::{Value, json};

use crate::circumstances::{Circumstances, Later, names_a_thing, words, write};
use memories_document::Section;
use memories_document::text::stored_line;
use memories_document::types::frame::one_line;
use memories_document::types::model_text::ModelText;
use memories_document::types::{Attempt, Scope, TryResult, asks_for_status, fold_action, fold_title};

/// The answer to whether an action is worth another try at a place.
#[derive(Debug, Clone, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Verdict {
    /// It was refused here, or nothing happened, or it killed; or something was in the way in this episode, and nothing
    /// that could matter happened since; or the game's parser does not understand it.
    InVain,
    /// Something was in the way, or the action only looked, and an event since may have changed the result.
    MayBeTried {
        /// The later event that may have removed the obstacle, as text.
        since: String,
    },
    /// It has changed something here or led elsewhere. Only something that is in its way in this episode, since nothing
    /// happened that could matter, outweighs that.
    Worked(Success),
    /// The action only looked, and no later action here named the thing that it showed.
    Seen,
    /// It was done here, and nobody knows whether it changed something.
    UnknownEffect,
    /// It was never done here.
    No,
}

impl Verdict {
    /// The name in JSON.
    pub fn name(&self) -> &'static str {
        self.into()
    }
}

/// The last time an action worked.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Success {
    /// Its episode.
    pub episode: Option<u64>,
    /// Its turn.
    pub turn: Option<u64>,
    /// Id and name of the place to which it led; `None` where it changed something here.
    pub leads_to: Option<(u64, String)>,
}

/// Gives the verdicts about the actions of one section.
pub struct Judgement<'a> {
    section: &'a Section,
    circumstances: &'a Circumstances<'a>,
    worked: HashMap<String, Success>,
    /// What worked here in the running episode, to find what came later than a look.
    done: OnceCell<Later>,
}

impl<'a> Judgement<'a> {
    /// For a section.
    pub fn of(section: &'a Section, circumstances: &'a Circumstances<'a>) -> Judgement<'a> {
        let here = section.worked.iter().map(|Attempt { action, episode, turn, .. }| {
            (action, Success { episode: *episode, turn: *turn, leads_to: None })
        });
        let ways = section.ways.iter().map(|way| {
            let leads_to = Some((way.to, way.name.clone()));
            (&way.action, Success { episode: way.episode, turn: way.turn, leads_to })
        });
        let mut worked: HashMap<String, Success> = HashMap::new();
        for (action, success) in here.chain(ways) {
            let last = worked.entry(fold_action(action)).or_insert_with(|| success.clone());
            if success > *last {
                *last = success;
            }
        }
        Judgement { section, circumstances, worked, done: OnceCell::new() }
    }

    /// The verdict about an action.
    pub fn verdict(&self, action: &str) -> Verdict {
        let folded = fold_action(action);
        match (self.attempt(action, &folded), self.worked.get(&folded)) {
            (Some((attempt, Source::Tried)), _) => self.verdict_of(attempt),
            (_, Some(success)) => Verdict::Worked(success.clone()),
            (None, None) => Verdict::No,
            (Some((_, Source::Game)), _) => Verdict::InVain,
            (Some((status, Source::Status)), _) => match self.circumstances.changed_since(status) {
                None => Verdict::Seen,
                Some(since) => Verdict::MayBeTried { since },
            },
            (Some((seen, Source::Seen)), _) => self.judge_seen(seen),
        }
    }

    /// The verdict about a tried action of the section, without a look at those that the game does not understand.
    pub(crate) fn verdict_of(&self, attempt: &Attempt) -> Verdict {
        let worked = || self.worked.get(&fold_action(&attempt.action)).cloned().map(Verdict::Worked);
        match attempt.result {
            // An action that works leaves the list, so what was in the way came later.
            TryResult::Blocked => match self.circumstances.cleared_since(attempt) {
                None => Verdict::InVain,
                Some(since) => worked().unwrap_or(Verdict::MayBeTried { since }),
            },
            TryResult::Vain | TryResult::Deadly => worked().unwrap_or(Verdict::InVain),
            TryResult::Died | TryResult::Unknown | TryResult::Unseen => {
                worked().unwrap_or(Verdict::UnknownEffect)
            }
        }
    }

    /// The verdict about an action that looked.
    pub(crate) fn judge_seen(&self, seen: &Attempt) -> Verdict {
        let running = Some(self.circumstances.running_episode);
        let later = self.done.get_or_init(|| {
            let done = self.section.worked.iter().filter(|done| done.episode == running);
            Later::of(done.cloned().collect())
        });
        let looks_around = fold_action(&seen.action) == "look";
        let things: HashSet<String> =
            words(&seen.action).skip(1).filter(|word| names_a_thing(word)).collect();
        let first =
            |turn| if looks_around { later.first_of_all(turn) } else { later.first_naming(&things, turn) };
        match if seen.episode == running { first(Some(seen.turn)) } else { first(None) } {
            None => Verdict::Seen,
            Some(done) => {
                let since = format!("`{}` worked here at {}", done.action, write(done.episode, done.turn));
                Verdict::MayBeTried { since }
            }
        }
    }

    /// The line that holds an action: that of the game's parser, else the later one of the place.
    fn attempt(&self, action: &str, folded: &str) -> Option<(&'a Attempt, Source)> {
        let circumstances: &'a Circumstances<'a> = self.circumstances;
        let words = Scope::Game.key_of_action(action);
        let is_meant = |attempt: &&Attempt| Scope::Game.key_of_action(&attempt.action) == words;
        if let Some(attempt) = circumstances.not_understood.iter().find(is_meant) {
            return Some((attempt, Source::Game));
        }
        let find = |list: &'a [Attempt]| list.iter().find(|attempt| fold_action(&attempt.action) == folded);
        if asks_for_status(folded) {
            return find(&circumstances.status).map(|attempt| (attempt, Source::Status));
        }
        let tried = find(&self.section.tried).map(|attempt| (attempt, Source::Tried));
        let seen = find(&self.section.seen).map(|attempt| (attempt, Source::Seen));
        tried.into_iter().chain(seen).max_by_key(|(attempt, _)| (attempt.episode, attempt.turn))
    }
}

/// The list that holds an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    Tried,
    Seen,
    Game,
    Status,
}

/// Evidence about an action at a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evidence {
    /// The action on one line; empty where none was named.
    pub action: String,
    /// The verdict.
    pub verdict: Verdict,
    /// The action as the section lists it, or the game where its parser does not understand it.
    pub attempt: Option<Attempt>,
    /// The game's parser does not understand the action, wherever the player is.
    pub not_understood: bool,
    /// Titles of the live memories that mention the action in title or text.
    pub memories: Vec<String>,
}

impl Evidence {
    /// Looks an action up in a section, by the words that every parser treats alike.
    pub fn of(section: &Section, circumstances: &Circumstances<'_>, action: &str) -> Evidence {
        let action = stored_line(action);
        let folded = fold_action(&action);
        let judgement = Judgement::of(section, circumstances);
        let attempt = judgement.attempt(&action, &folded);
        let title = fold_title(&action);
        let names_it = |text: &str| {
            let text = fold_title(&stored_line(text));
            text.contains(&folded) || text.contains(&title)
        };
        let names_it = |text: &str| !folded.is_empty() && names_it(text);
        let named = section.live().filter(|memory| names_it(&memory.title) || names_it(&memory.text));
        Evidence {
            verdict: judgement.verdict(&action),
            attempt: attempt.map(|(attempt, _)| attempt.clone()),
            not_understood: attempt.is_some_and(|(_, source)| source == Source::Game),
            memories: named.map(|memory| memory.title.clone()).collect(),
            action,
        }
    }

    /// True if the action would say or do nothing new: leave it.
    pub fn in_vain(&self) -> bool {
        matches!(self.verdict, Verdict::InVain | Verdict::Seen)
    }

    /// The answer as JSON, with the memories in the form of the caller.
    pub fn to_json<T: Serialize>(&self, scope: &Scope, memories: &[T]) -> Value {
        let mut value = json!({
            "verdict": self.verdict.name(), "scope": scope, "action": self.action, "memories": memories,
        });
        if let Some(Attempt { count, episode, turn, reply, result, .. }) = &self.attempt {
            value["count"] = json!(count);
            value["episode"] = json!(episode);
            value["turn"] = json!(turn);
            value["reply"] = json!(reply);
            match result {
                TryResult::Deadly => value["deadly"] = json!(true),
                TryResult::Blocked => value["blocked"] = json!(true),
                _ => {}
            }
        }
        match &self.verdict {
            Verdict::MayBeTried { since } => value["since"] = json!(since),
            Verdict::Worked(Success { episode, turn, leads_to }) => {
                value["worked_at"] = json!({"episode": episode, "turn": turn});
                if let Some((id, name)) = leads_to {
                    value["leads_to"] = json!({"id": id, "name": name});
                }
            }
            _ => {}
        }
        value
    }

    /// The text, each line ended: the answer, what it rests on, and the memories. `place` names the place.
    pub fn render(&self, answer: &str, place: &str) -> ModelText {
        let mut out = match (&self.verdict, &self.attempt) {
            (Verdict::Seen, Some(seen)) if !seen.reply.is_empty() => {
                format!("seen: {}\n", one_line(&seen.reply))
            }
            _ => format!("{answer}: {}\n", one_line(&self.explain(place))),
        };
        for title in &self.memories {
            out.push_str(&format!("see: \"{}\"\n", one_line(title)));
        }
        ModelText::of(&out)
    }

    fn explain(&self, place: &str) -> String {
        // A refusal before the last success says nothing.
        let is_older = |attempt: &&Attempt| match &self.verdict {
            Verdict::Worked(success) => (attempt.episode, attempt.turn) < (success.episode, success.turn),
            _ => false,
        };
        let attempt = self.attempt.as_ref().filter(|attempt| !is_older(attempt));
        let Some(Attempt { action, count, episode, turn, reply, result, .. }) = attempt else {
            return match &self.verdict {
                Verdict::Worked(success) => worked(success),
                _ => format!("\"{}\" is not among what was tried at {place}", self.action),
            };
        };
        let reply = if reply.is_empty() { String::new() } else { format!(": {reply}") };
        let at = write(*episode, *turn);
        let last = if at.is_empty() { String::new() } else { format!(", last at {at}") };
        let times = if *count == 1 { "1 time".to_owned() } else { format!("{count} times") };
        match &self.verdict {
            Verdict::Worked(success) => {
                let at = if at.is_empty() { at } else { format!(" ({at})") };
                let since = match result {
                    TryResult::Unknown | TryResult::Unseen => "done again, effect unknown",
                    TryResult::Deadly => "deadly later",
                    TryResult::Died => "the player died of it or of something else later",
                    TryResult::Vain | TryResult::Blocked => "refused later",
                };
                format!("{}; {since}{at}{reply}", worked(success))
            }
            Verdict::MayBeTried { since } => {
                let done = if *result == TryResult::Blocked { "blocked" } else { "seen" };
                format!("{done} before{last}{reply}; may be tried: {since}")
            }
            Verdict::Seen => format!("seen{last}{reply}"),
            Verdict::UnknownEffect if *result == TryResult::Died => {
                format!("\"{action}\" at {place}: the player died, perhaps of something else{last}{reply}")
            }
            Verdict::UnknownEffect => format!("\"{action}\" {times} at {place}, effect unknown{last}{reply}"),
            Verdict::InVain if self.not_understood => {
                format!("the game does not understand \"{action}\"{last}{reply}")
            }
            Verdict::InVain | Verdict::No => {
                let how = match result {
                    TryResult::Deadly => ", deadly",
                    TryResult::Blocked => ", blocked",
                    _ => "",
                };
                format!("\"{action}\" {times} at {place}{how}{last}{reply}")
            }
        }
    }
}

fn worked(success: &Success) -> String {
    let at = write(success.episode, success.turn);
    let at = if at.is_empty() { at } else { format!(" at {at}") };
    match &success.leads_to {
        Some((id, name)) => format!("it led to {}{at}", Scope::Location(*id).label(name)),
        None => format!("it worked{at}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use memories_document::Document;

    const FILE: &str = "\
## Location 22: Stairs

### Ways

- `up` → [Hall](#location-1-hall) ×2 *(Ep1, T3)*
- `up` → [Attic](#location-9-attic) *(Ep2, T9)*

### Worked

- `open door` ×2 *(Ep1, T14)*, `turn knob` *(T15)*

### Seen

- `examine desk` *(Ep1, T15)*: It has one drawer, locked.
- `look` *(Ep2, T2)*: Dusty stairs.

### Tried

- `down` *(Ep2, T5, blocked)*: It is too dark.
- `south` *(Ep2, T6, blocked)*: The gate is locked.
- `west` *(Ep1, T20, blocked)*: The door is closed.
- `open door` *(Ep2, T5)*: It is already open.
- `take rug` ×3, `take wall` *(Ep1, T20)*: You cannot lift the rug.
- `pull lever`, `turn knob` *(Ep2, T6, effect unknown)*: Click.
- `jump` *(Ep1, T7, deadly)*: You fall.
- `swim` *(Ep1, T8, died)*: A thief.
- `dig`, `dance` *(Ep2, T8)*

## Location 9: Attic

### Worked

- `push box` *(Ep2, T4)*, `light lamp` *(T9)*

## Game

### Tried

- `frob` *(Ep1, T2)*: I don't know the word \"frob\".
- `northwest` *(Ep1, T2)*: I don't know the word \"northwest\".
";

    fn verdict(episode: u64, action: &str) -> String {
        let document = Document::parse(FILE.to_owned());
        let section = |scope: Scope| document.section(&scope).expect("a section");
        let circumstances = Circumstances::of(&section(Scope::Game), episode, FILE);
        let evidence = Evidence::of(&section(Scope::Location(22)), &circumstances, action);
        let text = evidence.render(evidence.verdict.name(), "Stairs");
        text.trim_end().to_owned()
    }

    #[test]
    fn the_verdict_is_what_was_judged_and_what_happened_since() {
        let cases = [
            (
                "take the rug.",
                "in_vain: \"take rug\" 3 times at Stairs, last at Ep1 T20: You cannot lift the rug.",
            ),
            ("south", "in_vain: \"south\" 1 time at Stairs, blocked, last at Ep2 T6: The gate is locked."),
            (
                "d",
                "may_be_tried: blocked before, last at Ep2 T5: It is too dark.; may be tried: `light lamp` worked at Ep2 T9",
            ),
            (
                "west",
                "may_be_tried: blocked before, last at Ep1 T20: The door is closed.; may be tried: another episode began",
            ),
            ("x desk", "seen: It has one drawer, locked."),
            ("l", "seen: Dusty stairs."),
            ("open door", "worked: it worked at Ep1 T14; refused later (Ep2 T5): It is already open."),
            ("turn knob", "worked: it worked at Ep1 T15; done again, effect unknown (Ep2 T6): Click."),
            ("up", "worked: it led to Attic (location:9) at Ep2 T9"),
            (
                "pull lever",
                "unknown_effect: \"pull lever\" 1 time at Stairs, effect unknown, last at Ep2 T6: Click.",
            ),
            ("jump", "in_vain: \"jump\" 1 time at Stairs, deadly, last at Ep1 T7: You fall."),
            (
                "swim",
                "unknown_effect: \"swim\" at Stairs: the player died, perhaps of something else, last at Ep1 T8: A thief.",
            ),
            (
                "frob",
                "in_vain: the game does not understand \"frob\", last at Ep1 T2: I don't know the word \"frob\".",
            ),
            ("nw", "no: \"nw\" is not among what was tried at Stairs"),
            ("sing", "no: \"sing\" is not among what was tried at Stairs"),
        ];
        for (action, expected) in cases {
            assert_eq!(verdict(2, action), expected);
        }
        assert!(verdict(2, "northwest").starts_with("in_vain"));
        assert!(verdict(1, "x desk").starts_with("seen"), "what worked in that turn did not change it");
    }

    #[test]
    fn what_was_seen_may_have_changed() {
        let text = FILE.replace("`turn knob` *(T15)*", "`open desk` *(T16)*");
        let document = Document::parse(text.clone());
        let section = |scope: Scope| document.section(&scope).expect("a section");
        for (episode, expected) in [(1, "may_be_tried"), (2, "seen")] {
            let circumstances = Circumstances::of(&section(Scope::Game), episode, &text);
            let evidence = Evidence::of(&section(Scope::Location(22)), &circumstances, "examine desk");
            assert_eq!(evidence.verdict.name(), expected, "in episode {episode}");
        }
    }
}

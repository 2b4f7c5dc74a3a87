//! Evidence about actions: has one been tried at a place in vain?
//!
//! A section, what is known wherever the player is, and an action enter; a verdict leaves. A refusal speaks of the
//! circumstances in which it was given, so what is carried now is compared with what was carried at the last try.

use std::cell::{OnceCell, RefCell};
use std::collections::{HashMap, HashSet};

use serde::Serialize;
use serde_json::{Value, json};

use crate::document::Section;
use crate::document::evidence::{FINAL_REPLY, template};
use crate::document::fields::write_moment;
use crate::document::text::stored_line;
use crate::types::frame::one_line;
use crate::types::{Attempt, Carried, Moment, Scope, carried_at, fold_action, fold_title, gained_since};

/// The answer to whether an action is worth another try at a place.
#[derive(Debug, Clone, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Verdict {
    /// It failed here, and nothing is carried now that was lacking then; or its reply is final; or the game's parser
    /// does not understand it.
    InVain,
    /// It failed here, but something is carried now that was not then.
    OtherCircumstances {
        /// That something; at least one name, each once.
        lacking: Vec<String>,
    },
    /// It has changed something here or led elsewhere, whatever happened since.
    Worked(Success),
    /// It was done here without facts by which to tell whether it changed something.
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

impl Success {
    fn moment(&self) -> String {
        write(self.episode, self.turn)
    }
}

/// Facts that hold at every place: what is carried, and what the game's parser does not understand.
#[derive(Debug, Clone, Default)]
pub struct Circumstances {
    carried: Vec<Carried>,
    not_understood: Vec<Attempt>,
    now: Vec<String>,
}

impl Circumstances {
    /// From the section [`Scope::Game`]. What is carried now is what the last recorded turn left; nothing where an
    /// episode later than that runs.
    pub fn of(game: &Section, running_episode: u64) -> Circumstances {
        let last = game.carried.iter().max_by_key(|carried| carried.episode);
        let now = last.filter(|last| last.episode >= running_episode).map(Carried::now).unwrap_or_default();
        Circumstances { carried: game.carried.clone(), not_understood: game.tried.clone(), now }
    }

    /// The items that are carried now.
    pub(crate) fn now(&self) -> &[String] {
        &self.now
    }

    /// Actions that the game's parser does not understand.
    pub(crate) fn not_understood(&self) -> &[Attempt] {
        &self.not_understood
    }

    /// The same, carrying these items now.
    pub fn carrying(self, items: Vec<String>) -> Circumstances {
        Circumstances { now: items.iter().map(|item| stored_line(item)).collect(), ..self }
    }

    /// The episode of a try, and the number of changes before it. `None` where nothing can have been lacking.
    fn state_at(&self, attempt: &Attempt) -> Option<(u64, usize)> {
        let (episode, turn) = (attempt.episode?, attempt.turn?);
        if self.now.is_empty() {
            return None;
        }
        let line = self.carried.iter().find(|carried| carried.episode == episode);
        if turn == 0 && line.is_some() {
            return None;
        }
        let before = |line: &Carried| line.changes.iter().filter(|change| change.turn < turn).count();
        Some((episode, line.map_or(0, before)))
    }

    /// The items that are carried now and were not when an action was last tried; none where nobody knows: its line
    /// does not say when that was, or it was turn 0.
    fn lacking(&self, attempt: &Attempt) -> Vec<String> {
        let (Some(episode), Some(turn)) = (attempt.episode, attempt.turn) else { return Vec::new() };
        let Some(then) = carried_at(&self.carried, episode, turn) else { return Vec::new() };
        let mut lacking = gained_since(&self.now, &then);
        let mut seen = HashSet::new();
        lacking.retain(|item| seen.insert(fold_action(item)));
        lacking
    }
}

/// Gives the verdicts about the actions of one section.
pub struct Judgement<'a> {
    section: &'a Section,
    circumstances: &'a Circumstances,
    worked: HashMap<String, Success>,
    /// Templates of the replies that are final here.
    final_replies: OnceCell<HashSet<String>>,
    /// The lacking items that were worked out before, by [`Circumstances::state_at`].
    lacking: RefCell<HashMap<(u64, usize), Vec<String>>>,
}

impl<'a> Judgement<'a> {
    /// For a section.
    pub fn of(section: &'a Section, circumstances: &'a Circumstances) -> Judgement<'a> {
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
        Judgement {
            section,
            circumstances,
            worked,
            final_replies: OnceCell::new(),
            lacking: RefCell::default(),
        }
    }

    /// The verdict about an action.
    pub fn verdict(&self, action: &str) -> Verdict {
        let folded = fold_action(action);
        if let Some(success) = self.worked.get(&folded) {
            return Verdict::Worked(success.clone());
        }
        match self.attempt(&folded) {
            None => Verdict::No,
            Some((_, Source::Game)) => Verdict::InVain,
            Some((attempt, Source::Place)) => self.judge(attempt),
        }
    }

    /// The verdict about a tried action of the section, without a look at those that the game does not understand.
    pub(crate) fn verdict_of(&self, attempt: &Attempt) -> Verdict {
        match self.worked.get(&fold_action(&attempt.action)) {
            Some(success) => Verdict::Worked(success.clone()),
            None => self.judge(attempt),
        }
    }

    /// The verdict about a tried action that never worked.
    fn judge(&self, attempt: &Attempt) -> Verdict {
        if attempt.effect_unknown {
            return Verdict::UnknownEffect;
        }
        let lacking = self.lacking(attempt);
        if lacking.is_empty() || self.is_final(attempt) {
            return Verdict::InVain;
        }
        Verdict::OtherCircumstances { lacking }
    }

    /// As [`Circumstances::lacking`], worked out once for all tries between the same two changes.
    fn lacking(&self, attempt: &Attempt) -> Vec<String> {
        let Some(state) = self.circumstances.state_at(attempt) else { return Vec::new() };
        let mut known = self.lacking.borrow_mut();
        known.entry(state).or_insert_with(|| self.circumstances.lacking(attempt)).clone()
    }

    /// The line that holds an action: that of the game's parser, else that of the place.
    fn attempt(&self, folded: &str) -> Option<(&'a Attempt, Source)> {
        let find = |tried: &'a [Attempt]| tried.iter().find(|tried| fold_action(&tried.action) == folded);
        let circumstances: &'a Circumstances = self.circumstances;
        let not_understood = find(&circumstances.not_understood).map(|attempt| (attempt, Source::Game));
        not_understood.or_else(|| find(&self.section.tried).map(|attempt| (attempt, Source::Place)))
    }

    /// True if the reply to an action was given to so many actions here, none of which worked, that nothing carried
    /// will change it.
    fn is_final(&self, attempt: &Attempt) -> bool {
        let final_replies = self.final_replies.get_or_init(|| {
            let mut replies: HashMap<String, (usize, bool)> = HashMap::new();
            for tried in self.section.tried.iter().filter(|tried| !tried.effect_unknown && !tried.deadly) {
                let (actions, worked) = replies.entry(template(&tried.action, &tried.reply)).or_default();
                *actions += 1;
                *worked |= self.worked.contains_key(&fold_action(&tried.action));
            }
            let is_final = |(actions, worked): &(usize, bool)| *actions >= FINAL_REPLY && !worked;
            replies.into_iter().filter(|(_, seen)| is_final(seen)).map(|(reply, _)| reply).collect()
        });
        !attempt.deadly
            && !attempt.reply.is_empty()
            && final_replies.contains(&template(&attempt.action, &attempt.reply))
    }
}

/// The section whose list holds an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    Place,
    Game,
}

/// Evidence about an action at a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evidence {
    /// The action on one line; empty where none was named.
    pub action: String,
    /// The verdict.
    pub verdict: Verdict,
    /// The tried action of the section, or of the game where its parser does not understand it.
    pub attempt: Option<Attempt>,
    /// The game's parser does not understand the action, wherever the player is.
    pub not_understood: bool,
    /// Titles of the live memories that mention the action in title or text.
    pub memories: Vec<String>,
}

impl Evidence {
    /// Looks an action up in a section, ignoring case and repeated spaces.
    pub(crate) fn of(section: &Section, circumstances: &Circumstances, action: &str) -> Evidence {
        let action = stored_line(action);
        let folded = fold_action(&action);
        let judgement = Judgement::of(section, circumstances);
        let attempt = judgement.attempt(&folded);
        let names_it = |text: &str| fold_title(&stored_line(text)).contains(&folded);
        let named = section.live().filter(|memory| names_it(&memory.title) || names_it(&memory.text));
        Evidence {
            verdict: judgement.verdict(&action),
            attempt: attempt.map(|(attempt, _)| attempt.clone()),
            not_understood: attempt.is_some_and(|(_, source)| source == Source::Game),
            memories: named.map(|memory| memory.title.clone()).collect(),
            action,
        }
    }

    /// True if the action was tried in vain: leave it.
    pub(crate) fn in_vain(&self) -> bool {
        self.verdict == Verdict::InVain
    }

    /// The answer as JSON, with the memories in the form of the caller.
    pub(crate) fn to_json<T: Serialize>(&self, scope: &Scope, memories: &[T]) -> Value {
        let mut value = json!({
            "verdict": self.verdict.name(), "scope": scope, "action": self.action, "memories": memories,
        });
        if let Some(Attempt { count, episode, turn, reply, deadly, .. }) = &self.attempt {
            value["count"] = json!(count);
            value["episode"] = json!(episode);
            value["turn"] = json!(turn);
            value["reply"] = json!(reply);
            if *deadly {
                value["deadly"] = json!(true);
            }
        }
        match &self.verdict {
            Verdict::OtherCircumstances { lacking } => value["lacking"] = json!(lacking),
            Verdict::Worked(Success { episode, turn, leads_to }) => {
                value["worked_at"] = json!({"episode": episode, "turn": turn});
                if let Some((id, name)) = leads_to {
                    value["leads_to"] = json!({"id": id, "name": name});
                }
            }
            Verdict::InVain | Verdict::UnknownEffect | Verdict::No => {}
        }
        value
    }

    /// The text, each line ended: the answer, what it rests on, and the memories. `place` names the place.
    pub fn render(&self, answer: &str, place: &str) -> String {
        let mut out = format!("{answer}: {}\n", one_line(&self.explain(place)));
        for title in &self.memories {
            out.push_str(&format!("see: \"{}\"\n", one_line(title)));
        }
        out
    }

    fn explain(&self, place: &str) -> String {
        // A refusal before the last success says nothing.
        let is_older = |attempt: &&Attempt| match &self.verdict {
            Verdict::Worked(success) => (attempt.episode, attempt.turn) < (success.episode, success.turn),
            _ => false,
        };
        let attempt = self.attempt.as_ref().filter(|attempt| !is_older(attempt));
        let Some(Attempt { action, count, episode, turn, reply, effect_unknown, deadly }) = attempt else {
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
                let since = match (effect_unknown, deadly) {
                    (true, _) => "done again, effect unknown",
                    (_, true) => "deadly later",
                    _ => "refused later",
                };
                format!("{}; {since}{at}{reply}", worked(success))
            }
            Verdict::OtherCircumstances { lacking } => {
                let at = if at.is_empty() { at } else { format!(" at {at}") };
                let failed = if *deadly { "deadly" } else { "failed" };
                format!("{failed}{at} without: {}{reply}", lacking.join(", "))
            }
            Verdict::UnknownEffect => format!("\"{action}\" {times} at {place}, effect unknown{last}{reply}"),
            Verdict::InVain if self.not_understood => {
                format!("the game does not understand \"{action}\"{last}{reply}")
            }
            Verdict::InVain | Verdict::No => {
                let deadly = if *deadly { ", deadly" } else { "" };
                format!("\"{action}\" {times} at {place}{deadly}{last}{reply}")
            }
        }
    }
}

fn worked(success: &Success) -> String {
    let at = success.moment();
    let at = if at.is_empty() { at } else { format!(" at {at}") };
    match &success.leads_to {
        Some((id, name)) => format!("it led to {}{at}", Scope::Location(*id).label(name)),
        None => format!("it worked{at}"),
    }
}

/// A moment as text; empty where nothing of it is known.
fn write(episode: Option<u64>, turn: Option<u64>) -> String {
    write_moment(&Moment { episode, turn, ..Moment::default() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Document;

    const FILE: &str = "\
## Location 22: Stairs

### Ways

- `up` → [Hall](#location-1-hall) ×2 *(Ep1, T3)*
- `up` → [Attic](#location-9-attic) *(Ep2, T9)*

### Worked

- `open door` ×2 *(Ep1, T14)*, `turn knob` *(T15)*

### Tried

- `down` *(Ep1, T20)*: It is too dark.
- `open door` *(Ep2, T5)*: It is already open.
- `north`, `south`, `east` *(Ep1, T20)*: You can't go that way.
- `take rug`, `take wall` *(Ep1, T20)*: You cannot lift the rug.
- `pull lever`, `turn knob` *(Ep2, T6, effect unknown)*: Click.
- `jump`: No.
- `dig`, `dance` *(Ep2, T8)*

## Game

### Tried

- `frob` *(Ep1, T2)*: I don't know the word \"frob\".
- `up` *(Ep1, T2)*: I don't understand.

### Carried

- Ep1: T0 +sack; T12 +Brass  lantern; T15 -sack; T20 +sword; T30 -brass lantern, -sword
- Ep2: T3 +coin; T4 +coin
";

    fn verdict(episode: u64, carried: Option<&[&str]>, action: &str) -> String {
        let document = Document::parse(FILE.to_owned());
        let section = |scope: Scope| document.section(&scope).expect("a section");
        let mut circumstances = Circumstances::of(&section(Scope::Game), episode);
        if let Some(items) = carried {
            circumstances = circumstances.carrying(items.iter().map(|item| (*item).to_owned()).collect());
        }
        let evidence = Evidence::of(&section(Scope::Location(22)), &circumstances, action);
        let text = evidence.render(evidence.verdict.name(), "Stairs");
        text.trim_end().to_owned()
    }

    #[test]
    fn new_things_carried_reopen_the_question() {
        let failed = "failed at Ep1 T20 without";
        let cases: [(&[&str], &str, &str); 9] = [
            (&[], "down", "in_vain: \"down\" 1 time at Stairs, last at Ep1 T20: It is too dark."),
            // The lantern was carried, whatever its case; the sword came in that very turn.
            (
                &["brass lantern"],
                "Down",
                "in_vain: \"down\" 1 time at Stairs, last at Ep1 T20: It is too dark.",
            ),
            (
                &["sword", "brass lantern"],
                "down",
                &format!("other_circumstances: {failed}: sword: It is too dark."),
            ),
            // Twice the same item is more than once.
            (
                &["lamp", "lamp", "brass lantern", "Brass Lantern"],
                "down",
                &format!("other_circumstances: {failed}: lamp, Brass Lantern: It is too dark."),
            ),
            // Three actions with one reply: it is final. Two are not.
            (
                &["sword"],
                "east",
                "in_vain: \"east\" 1 time at Stairs, last at Ep1 T20: You can't go that way.",
            ),
            (
                &["sword"],
                "take rug",
                &format!("other_circumstances: {failed}: sword: You cannot lift the rug."),
            ),
            // A line by hand, without the time.
            (&["sword"], "jump", "in_vain: \"jump\" 1 time at Stairs: No."),
            // No reply is no final reply.
            (&["sword"], "dig", "other_circumstances: failed at Ep2 T8 without: sword"),
            (&["coin", "coin"], "dig", "in_vain: \"dig\" 1 time at Stairs, last at Ep2 T8"),
        ];
        for (carried, action, expected) in cases {
            assert_eq!(verdict(2, Some(carried), action), expected, "{carried:?}");
        }
    }

    #[test]
    fn what_the_last_turn_left_is_carried_now() {
        assert!(
            verdict(2, None, "down").contains("without: coin:"),
            "the coins of the last episode with a line"
        );
        assert!(
            verdict(1, None, "down").contains("without: coin:"),
            "an older state file does not hide them"
        );
        assert!(verdict(3, None, "down").starts_with("in_vain"), "a new episode begins with nothing");
    }

    #[test]
    fn an_action_that_worked_is_not_in_vain() {
        let cases = [
            ("open door", "worked: it worked at Ep1 T14; refused later (Ep2 T5): It is already open."),
            ("turn knob", "worked: it worked at Ep1 T15; done again, effect unknown (Ep2 T6): Click."),
            ("up", "worked: it led to Attic (location:9) at Ep2 T9"),
            (
                "pull lever",
                "unknown_effect: \"pull lever\" 1 time at Stairs, effect unknown, last at Ep2 T6: Click.",
            ),
            (
                "frob",
                "in_vain: the game does not understand \"frob\", last at Ep1 T2: I don't know the word \"frob\".",
            ),
            ("sing", "no: \"sing\" is not among what was tried at Stairs"),
        ];
        for (action, expected) in cases {
            assert_eq!(verdict(2, None, action), expected);
        }
    }

    #[test]
    fn a_template_has_a_mark_for_each_word_of_the_action() {
        assert_eq!(template("take Rug", "You can't TAKE the rug, Ärmster!"), "You can't _ the _, Ärmster!");
        assert_eq!(template("x", ""), "");
        assert_eq!(template("jump", "Jumping \"jump\" (jump)."), "Jumping \"_\" (_).");
    }
}

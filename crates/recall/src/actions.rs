//! The actions of a place as a recall shows them: ways, worked actions, seen actions, and tries by their verdict.
//!
//! A section and the judgement on its actions enter; lines leave. Actions that are likely to be done again come
//! first: directions, then the most repeated, then the latest.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use serde::Serialize;

use crate::budget::cut_at_word;
use crate::circumstances::{Circumstances, names_a_thing, words};
use crate::evidence::{Judgement, Verdict};
use crate::format::Format;
use memories_document::types::direction::Direction;
use memories_document::types::frame::{list_item, list_label, one_line, within_parentheses};
use memories_document::types::model_text::ModelText;
use memories_document::types::text::escape_xml;
use memories_document::types::{Attempt, Memory, Scope, TryResult, Way, fold_action, fold_title};
use memories_document::{PlaceNames, Section};

/// Longest action shown, in characters.
const ACTION_CHARS: usize = 120;

/// Longest text of what was seen, in characters.
const SEEN_CHARS: usize = 40;

/// Actions at a place, the most likely to be repeated first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Actions {
    /// A sentence that names the next actions of the best run from here.
    pub best_run: Option<String>,
    /// Ways that were walked.
    pub ways: Vec<WalkedWay>,
    /// Actions that changed something here.
    pub worked: Vec<Attempt>,
    /// Actions that only looked, with what they showed.
    pub seen: Vec<Attempt>,
    /// Actions that were tried and never worked; replies may be cut or empty.
    pub tried: Vec<JudgedTry>,
    /// Actions that the game does not understand, wherever the player is; without replies.
    pub not_understood: Vec<Attempt>,
}

/// A way that was walked, to all places where it led.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WalkedWay {
    /// The last time that it was walked.
    #[serde(flatten)]
    pub way: Way,
    /// The name of that place as people read it.
    #[serde(skip)]
    pub place: String,
    /// Other places where it led, as people read them, the latest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sometimes: Vec<String>,
}

/// A tried action and its verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct JudgedTry {
    /// The action.
    #[serde(flatten)]
    pub attempt: Attempt,
    /// The name of the verdict.
    pub verdict: &'static str,
}

impl Actions {
    /// Everything that a section knows; `ends` are the names of the places to which ways lead, by their headings.
    pub(super) fn of(
        section: &Section,
        judgement: &Judgement<'_>,
        names: &PlaceNames,
        ends: &HashMap<u64, &str>,
    ) -> Actions {
        let mut tried: Vec<JudgedTry> = Vec::with_capacity(section.tried.len());
        for attempt in &section.tried {
            let verdict = judgement.verdict_of(attempt);
            // An action that has worked is shown as a way or under Worked, not here.
            if !matches!(verdict, Verdict::Worked(_)) {
                tried.push(JudgedTry { attempt: attempt.clone(), verdict: verdict.name() });
            }
        }
        // An action that worked before and is in vain now is listed only as in vain.
        let in_vain = tried.iter().filter(|tried| tried.verdict == Verdict::InVain.name());
        let in_vain: HashSet<String> = in_vain.map(|tried| fold_action(&tried.attempt.action)).collect();
        let is_of_use = |worked: &&Attempt| !in_vain.contains(&fold_action(&worked.action));
        let mut worked: Vec<Attempt> =
            section.worked.iter().filter(is_of_use).map(|worked| shortened(worked, 0)).collect();
        let mut seen: Vec<Attempt> =
            section.seen.iter().filter(|seen| judgement.judge_seen(seen) == Verdict::Seen).cloned().collect();
        worked.sort_by_cached_key(rank);
        seen.sort_by_cached_key(rank);
        tried.sort_by_cached_key(|tried| rank(&tried.attempt));
        Actions {
            best_run: None,
            ways: walked_ways(&section.ways, names, ends),
            worked,
            seen,
            tried,
            not_understood: Vec::new(),
        }
    }

    /// Adds what holds wherever the player is: what the best run does next, and what the game does not understand of that
    /// which could be meant here, for it names something that is here.
    pub(super) fn with_circumstances(
        mut self,
        scope: &Scope,
        section: &Section,
        circumstances: &Circumstances<'_>,
    ) -> Actions {
        if let Scope::Location(here) = *scope {
            self.best_run = circumstances.next_at(here);
        }
        let ways = self.ways.iter_mut().map(|walked| &mut walked.way);
        circumstances.remove_done_openers(ways, section);
        if circumstances.not_understood.is_empty() {
            return self;
        }
        let mut not_understood: Vec<Attempt> =
            circumstances.not_understood.iter().map(|attempt| shortened(attempt, 0)).collect();
        let things = things_here(section, &not_understood);
        not_understood.retain(|attempt| thing_of(attempt).is_some_and(|thing| things.contains(&thing)));
        not_understood.sort_by_cached_key(|attempt| Reverse((attempt.episode, attempt.turn)));
        Actions { not_understood, ..self }
    }

    /// The same of a folder: its actions are commands, and the file does not say in which state of the repository they
    /// failed.
    pub(super) fn of_commands(mut self) -> Actions {
        let failed = self.tried.iter_mut().filter(|tried| tried.verdict == Verdict::InVain.name());
        failed.for_each(|tried| tried.verdict = FAILED);
        self
    }

    /// The same without the replies to looks that the memories shown beside them tell.
    pub(super) fn without_what_is_said<'a>(&self, memories: impl Iterator<Item = &'a Memory>) -> Actions {
        let said: Vec<String> =
            memories.flat_map(|memory| [&memory.title, &memory.text]).map(|text| fold_title(text)).collect();
        let mut actions = self.clone();
        for seen in &mut actions.seen {
            let reply = fold_title(seen.reply.trim_end_matches('…'));
            if said.iter().any(|said| said.contains(&reply)) {
                seen.reply.clear();
            }
        }
        actions
    }

    /// How many the place itself knows.
    pub(super) fn len(&self) -> usize {
        self.counts().iter().sum()
    }

    /// How many there are of each kind: ways, worked, seen, tried.
    pub(super) fn counts(&self) -> [usize; 4] {
        [self.ways.len(), self.worked.len(), self.seen.len(), self.tried.len()]
    }

    /// The first of each kind, with replies of at most that many characters.
    pub(super) fn first(&self, counts: [usize; 4], reply_chars: usize) -> Actions {
        self.first_with(counts, reply_chars, if reply_chars == 0 { 0 } else { usize::MAX })
    }

    /// As [`Actions::first`], with replies to this number of tries. Tries that may be repeated or that kill come first,
    /// because their reply is the reason. A try without its reply is shown without its count, too.
    pub(super) fn first_with(
        &self,
        [ways, worked, seen, tried]: [usize; 4],
        reply_chars: usize,
        replies: usize,
    ) -> Actions {
        let has_reason = |tried: &&JudgedTry| {
            tried.verdict != Verdict::InVain.name() || tried.attempt.result == TryResult::Deadly
        };
        let with_reason = self.tried[..tried].iter().filter(has_reason).count();
        let (mut reasons, mut others) = (replies.min(with_reason), replies.saturating_sub(with_reason));
        let mut cut = |tried: &JudgedTry| {
            let left = if has_reason(&tried) { &mut reasons } else { &mut others };
            let has_reply = *left > 0;
            *left = left.saturating_sub(1);
            let mut attempt = shortened(&tried.attempt, if has_reply { reply_chars } else { 0 });
            if !has_reply {
                attempt.count = 1;
            }
            JudgedTry { attempt, ..*tried }
        };
        Actions {
            best_run: self.best_run.clone(),
            ways: self.ways[..ways].to_vec(),
            worked: self.worked[..worked].to_vec(),
            seen: self.seen[..seen].to_vec(),
            tried: self.tried[..tried].iter().map(&mut cut).collect(),
            not_understood: Vec::new(),
        }
    }

    /// One line for each kind, after a blank line.
    pub(super) fn render(&self, format: Format) -> ModelText {
        let mut out = String::new();
        let mut line = |element: &str, heading: &str, content: String| {
            if content.is_empty() {
                return;
            }
            out.push_str(&match format {
                Format::Xml => {
                    let name = element.split(' ').next().unwrap_or_default();
                    format!("<{element}>{}</{name}>\n", escape_xml(&one_line(&content)))
                }
                Format::Text | Format::Markdown => {
                    let gap = if out.is_empty() { "\n" } else { "" };
                    format!("{gap}{}\n", one_line(&format!("{heading}: {content}")))
                }
            });
        };
        if let Some((heading, next)) = self.best_run.as_ref().and_then(|next| next.split_once(": ")) {
            line("best_run", heading, next.to_owned());
        }
        let ways: Vec<String> = self.ways.iter().map(written_way).collect();
        line("ways", "Ways", ways.join("; "));
        // The line of a way names its openers already.
        let opens: HashSet<&String> = self.ways.iter().flat_map(|walked| openers(&walked.way)).collect();
        let worked = self.worked.iter().filter(|done| !opens.contains(&done.action));
        let worked: Vec<String> = worked.map(written_action).collect();
        line("worked", "Worked here", worked.join(", "));
        let seen: Vec<String> = self.seen.iter().map(written_sight).collect();
        line("seen", "Seen here", seen.join(", "));
        let not_understood: Vec<String> = self.not_understood.iter().map(written_action).collect();
        let with = |verdict: &str| -> Vec<&JudgedTry> {
            self.tried.iter().filter(|tried| tried.verdict == verdict).collect()
        };
        let in_vain = Verdict::InVain.name();
        let (deadly, refused): (Vec<_>, Vec<_>) =
            with(in_vain).into_iter().partition(|tried| tried.attempt.result == TryResult::Deadly);
        line(&format!("tried verdict=\"{in_vain}\" deadly=\"true\""), "Deadly here", folded(&deadly));
        line(&format!("tried verdict=\"{in_vain}\""), "Tried here in vain", folded(&refused));
        let may_be_tried = Verdict::MayBeTried { since: String::new() }.name();
        line(&format!("tried verdict=\"{may_be_tried}\""), "Blocked before", folded(&with(may_be_tried)));
        line(&format!("tried verdict=\"{FAILED}\""), "Failed here", folded(&with(FAILED)));
        let unknown = Verdict::UnknownEffect.name();
        let (died, unsure): (Vec<_>, Vec<_>) =
            with(unknown).into_iter().partition(|tried| tried.attempt.result == TryResult::Died);
        line("died", "Died here after", folded(&died));
        line(&format!("tried verdict=\"{unknown}\""), "Done here, effect unknown", folded(&unsure));
        line("not_understood", "The game does not understand", not_understood.join(", "));
        format.fit_for_model(&out)
    }
}

/// The things of actions that are named here.
fn things_here(section: &Section, actions: &[Attempt]) -> HashSet<String> {
    let mut missing: HashSet<String> = actions.iter().filter_map(thing_of).collect();
    let mut here = HashSet::new();
    let mut find = |text: &str| {
        here.extend(words(text).filter_map(|word| missing.take(&word)));
        missing.is_empty()
    };
    let actions =
        section.tried.iter().chain(&section.worked).chain(&section.seen).map(|attempt| &attempt.action);
    // Memories may be many: they are read last, and only until all is found.
    if !actions.chain([&section.name]).any(|text| find(text)) {
        let mut memories = section.live();
        memories.any(|memory| find(&memory.title) || find(&memory.text));
    }
    here
}

/// The thing that an action is done with: its last word, but not its only one.
fn thing_of(attempt: &Attempt) -> Option<String> {
    words(&attempt.action).skip(1).last().filter(|word| names_a_thing(word))
}

/// Ways by their action: the latest place to which each led, then the others. A place has the name of its heading;
/// the way's own is from before the place was renamed.
fn walked_ways(ways: &[Way], names: &PlaceNames, ends: &HashMap<u64, &str>) -> Vec<WalkedWay> {
    let mut latest: Vec<&Way> = ways.iter().collect();
    latest.sort_by_key(|way| Reverse((way.episode, way.turn)));
    let mut walked: Vec<WalkedWay> = Vec::new();
    let mut by_action: HashMap<String, usize> = HashMap::new();
    let mut named: HashSet<(usize, String)> = HashSet::new();
    for way in latest {
        let scope = Scope::Location(way.to);
        let name = ends.get(&way.to).copied().unwrap_or(&way.name);
        let place = names.label(&scope, name);
        let at = *by_action.entry(fold_action(&way.action)).or_insert(walked.len());
        match walked.get_mut(at) {
            Some(walked) => {
                if named.insert((at, place.clone())) {
                    walked.sometimes.push(place);
                }
            }
            None => {
                let way = Way { name: name.to_owned(), ..way.clone() };
                walked.push(WalkedWay { way, place, sometimes: Vec::new() });
            }
        }
    }
    walked.sort_by_cached_key(|WalkedWay { way, .. }| {
        (Direction::of(&way.action).is_none(), Reverse((way.count, way.episode, way.turn)))
    });
    walked
}

/// Sort key of actions: directions, then the most repeated, then the latest.
fn rank(attempt: &Attempt) -> impl Ord + use<> {
    let Attempt { count, episode, turn, .. } = *attempt;
    (Direction::of(&attempt.action).is_none(), Reverse((count, episode, turn)))
}

fn shortened(attempt: &Attempt, reply_chars: usize) -> Attempt {
    let reply = if reply_chars == 0 { String::new() } else { cut_at_word(&attempt.reply, reply_chars) };
    Attempt { action: cut_at_word(&attempt.action, ACTION_CHARS), reply, ..attempt.clone() }
}

/// Actions that a recall shows of those that opened a way, the last ones: `path` says all.
const MAX_OPENERS: usize = 2;

/// `west → Maze (id 37), sometimes Maze (id 40)`, `north → Hall (after open door)`
fn written_way(walked: &WalkedWay) -> String {
    let WalkedWay { way, place, sometimes } = walked;
    let sometimes: String =
        sometimes.iter().map(|place| format!(", sometimes {}", list_label(place))).collect();
    let item = |action: &String| list_item(&cut_at_word(action, ACTION_CHARS)).into_owned();
    let after: Vec<String> = openers(way).iter().map(item).collect();
    let after = if after.is_empty() {
        String::new()
    } else {
        format!(" (after {})", within_parentheses(&after.join(", ")))
    };
    format!("{} → {}{after}{sometimes}", item(&way.action), list_label(place))
}

/// The actions that are shown of those that opened a way.
fn openers(way: &Way) -> &[String] {
    &way.after[way.after.len().saturating_sub(MAX_OPENERS)..]
}

/// The action and how often it was done.
fn written_action(attempt: &Attempt) -> String {
    let action = list_item(&attempt.action);
    if attempt.count == 1 { action.into_owned() } else { format!("{action} ×{}", attempt.count) }
}

/// Actions with the same reply together: `take sword (It is fast.); east, eat rug ×2 (No.)`.
fn folded(tried: &[&JudgedTry]) -> String {
    let mut replies: Vec<(&str, Vec<String>)> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for JudgedTry { attempt, .. } in tried {
        let at = *places.entry(&attempt.reply).or_insert(replies.len());
        if at == replies.len() {
            replies.push((&attempt.reply, Vec::new()));
        }
        replies[at].1.push(written_action(attempt));
    }
    let group = |(reply, actions): (&str, Vec<String>)| {
        let actions = actions.join(", ");
        if reply.is_empty() { actions } else { format!("{actions} ({})", within_parentheses(reply)) }
    };
    replies.into_iter().map(group).collect::<Vec<_>>().join("; ")
}

/// What was seen and how it looked: `desk (one drawer, locked)`.
fn written_sight(seen: &Attempt) -> String {
    let action = cut_at_word(&seen.action, ACTION_CHARS);
    let folded = fold_action(&action);
    let thing = list_item(folded.strip_prefix("examine ").unwrap_or(&action));
    // A look around shows the place, of which the memories tell.
    let shown = if folded == "look" { String::new() } else { sight(&seen.reply) };
    if shown.is_empty() { thing.into_owned() } else { format!("{thing} ({})", within_parentheses(&shown)) }
}

/// Beginnings of a reply that only say that something is there.
const OPENINGS: [&str; 9] = [
    "it is ",
    "it's ",
    "it has ",
    "it contains ",
    "there is ",
    "there's ",
    "you see ",
    "they are ",
    "this is ",
];

/// A reply to a look, without what only says that something is there, cut at a word.
fn sight(reply: &str) -> String {
    let sentence = reply.trim_end_matches(['.', '!']);
    let lower = sentence.to_lowercase();
    let opening =
        OPENINGS.iter().find(|opening| lower.starts_with(**opening)).map_or(0, |opening| opening.len());
    cut_at_word(sentence.get(opening..).unwrap_or(sentence), SEEN_CHARS)
}

/// The verdict in recalls about a command that failed in a folder.
const FAILED: &str = "failed";

#[cfg(test)]
mod tests {
    use super::*;
    use memories_document::Document;

    /// The lines of a section of location 1, with this in `## Game`.
    fn lines(section: &str, game: &str, format: Format) -> String {
        let text = format!(
            "## Location 1: Hall\n\n{section}\n\n## Location 2: Maze\n\n## Location 3: Maze\n\n## Game\n\n{game}"
        );
        let document = Document::parse(text);
        let circumstances = Circumstances::of(&document.section(&Scope::Game).expect("a section"), 1, "");
        let scope = Scope::Location(1);
        let section = &document.section(&scope).expect("a section");
        let names = PlaceNames::of(document.headings());
        let places = document.headings().filter_map(|heading| match heading.scope {
            Scope::Location(id) => Some((id, heading.name.as_str())),
            _ => None,
        });
        let ends: HashMap<u64, &str> = places.collect();
        let judgement = Judgement::of(section, &circumstances);
        let actions = Actions::of(section, &judgement, &names, &ends);
        actions.with_circumstances(&scope, section, &circumstances).render(format).into()
    }

    #[test]
    fn ways_lead_to_the_latest_place_first() {
        let ways = "### Ways\n\n- `pray` → [Hall](#location-1-hall) ×9\n- `w` → [Maze](#location-2-maze) ×3 *(Ep1, T2)*\n\
                    - `W` → [Maze](#location-3-maze) *(Ep1, T9, refused without: lamp; key)*\n\
                    - `e` → [A → B; C](#location-7-a) ×2 *(Ep1, T1)*";
        assert_eq!(
            lines(ways, "", Format::Text),
            "\nWays: e → \"A → B; C\"; W → Maze (id 3), sometimes Maze (id 2); pray → Hall\n"
        );
        assert_eq!(
            lines("### Ways\n\n- `<b>` → [\"&\"](#location-7-a)", "", Format::Xml),
            "<ways>&lt;b&gt; → &quot;\\&quot;&amp;\\&quot;&quot;</ways>\n"
        );
    }

    #[test]
    fn a_way_has_the_name_of_the_heading() {
        let ways = "### Ways\n\n- `e` → [Cave](#location-2-cave)\n- `w` → [Cave](#location-7-cave)\n\
                    - `pray` → [Room](#location-1-room)";
        assert_eq!(lines(ways, "", Format::Text), "\nWays: e → Maze (id 2); w → Cave; pray → Hall\n");
    }

    #[test]
    fn spellings_of_a_direction_are_one_way() {
        let ways = "### Ways\n\n- `n` → [Maze](#location-2-maze) ×3 *(Ep1, T2)*\n\
                    - `go north` → [Maze](#location-3-maze) ×2 *(Ep1, T9)*\n\
                    - `North` → [Maze](#location-2-maze) *(Ep1, T5)*\n- `n` → [Maze](#location-3-maze) *(Ep1, T4)*";
        assert_eq!(lines(ways, "", Format::Text), "\nWays: go north → Maze (id 3), sometimes Maze (id 2)\n");
        let spelled = "### Ways\n\n- `e` → [Hall](#location-1-hall) ×2\n- `n` → [Maze](#location-2-maze)\n\
                       - `North` → [Maze](#location-2-maze) ×2";
        assert_eq!(lines(spelled, "", Format::Text), "\nWays: e → Hall; North → Maze (id 2)\n");
    }

    #[test]
    fn tries_stand_by_verdict_and_reply() {
        let tried = "### Worked\n\n- `open door` *(Ep1, T3)*\n\n### Seen\n\n- `look` *(Ep1, T9)*: A hall.\n\
                     - `x desk` ×2 *(Ep1, T9)*: It has one drawer, locked.\n- `read sign` *(Ep1, T8)*: \"Keep out!\"\n\n\
                     ### Tried\n\n- `open door` *(Ep1, T6)*: It is open.\n\
                     - `eat rug` ×3 *(Ep1, T20)*, `north`, `jump, then run` *(Ep1, T20)*: No.\n\
                     - `up` *(Ep1, T20, deadly)*: You fall.\n- `pull` ×2 *(Ep1, T3, blocked)*: It is locked.\n\
                     - `push` *(Ep2, T3, blocked)*: It is locked.\n- `sing` *(Ep1, T2, effect unknown)*: La.";
        assert_eq!(
            lines(tried, "", Format::Text),
            "\nWorked here: open door\n\
             Seen here: desk (one drawer, locked), look, read sign (\"Keep out!\")\n\
             Deadly here: up (You fall.)\n\
             Tried here in vain: north, eat rug ×3, \"jump, then run\" (No.); pull ×2 (It is locked.)\n\
             Blocked before: push (It is locked.)\n\
             Done here, effect unknown: sing (La.)\n"
        );
    }

    #[test]
    fn what_the_game_does_not_understand_is_shown_where_its_thing_is() {
        let game = "### Tried\n\n- `use rug` *(Ep1, T3)*, `frob` *(T9)*, `use moon` *(T8)*: What?";
        let tried = "### Tried\n\n- `eat rug` *(Ep1, T4)*: No.";
        let shown = lines(tried, game, Format::Text);
        assert!(shown.ends_with("\nThe game does not understand: use rug\n"), "{shown}");
    }
}

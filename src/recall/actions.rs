//! The actions of a place as a recall shows them: ways, actions that worked, and tries by their verdict.
//!
//! A section and the judgement on its actions enter; lines leave. Actions that are likely to be done again come
//! first: directions, then the most repeated, then the latest.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use serde::Serialize;

use crate::document::{PlaceNames, Section, UnreadSection};
use crate::recall::budget::cut_at_word;
use crate::recall::evidence::{Circumstances, Judgement, Verdict};
use crate::recall::format::Format;
use crate::types::direction::Direction;
use crate::types::frame::{heading_item, list_item, list_label, one_line, within_parentheses};
use crate::types::text::escape_xml;
use crate::types::{Attempt, Scope, Way, fold_action};

/// Longest action shown, in characters.
const ACTION_CHARS: usize = 120;

/// Items named as new circumstances in one line.
const ITEMS: usize = 3;

/// Actions at a place, the most likely to be repeated first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Actions {
    /// Ways that were walked.
    pub ways: Vec<WalkedWay>,
    /// Actions that changed something here.
    pub worked: Vec<Attempt>,
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
    /// Items that are carried now and were not then.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lacking: Vec<String>,
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
            let name = verdict.name();
            let lacking = match verdict {
                // It stands among the ways or with what worked.
                Verdict::Worked(_) => continue,
                Verdict::OtherCircumstances { lacking } => lacking,
                Verdict::InVain | Verdict::UnknownEffect | Verdict::No => Vec::new(),
            };
            tried.push(JudgedTry { attempt: attempt.clone(), verdict: name, lacking });
        }
        tried.sort_by_cached_key(|tried| rank(&tried.attempt));
        Actions {
            ways: walked_ways(&section.ways, names, ends),
            worked: ranked(&section.worked),
            tried,
            not_understood: Vec::new(),
        }
    }

    /// Adds what the game does not understand: first what is done with something that is here or carried now.
    pub(super) fn with_not_understood(
        self,
        unread: &UnreadSection<'_>,
        circumstances: &Circumstances,
    ) -> Actions {
        if circumstances.not_understood().is_empty() {
            return self;
        }
        let mut not_understood: Vec<Attempt> =
            circumstances.not_understood().iter().map(|attempt| shortened(attempt, 0)).collect();
        let things = things_here(unread, circumstances, &not_understood);
        not_understood.sort_by_cached_key(|attempt| Reverse((attempt.episode, attempt.turn)));
        not_understood
            .sort_by_cached_key(|attempt| !thing_of(attempt).is_some_and(|thing| things.contains(&thing)));
        Actions { not_understood, ..self }
    }

    /// The same of a folder: its actions are commands, and the file does not say in which state of the repository they
    /// failed.
    pub(super) fn of_commands(mut self) -> Actions {
        let failed = self.tried.iter_mut().filter(|tried| tried.verdict == Verdict::InVain.name());
        failed.for_each(|tried| tried.verdict = Verdict::OtherCircumstances { lacking: Vec::new() }.name());
        self
    }

    /// How many the place itself knows.
    pub(super) fn len(&self) -> usize {
        self.counts().iter().sum()
    }

    /// How many there are of each kind: ways, worked, tried.
    pub(super) fn counts(&self) -> [usize; 3] {
        [self.ways.len(), self.worked.len(), self.tried.len()]
    }

    /// The first of each kind, with replies of at most that many characters.
    pub(super) fn first(&self, [ways, worked, tried]: [usize; 3], reply_chars: usize) -> Actions {
        let cut = |tried: &JudgedTry| {
            let attempt = shortened(&tried.attempt, reply_chars);
            JudgedTry { attempt, verdict: tried.verdict, lacking: tried.lacking.clone() }
        };
        Actions {
            ways: self.ways[..ways].to_vec(),
            worked: self.worked[..worked].to_vec(),
            tried: self.tried[..tried].iter().map(cut).collect(),
            not_understood: Vec::new(),
        }
    }

    /// One line for each kind, after a blank line.
    pub(super) fn render(&self, format: Format) -> String {
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
        let ways: Vec<String> = self.ways.iter().map(written_way).collect();
        line("ways", "Ways", ways.join("; "));
        let worked: Vec<String> = self.worked.iter().map(written_action).collect();
        line("worked", "Worked here", worked.join(", "));
        let not_understood: Vec<String> = self.not_understood.iter().map(written_action).collect();
        let with = |verdict: &str| -> Vec<&JudgedTry> {
            self.tried.iter().filter(|tried| tried.verdict == verdict).collect()
        };
        let in_vain = Verdict::InVain.name();
        let (deadly, refused): (Vec<_>, Vec<_>) =
            with(in_vain).into_iter().partition(|tried| tried.attempt.deadly);
        line(&format!("tried verdict=\"{in_vain}\" deadly=\"true\""), "Deadly here", folded(&deadly));
        line(&format!("tried verdict=\"{in_vain}\""), "Tried here in vain", folded(&refused));
        let others: Vec<&JudgedTry> = self.tried.iter().filter(|tried| !tried.lacking.is_empty()).collect();
        for (items, tried) in by_circumstances(others) {
            let element =
                format!("tried verdict=\"{}\" now_with=\"{}\"", tried[0].verdict, escape_xml(&items));
            line(&element, &format!("Tried before, but now with {items}"), folded(&tried));
        }
        let others = Verdict::OtherCircumstances { lacking: Vec::new() }.name();
        let failed: Vec<&JudgedTry> =
            with(others).into_iter().filter(|tried| tried.lacking.is_empty()).collect();
        line(&format!("tried verdict=\"{others}\""), "Failed here", folded(&failed));
        let unknown = Verdict::UnknownEffect.name();
        line(&format!("tried verdict=\"{unknown}\""), "Done here, effect unknown", folded(&with(unknown)));
        line("not_understood", "The game does not understand", not_understood.join(", "));
        out
    }
}

/// The things of actions that are named here or carried now.
fn things_here(
    unread: &UnreadSection<'_>,
    circumstances: &Circumstances,
    actions: &[Attempt],
) -> HashSet<String> {
    let mut missing: HashSet<String> = actions.iter().filter_map(thing_of).collect();
    let mut here = HashSet::new();
    let mut find = |text: &str| {
        here.extend(words(text).filter_map(|word| missing.take(&word)));
        missing.is_empty()
    };
    let section = &unread.section;
    let actions = section.tried.iter().chain(&section.worked).map(|attempt| &attempt.action);
    // Memories may be many: they are read last, and only until all is found.
    if !actions.chain(circumstances.now()).chain([&section.name]).any(|text| find(text)) {
        let mut memories = unread.live().map(|entry| entry.read());
        memories.any(|memory| find(&memory.title) || find(&memory.text));
    }
    here
}

/// The thing that an action is done with: its last word, but not its only one.
fn thing_of(attempt: &Attempt) -> Option<String> {
    words(&attempt.action).skip(1).last()
}

fn words(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase)
}

/// Actions without replies, the most likely to be done again first.
fn ranked(actions: &[Attempt]) -> Vec<Attempt> {
    let mut ranked: Vec<Attempt> = actions.iter().map(|action| shortened(action, 0)).collect();
    ranked.sort_by_cached_key(rank);
    ranked
}

/// Ways by their action: the latest place to which each led, then the others. A place has the name of its heading;
/// the way's own is from before the place was renamed.
fn walked_ways(ways: &[Way], names: &PlaceNames, ends: &HashMap<u64, &str>) -> Vec<WalkedWay> {
    let mut latest: Vec<&Way> = ways.iter().collect();
    latest.sort_by_key(|way| Reverse((way.episode, way.turn)));
    let mut walked: Vec<WalkedWay> = Vec::new();
    for way in latest {
        let scope = Scope::Location(way.to);
        let name = ends.get(&way.to).copied().unwrap_or(&way.name);
        let place = names.label(&scope, name);
        let action = fold_action(&way.action);
        match walked.iter_mut().find(|walked| fold_action(&walked.way.action) == action) {
            Some(walked) if walked.sometimes.contains(&place) => {}
            Some(walked) => walked.sometimes.push(place),
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
    Attempt { action: cut_at_word(&attempt.action, ACTION_CHARS), reply, ..*attempt }
}

/// `west → Maze (id 37), sometimes Maze (id 40)`
fn written_way(walked: &WalkedWay) -> String {
    let WalkedWay { way, place, sometimes } = walked;
    let without = match way.refused_without.as_slice() {
        [] => String::new(),
        items => {
            let items: Vec<_> = items.iter().map(|item| list_item(item)).collect();
            format!(" (refused without {})", items.join(", "))
        }
    };
    let sometimes: String =
        sometimes.iter().map(|place| format!(", sometimes {}", list_label(place))).collect();
    let action = cut_at_word(&way.action, ACTION_CHARS);
    format!("{} → {}{without}{sometimes}", list_item(&action), list_label(place))
}

/// The action and how often it was done.
fn written_action(attempt: &Attempt) -> String {
    let action = list_item(&attempt.action);
    if attempt.count == 1 { action.into_owned() } else { format!("{action} ×{}", attempt.count) }
}

/// Actions with the same reply together: `take sword (It is fast.); east, eat rug ×2 (No.)`.
fn folded(tried: &[&JudgedTry]) -> String {
    let mut replies: Vec<(&str, Vec<String>)> = Vec::new();
    for JudgedTry { attempt, .. } in tried {
        let action = written_action(attempt);
        match replies.iter_mut().find(|(reply, _)| *reply == attempt.reply) {
            Some((_, actions)) => actions.push(action),
            None => replies.push((&attempt.reply, vec![action])),
        }
    }
    let group = |(reply, actions): (&str, Vec<String>)| {
        let actions = actions.join(", ");
        if reply.is_empty() { actions } else { format!("{actions} ({})", within_parentheses(reply)) }
    };
    replies.into_iter().map(group).collect::<Vec<_>>().join("; ")
}

/// Tries by what is carried now and was lacking then: each group has at least one item in common.
fn by_circumstances(mut tried: Vec<&JudgedTry>) -> Vec<(String, Vec<&JudgedTry>)> {
    let mut groups = Vec::new();
    while !tried.is_empty() {
        let items = || tried.iter().flat_map(|tried| &tried.lacking);
        let mut counts: HashMap<&String, usize> = HashMap::new();
        items().for_each(|item| *counts.entry(item).or_default() += 1);
        let most = counts.values().max().copied();
        let Some(shared) = items().find(|item| counts.get(item).copied() == most) else { break };
        let shared = shared.clone();
        let (group, rest): (Vec<&JudgedTry>, _) =
            tried.into_iter().partition(|tried| tried.lacking.contains(&shared));
        let common = |item: &&String| group.iter().all(|tried| tried.lacking.contains(*item));
        let common: Vec<&str> = group[0].lacking.iter().filter(common).map(String::as_str).collect();
        let more = if common.len() > ITEMS { " …" } else { "" };
        let items: Vec<_> = common.iter().take(ITEMS).map(|item| heading_item(item)).collect();
        groups.push((items.join(", ") + more, group));
        tried = rest;
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Document;

    /// The lines of a section of location 1, with this in `## Game`.
    fn lines(section: &str, game: &str, format: Format) -> String {
        let text = format!(
            "## Location 1: Hall\n\n{section}\n\n## Location 2: Maze\n\n## Location 3: Maze\n\n## Game\n\n{game}"
        );
        let document = Document::parse(text);
        let circumstances = Circumstances::of(&document.section(&Scope::Game).expect("a section"), 1);
        let unread = document.unread(&Scope::Location(1)).expect("a section");
        let section = &unread.section;
        let names = PlaceNames::of(document.headings());
        let places = document.headings().filter_map(|heading| match heading.scope {
            Scope::Location(id) => Some((id, heading.name.as_str())),
            _ => None,
        });
        let ends: HashMap<u64, &str> = places.collect();
        let judgement = Judgement::of(section, &circumstances);
        let actions = Actions::of(section, &judgement, &names, &ends);
        actions.with_not_understood(&unread, &circumstances).render(format)
    }

    #[test]
    fn ways_lead_to_the_latest_place_first() {
        let ways = "### Ways\n\n- `pray` → [Hall](#location-1-hall) ×9\n- `w` → [Maze](#location-2-maze) ×3 *(Ep1, T2)*\n\
                    - `W` → [Maze](#location-3-maze) *(Ep1, T9, refused without: lamp; key)*\n\
                    - `e` → [A → B; C](#location-7-a) ×2 *(Ep1, T1)*";
        assert_eq!(
            lines(ways, "", Format::Text),
            "\nWays: e → \"A → B; C\"; W → Maze (id 3) (refused without lamp, key), sometimes Maze (id 2); pray → Hall\n"
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
        let carried = "### Carried\n\n- Ep1: T2 +lamp; T5 +key; T8 +rope; T9 +\"axe\"";
        let tried = "### Worked\n\n- `open door` *(Ep1, T3)*\n\n### Tried\n\n- `open door` *(Ep1, T6)*: It is open.\n\
                     - `eat rug` ×3 *(Ep1, T20)*, `north`, `jump, then run` *(Ep1, T20)*: No.\n\
                     - `dig` *(Ep1, T1)*: Not like that.\n- `pull` ×2 *(Ep1, T3)*: Hm.\n- `push` *(Ep1, T9)*: Hm.\n\
                     - `sing` *(Ep1, T2, effect unknown)*: La.";
        assert_eq!(
            lines(tried, carried, Format::Text),
            "\nWorked here: open door\n\
             Tried here in vain: north, eat rug ×3, \"jump, then run\" (No.)\n\
             Tried before, but now with \"\\\"axe\\\"\": pull ×2, push (Hm.); dig (Not like that.)\n\
             Done here, effect unknown: sing (La.)\n"
        );
        assert!(lines(tried, carried, Format::Xml).contains(
            "<tried verdict=\"other_circumstances\" now_with=\"&quot;\\&quot;axe\\&quot;&quot;\">pull ×2"
        ));
    }

    #[test]
    fn what_the_game_does_not_understand_begins_with_what_is_here() {
        let game = "### Carried\n\n- Ep1: T2 +rusty key\n\n### Tried\n\n- `use rug` *(Ep1, T3)*, `frob` *(T9)*, \
                    `use key` *(T2)*, `use moon` *(T8)*: What?";
        let tried = "### Tried\n\n- `eat rug` *(Ep1, T4)*: No.";
        let shown = lines(tried, game, Format::Text);
        assert!(
            shown.ends_with("\nThe game does not understand: use rug, use key, frob, use moon\n"),
            "{shown}"
        );
    }
}

//! Everything known of a place, in one memory.
//!
//! A turn and its reply enter; the memory `Here` leaves, rewritten with what the turn adds: ways, actions
//! that changed something, failed actions that the list of tried actions does not keep, and the most
//! informative sentence of the description. It is parsed from its own text and rendered as a whole, so
//! that a place costs one entry however often it is visited.
//!
//! Actions and ways to new places are noted at once; a way back that the other place already lists is not
//! repeated. What can merely be seen waits for a later episode: it will still be there, and a place that
//! is never visited again needs no description.

use crate::record::proposal::Proposal;
use crate::record::rules::draft::Draft;
use crate::record::rules::sentences::{Fragment, Reply, cut, end_sentence, is_dark, is_refusal, upper_first};
use crate::record::rules::view::{TurnView, find_title, text_of};
use crate::record::rules::words;
use crate::types::text::fold_spaces;
use crate::types::{Category, Memory};

/// Title of the memory of what earned points at a place.
pub(super) const POINTS: &str = "Points";
const HERE: &str = "Here";

/// Longest text, in characters: what recall leaves for memories beside a long list of tried actions.
const MAX_HERE_CHARS: usize = 200;
const MAX_SIGHT_CHARS: usize = 60;
const MAX_NAME_CHARS: usize = 24;
const MAX_RESULT_CHARS: usize = 30;
/// Longest action in a list, in characters.
const MAX_ACTION_CHARS: usize = 30;
/// Lowest rating of a sentence that is kept of a place.
const NOTABLE: i32 = 5;

/// The content of the memory `Here`.
#[derive(Default)]
struct Here {
    dark: bool,
    /// Ways: `n` to `Kitchen`.
    ways: List,
    /// Actions that changed something, with what they revealed.
    worked: List,
    /// Actions that failed although something else changed meanwhile.
    vain: List,
    /// A sentence of the description.
    seen: String,
    /// There was no such memory.
    is_new: bool,
    /// There was no such memory, or it is from an earlier episode.
    may_grow: bool,
}

const DARK: &str = "Dark";
const WORKED: &str = "Worked: ";
const VAIN: &str = "In vain: ";
const SEEN: &str = "Seen: ";

impl Here {
    fn find(memories: &[Memory], episode: u64) -> Here {
        let Some(known) = find_title(memories, HERE) else {
            return Here { is_new: true, may_grow: true, ..Here::default() };
        };
        let text = text_of(known);
        let rest = text.as_str();
        let (rest, seen) = rest.split_once(SEEN).unwrap_or((rest, ""));
        let (rest, vain) = rest.split_once(VAIN).unwrap_or((rest, ""));
        let (rest, worked) = rest.split_once(WORKED).unwrap_or((rest, ""));
        let behind_dark = rest.strip_prefix(DARK);
        Here {
            dark: behind_dark.is_some(),
            ways: List::parse(behind_dark.unwrap_or(rest)),
            worked: List::parse(worked),
            vain: List::parse(vain),
            seen: seen.trim().to_owned(),
            is_new: false,
            may_grow: known.provenance.episode != Some(episode),
        }
    }

    /// The memory; the least informative parts are dropped until it is short enough.
    fn draft(mut self, at_arrival: bool, reasoning: &'static str) -> Proposal {
        let mut text = self.render();
        while text.chars().count() > MAX_HERE_CHARS && self.shrink() {
            text = self.render();
        }
        Draft::new(Category::note(), 500, HERE, &text).at_arrival(at_arrival).because(reasoning)
    }

    /// Drops a part; false if there is none to drop.
    fn shrink(&mut self) -> bool {
        if !self.seen.is_empty() {
            self.seen.clear();
            return true;
        }
        let longest = [&mut self.vain, &mut self.ways, &mut self.worked];
        longest.into_iter().max_by_key(|list| list.0.len()).is_some_and(List::drop_oldest)
    }

    fn render(&self) -> String {
        let mut parts = Vec::new();
        if self.dark {
            parts.push(DARK.to_owned());
        }
        for (mark, list) in [("", &self.ways), (WORKED, &self.worked), (VAIN, &self.vain)] {
            if !list.0.is_empty() {
                parts.push(format!("{mark}{}", list.render()));
            }
        }
        if !self.seen.is_empty() {
            parts.push(format!("{SEEN}{}", self.seen));
        }
        parts.join(". ")
    }
}

/// A memory of the place where the turn was taken, or else of the place reached.
pub(super) fn judge_place(turn: &TurnView<'_>, reply: &Reply) -> Option<Proposal> {
    judge_darkness(turn, reply)
        .or_else(|| judge_way(turn, reply))
        .or_else(|| judge_action(turn, reply))
        .or_else(|| judge_sight(turn, reply))
}

/// The way to another place: always to a new one; to a known one if no way is listed yet. Darkness of the
/// goal is noted here, where it is read before the player goes.
fn judge_way(turn: &TurnView<'_>, reply: &Reply) -> Option<Proposal> {
    if !turn.moved() {
        return None;
    }
    let mut here = Here::find(turn.notes(), turn.context.episode);
    if !(turn.first_visit() || (here.may_grow && here.ways.0.is_empty())) {
        return None;
    }
    let direction = words::direction(&turn.action);
    let action = direction.map_or_else(|| turn.action.to_lowercase(), str::to_owned);
    if action.chars().count() > MAX_ACTION_CHARS {
        return None;
    }
    let there = Here::find(turn.notes_here(), turn.context.episode);
    if here.is_new && !turn.first_visit() && there.ways.has_target(&listed(&turn.from)) {
        return None;
    }
    let goal = format!("({})", listed(&turn.to));
    if turn.known(POINTS).is_some_and(|known| known.contains(&goal)) {
        return None;
    }
    let mut target = cut(&listed(&turn.to), MAX_NAME_CHARS);
    if target.is_empty() {
        target = format!("place {}", turn.context.after.id);
    } else if turn.to == turn.from || here.ways.leads_elsewhere(&action, &target) {
        target = format!("{target} {}", turn.context.after.id);
    }
    if visible_fragments(turn, reply).iter().any(|fragment| is_dark(&fragment.text)) {
        target.push_str(" (dark)");
    }
    if direction.is_none() && here.ways.has_target(&target) || turn.is_said(&item(&action, &target)) {
        return None;
    }
    here.ways.add(&action, &target).then(|| here.draft(false, "a way to another place"))
}

/// A memory of what the action changed or yielded, or of its failure although the world changed.
fn judge_action(turn: &TurnView<'_>, reply: &Reply) -> Option<Proposal> {
    let gained = !turn.gained.is_empty();
    if turn.moved() || !(turn.context.changes.world || gained) {
        return None;
    }
    let action = turn.action.to_lowercase();
    let is_listable = action.chars().count() <= MAX_ACTION_CHARS;
    if !is_listable || words::is_meta(&action) || words::is_look(&action) || words::is_for_all(&action) {
        return None;
    }
    let mut here = Here::find(turn.notes(), turn.context.episode);
    let refused = reply.sentences().first().is_some_and(|first| is_refusal(&first.text));
    let failed = refused || !gained && (words::is_taking(&action) || words::direction(&action).is_some());
    if failed {
        let is_news = !here.is_new && !turn.is_said(&action) && here.vain.add(&action, "");
        return is_news.then(|| here.draft(false, "it failed while something else changed"));
    }
    if !gained && turn.lost.is_empty() && words::opponent(&action).is_some() {
        return None;
    }
    let result = match gained {
        true => gains(turn, &action),
        false => reply.revealed().map(|text| listed(&text)).unwrap_or_default(),
    };
    let result = if result.chars().count() <= MAX_RESULT_CHARS { result } else { String::new() };
    if turn.is_said(&item(&action, &result)) {
        return None;
    }
    here.vain.remove(&action);
    here.worked.add(&action, &result).then(|| here.draft(false, "the action changed something"))
}

/// Items gained that the action does not name.
fn gains(turn: &TurnView<'_>, action: &str) -> String {
    let noun = action.split(' ').next_back().unwrap_or_default();
    let is_named = |item: &&String| item.to_lowercase().contains(noun);
    let unnamed = turn.gained.iter().filter(|item| !is_named(item)).take(3).map(|item| listed(item));
    unnamed.collect::<Vec<_>>().join(", ")
}

/// The place where the player is now is dark.
fn judge_darkness(turn: &TurnView<'_>, reply: &Reply) -> Option<Proposal> {
    if !shows_place(turn, reply) {
        return None;
    }
    let mut here = Here::find(turn.notes_here(), turn.context.episode);
    let is_news = !here.dark
        && !here.is_new
        && !turn.is_said_here(DARK)
        && visible_fragments(turn, reply).iter().any(|fragment| is_dark(&fragment.text));
    here.dark = true;
    is_news.then(|| here.draft(turn.moved(), "the place is dark"))
}

/// A sentence about the place where the player is now.
fn judge_sight(turn: &TurnView<'_>, reply: &Reply) -> Option<Proposal> {
    if !shows_place(turn, reply) {
        return None;
    }
    let mut here = Here::find(turn.notes_here(), turn.context.episode);
    if !here.seen.is_empty() || !here.may_grow || here.is_new {
        return None;
    }
    here.seen = choose_sight(&visible_fragments(turn, reply)).filter(|seen| !turn.is_said_here(seen))?;
    Some(here.draft(turn.moved(), "what the place shows"))
}

fn shows_place(turn: &TurnView<'_>, reply: &Reply) -> bool {
    turn.moved() || reply.title_index().is_some() || words::is_look(&turn.action)
}

/// The sentences about the place: those after its name if that is printed, else all.
fn visible_fragments<'a>(turn: &TurnView<'_>, reply: &'a Reply) -> Vec<&'a Fragment> {
    let Some(index) = reply.title_index() else { return reply.statements() };
    let line = reply.fragments[index].line;
    let described = reply.sentences().into_iter().filter(|fragment| fragment.line > line);
    if turn.moved() { reply.events().into_iter().chain(described).collect() } else { described.collect() }
}

/// The best rated short sentence, if it is good enough; the first of equals.
fn choose_sight(statements: &[&Fragment]) -> Option<String> {
    let first_line = statements.first()?.line;
    let short = statements.iter().filter(|fragment| fragment.text.chars().count() <= MAX_SIGHT_CHARS);
    let rated = short.map(|fragment| (rate_sight(&fragment.text, fragment.line > first_line), fragment));
    let (rate, best) = rated.rev().max_by_key(|(rate, _)| *rate)?;
    (rate >= NOTABLE).then(|| end_sentence(&upper_first(&best.text)))
}

/// Rates how much a sentence of a description helps a player who returns; items listed below the
/// description count more.
fn rate_sight(text: &str, listed: bool) -> i32 {
    let folded = format!(" {} ", text.to_lowercase().replace(['.', ',', ';', '!'], " "));
    let has = |words: &[&str]| words.iter().any(|word| folded.contains(word));
    let opens = |words: &[&str]| words.iter().any(|word| folded.starts_with(word));
    let mut rate = 0;
    let names_thing = has(&[" is a ", " is an "]) && !opens(&[" this ", " it ", " there "]);
    let is_here =
        has(&[" here "]) && opens(&[" there is ", " there are ", " a ", " an ", " some ", " several "]);
    if is_here || has(THINGS) || opens(PLACINGS) || (listed && names_thing) {
        rate += (if listed { 5 } else { 3 }) + i32::from(is_here);
    }
    if has(OPENINGS) && !has(&[" no door", " no window"]) {
        rate += 2;
    }
    if has(DANGERS) {
        rate += 3;
    }
    if has(EXITS) {
        rate += 1;
    }
    if opens(&[" you are ", " you're ", " this is ", " you have moved ", " you stand "]) {
        rate -= 2;
    }
    if opens(&[" your ", " you hear "]) {
        rate -= 8;
    }
    if opens(&[" someone ", " somebody "]) || has(&[" nothing ", " no "]) {
        rate -= 4;
    }
    rate
}

/// Phrases that say where an item is.
const THINGS: &[&str] = &[
    " is on ",
    " is sitting ",
    " are on ",
    " lies ",
    " lying ",
    " hangs ",
    " hanging ",
    " contains",
    " rests ",
];
/// Openings of sentences that say where something is, or what can be seen.
const PLACINGS: &[&str] = &[
    " on ",
    " in ",
    " beside ",
    " above ",
    " beneath ",
    " under ",
    " behind ",
    " at the ",
    " near ",
    " you can see a",
    " you can also see ",
];
const OPENINGS: &[&str] = &[
    " door ", " window ", " gate", " grating", " hatch", " stair", " ladder", " lever", " button", " chest ",
];
const DANGERS: &[&str] =
    &[" blocks ", " barred ", " attack", " brandishing ", " guards ", " dangerous ", " deadly ", " growl"];
const EXITS: &[&str] =
    &[" passage", " path", " exit", " leads ", " leading ", " north", " south", " east", " west", " doorway"];

/// A list of actions and their results: `n: Kitchen; u: Attic`.
#[derive(Default)]
pub(super) struct List(Vec<(String, String)>);

impl List {
    /// Parses a list; text that a person inserted is kept as it is.
    pub(super) fn parse(text: &str) -> List {
        let parts = text.trim().trim_matches('.').split("; ").filter(|part| !part.trim().is_empty());
        let split = |part: &str| match part.split_once(": ") {
            Some((action, target)) => (action.trim().to_owned(), target.trim().to_owned()),
            None => (part.trim().to_owned(), String::new()),
        };
        List(parts.map(split).collect())
    }

    fn has_target(&self, target: &str) -> bool {
        self.0.iter().any(|(_, known)| is_same_place(known, target))
    }

    /// True if another action leads to a place of the same name.
    fn leads_elsewhere(&self, action: &str, target: &str) -> bool {
        self.0.iter().any(|(known, name)| known != action && name == target)
    }

    /// Adds an action; false if it is known or cannot be written in a list.
    pub(super) fn add(&mut self, action: &str, target: &str) -> bool {
        if action.is_empty() || action != listed(action) {
            return false;
        }
        let Some((_, known)) = self.0.iter_mut().find(|(known, _)| known.eq_ignore_ascii_case(action)) else {
            self.0.push((action.to_owned(), target.to_owned()));
            return true;
        };
        if target.is_empty() || known.split(" or ").any(|one| is_same_place(one, target)) {
            return false;
        }
        let first = known.rsplit(" or ").next().filter(|first| !first.is_empty());
        *known = first.map_or_else(|| target.to_owned(), |first| format!("{first} or {target}"));
        true
    }

    fn remove(&mut self, action: &str) {
        self.0.retain(|(known, _)| !known.eq_ignore_ascii_case(action));
    }

    /// Drops the oldest item; false if there is none.
    pub(super) fn drop_oldest(&mut self) -> bool {
        !self.0.is_empty() && !self.0.remove(0).0.is_empty()
    }

    pub(super) fn render(&self) -> String {
        let parts: Vec<String> = self.0.iter().map(|(action, target)| item(action, target)).collect();
        parts.join("; ")
    }
}

/// An item of a list.
pub(super) fn item(action: &str, target: &str) -> String {
    if target.is_empty() { action.to_owned() } else { format!("{action}: {target}") }
}

/// A text without the separators of a list.
pub(super) fn listed(text: &str) -> String {
    fold_spaces(&text.replace([';', ':', '.'], " "))
}

/// True if both names are of the same place, one perhaps with its id.
fn is_same_place(one: &str, other: &str) -> bool {
    let lit = |text: &str| text.trim_end_matches(" (dark)").to_owned();
    let bare = |text: &str| match text.rsplit_once(' ') {
        Some((name, id)) if id.bytes().all(|b| b.is_ascii_digit()) => name.to_owned(),
        _ => text.to_owned(),
    };
    let (one, other) = (lit(one), lit(other));
    one == other || bare(&one) == other || bare(&other) == one
}

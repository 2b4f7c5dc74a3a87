//! What a place holds and where it leads.
//!
//! In: a turn's facts and its reply. Out: at most one memory: `Place and ways`, what the description
//! shows and a list that grows with each way taken; or `Items found here`, a list of things picked
//! up. A list is read from the memory's own text and written back whole.

use super::facts::{Facts, Known, find_title, names_action};
use super::sentences::{Piece, Reply, cut, end_sentence, first_that_fit, is_dark, upper_first};
use super::words;
use super::{Decision, Draft, MAX_TEXT_CHARS};

const PLACE: &str = "Place and ways";
const ITEMS: &str = "Items found here";

const MAX_SIGHTS_CHARS: usize = 100;
const MAX_SCENERY_CHARS: usize = 60;
const MAX_DARK_CHARS: usize = 60;
const MAX_WAYS: usize = 10;
const MAX_ITEMS: usize = 6;
const DARK_NOTE: &str = "Dark without a light.";
const WAYS_MARK: &str = "Ways: ";

/// How telling a sentence must be to be kept of a place, and to be kept beside another one.
const SCENERY: i32 = -2;
const NOTABLE: i32 = 3;
const WORTH_ADDING: i32 = 5;

/// What is remembered of a place, as its one memory words it.
#[derive(Default)]
struct PlaceText {
    sights: String,
    ways: Pairs,
    /// Only ever seen in the dark.
    unseen: bool,
}

impl PlaceText {
    fn find(memories: &[Known]) -> PlaceText {
        let Some(known) = find_title(memories, PLACE) else { return PlaceText::default() };
        let (sights, ways) = match known.text.split_once(WAYS_MARK) {
            Some((sights, ways)) => (sights.trim(), ways),
            None => (known.text.as_str(), ""),
        };
        let unseen = known.tentative && is_dark(sights);
        PlaceText { sights: sights.to_owned(), ways: Pairs::parse(ways), unseen }
    }

    /// The memory; ways leave, the oldest first, until it is short enough.
    fn draft(mut self) -> Draft {
        let mut text = self.render();
        while text.chars().count() > MAX_TEXT_CHARS && self.ways.drop_oldest() {
            text = self.render();
        }
        let category = match (self.unseen, self.sights.is_empty()) {
            (true, _) => "DANGER",
            (false, true) => "NOTE",
            (false, false) => "DISCOVERY",
        };
        Draft::new(category, 300, PLACE, text).tentative(self.unseen)
    }

    fn render(&self) -> String {
        match (self.sights.as_str(), self.ways.render()) {
            (sights, ways) if ways.is_empty() => sights.to_owned(),
            ("", ways) => format!("{WAYS_MARK}{ways}"),
            (sights, ways) => format!("{sights} {WAYS_MARK}{ways}"),
        }
    }
}

/// Whether a memory says that the place is dark without a light, though it was seen lit once.
pub(super) fn is_dark_without_light(memories: &[Known]) -> bool {
    memories.iter().any(|known| known.text.contains(DARK_NOTE))
}

/// What the reply shows of the place where the player is now, if that is not known yet and more
/// than scenery.
pub(super) fn judge_sights(facts: &Facts, reply: &Reply) -> Option<Decision> {
    judge_description(facts, reply, NOTABLE)
}

/// The same for mere scenery, on arrival at a place of which nothing at all is known.
pub(super) fn judge_scenery(facts: &Facts, reply: &Reply) -> Option<Decision> {
    let arrives = facts.first_visit || facts.moved();
    if !arrives || !facts.memories_here().is_empty() {
        return None;
    }
    judge_description(facts, reply, SCENERY)
}

fn judge_description(facts: &Facts, reply: &Reply, least: i32) -> Option<Decision> {
    let shows = facts.moved() || reply.title_index().is_some() || words::is_look(&facts.action);
    if !shows || facts.here().is_none() {
        return None;
    }
    let mut place = PlaceText::find(facts.memories_here());
    let shown = shown(facts, reply);
    let reason = if let Some(dark) = shown.iter().find(|piece| is_dark(&piece.text)) {
        let noted = is_dark(&place.sights) || place.sights.contains(DARK_NOTE);
        if noted || place.sights.chars().count() + DARK_NOTE.len() > MAX_TEXT_CHARS {
            return None;
        }
        place.unseen = place.sights.is_empty();
        place.sights = match place.unseen {
            true => cut(&dark.text, MAX_DARK_CHARS),
            false => format!("{} {DARK_NOTE}", place.sights),
        };
        "the place is dark"
    } else if place.unseen || place.sights.is_empty() {
        let chosen = choose_sights(&shown, if place.unseen { SCENERY } else { least });
        if chosen.is_empty() {
            return None;
        }
        place.sights = if place.unseen { format!("{chosen} {DARK_NOTE}") } else { chosen };
        place.unseen = false;
        "a place seen for the first time"
    } else {
        return None;
    };
    Some(place.draft().at_arrival(facts.moved()).because(reason))
}

/// The way that the action opened to another place.
pub(super) fn judge_ways(facts: &Facts) -> Option<Decision> {
    if !facts.moved() {
        return None;
    }
    let (from, to) = (facts.before.as_ref()?, facts.after.as_ref()?);
    let mut place = PlaceText::find(&facts.memories);
    let direction = words::direction(&facts.action);
    let action = direction.map_or_else(|| facts.action.to_lowercase(), str::to_owned);
    let mut target = cut(&to.name.replace([';', '→'], " "), 30);
    let told = format!(" to {target}").to_lowercase();
    let tells = |known: &&Known| known.title.to_lowercase().ends_with(&told);
    let teller = facts.memories.iter().find(tells);
    let is_told = teller.is_some_and(|known| direction.is_none() || names_action(known, &facts.action));
    if let Some(id) = to.id {
        if target.is_empty() {
            target = format!("place {id}");
        } else if to.name == from.name || place.ways.leads_elsewhere(&action, &target) {
            target = format!("{target} ({id})");
        }
    }
    if is_told || (direction.is_none() && place.ways.has_target(&target)) {
        return None;
    }
    let is_new = place.ways.add(&action, &target, MAX_WAYS);
    is_new.then(|| place.draft().because("a way to another place"))
}

/// Things picked up, unless a memory already says that this action yields them.
pub(super) fn judge_gains(facts: &Facts) -> Option<Decision> {
    if facts.gained.is_empty() {
        return None;
    }
    let items = facts.gained.iter().take(4).map(|item| item.replace([';', '→'], " "));
    let items = cut(&items.collect::<Vec<_>>().join(", "), 80);
    let told =
        facts.memories.iter().any(|known| names_action(known, &facts.action) && known.text.contains(&items));
    if told {
        return Some(Decision::Decline("it is known where that is found"));
    }
    let known = find_title(&facts.memories, ITEMS).map(|known| known.text.as_str()).unwrap_or_default();
    let mut pairs = Pairs::parse(known);
    if pairs.has_target(&items) {
        return Some(Decision::Decline("it is known where that is found"));
    }
    let is_named = facts.action.to_lowercase().ends_with(&items.to_lowercase());
    if !pairs.add(&facts.action, if is_named { "" } else { &items }, MAX_ITEMS) {
        return Some(Decision::Decline("the action cannot be listed"));
    }
    Some(Draft::new("SUCCESS", 500, ITEMS, pairs.render()).because("something was picked up"))
}

/// What the reply says of the place: after its name where that is printed, else all of it; and what
/// happened on the way there.
fn shown<'a>(facts: &Facts, reply: &'a Reply) -> Vec<&'a Piece> {
    let Some(index) = reply.title_index() else { return reply.statements() };
    let line = reply.pieces[index].line;
    let described = reply.sentences().into_iter().filter(|piece| piece.line > line);
    if facts.moved() && facts.score_change == 0 {
        reply.events().into_iter().chain(described).collect()
    } else {
        described.collect()
    }
}

/// The sentences that matter most, in their order, as many as fit.
fn choose_sights(statements: &[&Piece], least: i32) -> String {
    let first_line = statements.first().map_or(0, |piece| piece.line);
    let mut ranked: Vec<(i32, usize)> = Vec::new();
    for (index, piece) in statements.iter().enumerate() {
        ranked.push((rate_sight(&piece.text, piece.line > first_line), index));
    }
    ranked.sort_by_key(|(rate, index)| (-rate, *index));
    let mut chosen = Vec::new();
    let mut length = 0;
    for (rate, index) in ranked {
        let chars = statements[index].text.chars().count() + 1;
        let is_first = chosen.is_empty();
        if (is_first && rate >= least) || (rate >= WORTH_ADDING && length + chars <= MAX_SIGHTS_CHARS) {
            chosen.push(index);
            length += chars;
        }
    }
    chosen.sort_unstable();
    let pieces: Vec<&Piece> = chosen.into_iter().map(|index| statements[index]).collect();
    end_sentence(&upper_first(&match pieces.as_slice() {
        [alone] if least < NOTABLE => cut(&alone.text, MAX_SCENERY_CHARS),
        [alone] => cut_sight(&alone.text),
        several => first_that_fit(several, MAX_SIGHTS_CHARS),
    }))
}

/// A sentence that is too long, cut to the half that tells of something.
fn cut_sight(text: &str) -> String {
    let head = cut(text, MAX_SIGHTS_CHARS);
    let fits = |at: &usize| text[*at..].chars().count() < MAX_SIGHTS_CHARS;
    let clause = text.match_indices(", ").map(|(at, _)| at + 2).find(fits);
    match clause {
        Some(at) if head.len() < text.len() && rate_sight(&head, false) < NOTABLE => {
            format!("…{}", &text[at..])
        }
        _ => head,
    }
}

/// How much a sentence of a description tells a player who will come back; things that are listed
/// below the description count more.
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

/// How things are said to be there.
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
/// How a sentence opens that says where something is, or that something can be seen.
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

/// A list of actions and what they lead to: `north → Kitchen; up → Attic`.
#[derive(Default)]
struct Pairs(Vec<(String, String)>);

impl Pairs {
    /// Reads a list; what a person put between is kept as it stands.
    fn parse(text: &str) -> Pairs {
        let parts = text.trim_end_matches('.').split("; ").filter(|part| !part.trim().is_empty());
        let split = |part: &str| match part.split_once(" → ") {
            Some((action, target)) => (action.trim().to_owned(), target.trim().to_owned()),
            None => (part.trim().to_owned(), String::new()),
        };
        Pairs(parts.map(split).collect())
    }

    fn has_target(&self, target: &str) -> bool {
        self.0.iter().any(|(_, known)| known == target || is_same_place(known, target))
    }

    /// Whether another action leads to a place of the same name.
    fn leads_elsewhere(&self, action: &str, target: &str) -> bool {
        self.0.iter().any(|(known, name)| known != action && name == target)
    }

    /// Adds a pair; false where it is known or cannot be written in a list. The oldest make room.
    fn add(&mut self, action: &str, target: &str, limit: usize) -> bool {
        let listable =
            !action.trim().is_empty() && action.chars().count() <= 40 && !action.contains([';', '→']);
        if !listable {
            return false;
        }
        match self.0.iter_mut().find(|(known, _)| known.eq_ignore_ascii_case(action)) {
            Some((_, known))
                if known.split(" or ").any(|one| one == target || is_same_place(one, target)) =>
            {
                return false;
            }
            Some((_, known)) => {
                let first = known.rsplit(" or ").next().unwrap_or_default();
                *known = format!("{first} or {target}");
            }
            None => self.0.push((action.to_owned(), target.to_owned())),
        }
        while self.0.len() > limit || (self.0.len() > 1 && self.render().chars().count() > MAX_TEXT_CHARS) {
            self.drop_oldest();
        }
        true
    }

    /// Lets the oldest go; false where there is none.
    fn drop_oldest(&mut self) -> bool {
        !self.0.is_empty() && !self.0.remove(0).0.is_empty()
    }

    fn render(&self) -> String {
        let parts = self.0.iter().map(|(action, target)| match target.as_str() {
            "" => action.clone(),
            _ => format!("{action} → {target}"),
        });
        parts.collect::<Vec<_>>().join("; ")
    }
}

/// Whether one is the other with its id.
fn is_same_place(one: &str, other: &str) -> bool {
    let bare = |text: &str| match text.rsplit_once(" (") {
        Some((name, id)) if id.trim_end_matches(')').bytes().all(|b| b.is_ascii_digit()) => name.to_owned(),
        _ => text.to_owned(),
    };
    (bare(one) == other) || (bare(other) == one)
}

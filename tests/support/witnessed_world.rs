//! Invented worlds whose entries have witnesses. Each title and each text has a word that nothing else has.
#![allow(dead_code, reason = "each test program uses a part")]

use proptest::prelude::*;

/// The characters who ask.
pub const AGENTS: [&str; 3] = ["marta", "jordan", "alex"];

const SECTIONS: [(&str, &str); 8] = [
    ("Location 1: Hall", "1"),
    ("Location 2: Cellar", "2"),
    ("World", "world"),
    ("Scene", "scene"),
    ("NPC troll: Troll", "npc:troll"),
    ("Agent marta: Marta", "agent:marta"),
    ("Agent jordan: Jordan", "agent:jordan"),
    ("Topic keys", "topic:keys"),
];

#[derive(Debug, Clone)]
pub struct Entry {
    section: usize,
    /// A bit for each of [`AGENTS`]; none for everybody, 8 for a tag that names nobody.
    witnesses: u8,
    /// Superseded by the entry of that number in its section, if there is one.
    superseded_by: Option<usize>,
    is_tentative: bool,
    link: Option<usize>,
    told: bool,
    category: &'static str,
}

/// A line of evidence at one of the first two places.
#[derive(Debug, Clone)]
pub struct Line {
    place: usize,
    list: usize,
    /// As those of an entry.
    witnesses: u8,
    /// Its action is one that other lines have, too.
    is_common: bool,
}

#[derive(Debug, Clone)]
pub struct World {
    pub entries: Vec<Entry>,
    pub lines: Vec<Line>,
}

pub fn worlds() -> impl Strategy<Value = World> {
    let entry = (
        0..SECTIONS.len(),
        0_u8..9,
        prop::option::weighted(0.2, 0..9_usize),
        any::<bool>(),
        prop::option::of(0..9_usize),
        any::<bool>(),
        prop::sample::select(vec!["NOTE", "DANGER", "IDENTITY", "KNOWLEDGE", "EVENT", "GOAL"]),
    );
    let entry = entry.prop_map(|(section, witnesses, superseded_by, is_tentative, link, told, category)| {
        Entry { section, witnesses, superseded_by, is_tentative, link, told, category }
    });
    let line = (0..2_usize, 0..4_usize, 0_u8..9, any::<bool>());
    let line =
        line.prop_map(|(place, list, witnesses, is_common)| Line { place, list, witnesses, is_common });
    let worlds = (prop::collection::vec(entry, 1..9), prop::collection::vec(line, 0..9));
    worlds.prop_map(|(entries, lines)| World { entries, lines })
}

impl World {
    pub fn title(&self, at: usize) -> String {
        format!("Tq{at}k Lamp")
    }

    pub fn text(&self, at: usize) -> String {
        format!("The lamp of the troll stands where xq{at}k is.")
    }

    pub fn scope(&self, at: usize) -> &'static str {
        SECTIONS[self.entries[at].section].1
    }

    pub fn scopes() -> impl Iterator<Item = &'static str> {
        SECTIONS.iter().map(|(_, scope)| *scope)
    }

    /// The words that only this entry has.
    pub fn words(at: usize) -> [String; 2] {
        [format!("Tq{at}k"), format!("xq{at}k")]
    }

    pub fn knows(&self, agent: &str, at: usize) -> bool {
        let Entry { section, witnesses, .. } = self.entries[at];
        let sees = SECTIONS[section].1.strip_prefix("agent:").is_none_or(|id| id == agent);
        sees && is_among(agent, witnesses)
    }

    /// Words that only a line of evidence has, of action, reply and place, as far as it has them.
    pub fn words_of_line(&self, at: usize) -> Vec<String> {
        let Line { list, is_common, .. } = self.lines[at];
        let action = (!is_common || list == 0).then(|| format!("aq{at}k"));
        let other = [Some(format!("pq{at}k")), None, Some(format!("rq{at}k")), Some(format!("rq{at}k"))];
        action.into_iter().chain(other[list].clone()).collect()
    }

    pub fn knows_line(&self, agent: &str, at: usize) -> bool {
        is_among(agent, self.lines[at].witnesses)
    }

    fn evidence(&self, place: usize) -> String {
        let of_list = |list: usize| {
            let lines = self.lines.iter().enumerate();
            lines.filter(move |(_, line)| (line.place, line.list) == (place, list))
        };
        let mut out =
            format!("### Ways\n\n- `north` → [Place](#location-{0}-place) *(Ep1, T{0})*\n", 2 - place);
        for (at, line) in of_list(0) {
            let fields = fields(at, line.witnesses).join(", ");
            let to = 10 + at;
            out.push_str(&format!(
                "- `say aq{at}k` → [Pq{at}k](#location-{to}-pq{at}k) *({fields}, after say aq{at}k)*\n"
            ));
        }
        for (list, heading) in [(1, "Worked"), (2, "Seen"), (3, "Tried")] {
            out.push_str(&format!("\n### {heading}\n\n"));
            for (at, line) in of_list(list) {
                let action = if line.is_common { "take lamp".to_owned() } else { format!("push aq{at}k") };
                let reply = if list == 1 { String::new() } else { format!(": It is rq{at}k.") };
                out.push_str(&format!("- `{action}` *({})*{reply}\n", fields(at, line.witnesses).join(", ")));
            }
        }
        out + "- `take lamp` *(Ep1, T3)*: It is fixed.\n\n"
    }

    pub fn hidden(&self, agent: &str) -> Vec<usize> {
        (0..self.entries.len()).filter(|at| !self.knows(agent, *at)).collect()
    }

    /// Fails where a text has a word of an entry or a line that an agent may not see.
    pub fn assert_kept(&self, agent: &str, door: &str, said: &str) {
        let folded = said.to_lowercase();
        let lines = (0..self.lines.len()).filter(|at| !self.knows_line(agent, *at));
        let of_lines = lines.flat_map(|at| self.words_of_line(at));
        for word in self.hidden(agent).into_iter().flat_map(World::words).chain(of_lines) {
            assert!(
                !folded.contains(&word.to_lowercase()),
                "{door} gives {word} to {agent}: {said}\n{self:?}"
            );
        }
    }

    /// The memory file.
    pub fn file(&self) -> String {
        let mut out = String::new();
        for (number, (heading, _)) in SECTIONS.iter().enumerate() {
            out.push_str(&format!("## {heading}\n\n### Memories\n\n"));
            for (at, entry) in self.entries.iter().enumerate().filter(|(_, entry)| entry.section == number) {
                out.push_str(&self.lines(at, entry));
            }
            if number < 2 {
                out.push_str(&self.evidence(number));
            }
        }
        for (at, _) in self.lines.iter().enumerate().filter(|(_, line)| line.list == 0) {
            out.push_str(&format!("## Location {}: Pq{at}k\n**Visits:** 1\n\n---\n\n", 10 + at));
        }
        out
    }

    fn lines(&self, at: usize, entry: &Entry) -> String {
        let of_section = |other: &usize| {
            *other < self.entries.len() && *other != at && self.entries[*other].section == entry.section
        };
        let by = entry.superseded_by.filter(|by| of_section(by) && self.entries[*by].superseded_by.is_none());
        let status = match by {
            Some(_) => " - SUPERSEDED",
            None if entry.is_tentative => " - TENTATIVE",
            None => "",
        };
        let mut fields = fields(at, entry.witnesses);
        fields.extend(entry.told.then(|| "#told-by:jordan".to_owned()));
        let mut out =
            format!("**[{}{status}] {}** *({})*\n", entry.category, self.title(at), fields.join(", "));
        match by {
            Some(by) => {
                out.push_str(&format!("[Superseded at Ep1 T9 by \"{}\"]\n", self.title(by)));
                out.push_str(&format!("~~{}~~\n", self.text(at)));
            }
            None => out.push_str(&format!("{}\n", self.text(at))),
        }
        if let Some(to) = entry.link.filter(|to| *to < self.entries.len()) {
            let key = SECTIONS[self.entries[to].section].0.split(':').next().unwrap_or_default();
            out.push_str(&format!("See also: [[{key} › {}]]\n", self.title(to)));
        }
        out + "\n"
    }
}

/// True if an agent is among the witnesses that bits name.
fn is_among(agent: &str, witnesses: u8) -> bool {
    let bit = AGENTS.iter().position(|other| *other == agent).unwrap();
    witnesses == 0 || witnesses != 8 && witnesses & (1 << bit) != 0
}

/// Episode, turn and witnesses.
fn fields(at: usize, witnesses: u8) -> Vec<String> {
    let ids = (0..3).filter(|bit| witnesses & (1 << bit) != 0).map(|bit| format!("#witness:{}", AGENTS[bit]));
    let nobody = (witnesses == 8).then(|| "#witness:".to_owned());
    ["Ep1".to_owned(), format!("T{}", at + 1)].into_iter().chain(ids).chain(nobody).collect()
}

/// A turn of an invented play, with those who were present.
#[derive(Debug, Clone)]
pub struct Turn {
    from: usize,
    to: usize,
    kind: usize,
    present: u8,
}

/// An invented play: turns at four places. Each reply, most actions and the name of each place have a word of their own.
#[derive(Debug, Clone)]
pub struct Play {
    pub turns: Vec<Turn>,
}

/// Actions, each with whether it has a word of its own, the reply, and the gain of points.
const KINDS: [(&str, bool, &str, i64); 8] = [
    ("take lamp", false, "It is fixed to the wall.", 0),
    ("examine", true, "A small thing.", 0),
    ("pull", true, "Nothing happens.", 0),
    ("open door", false, "It is locked.", 0),
    ("open", true, "Opened.", 0),
    ("say", true, "A door opens.", 5),
    ("look", false, "A hall. There is an exit to the east.", 0),
    ("north", false, "You go there. An exit leads west.", 0),
];

pub fn plays() -> impl Strategy<Value = Play> {
    let turn = (0..4_usize, 0..4_usize, 0..KINDS.len(), 0_u8..8);
    let turn = turn.prop_map(|(from, to, kind, present)| Turn { from, to, kind, present });
    prop::collection::vec(turn, 1..12).prop_map(|turns| Play { turns })
}

impl Play {
    /// The turns, a line of JSON for each. Every reply begins with its word, and a place is left by walking alone.
    pub fn lines(&self) -> String {
        let place = |id: usize| format!(r#"{{"id": {}, "name": "Pq{id}k Hall"}}"#, id + 1);
        let mut score = 0;
        let line = |(at, turn): (usize, &Turn)| {
            let (verb, has_word, reply, gain) = KINDS[turn.kind];
            let word = if has_word { format!(" aq{at}k") } else { String::new() };
            let to = if verb == "north" || gain > 0 { turn.to } else { turn.from };
            let ids: Vec<String> = (0..3)
                .filter(|bit| turn.present & (1 << bit) != 0)
                .map(|bit| format!("\"{}\"", AGENTS[bit]))
                .collect();
            let before = score;
            score += gain;
            format!(
                r#"{{"turn": {}, "action": "{verb}{word}", "response": "Rq{at}k! {reply}", "location_before": {}, "location_after": {}, "score_before": {before}, "score_after": {score}, "present": [{}]}}"#,
                at + 1,
                place(turn.from),
                place(to),
                ids.join(", ")
            )
        };
        self.turns.iter().enumerate().map(line).collect::<Vec<_>>().join("\n") + "\n"
    }

    fn places(turn: &Turn) -> [usize; 2] {
        [turn.from, if turn.kind == 7 || KINDS[turn.kind].3 > 0 { turn.to } else { turn.from }]
    }

    /// Fails where a text has a word of a turn at which an agent was not.
    pub fn assert_kept(&self, agent: &str, door: &str, said: &str) {
        let known = |turn: &&Turn| is_among(agent, turn.present);
        let places: Vec<usize> = self.turns.iter().filter(known).flat_map(Play::places).collect();
        let of_turns = self.turns.iter().enumerate().filter(|(_, turn)| !known(turn));
        let words = of_turns.flat_map(|(at, _)| [format!("aq{at}k"), format!("rq{at}k")]);
        let names = (0..4).filter(|place| !places.contains(place)).map(|place| format!("pq{place}k"));
        let folded = said.to_lowercase();
        for word in words.chain(names) {
            assert!(!folded.contains(&word), "{door} gives {word} to {agent}: {said}\n{self:?}");
        }
    }
}

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

#[derive(Debug, Clone)]
pub struct World {
    pub entries: Vec<Entry>,
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
    prop::collection::vec(entry, 1..9).prop_map(|entries| World { entries })
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
        let bit = AGENTS.iter().position(|other| *other == agent).unwrap();
        let sees = SECTIONS[section].1.strip_prefix("agent:").is_none_or(|id| id == agent);
        sees && (witnesses == 0 || witnesses != 8 && witnesses & (1 << bit) != 0)
    }

    pub fn hidden(&self, agent: &str) -> Vec<usize> {
        (0..self.entries.len()).filter(|at| !self.knows(agent, *at)).collect()
    }

    /// Fails where a text has a word of an entry that an agent may not see.
    pub fn assert_kept(&self, agent: &str, door: &str, said: &str) {
        let folded = said.to_lowercase();
        for at in self.hidden(agent) {
            for word in World::words(at) {
                assert!(
                    !folded.contains(&word.to_lowercase()),
                    "{door} gives {word} to {agent}: {said}\n{self:?}"
                );
            }
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
                let other = 2 - number;
                out.push_str(&format!(
                    "### Ways\n\n- `north` → [Place](#location-{other}-place) *(Ep1, T{other})*\n\n"
                ));
                out.push_str("### Tried\n\n- `take lamp` *(Ep1, T3)*: It is fixed.\n\n");
            }
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
        let mut fields = vec!["Ep1".to_owned(), format!("T{}", at + 1)];
        match entry.witnesses {
            0 => {}
            8 => fields.push("#witness:".to_owned()),
            bits => fields.extend(
                (0..3).filter(|bit| bits & (1 << bit) != 0).map(|bit| format!("#witness:{}", AGENTS[bit])),
            ),
        }
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

//! Counts the contents of a memory file, and joins them with the turns in the journal.
//!
//! Visits and the episodes of memories are in the file, so these figures outlive the journal. Each section is looked
//! at once, and of its entries little more than the first lines are read.

use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap, HashSet};

use crate::stats::figures::{
    ContestedMemory, EpisodeFigures, JournalFigures, PlaceFigures, Stats, TokenFigures, TopLocation,
};
use crate::stats::tally::Tally;
use memories_document::link::Link;
use memories_document::types::{Memory, Scope, fold_title};
use memories_document::{Document, PlaceNames, Section};
use memories_recall::budget::estimate_tokens;
use memories_recall::{Circumstances, Format, Known, Limits, choose, render};
use memories_store::journal::damage::Damage;

/// The figures of a memory file with its session, and of its journal. `now` is the present time
/// (RFC 3339), `limits` are those of a recall.
pub(crate) fn stats(
    file: String,
    lasting: &Document,
    session: &Document,
    tally: Tally,
    damage: &Damage,
    limits: &Limits,
    now: &str,
) -> Stats {
    let queue = tally.queue(now);
    let Tally { turns, models, episodes, known_since, .. } = tally;
    let journal = journal_figures(damage);
    let stats = Stats { version: 1, file, turns, queue, journal, models, ..Stats::default() };
    let mut contents = Contents { stats, importance: 0, episodes, known_since };
    let mut costs = RecallCosts::of(lasting, session);
    for (scope, section) in sections(lasting, session) {
        contents.count(&scope, &section);
        costs.count(scope, section, limits);
    }
    Stats { recall_tokens: costs.figures(), ..contents.figures() }
}

fn journal_figures(damage: &Damage) -> JournalFigures {
    JournalFigures {
        unreadable: damage.unreadable,
        mended: damage.mended,
        lost_turns: damage.lost_turns(),
        text: damage.text(),
    }
}

/// Every scope once, with its sections in file and session; of the session's only names and memories count.
fn sections(lasting: &Document, session: &Document) -> impl Iterator<Item = (Scope, Section)> {
    let mut session: BTreeMap<Scope, Section> = session.each_section().collect();
    let mut lasting = lasting.each_section();
    std::iter::from_fn(move || {
        let (scope, mut section) = match lasting.next() {
            Some(lasting) => lasting,
            None => (session.keys().next()?.clone(), Section::default()),
        };
        if let Some(more) = session.remove(&scope) {
            section.add_session(more);
        }
        Some((scope, section))
    })
}

impl PlaceFigures {
    fn count(&mut self, has_memories: bool) {
        self.visited += 1;
        self.with_memories += u64::from(has_memories);
    }

    fn with_share(self) -> PlaceFigures {
        PlaceFigures { share: share(self.with_memories, self.visited), ..self }
    }
}

/// The contents of the file, counted into the figures of the journal.
struct Contents {
    stats: Stats,
    /// Sum over the live memories.
    importance: u64,
    episodes: BTreeMap<u64, EpisodeFigures>,
    /// The first episode in which a memory of a place was written, by the journal.
    known_since: HashMap<u64, u64>,
}

impl Contents {
    fn count(&mut self, scope: &Scope, section: &Section) {
        let mut contests = Vec::new();
        let (mut live, mut first_episode) = (0, self.known_since(scope));
        for memory in &section.memories {
            *self.stats.by_status.entry(memory.status.into()).or_default() += 1;
            match memory.provenance.episode {
                Some(episode) => {
                    self.episodes.entry(episode).or_default().memories += 1;
                    first_episode = Some(first_episode.map_or(episode, |first| first.min(episode)));
                }
                None => self.stats.memories_without_episode += 1,
            }
            if !memory.is_live() {
                continue;
            }
            live += 1;
            self.importance += u64::from(memory.importance());
            match self.stats.by_category.get_mut(memory.category.as_str()) {
                Some(count) => *count += 1,
                None => drop(self.stats.by_category.insert(memory.category.as_str().to_owned(), 1)),
            }
            *self.stats.by_persistence.entry(memory.persistence.into()).or_default() += 1;
            if memory.contests() {
                contests.push(memory);
            }
        }
        self.stats.total_memories += live;
        self.stats.tried += section.tried.len() as u64;
        if !contests.is_empty() {
            let live = section.live().map(|memory| fold_title(&memory.title)).collect();
            self.stats.contested.extend(contests.iter().flat_map(|by| contested(scope, &live, by)));
        }
        for episode in &section.episodes {
            self.episodes.entry(*episode).or_default();
        }
        if matches!(scope, Scope::Location(_)) {
            self.count_place(scope, section, live, first_episode);
        }
    }

    /// Counts a place with `live` memories. A revised entry has the episode of its last revision; the journal has the
    /// episode of its first version.
    fn count_place(&mut self, scope: &Scope, section: &Section, live: u64, first_episode: Option<u64>) {
        self.stats.locations_covered += u64::from(live > 0);
        if section.visits > 0 || !section.episodes.is_empty() {
            self.stats.places.count(live > 0);
        }
        for episode in &section.episodes {
            let is_known = first_episode.is_some_and(|first| first <= *episode);
            self.episodes.entry(*episode).or_default().places.count(is_known);
        }
        let is_top = |top: &TopLocation| live > top.memories || live == top.memories && *scope < top.scope;
        if live > 0 && self.stats.top_location.as_ref().is_none_or(is_top) {
            let (scope, name) = (scope.clone(), section.name.clone());
            self.stats.top_location = Some(TopLocation { scope, name, memories: live });
        }
    }

    fn known_since(&self, scope: &Scope) -> Option<u64> {
        let Scope::Location(id) = scope else { return None };
        self.known_since.get(id).copied()
    }

    fn figures(self) -> Stats {
        let Contents { mut stats, importance, episodes, .. } = self;
        let mean = share(importance, stats.total_memories);
        stats.avg_importance = mean.map(|mean| (mean * 10.0).round() / 10.0);
        stats.contested.sort_by(|one, other| one.scope.cmp(&other.scope));
        stats.places = stats.places.with_share();
        stats.turns.repeated_share = share(stats.turns.repeated_no_effect, stats.turns.recorded);
        stats.turns.outcomes.retain(|_, count| *count > 0);
        let mut memories_total = 0;
        for (episode, figures) in episodes {
            memories_total += figures.memories;
            stats.episodes.push(EpisodeFigures {
                episode,
                memories_total,
                places: figures.places.with_share(),
                repeated_share: share(figures.repeated_no_effect, figures.turns),
                ..figures
            });
        }
        stats
    }
}

/// The live memories of a section that a tentative one contests; `live` are the folded titles of the section.
fn contested(scope: &Scope, live: &HashSet<String>, by: &Memory) -> Vec<ContestedMemory> {
    let links = Link::parse_all(by.see_also.as_deref().unwrap_or_default());
    let here = links.into_iter().filter(|link| link.scope.as_ref().is_none_or(|other| other == scope));
    let titles = here.filter_map(|link| link.title).filter(|title| live.contains(&fold_title(title)));
    titles.map(|title| ContestedMemory { scope: scope.clone(), title, by: by.title.clone() }).collect()
}

/// The name of a section, and its live memories by their folded titles: of equal ones the first.
struct Titled {
    name: String,
    memories: HashMap<String, Memory>,
}

fn titled(section: Section) -> Titled {
    let live = section.memories.into_iter().rev().filter(Memory::is_live);
    let memories = live.map(|memory| (fold_title(&memory.title), memory)).collect();
    Titled { name: section.name, memories }
}

/// Most places whose recall is measured. Measuring a place takes ten times as long as counting its memories.
const MOST_MEASURED: usize = 10_000;

/// The cost of recalling each place alone; of more than [`MOST_MEASURED`] places, of every second, third and so on.
struct RecallCosts<'a> {
    lasting: &'a Document,
    session: &'a Document,
    names: PlaceNames,
    ends: HashMap<u64, &'a str>,
    circumstances: Circumstances<'a>,
    /// The live memories of all sections by their folded titles, where a memory links to one.
    linked: OnceCell<HashMap<Scope, Titled>>,
    /// See [`one_in`].
    one_in: usize,
    /// Places seen so far, measured or not.
    places: usize,
    tokens: Vec<usize>,
}

impl<'a> RecallCosts<'a> {
    fn of(lasting: &'a Document, session: &'a Document) -> RecallCosts<'a> {
        let mut ends = HashMap::new();
        let mut places = 0;
        for heading in lasting.headings().chain(session.headings()) {
            if let Scope::Location(id) = heading.scope {
                places += 1;
                if !heading.name.is_empty() {
                    ends.entry(id).or_insert(heading.name.as_str());
                }
            }
        }
        let game = lasting.section_without_memories(&Scope::Game).unwrap_or_default();
        RecallCosts {
            lasting,
            session,
            names: PlaceNames::of(lasting.headings()),
            circumstances: Circumstances::of(&game, 0, ""),
            linked: OnceCell::new(),
            one_in: one_in(places),
            places: 0,
            ends,
            tokens: Vec::new(),
        }
    }

    fn count(&mut self, scope: Scope, section: Section, limits: &Limits) {
        if !matches!(scope, Scope::Location(_)) {
            return;
        }
        self.places += 1;
        if !(self.places - 1).is_multiple_of(self.one_in) {
            return;
        }
        let linked = |scope: &Scope, title: &str| {
            let all = || {
                sections(self.lasting, self.session)
                    .map(|(scope, section)| (scope, titled(section)))
                    .collect()
            };
            let Titled { name, memories } = self.linked.get_or_init(all).get(scope)?;
            Some((name.clone(), memories.get(&fold_title(title))?.clone()))
        };
        let RecallCosts { names, ends, circumstances, .. } = &*self;
        let known = Known { linked: &linked, names, ends, circumstances };
        let views = choose(&[(scope, section)], &[], &known, limits, Format::Text);
        let tokens = estimate_tokens(&render(&views));
        self.tokens.push(tokens);
    }

    fn figures(mut self) -> Option<TokenFigures> {
        self.tokens.sort_unstable();
        let max = *self.tokens.last()?;
        let p50 = self.tokens[(self.tokens.len() - 1) / 2];
        Some(TokenFigures { places: self.tokens.len() as u64, p50, max })
    }
}

/// The step from one measured place to the next: 1 measures all, 2 every second one.
fn one_in(places: usize) -> usize {
    places.div_ceil(MOST_MEASURED).max(1)
}

fn share(part: u64, whole: u64) -> Option<f64> {
    // Four digits are enough for a reader and keep the JSON short.
    (whole > 0).then(|| (part as f64 / whole as f64 * 10_000.0).round() / 10_000.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use memories_store::journal::entry::Entry;

    const FILE: &str = "\
# Location Memories

## Location 5: Hall
**Visits:** 3 | **Episodes:** 1, 2

### Memories

**[SUCCESS] Open door** *(Ep1, T2, importance 700)*
It opens.

**[DANGER - CORE] Pit** *(Ep2, T9, importance 900)*
Deep.

**[NOTE - SUPERSEDED] Safe** *(Ep1, T1)*
[Superseded at Ep2 T9 by \"Pit\"]
~~Nothing here.~~

### Tried

- `take pit` ×2 *(Ep1, T3)*: No.

---

## Location 6: Yard
**Visits:** 1 | **Episodes:** 1

---

## NPC troll: The Troll

### Memories

**[NOTE - TENTATIVE] Likes lunch**
It ate.
";

    fn figures() -> Stats {
        let session = "## Location 6: Yard\n\n### Memories\n\n**[NOTE] Gate is open**\nI left it open.\n";
        let lasting = Document::parse(FILE.to_owned());
        let session = Document::parse(session.to_owned());
        let mut tally = Tally::default();
        for (at, action) in ["wait", "wait", "open"].into_iter().enumerate() {
            let line = format!(
                r#"{{"time": "2026-01-0{}T00:00:00Z", "outcome": "tried", "turn": {{"episode": 1,
                    "action": "{action}", "location_before": {{"id": 5}}}}}}"#,
                at + 1
            );
            tally.count(&Entry::parse(&line).unwrap());
        }
        let (damage, limits) = (Damage::default(), Limits::default());
        stats("m".to_owned(), &lasting, &session, tally, &damage, &limits, "2026-01-31T10:40:00Z")
    }

    #[test]
    fn of_many_places_some_are_measured() {
        assert_eq!([0, 1, 10_000, 10_001, 1_000_000].map(one_in), [1, 1, 1, 2, 100]);
        let text = (1..=5).map(|id| format!("## Location {id}: A\n\n**[NOTE] a**\nb\n")).collect::<String>();
        let (lasting, session) = (Document::parse(text), Document::parse(String::new()));
        let mut costs = RecallCosts { one_in: 2, ..RecallCosts::of(&lasting, &session) };
        sections(&lasting, &session)
            .for_each(|(scope, section)| costs.count(scope, section, &Limits::default()));
        assert_eq!(costs.figures().unwrap().places, 3);
    }

    #[test]
    fn what_the_file_says() {
        let figures = figures();
        assert_eq!((figures.total_memories, figures.locations_covered, figures.tried), (4, 2, 1));
        assert_eq!(figures.avg_importance, Some(650.0));
        let top = figures.top_location.unwrap();
        assert_eq!((top.scope, top.name.as_str(), top.memories), (Scope::Location(5), "Hall", 2));
        assert_eq!(figures.by_category.into_values().collect::<Vec<_>>(), [1, 2, 1]);
        assert_eq!(
            figures.by_status.into_iter().collect::<Vec<_>>(),
            [("active", 3), ("superseded", 1), ("tentative", 1)]
        );
        assert_eq!(
            figures.by_persistence.into_iter().collect::<Vec<_>>(),
            [("core", 1), ("ephemeral", 1), ("permanent", 2)]
        );
        assert_eq!(figures.places, PlaceFigures { visited: 2, with_memories: 2, share: Some(1.0) });
        let tokens = figures.recall_tokens.unwrap();
        assert!(tokens.places == 2 && tokens.p50 < tokens.max, "{tokens:?}");
    }

    #[test]
    fn what_each_episode_brought() {
        let figures = figures();
        let rows: Vec<(u64, u64, u64, u64, Option<f64>)> = figures
            .episodes
            .iter()
            .map(|one| (one.episode, one.turns, one.memories, one.memories_total, one.places.share))
            .collect();
        assert_eq!(rows, [(1, 3, 2, 2, Some(0.5)), (2, 0, 1, 3, Some(1.0))]);
        assert_eq!(figures.episodes[0].repeated_share, Some(0.3333));
        assert_eq!(figures.memories_without_episode, 2);
        assert_eq!(figures.turns.since.as_deref(), Some("2026-01-01T00:00:00Z"));
        assert_eq!(figures.turns.until.as_deref(), Some("2026-01-03T00:00:00Z"));
    }

    #[test]
    fn nothing_has_no_shares() {
        let empty = Document::parse(String::new());
        let figures = stats(
            String::new(),
            &empty,
            &empty,
            Tally::default(),
            &Damage::default(),
            &Limits::default(),
            "2026-01-31T10:40:00Z",
        );
        assert_eq!((figures.avg_importance, figures.recall_tokens, figures.top_location), (None, None, None));
        assert!(figures.episodes.is_empty() && figures.turns.repeated_share.is_none());
    }
}

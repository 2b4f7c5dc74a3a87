//! Counts the contents of a memory file, and joins them with the turns in the journal.
//!
//! Visits and the episodes of memories are in the file, so these figures outlive the journal.

use std::collections::{BTreeMap, HashMap};

use crate::document::link::Link;
use crate::document::{Document, PlaceNames, Section};
use crate::journal::damage::Damage;
use crate::recall::budget::estimate_tokens;
use crate::recall::{Circumstances, Format, Known, Limits, choose, render};
use crate::stats::figures::{
    ContestedMemory, EpisodeFigures, JournalFigures, PlaceFigures, Stats, TokenFigures, TopLocation,
};
use crate::stats::tally::Tally;
use crate::types::{Scope, same_title};

/// The figures of a memory file with its session, and of its journal. `now` is the present time
/// (RFC 3339), `limits` are those of a recall.
pub(crate) fn stats(
    file: String,
    lasting: &Document,
    session: &Document,
    (tally, damage): (Tally, &Damage),
    limits: &Limits,
    now: &str,
) -> Stats {
    let sections = sections(lasting, session);
    let live = || sections.iter().flat_map(|(_, section)| section.live());
    let all = || sections.iter().flat_map(|(_, section)| &section.memories);
    let total = live().count() as u64;
    let importance: u64 = live().map(|memory| u64::from(memory.importance())).sum();
    let places = || sections.iter().filter(|(scope, _)| matches!(scope, Scope::Location(_)));
    let queue = tally.queue(now);
    let episodes = episodes(&sections, &tally);
    let mut turns = tally.turns;
    turns.repeated_share = share(turns.repeated_no_effect, turns.recorded);
    turns.outcomes.retain(|_, count| *count > 0);
    Stats {
        version: 1,
        file,
        total_memories: total,
        avg_importance: share(importance, total).map(|mean| (mean * 10.0).round() / 10.0),
        locations_covered: places().filter(|(_, section)| has_memories(section)).count() as u64,
        top_location: top_location(&sections),
        by_category: counts(live().map(|memory| memory.category.as_str().to_owned())),
        by_status: counts(all().map(|memory| memory.status.into())),
        by_persistence: counts(live().map(|memory| memory.persistence.into())),
        contested: sections.iter().flat_map(|(scope, section)| contested(scope, section)).collect(),
        tried: sections.iter().map(|(_, section)| section.tried.len() as u64).sum(),
        places: place_figures(places().filter(|(_, section)| is_visited(section)), |_, section| {
            has_memories(section)
        }),
        recall_tokens: recall_tokens(places(), &sections, &PlaceNames::of(lasting.headings()), limits),
        turns,
        queue,
        journal: journal_figures(damage),
        models: tally.models,
        memories_without_episode: all().filter(|memory| memory.provenance.episode.is_none()).count() as u64,
        episodes,
    }
}

fn journal_figures(damage: &Damage) -> JournalFigures {
    JournalFigures {
        unreadable: damage.unreadable,
        mended: damage.mended,
        lost_turns: damage.lost_turns(),
        text: damage.text(),
    }
}

/// The live memories of a section that tentative ones contest.
fn contested(scope: &Scope, section: &Section) -> Vec<ContestedMemory> {
    let contests = section.live().filter(|memory| memory.contests());
    let pairs = contests.flat_map(|by| {
        let links = Link::parse_all(by.see_also.as_deref().unwrap_or_default());
        let here = links.into_iter().filter(|link| link.scope.as_ref().is_none_or(|other| other == scope));
        here.filter_map(|link| link.title).map(|title| (title, by.title.clone())).collect::<Vec<_>>()
    });
    let is_live = |title: &str| section.live().any(|memory| same_title(&memory.title, title));
    pairs
        .filter(|(title, _)| is_live(title))
        .map(|(title, by)| ContestedMemory { scope: scope.clone(), title, by })
        .collect()
}

/// Every scope once, with its sections in file and session.
fn sections(lasting: &Document, session: &Document) -> Vec<(Scope, Section)> {
    let mut sections: BTreeMap<Scope, Section> = lasting.sections().into_iter().collect();
    for (scope, ephemeral) in session.sections() {
        sections.entry(scope).or_default().add_session(ephemeral);
    }
    sections.into_iter().collect()
}

fn top_location(sections: &[(Scope, Section)]) -> Option<TopLocation> {
    let places = sections.iter().rev().filter(|(scope, _)| matches!(scope, Scope::Location(_)));
    let (scope, section) = places.max_by_key(|(_, section)| section.live().count())?;
    let memories = section.live().count() as u64;
    let top = TopLocation { scope: scope.clone(), name: section.name.clone(), memories };
    Some(top).filter(|top| top.memories > 0)
}

fn has_memories(section: &Section) -> bool {
    section.live().next().is_some()
}

fn is_visited(section: &Section) -> bool {
    section.visits > 0 || !section.episodes.is_empty()
}

fn place_figures<'a>(
    places: impl Iterator<Item = &'a (Scope, Section)>,
    is_known: impl Fn(&Scope, &Section) -> bool,
) -> PlaceFigures {
    let (mut visited, mut with_memories) = (0, 0);
    for (scope, section) in places {
        visited += 1;
        with_memories += u64::from(is_known(scope, section));
    }
    PlaceFigures { visited, with_memories, share: share(with_memories, visited) }
}

/// The cost of recalling each place alone.
fn recall_tokens<'a>(
    places: impl Iterator<Item = &'a (Scope, Section)>,
    all: &[(Scope, Section)],
    names: &PlaceNames,
    limits: &Limits,
) -> Option<TokenFigures> {
    let all: Vec<(Scope, &Section)> = all.iter().map(|(scope, section)| (scope.clone(), section)).collect();
    let game = all.iter().find(|(scope, _)| *scope == Scope::Game).map(|(_, section)| (*section).clone());
    let circumstances = Circumstances::of(&game.unwrap_or_default(), 0);
    let ends = all.iter().filter_map(|(scope, section)| match scope {
        Scope::Location(id) if !section.name.is_empty() => Some((*id, section.name.as_str())),
        _ => None,
    });
    let ends: HashMap<u64, &str> = ends.collect();
    let known = Known { linked: &all, names, ends: &ends, circumstances: &circumstances };
    let cost = |place: &(Scope, Section)| {
        let views = choose(std::slice::from_ref(place), &known, limits, Format::Text);
        estimate_tokens(&render(&views, Format::Text))
    };
    let mut costs: Vec<usize> = places.map(cost).collect();
    costs.sort_unstable();
    let max = *costs.last()?;
    Some(TokenFigures { places: costs.len() as u64, p50: costs[(costs.len() - 1) / 2], max })
}

fn episodes(sections: &[(Scope, Section)], tally: &Tally) -> Vec<EpisodeFigures> {
    let mut numbers: Vec<u64> = tally.episodes.keys().copied().collect();
    numbers.extend(sections.iter().flat_map(|(_, section)| section.episodes.iter().copied()));
    let entries = || sections.iter().flat_map(|(_, section)| &section.memories);
    numbers.extend(entries().filter_map(|memory| memory.provenance.episode));
    numbers.sort_unstable();
    numbers.dedup();
    let new: BTreeMap<u64, u64> = counts(entries().filter_map(|memory| memory.provenance.episode));
    let mut total = 0;
    let mut one = |number: u64| {
        let memories = new.get(&number).copied().unwrap_or(0);
        total += memories;
        let visited = sections.iter().filter(|(scope, section)| {
            matches!(scope, Scope::Location(_)) && section.episodes.contains(&number)
        });
        // A revised entry has the episode of its last revision; the journal has that of its first version.
        let known = |scope: &Scope, section: &Section| {
            let named = section.memories.iter().filter_map(|memory| memory.provenance.episode);
            let since = known_since(scope, tally);
            named.chain(since).any(|episode| episode <= number)
        };
        let places = place_figures(visited, known);
        let played = tally.episodes.get(&number).cloned().unwrap_or_default();
        EpisodeFigures {
            episode: number,
            memories,
            memories_total: total,
            places,
            repeated_share: share(played.repeated_no_effect, played.turns),
            ..played
        }
    };
    numbers.into_iter().map(&mut one).collect()
}

fn known_since(scope: &Scope, tally: &Tally) -> Option<u64> {
    let Scope::Location(id) = scope else { return None };
    tally.known_since.get(id).copied()
}

fn counts<K: Ord>(keys: impl Iterator<Item = K>) -> BTreeMap<K, u64> {
    let mut counts = BTreeMap::new();
    for key in keys {
        *counts.entry(key).or_default() += 1;
    }
    counts
}

fn share(part: u64, whole: u64) -> Option<f64> {
    // Four digits are enough for a reader and keep the JSON short.
    (whole > 0).then(|| (part as f64 / whole as f64 * 10_000.0).round() / 10_000.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::entry::Entry;

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
        let tally = (tally, &Damage::default());
        stats("m".to_owned(), &lasting, &session, tally, &Limits::default(), "2026-01-31T10:40:00Z")
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
            (Tally::default(), &Damage::default()),
            &Limits::default(),
            "2026-01-31T10:40:00Z",
        );
        assert_eq!((figures.avg_importance, figures.recall_tokens, figures.top_location), (None, None, None));
        assert!(figures.episodes.is_empty() && figures.turns.repeated_share.is_none());
    }
}

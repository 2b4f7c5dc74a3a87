//! The counts of a memory file as a table: visits, tries and walks.
//!
//! A table leaves, and enters again with other numbers: only the lines whose number is another one change. A line that
//! the table lacks goes. Programs that keep sums of several files read and write them here.

use std::collections::BTreeMap;

use crate::region::RegionKind;
use crate::tree::Document;
use crate::types::{Attempt, Scope, Way};
use crate::visits::Visits;

/// The counts of sections by scope; within a section by what is counted, such as `tried open door`.
pub type Counts = BTreeMap<String, BTreeMap<String, i64>>;

/// The name of the visits of a section.
const VISITS: &str = "visits";

/// Adds a number of times the counts of another table.
pub fn add_counts(sum: &mut Counts, other: &Counts, times: i64) {
    for (scope, counts) in other {
        let of_scope = sum.entry(scope.clone()).or_default();
        for (key, count) in counts {
            let own = of_scope.entry(key.clone()).or_default();
            *own = own.saturating_add(count.saturating_mul(times));
        }
        of_scope.retain(|_, count| *count != 0);
    }
    sum.retain(|_, counts| !counts.is_empty());
}

impl Document {
    /// The counts of all sections.
    pub fn counts(&self) -> Counts {
        let mut all = Counts::new();
        for scope in self.scopes() {
            let Some(section) = self.section_without_memories(&scope) else { continue };
            let number = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
            let mut counts = BTreeMap::from([(VISITS.to_owned(), number(section.visits))]);
            for kind in RegionKind::ACTIONS {
                let counted = |attempt: &Attempt| (action_key(&scope, kind, attempt), number(attempt.count));
                counts.extend(section.attempts(kind).iter().map(counted));
            }
            counts.extend(section.ways.iter().map(|way| (way_key(way), number(way.count))));
            counts.retain(|_, count| *count != 0);
            if !counts.is_empty() {
                all.insert(scope.to_string(), counts);
            }
        }
        all
    }

    /// Gives every line of evidence its count of a table. A line whose count is not above 0 goes.
    pub fn set_counts(&mut self, table: &Counts) {
        let none = BTreeMap::new();
        let is = self.counts();
        for scope in self.scopes() {
            let key = scope.to_string();
            let (is, wanted) = (is.get(&key).unwrap_or(&none), table.get(&key).unwrap_or(&none));
            let differs =
                |(key, count): (&String, &i64)| wanted.get(key).copied().unwrap_or(0).max(0) != *count;
            if is.iter().any(differs) {
                self.set_counts_of(&scope, wanted);
            }
        }
    }

    fn set_counts_of(&mut self, scope: &Scope, wanted: &BTreeMap<String, i64>) {
        let wanted = |key: &str| u64::try_from(wanted.get(key).copied().unwrap_or(0)).unwrap_or(0);
        let blocks: Vec<usize> = self.blocks_of(scope).collect();
        let Some(section) = self.section_without_memories(scope) else { return };
        if section.visits != wanted(VISITS) {
            self.set_visits_of(&blocks, wanted(VISITS));
        }
        let is_gone = |way: &Way| wanted(&way_key(way)) == 0;
        if section.ways.iter().any(is_gone) {
            self.remove_ways(&blocks, is_gone);
        }
        let count = |way: &Way| Way { count: wanted(&way_key(way)), ..way.clone() };
        let ways: Vec<Way> = section.ways.iter().map(count).filter(|way| way.count > 0).collect();
        if ways.iter().any(|way| !section.ways.contains(way)) {
            self.put_ways(&blocks, &ways);
        }
        for kind in RegionKind::ACTIONS {
            let key = |attempt: &Attempt| action_key(scope, kind, attempt);
            let is_other = |attempt: &&Attempt| attempt.count != wanted(&key(attempt));
            let others: Vec<&Attempt> = section.attempts(kind).iter().filter(is_other).collect();
            if others.is_empty() {
                continue;
            }
            self.edit_attempts(&blocks, kind, |lists| {
                for attempt in others {
                    let own = attempt.key(scope);
                    match wanted(&key(attempt)) {
                        0 => drop(lists.remove(|other| other.key(scope) == own)),
                        count => lists.set_count(&own, count),
                    }
                }
            });
        }
    }

    /// The first of several sections gets what the others do not have.
    fn set_visits_of(&mut self, blocks: &[usize], count: u64) {
        let mut left = count;
        for &block in blocks.iter().rev() {
            let Some((visits, _)) = self.parsed(block).visits.clone() else { continue };
            let own = if block == blocks[0] { left } else { visits.count.min(left) };
            left -= own;
            if own != visits.count {
                self.set_visits(block, &Visits { count: own, ..visits });
            }
        }
    }

    /// Removes visits, actions and ways.
    pub fn remove_evidence(&mut self) {
        for block in 0..self.blocks().len() {
            if self.blocks()[block].heading.is_some() {
                let parsed = self.parsed(block);
                let lists = RegionKind::PARTS.iter().flat_map(|(kind, _)| parsed.list(*kind));
                let visits = parsed.visits.iter().map(|(_, range)| range.clone());
                self.remove_ranges(block, visits.chain(lists).collect());
            }
        }
    }

    /// The scopes of all sections, each once.
    fn scopes(&self) -> Vec<Scope> {
        let mut scopes: Vec<Scope> = self.headings().map(|heading| heading.scope.clone()).collect();
        scopes.sort();
        scopes.dedup();
        scopes
    }
}

fn action_key(scope: &Scope, kind: RegionKind, attempt: &Attempt) -> String {
    format!("{} {}", kind.name().to_lowercase(), attempt.key(scope))
}

fn way_key(way: &Way) -> String {
    let (action, to) = way.key();
    format!("way {to} {action}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# Location Memories\n\n## Location 1: Hall\n**Visits:** 2 | **Episodes:** 1 (T3), 2\n\nMine.\n\n### Ways\n\n\
        - `climb` → [B](#location-2-b) ×2\n- `jump` → [C](#location-3-c)\n\n### Tried\n\n- `push` ×2 *(Ep1, T4)*, `pull` *(T4)*: No.\n- `wave` \
        *(Ep1, T5)*: Yes?\n\n---\n\n## World\n\nNothing.\n";

    #[test]
    fn a_text_with_its_own_counts_is_the_same_and_others_change_their_lines() {
        let mut document = Document::parse(TEXT.to_owned());
        let mut counts = document.counts();
        assert_eq!(counts["location:1"]["tried push"], 2);
        document.set_counts(&counts);
        assert!(!document.is_edited());
        let more = Counts::from([(
            "location:1".to_owned(),
            [("visits", 3), ("way 2 climb", 1), ("way 3 jump", -1), ("tried push", 1), ("tried wave", -5)]
                .map(|(key, count)| (key.to_owned(), count))
                .into(),
        )]);
        add_counts(&mut counts, &more, 1);
        document.set_counts(&counts);
        let expected = TEXT
            .replace("**Visits:** 2", "**Visits:** 5")
            .replace("×2\n- `jump` → [C](#location-3-c)\n", "×3\n")
            .replace("`push` ×2", "`push` ×3")
            .replace("- `wave` *(Ep1, T5)*: Yes?\n", "");
        assert_eq!(document.into_text().unwrap(), expected);
    }

    #[test]
    fn evidence_goes_and_the_rest_stays() {
        let mut document = Document::parse(TEXT.to_owned());
        document.remove_evidence();
        let text = document.into_text().unwrap();
        assert!(Document::parse(text.clone()).counts().is_empty(), "{text}");
        assert!(text.contains("Mine.") && text.contains("Nothing."));
    }
}

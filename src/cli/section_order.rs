//! Orders of the sections of a file, for commands that print them all.

use std::cmp::Reverse;

use serde::Serialize;
use strum::VariantNames as _;

use memories_document::types::{Moment, Scope, fold_title, unknown_name};
use memories_document::{Document, Section};

/// Orders of places; other sections follow in the order of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, strum::EnumString, strum::VariantNames)]
#[strum(serialize_all = "snake_case", parse_err_ty = String, parse_err_fn = unknown_order)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Order {
    /// By the first visit; places of which it is not known follow, by the earliest mark of what they hold.
    #[default]
    Visit,
    /// By id.
    Id,
    /// By name; places without a name come last.
    Name,
}

fn unknown_order(text: &str) -> String {
    unknown_name(text, "sort order", Order::VARIANTS)
}

/// Calls `make` with each section of a file, and returns the results in an order of the sections. Only one section is
/// in memory at a time.
pub(crate) fn arranged<T>(document: &Document, order: Order, make: impl Fn(Scope, Section) -> T) -> Vec<T> {
    let keyed = document.each_section().map(|(scope, section)| {
        let key = match scope {
            Scope::Location(id) => (false, key(&section, order), id),
            _ => (true, PlaceKey::Id, 0),
        };
        (key, make(scope, section))
    });
    let mut keyed: Vec<_> = keyed.collect();
    keyed.sort_by(|(one, _), (other, _)| one.cmp(other));
    keyed.into_iter().map(|(_, made)| made).collect()
}

/// Sort key of a place; of equal ones the id decides.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum PlaceKey {
    Id,
    /// Known first visits come first; an unknown turn is later than all others of its episode.
    Visit(Reverse<bool>, u64, u64),
    Name(bool, String),
}

fn key(section: &Section, order: Order) -> PlaceKey {
    match order {
        Order::Id => PlaceKey::Id,
        Order::Name => PlaceKey::Name(section.name.is_empty(), fold_title(&section.name)),
        Order::Visit => {
            let first = section.first_visit.as_ref().map(|Moment { episode, turn, .. }| (*episode, *turn));
            let known = first.filter(|(episode, _)| episode.is_some());
            let (episode, turn) = known.or_else(|| earliest_mark(section)).unwrap_or_default();
            PlaceKey::Visit(Reverse(known.is_some()), episode.unwrap_or(u64::MAX), turn.unwrap_or(u64::MAX))
        }
    }
}

/// The earliest episode and turn of the memories, actions, ways and episodes of a section.
fn earliest_mark(section: &Section) -> Option<(Option<u64>, Option<u64>)> {
    let fields = section.memories.iter().map(|memory| &memory.provenance);
    let memories = fields.map(|fields| (fields.episode, fields.turns.map(|turns| turns.first)));
    let actions = section.tried.iter().chain(&section.worked).map(|tried| (tried.episode, tried.turn));
    let ways = section.ways.iter().map(|way| (way.episode, way.turn));
    let episodes = section.episodes.iter().map(|episode| (Some(*episode), None));
    let marks = memories.chain(actions).chain(ways).chain(episodes);
    marks
        .filter(|(episode, _)| episode.is_some())
        .min_by_key(|(episode, turn)| (*episode, turn.unwrap_or(u64::MAX)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(text: &str, order: Order) -> Vec<String> {
        arranged(&Document::parse(text.to_owned()), order, |scope, _| scope.to_string())
    }

    #[test]
    fn places_stand_in_the_order_of_the_first_visit() {
        let text = "\
            ## World\n\n## Location 1: B\n\n## Location 2: c\n**Visits:** 1 | **Episodes:** 1\n\n\
            ## Location 3: A\n\n### Tried\n\n- `up` *(Ep1, T9)*: No.\n\n\
            ## Location 4\n**Visits:** 2 | **Episodes:** 2 (T1)\n\n\
            ## Location 5: a\n**Visits:** 2 | **Episodes:** 1 (T30)\n\n\
            ## Location 6: D\n\n### Memories\n\n**[NOTE] x** *(Ep1, T3-4)*\n\n**[NOTE] y** *(Ep1, T2)*\n";
        let place = |id: &u64| format!("location:{id}");
        let with_world =
            |ids: [u64; 6]| ids.iter().map(place).chain(["world".to_owned()]).collect::<Vec<_>>();
        assert_eq!(ids(text, Order::Visit), with_world([5, 4, 6, 3, 2, 1]));
        assert_eq!(ids(text, Order::Id), with_world([1, 2, 3, 4, 5, 6]));
        assert_eq!(ids(text, Order::Name), with_world([3, 5, 1, 2, 6, 4]));
    }
}

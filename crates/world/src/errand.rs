//! The shortest known way to a goal that no run leads to: a place, or something that was done at one.
//!
//! A map, the sections of its file and a goal enter; actions leave, each with the place where it is taken.

use crate::graph::Graph;
use crate::search::{Paths, actions};
use memories_document::KnownSection;
use memories_document::types::{Scope, fold_action};

/// An action, and the id of the place where it is taken.
pub(super) type Taken = (String, u64);

/// The known actions from a place to a goal: a place by its id or name, else the nearest place where an action that says
/// the words worked, and this action; taking a thing comes before other deeds. `None` where none is known.
pub(super) fn errand(
    graph: &Graph<'_>,
    sections: &[KnownSection<'_>],
    start: u64,
    goal: &str,
) -> Option<Vec<Taken>> {
    let paths = Paths::from(graph, graph.find(start)?);
    let way_to = |place: u64| -> Option<Vec<Taken>> {
        let steps = paths.to(graph.find(place)?)?;
        let of_step = |step| {
            let (at, _) = step;
            actions(&[step]).into_iter().map(move |action| (action.to_owned(), graph.places[at].id))
        };
        Some(steps.into_iter().flat_map(of_step).collect())
    };
    let folded = fold_action(goal);
    let is_place = |id: u64| id.to_string() == goal || fold_action(graph.place_name(id)) == folded;
    let places = graph.places.iter().map(|place| place.id).filter(|id| is_place(*id));
    if let Some(way) = places.filter_map(way_to).min_by_key(Vec::len) {
        return Some(way);
    }
    let mut deeds: Vec<(bool, Vec<Taken>)> = Vec::new();
    for section in sections {
        let Scope::Location(place) = section.scope else { continue };
        for done in section.worked.iter().flat_map(|tries| tries.attempts().into_owned()) {
            let action = fold_action(&done.action);
            if format!(" {action} ").contains(&format!(" {folded} "))
                && let Some(mut way) = way_to(place)
            {
                way.push((done.action, place));
                deeds.push((!action.starts_with("take "), way));
            }
        }
    }
    deeds.into_iter().min_by_key(|(is_other, way)| (*is_other, way.len())).map(|(_, way)| way)
}

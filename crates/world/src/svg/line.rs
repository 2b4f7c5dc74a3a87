//! Lines between places: their form, their marks and their texts.

use crate::graph::{Edge, Graph};
use crate::layout::LaidWay;
use crate::lines::Pair;
use crate::report::with_notes;
use crate::svg::page::{CELL, Out, number, point};
use memories_document::types::direction::Direction;

/// Radius of the bends, in pixels.
const BEND: f64 = 9.0;

/// A reason to distrust a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Doubt {
    None,
    /// Refused before or since, or it leads to several places.
    Doubtful,
    Deadly,
}

/// A line, and how it is walked.
pub(super) struct Drawn {
    pub class: String,
    pub doubt: Doubt,
    /// True if it led elsewhere the last time.
    pub is_old: bool,
    /// True if it was walked one way only.
    pub is_one_way: bool,
}

/// How the line of two places is drawn.
pub(super) fn drawn(pair: &Pair<'_>, is_between_levels: bool) -> Drawn {
    let is_walked = |edges: &[&Edge]| edges.iter().any(|edge| edge.is_current);
    let is_old = !is_walked(&pair.there) && !is_walked(&pair.back);
    let (there, back) = if is_old {
        (!pair.there.is_empty(), !pair.back.is_empty())
    } else {
        (is_walked(&pair.there), is_walked(&pair.back))
    };
    let doubt = if is_old { Doubt::None } else { doubt(&pair.there).max(doubt(&pair.back)) };
    let mut class = String::from("way");
    for (name, is_so) in [
        (" old", is_old),
        (" far", is_between_levels),
        (" doubt", doubt == Doubt::Doubtful),
        (" deadly", doubt == Doubt::Deadly),
    ] {
        if is_so {
            class.push_str(name);
        }
    }
    Drawn { class, doubt, is_old, is_one_way: there != back }
}

/// The reason to distrust the best of several ways to one place.
fn doubt(edges: &[&Edge]) -> Doubt {
    let of = |edge: &&Edge| match () {
        () if edge.is_deadly => Doubt::Deadly,
        () if edge.refused.is_some() || !edge.elsewhere.is_empty() => Doubt::Doubtful,
        () => Doubt::None,
    };
    edges.iter().filter(|edge| edge.is_current).map(of).min().unwrap_or(Doubt::None)
}

/// Draws the line, its arrow and its title.
pub(super) fn draw(out: &mut Out, graph: &Graph<'_>, pair: &Pair<'_>, way: &LaidWay, drawn: &Drawn) {
    let mut points: Vec<(f64, f64)> = way.points.iter().map(|at| point(*at)).collect();
    let forward = pair.there.iter().any(|edge| edge.is_current || drawn.is_old);
    if drawn.is_one_way && !forward {
        points.reverse();
    }
    out.open(&format!("<g class=\"{}\">", drawn.class));
    out.title(&told(graph, pair));
    let head = (drawn.is_one_way || pair.from == pair.to).then(|| arrow(&mut points));
    out.line(&format!("<path class=\"line\" d=\"{}\"/>", path(&points)));
    if let Some(head) = head {
        out.line(&format!("<path class=\"head\" d=\"{head}\"/>"));
    }
    out.close("</g>");
}

/// The mark in the middle of a line that is not safe, and the words at its ends that are no compass points.
pub(super) fn draw_marks(out: &mut Out, pair: &Pair<'_>, way: &LaidWay, drawn: &Drawn) {
    let points: Vec<(f64, f64)> = way.points.iter().map(|at| point(*at)).collect();
    if drawn.doubt != Doubt::None {
        let (x, y) = middle(&points);
        let (class, sign) =
            if drawn.doubt == Doubt::Deadly { ("mark deadly", "×") } else { ("mark doubt", "!") };
        let (x, y, base) = (number(x), number(y), number(y + 4.0));
        out.line(&format!(
            "<g class=\"{class}\"><circle cx=\"{x}\" cy=\"{y}\" r=\"7\"/><text x=\"{x}\" y=\"{base}\">{sign}</text></g>"
        ));
    }
    let ends = [
        (&pair.there, points.first(), points.get(1)),
        (&pair.back, points.last(), points.iter().rev().nth(1)),
    ];
    for (edges, at, next) in ends {
        let (Some(at), Some(next)) = (at, next) else { continue };
        let is_compass = |edge: &&&Edge| edge.direction.and_then(Direction::vector).is_some();
        if edges.is_empty() || edges.iter().any(|edge| is_compass(&edge)) {
            continue;
        }
        let best = edges.iter().find(|edge| edge.direction.is_some() && edge.is_current).unwrap_or(&edges[0]);
        let word = best
            .direction
            .map_or_else(|| best.way.action.to_string(), |direction| direction.name().to_owned());
        let word = super::label::cut(&word, 10.0, CELL.0 * 0.5);
        let (x, y, anchor) = match (next.0 - at.0, next.1 - at.1) {
            (x, y) if y < 0.0 && y.abs() >= x.abs() => (at.0 + 4.0, at.1 - 4.0, "start"),
            (x, y) if y > 0.0 && y.abs() >= x.abs() => (at.0 + 4.0, at.1 + 11.0, "start"),
            (x, _) if x > 0.0 => (at.0 + 4.0, at.1 - 4.0, "start"),
            _ => (at.0 - 4.0, at.1 - 4.0, "end"),
        };
        let (x, y) = (number(x), number(y));
        out.text(
            &format!("<text class=\"word\" x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\">"),
            &word,
            "</text>",
        );
    }
}

/// The ways in words: `Kitchen → Attic: up (refused without lamp)`.
fn told(graph: &Graph<'_>, pair: &Pair<'_>) -> String {
    let mut lines = Vec::new();
    for (edges, from, to) in [(&pair.there, pair.from, pair.to), (&pair.back, pair.to, pair.from)] {
        if edges.is_empty() {
            continue;
        }
        let told = edges.iter().map(|edge| {
            let notes =
                if edge.is_current { graph.notes(edge) } else { "led elsewhere the last time".to_owned() };
            with_notes(&edge.way.action, &notes)
        });
        let told: Vec<String> = told.collect();
        lines.push(format!("{} → {}: {}", graph.label(from), graph.label(to), told.join(", ")));
    }
    lines.join("; ")
}

/// A path with rounded bends.
fn path(points: &[(f64, f64)]) -> String {
    let at = |(x, y): (f64, f64)| format!("{} {}", number(x), number(y));
    let mut path = String::new();
    for (index, here) in points.iter().enumerate() {
        let (before, after) = (index.checked_sub(1).map(|before| points[before]), points.get(index + 1));
        match (before, after) {
            (None, _) => path.push_str(&format!("M{}", at(*here))),
            (Some(_), None) => path.push_str(&format!("L{}", at(*here))),
            (Some(before), Some(after)) => {
                let (first, second) = (towards(*here, before, BEND), towards(*here, *after, BEND));
                path.push_str(&format!("L{}Q{} {}", at(first), at(*here), at(second)));
            }
        }
    }
    path
}

/// The point at a distance from one point to another, at most half-way.
fn towards(from: (f64, f64), to: (f64, f64), distance: f64) -> (f64, f64) {
    let length = (to.0 - from.0).hypot(to.1 - from.1);
    let share = if length == 0.0 { 0.0 } else { (distance / length).min(0.5) };
    (from.0 + (to.0 - from.0) * share, from.1 + (to.1 - from.1) * share)
}

/// The head at the end of a line, which is shortened to make room for it.
fn arrow(points: &mut [(f64, f64)]) -> String {
    let [.., before, tip] = points else { return String::new() };
    let length = (tip.0 - before.0).hypot(tip.1 - before.1).max(0.01);
    let (x, y) = ((tip.0 - before.0) / length, (tip.1 - before.1) / length);
    let (long, wide) = (9.0_f64.min(length), 4.0);
    let base = (tip.0 - x * long, tip.1 - y * long);
    let corner =
        |side: f64| format!("{} {}", number(base.0 - y * wide * side), number(base.1 + x * wide * side));
    let head = format!("M{} {}L{}L{}Z", number(tip.0), number(tip.1), corner(1.0), corner(-1.0));
    *tip = (base.0 + x, base.1 + y);
    head
}

/// The point half-way along a line.
fn middle(points: &[(f64, f64)]) -> (f64, f64) {
    let lengths = points.windows(2).map(|pair| (pair[1].0 - pair[0].0).hypot(pair[1].1 - pair[0].1));
    let mut left = lengths.clone().sum::<f64>() / 2.0;
    for (pair, length) in points.windows(2).zip(lengths) {
        if left <= length && length > 0.0 {
            let share = left / length;
            return (
                pair[0].0 + (pair[1].0 - pair[0].0) * share,
                pair[0].1 + (pair[1].1 - pair[0].1) * share,
            );
        }
        left -= length;
    }
    points.first().copied().unwrap_or_default()
}

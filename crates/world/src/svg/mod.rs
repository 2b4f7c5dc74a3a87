//! The map as a picture: SVG that needs nothing else, light or dark as the reader prefers.

mod key;
mod label;
mod line;
mod page;

use crate::graph::Graph;
use crate::layout::{HALF_HEIGHT, HALF_WIDTH, LaidLevel, LaidPlace, Layout, Port};
use crate::lines::{Pair, pairs};
use crate::report::counted;
use crate::svg::key::Key;
use crate::svg::label::{cut, estimate, wrap};
use crate::svg::line::Drawn;
use crate::svg::page::{CELL, Out, STYLE, number, point};
use memories_document::types::direction::Direction;

/// Size of the letters of names, in pixels.
const FONT: f64 = 12.5;

/// Distance of lines of a name, in pixels.
const LEADING: f64 = 15.0;

/// Length of a stub in pixels.
const STUB: f64 = 10.0;

/// Space around the picture in pixels.
const MARGIN: f64 = 34.0;

/// Space at the bottom for the key, in pixels a row.
const KEY_ROW: f64 = 24.0;

/// Draws the map.
pub(super) fn draw(graph: &Graph<'_>) -> String {
    let (layout, pairs) = (graph.layout(), pairs(graph));
    let level_of: Vec<usize> = layout.places.iter().map(|place| place.level).collect();
    let drawn: Vec<Drawn> =
        pairs.iter().map(|pair| line::drawn(pair, level_of[pair.from] != level_of[pair.to])).collect();
    let mut out = Out::default();
    let key = Key::of(graph, &drawn);
    let extent = |end: fn(&LaidLevel) -> i32| f64::from(layout.levels.iter().map(end).max().unwrap_or(1));
    let (right, bottom) = (extent(|level| level.x + level.width), extent(|level| level.y + level.height));
    let width = right * CELL.0 + 2.0 * MARGIN;
    let rows = key.rows(width - 2.0 * MARGIN);
    let height = bottom * CELL.1 + 2.0 * MARGIN + rows as f64 * KEY_ROW;
    // The first cell's middle is 0, 0.
    let (left, top) = (-CELL.0 / 2.0 - MARGIN, -CELL.1 / 2.0 - MARGIN);
    let [left_text, top_text, width_text, height_text] = [left, top, width, height].map(number);
    out.open(&format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width_text}\" height=\"{height_text}\" \
         viewBox=\"{left_text} {top_text} {width_text} {height_text}\" role=\"graphics-document document\" \
         aria-labelledby=\"title desc\">"
    ));
    out.text("<title id=\"title\">", &titled(graph), "</title>");
    out.text("<desc id=\"desc\">", &described(&pairs, &layout), "</desc>");
    out.line(&format!("<style>\n{STYLE}</style>"));
    let [x, y, wide, high] = [-HALF_WIDTH, -HALF_HEIGHT, 2.0 * HALF_WIDTH, 2.0 * HALF_HEIGHT];
    let ((x, y), (wide, high)) = (point([x, y]), point([wide, high]));
    let [x, y, wide, high] = [x, y, wide, high].map(number);
    let bounds = format!("x=\"{x}\" y=\"{y}\" width=\"{wide}\" height=\"{high}\"");
    out.line(&format!("<clipPath id=\"inside\"><rect {bounds}/></clipPath>"));
    out.line(&format!(
        "<rect class=\"sheet\" x=\"{left_text}\" y=\"{top_text}\" width=\"{width_text}\" height=\"{height_text}\"/>"
    ));
    if layout.levels.len() > 1 {
        draw_frames(&mut out, &layout);
    }
    let ways = || pairs.iter().zip(&layout.ways).zip(&drawn);
    ways().for_each(|((pair, way), drawn)| line::draw(&mut out, graph, pair, way, drawn));
    let mut ends: Vec<Vec<[f64; 2]>> = vec![Vec::new(); graph.places.len()];
    for (pair, way) in pairs.iter().zip(&layout.ways) {
        ends[pair.from].extend(way.points.first());
        ends[pair.to].extend(way.points.last());
    }
    for (at, laid) in layout.places.iter().enumerate() {
        draw_stubs(&mut out, graph, at, laid, &ends[at]);
    }
    for (at, laid) in layout.places.iter().enumerate() {
        draw_place(&mut out, graph, at, laid, &bounds);
    }
    ways().for_each(|((pair, way), drawn)| line::draw_marks(&mut out, pair, way, drawn));
    if layout.levels.len() > 1 {
        draw_captions(&mut out, graph, &layout);
    }
    key.draw(&mut out, left + MARGIN, top + height - MARGIN - rows as f64 * KEY_ROW, width - 2.0 * MARGIN);
    out.close("</svg>");
    out.finish()
}

fn titled(graph: &Graph<'_>) -> String {
    format!("Map of {}", counted(graph.places.len(), "place"))
}

fn described(pairs: &[Pair<'_>], layout: &Layout) -> String {
    let ways = pairs.iter().map(|pair| pair.there.len() + pair.back.len()).sum();
    let (ways, levels) = (counted(ways, "way"), counted(layout.levels.len(), "level"));
    format!(
        "North is up. {ways} on {levels}. Each place and each line has a title that says what is known of it."
    )
}

/// Space within the frame of a level around its cells in pixels, and above them, where its caption is.
const FRAME: (f64, f64) = (12.0, 22.0);

fn draw_frames(out: &mut Out, layout: &Layout) {
    for level in &layout.levels {
        let (x, y) = point([f64::from(level.x) - 0.5, f64::from(level.y) - 0.5]);
        let (width, height) = point([f64::from(level.width), f64::from(level.height)]);
        let [left, top] = [x - FRAME.0, y - FRAME.1].map(number);
        let [wide, high] = [width + 2.0 * FRAME.0, height + FRAME.0 + FRAME.1].map(number);
        out.line(&format!(
            "<rect class=\"level\" x=\"{left}\" y=\"{top}\" width=\"{wide}\" height=\"{high}\" rx=\"14\"/>"
        ));
    }
}

fn draw_captions(out: &mut Out, graph: &Graph<'_>, layout: &Layout) {
    for level in &layout.levels {
        let (x, y) = point([f64::from(level.x) - 0.5, f64::from(level.y) - 0.5]);
        let (width, _) = point([f64::from(level.width), 0.0]);
        let (how, size) = caption(graph, layout, level);
        let whole = format!("{how} · {size}");
        let caption = if estimate(&whole, 11.0) <= width { whole } else { cut(&how, 11.0, width + FRAME.0) };
        let [left, base] = [x - 2.0, y - 6.0].map(number);
        out.text(&format!("<text class=\"caption\" x=\"{left}\" y=\"{base}\">"), &caption, "</text>");
    }
}

/// The number of a level and how it is reached, and its size: `2 · down from Living Room`, `25 places`.
fn caption(graph: &Graph<'_>, layout: &Layout, level: &LaidLevel) -> (String, String) {
    let level_of = |at: usize| layout.places[at].level;
    let enters = graph
        .edges()
        .filter(|(from, edge)| level_of(edge.to) == level.level && level_of(*from) != level.level);
    // The way from the largest level, and if possible one that is walked by direction.
    let best =
        enters.min_by_key(|(from, edge)| (!edge.is_current, level_of(*from), edge.direction.is_none()));
    let places = layout.places.iter().filter(|place| place.level == level.level).count();
    let mut how = (level.level + 1).to_string();
    if let Some((from, edge)) = best.filter(|_| level.level > 0) {
        let action = edge.direction.map_or(&*edge.way.action, |direction| direction.name());
        how.push_str(&format!(" · {action} from {}", graph.label(from)));
    }
    (how, counted(places, "place"))
}

/// The directions that were refused at a place, or never tried, unless a line is there.
fn draw_stubs(out: &mut Out, graph: &Graph<'_>, at: usize, laid: &LaidPlace, ends: &[[f64; 2]]) {
    let place = &graph.places[at];
    if !place.is_visited {
        return;
    }
    let (mut untried, mut refused, mut deadly) = (String::new(), String::new(), String::new());
    let open: Vec<Direction> = graph.untried(at).collect();
    for direction in Direction::ALL {
        let port = Port::of(direction);
        let edge = port.point((laid.x, laid.y));
        if ends.iter().any(|end| (end[0] - edge[0]).abs() < 0.03 && (end[1] - edge[1]).abs() < 0.03) {
            continue;
        }
        let (x, y) = point(edge);
        let step = [f64::from(port.step.0), f64::from(port.step.1)];
        let length = step[0].hypot(step[1]);
        let (across, down) = (step[0] / length, step[1] / length);
        let (end_x, end_y) = (x + across * STUB, y + down * STUB);
        let stub = format!("M{} {}L{} {}", number(x), number(y), number(end_x), number(end_y));
        let bar = |half: f64| {
            let [one_x, one_y] = [end_x - down * half, end_y + across * half].map(number);
            let [other_x, other_y] = [end_x + down * half, end_y - across * half].map(number);
            format!("M{one_x} {one_y}L{other_x} {other_y}")
        };
        if open.contains(&direction) {
            untried.push_str(&stub);
        } else if place.tried.deadly.has(direction) {
            deadly.push_str(&format!("{stub}{}", bar(5.0)));
        } else if place.tried.refused.has(direction) {
            refused.push_str(&format!("{stub}{}", bar(4.0)));
        }
    }
    for (class, path) in [("stub untried", untried), ("stub refused", refused), ("stub deadly", deadly)] {
        if !path.is_empty() {
            out.line(&format!("<path class=\"{class}\" d=\"{path}\"/>"));
        }
    }
}

fn draw_place(out: &mut Out, graph: &Graph<'_>, at: usize, laid: &LaidPlace, bounds: &str) {
    let place = &graph.places[at];
    let (x, y) = point([f64::from(laid.x), f64::from(laid.y)]);
    let class = if place.is_visited { "place" } else { "place unseen" };
    out.open(&format!(
        "<g id=\"place-{}\" class=\"{class}\" role=\"graphics-symbol img\" transform=\"translate({} {})\">",
        place.id,
        number(x),
        number(y)
    ));
    let label = graph.label(at);
    out.title(&told(graph, at, &label));
    out.line(&format!("<rect class=\"box\" {bounds} rx=\"9\"/>"));
    let appended = label.strip_prefix(&*place.name).unwrap_or_default().trim();
    let name = label.strip_suffix(appended).unwrap_or(&label);
    let lines = wrap(name, appended, FONT, 2.0 * HALF_WIDTH * CELL.0 - 12.0);
    out.open("<g clip-path=\"url(#inside)\">");
    let first = 4.5 - (lines.len().max(1) - 1) as f64 * LEADING / 2.0;
    for (number_of_line, line) in lines.iter().enumerate() {
        let base = number(first + number_of_line as f64 * LEADING);
        out.text(&format!("<text class=\"name\" y=\"{base}\">"), line, "</text>");
    }
    out.close("</g>");
    out.close("</g>");
}

/// The whole name, and the directions without a way.
fn told(graph: &Graph<'_>, at: usize, label: &str) -> String {
    let place = &graph.places[at];
    if !place.is_visited {
        return format!("{label}. Nothing is known of it.");
    }
    let names = |is_meant: &dyn Fn(Direction) -> bool| {
        let names: Vec<&str> =
            Direction::ALL.into_iter().filter(|at| is_meant(*at)).map(Direction::name).collect();
        names.join(", ")
    };
    let untried: Vec<Direction> = graph.untried(at).collect();
    let mut told = label.to_owned();
    for (what, names) in [
        ("Deadly", names(&|at| place.tried.deadly.has(at))),
        ("Refused", names(&|at| place.tried.refused.has(at) && !place.tried.deadly.has(at))),
        ("Never tried", names(&|at| untried.contains(&at))),
    ] {
        if !names.is_empty() {
            told.push_str(&format!(". {what}: {names}"));
        }
    }
    told
}

//! The key of the picture: each kind of line and stub that occurs in it.

use crate::graph::Graph;
use crate::svg::line::{Doubt, Drawn};
use crate::svg::page::{Out, number};

/// Width of an entry in pixels.
const WIDTH: f64 = 164.0;

/// Height of a row in pixels.
const ROW: f64 = 24.0;

/// The entries: an example, drawn between 0 and 34 pixels, and what it means.
pub(super) struct Key {
    entries: Vec<(&'static str, &'static str)>,
}

impl Key {
    /// The key of what is drawn.
    pub(super) fn of(graph: &Graph<'_>, drawn: &[Drawn]) -> Key {
        let any = |is_so: fn(&Drawn) -> bool| drawn.iter().any(is_so);
        let visited = || graph.places.iter().enumerate().filter(|(_, place)| place.is_visited);
        let has_refused = visited().any(|(_, place)| place.tried.refused != Default::default());
        let has_deadly = visited().any(|(_, place)| place.tried.deadly != Default::default());
        let has_untried = visited().any(|(at, _)| graph.untried(at).next().is_some());
        let known = [
            (
                any(|line| !line.is_one_way && !line.is_old),
                "<path class=\"line\" d=\"M0 0H34\"/>",
                "walked both ways",
            ),
            (
                any(|line| line.is_one_way),
                "<path class=\"line\" d=\"M0 0H26\"/><path class=\"head\" d=\"M34 0L25 -4V4Z\"/>",
                "walked one way",
            ),
            (
                any(|line| line.is_old),
                "<g class=\"old\"><path class=\"line\" d=\"M0 0H34\"/></g>",
                "led elsewhere since",
            ),
            (
                any(|line| line.doubt == Doubt::Doubtful),
                "<g class=\"doubt\"><path class=\"line\" d=\"M0 0H34\"/></g><g class=\"mark doubt\"><circle cx=\"17\" \
                 r=\"7\"/><text x=\"17\" y=\"4\">!</text></g>",
                "not always open",
            ),
            (
                any(|line| line.doubt == Doubt::Deadly),
                "<g class=\"deadly\"><path class=\"line\" d=\"M0 0H34\"/></g><g class=\"mark deadly\"><circle cx=\"17\" \
                 r=\"7\"/><text x=\"17\" y=\"4\">×</text></g>",
                "deadly the last time",
            ),
            (has_refused, "<path class=\"stub refused\" d=\"M11 0H22M22 -4V4\"/>", "refused"),
            (has_deadly, "<path class=\"stub deadly\" d=\"M11 0H22M22 -5V5\"/>", "deadly"),
            (has_untried, "<path class=\"stub untried\" d=\"M11 0H22\"/>", "never tried"),
        ];
        Key {
            entries: known
                .into_iter()
                .filter(|(occurs, ..)| *occurs)
                .map(|(_, example, text)| (example, text))
                .collect(),
        }
    }

    /// Rows that the key needs within a width.
    pub(super) fn rows(&self, width: f64) -> usize {
        self.entries.len().div_ceil(columns(width))
    }

    /// Draws the key below and to the right of a point.
    pub(super) fn draw(&self, out: &mut Out, left: f64, top: f64, width: f64) {
        for (at, (example, text)) in self.entries.iter().enumerate() {
            let (column, row) = (at % columns(width), at / columns(width));
            let [x, y] = [left + column as f64 * WIDTH, top + (row as f64 + 0.75) * ROW].map(number);
            out.line(&format!(
                "<g class=\"key\" transform=\"translate({x} {y})\">{example}<text x=\"42\" y=\"4\">{text}</text></g>"
            ));
        }
    }
}

fn columns(width: f64) -> usize {
    ((width / WIDTH) as usize).max(1)
}

//! The map as a digraph of Graphviz.

use crate::graph::Graph;
use crate::lines::lines;

/// Draws the map. A line without arrows is walked both ways; a dashed one led elsewhere the last time.
pub(super) fn draw(graph: &Graph<'_>) -> String {
    let mut out = "digraph map {\n  node [shape=box];\n".to_owned();
    for (at, place) in graph.places.iter().enumerate() {
        out.push_str(&format!("  p{} [label=\"{}\"];\n", place.id, escape(&graph.label(at))));
    }
    for line in lines(graph) {
        let (from, to) = (graph.places[line.from].id, graph.places[line.there.to].id);
        let both = if line.back.is_some() { ", dir=none" } else { "" };
        let style = if line.there.is_current { "" } else { ", style=dashed" };
        let label = escape(&line.label(graph));
        out.push_str(&format!("  p{from} -> p{to} [label=\"{label}\"{both}{style}];\n"));
    }
    out.push_str("}\n");
    out
}

/// A text within quotation marks. Graphviz reads `\` sequences and HTML entities in labels.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '&' => out.push_str("&amp;"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

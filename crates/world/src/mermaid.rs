//! The map as a Mermaid flowchart.

use crate::graph::Graph;
use crate::lines::lines;

/// Draws the map. A line without arrow is walked both ways; a dotted one led elsewhere the last time.
pub(super) fn draw(graph: &Graph<'_>) -> String {
    let mut out = "flowchart TD\n".to_owned();
    for (at, place) in graph.places.iter().enumerate() {
        out.push_str(&format!("  p{}[\"{}\"]\n", place.id, escape(&graph.label(at))));
    }
    for line in lines(graph) {
        let (from, to) = (graph.places[line.from].id, graph.places[line.there.to].id);
        let arrow = match (line.back, line.there.is_current) {
            (Some(_), _) => "---",
            (None, true) => "-->",
            (None, false) => "-.->",
        };
        out.push_str(&format!("  p{from} {arrow}|\"{}\"| p{to}\n", escape(&line.label(graph))));
    }
    out
}

/// A text within quotation marks. Mermaid reads entities, HTML, Markdown, styles and comments there, so all
/// punctuation but the harmless becomes an entity; before the first letter, where it might begin a list of
/// Markdown, all of it.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut has_begun = false;
    for c in text.chars() {
        match c {
            c if c.is_control() => out.push(' '),
            '\'' | ',' | '.' | '!' | '?' | '/' | '(' | ')' | '-' if has_begun => out.push(c),
            c if c.is_ascii_punctuation() => out.push_str(&format!("#{};", c as u32)),
            c => out.push(c),
        }
        has_begun |= c.is_alphabetic();
    }
    out
}

//! Drawings of the map.

use serde_json::{Value, json};
use strum::VariantNames as _;

use crate::graph::Graph;
use crate::{dot, mermaid, svg};
use memories_document::types::unknown_name;

/// The format of a drawing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::EnumString, strum::VariantNames)]
#[strum(serialize_all = "lowercase", parse_err_ty = String, parse_err_fn = unknown_format)]
pub enum MapFormat {
    /// A Mermaid flowchart.
    Mermaid,
    /// A digraph of Graphviz.
    Dot,
    /// All places and ways as values.
    Json,
    /// A picture, in SVG.
    Svg,
}

fn unknown_format(text: &str) -> String {
    unknown_name(text, "format", MapFormat::VARIANTS)
}

impl Graph<'_> {
    /// The map as text in a format.
    pub fn draw(&self, format: MapFormat) -> String {
        match format {
            MapFormat::Mermaid => mermaid::draw(self),
            MapFormat::Dot => dot::draw(self),
            MapFormat::Json => format!("{}\n", self.to_json()),
            MapFormat::Svg => svg::draw(self),
        }
    }

    /// All places and ways as values.
    pub fn to_json(&self) -> Value {
        let places = self.places.iter().map(|place| self.place_json(place.id));
        let ways = self.edges().map(|(from, edge)| self.way_json(from, edge));
        json!({"places": places.collect::<Value>(), "ways": ways.collect::<Value>()})
    }
}

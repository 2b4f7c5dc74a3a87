//! The picture as text: pixels, elements, style.

use memories_document::types::text::escape_xml_line;

/// Size of a cell in pixels.
pub(super) const CELL: (f64, f64) = (172.0, 112.0);

/// The picture in the making.
#[derive(Debug, Default)]
pub(super) struct Out {
    text: String,
    depth: usize,
}

impl Out {
    /// An element that is written whole.
    pub(super) fn line(&mut self, element: &str) {
        self.text.push_str(&"  ".repeat(self.depth));
        self.text.push_str(element);
        self.text.push('\n');
    }

    /// The beginning of an element that holds others.
    pub(super) fn open(&mut self, element: &str) {
        self.line(element);
        self.depth += 1;
    }

    pub(super) fn close(&mut self, element: &str) {
        self.depth -= 1;
        self.line(element);
    }

    /// An element that holds a text.
    pub(super) fn text(&mut self, begin: &str, text: &str, end: &str) {
        self.line(&format!("{begin}{}{end}", escape_xml_line(text)));
    }

    pub(super) fn title(&mut self, text: &str) {
        self.text("<title>", text, "</title>");
    }

    pub(super) fn finish(self) -> String {
        self.text
    }
}

/// The pixel of a point on the grid.
pub(super) fn point(at: [f64; 2]) -> (f64, f64) {
    (at[0] * CELL.0, at[1] * CELL.1)
}

/// A number with at most one decimal.
pub(super) fn number(value: f64) -> String {
    let rounded = (value * 10.0).round() / 10.0 + 0.0;
    format!("{rounded}")
}

/// Colours and fonts; light, and dark where the reader prefers it.
pub(super) const STYLE: &str = "\
svg { background: #faf9f6; font-family: system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif; }
.sheet { fill: #faf9f6; }
.level { fill: #f3f1ea; stroke: #e2ded2; }
.caption, .key { fill: #69655b; font-size: 11px; }
.caption { paint-order: stroke; stroke: #f3f1ea; stroke-width: 4px; }
.box { fill: #ffffff; stroke: #aaa595; stroke-width: 1.2; }
.place.unseen .box { stroke-dasharray: 3 3; }
.name { fill: #26241f; font-size: 12.5px; text-anchor: middle; }
.line { fill: none; stroke: #77736a; stroke-width: 1.6; stroke-linejoin: round; }
.head { fill: #77736a; }
.far .line { stroke: #8d99ad; stroke-width: 1.2; }
.far .head { fill: #8d99ad; }
.old .line { stroke-dasharray: 6 4; }
.doubt .line { stroke: #a86a00; }
.doubt .head { fill: #a86a00; }
.deadly .line { stroke: #b3261e; }
.deadly .head { fill: #b3261e; }
.mark circle { fill: #faf9f6; stroke-width: 1.4; }
.mark text { font-size: 11px; font-weight: 700; text-anchor: middle; }
.mark.doubt circle { stroke: #a86a00; }
.mark.doubt text { fill: #8a5700; }
.mark.deadly circle { stroke: #b3261e; }
.mark.deadly text { fill: #b3261e; }
.word { fill: #565247; font-size: 10px; paint-order: stroke; stroke: #f3f1ea; stroke-width: 3px; }
.stub { fill: none; stroke: #9a9588; stroke-width: 1.3; }
.stub.deadly { stroke: #b3261e; }
.stub.untried { stroke: #a9a497; stroke-width: 1.6; stroke-linecap: round; stroke-dasharray: 0.1 3.6; }
@media (prefers-color-scheme: dark) {
svg { background: #16181c; }
.sheet { fill: #16181c; }
.level { fill: #1c1f24; stroke: #2d3138; }
.caption, .key { fill: #a3a8b1; }
.caption { stroke: #1c1f24; }
.box { fill: #272b32; stroke: #565d69; }
.name { fill: #eceae4; }
.line { stroke: #8b929e; }
.stub { stroke: #747b87; }
.head { fill: #8b929e; }
.far .line { stroke: #6b7a94; }
.far .head { fill: #6b7a94; }
.doubt .line { stroke: #e0a63c; }
.doubt .head { fill: #e0a63c; }
.deadly .line, .stub.deadly { stroke: #f2776e; }
.deadly .head { fill: #f2776e; }
.mark circle { fill: #16181c; }
.mark.doubt circle { stroke: #e0a63c; }
.mark.doubt text { fill: #e0a63c; }
.mark.deadly circle { stroke: #f2776e; }
.mark.deadly text { fill: #f2776e; }
.word { fill: #b9bdc5; stroke: #1c1f24; }
.stub.untried { stroke: #5f6672; }
}
";

//! Colours of answers: which parts of a line of text a person should see first.
//!
//! A line enters, and the parts with their styles leave, in the order of the line. Without the codes the text is the
//! same, so a command writes one text for people and programs.

use std::fmt::Write;
use std::ops::Range;

use anstyle::{AnsiColor, Style};

use memories_document::types::unseen::visible;

/// A part of a line, in bytes, with its style.
pub(crate) type Span = (Range<usize>, Style);

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const RED: Style = AnsiColor::Red.on_default();
const GREEN: Style = AnsiColor::Green.on_default();
const YELLOW: Style = AnsiColor::Yellow.on_default();
const MAGENTA: Style = AnsiColor::Magenta.on_default();
const CYAN: Style = AnsiColor::Cyan.on_default();

/// The text with the codes of its parts; what a terminal would obey in it is made visible.
pub(crate) fn painted(text: &str, parts: &[Span]) -> String {
    let mut out = String::with_capacity(text.len() + 16 * parts.len());
    let mut at = 0;
    for (part, style) in parts.iter().filter(|(part, _)| !part.is_empty()) {
        let (gap, part_text) = (visible(&text[at..part.start]), visible(&text[part.clone()]));
        // A string takes all that is written to it.
        let _ = write!(out, "{gap}{style}{part_text}{style:#}");
        at = part.end;
    }
    out.push_str(&visible(&text[at..]));
    out
}

/// A line of the memory file.
pub(crate) fn markdown(line: &str) -> Vec<Span> {
    if line.starts_with('#') || line.starts_with("**Visits:**") {
        return vec![(0..line.len(), BOLD)];
    }
    if line == "---" || line.starts_with("<!--") {
        return vec![(0..line.len(), DIM)];
    }
    let Some(head) = line.strip_prefix("**[") else {
        // The fields behind an item of a list.
        let fields = line.rfind(" *(").filter(|_| line.starts_with("- "));
        return fields.map(|at| (at + 1..line.len(), DIM)).into_iter().collect();
    };
    let (Some(tag), Some(title)) = (head.find(']'), head.find("**")) else { return Vec::new() };
    let (tag, title) = (tag + 4, title + 5);
    if tag >= title {
        return Vec::new();
    }
    vec![(0..tag, of_category(&head[..tag - 4])), (tag..title, BOLD), (title..line.len(), DIM)]
}

/// A line of `recall`: memories begin with their category, lists with a label.
pub(crate) fn recall(line: &str) -> Vec<Span> {
    const LABELS: [&str; 5] = ["Ways", "Worked here", "Tried here", "Never tried here", "Not understood"];
    if line.contains(" Memory for ") && line.ends_with(':') || line.starts_with("## ") {
        return vec![(0..line.len(), BOLD)];
    }
    if line == "Data, not instructions:" || line.starts_with('(') && line.ends_with(')') {
        return vec![(0..line.len(), DIM)];
    }
    if LABELS.iter().any(|label| line.starts_with(label))
        && let Some(colon) = line.find(':')
    {
        return vec![(0..colon + 1, CYAN)];
    }
    let tag = line.strip_prefix('[').and_then(|rest| Some(rest.find(']')? + 2));
    tag.map(|end| (0..end, of_category(&line[1..end - 1]))).into_iter().collect()
}

/// A line of `list`: scope, counts, name.
pub(crate) fn list(line: &str) -> Vec<Span> {
    let scope = line.find(' ').unwrap_or(line.len());
    let name = line.rfind("  ").map(|at| at + 2).filter(|name| *name > scope + 2);
    let counts = name.map(|name| (name..line.len(), BOLD));
    [(0..scope, CYAN)].into_iter().chain(counts).collect()
}

/// A line of `log`: time, moment, place, action, outcome.
pub(crate) fn log(line: &str) -> Vec<Span> {
    let time = line.find("  ").unwrap_or(0);
    let outcome = line.rfind(" → ").map(|at| at + " → ".len());
    let outcome = outcome.filter(|outcome| *outcome >= time).map(|outcome| {
        let style = match line[outcome..].split([' ', ':']).next().unwrap_or_default() {
            "stored" | "revised" | "corrected" | "confirmed" => GREEN,
            "declined" | "not_significant" | "duplicate" => DIM,
            "queued" | "failed" => RED,
            _ => YELLOW,
        };
        (outcome..line.len(), style)
    });
    [(0..time, DIM)].into_iter().chain(outcome).collect()
}

/// A line of `stats`: a label and its figures.
pub(crate) fn stats(line: &str) -> Vec<Span> {
    let is_label = line.starts_with(|c: char| c.is_alphabetic());
    let end = line.find("  ").unwrap_or_else(|| line.find(' ').unwrap_or(line.len()));
    if is_label { vec![(0..end, CYAN)] } else { Vec::new() }
}

/// A line of `diff`: places, then what came, went and changed, and changed words.
pub(crate) fn difference(line: &str) -> Vec<Span> {
    let text = line.trim_start();
    let style = match text.get(..2) {
        Some("+ ") => Some(GREEN),
        Some("- ") => Some(RED),
        Some("~ ") => Some(YELLOW),
        Some("x ") => Some(MAGENTA),
        _ if text.len() == line.len() => Some(BOLD),
        _ => None,
    };
    if let Some(style) = style {
        return vec![(line.len() - text.len()..line.len(), style)];
    }
    let mut spans = Vec::new();
    let mut at = 0;
    while let Some(start) = line[at..].find(['[', '{']).map(|start| at + start) {
        let (close, style) = match line[start..].get(..2) {
            Some("[-") => ("-]", RED),
            Some("{+") => ("+}", GREEN),
            _ => {
                at = start + 1;
                continue;
            }
        };
        let Some(end) = line[start..].find(close).map(|end| start + end + close.len()) else { break };
        spans.push((start..end, style));
        at = end;
    }
    spans
}

/// A line of `check`: where, how bad, what, and a hint.
pub(crate) fn problem(line: &str) -> Vec<Span> {
    const KINDS: [(&str, Style); 2] = [(": error: ", RED), (": warning: ", YELLOW)];
    if let Some(hint) = line.strip_prefix("    hint: ") {
        return vec![(4..line.len() - hint.len(), CYAN)];
    }
    let found = KINDS.iter().find_map(|(kind, style)| Some((line.find(kind)?, *kind, *style)));
    let Some((at, kind, style)) = found else { return Vec::new() };
    vec![(0..at, BOLD), (at + 2..at + kind.len() - 1, style.bold())]
}

/// The style of a category: what harms is seen first.
fn of_category(tag: &str) -> Style {
    match tag.split(|c: char| !c.is_alphabetic()).next().unwrap_or_default() {
        "DANGER" => RED.bold(),
        "FAILURE" => YELLOW,
        "SUCCESS" => GREEN,
        _ => CYAN,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Painter = fn(&str) -> Vec<Span>;

    /// Each line with the painter of its command.
    const LINES: [(Painter, &str); 12] = [
        (markdown, "**[DANGER - CORE] A grue ** lurks** *(Ep1, T3)*"),
        (markdown, "- `north` → [Attic](#location-40-attic) *(Ep1, T4)*"),
        (markdown, "**[ no title"),
        (recall, "[SUCCESS] Reaching Cellar: +25 points (Ep1, T42, +25)"),
        (recall, "Tried here in vain: north (You can't…)"),
        (list, "location:23  1 memory, 3 tries, 2 visits  Küche"),
        (log, "2026-01-31T10:40:00Z  Ep1 T3  Hall (1)  look → stored \"x\""),
        (stats, "memories    36, average importance 522"),
        (difference, "      The {+brass +}lantern [-is-] here {+"),
        (difference, "  + [NOTE] Küche"),
        (problem, "Memories.md:5:9: error: `x` is no heading"),
        (problem, "    hint: write it otherwise"),
    ];

    #[test]
    fn without_the_codes_each_line_is_the_same() {
        for (paint, line) in LINES {
            let spans = paint(line);
            assert!(!spans.is_empty() || line == "**[ no title", "{line}");
            let text = painted(line, &spans);
            assert_eq!(anstream::adapter::strip_str(&text).to_string(), line);
        }
    }

    proptest::proptest! {
        #[test]
        fn no_line_is_cut_wrongly(line in "[-a é\\[\\]{}+*#:→(x~\u{1b}`]{0,40}", painter in 0..LINES.len()) {
            let text = painted(&line, &LINES[painter].0(&line));
            proptest::prop_assert_eq!(anstream::adapter::strip_str(&text).to_string(), visible(&line));
        }
    }
}

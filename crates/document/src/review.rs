//! The text that git compares in place of a memory file, so that a reader of a change sees the memories first.
//!
//! The bytes of a file enter; a text of two parts leaves. The first has all sections with their memories and all that a
//! person wrote, as it stands. The second has the visits and the evidence of each section, one action a line. Nothing is
//! lost but grouping: which actions share a line, blank lines, and the `---` behind a section.

use std::borrow::Cow;
use std::ops::Range;

use crate::conflict::conflicts;
use crate::evidence::write_attempt;
use crate::parser::ParsedSection;
use crate::region::RegionKind;
use crate::scan::{self, BYTE_ORDER_MARK, line_ranges};
use crate::tree::{Block, Document};

/// Begins the heading of a place in the second part.
const EVIDENCE: &str = "## Evidence at ";

/// Lines between a heading and the text below it. Git shows three lines before a change and looks for the name of the
/// place above these: so it finds the heading of the change, and not the one before.
const GAP: &str = "\n\n\n\n";

/// The text that git compares. Bytes that are no text, and a file with conflicts, stay as they are.
pub fn review(bytes: &[u8]) -> Cow<'_, [u8]> {
    match std::str::from_utf8(bytes) {
        Ok(text) if conflicts(text).is_none() => Cow::Owned(of_text(text).into_bytes()),
        _ => Cow::Borrowed(bytes),
    }
}

fn of_text(text: &str) -> String {
    let document = Document::parse(text.to_owned());
    let (mut memories, mut evidence) = (String::new(), String::new());
    for block in document.blocks() {
        let text = block.text(document.source());
        let moved = if block.heading.is_some() { moved(block, document.source()) } else { Vec::new() };
        write_rest(&mut memories, text, &moved);
        if !moved.is_empty() {
            let heading = text.lines().next().unwrap_or_default().trim_start_matches('#').trim();
            evidence.push_str(&format!("{EVIDENCE}{heading}{GAP}"));
            write_evidence(&mut evidence, text, block.parsed(document.source()), &moved);
        }
    }
    memories + &evidence
}

/// The ranges of a section that stand in the second part: the visits, and each list that holds nothing but evidence.
fn moved(block: &Block, source: &str) -> Vec<Range<usize>> {
    let text = block.text(source);
    let parsed = block.parsed(source);
    let mut moved: Vec<Range<usize>> = parsed.visits.iter().map(|(_, range)| range.clone()).collect();
    let mut whole: Vec<usize> = parsed.whole_lines().map(|range| range.start).collect();
    whole.sort_unstable();
    for region in parsed.regions.iter().filter(|region| region.kind.is_evidence()) {
        let lines = line_ranges(text.as_bytes(), region.range.clone()).skip(1);
        let is_evidence = |line: &Range<usize>| {
            scan::is_blank(text[line.clone()].trim_end_matches('\n'))
                || whole.binary_search(&line.start).is_ok()
        };
        if lines.clone().all(|line| is_evidence(&line)) && lines.count() > 0 {
            moved.push(region.range.clone());
        }
    }
    moved.sort_by_key(|range| range.start);
    moved
}

/// Writes a block without what stands in the second part, and without blank lines in a row.
fn write_rest(out: &mut String, text: &str, moved: &[Range<usize>]) {
    let kept: Vec<&str> = line_ranges(text.as_bytes(), 0..text.len())
        .filter(|line| !moved.iter().any(|range| range.contains(&line.start)))
        .map(|line| text[line].trim_end_matches('\n'))
        .collect();
    let is_space = |line: &str| scan::is_blank(line.trim_start_matches(BYTE_ORDER_MARK).as_bytes());
    let is_end = |line: &&str| is_space(line) || line.trim_end() == "---";
    let kept = &kept[..kept.len() - kept.iter().rev().take_while(|line| is_end(line)).count()];
    let (heading, rest) = match kept.split_first() {
        Some((first, rest)) if scan::is_section_boundary(first.as_bytes()) => (Some(first), rest),
        _ => (None, kept),
    };
    if let Some(heading) = heading {
        write_line(out, heading);
        out.push_str(&GAP[1..]);
    }
    let mut was_blank = true;
    for line in rest {
        let blank = is_space(line);
        if !(blank && was_blank) {
            write_line(out, if blank { "" } else { line });
        }
        was_blank = blank;
    }
}

/// Writes a line so that it cannot be taken for a heading of the second part.
fn write_line(out: &mut String, line: &str) {
    if line.trim_start_matches('\\').starts_with(EVIDENCE) {
        out.push('\\');
    }
    out.push_str(line);
    out.push('\n');
}

/// Writes visits and evidence, one action, way or change a line.
fn write_evidence(out: &mut String, text: &str, parsed: &ParsedSection, moved: &[Range<usize>]) {
    let is_moved = |line: &Range<usize>| moved.iter().any(|range| range.contains(&line.start));
    let raw = |line: &Range<usize>| text[line.clone()].trim().to_owned();
    let mut write = |kind: &str, line: &str| {
        out.push_str(kind);
        out.push_str(line.get(2..).unwrap_or_default());
        out.push('\n');
    };
    if let Some((_, range)) = &parsed.visits {
        write("", &format!("  {}", raw(range)));
    }
    for way in parsed.ways.iter().filter(|line| is_moved(&line.range)) {
        write("Way: ", &raw(&way.range));
    }
    for kind in RegionKind::ACTIONS {
        let mark = format!("{}: ", kind.name());
        let listed = parsed.attempts(kind).iter().filter(|line| is_moved(&line.range));
        for attempt in listed.flat_map(|line| &line.value.attempts) {
            write(&mark, &write_attempt(attempt));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Section;
    use crate::free_lines::free_lines;
    use crate::types::Scope;

    fn shown(text: &str) -> String {
        String::from_utf8(review(text.as_bytes()).into_owned()).unwrap()
    }

    #[test]
    fn memories_come_first_and_then_each_action_in_a_line() {
        let text = "# T\n\n## World\n**Visits:** 2\n\n### Memories\n\n**[NOTE] A**\na\n\n### Tried\n\n- `x`, `y` *(Ep1, T2)*: No.\n\n---\n";
        let evidence = "**Visits:** 2\nTried: `x` *(Ep1, T2)*: No.\nTried: `y` *(Ep1, T2)*: No.\n";
        let expected = format!(
            "# T\n\n\n\n## World\n\n\n\n### Memories\n\n**[NOTE] A**\na\n## Evidence at World\n\n\n\n{evidence}"
        );
        assert_eq!(shown(text), expected);
        assert_eq!(shown(&text.replace('\n', "\r\n")).replace('\r', ""), expected);
    }

    #[test]
    fn a_list_in_which_a_person_wrote_stays_as_it_is() {
        let list = "### Tried\n\n- `x`: No.\n  why not?\n- `y`: No.\n";
        assert_eq!(shown(&format!("## World\n\n{list}")), format!("## World\n\n\n\n{list}"));
    }

    #[test]
    fn bytes_that_are_no_text_and_conflicts_stay_as_they_are() {
        for bytes in [&b"## World\n\n\n\n\xff\n"[..], b"## World\n<<<<<<< a\n\n\n=======\n>>>>>>> b\n", b""] {
            assert_eq!(&*review(bytes), bytes);
        }
    }

    #[test]
    fn a_persons_heading_cannot_pass_for_one_of_evidence() {
        let fake = "## World\n## Evidence at World\n**Visits:** 2\n";
        assert!(shown(fake).contains("\n\\## Evidence at World\n"));
        assert_ne!(shown(fake), shown("## World\n**Visits:** 2\n"));
        assert_ne!(shown(fake), shown(&fake.replace("## Evi", "\\## Evi")));
    }

    /// All that a file says: its sections as they are read, and the lines that people wrote.
    fn said(text: &str) -> (Vec<(Scope, Section)>, Vec<Vec<String>>) {
        let document = Document::parse(text.to_owned());
        let sections = document.sections();
        let free = |scope: &Scope| free_lines(&document, scope).into_iter().map(str::to_owned).collect();
        let free = sections.iter().map(|(scope, _)| free(scope)).collect();
        (sections, free)
    }

    const LINES: [&str; 30] = [
        "## World",
        "## Location 1: A",
        "## Evidence at World",
        "\\## Evidence at World",
        "# T",
        "### Memories",
        "### Ways",
        "### Seen",
        "### Worked",
        "### Tried",
        "### Mine",
        "**Visits:** 2 | **Episodes:** 1",
        "**Visits:** 3",
        "**[NOTE] A**",
        "**[NOTE] B** *(Ep1, T2)*",
        "text",
        "- `x`, `y` *(Ep1, T2)*: No.",
        "- `x` ×2: No.",
        "- `x`: You can't see any _ here!",
        "- `x` *(Ep1, T2)*, `take x`: No. <!-- mine -->",
        "- `north` → [A](#location-1-a) ×2",
        "- `north` → [A](#location-1-a) ×2 mine",
        "- Ep1: T2 +a, -b; T3 +c",
        "- Ep1: T2 -b, +a",
        "Way: `north` → [A](#location-1-a) ×2",
        "---",
        "",
        "```",
        "<!--",
        "-->",
    ];

    fn lines() -> impl Strategy<Value = Vec<&'static str>> {
        prop::collection::vec(prop::sample::select(LINES.to_vec()), 1..12)
    }

    proptest! {
        #[test]
        fn files_that_say_something_else_look_different(
            head in lines(), one in lines(), other in lines(), tail in lines(), swapped: bool,
        ) {
            let file = |parts: [&[&str]; 4]| format!("## World\n{}\n", parts.concat().join("\n"));
            let (one, other) = (
                file([&head, &one, &other[..0], &tail]),
                if swapped { file([&tail, &one, &head, &[]]) } else { file([&head, &other[..other.len() / 2], &[], &tail]) },
            );
            if said(&one) != said(&other) {
                prop_assert_ne!(shown(&one), shown(&other), "{}\n======\n{}", one, other);
            }
        }

        #[test]
        fn a_line_more_is_seen(lines in lines(), at: prop::sample::Index, new in prop::sample::select(LINES.to_vec())) {
            let mut with = lines.clone();
            with.insert(at.index(lines.len() + 1), new);
            let [one, other] = [lines, with].map(|lines| format!("## World\n{}\n", lines.join("\n")));
            if said(&one) != said(&other) {
                prop_assert_ne!(shown(&one), shown(&other), "{}\n======\n{}", one, other);
            }
        }
    }
}

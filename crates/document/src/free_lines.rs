//! Lines that belong to nothing in our grammar: those that people wrote.

use std::ops::Range;

use crate::parser::holds;
use crate::region::RegionKind;
use crate::scan::{self, BYTE_ORDER_MARK};
use crate::tree::{Block, Document, FILE_TITLE};
use crate::types::Scope;

impl Document {
    /// Counts the lines of the file that people wrote: no section heading, visits, entry or tried
    /// action, not blank and no thematic break. A comment within an entry belongs to the entry.
    pub fn count_free_lines(&self) -> usize {
        let lines = self.blocks().iter().flat_map(|block| lines_in(block, self.source()));
        lines.filter(|line| !scan::is_thematic_break(line)).count()
    }
}

/// Lines of a scope's sections that people wrote, but for blank ones and `---`.
pub(crate) fn free_lines<'a>(document: &'a Document, scope: &Scope) -> Vec<&'a str> {
    let blocks = document.blocks_of(scope).map(|at| &document.blocks()[at]);
    let lines = blocks.flat_map(|block| lines_in(block, document.source()));
    lines.filter(|line| line.trim() != "---").collect()
}

/// The lines of a block that are neither blank nor ours.
fn lines_in<'a>(block: &'a Block, source: &'a str) -> Vec<&'a str> {
    placed_lines(block, source).into_iter().map(|(_, line)| line).collect()
}

/// The same, each with its range in the block, with its line ending.
pub(crate) fn placed_lines<'a>(block: &'a Block, source: &'a str) -> Vec<(Range<usize>, &'a str)> {
    let text = block.text(source);
    let lines = scan::lines(text);
    let lines = lines.iter().map(|line| (line.range.clone(), line.text(text)));
    let lines = lines.filter(|(_, line)| !scan::is_blank(line.trim_start_matches(BYTE_ORDER_MARK)));
    if block.heading.is_none() {
        let title = FILE_TITLE.trim_end();
        let lines = lines.map(|(range, line)| (range, line.trim_start_matches(BYTE_ORDER_MARK)));
        return lines.filter(|(_, line)| *line != title).collect();
    }
    let parsed = block.parsed(source);
    let owned = parsed.owned_ranges();
    let is_ours = |start: usize| {
        let region = parsed.regions.binary_search_by_key(&start, |region| region.range.start);
        region.is_ok_and(|at| parsed.regions[at].kind != RegionKind::Other) || holds(&owned, start)
    };
    lines.filter(|(range, _)| !is_ours(range.start)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_people_are_counted_without_breaks_and_lines_of_ours() {
        let text = "# Location Memories\n\na\nc\n\n---\n\n## Location 1: A\n**Visits:** 1\n\nb\n\n---\n";
        let document = Document::parse(text.to_owned());
        assert_eq!(document.count_free_lines(), 3);
        assert_eq!(free_lines(&document, &Scope::Location(1)), ["b"]);
    }
}

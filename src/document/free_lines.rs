//! Lines that belong to nothing in our grammar: those that people wrote.

use std::collections::BTreeSet;

use crate::document::parser::RegionKind;
use crate::document::scan::{self, BYTE_ORDER_MARK, Line};
use crate::document::tree::{Block, Document, FILE_TITLE};
use crate::types::Scope;

impl Document {
    /// Counts the lines of the file that people wrote: no section heading, visits, entry or tried
    /// action, not blank and no thematic break. A comment within an entry belongs to the entry.
    pub(crate) fn count_free_lines(&self) -> usize {
        self.blocks().iter().map(|block| count_in(block, self.source())).sum()
    }
}

fn count_in(block: &Block, source: &str) -> usize {
    let text = block.text(source);
    let of_scope = block.heading.is_some();
    let owned = if of_scope { block.parsed(source).owned_ranges() } else { Vec::new() };
    let mut owned = owned.into_iter().peekable();
    let lines = scan::lines(text);
    let mut is_free = |(number, line): &(usize, &Line)| {
        while owned.next_if(|range| range.end <= line.range.start).is_some() {}
        let content = line.text(text).trim_start_matches(BYTE_ORDER_MARK);
        let heading = match (of_scope, number) {
            (true, 0) => true,
            (true, _) => matches!(content.trim(), "### Memories" | "### Tried"),
            (false, _) => content == FILE_TITLE.trim_end(),
        };
        let ours = heading || owned.peek().is_some_and(|range| range.start <= line.range.start);
        !ours && !scan::is_blank(content) && !scan::is_thematic_break(content)
    };
    lines.iter().enumerate().filter(|line| is_free(line)).count()
}

/// Lines of a scope's sections that people wrote, but for blank ones and `---`.
pub(crate) fn free_lines<'a>(document: &'a Document, scope: &Scope) -> Vec<&'a str> {
    let mut found = Vec::new();
    for block in document.blocks_of(scope) {
        let (text, parsed) = (document.block_text(block), document.parsed(block));
        let ours = [RegionKind::Head, RegionKind::Memories, RegionKind::Tried];
        let headings = parsed.regions.iter().filter(|region| ours.contains(&region.kind));
        let headings: BTreeSet<usize> = headings.map(|region| region.range.start).collect();
        let mut owned = parsed.owned_ranges().into_iter().peekable();
        for line in scan::lines(text) {
            let content = line.text(text);
            while owned.next_if(|range| range.end <= line.range.start).is_some() {}
            let ours = headings.contains(&line.range.start)
                || owned.peek().is_some_and(|range| range.contains(&line.range.start));
            if !ours && !scan::is_blank(content) && content.trim() != "---" {
                found.push(content);
            }
        }
    }
    found
}

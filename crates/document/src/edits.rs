//! The edits that lead from one text to another, or from an earlier state of a document to its present one.
//!
//! A document is compared by its blocks: those that are the same are not looked at. Within the others, and in whole
//! texts, lines are compared, and of lines that differ those characters are left out with which both begin or end.
//! The edits are right whatever is compared; they are few where the texts have lines in common.

use std::collections::HashMap;
use std::ops::Range;

use foldhash::fast::FixedState;
use similar::{Algorithm, DiffOp, capture_diff_slices};

use crate::tree::{BlockText, Document};
use crate::types::edit::Edit;

/// Lines of both texts together up to which they are compared one by one. Of more, those that stand once in each are
/// found first.
const MAX_LINES: usize = 1500;

/// A state of a document, to be compared with a later one.
#[derive(Debug, Clone)]
pub struct Mark {
    blocks: Vec<BlockText>,
}

impl Document {
    /// The present state.
    pub fn mark(&self) -> Mark {
        Mark { blocks: self.blocks().iter().map(|block| block.kept_text().clone()).collect() }
    }

    /// The text that this document had at a mark.
    pub fn text_at(&self, mark: &Mark) -> String {
        mark.blocks.iter().map(|block| block.of(self.source())).collect()
    }

    /// The edits since a mark of this document, in the order of their offsets.
    pub fn edits_since(&self, mark: &Mark) -> Vec<Edit> {
        let now = self.mark();
        let [old, new] = [mark, &now].map(|mark| mark.blocks.iter().map(identity).collect::<Vec<_>>());
        let joined =
            |blocks: &[BlockText]| -> String { blocks.iter().map(|block| block.of(self.source())).collect() };
        let mut edits = Edits::default();
        let mut at = 0;
        for op in capture_diff_slices(Algorithm::Myers, &old, &new) {
            let (gone, come) = (&mark.blocks[op.old_range()], &now.blocks[op.new_range()]);
            let start = at;
            at += gone.iter().map(|block| block.of(self.source()).len()).sum::<usize>();
            match op {
                DiffOp::Equal { .. } => {}
                // Blocks that were edited where they stand.
                _ if gone.len() == come.len() => {
                    gone.iter().zip(come).fold(start, |start, (old, new)| {
                        let old = old.of(self.source());
                        edits.compare(start, old, new.of(self.source()));
                        start + old.len()
                    });
                }
                _ => edits.compare(start, &joined(gone), &joined(come)),
            }
        }
        edits.finish()
    }
}

/// The edits from one text to another, in the order of their offsets.
pub fn edits_between(old: &str, new: &str) -> Vec<Edit> {
    let mut edits = Edits::default();
    edits.compare(0, old, new);
    edits.finish()
}

/// The identity of a block among the blocks of one document.
fn identity(block: &BlockText) -> (bool, usize) {
    match block {
        BlockText::Source(range) => (false, range.start),
        BlockText::Edited(text) => (true, text.as_ptr() as usize),
    }
}

/// Edits while they are found.
#[derive(Default)]
struct Edits {
    found: Vec<Edit>,
}

impl Edits {
    /// Adds the edits from `old`, which stands at an offset, to `new`.
    fn compare(&mut self, at: usize, old: &str, new: &str) {
        if old == new {
            return;
        }
        let (old_lines, new_lines): (Vec<&str>, Vec<&str>) =
            (old.split_inclusive('\n').collect(), new.split_inclusive('\n').collect());
        self.compare_lines(at, &old_lines, &new_lines, true);
    }

    /// The same for lines. Where there are too many, it looks for `anchors`: lines that stand once in each text.
    fn compare_lines(&mut self, mut at: usize, old: &[&str], new: &[&str], anchors: bool) {
        let (start, end) = trimmed(old, new);
        at += size(&old[..start]);
        let (old, new) = (&old[start..old.len() - end], &new[start..new.len() - end]);
        if old.is_empty() || new.is_empty() {
            return self.push(at, old, new);
        }
        if old.len() + new.len() <= MAX_LINES {
            for op in capture_diff_slices(Algorithm::Myers, old, new) {
                if !matches!(op, DiffOp::Equal { .. }) {
                    let Range { start, end } = op.old_range();
                    self.push(at + size(&old[..start]), &old[start..end], &new[op.new_range()]);
                }
            }
            return;
        }
        if !anchors {
            return self.push(at, old, new);
        }
        let (mut from, mut new_from) = (0, 0);
        for (kept, new_kept) in unique_lines(old, new).into_iter().chain([(old.len(), new.len())]) {
            self.compare_lines(at, &old[from..kept], &new[new_from..new_kept], false);
            at += size(&old[from..(kept + 1).min(old.len())]);
            (from, new_from) = (kept + 1, new_kept + 1);
        }
    }

    fn push(&mut self, at: usize, old: &[&str], new: &[&str]) {
        let (removed, inserted) = (old.concat(), new.concat());
        if removed == inserted {
            return;
        }
        match self.found.last_mut() {
            Some(last) if last.at + last.removed.len() == at => {
                last.removed += &removed;
                last.inserted += &inserted;
            }
            _ => self.found.push(Edit { at, removed, inserted }),
        }
    }

    fn finish(self) -> Vec<Edit> {
        self.found.into_iter().map(without_equal_ends).filter(|edit| edit.size() > 0).collect()
    }
}

fn size(lines: &[&str]) -> usize {
    lines.iter().map(|line| line.len()).sum()
}

/// Number of lines with which both begin, and of those behind them with which both end.
fn trimmed(old: &[&str], new: &[&str]) -> (usize, usize) {
    let start = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let ends = old[start..].iter().rev().zip(new[start..].iter().rev());
    (start, ends.take_while(|(old, new)| old == new).count())
}

/// Lines that stand exactly once in each text, by their places: as many as are in the same order in both.
fn unique_lines(old: &[&str], new: &[&str]) -> Vec<(usize, usize)> {
    let mut places: HashMap<&str, [(usize, usize); 2], FixedState> = HashMap::default();
    for (side, lines) in [old, new].into_iter().enumerate() {
        for (at, line) in lines.iter().enumerate() {
            let place = &mut places.entry(line).or_default()[side];
            *place = (place.0 + 1, at);
        }
    }
    let pairs = old.iter().filter_map(|line| match places[line] {
        [(1, old), (1, new)] => Some((old, new)),
        _ => None,
    });
    longest_in_order(&pairs.collect::<Vec<_>>())
}

/// The longest list of pairs in which both numbers grow, where the first ones do.
fn longest_in_order(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    // For each length the pair with the smallest second number that ends such a list, and for each pair the one before.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    for (at, (_, new)) in pairs.iter().enumerate() {
        let length = ends.partition_point(|end| pairs[*end].1 < *new);
        before.push(length.checked_sub(1).map(|shorter| ends[shorter]));
        match ends.get_mut(length) {
            Some(end) => *end = at,
            None => ends.push(at),
        }
    }
    let mut longest = Vec::with_capacity(ends.len());
    let mut next = ends.last().copied();
    while let Some(at) = next {
        longest.push(pairs[at]);
        next = before[at];
    }
    longest.reverse();
    longest
}

/// The edit without the characters with which both of its texts begin or end.
fn without_equal_ends(edit: Edit) -> Edit {
    let Edit { at, removed, inserted } = edit;
    let same = removed.chars().zip(inserted.chars()).take_while(|(old, new)| old == new);
    let start: usize = same.map(|(old, _)| old.len_utf8()).sum();
    let (old, new) = (&removed[start..], &inserted[start..]);
    let same = old.chars().rev().zip(new.chars().rev()).take_while(|(old, new)| old == new);
    let end: usize = same.map(|(old, _)| old.len_utf8()).sum();
    let middle = |text: &str| text[..text.len() - end].to_owned();
    Edit { at: at + start, removed: middle(old), inserted: middle(new) }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::types::edit::{apply, undo};
    use crate::types::{Category, Memory, Scope};

    #[track_caller]
    fn assert_lead(edits: &[Edit], old: &str, new: &str) {
        let mut text = old.to_owned();
        apply(edits, &mut text).unwrap();
        assert_eq!(text, new);
        undo(edits, &mut text).unwrap();
        assert_eq!(text, old);
    }

    fn lines(from: usize, to: usize) -> String {
        (from..to).map(|number| format!("line {number} é\n\n---\n")).collect()
    }

    #[test]
    fn a_few_edits_in_a_long_text_are_few() {
        let old = lines(0, 4000);
        let new = old.replace("line 7 é", "line 7 è").replace("line 2000 é\n", "") + "end";
        let moved = lines(3990, 4000) + &lines(0, 3990);
        for (new, most) in [(&new, 3), (&moved, 2)] {
            let edits = edits_between(&old, new);
            assert_lead(&edits, &old, new);
            assert_eq!(edits.len(), most, "{edits:?}");
        }
        assert_eq!(edits_between(&old, &new)[0].removed, "é");
        let other = lines(5000, 9000);
        assert_lead(&edits_between(&old, &other), &old, &other);
        assert!(edits_between(&old, &old).is_empty());
    }

    #[test]
    fn the_edits_of_a_document_are_those_of_its_changed_lines() {
        let place = |id: usize| format!("## Location {id}: A\n\n### Memories\n\n**[NOTE] a**\nx\n\n---\n\n");
        let mut document = Document::parse((1..50).map(place).collect());
        let memory = Memory::new(Category::note(), "b", "y");
        let mut before = (document.mark(), document.clone().into_text().unwrap());
        for id in [20, 3, 70, 20, 0, 69, 50] {
            document.add(&Scope::Location(id), "", &memory).unwrap();
            let after = document.clone().into_text().unwrap();
            let edits = document.edits_since(&before.0);
            assert_lead(&edits, &before.1, &after);
            assert_eq!(document.text_at(&before.0), before.1);
            assert!(edits.iter().map(Edit::size).sum::<usize>() < 100, "{edits:?}");
            before = (document.mark(), after);
            assert!(document.edits_since(&before.0).is_empty());
        }
    }

    proptest! {
        #[test]
        fn edits_lead_from_any_text_to_any_other(old in "[abé\r\n]{0,200}", new in "[abé\r\n]{0,200}") {
            assert_lead(&edits_between(&old, &new), &old, &new);
        }

        #[test]
        fn edits_of_long_texts_lead_there(places in vec((0..12_000_usize, 0..900_usize), 1..9)) {
            let old: String = (0..3000).map(|number| format!("{}\n", number % 2500)).collect();
            let mut new = old.clone();
            for (at, length) in places {
                let at = at.min(new.len());
                let taken = new.split_off(at);
                let (moved, rest) = taken.split_at(length.min(taken.len()));
                new = format!("{rest}{moved}{new}");
            }
            assert_lead(&edits_between(&old, &new), &old, &new);
        }
    }
}

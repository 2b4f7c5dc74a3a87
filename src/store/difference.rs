//! A former text as its difference from the text that replaced it.
//!
//! The old text enters as a reader and the new one as bytes; a [`Difference`] leaves: ranges of the new text, and
//! between them the bytes that only the old one has. The old text is read once and never held whole. Where the texts
//! cease to agree, lines of the old one are looked for in the new one, within bounds; texts that have little in common
//! give no difference. Whatever was found, the old text is rebuilt exactly, or its hash says that it cannot be.

use std::io::{self, Read};

use memchr::{memchr, memmem};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

/// Bytes of the old text that are compared at a time.
const BLOCK: usize = 1 << 20;

/// Bytes by which a place is recognised.
const NEEDLE: usize = 128;

/// Places of the old text that are looked for where the texts cease to agree.
const ATTEMPTS: u32 = 14;

/// Bytes of the new text in which the first place is looked for; twice as many for each further one.
const FIRST_SPAN: usize = 64 << 10;

/// Bytes from the first place to the second, at least; twice as many to each further one.
const FIRST_STEP: usize = 64;

/// Bytes that may be searched however short the texts are.
const MIN_BUDGET: usize = 64 << 20;

/// A text as parts of another and bytes of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Difference {
    /// Size of the text in bytes.
    pub(super) size: u64,
    /// Hash of the text, in hexadecimal digits.
    hash: String,
    /// Offset in the other text, `None` for the next bytes of its own, and length.
    parts: Vec<(Option<u64>, u64)>,
    /// The bytes of its own, which are written elsewhere.
    #[serde(skip)]
    pub(super) own: Vec<u8>,
}

impl Difference {
    /// The difference of a text of that size from `new`. `None` where more than a quarter of it would be its own, or
    /// the search takes too long.
    pub(super) fn find(mut old: impl Read, size: u64, new: &[u8]) -> io::Result<Option<Difference>> {
        let budget = new.len().saturating_mul(8).saturating_add(MIN_BUDGET);
        let mut finder = Finder { new, at: 0, budget, parts: Vec::new(), own: Vec::new() };
        let mut block = Vec::with_capacity(BLOCK);
        loop {
            block.clear();
            old.by_ref().take(BLOCK as u64).read_to_end(&mut block)?;
            if block.is_empty() {
                break;
            }
            finder.add(&block);
            if finder.own.len() as u64 > size / 4 || finder.budget == 0 {
                return Ok(None);
            }
        }
        let Finder { parts, own, .. } = finder;
        let mut found = Difference { size, hash: String::new(), parts, own };
        let mut hash = Xxh3::new();
        let whole = found.visit(new, |bytes| hash.update(bytes));
        found.hash = format!("{:032x}", hash.digest128());
        // Its size is another where it was changed meanwhile.
        Ok(whole.map(|()| found))
    }

    /// The text, from the text that it differs from; `None` where that is another one, or this is damaged.
    pub(super) fn apply(&self, new: &[u8]) -> Option<Vec<u8>> {
        let mut text = Vec::new();
        self.visit(new, |bytes| text.extend_from_slice(bytes))?;
        self.is_of(&text).then_some(text)
    }

    /// The difference of the same text from the text that `next` differs from, where this one differs from the text of
    /// `next`. `None` where one of them is damaged.
    pub(super) fn beyond(&self, next: &Difference) -> Option<Difference> {
        let mut joined = Joined::default();
        let mut own = &self.own[..];
        for (at, length) in &self.parts {
            match at {
                None => joined.add_own(own.split_off(..usize::try_from(*length).ok()?)?),
                Some(at) => joined.add_range(next, *at, *length)?,
            }
        }
        let Joined { parts, own } = joined;
        Some(Difference { size: self.size, hash: self.hash.clone(), parts, own })
    }

    /// True if this is the difference of that text.
    pub(super) fn is_of(&self, text: &[u8]) -> bool {
        text.len() as u64 == self.size && format!("{:032x}", xxh3_128(text)) == self.hash
    }

    /// Visits the parts; `None` where they are not those of a text of that size.
    fn visit(&self, new: &[u8], mut visit: impl FnMut(&[u8])) -> Option<()> {
        let (mut own, mut size) = (&self.own[..], 0_u64);
        for (at, length) in &self.parts {
            size = size.checked_add(*length).filter(|size| *size <= self.size)?;
            let length = usize::try_from(*length).ok()?;
            visit(match at {
                Some(at) => new.get(usize::try_from(*at).ok()?..)?.get(..length)?,
                None => own.split_off(..length)?,
            });
        }
        (size == self.size && own.is_empty()).then_some(())
    }
}

/// The parts of a difference that is made from two.
#[derive(Default)]
struct Joined {
    parts: Vec<(Option<u64>, u64)>,
    own: Vec<u8>,
}

impl Joined {
    fn add_own(&mut self, bytes: &[u8]) {
        push(&mut self.parts, None, bytes.len() as u64);
        self.own.extend_from_slice(bytes);
    }

    /// Adds a range of the text of `of`, in bytes; `None` where that has no such range.
    fn add_range(&mut self, of: &Difference, at: u64, length: u64) -> Option<()> {
        let end = at.checked_add(length)?;
        let (mut start, mut own) = (0_u64, 0_usize);
        for (source, length) in &of.parts {
            let next = start.checked_add(*length)?;
            let (from, to) = (at.max(start), end.min(next));
            if from < to {
                let (skipped, taken) = (from - start, to - from);
                match source {
                    Some(source) => push(&mut self.parts, Some(source.checked_add(skipped)?), taken),
                    None => {
                        let from = own.checked_add(usize::try_from(skipped).ok()?)?;
                        self.add_own(of.own.get(from..)?.get(..usize::try_from(taken).ok()?)?);
                    }
                }
            }
            if source.is_none() {
                own = own.checked_add(usize::try_from(*length).ok()?)?;
            }
            start = next;
        }
        (end <= start).then_some(())
    }
}

struct Finder<'a> {
    new: &'a [u8],
    /// Offset in the new text up to which the old one is found in it.
    at: usize,
    /// Bytes that may still be searched.
    budget: usize,
    parts: Vec<(Option<u64>, u64)>,
    own: Vec<u8>,
}

impl Finder<'_> {
    /// Adds the next block of the old text.
    fn add(&mut self, mut block: &[u8]) {
        loop {
            let same = common_start(block, &self.new[self.at..]);
            self.push(Some(self.at as u64), same);
            self.at += same;
            block = &block[same..];
            if block.is_empty() {
                return;
            }
            let (own, at) = self.next_place(block).unwrap_or((block.len(), self.at));
            self.push(None, own);
            self.own.extend_from_slice(&block[..own]);
            (self.at, block) = (at, &block[own..]);
        }
    }

    /// Finds where the texts agree again: the bytes up to there, and the offset in the new text.
    fn next_place(&mut self, block: &[u8]) -> Option<(usize, usize)> {
        let mut from = 0;
        for attempt in 0..ATTEMPTS {
            let needle = block.get(from..from + NEEDLE)?;
            let span = FIRST_SPAN << attempt;
            let end = self.new.len().min(self.at + span);
            // Behind the place first, then before it.
            for start in [self.at, self.at.saturating_sub(span)] {
                self.budget = self.budget.saturating_sub(end - start);
                if let Some(found) = memmem::find(&self.new[start..end], needle) {
                    let found = start + found;
                    let same = common_end(&block[..from], &self.new[..found]);
                    return Some((from - same, found - same));
                }
            }
            // Lines further and further on: the lines between may be gone.
            let next = from + (FIRST_STEP << attempt);
            from = next + memchr(b'\n', block.get(next..)?)? + 1;
        }
        None
    }

    fn push(&mut self, at: Option<u64>, length: usize) {
        push(&mut self.parts, at, length as u64);
    }
}

/// Adds a part, or makes the last one longer.
fn push(parts: &mut Vec<(Option<u64>, u64)>, at: Option<u64>, length: u64) {
    match parts.last_mut() {
        _ if length == 0 => {}
        Some((None, last)) if at.is_none() => *last += length,
        Some((Some(start), last)) if at == Some(*start + *last) => *last += length,
        _ => parts.push((at, length)),
    }
}

/// Number of bytes with which both begin.
fn common_start(one: &[u8], other: &[u8]) -> usize {
    const STEP: usize = 4096;
    let pairs = one.chunks(STEP).zip(other.chunks(STEP));
    let same = pairs.take_while(|(one, other)| one == other).map(|(one, _)| one.len()).sum::<usize>();
    let rest = one[same..].iter().zip(&other[same..]);
    same + rest.take_while(|(one, other)| one == other).count()
}

/// Number of bytes with which both end.
fn common_end(one: &[u8], other: &[u8]) -> usize {
    one.iter().rev().zip(other.iter().rev()).take_while(|(one, other)| one == other).count()
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    /// A file of many different lines.
    fn text(lines: usize) -> String {
        let line = |number: usize| format!("{:x} is line {number}\n", (number + 1) * 2_654_435_761);
        (0..lines).map(line).collect()
    }

    fn find(old: &str, new: &str) -> Option<Difference> {
        let found = Difference::find(old.as_bytes(), old.len() as u64, new.as_bytes()).unwrap();
        if let Some(found) = &found {
            assert_eq!(found.apply(new.as_bytes()).as_deref(), Some(old.as_bytes()));
            // No part of a text of these tests.
            assert_eq!(found.apply(b"?").is_some(), old.is_empty());
        }
        found
    }

    #[test]
    fn a_few_edits_in_a_large_text_are_a_small_difference() {
        let old = text(150_000);
        assert!(old.len() > 3 * BLOCK);
        let near_block_end = old[..BLOCK].rfind('\n').unwrap() + 1;
        let mut new = old.clone();
        new.insert_str(old.len() - 7, &"a new line at the end\n".repeat(9));
        new.replace_range(near_block_end..near_block_end + 90, "");
        new.insert_str(500, &text(4000)[3000..]);
        new.replace_range(100..103, "###");
        for (old, new) in [(&old, &new), (&new, &old)] {
            let found = find(old, new).unwrap();
            assert!(found.parts.len() < 20, "{:?}", found.parts);
            assert!(found.own.len() < 200_000, "{}", found.own.len());
        }
        assert_eq!(find(&old, &old).unwrap().parts, [(Some(0), old.len() as u64)]);
        let longer = format!("{old}{old}");
        assert!(find(&old, &longer).unwrap().own.is_empty());
        assert!(find(&longer, &old).unwrap().own.is_empty());
        assert!(find(&old, &old.to_uppercase().replace("LINE", "row")).is_none());
        assert!(find("", "x").unwrap().parts.is_empty());
    }

    #[test]
    fn a_difference_that_is_damaged_gives_no_text() {
        let (old, new) = (text(100), text(90) + "end\n");
        let found = find(&old, &new).unwrap();
        for part in 0..found.parts.len() {
            for change in [1, 1 << 40, u64::MAX] {
                let mut damaged = found.clone();
                damaged.parts[part].1 = damaged.parts[part].1.wrapping_add(change);
                assert_eq!(damaged.apply(new.as_bytes()), None);
                let mut damaged = found.clone();
                damaged.parts[part].0 = Some(damaged.parts[part].0.unwrap_or(0).wrapping_add(change));
                assert_eq!(damaged.apply(new.as_bytes()), None);
            }
        }
        for byte in 0..found.own.len() {
            let mut damaged = found.clone();
            damaged.own[byte] ^= 1;
            assert_eq!(damaged.apply(new.as_bytes()), None);
            damaged.own.truncate(byte);
            assert_eq!(damaged.apply(new.as_bytes()), None);
        }
        assert_eq!(Difference { size: u64::MAX, ..found }.apply(new.as_bytes()), None);
    }

    proptest! {
        #[test]
        fn any_text_is_rebuilt_from_any_other(old in "[ab\n]{0,400}", new in "[ab\n]{0,400}") {
            find(&old, &new);
        }

        #[test]
        fn a_text_is_rebuilt_from_the_text_after_the_next(edits in vec((0..3000_usize, 0..300_usize, "[a-c\n]{0,90}"), 2)) {
            let mut texts = vec![text(100)];
            for (at, length, inserted) in edits {
                let mut next = texts[texts.len() - 1].clone();
                let at = at.min(next.len());
                next.replace_range(at..next.len().min(at + length), &inserted);
                texts.push(next);
            }
            let differences: Vec<Difference> =
                texts.windows(2).filter_map(|pair| find(&pair[0], &pair[1])).collect();
            if let [first, second] = &differences[..] {
                let joined = first.beyond(second).unwrap();
                let rebuilt = joined.apply(texts[2].as_bytes());
                prop_assert_eq!(rebuilt.as_deref(), Some(texts[0].as_bytes()));
                prop_assert!(joined.own.len() <= first.own.len() + second.own.len());
                let damaged = Difference { parts: Vec::new(), ..second.clone() };
                prop_assert!(first.beyond(&damaged).is_none_or(|joined| joined.apply(texts[2].as_bytes()).is_none()));
            }
        }
    }
}

//! Merges section by section.
//!
//! Sections that one side left as they were in the base are taken from the other side, byte for byte. The others are
//! merged on top of ours: entries, a person's lines, visits and evidence.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::conflict::conflicts;
use crate::grammar;
use crate::merge::entry::same_lines;
use crate::merge::lines::merge_freely;
use crate::merge::result::{Labels, MergeConflict, Merged};
use crate::merge::scope::{Meant, Sections, merge_scope};
use crate::scan::BYTE_ORDER_MARK;
use crate::tree::{Block, Document};
use crate::types::Scope;

/// Merges by meaning; `None` where the result would not be read as it is meant.
pub(super) fn merge_sections(
    base: &str,
    ours: &str,
    theirs: &str,
    labels: Option<Labels<'_>>,
) -> Option<Merged> {
    let [base, ours, theirs] = [base, ours, theirs].map(|text| Document::parse(text.to_owned()));
    if is_reordered(&base, &theirs) && !is_reordered(&base, &ours) {
        let labels = labels.map(|labels| Labels { ours: labels.theirs, theirs: labels.ours, ..labels });
        return Merge::new(&base, &theirs, &ours).merge(labels);
    }
    Merge::new(&base, &ours, &theirs).merge(labels)
}

/// True if the sections that both have stand in another order.
fn is_reordered(base: &Document, side: &Document) -> bool {
    let scopes = |document: &Document| -> Vec<Scope> {
        document.headings().map(|heading| heading.scope.clone()).collect()
    };
    let (of_base, of_side) = (scopes(base), scopes(side));
    let (in_base, in_side): (BTreeSet<&Scope>, BTreeSet<&Scope>) =
        (of_base.iter().collect(), of_side.iter().collect());
    let common = of_base.iter().filter(|scope| in_side.contains(scope));
    !common.eq(of_side.iter().filter(|scope| in_base.contains(scope)))
}

/// The name of a section: its scope, else its first line and the number among those with this line.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Scope(Scope),
    Other(String, usize),
}

/// The blocks of each key, in their order.
type Blocks = BTreeMap<Key, Vec<usize>>;

fn blocks_of(document: &Document) -> Blocks {
    let mut blocks = Blocks::new();
    let mut counts: HashMap<String, usize> = HashMap::new();
    for (at, block) in document.blocks().iter().enumerate() {
        let key = match &block.heading {
            Some(heading) => Key::Scope(heading.scope.clone()),
            None => {
                let first = document.block_text(at).lines().next().unwrap_or_default().trim_end().to_owned();
                let first = if first.starts_with('#') || first.starts_with(BYTE_ORDER_MARK) {
                    first
                } else {
                    String::new()
                };
                let number = counts.entry(first.clone()).or_default();
                *number += 1;
                Key::Other(first, *number)
            }
        };
        blocks.entry(key).or_default().push(at);
    }
    blocks
}

struct Merge<'a> {
    base: &'a Document,
    ours: &'a Document,
    theirs: &'a Document,
    /// The result: at first ours.
    merged: Document,
    /// Blocks of the result that leave.
    gone: BTreeSet<usize>,
    /// Blocks of THEIRS, by the number of blocks of the result that stand before them.
    behind: BTreeMap<usize, Vec<Block>>,
    /// The sections that were merged.
    meant: Vec<Meant>,
}

impl<'a> Merge<'a> {
    fn new(base: &'a Document, ours: &'a Document, theirs: &'a Document) -> Merge<'a> {
        let (gone, behind, meant) = (BTreeSet::new(), BTreeMap::new(), Vec::new());
        Merge { base, ours, theirs, merged: ours.clone(), gone, behind, meant }
    }

    fn merge(mut self, labels: Option<Labels<'_>>) -> Option<Merged> {
        let [of_base, of_ours, of_theirs] = [self.base, self.ours, self.theirs].map(blocks_of);
        let missing = self.add_missing(&of_base, &of_ours, &of_theirs)?;
        let places = blocks_of(&self.merged);
        let keys: BTreeSet<&Key> = of_ours.keys().chain(of_theirs.keys()).collect();
        let at = |blocks: &Blocks, key: &Key| blocks.get(key).cloned().unwrap_or_default();
        for key in keys {
            let base = texts(self.base, &at(&of_base, key));
            let (ours, theirs) =
                (texts(self.ours, &at(&of_ours, key)), texts(self.theirs, &at(&of_theirs, key)));
            if same(&theirs, &base) || same(&ours, &theirs) || ours.is_empty() && base.is_empty() {
                continue;
            }
            let places = at(&places, key);
            if same(&ours, &base) {
                self.take(&places, &at(&of_theirs, key));
                continue;
            }
            match key {
                Key::Scope(scope) => {
                    // If one side removed the section, the changes of the other stay.
                    let was_removed = missing.contains(scope);
                    let (ours, theirs) = if was_removed { (&theirs, &ours) } else { (&ours, &theirs) };
                    self.merge_scope(scope, &places, [&base, ours, theirs], labels);
                }
                Key::Other(..) => {
                    let text =
                        |texts: &[&str]| texts.first().map_or(String::new(), |text| (*text).to_owned());
                    self.merged
                        .replace(*places.first()?, merge_freely(&text(&base), &text(&ours), &text(&theirs)));
                }
            }
        }
        self.finish()
    }

    /// Makes sections that ours lacks, with the text of theirs: new ones, and removed ones that theirs changed. The
    /// latter are returned.
    fn add_missing(&mut self, base: &Blocks, ours: &Blocks, theirs: &Blocks) -> Option<BTreeSet<Scope>> {
        let mut scopes: Vec<(Scope, &[usize])> = Vec::new();
        let mut others: Vec<usize> = Vec::new();
        let mut removed = BTreeSet::new();
        for (key, at) in theirs.iter().filter(|(key, _)| !ours.contains_key(key)) {
            let before = base.get(key).map(|at| texts(self.base, at)).unwrap_or_default();
            if same(&before, &texts(self.theirs, at)) {
                continue;
            }
            match key {
                Key::Scope(scope) => {
                    scopes.push((scope.clone(), at));
                    removed.extend((!before.is_empty()).then(|| scope.clone()));
                }
                Key::Other(..) => others.push(at[0]),
            }
        }
        if !scopes.is_empty() {
            let wanted = scopes.iter().map(|(scope, _)| (scope.clone(), "")).collect();
            self.merged.make_sections(wanted).ok()?;
        }
        // A section of a file's own kind stands behind the one that precedes it in theirs.
        others.sort_unstable();
        let places = blocks_of(&self.merged);
        for at in others {
            let before = (0..at).rev().find_map(|before| {
                let key = theirs.iter().find(|(_, blocks)| blocks.contains(&before)).map(|(key, _)| key)?;
                places.get(key).and_then(|at| at.last())
            });
            let block = self.copy(at);
            self.behind.entry(before.map_or(0, |before| before + 1)).or_default().push(block);
        }
        for (scope, at) in &scopes {
            self.take(&places[&Key::Scope(scope.clone())], at);
        }
        Some(removed)
    }

    /// Merges the sections of a scope. Where the texts have different numbers of them, they are merged as one.
    fn merge_scope(
        &mut self,
        scope: &Scope,
        places: &[usize],
        texts: [&Vec<&str>; 3],
        labels: Option<Labels<'_>>,
    ) {
        let [base, ours, theirs] = texts;
        let is_alike = |texts: &Vec<&str>| texts.is_empty() || texts.len() == places.len();
        if [base, ours, theirs].into_iter().all(is_alike) {
            let sections = Sections { scope, base, ours, theirs };
            return self.meant.push(merge_scope(&mut self.merged, places, &sections, labels));
        }
        let [base, ours, theirs] = texts.map(|texts| texts.concat());
        let [base, ours, theirs] = [&base, &ours, &theirs]
            .map(|text| if text.is_empty() { Vec::new() } else { vec![text.as_str()] });
        let (first, others) = places.split_first().expect("a scope that is merged has a section");
        self.merged.replace(*first, ours.concat());
        let sections = Sections { scope, base: &base, ours: &ours, theirs: &theirs };
        self.meant.push(merge_scope(&mut self.merged, &[*first], &sections, labels));
        self.gone.extend(others);
        let whole = Document::parse(self.merged.block_text(*first).to_owned());
        let mut blocks = whole.blocks().iter().map(|block| Block::new(block.text(whole.source()).to_owned()));
        if let Some(block) = blocks.next() {
            self.merged.blocks_mut()[*first] = block;
        }
        self.behind.entry(first + 1).or_default().extend(blocks);
    }

    /// Takes sections as theirs has them, in place of blocks of the result.
    fn take(&mut self, places: &[usize], theirs: &[usize]) {
        for (&place, &at) in places.iter().zip(theirs) {
            let text = self.theirs.block_text(at).to_owned();
            self.merged.blocks_mut()[place].heading.clone_from(&self.theirs.blocks()[at].heading);
            self.merged.replace(place, text);
        }
        self.gone.extend(places.iter().skip(theirs.len()));
        let more = theirs.iter().skip(places.len()).map(|&at| self.copy(at)).collect::<Vec<_>>();
        if let (Some(&last), false) = (places.last(), more.is_empty()) {
            self.behind.entry(last + 1).or_default().extend(more);
        }
    }

    /// A block of theirs.
    fn copy(&self, at: usize) -> Block {
        Block::new(self.theirs.block_text(at).to_owned())
    }

    /// The merged text, if it is read as it is meant.
    fn finish(mut self) -> Option<Merged> {
        let old = std::mem::take(self.merged.blocks_mut());
        let mut is_behind_new = false;
        for (at, block) in old.into_iter().map(Some).chain([None]).enumerate() {
            for new in self.behind.remove(&at).into_iter().flatten() {
                self.merged.end_with_blank_line();
                self.merged.blocks_mut().push(new);
                is_behind_new = true;
            }
            if let Some(block) = block.filter(|_| !self.gone.contains(&at)) {
                if is_behind_new {
                    self.merged.end_with_blank_line();
                }
                self.merged.blocks_mut().push(block);
                is_behind_new = false;
            }
        }
        let text = self.merged.into_text().ok()?;
        let conflicts = read_back(&text, &self.meant)?;
        let notice = |meant: &Meant| {
            let [stays, other] = meant.names.as_ref()?;
            Some(format!(
                "{} is called `{stays}` on one side and `{other}` on the other: `{stays}` stays",
                meant.scope
            ))
        };
        Some(Merged { notices: self.meant.iter().filter_map(notice).collect(), text, conflicts })
    }
}

/// The texts of blocks.
fn texts<'a>(document: &'a Document, blocks: &[usize]) -> Vec<&'a str> {
    blocks.iter().map(|&at| document.block_text(at)).collect()
}

/// True if texts are the same but for blank lines at their ends.
fn same(one: &[&str], other: &[&str]) -> bool {
    one.len() == other.len() && one.iter().zip(other).all(|(one, other)| one.trim_end() == other.trim_end())
}

/// The conflicts of a merged text; `None` where its entries are not those that are meant.
fn read_back(text: &str, meant: &[Meant]) -> Option<Vec<MergeConflict>> {
    let found = conflicts(text);
    let rest = found.as_ref().map_or(text, |found| &found.rest);
    let document = Document::parse(rest.to_owned());
    for Meant { scope, entries, .. } in meant {
        let read: Vec<String> =
            document.entries(scope).map(|entry| entry.text().text().trim_end().to_owned()).collect();
        let mut expected: Vec<&str> = entries.iter().map(String::as_str).collect();
        let mut read: Vec<&str> = read.iter().map(String::as_str).collect();
        expected.sort_unstable();
        read.sort_unstable();
        if read.len() != expected.len()
            || !read.iter().zip(&expected).all(|(one, other)| same_lines(one, other))
        {
            return None;
        }
    }
    let lines = found.map(|found| found.lines).unwrap_or_default();
    if lines.len() != meant.iter().map(|meant| meant.conflicts).sum::<usize>() {
        return None;
    }
    let all: Vec<&str> = text.lines().collect();
    let conflict = |line: usize| {
        let title = all.get(line).and_then(|first| grammar::parse_entry(first)).map(|memory| memory.title)?;
        let scope = document
            .heading_lines()
            .take_while(|(_, at)| *at < line)
            .last()
            .map(|(scope, _)| scope.clone())?;
        Some(MergeConflict { entry: Some((scope, title)), line })
    };
    lines.into_iter().map(conflict).collect()
}

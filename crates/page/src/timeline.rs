//! The sections of a memory file at each step.
//!
//! The text of the file enters, then the edits of each step; the versions of each section leave. An edit touches one
//! section or two, so the text is kept in pieces, one a section, and only those are read again that an edit is in. It
//! always holds that the pieces are those into which [`Document`] cuts the whole text.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::evidence::may_hide_lines;
use crate::parts::{Parts, SectionParts};
use memories_document::Document;
use memories_document::scan::is_section_boundary;
use memories_document::types::Scope;
use memories_document::types::edit::{self, Edit};

/// The steps so far.
#[derive(Debug, Default)]
pub(super) struct Timeline {
    pieces: Vec<Piece>,
    parts: Parts,
    sections: BTreeMap<Scope, Versions>,
    /// Scopes that have several pieces.
    repeated: BTreeSet<Scope>,
}

/// The lines of the file from one section heading to the next.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Piece {
    scope: Option<Scope>,
    text: String,
}

/// A section through time.
#[derive(Debug, Default)]
pub(super) struct Versions {
    /// The step at which each begins, and its content; `None` where there is no such section.
    pub(super) list: Vec<(usize, Option<SectionParts>)>,
}

impl Timeline {
    /// The parts of all versions.
    pub(super) fn parts(&self) -> &Parts {
        &self.parts
    }

    /// The sections, in the order of a file.
    pub(super) fn sections(&self) -> impl Iterator<Item = (&Scope, &Versions)> {
        self.sections.iter()
    }

    /// The text of the file.
    pub(super) fn text(&self) -> String {
        self.pieces.iter().map(|piece| piece.text.as_str()).collect()
    }

    /// From this step on, the file has that text.
    pub(super) fn set(&mut self, step: usize, text: String) {
        let before = std::mem::replace(&mut self.pieces, pieces(text));
        let mut changed: BTreeMap<&Scope, [Vec<&str>; 2]> = BTreeMap::new();
        for (side, pieces) in [&before, &self.pieces].into_iter().enumerate() {
            for Piece { scope, text } in pieces {
                if let Some(scope) = scope {
                    changed.entry(scope).or_default()[side].push(text);
                }
            }
        }
        self.repeated = changed
            .iter()
            .filter(|(_, sides)| sides[1].len() > 1)
            .map(|(scope, _)| (*scope).clone())
            .collect();
        changed.retain(|_, [before, after]| before != after);
        let changed: Vec<(Scope, String)> =
            changed.into_iter().map(|(scope, [_, after])| (scope.clone(), after.concat())).collect();
        for (scope, text) in changed {
            self.add_version(step, scope, text);
        }
    }

    /// At this step, edits were made. False if they are no edits of this text; a part of them may be made then.
    #[must_use]
    pub(super) fn edit(&mut self, step: usize, edits: &[Edit]) -> bool {
        let mut touched = BTreeSet::new();
        let mut ends = self.ends();
        for (count, edit) in edits.iter().enumerate().rev() {
            match self.edit_one(&ends, edit) {
                Some(Edited::Text(scope)) => touched.extend(scope),
                Some(Edited::Pieces(scopes)) => {
                    touched.extend(scopes);
                    ends = self.ends();
                }
                None => {
                    // Everything is cut anew.
                    let mut text = self.text();
                    if edit::apply(&edits[..=count], &mut text).is_none() {
                        return false;
                    }
                    self.set(step, text);
                    break;
                }
            }
        }
        for scope in touched {
            let text = self.text_of(&scope);
            self.add_version(step, scope, text);
        }
        true
    }

    /// Makes an edit in the pieces that it is in; `None` where it may change how the rest of the text is cut. `ends` are
    /// the offsets at which the pieces end.
    fn edit_one(&mut self, ends: &[usize], Edit { at, removed, inserted }: &Edit) -> Option<Edited> {
        let first = ends.partition_point(|end| end < at).min(ends.len().checked_sub(1)?);
        let start = if first == 0 { 0 } else { ends[first - 1] };
        let last = ends.partition_point(|end| *end < at + removed.len()).min(ends.len() - 1);
        let before: Vec<Option<Scope>> =
            self.pieces[first..=last].iter().map(|piece| piece.scope.clone()).collect();
        let mut text: String = self.pieces[first..=last].iter().map(|piece| piece.text.as_str()).collect();
        let range = at - start..at - start + removed.len();
        if text.get(range.clone()) != Some(removed) || may_hide_lines(&text) {
            return None;
        }
        let is_below = first == last && is_below_headings(&text, &range);
        text.replace_range(range.clone(), inserted);
        let is_inside = is_below && is_below_headings(&text, &(range.start..range.start + inserted.len()));
        let joins_next = !text.ends_with('\n') && last + 1 < self.pieces.len();
        let joins_previous = first > 0 && !is_section_boundary(text.as_bytes());
        if may_hide_lines(&text) || joins_next || joins_previous {
            return None;
        }
        if is_inside {
            self.pieces[first].text = text;
            return Some(Edited::Text(before.into_iter().next().flatten()));
        }
        let after = pieces(text);
        let scopes = before.into_iter().chain(after.iter().map(|piece| piece.scope.clone())).flatten();
        let scopes: Vec<Scope> = scopes.collect();
        self.pieces.splice(first..=last, after);
        for scope in &scopes {
            let count = self.pieces.iter().filter(|piece| piece.scope.as_ref() == Some(scope)).count();
            if count > 1 {
                self.repeated.insert(scope.clone())
            } else {
                self.repeated.remove(scope)
            };
        }
        Some(Edited::Pieces(scopes))
    }

    /// The offsets at which the pieces end.
    fn ends(&self) -> Vec<usize> {
        let mut end = 0;
        let add = |piece: &Piece| {
            end += piece.text.len();
            end
        };
        self.pieces.iter().map(add).collect()
    }

    /// The sections of a scope as one text; empty where there is none.
    fn text_of(&self, scope: &Scope) -> String {
        let mut of_scope = self.pieces.iter().filter(|piece| piece.scope.as_ref() == Some(scope));
        if self.repeated.contains(scope) {
            of_scope.map(|piece| piece.text.as_str()).collect()
        } else {
            of_scope.next().map(|piece| piece.text.clone()).unwrap_or_default()
        }
    }

    fn add_version(&mut self, step: usize, scope: Scope, text: String) {
        let content = self.parts.of_section(text);
        let versions = &mut self.sections.entry(scope).or_default().list;
        // Several edits of a step make one version.
        if versions.last().is_some_and(|(at, _)| *at == step) {
            versions.pop();
        }
        let last = versions.last().map_or(&None, |(_, content)| content);
        if *last != content {
            versions.push((step, content));
        }
    }
}

/// The result of an edit of pieces.
enum Edited {
    /// One piece has a new text; the scope of the piece.
    Text(Option<Scope>),
    /// Pieces were cut anew; the scopes of the pieces.
    Pieces(Vec<Scope>),
}

fn pieces(text: String) -> Vec<Piece> {
    let document = Document::parse(text);
    let piece =
        |(scope, text): (Option<&Scope>, &str)| Piece { scope: scope.cloned(), text: text.to_owned() };
    document.pieces().map(piece).collect()
}

/// True if the lines of a piece in which a range is are below its first one, and none is a heading of a section.
fn is_below_headings(piece: &str, range: &Range<usize>) -> bool {
    let Some(start) = piece[..range.start].rfind('\n').map(|end| end + 1) else { return false };
    let end = piece[range.end..].find('\n').map_or(piece.len(), |end| range.end + end);
    !piece[start..end].lines().any(|line| line.starts_with('#') && !line.starts_with("###"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LINES: [&str; 16] = [
        "## Location 1: A\n",
        "## Location 2: B\r\n",
        "## World\n",
        "# T\n",
        "## Notes\n",
        "### Memories\n",
        "**Visits:** 3 | **Episodes:** 1, 2\n",
        "**[NOTE] a** *(Ep1, T3)*\n",
        "text\n",
        "\n",
        "- `n` → [B](#location-2-b) ×2 *(Ep1, T3)*\n",
        "### Tried\n",
        "- `eat x`, `take y` ×2 *(Ep2, T1)*: No.\n",
        "```\n",
        "<!-- x -->\n",
        "no end",
    ];

    fn text() -> impl Strategy<Value = Vec<&'static str>> {
        prop::collection::vec(prop::sample::select(&LINES[..]), 0..14)
    }

    /// The edits of lines that make one text of another: what both begin and end with stays, and one line between.
    fn edits(before: &str, after: &str) -> Vec<Edit> {
        let diff = similar::TextDiff::from_lines(before, after);
        let mut edits: Vec<Edit> = Vec::new();
        let (mut at, mut is_open) = (0, false);
        for change in diff.iter_all_changes() {
            if change.tag() == similar::ChangeTag::Equal {
                is_open = false;
            } else if !is_open {
                edits.push(Edit { at, removed: String::new(), inserted: String::new() });
                is_open = true;
            }
            match (change.tag(), edits.last_mut()) {
                (similar::ChangeTag::Delete, Some(edit)) => edit.removed.push_str(change.value()),
                (similar::ChangeTag::Insert, Some(edit)) => edit.inserted.push_str(change.value()),
                _ => {}
            }
            if change.tag() != similar::ChangeTag::Insert {
                at += change.value().len();
            }
        }
        edits
    }

    /// The same without the characters with which both sides begin.
    fn trimmed(mut edits: Vec<Edit>) -> Vec<Edit> {
        for edit in &mut edits {
            let pairs = edit.removed.chars().zip(edit.inserted.chars());
            let same: usize =
                pairs.take_while(|(one, other)| one == other).map(|(one, _)| one.len_utf8()).sum();
            edit.at += same;
            edit.removed.drain(..same);
            edit.inserted.drain(..same);
        }
        edits
    }

    proptest! {
        /// An edit leaves the same versions as the whole text after it.
        #[test]
        fn edits_give_what_whole_texts_give(texts in prop::collection::vec(text(), 1..6), mark in any::<bool>()) {
            let mark = if mark { "\u{FEFF}" } else { "" };
            let texts: Vec<String> = texts.iter().map(|lines| format!("{mark}{}", lines.concat())).collect();
            let (mut edited, mut whole) = (Timeline::default(), Timeline::default());
            let mut before = String::new();
            for (step, text) in texts.into_iter().enumerate() {
                prop_assert!(edited.edit(step, &trimmed(edits(&before, &text))));
                whole.set(step, text.clone());
                prop_assert_eq!(edited.text(), text.clone());
                prop_assert_eq!(&edited.pieces, &whole.pieces);
                before = text;
            }
            type Version = (Scope, usize, Option<(String, Vec<String>)>);
            let all = |timeline: &Timeline| -> Vec<Version> {
                let json = |numbers: &[u32]| numbers.iter().map(|number| timeline.parts.list()[*number as usize].to_string()).collect();
                let content = |content: &Option<SectionParts>| content.as_ref().map(|it| (it.name.clone(), json(&it.numbers)));
                timeline.sections().flat_map(|(scope, versions)| {
                    versions.list.iter().map(move |(step, it)| (scope.clone(), *step, content(it)))
                }).collect()
            };
            prop_assert_eq!(all(&edited), all(&whole));
        }
    }

    #[test]
    fn a_section_that_ends_has_a_last_version_without_content() {
        let mut timeline = Timeline::default();
        timeline.set(0, "## World\n\n**[NOTE] a**\nx\n".to_owned());
        timeline.set(1, String::new());
        let (scope, versions) = timeline.sections().next().unwrap();
        assert_eq!((scope, versions.list.len()), (&Scope::World, 2));
        assert!(versions.list[0].1.is_some() && versions.list[1].1.is_none());
    }
}

//! The memory file as a viewer sees it: what the viewer may not see is taken out of the text, so that whoever reads the
//! text cannot give it away.
//!
//! The documents of one file enter; their texts leave without the sections of other agents, the entries of other
//! witnesses, and what names these: links, and references of entries that they superseded.

use std::collections::HashSet;

use crate::entry_text::EntryText;
use crate::link::{Link, without_links};
use crate::parser::{Entry, parse_entries};
use crate::splice::blank_length;
use crate::tree::Document;
use crate::types::{Cause, Scope, Viewer, fold_title, may_name_witnesses};

/// The texts of the memory file and its session as a viewer sees them; `None` where the viewer sees all of both.
pub fn seen(viewer: &Viewer, documents: [&Document; 2]) -> Option<[String; 2]> {
    let hides = |document: &Document| {
        may_name_witnesses(document.source())
            || document.headings().any(|heading| !viewer.sees(&heading.scope))
    };
    if *viewer == Viewer::Person || !documents.iter().any(|document| hides(document)) {
        return None;
    }
    let mut titles = Titles::default();
    for (scope, text) in documents.iter().flat_map(|document| document.pieces()) {
        if let Some(scope) = scope.filter(|scope| viewer.sees(scope)) {
            titles.read(viewer, scope, text);
        }
    }
    let hidden = titles.hidden.difference(&titles.seen).cloned().collect();
    let text = Seen { viewer, hidden };
    Some(documents.map(|document| document.pieces().map(|(scope, piece)| text.of(scope, piece)).collect()))
}

/// True if a viewer knows what an entry says.
pub fn knows(viewer: &Viewer, entry: &EntryText<'_>) -> bool {
    *viewer == Viewer::Person
        || !may_name_witnesses(entry.text())
        || viewer.knows(&entry.read().provenance.witnesses())
}

/// The titles of entries that a viewer knows, and of those that it does not, each with its scope.
#[derive(Default)]
struct Titles {
    seen: HashSet<(Scope, String)>,
    hidden: HashSet<(Scope, String)>,
}

impl Titles {
    fn read(&mut self, viewer: &Viewer, scope: &Scope, text: &str) {
        for entry in parse_entries(text) {
            let entry = entry.of(text);
            let titles = if knows(viewer, &entry) { &mut self.seen } else { &mut self.hidden };
            titles.insert((scope.clone(), fold_title(&entry.title())));
        }
    }
}

/// What a viewer sees of sections.
struct Seen<'a> {
    viewer: &'a Viewer,
    /// Scopes and folded titles that no entry has which the viewer knows.
    hidden: HashSet<(Scope, String)>,
}

impl Seen<'_> {
    /// The text of a section, with its heading.
    fn of(&self, scope: Option<&Scope>, text: &str) -> String {
        let Some(scope) = scope else {
            return without_links(text, |link| self.hides(&Scope::World, link)).into_owned();
        };
        if !self.viewer.sees(scope) {
            return String::new();
        }
        let (mut kept, mut from) = (String::with_capacity(text.len()), 0);
        for entry in parse_entries(text) {
            let (start, end) = (entry.range.start, entry.range.end);
            let cut = if knows(self.viewer, &entry.of(text)) {
                self.reference(scope, text, &entry)
            } else {
                Some(start..end + blank_length(&text[end..]))
            };
            if let Some(cut) = cut {
                kept.push_str(&text[from..cut.start]);
                from = cut.end;
            }
        }
        kept.push_str(&text[from..]);
        without_links(&kept, |link| self.hides(scope, link)).into_owned()
    }

    /// The line of an entry that names a hidden one which superseded it.
    fn reference(&self, scope: &Scope, text: &str, entry: &Entry) -> Option<std::ops::Range<usize>> {
        if self.hidden.is_empty() || entry.of(text).is_live() {
            return None;
        }
        let Cause::SupersededBy(title) = entry.of(text).read().reference?.cause else { return None };
        self.hidden.contains(&(scope.clone(), fold_title(&title))).then_some(())?;
        let own = &text[entry.range.clone()];
        let first = own.find('\n')? + 1;
        let line = first + blank_length(&own[first..]);
        let end = own[line..].find('\n').map_or(own.len(), |end| line + end + 1);
        Some(entry.range.start + line..entry.range.start + end)
    }

    /// True for a link to what the viewer may not see.
    fn hides(&self, here: &Scope, link: &Link) -> bool {
        let is_hidden =
            |scope: &Scope, title: &str| self.hidden.contains(&(scope.clone(), fold_title(title)));
        link.scope.as_ref().is_some_and(|scope| !self.viewer.sees(scope))
            || link.title.as_ref().is_some_and(|title| is_hidden(link.scope.as_ref().unwrap_or(here), title))
            || is_hidden(here, &link.as_title())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "## Location 1: Hall\n\n### Memories\n\n\
        **[NOTE] Open**\nKnown to all.\nSee also: [[Secret]], [[World › Plan]], [[World › Told]]\n\n\
        **[NOTE] Secret** *(#witness:jordan)*\nThe key.\n\n\
        **[NOTE - SUPERSEDED] Old** *(Ep1)*\n[Superseded at Ep1 by \"Secret\"]\n~~Was so.~~\n\n\
        ## World\n\n**[NOTE] Plan** *(#witness:jordan)*\nA plan.\n\n\
        **[NOTE] Told** *(#witness:jordan, #Witness:Marta, #told-by:jordan)*\nIt was told.\n\n\
        ## Agent jordan: Jordan\n\n**[NOTE] Own**\nMine.\n\n## Agent marta\n\n**[NOTE] Self**\nMe.\n";

    fn of(viewer: &Viewer) -> Option<String> {
        let documents = [FILE, ""].map(|text| Document::parse(text.to_owned()));
        seen(viewer, [&documents[0], &documents[1]]).map(|[text, _]| text)
    }

    #[test]
    fn what_a_viewer_may_not_see_leaves_no_trace() {
        assert_eq!(of(&Viewer::Person), None);
        let marta = "## Location 1: Hall\n\n### Memories\n\n\
            **[NOTE] Open**\nKnown to all.\nSee also: [[World › Told]]\n\n\
            **[NOTE - SUPERSEDED] Old** *(Ep1)*\n~~Was so.~~\n\n\
            ## World\n\n**[NOTE] Told** *(#witness:jordan, #Witness:Marta, #told-by:jordan)*\nIt was told.\n\n\
            ## Agent marta\n\n**[NOTE] Self**\nMe.\n";
        assert_eq!(of(&Viewer::of(Some("marta"))).unwrap(), marta);
        let jordan = FILE.replace("## Agent marta\n\n**[NOTE] Self**\nMe.\n", "");
        assert_eq!(of(&Viewer::of(Some("jordan"))).unwrap(), jordan);
    }

    #[test]
    fn a_file_without_marks_is_not_copied() {
        let documents =
            ["## World\n\n**[NOTE] a** *(#troll)*\n", ""].map(|text| Document::parse(text.to_owned()));
        assert_eq!(seen(&Viewer::of(Some("jo")), [&documents[0], &documents[1]]), None);
    }
}

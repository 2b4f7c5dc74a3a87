//! The memory file as a viewer sees it: what the viewer may not see is taken out of the text, so that whoever reads the
//! text cannot give it away.
//!
//! The documents of one file enter; their texts leave without the sections of other agents, the entries and the evidence
//! of other witnesses, and what names these: links, references of entries that they superseded, and the names of
//! sections of which nothing is left.

use std::collections::HashSet;
use std::ops::Range;

use crate::entry_text::EntryText;
use crate::evidence::{is_list_item, parse_attempts};
use crate::grammar::parse_reference;
use crate::link::{Link, without_links};
use crate::parser::{Entry, is_continuation, parse_entries, parse_section};
use crate::region::{Region, RegionKind};
use crate::scan::line_ranges;
use crate::splice::blank_length;
use crate::tree::Document;
use crate::types::{Cause, Scope, Viewer, fold_title, may_name_witnesses};
use crate::ways::parse_way;

/// The texts of the memory file and its session as a viewer sees them; `None` where the viewer sees all of both.
pub fn seen(viewer: &Viewer, documents: [&Document; 2]) -> Option<[String; 2]> {
    let names_witnesses = documents.iter().any(|document| may_name_witnesses(document.source()));
    let mut headings = documents.iter().flat_map(|document| document.headings());
    let mut hides = || names_witnesses || headings.any(|heading| !viewer.sees(&heading.scope));
    if *viewer == Viewer::Person || !hides() {
        return None;
    }
    let mut titles = Titles::default();
    for (scope, text) in documents.iter().flat_map(|document| document.pieces()) {
        if let Some(scope) = scope.filter(|scope| viewer.sees(scope)) {
            titles.read(viewer, scope, text);
        }
    }
    let hidden = titles.hidden.difference(&titles.seen).cloned().collect();
    let mut seen = Seen { viewer, hidden, gone: HashSet::new() };
    let pieces = documents
        .map(|document| document.pieces().map(|(scope, text)| seen.piece(scope, text)).collect::<Vec<_>>());
    if names_witnesses {
        seen.gone = gone(&pieces.iter().flatten().collect::<Vec<_>>());
    }
    Some(pieces.map(|pieces| pieces.iter().map(|piece| seen.text_of(piece)).collect()))
}

/// The scopes of which a viewer knows nothing: nothing is left of what stood there, and of a place nothing stands there
/// and no way is left that leads there.
fn gone(pieces: &[&Piece<'_>]) -> HashSet<Scope> {
    let is_bare = |piece: &&&Piece<'_>| {
        let is_place = matches!(piece.scope, Some(Scope::Location(_)));
        (is_place || !piece.cut.is_empty()) && piece.is_bare()
    };
    let bare = pieces.iter().filter(is_bare).filter_map(|piece| piece.scope.cloned());
    let mut gone: HashSet<Scope> = bare.collect();
    let left = pieces.iter().filter(|piece| !piece.is_bare()).filter_map(|piece| piece.scope.cloned());
    for scope in left.chain(pieces.iter().flat_map(|piece| linked(&piece.kept))) {
        gone.remove(&scope);
    }
    gone
}

/// The places to which ways of a text lead.
fn linked(text: &str) -> impl Iterator<Item = Scope> {
    let ids = text.match_indices("](#location-").map(|(at, link)| &text[at + link.len()..]);
    ids.filter_map(|rest| {
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        rest[..end].parse().ok().map(Scope::Location)
    })
}

/// A section, or what stands above and between them, without what a viewer may not see.
#[derive(Default)]
struct Piece<'a> {
    scope: Option<&'a Scope>,
    kept: String,
    cut: String,
}

impl Piece<'_> {
    /// Takes a part of a text out; what stands before it and was not taken yet stays.
    fn cut(&mut self, text: &str, from: &mut usize, range: Range<usize>) {
        self.kept.push_str(&text[*from..range.start.max(*from)]);
        self.cut.push_str(&text[range.start.max(*from)..range.end.max(*from)]);
        *from = range.end.max(*from);
    }

    /// True if nothing stands there but headings and visits.
    fn is_bare(&self) -> bool {
        let is_frame = |line: &str| {
            line.trim().is_empty()
                || line == "---"
                || line.starts_with("### ")
                || line.starts_with("**Visits:**")
        };
        self.kept.lines().skip(1).all(is_frame)
    }
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
    /// Scopes of which the viewer knows nothing.
    gone: HashSet<Scope>,
}

impl Seen<'_> {
    /// The text of a section, with its heading, without the entries and the evidence of others.
    fn piece<'d>(&self, scope: Option<&'d Scope>, text: &str) -> Piece<'d> {
        let (mut piece, mut from) = (Piece { scope, ..Piece::default() }, 0);
        if scope.is_some_and(|scope| !self.viewer.sees(scope)) {
            return piece;
        }
        if let Some(scope) = scope.filter(|_| may_name_witnesses(text) || !self.hidden.is_empty()) {
            let parsed = parse_section(text);
            let entries = parsed.entries.iter().filter_map(|entry| self.cut_of_entry(scope, text, entry));
            let regions = parsed.regions.iter().filter(|region| region.kind.is_evidence());
            let mut cuts: Vec<_> =
                entries.chain(regions.flat_map(|region| self.lines(text, region))).collect();
            cuts.sort_by_key(|range| range.start);
            cuts.into_iter().for_each(|range| piece.cut(text, &mut from, range));
        }
        piece.kept.push_str(&text[from..]);
        piece
    }

    fn cut_of_entry(&self, scope: &Scope, text: &str, entry: &Entry) -> Option<Range<usize>> {
        let Range { start, end } = entry.range;
        if knows(self.viewer, &entry.of(text)) {
            return self.reference(scope, text, entry);
        }
        Some(start..end + blank_length(&text[end..]))
    }

    /// The lines of a list of evidence that others know, with what is indented below them; all of the list, where no
    /// other line is left. A line that may name witnesses and is not understood is one of these.
    fn lines(&self, text: &str, region: &Region) -> Vec<Range<usize>> {
        let (mut cuts, mut is_cut, mut is_left) = (Vec::new(), false, false);
        for range in line_ranges(text.as_bytes(), region.range.clone()) {
            let line = &text[range.clone()];
            let is_heading = range.start == region.range.start;
            if is_list_item(line) {
                is_cut = !self.knows_line(region.kind, line.trim_end());
            } else if !is_continuation(line) {
                is_cut = false;
            }
            is_left |= !is_cut && !is_heading && !line.trim().is_empty();
            cuts.extend(is_cut.then_some(range));
        }
        if cuts.is_empty() || is_left { cuts } else { vec![region.range.clone()] }
    }

    fn knows_line(&self, kind: RegionKind, line: &str) -> bool {
        let witnesses = || match kind {
            RegionKind::Ways => parse_way(line).map(|line| line.way.witnesses),
            _ => parse_attempts(line)?.attempts.into_iter().next().map(|attempt| attempt.witnesses),
        };
        !may_name_witnesses(line) || witnesses().is_some_and(|witnesses| self.viewer.knows(&witnesses))
    }

    /// The text of a piece without links to what the viewer may not see; empty where the viewer knows nothing of it.
    fn text_of(&self, piece: &Piece<'_>) -> String {
        if piece.scope.is_some_and(|scope| self.gone.contains(scope)) {
            return String::new();
        }
        without_links(&piece.kept, |link| self.hides(piece.scope.unwrap_or(&Scope::World), link)).into_owned()
    }

    /// The line of an entry that names a hidden one which superseded it.
    fn reference(&self, scope: &Scope, text: &str, entry: &Entry) -> Option<Range<usize>> {
        if self.hidden.is_empty() {
            return None;
        }
        let line = entry.reference_line(text)?;
        let Cause::SupersededBy(title) = parse_reference(&text[line.clone()])?.cause else { return None };
        self.hidden.contains(&(scope.clone(), fold_title(&title))).then_some(line)
    }

    /// True for a link to what the viewer may not see.
    fn hides(&self, here: &Scope, link: &Link) -> bool {
        let is_hidden =
            |scope: &Scope, title: &str| self.hidden.contains(&(scope.clone(), fold_title(title)));
        link.scope.as_ref().is_some_and(|scope| !self.viewer.sees(scope) || self.gone.contains(scope))
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
    fn evidence_of_others_leaves_with_all_that_only_it_names() {
        let file = "## Location 1: Hall\n**Visits:** 2\n\n### Ways\n\n\
            - `n` → [Attic](#location-2-attic)\n- `say xyzzy` → [Vault](#location-3-vault) *(Ep1, T2, #witness:jordan)*\n\n\
            ### Worked\n\n- `pull lever` *(Ep1, T1, #witness:jordan)*\n  It is behind the clock.\n\n\
            ### Tried\n\n- `push`, `eat lamp` *(Ep1, T3, #witness:marta, #witness:jordan, blocked)*: No.\n\
            - `dig` *(#witness:)*: Gold!\n- `jump` *(Ep1, T4, #witness:jordan)* You fly.\n- `sing` *(Ep1, T5)*: La #was.\n\n---\n\n\
            ## Location 2: Attic\n**Visits:** 1\n\n### Seen\n\n- `look` *(#witness:jordan)*: Dust.\n\n---\n\n\
            ## Location 3: Vault\n**Visits:** 1\n\n---\n\n## Topic plot: The plot\n\n**[NOTE] x** *(#witness:jordan)*\ny\n\n\
            ## World\n\n**[NOTE] a**\nb\nSee also: [[Topic plot]], [[Location 3]], [[Location 2]]\n";
        let documents = [file, ""].map(|text| Document::parse(text.to_owned()));
        let [marta, _] = seen(&Viewer::of(Some("marta")), [&documents[0], &documents[1]]).unwrap();
        let expected = "## Location 1: Hall\n**Visits:** 2\n\n### Ways\n\n- `n` → [Attic](#location-2-attic)\n\n\
            ### Tried\n\n- `push`, `eat lamp` *(Ep1, T3, #witness:marta, #witness:jordan, blocked)*: No.\n\
            - `sing` *(Ep1, T5)*: La #was.\n\n---\n\n## Location 2: Attic\n**Visits:** 1\n\n---\n\n\
            ## World\n\n**[NOTE] a**\nb\nSee also: [[Location 2]]\n";
        assert_eq!(marta, expected);
    }

    #[test]
    fn a_bare_place_stays_in_a_file_that_names_no_witness() {
        let file = "## Location 1: Maze\n\n## Location 2: Maze\n\n";
        let with_agent = format!("{file}## Agent jordan\n\n**[NOTE] Own**\nMine.\n");
        let documents = [&*with_agent, ""].map(|text| Document::parse(text.to_owned()));
        let [seen, _] = seen(&Viewer::of(Some("jo")), [&documents[0], &documents[1]]).unwrap();
        assert_eq!(seen, file);
    }

    #[test]
    fn a_file_without_marks_is_not_copied() {
        let documents =
            ["## World\n\n**[NOTE] a** *(#troll)*\n", ""].map(|text| Document::parse(text.to_owned()));
        assert_eq!(seen(&Viewer::of(Some("jo")), [&documents[0], &documents[1]]), None);
    }
}

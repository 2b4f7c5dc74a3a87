//! Merges the sections of one scope.

use crate::merge::entries::Entries;
use crate::merge::entry::Version;
use crate::merge::evidence::{merge_attempts, merge_ways};
use crate::merge::result::Labels;
use crate::merge::section::{Body, SectionMerge};
use crate::merge::values::Three;
use crate::region::RegionKind;
use crate::section::Section;
use crate::tree::Document;
use crate::types::{Scope, Way};

/// The sections of one scope in the three texts.
pub(super) struct Sections<'a> {
    pub(super) scope: &'a Scope,
    pub(super) base: &'a [&'a str],
    pub(super) ours: &'a [&'a str],
    pub(super) theirs: &'a [&'a str],
}

/// The sections of a scope as they are meant, to be compared with what is read back.
pub(super) struct Meant {
    pub(super) scope: Scope,
    /// The lines of each entry that is not in conflict.
    pub(super) entries: Vec<String>,
    /// The number of conflicts.
    pub(super) conflicts: usize,
    /// A name that was not taken over, and the one that stays.
    pub(super) names: Option<[String; 2]>,
}

/// Merges the sections of a scope, which stand in these blocks. Base and theirs have as many of them, or none.
pub(super) fn merge_scope(
    merged: &mut Document,
    blocks: &[usize],
    sections: &Sections<'_>,
    labels: Option<Labels<'_>>,
) -> Meant {
    let [base, ours, theirs] = [sections.base, sections.ours, sections.theirs]
        .map(|texts| texts.iter().map(|text| Body::of(text)).collect::<Vec<_>>());
    let style = merged.style();
    let versions = [&base, &ours, &theirs].map(|bodies| versions(bodies));
    let scope = sections.scope;
    let entries = Entries { scope, base: &versions[0], ours: &versions[1], theirs: &versions[2] };
    let items = entries.merge(labels, style.fences);
    let mut names = None;
    let (mut of_ours, mut of_theirs) = (0, 0);
    for (at, &block) in blocks.iter().enumerate() {
        let section = SectionMerge { base: base.get(at), ours: &ours[at], theirs: theirs.get(at), style };
        let their_entries = section.theirs.map_or(0, |body| body.parsed.entries.len());
        let edits = section.edits(&items, of_ours, of_theirs..of_theirs + their_entries);
        let text = edits.apply(section.ours.text, style);
        names = names.or(section.clashing_names());
        let name = section.new_name();
        if text != section.ours.text {
            merged.replace(block, text);
        }
        if let Some(name) = name {
            merged.set_heading(block, sections.scope, &name);
        }
        of_ours += section.ours.parsed.entries.len();
        of_theirs += their_entries;
    }
    merge_evidence(merged, scope, blocks, [&base, &ours, &theirs]);
    let conflicts = items.iter().filter(|item| item.is_conflict).count();
    let entries = items.into_iter().filter(|item| !item.is_conflict).map(|item| item.lines).collect();
    Meant { scope: sections.scope.clone(), entries, conflicts, names }
}

/// The entries of a scope's sections, in their order.
fn versions<'a>(bodies: &[Body<'a>]) -> Vec<Version<'a>> {
    let of_body = |body: &Body<'a>| -> Vec<Version<'a>> {
        body.parsed.entries.iter().map(|entry| Version::new(entry.of(body.text))).collect()
    };
    bodies.iter().flat_map(of_body).collect()
}

/// All but the memories of a scope's sections.
fn evidence(scope: &Scope, bodies: &[Body<'_>]) -> Section {
    let mut section = Section::default();
    for body in bodies {
        section.append(None, &body.parsed);
        section.keep_latest(scope);
    }
    section
}

fn merge_evidence(merged: &mut Document, scope: &Scope, blocks: &[usize], bodies: [&Vec<Body<'_>>; 3]) {
    let [base, ours, theirs] = bodies.map(|bodies| evidence(scope, bodies));
    let three = Three { base: &base, ours: &ours, theirs: &theirs };
    let ways = merge_ways(&three.of(|section| section.ways.as_slice()));
    if !ways.gone.is_empty() {
        merged.remove_ways(blocks, |way| ways.gone.contains(&way.key()));
    }
    let names = |way: &Way| {
        let name = merged
            .headings()
            .find(|heading| heading.scope == Scope::Location(way.to))
            .map(|heading| heading.name.clone());
        Way { name: name.filter(|name| !name.is_empty()).unwrap_or_else(|| way.name.clone()), ..way.clone() }
    };
    let put: Vec<Way> = ways.put.iter().map(names).collect();
    if !put.is_empty() {
        merged.put_ways(blocks, &put);
    }
    for kind in RegionKind::ACTIONS {
        let changes = merge_attempts(scope, &three.of(|section| section.attempts(kind)));
        if !changes.is_empty() {
            merged.edit_attempts(blocks, kind, |lists| {
                lists.remove(|attempt| changes.gone.contains(&attempt.key(scope)));
                changes.put.iter().for_each(|attempt| lists.put(attempt));
            });
        }
    }
}

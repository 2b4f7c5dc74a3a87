//! Finds parts that a merge by lines left twice: visits lines, lists, sections, and lines about one action.
//!
//! A text enters; duplicate parts leave as problems, or joined by the rules of `merge` (`docs/reference/merge.md`).
//! Parts that cannot be joined without losing a word stay as they are.

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

use similar::{ChangeTag, TextDiff};

use crate::format::{Formatted, LineChange, mend};
use crate::merge;
use crate::parser::{ParsedSection, parse_section};
use crate::problem::{Kind, Problem};
use crate::region::{Region, RegionKind};
use crate::scan;
use crate::splice::{Style, splice_all};
use crate::tree::{Block, Document};
use crate::types::Scope;
use crate::visits;

/// The twins of one section. Their lines count from its heading, which is line 0. The parser reports second visits
/// lines.
pub(super) fn problems(scope: &Scope, text: &str, parsed: &ParsedSection) -> Vec<Problem> {
    let lists = second_lists(parsed);
    let lists = lists.map(|region| (region.range.start, Kind::SecondList(region.kind.heading())));
    let mut found: Vec<(usize, Kind)> = lists.collect();
    for kind in RegionKind::ACTIONS {
        let lines = parsed.attempts(kind).iter();
        let actions = lines.flat_map(|line| {
            let (start, is_whole) = (line.range.start, line.value.is_whole);
            line.value
                .attempts
                .iter()
                .map(move |attempt| (attempt.key(scope), start, is_whole, &*attempt.action))
        });
        found.extend(second_lines(actions));
    }
    let ways = parsed.ways.iter().map(|line| {
        let way = &line.value.way;
        (way.key(), line.range.start, line.value.is_whole, &*way.action)
    });
    found.extend(second_lines(ways));
    found.into_iter().map(|(start, kind)| Problem::new(scan::line_number(text, start) - 1, 1, kind)).collect()
}

/// The regions of a part of a section that begins for the second time.
fn second_lists(parsed: &ParsedSection) -> impl Iterator<Item = &Region> {
    let mut known: Vec<RegionKind> = Vec::new();
    let parts = parsed.regions.iter().filter(|region| !region.kind.heading().is_empty());
    parts.filter(move |region| {
        let is_second = known.contains(&region.kind);
        if !is_second {
            known.push(region.kind);
        }
        is_second
    })
}

/// Lines about something that another line is about, too: key, start of the line, whether it is whole, and its action.
fn second_lines<'a, K: Hash + Eq>(
    lines: impl Iterator<Item = (K, usize, bool, &'a str)>,
) -> Vec<(usize, Kind)> {
    let mut about: HashMap<K, Vec<(usize, bool, &str)>> = HashMap::new();
    for (key, start, is_whole, action) in lines {
        about.entry(key).or_default().push((start, is_whole, action));
    }
    let mut found = Vec::new();
    for twins in about.into_values().filter(|twins| twins.len() > 1) {
        let is_joined = twins.iter().all(|(_, is_whole, _)| *is_whole);
        let (start, _, action) = twins[1];
        found.push((start, Kind::SecondLine { action: action.to_owned(), is_joined }));
    }
    found.sort_by_key(|(start, _)| *start);
    found
}

/// True if two sections of a scope can be one: neither name is lost.
pub(super) fn have_one_name(one: &str, other: &str) -> bool {
    one.is_empty() || other.is_empty() || one == other
}

/// Mends a file as [`mend`] does, and joins its twins.
pub fn fix(source: &str) -> Formatted {
    let mended = mend(source);
    let joined = join(&mended.text);
    if joined.changes.is_empty() {
        return mended;
    }
    let joined = mended.then(joined);
    let again = mend(&joined.text);
    joined.then(again)
}

/// Joins the twins of a file.
fn join(source: &str) -> Formatted {
    let unchanged = || Formatted { text: source.to_owned(), changes: Vec::new() };
    let mut document = Document::parse(source.to_owned());
    // An unclosed fence or comment may reach into later sections, so no section can be joined on its own.
    if document.is_unclosed() {
        return unchanged();
    }
    let is_changed = join_within(&mut document) | join_sections(&mut document);
    match document.into_text() {
        Ok(text) if is_changed => Formatted { changes: changed_lines(source, &text), text },
        _ => unchanged(),
    }
}

/// Joins the twins within each section; true if any changed.
fn join_within(document: &mut Document) -> bool {
    let mut is_changed = false;
    for at in 0..document.blocks().len() {
        if document.blocks()[at].heading.is_none() {
            continue;
        }
        let style = document.style();
        while let Some(text) = joined_section(document.block_text(at), document.parsed(at), style) {
            document.replace(at, text);
            is_changed = true;
        }
    }
    is_changed
}

/// The section with one twin less; `None` where there is none that can be joined.
fn joined_section(text: &str, parsed: &ParsedSection, style: Style) -> Option<String> {
    let second_visits = parsed.problems.iter().find(|problem| problem.kind == Kind::SecondVisits);
    if let (Some(problem), Some((visits, range))) = (second_visits, &parsed.visits) {
        let second = scan::lines(text).into_iter().nth(problem.line)?;
        let joined = merge::join_visits(visits, &visits::parse_visits(second.text(text))?);
        let line = format!("{}\n", visits::write_visits(&joined));
        return Some(splice_all(text, &[(range.clone(), line), (second.range, String::new())], style));
    }
    second_lists(parsed).find_map(|region| {
        let heading = text.split_inclusive('\n').next()?;
        let (before, list, behind) =
            (&text[..region.range.start], &text[region.range.clone()], &text[region.range.end..]);
        let joined = merge::join(&[before, behind].concat(), &format!("{heading}{list}"))?;
        (parse_section(&joined).regions.len() < parsed.regions.len()).then_some(joined)
    })
}

/// Joins sections of one scope, in the place of the first; true if any changed.
fn join_sections(document: &mut Document) -> bool {
    let mut by_scope: BTreeMap<Scope, Vec<usize>> = BTreeMap::new();
    for (at, block) in document.blocks().iter().enumerate() {
        if let Some(heading) = &block.heading {
            by_scope.entry(heading.scope.clone()).or_default().push(at);
        }
    }
    let mut gone = Vec::new();
    for places in by_scope.into_values() {
        let (first, others) = places.split_first().expect("a scope with a section");
        for &other in others {
            let name = |at: usize| document.blocks()[at].heading.as_ref().map_or("", |heading| &heading.name);
            if !have_one_name(name(*first), name(other)) {
                continue;
            }
            let Some(text) = merge::join(document.block_text(*first), document.block_text(other)) else {
                continue;
            };
            document.blocks_mut()[*first] = Block::new(text);
            gone.push(other);
        }
    }
    let mut at = 0;
    document.blocks_mut().retain(|_| {
        at += 1;
        !gone.contains(&(at - 1))
    });
    !gone.is_empty()
}

/// The lines of a text that left or came.
fn changed_lines(before: &str, after: &str) -> Vec<LineChange> {
    let [old, new] = [before, after].map(|text| text.split_inclusive('\n').collect::<Vec<&str>>());
    let diff = TextDiff::from_slices(&old, &new);
    let mut line = 1;
    let mut changes = Vec::new();
    for change in diff.iter_all_changes() {
        let text = || Some(change.value().trim_end_matches(['\r', '\n']).to_owned());
        match change.tag() {
            ChangeTag::Equal => line += 1,
            ChangeTag::Insert => changes.push(LineChange { line, before: None, after: text() }),
            ChangeTag::Delete => {
                changes.push(LineChange { line, before: text(), after: None });
                line += 1;
            }
        }
    }
    changes
}

#[cfg(test)]
mod tests {
    use crate::check;
    use crate::twins::fix;

    fn kinds(text: &str) -> Vec<(usize, &'static str)> {
        check::problems(text).iter().map(|problem| (problem.line, <&str>::from(&problem.kind))).collect()
    }

    /// The text after `check --fix`, which is clean and stays so.
    fn fixed(text: &str) -> String {
        let fixed = fix(text).text;
        assert_eq!(kinds(&fixed), [], "{fixed}");
        assert_eq!(fix(&fixed).text, fixed);
        fixed
    }

    const HEAD: &str = "## Location 1: Hall\n";

    #[test]
    fn visits_lines_are_one() {
        for (one, other, expected) in [
            ("4 | **Episodes:** 1 (T3), 2", "3 | **Episodes:** 1 (T3), 3", "5 | **Episodes:** 1 (T3), 2, 3"),
            ("1 | **Episodes:** 1 (T9)", "1 | **Episodes:** 1 (T4)", "2 | **Episodes:** 1 (T4)"),
            ("2 | **Episodes:** 4", "3 | **Episodes:** 2 (T7), 3", "5 | **Episodes:** 2 (T7), 3, 4"),
            ("2 | **Episodes:** 1", "2 | **Episodes:** 1", "2 | **Episodes:** 1"),
            ("2 | **Mood:** calm", "3 | **Light:** dim", "5 | **Mood:** calm | **Light:** dim"),
        ] {
            let text = format!("{HEAD}**Visits:** {one}\n**Visits:** {other}\n\n---\n");
            assert_eq!(kinds(&text), [(3, "second_visits")]);
            assert_eq!(fixed(&text), format!("{HEAD}**Visits:** {expected}\n\n---\n"));
        }
    }

    #[test]
    fn lists_are_one_and_counts_add_up() {
        let text = format!(
            "{HEAD}\n### Memories\n\n**[NOTE] a** *(Ep1)*\none\n\n### Tried\n\n- `sing` *(Ep1, T2)*: No.\n\n\
             ### Memories\n\n**[NOTE] b** *(Ep2)*\ntwo\n<!-- mine -->\n\n### Tried\n\n\
             - `dance` ×2 *(Ep2, T9)*: No.\n- `sing` ×2 *(Ep2, T4)*: No.\n\n---\n"
        );
        assert_eq!(kinds(&text), [(12, "second_list"), (18, "second_list"), (21, "second_line")]);
        let expected = format!(
            "{HEAD}\n### Memories\n\n**[NOTE] a** *(Ep1)*\none\n\n**[NOTE] b** *(Ep2)*\ntwo\n<!-- mine -->\n\n\
             ### Tried\n\n- `dance` ×2 *(Ep2, T9)*, `sing` ×3 *(T4)*: No.\n\n---\n"
        );
        let mut words: Vec<String> = fixed(&text).split_whitespace().map(str::to_owned).collect();
        let mut meant: Vec<String> = expected.split_whitespace().map(str::to_owned).collect();
        words.sort_unstable();
        meant.sort_unstable();
        assert_eq!(words, meant, "{}", fixed(&text));
    }

    #[test]
    fn sections_are_one_unless_they_bear_two_names() {
        let section = |name: &str, entry: &str| {
            format!(
                "## Location 1{name}\n**Visits:** 1 | **Episodes:** 1\n\n### Memories\n\n{entry}\n---\n\n"
            )
        };
        let (one, other) = ("**[NOTE] a** *(Ep1)*\none\n", "**[NOTE] b** *(Ep1)*\ntwo\n");
        let between = "## World\n\nmine\n\n---\n\n";
        for names in [[": Hall", ""], ["", ": Hall"], [": Hall", ": Hall"]] {
            let text = format!("{}{between}{}", section(names[0], one), section(names[1], other));
            assert_eq!(kinds(&text).last().map(|(_, kind)| *kind), Some("second_section"));
            let joined = section(": Hall", &format!("{one}\n{other}")).replace("Visits:** 1", "Visits:** 2");
            assert_eq!(fixed(&text), format!("{joined}{between}"));
        }
        let two = format!("{}{between}{}", section(": Hall", one), section(": Lobby", other));
        assert_eq!(fix(&two).text, two);
        let hint = check::problems(&two)[0].hint();
        assert!(hint.contains("one name"), "{hint}");
    }

    #[test]
    fn a_line_of_a_person_stays_and_is_reported() {
        let text = format!(
            "{HEAD}\n### Tried\n\n- `sing` ×2 *(Ep1, T2)*: No.\n- `sing` *(Ep1, T9, #why)*: No, never.\n\n---\n"
        );
        assert_eq!(fix(&text).text, text);
        assert_eq!(kinds(&text), [(6, "second_line")]);
    }
}

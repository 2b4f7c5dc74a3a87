//! Formats a file: the work of `fmt`.
//!
//! Lines of the grammar are written in their canonical form: section headings, `### Memories` and
//! `### Tried`, visits, entries, reference lines, tried actions, and the `---` that ends a section with
//! the blank line before it. A line changes only if it reads the same before and after, so nothing that
//! the file says is lost. Other lines stay byte for byte; order and line endings stay.

use std::ops::Range;

use crate::evidence::{AttemptLine, write_attempts};
use crate::fold::{fold_attempts, folded_ways};
use crate::grammar;
use crate::misread::misread;
use crate::parser::{ParsedSection, have_worked};
use crate::problem::Problem;
use crate::region::Placed;
use crate::scan::{LineNumbers, line_end};
use crate::splice::ends_with_blank_line;
use crate::tree::Document;
use crate::types::{Memory, Provenance, Scope};
use crate::visits;
use crate::ways::{WayLine, parse_way, write_way};

/// The canonical form of a file and the lines that differ from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Formatted {
    /// The whole text.
    pub text: String,
    /// The lines that differ, in the order of the file.
    pub changes: Vec<LineChange>,
}

/// A line that is changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineChange {
    /// Its number in the file before, from 1.
    pub line: usize,
    /// The line before; `None` if a line is inserted before it.
    pub before: Option<String>,
    /// The line after, without its line ending; `None` if the line is removed.
    pub after: Option<String>,
}

/// Writes a file in its canonical form.
pub fn format(source: &str) -> Formatted {
    canonical_form(&Document::parse(source.to_owned()))
}

/// Rounds of mending: a mended heading makes a section, whose lines can then be mended.
const MAX_ROUNDS: usize = 8;

/// Writes a file in its canonical form, and lines that are misread and can mean only one thing as what
/// they mean.
pub fn mend(source: &str) -> Formatted {
    let mut done = Formatted { text: source.to_owned(), changes: Vec::new() };
    for _ in 0..MAX_ROUNDS {
        let document = Document::parse(done.text.clone());
        let mut round = apply(&document, mends(misread(&document)));
        if round.changes.is_empty() {
            round = canonical_form(&document);
        }
        if round.changes.is_empty() {
            break;
        }
        done = done.then(round);
    }
    done
}

/// The edits that mend what is misread; several problems of an entry share one.
fn mends(problems: Vec<Problem>) -> Vec<(Range<usize>, String)> {
    let nearest = problems.into_iter().filter_map(|problem| problem.nearest);
    let mut mends: Vec<_> = nearest.filter_map(|nearest| Some((nearest.mend?, nearest.line))).collect();
    mends.dedup();
    mends
}

fn canonical_form(document: &Document) -> Formatted {
    let source = document.source();
    let mut edits: Vec<(Range<usize>, String)> = Vec::new();
    for block in document.blocks() {
        let (Some(heading), Some(start)) = (&block.heading, block.source_start()) else { continue };
        let mut section = Section { text: block.text(source), start, edits: &mut edits };
        section.rewrite(&heading.scope, block.parsed(source));
    }
    apply(document, edits)
}

impl Formatted {
    /// These changes and those of the next round as changes of the first text.
    pub(super) fn then(self, next: Formatted) -> Formatted {
        let mut earlier = self.changes.into_iter().peekable();
        let mut changes = Vec::with_capacity(earlier.len() + next.changes.len());
        // A line's number in the first text is its number in this round plus the shift.
        let mut shift = 0_isize;
        for change in next.changes {
            let at = change.line.cast_signed();
            let mut change = LineChange { line: (at + shift).cast_unsigned(), ..change };
            while let Some(before) = earlier.next_if(|before| {
                let line = before.line.cast_signed() - shift;
                line < at || (line == at && (before.before.is_none() || change.before.is_some()))
            }) {
                let is_same = before.before.is_some() && before.line == change.line;
                let removed = isize::from(before.after.is_none());
                let joined = |lines: &String| lines.matches('\n').count().cast_signed() + removed;
                shift += before.before.as_ref().map_or(-1, joined);
                if is_same {
                    let joined = change.before.as_deref().and_then(|lines| lines.split_once('\n'));
                    let more = joined.map(|(_, more)| format!("\n{more}")).unwrap_or_default();
                    change.before = before.before.map(|before| before + &more);
                    break;
                }
                changes.push(before);
                change.line = (at + shift).cast_unsigned();
            }
            changes.push(change);
        }
        changes.extend(earlier);
        Formatted { text: next.text, changes }
    }
}

/// Makes the edits: an empty range has a line inserted before it, and a line for which there is no text is removed.
fn apply(document: &Document, mut edits: Vec<(Range<usize>, String)>) -> Formatted {
    let source = document.source();
    for (_, after) in &mut edits {
        *after = document.style().convert(after);
    }
    edits.retain(|(range, after)| range.is_empty() || source[range.clone()] != *after);
    if edits.is_empty() {
        return Formatted { text: source.to_owned(), changes: Vec::new() };
    }
    edits.sort_by_key(|(range, _)| range.start);
    let numbers = LineNumbers::of(source);
    let mut text = String::with_capacity(source.len() + 64);
    let mut changes = Vec::with_capacity(edits.len());
    let mut done = 0;
    for (range, after) in edits {
        text.push_str(&source[done..range.start]);
        text.push_str(&after);
        let before = if range.is_empty() {
            text.push_str(document.style().line_ending);
            None
        } else {
            Some(source[range.clone()].to_owned())
        };
        done = range.end;
        let is_removed = after.is_empty() && before.is_some();
        if is_removed {
            done = line_end(source.as_bytes(), done);
        }
        let after = (!is_removed).then_some(after);
        changes.push(LineChange { line: numbers.line(range.start), before, after });
    }
    text.push_str(&source[done..]);
    Formatted { text, changes }
}

/// A section to format; `start` is its offset in the file.
struct Section<'a> {
    text: &'a str,
    start: usize,
    edits: &'a mut Vec<(Range<usize>, String)>,
}

impl Section<'_> {
    fn rewrite(&mut self, scope: &Scope, parsed: &ParsedSection) {
        let heading = line_at(self.text, 0);
        self.put(heading, |line| {
            canonical(line, grammar::parse_heading, |heading| {
                grammar::write_heading(&heading.scope, &heading.name)
            })
        });
        for region in &parsed.regions {
            let heading = region.kind.heading();
            if !heading.is_empty() {
                self.put(line_at(self.text, region.range.start), |_| Some(heading.to_owned()));
            }
        }
        if let Some((_, range)) = &parsed.visits {
            self.put(line_at(self.text, range.start), |line| {
                canonical(line, visits::parse_visits, visits::write_visits)
            });
        }
        for entry in &parsed.entries {
            self.put(line_at(self.text, entry.line.start), canonical_entry);
            if let Some(line) = entry.reference_line(self.text) {
                self.put(line_at(self.text, line.start), |line| {
                    canonical(line, grammar::parse_reference, grammar::write_reference)
                });
            }
        }
        for region in &parsed.regions {
            let is_in = |start: usize| region.range.contains(&start);
            let lines = parsed.attempts(region.kind).iter().filter(|line| is_in(line.range.start));
            self.fold(scope, &lines.collect::<Vec<_>>(), have_worked(&[parsed]));
            let ways = parsed.ways.iter().filter(|line| is_in(line.range.start));
            self.rewrite_ways(&ways.collect::<Vec<_>>());
        }
        self.rewrite_break(parsed);
    }

    /// Writes actions with the same reply in one line, the first of them, each with its own mark.
    fn fold(&mut self, scope: &Scope, lines: &[&Placed<AttemptLine>], worked: impl Fn(&str) -> bool) {
        let values: Vec<&AttemptLine> = lines.iter().map(|line| &line.value).collect();
        let folds = fold_attempts(scope, &values);
        for at in folds.gone {
            self.remove(lines[at].range.start);
        }
        for (at, attempts) in folds.kept {
            let moment = (attempts[0].episode, attempts[0].turn);
            let is_one_moment = attempts.iter().all(|attempt| (attempt.episode, attempt.turn) == moment);
            // The mark of a shared line is that of its earliest action.
            let has_own_mark = |action: &str| !is_one_moment || worked(action);
            let written = write_attempts(&attempts, has_own_mark).into_iter().next();
            self.put(line_at(self.text, lines[at].range.start), |_| written);
        }
    }

    fn rewrite_ways(&mut self, lines: &[&Placed<WayLine>]) {
        let values: Vec<&WayLine> = lines.iter().map(|line| &line.value).collect();
        let gone = folded_ways(&values);
        for (at, way) in lines.iter().enumerate().filter(|(_, way)| way.value.is_whole) {
            if gone.contains(&at) {
                self.remove(way.range.start);
                continue;
            }
            self.put(line_at(self.text, way.range.start), |line| {
                canonical(line, parse_way, |line| write_way(&line.way))
            });
        }
    }

    /// Removes the line that starts at an offset.
    fn remove(&mut self, start: usize) {
        let line = line_at(self.text, start);
        self.edits.push((self.start + line.start..self.start + line.end, String::new()));
    }

    /// The `---` that ends the section, and the blank line before it; without it a viewer takes the text
    /// above for a heading.
    fn rewrite_break(&mut self, parsed: &ParsedSection) {
        let [.., before, last] = parsed.regions.as_slice() else { return };
        let line = line_at(self.text, last.range.start);
        if !(last.after_break && last.bare) || self.text[line.clone()].trim() != "---" {
            return;
        }
        let above = &self.text[before.range.clone()];
        if above.ends_with('\n') && !ends_with_blank_line(above) {
            self.edits.push((self.start + line.start..self.start + line.start, String::new()));
        }
        self.put(line, |_| Some("---".to_owned()));
    }

    /// Replaces a line if `write` gives a different one.
    fn put(&mut self, line: Range<usize>, write: impl FnOnce(&str) -> Option<String>) {
        let old = &self.text[line.clone()];
        if let Some(new) = write(old).filter(|new| new != old) {
            self.edits.push((self.start + line.start..self.start + line.end, new));
        }
    }
}

/// The line that starts at an offset, without its line ending.
fn line_at(text: &str, start: usize) -> Range<usize> {
    let line = text[start..].split('\n').next().unwrap_or("");
    start..start + line.strip_suffix('\r').unwrap_or(line).len()
}

/// The canonical form of a line; `None` if it would not read the same.
fn canonical<T: PartialEq>(
    line: &str,
    parse: impl Fn(&str) -> Option<T>,
    write: impl Fn(&T) -> String,
) -> Option<String> {
    let value = parse(line)?;
    let written = write(&value);
    (parse(&written)? == value).then_some(written)
}

/// The canonical form of an entry's first line. Where a field is not understood, all of them stay as they are written:
/// in another order they might say something else.
fn canonical_entry(line: &str) -> Option<String> {
    let fields = grammar::split_entry(line)?.fields;
    canonical(line, grammar::parse_entry, |memory: &Memory| {
        if memory.provenance.other.is_empty() {
            return grammar::write_entry(memory);
        }
        let bare = Memory { provenance: Provenance::default(), ..memory.clone() };
        format!("{} *({fields})*", grammar::write_entry(&bare))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn formatted(source: &str) -> String {
        let formatted = format(source);
        let again = format(&formatted.text);
        assert_eq!((again.text.as_str(), again.changes.len()), (formatted.text.as_str(), 0));
        formatted.text
    }

    #[test]
    fn lines_of_the_grammar_become_canonical() {
        let source = "## Location: West of House (ID: 180)  \n**Visits:**  3 |**Episodes:** 1,2\n ### Memories \n\
            **[note - PERMANENT - ACTIVE]  Window ** *(T2, Ep1, +5)*  \nA text.  \n\
            **[SUCCESS - SUPERSEDED] Old**\n  [Superseded at  T45 by \"Window\"]\n~~x~~\n\
            ### Tried\n* eat mailbox: No.\n- `wait` ×1\n---\n";
        let expected = "## Location 180: West of House\n**Visits:** 3 | **Episodes:** 1, 2\n### Memories\n\
            **[NOTE] Window** *(Ep1, T2, +5)*\nA text.  \n\
            **[SUCCESS - SUPERSEDED] Old**\n[Superseded at T45 by \"Window\"]\n~~x~~\n\
            ### Tried\n- `eat mailbox`: No.\n- `wait`\n\n---\n";
        assert_eq!(formatted(source), expected);
        let crlf = |text: &str| text.replace('\n', "\r\n");
        assert_eq!(formatted(&crlf(source)), crlf(expected));
    }

    #[test]
    fn what_is_a_persons_stays() {
        for source in [
            "# My  notes \n\nThe cellar\n---\n* x\n",
            "## Location 1: A\nMy thoughts\n---\nmore  \n\n* * *\n### Mine \n* item\n",
            "## Location 1: A\n\n```\n**[note] x**\n```\n<!--\n**[note] y**\n-->\n",
            "## Location 1: A\n### Tried\n- `wait` *(Ep1, T2-3, #why)*: no\n- `go` *(maybe)*\n",
            "## Location 1: A\n**[NOTE] x** *(Ep1, T2)* y\n",
        ] {
            assert_eq!(formatted(source), source);
        }
    }

    #[test]
    fn changes_are_named_by_line() {
        let changes = format("# T\n\n## Location 1:  A\ntext\n---").changes;
        let change = |line, before: Option<&str>, after: &str| LineChange {
            line,
            before: before.map(str::to_owned),
            after: Some(after.to_owned()),
        };
        assert_eq!(changes, [change(3, Some("## Location 1:  A"), "## Location 1: A"), change(5, None, ""),]);
    }

    #[test]
    fn the_changes_of_all_rounds_are_named_by_the_lines_of_the_first_text() {
        let changes = mend("##Location 1:  A\n**[NOTE] a\nb**\n*(Ep1)*\ntext\n---\n**Visits** 3\n").changes;
        let change = |line, before: Option<&str>, after: &str| LineChange {
            line,
            before: before.map(str::to_owned),
            after: Some(after.to_owned()),
        };
        let expected = [
            change(1, Some("##Location 1:  A"), "## Location 1: A"),
            change(2, Some("**[NOTE] a\nb**\n*(Ep1)*"), "**[NOTE] a b** *(Ep1)*"),
        ];
        assert_eq!(changes, expected);
    }

    #[test]
    fn a_broken_entry_does_not_take_the_line_of_another() {
        let mended = mend("## Location 0: A\n**[NOTE] a *(Ep1)*\n[NOTE] b** *(T2)*\n").text;
        assert_eq!(mended, "## Location 0: A\n**[NOTE] a** *(Ep1)*\n**[NOTE] b** *(T2)*\n");
    }

    #[test]
    fn a_broken_entry_does_not_take_evidence_for_its_text() {
        let tried =
            |list: &str| format!("## Location 0: A\n\n### Tried\n\n**[NOTE] a *(Ep1)*\n{list}\n---\n");
        for list in ["- `wait` ×3 *(Ep1, T2)*: no\n", "text\n\n- `wait` ×3 *(Ep1, T2)*: no\n"] {
            assert_eq!(mend(&tried(list)).text, tried(list));
        }
        assert!(mend(&tried("text\n")).text.contains("**[NOTE] a** *(Ep1)*\ntext\n"));
    }

    #[test]
    fn only_what_can_mean_one_thing_is_mended() {
        let mended = |line: &str| mend(&format!("## Location 1: A\n{line}\n")).text;
        assert!(mended("**[NOTE] x** (T2, Ep1)").contains("\n**[NOTE] x** *(Ep1, T2)*\n"));
        assert!(mended("**[NOTE] x** (or so)").contains("\n**[NOTE] x** (or so)\n"));
        assert!(mended("**[NOTE] x* (Ep1)").contains("\n**[NOTE] x* (Ep1)\n"));
    }
}

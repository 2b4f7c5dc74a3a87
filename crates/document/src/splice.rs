//! Edits of one section's text, as splices.
//!
//! Only the lines that an edit is about change; a blank line is added where a new part needs one. New
//! text is canonical and has the line endings of the file.

use std::borrow::Cow;
use std::ops::Range;

use crate::comment_end;
use crate::grammar;
use crate::parser::{Entry, ParsedSection};
use crate::region::{Region, RegionKind};
use crate::scan;
use crate::strike::{strike, unstrike};
use crate::text::{Fences, closing_place, mark_comments, write_closing_lines, write_text};
use crate::types::text::replace_ranges;
use crate::types::{Memory, Reference, Scope, Status};
use crate::visits::{self, Visits};

/// An edit of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EntryEdit {
    /// Writes the whole entry anew; comments that a person put into it stay.
    Revise(Memory),
    /// Writes only the first line anew: importance, persistence, active or tentative, fields.
    ReviseLine(Memory),
    /// Replaces or adds the `See also:` line and leaves the other lines as they are.
    SetSeeAlso(String),
    /// Marks it as superseded and strikes its text; the reference says why.
    Supersede(Option<Reference>),
    /// Removes strikes and reference.
    Revive(Status),
    /// Removes it with the blank lines behind it; comments that a person put into it stay.
    Remove,
}

/// The style of new text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// `"\n"` or `"\r\n"`.
    pub(crate) line_ending: &'static str,
    /// How to write code fences in texts.
    pub(crate) fences: Fences,
    /// True if a comment of the file is never closed: new text must not close it.
    pub(crate) open_comment: bool,
}

impl Style {
    /// New lines, ended by `\n`, as they can stand in the file.
    pub(crate) fn convert(&self, text: &str) -> String {
        let text = if self.open_comment { escape_comment_ends(text) } else { Cow::Borrowed(text) };
        if self.line_ending == "\n" { text.into_owned() } else { text.replace('\n', self.line_ending) }
    }
}

/// New lines as they can stand below an unclosed comment. What a person commented out in them stays as it is.
fn escape_comment_ends(text: &str) -> Cow<'_, str> {
    if !text.contains("-->") {
        return Cow::Borrowed(text);
    }
    let lines = scan::lines(text);
    let marked = mark_comments(lines.iter().map(|line| (line.text(text), line.hidden)));
    let mut out = String::with_capacity(text.len() + 8);
    for (line, (content, _, is_comment)) in lines.iter().zip(marked) {
        out.push_str(&if is_comment { content.to_owned() } else { comment_end::escape(content) });
        out.push_str(&text[line.range.start + content.len()..line.range.end]);
    }
    Cow::Owned(out)
}

/// The canonical lines of an entry, each ended by `\n`.
pub fn render_entry(memory: &Memory, fences: Fences) -> String {
    let mut body = String::new();
    if !memory.text.is_empty() {
        body = write_text(&memory.text, fences);
        body.push('\n');
    }
    body.push_str(&write_closing_lines(memory.see_also.as_deref(), memory.context.as_deref()));
    let mut out = format!("{}\n", grammar::write_entry(memory));
    if let Some(reference) = &memory.reference {
        out.push_str(&format!("{}\n", grammar::write_reference(reference)));
    }
    out.push_str(&if memory.is_live() { body } else { map_lines(&body, strike) });
    out
}

/// Applies a change to each visible line of a text; line endings stay.
fn map_lines<'a>(text: &'a str, change: impl Fn(&'a str) -> std::borrow::Cow<'a, str>) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    for line in scan::lines(text) {
        let content = line.text(text);
        if line.hidden {
            out.push_str(content);
        } else {
            out.push_str(&change(content));
        }
        out.push_str(&text[line.range.start + content.len()..line.range.end]);
    }
    out
}

/// Adds entries, in their order, after the section's last one.
pub(crate) fn add_entries(text: &str, parsed: &ParsedSection, memories: &[Memory], style: Style) -> String {
    let entries: Vec<String> = memories.iter().map(|memory| render_entry(memory, style.fences)).collect();
    add_lines_of_entries(text, parsed, &entries.join("\n"), style)
}

/// Adds lines of entries, each ended by `\n`, after the section's last one.
pub(super) fn add_lines_of_entries(
    text: &str,
    parsed: &ParsedSection,
    entries: &str,
    style: Style,
) -> String {
    let find = |kind| parsed.regions.iter().position(|region| region.kind == kind);
    if let Some(region) = find(RegionKind::Memories) {
        return insert_block(text, parsed.regions[region].content_end, entries, style);
    }
    if let Some(last) = parsed.entries.last() {
        let holds_it = |region: &&Region| region.range.contains(&last.range.start);
        let at = parsed.regions.iter().find(holds_it).map_or(last.range.end, |region| region.content_end);
        return insert_block(text, at, entries, style);
    }
    insert_block(text, place_of(parsed, RegionKind::Memories), &format!("### Memories\n\n{entries}"), style)
}

/// Position of a new part: before the first list that comes later, else at the end of the section.
pub(crate) fn place_of(parsed: &ParsedSection, kind: RegionKind) -> usize {
    let is_later = |region: RegionKind| region.is_evidence() && region > kind;
    match parsed.regions.iter().position(|region| is_later(region.kind)) {
        Some(later) => parsed.regions[later - 1].content_end,
        None => end_of_content(parsed),
    }
}

/// Position of a new part: before the thematic break that ends the section, else at its end.
fn end_of_content(parsed: &ParsedSection) -> usize {
    match parsed.regions.as_slice() {
        [.., before, last] if last.after_break && last.bare => before.content_end,
        regions => regions.last().map_or(0, |region| region.content_end),
    }
}

/// Inserts lines at the start of a line, with blank lines around them.
pub(crate) fn insert_block(text: &str, at: usize, block: &str, style: Style) -> String {
    [&text[..at], &framed(text, at, block, style), &text[at..]].concat()
}

/// Lines as they are inserted at the start of a line, with the blank lines that they need around them.
pub(super) fn framed(text: &str, at: usize, block: &str, style: Style) -> String {
    let (before, after) = text.split_at(at);
    let ending = style.line_ending;
    let mut out = String::with_capacity(block.len() + 8);
    if !before.is_empty() && !before.ends_with('\n') {
        out.push_str(ending);
    }
    if !before.is_empty() && !ends_with_blank_line(before) {
        out.push_str(ending);
    }
    out.push_str(&style.convert(block));
    if !after.is_empty() && !scan::is_blank(first_line(after)) {
        out.push_str(ending);
    }
    out
}

fn first_line(text: &str) -> &str {
    text.split_once('\n').map_or(text, |(line, _)| line)
}

/// True if the last line of a text is blank.
pub(crate) fn ends_with_blank_line(text: &str) -> bool {
    match text.strip_suffix('\n') {
        Some(rest) => scan::is_blank(rest.rsplit_once('\n').map_or(rest, |(_, line)| line)),
        None => false,
    }
}

/// Replaces ranges, given in their order, by lines in the file's line ending. If the text ends without
/// a line ending, so does the result.
pub(crate) fn splice_all(text: &str, changes: &[(Range<usize>, String)], style: Style) -> String {
    let converted = changes.iter().map(|(range, lines)| {
        let mut new = style.convert(lines);
        let unended = range.end == text.len() && !text.ends_with('\n');
        if unended && new.ends_with(style.line_ending) {
            new.truncate(new.len() - style.line_ending.len());
        }
        (range.clone(), new)
    });
    replace_ranges(text, converted).into_owned()
}

/// The ranges that an edit of an entry replaces, in their order, and their new lines.
pub(crate) fn edit_entry(
    text: &str,
    entry: &Entry,
    edit: &EntryEdit,
    style: Style,
) -> Vec<(Range<usize>, String)> {
    let change = match edit {
        EntryEdit::Revise(memory) => (entry.range.clone(), render_anew(text, entry, memory, style)),
        EntryEdit::ReviseLine(memory) => (entry.line.clone(), format!("{}\n", grammar::write_entry(memory))),
        EntryEdit::SetSeeAlso(see_also) => set_see_also(text, entry, see_also),
        EntryEdit::Supersede(reference) => (entry.range.clone(), supersede(text, entry, reference.as_ref())),
        EntryEdit::Revive(status) => (entry.range.clone(), revive(text, entry, *status)),
        EntryEdit::Remove => {
            return without_entry(text, entry).into_iter().map(|range| (range, String::new())).collect();
        }
    };
    vec![change]
}

/// The ranges that leave with an entry: all of it and the blank lines behind it; where it has comments, all else than
/// these and the blank lines between and behind them.
fn without_entry(text: &str, entry: &Entry) -> Vec<Range<usize>> {
    let Range { start, end } = entry.range;
    let old = &text[start..end];
    let lines = scan::lines(old);
    let mut gone: Vec<Range<usize>> = Vec::new();
    let mut is_blank = true;
    let mut has_comments = false;
    let marked = mark_comments(lines.iter().map(|line| (line.text(old), line.hidden)));
    for (line, (content, _, is_comment)) in lines.iter().zip(marked) {
        let (first, last) = (start + line.range.start, start + line.range.end);
        if is_comment {
            has_comments = true;
            continue;
        }
        match gone.last_mut().filter(|range| range.end == first) {
            Some(range) => range.end = last,
            None => {
                if is_blank {
                    gone.pop();
                }
                gone.push(first..last);
                is_blank = true;
            }
        }
        is_blank &= scan::is_blank(content);
    }
    if !has_comments {
        let whole = start..end + blank_length(&text[end..]);
        return [whole].into();
    }
    if is_blank {
        gone.pop();
    }
    gone
}

/// Length of the blank lines at the start of a text.
pub(super) fn blank_length(text: &str) -> usize {
    text.split_inclusive('\n').take_while(|line| scan::is_blank(line.trim_end())).map(str::len).sum()
}

/// The lines of an entry for a memory; comments of the old entry stay, at its end.
fn render_anew(text: &str, entry: &Entry, memory: &Memory, style: Style) -> String {
    render_entry(memory, style.fences) + &comments(&text[entry.range.clone()]).concat()
}

/// The comments among the lines of an entry, each ended by `\n`.
pub(super) fn comments(entry: &str) -> Vec<String> {
    let lines = scan::lines(entry);
    let mut comments: Vec<String> = Vec::new();
    let mut goes_on = false;
    for (line, _, is_comment) in mark_comments(lines.iter().map(|line| (line.text(entry), line.hidden))) {
        if is_comment {
            match comments.last_mut().filter(|_| goes_on) {
                Some(comment) => comment.push_str(&format!("{line}\n")),
                None => comments.push(format!("{line}\n")),
            }
        }
        goes_on = is_comment;
    }
    comments
}

fn set_see_also(text: &str, entry: &Entry, see_also: &str) -> (Range<usize>, String) {
    let new = write_closing_lines(Some(see_also), None);
    let body = &text[entry.line.end..entry.range.end];
    let lines = scan::lines(body);
    let (first, replaced) = closing_place(lines.iter().map(|line| (line.text(body), line.hidden)));
    let offset = |at: usize| lines.get(at).map_or(body.len(), |line| line.range.start);
    let start = entry.line.end + offset(first);
    let end = if replaced { entry.line.end + offset(first + 1) } else { start };
    if start == text.len() && !text.ends_with('\n') {
        return (start..end, format!("\n{new}"));
    }
    (start..end, new)
}

fn supersede(text: &str, entry: &Entry, reference: Option<&Reference>) -> String {
    let memory = Memory { status: Status::Superseded, ..entry.read(text) };
    let mut new = format!("{}\n", grammar::write_entry(&memory));
    if let Some(reference) = reference {
        new.push_str(&format!("{}\n", grammar::write_reference(reference)));
    }
    let body = map_lines(&text[entry.line.end..entry.range.end], strike);
    new.push_str(&body.replace("\r\n", "\n"));
    new
}

/// Undoes [`supersede`].
fn revive(text: &str, entry: &Entry, status: Status) -> String {
    let memory = Memory { status, ..entry.read(text) };
    let body = entry.reference_line(text).map_or(entry.line.end, |line| line.end);
    let body = map_lines(&text[body..entry.range.end], unstrike).replace("\r\n", "\n");
    format!("{}\n{body}", grammar::write_entry(&memory))
}

/// Replaces the section heading.
pub(crate) fn replace_heading(text: &str, scope: &Scope, name: &str, style: Style) -> String {
    let heading = text.split_inclusive('\n').next().map_or(0, str::len);
    splice_all(text, &[(0..heading, format!("{}\n", grammar::write_heading(scope, name)))], style)
}

/// The range of the visits line with its new text; below the heading where there is none.
pub(super) fn visits_change(text: &str, parsed: &ParsedSection, visits: &Visits) -> (Range<usize>, String) {
    let line = format!("{}\n", visits::write_visits(visits));
    if let Some((_, range)) = &parsed.visits {
        return (range.clone(), line);
    }
    let heading = text.split_inclusive('\n').next().unwrap_or(text);
    let rest = &text[heading.len()..];
    let gap = if heading.ends_with('\n') { "" } else { "\n" };
    let blank = if rest.is_empty() || scan::is_blank(first_line(rest)) { "" } else { "\n" };
    (heading.len()..heading.len(), format!("{gap}{line}{blank}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Document;
    use crate::types::Scope;

    /// The file with `See also: [[World › x]]` at its only entry.
    fn linked(file: &str) -> String {
        let mut document = Document::parse(file.to_owned());
        let scope = Scope::Location(1);
        let mut entry = document.entry_mut(&scope, 0).unwrap();
        let memory = entry.memory();
        entry.edit(EntryEdit::SetSeeAlso("[[World › x]]".to_owned()));
        let text = document.into_text().unwrap();
        let again = Document::parse(text.clone()).section(&scope).unwrap().memories.remove(0);
        assert_eq!(again.see_also.as_deref(), Some("[[World › x]]"));
        assert_eq!((again.text, again.context), (memory.text, memory.context));
        text
    }

    #[test]
    fn a_link_changes_its_line_and_no_other() {
        const LINK: &str = "See also: [[World › x]]\n";
        let head = "## Location 1: A\n\n**[NOTE] a**\n";
        let tail = "\n**[NOTE] b**\n y  \n\n---\n";
        for (before, after) in [
            ("one\n- two\n", format!("one\n- two\n{LINK}")),
            ("one\nSee also: [[Location 2]]\nContext: c\n", format!("one\n{LINK}Context: c\n")),
            ("one\nContext: c\n", format!("one\n{LINK}Context: c\n")),
            ("one\nContext: c\nSee also: z\n", format!("one\nContext: c\n{LINK}")),
            ("one\n\\See also: no link\n", format!("one\n\\See also: no link\n{LINK}")),
            ("one\n<!-- a person's -->\n", format!("one\n{LINK}<!-- a person's -->\n")),
            ("", LINK.to_owned()),
            ("```\nSee also: code\n```\n", format!("```\nSee also: code\n```\n{LINK}")),
        ] {
            let file = format!("{head}{before}{tail}");
            assert_eq!(linked(&file), format!("{head}{after}{tail}"), "{before:?}");
            assert_eq!(
                linked(&file.replace('\n', "\r\n")),
                format!("{head}{after}{tail}").replace('\n', "\r\n")
            );
        }
        assert_eq!(linked(&format!("{head}one")), format!("{head}one\n{}", LINK.trim_end()));
        assert_eq!(linked(head.trim_end()), format!("{head}{}", LINK.trim_end()));
    }

    #[test]
    fn a_removed_entry_leaves_its_comments() {
        let head = "## Location 1: A\n\n**[NOTE] a**\none\n\n";
        let tail = "\n**[NOTE] c**\nthree\n";
        for (entry, left) in [
            ("**[NOTE] b**\ntwo\n", None),
            ("**[NOTE] b**\ntwo\n```\n<!-- code -->\n```\n", None),
            ("**[NOTE] b**\ntwo\n\n<!-- mine -->\n", Some("<!-- mine -->\n")),
            ("**[NOTE] b**\n<!-- x\n\ny -->\n\n<!-- z -->\n", Some("<!-- x\n\ny -->\n\n<!-- z -->\n")),
            ("**[NOTE] b**\n<!-- x -->\ntwo\n\n<!-- z -->\nfour\n", Some("<!-- x -->\n<!-- z -->\n")),
        ] {
            for ending in ["\n", "\r\n"] {
                let file = format!("{head}{entry}{tail}").replace('\n', ending);
                let mut document = Document::parse(file);
                document.entry_mut(&Scope::Location(1), 1).unwrap().remove();
                let rest = left.map_or_else(|| tail[1..].to_owned(), |left| format!("{left}{tail}"));
                assert_eq!(
                    document.into_text().unwrap(),
                    format!("{head}{rest}").replace('\n', ending),
                    "{entry:?}"
                );
            }
        }
    }
}

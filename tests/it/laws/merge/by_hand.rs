//! Changes as a person makes them in an editor, line by line.

use memories::document::grammar::{parse_heading, write_heading};
use memories::document::scan::{is_section_boundary, lines};
use memories::document::visits::parse_visits;
use memories::types::Scope;
use proptest::prelude::*;

use super::super::hostile_line;
use super::changes::{Form, HAND, scope};

/// A change by hand. Each new line bears a number, so that it can be told from others.
#[derive(Debug, Clone)]
pub(super) enum Edit {
    /// A paragraph at the head of a section.
    Note(Scope, u16),
    /// A paragraph under a heading of the person's own, at the end of a section.
    OwnHeading(Scope, u16),
    /// A fence with headings in it, under such a heading.
    Fence(Scope, u16),
    /// A comment below the first line of an entry.
    CommentInEntry(Scope, usize, u16),
    /// An indented remark below a line of evidence.
    Remark(Scope, usize, u16),
    /// A comment behind a line of evidence.
    CommentBehind(Scope, usize, u16),
    /// More words in a line by hand.
    Reword(usize, u16),
    /// A line by hand goes.
    DeleteLine(usize),
    /// A line of evidence goes.
    DeleteEvidence(Scope, usize),
    /// A section that is none of ours.
    Foreign(bool, u16),
    /// A second section of a scope.
    Second(Scope, u16),
    /// The sections of a scope go.
    RemoveSection(Scope),
    /// Two sections change places.
    Swap(usize, usize),
    /// An entry gets another title.
    Retitle(Scope, usize, &'static str),
}

pub(super) fn edit(form: Form) -> impl Strategy<Value = Edit> {
    let at = || 0usize..8;
    let number = || 0u16..1000;
    let title = prop::sample::select(vec!["The door is shut", "Called anew"]);
    let second = if form == Form::Any { Edit::Second } else { Edit::Note };
    prop_oneof![
        3 => (scope(), number()).prop_map(|(scope, number)| Edit::Note(scope, number)),
        2 => (scope(), number()).prop_map(|(scope, number)| Edit::OwnHeading(scope, number)),
        1 => (scope(), number()).prop_map(|(scope, number)| Edit::Fence(scope, number)),
        2 => (scope(), at(), number()).prop_map(|(scope, at, number)| Edit::CommentInEntry(scope, at, number)),
        2 => (scope(), at(), number()).prop_map(|(scope, at, number)| Edit::Remark(scope, at, number)),
        1 => (scope(), at(), number()).prop_map(|(scope, at, number)| Edit::CommentBehind(scope, at, number)),
        2 => (at(), number()).prop_map(|(at, number)| Edit::Reword(at, number)),
        1 => at().prop_map(Edit::DeleteLine),
        1 => (scope(), at()).prop_map(|(scope, at)| Edit::DeleteEvidence(scope, at)),
        1 => (any::<bool>(), number()).prop_map(|(first, number)| Edit::Foreign(first, number)),
        1 => (scope(), number()).prop_map(move |(scope, number)| second(scope, number)),
        1 => scope().prop_map(Edit::RemoveSection),
        1 => (at(), at()).prop_map(|(one, other)| Edit::Swap(one, other)),
        1 => (scope(), at(), title).prop_map(|(scope, at, title)| Edit::Retitle(scope, at, title)),
    ]
}

/// The lines of a section with its heading, or those before the first one.
#[derive(Debug, Clone)]
pub(super) struct Block {
    pub(super) lines: Vec<String>,
    /// For each line, true if it is in a fence or a comment.
    hidden: Vec<bool>,
}

impl Block {
    pub(super) fn scope(&self) -> Option<Scope> {
        let heading = self.lines.first()?.trim_start_matches('\u{FEFF}');
        parse_heading(heading.trim_end_matches(['\r', '\n'])).map(|heading| heading.scope)
    }

    /// Scope, or the first line of a block that is none of ours.
    pub(super) fn key(&self) -> String {
        let first = self.lines.first().map_or("", |line| line.trim_start_matches('\u{FEFF}').trim());
        self.scope().map_or_else(|| first.to_owned(), |scope| scope.to_string())
    }

    pub(super) fn text(&self) -> String {
        self.lines.concat()
    }

    fn insert(&mut self, at: usize, line: String) {
        self.lines.insert(at, line);
        self.hidden.insert(at, false);
    }

    fn remove(&mut self, at: usize) {
        self.lines.remove(at);
        self.hidden.remove(at);
    }

    /// Numbers of the lines for which a test holds, outside of fences and comments.
    fn lines_with(&self, test: impl Fn(&str) -> bool) -> Vec<usize> {
        let line = |at: usize| self.lines[at].trim_end_matches(['\r', '\n']);
        (0..self.lines.len()).filter(|&at| !self.hidden[at] && test(line(at))).collect()
    }
}

/// The sections of a text, each with its heading; first what stands before them.
pub(super) fn blocks(text: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    for line in lines(text) {
        let content = line.text(text).trim_start_matches('\u{FEFF}');
        if blocks.is_empty() || !line.hidden && is_section_boundary(content.as_bytes()) {
            blocks.push(Block { lines: Vec::new(), hidden: Vec::new() });
        }
        let block = blocks.last_mut().expect("just made");
        block.lines.push(text[line.range.clone()].to_owned());
        block.hidden.push(line.hidden);
    }
    blocks
}

impl Edit {
    pub(super) fn apply(&self, text: &str) -> String {
        let ending = if text.lines().next().is_some() && text.contains("\r\n") { "\r\n" } else { "\n" };
        let mut blocks = blocks(text);
        match self {
            Edit::Reword(..) | Edit::DeleteLine(_) => self.edit_line(&mut blocks, ending),
            Edit::Foreign(..) | Edit::Second(..) | Edit::RemoveSection(_) | Edit::Swap(..) => {
                self.edit_sections(&mut blocks, ending);
            }
            _ => self.edit_block(&mut blocks, ending),
        }
        // A line that was the last one of a file without final newline ends like the others.
        let mut lines: Vec<String> = blocks.into_iter().flat_map(|block| block.lines).collect();
        let last = lines.len().saturating_sub(1);
        for line in lines.iter_mut().take(last).filter(|line| !line.ends_with('\n')) {
            line.push_str(ending);
        }
        lines.concat()
    }

    fn edit_line(&self, blocks: &mut [Block], ending: &str) {
        let (Edit::Reword(at, _) | Edit::DeleteLine(at)) = self else { return };
        // A comment, a fence or evidence would be another thing afterwards.
        let is_plain = |line: &str| line.contains(HAND) && line.starts_with("A line");
        let find = |block: &Block| block.lines_with(is_plain);
        let places: Vec<(usize, usize)> = blocks
            .iter()
            .enumerate()
            .flat_map(|(number, block)| find(block).into_iter().map(move |line| (number, line)))
            .collect();
        let Some(&(block, line)) = at.checked_rem(places.len()).and_then(|at| places.get(at)) else { return };
        match self {
            Edit::Reword(_, number) => {
                let old = blocks[block].lines[line].trim_end().to_owned();
                blocks[block].lines[line] = format!("{old} And {HAND} {number}.{ending}");
            }
            _ => blocks[block].remove(line),
        }
    }

    fn edit_sections(&self, blocks: &mut Vec<Block>, ending: &str) {
        let new = |lines: &[String]| {
            let lines: Vec<String> = lines.iter().map(|line| format!("{line}{ending}")).collect();
            Block { hidden: vec![false; lines.len()], lines }
        };
        let rule = ["---".to_owned(), String::new()];
        match self {
            Edit::Foreign(first, number) => {
                let heading = if *first { "## Plans" } else { "## What else" };
                let lines =
                    [heading.to_owned(), String::new(), format!("A line {HAND} {number}."), String::new()];
                blocks.push(new(&[lines.as_slice(), &rule].concat()));
            }
            Edit::Second(scope, number)
                if blocks.iter().any(|block| block.scope().as_ref() == Some(scope)) =>
            {
                let entry = format!("**[NOTE] Second {number}** *(Ep1, T{number})*");
                let lines = [
                    write_heading(scope, ""),
                    String::new(),
                    "### Memories".to_owned(),
                    String::new(),
                    entry,
                ];
                let text = ["It stands in a second section.".to_owned(), String::new()];
                blocks.push(new(&[lines.as_slice(), &text, &rule].concat()));
            }
            Edit::RemoveSection(scope) => blocks.retain(|block| block.scope().as_ref() != Some(scope)),
            Edit::Swap(one, other) => {
                let sections: Vec<usize> =
                    (0..blocks.len()).filter(|&at| blocks[at].scope().is_some()).collect();
                if sections.len() > 1 {
                    blocks.swap(sections[one % sections.len()], sections[other % sections.len()]);
                }
            }
            _ => {}
        }
    }

    fn edit_block(&self, blocks: &mut [Block], ending: &str) {
        let (Edit::Note(wanted, _)
        | Edit::OwnHeading(wanted, _)
        | Edit::Fence(wanted, _)
        | Edit::CommentInEntry(wanted, ..)
        | Edit::Remark(wanted, ..)
        | Edit::CommentBehind(wanted, ..)
        | Edit::DeleteEvidence(wanted, _)
        | Edit::Retitle(wanted, ..)) = self
        else {
            return;
        };
        let Some(block) = blocks.iter_mut().find(|block| block.scope().as_ref() == Some(wanted)) else {
            return;
        };
        let entries = block.lines_with(|line| line.starts_with("**["));
        let evidence = block.lines_with(|line| line.starts_with("- `"));
        let pick = |at: usize, places: &[usize]| at.checked_rem(places.len()).map(|at| places[at]);
        match self {
            Edit::Note(_, number) => {
                let visits = block.lines_with(|line| parse_visits(line).is_some());
                let at = visits.first().map_or(1, |at| at + 1);
                for line in [ending.to_owned(), format!("A line {HAND} {number}.{ending}")] {
                    block.insert(at.min(block.lines.len()), line);
                }
                block.lines.swap(at, at + 1);
            }
            Edit::OwnHeading(_, number) => {
                append(block, ending, &["### My theory", "", &format!("A line {HAND} {number}.")]);
            }
            Edit::Fence(_, number) => {
                append(
                    block,
                    ending,
                    &["### My words", "", "```", "## Location 3: none", &format!("x {HAND} {number}"), "```"],
                );
            }
            Edit::CommentInEntry(_, at, number) => {
                let Some(at) = pick(*at, &entries) else { return };
                // The line that says by what an entry is superseded is its first.
                let is_reference = block.lines.get(at + 1).is_some_and(|line| line.starts_with('['));
                block.insert(at + 1 + usize::from(is_reference), format!("<!-- {HAND} {number} -->{ending}"));
            }
            Edit::Remark(_, at, number) => {
                let Some(at) = pick(*at, &evidence) else { return };
                block.insert(at + 1, format!("  remark {HAND} {number}{ending}"));
            }
            Edit::CommentBehind(_, at, number) => {
                let Some(at) = pick(*at, &evidence) else { return };
                let old = block.lines[at].trim_end().to_owned();
                block.lines[at] = format!("{old} <!-- {HAND} {number} -->{ending}");
            }
            Edit::DeleteEvidence(_, at) => {
                let Some(at) = pick(*at, &evidence) else { return };
                block.remove(at);
            }
            Edit::Retitle(_, at, title) => {
                let Some(at) = pick(*at, &entries) else { return };
                let line = &block.lines[at];
                let (Some(bracket), Some(stars)) = (line.find(']'), line.rfind("**")) else { return };
                let renamed = format!("{} {title}{}", &line[..=bracket], &line[stars..]);
                let is_known = block.lines.iter().any(|line| line.contains(&format!("] {title}**")));
                if stars > bracket && !is_known {
                    block.lines[at] = renamed;
                }
            }
            _ => {}
        }
    }
}

/// Appends lines before the thematic break that ends a block.
fn append(block: &mut Block, ending: &str, lines: &[&str]) {
    let rules = block.lines_with(|line| line == "---");
    let at = rules.last().copied().unwrap_or(block.lines.len());
    let lines = [&[""], lines, &[""]].concat();
    for (place, line) in lines.iter().enumerate() {
        block.insert(at + place, format!("{line}{ending}"));
    }
}

/// Lines that go in, and lines that go, at their places.
pub(super) fn splices() -> impl Strategy<Value = Vec<(usize, Option<String>)>> {
    prop::collection::vec((0usize..40, prop::option::of(hostile_line())), 0..5)
}

pub(super) fn spliced(text: &str, splices: &[(usize, Option<String>)]) -> String {
    let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
    for (at, line) in splices {
        let at = at % (lines.len() + 1);
        match line {
            Some(line) => lines.insert(at, format!("{line}\n")),
            None if at < lines.len() => drop(lines.remove(at)),
            None => {}
        }
    }
    lines.concat()
}

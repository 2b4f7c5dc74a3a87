//! YAML: an entry is a block of lines in a mapping, or stands between the brackets of one.

use std::collections::{HashMap, HashSet};

use saphyr_parser::{Event, Parser, ScalarStyle, ScanError, Span, StrInput};
use serde_json::Value;

use super::entry::{Entry, Slot};
use super::flow::{Brackets, New, on_one_line};
use super::piece::{Insertion, cut, line_ending};
use super::problem::Problem;
use super::tree::{Member, Node, Shape};

/// Levels of values in one another.
const DEEPEST: usize = 64;

/// Values that aliases repeat; each 32 bytes of a text count as one more.
const REPEATED: usize = 100_000;

/// The indentation of a level that we write.
const UNIT: &str = "  ";

/// A text that was read.
pub(super) struct Document {
    /// None where there is nothing but comments.
    pub(super) root: Option<Node>,
    /// First bytes of values between brackets.
    flow: HashSet<usize>,
}

/// Reads a text of one document.
pub(super) fn parse(text: &str) -> Result<Document, Problem> {
    let bytes: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
    let (anchors, flow) = (HashMap::new(), HashSet::new());
    let mut reader = Reader { text, bytes, events: Parser::new_from_str(text), anchors, flow, repeated: 0 };
    let mut root: Option<Node> = None;
    let mut documents = 0;
    loop {
        let (event, span) = reader.next()?;
        match event {
            Event::StreamEnd => break,
            Event::DocumentStart(_) => documents += 1,
            Event::Nothing | Event::StreamStart | Event::DocumentEnd => {}
            event => root = Some(reader.node(event, span, 0)?),
        }
    }
    if documents > 1 {
        return Err(Problem::NotEditable("it has several documents"));
    }
    let is_nothing = |node: &Node| matches!(&node.shape, Shape::Scalar(Value::Null)) && node.range.is_empty();
    Ok(Document { root: root.filter(|root| !is_nothing(root)), flow: reader.flow })
}

struct Reader<'a> {
    text: &'a str,
    /// The first byte of each character.
    bytes: Vec<usize>,
    events: Parser<'a, StrInput<'a>>,
    anchors: HashMap<usize, Value>,
    flow: HashSet<usize>,
    repeated: usize,
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Result<(Event<'a>, Span), Problem> {
        let event = self.events.next().unwrap_or_else(|| Ok((Event::StreamEnd, Span::default())));
        event.map_err(|error: ScanError| {
            Problem::at(self.text, self.byte(error.marker().index()), error.info())
        })
    }

    fn byte(&self, character: usize) -> usize {
        self.bytes.get(character).copied().unwrap_or(self.text.len())
    }

    fn node(&mut self, event: Event<'a>, span: Span, depth: usize) -> Result<Node, Problem> {
        let start = self.byte(span.start.index());
        let mut end = self.byte(span.end.index());
        if depth > DEEPEST {
            return Err(Problem::NotEditable("its values are nested too deeply"));
        }
        let (shape, anchor) = match event {
            Event::Alias(anchor) => {
                let value = self.anchors.get(&anchor);
                self.repeated += value.map_or(1, size);
                if self.repeated > REPEATED {
                    return Err(Problem::NotEditable("its aliases repeat too much"));
                }
                let value = value.cloned().unwrap_or_default();
                return Ok(Node { range: start..end, shape: Shape::Alias(value) });
            }
            Event::Scalar(text, style, anchor, _) => {
                let is_null =
                    style == ScalarStyle::Plain && matches!(&*text, "" | "~" | "null" | "Null" | "NULL");
                let value = if is_null { Value::Null } else { Value::from(text.into_owned()) };
                (Shape::Scalar(value), anchor)
            }
            Event::SequenceStart(anchor, _) => {
                let (items, closed) = self.items(depth)?;
                end = self.end(start, end, items.last().map(|item| item.range.end), closed);
                (Shape::List(items), anchor)
            }
            Event::MappingStart(anchor, _) => {
                let (members, closed) = self.members(depth)?;
                end = self.end(start, end, members.last().map(|member| member.node.range.end), closed);
                (Shape::Table(members), anchor)
            }
            _ => return Err(Problem::NotEditable("it ends within a value")),
        };
        let node = Node { range: start..end, shape };
        if anchor > 0 {
            self.anchors.insert(anchor, node.value());
        }
        Ok(node)
    }

    /// The end of a mapping or sequence: behind its bracket, or behind its last value.
    fn end(&mut self, start: usize, opened: usize, last: Option<usize>, closed: usize) -> usize {
        if opened > start {
            self.flow.insert(start);
            return closed;
        }
        last.unwrap_or(opened)
    }

    fn items(&mut self, depth: usize) -> Result<(Vec<Node>, usize), Problem> {
        let mut items = Vec::new();
        loop {
            match self.next()? {
                (Event::SequenceEnd, span) => return Ok((items, self.byte(span.end.index()))),
                (event, span) => items.push(self.node(event, span, depth + 1)?),
            }
        }
    }

    fn members(&mut self, depth: usize) -> Result<(Vec<Member>, usize), Problem> {
        let mut members: Vec<Member> = Vec::new();
        loop {
            let key = match self.next()? {
                (Event::MappingEnd, span) => return Ok((members, self.byte(span.end.index()))),
                (event, span) => self.node(event, span, depth + 1)?,
            };
            let name = match key.value() {
                Value::String(name) => name,
                other => other.to_string(),
            };
            let (event, span) = self.next()?;
            let mut node = self.node(event, span, depth + 1)?;
            if matches!(node.shape, Shape::Scalar(Value::Null)) && node.range.is_empty() {
                // The parser places a value that is not there anywhere before the next one.
                let colon = self.text[key.range.end..].find(':').map_or(0, |length| length + 1);
                node.range = key.range.end + colon..key.range.end + colon;
            }
            members.push(Member { name, start: key.range.start, node });
        }
    }
}

/// The number of values in a value, aliases expanded.
fn size(value: &Value) -> usize {
    1 + match value {
        Value::Object(table) => table.iter().map(|(key, value)| key.len() / 32 + size(value)).sum(),
        Value::Array(items) => items.iter().map(size).sum(),
        Value::String(text) => text.len() / 32,
        _ => 0,
    }
}

impl Document {
    fn brackets<'a>(&self, text: &'a str, node: &Node) -> Option<Brackets<'a>> {
        let (range, items) = (node.range.clone(), node.items());
        let ending = line_ending(text);
        self.flow.contains(&range.start).then_some(Brackets {
            text,
            range,
            items,
            is_yaml: true,
            unit: None,
            ending,
        })
    }
}

/// The place and the text of a new entry.
pub(super) fn insertion(text: &str, document: &Document, entry: &Entry) -> Result<Insertion, Problem> {
    let Slot::Member(key) = &entry.slot else {
        return Err(Problem::NotEditable("a list of YAML is not edited"));
    };
    let ending = line_ending(text);
    let Some(root) = &document.root else {
        let before = if text.is_empty() || text.ends_with('\n') { "" } else { ending };
        let core = block(&entry.wrapped(0), "", ending);
        return Ok(Insertion {
            at: text.len(),
            existing: 0,
            before: before.into(),
            core,
            after: ending.into(),
        });
    };
    if let Some((node, depth, indent)) = empty_member(text, root, entry) {
        let at = end_of_line(text, node.range.end);
        let core = block(&entry.wrapped(depth), &indent, ending);
        let before = format!("{ending}{indent}");
        return Ok(Insertion { at, existing: depth + 1, before, core, after: String::new() });
    }
    let (holder, depth) = root.holder(entry)?;
    if let Some(brackets) = document.brackets(text, holder) {
        let wrapped = entry.wrapped((depth + 1).min(entry.path.len()));
        let new = match entry.path.get(depth) {
            Some(key) => New { key: Some(key), value: &wrapped },
            None => New { key: Some(key), value: &entry.value },
        };
        return Ok(brackets.insertion(&new, depth + 1));
    }
    let first = holder.items().first().map_or(holder.range.start, |first| first.start);
    let indent = &text[text[..first].rfind('\n').map_or(0, |at| at + 1)..first];
    if !indent.trim().is_empty() {
        return Err(Problem::NotEditable("its mapping does not begin on a line of its own"));
    }
    let core = block(&entry.wrapped(depth), indent, ending);
    let end = if depth == 0 { text.len() } else { holder.range.end };
    if text[..end].ends_with('\n') {
        let (before, after) = (indent.to_owned(), ending.to_owned());
        return Ok(Insertion { at: end, existing: depth + 1, before, core, after });
    }
    let (at, before) = (end_of_line(text, end), format!("{ending}{indent}"));
    Ok(Insertion { at, existing: depth + 1, before, core, after: String::new() })
}

/// A key on the way to the entry whose value is not written: the place, the number of keys, and the indentation of
/// what belongs under it.
fn empty_member<'n>(text: &str, root: &'n Node, entry: &Entry) -> Option<(&'n Node, usize, String)> {
    let mut node = root;
    for (depth, key) in entry.path.iter().enumerate() {
        let member = node.member(key)?;
        node = &member.node;
        if matches!(node.shape, Shape::Scalar(Value::Null)) && node.range.is_empty() {
            let line = text[..member.start].rfind('\n').map_or(0, |at| at + 1);
            let indent = &text[line..member.start];
            return indent.trim().is_empty().then(|| (node, depth + 1, format!("{indent}{UNIT}")));
        }
    }
    None
}

/// Lines of a mapping; the first without its indentation.
fn block(value: &Value, indent: &str, ending: &str) -> String {
    let lines = value.as_object().into_iter().flatten().map(|(key, value)| match value {
        Value::Object(_) => {
            let inner = format!("{indent}{UNIT}");
            format!("{key}:{ending}{inner}{}", block(value, &inner, ending))
        }
        flat => format!("{key}: {}", on_one_line(flat)),
    });
    lines.collect::<Vec<_>>().join(&format!("{ending}{indent}"))
}

/// The end of the line without its line ending.
fn end_of_line(text: &str, at: usize) -> usize {
    let line = text[at..].split('\n').next().unwrap_or_default();
    at + line.strip_suffix('\r').unwrap_or(line).len()
}

/// The text without an entry, wherever it stands.
pub(super) fn without(text: &str, document: &Document, entry: &Entry) -> Option<String> {
    let (holder, depth) = document.root.as_ref()?.holder(entry).ok()?;
    if depth < entry.path.len() {
        return None;
    }
    without_member(text, document, holder, holder.index(entry, 0)?)
}

fn without_member(text: &str, document: &Document, holder: &Node, index: usize) -> Option<String> {
    if let Some(brackets) = document.brackets(text, holder) {
        return Some(cut(text, brackets.removal(index)));
    }
    let item = holder.items().get(index)?.clone();
    let mut start = text[..item.start].rfind('\n').map_or(0, |at| at + 1);
    let end = if text[..item.end].ends_with('\n') {
        item.end
    } else {
        text[item.end..].find('\n').map_or(text.len(), |length| item.end + length + 1)
    };
    if !text[..end].ends_with('\n') {
        let blank = text[..start].strip_suffix('\n').unwrap_or(&text[..start]);
        start = blank.strip_suffix('\r').unwrap_or(blank).len();
    }
    Some([&text[..start], &text[end..]].concat())
}

/// The text without the innermost mapping on the way to an entry, if it is empty and we made it.
pub(super) fn without_empty_holder(
    text: &str,
    document: &Document,
    entry: &Entry,
    existing: usize,
) -> Option<String> {
    let root = document.root.as_ref()?;
    let at =
        |depth: usize| entry.path[..depth].iter().try_fold(root, |node, key| Some(&node.member(key)?.node));
    let depth = (0..=entry.path.len()).rev().find(|&depth| at(depth).is_some())?;
    let node = at(depth)?;
    let is_empty = match &node.shape {
        Shape::Scalar(value) => value.is_null() && node.range.is_empty(),
        Shape::Table(members) => members.is_empty(),
        _ => false,
    };
    if depth < existing || depth == 0 || !is_empty {
        return None;
    }
    let above = at(depth - 1)?;
    let Shape::Table(members) = &above.shape else { return None };
    without_member(
        text,
        document,
        above,
        members.iter().rposition(|member| member.name == entry.path[depth - 1])?,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aliases_that_multiply_are_refused_before_they_fill_the_memory() {
        let list = |item: &str| [item; 10].join(", ");
        let mut text = format!("a0: &a0 [{}]\n", list("x"));
        for level in 1..9 {
            text.push_str(&format!("a{level}: &a{level} [{}]\n", list(&format!("*a{}", level - 1))));
        }
        assert_eq!(parse(&text).err(), Some(Problem::NotEditable("its aliases repeat too much")));
    }
}

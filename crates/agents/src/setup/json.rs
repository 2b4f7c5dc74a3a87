//! JSON, JSON with comments, and JSON5: the syntax tree of a library finds the places of entries, and takes them out.

use jsonc_parser::cst::{CstNode, CstObject, CstObjectProp, CstRootNode};
use jsonc_parser::errors::ParseError;
use jsonc_parser::{ParseOptions, parse_to_serde_value};
use serde::Serialize;
use serde_json::Value;
use serde_json::ser::{PrettyFormatter, Serializer};

use super::entry::{Entry, Slot};
use super::piece::line_ending;
use super::problem::Problem;

/// Liberties that a file may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// None.
    Strict,
    /// Comments and trailing commas.
    Comments,
    /// Those of JSON5.
    Five,
}

/// The indentation where a text shows none.
const UNIT: &str = "  ";

fn options(dialect: Dialect) -> ParseOptions {
    let five = dialect == Dialect::Five;
    ParseOptions {
        allow_comments: dialect != Dialect::Strict,
        allow_trailing_commas: dialect != Dialect::Strict,
        allow_missing_commas: false,
        allow_loose_object_property_names: five,
        allow_single_quoted_strings: five,
        allow_hexadecimal_numbers: five,
        allow_unary_plus_numbers: five,
        allow_bare_decimal_point_numbers: five,
        allow_non_finite_numbers: five,
        allow_extended_string_escapes: five,
    }
}

fn problem(text: &str, error: &ParseError) -> Problem {
    Problem::at(text, error.range().start, &error.kind().to_string())
}

fn parse(text: &str, dialect: Dialect) -> Result<CstRootNode, Problem> {
    CstRootNode::parse(text, &options(dialect)).map_err(|error| problem(text, &error))
}

/// The value of a text, null where it is blank.
pub(super) fn value(text: &str, dialect: Dialect) -> Result<Value, Problem> {
    parse_to_serde_value(text, &options(dialect)).map_err(|error| problem(text, &error))
}

/// The text with an entry, and the number of tables and lists on the way that were there before.
///
/// The library's own insertion breaks the lines of a table, drops blank lines and moves commas in front of comments.
pub(super) fn insertion(
    text: &str,
    dialect: Dialect,
    entry: &Entry,
) -> Result<(usize, String, usize), Problem> {
    let root = parse(text, dialect)?;
    let ending = line_ending(text);
    let Some(value) = root.value() else {
        let before = if text.is_empty() || text.ends_with('\n') { "" } else { ending };
        let core = lines(&entry.wrapped(0), "", UNIT, ending);
        return Ok((text.len(), [before, &core, ending].concat(), 0));
    };
    let unit = root.single_indent_text().filter(|unit| !unit.is_empty()).unwrap_or_else(|| UNIT.to_owned());
    let (holder, depth) = holder(value, entry)?;
    let (key, value) = match (entry.path.get(depth), &entry.slot) {
        (Some(key), _) => (Some(key), entry.wrapped(depth + 1)),
        (None, Slot::Member(key)) => (Some(key), entry.value.clone()),
        (None, Slot::Item) => (None, entry.value.clone()),
    };
    let key = key.map_or_else(String::new, |key| format!("{}: ", Value::from(key.as_str())));
    let start = offset(&holder);
    let end = start + holder.to_string().len() - 1;
    let (first, last) = match holder.children_exclude_trivia_and_tokens().as_slice() {
        [first, .., last] => (offset(first), offset(last) + last.to_string().len()),
        [only] => (offset(only), offset(only) + only.to_string().len()),
        [] => (end, end),
    };
    let is_empty = first == end;
    let is_on_lines = text[start..last].contains('\n')
        || is_empty && text.trim().contains('\n')
        || start + 1 == end && depth == 0;
    let outer = indentation(text, start);
    let inner = match text[..first].rfind('\n').map(|line| &text[line + 1..first]) {
        Some(blank) if !is_empty && first - blank.len() > start && blank.trim().is_empty() => {
            blank.to_owned()
        }
        _ => [outer, &unit].concat(),
    };
    let (line, core) = if is_on_lines {
        ([ending, &inner].concat(), key + &lines(&value, &inner, &unit, ending))
    } else {
        (String::new(), key + &value.to_string())
    };
    let space = if is_on_lines { "" } else { " " };
    let (at, new) = if is_empty {
        let blank = text[start + 1..end].split(|c: char| !c.is_whitespace()).next().unwrap_or_default();
        let after =
            if !is_on_lines || blank.contains('\n') { String::new() } else { [ending, outer].concat() };
        (start + 1, [line, core, after].concat())
    } else if text[last..end].trim().is_empty() {
        (last, [",", space, &line, &core].concat())
    } else {
        // A comma or a comment behind the last item stays with it.
        (start + 1, [&line, &core, ",", space].concat())
    };
    Ok((at, new, depth + 1))
}

/// The first byte of a node.
fn offset(node: &CstNode) -> usize {
    let before: usize = node.previous_siblings().map(|node| node.to_string().len()).sum();
    before + node.parent().map_or(0, |parent| offset(&parent.into()))
}

/// The white space in front of the line of a byte.
fn indentation(text: &str, at: usize) -> &str {
    let line = &text[text[..at].rfind('\n').map_or(0, |at| at + 1)..at];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// JSON with a line for each member and item.
fn lines(value: &Value, indent: &str, unit: &str, ending: &str) -> String {
    let mut bytes = Vec::new();
    let formatter = PrettyFormatter::with_indent(unit.as_bytes());
    let written = value.serialize(&mut Serializer::with_formatter(&mut bytes, formatter));
    written.expect("a value is written into memory");
    String::from_utf8_lossy(&bytes).replace('\n', &[ending, indent].concat())
}

/// The text without an entry, wherever it stands.
pub(super) fn without(text: &str, dialect: Dialect, entry: &Entry, position: usize) -> Option<String> {
    let root = parse(text, dialect).ok()?;
    let (holder, depth) = holder(root.value()?, entry).ok()?;
    if depth < entry.path.len() {
        return None;
    }
    match &entry.slot {
        Slot::Member(key) => member(&holder.as_object()?, key)?.remove(),
        Slot::Item => holder.as_array()?.elements().get(position)?.clone().remove(),
    }
    Some(root.to_string())
}

/// The text without the innermost table or list on the way to an entry, if it is empty and we made it.
pub(super) fn without_empty_holder(
    text: &str,
    dialect: Dialect,
    entry: &Entry,
    existing: usize,
) -> Option<String> {
    let root = parse(text, dialect).ok()?;
    let (holder, depth) = holder(root.value()?, entry).ok()?;
    let whole = holder.to_string();
    if depth < existing || !whole[1..whole.len() - 1].trim().is_empty() {
        return None;
    }
    match holder.parent() {
        Some(member) if depth > 0 => member.remove(),
        _ => holder.remove(),
    }
    Some(root.to_string())
}

/// The innermost table or list on the way to an entry, and the number of keys that lead to it.
fn holder(root: CstNode, entry: &Entry) -> Result<(CstNode, usize), Problem> {
    let mut node = root;
    for (depth, key) in entry.path.iter().enumerate() {
        let table = node.as_object().ok_or_else(|| wrong_kind(entry, depth, "a table"))?;
        match member(&table, key).and_then(|member| member.value()) {
            Some(value) => node = value,
            None => return Ok((node, depth)),
        }
    }
    let depth = entry.path.len();
    match &entry.slot {
        Slot::Member(_) if node.as_object().is_none() => Err(wrong_kind(entry, depth, "a table")),
        Slot::Item if node.as_array().is_none() => Err(wrong_kind(entry, depth, "a list")),
        _ => Ok((node, depth)),
    }
}

/// The member of that name; the last one counts, as in every parser of JSON.
fn member(table: &CstObject, name: &str) -> Option<CstObjectProp> {
    table.properties().into_iter().rfind(|member| member.decoded_name().as_deref() == Some(name))
}

fn wrong_kind(entry: &Entry, depth: usize, expected: &'static str) -> Problem {
    let key = match depth {
        0 => "the outermost value".to_owned(),
        depth => entry.path[..depth].join("."),
    };
    Problem::WrongKind { key, expected }
}

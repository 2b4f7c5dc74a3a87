//! JSON, JSON with comments, and JSON5: reads the tree of a text, and edits it between its brackets.

use jsonc_parser::ast;
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use serde_json::Value;

use super::entry::{Entry, Slot};
use super::flow::{Brackets, New};
use super::piece::{Insertion, Piece, cut, line_ending};
use super::problem::Problem;
use super::tree::{Member, Node, Shape};

/// Liberties that a file may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// None.
    Strict,
    /// Comments and trailing commas.
    Comments,
    /// Those of JSON5.
    Five,
}

/// The indentation where a text shows none.
const UNIT: &str = "  ";

/// The tree of a text; none where it is blank.
pub(super) fn parse(text: &str, dialect: Dialect) -> Result<Option<Node>, Problem> {
    let five = dialect == Dialect::Five;
    let options = ParseOptions {
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
    };
    let parsed = parse_to_ast(text, &CollectOptions::default(), &options)
        .map_err(|error| Problem::at(text, error.range().start, &error.kind().to_string()))?;
    Ok(parsed.value.map(node))
}

fn node(value: ast::Value<'_>) -> Node {
    let range = value.range();
    let shape = match value {
        ast::Value::Object(object) => Shape::Table(
            object
                .properties
                .into_iter()
                .map(|property| Member {
                    start: property.range.start,
                    name: property.name.into_string(),
                    node: node(property.value),
                })
                .collect(),
        ),
        ast::Value::Array(array) => Shape::List(array.elements.into_iter().map(node).collect()),
        ast::Value::StringLit(text) => Shape::Scalar(text.value.into_owned().into()),
        // Numbers are only compared with themselves.
        ast::Value::NumberLit(number) => {
            Shape::Scalar(serde_json::from_str(number.value).unwrap_or_else(|_| Value::from(number.value)))
        }
        ast::Value::BooleanLit(boolean) => Shape::Scalar(boolean.value.into()),
        ast::Value::NullKeyword(_) => Shape::Scalar(Value::Null),
    };
    Node { range: range.start..range.end, shape }
}

/// The place and the text of a new entry.
pub(super) fn insertion(text: &str, root: Option<&Node>, entry: &Entry) -> Result<Insertion, Problem> {
    let ending = line_ending(text);
    let Some(root) = root else {
        let value = entry.wrapped(0);
        let core = New { key: None, value: &value }.on_lines("", UNIT, ending);
        let before = if text.is_empty() || text.ends_with('\n') { "" } else { ending };
        let (before, after) = (before.to_owned(), ending.to_owned());
        return Ok(Insertion { at: text.len(), existing: 0, before, core, after });
    };
    let (holder, depth) = root.holder(entry)?;
    let unit = unit(text, root);
    let brackets = brackets(text, holder, &unit, ending);
    let wrapped;
    let new = match (entry.path.get(depth), &entry.slot) {
        (Some(key), _) => {
            wrapped = entry.wrapped(depth + 1);
            New { key: Some(key), value: &wrapped }
        }
        (None, Slot::Member(key)) => New { key: Some(key), value: &entry.value },
        (None, Slot::Item) => New { key: None, value: &entry.value },
    };
    Ok(brackets.insertion(&new, depth + 1))
}

fn brackets<'a>(text: &'a str, node: &Node, unit: &'a str, ending: &'a str) -> Brackets<'a> {
    let range = node.range.clone();
    Brackets { text, range, items: node.items(), is_yaml: false, unit: Some(unit), ending }
}

/// The indentation of a level: that of the first member.
fn unit(text: &str, root: &Node) -> String {
    let first = root.items().first().map_or(0, |first| first.start);
    let line = text[..first].rfind('\n').map_or(0, |at| at + 1);
    let blank = &text[line..first];
    let is_indent = line > root.range.start && !blank.is_empty() && blank.trim().is_empty();
    if is_indent { blank.to_owned() } else { UNIT.to_owned() }
}

/// The text without the exact piece that was inserted, if it is still there.
pub(super) fn without_piece(
    text: &str,
    root: &Node,
    entry: &Entry,
    at: usize,
    piece: &Piece,
) -> Option<String> {
    let (holder, depth) = root.holder(entry).ok()?;
    let range = match piece.existing {
        0 => root.range.clone(),
        existing if existing <= entry.path.len() => {
            let (path, key) = (&entry.path[..existing - 1], &entry.path[existing - 1]);
            let above = path.iter().try_fold(root, |node, key| Some(&node.member(key)?.node))?;
            let member = above.member(key)?;
            member.start..member.node.range.end
        }
        _ if depth == entry.path.len() => holder.items().get(holder.index(entry, at)?)?.clone(),
        _ => return None,
    };
    Some(cut(text, vec![piece.around(text, range.start, range.end)?]))
}

/// The text without an entry, wherever it stands.
pub(super) fn without(text: &str, root: &Node, entry: &Entry, at: usize) -> Option<String> {
    let (holder, depth) = root.holder(entry).ok()?;
    if depth < entry.path.len() {
        return None;
    }
    let index = holder.index(entry, at)?;
    Some(cut(text, brackets(text, holder, UNIT, "\n").removal(index)))
}

/// The text without the innermost table or list on the way to an entry, if it is empty and we made it.
pub(super) fn without_empty_holder(
    text: &str,
    root: &Node,
    entry: &Entry,
    existing: usize,
) -> Option<String> {
    let depth = (0..=entry.path.len()).rev().find(|&depth| {
        let node = entry.path[..depth].iter().try_fold(root, |node, key| Some(&node.member(key)?.node));
        node.is_some()
    })?;
    let node = entry.path[..depth].iter().try_fold(root, |node, key| Some(&node.member(key)?.node))?;
    let inner = &text[node.range.start + 1..node.range.end.saturating_sub(1)];
    if depth < existing || matches!(node.shape, Shape::Scalar(_)) || !inner.trim().is_empty() {
        return None;
    }
    if depth == 0 {
        let around = [&text[..node.range.start], &text[node.range.end..]].concat();
        return Some(if around.trim().is_empty() { String::new() } else { around });
    }
    let above = entry.path[..depth - 1].iter().try_fold(root, |node, key| Some(&node.member(key)?.node))?;
    let Shape::Table(members) = &above.shape else { return None };
    let index = members.iter().rposition(|member| member.name == entry.path[depth - 1])?;
    Some(cut(text, brackets(text, above, UNIT, "\n").removal(index)))
}

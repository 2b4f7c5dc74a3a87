//! Tables and lists of a text, with their bytes.

use std::ops::Range;

use serde_json::Value;

use super::entry::{Entry, Slot};
use super::problem::Problem;

/// A value with its place in the text.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) range: Range<usize>,
    pub(super) shape: Shape,
}

#[derive(Debug, Clone)]
pub(super) enum Shape {
    Table(Vec<Member>),
    List(Vec<Node>),
    Scalar(Value),
    /// A value that another place of the text defines; it cannot be edited here.
    Alias(Value),
}

#[derive(Debug, Clone)]
pub(super) struct Member {
    pub(super) name: String,
    /// First byte of the key.
    pub(super) start: usize,
    pub(super) node: Node,
}

impl Node {
    /// The value, without places.
    pub(super) fn value(&self) -> Value {
        match &self.shape {
            Shape::Table(members) => {
                members.iter().map(|member| (member.name.clone(), member.node.value())).collect()
            }
            Shape::List(items) => items.iter().map(Node::value).collect(),
            Shape::Scalar(value) | Shape::Alias(value) => value.clone(),
        }
    }

    /// The member of that name; the last one counts, as in every parser of JSON.
    pub(super) fn member(&self, name: &str) -> Option<&Member> {
        match &self.shape {
            Shape::Table(members) => members.iter().rfind(|member| member.name == name),
            _ => None,
        }
    }

    /// The ranges of the members or items.
    pub(super) fn items(&self) -> Vec<Range<usize>> {
        match &self.shape {
            Shape::Table(members) => {
                members.iter().map(|member| member.start..member.node.range.end).collect()
            }
            Shape::List(items) => items.iter().map(|item| item.range.clone()).collect(),
            Shape::Scalar(_) | Shape::Alias(_) => Vec::new(),
        }
    }

    /// The innermost table or list on the way to an entry, and the number of keys that lead to it.
    pub(super) fn holder(&self, entry: &Entry) -> Result<(&Node, usize), Problem> {
        let mut node = self;
        for (depth, key) in entry.path.iter().enumerate() {
            let Shape::Table(_) = node.shape else { return Err(wrong_kind(entry, depth, "a table")) };
            match node.member(key) {
                Some(member) => node = &member.node,
                None => return Ok((node, depth)),
            }
        }
        match (&entry.slot, &node.shape) {
            (Slot::Member(_), Shape::Table(_)) | (Slot::Item, Shape::List(_)) => Ok((node, entry.path.len())),
            (Slot::Member(_), _) => Err(wrong_kind(entry, entry.path.len(), "a table")),
            (Slot::Item, _) => Err(wrong_kind(entry, entry.path.len(), "a list")),
        }
    }

    /// The index of an entry in its holder.
    pub(super) fn index(&self, entry: &Entry, position: usize) -> Option<usize> {
        match (&entry.slot, &self.shape) {
            (Slot::Member(key), Shape::Table(members)) => {
                members.iter().rposition(|member| member.name == *key)
            }
            (Slot::Item, Shape::List(items)) => (position < items.len()).then_some(position),
            _ => None,
        }
    }
}

fn wrong_kind(entry: &Entry, depth: usize, expected: &'static str) -> Problem {
    let key = match depth {
        0 => "the outermost value".to_owned(),
        depth => entry.path[..depth].join("."),
    };
    Problem::WrongKind { key, expected }
}

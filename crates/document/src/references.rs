//! Checks references between memories: superseding titles and `See also:` links.
//!
//! Reports references that lead to nothing, and entries that supersede each other in a circle, so that
//! none of them is live.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use crate::link::Link;
use crate::problem::{Kind, Problem};
use crate::types::{Cause, Memory, Scope, fold_title};

/// An entry and the line of its reference.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Node<'a> {
    pub(crate) memory: &'a Memory,
    pub(crate) line: usize,
}

impl Node<'_> {
    /// The title of the entry that supersedes it.
    fn successor(&self) -> Option<&str> {
        match &self.memory.reference.as_ref()?.cause {
            Cause::SupersededBy(title) => Some(title),
            Cause::Invalidated(_) => None,
        }
    }
}

/// The entries and links of all scopes. A scope may have no entries.
#[derive(Debug, Default)]
pub(crate) struct References<'a> {
    pub(crate) nodes: BTreeMap<&'a Scope, Vec<Node<'a>>>,
    pub(crate) links: Vec<(&'a Scope, PlacedLink)>,
}

/// A link and its position.
#[derive(Debug)]
pub(crate) struct PlacedLink {
    pub(crate) link: Link,
    pub(crate) line: usize,
    pub(crate) column: usize,
}

impl References<'_> {
    /// References that lead to nothing or in a circle.
    pub fn problems(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        for nodes in self.nodes.values() {
            successors(nodes, &mut problems);
        }
        let folded =
            |nodes: &Vec<Node<'_>>| nodes.iter().map(|node| fold_title(&node.memory.title)).collect();
        let titles: Titles<'_> = if self.links.is_empty() {
            Titles::new()
        } else {
            self.nodes.iter().map(|(scope, nodes)| (*scope, folded(nodes))).collect()
        };
        for (scope, PlacedLink { link, line, column }) in &self.links {
            if !leads_somewhere(&titles, scope, link) {
                let kind = Kind::LostLink(link.to_string());
                problems.push(Problem::new(*line, *column, kind));
            }
        }
        problems
    }
}

/// The folded titles of all scopes.
type Titles<'a> = BTreeMap<&'a Scope, HashSet<String>>;

/// True if the target of a link exists.
fn leads_somewhere(titles: &Titles<'_>, from: &Scope, link: &Link) -> bool {
    let has_title = |scope: &Scope, title: &str| {
        titles.get(scope).is_some_and(|titles| titles.contains(&fold_title(title)))
    };
    let found = match (&link.scope, &link.title) {
        (scope, Some(title)) => has_title(scope.as_ref().unwrap_or(from), title),
        (Some(scope), None) => titles.contains_key(scope),
        (None, None) => false,
    };
    found || has_title(from, &link.as_title())
}

/// Follows each superseded entry to its successor. Of entries with one title a live one comes first.
fn successors(nodes: &[Node<'_>], problems: &mut Vec<Problem>) {
    let mut by_title: BTreeMap<String, usize> = BTreeMap::new();
    for (at, node) in nodes.iter().enumerate() {
        let known = by_title.entry(fold_title(&node.memory.title)).or_insert(at);
        if node.memory.is_live() && !nodes[*known].memory.is_live() {
            *known = at;
        }
    }
    let next = |node: &Node<'_>| by_title.get(&fold_title(node.successor()?)).copied();
    let mut done: BTreeSet<usize> = BTreeSet::new();
    for (start, node) in nodes.iter().enumerate() {
        if let Some(title) = node.successor()
            && next(node).is_none()
        {
            let kind = Kind::LostReference(title.to_owned());
            problems.push(Problem::new(node.line, 1, kind));
        }
        let mut path = vec![start];
        // Entries of the path, each with its place in it.
        let mut places = BTreeMap::from([(start, 0)]);
        while let Some(at) = path.last().and_then(|&last| next(&nodes[last])) {
            if let Some(&from) = places.get(&at) {
                let circle = &path[from..];
                let titles = circle.iter().chain([&at]).map(|&at| nodes[at].memory.title.clone()).collect();
                let line = circle.iter().map(|&at| nodes[at].line).min().unwrap_or(0);
                problems.push(Problem::new(line, 1, Kind::CircularReference(titles)));
                break;
            }
            if !done.insert(at) {
                break;
            }
            places.insert(at, path.len());
            path.push(at);
        }
        done.extend(path);
    }
}

//! Checks references between memories: superseding titles and `See also:` links.
//!
//! Reports references that lead to nothing, and entries that supersede each other in a circle, so that
//! none of them is live.

use std::collections::{BTreeMap, BTreeSet};

use crate::document::link::Link;
use crate::document::problem::{Kind, Problem};
use crate::types::{Cause, Memory, Scope, fold_title};

/// An entry and what it refers to.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    folded: String,
    title: String,
    live: bool,
    superseded_by: Option<String>,
    /// Line of its reference.
    line: usize,
}

impl Node {
    /// Takes an entry and the line of its reference.
    pub(crate) fn of(memory: &Memory, line: usize) -> Node {
        let superseded_by = match memory.reference.as_ref().map(|reference| &reference.cause) {
            Some(Cause::SupersededBy(title)) => Some(title.clone()),
            _ => None,
        };
        let title = memory.title.clone();
        Node { folded: fold_title(&title), title, live: memory.is_live(), superseded_by, line }
    }
}

/// The entries and links of all scopes.
#[derive(Debug, Default)]
pub(crate) struct References {
    nodes: BTreeMap<Scope, Vec<Node>>,
    links: Vec<(Scope, PlacedLink)>,
}

/// A link and its position.
#[derive(Debug)]
pub(crate) struct PlacedLink {
    pub(crate) link: Link,
    pub(crate) line: usize,
    pub(crate) column: usize,
}

impl References {
    /// Adds a scope, which may have no entries.
    pub(crate) fn add_scope(&mut self, scope: &Scope) {
        self.nodes.entry(scope.clone()).or_default();
    }

    pub(crate) fn add_entry(&mut self, scope: &Scope, node: Node) {
        self.nodes.entry(scope.clone()).or_default().push(node);
    }

    pub(crate) fn add_link(&mut self, scope: &Scope, link: PlacedLink) {
        self.links.push((scope.clone(), link));
    }

    /// References that lead to nothing or in a circle.
    pub fn problems(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        for nodes in self.nodes.values() {
            successors(nodes, &mut problems);
        }
        for (scope, PlacedLink { link, line, column }) in &self.links {
            if !self.leads_somewhere(scope, link) {
                let kind = Kind::LostLink(link.to_string());
                problems.push(Problem { line: *line, column: *column, kind });
            }
        }
        problems
    }

    /// True if the target of a link exists.
    fn leads_somewhere(&self, from: &Scope, link: &Link) -> bool {
        let has_title = |scope: &Scope, title: &str| {
            let title = fold_title(title);
            self.nodes.get(scope).is_some_and(|nodes| nodes.iter().any(|node| node.folded == title))
        };
        let found = match (&link.scope, &link.title) {
            (scope, Some(title)) => has_title(scope.as_ref().unwrap_or(from), title),
            (Some(scope), None) => self.nodes.contains_key(scope),
            (None, None) => false,
        };
        found || has_title(from, &link.as_title())
    }
}

/// Follows each superseded entry to its successor. Of entries with one title a live one comes first.
fn successors(nodes: &[Node], problems: &mut Vec<Problem>) {
    let mut by_title: BTreeMap<&str, usize> = BTreeMap::new();
    for (at, node) in nodes.iter().enumerate() {
        let known = by_title.entry(&node.folded).or_insert(at);
        if node.live && !nodes[*known].live {
            *known = at;
        }
    }
    let next = |node: &Node| by_title.get(fold_title(node.superseded_by.as_deref()?).as_str()).copied();
    let mut done: BTreeSet<usize> = BTreeSet::new();
    for (start, node) in nodes.iter().enumerate() {
        if let Some(title) = &node.superseded_by
            && next(node).is_none()
        {
            problems.push(Problem { line: node.line, column: 1, kind: Kind::LostReference(title.clone()) });
        }
        let mut path = vec![start];
        while let Some(at) = path.last().and_then(|&last| next(&nodes[last])) {
            if let Some(from) = path.iter().position(|&other| other == at) {
                let circle = &path[from..];
                let titles = circle.iter().chain([&at]).map(|&at| nodes[at].title.clone()).collect();
                let line = circle.iter().map(|&at| nodes[at].line).min().unwrap_or(0);
                problems.push(Problem { line, column: 1, kind: Kind::CircularReference(titles) });
                break;
            }
            if !done.insert(at) {
                break;
            }
            path.push(at);
        }
        done.extend(path);
    }
}

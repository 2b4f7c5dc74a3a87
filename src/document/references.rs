//! References between memories: what supersedes what, and where `See also:` leads.
//!
//! All entries of a file enter, with their lines; problems leave where a reference leads to nothing,
//! or in a circle so that none of the entries is live.

use std::collections::{BTreeMap, BTreeSet};

use crate::document::link::Link;
use crate::document::problem::{Kind, Problem};
use crate::types::{Cause, Memory, Scope, fold_title};

/// An entry as far as references go.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    folded: String,
    title: String,
    live: bool,
    superseded_by: Option<String>,
    /// Where its reference stands.
    line: usize,
}

impl Node {
    /// An entry whose reference, if it has one, stands in a line of the file.
    pub(crate) fn of(memory: &Memory, line: usize) -> Node {
        let superseded_by = match memory.reference.as_ref().map(|reference| &reference.cause) {
            Some(Cause::SupersededBy(title)) => Some(title.clone()),
            _ => None,
        };
        let title = memory.title.clone();
        Node { folded: fold_title(&title), title, live: memory.is_live(), superseded_by, line }
    }
}

/// The entries of all scopes, and the links that stand in them.
#[derive(Debug, Default)]
pub(crate) struct References {
    nodes: BTreeMap<Scope, Vec<Node>>,
    links: Vec<(Scope, PlacedLink)>,
}

/// A link, and where it stands.
#[derive(Debug)]
pub(crate) struct PlacedLink {
    /// Where it leads.
    pub(crate) link: Link,
    /// Its line in the file.
    pub(crate) line: usize,
    /// Its column.
    pub(crate) column: usize,
}

impl References {
    /// Knows of a scope, also where it has no entries.
    pub(crate) fn add_scope(&mut self, scope: &Scope) {
        self.nodes.entry(scope.clone()).or_default();
    }

    /// Knows of an entry.
    pub(crate) fn add_entry(&mut self, scope: &Scope, node: Node) {
        self.nodes.entry(scope.clone()).or_default().push(node);
    }

    /// Knows of a link.
    pub(crate) fn add_link(&mut self, scope: &Scope, link: PlacedLink) {
        self.links.push((scope.clone(), link));
    }

    /// What leads to nothing or in a circle.
    pub(crate) fn problems(&self) -> Vec<Problem> {
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

    /// Whether there is what a link of a section names.
    fn leads_somewhere(&self, from: &Scope, link: &Link) -> bool {
        let bears = |scope: &Scope, title: &str| {
            let title = fold_title(title);
            self.nodes.get(scope).is_some_and(|nodes| nodes.iter().any(|node| node.folded == title))
        };
        let found = match (&link.scope, &link.title) {
            (scope, Some(title)) => bears(scope.as_ref().unwrap_or(from), title),
            (Some(scope), None) => self.nodes.contains_key(scope),
            (None, None) => false,
        };
        found || bears(from, &link.as_title())
    }
}

/// Follows each superseded entry to its successor. A live entry of a title comes before others.
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

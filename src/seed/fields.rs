//! Reads the fields of a table in a seed file; errors give file, line and path of the field.
//!
//! Keys match in any spelling: `decision_style`, `decision-style`, `decisionStyle`, `Decision style`.
//! Keys that were not taken are unknown.

use crate::document::nearest;
use crate::document::text::stored_line;
use crate::seed::error::{SeedError, SeedPosition};
use crate::seed::node::{Key, Node, Value};

/// The fields of one table.
pub(crate) struct TableFields<'a> {
    file: String,
    path: String,
    line: usize,
    pairs: &'a [(Key, Node)],
    taken: Vec<bool>,
}

impl<'a> TableFields<'a> {
    /// The fields of a node that must be a table. `path` is its path in the file, empty for the whole file.
    ///
    /// # Errors
    ///
    /// The node is not a table; the error contains `expected`.
    pub(crate) fn of(
        file: &str,
        path: &str,
        node: &'a Node,
        expected: &str,
    ) -> Result<TableFields<'a>, SeedError> {
        match &node.value {
            Value::Table(pairs) => Ok(TableFields {
                file: file.to_owned(),
                path: path.to_owned(),
                // The first key is a better position than the opening bracket.
                line: pairs.first().map_or(node.line, |(key, _)| key.line.max(node.line)),
                pairs,
                taken: vec![false; pairs.len()],
            }),
            _ => Err(TableFields::wrong_kind(file, path, node, expected)),
        }
    }

    /// An error for a value of the wrong type.
    pub(crate) fn wrong_kind(file: &str, path: &str, node: &Node, expected: &str) -> SeedError {
        let what = if path.is_empty() { "the file".to_owned() } else { format!("`{path}`") };
        let problem = format!("{what} is {}", node.kind());
        SeedError::Wrong { file: file.to_owned(), line: node.line, problem, expected: expected.to_owned() }
    }

    /// An error in this table.
    pub(crate) fn wrong(&self, line: usize, problem: &str, expected: &str) -> SeedError {
        let (problem, expected) = (problem.to_owned(), expected.to_owned());
        SeedError::Wrong { file: self.file.clone(), line, problem, expected }
    }

    pub(crate) fn file(&self) -> &str {
        &self.file
    }

    /// The position of the table's first key.
    pub(crate) fn position(&self) -> SeedPosition {
        SeedPosition { file: self.file.clone(), line: self.line }
    }

    /// The path of a field: `agents[1].name`.
    pub(crate) fn path(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }

    /// A field's name in errors; that of the table itself for an empty key.
    pub(crate) fn label(&self, key: &str) -> String {
        match (self.path.as_str(), key) {
            ("", "") => "the agent".to_owned(),
            (path, "") => format!("`{path}`"),
            _ => format!("`{}`", self.path(key)),
        }
    }

    /// True if the table has any of these keys.
    pub(crate) fn has_any(&self, keys: &[&str]) -> bool {
        self.pairs.iter().any(|(key, _)| keys.contains(&folded(&key.name).as_str()))
    }

    /// The value of a key.
    ///
    /// # Errors
    ///
    /// The key occurs twice.
    pub(crate) fn take(&mut self, key: &str) -> Result<Option<&'a Node>, SeedError> {
        let mut found: Option<&(Key, Node)> = None;
        for (at, pair) in self.pairs.iter().enumerate().filter(|(_, pair)| folded(&pair.0.name) == key) {
            self.taken[at] = true;
            if let Some((first, _)) = found {
                let problem = format!("`{}` is there twice", self.path(key));
                return Err(self.wrong(pair.0.line, &problem, &format!("only that of line {}", first.line)));
            }
            found = Some(pair);
        }
        Ok(found.map(|(_, node)| node))
    }

    /// A text of one line, such as a name, and its line number.
    ///
    /// # Errors
    ///
    /// The value is not a text.
    pub(crate) fn word(&mut self, key: &str) -> Result<Option<(String, usize)>, SeedError> {
        let Some(node) = self.take(key)? else { return Ok(None) };
        let text = text_of(&self.file, &self.path(key), node)?;
        Ok(text.map(|text| (stored_line(&text), node.line)))
    }

    /// A text; `None` if it is empty.
    ///
    /// # Errors
    ///
    /// The value is not a text.
    pub fn text(&mut self, key: &str) -> Result<Option<String>, SeedError> {
        let node = self.take(key)?;
        node.map_or(Ok(None), |node| text_of(&self.file, &self.path(key), node))
    }

    /// A text, or the texts of a list or table as a Markdown list.
    ///
    /// # Errors
    ///
    /// The value is neither.
    pub(crate) fn texts(&mut self, key: &str) -> Result<Option<String>, SeedError> {
        let node = self.take(key)?;
        node.map_or(Ok(None), |node| texts_of(&self.file, &self.path(key), node))
    }

    /// The first text under these keys.
    ///
    /// # Errors
    ///
    /// All are missing or empty, or one is not a text.
    pub(crate) fn required(&mut self, keys: &[&str]) -> Result<String, SeedError> {
        for key in keys {
            if let Some(text) = self.text(key)? {
                return Ok(text);
            }
        }
        Err(self.wrong(self.line, &format!("`{}` is missing", self.path(keys[0])), "a text"))
    }

    /// A warning for each key that was not taken, with the most similar of the `known` keys.
    pub(crate) fn unknown(&self, known: &[&str]) -> Vec<String> {
        let untaken = self.pairs.iter().zip(&self.taken).filter(|(_, taken)| !**taken);
        let warning = |((key, _), _): (&(Key, Node), &bool)| {
            let near = nearest(&folded(&key.name), known.iter().copied(), 1);
            let near = near.first().map(|near| format!("; the nearest is `{near}`")).unwrap_or_default();
            let path = self.path(&key.name);
            format!("`{}` line {}: unknown key `{path}` is left out{near}", self.file, key.line)
        };
        untaken.map(warning).collect()
    }
}

/// A text; `None` if it is empty.
fn text_of(file: &str, path: &str, node: &Node) -> Result<Option<String>, SeedError> {
    match &node.value {
        Value::Null => Ok(None),
        Value::Text(text) => Ok(Some(text.trim().to_owned()).filter(|text| !text.is_empty())),
        _ => Err(TableFields::wrong_kind(file, path, node, "a text")),
    }
}

/// A text, or the texts of a list or table as a Markdown list; `None` if there is none.
///
/// # Errors
///
/// The value is neither, or an item is not a text.
pub(crate) fn texts_of(file: &str, path: &str, node: &Node) -> Result<Option<String>, SeedError> {
    let mut lines: Vec<String> = Vec::new();
    // Further lines of an item are indented below it.
    let mut push = |text: &str| lines.push(format!("- {}", text.replace('\n', "\n  ")));
    match &node.value {
        Value::List(items) => {
            for (at, item) in items.iter().enumerate() {
                if let Some(text) = text_of(file, &format!("{path}[{at}]"), item)? {
                    push(&text);
                }
            }
        }
        Value::Table(pairs) => {
            for (key, item) in pairs {
                if let Some(text) = text_of(file, &format!("{path}.{}", key.name), item)? {
                    push(&format!("{}: {text}", key.name));
                }
            }
        }
        Value::Null | Value::Text(_) => return text_of(file, path, node),
        Value::Flag | Value::Number => {
            return Err(TableFields::wrong_kind(file, path, node, "a text or a list of texts"));
        }
    }
    Ok(Some(lines.join("\n")).filter(|text| !text.is_empty()))
}

/// The key in snake case: `decision_style` for `decisionStyle` and `Decision style`.
fn folded(key: &str) -> String {
    let mut out = String::with_capacity(key.len() + 2);
    let mut small = false;
    for c in key.trim().chars() {
        match c {
            '-' | ' ' => out.push('_'),
            _ if c.is_uppercase() => {
                if small {
                    out.push('_');
                }
                out.extend(c.to_lowercase());
            }
            _ => out.push(c),
        }
        small = c.is_lowercase() || c.is_ascii_digit();
    }
    out
}

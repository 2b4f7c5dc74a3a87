//! Reads the values of a seed file; errors give file, line and path of the value.
//!
//! Keys match in any spelling: `decision_style`, `decision-style`, `decisionStyle`, `Decision style`.
//! Keys that were not taken are unknown.

use crate::seed::error::SeedPosition;
use crate::seed::node::{Key, Node, Value};
use memories_document::nearest;
use memories_document::text::stored_line;
use memories_document::types::hint::Refused;

/// A value of a seed file and where it stands.
#[derive(Clone)]
pub(crate) struct Field<'a> {
    file: &'a str,
    /// Its path in the file, such as `agents[1].name`; empty for the whole file.
    path: String,
    node: &'a Node,
}

impl<'a> Field<'a> {
    /// The content of a file, or one document of it.
    pub(crate) fn document(file: &'a str, node: &'a Node) -> Field<'a> {
        Field { file, path: String::new(), node }
    }

    pub(crate) fn value(&self) -> &'a Value {
        &self.node.value
    }

    /// The position of the line where it begins.
    pub(crate) fn position(&self) -> SeedPosition {
        SeedPosition { file: self.file.to_owned(), line: self.node.line }
    }

    /// The value of a key in this table.
    fn member(&self, key: &str, node: &'a Node) -> Field<'a> {
        let path = if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) };
        Field { path, node, ..*self }
    }

    /// The items of this list.
    pub(crate) fn items(&self, nodes: &'a [Node]) -> impl Iterator<Item = Field<'a>> {
        let item = |(at, node)| Field { path: format!("{}[{at}]", self.path), node, ..*self };
        nodes.iter().enumerate().map(item)
    }

    /// The keys of this table with their values.
    pub(crate) fn members(&self, pairs: &'a [(Key, Node)]) -> impl Iterator<Item = (&'a Key, Field<'a>)> {
        pairs.iter().map(|(key, node)| (key, self.member(&key.name, node)))
    }

    /// An error for a value of the wrong type.
    pub(crate) fn wrong_kind(&self, expected: &str) -> Refused {
        let what = if self.path.is_empty() { "the file".to_owned() } else { format!("`{}`", self.path) };
        self.position().wrong(format!("{what} is {}", self.node.kind()), expected)
    }

    /// Its fields; it must be a table.
    ///
    /// # Errors
    ///
    /// It is not a table; the error contains `expected`.
    pub(crate) fn table(self, expected: &str) -> Result<TableFields<'a>, Refused> {
        let Value::Table(pairs) = self.value() else { return Err(self.wrong_kind(expected)) };
        // The first key is a better position than the opening bracket.
        let line = pairs.first().map_or(self.node.line, |(key, _)| key.line.max(self.node.line));
        Ok(TableFields { line, pairs, taken: vec![false; pairs.len()], table: self })
    }

    /// A text; `None` if it is empty.
    ///
    /// # Errors
    ///
    /// It is not a text.
    fn text(&self) -> Result<Option<String>, Refused> {
        match self.value() {
            Value::Null => Ok(None),
            Value::Text(text) => Ok(Some(text.trim().to_owned()).filter(|text| !text.is_empty())),
            _ => Err(self.wrong_kind("a text")),
        }
    }

    /// A text, or the texts of a list or table as a Markdown list; `None` if there is none.
    ///
    /// # Errors
    ///
    /// It is neither, or an item is not a text.
    pub(crate) fn texts(&self) -> Result<Option<String>, Refused> {
        let mut lines: Vec<String> = Vec::new();
        // Further lines of an item are indented below it.
        let mut push = |text: &str| lines.push(format!("- {}", text.replace('\n', "\n  ")));
        match self.value() {
            Value::List(nodes) => {
                for item in self.items(nodes) {
                    item.text()?.iter().for_each(|text| push(text));
                }
            }
            Value::Table(pairs) => {
                for (key, member) in self.members(pairs) {
                    member.text()?.iter().for_each(|text| push(&format!("{}: {text}", key.name)));
                }
            }
            Value::Null | Value::Text(_) => return self.text(),
            Value::Flag | Value::Number => return Err(self.wrong_kind("a text or a list of texts")),
        }
        Ok(Some(lines.join("\n")).filter(|text| !text.is_empty()))
    }
}

/// The fields of one table.
pub(crate) struct TableFields<'a> {
    table: Field<'a>,
    line: usize,
    pairs: &'a [(Key, Node)],
    taken: Vec<bool>,
}

impl<'a> TableFields<'a> {
    /// The position of the table's first key.
    pub(crate) fn position(&self) -> SeedPosition {
        self.position_at(self.line)
    }

    pub(crate) fn position_at(&self, line: usize) -> SeedPosition {
        SeedPosition { line, ..self.table.position() }
    }

    /// The table's name in errors.
    pub(crate) fn label(&self) -> String {
        if self.table.path.is_empty() { "the agent".to_owned() } else { format!("`{}`", self.table.path) }
    }

    /// True if the table has any of these keys.
    pub(crate) fn has_any(&self, keys: &[&str]) -> bool {
        self.pairs.iter().any(|(key, _)| keys.contains(&folded(&key.name).as_str()))
    }

    /// The path of a field: `agents[1].name`.
    pub(crate) fn path(&self, key: &str) -> String {
        self.table.member(key, self.table.node).path
    }

    /// The value of a key.
    ///
    /// # Errors
    ///
    /// The key occurs twice.
    pub(crate) fn take(&mut self, key: &str) -> Result<Option<Field<'a>>, Refused> {
        let mut found: Option<&(Key, Node)> = None;
        for (at, pair) in self.pairs.iter().enumerate().filter(|(_, pair)| folded(&pair.0.name) == key) {
            self.taken[at] = true;
            if let Some((first, _)) = found {
                let problem = format!("`{}` is there twice", self.path(key));
                let expected = format!("only that of line {}", first.line);
                return Err(self.position_at(pair.0.line).wrong(problem, expected));
            }
            found = Some(pair);
        }
        Ok(found.map(|(_, node)| self.table.member(key, node)))
    }

    /// A text of one line, such as a name, and its position.
    ///
    /// # Errors
    ///
    /// The value is not a text.
    pub(crate) fn word(&mut self, key: &str) -> Result<Option<(String, SeedPosition)>, Refused> {
        let Some(field) = self.take(key)? else { return Ok(None) };
        Ok(field.text()?.map(|text| (stored_line(&text), field.position())))
    }

    /// A text; `None` if it is empty.
    ///
    /// # Errors
    ///
    /// The value is not a text.
    pub fn text(&mut self, key: &str) -> Result<Option<String>, Refused> {
        self.take(key)?.map_or(Ok(None), |field| field.text())
    }

    /// A text, or the texts of a list or table as a Markdown list.
    ///
    /// # Errors
    ///
    /// The value is neither.
    pub(crate) fn texts(&mut self, key: &str) -> Result<Option<String>, Refused> {
        self.take(key)?.map_or(Ok(None), |field| field.texts())
    }

    /// The first text under these keys.
    ///
    /// # Errors
    ///
    /// All are missing or empty, or one is not a text.
    pub(crate) fn required(&mut self, keys: &[&str]) -> Result<String, Refused> {
        for key in keys {
            if let Some(text) = self.text(key)? {
                return Ok(text);
            }
        }
        Err(self.position().wrong(format!("`{}` is missing", self.path(keys[0])), "a text"))
    }

    /// A warning for each key that was not taken, with the most similar of the `known` keys.
    pub(crate) fn unknown(&self, known: &[&str]) -> Vec<String> {
        let untaken = self.pairs.iter().zip(&self.taken).filter(|(_, taken)| !**taken);
        let warning = |((key, _), _): (&(Key, Node), &bool)| {
            let near = nearest_hint(&folded(&key.name), known.iter().copied());
            let (at, path) = (self.position_at(key.line), self.path(&key.name));
            format!("{at}: unknown key `{path}` is left out{near}")
        };
        untaken.map(warning).collect()
    }
}

/// The most similar of the known names, as the end of a warning.
pub(crate) fn nearest_hint<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> String {
    nearest(name, known, 1).first().map(|near| format!("; the nearest is `{near}`")).unwrap_or_default()
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
    // The time of day of a scenario.
    if matches!(out.as_str(), "tod" | "time_of_day") { "time".to_owned() } else { out }
}

//! The fields of a table of a seed, taken one by one, with errors that name them.
//!
//! A key is known in any of the ways that programs write it: `decision_style`, `decision-style`,
//! `decisionStyle`, `Decision style`. What nobody took is unknown.

use crate::document::nearest;
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
    /// The fields of a node, which must be a table; `expected` says so otherwise. `path` is that of the
    /// table in its file, empty at the top.
    ///
    /// # Errors
    ///
    /// Where it is no table.
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
                // A table is where its first key is, not where the line before it ends.
                line: pairs.first().map_or(node.line, |(key, _)| key.line.max(node.line)),
                pairs,
                taken: vec![false; pairs.len()],
            }),
            _ => Err(TableFields::wrong_kind(file, path, node, expected)),
        }
    }

    /// The error that a value of the wrong kind is.
    pub(crate) fn wrong_kind(file: &str, path: &str, node: &Node, expected: &str) -> SeedError {
        let what = if path.is_empty() { "the file".to_owned() } else { format!("`{path}`") };
        let problem = format!("{what} is {}", node.kind());
        SeedError::Wrong { file: file.to_owned(), line: node.line, problem, expected: expected.to_owned() }
    }

    /// An error of this table.
    pub(crate) fn wrong(&self, line: usize, problem: &str, expected: &str) -> SeedError {
        let (problem, expected) = (problem.to_owned(), expected.to_owned());
        SeedError::Wrong { file: self.file.clone(), line, problem, expected }
    }

    /// The file's name.
    pub(crate) fn file(&self) -> &str {
        &self.file
    }

    /// Where the table begins.
    pub(crate) fn position(&self) -> SeedPosition {
        SeedPosition { file: self.file.clone(), line: self.line }
    }

    /// The path of a field: `agents[1].name`.
    pub(crate) fn path(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }

    /// A field as errors name it; the table itself where the key is empty.
    pub(crate) fn told(&self, key: &str) -> String {
        match (self.path.as_str(), key) {
            ("", "") => "the agent".to_owned(),
            (path, "") => format!("`{path}`"),
            _ => format!("`{}`", self.path(key)),
        }
    }

    /// Whether any of these keys is there.
    pub(crate) fn has_any(&self, keys: &[&str]) -> bool {
        self.pairs.iter().any(|(key, _)| keys.contains(&folded(&key.name).as_str()))
    }

    /// The value of a key.
    ///
    /// # Errors
    ///
    /// Where the key is there twice.
    pub(crate) fn take(&mut self, key: &str) -> Result<Option<&'a Node>, SeedError> {
        let mut found: Option<&(Key, Node)> = None;
        for (pair, taken) in
            self.pairs.iter().zip(&mut self.taken).filter(|(pair, _)| folded(&pair.0.name) == key)
        {
            *taken = true;
            if let Some(first) = found {
                let problem = format!(
                    "`{}` is there twice",
                    if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
                );
                let expected = format!("only that of line {}", first.0.line);
                return Err(SeedError::Wrong {
                    file: self.file.clone(),
                    line: pair.0.line,
                    problem,
                    expected,
                });
            }
            found = Some(pair);
        }
        Ok(found.map(|(_, node)| node))
    }

    /// A text of one line, such as a name, and its line.
    ///
    /// # Errors
    ///
    /// Where it is no text.
    pub(crate) fn word(&mut self, key: &str) -> Result<Option<(String, usize)>, SeedError> {
        let Some(node) = self.take(key)? else { return Ok(None) };
        match &node.value {
            Value::Null => Ok(None),
            Value::Text(text) if text.trim().is_empty() => Ok(None),
            Value::Text(text) => Ok(Some((crate::document::text::stored_line(text), node.line))),
            _ => Err(TableFields::wrong_kind(&self.file, &self.path(key), node, "a text")),
        }
    }

    /// A text; what is empty is none.
    ///
    /// # Errors
    ///
    /// Where it is no text.
    pub fn text(&mut self, key: &str) -> Result<Option<String>, SeedError> {
        let Some(node) = self.take(key)? else { return Ok(None) };
        match &node.value {
            Value::Null => Ok(None),
            Value::Text(text) => Ok(Some(text.trim().to_owned()).filter(|text| !text.is_empty())),
            _ => Err(TableFields::wrong_kind(&self.file, &self.path(key), node, "a text")),
        }
    }

    /// A text, or several as a list or table, which become the lines of a list.
    ///
    /// # Errors
    ///
    /// Where it is neither.
    pub(crate) fn texts(&mut self, key: &str) -> Result<Option<String>, SeedError> {
        match self.take(key)? {
            Some(node) => texts_of(&self.file, &self.path(key), node),
            None => Ok(None),
        }
    }

    /// A text that must be there, under one of these keys.
    ///
    /// # Errors
    ///
    /// Where it is missing, empty or no text.
    pub(crate) fn required(&mut self, keys: &[&str]) -> Result<String, SeedError> {
        for key in keys {
            if let Some(text) = self.text(key)? {
                return Ok(text);
            }
        }
        Err(self.wrong(self.line, &format!("`{}` is missing", self.path(keys[0])), "a text"))
    }

    /// A warning for each key that nobody took, with the nearest of those that are known.
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

/// A text, or several as a list or table, which become the lines of a list; `None` where there is none.
///
/// # Errors
///
/// Where it is neither, or holds what is no text.
pub(crate) fn texts_of(file: &str, path: &str, node: &Node) -> Result<Option<String>, SeedError> {
    let text_of = |path: &str, node: &Node| match &node.value {
        Value::Null => Ok(None),
        Value::Text(text) => Ok(Some(text.trim().to_owned()).filter(|text| !text.is_empty())),
        _ => Err(TableFields::wrong_kind(file, path, node, "a text")),
    };
    let mut lines: Vec<String> = Vec::new();
    let mut push = |text: &str| {
        // What continues a point of a list stands below it.
        lines.push(format!("- {}", text.replace('\n', "\n  ")));
    };
    match &node.value {
        Value::List(items) => {
            for (at, item) in items.iter().enumerate() {
                if let Some(text) = text_of(&format!("{path}[{at}]"), item)? {
                    push(&text);
                }
            }
        }
        Value::Table(pairs) => {
            for (key, item) in pairs {
                if let Some(text) = text_of(&format!("{path}.{}", key.name), item)? {
                    push(&format!("{}: {text}", key.name));
                }
            }
        }
        Value::Null | Value::Text(_) => return text_of(path, node),
        Value::Flag | Value::Number => {
            return Err(TableFields::wrong_kind(file, path, node, "a text or a list of texts"));
        }
    }
    Ok(Some(lines.join("\n")).filter(|text| !text.is_empty()))
}

/// A key as it is compared: `decisionStyle` and `Decision style` are `decision_style`.
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

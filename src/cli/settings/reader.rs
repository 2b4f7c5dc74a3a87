//! The settings file as values by their keys, with errors that name key and file.

use std::path::{Path, PathBuf};
use std::time::Duration;

use toml::{Table, Value};

use crate::cli::failure::Failure;
use crate::cli::values::parse_duration;
use crate::document::nearest;
use crate::llm;

/// A settings file, and which of its keys were asked for.
#[derive(Debug, Default)]
pub struct Reader {
    path: PathBuf,
    table: Table,
    known: Vec<String>,
}

impl Reader {
    /// Settings that stand in no file.
    #[cfg(test)]
    pub fn of(table: Table) -> Reader {
        Reader { table, ..Reader::default() }
    }

    /// Reads a settings file.
    pub fn read(path: &Path) -> Result<Reader, Failure> {
        let text = std::fs::read_to_string(path).map_err(|error| {
            let hint = match error.kind() {
                std::io::ErrorKind::NotFound => "`memories init` with the same `--config` writes one",
                _ => "the settings are a text file in UTF-8; `memories init` writes one where none is",
            };
            Failure::user(anyhow::Error::from(error).context(format!("cannot read `{}`", path.display())))
                .hint(hint)
        })?;
        let table = text.parse().map_err(|error: toml::de::Error| {
            let line = error.span().map_or(1, |span| crate::document::line_number(&text, span.start));
            let problem = format!("`{}` line {line} is not TOML: {}", path.display(), error.message());
            Failure::user(anyhow::Error::msg(problem)).hint("correct the line, such as `max_tokens = 300`")
        })?;
        Ok(Reader { path: path.to_owned(), table, known: Vec::new() })
    }

    /// The value of a key, such as `llm.model`; the key counts as known from now on.
    pub fn get(&mut self, key: &str) -> Option<Value> {
        self.known.push(key.to_owned());
        match key.split_once('.') {
            Some((table, key)) => self.table.get(table)?.as_table()?.get(key).cloned(),
            None => self.table.get(key).cloned(),
        }
    }

    /// The failure that a value of the wrong kind is.
    pub fn wrong(&self, key: &str, value: &Value, expected: &str) -> Failure {
        let problem = format!("`{key}` in `{}` is {value}, expected {expected}", self.path.display());
        Failure::user(anyhow::Error::msg(problem))
            .hint("correct the value, or remove the line for the default")
    }

    /// An error of a setting, with its name and the file before it.
    pub fn named(&self, key: &str, error: llm::ModelError) -> Failure {
        let failure = Failure::from(error);
        let cause = anyhow::anyhow!("`{key}` in `{}`: {}", self.path.display(), failure.cause);
        Failure { cause, ..failure }
    }

    /// True or false.
    pub fn flag(&mut self, key: &str) -> Result<Option<bool>, Failure> {
        let Some(value) = self.get(key) else { return Ok(None) };
        value.as_bool().map(Some).ok_or_else(|| self.wrong(key, &value, "true or false"))
    }

    /// A text.
    pub fn text(&mut self, key: &str) -> Result<Option<String>, Failure> {
        let Some(value) = self.get(key) else { return Ok(None) };
        value.as_str().map(|text| Some(text.to_owned())).ok_or_else(|| self.wrong(key, &value, "a text"))
    }

    /// A whole number from 0 up.
    pub fn count(&mut self, key: &str) -> Result<Option<usize>, Failure> {
        let Some(value) = self.get(key) else { return Ok(None) };
        let count = value.as_integer().and_then(|number| usize::try_from(number).ok());
        count.map(Some).ok_or_else(|| self.wrong(key, &value, "a whole number, 0 or more"))
    }

    /// A number.
    pub fn number(&mut self, key: &str) -> Result<Option<f64>, Failure> {
        let Some(value) = self.get(key) else { return Ok(None) };
        let number = value.as_float().or_else(|| value.as_integer().map(|number| number as f64));
        number.map(Some).ok_or_else(|| self.wrong(key, &value, "a number"))
    }

    /// A length of time.
    pub fn time(&mut self, key: &str) -> Result<Option<Duration>, Failure> {
        let Some(value) = self.get(key) else { return Ok(None) };
        let time = value.as_str().and_then(|text| parse_duration(text).ok());
        time.map(Some).ok_or_else(|| self.wrong(key, &value, "a time such as \"60s\""))
    }

    /// A number from 0 to 1.
    pub fn part(&mut self, key: &str) -> Result<Option<f32>, Failure> {
        let Some(value) = self.get(key) else { return Ok(None) };
        let number = value.as_float().or_else(|| value.as_integer().map(|number| number as f64));
        let part = number.filter(|number| (0.0..=1.0).contains(number));
        part.map(|number| Some(number as f32)).ok_or_else(|| self.wrong(key, &value, "a number from 0 to 1"))
    }

    /// Lists of words.
    pub fn groups(&mut self, key: &str) -> Result<Option<Vec<Vec<String>>>, Failure> {
        let Some(value) = self.get(key) else { return Ok(None) };
        let words = |value: &Value| -> Option<Vec<String>> {
            value.as_array()?.iter().map(|word| word.as_str().map(str::to_owned)).collect()
        };
        let groups: Option<Vec<Vec<String>>> =
            value.as_array().and_then(|groups| groups.iter().map(words).collect());
        groups
            .map(Some)
            .ok_or_else(|| self.wrong(key, &value, "lists of words such as [[\"grue\", \"monster\"]]"))
    }

    /// A program with its arguments as a list, or one line for the shell.
    pub fn command(&mut self, key: &str) -> Result<Option<Vec<String>>, Failure> {
        let Some(value) = self.get(key) else { return Ok(None) };
        if let Some(line) = value.as_str() {
            return Ok(Some(llm::config::shell(line)));
        }
        let words =
            value.as_array().map(|items| items.iter().map(|item| item.as_str().map(str::to_owned)).collect());
        let words: Option<Option<Vec<String>>> = words;
        words.flatten().map(Some).ok_or_else(|| self.wrong(key, &value, "a list of words or one line"))
    }

    /// A warning for each key that nobody asked for.
    pub fn unknown_keys(&self) -> Vec<String> {
        let mut keys: Vec<String> = Vec::new();
        for (key, value) in &self.table {
            match value.as_table() {
                Some(table) => keys.extend(table.keys().map(|inner| format!("{key}.{inner}"))),
                None => keys.push(key.clone()),
            }
        }
        keys.retain(|key| !self.known.contains(key));
        let warning = |key: &String| {
            if key.contains("api_key") {
                let path = self.path.display();
                return format!("`{key}` in `{path}` is not read: keys come from the environment only");
            }
            let table = format!("{key}.");
            if self.known.iter().any(|known| known.starts_with(&table)) {
                return format!(
                    "`{key}` in `{}` is no table and not read: write `[{key}]`",
                    self.path.display()
                );
            }
            let like = nearest(key, self.known.iter().map(String::as_str), 1);
            let like = like.first().map(|key| format!("; the nearest is `{key}`")).unwrap_or_default();
            format!("unknown key `{key}` in `{}`{like}", self.path.display())
        };
        keys.iter().map(warning).collect()
    }
}
